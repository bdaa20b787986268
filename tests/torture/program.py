"""Runs the program under test as a black box: command lines in; exit codes, output and times out."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import zygote
from tests.support.zygote import PROJECT, Zygote

LINUX = sys.platform == "linux"
STRACE = shutil.which("strace")
#: The exit codes that a command may have in any situation.
KNOWN_EXITS = frozenset({0, 1, 2, 3, 4, 130})
GIBIBYTE = 1 << 30
#: Address space of a run in bytes: imports take about 1.5 GiB, the small repositories of these tests next to nothing.
MEMORY = 4 * GIBIBYTE
NO_REFRESH = ("--refresh", "never")


def frozen(command: str) -> tuple[str, ...]:
    """Flags that make a command read the index as it is."""
    return () if command == "status" else NO_REFRESH


@dataclass(frozen=True)
class Ran:
    """One finished run; `code` is the negative number of the signal that ended it, if one did."""

    argv: tuple[str, ...]
    code: int
    out: str
    err: str
    seconds: float
    timed_out: bool
    peak: int  # bytes of memory, including the imported modules

    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> str | None:
        """The code of the typed error that the run printed, None if it printed none."""
        try:
            found = self.json()["error"]
            return str(found["code"]) if found["message"] and "hint" in found else None
        except (ValueError, KeyError, TypeError):
            return None

    def misbehaved(self) -> str | None:
        """What the run did that must never happen, such as a crash; None if it did nothing of the kind."""
        if self.timed_out:
            return "hang"
        if self.code < 0:
            return f"ended by signal {-self.code}"
        if "Traceback" in self.err:
            return "traceback"
        if self.code == 3 and self.error is None:
            return "exit 3 without a typed error"
        if self.code not in KNOWN_EXITS:
            return f"exit {self.code}"
        return None

    def told(self) -> str:
        """A short description of the run and its outcome, for reports."""
        out = self.out if len(self.out) < 600 else f"{self.out[:200]} … {self.out[-400:]}"
        return f"lci {' '.join(self.argv)} -> {self.code} {out!r} {self.err[-300:]!r}"


class Running:
    """A run in progress."""

    def __init__(self, argv: tuple[str, ...], run: zygote.Running) -> None:
        self._argv = argv
        self._run = run
        self.pid = run.pid

    def wait(self) -> Ran:
        return Ran(self._argv, **self._run.outcome())


class Program:
    """Runs `lci` in a home of its own, without the user's caches and settings. A context manager."""

    def __init__(self, scratch: Path, server: str | None = None) -> None:
        """Args:
        scratch: The folder of its home.
        server: The socket of the zygote of whose forks the runs are; None to start one.
        """
        self.home = scratch / "home"
        self.home.mkdir(parents=True, exist_ok=True)
        self._own = None if server else Zygote(self.environment())
        self._server = server or self._own.socket

    def environment(self) -> dict[str, str]:
        folders = {f"XDG_{name}_HOME": str(self.home / name.lower()) for name in ("CACHE", "CONFIG", "DATA", "STATE")}
        single = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("LCI_", "XDG_", "GIT_"))}
        git = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        return {**kept, **folders, **single, **git, "HOME": str(self.home), "PYTHONPATH": str(PROJECT)}

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        if self._own:
            self._own.__exit__()

    def start(
        self,
        *argv: str,
        cwd: Path | None = None,
        limit_s: float = 60.0,
        memory: int | None = None,
        file_size: int | None = None,
        kill_after: float | None = None,
        strace: list[str] | None = None,
        stdin: Path | None = None,
        index_dir: Path | None = None,
        fresh_interpreter: bool = False,
    ) -> Running:
        """Start `lci ARGV`.

        Args:
            limit_s: Seconds after which the run counts as hanging and is killed.
            memory: Bytes of address space (RLIMIT_AS).
            file_size: Largest size of a file in bytes (RLIMIT_FSIZE).
            kill_after: Seconds after which its whole process group gets SIGKILL.
            strace: Arguments of an strace that is attached before the run begins.
            fresh_interpreter: Run `python -m lci_py`, with all imports, instead of a fork.
        """
        limits = {"RLIMIT_AS": memory, "RLIMIT_FSIZE": file_size, "RLIMIT_CORE": 0}
        options = {"strace": strace, "kill_after": kill_after, "stdin": str(stdin) if stdin else None}
        run = zygote.start(
            self._server,
            argv,
            cwd or self.home,
            environment={**self.environment(), **({"LCI_INDEX_DIR": str(index_dir)} if index_dir else {})},
            syncs=True,
            limit_s=limit_s,
            limits={key: value for key, value in limits.items() if value is not None},
            exec=fresh_interpreter,
            contained=True,
            **options,
        )
        return Running(argv, run)

    def kill(self, running: Running) -> Ran:
        """Kill the whole process group of a run."""
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        return running.wait()

    def run(self, *argv: str, **options: Any) -> Ran:
        """Run `lci ARGV` to its end; the options are those of `start`."""
        return self.start(*argv, **options).wait()
