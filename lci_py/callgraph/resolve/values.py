"""The values that an expression may have; evaluate.py determines them."""

from __future__ import annotations

from collections.abc import Iterable

from lci_py.callgraph.file_facts import is_type
from lci_py.callgraph.lookup_tables import Definition
from lci_py.types.record import NamedTuple
from lci_py.types.search import TYPE_KINDS

#: How many names are followed one after the other.
DEPTH = 14
MOST_VALUES = 8
INSTANCE, CLASS, FUNCTION, MODULE, EXTERNAL, MANY, BASES = range(7)
#: The text of a FUNCTION that is an extension method, called on the object that it takes as its first argument.
EXTENDING = "this"
#: Kinds of definitions that have members.
HOLDERS = TYPE_KINDS | {"module", "namespace"}
_CLASSES = HOLDERS | {"type"}


class Value(NamedTuple):
    """A possible value of an expression.

    Attributes:
        kind: INSTANCE: an object of the type `at`. CLASS: the type, module or namespace `at`. FUNCTION: the function
            `at`. MODULE: the files `files`. EXTERNAL: an external thing with the dotted name `text`. MANY: a container
            whose elements have the type `text`, as written in the scope `place` of the first file. BASES: an object of
            the type `at`, viewed as one of its bases. For `text` of an INSTANCE and a FUNCTION see `type_arguments`.
        step: The rule that found the value, an index of `types.edges.STEPS`.
    """

    kind: int
    at: Definition | None
    step: int
    files: tuple[int, ...] = ()
    text: str = ""
    place: int = -1


Values = tuple[Value, ...]


def is_own(definition: Definition, family: str) -> bool:
    """Whether a definition is anything but an alias of a type."""
    return definition.kind != "type" or is_type(definition.kind, family)


def value_of(definition: Definition, step: int) -> Value:
    """The value that a definition's name stands for: CLASS or FUNCTION."""
    return Value(CLASS if definition.kind in _CLASSES else FUNCTION, definition, step)


def with_step(values: Values, step: int) -> Values:
    """The same values with another step (the rule that gave them)."""
    return tuple([v if v.step == step else Value(v.kind, v.at, step, v.files, v.text, v.place) for v in values])


def distinct(values: Iterable[Value]) -> Values:
    """The first `MOST_VALUES` + 1 distinct values; of values that differ only in the step, the first one counts."""
    if isinstance(values, (tuple, list)) and len(values) < 2:
        return tuple(values)
    first: dict[tuple[object, ...], Value] = {}
    for value in values:
        key = (value.kind, value.at.symbol if value.at is not None else -1, value.files, value.text, value.place)
        first.setdefault(key, value)
        if len(first) > MOST_VALUES:
            break
    return tuple(first.values())
