"""`lci grep`: flags to a request, the answer as output and exit code."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING

from lci_py.cli.output import Cut, Writer, emit, from_here, shape_of
from lci_py.cli.request import flag_filters, number, open_engine
from lci_py.cli.streams import paths_stdout, screen
from lci_py.errors import EXIT_NO_RESULTS, EXIT_OK
from lci_py.types.grep import FileLines, GrepAnswer, GrepRequest

if TYPE_CHECKING:
    from lci_py.cli.fast_parser import Invocation
    from lci_py.cli.streams import Screen
    from lci_py.render.json.answer import Parts


def run_grep(call: Invocation) -> int:
    shape = shape_of(call, "files_with_matches", "count")
    if shape in ("files_with_matches", "count"):
        shape = "text"
    to = screen(call) if shape == "text" else None
    # A pipe gets what ripgrep prints, which has no place for definitions.
    request = _request(call)._replace(
        enclosing=shape not in ("text", "paths") or (to is not None and to.width is not None),
        marks=shape not in ("text", "paths") or (to is not None and (to.color or to.width is not None)),
    )
    if shape != "text":
        request = request._replace(only=False)  # JSON has the matches beside the line, and paths have lines
    with open_engine(call) as engine:
        answer = engine.grep(request)
        if from_here(call, shape):
            from lci_py.render.relative_paths import seen_from

            answer = seen_from(answer, engine.root, os.getcwd())
        if to is not None:
            paths_stdout()  # a path in a pipe is its bytes
        emit(call, shape, answer, _WRITER, bare=to is not None and to.width is None)
    return EXIT_OK if answer.tally.lines else EXIT_NO_RESULTS


def _request(call: Invocation) -> GrepRequest:
    around, before, after = (number(call.values, key) for key in ("context", "before_context", "after_context"))
    around = around or 0
    lines = "none" if call.flag("files_with_matches") else "count" if call.flag("count") else "text"
    context = (around if before is None else before, around if after is None else after)
    return GrepRequest(
        call.text("argument") or "",
        fixed=call.flag("fixed_strings"),
        ignore_case=call.flag("ignore_case"),
        smart_case=call.flag("smart_case"),
        words=call.flag("word_regexp"),
        invert=call.flag("invert_match"),
        only=call.flag("only_matching") and not call.flag("invert_match"),
        filters=flag_filters(call),
        context=(0, 0) if call.flag("paths") else context,
        max_count=number(call.values, "max_count"),
        limit=number(call.values, "limit"),
        lines=lines,
    )


# --- output -----------------------------------------------------------------------------------------------------


def _parts(answer: GrepAnswer) -> Parts:
    from lci_py.render.json.grep import parts

    return parts(answer)


def _text(answer: GrepAnswer, to: Screen, footer: bool) -> None:
    from lci_py.render.text.grep import render

    render(answer, file=to.file, color=to.color, width=to.width, footer=footer)


def _paths(answer: GrepAnswer, file: IO[str]) -> None:
    from lci_py.render.text.grep import render_paths

    render_paths(answer, file=file)


def _cut(answer: GrepAnswer) -> Cut[GrepAnswer]:
    """A budget needs all files before it can tell how many of their lines fit."""
    files = list(answer.files)
    # A file without lines, as with --count, is one row.
    rows: list[tuple[FileLines, int]] = [
        (file, line.number) for file in files for line in file.lines if line.matches
    ] or [(file, 0) for file in files]

    def first(count: int) -> GrepAnswer:
        if count == len(rows):
            return answer._replace(files=iter(files))
        following, number = rows[count]
        kept = files[: files.index(following)]
        if count and rows[count - 1][0] is following:  # this file has lines on both sides of the cut
            end = min(number - 1, rows[count - 1][1] + answer.request.context[1])
            kept.append(following._replace(lines=tuple(line for line in following.lines if line.number <= end)))
        return answer._replace(files=iter(kept))

    return Cut(len(rows), first)


_WRITER = Writer(_parts, _text, _paths, _cut)
