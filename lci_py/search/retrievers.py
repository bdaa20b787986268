"""A retriever per view: it takes a query, and returns hits (units with scores) as arrays, best first. It reads only
the shard of its view."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lci_py.embed.encoder import Encoder, Question
from lci_py.source.text.words import joined_spelling
from lci_py.types.record import dataclass
from lci_py.types.search import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from lci_py.embed.encoder import TextEncoder
    from lci_py.index.shards.bm25 import LexicalIndex, Term
    from lci_py.index.shards.dense import DenseIndex
    from lci_py.index.shards.symbols import SymbolicIndex
    from lci_py.index.shards.tokens import TokenBags, TokenTable
    from lci_py.search.query.text import TextQuery
    from lci_py.types.search import View

#: Weights of the fields in the view's score, a plain sum of BM25 scores. The bm25 mode adds to it
#: (`search/ranking/evidence.py`).
BM25_FIELDS = {"content": 1.0, "names": 1.0, "paths": 1.0, "files": 0.5}


class HitList:
    """A view's hits, best first.

    Attributes:
        units: [n] unit numbers, each once.
        scores: [n] on the view's own scale, descending.
        total: How many units the view would have returned without a limit; >= n.
    """

    def __init__(self, view: View, units: NDArray[np.int64], scores: NDArray[np.float64], total: int) -> None:
        self.view, self.units, self.scores, self.total = view, units, scores, total

    @classmethod
    def empty(cls, view: View) -> HitList:
        return cls(view, np.zeros(0, np.int64), np.zeros(0, np.float64), 0)

    @cached_property
    def _place(self) -> dict[int, int]:
        return {unit: index for index, unit in enumerate(self.units.tolist())}

    def __len__(self) -> int:
        return len(self.units)

    def __contains__(self, unit: int) -> bool:
        return unit in self._place

    def __iter__(self) -> Iterator[Hit]:
        for index, (unit, score) in enumerate(zip(self.units.tolist(), self.scores.tolist(), strict=True)):
            yield Hit(unit, index + 1, score, self.view)

    def get(self, unit: int) -> Hit | None:
        """The hit of a unit; None if the view did not find it."""
        index = self._place.get(unit)
        return None if index is None else Hit(unit, index + 1, float(self.scores[index]), self.view)

    def score(self, unit: int) -> float:
        """The score of a unit, 0 if the view did not find it."""
        index = self._place.get(unit)
        return 0.0 if index is None else float(self.scores[index])

    @property
    def best(self) -> float:
        """The largest score; -1 without hits."""
        return float(self.scores[0]) if len(self.scores) else -1.0

    def head(self, limit: int) -> HitList:
        """The first `limit` hits, with the same total."""
        return HitList(self.view, self.units[:limit], self.scores[:limit], self.total)


#: Up to this many units all are scored completely; with more, tokens are compared only for possible best ones.
FEW_UNITS = 100_000
#: Tokens are compared first for this multiple of the requested number of units.
_FIRST = 2
#: Rounding error of a bound on a score.
_ROUNDING = 1e-5


@dataclass(slots=True)
class _Scores:
    """The scores of units for a query, as far as they are computed."""

    text: str
    question: Question
    cosines: NDArray[np.float32]  # [slots of chunks], in [0, 1]
    best: NDArray[np.float32]  # [units] the largest cosine of its chunks; -inf for a unit without a chunk
    values: NDArray[np.float32]  # [units] the score, where it is measured; -inf for a unit without a chunk
    measured: NDArray[np.bool_]  # [units]


class DenseRetriever:
    """Scores a unit by its closest chunk: the cosine of the vectors and, with a model that has a table of tokens, the
    share of the query's tokens that the chunk covers (`index.shards.tokens`)."""

    def __init__(
        self, index: DenseIndex, encoder: TextEncoder, tokens: TokenTable | None, bags: TokenBags | None, n_units: int
    ) -> None:
        self.index, self.encoder, self.bags, self.n_units = index, encoder, bags, n_units
        self._find = tokens.find if tokens else None
        #: The last query's scores: multiview asks for them again.
        self._last: _Scores | None = None

    def scores(self, query: TextQuery, units: NDArray[np.int64]) -> NDArray[np.float32]:
        """The score of each of the units, in [0, 1]: [len(units)]."""
        state = self._scores_of(query)
        self._measure(state, units)
        return np.maximum(state.values[units], 0)

    def like(self, code: str) -> NDArray[np.float32]:
        """The similarity of each unit's closest chunk to a piece of code: [units], in [0, 1]."""
        cosines = self.index.cosines(self.encoder.encode_text(code, self._find, is_code=True))
        return self.index.best(np.clip(cosines, 0, 1))

    def of_files(self, query: TextQuery, unit_file: NDArray[np.int32], n_files: int) -> NDArray[np.float32]:
        """Similarity of each whole file: the sum of its chunks' cosines over the square root of their number, [files].

        Args:
            unit_file: [units] the file of each unit.
        """
        return self.index.of_files(self._scores_of(query).cosines, unit_file, n_files)

    def parts(self, query: TextQuery, unit: int) -> tuple[float, float, float]:
        """(cosine, coverage, weight), the parts of a unit's score: the cosine and the token coverage of its best chunk;
        and the weight of the coverage relative to the cosine (0 if tokens are not used).
        """
        state, late = self._scores_of(query), self.late
        own = self.index.slots(unit)
        cosines, covered = state.cosines[own], self._coverage(state.question, own)
        best = int(np.argmax(cosines + np.float32(late) * covered))
        return float(cosines[best]), float(covered[best]), late

    @property
    def late(self) -> float:
        """Weight of the token coverage relative to the cosine; 0 if tokens are not used."""
        return self.encoder.late if self.bags is not None and isinstance(self.encoder, Encoder) else 0.0

    def search(self, query: TextQuery, limit: int, allowed: NDArray[np.bool_] | None) -> HitList:
        """The `limit` best of the units in the mask `allowed` ([units]; None: of all), the best first."""
        state = self._scores_of(query)
        if not state.question.vector.any():  # no known token: nothing is near it
            return HitList.empty("dense")
        values = self._head(state, limit, allowed)
        units = largest(values, limit)
        total = self.n_units if allowed is None else int(allowed.sum())
        return HitList("dense", units, values[units].astype(np.float64), total)

    def _head(self, state: _Scores, limit: int, allowed: NDArray[np.bool_] | None) -> NDArray[np.float32]:
        """The scores of all units that can be among the `limit` best allowed units; -inf for other units: [units]."""

        def only(values: NDArray[np.float32], units: NDArray[np.bool_]) -> NDArray[np.float32]:
            return np.where(units, values, np.float32(-np.inf))

        if not state.measured.all():
            bounds = state.best if allowed is None else only(state.best, allowed)
            first = largest(bounds, _FIRST * limit)
            self._measure(state, first)
            if len(first) == _FIRST * limit > 0:
                # Skip units that could not reach the limit even with full token coverage.
                minimum = np.partition(state.values[first], len(first) - limit)[len(first) - limit]
                could = bounds >= minimum * (1 + self.late) - self.late - _ROUNDING
                self._measure(state, np.flatnonzero(could))
            values = only(state.values, state.measured)
        else:
            values = state.values
        return values if allowed is None else only(values, allowed)

    def _scores_of(self, query: TextQuery) -> _Scores:
        """The scores of a query, as far as they are computed; in a small index all scores."""
        if self._last is None or self._last.text != query.text:
            question = self._question(query.text)
            cosines = np.clip(self.index.cosines(question.vector), 0, 1)
            best = self.index.best(cosines)
            state = _Scores(query.text, question, cosines, best, best, np.ones(len(best), np.bool_))
            if self.bags is not None and self.late and len(best) <= FEW_UNITS:
                covered = self.bags.coverage(question.ids, question.weights)
                state.values = self.index.best(self._with_tokens(cosines, covered))
            elif self.late:
                state.values, state.measured = best.copy(), ~np.isfinite(best)
            self._last = state
        return self._last

    def _measure(self, state: _Scores, units: NDArray[np.int64]) -> None:
        """Compute the scores of `units`, unless they are known."""
        pending = np.zeros(len(state.measured), np.bool_)
        pending[units] = True
        pending &= ~state.measured
        if not pending.any():
            return
        slots = self.index.slots_of(pending)
        covered = self._coverage(state.question, slots)
        scores = self.index.best_of(slots, self._with_tokens(state.cosines[slots], covered))
        state.values[pending] = scores[pending]
        state.measured |= pending

    def _with_tokens(self, cosines: NDArray[np.float32], covered: NDArray[np.float32]) -> NDArray[np.float32]:
        """The scores of chunks from their cosines and token coverage: [n]."""
        values = cosines + np.float32(self.late) * covered
        values /= np.float32(1) + np.float32(self.late)
        return np.asarray(values, np.float32)

    def _coverage(self, question: Question, slots: NDArray[np.int64]) -> NDArray[np.float32]:
        """The share of a question's tokens that each chunk covers: [n]; 0 if tokens are not used."""
        if self.bags is None or not self.late:
            return np.zeros(len(slots), np.float32)
        return self.bags.coverage_of(question.ids, question.weights, slots)

    def _question(self, text: str) -> Question:
        """The vector of a question, and its tokens if they are used."""
        encoder = self.encoder
        if self.bags is None or not isinstance(encoder, Encoder):
            vector = encoder.encode_text(text, self._find)
            return Question(vector, np.zeros(0, np.int64), np.zeros(0, np.float32))
        return encoder.question(text, self._find)


def largest(values: NDArray[np.float32], limit: int, above: float = -np.inf) -> NDArray[np.int64]:
    """Positions of the `limit` largest values above a bound, best first; ties by position."""
    order = np.flatnonzero(values > above)
    if len(order) > limit:
        own = values[order]
        # Everything at least as large as the limit-th, so that ties are cut by position and not by chance.
        order = order[own >= np.partition(own, len(own) - limit)[len(own) - limit]] if limit > 0 else order[:0]
    return order[np.argsort(-values[order], kind="stable")][:limit]


class LexicalRetriever:
    """BM25 over content, names and paths."""

    def __init__(self, index: LexicalIndex) -> None:
        self.index = index
        #: The last query's scores: multiview asks for them again.
        self._last: tuple[tuple[tuple[str, float], ...], dict[str, NDArray[np.float32]]] | None = None

    def known(self, query: TextQuery) -> list[tuple[Term, float]]:
        """(term, weight) of the query's terms that the index has."""
        terms = map(self.index.term, (text for text, _ in query.terms))
        return [(term, weight) for term, (_, weight) in zip(terms, query.terms, strict=True) if term is not None]

    def field_scores(self, query: TextQuery) -> dict[str, NDArray[np.float32]]:
        """Maps each field to every unit's BM25 score (by its best chunk, or its file): [units], read-only."""
        last = self._last
        if last is not None and last[0] == query.terms:
            return last[1]
        terms = self.known(query)
        index = self.index
        content = np.zeros(len(index.unit_file), np.float32)
        chunks = index.scores("content", terms)
        hits = np.flatnonzero(chunks)
        np.maximum.at(content, index.chunk_unit[hits], chunks[hits])
        scores = {
            "content": content,
            "names": index.scores("names", terms),
            "paths": index.scores("paths", terms)[index.unit_file],
            "files": index.scores("files", terms)[index.unit_file],
        }
        for values in scores.values():
            values.setflags(write=False)
        self._last = (query.terms, scores)
        return scores

    def coverage(self, query: TextQuery, units: NDArray[np.int64]) -> NDArray[np.float64]:
        """The weighted share of the query's terms that each unit has in its text or name, in [0, 1]: [len(units)].
        Terms that no unit has do not count."""
        index, weighted = self.index, self.known(query)
        terms, weights = tuple(term for term, _ in weighted), np.array([weight for _, weight in weighted])
        position = np.full(len(index.unit_file), -1, np.int64)
        position[units] = np.arange(len(units))
        holds, somewhere = np.zeros((len(terms), len(units)), np.bool_), np.zeros(len(terms), np.bool_)
        for field in ("content", "names"):
            rows, _, numbers = index.postings(field, terms)
            somewhere |= index.having(field, terms, numbers) > 0
            at = position[index.chunk_unit[rows] if field == "content" else rows]
            holds[numbers[at >= 0], at[at >= 0]] = True
        weights = np.where(somewhere, weights, 0.0)
        # Rounded, as the terms' order of addition is the machine's.
        return np.asarray(np.round(weights @ holds / max(weights.sum(), 1e-9), 9))

    def parts(self, query: TextQuery, units: Sequence[int]) -> dict[str, list[dict[str, float]]]:
        """Maps each field to a dict per unit, from each query term to what the term adds to the unit's field score."""
        index = self.index
        terms = [(text, term, weight) for text, weight in query.terms if (term := index.term(text)) is not None]
        content = index.scores("content", [(term, weight) for _, term, weight in terms])
        files = [int(index.unit_file[unit]) for unit in units]
        owned = [np.flatnonzero(index.chunk_unit == unit) for unit in units]
        best = [int(chunks[np.argmax(content[chunks])]) if len(chunks) else -1 for chunks in owned]
        rows = {"content": best, "names": units, "paths": files, "files": files}
        result: dict[str, list[dict[str, float]]] = {field: [{} for _ in units] for field in rows}
        for text, term, weight in terms:
            for field, places in rows.items():
                scores = index.scores(field, [(term, weight)])
                for worth, row in zip(result[field], places, strict=True):
                    if row >= 0 and scores[row]:
                        worth[text] = float(scores[row])
        return result

    def scores(self, query: TextQuery) -> NDArray[np.float32]:
        """The view's score of every unit, a sum over the fields: [units]."""
        fields = self.field_scores(query)
        total = np.zeros(len(fields["content"]), np.float32)
        for name, weight in BM25_FIELDS.items():
            total += np.float32(weight) * fields[name]
        own = (fields["content"] > 0) | (fields["names"] > 0)
        # A file's words lift its units, but a unit that has none of the words is no hit.
        total[~own] = 0
        return total

    def best(self, query: TextQuery) -> float:
        """The largest score of all units."""
        return float(self.scores(query).max(initial=0.0))

    def search(self, query: TextQuery, limit: int, allowed: NDArray[np.bool_] | None) -> HitList:
        scores = self.scores(query)
        if allowed is not None:
            scores = np.where(allowed, scores, np.float32(0))
        units = largest(scores, limit, above=0)
        return HitList("bm25", units, scores[units].astype(np.float64), int((scores > 0).sum()))


class SymbolicRetriever:
    """Finds units whose symbol has a name that the query spells out, in one word or several."""

    def __init__(self, index: SymbolicIndex) -> None:
        self.index = index

    def names(self, query: TextQuery) -> dict[str, float]:
        """Maps the spellings to look up to their match quality: 1 for a single word, less for joined words."""
        words = [word for word in query.words if len(word) > 1]
        identifiers = set(query.identifiers)
        spellings = {joined_spelling(word): 1.0 if word in identifiers or len(words) == 1 else 0.6 for word in words}
        for size in (2, 3):
            for start in range(len(words) - size + 1):
                spellings.setdefault(joined_spelling("".join(words[start : start + size])), 0.9)
        return spellings

    def search(self, query: TextQuery, limit: int, allowed: NDArray[np.bool_] | None) -> HitList:
        spelled = self.names(query)
        if not spelled:
            return HitList.empty("symbolic")
        rows = self.index.with_joined_names(list(spelled))
        words = set(query.words)
        best: dict[int, float] = {}
        for row in rows:
            unit = int(row["unit"])
            if allowed is None or allowed[unit]:
                exact = spelled[row["joined"]] * (1.0 if row["name"].rpartition(".")[2] in words else 0.5)
                best[unit] = max(best.get(unit, 0.0), exact)
        order = sorted(best, key=lambda unit: (-best[unit], unit))
        scores = np.array([best[unit] for unit in order[:limit]], np.float64)
        return HitList("symbolic", np.array(order[:limit], np.int64), scores, len(best))


#: A view: returns the best units among the allowed ones, best first.
Retriever = DenseRetriever | LexicalRetriever | SymbolicRetriever
