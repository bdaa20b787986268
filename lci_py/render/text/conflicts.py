"""Conflicts as text, listed or below a search result: symbols with several definitions, and disagreeing sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.render.text.style import (
    Layout,
    Page,
    Signs,
    goes_on,
    plural,
    shorten,
    visible_line,
    width_of,
    wrap_words,
)
from lci_py.render.token_budget import chosen
from lci_py.types.search import GRAVE, RELATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lci_py.types.conflicts import Conflict, ConflictsAnswer
    from lci_py.types.search import DefinitionSite

#: Each relation in a few words; docs/conflicts.md says more.
_MEANING = {
    "overlap": "both can hold at once",
    "duplicate": "twice in one scope, under one condition: an error, or one of them is lost",
    "fallback": "one stands in where the other cannot be had",
    "variant": "a build, a platform or a flag takes one of them",
    "branch": "branches define it differently",
}
#: How many definitions of a symbol are shown; `lci conflicts NAME` shows all.
_MAX_SITES = 8
_INDENT = "    "
# A wider cell is not padded to: one long path or condition should not push every other row to the right.
_MAX_PLACE, _MAX_TAG = 48, 48
#: Places whose widths differ by at most this line up, however long they are.
_ALIKE = 16
#: Columns that a condition keeps on a terminal beside the place; with fewer it gets a line of its own.
_LEAST_TAG = 20
#: Clauses of a condition that are shown.
_MAX_CLAUSES = 5
#: A condition cut to fewer columns is left out.
_CUT_TAG = 6
#: The widest line of the sentence that explains a disagreement: longer lines are hard to read.
_PROSE = 110
#: Lines of a condition at most.
_TAG_LINES = 4


class Context(NamedTuple):
    """Facts about a list of definitions that the reader already knows, so that no row repeats them."""

    branch: str | None  # that is checked out: a definition of another branch is shown with its branch
    own: tuple[str, int] | None = None  # file and line of the result above the list
    relation: str = ""  # that stands above the list


class _Row(NamedTuple):
    """A line about one definition (or several that differ only in their lines), as the texts of its columns."""

    location: tuple[str, str]  # file and lines
    tag: str  # the condition, in brackets
    relation: str
    notes: str
    active: bool

    @property
    def head(self) -> str:
        return f"{self.location[0]}:{self.location[1]}"


def headline(sites: Sequence[DefinitionSite]) -> str:
    """A heading such as `3 definitions, overlap: both can hold at once`, which names the most serious relation."""
    relation = next((name for name in RELATIONS if any(site.relation == name for site in sites)), "")
    count = plural(len(sites), "definition")
    return f"{count}, {relation}: {_MEANING[relation]}" if relation else count


def site_lines(
    sites: Sequence[DefinitionSite],
    layout: Layout,
    context: Context,
    *,
    indent: str,
    more: str,
    limit: int | None = _MAX_SITES,
) -> Iterator[str]:
    """One line per definition, in columns: location, condition (of the build), relation, notes.

    Args:
        context: What the reader knows from the lines above.
        indent: Blanks before each line.
        more: The command line that shows all definitions, named if there are more than `limit`.
        limit: Number of definitions shown; None for all.
    """
    if not sites:
        return
    groups = [[site] for site in sites] if context.own else list(_by_file(sites).values())
    heads = chosen([group[0] for group in groups], context.own, limit)
    rows = [_row(group, layout.signs, context) for group in groups if group[0] in heads]
    columns = _Columns(rows, layout, indent)
    for row in rows:
        yield from columns.lines(row)
    if len(rows) < len(groups):
        count = sum(len(group) for group in groups if group[0] not in heads)
        rest = f"{layout.signs.ellipsis} and {count:,} more: {more}"
        yield indent + layout.style(rest, "dim")


def _by_file(sites: Iterable[DefinitionSite]) -> dict[tuple[object, ...], list[DefinitionSite]]:
    """Groups definitions that differ only in their lines; the keys are the properties that they share."""
    groups: dict[tuple[object, ...], list[DefinitionSite]] = {}
    for site in sites:
        groups.setdefault((site.file, site.branch, site.build_tag, site.relation, site.inferred), []).append(site)
    return groups


def elsewhere(site: DefinitionSite, branch: str | None) -> bool:
    """Whether a definition is on a branch that is not checked out."""
    return site.branch is not None and site.branch != branch


def listing_of(name: str, layout: Layout) -> str:
    """The command line, or the tool, that lists all definitions of a symbol."""
    import shlex

    return visible_line(layout.words(f"lci conflicts {shlex.quote(name)}", f"`read` {name}"))


def disagreement_lines(
    conflict: Mapping[str, Any], layout: Layout, name_of: Callable[[str], str] = str
) -> Iterator[str]:
    """The lines about a disagreement between sources: a sentence that explains it, each source, and what to do.

    Args:
        conflict: The disagreement, as in the JSON answer.
        name_of: Converts a source to the text to show.
    """
    style, signs = layout.style, layout.signs
    what = str(conflict.get("conflict_type", "conflict"))
    first, *rest = _wrap(f"{signs.warn} {what}: {conflict.get('reasoning', '')}", layout)
    yield style(first, "warn")
    yield from (_INDENT + style(line, "warn") for line in rest)
    yield from (f"{_INDENT}{visible_line(name_of(str(source)))}" for source in conflict.get("sources", ()))
    advice = str(conflict.get("recommended_resolution", ""))
    if advice:
        yield _INDENT + style(visible_line(f"{signs.arrow} {advice}"), "dim")


def render(answer: ConflictsAnswer, page: Page, *, footer: bool = True, whole: bool = False) -> None:
    """Write the answer of `lci conflicts`: mistakes first, then disagreements between sources, then other conflicts.

    Args:
        footer: Whether to end with a count such as `12 conflicts: 9 variant, 2 overlap, 1 duplicate`.
        whole: Whether to list all definitions of a symbol, however many it has.
    """
    layout = page.layout
    _relations(GRAVE, answer, page, whole)
    for disagreement in answer.conflicts:
        page.lines([*disagreement_lines(disagreement, layout), ""])
    _relations(RELATIONS[len(GRAVE) :], answer, page, whole)
    if footer:
        more = goes_on(layout, len(answer.results), answer.total, answer.offset)
        page.end([*_summary(answer, layout), *more], answer.index)


def _relations(relations: Sequence[str], answer: ConflictsAnswer, page: Page, whole: bool) -> None:
    layout = page.layout
    for relation in relations:
        conflicts = [conflict for conflict in answer.results if conflict.relation == relation]
        if conflicts:
            alarming = relation in GRAVE
            head = f"{layout.signs.warn} " if alarming else ""
            text = shorten(f"{head}{relation}: {_MEANING[relation]}", layout.width, layout.signs.ellipsis)
            page.lines([layout.style(text, "warn" if alarming else "bold")])
        for alike in _in_one_place(conflicts, whole):
            page.lines(_conflict_lines(alike, layout, answer.index.branch, whole))
        if conflicts:
            page.lines([""])


class _Columns:
    """The column widths for a block of rows, and the layout of its lines."""

    def __init__(self, rows: Sequence[_Row], layout: Layout, indent: str) -> None:
        self.style, self.signs, self.width, _ = layout
        self.indent = indent
        places = [width_of(row.head) for row in rows]
        alike = max(places) - min(places) <= _ALIKE
        self.location_width = max((size for size in places if alike or size <= _MAX_PLACE), default=0)
        self.tag = max((w for row in rows if (w := width_of(row.tag)) <= _MAX_TAG), default=0)
        self.relation = max((width_of(row.relation) for row in rows), default=0)
        self.split = self.long = False
        self.room = self.rest = 0
        if self.width is None:
            return
        # The condition is cut first: a place must stay whole so that a click on it works, and notes say what is active.
        widest = max((width_of(row.tag) for row in rows), default=0)
        notes = max((width_of(row.notes) for row in rows), default=0)
        self.rest = sum(size + 2 for size in (self.relation, notes) if size)
        room = self.width - len(indent) - max(places) - 2 - self.rest
        if room < min(widest, _LEAST_TAG) or self._hides_differences(rows, room):
            self.split = True
            room = self.width - len(indent) - len(_INDENT) - self.rest
        elif widest:
            self.location_width = max(places)
        self.room, self.tag = room, max(0, min(self.tag, room))
        self.long = self.split and self._hides_differences(rows, room)

    def _hides_differences(self, rows: Sequence[_Row], room: int) -> bool:
        """Whether two different conditions (of the build) would look the same after they are cut to `room` columns."""
        tags = {row.tag for row in rows}
        return len({shorten(tag, room, self.signs.ellipsis) for tag in tags}) < len(tags)

    def lines(self, row: _Row) -> Iterator[str]:
        """A row as one line; as two if its condition needs a line; as more if only the ends of conditions differ."""
        style = self.style
        tag = row.tag
        if self.width is not None:  # a row may use the room that only other rows need, for their notes
            own_rest = sum(width_of(text) + 2 for text in (row.relation, row.notes) if text)
            room = self.room + self.rest - own_rest
            tag = shorten(tag, room, self.signs.ellipsis) if room >= _CUT_TAG else ""
        cells = [
            (tag, self.tag, ("kind",)),
            (row.relation, self.relation, ("warn",) if row.relation in GRAVE else ("dim",)),
            (row.notes, 0, ("bold",) if row.active else ("dim",)),
        ]
        inner = gap = ""
        for text, size, names in cells:
            if text:
                inner += gap + style(text, *names)
                gap = ""
            gap += " " * (max(0, size - width_of(text)) + 2) if size or text else ""
        location = f"{self.indent}{style(row.location[0], 'path')}:{style(row.location[1], 'line')}"
        if self.long:
            yield location
            below = self.indent + _INDENT
            assert self.width is not None
            narrow = Layout(style, self.signs, self.width - len(below))
            lines = list(wrap_words(row.tag.split(" "), "", narrow, "")) if row.tag else []
            if len(lines) > _TAG_LINES:
                last = f"{lines[_TAG_LINES - 1]} {lines[_TAG_LINES]}"
                lines[_TAG_LINES - 1 :] = [shorten(last, narrow.width, self.signs.ellipsis)]
            yield from (below + style(line, "kind") for line in lines)
            rest = "  ".join(style(text, *names) for text, _, names in cells[1:] if text)
            if rest:
                yield below + rest
            return
        if self.split:
            yield location
            location, inner = "", self.indent + _INDENT + inner if inner else ""
        elif inner:
            location += " " * max(2, self.location_width - width_of(row.head) + 2)
        if location or inner:
            yield location + inner


def _row(group: Sequence[DefinitionSite], signs: Signs, context: Context) -> _Row:
    site = group[0]
    active = next((member for member in group if member.active), None)
    here = "" if len(group) == 1 or active is None else f"line {active.line} is "
    other = elsewhere(site, context.branch)
    notes = [visible_line(site.relation)] if context.relation and site.relation != context.relation else []
    notes += [f"on {visible_line(site.branch or '')}"] if other else []
    notes += [f"{signs.here} {here}active here"] if active else []
    notes += ["this row"] if context.own == (site.file, site.line) and not other else []
    return _Row(
        (visible_line(site.file), ", ".join(str(member.line) for member in group)),
        " ".join(
            f"[{text}]"
            for text in (
                visible_line(_shortest_first(site.build_tag, signs)) if site.build_tag else "",
                f"inferred: {site.inferred}" if site.inferred else "",
            )
            if text
        ),
        "" if context.relation else visible_line(site.relation),
        ", ".join(notes),
        active is not None,
    )


def _shortest_first(tag: str, signs: Signs) -> str:
    """Shortens a long condition to its shortest clauses, which say most, and the number of clauses left out."""
    clauses, depth, start = [], 0, 0
    for at, sign in enumerate(tag):
        depth += (sign in "([{") - (sign in ")]}")
        if not depth and tag.startswith(" && ", at):
            clauses.append(tag[start:at])
            start = at + 4
    clauses.append(tag[start:])
    if len(clauses) <= _MAX_CLAUSES:
        return tag
    shortest = sorted(clauses, key=len)[:_MAX_CLAUSES]
    return f"{' && '.join(shortest)} && {signs.ellipsis} {len(clauses) - len(shortest)} more"


def _in_one_place(conflicts: Sequence[Conflict], whole: bool) -> list[list[Conflict]]:
    """Group conflicts that have the same files and conditions, and so a common cause. If `whole`, group none."""
    groups: dict[object, list[Conflict]] = {}
    for conflict in conflicts:
        places = frozenset((site.file, site.branch, site.build_tag, site.relation) for site in conflict.definitions)
        spread = len({site.file for site in conflict.definitions}) > 1 and not (whole or conflict.missing_on)
        groups.setdefault((places, conflict.same_text) if spread else id(conflict), []).append(conflict)
    return list(groups.values())


def _conflict_lines(alike: Sequence[Conflict], layout: Layout, branch: str | None, whole: bool) -> Iterator[str]:
    conflict, *others = alike
    style = layout.style
    name = shorten(visible_line(conflict.qualified_name or conflict.symbol), layout.width, layout.signs.ellipsis)
    kind, language = visible_line(conflict.kind), visible_line(conflict.language)
    notes = [language, *(["same text"] if conflict.same_text else [])]
    yield f"  {style(kind, 'kind')} {style(name, 'bold')}  {style(', '.join(notes), 'dim')}"
    yield from site_lines(
        conflict.definitions,
        layout,
        Context(branch, relation=conflict.relation),
        indent=_INDENT,
        more=listing_of(conflict.qualified_name, layout),
        limit=None if whole else _MAX_SITES,
    )
    if conflict.witness:
        yield from (_INDENT + style(line, "dim") for line in _wrap(f"both hold {conflict.witness}", layout))
    if others:
        names = ", ".join(visible_line(other.qualified_name or other.symbol) for other in others[:_MAX_SITES])
        rest = f", {layout.signs.ellipsis}" if len(others) > _MAX_SITES else ""
        text = shorten(
            f"the same holds for {plural(len(others), 'more name')}: {names}{rest}", layout.width, layout.signs.ellipsis
        )
        yield _INDENT + style(text, "dim")
    if conflict.missing_on:
        names = ", ".join(visible_line(name) for name in conflict.missing_on)
        yield _INDENT + style(f"none on {names}", "dim")


def _wrap(text: str, layout: Layout) -> list[str]:
    """Wrap a sentence into lines of a readable length."""
    room = None if layout.width is None else max(20, min(layout.width, _PROSE) - len(_INDENT))
    return list(wrap_words(text.split(" "), "", layout._replace(width=room), "", cut=False))


def _summary(answer: ConflictsAnswer, layout: Layout) -> list[str]:
    """The parts of the footer: the number of conflicts for each relation, and the number of disagreements."""
    size = len(answer.results)
    new = "new " if answer.since else ""
    count = plural(answer.total, f"{new}conflict") if answer.total else f"no {new}conflicts"
    head = f"{size:,} of {count}" if size != answer.total else count
    by_number = sorted(answer.by_relation.items(), key=lambda item: (-item[1], RELATIONS.index(item[0])))
    if answer.total:
        head += ": " + ", ".join(f"{number:,} {relation}" for relation, number in by_number if number)
    parts = [head] if answer.total or not answer.conflicts else []
    hidden = [
        f"{number:,} in vendored or generated files" if sort == "foreign" else plural(number, sort)
        for sort, number in answer.left_out.items()
    ]
    if hidden:
        parts.append(f"{', '.join(hidden)}{layout.words(': --all', ' not listed')}")
    if answer.conflicts:
        parts.append(plural(len(answer.conflicts), f"{new}disagreement") + " between sources")
    if answer.since:
        revision, commit = answer.since
        parts.append(f"since {visible_line(revision)}" + (f" ({commit[:10]})" if commit is not None else ""))
        if answer.uncompared:
            names = ", ".join(map(visible_line, answer.uncompared))
            parts.append(f"not compared, without git or without {visible_line(revision)}: {names}")
    return parts
