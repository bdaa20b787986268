"""Rows and hits to results: snippets, staleness, graph context, attribution, the envelope."""

from __future__ import annotations

import os
import stat
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lci_py.search import graph_context
from lci_py.source.digest import digest, lines_digest
from lci_py.types import VIEWS, Answer, IndexInfo, Result, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.index.symbols import Row
    from lci_py.search.multiview import Outcome
    from lci_py.search.plan import Plan
    from lci_py.search.session import Session
    from lci_py.types import View

_MAX_READ = 64_000_000


class SourceReader:
    """Lines of the working tree, each shown file read once per query."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._files: dict[str, list[bytes] | None] = {}
        self._digests: dict[str, str] = {}

    def forget(self) -> None:
        """Start a new query: a file may change between two queries of a batch."""
        self._files.clear()
        self._digests.clear()

    def lines(self, path: str) -> list[bytes] | None:
        """The file's lines without line breaks, None if it cannot be read (or is no longer a regular file)."""
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def digest(self, path: str) -> str:
        """Of the content that `lines` shows; "" if it cannot be read."""
        self.lines(path)
        return self._digests[path]

    def _read(self, path: str) -> list[bytes] | None:
        data = self.read(path)
        self._digests[path] = "" if data is None else digest(data)
        return None if data is None else data.split(b"\n")

    def read(self, path: str) -> bytes | None:
        """The file's content, None if it cannot be read; not kept, unlike its `lines`."""
        # The index is data from disk: a path in it must not lead out of the root, nor into a device or a FIFO.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        full = self.root / path
        try:
            if ".." in Path(path).parts or not full.resolve().is_relative_to(self.root.resolve()):
                return None
            with open(full, "rb", opener=lambda name, _: os.open(name, flags)) as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_READ:
                    return None
                return file.read(_MAX_READ)
        except (OSError, ValueError, RuntimeError):  # the last one: a loop of links, before Python 3.13
            return None


def result(
    session: Session, row: Row, request: SearchRequest, view: View, score: float, at: int | None = None
) -> Result:
    """One result from its row. The snippet starts at the line `at`, if the first lines would not reach it."""
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
    )


def _snippet(session: Session, row: Row, start: int, wanted: int, *, stale: bool) -> str:
    if wanted <= 0:
        return ""
    lines = session.reader.lines(row["file"])
    if lines is None or (stale and not _unmoved(session, row, lines)):
        return ""  # these lines hold something else by now; showing them would be a lie
    shown = lines[start - 1 : min(max(row["end_line"], start), start - 1 + wanted)]
    return "\n".join(line.decode("utf-8", "replace").removesuffix("\r") for line in shown)


def _unmoved(session: Session, row: Row, lines: list[bytes]) -> bool:
    """Whether the unit's lines still hold what was indexed, though the file has changed elsewhere."""
    if row["unit"] is None:
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


def multiview_answer(
    session: Session, request: SearchRequest, plan: Plan, outcome: Outcome, places: dict[int, int]
) -> Answer:
    """The envelope of a multiview query, with what each view said and the graph around each result."""
    head = outcome.head(session.limit if request.limit is None else request.limit)
    rows = session.symbols.result_rows([item.unit for item in head]) if head else {}
    contexts = dict(zip(rows, graph_context.contexts(session, list(rows.values())), strict=True))
    results = []
    for item in head:
        row = rows[item.unit]
        others = tuple(
            (view, outcome.hits[view].score(item.unit))
            for view in VIEWS
            if view != item.source and item.unit in outcome.hits[view]
        )
        made = result(session, row, request, item.source, item.score, places.get(item.unit))
        explain = None
        if request.explain:
            explain = {"waterfall": [step._asdict() for step in item.steps], "views": _view_scores(outcome, item.unit)}
        results.append(replace(made, also_matched=others, graph=contexts.get(item.unit), explain=explain))
    made_answer = answer(session, request, results, outcome.total)
    if request.conflicts:
        from lci_py.search.view_disagreements import view_disagreements

        found = view_disagreements(session, request.query, request.filters, outcome)
        made_answer = replace(made_answer, conflicts=found)
    trace = outcome.trace if request.trace else None
    return replace(made_answer, plan=plan.as_json(), degraded=tuple(outcome.degraded), trace=trace)


def _view_scores(outcome: Outcome, unit: int) -> dict[str, dict[str, float]]:
    return {
        view: {"rank": hit.rank, "score": hit.score}
        for view, hits in outcome.hits.items()
        if (hit := hits.get(unit)) is not None
    }  # fmt: skip


def finish(session: Session, made: Answer, request: SearchRequest, started: float) -> Answer:
    """What the flags that are orthogonal to the mode add."""
    if request.conflicts:
        from lci_py.search.conflict_sites import with_conflicts

        made = with_conflicts(session, made)
    if request.shadow is not None and made.shadow is None:
        from lci_py.search.shadow import of_unranked

        made = replace(made, shadow=of_unranked(request, len(made.results)))
    if request.explain and made.plan is None:
        made = replace(made, plan={"views": [made.mode], "mode": made.mode})
    if request.trace:
        trace = dict(made.trace or {})
        trace["total"] = {"ms": (time.perf_counter() - started) * 1e3, "candidates": made.total}
        made = replace(made, trace=trace)
    return made
