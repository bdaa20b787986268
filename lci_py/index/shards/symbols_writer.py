"""Write the symbolic shard of a segment: files, symbols, units, chunks, imports, calls and stated values in SQLite."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from lci_py.index.shards.filters import joined_name, spelling
from lci_py.source.stated_values import claimed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lci_py.index.shards.segment_rows import SegmentRows

_SCHEMA = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL, language TEXT NOT NULL, size INTEGER, mtime_ns INTEGER,
  sha TEXT NOT NULL, lines INTEGER, test INTEGER, package TEXT, errors INTEGER, first_call INTEGER, calls INTEGER,
  limited TEXT, types TEXT NOT NULL,
  lambdas TEXT NOT NULL, n_lambdas INTEGER NOT NULL, flow BLOB NOT NULL);
CREATE TABLE definitions (id INTEGER PRIMARY KEY, sid BLOB NOT NULL, file INTEGER NOT NULL, name TEXT NOT NULL,
  spelled INTEGER NOT NULL, qualified TEXT, kind TEXT NOT NULL, parent INTEGER, scope TEXT, signature TEXT,
  doc TEXT, exported INTEGER, line INTEGER NOT NULL, end_line INTEGER NOT NULL, first_line INTEGER, build_tag TEXT,
  unit INTEGER, arity INTEGER NOT NULL, traits TEXT NOT NULL, digest BLOB NOT NULL);
CREATE VIEW symbols AS SELECT id, lower(hex(sid)) AS sid, sid AS sid_bytes, file, name, spelled,
  coalesce(qualified, name) AS qualified_name, qualified, kind, parent, scope, signature, doc, exported, line, end_line,
  first_line, build_tag, unit, arity, traits, lower(hex(digest)) AS digest FROM definitions;
CREATE TABLE units (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, symbol INTEGER, sid BLOB,
  line INTEGER NOT NULL, end_line INTEGER NOT NULL);
CREATE TABLE chunks (id INTEGER PRIMARY KEY, unit INTEGER NOT NULL, line INTEGER, end_line INTEGER, digest BLOB);
CREATE TABLE imports (file INTEGER NOT NULL, module TEXT, name TEXT, alias TEXT, line INTEGER);
CREATE TABLE calls (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, caller INTEGER NOT NULL, name INTEGER NOT NULL,
  receiver INTEGER NOT NULL, line INTEGER NOT NULL, arguments INTEGER NOT NULL, passed INTEGER NOT NULL);
CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE stored (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, owner TEXT NOT NULL, slot TEXT NOT NULL,
  value TEXT NOT NULL, within INTEGER NOT NULL);
CREATE TABLE marks (file INTEGER PRIMARY KEY, marks BLOB NOT NULL);
CREATE TABLE claims (file INTEGER NOT NULL, symbol INTEGER, joined TEXT NOT NULL, name TEXT NOT NULL,
  value TEXT NOT NULL, line INTEGER NOT NULL, how TEXT NOT NULL);
CREATE TABLE bases (symbol INTEGER NOT NULL, place INTEGER NOT NULL, name TEXT NOT NULL,
  last TEXT NOT NULL, PRIMARY KEY (symbol, place)) WITHOUT ROWID;
"""
_INDEXES = """
CREATE INDEX symbols_kind ON definitions (kind, name, file);
CREATE INDEX symbols_dotted ON definitions (name) WHERE instr(name, '.');
CREATE INDEX symbols_spelled ON definitions (spelled);
CREATE INDEX symbols_qualified ON definitions (qualified) WHERE qualified IS NOT NULL;
CREATE INDEX symbols_file ON definitions (file);
CREATE INDEX symbols_parent ON definitions (parent) WHERE parent IS NOT NULL;
CREATE INDEX symbols_placed ON definitions (file) WHERE kind = 'module' AND instr(traits, 'path=');
CREATE INDEX calls_name ON calls (name);
CREATE INDEX texts_text ON texts (text);
CREATE INDEX chunks_unit ON chunks (unit);
CREATE INDEX units_file ON units (file);
CREATE INDEX imports_file ON imports (file);
CREATE INDEX claims_joined ON claims (joined);
CREATE INDEX claims_file ON claims (file);
CREATE INDEX stored_slot ON stored (slot, owner);
CREATE INDEX stored_file ON stored (file);
CREATE INDEX bases_last ON bases (last);
"""


def write_symbolic(path: Path, rows: SegmentRows) -> None:
    """Write the shard into a new file."""
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.executescript(_SCHEMA)
        db.execute("BEGIN")
        _write_calls(db, rows)
        db.executemany("INSERT INTO files VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", _file_rows(rows))
        db.executemany(
            "INSERT INTO definitions VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                (
                    i, bytes.fromhex(rows.symbol_id[i]), rows.symbol_file[i], s.name,
                    spelling(joined_name(s.kind, s.name)), s.qualified_name if s.qualified_name != s.name else None,
                    s.kind, _none(rows.symbol_parent[i]), s.scope, s.signature, s.doc, s.exported, s.line, s.end_line,
                    s.first_line, s.build_tag, _none(rows.symbol_unit[i]), s.arity, s.traits, bytes.fromhex(s.digest),
                )
                for i, s in enumerate(rows.symbols)
            ),
        )  # fmt: skip
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
            "INSERT INTO claims VALUES (?,?,?,?,?,?,?)",
            (
                (i, rows.first_symbol[i] + c.symbol if c.symbol >= 0 else None, claimed(c.name), c.name, c.value,
                 c.line, c.how)
                for i, record in enumerate(rows.records)
                for c in record.extract.claims
            ),
        )  # fmt: skip
        db.executemany(
            "INSERT INTO bases VALUES (?,?,?,?)",
            (
                (rows.first_symbol[i] + base.symbol, place, base.name, base.name.rpartition(".")[2])
                for i, record in enumerate(rows.records)
                for place, base in enumerate(record.extract.bases)
            ),
        )
        db.executemany(
            "INSERT INTO stored (file, owner, slot, value, within) VALUES (?,?,?,?,?)",
            ((i, *item) for i, record in enumerate(rows.records) for item in record.extract.stored),
        )
        db.execute("COMMIT")
        db.executescript(_INDEXES)
        db.execute("ANALYZE")
    finally:
        db.close()


def _file_rows(rows: SegmentRows) -> Iterator[tuple[object, ...]]:
    call = 0
    for i, r in enumerate(rows.records):
        calls = len(r.extract.calls)
        types = json.dumps([(t.scope, t.name, t.text, t.within) for t in r.extract.types], separators=(",", ":"))
        yield (i, _text(r.path), r.extract.language, r.size, r.mtime_ns, r.sha, r.lines, rows.tests[i],
               r.extract.package, r.extract.has_errors, call, calls, r.limit, types,
               json.dumps(r.extract.lambdas), len(r.extract.lambdas), r.extract.flow)  # fmt: skip
        call += calls


def _write_calls(db: sqlite3.Connection, rows: SegmentRows) -> None:
    """Write calls by file, in the order of the text: `files` stores the range of each file, so an index of
    the names is enough."""
    # Each text once: a name is called many times, and a receiver may be a long chain of calls.
    texts: dict[str, int] = {}

    def numbered() -> Iterator[tuple[int, ...]]:
        for file, record in enumerate(rows.records):
            for call in record.extract.calls:
                name = texts.setdefault(call.name, len(texts))
                receiver = texts.setdefault(call.receiver, len(texts))
                passed = texts.setdefault(call.passed, len(texts))
                yield file, call.caller, name, receiver, call.line, call.arguments, passed

    db.executemany("INSERT INTO calls VALUES (?,?,?,?,?,?,?,?)", ((i, *row) for i, row in enumerate(numbered())))
    db.executemany("INSERT INTO texts VALUES (?,?)", ((number, text) for text, number in texts.items()))


def _none(number: int) -> int | None:
    return number if number >= 0 else None


def _text(value: str) -> str:
    return value.encode("utf-8", "backslashreplace").decode("utf-8")
