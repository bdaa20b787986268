"""Parses a query: words, quoted phrases, `field:value` terms. This module chooses no mode and no ranking."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from lci_py.errors import UsageError, Words
from lci_py.source.text.patterns import lazily
from lci_py.source.text.words import STOPWORDS, WORD, joined_spelling, parts, stem
from lci_py.types.record import NamedTuple, dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lci_py.types.search import Filters, SearchRequest

FIELDS = ("kind", "name", "path", "lang", "parent", "file")
_PHRASE = re.compile(r'"([^"]+)"')
_TERM = re.compile(r'(?:(?P<field>[a-z]+):)?(?:"(?P<quoted>[^"]*)"|(?P<plain>\S+))')
#: A quoted phrase, in which nothing is a field, or a `field:value` term.
_FIELD = lazily(rf'"[^"]+"|(?<!\S)(?P<field>{"|".join(FIELDS)}):(?:"(?P<quoted>[^"]+)"|(?P<plain>\S+))')
#: A word that looks like code rather than prose: it has an inner capital, an underscore, a digit or `()` after it.
_IDENTIFIER = re.compile(r"^(?:\w*[a-z0-9][A-Z]\w*|\w*[^\W_]_\w*|_+\w+|[A-Z]{2,}\w*|\w*\d\w*)$")


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A query for the dense and lexical views."""

    text: str  # what is embedded: the query without quotation marks
    phrases: tuple[str, ...]  # must occur verbatim; none amid other words
    words: tuple[str, ...]  # as written
    terms: tuple[tuple[str, float], ...]  # lexical terms and weights; stop words left out unless nothing else is left
    identifiers: tuple[str, ...]  # words that look like code, in the order of the text
    forms: tuple[str, ...] = ()  # other stems of its words, which rewrites add
    files: tuple[tuple[str, float], ...] = ()  # what a long question says that may name files, and how much that says
    relaxed: tuple[str, ...] = ()  # what of the text does not count as written, in words
    raw: str = ""  # as it was typed
    long: bool = False  # read by its parts (`query.long`); `words` are those of the title and names


#: Fewer characters than a long question has: what is shorter need not be looked at for being one.
_SURELY_SHORT = 60


#: What an answer says of quotes that are no phrases.
_LONG_QUOTES = "a long question: its quotes are words like others"
_AMID_WORDS = "quotes amid other words count as words: put the whole query in quotes to find it as it stands"


class Conditions(NamedTuple):
    """A parsed query of the mode symbolic."""

    filters: Filters
    phrases: tuple[str, ...]  # must occur verbatim
    relaxed: tuple[str, ...] = ()  # as of `TextQuery`

    def with_words(self) -> Conditions:
        """The same query with the words of its phrases as names, for use if no definition contains the phrases."""
        said = " and ".join(f'"{phrase}"' for phrase in self.phrases)
        said = f"no definition that passes the filters has {said}: the words are looked for as names"
        return Conditions(merge(self.filters, {"name": _words(self.phrases)}), (), (said,))


def refuse_wordless(request: SearchRequest) -> None:
    """Refuse a query that cannot have results, because it contains nothing that its mode can search for.

    Raises:
        UsageError: The query has neither a word nor a quoted text (in the mode symbolic: nor a glob).
    """
    text = read_fields(request.query, request.filters)[0].strip()
    if not text or WORD.search(text) or (request.mode == "symbolic" and not {*text}.isdisjoint("*?[")):
        return
    if not any(map(str.strip, _PHRASE.findall(text))):
        said = "give words; a text in quotes ('\"=>\"') is looked for as it stands"
        hint = Words(f"{said}, and `lci grep -F` takes any text", said)
        raise UsageError(f"there is no word in the query {text}", hint=hint)


def _is_long(text: str) -> bool:
    if (len(text) < _SURELY_SHORT and "\n" not in text) or ("\n" not in text and _PHRASE.fullmatch(text.strip())):
        return False
    from lci_py.search.query.long import is_long

    return is_long(text)


def read_text(text: str) -> TextQuery:
    """Parse a query that is ranked by text. In a long question, quotes are part of the prose and require nothing."""
    if _is_long(text):
        from lci_py.search.query.long import read_long

        long = read_long(text)
        said = (_LONG_QUOTES,) if _PHRASE.search(text) else ()
        return TextQuery(
            long.text, (), long.words, long.terms, long.names, files=long.files, relaxed=said, raw=text, long=True
        )
    phrases = tuple(phrase for phrase in _PHRASE.findall(text) if phrase.strip())
    relaxed: tuple[str, ...] = ()
    if phrases and WORD.search(_PHRASE.sub(" ", text)):
        phrases, relaxed = (), (_AMID_WORDS,)
    plain = text.replace('"', " ")
    words = tuple(WORD.findall(plain))
    content = [word for word in words if word.lower() not in STOPWORDS] or list(words)
    weights: dict[str, float] = {}
    for word in content:
        pieces = parts(word)
        for piece in pieces:
            if len(pieces) > 1 and len(piece) == 1:
                continue  # the `e` of `e_mail` says nothing alone
            weights[stem(piece)] = weights.get(stem(piece), 0.0) + 1.0
        if len(pieces) > 1:
            weights[joined_spelling(word)] = weights.get(joined_spelling(word), 0.0) + 1.5
    # Words that stand together in prose may be one identifier in code: "connection pool", ConnectionPool.
    for first, second in itertools.pairwise(content):
        compound = joined_spelling(first + second)
        if compound not in weights and len(compound) <= 40:
            weights[compound] = 0.7
    identifiers = tuple(dict.fromkeys(word for word in words if _IDENTIFIER.match(word)))
    return TextQuery(plain.strip(), phrases, words, tuple(weights.items()), identifiers, relaxed=relaxed, raw=text)


def read_symbolic(text: str, filters: Filters) -> Conditions:
    """Parse a symbolic query into filters and quoted phrases. A bare name is a glob on the symbol's name.

    Raises:
        UsageError: A term names a field that does not exist, or has no value.
    """
    values: dict[str, list[str]] = {}
    phrases: list[str] = []
    bare = False
    for match in _TERM.finditer(text):
        field = match["field"]
        value = match["quoted"] if match["quoted"] is not None else match["plain"]
        if field is None:
            field = "name"
        elif field not in FIELDS:
            raise UsageError(f"unknown field {field!r} in the query", hint=f"fields are: {', '.join(FIELDS)}")
        if not value.strip():
            message = f"{match['field']}: has no value" if match["field"] else "nothing is quoted"
            raise UsageError(message, hint=f"write {field}:VALUE" if match["field"] else 'write "WORDS"')
        if match["field"] is None and match["quoted"] is not None:
            phrases.append(value)
        else:
            bare |= match["field"] is None
            values.setdefault(field, []).append(value)
    if phrases and bare:
        values["name"] += _words(phrases)
        return Conditions(merge(filters, values), (), (_AMID_WORDS,))
    return Conditions(merge(filters, values), tuple(phrases))


def _words(phrases: Iterable[str]) -> list[str]:
    return [word for phrase in phrases for word in WORD.findall(phrase)]


def read_fields(text: str, filters: Filters) -> tuple[str, Filters]:
    """Split a ranked query into (text, filters). A `field:value` term with an unknown field stays in the text."""
    if ":" not in text or _is_long(text):
        return text, filters
    values: dict[str, list[str]] = {}

    def take(match: re.Match[str]) -> str:
        if match["field"] is None:
            return match[0]
        values.setdefault(match["field"], []).append(match["quoted"] or match["plain"])
        return " "

    rest = _FIELD.sub(take, text)
    return (rest.strip(), merge(filters, values)) if values else (text, filters)


def merge(filters: Filters, more: Mapping[str, Sequence[str]]) -> Filters:
    """The filters with the values in `more` added. The values of a field are alternatives, from flags or the query."""
    merged: dict[str, Any] = {field: (*getattr(filters, field), *values) for field, values in more.items()}
    return replace(filters, **merged)
