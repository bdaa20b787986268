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

    from lci_py.types.grep import EnclosingDefinition, FileLines, GrepAnswer, Line

_TAB = 4
#: Of the room for a line, the part before a match that is shown, if the line has to be cut before it.
_BEFORE = 3


def render(answer: GrepAnswer, page: Page, *, footer: bool = True) -> None:
    """Write an answer as text, each file once it is searched; on a terminal, `footer` adds the number of lines."""
    layout = page.layout
    style = layout.style
    started, count = False, 0
    for file in answer.files:
        count += sum(line.matches for line in file.lines)
        path = visible_path(file.path) if layout.width is None else visible_line(file.path)
        if answer.request.lines == "none":
            rows = iter([style(path, "path")])
        elif answer.request.lines == "count":
            rows = iter([f"{style(path, 'path')}:{style(str(file.matching), 'line')}"])
        elif layout.width is None:
            rows = _piped_lines(file, path, layout, separator=started and any(answer.request.context))
        else:
            rows = _grouped_lines(file, path, layout, separator=started)
        page.lines(rows)
        started = True
    tally = answer.tally
    if more := goes_on(layout, count, tally.lines, answer.offset):
        lines = f"{count:,} of {plural(tally.lines, 'line')} in {plural(tally.files, 'file')}"
        page.end([lines, *more], answer.info)
    if footer and layout.width is not None:
        lines = plural(tally.lines, "line")
        if answer.request.lines == "text" and tally.shown < tally.lines:
            lines = f"{tally.shown:,} of {lines}"
        parts = [f"{lines} in {plural(tally.files, 'file')}"] if answer.request.lines != "none" else []
        parts = parts or [plural(tally.files, "file")]
        if started and answer.request.lines == "text":
            page.lines([""])
        page.end(parts, answer.info)


def _piped_lines(file: FileLines, path: str, layout: Layout, *, separator: bool) -> Iterator[str]:
    style = layout.style
    gaps = not all(line.matches for line in file.lines)
    last = 0
    if separator:
        yield "--"
    head = style(path, "path")
    # All at once, which is quicker; a line with colours is taken apart.
    texts = [] if style.color else visible("\n".join(line.text for line in file.lines)).split("\n")
    for index, line in enumerate(file.lines):
        if gaps and last and line.number > last + 1:
            yield "--"
        last = line.number
        sign = ":" if line.matches else "-"
        text = _paint(line.text, line.spans, layout) if style.color else texts[index]
        yield f"{head}{sign}{style(str(line.number), 'line')}{sign}{text}"


def _grouped_lines(file: FileLines, path: str, layout: Layout, *, separator: bool) -> Iterator[str]:
    style = layout.style
    if separator:
        yield ""
    stale = f"  {style(f'{layout.signs.warn} stale', 'warn')}" if file.stale else ""
    yield style(path, "path") + stale
    digits = len(str(file.lines[-1].number)) if file.lines else 0
    gaps = not all(line.matches for line in file.lines)
    following = list(file.lines)  # of each line the next one that matches
    for index in range(len(following) - 2, -1, -1):
        if not following[index].matches:
            following[index] = following[index + 1]
    last, top, enclosing = 0, 0, None
    for index, line in enumerate(file.lines):
        apart = not last or line.number > last + 1
        if apart:
            top = line.number
            if last and gaps:
                yield style("--", "dim")
        last = line.number
        # The definition stands above the context of the first match in a row of lines, so that it does not part them.
        match = following[index] if apart else line
        inside = match.enclosing
        if (apart or line.matches) and inside != enclosing:
            if inside is None or not top <= inside.line <= match.number:
                yield _enclosing_line(inside, digits, layout)
            enclosing = inside
        sign = ":" if line.matches else "-"
        text = _highlight_line(line, layout, digits + 1)
        yield f"{style(f'{line.number:>{digits}}', 'line')}{sign}{text}"


def _enclosing_line(enclosing: EnclosingDefinition | None, digits: int, layout: Layout) -> str:
    """A heading that names the definition around the matching lines below it."""
    if enclosing is None:
        text = "outside of definitions"
    else:
        name = visible_line(enclosing.qualified_name)
        text = f"in {enclosing.kind} {name}".rstrip()
    room = None if layout.width is None else max(1, layout.width - digits - 1)
    return " " * (digits + 1) + layout.style(shorten(text, room, layout.signs.ellipsis), "dim")


def _highlight_line(line: Line, layout: Layout, indent: int) -> str:
    """A matching line with its matches in colour, cut to the width of the terminal."""
    assert layout.width is not None
    text, spans = _spread(line)
    room, ellipsis = max(8, layout.width - indent), layout.signs.ellipsis
    first = spans[0] if spans else (0, 0)
    head = ""
    if width_of(text) > room and width_of(text[: first[1]]) > room - len(ellipsis):
        start = max(0, first[0] - room // _BEFORE)
        head, text = ellipsis, text[start:]
        spans = [(a - start, b - start) for a, b in spans]
    short = shorten(text, room - len(head), ellipsis)
    end = len(short) - (len(ellipsis) if short != text else 0)
    cut = [(min(a, end), min(b, end)) for a, b in spans]
    return head + _paint(short, cut, layout, plain=True)


def _spread(line: Line) -> tuple[str, list[tuple[int, int]]]:
    """Returns (the text to show, with tabs expanded; the (start, end) of each match in that text)."""

    def column(at: int) -> int:
        return len(visible(line.text[:at]).expandtabs(_TAB))

    return visible(line.text).expandtabs(_TAB), [(column(a), column(b)) for a, b in line.spans if a < b]


def _paint(text: str, spans: Sequence[tuple[int, int]], layout: Layout, *, plain: bool = False) -> str:
    """The text with spans in colour; if `plain`, the text is already free of control characters."""
    escape: Callable[[str], str] = str if plain else visible
    pieces, end = [], 0
    for start, stop in spans:
        pieces += [escape(text[end:start]), layout.style(escape(text[start:stop]), "match")]
        end = stop
    return "".join((*pieces, escape(text[end:])))
