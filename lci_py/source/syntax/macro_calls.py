"""Finds calls in the text of C macros, which the grammar does not parse, and functions that macros define."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lci_py.source.syntax.arity import NAMED, UNKNOWN
from lci_py.source.text.patterns import lazily
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node

#: At most so many functions that one use of a macro defines, and so many uses of such macros in a file.
_MOST_DEFINED, _MOST_USES = 32, 200
#: Types of nodes whose children are outside of functions.
_OUTSIDE = frozenset(
    {"translation_unit", "declaration_list", "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "ERROR"}
)  # fmt: skip
_WORD = lazily(rb"[A-Za-z_]\w*")
#: Bytes of a macro's text that are read.
_READ = 20_000
_TOKEN = lazily(
    rb"(?P<blank>/\*.*?\*/|//[^\n]*|\\\r?\n|\s+)|(?P<word>[A-Za-z_]\w*)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|"
    rb"\d[\w.]*|##|::|->|.",
    re.DOTALL,
)
#: A text without names, such as a number.
_WORDLESS = lazily(rb"(?:[^\w'\"/\\]|\b0[xX][0-9a-fA-F]+[uUlL]*\b|\b\d+[uUlL]*\b)*")
_LINE_END = lazily(rb"(?<!\\)(?<!\\\r)\n")
#: Words before an opening parenthesis that are no calls.
_KEYWORDS = frozenset(
    b"""if while for switch return sizeof typeof __typeof__ __typeof alignof _Alignof alignas static_assert
    _Static_assert catch noexcept throw do else case new delete int char long short unsigned signed float double void
    bool const struct union enum operator and or not""".split()
)
#: The same, and neither is anything inside the parentheses.
_UNCALLED = frozenset(
    b"""__attribute__ __attribute __declspec _Pragma __pragma defined asm __asm__ __asm decltype __has_attribute
    __has_builtin __has_include __has_feature""".split()
)
#: A word before a name declares it, except for these.
_LEADERS = frozenset(
    b"return else do case throw co_return co_await co_yield new delete goto and or not typename".split()
)
#: Names of constants, which hardly ever stand for a function.
_CONSTANT = lazily(rb"[A-Z0-9_]+")


class MacroCall(NamedTuple):
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
    """(start, end) of a macro's text with its parameters. The grammar's node may end too early, at a comment."""
    name = node.child_by_field_name("name")
    start = name.end_byte if name is not None else node.start_byte
    end = _LINE_END.search(source, start, start + _READ)
    return start, end.start() if end is not None else min(len(source), start + _READ)


def _tokens(source: bytes, start: int, end: int) -> tuple[list[_Token], list[bytes] | None]:
    """(tokens of a macro's text, names of its parameters); None for names if the macro has no parentheses."""
    tokens = [
        _Token(match.group(), match.start(), match.lastgroup == "word")
        for match in _TOKEN.finditer(source, start, end)
        if match.lastgroup != "blank"
    ]
    if not tokens or tokens[0].text != b"(" or tokens[0].start != start:
        return tokens, None
    close = next((index for index, token in enumerate(tokens) if token.text == b")"), len(tokens) - 1)
    return tokens[close + 1 :], [token.text for token in tokens[:close] if token.is_word]


def called_in(source: bytes, start: int, end: int) -> list[MacroCall]:
    """The calls in a macro's text, in the order of the text.

    Parameters of the macro are not calls, nor are names that are pasted together (`f_##x`). If the text is just a name,
    it counts as a call of that name with `arity.NAMED` arguments.
    """
    if _WORDLESS.fullmatch(source, start, end):
        return []
    tokens, parameters = _tokens(source, start, end)
    if parameters is None:
        inner = tokens
        while len(inner) > 2 and inner[0].text == b"(" and inner[-1].text == b")":
            inner = inner[1:-1]
        if len(inner) == 1 and inner[0].is_word and not _CONSTANT.fullmatch(inner[0].text):
            return (
                [MacroCall(inner[0].text.decode(), "", inner[0].start, NAMED)] if inner[0].text not in _KEYWORDS else []
            )
    return list(_calls(tokens, {*(parameters or ()), b"__VA_ARGS__"}))


def _calls(tokens: list[_Token], parameters: set[bytes]) -> Iterator[MacroCall]:
    resume = 0
    for index, token in enumerate(tokens[:-1]):
        if index < resume:
            continue
        if token.text in _UNCALLED:
            resume = _after(tokens, index + 1)
            continue
        if not token.is_word or tokens[index + 1].text != b"(" or token.text in _KEYWORDS or token.text in parameters:
            continue
        receiver = _receiver(tokens, index)
        before = tokens[index - 1] if index else None
        if receiver is None or (before is not None and before.is_word and before.text not in _LEADERS):
            continue
        # A receiver that is a parameter may be any object.
        if receiver.encode() not in parameters:
            yield MacroCall(token.text.decode(), receiver, token.start, _arguments(tokens, index + 1))


def _after(tokens: list[_Token], opening: int, left: bytes = b"(", right: bytes = b")") -> int:
    """The index of the token after the bracket that closes the bracket at index `opening`."""
    depth = 0
    for index in range(opening, len(tokens)):
        depth += (tokens[index].text == left) - (tokens[index].text == right)
        if depth <= 0:
            return index + 1
    return len(tokens)


def _receiver(tokens: list[_Token], index: int) -> str | None:
    """The receiver of a name: `a` in `a::b`, or "". None if the name is pasted, or a member of a longer expression."""
    parts: list[str] = []
    while index > 0 and tokens[index - 1].text in (b"##", b"::", b"->", b"."):
        joint = tokens[index - 1].text
        if joint == b"##" or index < 2 or not tokens[index - 2].is_word:
            return "" if joint == b"::" and not parts else None
        parts[:0] = [tokens[index - 2].text.decode(), joint.decode()]
        index -= 2
    return "".join(parts[:-1])


def _arguments(tokens: list[_Token], opening: int) -> int:
    depth = count = 0
    for index in range(opening, len(tokens)):
        text = tokens[index].text
        if text in (b"(", b"[", b"{"):
            depth += 1
        elif text in (b")", b"]", b"}"):
            depth -= 1
            if not depth:
                return count + (index > opening + 1)
        elif text in (b"__VA_ARGS__", b"##", b"..."):
            return UNKNOWN
        elif text == b"," and depth == 1:
            count += 1
    return UNKNOWN


class Template:
    """A macro whose text defines functions, with names pasted together from its arguments: `int get_ ## x(void) {`."""

    def __init__(self, source: bytes, start: int, end: int) -> None:
        self._tokens, self._parameters = _tokens(source, start, end)

    def defined(self, arguments: list[bytes]) -> list[tuple[str, list[MacroCall]]]:
        """(name, calls in it) of each function that one use of the macro, with these arguments, defines."""
        values = dict(zip(self._parameters or (), arguments, strict=False))
        tokens = _substitute(self._tokens, values)
        functions: list[tuple[str, list[MacroCall]]] = []
        index = 0
        while index < len(tokens) and len(functions) < _MOST_DEFINED:
            if tokens[index].text == b"{":
                index = _after(tokens, index, b"{", b"}")
                continue
            body = _after(tokens, index + 1) if tokens[index + 1 : index + 2] and _is_named(tokens, index) else -1
            if body < 0 or body >= len(tokens) or tokens[body].text != b"{":
                index += 1
                continue
            end = _after(tokens, body, b"{", b"}")
            functions.append((tokens[index].text.decode("utf-8", "replace"), list(_calls(tokens[body:end], set()))))
            index = end
        return functions


def _is_named(tokens: list[_Token], index: int) -> bool:
    token = tokens[index]
    return token.is_word and token.text not in _KEYWORDS and tokens[index + 1].text == b"("


def _substitute(tokens: list[_Token], values: dict[bytes, bytes]) -> list[_Token]:
    """Replace the parameters in a macro's tokens by `values`, and paste names together at `##`."""
    output: list[_Token] = []
    is_pasted = False
    for token in tokens:
        if token.text == b"##":
            is_pasted = True
            continue
        text = values.get(token.text, token.text) if token.is_word else token.text
        if is_pasted and output:
            before = output.pop()
            text, token = before.text + text, before
        output.append(_Token(text, token.start, _WORD.fullmatch(text) is not None))
        is_pasted = False
    return output


def templates(source: bytes, expansions: list[tuple[Node, int, int]]) -> dict[bytes, Template]:
    """Maps the names of a file's macros that define functions to templates."""
    by_name: dict[bytes, Template] = {}
    for node, start, end in expansions:
        text = source[start:end] if source.startswith(b"(", start) else b""
        if b"##" in text and b"{" in text:
            name = node.child_by_field_name("name")
            if name is not None and name.text is not None:
                by_name.setdefault(name.text, Template(source, start, end))
    return by_name


def uses(
    templates: dict[bytes, Template], calls: list[dict[str, list[Node]]]
) -> Iterator[tuple[Node, Node, str, list[MacroCall]]]:
    """(node of the use, node of the macro's name, name of the function, calls in the function) of each function that a
    top-level use of a macro defines.
    """
    remaining = _MOST_USES
    for captures in calls if templates else ():
        callee, call = captures["callee"][0], captures["call"][0]
        template = templates.get(callee.text or b"")
        parent = call.parent
        if parent is not None and parent.type in ("expression_statement", "ERROR"):
            parent = parent.parent or parent
        group = call.child_by_field_name("arguments")
        if template is None or parent is None or group is None or parent.type not in _OUTSIDE or not remaining:
            continue
        remaining -= 1
        arguments = [child.text or b"" for child in group.named_children if child.type != "comment"]
        for name, called in template.defined(arguments):
            yield call, callee, name, called
