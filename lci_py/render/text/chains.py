"""`lci path` as text: call chains. Each line is a call that leads to the next line; the last line is the definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.render.text.graph import Table, also_named
from lci_py.render.text.style import goes_on, plural, sentence, shorten, shown_of, visible_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lci_py.render.text.graph import TableRow
    from lci_py.render.text.style import Layout, Page
    from lci_py.types.chains import Frontier, Hop, PathAnswer

#: Characters of the line of a call that are shown in a pipe.
_CODE = 120


def render(answer: PathAnswer, page: Page, *, footer: bool = True) -> None:
    """Write an answer as text; `footer` adds the number of chains."""
    layout = page.layout
    for index, chain in enumerate(answer.results):
        if index:
            page.lines([""])
        page.lines(Table(layout, 0).lines(list(_rows(chain, layout)), "dim"))
    if others := also_named(answer.others, layout):
        page.warning(others)
    if answer.frontier is not None:
        page.lines(_frontier(answer.frontier, answer, layout))
        if footer and answer.info.behind:
            page.end([], answer.info)
    elif footer:
        count, calls = len(answer.results), sorted({len(chain) - 1 for chain in answer.results})
        lengths = f"{' and '.join(f'{number:,}' for number in calls)} call{'' if calls == [1] else 's'}"
        more = goes_on(layout, count, answer.total, answer.offset)
        page.end([f"{shown_of(count, answer.total, 'chain')} of {lengths}", *more], answer.info)


def _rows(chain: Sequence[Hop], layout: Layout) -> Iterator[TableRow]:
    before = chain[0]
    for hop, following in zip(chain, (*chain[1:], None), strict=True):
        sites = () if following is None else following.sites
        more = f"and {', '.join(map(str, sites[1:4]))}{' …' if len(sites) > 4 else ''}" if len(sites) > 1 else ""
        if layout.width is None and following is not None and following.text:
            # Whoever pipes it would read the line next.
            more = f"{more}  {shorten(visible_line(following.text), _CODE, layout.signs.ellipsis)}".strip()
        marks = (hop.step, "ambiguous" * hop.ambiguous, "passed by another caller" * hop.passed_elsewhere)
        sure = f" {layout.signs.dot} ".join(filter(None, marks))
        if hop.place is not None:
            line = sites[0] if sites else hop.place.line
            name = visible_line(hop.place.qualified_name or "")
            yield visible_line(hop.place.file), str(line), f"{hop.place.kind} {name}".rstrip(), sure, more
        elif before.place is not None:
            lines = ",".join(map(str, hop.sites[:1]))
            yield visible_line(before.place.file), lines, f"external {visible_line(hop.name)}", sure, more
        before = hop


def _frontier(frontier: Frontier, answer: PathAnswer, layout: Layout) -> Iterator[str]:
    source, target = visible_line(answer.request.source), visible_line(answer.request.target)
    reached = plural(frontier.reached, "place")
    depth = f" within {plural(frontier.depth, 'call')}" if frontier.depth else ""
    limit = "" if frontier.ended else layout.words("; --depth goes further", "")
    text = f"none: {source} reaches {reached}{depth}, not {target}{limit}"
    if frontier.places:
        text += "; the frontier is these calls without a known target:"
    for line in sentence(text, layout):
        yield layout.style(line, "warn")
    rows = [
        (
            visible_line(lost.place.file),
            str(lost.line),
            f"{lost.place.kind} {visible_line(lost.place.qualified_name or '')}".rstrip(),
            f"calls {visible_line(lost.name)}",
            "",
        )
        for lost in frontier.places
    ]
    yield from Table(layout, 0).lines(rows)
