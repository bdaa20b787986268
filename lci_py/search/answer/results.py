"""Rows and hits to results: snippets, staleness, graph context, attribution, the envelope."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lci_py.search.answer import graph_context
from lci_py.source.repository.read import read_file
from lci_py.source.text.digest import digest, lines_digest
from lci_py.types.search import VIEWS, Answer, IndexInfo, Result, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lci_py.index.shards.symbols import Row
    from lci_py.search.degraded import Extras
    from lci_py.search.modes.multiview import Outcome
    from lci_py.search.modes.single import Found
    from lci_py.search.query.plan import Plan
    from lci_py.search.ranking.fusion import Fused
    from lci_py.search.snapshot import Session
    from lci_py.types.search import GraphContext, View


class SourceReader:
    """Lines of the working tree, each shown file read once per query."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._files: dict[str, bytes | None] = {}
        self._lines: dict[str, list[bytes] | None] = {}  # None: its first lines have been asked for once
        self._digests: dict[str, str] = {}

    def forget(self) -> None:
        """Start a new query: a file may change between two queries of a batch."""
        self._files.clear()
        self._lines.clear()
        self._digests.clear()

    def lines(self, path: str) -> list[bytes] | None:
        """The file's lines without line breaks, None if it cannot be read (or is no longer a regular file)."""
        if (found := self._lines.get(path)) is None and (data := self._content(path)) is not None:
            found = self._lines[path] = data.split(b"\n")
        return found

    def some(self, path: str, first: int, last: int) -> list[bytes]:
        """The lines from `first` to `last`, as far as the file has them."""
        data = self._content(path)
        if path not in self._lines and data is not None:
            self._lines[path] = None
            return data.split(b"\n", max(last, 0))[first - 1 : last]  # not the whole file for a few lines
        return (self.lines(path) or [])[first - 1 : last]

    def digest(self, path: str) -> str:
        """Of the content that is shown; "" if it cannot be read."""
        found = self._digests.get(path)
        if found is None:
            data = self._content(path)
            found = self._digests[path] = "" if data is None else digest(data)
        return found

    def _content(self, path: str) -> bytes | None:
        if path not in self._files:
            self._files[path] = self.read(path)
        return self._files[path]

    def read(self, path: str) -> bytes | None:
        """The file's content, None if it cannot be read; not kept, unlike what is shown."""
        # The index is data from disk: a path in it must not lead out of the root, nor into a device or a FIFO.
        if ".." in path.split("/"):
            return None
        try:
            found = read_file(str(self.root), path)
        except (OSError, ValueError):  # short of something; a NUL in the path
            return None
        return found if isinstance(found, bytes) else None


def result(
    session: Session, row: Row, request: SearchRequest, view: View, score: float, at: int | None = None, **more: Any
) -> Result:
    """One result from its row, with `more` fields. The snippet starts at the line `at`, if the first lines would not
    reach it."""
    wanted = session.snippet if request.snippet is None else request.snippet
    stale = session.freshness.changed(row["file"])
    if not stale and wanted > 0:
        # It may have changed since that look at it: what decides is the content that is shown.
        stale = session.reader.digest(row["file"]) != session.freshness.sha(row["file"])
    start = at if at is not None and not row["line"] <= at < row["line"] + wanted else row["line"]
    snippet = _snippet(session, row, start, wanted, stale=stale)
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


def _snippet(session: Session, row: Row, start: int, wanted: int, *, stale: bool) -> str:
    if wanted <= 0:
        return ""
    if stale and not _unmoved(session, row):
        return ""  # these lines hold something else by now; showing them would be a lie
    shown = session.reader.some(row["file"], start, min(max(row["end_line"], start), start - 1 + wanted))
    return "\n".join(line.decode("utf-8", "replace").removesuffix("\r") for line in shown)


def _unmoved(session: Session, row: Row) -> bool:
    """Whether the unit's lines still hold what was indexed, though the file has changed elsewhere."""
    lines = session.reader.lines(row["file"])
    if row["unit"] is None or lines is None:
        return False
    chunks = session.symbols.chunk_digests(row["unit"])
    return bool(chunks) and all(lines_digest(lines, first, last) == sha for first, last, sha in chunks)


def index_info(session: Session) -> IndexInfo:
    """The envelope's `index` object."""
    manifest = session.manifest
    swept = session.freshness.sweep()
    return IndexInfo(
        manifest.generation, manifest.built_at, manifest.commit, manifest.branch, len(swept.stale), swept.unchecked
    )


def answer(session: Session, request: SearchRequest, results: Sequence[Result], total: int) -> Answer:
    """The envelope around results."""
    return Answer(
        query=request.query,
        mode=request.mode,
        results=tuple(results),
        total=total,
        has_more=total > len(results),
        index=index_info(session),
    )


def single_answer(session: Session, request: SearchRequest, found: Found) -> Answer:
    """The envelope of a query in the mode dense or bm25."""
    hits = found.ranked
    explains = None
    if request.explain:
        from lci_py.search.explain.steps import of_single

        explains = of_single(session, found, hits.units.tolist())
    with session.trace.stage("present", len(hits)) as stage:
        rows = session.symbols.result_rows(hits.units.tolist())
        results = [
            result(session, rows[hit.unit], request, hit.view, hit.score, found.places.get(hit.unit)) for hit in hits
        ]
        if explains is not None:
            results = [replace(made, explain=why) for made, why in zip(results, explains, strict=True)]
        stage.left = len(results)
        made = answer(session, request, results, hits.total)
    if not request.explain:
        return made
    from lci_py.search.explain.steps import single_plan

    return replace(made, plan=single_plan(session, found, request))


def symbolic_answer(session: Session, request: SearchRequest, rows: Sequence[Row], total: int) -> Answer:
    """The envelope of a query by structure alone; every row is as good as any."""
    with session.trace.stage("present", len(rows)) as stage:
        results = [result(session, row, request, "symbolic", 1.0) for row in rows]
        stage.left = len(results)
        made = answer(session, request, results, total)
    if not request.explain:
        return made
    from lci_py.search.explain.steps import of_match, symbolic_plan

    shown = tuple(replace(item, explain=of_match(rank)) for rank, item in enumerate(results, 1))
    return replace(made, results=shown, plan=symbolic_plan(request))


def multiview_answer(
    session: Session, request: SearchRequest, plan: Plan, outcome: Outcome, places: dict[int, int], extras: Extras
) -> Answer:
    """The envelope of a multiview query, with what each view said and the graph around each result."""
    head = outcome.head(session.shown(request))
    with session.trace.stage("graph", len(head)):
        rows = session.symbols.result_rows([item.unit for item in head]) if head else {}
        found = extras.ask("graph", lambda: graph_context.contexts(session, list(rows.values())))
        contexts = dict(zip(rows, found or (), strict=found is not None))
    with session.trace.stage("present", outcome.total) as stage:
        scored = _found(outcome, head)
        results = [
            _multiview_result(session, request, outcome, item, rows[item.unit], contexts.get(item.unit), places, scored)
            for item in head
        ]
        stage.left = len(results)
        made_answer = answer(session, request, results, outcome.total)
    if request.conflicts:
        from lci_py.search.conflicts.between_views import view_disagreements

        sides = view_disagreements(session, request.query, request.filters, outcome)
        made_answer = replace(made_answer, conflicts=sides)
    return replace(made_answer, plan=plan.as_json(), degraded=tuple(outcome.degraded))


def _multiview_result(
    session: Session, request: SearchRequest, outcome: Outcome, item: Fused, row: Row, graph: GraphContext | None,
    places: dict[int, int], found: dict[View, dict[int, float]],
) -> Result:  # fmt: skip
    others = tuple(
        (view, scores[item.unit]) for view, scores in found.items() if view != item.source and item.unit in scores
    )
    explain = None
    if request.explain:
        from lci_py.search.explain.steps import of_fused

        explain = of_fused(outcome, item.unit, item)
    at = places.get(item.unit)
    more = {"also_matched": others, "graph": graph, "explain": explain}
    return result(session, row, request, item.source, item.score, at, **more)


def _found(outcome: Outcome, head: Sequence[Fused]) -> dict[View, dict[int, float]]:
    """Each view's own scores of those of some results that it found."""
    shown = {item.unit for item in head}
    found = {}
    for view in VIEWS:
        both = zip(outcome.hits[view].units.tolist(), outcome.hits[view].scores.tolist(), strict=True)
        found[view] = {unit: score for unit, score in both if unit in shown}
    return found


def finish(session: Session, made: Answer, request: SearchRequest, started: float) -> Answer:
    """What the flags that are orthogonal to the mode add."""
    if request.conflicts:
        from lci_py.search.conflicts.sites import with_conflicts

        with session.trace.stage("conflicts", len(made.results)):
            made = with_conflicts(session, made)
    if request.shadow is not None and made.shadow is None:
        from lci_py.search.explain.shadow import of_unranked

        made = replace(made, shadow=of_unranked(request, len(made.results)))
    opening, session.opening = session.opening, None
    if request.trace:
        ms = (time.perf_counter() - started) * 1e3 + (opening or 0.0)
        before = {} if opening is None else {"open": {"ms": opening}}
        total = {"ms": ms, "candidates": made.total}
        made = replace(made, trace={**before, **session.trace.as_json(), "total": total})
    return made
