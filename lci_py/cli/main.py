"""The entry point: parse, call the command, and turn whatever happens into an exit code.

Exit codes are the contract's, and 70 for an internal error. Click's own handling is not used: it turns crashes and
broken pipes into exit 1, which here means that nothing was found.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from lci_py.cli import streams
from lci_py.errors import EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, InterruptedRun, LciError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lci_py.cli.fast_parser import Invocation

_PROGRAM = "lci"


def main(argv: Sequence[str] | None = None) -> int:
    """Run `lci` with these arguments and return its exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    streams.prepare_streams()
    return _guard(lambda: _dispatch(args), args)


def run() -> NoReturn:
    """The process: `main`, without the interpreter's clean-up, which takes a tenth of a query's time.

    Nothing is left to clean up: files are closed, worker pools joined, and the index is committed or it is not.
    """
    # One query multiplies too little to share: starting numpy's threads takes longer than the query (docs/adr/0004).
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.disable()  # a query ends before its garbage matters; `lci index` and --batch turn it on again
    code = main()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (BrokenPipeError, ValueError):
            pass  # the reader is gone, or the stream was never open
        except OSError as error:
            code = streams.internal(error, []) if code == EXIT_OK else code
    os._exit(code)


def _guard(action: Callable[[], int], argv: Sequence[str]) -> int:
    try:
        return action()
    except LciError as error:
        return streams.report(error, as_json=streams.wants_json(argv))
    except KeyboardInterrupt:
        if streams.wants_json(argv):
            return streams.report(InterruptedRun(), as_json=True)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        streams.silence_stdout()
        return EXIT_OK
    except Exception as error:  # the last line of defence: no traceback reaches a user
        return streams.internal(error, argv)


def _dispatch(argv: list[str]) -> int:
    from lci_py.cli.fast_parser import parse

    call = parse(argv)
    return _run_typer(argv) if call is None else execute(call)


def execute(call: Invocation) -> int:
    """Run one command."""
    if call.command in ("search", "def"):
        from lci_py.cli import search

        return search.run_search(call) if call.command == "search" else search.run_def(call)
    if call.command in ("callers", "callees", "tree", "refs"):
        from lci_py.cli import graph

        return graph.run_graph(call)
    if call.command == "conflicts":
        from lci_py.cli import conflicts

        return conflicts.run_conflicts(call)
    from lci_py.cli import index

    runs = {
        "index": index.run_index,
        "status": index.run_status,
        "stats": index.run_stats,
        "clean": index.run_clean,
        "hook": index.run_hook,
    }
    return runs[call.command](call)


def _run_typer(argv: list[str]) -> int:
    """Help, completion and errors; also what is valid but not plain enough for the fast parser."""
    import typer

    from lci_py.cli.fast_parser import COMPLETE_VARIABLE

    command = typer.main.get_command(_typer_app(argv))
    if not argv and not os.environ.get(COMPLETE_VARIABLE):  # a shell that asks for completions passes no arguments
        return _bare(command)
    try:
        code = command.main(args=argv, prog_name=_PROGRAM, standalone_mode=False)
    except typer.Abort:
        return EXIT_INTERRUPTED
    except SystemExit as exit_:
        # Completion exits by itself; so does typer when the reader of its help is gone, with 1.
        if isinstance(exit_.__context__, BrokenPipeError):
            raise BrokenPipeError from exit_
        return exit_.code if isinstance(exit_.code, int) else EXIT_OK
    except Exception as error:
        raise _as_usage_error(error) or error from error
    return code if isinstance(code, int) else EXIT_OK


def _bare(command: Any) -> int:
    """`lci` alone: the help, but as an error, since nothing was asked for."""
    from contextlib import redirect_stdout

    with redirect_stdout(sys.stderr):
        command.main(args=["--help"], prog_name=_PROGRAM, standalone_mode=False)
    return EXIT_USAGE


def _as_usage_error(error: Exception) -> UsageError | None:
    """Click's usage errors, told by shape: typer has its own copy of click since 0.2x, and click's before."""
    say = getattr(error, "format_message", None)
    if say is None or getattr(error, "exit_code", None) != EXIT_USAGE:
        return None
    message = " ".join(str(say()).split()).rstrip(".")
    message = message[:1].lower() + message[1:]
    context = getattr(error, "ctx", None)
    path = getattr(context, "command_path", _PROGRAM)
    if "extra argument" in message and path.endswith("search"):
        return UsageError(message, hint='put a query of several words in quotes: lci search "…"')
    return UsageError(message, hint=f"see `{path} --help`")


def _typer_app(argv: Sequence[str]) -> Any:
    from lci_py.cli.typer_app import build

    # Inside typer an exception would be typer's to handle, so the command is guarded on its own.
    return build(lambda call: _guard(lambda: execute(call), argv))


def __getattr__(name: str) -> Any:
    # `app` for typer's own tools (documentation, CliRunner), without typer's import for everyone else.
    if name == "app":
        return _typer_app(sys.argv[1:])
    raise AttributeError(name)
