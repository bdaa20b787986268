"""Fetch the definitions that may contradict a result, and mark the result if they do. The rule is in `conflicts`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lci_py.search.conflicts import Site, definitions

if TYPE_CHECKING:
    from lci_py.index.symbols import Row
    from lci_py.search.session import Session
    from lci_py.types import Answer, DefinitionSite, Result

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
    rows = session.symbols.same_name(qualified_name, language, _MAX_SITES)
    if len(rows) < 2:
        return ()
    sites = [_site(session, row) for row in rows]
    asked = [site for site in sites if site.symbol_id == symbol_id]
    return (
        definitions([*asked, *(s for s in sites if s.symbol_id != symbol_id)], session.manifest.branch) if asked else ()
    )


def _site(session: Session, row: Row) -> Site:
    decorators = ""
    if row["first_line"] < row["line"]:
        lines = session.reader.lines(row["file"])
        if lines is not None:
            above = lines[row["first_line"] - 1 : row["line"] - 1]
            decorators = b"\n".join(above).decode("utf-8", "replace")
    return Site(
        unit=row["unit"] if row["unit"] is not None else -1,
        symbol_id=row["id"],
        file=row["file"],
        line=row["line"],
        name=row["symbol"],
        qualified_name=row["qualified_name"],
        kind=row["kind"],
        language=row["language"],
        signature=row["signature"],
        build_tag=row["build_tag"],
        is_test=bool(row["test"]),
        local=row["parent"] is not None and session.symbols.is_local(row["parent"]),
        first_line=row["first_line"],
        decorators=decorators,
    )
