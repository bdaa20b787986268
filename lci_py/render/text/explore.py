"""`lci explore` as text: for each file the locations of its definitions, and the numbered lines of some definitions.

The format is the same in a pipe and on a terminal, since a program and a person both read from top to bottom.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.render.text.style import sentence, shell_quote, visible, visible_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lci_py.render.text.style import Layout, Page
    from lci_py.types.explore import ExploreAnswer, Link, Piece

#: The role of a piece, followed by the piece that led to it.
_SAYS = {
    "callee": "called by", "caller": "calls", "base": "above", "derived": "below", "member": "of", "type": "type of",
    "test": "tests",
}  # fmt: skip
#: Pieces that are left out and named; tokens of an answer below which none is.
_NAMED, _SMALL = 3, 150


def render(answer: ExploreAnswer, page: Page, *, footer: bool = True) -> None:
    """Write an answer as text; `footer` adds notes on what was left out."""
    layout = page.layout
    page.lines(_lines(answer, layout, footer))


def _lines(answer: ExploreAnswer, layout: Layout, footer: bool) -> Iterator[str]:
    if answer.confidence is not None and answer.confidence.level == "low":
        # First, for a reader who may stop here.
        for line in sentence(f"{layout.signs.warn} low confidence: {answer.confidence.reason}", layout, "  "):
            yield layout.style(line, "warn")
    for chain in answer.chains:
        yield layout.style(chain_text(chain), "bold")
    files: dict[str, list[Piece]] = {}
    for piece in answer.pieces:
        files.setdefault(piece.file, []).append(piece)
    for path, pieces in files.items():
        stale = f"  {layout.signs.warn} changed since it was indexed" if any(piece.stale for piece in pieces) else ""
        yield layout.style(visible_line(path), "path") + layout.style(stale, "warn")
        yield from _in_file(pieces, layout)
    for item in answer.degraded:
        yield layout.style(f"{layout.signs.warn} degraded: {item.view}, {item.detail}", "warn")
    if footer:
        yield from _end(answer, layout)


def chain_text(chain: Sequence[Link]) -> str:
    """A call chain as text, such as `A > B > C?`, with a question mark after an ambiguous call."""
    return " > ".join(visible_line(link.name) + "?" * link.ambiguous for link in chain)


def _in_file(pieces: Sequence[Piece], layout: Layout) -> Iterator[str]:
    """The lines that show a file's pieces of code, ordered by line number; no line is repeated."""
    code: dict[int, str] = {}
    for piece in pieces:
        code.update(piece.lines)
    heads: dict[int, list[Piece]] = {}
    starts = {min(number for number, _ in piece.lines) for piece in pieces if piece.lines}
    for piece in pieces:
        # To read on takes an id.
        if not _says_its_name(piece) or (layout.tools and not piece.whole):
            if not piece.lines and piece.line in code:
                continue
            heads.setdefault(min((number for number, _ in piece.lines), default=piece.line), []).append(piece)
    last = None
    for number in sorted({*code, *heads}):
        for piece in heads.get(number, ()):
            yield _head(piece, layout)
        if number not in code:
            continue
        if last is not None and number > last + 1 and number not in heads and number not in starts:
            yield layout.style(f"    {layout.signs.ellipsis}", "dim")
        last = number
        yield f"  {layout.style(f'{number}:', 'line')} {visible(code[number])}".rstrip()


def _says_its_name(piece: Piece) -> bool:
    """Whether a match's path and code show its full name: a method's header alone does not name the method's type."""
    if not piece.lines or piece.role != "match":
        return False
    owner = piece.qualified_name.rpartition(".")[0].rpartition(".")[2]
    header = dict(piece.lines).get(piece.line, "")
    return not owner or owner in header or owner in re.split(r"[/.]", piece.file)


def _head(piece: Piece, layout: Layout) -> str:
    style = layout.style
    span = f"{piece.line}-{piece.end_line}" if piece.end_line > piece.line else str(piece.line)
    unsure = " (ambiguous)" if piece.ambiguous else ""
    why = f"  {_SAYS[piece.role]} {visible_line(piece.via)}{unsure}" if piece.via and piece.role in _SAYS else ""
    if piece.role in ("named", "changed"):
        why = f"  {piece.role}"
    return (
        f"  {style(span, 'line')} {style(piece.kind, 'kind')} {visible_line(piece.qualified_name)}{style(why, 'dim')}"
        f"{'' if piece.whole else layout.id(piece.id)}"
    )


def _end(answer: ExploreAnswer, layout: Layout) -> Iterator[str]:
    """Notes on what was left out, and on the command that shows it."""
    parts = [piece for piece in answer.pieces if piece.lines and not piece.whole]
    places = [piece for piece in answer.pieces if not piece.lines]
    rest = sorted((*parts, *places), key=lambda piece: (-piece.worth, piece.file, piece.line))[:_NAMED]
    targets = " ".join(shell_quote(f"{piece.file}:{piece.line}") for piece in rest)
    counts = ((parts, "in part"), (places, "by place"), (answer.left_out, "left out"))
    summary = ", ".join(f"{len(some)} {how}" for some, how in counts if some)
    if answer.request.max_tokens < _SMALL:
        yield f"{layout.signs.ellipsis} {len(rest) + len(answer.left_out)} more"
    elif targets or answer.left_out:
        more = f"offset {answer.request.offset + len(answer.pieces)} goes on" if answer.left_out else ""
        shell = f"`lci show {targets}`" if targets else f"--max-tokens {2 * answer.request.max_tokens}"
        tools = "; ".join(filter(None, (f"read {targets}" if targets else "", more)))
        yield from sentence(f"{layout.signs.ellipsis} {summary}: {layout.words(shell, tools)}", layout, "  ")
    if answer.info.advice:
        yield from sentence(answer.info.advice, layout, "  ")
