"""The three views of one snapshot, loaded on first use, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _thread import LockType

    import numpy as np
    from numpy.typing import NDArray

    from lci_py.index.shards.graph import GraphIndex
    from lci_py.index.shards.unit_columns import UnitColumns
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
    #: Gives the units around some seeds, of (graph, table, seeds), instead of `graph_lift.reached`.
    reached: Callable[[GraphIndex, UnitColumns, NDArray[np.int64]], Any] | None = None
    #: How files are mentioned in a collection that these views are of a part of; None if they are of all there is.
    mentioned: Mapping[tuple[tuple[str, ...], float], tuple[int, int]] | None = None
    #: The stems in the names of the files that queries have met.
    pieces: dict[int, Pieces] = field(default_factory=dict)
