"""The evidence that the modes dense and bm25 add to their view's scores: the file, its name, the kind of definition, or
names and text that the query spells out.

Only the head of the view's ranking is reordered. docs/ranking.md has the rules, docs/adr/0014-bm25-mode.md and
docs/adr/0019-spelled-out.md the figures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.search.ranking.same_file import POOL, reorder, whole
from lci_py.search.ranking.signals import factors, mentions, stem_match
from lci_py.search.retrievers import HitList
from lci_py.types.record import NamedTuple, dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from lci_py.search.query.text import TextQuery
    from lci_py.search.ranking.literal_matches import LiteralMatches
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Confidence, Degradation

#: Bonus for a file whose whole name the query spells, by mode.
STEM = {"dense": 0.1, "bm25": 3.0}
#: Weight of the file's results relative to the hit itself.
FILE = 0.5
#: Share of a bm25 score lost by a unit with none of the query's terms; with some, in proportion.
COVER = 0.5
#: Multipliers of a score where they apply.
FACTORS = {"test": 0.6, "inner_test": 0.95, "text": 0.7, "generated": 0.7, "aside": 0.7}
#: Bonus for a name or a text that the query spells out: in dense, added to the score; in bm25, as a multiple of the
#: best score plus the largest file-name bonus.
SPELLED = {"dense": 1.0, "bm25": 2.0}
#: Bonus for a file that a long question names, as a share of `SPELLED`.
MENTIONED = 0.5
#: Factor of a file's further results, to the power of `same_file.damping_steps`.
SAME_FILE = {"dense": 0.7, "bm25": 0.5}


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for the head (first hits) of a ranking: arrays of [n], in the order of `hits`.

    Attributes:
        hits: The view's hits, of which the first n are the head.
        files: The file of each hit in the head.
        added: Maps a name to (weight, values), to be added to the view's score.
        scale: Multiplier of the sum of score and `added`.
        factors: Maps a name to multipliers of the scaled sum; 1 where a factor does not apply.
        spelled: Maps a name to (weight, values), added last, for what the query spells out.
    """

    hits: HitList
    files: NDArray[Any]
    added: dict[str, tuple[float, NDArray[np.float64]]]
    scale: float
    factors: dict[str, NDArray[np.float64]]
    spelled: dict[str, tuple[float, NDArray[np.float64]]]

    def scores(self) -> NDArray[np.float64]:
        """The new scores of the head: [n]."""
        result: NDArray[np.float64] = self.hits.scores[: len(self.files)].copy()
        for weight, values in self.added.values():
            result += weight * values
        result *= self.scale
        for factor in self.factors.values():
            result *= factor
        for weight, values in self.spelled.values():
            result += weight * values
        return result

    def ranked(self) -> tuple[HitList, NDArray[Any]]:
        """(hits, files): the hits by their new scores, best first, ties by unit; the head's files in that order."""
        changed, order = reorder(self.hits, self.scores())
        return changed, self.files[order]


class SingleViewResult(NamedTuple):
    """The result of the mode dense or bm25, and how it came about.

    Attributes:
        query: The text that was searched for.
        allowed: [units] mask of the filters and the quoted phrases; None if there are none.
        places: Maps each unit that holds a quoted phrase to the phrase's first line.
        raw: The view's own ranking.
        ranked: The mode's ranking, with the evidence, and a file's further results damped.
        evidence: The evidence used.
        symbols: Maps a unit to the symbol in it that is shown instead.
        relaxed: Messages: which requirements of the query were dropped.
        confidence: Confidence that the results answer the query; None if unknown.
        degraded: Shards besides the view's that could not be read.
    """

    query: TextQuery
    allowed: NDArray[np.bool_] | None
    places: Mapping[int, int]
    raw: HitList
    ranked: HitList
    evidence: Evidence
    symbols: Mapping[int, int]
    relaxed: tuple[str, ...] = ()
    confidence: Confidence | None = None
    degraded: tuple[Degradation, ...] = ()


def evidence(snapshot: Snapshot, query: TextQuery, raw: HitList, literal: LiteralMatches) -> Evidence:
    """The evidence for the head of a dense or bm25 ranking: the first `POOL` hits, and units that the query spells out.

    Raises:
        DamagedIndexError: A shard is damaged.
    """
    table = snapshot.unit_table
    dense = raw.view == "dense"
    hits, head = _with(snapshot, query, raw, literal.units)
    units, own = hits.units[:head], hits.scores[:head]
    files = table.file[units]
    multiplied: dict[str, NDArray[np.float64]] = {}
    stem = stem_match(query, table.paths, files, snapshot.pieces).astype(np.float64)
    if dense:
        worth = SPELLED["dense"]
    else:
        multiplied["coverage"] = 1 - COVER + COVER * snapshot.bm25.coverage(query, units)
        # Of all units, whatever the filters say.
        worth = SPELLED["bm25"] * (
            STEM["bm25"] + snapshot.whole.largest(("bm25", query.text), snapshot.bm25.best(query))
        )
    points = STEM[raw.view]
    first = own + points * stem
    order = np.lexsort((units, -np.round(first, 9)))
    mean = np.empty(head)
    mean[order] = whole(first[order], files[order])
    applies = factors(query, units, table)
    multiplied |= {name: np.where(applies[name], FACTORS[name], 1.0) for name in FACTORS if name in applies}
    spelled = {name: (worth, values.astype(np.float64)) for name, values in literal.of(units).items()}
    added = {"stem": (points, stem), "file": (FILE, mean)}
    if query.files:
        mentioned = mentions(query, table.paths, snapshot.whole)[files]
        added["mentioned"] = (MENTIONED * worth, mentioned.astype(np.float64))
    return Evidence(hits, files, added, 1 / (1 + FILE) if dense else 1.0, multiplied, spelled)


def _with(snapshot: Snapshot, query: TextQuery, raw: HitList, units: list[int]) -> tuple[HitList, int]:
    """(hits, n): the hits, with `units` from below the head (first hits) moved into it; and the head's new length."""
    head = min(POOL, len(raw))
    inside = set(raw.units[:head].tolist())
    more = np.array([unit for unit in units if unit not in inside], np.int64)
    if not len(more):
        return raw, head
    if raw.view == "dense":
        scores = snapshot.dense.scores(query, more).astype(np.float64)
    else:
        scores = snapshot.bm25.scores(query)[more].astype(np.float64)
    others = ~np.isin(raw.units[head:], more)
    order = np.concatenate((more, raw.units[:head], raw.units[head:][others]))
    return HitList(
        raw.view,
        order,
        np.concatenate((scores, raw.scores[:head], raw.scores[head:][others])),
        max(raw.total, len(order)),
    ), head + len(more)
