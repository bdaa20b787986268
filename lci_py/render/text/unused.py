"""`lci unused` as text: unused definitions, grouped by certainty."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from lci_py.render.text.affected import place_row
from lci_py.render.text.graph import Table
from lci_py.render.text.style import goes_on, shown_of, visible_line
from lci_py.types.unused import CERTAINTIES

if TYPE_CHECKING:
    from lci_py.render.text.graph import TableRow
    from lci_py.render.text.style import Page
    from lci_py.types.unused import Unused, UnusedAnswer

_LABELS = {"certain": "unused", "by_name": "exported, or named only", "tests": "used by tests only"}


#: How many of those that are not certain are listed.
_LIKELIEST = 20


def render(answer: UnusedAnswer, page: Page, *, footer: bool = True, each: bool = False) -> None:
    """Write an answer as text.

    Args:
        footer: Whether to end with the numbers of results and of definitions that are not listed.
        each: Whether to list all uncertain definitions, instead of only the likeliest.
    """
    layout, count = page.layout, len(answer.results)
    for certainty, group in groupby(answer.results, key=lambda item: item.certainty):
        rows, label = [_row(item) for item in group], f"{_LABELS[certainty]}: {answer.counts[certainty]:,}"
        if certainty != "certain" and not each and len(rows) > _LIKELIEST:
            rows = rows[:_LIKELIEST]
            label += f", the {_LIKELIEST} likeliest{layout.words(': -v lists all', '')}"
        page.lines([layout.style(label, "bold"), *Table(layout, 0).lines(rows, "dim")])
    if not footer:
        return
    parts = [shown_of(count, answer.total, "definition", "the first ")]
    parts += goes_on(layout, count, answer.total, answer.request.offset)
    uncertain = [f"{answer.counts[level]:,} {_LABELS[level]}" for level in CERTAINTIES[1:] if answer.counts[level]]
    if uncertain and not answer.request.all:
        parts.append(", ".join(uncertain) + layout.words(": --all lists them", ": `all` lists them"))
    if answer.counts["certain"]:
        parts.append("look before you delete: of 142 read in 39 repositories 114 were right")
    page.end(parts, answer.info)


def _row(definition: Unused) -> TableRow:
    reason = "" if definition.reason in ("unreferenced", "tests") else definition.reason
    if definition.mention is not None:
        reason = f"{reason} {visible_line(definition.mention.file)}:{definition.mention.line}".strip()
    return place_row(definition.place, reason)
