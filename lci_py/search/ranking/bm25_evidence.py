"""Evidence of the bm25 mode besides BM25: file names, the file's other results, how much of the query a unit has.

It looks at the head of the view's ranking only. docs/ranking.md has the rule, docs/adr/0014-bm25-mode.md the figures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lci_py.search.ranking.same_file import POOL, reordered, whole
from lci_py.search.ranking.signals import factors, stem_match

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lci_py.index.shards.unit_columns import UnitColumns
    from lci_py.search.query.text import TextQuery
    from lci_py.search.views.hits import HitList
    from lci_py.search.views.retrievers import LexicalRetriever
    from lci_py.search.views.views import Pieces

#: Points, in those of BM25, for a file whose whole name the query spells.
STEM = 3.0
#: How much the file counts beside the hit itself.
FILE = 0.5
#: The part of a score that is lost by a unit that has none of the query's terms; with some of them, in proportion.
COVER = 0.5
#: What a score is multiplied by where it applies.
FACTORS = {"test": 0.6, "text": 0.7, "generated": 0.7, "reexport": 0.8}
#: A file's k-th result (from 0) counts this to the power k.
SAME_FILE = 0.5


class Evidence(NamedTuple):
    """Evidence for and against each unit of the head of a BM25 ranking: arrays of [n].

    Attributes:
        files: The file of each.
        bm25: Its score so far.
        stem: How much of the file's name the query spells, in [0, 1].
        file: The mean of the file's results (`same_file.whole`), with what `stem` adds.
        factors: What the sum of the above is multiplied by, by name; 1 where that does not apply.
    """

    files: NDArray[Any]
    bm25: NDArray[np.float64]
    stem: NDArray[np.float64]
    file: NDArray[np.float64]
    factors: dict[str, NDArray[np.float64]]

    def scores(self) -> NDArray[np.float64]:
        """The new scores: [n]."""
        found = self.bm25 + STEM * self.stem + FILE * self.file
        for factor in self.factors.values():
            found = found * factor
        return found


def evidence(
    retriever: LexicalRetriever, table: UnitColumns, query: TextQuery, hits: HitList, known: dict[int, Pieces]
) -> Evidence:
    """Measure the first `POOL` hits. `known` is the cache of `stem_match`.

    Raises:
        DamagedIndexError: A shard is not what was written.
    """
    units, own = hits.units[:POOL], hits.scores[:POOL]
    files = table.file[units]
    stem = stem_match(query, table.paths, files, known).astype(np.float64)
    first = own + STEM * stem
    order = np.lexsort((units, -np.round(first, 9)))
    mean = np.empty(len(units))
    mean[order] = whole(first[order], files[order])
    multiplied = {"coverage": 1 - COVER + COVER * retriever.coverage(query, units)}
    applies = factors(query, units, table)
    multiplied |= {name: np.where(applies[name], FACTORS[name], 1.0) for name in FACTORS if name in applies}
    return Evidence(files, own, stem, mean, multiplied)


def adjusted(hits: HitList, known: Evidence) -> tuple[HitList, NDArray[Any]]:
    """The hits in their new order, with their new scores (best first, ties by unit), and the files of the head.

    Args:
        hits: A longer list only adds hits behind the head.
        known: Of the head.
    """
    changed, order = reordered(hits, known.scores())
    return changed, known.files[order]
