"""Expands initialisers of C and C++ that macros of the same file generate: `{ENTRY(get), ENTRY(set)}`.

Source:
    ISO/IEC 9899:2018, 6.10.3: arguments replace parameters, `##` joins its neighbours, and the result is scanned again,
    without the macro itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    import re

    from lci_py.source.syntax.captures import Captures

#: How deep macros are followed, bytes of a macro and of what an initialiser may become, texts of one macro that count.
_DEPTH, _TEXT, _MOST, _VARIANTS = 5, 4_000, 200_000, 2
_NAME = lazily(rb"[A-Za-z_]\w*")
_WORD = lazily(rb"(?<![\w.>])([A-Za-z_]\w*)")
_PLAIN = lazily(rb"&?\s*([A-Za-z_]\w*)")
_NOISE = lazily(
    rb"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\]){1,4}'|/\*[\s\S]*?\*/|//[^\n]*|\\\r?\n|\s+|(?<!#)#\s*[A-Za-z_]\w*"
)
_GROUPS = lazily(rb"[(),]")
_JOINED = lazily(rb"\s*##\s*")
#: Macros whose text is that of an initialiser: it names fields, or is a group, or uses another macro.
_INITIALISES = lazily(rb"[.{(]")


class _Macro(NamedTuple):
    """A macro: its parameters (None for a macro that takes none) and its replacement text."""

    parameters: tuple[bytes, ...] | None
    text: bytes


class MacroInitialisers:
    """Expands the macros of a file inside its initialisers."""

    def __init__(self, captured: Captures) -> None:
        """Keep the query matches of the file. Its macros are read on first use."""
        self._captured = captured

    @cached_property
    def _macros(self) -> dict[bytes, list[_Macro]]:
        macros: dict[bytes, list[_Macro]] = {}
        for node, start, end in self._captured.expansions:
            text = self._captured.source[start:end]
            if not text or len(text) > _TEXT or not _INITIALISES.search(text):
                continue
            name = node.child_by_field_name("name")
            variants = macros.setdefault((name.text or b"") if name is not None else b"", [])
            if len(variants) < _VARIANTS:
                variants.append(_macro(text))
        return macros

    def _uses(self, text: bytes) -> Iterator[re.Match[bytes]]:
        return (match for match in _WORD.finditer(text) if match.group(1) in self._macros)

    def texts(self, initialiser: bytes) -> Iterator[bytes]:
        """The possible expansions of an initialiser; nothing if it uses no macro of the file."""
        if not self._captured.expansions:
            return
        texts = [len(self._macros[match.group(1)]) for match in self._uses(initialiser)]
        for variant in range(max(texts, default=0)):
            yield b" ".join(self._replace_macros(initialiser, variant, frozenset(), [_MOST]).split())

    def _replace_macros(self, text: bytes, variant: int, inside: frozenset[bytes], budget: list[int]) -> bytes:
        parts: list[bytes] = []
        seen: set[bytes] = set()
        last = 0
        for match in self._uses(text):
            name = match.group(1)
            if match.start() < last or name in inside or len(inside) >= _DEPTH or budget[0] <= 0:
                continue
            macros = self._macros[name]
            macro = macros[min(variant, len(macros) - 1)]
            end = match.end()
            values: tuple[bytes, ...] = ()
            if macro.parameters is not None:
                opening = match.end() + (text[match.end() : match.end() + 1] == b" ")
                if text[opening : opening + 1] != b"(":
                    continue
                end = closing(text, opening, _TEXT) or len(text)
                values = tuple(_short(argument) for argument in arguments(text[opening:end]))
            new = _with_arguments(macro, values)
            parts.append(text[last : match.start()])
            last = end
            if new.startswith(b"{") and new in seen:  # an entry of a table like one before it
                parts.append(b"0")
                continue
            seen.add(new)
            budget[0] -= len(new)
            parts.append(self._replace_macros(new, variant, inside | {name}, budget))
        return b"".join((*parts, text[last:]))


def _macro(text: bytes) -> _Macro:
    """Parse the definition of a macro, of which `text` is the part after the name."""
    parameters = None
    if text[:1] == b"(" and b")" in text:
        head, _, text = text[1:].partition(b")")
        parameters = tuple(parameter.strip() for parameter in head.split(b",") if parameter.strip())
    return _Macro(parameters, _NOISE.sub(_blank, text).strip())


def _blank(match: object) -> bytes:
    text: bytes = match.group()  # type: ignore[attr-defined]
    return b"0" if text[:1] in b"\"'#" else b" "


def _short(argument: bytes) -> bytes:
    """The argument itself if it may be or contain a function; else "0", so that most entries of a table are equal."""
    argument = argument.strip()
    return argument if _PLAIN.fullmatch(argument) or any(sign in argument for sign in (b"{", b"(", b"=")) else b"0"


def _with_arguments(macro: _Macro, texts: tuple[bytes, ...]) -> bytes:
    if not macro.parameters:
        return macro.text
    values = dict(zip(macro.parameters, texts, strict=False))
    if macro.parameters[-1].endswith(b"..."):
        name = macro.parameters[-1].removesuffix(b"...").strip() or b"__VA_ARGS__"
        values[name] = b",".join(texts[len(macro.parameters) - 1 :])
    text = _NAME.sub(lambda match: values.get(match.group(), match.group()), macro.text)
    return _JOINED.sub(b"", text)


def closing(text: bytes, opening: int, limit: int) -> int:
    """The index after the `)` that closes the `(` at `opening`, within `limit` bytes; 0 if nothing closes it."""
    depth = 0
    for match in _GROUPS.finditer(text, opening, opening + limit):
        depth += (match.group() == b"(") - (match.group() == b")")
        if not depth and match.group() == b")":
            return match.end()
    return 0


def arguments(text: bytes) -> list[bytes]:
    """The comma-separated arguments in the first parentheses of a text."""
    parts: list[bytes] = []
    depth = start = 0
    for match in _GROUPS.finditer(text):
        sign = match.group()
        if sign == b"(":
            depth += 1
            start = match.end() if depth == 1 else start
        elif depth == 1:
            parts.append(text[start : match.start()])
            start = match.end()
        if sign == b")":
            depth -= 1
            if not depth:
                break
    return parts
