"""`lci files` as text: paths, one per line; on a terminal, the parts that match the pattern are marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.render.text.style import shown_of, visible_line, visible_path

if TYPE_CHECKING:
    from lci_py.render.text.style import Page, Style
    from lci_py.types.files import FilesAnswer, IndexedFile


def render(answer: FilesAnswer, page: Page, *, footer: bool = True) -> None:
    """Write an answer as text; on a terminal, `footer` adds the number of files."""
    layout = page.layout
    if layout.width is None:
        where = f":{answer.request.line}" if answer.request.line else ""
        page.lines(f"{visible_path(file.file)}{where}" for file in answer.results)
        return
    line = layout.style(f":{answer.request.line}", "line") if answer.request.line else ""
    page.lines(f"{_highlight(file, layout.style)}{line}" for file in answer.results)
    if not answer.total and answer.request.pattern:
        note = f"no indexed file is like {visible_line(repr(answer.request.pattern))}"
        note += f"; did you mean {', '.join(map(visible_line, answer.near))}?" if answer.near else ""
        page.sentence(note, hanging="")
    if footer:
        page.end([shown_of(len(answer.results), answer.total, "file")], answer.info)


def _highlight(file: IndexedFile, style: Style) -> str:
    text, end = "", 0
    for start, stop in file.matches:
        if start >= end:  # parts of a pattern may overlap
            text += style(visible_line(file.file[end:start]), "path") + style(
                visible_line(file.file[start:stop]), "match"
            )
            end = stop
    return text + style(visible_line(file.file[end:]), "path")
