"""Similar definitions as text: how like they are, and what of."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from lci_py.render.text.style import (
    footer_line,
    goes_on,
    layout_for,
    plural,
    shorten,
    visible_line,
    visible_path,
    width_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lci_py.render.text.style import Layout
    from lci_py.types.similar import Likeness, SimilarAnswer


def render(
    answer: SimilarAnswer, *, file: IO[str], color: bool = False, width: int | None = None, footer: bool = True
) -> None:
    """Write an answer as text.

    Args:
        answer: What to show.
        file: Where; its encoding decides between Unicode and ASCII signs.
        color: Whether to write ANSI colours.
        width: Columns of the terminal; None for a pipe, where nothing is cut.
        footer: Whether to end with how many there are.
    """
    layout = layout_for(file, color, width)
    for one in answer.results:
        if one.twin:
            said = f"{layout.signs.warn} a near duplicate exists already: {_place(one)}"
            file.write(
                layout.style(f"{said}, {one.same:.0%} the same text, {one.shape:.0%} the same shape", "warn") + "\n"
            )
    for one in answer.results:
        file.writelines(line + "\n" for line in _lines(one, layout))
    if footer:
        shown = len(answer.results)
        count = plural(answer.total, "similar definition")
        parts = [f"the first {shown:,} of {count}" if shown < answer.total else count]
        parts += goes_on(layout, shown, answer.total, answer.request.offset)
        file.write(footer_line(parts, answer.info, layout) + "\n")


def render_paths(answer: SimilarAnswer, *, file: IO[str]) -> None:
    """`--paths`: file:line per line."""
    file.writelines(f"{visible_path(one.file)}:{one.line}\n" for one in answer.results)


def _place(one: Likeness) -> str:
    return f"{visible_line(one.file)}:{one.line} {visible_line(one.qualified_name)}"


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
