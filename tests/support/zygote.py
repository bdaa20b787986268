"""A server that runs `lci` in forks of itself, which saves what imports take in each of thousands of runs.

Only modules and compiled queries are loaded in advance; everything else happens in the process of the run, as in
`python -m lci_py`. Each connection to the socket is one run: a line of JSON in (`start` says what it holds), a line
`{"pid": …}` out when the run has started, and a line with its outcome when it has ended.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import resource
import secrets
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any, NoReturn

PROJECT = Path(__file__).resolve().parents[2]

_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
_FSYNC = os.fsync
_CLEAN = ("LD_PRELOAD", "PYTEST_CURRENT_TEST")
#: A program that runs `lci` in a fork of the zygote with its own standard streams: the socket, then the arguments.
RELAY = """
import json, os, socket, sys
server, *argv = sys.argv[1:]
connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
connection.connect("\\0" + server)
request = {"argv": argv, "cwd": os.getcwd(), "environment": dict(os.environ)}
socket.send_fds(connection, [json.dumps(request).encode() + b"\\n"], [0, 1, 2])
os.closerange(0, 2)
*_, outcome = connection.makefile()
sys.exit(json.loads(outcome)["code"])
"""
#: Seconds after which a run counts as hanging: far more than any needs on a busy machine.
_LIMIT_S = 300.0


class Zygote:
    """The server, as its clients see it. A context manager; Linux only (pidfd, memfd, prctl).

    It loads the program when the first run is asked for, so a test run that asks for none pays nothing.

    Args:
        environment: That of the server, and of the runs that name none.
        syncs: Whether `os.fsync` writes to the disk, in the runs as in the program.

    Attributes:
        socket: The name of its socket, for `start` in other processes.
    """

    def __init__(self, environment: Mapping[str, str], *, syncs: bool = True) -> None:
        # In Linux' abstract namespace: it leaves no file when a test run is killed.
        self.socket = f"lci-zygote-{secrets.token_hex(8)}"
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            listening.bind("\0" + self.socket)
            listening.listen(64)  # who connects before the program is loaded waits
            self._server = subprocess.Popen(
                [sys.executable, "-m", "tests.support.zygote", str(listening.fileno()), *([] if syncs else ["no-sync"])],
                cwd=PROJECT, pass_fds=[listening.fileno()], stdin=subprocess.PIPE,
                env={**environment, "OPENBLAS_NUM_THREADS": "1"},  # threads would not be in the forks
            )  # fmt: skip

    def __enter__(self) -> Zygote:
        return self

    def __exit__(self, *_exc: object) -> None:
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait()


def start(server: str, argv: Sequence[str], cwd: Path, streams: Sequence[int] = (), **options: Any) -> Running:
    """Start `lci ARGV` in a fork of the zygote with that socket.

    Args:
        server: `Zygote.socket`.
        argv: The arguments.
        cwd: Its current folder.
        streams: Descriptors that become its standard input, output and error. Without them, output and error are
            pipes, whose text the outcome has.
        **options: `environment`, if not that of the zygote; `input`, a text, or `stdin`, the name of a file; `limit_s`,
            seconds after which it counts as hanging and is killed; `limits`, of `setrlimit`, by name; `kill_after`,
            seconds after which its process group is killed; `strace`, the arguments of one that is attached first;
            `exec`, to run a new interpreter; `syncs`, to write to the disk where the zygote does not; `contained`, to
            end and wait for everything that it has started.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect("\0" + server)
    request = json.dumps({"argv": argv, "cwd": str(cwd), **options}).encode() + b"\n"
    socket.send_fds(connection, [request], list(streams))
    return Running(connection)


class Running:
    """A run in progress."""

    def __init__(self, connection: socket.socket) -> None:
        self._stream = connection.makefile("r", encoding="utf-8")
        self._connection = connection
        self.pid = int(json.loads(self._stream.readline())["pid"])

    def outcome(self) -> dict[str, Any]:
        """Wait for its end: `code`, `out`, `err`, `seconds`, `timed_out`, and `peak`, in bytes."""
        outcome: dict[str, Any] = json.loads(self._stream.readline())
        self._stream.close()
        self._connection.close()
        return outcome


# --- the server ---------------------------------------------------------------------------------------------------


def _loaded_by_a_session() -> list[str]:
    """The modules that indexing and every mode load, found in a separate process, since loading may start threads."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            for suffix, text in (
                ("py", "def a():\n    return 1\n"),
                ("go", "package p\n\nfunc b() {}\n"),
                ("md", "# a\n"),
            ):
                (root / f"a.{suffix}").write_text(text)
            from lci_py.cli.main import main

            with open(os.devnull, "w") as null, redirect_stdout(null), redirect_stderr(null):
                main(["index", name, "--jobs", "2"])
                main(["index", name, "--jobs", "1", "--full"])
                main(["status", "--root", name, "--json"])
                main(["def", "a", "--root", name, "--json", "--path", "*.py"])
                for mode in ("dense", "bm25", "symbolic", "multiview"):
                    main(["search", "a", "--mode", mode, "--root", name, "--json", "--conflicts", "--path", "*.py"])
                main(["search", "a", "--mode", "dense", "--root", os.devnull, "--json"])
                for command in ("callers", "callees", "tree", "refs", "show", "grep", "conflicts"):
                    for shape in ("text", "json", "markdown"):
                        main([command, "a", "--root", name, "--format", shape])
                for command in (["path", "a", "b"], ["outline", "a.py"], ["affected"], ["stats"], ["--help"]):
                    main([*command, *(() if command == ["--help"] else ("--root", name))])
        os.write(writing, json.dumps(sorted(sys.modules)).encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        names = json.loads(pipe.read() or b"[]")
    os.wait()
    return [name for name in names if name != "__main__"]


def _compile_queries() -> None:
    """Load all languages: to compile the queries of one takes longer than to index a test repository."""
    from lci_py.source.extract.extract import extract
    from lci_py.source.syntax.languages import load_languages

    for language in load_languages():
        with suppress(Exception):  # if it fails, runs are only slower
            extract("a", b"", language)


def main() -> None:
    """Serve on the listening socket with the number of the first argument until standard input closes.

    A second argument turns `fsync` off.
    """
    server = socket.socket(fileno=int(sys.argv[1]))
    if sys.argv[2:]:
        os.fsync = lambda _handle: None
    loaded = False
    while True:
        ready, _, _ = select.select([server, sys.stdin], [], [])
        if sys.stdin in ready:  # closed: the process that started this one is gone
            return
        if not loaded:
            _load()
            loaded = True
        connection, _ = server.accept()
        if os.fork() == 0:
            server.close()
            _nanny(connection)
        connection.close()


def _load() -> None:
    for name in _loaded_by_a_session():
        with suppress(Exception):
            importlib.import_module(name)
    with suppress(ImportError):  # the SDK is an extra
        importlib.import_module("lci_py.cli.mcp_server.server")
    _compile_queries()
    assert len(os.listdir("/proc/self/task")) == 1, "threads would not be in the forks"
    gc.collect()
    gc.freeze()  # what is loaded is no garbage: a collection in a fork would walk it and copy its pages
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the processes that watch runs need not be waited for


def _nanny(connection: socket.socket) -> NoReturn:
    """Run one request and watch it: limit its time, and end every process that it started."""
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        request = _received(connection)
        stream = connection.makefile("w", encoding="utf-8")
        if request.get("contained"):
            ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # adopts the workers of a killed run
        _supervise(request, stream)
        code = 0
    finally:
        os._exit(code)


def _received(connection: socket.socket) -> dict[str, Any]:
    """The request; as `streams`, those that came with it: standard input, output and error of the run."""
    data, streams, _, _ = socket.recv_fds(connection, 1 << 16, 3)
    while not data.endswith(b"\n") and (block := connection.recv(1 << 16)):
        data += block
    return {**json.loads(data), "streams": streams}


def _supervise(request: dict[str, Any], stream: Any) -> None:
    out, err, gate = os.pipe(), os.pipe(), os.pipe()
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        _child(request, out[1], err[1], gate)
    for end in (out[1], err[1], gate[0], *request["streams"]):
        os.close(end)
    with suppress(ProcessLookupError, PermissionError):
        os.setpgid(pid, pid)  # the child does the same: either may be first
    if request.get("strace"):
        _attach(pid, request["strace"])
    os.close(gate[1])  # the child may go on
    began = time.monotonic() if request.get("strace") else began
    with suppress(BrokenPipeError):
        stream.write(json.dumps({"pid": pid}) + "\n")
        stream.flush()
    text, timed_out = _watch(pid, (out[0], err[0]), began, request)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.monotonic() - began
    if request.get("contained"):
        _end_group(pid)
    for index, end in enumerate((out[0], err[0])):
        while block := os.read(end, 1 << 16):
            text[index] += block
    outcome = {
        "code": os.waitstatus_to_exitcode(status),
        "out": text[0].decode("utf-8", "surrogateescape"),
        "err": text[1].decode("utf-8", "surrogateescape"),
        "seconds": seconds,
        "timed_out": timed_out,
        "peak": usage.ru_maxrss * 1024,
    }
    with suppress(BrokenPipeError):
        stream.write(json.dumps(outcome) + "\n")
        stream.flush()


def _watch(pid: int, pipes: tuple[int, int], began: float, request: dict[str, Any]) -> tuple[list[bytearray], bool]:
    """Read the output until the run ends, is killed at the requested moment, or is out of time."""
    limit, kill_after = request.get("limit_s", _LIMIT_S), request.get("kill_after")
    text = [bytearray(), bytearray()]
    open_pipes = list(pipes)
    handle = os.pidfd_open(pid)
    timed_out = False
    while True:
        passed = time.monotonic() - began
        if kill_after is not None and passed >= kill_after:
            os.killpg(pid, signal.SIGKILL)
            kill_after = None
        if passed >= limit and not timed_out:
            timed_out = True
            os.killpg(pid, signal.SIGKILL)
        until = min(moment for moment in (limit, kill_after) if moment is not None) - passed
        ready, _, _ = select.select([handle, *open_pipes], [], [], max(0.0, until) if not timed_out else None)
        for end in ready:
            if end in open_pipes:
                block = os.read(end, 1 << 16)
                text[pipes.index(end)] += block
                if not block:
                    open_pipes.remove(end)
        if handle in ready:
            os.close(handle)
            return text, timed_out


def _end_group(pid: int) -> None:
    """End all processes of a run, which would disturb the next one."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        while True:
            os.wait()


def _attach(pid: int, arguments: list[str]) -> None:
    subprocess.Popen(["strace", *arguments, "-p", str(pid)], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(2000):
        if "TracerPid:\t0\n" not in Path(f"/proc/{pid}/status").read_text():
            return
        time.sleep(0.005)


def _child(request: dict[str, Any], out: int, err: int, gate: tuple[int, int]) -> NoReturn:
    try:
        os.setpgid(0, 0)
        os.close(gate[1])
        os.read(gate[0], 1)  # until the watching process closes its end
        os.close(gate[0])
        stdin = os.open(request.get("stdin") or os.devnull, os.O_RDONLY)
        if "input" in request:
            os.close(stdin)
            stdin = os.memfd_create("input")
            with open(stdin, "wb", closefd=False) as file:
                file.write(request["input"].encode())
            os.lseek(stdin, 0, os.SEEK_SET)
        for target, source in enumerate(request["streams"] or (stdin, out, err)):
            os.dup2(source, target)
        os.closerange(3, 256)
        os.chdir(request["cwd"])
        if "environment" in request:
            os.environ.clear()
            os.environ.update(request["environment"])
        for name in _CLEAN:
            os.environ.pop(name, None)
        for kind, value in request.get("limits", {}).items():
            resource.setrlimit(getattr(resource, kind), (value, value))
        if request.get("syncs"):
            os.fsync = _FSYNC
        if request.get("exec"):
            os.execv(sys.executable, [sys.executable, "-m", "lci_py", *request["argv"]])
        _run(request["argv"])
    except BaseException as error:
        os.write(2, f"the harness failed: {error!r}\n".encode())
    os._exit(99)


def _run(argv: list[str]) -> NoReturn:
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.argv = ["lci", *argv]
    from lci_py.cli.main import run

    run()


if __name__ == "__main__":
    main()
