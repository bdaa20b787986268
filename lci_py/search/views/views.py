"""The three views of one snapshot, loaded on first use, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from lci_py.types.record import dataclass, field

if TYPE_CHECKING:
    from _thread import LockType

    from lci_py.index.shards.graph import GraphIndex
    from lci_py.search.views.retrievers import DenseRetriever, LexicalRetriever, SymbolicRetriever
    from lci_py.types.search import View

#: The stems in a file's name, each with its beginning if it is long enough to have one.
Pieces = tuple[tuple[str, str | None], ...]


@dataclass(slots=True)
class Views:
    """Loaders of the three views and of the graph, each of which may raise an `IndexError_`; a lock for each view."""

    dense: Callable[[], DenseRetriever]
    bm25: Callable[[], LexicalRetriever]
    symbolic: Callable[[], SymbolicRetriever]
    graph: Callable[[], GraphIndex]
    locks: Mapping[View, LockType]
    #: The stems in the names of the files that queries have met.
    pieces: dict[int, Pieces] = field(default_factory=dict)
