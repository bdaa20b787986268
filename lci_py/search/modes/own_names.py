"""Finds words that carry no information in a repository: its own name, taken from its folder, its top folders and its
manifests.

In "how does terraform decide that a resource must be replaced", `terraform` does not ask for `terraform.go`. Such a
word counts as a stop word if most files have it and the query has other words.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import partial
from typing import TYPE_CHECKING

from lci_py.index.shards.symbol_queries import packages_of
from lci_py.search.query.text import read_text
from lci_py.source.text.words import STOPWORDS, WORD, parts, stem
from lci_py.types.record import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.search.query.text import TextQuery
    from lci_py.search.snapshot import Snapshot

#: Minimum share of files with such a word, and minimum number of other words in the query.
_MOST, _LEAST = 0.5, 2
#: Folders in which packages have a folder each; "" for the root.
_HOLDERS = ("", "packages/", "crates/", "src/", "lib/", "libs/", "modules/", "internal/")
#: Letters that a name has at least.
_LETTERS = 3


def without_own_names(snapshot: Snapshot, query: TextQuery) -> TextQuery:
    """The query for ranking, without the repository's own name; unchanged in a fleet, whose parts have different names.

    Raises:
        IndexError_: The lexical shard cannot be used.
    """
    if query.long or query.phrases or not snapshot.whole.alone:
        return query
    return snapshot.read_words(partial(_without, snapshot, query), query)


def _without(snapshot: Snapshot, query: TextQuery) -> TextQuery:
    said = [word for word in query.words if word.lower() not in STOPWORDS and word not in query.identifiers]
    if len(said) <= _LEAST:
        return query
    names, paths = _names(snapshot), snapshot.files.living_paths()
    own = {
        word
        for word in said
        if len(word) >= _LETTERS
        and (word.lower() in names or _holds_most(paths, word.lower()))
        and _is_common(snapshot, word)
    }
    if not own or len(set(said) - own) < _LEAST:
        return query
    rest = read_text(WORD.sub(lambda match: " " if match[0] in own else match[0], query.text))
    return replace(query, text=rest.text, words=rest.words, terms=rest.terms)


def _names(snapshot: Snapshot) -> frozenset[str]:
    """The parts of the names of the root folder and of the packages that its manifests declare."""
    packages = packages_of(snapshot.symbols, ("go.mod", "package.json", "Cargo.toml"))
    texts = [snapshot.root.name, *(package.rpartition("/")[2] for package in packages)]
    return frozenset(word.lower() for text in texts for word in WORD.findall(text))


def _holds_most(paths: Sequence[str], word: str) -> bool:
    """Whether most files lie in a folder of this name at the top, or at the top of the folder of packages."""
    found = 0
    for holder in _HOLDERS:
        first = bisect_left(paths, f"{holder}{word}/")
        found = max(found, bisect_left(paths, f"{holder}{word}0") - first)
    return found > _MOST * len(paths)


def _is_common(snapshot: Snapshot, word: str) -> bool:
    """Whether most files have a word."""
    index = snapshot.lexical
    terms = [index.term(stem(part)) for part in parts(word)]
    least = min((len(index.rows("files", term)) if term is not None else 0 for term in terms), default=0)
    return least > _MOST * index.size("files")
