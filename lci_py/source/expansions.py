"""What is called in the text of a C macro, which the grammar leaves as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.arity import NAMED, UNKNOWN

if TYPE_CHECKING:
    from tree_sitter import Node

#: Bytes of a macro's text that are looked at.
_READ = 20_000
_TOKEN = re.compile(
    rb"(?P<blank>/\*.*?\*/|//[^\n]*|\\\r?\n|\s+)|(?P<word>[A-Za-z_]\w*)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|"
    rb"\d[\w.]*|##|::|->|.",
    re.DOTALL,
)
_LINE_END = re.compile(rb"(?<!\\)(?<!\\\r)\n")
#: Words before an opening parenthesis that call nothing.
_KEYWORDS = frozenset(
    b"""if while for switch return sizeof typeof __typeof__ __typeof alignof _Alignof alignas static_assert
    _Static_assert catch noexcept throw do else case new delete int char long short unsigned signed float double void
    bool const struct union enum operator and or not""".split()
)
#: The same for all that is in the parentheses.
_UNCALLED = frozenset(
    b"""__attribute__ __attribute __declspec _Pragma __pragma defined asm __asm__ __asm decltype __has_attribute
    __has_builtin __has_include __has_feature""".split()
)
#: A word before a name declares it, save these.
_LEADERS = frozenset(
    b"return else do case throw co_return co_await co_yield new delete goto and or not typename".split()
)
#: Constants: what they stand for is hardly ever a function.
_CONSTANT = re.compile(rb"[A-Z0-9_]+")


class Called(NamedTuple):
    """A call in a macro's text; `start` is the byte at which its name starts."""

    name: str
    receiver: str
    start: int
    arguments: int


class _Token(NamedTuple):
    text: bytes
    start: int
    is_word: bool


def text_of(source: bytes, node: Node) -> tuple[int, int]:
    """Where a macro's text starts and ends, its parameters included: a comment in it ends the grammar's node early."""
    name = node.child_by_field_name("name")
    start = name.end_byte if name is not None else node.start_byte
    end = _LINE_END.search(source, start, start + _READ)
    return start, end.start() if end is not None else min(len(source), start + _READ)


def called_in(source: bytes, start: int, end: int) -> list[Called]:
    """The calls in a macro's text, in its order.

    Names that are parameters are none of them, nor those that are put together from parts (`f_##x`). A text that is
    one name only is a call of it without arguments (`arity.NAMED`).
    """
    tokens = [
        _Token(match.group(), match.start(), match.lastgroup == "word")
        for match in _TOKEN.finditer(source, start, end)
        if match.lastgroup != "blank"
    ]
    parameters: set[bytes] = set()
    if tokens and tokens[0].text == b"(" and tokens[0].start == start:
        close = next((place for place, token in enumerate(tokens) if token.text == b")"), len(tokens) - 1)
        parameters = {token.text for token in tokens[:close] if token.is_word} | {b"__VA_ARGS__"}
        tokens = tokens[close + 1 :]
    else:
        inner = tokens
        while len(inner) > 2 and inner[0].text == b"(" and inner[-1].text == b")":
            inner = inner[1:-1]
        if len(inner) == 1 and inner[0].is_word and not _CONSTANT.fullmatch(inner[0].text):
            return [Called(inner[0].text.decode(), "", inner[0].start, NAMED)] if inner[0].text not in _KEYWORDS else []
    return list(_calls(tokens, parameters))


def _calls(tokens: list[_Token], parameters: set[bytes]) -> Iterator[Called]:
    resume = 0
    for place, token in enumerate(tokens[:-1]):
        if place < resume:
            continue
        if token.text in _UNCALLED:
            resume = _after(tokens, place + 1)
            continue
        if not token.is_word or tokens[place + 1].text != b"(" or token.text in _KEYWORDS or token.text in parameters:
            continue
        receiver = _receiver(tokens, place)
        before = tokens[place - 1] if place else None
        if receiver is None or (before is not None and before.is_word and before.text not in _LEADERS):
            continue
        # A parameter may be any object.
        if receiver.encode() not in parameters:
            yield Called(token.text.decode(), receiver, token.start, _arguments(tokens, place + 1))


def _after(tokens: list[_Token], opening: int) -> int:
    """The place after a group in parentheses."""
    depth = 0
    for place in range(opening, len(tokens)):
        depth += (tokens[place].text == b"(") - (tokens[place].text == b")")
        if depth <= 0:
            return place + 1
    return len(tokens)


def _receiver(tokens: list[_Token], place: int) -> str | None:
    """The names before one, as in `a::b`; None if it is a part of a name, or a member of something else than names."""
    parts: list[str] = []
    while place > 0 and tokens[place - 1].text in (b"##", b"::", b"->", b"."):
        joint = tokens[place - 1].text
        if joint == b"##" or place < 2 or not tokens[place - 2].is_word:
            return "" if joint == b"::" and not parts else None
        parts[:0] = [tokens[place - 2].text.decode(), joint.decode()]
        place -= 2
    return "".join(parts[:-1])


def _arguments(tokens: list[_Token], opening: int) -> int:
    depth = found = 0
    for place in range(opening, len(tokens)):
        text = tokens[place].text
        if text in (b"(", b"[", b"{"):
            depth += 1
        elif text in (b")", b"]", b"}"):
            depth -= 1
            if not depth:
                return found + (place > opening + 1)
        elif text in (b"__VA_ARGS__", b"##", b"..."):
            return UNKNOWN
        elif text == b"," and depth == 1:
            found += 1
    return UNKNOWN
