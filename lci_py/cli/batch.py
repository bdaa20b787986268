"""`--batch`: many commands in one process, on an index that stays open; one line in, one line of JSON out."""

from __future__ import annotations

import gc
import io
import sys
from contextlib import contextmanager, redirect_stdout
from typing import IO, TYPE_CHECKING

from lci_py.cli import cluster
from lci_py.cli.answering import runner
from lci_py.cli.command_line import Invocation
from lci_py.cli.object_parser import invocation, line_object, text_invocation
from lci_py.cli.options import COMMANDS
from lci_py.cli.output import shape_of
from lci_py.cli.request import KeptEngine, flag_filters, from_root, line_defaults, open_engine, to_request
from lci_py.cli.streams import EXIT_INTERNAL, InternalError, machine_stdout, warn, writing
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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lci_py.app import Engine

#: Bytes. A longer line is no command; the file may be binary, or not the one that was meant.
MAX_LINE = 1 << 20
#: The exit code of a batch is the first of these that one of its lines alone would have.
_GRAVEST_FIRST = (EXIT_INTERNAL, EXIT_INDEX, EXIT_USAGE, EXIT_DEGRADED, EXIT_OK)
#: Flags that say what a process prints. A batch prints JSON.
_OUTPUTS = ("files_with_matches", "count")


def run_batch(call: Invocation) -> int:
    """Run a command with --batch: each input line is its argument, or a JSON object that may name another command."""
    _check(call)
    gc.enable()  # the entry point turned it off for short runs
    codes: set[int] = set()
    with _open_batch(call.text("batch") or "") as file, _ready(call) as (base, engine), writing():
        out = machine_stdout()
        for line_number, line in lines(file):
            text, code = _answer(base, line, line_number)
            codes.add(code)
            out.write(text)
            out.flush()  # whoever keeps the batch open may wait for this answer before asking again
        if call.flag("verbose") and (problem := getattr(engine, "log_problem", "")):
            warn(f"not logged: {problem}", quiet=call.flag("quiet"))
    return next((code for code in _GRAVEST_FIRST if code in codes), EXIT_NO_RESULTS)


@contextmanager
def _ready(call: Invocation) -> Iterator[tuple[Invocation, Engine | None]]:
    """Yields (call, engine): the call has the default flags of all lines; the engine is None if a fleet answers."""
    if call.command == "cluster":
        with cluster.open_searches(call) as searches:
            yield call._replace(session=searches), None
    else:
        with KeptEngine(call) as engines, open_engine(call := call._replace(session=engines)) as engine:
            yield line_defaults(call, str(engine.root)), engine


def _check(call: Invocation) -> None:
    """Raise a `UsageError` if a flag of the command line does not go with a batch, or is wrong for every line."""
    command = COMMANDS[call.command]
    argument, key = (command.more, "more") if call.command == "cluster" else (command.argument, "argument")
    if argument and call.values[key]:
        word = argument.metavar
        raise UsageError(f"--batch and {word} cannot be used together", hint=f"put the {word} into the batch")
    shape, form = shape_of(call, *_OUTPUTS), call.text("format")
    if shape != "json" and (form or call.flag(shape)):
        flag = f"--format {form}" if form else f"--{shape.replace('_', '-')}"
        raise UsageError(f"--batch and {flag} cannot be used together", hint="a batch prints JSON")
    if call.command == "search":
        to_request(call, "a flag that is wrong is wrong for every line", flag_filters(call))


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


def lines(file: IO[bytes]) -> Iterator[tuple[int, str | None]]:
    """Yields (line number, text) for each line that is not blank; the text is None if the line is too long.

    Each line is yielded as soon as it arrives: `for line in file` would read ahead.
    """
    line_number = 0
    while data := file.readline(MAX_LINE):
        line_number += 1
        if len(data) == MAX_LINE and not data.endswith(b"\n"):
            while (data := file.readline(MAX_LINE)) and not data.endswith(b"\n"):
                pass
            yield line_number, None
            continue
        line = data.decode("utf-8-sig" if line_number == 1 else "utf-8", "replace").strip()
        if line:
            yield line_number, line


def _answer(base: Invocation, line: str | None, line_number: int) -> tuple[str, int]:
    """Run the command in a line; returns (a line of JSON, the exit code). An error does not affect other lines."""
    out = io.StringIO()
    try:
        call = _read(base, line)
        with redirect_stdout(out):
            code = runner(call.command)(call)
        return out.getvalue(), code
    except LciError as error:
        return printed_error(error, line_number)
    except Exception as found:  # a bug in one command must not end the others
        return printed_error(InternalError(f"internal error: {type(found).__name__}: {found}"), line_number)


def printed_error(error: LciError, line_number: int | None = None) -> tuple[str, int]:
    """Returns (the line of JSON that a command prints for an error, its exit code)."""
    from lci_py.render.json.answer import dumps, error_object

    if line_number is not None:
        error.details.setdefault("line", line_number)
    return dumps(error_object(error)) + "\n", error.exit_code


def _read(base: Invocation, line: str | None) -> Invocation:
    if line is None:
        raise UsageError(
            f"a line of more than {MAX_LINE:,} bytes", hint="a batch is a text file of one command per line"
        )
    if base.command == "cluster":
        return cluster.line_of_batch(base, line)
    call = invocation(line_object(line), base) if line.startswith("{") else text_invocation(line, base)
    return call._replace(values={**from_root(call.values), "json": True, "root": base.text("root")})
