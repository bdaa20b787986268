"""`lci grep` as text: in a pipe `path:line:text`; on a terminal, as in ripgrep, lines below the path of their file,
and with their enclosing definitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.render.text.style import (
    Layout,
    Page,
    goes_on,
    plural,
    shorten,
    visible,
    visible_line,
    visible_path,
    width_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lci_py.types.grep import Around, FileLines, GrepAnswer, Line

_TAB = 4
#: Of the room for a line, the part before a match that is shown, if the line has to be cut before it.
_BEFORE = 3


def render(answer: GrepAnswer, page: Page, *, footer: bool = True) -> None:
    """Write an answer as text, each file once it is searched; on a terminal, `footer` adds the number of lines."""
    layout = page.layout
    style = layout.style
    started, shown = False, 0
    for found in answer.files:
        shown += sum(line.matches for line in found.lines)
        path = visible_path(found.path) if layout.width is None else visible_line(found.path)
        if answer.request.lines == "none":
            rows = iter([style(path, "path")])
        elif answer.request.lines == "count":
            rows = iter([f"{style(path, 'path')}:{style(str(found.matching), 'line')}"])
        elif layout.width is None:
            rows = _piped_lines(found, path, layout, parted=started and any(answer.request.context))
        else:
            rows = _grouped_lines(found, path, layout, parted=started)
        page.lines(rows)
        started = True
    tally = answer.tally
    if more := goes_on(layout, shown, tally.lines, answer.offset):
        lines = f"{shown:,} of {plural(tally.lines, 'line')} in {plural(tally.files, 'file')}"
        page.end([lines, *more], answer.info)
    if footer and layout.width is not None:
        lines = plural(tally.lines, "line")
        if answer.request.lines == "text" and tally.shown < tally.lines:
            lines = f"{tally.shown:,} of {lines}"
        said = [f"{lines} in {plural(tally.files, 'file')}"] if answer.request.lines != "none" else []
        said = said or [plural(tally.files, "file")]
        if started and answer.request.lines == "text":
            page.lines([""])
        page.end(said, answer.info)


def _piped_lines(found: FileLines, path: str, layout: Layout, *, parted: bool) -> Iterator[str]:
    style = layout.style
    gaps = not all(line.matches for line in found.lines)
    last = 0
    if parted:
        yield "--"
    named = style(path, "path")
    # All at once, which is quicker; a line with colours is taken apart.
    seen = [] if style.color else visible("\n".join(line.text for line in found.lines)).split("\n")
    for place, line in enumerate(found.lines):
        if gaps and last and line.number > last + 1:
            yield "--"
        last = line.number
        sign = ":" if line.matches else "-"
        text = _paint(line.text, line.spans, layout) if style.color else seen[place]
        yield f"{named}{sign}{style(str(line.number), 'line')}{sign}{text}"


def _grouped_lines(found: FileLines, path: str, layout: Layout, *, parted: bool) -> Iterator[str]:
    style = layout.style
    if parted:
        yield ""
    stale = f"  {style(f'{layout.signs.warn} stale', 'warn')}" if found.stale else ""
    yield style(path, "path") + stale
    digits = len(str(found.lines[-1].number)) if found.lines else 0
    gaps = not all(line.matches for line in found.lines)
    following = list(found.lines)  # of each line the next one that matches
    for place in range(len(following) - 2, -1, -1):
        if not following[place].matches:
            following[place] = following[place + 1]
    last, top, around = 0, 0, None
    for place, line in enumerate(found.lines):
        apart = not last or line.number > last + 1
        if apart:
            top = line.number
            if last and gaps:
                yield style("--", "dim")
        last = line.number
        # The definition stands above the context of the first match in a row of lines, so that it does not part them.
        match = following[place] if apart else line
        inside = match.around
        if (apart or line.matches) and inside != around:
            if inside is None or not top <= inside.line <= match.number:
                yield _enclosing_line(inside, digits, layout)
            around = inside
        sign = ":" if line.matches else "-"
        text = _highlight_line(line, layout, digits + 1)
        yield f"{style(f'{line.number:>{digits}}', 'line')}{sign}{text}"


def _enclosing_line(around: Around | None, digits: int, layout: Layout) -> str:
    """A heading that names the definition around the matching lines below it."""
    if around is None:
        said = "outside of definitions"
    else:
        name = visible_line(around.qualified_name)
        said = f"in {around.kind} {name}".rstrip()
    room = None if layout.width is None else max(1, layout.width - digits - 1)
    return " " * (digits + 1) + layout.style(shorten(said, room, layout.signs.ellipsis), "dim")


def _highlight_line(line: Line, layout: Layout, used: int) -> str:
    """A matching line with its matches in colour, cut to the width of the terminal."""
    assert layout.width is not None
    text, spans = _spread(line)
    room, ellipsis = max(8, layout.width - used), layout.signs.ellipsis
    first = spans[0] if spans else (0, 0)
    head = ""
    if width_of(text) > room and width_of(text[: first[1]]) > room - len(ellipsis):
        start = max(0, first[0] - room // _BEFORE)
        head, text = ellipsis, text[start:]
        spans = [(a - start, b - start) for a, b in spans]
    shown = shorten(text, room - len(head), ellipsis)
    end = len(shown) - (len(ellipsis) if shown != text else 0)
    cut = [(min(a, end), min(b, end)) for a, b in spans]
    return head + _paint(shown, cut, layout, plain=True)


def _spread(line: Line) -> tuple[str, list[tuple[int, int]]]:
    """Returns (the text to show, with tabs expanded; the (start, end) of each match in that text)."""

    def place(at: int) -> int:
        return len(visible(line.text[:at]).expandtabs(_TAB))

    return visible(line.text).expandtabs(_TAB), [(place(a), place(b)) for a, b in line.spans if a < b]


def _paint(text: str, spans: Sequence[tuple[int, int]], layout: Layout, *, plain: bool = False) -> str:
    """The text with spans in colour; if `plain`, the text is already free of control characters."""
    seen: Callable[[str], str] = str if plain else visible
    pieces, done = [], 0
    for start, stop in spans:
        pieces += [seen(text[done:start]), layout.style(seen(text[start:stop]), "match")]
        done = stop
    return "".join((*pieces, seen(text[done:])))
