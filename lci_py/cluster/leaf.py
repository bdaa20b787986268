"""One part of a fleet: opens it from the store, and searches it so that scores are as in a search of the whole fleet.

The modes of a search run unchanged. They ask `PartOf` for statistics over all parts. It has the totals that the root
(of the search) has sent, and records the statistics that are missing.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from lci_py.cluster.fleet import object_of, part_manifest
from lci_py.cluster.graph import PartGraph
from lci_py.errors import GraphPendingError, IndexError_, ShardMissingError, UsageError
from lci_py.index.shards.arrays import Arrays
from lci_py.index.shards.bm25 import FIELDS, ROWS, LexicalIndex, Term
from lci_py.index.store.manifest import OpenIndex
from lci_py.search.engine import Engine
from lci_py.search.freshness import Freshness, SourceReader, Sweep
from lci_py.search.ranking.graph_lift import ReachedUnits
from lci_py.search.snapshot import Snapshot, Whole
from lci_py.source.repository.walk import WalkResult

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from lci_py.cluster.fleet import Part
    from lci_py.cluster.objects import Cache
    from lci_py.embed.encoder import TextEncoder
    from lci_py.index.store.manifest import Manifest
    from lci_py.types.search import Answer, SearchRequest

_T = TypeVar("_T")
#: A statistic: how the parts' values are combined (a method of `Whole`), its name, and the limit of a share.
Key = tuple[str, "Hashable", int]


# --- a part of all parts ------------------------------------------------------------------------------------------


class LacksStatistics(Exception):
    """Raised when a search cannot go on, because statistics of the whole fleet are still missing."""


class PartOf(Whole):
    """The statistics of a whole fleet, as one part knows them during a query (see `Whole` in `search/snapshot.py`)."""

    alone = False

    def __init__(self) -> None:
        self._totals: Mapping[Key, Any] = {}
        self._cache: dict[Hashable, Any] = {}
        #: This part's own values of the statistics that it lacks.
        self.lacking: dict[Key, Any] = {}

    def tell(self, totals: Mapping[Key, Any]) -> None:
        """Set the totals over all parts, before the search runs again."""
        self._totals, self.lacking = totals, {}

    def once(self, what: Hashable, make: Callable[[], _T]) -> _T:
        value: _T = self._cache[what] if what in self._cache else make()
        if not self.lacking:
            self._cache[what] = value
        return value

    def settle(self) -> None:
        if self.lacking:
            raise LacksStatistics

    def _of_all(self, kind: str, what: Hashable, own: _T) -> _T:
        return self._ask(kind, what, own, own)

    def _ask(self, kind: str, what: Hashable, own: Any, until: _T, limit: int = 0) -> _T:
        key = (kind, what, limit)
        if key in self._totals:
            value: _T = self._totals[key]
            return value
        self.lacking[key] = own
        return until

    def share(self, what: Hashable, columns: Sequence[Any], limit: int) -> int:
        return self._ask("share", what, tuple(np.asarray(column[:limit]) for column in columns), 0, limit)

    def neighbours(self, what: Hashable, scores: Any, reached: Any, weigh: Callable[[Any, Any], _T]) -> _T:
        nothing = weigh(ReachedUnits(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)), np.zeros(0))
        return self._ask("around", what, (scores, *reached), nothing)


class _Lexical(LexicalIndex):
    """Scores the rows of a part with the statistics of all parts. A term that only other parts have matches no row."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__(snapshot.shards("bm25"), snapshot.numbering)
        self._snapshot = snapshot
        #: Terms that were asked for, and in how many rows of each field of this part they are.
        self._terms: dict[str, tuple[Term, tuple[int, ...]]] = {}
        rows = (snapshot.numbering.total(ROWS[field]) for field in FIELDS)
        self._own_sizes = (*rows, *(int(self._lengths(field).sum(dtype=np.int64)) for field in FIELDS))

    def forget(self) -> None:
        """Drop what is remembered of the last query, since the statistics of the next query may differ."""
        self._norms.clear()
        self._terms.clear()

    def ask(self, texts: Iterable[str]) -> None:
        self._sizes()
        for text in texts:
            self.term(text)

    def term(self, text: str) -> Term | None:
        entry = self._terms.get(text)
        if entry is None:
            term = super().term(text)
            counts = (0,) * len(FIELDS)
            if term is not None:
                counts = tuple(len(self.postings(field, (term,)).rows) for field in FIELDS)
            entry = self._terms[text] = term or Term(text, (-1,) * len(self._segments)), counts
        return entry[0] if any(self._snapshot.whole.total(text, entry[1])) else None

    def _counts(self, text: str) -> tuple[int, ...]:
        """For each field, the number of rows with a term, over all parts."""
        return self._snapshot.whole.total(text, self._terms[text][1])

    def starting(self, _prefix: str, _most: int) -> None:
        return None

    def _sizes(self) -> tuple[int, ...]:
        """For each field, the number of rows; then, for each field, the sum of the row lengths; over all parts."""
        return self._snapshot.whole.total("sizes", self._own_sizes)

    def size(self, field: str) -> int:
        return self._sizes()[_PLACE[field]]

    def length(self, field: str, _lengths: NDArray[np.int32]) -> int:
        return self._sizes()[len(FIELDS) + _PLACE[field]]

    def having(self, field: str, terms: Sequence[Term], _numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array([self._counts(term.text)[_PLACE[field]] for term in terms], np.int64)

    def frequency(self, field: str, term: Term) -> int:
        return self._counts(term.text)[_PLACE[field]]


_PLACE = {field: place for place, field in enumerate(FIELDS)}


# --- opened from the store ----------------------------------------------------------------------------------------


class _PartShards(OpenIndex):
    """The shards of a part, which are fetched from the store when they are needed."""

    def __init__(self, cache: Cache, manifest: Manifest) -> None:
        self.manifest, self._cache = manifest, cache

    def verified(self, role: str, segment: int | None = None, *, thoroughly: bool = False) -> Path:
        shard = (self.manifest if segment is None else self.manifest.segments[segment]).shards.get(role)
        if shard is None:
            raise ShardMissingError(f"the part has no {role} shard", hint="run `lci cluster index` for it again")
        return self._cache.path(object_of(role, shard))

    def close(self) -> None: ...


class PartSnapshot(Snapshot):
    """A snapshot (an index opened for searches) of one part, read from the store."""

    def __init__(self, cache: Cache, part: Part, readable: frozenset[int] | None = None) -> None:
        """`readable` has the indices of the parts whose nodes the graph may show; None for all parts.

        Raises:
            ShardMissingError, StoreError, ShardVersionError: The part's manifest cannot be used.
        """
        manifest = part_manifest(cache.objects, part)
        super().__init__(
            Path("/"), cache.folder, snippet=0, limit=0, walk=lambda: WalkResult((), (), (), ()),
            shards=_PartShards(cache, manifest),
        )  # fmt: skip
        self.reader = _StoredReader(self)
        self._part, self._cache, self._readable = part, cache, readable

    @cached_property
    def freshness(self) -> Freshness:
        return _FixedFreshness(self.root, self.files, self.reader.read, self._walk)

    @cached_property
    def lexical(self) -> LexicalIndex:
        return _Lexical(self)

    @cached_property
    def graph(self) -> PartGraph:
        if self._part.graph is None:
            raise GraphPendingError
        return PartGraph(self._cache.path(self._part.graph), self._readable)

    @cached_property
    def encoder(self) -> TextEncoder:
        """The encoder, which all parts in a process share, so that its vocabulary is loaded once."""
        key = str(self.manifest.model.get("sha256")), self.manifest.model.get("dimension")
        if key not in _encoders:
            _encoders[key] = Snapshot.encoder.func(self)  # type: ignore[attr-defined]
        return _encoders[key]

    def forget(self) -> None:
        super().forget()
        self.__dict__.pop("bm25", None)  # it knows the scores of the last query
        if "lexical" in self.__dict__:
            self.lexical.forget()  # type: ignore[attr-defined]


#: By the digest and the dimension of the model.
_encoders: dict[tuple[str, object], TextEncoder] = {}


class _StoredReader(SourceReader):
    """Reads the texts that files had when they were indexed (written by `indexing.write_texts`, whose digest the sealed
    manifest has)."""

    def __init__(self, snapshot: PartSnapshot) -> None:
        super().__init__(Path("/"))
        self._snapshot = snapshot

    @cached_property
    def _arrays(self) -> Arrays:
        return Arrays(self._snapshot.shard("texts"))

    def read(self, path: str) -> bytes | None:
        table, arrays = self._snapshot.files, self._arrays
        names = table.paths()
        index = bisect_left(names, path)
        if index == len(names) or names[index] != path or table.known_at(index).slot < 0:
            return None
        starts, texts = arrays.view("starts", "i8"), arrays.view("texts", "u1", check=False)
        arrays.check_items("texts", starts[index], starts[index + 1])
        return zlib.decompress(bytes(texts[starts[index] : starts[index + 1]]))


class _FixedFreshness(Freshness):
    """Says that no file has changed since it was indexed: the texts are stored with the index."""

    def changed(self, path: str) -> bool:
        return False

    def sweep(self, *, whole: bool = False) -> Sweep:
        return Sweep((), 0)


# --- its answers --------------------------------------------------------------------------------------------------


class PartAnswer(NamedTuple):
    """The results of one part that belong to an answer."""

    answer: Answer
    shas: tuple[str, ...]  # of the files of the results, where another file may have the same content; "" for none


class Leaf:
    """Answers queries about one part of a fleet, one query at a time."""

    def __init__(self, snapshot: PartSnapshot) -> None:
        self._engine = Engine(snapshot)
        self._snapshot = snapshot
        self._run, self._whole = "", PartOf()

    def close(self) -> None:
        self._snapshot.close()

    def search(self, run: str, request: SearchRequest, totals: Mapping[Key, Any]) -> PartAnswer | dict[Key, Any]:
        """The part's results that are among the best of all parts; or a dict with its values of missing statistics.

        Args:
            run: Identifies the query; the same when it is repeated with more statistics.
            totals: Statistics of all parts.
        Raises:
            UsageError: The query, or a filter, cannot be used.
            IndexError_: A shard cannot be used.
        """
        snapshot = self._snapshot
        if run != self._run:
            snapshot.forget()
            self._run, self._whole = run, PartOf()
        snapshot.whole = whole = self._whole
        whole.tell(totals)
        try:
            answer = self._engine.ranked(request)
            whole.settle()
        except LacksStatistics:
            return whole.lacking
        except UsageError:  # another part may have what this one does not know
            if whole.lacking:
                return whole.lacking
            raise
        return PartAnswer(answer, tuple(self._digest_of_copy(result.file) for result in answer.results))

    def copies(self, sha: str) -> list[str]:
        """The part's files whose content has the digest `sha`. Raises IndexError_ if a shard cannot be used."""
        return self._snapshot.files.with_content(sha)

    def _digest_of_copy(self, path: str) -> str:
        """The digest of a file if the fleet may have copies of it; else ""."""
        snapshot = self._snapshot
        try:
            copied = snapshot.graph.copied[bisect_left(snapshot.files.living_paths(), path)]
        except IndexError_:  # only a search that needs the graph says so
            copied = True
        return snapshot.freshness.sha(path) if copied else ""
