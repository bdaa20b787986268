"""Words with punctuation in them that are meant as a whole: `maxmemory-policy`, `--max-columns-preview`,
`/api/v3/checks/`, `X-Forwarded-For`.

BM25 knows their parts and not the punctuation. So the places that have all parts are read, and those that hold the word
literally count: first where it is quoted, as a key or an option is defined, then the others; tests and documents come
after code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.search.query.text import TextQuery
    from lci_py.search.snapshot import Snapshot

#: Maximum number of words in a query with a literal, minimum length of a literal, and number of places read.
_MOST_WORDS, _LEAST, PLACES = 4, 4, 240
#: Punctuation inside a word, or before it.
_PUNCTUATED = lazily(r"[^\w\s]\w|\w[^\w\s]+\w")
#: What stands around a word in a sentence and is no part of it.
_AROUND = "\"'`,;!?()[]{}<>"
#: Value of a match: the word quoted, by itself, and inside a longer word.
_QUOTED, _ALONE, _INSIDE = 1.0, 0.75, 0.5
#: Factors for a line that has another string first, for a test, and for a document.
_SECOND, _TEST, _DOCUMENT = 0.85, 0.5, 0.6
#: A list of parameters, with a keyword before it and a result behind it, or without.
_PARAMETERS = lazily(r"\s*(?:def|func|fn|function|fun|sub|lambda)?\s*\([^()]*[\w)][^()]*.*\)", re.S)
#: Value of a definition with exactly these parameters, and with more.
_SAME, _MORE = 1.0, 0.6
#: Lines of one place that are read.
_MOST_LINES = 400

#: Size in lines, unit, file and first line of a place that states a text.
Stated = tuple[int, int, int, int]


def literals_of(query: TextQuery) -> list[str]:
    """The words of a short query that contain punctuation, in lower case."""
    words = query.text.split()
    if query.long or len(words) > _MOST_WORDS:
        return []
    bare = [word.strip(_AROUND).rstrip(".:").lower() for word in words]
    # Between other words, `server-side` is prose.
    sure = bare if len(words) == 1 else [word for word in bare if "/" in word or word.startswith("-")]
    return [word for word in sure if len(word) >= _LEAST and _PUNCTUATED.search(word)]


def holding(snapshot: Snapshot, literal: str, units: Sequence[int]) -> dict[Stated, float]:
    """How much each of the units says about a literal, by location.

    Args:
        literal: In lower case.
        units: Those that may hold it.
    """
    table = snapshot.unit_table
    paths = snapshot.files.living_paths()
    whole = re.compile(rf"(?<![\w-]){re.escape(literal)}(?![\w-])")
    found: dict[Stated, float] = {}
    for unit, file, first, last in snapshot.symbols.chunks_of_units(units) if units else ():
        lines = snapshot.reader.some(paths[file], first, min(last, first + _MOST_LINES))
        worths = [
            _worth(line, literal, whole) for line in b"\n".join(lines).decode("utf-8", "replace").lower().split("\n")
        ]
        value = max(worths, default=0.0)
        if value:
            factor = _TEST if table.is_test[unit] else _DOCUMENT if table.is_text[unit] else 1.0
            found[last - first, unit, file, first] = round(value * factor, 9)
    return found


def _worth(line: str, literal: str, whole: re.Pattern[str]) -> float:
    at = line.find(literal)
    if at < 0:
        return 0.0
    before, after = line[at - 1 : at], line[at + len(literal) : at + len(literal) + 1]
    if before and before == after and before in "\"'`":
        return _QUOTED * (_SECOND if any(quote in line[: at - 1] for quote in "\"'`") else 1.0)
    return _ALONE if whole.search(line) else _INSIDE


# --- parameters -------------------------------------------------------------------------------------------------------


def is_parameters(query: TextQuery) -> bool:
    """Whether a query is a list of parameters without the name before it: `func(ctx, id) error`."""
    return not query.long and _PARAMETERS.match(query.raw) is not None


def having_parameters(snapshot: Snapshot, query: TextQuery, units: Sequence[int]) -> dict[Stated, float]:
    """The units whose definition has the parameters of a query, by location.

    Args:
        query: A list of parameters.
        units: Those that may have it.
    """
    wanted = _without_blanks(_list_in(query.raw))
    found: dict[Stated, float] = {}
    for unit, row in snapshot.symbols.result_rows(units).items():
        own = row["signature"] or ""
        at = own.find("(", own.find(row["symbol"] or "") + 1)
        if wanted in _without_blanks(own):
            worth = _SAME if _without_blanks(_list_in(own[max(at, 0) :])) == wanted else _MORE
            found[row["end_line"] - row["line"], unit, row["file_number"], row["line"]] = worth
    return found


def _list_in(text: str) -> str:
    """The first pair of parentheses with its contents; the rest of the text if it is not closed."""
    first = max(text.find("("), 0)
    depth = 0
    for at, letter in enumerate(text[first:], first):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return text[first : at + 1]
    return text[first:]


def _without_blanks(text: str) -> str:
    return "".join(text.split()).replace(",)", ")")
