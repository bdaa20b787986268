"""`lci show` as text: code below `path:first-last  kind name`; on a terminal with line numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.render.text.style import plural, sentence, shell_quote, shown_of, visible, visible_line
from lci_py.types.search import FILE_KIND

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lci_py.render.text.style import Layout, Page
    from lci_py.types.show import Calls, ShowAnswer, ShownCode, ShowRequest

_INDENT = "    "
_TAB = 4


def render(answer: ShowAnswer, page: Page, *, numbers: bool = False, footer: bool = True) -> None:
    """Write an answer as text. No line of the source is cut, not even on a terminal.

    Args:
        numbers: Whether to write line numbers also in a pipe.
        footer: Whether to end with the number of results (in a pipe, only if some are left out).
    """
    layout = page.layout
    for index, item in enumerate(answer.results):
        if index:
            page.lines([""])
        page.lines(_result(item, answer.request, layout, numbers or layout.width is not None))
    notes = list(_notes(answer, layout))
    footer = footer and (layout.width is not None or bool(answer.info.behind))
    if answer.results and (notes or footer):
        page.lines([""])
    for note in notes:
        page.warning(note)
    if footer:
        page.end([shown_of(len(answer.results), answer.total, "result")], answer.info)


def _result(item: ShownCode, request: ShowRequest, layout: Layout, numbers: bool) -> Iterator[str]:
    yield _head(item, layout)
    style = layout.style
    if item.left_above:
        yield _left_out(item, item.start - item.left_above, item.left_above, "line above", layout)
    if item.symbol is not None and (request.signature or request.doc):
        yield from visible(item.signature).split("\n") if request.signature and item.signature else ()
        yield from visible(item.doc).split("\n") if item.doc else ()
    elif item.lines:
        # All at once, which is quicker.
        digits = len(str(item.start + len(item.lines) - 1))
        for number, text in enumerate(visible("\n".join(item.lines)).split("\n"), item.start):
            if not numbers:
                yield text
                continue
            line = text if layout.width is None else text.expandtabs(_TAB)
            yield f"{style(f'{number:>{digits}} {layout.signs.bar}', 'dim')} {line}".rstrip()
    if item.left_out:
        yield _left_out(item, item.start + len(item.lines), item.left_out, "more line", layout)
    for label, calls in (("callers", item.callers), ("callees", item.callees)):
        if calls is not None:
            yield from _calls(label, calls, layout)


def _left_out(item: ShownCode, first: int, count: int, noun: str, layout: Layout) -> str:
    target = shell_quote(f"{item.file}:{first}-{first + count - 1}")
    nouns = plural(count, noun) if noun != "line above" else f"{plural(count, 'line')} above"
    return layout.style(f"{layout.signs.ellipsis} {nouns}: {layout.words('lci show', 'read')} {target}", "warn")


def _head(item: ShownCode, layout: Layout) -> str:
    style = layout.style
    last = item.start + len(item.lines) + item.left_out - 1
    first, last = (item.start - item.left_above, last) if item.lines or item.left_out else (item.line, item.end_line)
    span = f"{first}-{last}" if last > first else str(first)
    name = visible_line(item.qualified_name or "")
    what = item.kind if item.kind != "lines" else ""
    title = f"{style(what, 'kind')} {style(name, 'bold')}" if name else style(what, "kind")
    stale = f"  {style(f'{layout.signs.warn} stale', 'warn')}" if item.stale else ""
    return f"{style(visible_line(item.file), 'path')}:{style(span, 'line')}  {title}".rstrip() + stale


def _calls(label: str, calls: Calls, layout: Layout) -> Iterator[str]:
    """Lines on callers, with the line of their first call as in `lci callers`, or on callees, with their first line."""
    style = layout.style
    more = f", the first {len(calls.shown)}" if len(calls.shown) < calls.total else ""
    yield style(f"{label}: {calls.total:,}{more}", "dim")
    for item in calls.shown:
        line = item.sites[0] if label == "callers" and item.sites else item.place.line
        name = visible_line(item.place.qualified_name or "")
        sure = "  (ambiguous)" if item.ambiguous else ""
        where = f"{style(visible_line(item.place.file), 'path')}:{style(str(line), 'line')}"
        yield f"{_INDENT}{where}  {style(item.place.kind, 'kind')} {name}".rstrip() + style(sure, "dim")
    if not calls.through:
        return
    from lci_py.render.text.graph import through_notes

    for note in through_notes(calls.through, layout, callers=label == "callers"):
        first, *rest = sentence(f"{layout.signs.warn} {note}", layout, f"{_INDENT}  ", len(_INDENT))
        yield from (style(line, "warn") for line in (_INDENT + first, *rest))


def _notes(answer: ShowAnswer, layout: Layout) -> Iterator[str]:
    """Notes on the definitions that are left out, and on how to get them."""
    for target, total in answer.totals:
        matches = sum(item.target == target for item in (*answer.results, *answer.dropped))
        if matches and matches < min(total, answer.request.limit):
            continue  # another target shows the same
        if matches < total and total > answer.request.limit:
            count = f"{answer.request.limit:,} of {total:,} definitions of {visible_line(target)}"
            yield f"{count}: {layout.words(f'-n {total} shows all, ', '')}FILE::NAME one"
    if answer.dropped:
        some = " ".join(
            shell_quote(item.file if item.kind == FILE_KIND else f"{item.file}:{item.line}")
            for item in answer.dropped[:3]
        )
        more = " …" if len(answer.dropped) > 3 else ""
        following = answer.offset + len(answer.results)
        how = layout.words("--max-tokens: lci show", f"max_tokens: offset {following} goes on, or read")
        yield f"{plural(len(answer.dropped), 'result')} left out by {how} {some}{more}"
