"""One retriever per view: a query in, hits on units out. Each reads only its own shard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from lci_py.embed.encoder import Encoder
from lci_py.search.hits import HitList
from lci_py.source.words import joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lci_py.embed.protocol import TextEncoder
    from lci_py.index.bm25 import LexicalIndex, Term
    from lci_py.index.dense import DenseIndex
    from lci_py.index.late import TokenBags, TokenTable
    from lci_py.index.symbols import SymbolicIndex
    from lci_py.search.query import TextQuery

#: Weights of the fields in the bm25 mode's score, a plain sum of BM25 scores.
BM25_FIELDS = {"content": 1.0, "names": 1.0, "paths": 1.0, "files": 0.5}


class Retriever(Protocol):
    """A view: the best `limit` units among the allowed ones, best first."""

    def search(self, query: TextQuery, limit: int, allowed: NDArray[np.bool_] | None) -> HitList: ...


def top(scores: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
    """Positions of the `limit` largest positive scores; ties by position."""
    positive = np.flatnonzero(scores > 0)
    if len(positive) > 4 * limit:
        # Everything at least as good as the limit-th score, so that ties are cut by position and not by chance.
        threshold = np.partition(scores[positive], len(positive) - limit)[len(positive) - limit]
        positive = positive[scores[positive] >= threshold]
    order = np.lexsort((positive, -scores[positive]))
    return positive[order[:limit]]


#: Units, the best by cosine, whose tokens are looked at as well.
LATE_POOL = 1000


class DenseRetriever:
    """How close the query is to a unit's closest chunk: the cosine of their vectors and, with a model that has a table
    of tokens, the closeness of the query's tokens to the chunk's own (`index.late`)."""

    def __init__(
        self, index: DenseIndex, encoder: TextEncoder, tokens: TokenTable | None, bags: TokenBags | None, n_units: int
    ) -> None:
        self.index, self.encoder, self.bags, self.n_units = index, encoder, bags, n_units
        self._known = tokens.find if tokens else None
        self._last: tuple[str, NDArray[np.float32]] | None = None
        #: The last query's pool: multiview asks for the same units again.
        self._pool: tuple[str, NDArray[np.int64], NDArray[np.float32]] | None = None

    def embed(self, query: TextQuery) -> NDArray[np.float32]:
        """The query's vector: [dimension]."""
        if self._last is None or self._last[0] != query.text:
            self._last = (query.text, self.encoder.encode_text(query.text, self._known))
        return self._last[1]

    def scores(self, query: TextQuery, units: NDArray[np.int64]) -> NDArray[np.float32]:
        """The score of each of the units, in [0, 1]: [len(units)]; `units` ascend."""
        if self._pool is None or self._pool[0] != query.text or not len(self._pool[1]):
            return self._scores(query, units)
        _, pool, scores = self._pool
        place = np.minimum(np.searchsorted(pool, units), len(pool) - 1)
        known = pool[place] == units
        out = scores[place]
        out[~known] = self._scores(query, units[~known])
        return out

    def _scores(self, query: TextQuery, units: NDArray[np.int64]) -> NDArray[np.float32]:
        chunks, place, cosines = self.index.chunks_of(self.embed(query), units)
        best = np.zeros(len(units), np.float32)
        np.maximum.at(best, place, self._blend(query, chunks, np.clip(cosines, 0, 1)))
        return best

    @property
    def _late(self) -> float:
        """How much the tokens count beside the cosine; 0 if there is no second look."""
        return self.encoder.late if self.bags is not None and isinstance(self.encoder, Encoder) else 0.0

    def _blend(self, query: TextQuery, chunks: NDArray[np.int64], cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        encoder, late = self.encoder, np.float32(self._late)
        if not late or self.bags is None or not isinstance(encoder, Encoder):
            return cosines
        ids, counts = encoder.question_tokens(query.text, self._known)
        covered = self.bags.coverage(
            chunks, encoder.token_directions(ids), encoder.question_weights(ids, counts), encoder.token_directions
        )
        return np.asarray((cosines + late * covered) / (1 + late), np.float32)

    def search(self, query: TextQuery, limit: int, allowed: NDArray[np.bool_] | None) -> HitList:
        vector = self.embed(query)
        total = self.n_units if allowed is None else int(allowed.sum())
        if not vector.any():
            return HitList.empty("dense")  # no word of the query is known: nothing is near it
        late = self._late
        units, scores = self.index.search(vector, max(limit, LATE_POOL) if late else limit, allowed)
        if late:
            units, scores = self._second_look(query, units, scores / np.float32(1 + late))
        return HitList("dense", units[:limit], np.clip(scores[:limit], 0, 1).astype(np.float64), total)

    def _second_look(
        self, query: TextQuery, units: NDArray[np.int64], scores: NDArray[np.float32]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Rank the pool anew; the other units follow in the order they have."""
        head = np.sort(units[:LATE_POOL])
        head_scores = self._scores(query, head)
        self._pool = (query.text, head, head_scores)
        order = np.lexsort((head, -head_scores))
        # Nobody behind the pool is closer than anybody in it, but only there a cosine that rounds to above 1 is cut.
        tail = np.minimum(scores[LATE_POOL:], head_scores.min(initial=1))
        return np.concatenate((head[order], units[LATE_POOL:])), np.concatenate((head_scores[order], tail))


class LexicalRetriever:
    """BM25 over content, names and paths."""

    def __init__(self, index: LexicalIndex) -> None:
        self.index = index

    def known(self, query: TextQuery) -> list[tuple[Term, float]]:
        """The query's terms that the index has, with their weights."""
        found = ((self.index.term(text), weight) for text, weight in query.terms)
        return [(term, weight) for term, weight in found if term is not None]

    def field_scores(self, query: TextQuery) -> dict[str, NDArray[np.float32]]:
        """Each field's BM25 score of every unit (of its best chunk, of its file): field -> [units]."""
        terms = self.known(query)
        index = self.index
        content = np.zeros(len(index.unit_file), np.float32)
        np.maximum.at(content, index.chunk_unit, index.scores("content", terms))
        return {
            "content": content,
            "names": index.scores("names", terms),
            "paths": index.scores("paths", terms)[index.unit_file],
            "files": index.scores("files", terms)[index.unit_file],
        }

    def scores(self, query: TextQuery) -> NDArray[np.float32]:
        """The mode's score of every unit: [units]."""
        fields = self.field_scores(query)
        total = np.zeros(len(self.index.unit_file), np.float32)
        for name, weight in BM25_FIELDS.items():
            total += np.float32(weight) * fields[name]
        own = (fields["content"] > 0) | (fields["names"] > 0)
        # A file's words lift its units, but a unit that has none of the words is no hit.
        total[~own] = 0
        return total

    def search(self, query: TextQuery, limit: int, allowed: NDArray[np.bool_] | None) -> HitList:
        scores = self.scores(query)
        if allowed is not None:
            scores = np.where(allowed, scores, np.float32(0))
        units = top(scores, limit)
        return HitList("bm25", units, scores[units].astype(np.float64), int((scores > 0).sum()))


class SymbolicRetriever:
    """Units whose symbol has a name that the query spells out, in one word or several."""

    def __init__(self, index: SymbolicIndex) -> None:
        self.index = index

    def names(self, query: TextQuery) -> dict[str, float]:
        """Spellings to look up, joined, with how much of a match each is: 1 for a word, less for joined words."""
        words = [word for word in query.words if len(word) > 1]
        identifiers = set(query.identifiers)
        found = {joined(word): 1.0 if word in identifiers or len(words) == 1 else 0.6 for word in words}
        for size in (2, 3):
            for start in range(len(words) - size + 1):
                found.setdefault(joined("".join(words[start : start + size])), 0.9)
        for name, weight in query.spelled:
            found.setdefault(name, weight)
        return found

    def search(self, query: TextQuery, limit: int, allowed: NDArray[np.bool_] | None) -> HitList:
        spelled = self.names(query)
        if not spelled:
            return HitList.empty("symbolic")
        rows = self.index.spelled(list(spelled))
        words = set(query.words)
        best: dict[int, float] = {}
        for row in rows:
            unit = int(row["unit"])
            if allowed is None or allowed[unit]:
                exact = spelled[row["joined"]] * (1.0 if row["name"] in words else 0.5)
                best[unit] = max(best.get(unit, 0.0), exact)
        order = sorted(best, key=lambda unit: (-best[unit], unit))
        scores = np.array([best[unit] for unit in order[:limit]], np.float64)
        return HitList("symbolic", np.array(order[:limit], np.int64), scores, len(best))
