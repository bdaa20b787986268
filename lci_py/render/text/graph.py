"""`lci callers`, `lci callees`, `lci refs` and `lci tree` as text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.render.text.style import (
    UNICODE,
    Layout,
    Page,
    Style,
    goes_on,
    plural,
    shell_quote,
    shorten,
    shorten_start,
    shown_of,
    visible,
    visible_line,
    width_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lci_py.types.graph import Branch, GraphAnswer, OtherMeaning, Place, Through

#: A path, the numbers after it (`line` or `line:column`), two cells, and the rest of the line.
TableRow = tuple[str, str, str, str, str]

# A wider cell is not padded to: one long path should not push every other row to the right.
_MAX_CELLS = (52, 56, 40)
#: Columns of source text that a reference shows at least, if it has so many.
_CODE = 48
#: A rest narrower than this is left out; a name is not made narrower than that.
_LEAST_REST, _LEAST_NAME = 6, 14
_INDENT, _GROUPED = "    ", "  "
#: Lines of calls listed per row on a terminal.
_SITES = 5
#: Names whose calls a note mentions.
_NAMES = 3
#: Other meanings of a name that a note mentions; to a client of `lci mcp`, which has no JSON.
_OTHERS, _CANDIDATES = 2, 8
_NAME_PARTS = re.compile(r"::|[.#](?=\w)")
_NOTES = {
    "unsupported_files": "of prose with this word left out",
    "elsewhere": "of other things with this name left out",
}
_BRANCHES = ("├── ", "└── ", "│   ", "    ")
_ASCII_BRANCHES = ("|-- ", "`-- ", "|   ", "    ")


def render(answer: GraphAnswer, page: Page, *, footer: bool = True) -> None:
    """Write an answer as text; `footer` adds the number of results and the definition that was asked for."""
    layout = page.layout
    if answer.command == "tree":
        page.lines(_tree_lines(answer.branches, layout))
    elif answer.command == "refs":
        rows = [
            (
                visible_line(r.file),
                f"{r.line}:{r.column}",
                r.role,
                f"in {_name(r.enclosing)}" if r.enclosing else "",
                _code(r.text, layout),
            )
            for r in answer.references
        ]
        page.lines(Table(layout, _CODE).lines(rows))
    else:
        hops = list(_hops(answer, layout))
        page.lines(Table(layout, 0).lines(hops, "dim"))
        page.lines(_external(answer, layout))
    for line in notes(answer, layout, footer=footer):
        page.sentence(f"{layout.signs.warn} {line}", hanging=_GROUPED)
    if footer:
        more = goes_on(layout, len(answer.neighbours) + len(answer.references), answer.total, answer.offset)
        page.end([*_summary(answer), *more], answer.index)


def also_named(others: Sequence[OtherMeaning], layout: Layout) -> str:
    """A sentence about the other meanings of an ambiguous name; "" if the name has no other meaning."""
    if not others:
        return ""
    limit = _CANDIDATES if layout.tools else _OTHERS
    some = ", ".join(visible_line(other.name) for other in others[:limit])
    more = f" (+{len(others) - limit:,})" if len(others) > limit else ""
    return f"also has this name, left out: {some}{more}{layout.words('; --all takes all', '')}"


def _name(place: Place) -> str:
    """The name of a definition; "" for a file, which has only its path."""
    return visible_line(place.qualified_name or place.symbol or "")


# --- callers, callees, references -------------------------------------------------------------------------------


class Table:
    """Lays out rows: a location, two aligned columns, and a last text, which is cut at the edge of the terminal. In a
    pipe, or if the columns do not fit, a path is printed once above its rows, as grep tools do. In a pipe nothing is
    aligned, since the reader may pay for each blank.
    """

    def __init__(self, layout: Layout, min_rest: int) -> None:
        """`min_rest` is the number of terminal columns that a row should have for its last text."""
        self.style, self.signs, self.width, _ = layout
        self.min_rest = min_rest

    def lines(self, rows: Sequence[TableRow], *style_of_rest: str) -> Iterator[str]:
        """Yields the lines of a table; `style_of_rest` names the styles of the last text of each row."""
        if self.width is None:
            yield from self._piped_lines(rows, style_of_rest)
            return
        columns = ((f"{row[0]}:{row[1]}" for row in rows), (row[2] for row in rows), (row[3] for row in rows))
        widths = [self._widest(cells, column) for column, cells in enumerate(columns)]
        if self._fit(rows, widths):
            for path, numbers, *cells, rest in rows:
                location = f"{path}:{numbers}"
                text = f"{self.style(path, 'path')}:{self.style(numbers, 'line')}"
                pad = max(2, widths[0] - width_of(location) + 2)
                yield text + " " * pad + self._inner(cells, widths[1:], rest, width_of(location) + pad, style_of_rest)
            return
        widths = self._narrow_columns(rows, max((len(row[1]) for row in rows), default=0), widths[1:])
        above = None
        for path, numbers, *cells, rest in rows:
            if path != above:
                above = path
                yield self.style(path, "path")
            head = numbers.rjust(widths[0]) if ":" not in numbers else numbers.ljust(widths[0])
            indent = len(_GROUPED) + len(head) + 2
            inner = self._inner(cells, widths[1:], rest, indent, style_of_rest)
            yield f"{_GROUPED}{self.style(head, 'line')}  {inner}".rstrip()

    def _piped_lines(self, rows: Sequence[TableRow], style_of_rest: tuple[str, ...]) -> Iterator[str]:
        above = None
        for path, numbers, *cells, rest in rows:
            if path != above:
                above = path
                yield self.style(path, "path")
            kind, blank, name = "  ".join(filter(None, cells)).partition(" ")
            line = f"{self.style(numbers, 'line')} {self.style(kind, 'kind')}{blank}{name}"
            yield f"{line}  {self.style(rest, *style_of_rest)}" if rest else line

    def _widest(self, cells: Iterable[str], column: int) -> int:
        return max((size for cell in cells if (size := width_of(cell)) <= _MAX_CELLS[column]), default=0)

    def _fit(self, rows: Sequence[TableRow], widths: Sequence[int]) -> bool:
        """Whether every row fits on one line: its cells, and `min_rest` columns of its last text."""
        assert self.width is not None
        columns = sum(size + 2 for size in widths[1:] if size)
        for path, numbers, *cells, rest in rows:
            head = max(widths[0], width_of(path) + 1 + width_of(numbers))
            long = sum(max(0, width_of(cell) - size) for cell, size in zip(cells, widths[1:], strict=True))
            if head + columns + long + (2 + min(self.min_rest, width_of(rest)) if self.min_rest else 0) > self.width:
                return False
        return True

    def _narrow_columns(self, rows: Sequence[TableRow], numbers: int, widths: Sequence[int]) -> list[int]:
        """The column widths for rows below a path. The first cell (a name or a role) stays whole as long as possible;
        the second cell makes room for it and for the last text.
        """
        assert self.width is not None
        rest_width = min(self.min_rest, max((width_of(row[4]) for row in rows), default=0))
        room = self.width - len(_GROUPED) - numbers - 2 - (rest_width + 2 if rest_width else 0)
        first = min(max((width_of(row[2]) for row in rows), default=0), max(room, _LEAST_NAME))
        second = min(widths[1], room - first - 2)
        # Of the name around a reference a part says something, of a step's name it does not.
        if second < (_LEAST_NAME if self.min_rest else widths[1]):
            second = 0
        return [numbers, first, second]

    def _inner(
        self, cells: Sequence[str], widths: Sequence[int], rest: str, indent: int, style_of_rest: tuple[str, ...]
    ) -> str:
        assert self.width is not None
        inner = "".join(self._cell(cell, size) for cell, size in zip(cells, widths, strict=True))
        if indent + width_of(inner.rstrip()) > self.width:
            inner = shorten(inner.rstrip(), max(0, self.width - indent), self.signs.ellipsis)
        kind, blank, name = inner.partition(" ")
        room = max(0, self.width - indent - width_of(inner))
        text = "" if room < _LEAST_REST else shorten(rest, room, self.signs.ellipsis)
        if style_of_rest:
            text = self.style(text, *style_of_rest)
        return f"{self.style(kind, 'kind')}{blank}{name}{text}".rstrip()

    def _cell(self, text: str, width: int) -> str:
        if not width:
            return ""
        if width_of(text) > width:
            first, _, name = text.partition(" ")
            text = f"{first} {shorten_start(name, width - width_of(first) - 1, self.signs.ellipsis)}"
        return text + " " * max(2, width - width_of(text) + 2)


def _code(text: str, layout: Layout) -> str:
    """A line of source code; on a terminal tabs become blanks, since the width of a tab depends on its position."""
    code = visible(text.strip())
    return code if layout.width is None else code.replace("\t", " ")


def _hops(answer: GraphAnswer, layout: Layout) -> Iterator[TableRow]:
    """A row per neighbour: of a caller, its first call and then its other calls; of a callee, its definition."""
    callers = answer.command == "callers"
    for item in answer.neighbours:
        place = item.place
        line, rest = (item.sites[0], item.sites[1:]) if callers and item.sites else (place.line, item.sites)
        lines = rest if layout.width is None else rest[:_SITES]
        more = f" (+{len(rest) - len(lines)})" if len(rest) > len(lines) else ""
        sites = f"{'and' if callers else 'at'} {', '.join(map(str, lines))}{more}" if rest else ""
        sure = f"{item.step}{f' {layout.signs.dot} ambiguous' if item.ambiguous else ''}"
        yield visible_line(place.file), str(line), f"{place.kind} {_name(place)}".rstrip(), sure, sites


def _external(answer: GraphAnswer, layout: Layout) -> Iterator[str]:
    if not answer.external:
        return
    yield layout.style("outside the repository, or not known:", "dim")
    several = len({item.file for item in answer.external}) > 1
    width = max((w for item in answer.external if (w := width_of(item.name)) <= _MAX_CELLS[1]), default=0)
    for item in answer.external:
        name = visible_line(item.name)
        sites = ", ".join(map(str, item.sites))
        where = f"at {visible_line(item.file)}:{sites}" if several else f"at {sites}"
        if layout.width is None:
            yield f"{_GROUPED}{name} {where}"
            continue
        pad = " " * max(2, width - width_of(name) + 2)
        yield _INDENT + shorten(f"{name}{pad}{where}", layout.width - len(_INDENT), layout.signs.ellipsis)


def left_out(answer: GraphAnswer) -> str:
    """A sentence that says how many nodes of a tree are not shown, and how to see them."""
    how = "--max-nodes 0 shows all" if answer.limited_by == "--max-nodes" else "a larger --max-tokens shows more"
    return f"{answer.places_left_out:,} left out: {how}"


def notes(answer: GraphAnswer, layout: Layout, *, footer: bool) -> Iterator[str]:
    """Notes on what the answer leaves out or could not resolve."""
    if others := also_named(answer.others, layout):
        yield others
    if answer.places_left_out and not footer:
        yield left_out(answer)
    callers = "callers" in (answer.command, answer.direction)
    yield from through_notes([item for item in answer.through if callers or not item.listed], layout, callers=callers)
    if answer.unresolved_uses:
        yield from _unresolved_note(answer, layout)
    if sites := answer.mentions:
        yield f"named without a call in {plural(len(sites), 'line')}: {_first_sites(sites)}"
    if sites := answer.calls_of_unknown_name:
        verb = "takes" if len(sites) == 1 else "take"
        yield f"{plural(len(sites), 'call')} {verb} a name that is not written and may mean it: {_first_sites(sites)}"
    for what, count in answer.left_out:
        noun = plural(count, "file" if what == "unsupported_files" else "place")
        note = f"{noun} {_NOTES.get(what, what)}"
        if what == "unsupported_files":
            name = _last_name(answer.query)
            note += layout.words(f": `lci grep -w {shell_quote(name)}`", f": grep for {visible_line(name)}")
        yield note
    for path in answer.unsearched:
        yield f"{visible_line(path)} could not be parsed: left out"


def _first_sites(sites: Sequence[tuple[str, int]]) -> str:
    text = ", ".join(f"{visible_line(file)}:{line}" for file, line in sites[:_NAMES])
    return text + (f" and {len(sites) - _NAMES:,} more" if len(sites) > _NAMES else "")


def _unresolved_note(answer: GraphAnswer, layout: Layout) -> Iterator[str]:
    """The number of calls of the asked name that have no known target, and the command that lists the calls."""
    names = sorted({place.symbol for place in answer.targets if place.symbol}) or [_last_name(answer.query)]
    count = answer.unresolved_uses
    if answer.command != "callees" and answer.direction != "callees":
        shell = " and ".join(f"`lci refs {shell_quote(name)} --role call`" for name in names[:_NAMES])
        commands = layout.words(shell, "`refs` of " + " and ".join(map(visible_line, names[:_NAMES])))
        called = f"of {visible_line(names[0])}" if len(names) == 1 else "of these names"
        lists = "lists all calls" if len(names) == 1 or layout.tools else "list all calls"
        yield f"{plural(count, 'call')} {called} without a known target: {commands} {lists}"


def through_notes(through: Sequence[Through], layout: Layout, *, callers: bool) -> Iterator[str]:
    """Notes on declared methods: callers call through them, or their implementations are too many to list."""
    for item in through[:_NAMES]:
        name = _name(item.place)
        text = f"{plural(item.calls, 'call')} {'through' if callers else 'of'} {name}, with "
        text += plural(item.types, "implementation")
        shell = f"`lci callers {shell_quote(name)}`" if callers else f"`lci def {shell_quote(_last_name(name))}`"
        tool = f"`callers` of {name}" if callers else f"`search` with the name {_last_name(name)}"
        yield text if item.listed else f"{text}: {layout.words(shell, tool)} lists them"
    if rest := through[_NAMES:]:
        calls = plural(sum(item.calls for item in rest), "call")
        yield f"{calls} through {plural(len(rest), 'more method')} with implementations"


def _last_name(name: str) -> str:
    return _NAME_PARTS.split(name)[-1]


def _summary(answer: GraphAnswer) -> list[str]:
    """The parts of the footer: the number of results, and the definition that was asked for."""
    count = len(answer.neighbours) + len(answer.references)
    nouns = {"callers": "caller", "callees": "callee", "refs": "reference", "tree": "place"}
    noun = nouns[answer.command]
    if answer.command == "tree":
        missing = answer.places_left_out
        where = "above" if answer.direction == "callers" else "below"
        summary = f"{shown_of(answer.total - missing, answer.total, noun)} {where}, to depth {answer.depth}"
        outside = f"{plural(answer.unresolved_uses, 'call')} external or unknown: `lci callees` lists them"
        complete = answer.direction == "callers" or not answer.unresolved_uses
        return [summary, *([] if complete else [outside]), *([left_out(answer)] if missing else [])]
    parts = [shown_of(count, answer.total, noun)]
    if answer.neighbours and answer.command == "callers":
        parts[0] += f", {plural(sum(len(item.sites) for item in answer.neighbours), 'call')}"
    if answer.external:
        parts[0] += f", {len(answer.external):,} external or unknown"
    if answer.targets:
        first, rest = answer.targets[0], len(answer.targets) - 1
        more = f" (+{rest})" if rest else ""
        parts.append(f"{first.kind} {_name(first)} {visible_line(first.file)}:{first.line}{more}")
    return parts


# --- trees ------------------------------------------------------------------------------------------------------


def _tree_lines(branches: Iterable[Branch], layout: Layout) -> Iterator[str]:
    """The lines of a tree, one per node: `name  path:line`, and remarks in parentheses."""
    draws = _BRANCHES if layout.signs == UNICODE else _ASCII_BRANCHES
    for root in branches:
        yield _tree_line(root, "", layout)
        yield from _subtree_lines(root, "", draws, layout)


def _subtree_lines(branch: Branch, prefix: str, draws: tuple[str, ...], layout: Layout) -> Iterator[str]:
    middle, end, down, blank = draws
    for number, child in enumerate(branch.children, 1):
        is_last = number == len(branch.children)
        yield _tree_line(child, prefix + (end if is_last else middle), layout)
        yield from _subtree_lines(child, prefix + (blank if is_last else down), draws, layout)


def _tree_line(branch: Branch, prefix: str, layout: Layout) -> str:
    place, style = branch.place, layout.style
    name, where = _name(place), f"{visible_line(place.file)}:{place.line}"
    marks = [
        f"{layout.signs.times}{branch.alike}" if branch.alike > 1 else "",
        "ambiguous" if branch.ambiguous else "",
        "cycle" if branch.cycle else "",
        "shown elsewhere" if branch.repeated else "",
        f"+{branch.more}" if branch.more else "",
    ]
    tail = "".join(f"  ({mark})" for mark in marks if mark)
    if not name:
        return f"{style(prefix, 'dim')}{_where(place, style)}{style(tail, 'dim')}"
    if layout.width is not None:
        room = layout.width - width_of(prefix) - width_of(tail)
        if width_of(name) + 2 + width_of(where) > room:
            # The name says most; the place is left out rather than cut, since half a place leads nowhere.
            short = shorten(name, max(room, 12), layout.signs.ellipsis)
            return f"{style(prefix, 'dim')}{style(short, 'bold')}{style(tail, 'dim')}"
    return f"{style(prefix, 'dim')}{style(name, 'bold')}  {_where(place, style)}{style(tail, 'dim')}"


def _where(place: Place, style: Style) -> str:
    return f"{style(visible_line(place.file), 'path')}:{style(str(place.line), 'line')}"
