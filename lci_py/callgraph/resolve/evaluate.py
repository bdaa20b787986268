"""What an expression stands for, as far as declarations and assignments tell: receivers of calls, types of fields.

Evaluation goes from a name to what it was given, on to what that was given, and so on, through any file, for a bounded
number of steps: a value is a function of the texts and of that bound alone, so it does not matter where one starts,
nor in which order. What it learns of other files it asks of `LookUps`, which takes the questions down.
"""

from __future__ import annotations

from collections.abc import Mapping

from lci_py.callgraph import language_rules
from lci_py.callgraph.edges import IMPORT, TYPE
from lci_py.callgraph.lookups import LookUps
from lci_py.callgraph.resolve.evaluate_members import Members
from lci_py.callgraph.resolve.evaluate_names import Names
from lci_py.callgraph.resolve.evaluate_types import Types
from lci_py.callgraph.resolve.expression_steps import Step, steps_of
from lci_py.callgraph.resolve.imports import ImportResolver
from lci_py.callgraph.resolve.values import (
    BASES,
    CLASS,
    DEPTH,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    MANY,
    MODULE,
    Value,
    Values,
    distinct,
    value_of,
)


class Evaluator:
    """Evaluates expressions in the files of a repository.

    Attributes:
        names: What a bare name stands for.
        members: What a member of a value stands for.
        types: What is declared.
    """

    def __init__(self, look_ups: LookUps, imports: ImportResolver, selfs: Mapping[str, frozenset[str]]) -> None:
        """
        Args:
            look_ups: Where to ask of other files.
            imports: Over the same look-ups.
            selfs: Per language, its names for the object around a method.
        """
        self._look = look_ups
        self.names = Names(self, look_ups, imports, selfs)
        self.members = Members(self, look_ups, imports)
        self.types = Types(self, look_ups)
        self._memo: dict[tuple[int, int, str, int], Values] = {}

    def start(self) -> None:
        """Begin with a file: what was found for another one would not be taken down for this."""
        self._memo.clear()
        self.names.start()
        self.members.start()

    def expression(self, file: int, place: int, text: str, depth: int = DEPTH) -> Values:
        """What an expression stands for at a place: a symbol of the file, or -1 for the file's top level."""
        if depth <= 0:
            return ()
        steps = steps_of(text)
        if steps and steps[0].kind == "name":
            place = self.names.scope(file, place, steps[0].name)
            if len(steps) == 1:
                return self.names.name(file, place, steps[0].name, depth - 1)
        key = (file, place, text, depth)
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = self._along(file, place, steps, depth)
        return found

    def _along(self, file: int, place: int, steps: tuple[Step, ...], depth: int) -> Values:
        if not steps:
            return ()
        head, rest = steps[0], steps[1:]
        if head.kind == "text":
            return (Value(EXTERNAL, None, TYPE, files=(file,), text="String"),)
        if head.kind == "cast":
            values = self.types.declared(file, place, head.name, depth - 1)
        else:
            values = self.names.name(file, place, head.name, depth - 1)
        if not values and rest and self._look.files.heads[file].language in language_rules.QUALIFIED:
            values, rest = self.qualified(file, steps)
        receivers: Values = ()
        for number, step in enumerate(rest):
            if not values:
                return ()
            if step.kind == "attr":
                receivers = values
                called = number + 1 < len(rest) and rest[number + 1].kind == "call"
                values = self._attributes(values, step.name, depth - 1, called)
            elif step.kind == "call":
                values = self._chained(values, receivers) or self._results(values, depth - 1)
                receivers = ()
            else:
                values = distinct(found for value in values for found in self._items(value, depth - 1))
        return values

    def qualified(self, file: int, steps: tuple[Step, ...]) -> tuple[Values, tuple[Step, ...]]:
        """The type that a chain of names begins with, as in `a.b.C.f()`, and the steps after it."""
        names = [step.name for step in steps]
        family = self._look.files.families[file]
        for size in range(2, len(steps) + 1):
            if steps[size - 1].kind != "attr":
                break
            for target in self._look.declaring(family, ".".join(names[:size])):
                found = self._look.top(target, names[size - 1])
                if found is not None:
                    return (value_of(found, IMPORT),), steps[size:]
        return (), steps[1:]

    def _attributes(self, values: Values, name: str, depth: int, called: bool) -> Values:
        found: list[Value] = []
        attribute = self.members.attribute
        for value in values:
            if value.kind == FUNCTION:  # a property: it is called by looking at it
                for result in self.result(value, depth - 1):
                    found.extend(attribute(result, name, depth - 1))
            elif not called and value.kind == INSTANCE and (fields := self.members.as_field(value, name, depth)):
                found.extend(fields)
            elif value.kind == MANY and called and name in language_rules.ELEMENT_GETTERS:
                found.append(value._replace(kind=FUNCTION))
            else:
                values = attribute(value, name, depth - 1)
                made = not called and value.kind == CLASS and values == (value,)  # Ruby's `C.new` without parentheses
                found.extend(self._results(values, depth - 1) if made else values)
        return distinct(found)

    def _chained(self, values: Values, receivers: Values) -> Values:
        """The receivers themselves, if all methods give what they are called on (`-> Self`)."""
        for value in values:
            if value.kind != FUNCTION or value.at is None or not receivers:
                return ()
            place = value.at.symbol - self._look.tables.facts(value.at.file).first
            rows = self._look.typed(value.at.file, place, "")
            if not rows or any(row.text.lstrip("&?").removeprefix("mut ") not in ("Self", "static") for row in rows):
                return ()
        return tuple(v._replace(kind=INSTANCE, step=TYPE) for v in receivers if v.kind in (INSTANCE, CLASS))

    def _results(self, values: Values, depth: int) -> Values:
        if len(values) == 1:
            return distinct(self.result(values[0], depth))
        return distinct(result for value in values for result in self.result(value, depth))

    def result(self, value: Value, depth: int) -> Values:
        """What a call of a value gives."""
        if depth <= 0 or value.kind == MODULE:
            return ()
        if value.kind == EXTERNAL:
            return (value,)
        if value.kind == FUNCTION and value.at is None:
            return self._items(value._replace(kind=MANY), depth)
        if value.at is None:
            return ()
        if value.kind == CLASS:
            return (Value(INSTANCE, value.at, TYPE),)
        if value.kind != FUNCTION:
            return (value,) if value.kind == BASES else ()
        at = value.at
        facts = self._look.tables.facts(at.file)
        place = at.symbol - facts.first
        if at.kind == "constructor":
            around = facts.parents[place]
            return (Value(INSTANCE, self._look.definition(at.file, around), TYPE),) if around >= 0 else ()
        return self.types.rows(at.file, self._look.typed(at.file, place, ""), depth - 1)

    def _items(self, value: Value, depth: int) -> Values:
        if value.kind == MANY:
            return self.types.declared(value.files[0], value.place, value.text, depth)
        if value.kind == INSTANCE:
            for method in ("__iter__", "__aiter__", "__getitem__", "GetEnumerator", "iterator"):
                for found in self.members.attribute(value, method, depth - 1):
                    results = self._results((found,), depth - 1)
                    return distinct(item for result in results for item in self._items(result, depth - 1)) or results
        return ()
