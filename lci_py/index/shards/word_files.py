"""Finds the files that may contain a text, by the postings of the lexical shard.

A text may be a part of a longer word, and terms are stemmed words. So the bytes of the vocabulary are searched for
terms that contain the text. The module works without numpy, whose import takes longer than the search.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.arrays import Arrays, Offsets
from lci_py.source.text.words import MAX_WORD, joined_spelling, stem
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from lci_py.index.shards.numbering import Numbering

#: Runs of ASCII in which words are sought; a character beyond ASCII may belong to the word as well.
_RUN = re.compile("[A-Za-z0-9_]+")
#: Endings that `stem` takes off, apart from a doubled letter before -ing and -ed. `stem` also makes -y of -ies.
_ENDINGS = tuple(e + v + s for e in ("", "e", "ee") for v in ("", "ing", "ed") for s in ("", "s", "es"))
#: What can follow a doubled letter.
_AFTER_DOUBLED = tuple(ending for ending in _ENDINGS if ending.startswith(("ing", "ed")))
_LONGEST_ENDING = max(map(len, _ENDINGS)) + 1
#: Bytes from which on a term may be the beginning of a longer word, whose rest is not in the index.
_CUT = MAX_WORD - _LONGEST_ENDING
#: Maximum number of vocabulary matches, and of postings, read for one word. A text with more of them is in so many
#: files that reading these is faster.
_MOST_PLACES, _MOST_POSTINGS = 20_000, 50_000
#: A letter that equals "s" ignoring case, but is unchanged by lower-casing.
_LONG_S = "\u017f".encode()


class Part(NamedTuple):
    """A word of a text, in lower case."""

    text: str
    whole: bool  # not a part of a longer word


def words_in(text: str, *, whole: bool = False) -> list[Part]:
    """The words that a file must contain to contain a text, perhaps as parts of longer words.

    Args:
        whole: Whether the text begins and ends at word boundaries.
    """
    parts = []
    for match in _RUN.finditer(text):
        before, after = text[: match.start()][-1:], text[match.end() :][:1]
        apart = all(side.isascii() if side else whole for side in (before, after))
        if word := match.group().replace("_", "").lower():
            parts.append(Part(word, apart and len(match.group()) < _CUT))
    return parts


class WordFiles:
    """Reads the terms in the lexical shards of all segments."""

    def __init__(self, paths: Sequence[Path], numbering: Numbering) -> None:
        """Open the lexical shard of each segment."""
        self._numbering = numbering
        self._segments = [_Vocabulary(path) for path in paths]

    def having(self, clauses: Iterable[Sequence[Sequence[Part]]], *, folds: bool) -> set[int] | None:
        """The public numbers of the files that may contain a text of every clause; None if no file can be excluded.

        Args:
            clauses: For each clause its alternative texts, as words from `words_in`.
            folds: Whether case is ignored.
        """
        usable = [clause for clause in clauses if clause and all(clause)]
        if not usable:
            return None
        files: set[int] = set()
        for number, segment in enumerate(self._segments):
            own = segment.having(usable)
            if own is None:
                return None
            own |= segment.uncertain(folds=folds)
            files |= self._public(number, own)
        return files

    def _public(self, segment: int, files: set[int]) -> set[int]:
        n_files = self._numbering.counts[segment]["files"]
        if files and not 0 <= min(files) <= max(files) < n_files:
            raise DamagedIndexError("the lexical shard names files that do not exist")
        public = self._numbering.public("files", segment)
        return files if public is None else {public[file] for file in files if public[file] >= 0}


class _Vocabulary:
    """The terms of one segment, and the files that have them, in the segment's numbers."""

    def __init__(self, path: Path) -> None:
        self._arrays = arrays = Arrays(path)
        self._blob = bytes(arrays.view("terms", "u1"))
        self._rows = arrays.view("content_rows", "u1", "u2", "i4")
        self._offsets = Offsets(arrays, "terms", len(self._blob))
        self._postings = Offsets(arrays, "content", len(self._rows))
        if len(self._postings) != len(self._offsets):
            raise self._damaged_error()

    def having(self, clauses: Iterable[Sequence[Sequence[Part]]]) -> set[int] | None:
        """The files that meet all clauses; None if no clause excludes any file."""
        result: set[int] | None = None
        for clause in clauses:
            files: set[int] | None = set()
            for words in clause:
                own = self._files_with(words)
                files = None if files is None or own is None else files | own
            if files is not None:
                result = files if result is None else result & files
        return result

    def uncertain(self, *, folds: bool) -> set[int]:
        """Files with words that the index does not hold exactly: overlong words, or letters with two capitals."""
        return self._files([*self._long(), *(self._terms_containing(_LONG_S) or () if folds else ())])

    def _files_with(self, words: Sequence[Part]) -> set[int] | None:
        result: set[int] | None = None
        for word in words:
            terms = self._whole_word_terms(word.text) if word.whole else self._containing(word.text)
            if terms is None or self._count(terms) > _MOST_POSTINGS:
                continue
            files = self._files(terms)
            result = files if result is None else result & files
        return result

    def _whole_word_terms(self, word: str) -> list[int]:
        """The numbers of the terms that a whole word has: joined spelling and stem."""
        terms = []
        for target in (joined_spelling(word).encode(), stem(word).encode()):
            index = self._offsets.place(target, self._bytes_between)
            if index < len(self._offsets) and self._term(index) == target:
                terms.append(index)
        return terms

    def _containing(self, word: str) -> list[int] | None:
        """The numbers of the terms of all words that contain a text; None if there may be too many."""
        ends = _ends(word)
        if ends is None:
            return None
        terms = self._terms_containing(_common_start(word, ends).encode())
        if terms is None:
            return None
        needle, tails = word.encode(), tuple(end.encode() for end in ends)
        return [term for term, text in terms.items() if needle in text or text.endswith(tails)]

    def _terms_containing(self, needle: bytes) -> dict[int, bytes] | None:
        """Maps the number of each term that contains these bytes to the term's text; None if there are too many."""
        if not needle:
            return None
        terms: dict[int, bytes] = {}
        blob, offsets, at = self._blob, self._offsets, self._blob.find(needle)
        while at >= 0:
            term, start, end = offsets.piece_at(at)
            if at + len(needle) <= end:
                terms[term] = blob[start:end]
                if len(terms) > _MOST_PLACES:
                    return None
                at = blob.find(needle, end)
            else:  # it reaches into the next term
                at = blob.find(needle, at + 1)
        return terms

    def _long(self) -> list[int]:
        """The numbers of terms that may be the beginning of an overlong word (which is cut)."""
        return list(self._offsets.longest(_CUT))

    def _term(self, term: int) -> bytes:
        return self._bytes_between(*self._offsets.span(term))

    def _bytes_between(self, start: int, stop: int) -> bytes:
        return self._blob[start:stop]

    def _count(self, terms: Iterable[int]) -> int:
        return sum(stop - start for start, stop in map(self._postings.span, terms))

    def _files(self, terms: Iterable[int]) -> set[int]:
        chunks: set[int] = set()
        for term in terms:
            start, stop = self._postings.span(term)
            chunks.update(self._rows[start:stop])
        if not chunks:
            return set()
        units, files = self._arrays.view("chunk_unit", "i4"), self._arrays.view("unit_file", "i4")
        try:
            return {files[units[chunk]] for chunk in chunks}
        except IndexError:
            raise self._damaged_error() from None

    def _damaged_error(self) -> DamagedIndexError:
        return DamagedIndexError(f"{self._arrays.name}: its terms and their postings do not fit together")


def _common_start(word: str, ends: Sequence[str]) -> str:
    """The longest prefix that a word has in common with each of its possible `_ends`."""
    # An end is a beginning of the word, perhaps with a "y" after it.
    return word[: min((len(end) - (not word.startswith(end)) for end in ends), default=len(word))]


def _ends(word: str) -> list[str] | None:
    """The possible ends of a term if `word` is at the end of a longer word, which stemming shortens. None if nothing of
    `word` may remain.
    """
    if any(word in ending for ending in (*_ENDINGS, "ies")):
        return None
    ends = []
    for cut in range(max(0, len(word) - _LONGEST_ENDING), len(word)):
        rest = word[cut:]
        if "ies".startswith(rest):
            ends.append(word[:cut] + "y")
        doubled = not cut or rest[0] == word[cut - 1]
        if any(ending.startswith(rest) for ending in _ENDINGS) or (
            doubled and any(ending.startswith(rest[1:]) for ending in _AFTER_DOUBLED)
        ):
            ends.append(word[:cut])
    return None if "" in ends else ends
