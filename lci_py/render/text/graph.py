"""Callers, callees, references and call trees for a person; call trees also as Graphviz and Mermaid diagrams."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING

from lci_py.render.text.style import (
    UNICODE,
    Signs,
    Style,
    plural,
    shorten,
    signs_for,
    visible_line,
    visible_path,
    width_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from lci_py.types.graph import Branch, Format, GraphAnswer, Place

# Wider cells are not padded to: one long path should not push every other row to the right.
_MOST = (52, 56, 40)
#: What the last column is left on a terminal, if there is as much in it: lines of calls, source text.
_REST, _REST_OF_REFS = 12, 26
#: Less of it is not shown; and the least that the other columns keep.
_LEAST_REST, _LEAST_CELL = 6, 14
_INDENT = "    "
#: Lines of calls listed per row on a terminal.
_SITES = 5
_NOTES = {
    "unsupported_files": "with the word, but without identifiers (text, prose), left out",
    "elsewhere": "of something else with that name left out",
}
_BRANCHES = ("├── ", "└── ", "│   ", "    ")
_ASCII_BRANCHES = ("|-- ", "`-- ", "|   ", "    ")
_DOT = str.maketrans({"\\": "\\\\", '"': '\\"'})
# Mermaid's entities, which start with # and need no &.
_MERMAID = str.maketrans({char: f"#{ord(char)};" for char in '#"<>&`;'})


def render(
    answer: GraphAnswer, *, file: IO[str], color: bool = False, width: int | None = None, footer: bool = True
) -> None:
    """Write an answer as text.

    Args:
        answer: What to show.
        file: Where; its encoding decides between Unicode and ASCII signs.
        color: Whether to write ANSI colours.
        width: Columns of the terminal; None for a pipe, where nothing is cut.
        footer: Whether to end with how many there are, and of what.
    """
    style, signs = Style(color), signs_for(getattr(file, "encoding", None))
    table = _Table(style, signs, width, _REST_OF_REFS if answer.command == "refs" else _REST)
    if answer.command == "tree":
        file.writelines(line + "\n" for line in _tree_lines(answer.branches, style, signs, width))
    elif answer.command == "refs":
        rows = [
            (f"{_path(r.file)}:{r.line}:{r.column}", r.role, _in(r.enclosing), r.text.strip())
            for r in answer.references
        ]
        file.writelines(line + "\n" for line in table.lines(rows, last=lambda text: text))
    else:
        file.writelines(line + "\n" for line in table.lines(list(_hops(answer, signs, width)), last=style_dim(style)))
        file.writelines(line + "\n" for line in _external(answer, table, style))
    for line in _notes(answer, signs):
        file.write(style(line, "warn") + "\n")
    if footer:
        file.write(style(_footer(answer, signs), "dim") + "\n")


def render_paths(answer: GraphAnswer, *, file: IO[str]) -> None:
    """`--paths`: file:line per line; of callers each place of a call, of callees their definitions."""
    places = [(r.file, r.line) for r in answer.references]
    for item in answer.neighbours:
        lines = item.sites if answer.command == "callers" else (item.place.line,)
        places += [(item.place.file, line) for line in lines]
    file.writelines(f"{visible_path(path)}:{line}\n" for path, line in dict.fromkeys(places))


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


def seen_from(answer: GraphAnswer, root: Path, folder: str) -> GraphAnswer:
    """The answer with every path relative to `folder` instead of to the root. For people and xargs; JSON stays."""
    if os.path.samefile(root, folder):
        return answer
    from dataclasses import replace

    def path(name: str) -> str:
        return os.path.relpath(os.path.join(root, name), folder)

    def place(found: Place) -> Place:
        return found._replace(file=path(found.file))

    def branch(found: Branch) -> Branch:
        return found._replace(place=place(found.place), children=tuple(map(branch, found.children)))

    return replace(
        answer,
        targets=tuple(map(place, answer.targets)),
        neighbours=tuple(item._replace(place=place(item.place)) for item in answer.neighbours),
        external=tuple(item._replace(file=path(item.file)) for item in answer.external),
        branches=tuple(map(branch, answer.branches)),
        references=tuple(item._replace(file=path(item.file)) for item in answer.references),
        unsearched=tuple(map(path, answer.unsearched)),
    )


def name_of(place: Place) -> str:
    """What a place is called: a file has no name but its path."""
    return visible_line(place.qualified_name or place.symbol or "")


def style_dim(style: Style) -> Callable[[str], str]:
    return lambda text: style(text, "dim")


#: A place, two cells, and the rest.
Row = tuple[str, str, str, str]


class _Table:
    """Rows of a place, two columns that line up, and a rest that is cut at the edge of the terminal."""

    def __init__(self, style: Style, signs: Signs, width: int | None, rest: int) -> None:
        self.style = style
        self.signs = signs
        self.width = width
        self.rest = rest

    def lines(self, rows: Sequence[Row], last: Callable[[str], str]) -> Iterator[str]:
        """
        Args:
            rows: A place (`path:line`), two cells, and the rest.
            last: Styles the rest.
        """
        wide = self._widths(rows)
        for place, *cells, rest in rows:
            head = place + " " * max(2, wide[0] - width_of(place) + 2)
            path, _, numbers = head.partition(":")
            inner = "".join(self._cell(cell, size) for cell, size in zip(cells, wide[1:], strict=True))
            if self.width is not None and width_of(head) + width_of(inner.rstrip()) > self.width:
                inner = shorten(inner.rstrip(), max(0, self.width - width_of(head)), self.signs.ellipsis)
            plain = head + inner
            kind, blank, name = plain[len(head) :].partition(" ")
            room = None if self.width is None else max(0, self.width - width_of(plain))
            shown = "" if room is not None and room < _LEAST_REST else last(shorten(rest, room, self.signs.ellipsis))
            place = f"{self.style(path, 'path')}:{self.style(numbers, 'line')}"
            yield f"{place}{self.style(kind, 'kind')}{blank}{name}{shown}".rstrip()

    def _widths(self, rows: Sequence[Row]) -> list[int]:
        """Of the columns before the rest: as wide as what is in them, on a terminal no wider than leaves it room."""
        wide = [max((w for row in rows if (w := width_of(row[i])) <= most), default=0) for i, most in enumerate(_MOST)]
        if self.width is None:
            return wide
        wanted = min(self.rest, max((width_of(row[3]) for row in rows), default=0))
        over = sum(wide) + 2 * len(wide) + wanted - self.width
        while over > 0 and max(wide[1:]) > _LEAST_CELL:
            widest = 1 if wide[1] >= wide[2] else 2
            wide[widest] -= 1
            over -= 1
        return wide

    def _cell(self, text: str, wide: int) -> str:
        if not wide:
            return ""
        # In a pipe nothing is cut, and a row that is too long pushes only itself.
        if self.width is not None and width_of(text) > wide:
            first, _, name = text.partition(" ")
            text = f"{first} {_end(name, wide - width_of(first) - 1, self.signs.ellipsis)}"
        return text + " " * max(2, wide - width_of(text) + 2)


def _end(name: str, width: int, ellipsis: str) -> str:
    """The end of a qualified name, which says more than its beginning."""
    room = max(1, width - len(ellipsis))
    while width_of(name) > room:
        name = name[1:]
    return ellipsis + name


def _path(path: str) -> str:
    return visible_line(path)


def _in(place: Place | None) -> str:
    return f"in {name_of(place)}" if place is not None else ""


def _hops(answer: GraphAnswer, signs: Signs, width: int | None) -> Iterator[Row]:
    """Of a caller the place of its first call, and where the others are; of a callee its definition."""
    callers = answer.command == "callers"
    for item in answer.neighbours:
        place = item.place
        line, rest = (item.sites[0], item.sites[1:]) if callers and item.sites else (place.line, item.sites)
        shown = rest if width is None else rest[:_SITES]
        more = f" (+{len(rest) - len(shown)})" if len(rest) > len(shown) else ""
        sites = f"{'and' if callers else 'at'} {', '.join(map(str, shown))}{more}" if rest else ""
        sure = f"{item.step}{f' {signs.dot} ambiguous' if item.ambiguous else ''}"
        yield f"{_path(place.file)}:{line}", f"{place.kind} {name_of(place)}".rstrip(), sure, sites


def _external(answer: GraphAnswer, table: _Table, style: Style) -> Iterator[str]:
    if not answer.external:
        return
    yield style("outside the repository, or not known:", "dim")
    several = len({item.file for item in answer.external}) > 1
    wide = max((w for item in answer.external if (w := width_of(item.name)) <= _MOST[1]), default=0)
    for item in answer.external:
        name = visible_line(item.name)
        sites = ", ".join(map(str, item.sites))
        where = f"at {_path(item.file)}:{sites}" if several else f"at {sites}"
        pad = " " * max(2, wide - width_of(name) + 2)
        room = None if table.width is None else table.width - len(_INDENT)
        yield _INDENT + shorten(f"{name}{pad}{where}", room, table.signs.ellipsis)


def _notes(answer: GraphAnswer, signs: Signs) -> Iterator[str]:
    """What the answer does not cover."""
    for what, count in answer.left_out:
        noun = plural(count, "file" if what == "unsupported_files" else "place")
        yield f"{signs.warn} {noun} {_NOTES.get(what, what)}"
    for path in answer.unsearched:
        yield f"{signs.warn} {_path(path)} could not be parsed: left out"


def _footer(answer: GraphAnswer, signs: Signs) -> str:
    shown = len(answer.neighbours) + len(answer.references)
    nouns = {"callers": "caller", "callees": "callee", "refs": "reference", "tree": "place"}
    count = plural(answer.total, nouns[answer.command])
    parts = [f"{shown:,} of {count}" if answer.command != "tree" and shown < answer.total else count]
    if answer.neighbours and answer.command == "callers":
        parts[0] += f", {plural(sum(len(item.sites) for item in answer.neighbours), 'call')}"
    if answer.external:
        parts[0] += f", {len(answer.external):,} external or unknown"
    if answer.command == "tree":
        parts[0] += f" {'above' if answer.direction == 'callers' else 'below'}, to depth {answer.depth}"
    if answer.targets and answer.command != "tree":
        first, rest = answer.targets[0], len(answer.targets) - 1
        more = f" (+{rest})" if rest else ""
        parts.append(f"{first.kind} {name_of(first)} {_path(first.file)}:{first.line}{more}")
    if answer.index.stale_files:
        parts.append(f"{plural(answer.index.stale_files, 'file')} changed since: run `lci index`")
    return f" {signs.dot} ".join(parts)


def _tree_lines(branches: Iterable[Branch], style: Style, signs: Signs, width: int | None) -> Iterator[str]:
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
