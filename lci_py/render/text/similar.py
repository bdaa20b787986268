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
    for hit in answer.results:
        if hit.twin:
            note = f"{layout.signs.warn} a near duplicate exists already: {visible_line(hit.file)}:{hit.line}"
            note += f" {visible_line(hit.qualified_name)}, {hit.same:.0%} the same text, {hit.shape:.0%} the same shape"
            page.lines([layout.style(note, "warn")])
    for hit in answer.results:
        page.lines(_lines(hit, layout))
    if footer:
        count = len(answer.results)
        parts = [shown_of(count, answer.total, "similar definition", "the first ")]
        parts += goes_on(layout, count, answer.total, answer.request.offset)
        page.end(parts, answer.info)


def _lines(hit: Likeness, layout: Layout) -> Iterator[str]:
    style, signs, width, _ = layout
    stale = f"  {signs.warn} stale" if hit.stale else ""
    measures = f"  same {hit.same:.2f} shape {hit.shape:.2f} words {hit.words:.2f} meaning {hit.meaning:.2f}"
    title = f"{hit.kind} {visible_line(hit.qualified_name)}  {hit.score:.2f}"
    if width is not None and width_of(f"{visible_line(hit.file)}:{hit.line}  {title}{measures}{stale}") > width:
        measures = ""
    head = f"{style(visible_line(hit.file), 'path')}:{style(str(hit.line), 'line')}"
    yield f"{head}  {title}{style(measures, 'dim')}{layout.id(hit.id)}{style(stale, 'warn')}"
    if signature := " ".join(hit.signature.split()):
        yield shorten(f"    {visible_line(signature)}", width, signs.ellipsis)
