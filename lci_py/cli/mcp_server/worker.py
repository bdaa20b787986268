"""The worker process, and the server's side of it. The worker runs commands one by one, on an index that it keeps open.

It is separate from the server, which speaks the protocol, so that any call can be cancelled by ending the worker,
and so that the worker can end when idle. The worker has no threads, so it may fork to build an index.

It reads lines of JSON, each a command with its folder, and writes lines of JSON: progress, then the answer.
"""

from __future__ import annotations

import gc
import io
import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack, redirect_stderr, redirect_stdout, suppress
from typing import IO, TYPE_CHECKING, Any

from lci_py import interrupts
from lci_py.cli.answering import runner
from lci_py.cli.batch import printed_error
from lci_py.cli.command_line import Invocation, defaults
from lci_py.cli.object_parser import invocation
from lci_py.cli.options import COMMANDS
from lci_py.cli.request import KeptEngine
from lci_py.cli.streams import InternalError, prepare_streams
from lci_py.errors import BadPathError, LciError
from lci_py.processes import can_be_read, program, silence

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.render.text.progress import Progress

#: Who chose a folder: a flag of `lci mcp`, the client, or nobody. Then an index is only built in a git work tree.
CHOSEN = ("flag", "client", "nobody")
#: Seconds without a request after which the process ends: agents leave their servers running for days.
IDLE = 600.0
#: The exit code then. Whoever asks starts another one, as if nothing had happened.
EXIT_IDLE = 75
#: Seconds in which a process that is told to end removes what it has begun to write.
_PATIENCE = 2.0
#: Minimum progress of a build between two reports.
_STEP = 0.01


def work(settings: dict[str, Any], idle: float = IDLE) -> None:
    """The main function of the worker process: answer until standard input ends or stays silent.

    Args:
        settings: The flags of `lci mcp` that say how an index is opened.
        idle: Seconds without a request after which the process ends.
    """
    interrupts.install()
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    prepare_streams()
    gc.enable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    silence(0)  # nothing that a command reads or prints may meet the lines
    os.dup2(2, 1)
    from lci_py import app

    app.preload()
    desk = _Desk(settings, answers)
    while can_be_read(requests.fileno(), idle):
        if not (line := requests.readline()):
            return
        _send(answers, desk.answer(json.loads(line)))
    sys.exit(EXIT_IDLE)


def _send(answers: IO[bytes], message: dict[str, Any]) -> None:
    answers.write(json.dumps(message).encode() + b"\n")
    answers.flush()


class _Desk:
    """Answers the requests in the worker process. It keeps the index of one folder open at a time."""

    def __init__(self, settings: dict[str, Any], answers: IO[bytes]) -> None:
        self._settings = settings
        self._answers = answers
        self._location: tuple[str, str] | None = None
        self._base = self._opening(None)
        self._open = ExitStack()
        self._session: KeptEngine | None = None
        self._progress: Progress | None = None
        self._reported = 0.0

    def _opening(self, root: str | None) -> Invocation:
        return Invocation("search", {**defaults(COMMANDS["search"]), **self._settings, "root": root})

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run the command in a request.

        Args:
            request: Has the keys `folder`, `chosen` (one of CHOSEN), `command` (an object for `object_parser`) and
                `json` (whether to answer in JSON).
        Returns:
            A dict with the command's output as `text`, and with `error`, whether the command failed.
        """
        self._progress = None
        as_json = bool(request["json"])
        try:
            self._go_to(request["folder"], request["chosen"])
            from lci_py import app

            root = str(app.find_root(self._base.text("root")))
            call = invocation(request["command"], Invocation("search", defaults(COMMANDS["search"])))
            if self._session is not None:
                self._session.look_again()
            values = {**call.values, **self._settings, "root": root, "json": as_json}
            return {"text": _printed_output(call._replace(values=values, session=self._session)), "error": False}
        except LciError as error:
            return {"text": said_error(error, as_json=as_json), "error": True}
        except Exception as error:  # a bug in one command must not end the others
            bug = InternalError(f"internal error: {type(error).__name__}: {error}")
            return {"text": said_error(bug, as_json=as_json), "error": True}

    def _go_to(self, folder: str, source: str) -> None:
        if self._location == (folder, source):
            return
        self._open.close()
        self._location = None
        try:
            os.chdir(folder)
        except OSError as error:
            raise BadPathError(
                f"cannot open {folder}: {error.strerror}", hint="check that the folder still exists"
            ) from error
        from lci_py import app

        # A folder that is open in the client is in some repository, or is one; that of --root is taken as it is.
        root = {"flag": folder, "client": str(app.find_root(None))}.get(source)
        self._base = self._opening(root)
        self._session = self._open.enter_context(KeptEngine(self._base, self._report))
        self._location = (folder, source)

    def _report(self, stage: str, done: int, total: int) -> None:
        if self._progress is None:
            from lci_py.render.text.progress import Progress

            self._progress, self._reported = Progress(io.StringIO(), 80), 0.0  # it knows how long each stage takes
        self._progress(stage, done, total)
        if self._progress.part >= self._reported + _STEP:
            self._reported = self._progress.part
            _send(self._answers, {"progress": round(self._reported, 2), "stage": f"{stage} {done:,}/{total:,}"})


def _printed_output(call: Invocation) -> str:
    """The output of a command as text, including its warnings."""
    from lci_py.render.text.style import ToolText

    out = ToolText()
    with redirect_stdout(out), redirect_stderr(io.StringIO() if call.flag("json") else out):
        runner(call.command)(call)
    return out.getvalue()


def said_error(error: LciError, *, as_json: bool) -> str:
    """The text of an error, as a client of the server reads it: JSON if `as_json`."""
    error = error.for_tools()
    return printed_error(error)[0] if as_json else ": ".join(filter(None, (error.message, error.hint)))


# --- on the server's side -----------------------------------------------------------------------------------------


class WorkerProcess:
    """The server's side of the worker: asks one question at a time, and restarts a process that has ended."""

    def __init__(self, settings: dict[str, Any], idle: float = IDLE) -> None:
        """Prepare to run `work(settings, idle)` in a process that starts on first use."""
        self._command = program(work, settings, idle)
        self._process: subprocess.Popen[bytes] | None = None

    def started(self) -> subprocess.Popen[bytes]:
        """The running worker process; starts it if none is running."""
        if self._process is None or self._process.poll() is not None:
            self._close()
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self._process

    def ask(self, request: dict[str, Any], report: Callable[[float, str], None]) -> dict[str, Any]:
        """The worker's answer to a request (see `_Desk.answer`); `report` gets the done share of a build and its stage.

        Raises:
            InternalError: The process has ended.
        """
        process = self.started()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            while line := process.stdout.readline():
                message: dict[str, Any] = json.loads(line)
                if "progress" not in message:
                    return message
                report(message["progress"], message["stage"])
        except (OSError, ValueError):
            pass  # it has ended, as it has if there are no more lines
        if process.wait() == EXIT_IDLE:
            if self._process is process:
                self._close()
            return self.ask(request, report)  # it has ended before it saw the request
        raise InternalError("the process that answers has ended; the next call starts another")

    def _close(self) -> None:
        """Close the pipes of the process, which has ended, and forget it."""
        process, self._process = self._process, None
        for pipe in (process.stdin, process.stdout) if process is not None else ():
            with suppress(OSError):  # it may hold what nobody has read
                pipe.close()  # type: ignore[union-attr]

    def stop(self) -> None:
        """End the process, even while it is answering."""
        process = self._process
        if process is not None and process.poll() is None:
            process.terminate()  # an index that is being built keeps what it has
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._close()
