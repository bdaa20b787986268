"""From an index row to a result (snippet, staleness), and the envelope around results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.source.text.digest import lines_digest
from lci_py.types.search import Answer, IndexInfo, Result, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.index.shards.symbols import Row
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import View


def result(
    snapshot: Snapshot, row: Row, request: SearchRequest, view: View, score: float, at: int | None = None, **more: Any
) -> Result:
    """One result from its row, with `more` fields. The snippet starts at the line `at`, if the first lines would not
    reach it."""
    wanted = snapshot.snippet if request.snippet is None else request.snippet
    stale = snapshot.freshness.changed(row["file"])
    if not stale and wanted > 0:
        # It may have changed since that look at it: what decides is the content that is shown.
        stale = snapshot.reader.digest(row["file"]) != snapshot.freshness.sha(row["file"])
    start = at if at is not None and not row["line"] <= at < row["line"] + wanted else row["line"]
    snippet = _snippet(snapshot, row, start, wanted, stale=stale)
    return Result(
        id=row["id"],
        file=row["file"],
        line=row["line"],
        end_line=row["end_line"],
        symbol=row["symbol"],
        qualified_name=row["qualified_name"],
        kind=row["kind"],
        language=row["language"],
        signature=row["signature"],
        snippet=snippet,
        snippet_line=start if snippet and start != row["line"] else None,
        mode_source=view,
        mode_score=score,
        stale=stale,
        **more,
    )


def _snippet(snapshot: Snapshot, row: Row, start: int, wanted: int, *, stale: bool) -> str:
    if wanted <= 0:
        return ""
    if stale and not _unmoved(snapshot, row):
        return ""  # these lines hold something else by now; showing them would be a lie
    shown = snapshot.reader.some(row["file"], start, min(max(row["end_line"], start), start - 1 + wanted))
    return "\n".join(line.decode("utf-8", "replace").removesuffix("\r") for line in shown)


def _unmoved(snapshot: Snapshot, row: Row) -> bool:
    """Whether the unit's lines still hold what was indexed, though the file has changed elsewhere."""
    lines = snapshot.reader.lines(row["file"])
    if row["unit"] is None or lines is None:
        return False
    chunks = snapshot.symbols.chunk_digests(row["unit"])
    return bool(chunks) and all(lines_digest(lines, first, last) == sha for first, last, sha in chunks)


def index_info(snapshot: Snapshot) -> IndexInfo:
    """The envelope's `index` object."""
    manifest = snapshot.manifest
    swept = snapshot.freshness.sweep()
    return IndexInfo(
        manifest.generation, manifest.built_at, manifest.commit, manifest.branch, len(swept.stale), swept.unchecked
    )


def answer(snapshot: Snapshot, request: SearchRequest, results: Sequence[Result], total: int) -> Answer:
    """The envelope around results."""
    return Answer(
        query=request.query,
        mode=request.mode,
        results=tuple(results),
        total=total,
        has_more=total > len(results),
        index=index_info(snapshot),
    )
