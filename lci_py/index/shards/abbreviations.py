"""The abbreviations of a repository (shard `related`): cfg for config, auth for authentication.

A pair of words counts if one shortens the other by its letters *and* the two are used together: a name and its declared
type or its value (`cfg: Config`, `ctx *Context`, `conn = connect()`), an import and its alias, or a name and the
comment of its definition. The shard stores the evidence file by file, so that its sum does not depend on how files are
spread over segments. The reader decides how much evidence is enough.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.arrays import Arrays, StringTable, compact, string_arrays, write_arrays
from lci_py.source.text.language_tables import has_rule
from lci_py.source.text.words import STOPWORDS, WORD, forms, parts, stem
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from lci_py.index.shards.numbering import Numbering
    from lci_py.source.file_record import FileRecord
    from lci_py.types.expressions import Expr

#: Pairs stored of a file, those with the most evidence; a file with more is data.
MOST_PAIRS = 100
#: Fewest and most letters of a short form, and how many more the long form has at least.
SHORTEST, LONGEST, LEAST_CUT = 2, 6, 2
#: Letters at the start that both forms must share if the short one has a vowel: recv of receive, but not get
#: of generate.
_BEGINNING = 3
#: Characters of a type, a value or a comment that are read: what describes the name comes first.
_TEXT = 120
_SIGNATURE = 400
_MOST = 255  # largest count in a file: it is stored in a byte
#: The qualifier of a type: the name of a package does not describe the variable.
_QUALIFIER = re.compile(r"\w+(?:\.|::|\\)")
#: Separators of the parameters in a signature.
_BETWEEN = re.compile(r"[(),;{}|]")
#: Keywords and basic types, which stand beside names everywhere: in `int interval`, int is no abbreviation.
_KEYWORDS = frozenset(
    "bool byte char const def dyn enum float fn fun int let list long mut set short str string struct type uint use "
    "var void".split()
)
#: Kinds of symbols whose signature declares parameters, or one value.
_DECLARED = frozenset({"function", "method", "constructor", "field", "property", "variable"})

Pair = tuple[str, str]  # the short form and the long one, both as stems


class Abbreviation(NamedTuple):
    """A pair of words, and the evidence for it in the repository."""

    short: str
    long: str
    files: int
    declared: int  # names whose type, value or import has the long form
    told: int  # names whose comment has the long form


@lru_cache(maxsize=1 << 16)
def shortens(short: str, long: str) -> bool:
    """Whether a word can abbreviate another by its letters: the same first letters, then consonants in order.

    Both are parts of names, in lower case; `short` is not empty.
    """
    if not SHORTEST <= len(short) <= min(LONGEST, len(long) - LEAST_CUT) or short[0] != long[0] or short in STOPWORDS:
        return False
    if short in _KEYWORDS or not (short.isascii() and long.isascii() and short.isalpha() and long.isalpha()):
        return False
    same = next((i for i, letter in enumerate(short) if letter != long[i]), len(short))
    if same < min(len(short), _BEGINNING) and any(letter in "aeiou" for letter in short[1:]):
        return False
    place = same
    for letter in short[same:]:
        place = long.find(letter, place) + 1
        if not place or letter in "aeiou":
            return False
    one, other = stem(short), stem(long)
    return one != other and len(one) >= SHORTEST and other not in forms(one) and one not in forms(other)


# --- the evidence of a file ---------------------------------------------------------------------------------------


def evidence(record: FileRecord) -> dict[Pair, tuple[int, int]]:
    """The pairs of a file, with the number of declarations and of comments that support each, at most 255."""
    declared = _count_pairs(_declarations(record))
    told = _count_pairs(_comments(record), told=True)
    found = {pair: (min(declared[pair], _MOST), min(told[pair], _MOST)) for pair in declared.keys() | told.keys()}
    if not found:
        return found
    words = {word.lower() for word in record.words}
    # A compound does not count as a long form: timeout of time, database of data.
    kept = [(short, long) for short, long in found if not (long.startswith(short) and long[len(short) :] in words)]
    best = sorted(kept, key=lambda pair: (-found[pair][0], -found[pair][1], pair))[:MOST_PAIRS]
    return {pair: found[pair] for pair in best}


def _declarations(record: FileRecord) -> set[tuple[str, str]]:
    """(name, its type, value or import), each once."""
    found = record.extract
    pairs = {
        (item.name, _plain(item.text[:_TEXT]) if item.text else _words_of(item.expr))
        for item in found.types
        if len(item.name) > 1 and (item.expr or len(item.text) > 1)
    }
    first = not has_rule(found.language, "type_first")
    for symbol in found.symbols:
        if symbol.kind in _DECLARED:
            pairs.update(item for item in _declared_names(symbol.signature[:_SIGNATURE], first) if item[1])
    pairs.update((item.alias, f"{item.module[-_TEXT:]} {item.name}") for item in found.imports if item.alias)
    return pairs


def _comments(record: FileRecord) -> set[tuple[str, str]]:
    """(names of a definition and its parameters, beginning of its comment)."""
    found = record.extract
    first = not has_rule(found.language, "type_first")
    return {
        (" ".join((symbol.name, *_names(symbol.signature[:_SIGNATURE], first))), symbol.doc[:_TEXT])
        for symbol in found.symbols
        if symbol.doc and symbol.kind in _DECLARED
    }


@lru_cache(maxsize=1 << 15)
def _plain(text: str) -> str:
    """The words of a type."""
    return " ".join(WORD.findall(_QUALIFIER.sub("", text)))


@lru_cache(maxsize=1 << 15)
def _words_of(value: Expr) -> str:
    """The words of a value."""
    return " ".join(WORD.findall(" ".join(step.name for step in value)[:_TEXT]))


@lru_cache(maxsize=1 << 15)
def _declared_names(signature: str, first: bool) -> tuple[tuple[str, str], ...]:
    """The parameters of a signature, or its one field, with their types; "" for a missing type.

    Args:
        first: Whether the name precedes the type.
    """
    found = []
    head, bracket, rest = signature.partition("(")
    for piece in _BETWEEN.split(rest if bracket else head):
        words = WORD.findall(_QUALIFIER.sub("", piece.partition("=")[0]))
        if words:
            name = words.pop(0 if first else -1)
            if len(name) > 1:
                found.append((name, " ".join(words)))
    return tuple(found)


def _names(signature: str, first: bool) -> Iterator[str]:
    return (name for name, _ in _declared_names(signature, first))


def _count_pairs(texts: Iterable[tuple[str, str]], *, told: bool = False) -> Counter[Pair]:
    """How often each pair occurs in the (names, text) pairs."""
    return Counter(pair for names, text in texts for pair in _pairs(names, text, told))


# Cached, because the same declarations stand in many files.
@lru_cache(maxsize=1 << 15)
def _pairs(names: str, text: str, told: bool) -> tuple[Pair, ...]:
    """Pairs of a word of `names` and a word of `text`; if the text is prose (`told`), the short form is in `names`."""
    mine, theirs = _words(names), _words(text)
    by_letter: dict[str, list[str]] = {}
    for part in mine - theirs:
        by_letter.setdefault(part[0], []).append(part)
    found = []
    for other in theirs - mine if by_letter else ():
        for part in by_letter.get(other[0], ()):
            if len(part) < len(other):
                if shortens(part, other):
                    found.append((stem(part), stem(other)))
            elif not told and shortens(other, part):
                found.append((stem(other), stem(part)))
    return tuple(found)


_parts = lru_cache(maxsize=1 << 16)(parts)


def _words(text: str) -> set[str]:
    return {part for word in WORD.findall(text) for part in _parts(word)}


# --- the shard ----------------------------------------------------------------------------------------------------


def write_abbreviations(path: Path, found: Iterable[Mapping[Pair, tuple[int, int]]]) -> None:
    """Write the shard of a segment into a new file; `found` is the `evidence` of each of its files, in order."""
    rows: dict[Pair, list[tuple[int, int, int]]] = {}
    for file, pairs_of_file in enumerate(found):
        for pair, (declared, told) in pairs_of_file.items():
            rows.setdefault(pair, []).append((file, declared, told))
    pairs = sorted(rows)
    words = sorted({word for pair in pairs for word in pair})
    number = {word: place for place, word in enumerate(words)}
    ordered = [row for pair in pairs for row in rows[pair]]
    columns = [np.array([row[place] for row in ordered], np.int32) for place in range(3)]
    arrays = string_arrays("words", words)
    arrays |= {
        "short": np.array([number[short] for short, _ in pairs], np.int32),
        "long": np.array([number[long] for _, long in pairs], np.int32),
        "starts": compact(np.cumsum([0, *(len(rows[pair]) for pair in pairs)], dtype=np.int64)),
        "files": columns[0],
        "declared": columns[1].astype(np.uint8),
        "told": columns[2].astype(np.uint8),
    }
    write_arrays(path, arrays)


class _Segment:
    def __init__(self, path: Path, n_files: int) -> None:
        arrays = Arrays(path)
        self.name = arrays.name
        self.words = StringTable(arrays, "words")
        self.short, self.long = arrays.array("short", "i4"), arrays.array("long", "i4")
        self.starts = arrays.array("starts", "i4", "i8")
        self.files = arrays.array("files", "i4")
        self.declared, self.told = arrays.array("declared", "u1"), arrays.array("told", "u1")
        sizes = {len(self.files), len(self.declared), len(self.told)}
        if not len(self.short) == len(self.long) == len(self.starts) - 1 or len(sizes) > 1:
            raise self._damaged_error("its arrays do not fit together")
        if self.starts[0] or self.starts[-1] != len(self.files) or (self.starts[1:] < self.starts[:-1]).any():
            raise self._damaged_error("its arrays do not fit together")
        self._check("words", np.concatenate((self.short, self.long)), len(self.words))
        self._check("files", self.files, n_files)

    def _check(self, what: str, numbers: NDArray[np.int32], limit: int) -> None:
        if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < limit:
            raise self._damaged_error(f"it names {what} that do not exist")

    def _damaged_error(self, what: str) -> DamagedIndexError:
        return DamagedIndexError(f"{self.name}: {what}")

    def rows(self, word: str) -> Iterator[tuple[Pair, slice]]:
        """The pairs with a word, and the rows of their evidence."""
        number = self.words.find(word)
        if number >= 0:
            for pair in np.flatnonzero((self.short == number) | (self.long == number)).tolist():
                texts = self.words.text(int(self.short[pair])), self.words.text(int(self.long[pair]))
                yield texts, slice(int(self.starts[pair]), int(self.starts[pair + 1]))


class AbbreviationIndex:
    """Reader of the shards of all segments; dead files give no evidence."""

    def __init__(self, paths: Sequence[Path], numbering: Numbering) -> None:
        """Open the shard of each segment."""
        self._segments = list(map(_Segment, paths, (counts["files"] for counts in numbering.counts)))
        self._public = [numbering.public_array("files", place) for place in range(len(self._segments))]

    def of(self, word: str) -> list[Abbreviation]:
        """The pairs with a stem as short or long form, the ones with the most evidence first."""
        found: dict[Pair, NDArray[np.int64]] = {}
        for segment, public in zip(self._segments, self._public, strict=True):
            for pair, where in segment.rows(word):
                alive = np.ones(where.stop - where.start, np.bool_)
                if public is not None:
                    alive = public[segment.files[where]] >= 0
                sums = (alive.sum(), segment.declared[where][alive].sum(), segment.told[where][alive].sum())
                found[pair] = found.get(pair, 0) + np.array(sums, np.int64)
        pairs = (Abbreviation(*pair, *sums.tolist()) for pair, sums in found.items() if sums[0])
        return sorted(pairs, key=lambda item: (-item.files, -item.declared, -item.told, item.short, item.long))
