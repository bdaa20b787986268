"""The entry point: parses the command line, runs the command, and turns every outcome into an exit code.

The exit codes are defined in `errors`; an internal error has 70.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from lci_py import interrupts
from lci_py.cli import lean_numpy, streams
from lci_py.errors import EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, InterruptedRun, LciError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lci_py.cli.command_line import Invocation


def main(argv: Sequence[str] | None = None) -> int:
    """Run `lci` with the arguments `argv` (by default those of the process) and return its exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    streams.prepare_streams()
    try:
        from lci_py.cli.command_line import parse

        call = parse(args)
        return _about(args) if call is None else execute(call)
    except (Exception, KeyboardInterrupt) as error:
        return _report_failure(error, args)


def run() -> NoReturn:
    """Run `main` and end the process without the interpreter's clean-up, which takes a tenth of a query's time.

    No clean-up is needed: files are closed, worker pools are joined, and commits of the index are atomic.
    """
    interrupts.install()
    # Starting numpy's threads takes longer than the little that one query multiplies (docs/adr/0004).
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    lean_numpy.install()
    gc.disable()  # a query ends before its garbage matters; `lci index` and --batch turn it on again
    with interrupts.at_interrupt(_say_interrupted):
        code = main()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (BrokenPipeError, ValueError):
            pass  # the reader has gone, or the stream was never open
        except OSError as error:
            code = streams.internal(error, []) if code == EXIT_OK else code
    os._exit(code)


def _say_interrupted() -> None:
    if streams.wants_json(sys.argv[1:]):
        streams.say_interrupted(InterruptedRun(), as_json=True)


def _report_failure(error: Exception | KeyboardInterrupt, argv: Sequence[str]) -> int:
    """Report the error that ended a command, without a traceback; returns its exit code."""
    if isinstance(error, LciError):
        return streams.report(error, as_json=streams.wants_json(argv))
    if isinstance(error, KeyboardInterrupt):
        if streams.wants_json(argv):
            return streams.report(InterruptedRun(), as_json=True)
        return EXIT_INTERRUPTED
    if isinstance(error, BrokenPipeError):
        streams.silence_stdout()
        return EXIT_OK
    return streams.internal(error, argv)


def _about(argv: list[str]) -> int:
    """Answer a command line about the program itself (version, help, completion); returns the exit code."""
    if not argv:
        if (call := _pick()) is not None:
            return execute(call)
        from lci_py.cli.help import brief

        sys.stderr.write(brief())  # a usage error
        return EXIT_USAGE
    with streams.writing():  # which takes it that a reader has gone
        if argv[0] in ("-V", "--version"):
            from lci_py import __version__

            sys.stdout.write(f"lci {__version__}\n")
        elif argv[0].startswith("--complet"):
            from lci_py.cli import completion

            if argv[0] == "--completion":
                sys.stdout.write(completion.script(argv[1] if len(argv) > 1 else ""))
            else:
                sys.stdout.writelines(f"{word}\n" for word in completion.complete(argv[1:]))
        else:
            from lci_py.cli.help import show_help

            show_help(argv)
    return EXIT_OK


def _pick() -> Invocation | None:
    """The call of `lci pick`, which `lci` without arguments means on a terminal in a project; None otherwise."""
    from lci_py import app
    from lci_py.cli.command_line import parse
    from lci_py.cli.pick.run import is_possible

    return parse(["pick"]) if is_possible() and not app.is_unasked(None) else None


def execute(call: Invocation) -> int:
    """Run one command, and return its exit code."""
    workspace = call.text("workspace")
    if workspace is not None:
        call = _in_workspace(call, workspace)
    if call.command not in ("index", "stats") and not call.flag("quiet") and sys.stderr.isatty():
        _warn_of_settings(call)  # the two others show them in their output
    try:
        return _runner(call)(call)
    except LciError as error:
        error.workspace = error.workspace or workspace or ""
        raise


def _runner(call: Invocation) -> Callable[[Invocation], int]:
    if call.command == "mcp":
        from lci_py.cli.mcp_server.run import run_mcp

        return run_mcp
    if call.text("batch") is not None:
        from lci_py.cli.batch import run_batch

        return run_batch
    from lci_py.cli.answering import runner

    return runner(call.command)


def _in_workspace(call: Invocation, name: str) -> Invocation:
    """Set the root of a command to the workspace called `name`."""
    if call.text("root") is not None or (call.command == "index" and call.texts("argument") and not call.flag("files")):
        raise UsageError("--workspace and a root cannot be used together", hint="both choose what is searched")
    if call.text("branches") is not None:
        hint = "--branches is about the git of one repository; name it with --root"
        raise UsageError("--workspace and --branches cannot be used together", hint=hint)
    from lci_py.app.upkeep import workspace_root

    return call._replace(values={**call.values, "root": workspace_root(name)})


def _warn_of_settings(call: Invocation) -> None:
    from lci_py import app

    for warning in app.settings_warnings(call.text("root")):
        streams.warn(warning, quiet=False)
