"""Colours code: each line becomes pieces of text, each with the name of its style."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.cli.pick.questions import preview
from lci_py.render.text.style import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lci_py.app import Engine
    from lci_py.cli.pick.questions import Entry, Text

#: A style and the text that has it.
Piece = tuple[str, str]
#: Languages that Pygments calls otherwise.
_LEXERS = {"ocaml_interface": "ocaml", "text": "", "tsx": "typescript"}
#: Characters of a line that are shown: a minified one has no more to say.
_WIDEST = 400


class ColouredPreview(NamedTuple):
    """The coloured preview of a list entry."""

    entry: Entry
    text: Text
    lines: list[list[Piece]]


def colour_preview(engine: Engine, entry: Entry, words: Sequence[str], *, at_words: bool) -> ColouredPreview:
    """The lines around a list entry in colours, with the query's words marked. Arguments and errors as in `preview`."""
    text = preview(engine, entry, words, at_words=at_words)
    texts = [visible(line.expandtabs(4))[:_WIDEST] for line in text.lines]
    # What is above may begin inside of a comment or a string, which would colour it all wrongly.
    lines: list[list[Piece]] = [[("", line)] for line in texts[: text.above]]
    lines += _lines(_pieces("\n".join(texts[text.above :]), text.language))
    if words:
        pattern = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))), re.IGNORECASE)
        lines = [list(_highlight(line, pattern)) for line in lines]
    return ColouredPreview(entry, text, lines)


def _pieces(code: str, language: str) -> Iterator[Piece]:
    lexer = _lexer(language)
    if lexer is None:
        yield "", code
        return
    styles = _styles()
    for kind, text in lexer.get_tokens(code):
        while kind is not None and kind not in styles:
            kind = kind.parent
        yield styles.get(kind, ""), text


@lru_cache
def _lexer(language: str) -> Any:
    """The Pygments lexer of a programming language; None if Pygments has none."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    name = _LEXERS.get(language, language)
    try:
        return get_lexer_by_name(name, stripnl=False, ensurenl=False, startinline=True) if name else None
    except ClassNotFound:
        return None


@lru_cache
def _styles() -> dict[Any, str]:
    """Maps a kind of token to the name of its style."""
    from pygments.token import Token

    names = "Keyword Comment Literal.String Literal.Number Name.Function Name.Class Name.Decorator Name.Builtin"
    styles: dict[Any, str] = {}
    for name in names.split():
        kind: Any = Token
        for part in name.split("."):
            kind = getattr(kind, part)
        styles[kind] = f"class:code.{name.rpartition('.')[2].lower()}"
    return styles


def _lines(pieces: Iterator[Piece]) -> Iterator[list[Piece]]:
    line: list[Piece] = []
    for style, text in pieces:
        first, *rest = text.split("\n")
        line.append((style, first))
        for part in rest:
            yield line
            line = [(style, part)]
    yield line


def _highlight(line: list[Piece], pattern: re.Pattern[str]) -> Iterator[Piece]:
    """Splits the pieces of a line where the pattern matches, and marks the matches; a match may span several pieces."""
    spans = [match.span() for match in pattern.finditer("".join(text for _, text in line))]
    begin = 0
    for style, text in line:
        at = 0
        for start, stop in spans:
            start, stop = max(start - begin, at), min(stop - begin, len(text))
            if start < stop:
                yield style, text[at:start]
                yield f"{style} class:match", text[start:stop]
                at = stop
        yield style, text[at:]
        begin += len(text)
