"""What types say: declarations and initialisers of names, and the types that are named in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lci_py.callgraph import language_rules
from lci_py.callgraph.edges import PACKAGE, SCOPE, TYPE
from lci_py.callgraph.lookups import LookUps
from lci_py.callgraph.resolve.expression_steps import TypeText, steps_of, types_in
from lci_py.callgraph.resolve.qualified_names import spelled
from lci_py.callgraph.resolve.values import (
    CLASS,
    DEPTH,
    EXTERNAL,
    HOLDERS,
    INSTANCE,
    MANY,
    MOST_VALUES,
    Value,
    Values,
    distinct,
    value_of,
    with_step,
)
from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS
from lci_py.types.source import Typed

if TYPE_CHECKING:
    from lci_py.callgraph.resolve.evaluate import Evaluator


class Types:
    """Reads declarations. One for an evaluator, which it asks for all else."""

    def __init__(self, evaluator: Evaluator, look_ups: LookUps) -> None:
        self._all = evaluator
        self._look = look_ups

    def rows(self, file: int, rows: Iterable[Typed], depth: int) -> Values:
        """What a name stands for of which this is known; what is declared counts more than what is given."""
        if depth <= 0:
            return ()
        rows = list(rows)
        declared = [row for row in rows if row.text and row.text[0] not in "=~"]
        found: list[Value] = []
        for row in declared or rows[:MOST_VALUES]:
            if row.text.startswith("="):
                found.extend(self._all.expression(file, row.within, row.text[1:], depth - 1))
            elif row.text.startswith("~"):
                found.extend(v._replace(kind=CLASS) for v in self.declared(file, row.within, row.text[1:], depth - 1))
            elif row.text:
                found.extend(self.declared(file, row.within, row.text, depth - 1))
        if declared and len(declared) < len(rows):
            found = list(self._narrowed(file, rows, tuple(found), depth)) or found
        return distinct(found)

    def _narrowed(self, file: int, rows: list[Typed], declared: Values, depth: int) -> Values:
        """What a local of a declared type is only ever given, if all of that is made on the spot."""
        given = [row for row in rows if row.text.startswith("=")]
        scope = rows[0].scope
        if scope < 0 or self._look.tables.facts(file).kinds[scope] not in FUNCTION_KINDS:
            return ()
        made: list[Value] = []
        for row in given[:MOST_VALUES]:
            values = self._all.expression(file, row.within, row.text[1:], depth - 1)
            steps = steps_of(row.text[1:])
            if len(values) != 1 or values[0].kind != INSTANCE or not steps or steps[-1].kind != "call":
                return ()
            made.append(values[0]._replace(text="exact"))
        wanted = {value.at for value in declared if value.kind == INSTANCE}
        if not all(value.at and wanted.intersection(self._all.members.lineage(value.at)) for value in made):
            return ()
        return tuple(made)

    def declared(self, file: int, place: int, text: str, depth: int) -> Values:
        """What is declared to be of a type."""
        if depth <= 0:
            return ()
        return distinct(v for item in types_in(text) for v in self._declared(file, place, item, depth))

    def _declared(self, file: int, place: int, item: TypeText, depth: int) -> Iterator[Value]:
        last = item.name.rpartition(".")[2]
        if item.arguments and (last in language_rules.TRANSPARENT and not item.item):
            for argument in item.arguments:
                yield from self.declared(file, place, argument, depth - 1)
            return
        if item.item and not item.arguments:
            yield Value(MANY, None, TYPE, files=(file,), text=item.name, place=place)
            return
        if item.name in language_rules.OWN_TYPES:
            yield from with_step(self._all.names.own_object(file, place, "self"), TYPE)
            return
        known = self.named(file, place, item.name, depth - 1) if item.name else ()
        for value in known:
            yield Value(INSTANCE, value.at, TYPE) if value.kind == CLASS else value
        if item.arguments and not known:
            yield Value(MANY, None, TYPE, files=(file,), text=item.arguments[-1], place=place)
        elif item.name and not known and self._look.files.heads[file].language in language_rules.TYPED:
            yield Value(EXTERNAL, None, TYPE, files=(file,), text=item.name[:200])

    def named(self, file: int, place: int, dotted: str, depth: int = DEPTH) -> Values:
        """The types that a name, dotted or not, means at a place."""
        names = [name for name in dotted.replace("::", ".").replace("\\", ".").split(".") if name]
        if not names or depth <= 0:
            return ()
        if (
            self._look.files.heads[file].language in language_rules.SPELLED
            and self._look.binding(file, names[0]) is None
        ):
            declared = spelled(self._look, file, place, ".".join(names))
            if declared is not None and declared.kind in HOLDERS:
                return (value_of(declared, SCOPE if declared.file == file else PACKAGE),)
        values = self._in_scope(file, place, names[0], depth - 1)
        for name in names[1:]:
            values = distinct(v for value in values for v in self._all.members.attribute(value, name, depth - 1))
        found = tuple(value for value in values if value.kind in (CLASS, EXTERNAL))
        if not found and self._look.files.heads[file].language in language_rules.PROGRAM_TYPES:
            only = self._look.only_type(self._look.files.families[file], names[-1])
            if only is not None:
                return (value_of(only, PACKAGE),)
        return found

    def _in_scope(self, file: int, place: int, name: str, depth: int) -> Values:
        facts = self._look.tables.facts(file)
        scope = place
        while scope >= 0:
            found = self._look.inside(file, scope, name)
            if found is not None and found.kind in HOLDERS:
                return (value_of(found, SCOPE),)
            if facts.names[scope] == name and facts.kinds[scope] in TYPE_KINDS:
                return (value_of(self._look.definition(file, scope), SCOPE),)
            scope = facts.parents[scope]
        return self._all.names.outside(file, name, depth)
