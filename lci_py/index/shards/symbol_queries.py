"""Queries of the symbolic shards: a file's calls, imports and definitions, constructors of types, similar names.

The functions work without numpy, because `lci def` uses them too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.filters import (
    SYMBOLS_OF,
    TEST_BUILD,
    batches,
    joined_name,
    kinds_in,
    marks,
    named_in,
    names_in,
    path_test,
    spelling,
    starting_with,
    where,
)
from lci_py.source.text.words import joined_spelling
from lci_py.types.record import NamedTuple
from lci_py.types.search import FUNCTION_KINDS, IMPLICIT, TYPE_KINDS

if TYPE_CHECKING:
    from lci_py.index.shards.symbols import SymbolicIndex
    from lci_py.types.search import Filters
    from lci_py.types.source import Import, Registration

#: The last character in the order of SQLite.
_LAST = "\U0010ffff"
#: Methods that a constructor call runs, in languages where their kind is not `constructor`.
_CONSTRUCTORS = {"python": ("__init__", "__new__"), "ruby": ("initialize",)}
#: Lists of numbers are padded to a multiple of this: SQLite reuses a statement whose text it has parsed before.
_STEP = 16
#: Names that are compared with an unknown name.
_MOST_ALIKE = 20_000


class CallText(NamedTuple):
    """A call as written in the code; `caller` is the index of the calling symbol in the file, -1 if there is none."""

    name: str
    receiver: str
    line: int
    caller: int


class Span(NamedTuple):
    """A definition with its lines; `number` is its public number."""

    number: int
    id: str
    name: str
    qualified_name: str
    kind: str
    line: int
    end_line: int


class Name(NamedTuple):
    """A definition as a link to it shows it; `file` is a public number."""

    id: str
    name: str
    qualified_name: str
    file: int
    line: int


def calls_in(index: SymbolicIndex, file: int) -> list[CallText]:
    """The calls in a file, in the order of the text."""
    sql = (
        "SELECT n.text, r.text, c.line, c.caller FROM files f JOIN calls c ON c.id >= f.first_call "
        "AND c.id < f.first_call + f.calls AND c.file = f.id JOIN texts n ON n.id = c.name "
        f"JOIN texts r ON r.id = c.receiver WHERE c.arguments > {IMPLICIT} AND f.id IN ({{}}) ORDER BY c.id"
    )
    calls = [
        CallText(*row) for segment, own in index.by_number("files", [file]) for row in segment.execute(sql.format(own))
    ]
    for call in calls:
        _check(type(call.name) is type(call.receiver) is str and type(call.line) is type(call.caller) is int)
    return calls


def calls_named(index: SymbolicIndex, name: str, *, prefix: bool = False) -> list[tuple[int, int, int]]:
    """(file, caller as in `CallText`, line) of every call of a name, with any receiver; with `prefix`, of every call of
    a name that begins with `name`.
    """
    texts = f"SELECT id FROM texts WHERE {starting_with(name, 'texts', 'text')} AND text BETWEEN ? AND ?"
    sql = (
        "SELECT f.id, c.caller, c.line FROM calls c CROSS JOIN files f ON f.id = c.file "
        f"WHERE c.name IN ({texts}) AND c.arguments > {IMPLICIT} AND {{live}}"
    )
    calls = []
    for segment in index.segments:
        for file, caller, line in segment.execute(sql.format(live=segment.live), [name, name + _LAST * prefix]):
            _check(type(caller) is type(line) is int)
            calls.append((segment.public("files", file), caller, line))
    return calls


def imports_in(index: SymbolicIndex, file: int) -> list[Import]:
    """The imports of a file, in the order of the text."""
    from lci_py.types.source import Import

    sql = "SELECT module, name, alias, line FROM imports WHERE file IN ({}) ORDER BY rowid"
    imports = [
        Import(*row) for segment, own in index.by_number("files", [file]) for row in segment.execute(sql.format(own))
    ]
    for item in imports:
        _check(type(item.module) is type(item.name) is type(item.alias) is str)
    return imports


def registered_in(index: SymbolicIndex) -> list[tuple[int, Registration]]:
    """(file, registration) for each registration with a framework (such as a route); symbols have public numbers."""
    from lci_py.types.source import REGISTRATIONS, Registration

    sql = (
        "SELECT f.id, f.first_symbol, f.symbols, r.kind, r.name, r.router, r.target, r.scope, r.symbol, r.line "
        "FROM registered r JOIN files f ON f.id = r.file WHERE {}"
    )
    result = []
    for segment in index.segments:
        for file, first, count, *row in segment.execute(sql.format(segment.live)):
            item = Registration(*row)
            _check(item.kind in REGISTRATIONS and type(item.scope) is int and type(item.line) is int)
            _check(type(item.name) is type(item.router) is type(item.target) is str)
            _check(type(item.symbol) is int and item.symbol < count and item.scope < count)
            if item.symbol >= 0:
                item = item._replace(symbol=segment.public("symbols", first + item.symbol))
            result.append((segment.public("files", file), item))
    return result


def definitions_in(index: SymbolicIndex, file: int) -> list[Span]:
    """The definitions of a file, in the order of the text."""
    columns = "s.id, s.sid, s.name, s.qualified_name, s.kind, s.line, s.end_line"
    sql = f"SELECT {columns} {SYMBOLS_OF} WHERE f.id IN ({{}}) ORDER BY s.id"
    spans = [
        Span(segment.public("symbols", number), *rest)
        for segment, own in index.by_number("files", [file])
        for number, *rest in segment.execute(sql.format(own))
    ]
    for span in spans:
        _check(all(type(text) is str for text in span[1:5]) and type(span.line) is type(span.end_line) is int)
    return spans


def definitions_around(index: SymbolicIndex, file: int, lines: Sequence[int]) -> dict[int, Span]:
    """Maps each of the (ascending) lines to the innermost definition around it, counting doc comments as part of it."""
    sql = f"SELECT s.id, s.first_line, s.end_line {SYMBOLS_OF} WHERE f.id IN ({{}}) ORDER BY 2, 3 DESC, 1"
    select = "SELECT id, sid, name, qualified_name, kind, line, end_line FROM symbols WHERE id IN ({})"
    result: dict[int, Span] = {}
    for segment, own in index.by_number("files", [file]):
        spans = segment.execute(sql.format(own))
        _check(all(type(first) is type(last) is int for _, first, last in spans))
        innermost, opened, opening = {}, [], 0
        for line in lines:
            while opening < len(spans) and spans[opening][1] <= line:
                opened.append(spans[opening])
                opening += 1
            while opened and opened[-1][2] < line:
                opened.pop()
            if opened:
                innermost[line] = opened[-1][0]
        span_of = {}
        for some in batches(sorted(set(innermost.values()))):
            for number, *rest in segment.execute(select.format(marks(some)), some):
                span_of[number] = span = Span(segment.public("symbols", number), *rest)
                _check(all(type(text) is str for text in span[1:5]) and type(span.line) is type(span.end_line) is int)
        result |= {line: span_of[number] for line, number in innermost.items()}
    return result


def units_of(index: SymbolicIndex, symbols: Iterable[int]) -> dict[int, int]:
    """Maps each definition to its unit, or to the unit of the innermost definition around it; if none, no entry."""
    # CROSS JOIN tells SQLite which table to read first: otherwise it would read all symbols.
    sql = (
        "WITH RECURSIVE up (origin, id) AS (SELECT id, id FROM symbols WHERE id IN ({}) UNION "
        "SELECT up.origin, s.parent FROM up CROSS JOIN symbols s ON s.id = up.id WHERE s.unit IS NULL AND s.parent IS "
        "NOT NULL) SELECT up.origin, s.unit FROM up CROSS JOIN symbols s ON s.id = up.id WHERE s.unit IS NOT NULL"
    )
    units = {
        segment.public("symbols", symbol): segment.public("units", unit)
        for segment, own in index.by_number("symbols", sorted(set(symbols)))
        for symbol, unit in segment.execute(sql.format(own))
    }
    total = index.numbering.total("units")
    _check(all(type(unit) is int and 0 <= unit < total for unit in units.values()))
    return units


def definitions_at(index: SymbolicIndex, file: int, line: int) -> list[int]:
    """The innermost definition around a line of a file, then all definitions inside it; [] outside definitions.

    Args:
        line: 1-based. The doc comment, attributes and decorators count as lines of a definition.
    """
    sql = f"SELECT s.id, s.first_line, s.end_line {SYMBOLS_OF} WHERE f.id IN ({{}})"
    spans = [
        (first, last, segment.public("symbols", number))
        for segment, own in index.by_number("files", [file])
        for number, first, last in segment.execute(sql.format(own))
    ]
    _check(all(type(first) is type(last) is int for first, last, _ in spans))
    enclosing = [span for span in spans if span[0] <= line <= span[1]]
    if not enclosing:
        return []
    # Definitions nest: the innermost one starts last, and is the shortest of several that start on one line.
    first, last, inner = max(enclosing, key=lambda span: (span[0], -span[1], span[2]))
    return [inner, *(number for start, end, number in spans if first <= start and end <= last and number != inner)]


def line_count(index: SymbolicIndex, file: int) -> int:
    """The number of lines of a file."""
    for segment, own in index.by_number("files", [file]):
        for (lines,) in segment.execute(f"SELECT lines FROM files WHERE id IN ({own})"):
            _check(type(lines) is int)
            return int(lines)
    raise DamagedIndexError("the symbolic shard lacks a file of the numbering")


def marks_in(index: SymbolicIndex, file: int) -> bytes:
    """The marks of a file, encoded by `source.extract.marks`; b"" if the file has none."""
    for segment, own in index.by_number("files", [file]):
        for (data,) in segment.execute(f"SELECT marks FROM marks WHERE file IN ({own})"):
            _check(type(data) is bytes)
            return bytes(data)
    return b""


def constructors(index: SymbolicIndex, types: Sequence[int]) -> dict[int, int]:
    """Maps each constructor directly inside one of the types to that type; ascending."""
    all_names = [name for names in _CONSTRUCTORS.values() for name in names]
    sql = (
        "SELECT s.id, s.parent, s.name, s.kind, f.language FROM symbols s JOIN files f ON f.id = s.file "
        f"WHERE s.parent IN ({{}}) AND {kinds_in('s.', FUNCTION_KINDS)} AND "
        f"({kinds_in('s.', ['constructor'])} OR s.name IN ({marks(all_names)}))"
    )
    pairs = []
    for segment, own in index.by_number("symbols", types):
        for number, parent, name, kind, language in segment.execute(sql.format(own), all_names):
            if kind == "constructor" or name in _CONSTRUCTORS.get(language, ()):
                pairs.append((segment.public("symbols", number), segment.public("symbols", parent)))
    return dict(sorted(pairs))


class Member(NamedTuple):
    """A method, or a type that may have methods. Numbers are public."""

    number: int
    name: str
    owner: int  # the type around it, or -1
    around: str  # the kind of that, or ""
    scope: str  # the name of the type that a method outside of its type belongs to, or ""
    file: int
    folder: str
    test: bool
    language: str
    arity: int
    signature: str
    static: bool  # of the type itself, not of its objects


def members_named(index: SymbolicIndex, name: str) -> list[Member]:
    """All methods with this name."""
    return _members(index, [name], ["method"])


def types_named(index: SymbolicIndex, names: Sequence[str]) -> dict[str, list[Member]]:
    """Maps each name to the types with that name."""
    types: dict[str, list[Member]] = {}
    for some in batches(names):
        for item in _members(index, some, [*TYPE_KINDS, "type"]):
            types.setdefault(item.name, []).append(item)
    return types


def _members(index: SymbolicIndex, names: Sequence[str], kinds: Sequence[str]) -> list[Member]:
    sql = (
        "SELECT s.id, s.name, s.parent, p.kind, s.scope, s.file, f.path, f.test, f.language, s.arity, s.signature, "
        "s.traits "
        "FROM symbols s JOIN files f ON f.id = s.file LEFT JOIN symbols p ON p.id = s.parent WHERE {live} AND "
        f"{kinds_in('s.', kinds)} AND {named_in('s.', names)}"
    )
    members = []
    for segment in index.segments:
        rows = segment.execute(sql.format(live=segment.live), list(names))
        for number, name, parent, above, scope, file, path, test, language, arity, signature, traits in rows:
            _check(type(name) is type(path) is str and type(arity) is int)
            is_inside = above in TYPE_KINDS or above == "type"
            owner = segment.public("symbols", parent) if is_inside else -1
            members.append(
                Member(
                    segment.public("symbols", number), name, owner, above or "",
                    "" if is_inside else (scope or "").rpartition(".")[2], segment.public("files", file),
                    path.rpartition("/")[0], bool(test), language, arity, signature or "",
                    "static" in (traits or "").split(),
                )
            )  # fmt: skip
    return members


def owned_names(index: SymbolicIndex, types: Sequence[int]) -> list[str]:
    """The names of the methods directly inside some types."""
    sql = f"SELECT DISTINCT s.name FROM symbols s WHERE s.parent IN ({{}}) AND {kinds_in('s.', ['method'])}"
    rows = (row for segment, own in index.by_number("symbols", types) for row in segment.execute(sql.format(own)))
    return sorted({str(row[0]) for row in rows})


def parents(index: SymbolicIndex, symbol: int) -> list[tuple[str, int, bool]]:
    """(name, number, whether it is a type) of a definition, then of each definition around it, from the inside out."""
    chain = []
    for segment, own in index.by_number("symbols", [symbol]):
        sql = (
            "WITH RECURSIVE up(id, parent, name, kind) AS (SELECT id, parent, name, kind FROM symbols WHERE id IN "
            f"({own}) UNION SELECT s.id, s.parent, s.name, s.kind FROM up JOIN symbols s ON s.id = up.parent) "
            "SELECT name, id, kind FROM up"
        )
        for name, number, kind in segment.execute(sql):
            chain.append((str(name), segment.public("symbols", number), kind in TYPE_KINDS or kind == "type"))
    return chain


def names(index: SymbolicIndex, symbols: Sequence[int]) -> dict[int, Name]:
    """Maps each symbol number to the definition, as a link to it shows it."""
    links = {}
    for segment, own in zip(index.segments, index.numbering.split("symbols", symbols), strict=True):
        for some in batches(own):
            some = [*some, *(some[-1] for _ in range(-len(some) % _STEP))]
            sql = f"SELECT id, sid, name, qualified_name, file, line FROM symbols WHERE id IN ({marks(some)})"
            for number, sid, name, qualified, file, line in segment.execute(sql, some):
                links[segment.public("symbols", number)] = link = Name(
                    sid, name, qualified, segment.public("files", file), line
                )
                _check(type(link.file) is int and 0 <= link.file < index.numbering.total("files"))
    return links


def file_state(index: SymbolicIndex) -> list[tuple[str, str, str]]:
    """(path, language, name of the limit that cut its record short or "") of every file."""
    return [(path, language, limited or "") for path, language, limited in index.per_file("path, language, limited")]


def packages_of(index: SymbolicIndex, paths: Sequence[str]) -> list[str]:
    """The names of the packages that these files declare."""
    sql = f"SELECT package FROM files f WHERE path IN ({marks(paths)}) AND package != '' AND "
    return [row[0] for segment in index.segments for row in segment.execute(sql + segment.live, paths)]


def passing(index: SymbolicIndex, symbols: Sequence[int], filters: Filters) -> set[int]:
    """The symbols among `symbols` that pass the filters.

    Raises:
        BadGlobError: A path filter is not a glob.
    """
    condition, args = where(filters)
    on_path = path_test(filters)
    sql = (
        "SELECT s.id, f.path FROM symbols s JOIN files f ON f.id = s.file LEFT JOIN symbols p ON p.id = s.parent "
        f"WHERE s.id IN ({{}}) AND {condition}"
    )
    return {
        segment.public("symbols", number)
        for segment, own in index.by_number("symbols", symbols)
        for number, path in segment.execute(sql.format(own), args)
        if on_path is None or on_path(path)
    }


def language_and_lambdas(index: SymbolicIndex, path: str) -> tuple[str, list[tuple[int, int]]] | None:
    """(language, (first line, last line) of each anonymous function) of a file; None if the file is not indexed."""
    import json

    for segment in index.segments:
        sql = f"SELECT f.language, f.lambdas FROM files f WHERE {segment.live} AND f.path = ?"
        for language, text in segment.execute(sql, [path]):
            try:
                return language, [(int(line), int(end_line)) for _, line, end_line in json.loads(text)]
            except (ValueError, TypeError, RecursionError) as error:
                raise DamagedIndexError(f"the symbolic shard: {error}") from error
    return None


#: The condition that a definition is part of a test: by its file, or because only a test build has it (Rust).
IS_TEST = f"(f.test OR coalesce({TEST_BUILD}, 0))"


class MapRow(NamedTuple):
    """A definition, with the data that a map of the repository shows."""

    file: int
    parent: int  # -1 at the top level
    kind: str
    exported: bool
    test: bool


def map_rows(index: SymbolicIndex) -> list[MapRow]:
    """Every definition, in the order of numbers."""
    columns = f"s.id, s.file, s.parent, s.kind, s.exported, {IS_TEST}"
    sql = f"SELECT {columns} FROM symbols s JOIN files f ON f.id = s.file WHERE "
    slots: list[MapRow | None] = [None] * index.numbering.total("symbols")
    for segment in index.segments:
        for number, file, parent, kind, exported, test in segment.execute(sql + segment.live):
            above = -1 if parent is None else segment.public("symbols", parent)
            slots[segment.public("symbols", number)] = MapRow(
                segment.public("files", file), above, kind, bool(exported), bool(test)
            )
    rows = [row for row in slots if row is not None]
    _check(len(rows) == len(slots) and all(-1 <= row.parent < len(rows) and type(row.kind) is str for row in rows))
    return rows


class DefinitionRow(NamedTuple):
    """The data of a definition that `lci unused` needs; numbers are public."""

    file: int
    parent: int  # -1 at the top level
    name: str
    kind: str
    exported: bool
    test: bool
    traits: str
    conditional: bool  # whether only some builds have it
    first_line: int
    line: int
    end_line: int


def definition_rows(index: SymbolicIndex) -> list[DefinitionRow]:
    """Every definition, in the order of numbers."""
    columns = f"s.id, s.file, s.parent, s.name, s.kind, s.exported, {IS_TEST}, s.traits, s.build_tag IS NOT NULL, "
    columns += "s.first_line, s.line, s.end_line"
    slots: list[DefinitionRow | None] = [None] * index.numbering.total("symbols")
    for segment in index.segments:
        sql = f"SELECT {columns} FROM symbols s JOIN files f ON f.id = s.file WHERE {segment.live}"
        for number, file, parent, *rest in segment.execute(sql):
            above = -1 if parent is None else segment.public("symbols", parent)
            slots[segment.public("symbols", number)] = DefinitionRow(segment.public("files", file), above, *rest)
    rows = [row for row in slots if row is not None]
    _check(len(rows) == len(slots) and all(-1 <= row.parent < len(rows) and type(row.name) is str for row in rows))
    return rows


def base_names(index: SymbolicIndex) -> dict[int, list[str]]:
    """Maps each type to the names of its base types, as written; a type without bases has no entry."""
    bases: dict[int, list[str]] = {}
    for segment in index.segments:
        sql = "SELECT b.symbol, b.name FROM bases b JOIN symbols s ON s.id = b.symbol JOIN files f ON f.id = s.file "
        for number, name in segment.execute(f"{sql} WHERE {segment.live} ORDER BY b.symbol, b.place"):
            bases.setdefault(segment.public("symbols", number), []).append(str(name))
    return bases


def bases_of(index: SymbolicIndex, types: Sequence[int]) -> dict[int, list[str]]:
    """Like `base_names`, but only for `types`."""
    bases: dict[int, list[str]] = {}
    sql = "SELECT symbol, name FROM bases WHERE symbol IN ({}) ORDER BY symbol, place"
    for segment, own in index.by_number("symbols", types):
        for number, name in segment.execute(sql.format(own)):
            bases.setdefault(segment.public("symbols", number), []).append(str(name))
    return bases


def defined_names(index: SymbolicIndex, names: Sequence[str]) -> set[str]:
    """The names among `names` that a callable definition has."""
    defined: set[str] = set()
    for some in batches(names):
        for segment in index.segments:
            sql = f"SELECT DISTINCT s.name FROM symbols s JOIN files f ON f.id = s.file WHERE {segment.live} "
            sql += f"AND {kinds_in('s.', FUNCTION_KINDS)} AND {named_in('s.', some)}"
            defined |= {row[0] for row in segment.execute(sql, some)}
    return defined


def tests_among(index: SymbolicIndex, symbols: Sequence[int]) -> set[int]:
    """The definitions among `symbols` that belong to a test."""
    sql = f"SELECT s.id FROM symbols s JOIN files f ON f.id = s.file WHERE s.id IN ({{}}) AND {IS_TEST}"
    return {
        segment.public("symbols", number)
        for segment, own in index.by_number("symbols", symbols)
        for (number,) in segment.execute(sql.format(own))
    }


def alike(index: SymbolicIndex, name: str, limit: int = 3) -> list[str]:
    """The names of definitions that resemble an unknown name (mistyped, or in another case), most similar first."""
    return [similar for _, similar in alike_by_ratio(index, name)[:limit]]


def alike_by_ratio(index: SymbolicIndex, name: str) -> list[tuple[float, str]]:
    """(negative similarity, name) of each similar name, so that the most similar name sorts first."""
    from difflib import SequenceMatcher

    query = joined_spelling(name)
    if not query:
        return []
    slack = 1 + len(query) // 4
    shortest, longest = len(query) - slack, len(query) + slack
    # Of a name with dots, the last part may count.
    bare = "replace(name, '_', '')"
    ends = f"(lower(substr({bare}, 1, 1)) = ? OR lower(substr({bare}, -1)) = ?)"
    alike = f"spelled = {spelling(query)} OR instr(name, '.') OR length({bare}) BETWEEN ? AND ? AND {ends}"
    sql = (
        "SELECT DISTINCT s.name, s.kind FROM symbols s JOIN files f ON f.id = s.file WHERE {live} AND NOT "
        f"{kinds_in('s.', ['section'])} AND {names_in('s.', alike)} LIMIT ?"
    )
    args = [shortest, longest, query[0], query[-1], _MOST_ALIKE]
    scored: dict[str, float] = {}
    matcher = SequenceMatcher(None, "", query, autojunk=False)
    for segment in index.segments:
        for candidate, kind in segment.execute(sql.format(live=segment.live), args):
            _check(type(candidate) is type(kind) is str)
            spelled = joined_name(kind, candidate)
            at_ends = spelled[:1] == query[0] or spelled[-1:] == query[-1]
            if spelled != query and not (at_ends and shortest <= len(spelled) <= longest):
                continue
            matcher.set_seq1(spelled)
            if matcher.real_quick_ratio() >= _LIKE and matcher.quick_ratio() >= _LIKE:
                scored[candidate] = matcher.ratio()
    return sorted((-score, candidate) for candidate, score in scored.items() if score >= _LIKE)


#: Least similarity of two names, as `difflib` measures it.
_LIKE = 0.75


def _check(holds: bool) -> None:
    if not holds:
        raise DamagedIndexError("the symbolic shard: its rows do not fit together")
