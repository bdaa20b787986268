"""The server's side of `worker`: starts, asks and ends the worker process."""

from __future__ import annotations

import json
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lci_py.cli.mcp_server.worker import EXIT_IDLE, IDLE, work
from lci_py.cli.streams import InternalError
from lci_py.processes import program

if TYPE_CHECKING:
    from collections.abc import Callable

    Report = Callable[[float, str], None]

#: Seconds in which a process that is told to end removes what it has begun to write.
_PATIENCE = 2.0


class WorkerProcess:
    """One process, started again after it was ended. A question is asked in one thread at a time."""

    def __init__(self, settings: dict[str, Any], idle: float = IDLE) -> None:
        """Arguments as in `work`."""
        self._command = program(work, settings, idle)
        self._process: subprocess.Popen[bytes] | None = None

    def started(self) -> subprocess.Popen[bytes]:
        """The process, which is started if there is none."""
        if self._process is None or self._process.poll() is not None:
            self._close()
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self._process

    def ask(self, request: dict[str, Any], report: Report) -> dict[str, Any]:
        """The answer to a request, as `worker` describes both.

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
        """Forget the process, which has ended."""
        process, self._process = self._process, None
        for pipe in (process.stdin, process.stdout) if process is not None else ():
            with suppress(OSError):  # it may hold what nobody has read
                pipe.close()  # type: ignore[union-attr]

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        process = self._process
        if process is not None and process.poll() is None:
            process.terminate()  # an index that is being built keeps what it has
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._close()
