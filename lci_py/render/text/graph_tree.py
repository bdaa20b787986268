"""Call trees: as text, and as diagrams for Graphviz and Mermaid."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from lci_py.render.text.graph import name_of
from lci_py.render.text.style import UNICODE, Signs, Style, shorten, visible_line, width_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lci_py.types.graph import Branch, Format, GraphAnswer, Place

_BRANCHES = ("├── ", "└── ", "│   ", "    ")
_ASCII_BRANCHES = ("|-- ", "`-- ", "|   ", "    ")
_DOT = str.maketrans({"\\": "\\\\", '"': '\\"'})
# Mermaid's entities, which start with # and need no &.
_MERMAID = str.maketrans({char: f"#{ord(char)};" for char in '#"<>&`;'})


def tree_lines(branches: Iterable[Branch], style: Style, signs: Signs, width: int | None) -> Iterator[str]:
    """One line per place: `name  path:line`, and what is to be said of it."""
    draws = _BRANCHES if signs == UNICODE else _ASCII_BRANCHES
    for root in branches:
        yield _line(root, "", style, signs, width)
        yield from _below(root, "", draws, style, signs, width)


def _below(
    branch: Branch, prefix: str, draws: tuple[str, ...], style: Style, signs: Signs, width: int | None
) -> Iterator[str]:
    middle, end, down, blank = draws
    for place, child in enumerate(branch.children, 1):
        is_last = place == len(branch.children)
        yield _line(child, prefix + (end if is_last else middle), style, signs, width)
        yield from _below(child, prefix + (blank if is_last else down), draws, style, signs, width)


def _line(branch: Branch, prefix: str, style: Style, signs: Signs, width: int | None) -> str:
    place = branch.place
    name = name_of(place)
    where = f"{visible_line(place.file)}:{place.line}"
    marks = [
        "ambiguous" if branch.ambiguous else "",
        "cycle" if branch.cycle else "",
        "shown elsewhere" if branch.repeated else "",
        f"+{branch.more}" if branch.more else "",
    ]
    tail = "".join(f"  ({mark})" for mark in marks if mark)
    if not name:
        return f"{style(prefix, 'dim')}{_where(place, style)}{style(tail, 'dim')}"
    if width is not None:
        room = width - width_of(prefix) - width_of(tail)
        if width_of(name) + 2 + width_of(where) > room:
            # The name says most; the place is left out rather than cut, since half a place leads nowhere.
            short = shorten(name, max(room, 12), signs.ellipsis)
            return f"{style(prefix, 'dim')}{style(short, 'bold')}{style(tail, 'dim')}"
    return f"{style(prefix, 'dim')}{style(name, 'bold')}  {_where(place, style)}{style(tail, 'dim')}"


def _where(place: Place, style: Style) -> str:
    return f"{style(visible_line(place.file), 'path')}:{style(str(place.line), 'line')}"


def render_diagram(answer: GraphAnswer, shape: Format, *, file: IO[str]) -> None:
    """Write a tree as a diagram, each place once; arrows lead from the caller to what it calls.

    Args:
        answer: Of `lci tree`.
        shape: "dot" or "mermaid".
        file: Where.
    """
    names: dict[str, str] = {}
    labels: dict[str, tuple[str, str]] = {}
    arrows: dict[tuple[str, str], bool] = {}  # and whether it is certain
    pending = list(reversed(answer.branches))
    while pending:
        branch = pending.pop()
        node = names.setdefault(branch.place.id, f"n{len(names)}")
        labels.setdefault(node, (name_of(branch.place), f"{visible_line(branch.place.file)}:{branch.place.line}"))
        for child in branch.children:
            other = names.setdefault(child.place.id, f"n{len(names)}")
            arrow = (other, node) if answer.direction == "callers" else (node, other)
            arrows[arrow] = arrows.get(arrow, False) or not child.ambiguous
        pending += reversed(branch.children)
    write: Callable[[dict[str, tuple[str, str]], dict[tuple[str, str], bool]], Iterator[str]]
    write = _dot if shape == "dot" else _mermaid
    file.writelines(line + "\n" for line in write(labels, arrows))


def _dot(labels: dict[str, tuple[str, str]], arrows: dict[tuple[str, str], bool]) -> Iterator[str]:
    yield "digraph calls {"
    yield "  rankdir=LR;"
    yield '  node [shape=box, fontname="monospace"];'
    for node, label in labels.items():
        text = "\\n".join(part.translate(_DOT) for part in label if part)
        yield f'  {node} [label="{text}"];'
    for (source, target), certain in arrows.items():
        yield f"  {source} -> {target}{'' if certain else ' [style=dashed]'};"
    yield "}"


def _mermaid(labels: dict[str, tuple[str, str]], arrows: dict[tuple[str, str], bool]) -> Iterator[str]:
    yield "flowchart LR"
    for node, label in labels.items():
        text = "<br/>".join(part.translate(_MERMAID) for part in label if part)
        yield f'  {node}["{text}"]'
    for (source, target), certain in arrows.items():
        yield f"  {source} {'-->' if certain else '-.->'} {target}"
