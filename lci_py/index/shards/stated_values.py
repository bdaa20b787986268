"""Looks up stated values: the values that configuration, documents and code give to a setting or a constant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.filters import MAX_VALUES, kinds_in, marks
from lci_py.source.stated_values import COMPUTED, code_value
from lci_py.types.search import VALUED_KINDS

if TYPE_CHECKING:
    from typing import Protocol

    from lci_py.index.shards.symbols import SymbolicIndex

    class Segment(Protocol):
        name: str
        live: str

        def execute(self, sql: str, args: Sequence[object] = ()) -> list[Any]: ...


#: A name with more stated values than this is not one setting.
MAX_PER_NAME = 400
_CLAIMS = (
    "SELECT f.path, c.line, c.name, c.value, c.how, f.language, s.qualified_name, s.kind, s.build_tag, "
    "f.test FROM claims c JOIN files f ON f.id = c.file LEFT JOIN symbols s ON s.id = c.symbol "
    "WHERE {live} AND {condition}"
)
_SYMBOLS = (
    "SELECT f.path, s.line, s.name, s.signature, f.language, s.qualified_name, s.kind, s.build_tag, f.test "
    "FROM symbols s JOIN files f ON f.id = s.file "
    f"WHERE {{live}} AND {kinds_in('s.', VALUED_KINDS)} AND {{condition}}"
)


class StatedValue(NamedTuple):
    """A place that states the value of a name."""

    file: str
    line: int
    name: str
    value: str  # `COMPUTED` if it is not a literal
    how: str  # one of `source.stated_values.HOW`
    language: str
    qualified_name: str  # of the constant, or of the function with the parameter; "" if neither
    kind: str
    conditioned: bool  # under a build condition
    is_test: bool


def stated_values_of(index: SymbolicIndex, names: Iterable[str]) -> dict[str, list[StatedValue]]:
    """All stated values of some names: name -> places by path and line. Leaves out names of more than `MAX_PER_NAME`.

    Raises:
        DamagedIndexError: A row is not what was written.
    """
    found: dict[str, list[StatedValue]] = defaultdict(list)
    wanted = sorted(set(names))
    for start in range(0, len(wanted), MAX_VALUES):
        some = wanted[start : start + MAX_VALUES]
        rows = [_claim(row) for row in _select(index, _CLAIMS, f"c.name IN ({marks(some)})", some)]
        constants = map(_constant, _select(index, _SYMBOLS, f"s.name IN ({marks(some)})", some))
        for row in (*rows, *filter(None, constants)):
            found[row.name].append(row)
    return {name: sorted(rows, key=_sort_key) for name, rows in sorted(found.items()) if len(rows) <= MAX_PER_NAME}


def repeated_keys(index: SymbolicIndex) -> list[StatedValue]:
    """The keys that code gives twice, by path and line; the value is how many lines up the first one is.

    Raises:
        DamagedIndexError: A row is not what was written.
    """
    rows = [_claim(row) for row in _select(index, _CLAIMS, "c.how = 'twice'", ())]
    if not all(row.value.isdecimal() and int(row.value) < row.line for row in rows):
        raise DamagedIndexError("the symbolic shard has a repeated key whose first line is not in its file")
    return sorted(rows, key=_sort_key)


def names_in(index: SymbolicIndex, places: Iterable[tuple[str, int, int]]) -> set[str]:
    """The names whose values are stated in some ranges of lines, each a path, first and last line."""
    found: set[str] = set()
    sql = _CLAIMS.format(live="{live}", condition="c.file = ? AND c.line BETWEEN ? AND ?")
    for path, first, last in sorted(set(places))[:MAX_VALUES]:
        for segment in index.segments:
            file = _file_at(segment, path)
            if file is not None:
                rows = segment.execute(sql.format(live=segment.live), [file, first, last])
                found.update(_claim(tuple(row)).name for row in rows)
    return found


def _file_at(segment: Segment, path: str) -> int | None:
    """The number of a file in a segment, or None. Paths have no SQL index, but numbers ascend with paths."""
    low, high = 0, int(segment.execute("SELECT coalesce(max(id), -1) FROM files")[0][0])
    while low <= high:
        middle = (low + high) // 2
        rows = segment.execute("SELECT path FROM files WHERE id = ?", [middle])
        if not rows or not isinstance(rows[0][0], str):
            raise DamagedIndexError(f"{segment.name} lacks a file")
        if rows[0][0] == path:
            return middle
        low, high = (middle + 1, high) if rows[0][0] < path else (low, middle - 1)
    return None


def disputable_names(index: SymbolicIndex) -> set[str]:
    """The names whose stated values could disagree: those of which not only code states one."""
    found: set[str] = set()
    for segment in index.segments:
        sql = (
            f"SELECT DISTINCT c.name FROM claims c JOIN files f ON f.id = c.file WHERE {segment.live} "
            "AND c.how NOT IN ('default', 'option', 'beside', 'twice')"
        )
        for (name,) in segment.execute(sql):
            if not isinstance(name, str):
                raise DamagedIndexError(f"{segment.name}: a stated value has no name")
            found.add(name)
    return found


def _select(index: SymbolicIndex, sql: str, condition: str, values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for segment in index.segments:
        found = segment.execute(sql.format(live=segment.live, condition=condition), values)
        for row in found:
            yield tuple(row)


def _check_claim(row: Sequence[Any], texts: Sequence[int], line: int) -> None:
    if not all(isinstance(row[i], str) for i in texts) or not isinstance(row[line], int) or row[line] < 1:
        raise DamagedIndexError("the symbolic shard has a stated value without a name, a text or a line")


def _claim(row: Sequence[Any]) -> StatedValue:
    path, line, name, value, how, language, qualified_name, kind, build_tag, test = row
    _check_claim(row, (0, 2, 3, 4, 5), 1)
    return StatedValue(
        path, line, name, value, how, language, str(qualified_name or ""), str(kind or ""),
        conditioned=build_tag is not None, is_test=bool(test),
    )  # fmt: skip


def _constant(row: Sequence[Any]) -> StatedValue | None:
    """The value of a definition; None if it has none."""
    path, line, name, signature, language, qualified_name, kind, build_tag, test = row
    _check_claim(row, (0, 2, 4, 5, 6), 1)
    value = code_value(language, kind, name, str(signature or ""))
    if not value:
        return None
    return StatedValue(
        path, line, name, value, "code", language, qualified_name, kind,
        conditioned=build_tag is not None, is_test=bool(test),
    )  # fmt: skip


def _sort_key(row: StatedValue) -> tuple[str, int, str, str]:
    return row.file, row.line, row.name, row.value


def is_computed(row: StatedValue) -> bool:
    """Whether the value is not a literal, so that it cannot be compared."""
    return row.value == COMPUTED
