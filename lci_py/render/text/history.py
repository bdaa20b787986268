"""`lci history` as text: the definition or file, its commits, one per line, then files that changed with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.render.text.style import sentence, shorten, shown_of, visible_line, width_of, wrap_items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lci_py.render.text.style import Layout, Page
    from lci_py.types.history import Commit, HistoryAnswer

_ID = 10  # characters of a commit's id, which tell it from all others in nearly any repository


def render(answer: HistoryAnswer, page: Page, *, footer: bool = True) -> None:
    """Write an answer as text; `footer` adds the number of commits."""
    layout = page.layout
    page.lines(_lines(answer, layout))
    if footer:
        page.end([shown_of(len(answer.results), answer.total, "commit")], answer.info)


def _lines(answer: HistoryAnswer, layout: Layout) -> Iterator[str]:
    style, place = layout.style, answer.place
    where = style(visible_line(place.file), "path") + (style(f":{place.line}", "line") if place.symbol else "")
    head = f"{style(place.kind, 'kind')} {style(visible_line(place.qualified_name or ''), 'bold')}  "
    yield f"{head if place.symbol else ''}{where}"
    for text in _notes(answer):
        yield from (style(line, "warn") for line in sentence(text, layout, "  "))
    for commit in answer.results:
        yield _commit(commit, place.file, layout)
        for line in commit.patch.split("\n") if commit.patch else ():
            sign = {"+": "line", "-": "match", "@": "kind"}.get(line[:1])
            text = f"    {visible_line(line.expandtabs(4))}"
            yield style(text, sign) if sign else text
    first = answer.first
    if first is not None and answer.results and first.id not in {commit.id for commit in answer.results}:
        yield f"  {layout.signs.ellipsis} first:"
        yield _commit(first, place.file, layout)
    if answer.companions:
        of = [f"{visible_line(pair.file)} {pair.support} ({pair.confidence:.0%})" for pair in answer.companions]
        yield from wrap_items(f"often changed with it: {f' {layout.signs.dot} '.join(of)}", layout, "  ")


def _notes(answer: HistoryAnswer) -> Iterator[str]:
    if answer.others:
        others = ", ".join(f"{visible_line(other.file)}:{other.line}" for other in answer.others)
        yield f"{visible_line(answer.request.spelled)} is also at {others}: `lci history FILE:LINE`"
    if not answer.total:
        yield "no commit has it yet"
    elif answer.uncommitted:
        yield "it differs from what is committed"
    if answer.incomplete:
        yield answer.incomplete


def _commit(item: Commit, file: str, layout: Layout) -> str:
    head = f"  {item.id[:_ID]}  {item.date[:10]}  +{item.added} -{item.removed}  {visible_line(item.author)}  "
    subject = visible_line(item.subject)
    if item.file != file:
        subject += f"  (in {visible_line(item.file)})"
    room = None if layout.width is None else max(20, layout.width - width_of(head))
    style = layout.style
    plain = f"  {style(item.id[:_ID], 'line')}  {item.date[:10]}  +{item.added} -{item.removed}  "
    return f"{plain}{style(visible_line(item.author), 'dim')}  {shorten(subject, room, layout.signs.ellipsis)}"
