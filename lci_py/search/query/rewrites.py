"""Rewrites a query: at most three times, each time adding for one word its other forms that the index has.

A rewrite adds terms of lower weight to the query and removes none. docs/ranking.md has its measured gain.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lci_py.errors import IndexError_
from lci_py.source.text.words import STOPWORDS, WORD, forms, stem
from lci_py.types.record import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lci_py.index.shards.bm25 import LexicalIndex
    from lci_py.search.query.text import TextQuery

#: Rewrites of a query, and words that each adds.
MOST, MOST_FORMS = 3, 2
#: Weight of an added term, as a share of the weight of the word that it stands for.
FORM_WEIGHT = 0.4
#: A form counts if it occurs in a name, or in at least this share of the chunks that hold the word.
LEAST_FORM = 0.1
#: Words of a query that are looked up at all.
MOST_WORDS = 50
#: Terms that begin alike are listed rather than looked up one by one, if they have these letters in common and are few.
_LEAST_PREFIX, _MOST_NEAR = 3, 500


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Other forms of one word of a query.

    Attributes:
        text: The rewrite for display, such as `resolution ~ resolver (morphology)`.
        terms: The terms to add, which the index has, with their weights.
    """

    text: str
    terms: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Wording:
    """The other forms of a query's words that an index has, and the words that it lacks.

    Attributes:
        rewrites: Other forms of words, at most `MOST` rewrites.
        lacking: Stems of the query's words that the index does not have, in the order of the text.
    """

    rewrites: tuple[Rewrite, ...] = ()
    lacking: tuple[str, ...] = ()


#: Of a query of which nothing is known.
NO_WORDING = Wording()


def look_up(query: TextQuery, lexical: Callable[[], LexicalIndex]) -> Wording:
    """The wording of a query in an open index; empty if the lexical shard cannot be used, which its view reports."""
    try:
        return wording(query, lexical())
    except IndexError_:
        return NO_WORDING


def wording(query: TextQuery, index: LexicalIndex) -> Wording:
    """Look up the words of a query. Words written as a name or in quotes are taken literally and have no rewrite.

    Raises:
        DamagedIndexError: The shard is damaged.
    """
    own = dict(query.terms)
    vocab = _Vocabulary(index)
    words = _prose(query)
    if len(words) > MOST_WORDS:
        return NO_WORDING  # a pasted text says enough
    stems = [term for term in dict.fromkeys(map(stem, words)) if term in own]
    rewrites: list[Rewrite] = []
    # The rarest first, since there another form finds the most.
    for term in sorted(stems, key=vocab.content):
        if len(rewrites) == MOST:
            break
        rewrite = _rewrite(term, own, vocab)
        if rewrite is not None:
            rewrites.append(rewrite)
    return Wording(tuple(rewrites), tuple(term for term in stems if not vocab.content(term)))


def rewritten(query: TextQuery, rewrites: Sequence[Rewrite]) -> TextQuery:
    """The query with the terms that the rewrites add; terms that the query has already keep their weights."""
    if not rewrites:
        return query
    own = dict(query.terms)
    terms = dict(own)
    for rewrite in rewrites:
        for term, weight in rewrite.terms:
            terms.setdefault(term, weight)
    forms = tuple(term for term in terms if term not in own)
    return replace(query, terms=tuple(terms.items()), forms=forms)


class _Vocabulary:
    """Counts the chunks and definitions that contain a term of an index, without deleted chunks."""

    def __init__(self, index: LexicalIndex) -> None:
        self._index = index
        self._known: dict[tuple[str, str], int] = {}

    def have(self, terms: Sequence[str]) -> list[str]:
        """The items of `terms` that the index has, in order. Terms with a common prefix are looked up together."""
        first, last = min(terms, default=""), max(terms, default="")
        same = next((i for i, letter in enumerate(first) if last[i : i + 1] != letter), len(first))
        near = self._index.starting(first[:same], _MOST_NEAR) if same >= _LEAST_PREFIX else None
        if near is None:
            return [term for term in terms if self._index.term(term) is not None]
        return [term for term in terms if term in near]

    def content(self, term: str) -> int:
        return self._of("content", term)

    def names(self, term: str) -> int:
        return self._of("names", term)

    def _of(self, field: str, term: str) -> int:
        frequency = self._known.get((field, term))
        if frequency is None:
            number = self._index.term(term)
            frequency = self._known[field, term] = 0 if number is None else self._index.frequency(field, number)
        return frequency

    @property
    def size(self) -> int:
        """The number of chunks in the index."""
        return self._index.size("content")

    def informs(self, term: str) -> float:
        """The inverse document frequency of a term (as in BM25): the rarer the term, the more it tells."""
        rows, count = self.size, self.content(term)
        return math.log(1.0 + (rows - count + 0.5) / (count + 0.5))


def _prose(query: TextQuery) -> list[str]:
    """The query's words that are no stop words, names or quoted words, in lower case and in the order of the text."""
    literal = {*query.identifiers, *(word for phrase in query.phrases for word in WORD.findall(phrase))}
    return [word.lower() for word in query.words if word not in literal and word.lower() not in STOPWORDS]


def _rewrite(term: str, own: dict[str, float], vocab: _Vocabulary) -> Rewrite | None:
    others = _forms(term, own, vocab)
    terms: dict[str, float] = {}
    for form in others:
        # A form that is rarer than the word asked for must not count more than it for that.
        ratio = vocab.informs(term) / vocab.informs(form) if vocab.content(term) else 1.0
        terms[form] = round(own[term] * FORM_WEIGHT * min(1.0, ratio), 6)
    return Rewrite(f"{term} ~ {', '.join(others)} (morphology)", tuple(terms.items())) if others else None


def _forms(term: str, own: dict[str, float], vocab: _Vocabulary) -> list[str]:
    """Other forms of the term that the index has, the forms that occur in the most names first."""
    minimum = max(1.0, LEAST_FORM * vocab.content(term))
    matching = [
        form
        for form in vocab.have(forms(term))
        if form not in own and (vocab.content(form) >= minimum or vocab.names(form))
    ]
    return sorted(matching, key=lambda form: (-vocab.names(form), -vocab.content(form), form))[:MOST_FORMS]
