"""Adapts the text of a query before it is searched.

Only its text is relaxed: the words of a phrase that occurs nowhere need not be adjacent, and a lone unknown word is
replaced by the closest name. A filter is never relaxed, since a result that it excludes is no answer.

A word that carries no information in the repository is left out: the repository's own name, taken from its folder, its
top folders and its manifests. In "how does terraform decide that a resource must be replaced", `terraform` does not ask
for `terraform.go`. Such a word is left out if most files have it and the query has others.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from lci_py.index.shards.symbol_queries import packages_of
from lci_py.search.modes.candidates import Choice
from lci_py.search.query.text import TextQuery, read_text
from lci_py.source.text.name_parts import SHORTEST, distance, most_edits
from lci_py.source.text.words import STOPWORDS, WORD, joined_spelling, parts, stem
from lci_py.types.record import NamedTuple, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lci_py.search.modes.candidates import Chosen
    from lci_py.search.query.plan import Plan
    from lci_py.search.ranking.fusion import Outcome
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Filters

#: Names that one word may mean.
_MOST_NEAR = 3
#: The note in an answer about a phrase without a word, such as "=>".
_NO_WORD = "no view of multiview ranks a text without a word: the mode bm25 lists the places that have it"


class Attempt(NamedTuple):
    """One search for a query, perhaps with a changed text.

    Attributes:
        query: The text to search for.
        choice: The requirements on a candidate.
        relaxed: Messages that say which requirements of the query were dropped.
    """

    query: TextQuery
    choice: Choice
    relaxed: tuple[str, ...] = ()


class LookUps:
    """Makes the index look-ups that the functions of this module need."""

    def __init__(self, snapshot: Snapshot, choose: Callable[[Choice], Chosen]) -> None:
        """Takes `choose`, which returns the units that meet the requirements of a `Choice`."""
        self._snapshot, self._choose = snapshot, choose
        self.settle = snapshot.whole.settle

    def holds(self, choice: Choice) -> bool:
        """Whether any unit meets the requirements of `choice`."""
        mask = self._choose(choice).mask
        return mask is None or bool(self._snapshot.whole.total(("held", choice), bool(mask.any())))

    def lacks(self, stems: Sequence[str]) -> bool:
        """Whether the index has none of the terms `stems`."""
        return not any(self._snapshot.lexical.term(text) for text in stems)

    def near_misses(self, word: str) -> Sequence[str]:
        """Names in the index that a mistyped word may mean."""
        from lci_py.index.shards.symbol_queries import alike_by_ratio

        own = tuple(alike_by_ratio(self._snapshot.symbols, word)[:_MOST_NEAR])
        names = sorted(self._snapshot.whole.joined(("like", word), own))
        return list(dict.fromkeys(name for _, name in names))[:_MOST_NEAR]


class AttemptResult(NamedTuple):
    """An attempt that was made, with its plan and its outcome."""

    attempt: Attempt
    plan: Plan
    outcome: Outcome


def first(index: LookUps, query: TextQuery, filters: Filters, *, strict: bool) -> Attempt:
    """The first attempt, with the filters and with all phrases literally. If nothing matches these and the query is not
    `strict`, fewer phrases are required. A lone unknown word is replaced by the name that differs by a letter or two.
    """
    if not strict and (name := corrected_name(index, query)):
        said = f"no {query.words[0]!r}; showing {name}"
        return Attempt(read_text(name), Choice(filters), (*query.relaxed, said))
    attempt = Attempt(query, Choice(filters, query.phrases), query.relaxed)
    if strict or not query.phrases:
        return attempt
    if not index.holds(attempt.choice) and index.holds(Choice(filters)):
        attempt = _without_phrases(index, query, filters)
    index.settle()
    return attempt


def corrected_name(index: LookUps, query: TextQuery) -> str:
    """The name that a query of one unknown word probably means: the only one at the smallest edit distance; else ""."""
    if query.long or len(query.words) != 1:
        return ""
    typed = joined_spelling(query.words[0])
    if len(typed) < SHORTEST:
        return ""
    lacking = index.lacks((typed, stem(typed)))
    index.settle()
    if not lacking:
        return ""
    edits = {name: distance(typed, joined_spelling(name), most_edits(typed)) for name in index.near_misses(typed)}
    index.settle()
    near = {name: edit for name, edit in edits.items() if edit is not None}
    nearest = [name for name, edit in near.items() if edit == min(near.values())]
    return nearest[0] if len({joined_spelling(name) for name in nearest}) == 1 else ""


def final_plan(index: LookUps, tried: AttemptResult, *, filtered: bool) -> Plan:
    """The plan of an attempt, completed with the retrieval step that answered and what was relaxed for it."""
    attempt, plan, outcome = tried
    failed = outcome.failed
    if not outcome.anything:
        unranked = attempt.query.phrases and not failed and index.holds(attempt.choice)
        said = (*attempt.relaxed, *((_NO_WORD,) if unranked else ()))
        return replace(plan, rung="degraded" if failed else None, relaxed=said)
    if outcome.by_words:
        rung = "relaxed_lexical" if attempt.relaxed != attempt.query.relaxed else plan.ladder[0]
        return replace(plan, rung=rung, relaxed=attempt.relaxed)
    said = attempt.relaxed
    if "bm25" not in failed:
        where = "what passes the filters" if filtered else "the index"
        said = (*said, f"no word of the query is in {where}: ranked by meaning alone")
    return replace(plan, rung="dense_only", relaxed=said)


def _without_phrases(index: LookUps, query: TextQuery, filters: Filters) -> Attempt:
    """Relax phrases: one that occurs nowhere becomes words; of several that never occur together, any is enough."""
    phrases = tuple(dict.fromkeys(query.phrases))
    present = tuple(phrase for phrase in phrases if index.holds(Choice(filters, (phrase,))))
    where = "what passes the filters" if filters else "the repository"
    said = tuple(
        f'"{phrase}" does not occur in {where}: its words are searched for one by one'
        for phrase in phrases
        if phrase not in present
    )
    together = Choice(filters, present)
    if len(present) < 2 or index.holds(together):
        return Attempt(replace(query, phrases=present), together, said)
    names = ", ".join(f'"{phrase}"' for phrase in present)
    said = (*said, f"{names} never occur together: results with one of them are shown")
    return Attempt(replace(query, phrases=present), together._replace(either=True), said)


# --- the repository's own name ------------------------------------------------------------------------------------

#: Minimum share of files with such a word, and minimum number of other words in the query.
_MOST_FILES, _OTHER_WORDS = 0.5, 2
#: Folders in which packages have a folder each; "" for the root.
_HOLDERS = ("", "packages/", "crates/", "src/", "lib/", "libs/", "modules/", "internal/")
#: Letters that a name has at least.
_LETTERS = 3


def without_own_names(snapshot: Snapshot, query: TextQuery) -> TextQuery:
    """The query for ranking, without the repository's own name; unchanged in a fleet (of several repositories).

    Raises:
        IndexError_: The lexical shard cannot be used.
    """
    if query.long or query.phrases or not snapshot.whole.alone:
        return query
    return _without(snapshot, query)


def _without(snapshot: Snapshot, query: TextQuery) -> TextQuery:
    said = [word for word in query.words if word.lower() not in STOPWORDS and word not in query.identifiers]
    if len(said) <= _OTHER_WORDS:
        return query
    names, paths = _names(snapshot), snapshot.files.living_paths()
    own = {
        word
        for word in said
        if len(word) >= _LETTERS
        and (word.lower() in names or _holds_most(paths, word.lower()))
        and _is_common(snapshot, word)
    }
    if not own or len(set(said) - own) < _OTHER_WORDS:
        return query
    rest = read_text(WORD.sub(lambda match: " " if match[0] in own else match[0], query.text))
    return replace(query, text=rest.text, words=rest.words, terms=rest.terms)


def _names(snapshot: Snapshot) -> frozenset[str]:
    """The words in the names of the root folder and of the packages that its manifests declare, in lower case."""
    packages = packages_of(snapshot.symbols, ("go.mod", "package.json", "Cargo.toml"))
    texts = [snapshot.root.name, *(package.rpartition("/")[2] for package in packages)]
    return frozenset(word.lower() for text in texts for word in WORD.findall(text))


def _holds_most(paths: Sequence[str], word: str) -> bool:
    """Whether most files lie in a folder named `word`, at the top level or at the top of `src` and the like."""
    count = 0
    for holder in _HOLDERS:
        first = bisect_left(paths, f"{holder}{word}/")
        count = max(count, bisect_left(paths, f"{holder}{word}0") - first)
    return count > _MOST_FILES * len(paths)


def _is_common(snapshot: Snapshot, word: str) -> bool:
    """Whether most files contain a word."""
    index = snapshot.lexical
    terms = [index.term(stem(part)) for part in parts(word)]
    rarest = min((len(index.rows("files", term)) if term is not None else 0 for term in terms), default=0)
    return rarest > _MOST_FILES * index.size("files")
