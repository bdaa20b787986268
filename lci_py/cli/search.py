"""`lci search` and `lci def`: the answer as output and exit code; `lci search --batch`."""

from __future__ import annotations

import gc
import json
import os
import re
import sys
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

from lci_py.cli.output import MACHINE, Cut, Writer, cost, emit, fields_of, from_here, shape_of
from lci_py.cli.request import batch_values, flag_filters, number, open_engine, required_name, to_request
from lci_py.cli.streams import (
    EXIT_INTERNAL,
    InternalError,
    machine_stdout,
    say_unknown,
    warn,
    writing,
)
from lci_py.errors import (
    EXIT_DEGRADED,
    EXIT_INDEX,
    EXIT_NO_RESULTS,
    EXIT_OK,
    EXIT_USAGE,
    BadPathError,
    LciError,
    UsageError,
)
from lci_py.types.search import Answer, Filters, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lci_py.app import Engine
    from lci_py.cli.fast_parser import Invocation
    from lci_py.cli.streams import Screen
    from lci_py.render.json.answer import Parts

#: Bytes. A longer line of a batch is no query; the file may be binary, or not the one that was meant.
_MAX_LINE = 1 << 20
#: The exit code of a batch is the first of these that one of its lines alone would have.
_GRAVEST_FIRST = (EXIT_INTERNAL, EXIT_INDEX, EXIT_USAGE, EXIT_DEGRADED, EXIT_OK)
#: Lines of code per result, where neither a flag nor the settings say: on a terminal, where ten results are then about
#: one screen, and where a program pays for each.
_LINES, _FEW_LINES = 4, 2
#: A query that may be a name, and needs no quotes in a shell.
_NAME = re.compile(r"\w[\w.:]*")


def run_search(call: Invocation) -> int:
    shape = shape_of(call)
    if call.text("batch") is not None:
        return _run_batch(call, shape)
    request = to_request({**batch_values(call), "query": call.text("argument")})
    if shape == "paths" and request.snippet is not None:
        request = replace(request, snippet=None)  # the line that matches is printed, whatever would be shown
    with open_engine(call, snippet=_LINES if shape == "text" and sys.stdout.isatty() else _FEW_LINES) as engine:
        answer = engine.search(request)
        if from_here(call, shape):
            answer = _from_here(answer, engine)
        listed = not any(found.snippet for found in answer.results)  # a flag or a setting says 0 lines
        _warn_of_log(engine, call)
        name = _defined_name(engine, request, call, shape)
    writer = _writer(call, request, listed=listed)
    code = _exit_code(answer, request.strict)  # results that do not fit into a budget were found all the same
    if request.max_tokens is not None:
        from lci_py.render.token_budget import cut

        answer = cut(answer, request.max_tokens, cost(call, shape, writer))
    emit(call, shape, answer, writer)
    if shape == "paths":
        _warn(answer, call)
    if name:
        warn(f"`lci def {name}` shows where it is defined", quiet=False)
    return code


def run_def(call: Invocation) -> int:
    shape = shape_of(call)
    name = required_name(call)
    filters = flag_filters(call)
    limit, offset = number(call.values, "limit") or 1, number(call.values, "offset") or 0
    with open_engine(call) as engine:
        answer = engine.definitions(name, filters, limit + offset)
        if from_here(call, shape):
            answer = _from_here(answer, engine)
    shown = replace(answer, results=answer.results[offset:], offset=offset)
    emit(call, shape, shown, _DEFINITIONS)
    if not answer.results and not filters and shape not in MACHINE and not call.flag("quiet"):
        say_unknown(answer.query, answer.did_you_mean)
    return _exit_code(shown, strict=False)


def _defined_name(engine: Engine, request: SearchRequest, call: Invocation, shape: str) -> str:
    """The query, if it is the name of a definition and nobody chose the mode: then `lci def` is what a person wants."""
    quiet = call.flag("quiet") or shape != "text" or not sys.stderr.isatty()
    if quiet or call.text("mode") is not None or request.mode != "dense" or not _NAME.fullmatch(request.query.strip()):
        return ""
    name = request.query.strip()
    return name if engine.definitions(name, Filters(), 1).total else ""


# --- output -----------------------------------------------------------------------------------------------------


def _exit_code(answer: Answer, strict: bool) -> int:
    if strict and answer.degraded:
        return EXIT_DEGRADED
    return EXIT_OK if answer.results else EXIT_NO_RESULTS


def _from_here(answer: Answer, engine: Engine) -> Answer:
    from lci_py.render.relative_paths import seen_from

    return seen_from(answer, engine.root, os.getcwd())


def _parts(answer: Answer, request: SearchRequest, fields: tuple[str, ...] = ()) -> Parts:
    from lci_py.render.json.answer import parts

    linked, signature = bool(request.expand) or "graph" in fields, "signature" in fields
    return parts(answer, linked=linked, signature=signature, explain=request.explain)


def _writer(call: Invocation, request: SearchRequest, *, listed: bool) -> Writer[Answer]:
    fields = fields_of(call)

    def text(answer: Answer, to: Screen, footer: bool) -> None:
        from lci_py.render.text.results import render

        render(
            answer,
            file=to.file,
            color=to.color,
            width=to.width,
            snippet_lines=0 if listed else None,
            footer=footer,
            explain=request.explain,
            imports=bool(request.expand) or call.flag("verbose"),
        )

    return Writer(lambda answer: _parts(answer, request, fields), text, _paths)


def _paths(answer: Answer, file: IO[str]) -> None:
    from lci_py.render.text.results import render_paths

    render_paths(answer, file=file)


def _definition_parts(answer: Answer) -> Parts:
    from lci_py.render.json.answer import parts

    return parts(answer, doc=True)


def _definition_text(answer: Answer, to: Screen, footer: bool) -> None:
    from lci_py.render.text.results import render_definitions

    render_definitions(answer, file=to.file, color=to.color, width=to.width, footer=footer)


def _definition_cut(answer: Answer) -> Cut[Answer]:
    return Cut(len(answer.results), lambda count: replace(answer, results=answer.results[:count]))


_DEFINITIONS = Writer(_definition_parts, _definition_text, _paths, _definition_cut)


def _warn(answer: Answer, call: Invocation) -> None:
    """Warnings about the answer, which a list of paths has no room for."""
    for d in answer.degraded:
        warn(f"degraded: {d.view} ({d.failure_mode}), answered by {d.fallback_mode}", quiet=call.flag("quiet"))
    for given_up in (answer.plan or {}).get("relaxed", ()):
        warn(f"relaxed: {given_up}", quiet=call.flag("quiet"))


def _warn_of_log(engine: Engine, call: Invocation) -> None:
    if call.flag("verbose") and (problem := getattr(engine, "log_problem", "")):
        warn(f"not logged: {problem}", quiet=call.flag("quiet"))


# --- batch ------------------------------------------------------------------------------------------------------


def _run_batch(call: Invocation, shape: str) -> int:
    if call.text("argument") is not None:
        raise UsageError("--batch and QUERY cannot be used together", hint="put the query into the batch")
    if shape != "json" and (given := call.text("format") or (shape if call.flag(shape) else "")):
        flag = f"--format {given}" if call.text("format") else f"--{given}"
        raise UsageError(f"--batch and {flag} cannot be used together", hint="a batch prints JSON")
    flags, fields = batch_values(call), fields_of(call)
    to_request({**flags, "query": "a flag that is wrong is wrong for every line"})
    gc.enable()  # the entry point turned it off for short runs
    codes: set[int] = set()
    with _open_batch(call.text("batch") or "") as file, open_engine(call) as engine, writing():
        out = machine_stdout()
        for line_number, line in _lines(file):
            text, code = _answer_line(engine, flags, line, line_number, fields)
            codes.add(code)
            out.write(text + "\n")
            out.flush()  # whoever keeps the batch open may wait for this answer before asking again
        _warn_of_log(engine, call)
    return next((code for code in _GRAVEST_FIRST if code in codes), EXIT_NO_RESULTS)


@contextmanager
def _open_batch(name: str) -> Iterator[IO[bytes]]:
    if name == "-":
        if sys.stdin is None:
            raise BadPathError("cannot read -: standard input is closed", hint="--batch takes a file, or - for stdin")
        yield sys.stdin.buffer
        return
    try:
        file = open(name, "rb")  # noqa: SIM115  # closed below: only a failure to open is a bad path
    except OSError as error:
        message = f"cannot read {name}: {error.strerror}"
        raise BadPathError(message, hint="--batch takes a file, or - for stdin") from error
    with file:
        yield file


def _lines(file: IO[bytes]) -> Iterator[tuple[int, str | None]]:
    """Number and text of each line that is not blank; None for the text of a line that is too long.

    Each line is yielded as soon as it arrives: `for line in file` would read ahead.
    """
    line_number = 0
    while data := file.readline(_MAX_LINE):
        line_number += 1
        if len(data) == _MAX_LINE and not data.endswith(b"\n"):
            while (data := file.readline(_MAX_LINE)) and not data.endswith(b"\n"):
                pass
            yield line_number, None
            continue
        line = data.decode("utf-8-sig" if line_number == 1 else "utf-8", "replace").strip()
        if line:
            yield line_number, line


def _answer_line(
    engine: Engine, flags: Mapping[str, Any], line: str | None, line_number: int, fields: tuple[str, ...]
) -> tuple[str, int]:
    """The JSON and the exit code for one line. An error becomes JSON too, so that the next line gets its answer."""
    from lci_py.render.json.answer import dumps, error_object
    from lci_py.render.token_budget import cut, tokens

    try:
        request = to_request({**flags, **_parse_line(line)})
        answer = engine.search(request)
        code = _exit_code(answer, request.strict)

        def text(part: Answer) -> str:
            return dumps(_parts(part, request, fields).whole(fields))

        if request.max_tokens is not None:
            answer = cut(answer, request.max_tokens, lambda part: tokens(text(part)))
        return text(answer), code
    except LciError as error:
        error.details.setdefault("line", line_number)
        return dumps(error_object(error)), error.exit_code
    except BrokenPipeError:
        raise
    except Exception as found:  # a bug in one query must not end the batch
        bug = InternalError(f"internal error: {type(found).__name__}: {found}")
        bug.details["line"] = line_number
        return dumps(error_object(bug)), bug.exit_code


def _parse_line(line: str | None) -> dict[str, Any]:
    if line is None:
        raise UsageError(
            f"a line of more than {_MAX_LINE:,} bytes", hint="a batch is a text file of one query per line"
        )
    if not line.startswith("{"):
        return {"query": line}
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"not a JSON object: {error}", hint="a line that starts with { is read as JSON") from error
    return dict(found)
