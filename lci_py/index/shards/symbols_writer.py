"""Writes the symbolic shard of a segment: files, symbols, units, chunks, imports, calls and stated values in SQLite."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from lci_py.index.shards.filters import KIND_NUMBER, own_name, spelling
from lci_py.source.text.name_parts import pack_names
from lci_py.source.text.words import joined_spelling
from lci_py.types.search import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lci_py.index.shards.segment_rows import SegmentRows
    from lci_py.types.source import Symbol

#: In a stored signature: the definition's name; `#define` and the name; and, as its first character, that neither of
#: these two stands for anything.
_NAME, _MACRO, _AS_IT_IS = "\x01", "\x02", "\x03"
#: The name of a row of `definitions`, which stores its number. Not a join: the view must remain one table to SQLite.
_NAMED = "(SELECT n.name FROM names n WHERE n.id = definitions.name)"
_SIGNATURE = (
    f"CASE WHEN unicode(signature) = {ord(_AS_IT_IS)} THEN substr(signature, 2) "
    f"ELSE replace(replace(signature, char({ord(_MACRO)}), '#define ' || char({ord(_NAME)})), "
    f"char({ord(_NAME)}), {_NAMED}) END"
)
_KIND = " ".join(f"WHEN {number} THEN '{kind}'" for number, kind in enumerate(KINDS))
#: What stands for the last columns of `stored` that a row leaves out.
_MISSING = (None, None, None, None, -1, None, None)
_SCHEMA = f"""
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL, language TEXT NOT NULL, size INTEGER, mtime_ns INTEGER,
  sha TEXT NOT NULL, lines INTEGER, test INTEGER, package TEXT, errors INTEGER, first_symbol INTEGER,
  symbols INTEGER, first_unit INTEGER, units INTEGER, first_chunk INTEGER, chunks INTEGER, first_call INTEGER,
  calls INTEGER, first_stored INTEGER, stored INTEGER, limited TEXT, types TEXT NOT NULL, lambdas TEXT NOT NULL,
  n_lambdas INTEGER NOT NULL, flow BLOB NOT NULL);
CREATE TABLE definitions (id INTEGER PRIMARY KEY, sid BLOB NOT NULL, file INTEGER NOT NULL, name INTEGER NOT NULL,
  qualified_hash INTEGER, qualified TEXT, kind INTEGER NOT NULL, parent INTEGER, scope TEXT,
  signature TEXT, doc TEXT, exported INTEGER, line INTEGER NOT NULL, below INTEGER NOT NULL, above INTEGER NOT NULL,
  build_tag TEXT, unit INTEGER, arity INTEGER NOT NULL, traits TEXT NOT NULL, digest BLOB NOT NULL);
CREATE VIEW symbols AS SELECT id, lower(hex(sid)) AS sid, sid AS sid_bytes, file, {_NAMED} AS name,
  name AS name_number, CASE WHEN qualified_hash IS NULL THEN {_NAMED}
    ELSE coalesce(qualified, scope || '.' || {_NAMED}) END AS qualified_name,
  qualified_hash, CASE kind {_KIND} END AS kind, kind AS kind_number, parent, scope, {_SIGNATURE} AS signature, doc,
  exported, line, line + below AS end_line, line - above AS first_line, build_tag, unit, arity, traits,
  lower(hex(digest)) AS digest FROM definitions;
CREATE TABLE units (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, symbol INTEGER, sid BLOB,
  line INTEGER NOT NULL, end_line INTEGER NOT NULL);
CREATE TABLE chunks (id INTEGER PRIMARY KEY, unit INTEGER NOT NULL, line INTEGER, end_line INTEGER, digest BLOB);
CREATE TABLE imports (file INTEGER NOT NULL, module TEXT, name TEXT, alias TEXT, line INTEGER);
CREATE TABLE calls (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, caller INTEGER NOT NULL, name INTEGER NOT NULL,
  receiver INTEGER NOT NULL, line INTEGER NOT NULL, arguments INTEGER NOT NULL, passed INTEGER NOT NULL);
CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL, spelled INTEGER NOT NULL);
CREATE TABLE name_parts (parts BLOB NOT NULL);
CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE stored (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, kind INTEGER NOT NULL, owner TEXT NOT NULL,
  name TEXT NOT NULL, value TEXT NOT NULL, within INTEGER NOT NULL, place INTEGER, holder TEXT);
CREATE TABLE marks (file INTEGER PRIMARY KEY, marks BLOB NOT NULL);
CREATE TABLE claims (file INTEGER NOT NULL, symbol INTEGER, name TEXT NOT NULL,
  value TEXT NOT NULL, line INTEGER NOT NULL, how TEXT NOT NULL);
CREATE TABLE registered (file INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, router TEXT NOT NULL,
  target TEXT NOT NULL, scope INTEGER NOT NULL, symbol INTEGER NOT NULL, line INTEGER NOT NULL);
CREATE TABLE bases (symbol INTEGER NOT NULL, place INTEGER NOT NULL, name TEXT NOT NULL,
  last TEXT NOT NULL, PRIMARY KEY (symbol, place)) WITHOUT ROWID;
"""
_INDEXES = f"""
CREATE INDEX symbols_kind ON definitions (kind, name, file);
CREATE INDEX names_spelled ON names (spelled);
CREATE INDEX names_dotted ON names (name) WHERE instr(name, '.');
CREATE INDEX symbols_qualified ON definitions (qualified_hash) WHERE qualified_hash IS NOT NULL;
CREATE INDEX symbols_parent ON definitions (parent) WHERE parent IS NOT NULL;
CREATE INDEX symbols_placed ON definitions (file) WHERE kind = {KIND_NUMBER["module"]} AND instr(traits, 'path=');
CREATE INDEX calls_name ON calls (name);
CREATE INDEX imports_file ON imports (file);
CREATE INDEX claims_name ON claims (name);
CREATE INDEX claims_file ON claims (file);
CREATE INDEX stored_slot ON stored (name, owner);
CREATE INDEX bases_last ON bases (last);
"""


def write_symbolic(path: Path, rows: SegmentRows) -> None:
    """Write the symbolic shard into a new file."""
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.executescript(_SCHEMA)
        db.execute("BEGIN")
        _write_calls(db, rows)
        db.executemany(f"INSERT INTO files VALUES ({','.join('?' * 25)})", _file_rows(rows))
        numbers = _number_names(db, rows)
        db.executemany(
            "INSERT INTO definitions VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                (
                    i, bytes.fromhex(rows.symbol_id[i]), rows.symbol_file[i],
                    numbers[s.name, own_name(s.kind, s.name)], *_stored_qualified_name(s), KIND_NUMBER[s.kind],
                    _none(rows.symbol_parent[i]), s.scope, _signature(s), s.doc, s.exported, s.line,
                    s.end_line - s.line, s.line - s.first_line, s.build_tag,
                    _none(rows.symbol_unit[i]), s.arity, s.traits, bytes.fromhex(s.digest),
                )
                for i, s in enumerate(rows.symbols)
            ),
        )  # fmt: skip
        db.execute("INSERT INTO name_parts VALUES (?)", (pack_names(_names(rows)),))
        db.executemany(
            "INSERT INTO units VALUES (?,?,?,?,?,?)",
            (
                (i, u.file, _none(u.symbol), bytes.fromhex(u.id) if u.symbol < 0 else None, u.line, u.end_line)
                for i, u in enumerate(rows.units)
            ),
        )
        db.executemany(
            "INSERT INTO chunks VALUES (?,?,?,?,?)",
            ((i, u, *rows.chunk_lines[i], rows.chunk_digest[i]) for i, u in enumerate(rows.chunk_unit)),
        )
        db.executemany(
            "INSERT INTO imports VALUES (?,?,?,?,?)",
            (
                (i, item.module, item.name, item.alias, item.line)
                for i, record in enumerate(rows.records)
                for item in record.extract.imports
            ),
        )
        db.executemany(
            "INSERT INTO marks VALUES (?,?)",
            ((i, record.extract.marks) for i, record in enumerate(rows.records) if record.extract.marks),
        )
        db.executemany(
            "INSERT INTO claims VALUES (?,?,?,?,?,?)",
            (
                (i, rows.first_symbol[i] + c.symbol if c.symbol >= 0 else None, c.name, c.value, c.line,
                 c.how)
                for i, record in enumerate(rows.records)
                for c in record.extract.claims
            ),
        )  # fmt: skip
        db.executemany(
            "INSERT INTO registered VALUES (?,?,?,?,?,?,?,?)",
            ((i, *item) for i, record in enumerate(rows.records) for item in record.extract.registered),
        )
        db.executemany(
            "INSERT INTO bases VALUES (?,?,?,?)",
            (
                (rows.first_symbol[i] + base.symbol, position, base.name, base.name.rpartition(".")[2])
                for i, record in enumerate(rows.records)
                for position, base in enumerate(record.extract.bases)
            ),
        )
        db.executemany(
            "INSERT INTO stored VALUES (?,?,?,?,?,?,?,?,?)",
            (
                (number, i, *item.row(), *_MISSING[len(item.row()) :])
                for number, (i, item) in enumerate(
                    (i, item) for i, record in enumerate(rows.records) for item in record.extract.stored
                )
            ),
        )
        db.execute("COMMIT")
        db.executescript(_INDEXES)
        db.execute("ANALYZE")
    finally:
        db.close()


def _file_rows(rows: SegmentRows) -> Iterator[tuple[object, ...]]:
    units, chunks = Counter(unit.file for unit in rows.units), Counter(rows.chunk_file)
    unit = chunk = call = stored = 0
    for i, r in enumerate(rows.records):
        calls = len(r.extract.calls)
        first = rows.first_symbol[i]
        types = json.dumps([item.row() for item in r.extract.types], separators=(",", ":"))
        yield (i, _text(r.path), r.extract.language, r.size, r.mtime_ns, r.sha, r.lines, rows.tests[i],
               r.extract.package, max(r.extract.lost_lines, r.extract.has_errors), first,
               rows.first_symbol[i + 1] - first, unit, units[i], chunk,
               chunks[i], call, calls, stored, len(r.extract.stored), r.limit, types,
               json.dumps(r.extract.lambdas), len(r.extract.lambdas), r.extract.flow)  # fmt: skip
        unit, chunk, call = unit + units[i], chunk + chunks[i], call + calls
        stored += len(r.extract.stored)


def _write_calls(db: sqlite3.Connection, rows: SegmentRows) -> None:
    """Write calls file by file, in text order: `files` stores the range of each, so only names need an SQL index."""
    # Each text once: a name is called many times, and a receiver may be a long chain of calls.
    distinct: set[str] = set()
    for record in rows.records:
        for call in record.extract.calls:
            distinct.update((call.name, call.receiver, call.passed))
    texts = {text: number for number, text in enumerate(sorted(distinct))}
    db.executemany("INSERT INTO texts VALUES (?,?)", ((number, text) for text, number in texts.items()))
    numbers = count()
    db.executemany(
        "INSERT INTO calls VALUES (?,?,?,?,?,?,?,?)",
        (
            (next(numbers), file, caller, texts[name], texts[receiver], line, arguments, texts[passed])
            for file, record in enumerate(rows.records)
            for name, receiver, line, caller, arguments, passed in record.extract.calls
        ),
    )


def _number_names(db: sqlite3.Connection, rows: SegmentRows) -> dict[tuple[str, str], int]:
    """Write the names of definitions, in ascending order; maps each (name, `own_name`) to its number."""
    # Each name once: the headers of a driver define the same registers for each model of a device.
    distinct = sorted({(symbol.name, own_name(symbol.kind, symbol.name)) for symbol in rows.symbols})
    name_rows = ((number, name, spelling(joined_spelling(own))) for number, (name, own) in enumerate(distinct))
    db.executemany("INSERT INTO names VALUES (?,?,?)", name_rows)
    return {names: number for number, names in enumerate(distinct)}


def _stored_qualified_name(symbol: Symbol) -> tuple[int | None, str | None]:
    """The stored form of a qualified name: (hash, None if it equals the name; text, None if it is scope.name)."""
    name = symbol.qualified_name
    if name == symbol.name:
        return None, None
    return spelling(name), None if name == f"{symbol.scope}.{symbol.name}" else name


def _signature(symbol: Symbol) -> str | None:
    """The stored form of a signature: a mark stands for the name in it."""
    text = symbol.signature
    if not text or any(mark in text for mark in (_NAME, _MACRO, _AS_IT_IS)):
        return _AS_IT_IS + text if text else text
    if not symbol.name or "\0" in symbol.name or "\0" in text:  # SQL's replace() ends a text there
        return text
    return text.replace(symbol.name, _NAME, 1).replace(f"#define {_NAME}", _MACRO, 1)


def _names(rows: SegmentRows) -> Iterator[str]:
    """The names that are compared with a mistyped name: the names of all definitions except sections of documents."""
    return (own_name(symbol.kind, symbol.name) for symbol in rows.symbols if symbol.kind != "section")


def _none(number: int) -> int | None:
    return number if number >= 0 else None


def _text(value: str) -> str:
    return value.encode("utf-8", "backslashreplace").decode("utf-8")
