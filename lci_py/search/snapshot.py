"""One generation of an index, opened: each shard is loaded on first use and kept. It answers no questions itself."""

from __future__ import annotations

import os
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from lci_py.errors import DamagedIndexError, DensePendingError, GraphPendingError, ModelMismatchError, NoIndexError
from lci_py.index.shards.numbering import Numbering
from lci_py.index.shards.symbols import SymbolicIndex
from lci_py.index.store.manifest import MANIFEST, Manifest, OpenIndex, check_root
from lci_py.search.freshness import SourceReader

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence
    from pathlib import Path

    from lci_py.embed.encoder import TextEncoder
    from lci_py.embed.folder import ModelFolder
    from lci_py.index.shards.bm25 import LexicalIndex
    from lci_py.index.shards.branches import BranchIndex
    from lci_py.index.shards.files import FileTable
    from lci_py.index.shards.graph import GraphIndex
    from lci_py.index.shards.unit_columns import UnitColumns
    from lci_py.index.shards.word_files import WordFiles
    from lci_py.search.freshness import Freshness
    from lci_py.search.retrievers import DenseRetriever, LexicalRetriever, SymbolicRetriever
    from lci_py.source.repository.walk import WalkResult
    from lci_py.types.search import SearchRequest

_T = TypeVar("_T")


class Whole:
    """Quantities over a whole collection, of which an index may be a part (docs/adr/0035-fleet-seam.md).

    A part can compute nearly all of a ranking alone. It asks this object for further quantities, with a key and its
    own value. A single index is the whole collection, so its own value is the answer. In a part of a fleet
    (`cluster.leaf`) a missing answer is recorded, and `settle` aborts the search, which is repeated with the combined
    values of all parts. Until then answers are provisional: call `settle` before another question depends on them.
    """

    #: Whether there are no other parts. A part of several answers whole or not at all.
    alone = True

    def settle(self) -> None:
        """Continue only if all values asked for so far are known."""

    def once(self, _what: Hashable, make: Callable[[], _T]) -> _T:
        """Compute a value. When a search is repeated with more answers, a value that lacked no answer is reused."""
        return make()

    def total(self, what: Hashable, own: _T) -> _T:
        """The sum over all parts; of a tuple, item by item; of a boolean, the number of parts where it is true."""
        return self._of_all("total", what, own)

    def largest(self, what: Hashable, own: _T) -> _T:
        """The maximum over all parts of a number; of a mapping, key by key."""
        return self._of_all("largest", what, own)

    def nearest(self, what: Hashable, own: _T) -> _T:
        """For mappings to (closeness, count): maps each key to its largest closeness in all parts, and to the sum of
        the counts that belong to that closeness."""
        return self._of_all("nearest", what, own)

    def joined(self, what: Hashable, own: _T) -> _T:
        """The concatenation of the tuples of all parts, in the order of the parts."""
        return self._of_all("joined", what, own)

    def _of_all(self, _kind: str, _what: Hashable, own: _T) -> _T:
        """The answer of the whole collection to the question of the method `kind`."""
        return own

    def share(self, _what: Hashable, _columns: Sequence[Any], limit: int) -> int:
        """The number of items at the head of this part's list that are among the first `limit` items of all parts.

        Args:
            columns: The keys by which the list is sorted, the largest first; ties go to the earlier part.
        """
        return limit

    def neighbours(self, _what: Hashable, scores: Any, reached: Any, weigh: Callable[[Any, Any], _T]) -> _T:
        """The graph neighbours of the best candidates, weighed (`graph_lift`).

        Args:
            scores: The scores of the best candidates, best first.
            reached: Their neighbours.
            weigh: Computes the lift of `reached` from the scores of the best candidates of the whole collection.
        """
        return weigh(reached, scores)


#: Of an index that is no part of another collection.
ALONE = Whole()


class Snapshot:
    """Reads one generation of an index, whatever a writer does meanwhile, until the snapshot is closed."""

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
        shards: OpenIndex | None = None,
    ) -> None:
        """Open the newest generation.

        Args:
            snippet: Default number of lines shown per result.
            limit: Default number of results.
            model: The folder of the model; None for the built-in one.
            trust: Whether to open an index that was not sealed on this machine.
            walk: Lists the files as an index run would.
            shards: The index, if not the one in `index_dir`.
        Raises:
            NoIndexError, IndexError_: There is no index, or it cannot be used.
        """
        self.root = root
        self.index_dir = index_dir
        self._published = self._publication()  # before it is read: one that comes meanwhile is newer
        try:
            self._index = OpenIndex(index_dir, trust=trust) if shards is None else shards
        except NoIndexError:
            raise NoIndexError(str(root)) from None  # the folder that the user knows, wherever the index would be
        self.manifest: Manifest = self._index.manifest
        if shards is None:
            check_root(self.manifest, root, index_dir)
        self.snippet = snippet
        self.limit = limit
        self.model = model
        self.reader = SourceReader(root)
        self._walk = walk
        #: The stems in the names of the files that queries have met.
        self.pieces: dict[int, Pieces] = {}
        #: The collection that this index is a part of.
        self.whole: Whole = ALONE
        #: Stages of the search at hand.
        self.trace = Trace()

    def close(self) -> None:
        """Release the generation, so that a writer may remove it."""
        if "symbols" in self.__dict__:
            self.symbols.close()
        if (branches := self.__dict__.get("branches")) is not None:
            branches.close()
        self._index.close()

    def is_newest(self) -> bool:
        """Whether no other process has published or removed an index since this index was opened."""
        return self._published is not None and self._published == self._publication()

    def _publication(self) -> tuple[int, int, int] | None:
        try:
            info = os.stat(self.index_dir / MANIFEST)
        except OSError:
            return None
        return info.st_ino, info.st_mtime_ns, info.st_size

    # --- shards -------------------------------------------------------------------------------------------------

    def shard(self, role: str) -> Path:
        """Path of a global shard.

        Raises:
            ShardMissingError: The index has none for the role.
        """
        return self._index.verified(role)

    def shards(self, role: str) -> list[Path]:
        """Paths of the shards of all segments. Errors as in `shard`."""
        return [self._index.verified(role, segment) for segment in range(len(self.manifest.segments))]

    def problems(self, *, thoroughly: bool) -> list[str]:
        """Messages about damaged shards. If `thoroughly`, reads all of them."""
        return self._index.problems(thoroughly=thoroughly)

    @cached_property
    def files(self) -> FileTable:
        from lci_py.index.shards.files import FileTable

        # All of it is read, mostly before numpy is there to add up checksums: its digest is quicker.
        return FileTable(self._index.verified("files", thoroughly=True), is_checked=True)

    @cached_property
    def numbering(self) -> Numbering:
        return Numbering([segment.counts for segment in self.manifest.segments], self.files.maps())

    @cached_property
    def freshness(self) -> Freshness:
        from lci_py.search.freshness import Freshness

        return Freshness(self.root, self.files, self.reader.compared, self._walk)

    @cached_property
    def symbols(self) -> SymbolicIndex:
        return SymbolicIndex(self.shards("symbols"), self.numbering)

    @cached_property
    def branches(self) -> BranchIndex | None:
        """The indexed differences on other branches; None if no branch is indexed."""
        if "branches" not in self.manifest.shards:
            return None
        from lci_py.index.shards.branches import BranchIndex

        return BranchIndex(self.shard("branches"))

    @cached_property
    def lexical(self) -> LexicalIndex:
        from lci_py.index.shards.bm25 import LexicalIndex

        return LexicalIndex(self.shards("bm25"), self.numbering)

    @cached_property
    def word_files(self) -> WordFiles:
        """The files that hold a word, from the bm25 shards, without numpy."""
        from lci_py.index.shards.word_files import WordFiles

        return WordFiles(self.shards("bm25"), self.numbering)

    @cached_property
    def graph(self) -> GraphIndex:
        from lci_py.index.shards.graph import GraphIndex

        if not self.manifest.is_complete:
            raise GraphPendingError
        result = GraphIndex(self.shard("graph"))
        if (result.n_symbols, result.n_files) != (self.numbering.total("symbols"), self.numbering.total("files")):
            raise DamagedIndexError("the graph was built from other files than the rest of the index")
        return result

    @cached_property
    def model_folder(self) -> ModelFolder:
        from lci_py.embed.folder import ModelFolder

        return ModelFolder(self.model)  # kept: it hashes its files once, however many queries a batch has

    @cached_property
    def encoder(self) -> TextEncoder:
        from lci_py.embed.encoder import open_encoder

        folder, built = self.model_folder, self.manifest.model
        folder.recall(built)
        dimension = None
        if folder.sha256 == built.get("sha256"):
            encoder = open_encoder(folder)
            if encoder.dimension == built.get("dimension"):
                return encoder
            dimension = encoder.dimension
        raise _mismatch(folder, built, dimension)

    @cached_property
    def dense(self) -> DenseRetriever:
        from lci_py.embed.encoder import Encoder
        from lci_py.index.shards.dense import DenseIndex
        from lci_py.index.shards.tokens import TokenBags, TokenTable
        from lci_py.search.retrievers import DenseRetriever

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
    def bm25(self) -> LexicalRetriever:
        from lci_py.search.retrievers import LexicalRetriever

        return LexicalRetriever(self.lexical)

    @cached_property
    def symbolic(self) -> SymbolicRetriever:
        from lci_py.search.retrievers import SymbolicRetriever

        return SymbolicRetriever(self.symbols)

    @property
    def n_units(self) -> int:
        return self.numbering.total("units")

    @cached_property
    def unit_table(self) -> UnitColumns:
        from lci_py.index.shards.unit_columns import UnitColumns

        return UnitColumns(self.shards("facts"), self.numbering, self.files.living_paths)

    def shown(self, request: SearchRequest) -> int:
        """The number of results that a request asks for."""
        return self.limit if request.limit is None else request.limit

    def forget(self) -> None:
        """Start a new query: a file may change between two queries of a batch."""
        self.trace = Trace()
        self.reader.forget()
        self.freshness.forget()


def _mismatch(folder: ModelFolder, built: Mapping[str, Any], dimension: int | None = None) -> ModelMismatchError:
    """The error for a model that did not make the index; it names the right model and the command to run.

    Args:
        folder: The requested model.
        built: The manifest's entry about the index's model.
        dimension: The dimension of the requested model, if that is what differs.
    """
    import shlex

    actual = folder.sha256[:12] if dimension is None else f"{dimension} dimensions"
    option = "" if folder.builtin else f" --model {shlex.quote(str(folder.path))}"
    message = (
        f"the index was built with model {built.get('name')} ({str(built.get('sha256'))[:12]}, "
        f"{built.get('dimension')} dimensions), this search asks for {folder.name} ({actual})"
    )
    model_path = built.get("folder")
    anew = f"run `lci index{option}` to index anew"
    if isinstance(model_path, str) and model_path and model_path != str(folder.path):
        hint = f"run `lci search --model {shlex.quote(model_path)}` to search with the index's model, or {anew}"
    elif model_path or folder.builtin:
        hint = anew  # the same folder or program, with other content
    else:
        hint = f"{anew}, or search without --model, LCI_MODEL and `model` in .lci.toml"
    return ModelMismatchError(message, hint=hint)


class Stage:
    """One timed stage of a search, a context manager around its work."""

    def __init__(self, came: int | None) -> None:
        self.came = came
        self.left: int | None = None
        self._began = 0.0
        self.ms = 0.0

    def __enter__(self) -> Stage:
        self._began = time.perf_counter()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.ms += (time.perf_counter() - self._began) * 1e3

    def as_json(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"ms": self.ms}
        if self.came is not None:
            fields["candidates_in"] = self.came
        if self.left is not None:
            fields["candidates"] = self.left
        return fields


class Trace:
    """The stages of one search, in the order in which they began."""

    def __init__(self) -> None:
        self._stages: dict[str, Stage] = {}

    def stage(self, name: str, came: int | None = None) -> Stage:
        """A stage to enter; `came`: the number of incoming candidates, if any. The times of several entries add up."""
        result = self._stages.setdefault(name, Stage(came))
        result.came = came
        return result

    def add(self, name: str, ms: float, came: int | None = None, left: int | None = None) -> None:
        """Add a stage that was measured elsewhere, in milliseconds."""
        stage = self.stage(name, came)
        stage.ms += ms
        stage.left = left

    def as_json(self) -> dict[str, dict[str, Any]]:
        return {name: stage.as_json() for name, stage in self._stages.items()}


#: The stems in a file's name, each with its beginning if it is long enough to have one.
Pieces = tuple[tuple[str, str | None], ...]
