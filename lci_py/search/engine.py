"""Answers the questions about an index: a search, the definitions of a name, the call graph, the conflicts.

The ranking is that of a mode (dense, bm25, …). `Engine._STEPS` lists what flags add to an answer, in any mode.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, overload

from lci_py.errors import IndexError_, nothing_asked
from lci_py.search.answer.results import answer as envelope, result
from lci_py.search.modes.candidates import ANY_KIND, check
from lci_py.source.repository.workspace import FOLDER
from lci_py.types.record import replace
from lci_py.types.search import FILE_KIND, KINDS, LAMBDA_KIND, VIEWS, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lci_py.index.store.search_log import SearchLog
    from lci_py.search.answer.copies import Folding
    from lci_py.search.modes.candidates import ModeAnswer
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.affected import AffectedAnswer, AffectedRequest
    from lci_py.types.chains import PathAnswer, PathRequest
    from lci_py.types.conflicts import ConflictsAnswer, ConflictsRequest
    from lci_py.types.explore import ExploreAnswer, ExploreRequest
    from lci_py.types.files import FilesAnswer, FilesRequest
    from lci_py.types.graph import GraphAnswer, GraphRequest
    from lci_py.types.grep import GrepAnswer, GrepRequest
    from lci_py.types.history import HistoryAnswer, HistoryRequest
    from lci_py.types.outline import OutlineAnswer, OutlineRequest
    from lci_py.types.search import Answer, Filters
    from lci_py.types.show import ShowAnswer, ShowRequest
    from lci_py.types.similar import SimilarAnswer, SimilarRequest
    from lci_py.types.unused import UnusedAnswer, UnusedRequest

#: Kinds of what is in the call graph.
_GRAPH_KINDS = (*KINDS, FILE_KIND, LAMBDA_KIND)
#: The function below `search` that answers a question of a command.
ANSWERED_BY = {
    "callers": "navigate.calls.callers",
    "callees": "navigate.calls.callees",
    "conflicts": "conflicts.repository.conflicts",
    "path": "navigate.chains.path",
    "refs": "navigate.references.references",
    **{name: f"explore.{name}.{name}" for name in ("explore", "similar")},
    **{name: f"navigate.{name}.{name}" for name in ("affected", "files", "history", "show", "tree", "unused")},
}
#: Those about the call graph, whose filters may name any kind in it.
_OF_GRAPH = frozenset({"affected", "callees", "callers", "path", "refs", "tree"})
#: Results of a query that a map is about.
_SEEDS = 20


def preload() -> None:
    """Import and load what nearly every search needs, while another process does work that leaves this core idle."""
    from lci_py.embed import encoder  # noqa: F401
    from lci_py.embed.encoder import load_builtin
    from lci_py.index.shards import bm25, dense, files, tokens  # noqa: F401
    from lci_py.search import (
        freshness,  # noqa: F401
        retrievers,  # noqa: F401
    )
    from lci_py.search.modes import multiview, single  # noqa: F401

    load_builtin()


class Engine:
    """Answers questions from one snapshot of an index, and closes it. Use the engine as a context manager."""

    def __init__(self, snapshot: Snapshot, opening: float | None = None, log: SearchLog | None = None) -> None:
        """Take over a snapshot.

        Args:
            opening: Milliseconds that opening the snapshot took; the first search with `trace` reports them.
            log: The log to write searches to; None for none.
        """
        self.snapshot, self._opening, self._log = snapshot, opening, log

    @property
    def log_problem(self) -> str:
        """The reason why the last search could not be logged; "" if it was logged, or there is no log."""
        return "" if self._log is None else self._log.problem

    @property
    def root(self) -> Path:
        """The folder that the paths of answers are relative to."""
        return self.snapshot.root

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.snapshot.close()

    def search(self, request: SearchRequest) -> Answer:
        """Answer one query in the mode it names, and log it.

        Raises:
            UsageError: The query, or a filter, cannot be used.
            IndexError_: A shard that the mode needs cannot be used.
            BudgetExceededError: A single mode had no time to answer.
        """
        original, started = request, time.perf_counter()
        if self._log is not None:
            request = replace(request, trace=True)
        self.snapshot.forget()
        if request.filters.changed_since:
            request = replace(request, filters=self._with_changes(request.filters))
        check(self.snapshot, request.filters)
        if not request.query.strip() and not request.filters:
            raise nothing_asked()
        if request.offset:  # the ranking does not depend on it: the results before it are found as well
            request = replace(request, limit=self.snapshot.shown(request) + request.offset)
        if (folding := self._folding()) is None:
            answered = self._mode(request)(self.snapshot, request)
            answer = answered.answer
        else:

            def ask(limit: int) -> Answer:
                nonlocal answered
                answered = self._mode(request)(self.snapshot, replace(request, limit=limit))
                return answered.answer

            answer = folding.folded(self.snapshot.shown(request), ask)
        for step in self._STEPS:
            answer = step(self, request, answered, answer)
        if request.offset:
            answer = replace(answer, results=answer.results[request.offset :], offset=request.offset)
        if not answer.total:
            from lci_py.search.query.text import refuse_wordless

            refuse_wordless(request)
        opening, self._opening = self._opening, None
        if not request.trace:
            return answer
        ms = (time.perf_counter() - started) * 1e3 + (opening or 0.0)
        before = {} if opening is None else {"open": {"ms": opening}}
        total = {"ms": ms, "candidates": answer.total}
        answer = replace(answer, trace={**before, **self.snapshot.trace.as_json(), "total": total})
        if self._log is not None:
            self._log.add(original, answer)
        return answer if original.trace else replace(answer, trace=None)

    def _with_changes(self, filters: Filters) -> Filters:
        """The filters, completed with the files and lines that differ from the revision `changed_since`.

        Raises:
            UsageError: There is no such revision, or no git work tree.
        """
        if not filters.changed_since:
            return filters
        from lci_py.search.navigate.changes import changed_places

        return replace(filters, changed=changed_places(self.snapshot, filters.changed_since))

    def _folding(self) -> Folding | None:
        """The rules for showing copies in a workspace (as one result); None for any other root."""
        if self.snapshot.root.parent.name != FOLDER:
            return None
        from lci_py.search.answer.copies import folding

        return folding(self.snapshot)

    def ranked(self, request: SearchRequest) -> Answer:
        """The answer with the results of the request's mode, without what flags add. Errors as in `search`."""
        check(self.snapshot, request.filters)
        answered = self._mode(request)(self.snapshot, request)
        return self._with_degradations(request, answered, answered.answer)

    def _mode(self, request: SearchRequest) -> Callable[[Snapshot, SearchRequest], ModeAnswer]:
        if request.mode == "symbolic" or not request.query.strip():
            from lci_py.search.modes.structural import structural

            return structural
        with self.snapshot.trace.stage("load"):
            if request.mode == "multiview":
                from lci_py.search.modes.multiview import multiview as mode
            else:
                from lci_py.search.modes.single import single as mode
        return mode

    # --- what flags add -----------------------------------------------------------------------------------------

    def _expand(self, request: SearchRequest, answered: ModeAnswer, answer: Answer) -> Answer:
        """For `--expand`, add the graph neighbours of the best results."""
        if not request.expand or answered.merged is None:
            return answer
        from lci_py.search.modes.expand import NOTHING_AROUND, with_neighbours

        _, outcome, optional_graph = answered.merged
        with self.snapshot.trace.stage("expand", len(answer.results)) as stage:
            work = (self.snapshot, request, answered.filters, answer, outcome)
            whole = optional_graph.ask(lambda: with_neighbours(*work))
            answer = replace(answer, expansion=NOTHING_AROUND) if whole is None else whole
            stage.left = len(answer.results)
        return answer

    def _with_degradations(self, request: SearchRequest, answered: ModeAnswer, answer: Answer) -> Answer:
        """Add to `degraded` the shards, other than views, that the ranking or `--expand` could not read."""
        if answered.merged is None:
            return answer
        answering = [view for view in VIEWS if view not in answered.merged.outcome.failed]
        is_wanted = request.near is not None or bool(request.expand)
        more = answered.merged.optional_graph.degraded(answering, required=is_wanted)
        return replace(answer, degraded=(*answer.degraded, *more))

    def _explain_file(self, request: SearchRequest, answered: ModeAnswer, answer: Answer) -> Answer:
        """For `--explain-file`, add the ranks of the units of a file."""
        if request.explain_file is None:
            return answer
        from lci_py.search.explain.file import with_explanation

        return with_explanation(self.snapshot, request, answer, answered.explainable)

    def _conflicts(self, request: SearchRequest, answered: ModeAnswer, answer: Answer) -> Answer:
        """For `--conflicts`, mark results with several definitions, and add disagreements of sources and of views."""
        if not request.conflicts:
            return answer
        from lci_py.search.conflicts.sites import with_conflicts

        with self.snapshot.trace.stage("conflicts", len(answer.results)):
            answer = with_conflicts(self.snapshot, answer)
            if answered.merged is None or not self.snapshot.whole.alone:
                return answer
            from lci_py.search.conflicts.values import between_views

            of_views = between_views(self.snapshot, answered.merged.outcome)
            return replace(answer, conflicts=(*answer.conflicts, *of_views))

    def _hints(self, request: SearchRequest, _answered: ModeAnswer, answer: Answer) -> Answer:
        """Add commands to run instead, if the answer is weak."""
        if request.mode == "symbolic" or not request.query.strip() or request.budget_ms is not None:
            return answer
        from lci_py.search.modes.hints import with_hints

        with suppress(IndexError_):  # the answer says what cannot be read
            answer = with_hints(self.snapshot, request, answer)
        return answer

    def _routes(self, request: SearchRequest, _answered: ModeAnswer, answer: Answer) -> Answer:
        """For a query that is an HTTP path, add the routes that lead to the results."""
        if "/" not in request.query or not self.snapshot.whole.alone:
            return answer
        from lci_py.search.routes import with_routes
        from lci_py.source.text.patterns import ROUTE

        if not ROUTE.match(request.query):
            return answer
        with suppress(IndexError_):  # the answer says what cannot be read
            answer = with_routes(self.snapshot, request.query, answer)
        return answer

    #: In this order: a neighbour that `--expand` adds is marked by `--conflicts`, and found by `--explain-file`.
    _STEPS = (_routes, _expand, _with_degradations, _explain_file, _conflicts, _hints)

    # --- the other questions ------------------------------------------------------------------------------------

    def _prepared_snapshot(self, filters: Filters, kinds: tuple[str, ...] = ANY_KIND) -> Snapshot:
        """The snapshot, prepared for a new question. Errors as in `check`."""
        self.snapshot.forget()
        check(self.snapshot, filters, kinds)
        return self.snapshot

    if TYPE_CHECKING:
        # fmt: off
        @overload
        def answer(self, question: str, request: AffectedRequest) -> AffectedAnswer: ...
        @overload
        def answer(self, question: str, request: ConflictsRequest) -> ConflictsAnswer: ...
        @overload
        def answer(self, question: str, request: ExploreRequest) -> ExploreAnswer: ...
        @overload
        def answer(self, question: str, request: FilesRequest) -> FilesAnswer: ...
        @overload
        def answer(self, question: str, request: GraphRequest) -> GraphAnswer: ...
        @overload
        def answer(self, question: str, request: HistoryRequest) -> HistoryAnswer: ...
        @overload
        def answer(self, question: str, request: PathRequest) -> PathAnswer: ...
        @overload
        def answer(self, question: str, request: ShowRequest) -> ShowAnswer: ...
        @overload
        def answer(self, question: str, request: SimilarRequest) -> SimilarAnswer: ...
        @overload
        def answer(self, question: str, request: UnusedRequest) -> UnusedAnswer: ...
        # fmt: on

    def answer(self, question: str, request: Any) -> Any:
        """The answer to the question of a command in `ANSWERED_BY`, for the command's request.

        Raises:
            UsageError: A filter, or another value of the request, cannot be used.
            UnknownTargetError: The request is about something that does not exist.
            IndexError_: A required shard cannot be used.
        """
        from importlib import import_module

        module, _, function = ANSWERED_BY[question].rpartition(".")
        snapshot = self._prepared_snapshot(request.filters, _GRAPH_KINDS if question in _OF_GRAPH else ANY_KIND)
        return getattr(import_module(f"lci_py.search.{module}"), function)(snapshot, request)

    def definitions(self, name: str, filters: Filters, limit: int) -> Answer:
        """The definitions of a name (exact, or qualified, or a glob), with signature and doc."""
        from lci_py.search.navigate.present import PresentFiles, present_rows

        snapshot = self._prepared_snapshot(filters)
        rows = present_rows(PresentFiles(snapshot), name, filters)

        def first(count: int) -> Answer:
            request = SearchRequest(name, "symbolic", count, filters, snippet=0)
            results = [
                replace(result(snapshot, row, request, "symbolic", 1.0), doc=_first_sentence(row["doc"]))
                for row in rows[:count]
            ]
            return envelope(snapshot, request, results, len(rows))

        folding = self._folding()
        answer = first(limit) if folding is None else folding.folded(limit, first)
        if rows or filters:
            return answer
        from lci_py.search.suggest import near_misses

        near = near_misses(snapshot.symbols, name)
        return replace(answer, did_you_mean=tuple(other for other in near if other != name))  # gone since the index

    def outline(self, request: OutlineRequest) -> OutlineAnswer:
        """The definitions of files as trees, or a map of a folder.

        Raises:
            UsageError: A filter, or the query, cannot be used.
        """
        from lci_py.search.navigate.outline import outline

        scores: dict[str, float] = {}
        if request.query:
            # Not `search`: nobody asked for these results, so no log counts them.
            seeds = SearchRequest(request.query, "multiview", _SEEDS, snippet=0)
            results = Engine(self.snapshot).search(seeds).results
            scores = {result.id: result.mode_score for result in results}
        return outline(self._prepared_snapshot(request.filters), request, scores)

    def similar_paths(self, path: str) -> list[str]:
        """Indexed files whose paths resemble a path that does not exist."""
        from lci_py.search.suggest import similar_paths

        return similar_paths(path, self.snapshot.symbols.paths())

    def grep(self, request: GrepRequest) -> GrepAnswer:
        """The lines that match a pattern; the files are searched while the answer is read.

        Raises:
            UsageError: The pattern, or a filter, cannot be used.
        """
        from lci_py.search.grep.grep import grep

        snapshot = self._prepared_snapshot(request.filters)
        return grep(snapshot, request._replace(filters=self._with_changes(request.filters)))


def _first_sentence(doc: str | None) -> str:
    """The first line of a doc comment, or its first paragraph on one line if the first line is no complete sentence."""
    paragraph = (doc or "").split("\n\n", 1)[0].strip()
    first, _, rest = paragraph.partition("\n")
    return first if not rest or first.endswith((".", ":", "!", "?")) else " ".join(paragraph.split())
