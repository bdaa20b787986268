"""What an expression may stand for: the values that `evaluate` and its parts hand to each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from lci_py.callgraph.file_facts import is_type
from lci_py.callgraph.lookup_tables import Definition
from lci_py.types.search import TYPE_KINDS

#: How many names one after the other are looked through.
DEPTH = 14
MOST_VALUES = 8
INSTANCE, CLASS, FUNCTION, MODULE, EXTERNAL, MANY, BASES = range(7)
#: Kinds of definitions that have others by name.
HOLDERS = TYPE_KINDS | {"module", "namespace"}
_CLASSES = HOLDERS | {"type"}


class Value(NamedTuple):
    """What an expression may stand for.

    Attributes:
        kind: INSTANCE of, or CLASS (or module), or FUNCTION that `at` is; MODULE: the files; EXTERNAL: `text` is its
            dotted name; MANY: a container of the type `text`, written at `place` of the first file; BASES: `at` as its
            base classes see it.
        step: What it rests on, as in `links.STEPS`.
    """

    kind: int
    at: Definition | None
    step: int
    files: tuple[int, ...] = ()
    text: str = ""
    place: int = -1


Values = tuple[Value, ...]


def is_own(found: Definition, family: str) -> bool:
    """Whether a definition is something itself, and no other name of a type."""
    return found.kind != "type" or is_type(found.kind, family)


def value_of(found: Definition, step: int) -> Value:
    """What the name of a definition stands for."""
    return Value(CLASS if found.kind in _CLASSES else FUNCTION, found, step)


def with_step(values: Values, step: int) -> Values:
    """The same values, as what another step found."""
    return tuple([v if v.step == step else Value(v.kind, v.at, step, v.files, v.text, v.place) for v in values])


def distinct(values: Iterable[Value]) -> Values:
    """The first `MOST_VALUES` + 1 different values; of those that differ in the step alone, the first."""
    if isinstance(values, (tuple, list)) and len(values) < 2:
        return tuple(values)
    found: dict[tuple[object, ...], Value] = {}
    for value in values:
        key = (value.kind, value.at.symbol if value.at is not None else -1, value.files, value.text, value.place)
        found.setdefault(key, value)
        if len(found) > MOST_VALUES:
            break
    return tuple(found.values())
