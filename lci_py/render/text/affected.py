"""`lci affected` as text: the changes, the affected tests, and other affected callers; the nearest come first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.render.text.graph import Table, through_notes
from lci_py.render.text.style import plural, visible_line
from lci_py.types.search import FILE_KIND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.render.text.graph import TableRow
    from lci_py.render.text.style import Layout, Page
    from lci_py.types.affected import AffectedAnswer, AffectedDefinition, Reason
    from lci_py.types.graph import Place

#: Files of tests, the nearest, of which tests are named; and tests of one.
_NAMED_FILES, _NAMED = 6, 6
#: Callers that are listed.
_CALLERS = 20
#: Notes on uncertain relations to a change.
_BY: dict[Reason, str] = {"name": ", by name", "dispatch": ", dispatch", "type": ", by its type"}
#: Reasons that are no calls.
_REASONS: dict[Reason, str] = {
    "changed": "changed",
    "mentions": "mentions the name",
    "imports": "imports the file",
    "file_name": "by the file's name",
    "words": "shares words with the change",
}
_NOUNS = ("change", "test", "caller")


def render(answer: AffectedAnswer, page: Page, *, footer: bool = True, each: bool = False) -> None:
    """Write an answer as text.

    Args:
        footer: Whether to end with the number of results.
        each: Whether to list each test and every caller, instead of one line per test file and the nearest callers.
    """
    layout = page.layout
    changes, tests, callers = answer.dropped
    files = _by_file(answer.tests, layout)
    nearest = answer.callers if each else answer.callers[:_CALLERS]
    rest = len(answer.callers) - len(nearest)
    more = f", the nearest {len(nearest)}{layout.words(': -v lists all', '')}" if rest and not callers else ""
    table = Table(layout, 0)
    of_tests = (
        table.lines([place_row(row.place, _reason_words(row)) for row in answer.tests], "dim") if each else iter(files)
    )
    parts = [
        (
            f"changed: {len(answer.changed) + changes:,}",
            table.lines([place_row(row.place, row.change.replace("modified", "")) for row in answer.changed], "dim"),
        ),
        (
            f"tests: {len(answer.tests) + tests:,}" + ("" if tests else f" in {plural(len(files), 'file')}"),
            of_tests,
        ),
        (
            f"callers: {len(answer.callers) + callers:,}{more}",
            table.lines(_group_by_file([place_row(row.place, _reason_words(row)) for row in nearest], layout), "dim"),
        ),
    ]
    for label, lines in parts:
        if rows := list(lines):
            page.lines([layout.style(label, "bold"), *rows])
    for note in through_notes(answer.through, layout, callers=True):
        page.warning(f"not followed: {note}")
    if answer.by_name and not any(answer.dropped):
        note = f"by name or import only: {plural(len(answer.by_name), 'more file')} of tests"
        note += layout.words("; --all lists them", "")
        page.sentence(note, "dim")
    if untested := no_test(answer):
        page.warning(untested)
    if answer.max_tokens is not None:
        counts = [plural(count, noun) for count, noun in zip(answer.dropped, _NOUNS, strict=True) if count]
        note = f"cut to {answer.max_tokens:,} tokens: {', '.join(counts)} left out"
        size = len(answer.changed) + len(answer.tests) + len(answer.callers)
        note += layout.words("", f"; offset {answer.offset + size} goes on")
        page.warning(note)
    if answer.uncompared:
        names = ", ".join(map(visible_line, answer.uncompared))
        note = f"not compared, without git or without {visible_line(answer.request.revision)}: {names}"
        page.warning(note)
    if footer and (layout.width is not None or not answer.changed or answer.info.behind):
        is_def = bool(answer.changed) and answer.commit is None  # a definition; a revision has a commit
        since = (
            f" since {visible_line(answer.request.revision)}"
            if answer.request.files is None and answer.request.diff is None and not is_def
            else ""
        )
        count = len(answer.changed) + changes
        news = [f"{plural(count, 'change')}{since}" if count else f"nothing has changed{since}"]
        page.end(news, answer.info)


def no_test(answer: AffectedAnswer) -> str:
    """A sentence that says that no test reaches the changes; "" if a test does, or nothing has changed."""
    if not answer.changed or any(test.reached for test in answer.tests) or any(answer.dropped):
        return ""
    return "no test reaches this by calls" + ("; those listed share words with it" if answer.tests else "")


def _by_file(tests: Sequence[AffectedDefinition], layout: Layout) -> list[str]:
    """A line for each test file, with its nearest test and the number of its tests; the nearest files first."""
    style = layout.style
    files: dict[str, list[AffectedDefinition]] = {}
    for test in tests:
        files.setdefault(test.place.file, []).append(test)
    lines: list[str] = []
    for path, own in files.items():
        count = sum(test.place.kind != FILE_KIND for test in own)
        note = f"{plural(count, 'test')}, {_reason_words(own[0])}" if count else _reason_words(own[0])
        names = _test_names(own) if len(lines) < _NAMED_FILES else ""
        lines.append(
            f"{style(visible_line(path), 'path')}:{style(str(own[0].place.line), 'line')}  {style(note, 'dim')}{names}"
        )
    return lines


def _test_names(tests: Sequence[AffectedDefinition]) -> str:
    """The text `: test_a, test_b, …` with the names of a file's nearest tests; "" if the file has no named tests."""
    names = [visible_line(test.place.symbol) for test in tests if test.place.symbol and test.place.kind != FILE_KIND]
    return f": {', '.join(names[:_NAMED])}{', …' if len(names) > _NAMED else ''}" if names else ""


def _group_by_file(rows: Sequence[TableRow], layout: Layout) -> Sequence[TableRow]:
    """In a pipe, group the rows by file, so that each path is printed only once, above its rows."""
    first = {path: index for index, (path, *_) in reversed(list(enumerate(rows)))}
    return rows if layout.width is not None else sorted(rows, key=lambda row: first[row[0]])


def place_row(place: Place, how: str) -> TableRow:
    """The table row of a definition; `how` is a remark, such as the reason why it is listed."""
    name = visible_line(place.qualified_name or "")
    return visible_line(place.file), str(place.line), f"{place.kind} {name}".rstrip(), how, ""


def _reason_words(item: AffectedDefinition) -> str:
    return _REASONS.get(item.reason) or f"{plural(item.distance, 'call')} away{_BY.get(item.reason, '')}"
