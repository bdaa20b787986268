"""Finds and imports the function that runs a command. `answer` runs each command that is described by a `Row`."""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lci_py.cli.options import ANSWERING
from lci_py.cli.output import FILES, PICTURES, Writer, cost, cut_results, emit, from_here, shape_of
from lci_py.cli.request import number, open_engine
from lci_py.errors import EXIT_NO_RESULTS, EXIT_OK, UsageError
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.app import Engine
    from lci_py.cli.command_line import Invocation

#: Shapes that a renderer of text knows from the request, or from the options of its writer.
_AS_TEXT = ("files_with_matches", "count")


class CommandRun(NamedTuple):
    """One run of a command: its flags, the output shape, the request, and the open engine."""

    call: Invocation
    shape: str  # as of `shape_of`
    request: Any
    engine: Engine


def skip_results(answer: Any, offset: int) -> Any:
    """A copy of an answer without its first `offset` results."""
    return answer._replace(results=answer.results[offset:], offset=offset)


class Row(NamedTuple):
    """How a command is answered and printed. By default the engine's method and the renderers are named as the command.

    Attributes:
        request: Builds the request from the flags; the second argument is the output shape (see `shape_of`).
        ask: Gets the engine's answer.
        writer: Returns the `Writer` that prints the answer.
        results: Returns a true value if the answer has results, which decides the exit code.
        whole: Whether the command needs the whole call graph.
        shapes: Flags of this command that choose an output shape, besides the flags that `shape_of` knows.
        skip: Returns the answer without its first results, for --offset; None where the engine skips them.
        fit: Cuts the answer to a token budget, given a function that counts tokens; None if the writer's `cut` does.
        bare: Whether an output shape has no room for a note in its text (see `emit`).
        finish: Writes further notes to stderr, and returns the final exit code, given the code that `results` decided.
    """

    request: Callable[[Invocation, str], Any]
    ask: Callable[[CommandRun], Any] = lambda run: run.engine.answer(run.call.command, run.request)
    writer: Callable[[CommandRun], Writer[Any]] = lambda run: Writer(run.call.command, run.call.command, cut_results)
    results: Callable[[Any], object] = lambda answer: answer.results
    whole: Callable[[Invocation], bool] = lambda _: True
    shapes: tuple[str, ...] = ()
    skip: Callable[[Any, int], Any] | None = None
    fit: Callable[[CommandRun, Any, Callable[[Any], int]], Any] | None = None
    bare: Callable[[str], bool] = lambda shape: shape in PICTURES
    finish: Callable[[CommandRun, Any, int], int] = lambda _run, _answer, code: code


def answer(call: Invocation, row: Row) -> int:
    """Run a command, and return its exit code."""
    shape = shape_of(call, *row.shapes)
    if shape in FILES and sys.stdout.isatty():
        raise UsageError(f"{shape} is not for a terminal", hint=f"write it to a file: > {call.command}.{shape}")
    request = row.request(call, shape)
    with open_engine(call, whole=row.whole(call)) as engine:
        run = CommandRun(call, shape, request, engine)
        result = row.ask(run)
        if row.skip is not None and (offset := number(call.values, "offset")):
            result = row.skip(result, offset)
        result = from_here(result, call, shape, engine.root)
        writer, form = row.writer(run), "text" if shape in _AS_TEXT else shape
        if shape in PICTURES:
            writer = writer._replace(page=_page(run))
        # Results that do not fit into a budget still count.
        code = EXIT_OK if row.results(result) else EXIT_NO_RESULTS
        part = result if row.fit is None else row.fit(run, result, cost(call, form, writer))
        emit(call, form, part, writer, bare=row.bare(shape))
        return row.finish(run, result, code)


#: Commands that answer a question about an index, where the module of their row is not called like them.
_ROWS = {
    "def": ("search", "DEFINITIONS"),
    **dict.fromkeys(("callers", "callees", "tree", "refs"), ("rows.graph", "ROW")),
}
#: The module of each other command, where that is not called like it; its function is `run_COMMAND`.
_MODULES = {"pick": "pick.run", **dict.fromkeys(("status", "stats", "clean", "workspace", "hook", "agent"), "index")}


def row_of(command: str) -> Row:
    """The `Row` of a command that answers a question."""
    module, name = _ROWS.get(command, (f"rows.{command}", "ROW"))
    row: Row = getattr(import_module(f"lci_py.cli.{module}"), name)
    return row


def runner(command: str) -> Callable[[Invocation], int]:
    """The function that runs a command and returns its exit code."""
    if command in ANSWERING and command not in ("search", "status"):
        return partial(answer, row=row_of(command))
    module = _MODULES.get(command, command)
    run: Callable[[Invocation], int] = getattr(import_module(f"lci_py.cli.{module}"), f"run_{command}")
    return run


def _page(run: CommandRun) -> dict[str, object]:
    """Arguments for `diagrams.write`: a function that returns code, and a function that returns a link to an editor."""
    from lci_py.cli.terminal import editor_link

    reader, root = run.engine.snapshot.reader, str(run.engine.root)

    def code(path: str, first: int, last: int) -> list[str]:
        return [line.decode("utf-8", "replace").rstrip("\r") for line in reader.some(path, first, last)]

    return {"code": code, "link": editor_link(root)}
