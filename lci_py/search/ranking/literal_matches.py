"""Finds what a query spells out: the name of a definition, or text that occurs in the source word for word.

Vectors blur single words and BM25 ignores their order: neither distinguishes the definition of a name from its uses, or
a message from text about it. So the source itself is searched: the names in the index, and the text of the few units
with the words (docs/ranking.md#names-and-verbatim-text, docs/adr/0019-spelled-out.md).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from lci_py.index.shards.symbols import narrowest
from lci_py.index.shards.unit_columns import UNIT_KINDS
from lci_py.search.ranking.partial_names import (
    PLACES,
    Stated,
    chunk_texts,
    having_parameters,
    holding,
    is_parameters,
    literals_of,
    partial_names,
)
from lci_py.source.text.patterns import ROUTE, lazily
from lci_py.source.text.words import STOPWORDS, WORD, joined_spelling, parts, stem
from lci_py.types.record import NamedTuple
from lci_py.types.search import CALLABLE, TYPE_KINDS, Filters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

    from numpy.typing import NDArray

    from lci_py.index.shards.bm25 import LexicalIndex
    from lci_py.index.shards.symbols import Row
    from lci_py.search.query.text import TextQuery
    from lci_py.search.snapshot import Snapshot

#: Maximum number of words in a name.
_MOST_OF_A_NAME = 8
#: Maximum number of namesakes without a unit of their own: with more, the name identifies none of them.
_MOST_SMALL = 64
#: The value of a name in another spelling (`join set`, JoinSet): if none is spelled like the query, and if one is.
_RESPELLED, _BESIDE_EXACT = 0.8, 0.5

#: A path of a file or of a module, the file names that stand for their folder, and the maximum number of files.
_MODULE = lazily(r"[\w@-]+(?:(?:[./\\]|::)[\w@-]+)+")
_OF_FOLDER = ("__init__", "index", "mod", "lib")
_MOST_FILES = 3
#: Minimum and maximum number of words in a literal text; and the minimum length of a matching run.
_WORDS, _RUN = range(3, 61), 3
#: Relative weight of a stop word, and of a number, which may be a value.
_STOPWORD = 0.25
#: Share of the query below which runs say nothing: a few words occur together anywhere.
_LEAST = 0.7
#: A run of more weight than the first of these counts whatever else the query has; one above the last counts as a full
#: match: a pasted line has a time before the message and a location after it.
_LONG = range(4, 8)
#: Values in a message in place of placeholders: something quoted, or a word with a digit or a sign in it.
_QUOTED = lazily(r"""(?<!\w)(?:'[^'\n]{1,200}'|`[^`\n]{1,200}`|"[^"\n]{1,200}")(?!\w)""")
_VALUE = lazily(r"\d|[/\\=<>\[\]{}|@$%*]|\w[.:]\w")
#: Minimum weight of such a text, its value however small a part of the query it is, and the maximum number of words
#: that replace a placeholder.
_LEAST_TEXT, _PART, _PLACEHOLDER = 2.0, 0.7, 4
#: Number of places whose text is read, and the minimum share of the query's words, by rarity, in such a place.
HEAD, _ENOUGH = 24, 0.5
#: Lines of one place that are read.
_MOST_LINES = 200


class LiteralMatches(NamedTuple):
    """The units whose name or text a query spells out.

    Attributes:
        names: Maps a unit to the match quality of its name, in (0, 1].
        texts: Maps a unit to the share of the query that occurs in it word for word, in (0, 1].
        symbols: Maps a unit to the number of the symbol in it with the name, if that symbol has no unit of its own.
    """

    names: Mapping[int, float]
    texts: Mapping[int, float]
    symbols: Mapping[int, int]

    def of(self, units: NDArray[np.int64]) -> dict[str, NDArray[np.float32]]:
        """Maps the signals `name` and `verbatim` to their values for the units: [n]."""
        signals = {name: np.zeros(len(units), np.float32) for name in ("name", "verbatim")}
        for name, values in (("name", self.names), ("verbatim", self.texts)):
            for unit, value in values.items():
                signals[name][units == unit] = value
        return signals

    @property
    def units(self) -> list[int]:
        """All units with a match, ascending."""
        return sorted({*self.names, *self.texts})


NOTHING = LiteralMatches({}, {}, {})


class Likely(NamedTuple):
    """The units of the chunks that contain the most words of a text, best first: [n] each, an item per chunk."""

    units: NDArray[np.int64]
    shares: NDArray[np.float64]
    scores: NDArray[np.float32]


def literal_matches(
    snapshot: Snapshot,
    query: TextQuery,
    filters: Filters,
    allowed: NDArray[np.bool_] | None,
    *,
    strict: bool = False,
) -> LiteralMatches:
    """The candidates whose name or text the query spells out.

    Args:
        allowed: [units] mask of the candidates, which includes `filters`; None for all.
        strict: Take the query literally: do not correct or expand names.
    Raises:
        IndexError_: A shard cannot be used.
    """
    if snapshot.whole.alone and ROUTE.match(query.raw):
        from lci_py.search.routes import answering

        rows = [(row, match / _WORTH[row["kind"]]) for row, match in answering(snapshot, query.raw)]
        names, symbols = unit_values(snapshot, query, rows, allowed)
        if names:
            return LiteralMatches(names, {}, symbols)
    names, symbols = definitions_named(snapshot, query, filters, allowed)
    is_name = bool(snapshot.whole.total(("name", query.text), bool(names)))
    fragments = partial_names(snapshot, query, filters, whole=is_name, strict=strict)
    if fragments.names:
        more, small = unit_values(snapshot, query, fragments.names, allowed)
        names = more | {unit: max(value, more.get(unit, 0.0)) for unit, value in names.items()}
        symbols = {unit: symbol for unit, symbol in small.items() if unit not in symbols} | symbols
    if not is_name:
        names = files_named(snapshot, query, allowed) | names
    # A long question has many subjects: except by stack frames, it spells out none.
    texts = {} if fragments.called or query.long else _texts(snapshot, query, allowed, is_name=is_name)
    return LiteralMatches(names, texts, symbols) if names or texts else NOTHING


def _texts(
    snapshot: Snapshot,
    query: TextQuery,
    allowed: NDArray[np.bool_] | None,
    *,
    is_name: bool,
) -> dict[int, float]:
    """Maps units to the share of the query that occurs in them word for word."""
    texts: dict[int, float] = {}

    whole = snapshot.whole

    def places(text: Text) -> list[int]:
        candidates = likely(snapshot.lexical, text, allowed)
        read = whole.share(("read", text), (candidates.shares, candidates.scores), text.head)
        return list(dict.fromkeys(candidates.units[:read].tolist()))

    if is_parameters(query):
        whole.settle()
        add_narrowest(texts, having_parameters(snapshot, query, places(Text(query.words, head=PLACES))))
        return texts
    if not whole.alone:
        snapshot.lexical.ask(word for text in texts_of(query) for word in words_of(text))
    whole.settle()
    literals = [] if is_name else literals_of(query)
    for literal in literals:
        add_narrowest(texts, holding(snapshot, literal, places(Text(tuple(WORD.findall(literal)), head=PLACES))))
        whole.settle()
    stated = bool(literals) and whole.total(("literal", query.text), bool(texts))
    for text in () if stated else texts_of(query):
        add_narrowest(texts, stating(snapshot, text, places(text)))
    return texts


# --- names ------------------------------------------------------------------------------------------------------------


def may_be_a_name(query: TextQuery) -> bool:
    """Whether the query is short enough to be the name of a definition."""
    return not query.long and 0 < len(query.words) <= _MOST_OF_A_NAME


def definitions_named(
    snapshot: Snapshot,
    query: TextQuery,
    filters: Filters,
    allowed: NDArray[np.bool_] | None,
) -> tuple[dict[int, float], dict[int, int]]:
    """The definitions whose whole name is the query, as (values, symbols) by unit; see `unit_values`.

    Args:
        allowed: [units] mask of the candidates, which includes `filters`.
    """
    if not may_be_a_name(query):
        return {}, {}
    whole = "".join(query.words)
    ends = tuple(joined_spelling("".join(query.words[first:])) for first in range(len(query.words)))
    there = snapshot.freshness.there()
    rows = snapshot.symbols.definitions_spelled(ends, Filters())
    exact = any(_spells_name(row, whole) for row in rows)
    if rows and (filters or there is not None):
        rows = snapshot.symbols.definitions_spelled(ends, filters, there)
    own = (exact, sum(row["unit"] is None for row in rows))
    exact, small = snapshot.whole.total(("spelled", query.text), own)
    respelled = _BESIDE_EXACT if exact else _RESPELLED
    worths = [(row, 1.0 if _spells_name(row, whole) else respelled) for row in rows]
    return unit_values(snapshot, query, worths, allowed, small)


def unit_values(
    snapshot: Snapshot,
    query: TextQuery,
    rows: Sequence[tuple[Row, float]],
    allowed: NDArray[np.bool_] | None,
    small: int | None = None,
) -> tuple[dict[int, float], dict[int, int]]:
    """(values, symbols): maps units to the match quality of their name; and maps units to the symbol in them that has
    the name but no unit of its own.

    Args:
        rows: Definitions, each with the match quality of its name.
        allowed: [units] mask of the candidates.
        small: The number of symbols without a unit, in the whole collection; None to count the rows without a unit.
    """
    if small is None:
        small = sum(row["unit"] is None for row, _ in rows)
    values: dict[int, float] = {}
    symbols: dict[int, int] = {}
    for row, match in rows:
        unit = row["unit"]
        if unit is None:
            chunks = snapshot.symbols.chunks_of_file(row["file_number"]) if small <= _MOST_SMALL else ()
            unit = narrowest(chunks, row["line"])
        if unit is None or (query.phrases and allowed is not None and not allowed[unit]):
            continue
        value = _WORTH[row["kind"]] * match
        if value > values.get(unit, 0.0):
            values[unit] = value
            if row["unit"] is None:
                symbols[unit] = row["symbol_number"]
            else:
                symbols.pop(unit, None)
    return {unit: round(values[unit], 9) for unit in sorted(values)}, symbols


def files_named(snapshot: Snapshot, query: TextQuery, allowed: NDArray[np.bool_] | None) -> dict[int, float]:
    """Maps units to 1: the first unit of each file or module whose path is the query (`src/pool.py`, `app.pool`,
    `crate::pool`)."""
    text = query.raw.strip().strip("`\"'")
    if not _MODULE.fullmatch(text):
        return {}
    longest = max(WORD.findall(text), key=len)
    ends = ("/" + text, "/" + re.sub(r"::|[.\\]", "/", text))
    numbers = []
    for number, path in enumerate(snapshot.files.living_paths()):
        if longest not in path:  # a quick test for large repositories
            continue
        module = "/" + path.rpartition(".")[0]
        folder, _, name = module.rpartition("/")
        if f"/{path}".endswith(ends[0]) or module.endswith(ends) or (name in _OF_FOLDER and folder.endswith(ends)):
            numbers.append(number)
    if snapshot.whole.total(("files", text), len(numbers)) > _MOST_FILES:
        return {}
    firsts = [chunks[0][0] for number in numbers if (chunks := snapshot.symbols.chunks_of_file(number))]
    return {unit: 1.0 for unit in sorted(firsts) if allowed is None or allowed[unit]}


def _spells_name(row: Row, whole: str) -> bool:
    """Whether the query's words, joined, are a name or the end of a qualified name."""
    name: str = row["symbol"]
    qualified: str = row["qualified_name"] or name
    return name.rpartition(".")[2] == whole or qualified.replace(".", "").endswith(whole)


def _worth(kind: str) -> float:
    """The value of a name match by kind: a type is the subject of its name, a module may only contain a namesake."""
    if kind in TYPE_KINDS or kind == "type":
        return 1.0
    if kind in ("module", "namespace", "section"):
        return 0.7
    return 0.9 if kind in CALLABLE else 0.85


_WORTH = {kind: _worth(kind) for kind in UNIT_KINDS}


# --- text -------------------------------------------------------------------------------------------------------------


class Text(NamedTuple):
    """Words that may occur in the source as adjacent words."""

    words: Sequence[str]
    gaps: frozenset[int] = frozenset()  # places of words with a value before them, where the source has a placeholder
    share: float = 1.0  # how much of the query they are, in (0, 1]
    head: int = HEAD  # places to read


def _worths(words: Iterable[str]) -> list[float]:
    return [_STOPWORD if word.lower() in STOPWORDS or word.isdigit() else 1.0 for word in words]


def texts_of(query: TextQuery) -> Iterator[Text]:
    """The texts that may occur in the source word for word: the query; and if it is a message that contains values, the
    words between the values, with or without prefix and suffix: `KeyError: cannot open 'a.db': permission denied`."""
    if query.long or len(query.words) not in _WORDS:
        return
    yield Text(query.words)
    text = query.text
    plain = _QUOTED.sub(" 0 ", text)
    first, last = plain.find(": "), plain.rfind(": ")
    whole = sum(_worths(query.words))
    seen = {query.words}
    for part in dict.fromkeys((plain, plain[:last] if last > 0 else plain, plain[first + 1 :])):
        words: list[str] = []
        gaps = set()
        for token in part.split():
            if _VALUE.search(token):
                gaps.add(len(words))
            else:
                words += WORD.findall(token)
        worth = sum(_worths(words))
        if len(words) >= _RUN and worth >= _LEAST_TEXT and tuple(words) not in seen:
            seen.add(tuple(words))
            yield Text(tuple(words), frozenset(gaps), _PART + (1 - _PART) * min(0.99, worth / whole), 2 * HEAD)


def words_of(target: Text) -> tuple[str, ...]:
    """The stems (words without endings) by which the candidates for a text are looked up."""
    part = target.share < 1  # of a few words, those that say nothing else must help
    words = [word for word in target.words if part or word.lower() not in STOPWORDS]
    return tuple(dict.fromkeys(stem(part) for word in words for part in parts(word) if len(part) > 1))


def likely(index: LexicalIndex, target: Text, allowed: NDArray[np.bool_] | None) -> Likely:
    """The units whose chunks contain the most of the text's words, weighted by rarity, best first; at most `head`."""
    part = target.share < 1
    terms = tuple(term for text in words_of(target) if (term := index.term(text)) is not None)
    if not terms:
        return Likely(np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.float32))
    rows, _, numbers = index.postings("content", terms)
    total, having = index.size("content"), index.having("content", terms, numbers)
    idfs = np.where(having > 0, np.log1p((total - having + 0.5) / (having + 0.5)), 0.0)
    n = len(index.chunk_unit)
    # Rounded, as the order of additions is the machine's.
    shares = np.round(np.bincount(rows, idfs[numbers], minlength=n) / max(float(idfs.sum()), 1e-9), 9)
    if allowed is not None:
        shares[~allowed[index.chunk_unit]] = 0
    chunks = np.flatnonzero(shares >= _ENOUGH)
    # Many places have all of a few words: short places come first.
    scores = np.zeros(len(chunks), np.float32)
    if part:
        scores = index.scores("content", ((term, 1.0) for term in terms))[chunks]
    order = np.lexsort((chunks, -scores, -shares[chunks]))[: target.head]
    units = index.chunk_unit[chunks[order]].astype(np.int64)
    return Likely(units, shares[chunks[order]], scores[order])


def stating(snapshot: Snapshot, target: Text, units: Sequence[int]) -> dict[Stated, float]:
    """Maps each location that contains much of a text word for word to the share of the text."""
    words = [word.lower() for word in target.words]
    worth = _worths(words)
    places: dict[str, list[int]] = {}
    for i, word in enumerate(words):
        places.setdefault(word, []).append(i)
    minimum = min(_LEAST * sum(worth), _LONG.start)
    shares: dict[Stated, float] = {}
    for location, text in chunk_texts(snapshot, units, _MOST_LINES):
        if sum(value for word, value in zip(words, worth, strict=True) if word in text) <= minimum:
            continue  # most places end here, which is what makes reading them cheap
        covered, longest = _in_a_row(WORD.findall(text), places, worth, target.gaps)
        value = max((covered / sum(worth) - _LEAST) / (1 - _LEAST), min(1.0, (longest - _LONG.start) / len(_LONG)))
        if value > 0:
            shares[location] = round(value * target.share, 9)
    return shares


def add_narrowest(values: dict[int, float], shares: Mapping[Stated, float]) -> None:
    """Merge the shares of a text that occur at locations into `values`, by unit; of several shares, the largest counts.
    If a type and its method both contain the words, only the method counts."""
    narrowest: dict[Stated, float] = {}
    for location in sorted(shares):  # the narrowest first
        size, _, file, first = location
        inner = [v for (n, _, f, at), v in narrowest.items() if f == file and first <= at and at + n <= first + size]
        if max(inner, default=0.0) < shares[location]:
            narrowest[location] = shares[location]
    for (_, unit, _, _), value in narrowest.items():
        values[unit] = max(value, values.get(unit, 0.0))


def _in_a_row(
    text: Sequence[str], places: Mapping[str, Sequence[int]], worth: Sequence[float], gaps: Set[int]
) -> tuple[float, float]:
    """(total, longest): the weight of the query's words in a text's runs of `_RUN` or more, and in the longest run.

    Args:
        text: The words of the text.
        places: Maps each word of the query to its positions in the query.
        worth: The weight of each word of the query.
        gaps: Positions in the query before which the text may have up to `_PLACEHOLDER` other words.
    """
    covered: set[int] = set()
    longest = 0.0
    runs: dict[int, tuple[int, int]] = {}  # where a run ends in the query -> its length, and other words since
    for word in text:
        at = places.get(word, ())
        if not at and not gaps:
            runs = {}
            continue
        waiting = {
            position: (length, since + 1)
            for position, (length, since) in runs.items()
            if position + 1 in gaps and since < _PLACEHOLDER
        }
        runs = waiting | {position: (runs.get(position - 1, (0, 0))[0] + 1, 0) for position in at}
        for position in at:
            length = runs[position][0]
            if length >= _RUN:
                own = range(position - length + 1, position + 1)
                covered.update(own)
                longest = max(longest, sum(worth[i] for i in own))
    return sum(worth[position] for position in covered), longest
