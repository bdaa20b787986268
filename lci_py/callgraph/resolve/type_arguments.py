"""The meaning of `T` in the members of a `Box<T>`, for an object declared as `Box<Foo>`: one level of type arguments.

If a type has arguments, its objects (INSTANCE values) and their methods (FUNCTION values) have the arguments as their
text: `<Foo>`, as written in the scope `place` of their first file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.callgraph import language_rules
from lci_py.callgraph.resolve.values import FUNCTION, INSTANCE, MANY, Value, Values
from lci_py.callgraph.resolve.written_types import places_in, types_in
from lci_py.types.edges import TYPE
from lci_py.types.source import BASE_ARGUMENTS, TYPE_PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.callgraph.lookup_tables import Definition
    from lci_py.callgraph.lookups import LookUps
    from lci_py.types.source import TypeHint


def with_arguments(value: Value, file: int, scope: int, arguments: tuple[str, ...]) -> Value:
    """The value (an object of a declared type) with the type arguments of the declaration."""
    return value._replace(files=(file,), text=f"<{','.join(arguments)}>", place=scope)


class TypeArguments:
    """Substitutes type arguments for type parameters."""

    def __init__(
        self, look_ups: LookUps, declared: Callable[[int, int, str, int], Values],
        lineage: Callable[[Definition], tuple[Definition, ...]],
    ) -> None:  # fmt: skip
        """Takes `declared`, which is `Types.declared`, and `lineage`, which returns a type and its bases."""
        self._look = look_ups
        self._declared = declared
        self._lineage = lineage

    def of_member(self, value: Value, name: str, members: Values, depth: int) -> Values:
        """The values `members` of a member, with the type arguments of the object's type or base substituted."""
        if value.at is None or value.kind != INSTANCE:
            return members
        value = self._as_base(value, name, depth) or value
        if value.at is None or value.text[:1] != "<" or not self._parameters(value):
            return members
        for row in self._look.hints(value.at, name):
            values = self._substitute(value, row, depth)
            if values:
                return values
        return tuple(
            v._replace(text=value.text, files=value.files, place=value.place)
            if v.kind == FUNCTION and v.at is not None and not v.text and v.at.file == value.at.file
            else v
            for v in members
        )

    def _as_base(self, value: Value, name: str, depth: int) -> Value | None:
        """The object as an object of the base that has a member, with the base's type arguments; None if unknown."""
        assert value.at is not None
        lineage = self._lineage(value.at)
        for number, owner in enumerate(lineage if len(lineage) > 1 and depth > 0 else ()):
            if self._look.member(owner, name) is None and not self._look.hints(owner, name):
                continue
            for heir in lineage[:number]:
                for text in self._look.declarations(heir, BASE_ARGUMENTS):
                    item, below = types_in(text)[0], self._look.place(heir)
                    bases = self._declared(heir.file, below, item.name, depth - 1)
                    if any(base.at == owner for base in bases):
                        substitutes = self._parameters(value) if heir == value.at and value.text[:1] == "<" else {}
                        arguments = tuple(substitutes.get(argument, argument) for argument in item.arguments)
                        if substitutes and not all(argument in substitutes for argument in item.arguments):
                            return None
                        base = value._replace(kind=INSTANCE, at=owner)
                        if substitutes:
                            return with_arguments(base, value.files[0], value.place, arguments)
                        return with_arguments(base, heir.file, below, arguments)
            return None
        return None

    def of_result(self, value: Value, rows: Values, depth: int) -> Values:
        """The result of a method of an object with type arguments; `rows`, the generic result, if none is used."""
        assert value.at is not None
        return next(filter(None, (self.of_row(value, row, depth) for row in self._look.hints(value.at, ""))), rows)

    def of_row(self, method: Value, row: TypeHint, depth: int) -> Values:
        """The values of a type hint in a method of an object with type arguments; () if the hint names no parameter."""
        outer = self._look.enclosing(method.at) if method.at is not None and method.text[:1] == "<" else None
        return self._substitute(method._replace(kind=INSTANCE, at=outer), row, depth) if outer is not None else ()

    def _parameters(self, value: Value) -> dict[str, str]:
        """Maps the type parameters of an object's type to the type arguments."""
        assert value.at is not None
        declared = self._look.declarations(value.at, TYPE_PARAMETERS)
        names = declared[0].split(",") if declared else []
        arguments = places_in(value.text[1:-1])
        return dict(zip(names, arguments, strict=True)) if len(names) == len(arguments) else {}

    def _substitute(self, value: Value, row: TypeHint, depth: int) -> Values:
        """The values of a type hint that names a type parameter of the object's type; () if the hint names none."""
        types = types_in(row.text) if row.is_type else ()
        if len(types) != 1 or depth <= 0:
            return ()
        item, substitutes = types[0], self._parameters(value)
        if item.name in substitutes:
            if item.item:
                return (Value(MANY, None, TYPE, value.files, substitutes[item.name], value.place),)
            return self._declared(value.files[0], value.place, substitutes[item.name], depth - 1)
        inner = [substitutes.get(argument, "") for argument in item.arguments]
        if not any(inner):
            return ()
        last, language = item.name.rpartition(".")[2], self._look.files.heads[value.files[0]].language
        if language_rules.is_transparent(language, last):
            return self._declared(value.files[0], value.place, inner[0], depth - 1)
        if inner[-1] and language_rules.is_container(language, last):
            return (Value(MANY, None, TYPE, value.files, inner[-1], value.place),)
        if not all(inner):
            return ()
        assert value.at is not None
        values = self._declared(value.at.file, row.within, item.name, depth - 1)
        return tuple(with_arguments(v, value.files[0], value.place, tuple(inner)) for v in values if v.kind == INSTANCE)
