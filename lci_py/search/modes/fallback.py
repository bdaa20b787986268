"""The steps of a multiview retrieval: what is tried when a query finds nothing, and which step answered.

A query is retried once, and only its text gives way: a phrase that stands nowhere need not stand together, a word that
nothing has becomes the name that it is nearly. A filter never gives way: a result that breaks one is no answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from lci_py.search.modes import candidates
from lci_py.search.query.text import TextQuery, read_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from lci_py.search.query.plan import Plan
    from lci_py.search.ranking.fusion import Outcome
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Filters

#: How much of a word and a name must agree for the name to be searched for instead, in the measure of `difflib`.
_NEAR = 0.8
#: Words that are looked at for a near name, and letters that one has at least.
_MOST_WORDS, _SHORTEST = 8, 4
#: What an answer says of a phrase without a word, such as "=>".
_NO_WORD = "no view of multiview ranks a text without a word: `--mode bm25` lists the places that have it"


class Attempt(NamedTuple):
    """What is searched for in one go.

    Attributes:
        query: The text.
        allowed: [units] what can be a result, or what stands for that mask; None for all.
        places: Unit to the line of a phrase in it.
        relaxed: What was given up for it, in words.
    """

    query: TextQuery
    allowed: Any
    places: dict[int, int]
    relaxed: tuple[str, ...] = ()

    @property
    def hopeless(self) -> bool:
        """Nothing passes the filters and has the phrases: no view need be asked."""
        return self.allowed is not None and not self.allowed.any()


class Mask(Protocol):
    """What can be a result; an array [units], or what stands for one."""

    def any(self) -> Any: ...

    def copy(self) -> Any: ...


class Source(Protocol):
    """What the steps ask of an index."""

    def allowed(self, filters: Filters) -> Any:
        """The mask of what passes the filters; None for all."""
        ...

    def with_phrases(self, phrases: tuple[str, ...], allowed: Any) -> tuple[Any, dict[int, int]]:
        """The mask of what holds every phrase as well, None for all; and the line of a phrase in each unit."""
        ...

    def lacks(self, stems: Sequence[str]) -> bool:
        """Whether the index has none of some terms."""
        ...

    def near_misses(self, word: str) -> Sequence[str]:
        """Names that may be meant by a word."""
        ...


class SnapshotSource:
    """The steps on an open index."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def allowed(self, filters: Filters) -> NDArray[np.bool_] | None:
        return candidates.allowed(self._snapshot, filters)

    def with_phrases(
        self, phrases: tuple[str, ...], allowed: NDArray[np.bool_] | None
    ) -> tuple[NDArray[np.bool_] | None, dict[int, int]]:
        return candidates.with_phrases(self._snapshot, phrases, allowed)

    def lacks(self, stems: Sequence[str]) -> bool:
        with self._snapshot.view_locks["bm25"]:
            return not any(self._snapshot.lexical.term(text) for text in stems)

    def near_misses(self, word: str) -> Sequence[str]:
        from lci_py.search.suggest import near_misses

        return near_misses(self._snapshot.symbols, word)


def first(source: Source, query: TextQuery, filters: Filters, *, strict: bool) -> Attempt:
    """What passes the filters, in SQL, and holds all the phrases, letter for letter; if nothing does, and the query is
    not `strict`, fewer of them."""
    allowed = source.allowed(filters)
    found = _with_phrases(source, query, query.phrases, allowed)
    if strict or not query.phrases or not found.hopeless or (allowed is not None and not allowed.any()):
        return found
    return _without_phrases(source, query, allowed, filtered=bool(filters))


def relaxed(source: Source, attempt: Attempt, outcome: Outcome) -> Attempt | None:
    """The one retry of a query that found nothing, None if there is none to try.

    Args:
        source: The index.
        attempt: What found nothing.
        outcome: What the views said.
    """
    if attempt.hopeless or attempt.relaxed != attempt.query.relaxed:
        return None
    failed = {item.view for item in outcome.degraded}
    if failed & {"bm25", "symbolic"} or by_words(outcome):
        return None
    return _near_names(source, attempt)


def settled(plan: Plan, attempt: Attempt, outcome: Outcome, *, filtered: bool) -> Plan:
    """The plan with the step that answered, and what was given up for it."""
    failed = {item.view for item in outcome.degraded}
    if not outcome.total:
        unranked = (_NO_WORD,) if attempt.query.phrases and not attempt.hopeless and not failed else ()
        return replace(plan, rung="degraded" if failed else None, relaxed=(*attempt.relaxed, *unranked))
    if by_words(outcome):
        rung = "relaxed_lexical" if attempt.relaxed != attempt.query.relaxed else plan.ladder[0]
        return replace(plan, rung=rung, relaxed=attempt.relaxed)
    said = attempt.relaxed
    if "bm25" not in failed:
        where = "what passes the filters" if filtered else "the index"
        said = (*said, f"no word of the query is in {where}: ranked by meaning alone")
    return replace(plan, rung="dense_only", relaxed=said)


def by_words(outcome: Outcome) -> bool:
    """Whether a view found a word of the query, or a definition without a unit of its own is named like it."""
    return bool(len(outcome.hits["bm25"]) or len(outcome.hits["symbolic"]) or outcome.symbols)


def _with_phrases(source: Source, query: TextQuery, phrases: tuple[str, ...], allowed: Mask | None) -> Attempt:
    return Attempt(query, *source.with_phrases(phrases, allowed), query.relaxed)


def _without_phrases(source: Source, query: TextQuery, allowed: Mask | None, *, filtered: bool) -> Attempt:
    """Fewer phrases: those that stand nowhere are words again; those that only stand apart are required one by one."""
    phrases = tuple(dict.fromkeys(query.phrases))
    alone = [_with_phrases(source, query, (phrase,), allowed) for phrase in phrases]
    there = [(phrase, found) for phrase, found in zip(phrases, alone, strict=True) if not found.hopeless]
    kept = tuple(phrase for phrase, _ in there)
    where = "what passes the filters" if filtered else "the repository"
    said = tuple(
        f'"{phrase}" stands nowhere in {where}: its words are searched for one by one'
        for phrase in phrases
        if phrase not in kept
    )
    if not kept:
        return Attempt(replace(query, phrases=()), allowed, {}, said)
    together = there[0][1] if len(kept) == 1 else _with_phrases(source, query, kept, allowed)
    if not together.hopeless:
        return together._replace(query=replace(query, phrases=kept), relaxed=said)
    masks = [found.allowed for _, found in there if found.allowed is not None]
    either = masks[0].copy()
    places = dict(there[0][1].places)
    for mask, (_, found) in zip(masks[1:], there[1:], strict=True):
        either |= mask
        for unit, line in found.places.items():
            places[unit] = min(line, places.get(unit, line))
    names = ", ".join(f'"{phrase}"' for phrase in kept)
    said = (*said, f"{names} do not stand in one place: one of them is enough")
    return Attempt(replace(query, phrases=kept), either, places, said)


def _near_names(source: Source, attempt: Attempt) -> Attempt | None:
    """The words, which the index lacks, as the names that they nearly are."""
    from difflib import SequenceMatcher

    from lci_py.source.text.words import STOPWORDS, joined, parts, stem

    unknown = [
        word
        for word in dict.fromkeys(attempt.query.words)
        if len(word) >= _SHORTEST
        and word.lower() not in STOPWORDS
        and source.lacks([stem(part) for part in parts(word)])  # a filter may keep it out
    ]
    instead: dict[str, str] = {}
    for word in unknown[:_MOST_WORDS]:
        for name in source.near_misses(word)[:1]:
            if SequenceMatcher(None, joined(name), joined(word), autojunk=False).ratio() >= _NEAR:
                instead[word] = name
    if not instead:
        return None
    text = " ".join(instead.get(word, word) for word in attempt.query.words)
    said = tuple(f'"{word}" is not in the index: searched for {name} instead' for word, name in instead.items())
    kept = replace(read_text(text), phrases=attempt.query.phrases, relaxed=attempt.query.relaxed)
    return attempt._replace(query=kept, relaxed=(*attempt.relaxed, *said))
