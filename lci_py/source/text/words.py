"""Splits text into words and words into parts, for BM25 and embeddings alike.

A *word* is a run of letters, digits and underscores of the text. Its *parts* are separated by camelCase, digits and
underscores, and are in lower case. Each distinct word is split once per index build.
"""

from __future__ import annotations

import re
import unicodedata

WORD = re.compile(r"\w+")
#: Acronyms, capitalised or lower-case runs (letters beyond ASCII count as lower case), digits.
_PART = re.compile(r"[A-Z]+(?![^\W\dA-Z_])|[A-Z]?[^\W\dA-Z_]+|\d+")
#: Longer words are hashes or encoded data: they are cut to this length and not split.
MAX_WORD = 80

#: Words that carry no meaning in a question about code. Dropped from a query unless nothing else is left.
STOPWORDS = frozenset(
    "a an and are as at be been being but by can could did do does doing done each for from had has have having how i "
    "if in into is it its let me my of off on onto or our should so some such than that the their them then there "
    "these they this those through to too under up us use used uses using via was we were what when where which while "
    "who whose why will with within would you your code file files function functions implementation implemented "
    "implement implements defined definition work works handled handle handles happen happens".split()
)
# From "code" on: words that carry no meaning in a question about code ("how is X implemented").


def parts(word: str) -> tuple[str, ...]:
    """The parts of a word: get, http, response and 2 of `getHTTPResponse_2`. A long word is its own single part."""
    if len(word) > MAX_WORD:
        return (word[:MAX_WORD].lower(),)
    if not word.isascii():
        word = unicodedata.normalize("NFKC", word)
    return tuple(part.lower() for part in _PART.findall(word))


def located_parts(word: str) -> list[tuple[int, int, str]]:
    """(start, end, part) of each part of an ASCII word."""
    if len(word) > MAX_WORD:
        return [(0, len(word), word[:MAX_WORD].lower())]
    return [(match.start(), match.end(), match.group().lower()) for match in _PART.finditer(word)]


def joined(word: str) -> str:
    """The word in lower case and without underscores: `get_http` and `getHttp` are the same."""
    return word.replace("_", "").lower()[:MAX_WORD]


def stem(part: str) -> str:
    """A light suffix stripper for English morphology (plural, -ing, -ed); never shorter than three letters.

    Source: the step 1 rules of Porter, Program 14(3), 1980, without the later steps, which conflate too much code.
    """
    if len(part) < 4 or not part.isascii():
        return part
    if part.endswith("ies") and len(part) > 4:
        part = part[:-3] + "y"
    elif part.endswith(("sses", "shes", "ches", "xes", "zes")):
        part = part[:-2]
    elif part.endswith("s") and not part.endswith(("ss", "us", "is")):
        part = part[:-1]
    for suffix in ("ing", "ed"):
        base = part[: -len(suffix)]
        if part.endswith(suffix) and len(base) >= 3 and any(c in "aeiouy" for c in base):
            part = base
            if len(part) > 3 and part[-1] == part[-2] and part[-1] not in "lsz":
                part = part[:-1]
            break
    return part[:-1] if part.endswith("e") and len(part) > 4 else part
