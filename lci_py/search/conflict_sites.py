"""Fetch the definitions that may contradict a result, and mark the result if they do. The rule is in `conflicts`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lci_py.search.conflicts import Site, definitions

if TYPE_CHECKING:
    import sqlite3

    from lci_py.search.session import Session
    from lci_py.types import Answer, DefinitionSite, Result

_COLUMNS = (
    "s.id AS number, s.sid AS sid, s.unit AS unit, f.path AS file, f.language AS language, f.test AS test, "
    "s.line AS line, s.name AS name, s.qualified_name AS qualified_name, s.kind AS kind, s.signature AS signature, "
    "s.build_tag AS build_tag, s.first_line AS first_line, s.parent AS parent"
)
#: More definitions of one name than this are not variants of one symbol; `main` in a folder of scripts is.
_MAX_SITES = 400


def with_conflicts(session: Session, answer: Answer) -> Answer:
    """The answer with `conflict` and `definitions` on every result that has several defining sites."""
    return replace(answer, results=tuple(_marked(session, result) for result in answer.results))


def _marked(session: Session, result: Result) -> Result:
    sites = definition_sites(session, result.id, result.language, result.qualified_name)
    return replace(result, conflict=True, definitions=sites) if sites else result


def definition_sites(
    session: Session, symbol_id: str, language: str, qualified_name: str | None
) -> tuple[DefinitionSite, ...]:
    """The contradicting definitions of one symbol, () if there are none."""
    if not qualified_name:
        return ()
    rows = session.symbols.execute(
        f"SELECT {_COLUMNS} FROM symbols s JOIN files f ON f.id = s.file "
        "WHERE s.qualified_name = ? AND f.language = ? ORDER BY f.id, s.line LIMIT ?",
        [qualified_name, language, _MAX_SITES],
    )
    if len(rows) < 2:
        return ()
    sites = [_site(session, row) for row in rows]
    asked = [site for site in sites if site.symbol_id == symbol_id]
    return (
        definitions([*asked, *(s for s in sites if s.symbol_id != symbol_id)], session.manifest.branch) if asked else ()
    )


def _site(session: Session, row: sqlite3.Row) -> Site:
    decorators = ""
    if row["first_line"] < row["line"]:
        lines = session.reader.lines(row["file"])
        if lines is not None:
            above = lines[row["first_line"] - 1 : row["line"] - 1]
            decorators = b"\n".join(above).decode("utf-8", "replace")
    return Site(
        unit=row["unit"] if row["unit"] is not None else -1,
        symbol_id=row["sid"],
        file=row["file"],
        line=row["line"],
        name=row["name"],
        qualified_name=row["qualified_name"],
        kind=row["kind"],
        language=row["language"],
        signature=row["signature"],
        build_tag=row["build_tag"],
        is_test=bool(row["test"]),
        local=_is_local(session, row["parent"]),
        first_line=row["first_line"],
        decorators=decorators,
    )


def _is_local(session: Session, parent: int | None) -> bool:
    """Whether any enclosing definition is a function."""
    sql = (
        "WITH RECURSIVE up (id, parent, kind) AS (SELECT id, parent, kind FROM symbols WHERE id = ? "
        "UNION SELECT s.id, s.parent, s.kind FROM symbols s JOIN up ON s.id = up.parent) "
        "SELECT 1 FROM up WHERE kind IN ('function', 'method', 'constructor', 'macro') LIMIT 1"
    )
    return parent is not None and bool(session.symbols.execute(sql, [parent]))
