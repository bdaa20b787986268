"""Analyses a long question: the text of an issue, a stack trace, a pasted log.

The first line is the title, which says what the text is about. Paths, dotted modules and frames of a stack trace name
files. Backticks and the form of a word mark names. Pasted code shows the public API rather than the cause. Issue
templates, links and lists of versions are ignored (docs/ranking.md#long-questions).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.text.words import STOPWORDS, WORD, joined_spelling, parts, stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: A query with a line break, or with more words than this, is a long one.
SHORT = 30
#: Weight of a word by where it occurs; one that occurs n times there counts 1 + ln(n).
_TITLE, _PROSE, _CODE = 3.0, 1.0, 0.4
#: Bounds of the time: terms that are ranked by, names that are looked up, words of the prose that are embedded.
_MOST_TERMS, _MOST_NAMES, _MOST_WORDS = 160, 40, 200
#: Characters of a line that may be one of a list of versions; the pattern is not linear.
_VERSION_LINE = 120
#: Characters of a question that are read.
_MOST_TEXT = 60_000

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_LINK = re.compile(r"\b(?:https?|ftp)://\S+")
_VERSION = re.compile(r"^\W*[\w .()-]{1,40}\s*[:=]{1,2}\s*(?:v?\d+(?:\.\w+)+\S*|None|N/A|unknown)\W*$", re.I)
_HEADING = re.compile(r"^\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$|[-=~]{3,}\s*$)")
#: A line of a stack trace, of a prompt, or of code by its punctuation.
_PASTED = re.compile(
    r"^\s*(?:>>> |\.\.\. |\$ |File \"|at \S+\(|Traceback|In \[\d|\d+ \| |[-+]{1,3}[ab]/)|[{};]\s*$|^\s{4,}\S"
)
_TICKED = re.compile(r"`([^`\n]{2,80})`")
#: A possible path: one character class, so that hostile text causes no backtracking.
_PATH = re.compile(r"[\w.+/\\-]+")
#: Letters of an extension.
_EXTENSION = 6
_DOTTED = re.compile(r"\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\b")
_IDENTIFIER = re.compile(r"^(?:\w*[a-z0-9][A-Z]\w*|\w*[^\W_]_\w*|_+\w+|[A-Z]{2,}\w*)$")
#: Words of the forms in which issues are written.
_TEMPLATE = frozenset(
    "bug issue report describe description summary steps reproduce reproducing reproduction expected actual behavior "
    "behaviour output result results problem version versions environment os python info system system_info traceback "
    "recent call last line please example minimal complete verifiable mcve sample currently current however seems "
    "thanks following get got getting try tried trying see think want like would also just still even though "
    "error".split()
)


class Long(NamedTuple):
    """The parts of a long question.

    Attributes:
        text: The text to embed.
        words: The words of the title, then the names in the order of the text.
        terms: Lexical terms and their weights.
        names: Words that are names by their form or by backticks.
        files: Texts that may be a path, a file name or a dotted module, each with a weight.
    """

    text: str
    words: tuple[str, ...]
    terms: tuple[tuple[str, float], ...]
    names: tuple[str, ...]
    files: tuple[tuple[str, float], ...]


def is_long(text: str) -> bool:
    """Whether a query is a long text with parts, rather than a few words."""
    return "\n" in text.strip() or sum(1 for _ in WORD.finditer(text[:4096])) > SHORT


def read_long(text: str) -> Long:
    """Split a long question into its parts."""
    text = _COMMENT.sub(" ", text[:_MOST_TEXT])
    files = dict(_files(text))
    title, prose, code = _zones(_LINK.sub(" ", text))
    names = list(dict.fromkeys(_names(title, "\n".join(prose), "\n".join(code))))[:_MOST_NAMES]
    weights: dict[str, float] = {}
    for zone, worth in (((title,), _TITLE), (prose, _PROSE), (code, _CODE)):
        counts: Counter[str] = Counter()
        for line in zone:
            counts.update(_terms(line, names=worth == _TITLE))
        for term, count in counts.items():
            weights[term] = weights.get(term, 0.0) + worth * (1 + math.log(count))
    best = sorted(weights, key=lambda term: -weights[term])[:_MOST_TERMS]  # stable: the first in the text of equal ones
    words = [word for word in WORD.findall(title) if word.lower() not in STOPWORDS] or WORD.findall(title)
    content = [word for line in prose for word in WORD.findall(line) if word.lower() not in _TEMPLATE][:_MOST_WORDS]
    embedded = " ".join([title, title, title, *names, *content])
    unique = tuple(dict.fromkeys((*words[:_MOST_NAMES], *names)))
    return Long(
        embedded, unique, tuple((term, round(weights[term], 6)) for term in best), tuple(names), tuple(files.items())
    )


def _zones(text: str) -> tuple[str, list[str], list[str]]:
    """(title, prose, code): the title, the lines of prose, and the lines of code, logs and stack traces."""
    title, prose, code = "", [], []
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not (bare := " ".join(line.split())) or (len(bare) <= _VERSION_LINE and _VERSION.match(bare)):
            continue
        elif not title and not fenced:
            title = line.strip().lstrip("# ")
        elif fenced or _PASTED.search(line):
            code.append(line)
        elif not _HEADING.match(line):
            prose.append(line)
    return title, prose, code


def _terms(line: str, *, names: bool) -> Iterator[str]:
    """The lexical terms of a line."""
    for word in WORD.findall(line):
        if word.lower() in STOPWORDS or (word.lower() in _TEMPLATE and not names) or word.isdigit():
            continue
        pieces = parts(word)
        for piece in pieces:
            if len(piece) > 1:
                yield stem(piece)
        if len(pieces) > 1:
            yield joined_spelling(word)


def _names(title: str, prose: str, code: str) -> Iterator[str]:
    """The words that are names by backticks or by their form: from the title, backticks, the prose, then the code."""
    for text in (title, *_TICKED.findall(f"{title}\n{prose}"), prose, code):
        ticked = text is not title and text is not prose and text is not code
        for word in WORD.findall(text):
            if len(word) < 3 or word.lower() in STOPWORDS or word.isdigit():
                continue
            if (ticked and word.lower() not in _TEMPLATE) or _IDENTIFIER.match(word):
                yield word


def _files(text: str) -> Iterable[tuple[str, float]]:
    """(text, weight) of each possible file name. Of several stack frames, the last is the nearest to the cause."""
    weights: dict[str, float] = {}
    frames = re.findall(r"File \"([^\"\n]+)\", line \d+", text)
    for position, path in enumerate(frames, 1):
        weights[path.replace("\\", "/")] = 0.5 + 0.5 * position / len(frames)
    for match in _PATH.finditer(text):
        path = match.group().replace("\\", "/").strip("./+-")
        name, _, extension = path.rpartition("/")[2].rpartition(".")
        is_file = name and extension.isascii() and extension.isalpha() and len(extension) <= _EXTENSION
        if is_file and ("/" in path or path.count(".") == 1):
            weights.setdefault(path, 0.8 if "/" in path else 0.6)
    for match in _DOTTED.finditer(text):
        weights.setdefault(match.group(), 0.5)
    return weights.items()
