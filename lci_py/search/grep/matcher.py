"""Finds the lines of a file that match a pattern, as ripgrep does: a match never crosses a line end.

A literal is searched without a regular expression; other patterns run in RE2, whose time is linear in the text.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from lci_py.errors import BadPatternError
from lci_py.search.grep.syntax import WORD_CLASS, Clause, required_texts
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lci_py.types.grep import GrepRequest

#: Bytes that RE2 may take for one expression and its automata.
_MOST_MEMORY = 64 << 20
_PLAIN = re.compile(r"[^\\.+*?()|\[\]{}^$\n]*")
#: Further case variants of letters: the long s and the Kelvin sign.
_OTHER_CASES = {"s": "\u017f", "k": "\u212a"}
#: Bytes of a character at most.
_CHARACTER = 4

#: First byte of a line, and the byte after its last; likewise of a match.
Span = tuple[int, int]


class Pattern(NamedTuple):
    """A compiled pattern, with what the index needs to select files."""

    matcher: Matcher
    clauses: tuple[Clause, ...]  # of each, a line that matches holds a text, perhaps in other cases of its letters
    whole_words: bool  # the one text is not part of a longer word
    folds: bool


def compile_pattern(request: GrepRequest) -> Pattern:
    """The compiled pattern of a request.

    Raises:
        BadPatternError: The pattern is no regular expression, or could only match across lines.
    """
    text = request.pattern
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadPatternError("the pattern is not UTF-8") from None
    if request.fixed or _PLAIN.fullmatch(text):
        literal: str | None = text
        clauses: tuple[Clause, ...] = ((text,),) if text else ()
        folds, capitals, unicode = False, any(char.isupper() for char in text), text
    else:
        clauses, literal, folds, capitals, unicode = required_texts(text)
    if any("\n" in piece for clause in clauses for piece in clause):
        raise BadPatternError("the pattern has a line break", hint="a match never goes beyond its line")
    ignore = request.ignore_case or (request.smart_case and not capitals)
    if literal is not None and (not ignore or literal.isascii()) and (literal or not request.words):
        matcher: Matcher = (
            _CaseInsensitiveText(literal, request.words) if ignore else _Literal(literal.encode(), request.words)
        )
        return Pattern(matcher, ((literal,),) if literal else (), request.words, ignore)
    expression = re.escape(literal) if literal is not None else unicode
    return Pattern(_Expression(expression, text, ignore, request.words), clauses, False, ignore or folds)


def lines(matcher: Matcher, data: bytes) -> Iterator[Span]:
    """The spans of the lines that match, in order, without their line ends."""
    at, size = 0, len(data)
    while at < size and (span := matcher.find(data, at)) is not None:
        start = data.rfind(b"\n", at, span[0]) + 1 or at
        if start >= size:  # an empty match behind the last line end
            return
        stop = data.find(b"\n", span[0])
        stop = size if stop < 0 else stop
        yield start, stop
        at = stop + 1


def other_lines(data: bytes, hits: Iterable[Span]) -> Iterator[Span]:
    """The spans of the lines that do not match, in order, without their line ends."""
    at, size = 0, len(data)
    for start, stop in itertools.chain(hits, ((size, size),)):
        while at < start:
            end = data.find(b"\n", at, start)
            end = start if end < 0 else end
            yield at, end
            at = end + 1
        at = stop + 1


class _Literal:
    """Finds a literal text."""

    def __init__(self, needle: bytes, words: bool) -> None:
        self._needle, self._words = needle, words

    def find(self, data: bytes, start: int) -> Span | None:
        """The next match at or after `start`, as (start, end) in bytes; None if there is none."""
        span = self._next(data, start)
        while span is not None and self._words and not _apart(data, *span):
            span = self._next(data, span[0] + 1) if span[0] < len(data) else None
        return span

    def _next(self, data: bytes, start: int) -> Span | None:
        """The next occurrence of the text at or after `start`, even if it is only part of a word."""
        at = data.find(self._needle, start)
        return None if at < 0 else (at, at + len(self._needle))

    def spans(self, data: bytes, line: Span) -> list[Span]:
        """The matches in a line."""
        # For ripgrep a file without a last line end ends before an empty match behind its last byte.
        result, at = [], line[0]
        while at <= line[1] and at < len(data) and (span := self.find(data, at)) is not None and span[1] <= line[1]:
            result.append(span)
            at = max(span[1], at + 1)
        return result


class _CaseInsensitiveText(_Literal):
    """Finds an ASCII text, ignoring case."""

    def __init__(self, text: str, words: bool) -> None:
        super().__init__(text.encode(), words)
        self._pattern = re.compile(b"".join(map(_any_case, text)))

    def _next(self, data: bytes, start: int) -> Span | None:
        match = self._pattern.search(data, start)
        return None if match is None else match.span()


def _any_case(char: str) -> bytes:
    lower, upper = re.escape(char.lower().encode()), re.escape(char.upper().encode())
    if lower == upper:
        return lower
    other = _OTHER_CASES.get(char.lower())
    return b"(?:%s|%s|%s)" % (lower, upper, other.encode()) if other else b"[%s%s]" % (lower, upper)


class _Expression:
    """Finds matches of a regular expression. Its methods do the same as those of `_Literal`."""

    def __init__(self, expression: str, original: str, ignore: bool, words: bool) -> None:
        self._words = words
        if words:
            _re2(original, original, ignore=ignore, capture=False)  # its brackets must be right without those around it
            outside = f"[^{WORD_CLASS}]"
            expression = f"(?:^|{outside})((?:{expression}))(?:{outside}|$)"
        self._compiled = _re2(f"(?m){expression}", original, ignore=ignore, capture=words)

    def find(self, data: bytes, start: int) -> Span | None:
        match = self._compiled.search(data, start)
        if match is None:
            return None
        span: Span = match.span(1) if self._words else match.span()
        return span

    def spans(self, data: bytes, line: Span) -> list[Span]:
        result: list[Span] = []
        at = line[0]
        while at <= line[1] and at < len(data) and (match := self._compiled.search(data, at, line[1])) is not None:
            span = match.span(1) if self._words else match.span()
            # An empty match directly after another one does not count.
            if not result or span[0] > result[-1][1] or (span[0] == result[-1][1] and span[0] < span[1]):
                result.append(span)
            at = max(span[1], at + 1)
        return result


Matcher = _Literal | _Expression


def _re2(expression: str, original: str, *, ignore: bool, capture: bool) -> Any:
    try:
        import re2
    except ImportError as error:
        raise BadPatternError(
            f"regular expressions need google-re2, which cannot be loaded ({error})",
            hint="install google-re2, or search for a text with -F",
        ) from None
    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    options.never_capture = not capture
    options.case_sensitive = not ignore
    options.max_mem = _MOST_MEMORY
    try:
        return re2.compile(expression, options)
    except re2.error as error:
        reason = error.args[0] if error.args else b""
        said = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        # What follows the colon is the expression as RE2 was given it.
        message = f"{original!r} is not a valid regular expression: {said.partition(':')[0] or 'RE2 refuses it'}"
        raise BadPatternError(message, hint="search for a text with -F, or write \\ before a sign") from None


def _apart(data: bytes, start: int, stop: int) -> bool:
    """Whether the text between two offsets is a whole word: no word character precedes or follows it."""
    if start:
        before = data[start - 1 : start]
        if not before.isascii():
            before = data[max(0, start - _CHARACTER) : start]
        if _is_word(before.decode("utf-8", "ignore")[-1:]):
            return False
    after = data[stop : stop + 1]
    if not after.isascii():
        after = data[stop : stop + _CHARACTER]
    return not _is_word(after.decode("utf-8", "ignore")[:1])


def _is_word(char: str) -> bool:
    if char.isascii():
        return char.isalnum() or char == "_"
    import unicodedata

    return unicodedata.category(char) in _WORD_CATEGORIES or char in "\u200c\u200d"


_WORD_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"})
