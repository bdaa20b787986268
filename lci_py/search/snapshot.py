"""An open index: loads each shard on first use and keeps it for the next query."""

from __future__ import annotations

import time
from _thread import allocate_lock
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.errors import DamagedIndexError, DensePendingError, NoIndexError, UsageError, unknown_value
from lci_py.index.shards.numbering import Numbering
from lci_py.index.shards.symbols import SymbolicIndex
from lci_py.index.store.manifest import Manifest, OpenIndex, check_root
from lci_py.search.answer import results as present
from lci_py.search.query.text import read_symbolic
from lci_py.search.trace import Trace
from lci_py.types.search import BLOCK_KIND, FILE_KIND, KINDS, LAMBDA_KIND, VIEWS, Answer, Filters, SearchRequest

if TYPE_CHECKING:
    from _thread import LockType
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from lci_py.embed.folder import ModelFolder
    from lci_py.embed.protocol import TextEncoder
    from lci_py.index.shards.abbreviations import AbbreviationIndex
    from lci_py.index.shards.bm25 import LexicalIndex
    from lci_py.index.shards.branches import BranchIndex
    from lci_py.index.shards.files import FileTable
    from lci_py.index.shards.graph import GraphIndex
    from lci_py.index.shards.symbols import Row
    from lci_py.index.shards.unit_columns import UnitColumns
    from lci_py.search.conflicts.rust_modules import Modules
    from lci_py.search.modes.multiview import Views
    from lci_py.search.worktree.freshness import Freshness
    from lci_py.source.repository.walk import WalkResult
    from lci_py.types.conflicts import ConflictsAnswer, ConflictsRequest
    from lci_py.types.graph import GraphAnswer, GraphRequest
    from lci_py.types.search import View


class Session:
    """Reads one generation of an index, whatever a writer does meanwhile. Use it as a context manager."""

    def __init__(
        self,
        root: Path,
        index_dir: Path,
        *,
        snippet: int,
        limit: int,
        model: Path | None = None,
        trust: bool = False,
        walk: Callable[[], WalkResult],
    ) -> None:
        self.root = root
        self.index_dir = index_dir
        try:
            self._index = OpenIndex(index_dir, trust=trust)
        except NoIndexError:
            raise NoIndexError(str(root)) from None  # the folder that the user knows, wherever the index would be
        self.manifest: Manifest = self._index.manifest
        check_root(self.manifest, root, index_dir)
        self.snippet = snippet
        self.limit = limit
        self.model = model
        self.reader = present.SourceReader(root)
        #: Held by whoever uses a view's shard: a view that misses its time budget goes on in its thread.
        self.turns: dict[View, LockType] = {view: allocate_lock() for view in VIEWS}
        self._walk = walk  # what an index run would list
        #: Of the search at hand.
        self.trace = Trace()
        #: Milliseconds that the next search is to report for the opening, None if an earlier one has.
        self.opening: float | None = None

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_exc: object) -> None:
        if "symbols" in self.__dict__:
            self.symbols.close()
        if (branches := self.__dict__.get("branches")) is not None:
            branches.close()
        self._index.close()

    # --- shards -------------------------------------------------------------------------------------------------

    def shard(self, role: str) -> Path:
        """Path of a shard of all segments together.

        Raises:
            ShardMissingError: The index has none for the role.
            DamagedIndexError: It is not what was written.
        """
        return self._index.verified(role)

    def shards(self, role: str) -> list[Path]:
        """Paths of the shards of all segments. Raises what `shard` raises."""
        return [self._index.verified(role, segment) for segment in range(len(self.manifest.segments))]

    def problems(self, *, thoroughly: bool) -> list[str]:
        """What is wrong with the shards; nothing, usually. If `thoroughly`, reads all of them."""
        return self._index.problems(thoroughly=thoroughly)

    @cached_property
    def files(self) -> FileTable:
        from lci_py.index.shards.files import FileTable

        return FileTable(self.shard("files"))

    @cached_property
    def numbering(self) -> Numbering:
        return Numbering([segment.counts for segment in self.manifest.segments], self.files.maps())

    @cached_property
    def freshness(self) -> Freshness:
        from lci_py.search.worktree.freshness import Freshness

        return Freshness(self.root, self.files, self.reader.read, self._walk)

    @cached_property
    def symbols(self) -> SymbolicIndex:
        return SymbolicIndex(self.shards("symbols"), self.numbering)

    @cached_property
    def modules(self) -> Modules:
        from lci_py.search.conflicts.rust_modules import Modules

        return Modules(self.symbols)

    @cached_property
    def branches(self) -> BranchIndex | None:
        """What other branches have otherwise; None if none is indexed."""
        if "branches" not in self.manifest.shards:
            return None
        from lci_py.index.shards.branches import BranchIndex

        return BranchIndex(self.shard("branches"))

    @cached_property
    def lexical(self) -> LexicalIndex:
        from lci_py.index.shards.bm25 import LexicalIndex

        return LexicalIndex(self.shards("bm25"), self.numbering)

    @cached_property
    def related(self) -> AbbreviationIndex | None:
        """Which words the repository shortens; None if the index does not say."""
        if any("related" not in segment.shards for segment in self.manifest.segments):
            return None
        from lci_py.index.shards.abbreviations import AbbreviationIndex

        return AbbreviationIndex(self.shards("related"), self.numbering)

    @cached_property
    def graph(self) -> GraphIndex:
        from lci_py.index.shards.graph import GraphIndex

        found = GraphIndex(self.shard("graph"))
        if (found.n_symbols, found.n_files) != (self.numbering.total("symbols"), self.numbering.total("files")):
            raise DamagedIndexError("the graph is of other files than the rest")
        return found

    @cached_property
    def model_folder(self) -> ModelFolder:
        from lci_py.embed.folder import ModelFolder

        return ModelFolder(self.model)  # kept: it hashes its files once, however many queries a batch has

    @cached_property
    def encoder(self) -> TextEncoder:
        from lci_py.embed.open import open_encoder

        folder, built = self.model_folder, self.manifest.model
        folder.recall(built)
        dimension = None
        if folder.sha256 == built.get("sha256"):
            encoder = open_encoder(folder)
            if encoder.dimension == built.get("dimension"):
                return encoder
            dimension = encoder.dimension
        from lci_py.search.model_mismatch import mismatch

        raise mismatch(folder, built, dimension)

    @cached_property
    def views(self) -> Views:
        from lci_py.search.modes.multiview import Views

        return Views(lambda: self.dense, lambda: self.bm25, lambda: self.symbolic, lambda: self.graph, self.turns)

    @cached_property
    def dense(self) -> Any:
        from lci_py.embed.encoder import Encoder
        from lci_py.index.shards.dense import DenseIndex
        from lci_py.index.shards.tokens import TokenBags, TokenTable
        from lci_py.search.views.retrievers import DenseRetriever

        if pending := self.manifest.counts["pending_chunks"]:
            raise DensePendingError(pending)
        index = DenseIndex(self.shards("dense"), self.numbering, int(self.manifest.model.get("dimension", 0)))
        encoder = self.encoder
        # Only an index of a model of bags has the tokens of its words.
        if not isinstance(encoder, Encoder):
            return DenseRetriever(index, encoder, None, None, self.n_units)
        tokens = self.shards("tokens")
        bags = TokenBags(tokens, self.numbering, encoder.token_codes) if encoder.late else None
        return DenseRetriever(index, encoder, TokenTable(tokens), bags, self.n_units)

    @cached_property
    def bm25(self) -> Any:
        from lci_py.search.views.retrievers import LexicalRetriever

        return LexicalRetriever(self.lexical)

    @cached_property
    def symbolic(self) -> Any:
        from lci_py.search.views.retrievers import SymbolicRetriever

        return SymbolicRetriever(self.symbols)

    @property
    def n_units(self) -> int:
        return self.numbering.total("units")

    def files_of(self, units: NDArray[np.int64]) -> NDArray[np.int32]:
        """The file of each of some units: [n]."""
        return self.unit_table.file[units]

    @cached_property
    def unit_table(self) -> UnitColumns:
        from lci_py.index.shards.unit_columns import UnitColumns

        return UnitColumns(self.shards("facts"), self.numbering, self.files.living_paths)

    def check(self, filters: Filters, kinds: tuple[str, ...] = (*KINDS, BLOCK_KIND)) -> None:
        """Refuse a kind or a language that no index can have: a typing error must not look like "nothing found".

        Raises:
            UsageError: With the nearest name there is.
        """
        for kind in filters.kind:
            if kind.lower() not in kinds:
                raise unknown_value("kind", kind, kinds)
        if filters.lang:
            from lci_py.source.syntax.languages import language_names

            known = {*language_names(), *self.manifest.counts["files_by_language"]}
            for language in filters.lang:
                if language.lower() not in known:
                    raise unknown_value("language", language, sorted(known))

    def shown(self, request: SearchRequest) -> int:
        """How many results a request asks for."""
        return self.limit if request.limit is None else request.limit

    # --- search -------------------------------------------------------------------------------------------------

    def search(self, request: SearchRequest) -> Answer:
        """Answer one query in the mode it names."""
        started = time.perf_counter()
        self.trace = Trace()
        self.reader.forget()
        self.freshness.forget()
        self.check(request.filters)
        if not request.query.strip() and not request.filters:
            raise UsageError("nothing to search for", hint="give a QUERY or a filter such as --kind or --path")
        if request.mode == "symbolic" or not request.query.strip():
            answer = self.structural(request)
        elif request.mode == "multiview":
            with self.trace.stage("load"):
                from lci_py.search.modes.multiview import answer as multiview

            answer = multiview(self, request)
        else:
            with self.trace.stage("load"):
                from lci_py.search.modes.single import search

            answer = search(self, request)
        return present.finish(self, answer, request, started)

    def definitions(self, name: str, filters: Filters, limit: int) -> Answer:
        """Definitions of a name (exact, or qualified, or a glob), with signature and doc."""
        from dataclasses import replace

        self.reader.forget()
        self.freshness.forget()
        self.check(filters)
        rows = self.symbols.definitions(name, filters)
        request = SearchRequest(name, "symbolic", limit, filters, snippet=0)
        results = [
            replace(present.result(self, row, request, "symbolic", 1.0), doc=_first_sentence(row["doc"]))
            for row in rows[:limit]
        ]
        answer = present.answer(self, request, results, len(rows))
        if rows or filters:
            return answer
        from lci_py.search.navigate.names import near_misses

        return replace(answer, did_you_mean=near_misses(self.symbols, name))

    def navigate(self, command: str, request: GraphRequest) -> GraphAnswer:
        """Answer one of callers, callees, tree and refs.

        Raises:
            AmbiguousNameError: The name means several definitions, and not every one is asked for (not for refs).
            UsageError: A filter, or the depth, cannot be used.
        """
        self.reader.forget()
        self.freshness.forget()
        self.check(request.filters, (*KINDS, FILE_KIND, LAMBDA_KIND))
        if command == "refs":
            from lci_py.search.navigate.references import references

            return references(self, request)
        if command == "tree":
            from lci_py.search.navigate.tree import tree

            return tree(self, request)
        from lci_py.search.navigate.calls import neighbours

        return neighbours(self, request, "callers" if command == "callers" else "callees")

    def conflicts(self, request: ConflictsRequest) -> ConflictsAnswer:
        """All conflicts of the repository that pass the filters."""
        from lci_py.search.conflicts.repository import conflicts

        self.reader.forget()
        self.freshness.forget()
        self.check(request.filters)
        return conflicts(self, request)

    def structural(self, request: SearchRequest) -> Answer:
        """The symbols that pass the filters and the query's terms.

        Raises:
            UsageError: A term cannot be used.
            BudgetExceededError: There was no time to find them.
        """
        with self.trace.stage("plan"):
            filters = read_symbolic(request.query, request.filters)
            self.check(filters)

        def select() -> tuple[list[Row], int]:
            return self.symbols.select(filters, self.shown(request))

        with self.trace.stage("filter", self.numbering.total("symbols")) as stage:
            if request.budget_ms is None:
                with self.turns["symbolic"]:
                    rows, stage.left = select()
            else:
                from lci_py.search.views.time_budget import within

                turn, began = self.turns["symbolic"], time.perf_counter()
                rows, stage.left = within(select, "symbolic", turn, request.budget_ms, began)
        made = present.symbolic_answer(self, request, rows, stage.left)
        if request.explain_file is None:
            return made
        from lci_py.search.explain.explainable import Structure
        from lci_py.search.explain.file import explained

        return explained(self, request, made, lambda: Structure(self, filters))

    def allowed(self, filters: Filters) -> NDArray[np.bool_] | None:
        """[units] mask of what passes the filters, None if there are none."""
        if not filters:
            return None
        import numpy as np

        with self.trace.stage("filter", self.n_units) as stage:
            units = self.symbols.allowed_units(filters)
            mask = np.zeros(self.n_units, np.bool_)
            mask[units] = True
            stage.left = len(units)
        return mask

    def with_phrases(
        self, phrases: tuple[str, ...], allowed: NDArray[np.bool_] | None
    ) -> tuple[NDArray[np.bool_] | None, dict[int, int]]:
        """What holds every phrase, letter for letter: a mask of units, and the first line of a match in each."""
        if not phrases:
            return allowed, {}
        from lci_py.search.modes.phrases import units_with

        with self.trace.stage("phrases", self.n_units if allowed is None else int(allowed.sum())) as stage:
            with self.turns["bm25"]:  # its postings say in which files to look
                mask, lines = units_with(self, phrases, allowed)
            stage.left = int(mask.sum())
        return mask, lines


def _first_sentence(doc: str | None) -> str:
    """The first line of a doc comment, or its first paragraph as one line if that is a broken sentence."""
    paragraph = (doc or "").split("\n\n", 1)[0].strip()
    first, _, rest = paragraph.partition("\n")
    return first if not rest or first.endswith((".", ":", "!", "?")) else " ".join(paragraph.split())
