"""Splits the distinct names of a segment (a part of the index) into parts, and finds names that a mistyped or
shortened name may mean.

A segment keeps one compressed text: a line per distinct name, its parts in lower case with spaces between them. A
search looks at all lines at once: the letters of each name, as a set of bits, rule out nearly all of them.
"""

from __future__ import annotations

import re
import zlib
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from lci_py.source.text.words import WORD, parts
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

#: Names of which one segment keeps the parts, and characters of one name.
MOST_NAMES, _MOST_LETTERS = 1_500_000, 80
#: Bytes of their text that are read, and lines that are counted at once, which the processor's cache holds.
_MOST_BYTES, _AT_ONCE = 2 * MOST_NAMES * _MOST_LETTERS, 1 << 13
#: Letters that a mistyped name has at least, and those from which on two edits are looked for.
SHORTEST, _TWO_EDITS = 5, 8
#: Match quality of a query word that equals a name part, is its prefix, or abbreviates it by leaving letters out.
_EQUAL, _BEGINS, _SHORTENS = 1.0, 0.9, 0.8
#: Share of an aligned name's quality lost if the query leaves out all of its parts; less for fewer parts.
_LEFT_OUT = 0.3
#: Names that are compared letter by letter, and names that are returned.
_MOST_COMPARED, _MOST_ALIKE = 60_000, 12
#: Minimum quality of an aligned name, relative to the best one.
_LEAST_SHARE = 0.85

#: The bit of each byte: one for each letter, one for all digits, one for all else; none for what stands between parts.
_BITS = np.full(256, 1 << 27, np.uint32)
_BITS[ord("a") : ord("z") + 1] = np.left_shift(np.uint32(1), np.arange(26, dtype=np.uint32))
_BITS[ord("0") : ord("9") + 1] = 1 << 26
_BITS[[ord(" "), ord("\n")]] = 0


class Alike(NamedTuple):
    """A name that the user may have meant; `worth`, in (0, 1], says how well the name fits."""

    spelling: str  # joined, as `source.text.words.joined` gives it
    worth: float


def pack_names(names: Iterable[str]) -> bytes:
    """The text that stores a segment's names; equal names count once, and overlong names are left out."""
    lines = {" ".join(words) for name in names if len(name) <= _MOST_LETTERS and (words := _parts(name))}
    return zlib.compress("\n".join(sorted(lines)[:MOST_NAMES]).encode("utf-8", "surrogatepass"), 1)


@lru_cache(100_000)
def _parts(name: str) -> tuple[str, ...]:
    return tuple(part for word in WORD.findall(name) for part in parts(word))


class NameParts:
    """The names of a segment as arrays of length n, ready to be compared with a query."""

    def __init__(self, packed: bytes) -> None:
        """Read what `pack_names` has made.

        Raises:
            ValueError: It is damaged.
        """
        try:
            self._text = zlib.decompressobj().decompress(packed, _MOST_BYTES) + b"\n"
        except zlib.error as error:
            raise ValueError(f"not names: {error}") from error
        letters = np.frombuffer(self._text, np.uint8)
        self._ends = ends = np.flatnonzero(letters == ord("\n"))
        self._starts = np.concatenate((np.zeros(1, np.int64), ends[:-1] + 1))
        bits, spaces = [], []
        for first in range(0, len(ends), _AT_ONCE):
            starts = self._starts[first : first + _AT_ONCE]
            some = letters[starts[0] : ends[first : first + _AT_ONCE][-1] + 1]
            bits.append(np.bitwise_or.reduceat(_BITS.take(some), starts - starts[0]))
            spaces.append(np.add.reduceat((some == ord(" ")).view(np.uint8), starts - starts[0]))
        self._bits = np.concatenate(bits)
        self._spaces = np.concatenate(spaces).astype(np.int32)
        self._sizes = (ends - self._starts).astype(np.int32) - self._spaces

    def nearest_names(self, word: str) -> list[tuple[str, int]]:
        """(name, number of edits) of each name one or two edits away from a word; names are joined spellings.

        Args:
            word: In lower case without underscores. A word shorter than `SHORTEST` has no near names.
        """
        limit = most_edits(word)
        if len(word) < SHORTEST:
            return []
        # Each edit changes at most two letters of the set: one goes, another comes.
        size = len(word.encode("utf-8", "replace"))
        other: NDArray[np.uint32] = np.bitwise_xor(self._bits, np.uint32(_bits(word)))
        near = (_count(other) <= 2 * limit) & (np.abs(self._sizes - size) <= limit)
        names = []
        for line in self._lines(near):
            name = line.replace(" ", "")
            if (edits := distance(word, name, limit)) is not None:
                names.append((name, edits))
        return names

    def abbreviated_names(self, words: Sequence[str]) -> list[Alike]:
        """Names whose parts are equal to the words, begin with them or are abbreviated by them, in order; best first.

        Args:
            words: Two or more words in lower case.
        """
        bits = np.uint32(_bits("".join(words)))
        candidates = (
            ((self._bits & bits) == bits) & (self._spaces + 1 >= len(words)) & (self._sizes >= len("".join(words)))
        )
        # A word begins as its part does, in order: a quick test before the comparison, which takes much longer.
        in_order = re.compile("(?:.* )?" + ".* ".join(re.escape(word[0]) for word in words)).match
        matches = []
        for line in self._lines(candidates):
            if in_order(line) and (worth := alignment(words, line.split(" "))):
                matches.append(Alike(line.replace(" ", ""), worth))
        return matches

    def _lines(self, where: NDArray[np.bool_]) -> Iterator[str]:
        for i in np.flatnonzero(where)[:_MOST_COMPARED].tolist():
            yield self._text[self._starts[i] : self._ends[i]].decode("utf-8", "replace")


def _bits(text: str) -> int:
    letters = np.frombuffer(text.encode("utf-8", "replace"), np.uint8)
    return int(np.bitwise_or.reduce(_BITS[letters]))


def _count(bits: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """The number of set bits of each item (Hacker's Delight, 5-1); numpy has such a function only from 2.0 on."""
    bits = bits - ((bits >> 1) & np.uint32(0x55555555))
    bits = (bits & np.uint32(0x33333333)) + ((bits >> 2) & np.uint32(0x33333333))
    bits = (bits + (bits >> 4)) & np.uint32(0x0F0F0F0F)
    counts: NDArray[np.uint8] = ((bits * np.uint32(0x01010101)) >> 24).astype(np.uint8)
    return counts


def most_edits(word: str) -> int:
    """The number of letters of a name that may be mistyped."""
    return 2 if len(word) >= _TWO_EDITS else 1


def distance(word: str, other: str, limit: int) -> int | None:
    """The number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other; None
    if there are more than `limit`.

    Source: the restricted distance of Damerau, CACM 7(3), 1964, by the recurrence of Wagner and Fischer.
    """
    if abs(len(word) - len(other)) > limit:
        return None
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word, 1):
        earlier, before, row = before, row, [i]
        for j, opposite in enumerate(other, 1):
            cost = min(before[j] + 1, row[-1] + 1, before[j - 1] + (letter != opposite))
            if i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == opposite:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return None
    return row[-1] if row[-1] <= limit else None


def alignment(words: Sequence[str], name: Sequence[str]) -> float:
    """A score in [0, 1]: how well the words of a query spell a name, each word one or two of its parts, in order."""
    # best[j]: the most that the words so far are worth in the first j parts; 0 for not at all.
    best = [1e-9] * (len(name) + 1)
    for word in words:
        row = [0.0] * (len(name) + 1)
        for j, part in enumerate(name, 1):
            value = row[j - 1]
            if best[j - 1] and (match := _match(word, part)):
                value = max(value, best[j - 1] + match)
            if j > 1 and best[j - 2] and word == name[j - 2] + part:
                value = max(value, best[j - 2] + _EQUAL)
            row[j] = value
        best = row
    if not best[-1]:
        return 0.0
    left_out = 1 - min(1.0, len(words) / len(name))
    return round(best[-1] / len(words) * (1 - _LEFT_OUT * left_out), 6)


def _match(word: str, part: str) -> float:
    if word == part:
        return _EQUAL
    if word[0] != part[0] or len(word) < 2:
        return 0.0
    if part.startswith(word) or (len(part) > 2 and word.startswith(part) and len(word) <= len(part) + 3):
        return _BEGINS
    letters = iter(part)
    return _SHORTENS if all(letter in letters for letter in word) else 0.0


def nearest(names: Iterable[tuple[str, int]]) -> list[Alike]:
    """The names with the fewest edits, of (name, number of edits) pairs from several segments."""
    edits = dict(names)
    fewest = min(edits.values(), default=0)
    return [Alike(name, 1.0) for name in sorted(edits) if edits[name] == fewest][:_MOST_ALIKE]


def best_abbreviated(names: Iterable[Alike]) -> list[Alike]:
    """Merge abbreviated names from several segments, best first; equal names count once."""
    worths = dict(names)
    minimum = _LEAST_SHARE * max(worths.values(), default=0.0)
    best = sorted((name for name in worths if worths[name] >= minimum), key=lambda name: (-worths[name], name))
    return [Alike(name, worths[name]) for name in best[:_MOST_ALIKE]]
