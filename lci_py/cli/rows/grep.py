"""`lci grep`: builds its request from a pattern and from flags."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from lci_py.cli.answering import Row
from lci_py.cli.output import Cut, Writer
from lci_py.cli.request import flag_filters, number
from lci_py.cli.streams import paths_stdout, screen
from lci_py.errors import EXIT_NO_RESULTS, EXIT_OK
from lci_py.types.grep import FileLines, GrepAnswer, GrepRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lci_py.cli.answering import CommandRun
    from lci_py.cli.command_line import Invocation

_TEXT = ("text", "files_with_matches", "count")


def _request(call: Invocation, shape: str) -> GrepRequest:
    as_text = shape in _TEXT
    layout = screen(call).layout if as_text else None
    both, before, after = (number(call.values, key) for key in ("context", "before_context", "after_context"))
    both = both or 0
    limit, offset = number(call.values, "limit"), number(call.values, "offset") or 0
    lines = "none" if call.flag("files_with_matches") else "count" if call.flag("count") else "text"
    context = (both if before is None else before, both if after is None else after)
    return GrepRequest(
        call.text("argument") or "",
        fixed=call.flag("fixed_strings"),
        ignore_case=call.flag("ignore_case"),
        smart_case=call.flag("smart_case"),
        words=call.flag("word_regexp"),
        invert=call.flag("invert_match"),
        only=as_text and call.flag("only_matching") and not call.flag("invert_match"),  # JSON has the matches beside it
        filters=flag_filters(call),
        context=(0, 0) if call.flag("paths") else context,
        max_count=number(call.values, "max_count"),
        limit=None if limit is None else limit + offset,
        lines=lines,
        # A pipe gets what ripgrep prints, which has no place for definitions.
        enclosing=layout.width is not None if layout else shape != "paths",
        marks=layout.style.color or layout.width is not None if layout else shape != "paths",
    )


def _ask(run: CommandRun) -> GrepAnswer:
    if run.shape in _TEXT:
        paths_stdout()  # a path in a pipe is its bytes
    return run.engine.grep(run.request)


def _skip(answer: GrepAnswer, offset: int) -> GrepAnswer:
    """The answer without its first `offset` matching lines or, if it lists only files, without its first files."""

    def rest() -> Iterator[FileLines]:
        remaining = offset
        for file in answer.files:
            matching = [line.number for line in file.lines if line.matches]
            if remaining >= (size := len(matching) or 1):
                remaining -= size
                continue
            after, remaining = matching[remaining - 1] if remaining else 0, 0
            yield file._replace(lines=tuple(line for line in file.lines if line.number > after))

    return answer._replace(files=rest(), offset=offset)


def _cut(answer: GrepAnswer) -> Cut[GrepAnswer]:
    """How the matching lines are shortened to a budget. All files are read first, to know which lines fit."""
    files = list(answer.files)
    # A file without lines, as with --count, is one row.
    rows: list[tuple[FileLines, int]] = [
        (file, line.number) for file in files for line in file.lines if line.matches
    ] or [(file, 0) for file in files]

    def first(count: int) -> GrepAnswer:
        if count == len(rows):
            return answer._replace(files=iter(files))
        following, number = rows[count]
        part = files[: files.index(following)]
        if count and rows[count - 1][0] is following:  # this file has lines on both sides of the cut
            end = min(number - 1, rows[count - 1][1] + answer.request.context[1])
            part.append(following._replace(lines=tuple(line for line in following.lines if line.number <= end)))
        return answer._replace(files=iter(part))

    return Cut(len(rows), first)


ROW = Row(
    _request,
    ask=_ask,
    writer=lambda _: Writer("grep", "grep", _cut),
    results=lambda answer: answer,
    whole=lambda _: False,
    skip=_skip,
    shapes=_TEXT[1:],
    bare=lambda shape: shape in _TEXT and not sys.stdout.isatty(),
    # Known when all files are read.
    finish=lambda _run, answer, _code: EXIT_OK if answer.tally.lines else EXIT_NO_RESULTS,
)
