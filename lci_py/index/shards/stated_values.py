"""Reads the claims of an index: comments that state another value than the code beside them, and duplicate keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.errors import DamagedIndexError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.index.shards.symbols import SymbolicIndex

_CLAIMS = (
    "SELECT f.path, c.line, c.name, c.value, c.how, f.language, s.qualified_name, s.kind, s.build_tag, f.test "
    "FROM claims c JOIN files f ON f.id = c.file LEFT JOIN symbols s ON s.id = c.symbol "
    "WHERE {live} AND c.how IN ({hows})"
)


class StatedValue(NamedTuple):
    """A place in the source that states the value of a name."""

    file: str
    line: int
    name: str
    value: str
    how: str  # one of `source.stated_values.HOW`
    language: str
    qualified_name: str  # of the definition that it belongs to; "" of a flag
    kind: str
    conditioned: bool  # under a build condition
    is_test: bool


def contradicted_comments(index: SymbolicIndex) -> list[tuple[StatedValue, StatedValue]]:
    """The comments that state another default than the code they belong to, as (comment, code), by path and line.

    Raises:
        DamagedIndexError: A row is damaged.
    """
    rows = _stated(index, "'comment', 'beside'")
    code = {(row.file, row.name): row for row in reversed(rows) if row.how == "beside"}
    # A class and its constructor may have one docstring.
    said = {(row.file, row.line, row.value): row for row in reversed(rows) if row.how == "comment"}
    return [(row, code[row.file, row.name]) for row in reversed(said.values()) if (row.file, row.name) in code]


def repeated_keys(index: SymbolicIndex) -> list[StatedValue]:
    """The duplicate keys in code, by path and line; `value` is the distance in lines to the key's first occurrence.

    Raises:
        DamagedIndexError: A row is damaged.
    """
    rows = _stated(index, "'twice'")
    if not all(row.value.isdecimal() and int(row.value) < row.line for row in rows):
        raise DamagedIndexError("the symbolic shard has a repeated key whose first line is not in its file")
    return rows


def _stated(index: SymbolicIndex, hows: str) -> list[StatedValue]:
    rows = [
        _claim(tuple(row))
        for segment in index.segments
        for row in segment.execute(_CLAIMS.format(live=segment.live, hows=hows))
    ]
    return sorted(rows, key=lambda row: (row.file, row.line, row.name, row.value))


def _claim(row: Sequence[Any]) -> StatedValue:
    path, line, name, value, how, language, qualified_name, kind, build_tag, test = row
    if (
        not all(isinstance(text, str) for text in (path, name, value, how, language))
        or not isinstance(line, int)
        or line < 1
    ):
        raise DamagedIndexError("the symbolic shard has a stated value without a name, a text or a line")
    return StatedValue(
        path, line, name, value, how, language, str(qualified_name or ""), str(kind or ""),
        conditioned=build_tag is not None, is_test=bool(test),
    )  # fmt: skip
