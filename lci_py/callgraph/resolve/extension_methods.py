"""Finds methods that are defined outside of the type on whose objects they are called: C#'s extension methods, and
methods that a repository adds to a library's type.

Source:
    ECMA-334, 12.8.10.3: if no method of the receiver is applicable, `receiver.M(x)` is `C.M(receiver, x)`, where `M` is
    a static method of a class `C` whose first parameter has the modifier `this`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from lci_py.callgraph.resolve.library_types import (
    CSHARP,
    NUMBERS,
    OF_ARRAYS,
    OF_OBJECTS,
    OF_STRINGS,
    PRIMITIVES,
    SUPERTYPES,
    TOP,
)
from lci_py.callgraph.resolve.values import (
    EXTENDING,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    MANY,
    Value,
    Values,
    value_of,
)
from lci_py.source.extract.expressions import parse
from lci_py.source.text.language_tables import has_rule
from lci_py.source.text.patterns import lazily
from lci_py.types.edges import TYPE

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.callgraph.lookup_tables import Definition
    from lci_py.callgraph.lookups import LookUps
    from lci_py.callgraph.resolve.imports import ImportResolver
    from lci_py.types.expressions import Expr

#: A literal at the beginning of a receiver: a number, a text, `typeof(T)`.
_LITERAL = lazily(r"(?:(\d[\d_]*)(\.\d+)?([a-zA-Z]*)|[$@]*\"(?:\\.|[^\"\\])*\"|(typeof)\(\))(?=\.[A-Za-z_]|$)")
_SUFFIXES = {"m": "decimal", "f": "float", "d": "double", "l": "long", "u": "uint", "ul": "ulong"}


@lru_cache(maxsize=4096)
def parse_receiver(text: str) -> Expr:
    """Parses the receiver of a call, which may begin with a literal, into an expression."""
    match = _LITERAL.match(text)
    if match is None:
        return parse(text)
    number, fraction, suffix, type_of = match.groups()
    name = "Type" if type_of else "string"
    if number:
        name = _SUFFIXES.get(suffix.lower(), "double" if fraction else "int")
    return parse(f"(_ as {name}){text[match.end() :]}")


class ExtensionMethods:
    """Finds the methods of an object that are defined outside of its type."""

    def __init__(
        self, look_ups: LookUps, lineage: Callable[[Definition], tuple[Definition, ...]], imports: ImportResolver
    ) -> None:  # fmt: skip
        """Prepares the search; `lineage` returns a type and its bases."""
        self._look = look_ups
        self._rules_of = look_ups.rules_of
        self._lineage = lineage
        self._import = imports

    def of_library_type(self, value: Value, name: str) -> Values:
        """The method `name` that the repository adds to an external type; () if it adds none."""
        head = self._look.files.heads[value.files[0]] if value.files else None
        if head is None or not has_rule(head.language, "adopting"):
            return ()
        owner = value.text.rpartition(".")[2]
        methods = [item for item in self._look.all_named(head.family, name) if item.owner == owner]
        if has_rule(head.language, "named_extensions"):
            methods = [item for item in methods if self._import.is_named(item, name)]
        own = [item for item in methods if item.file == value.files[0]]
        return (value_of((own or methods)[0], TYPE),) if methods else ()

    def of(self, value: Value, name: str) -> Values:
        """The extension methods of a name that take an object of this type. If none does, and the object may have
        further external types, the extension methods for types that the repository does not define.
        """
        heads = self._look.files.heads
        own = heads[self._look.asker]
        if value.kind not in (INSTANCE, EXTERNAL, MANY) or not has_rule(own.language, "extension_methods"):
            return ()
        self._look.depends_on_asker = True
        candidates = self._look.extending(own.family, name)
        candidates = [row for row in candidates if own.test or not heads[row[0].file].test]
        if not candidates:
            return ()
        types, are_all = self._types(value)
        fits: list[tuple[Definition, bool]] = []
        for item, text in candidates:
            receiver = _plain(text)
            if receiver in TOP or receiver in types or (value.kind == MANY and receiver.endswith("[]")):
                fits.append((item, True))
            elif not are_all and receiver not in NUMBERS and self._look.only_type(own.family, receiver) is None:
                fits.append((item, False))
        methods = [item for item, is_known in fits if is_known] or [item for item, _ in fits]
        return tuple(Value(FUNCTION, item, TYPE, text=EXTENDING) for item in methods)

    def _types(self, value: Value) -> tuple[set[str], bool]:
        """(names, complete): the names of an object's types with their bases, and whether these are all its types. A
        member of a library's type (`DateTime.Now`) has an unknown type, which is assumed to be the library's type.
        """
        names: set[str] = set()
        own: set[str] = set()
        if value.kind == MANY:
            return {*OF_ARRAYS, "List", "IReadOnlyList", "IReadOnlyCollection"}, False
        if value.at is not None:
            lineage = self._lineage(value.at)
            own = {self._look.name(type_) for type_ in lineage}
            names.update(_plain(base) for type_ in lineage for base in self._look.bases(type_))
            names -= own
        else:
            head, _, last = value.text.rpartition(".")
            head = _plain(head)
            names.add(
                _plain(last)
                if not head
                else OF_OBJECTS.get(last) or (OF_STRINGS.get(last, "") if head == "String" else head)
            )
        outside = {above for name in names for above in SUPERTYPES.get(name, ())}
        return own | names | outside, all(name in SUPERTYPES or name in NUMBERS or name == "String" for name in names)


def _plain(text: str) -> str:
    """The plain name of a written type: its last name, without type arguments."""
    name = text.partition("<")[0].rstrip("?").rpartition(".")[2]
    return PRIMITIVES.get(name) or CSHARP.get(name, name)
