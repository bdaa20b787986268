"""`lci similar` as text: definitions, each with its similarity and the parts of which the similarity is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.render.text.style import goes_on, shorten, shown_of, visible_line, width_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lci_py.render.text.style import Layout, Page
    from lci_py.types.similar import Likeness, SimilarAnswer


def render(answer: SimilarAnswer, page: Page, *, footer: bool = True) -> None:
    """Write an answer as text; `footer` adds the number of results."""
    layout = page.layout
    for one in answer.results:
        if one.twin:
            said = f"{layout.signs.warn} a near duplicate exists already: {visible_line(one.file)}:{one.line}"
            said += f" {visible_line(one.qualified_name)}, {one.same:.0%} the same text, {one.shape:.0%} the same shape"
            page.lines([layout.style(said, "warn")])
    for one in answer.results:
        page.lines(_lines(one, layout))
    if footer:
        shown = len(answer.results)
        parts = [shown_of(shown, answer.total, "similar definition", "the first ")]
        parts += goes_on(layout, shown, answer.total, answer.request.offset)
        page.end(parts, answer.info)


def _lines(one: Likeness, layout: Layout) -> Iterator[str]:
    style, signs, width, _ = layout
    stale = f"  {signs.warn} stale" if one.stale else ""
    measures = f"  same {one.same:.2f} shape {one.shape:.2f} words {one.words:.2f} meaning {one.meaning:.2f}"
    named = f"{one.kind} {visible_line(one.qualified_name)}  {one.score:.2f}"
    if width is not None and width_of(f"{visible_line(one.file)}:{one.line}  {named}{measures}{stale}") > width:
        measures = ""
    head = f"{style(visible_line(one.file), 'path')}:{style(str(one.line), 'line')}"
    yield f"{head}  {named}{style(measures, 'dim')}{layout.id(one.id)}{style(stale, 'warn')}"
    if signature := " ".join(one.signature.split()):
        yield shorten(f"    {visible_line(signature)}", width, signs.ellipsis)
