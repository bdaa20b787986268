"""Narrows values by the test of a field: JavaScript's `x.kind === "a"` and `"swim" in x`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.callgraph.resolve.values import INSTANCE, Value, Values
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.callgraph.lookup_tables import Definition
    from lci_py.callgraph.lookups import LookUps

_TEST = lazily(r"\.([\w$]+)([=!])(.*)")


def passing(
    look: LookUps, lineage: Callable[[Definition], tuple[Definition, ...]], values: Values, test: str
) -> Values:
    """The values for which a test may hold; all, if it decides nothing.

    Args:
        lineage: Returns a type and its bases.
        test: `.kind="a"` or `.kind="a"|"b"`, and `.kind!"a"` for the negation; without a value: the field exists.
    """
    match = _TEST.fullmatch(test)
    if match is None or len(values) < 2:
        return values
    field, sign, wanted = match.groups()

    def holds(value: Value) -> bool | None:
        if value.kind != INSTANCE or value.at is None:
            return None
        for owner in lineage(value.at):
            texts = [row.text for row in look.hints(owner, field) if row.text]
            if not wanted and (texts or look.member(owner, field) is not None):
                return True
            if wanted and texts:
                return _may_be(texts, set(wanted.split("|")), certain=sign == "!")
        return None if wanted and sign == "!" else False  # a field that is not there is equal to nothing

    found = [(value, holds(value)) for value in values]
    if all(known is None for _, known in found):
        return values
    kept = tuple(value for value, known in found if known is None or known is (sign == "="))
    return kept or values


def _may_be(texts: list[str], wanted: set[str], *, certain: bool) -> bool | None:
    """Whether a field of these types has one of the values; with `certain`, no other one. None if unknown."""
    have = {part.replace("'", '"').lstrip("?") for text in texts for part in text.split("|")}
    if not all(part[:1] == '"' or "." in part or part in ("true", "false") for part in have):
        return None
    return have <= wanted if certain else not have.isdisjoint(wanted)
