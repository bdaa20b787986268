"""Child processes: how they start, get tasks, answer, and end.

They leave Ctrl-C to their parent, print nothing, and end with it. `fork` and `program` start a process for any purpose;
a `Child` is a process that calls the functions it is sent.

Not `concurrent.futures`: importing it takes longer than forking, its processes start with the first task, and its
threads compete with whoever waits for the results.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

#: Whether a process is forked, which takes milliseconds and shares what is loaded. Elsewhere it starts from nothing.
FORKS = sys.platform == "linux"
#: Bytes that a child may send before anybody reads, where the system allows it: several batches of results.
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031
#: Frames begin with their length in so many bytes.
_LENGTH = 8
_READ_BYTES = 1 << 20
#: Seconds between two looks whether the parent is still there.
_PERIOD = 0.2

# --- one process --------------------------------------------------------------------------------------------------


@contextmanager
def starting() -> Iterator[None]:
    """Hold Ctrl-C back while child processes start, until each has called `leave_interrupts`."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave_interrupts() -> None:
    """Ignore Ctrl-C in a child process: the parent receives it, too, and ends its children."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def fork(body: Callable[[], object], foreign: Sequence[int] = (), *, interruptible: bool = False) -> int:
    """Fork a process that calls `body` and ends; returns its id. Not for a process that has threads.

    Args:
        body: If it raises, the exit code is 1.
        foreign: File descriptors that the child closes: it would keep pipes of other processes open.
        interruptible: Whether the child handles Ctrl-C itself, like its parent.
    Raises:
        OSError: There can be no more processes.
    """
    with starting():
        pid = os.fork()
        if pid:
            return pid
        status = 1
        try:
            if interruptible:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            else:
                leave_interrupts()
            for end in foreign:
                os.close(end)
            body()
            status = 0
        finally:
            os._exit(status)  # the parent's buffers and files must not be flushed or closed twice


def program(function: Callable[..., object], *arguments: object) -> list[str]:
    """The command line of a new interpreter that calls a function of a module.

    Args:
        *arguments: Values whose `repr` is valid Python.
    """
    # Not `-m`: a folder `lci_py` in the current folder would be this program.
    call = f"{function.__name__}({', '.join(map(repr, arguments))})"
    script = f"import sys; sys.path[:] = {sys.path!r}; from {function.__module__} import {function.__name__}; {call}"
    return [sys.executable, "-c", script]


def end_with_parent(parent: int) -> None:
    """End this process soon after its parent has ended.

    Args:
        parent: The parent's id, as the parent has passed it: it may have ended already.
    """

    def follow() -> None:
        while os.getppid() == parent:
            time.sleep(_PERIOD)
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def silence(*streams: int) -> None:
    """Redirect streams of this process to the null device."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in streams:
        os.dup2(nowhere, stream)
    os.close(nowhere)


# --- a process that calls functions -------------------------------------------------------------------------------


class _Pipes(NamedTuple):
    """The ends of the two pipes between a process and its child."""

    tasks: int  # the child reads
    send: int
    results: int
    answer: int  # the child writes

    @property
    def of_child(self) -> tuple[int, int]:
        return self.tasks, self.answer

    @property
    def of_parent(self) -> tuple[int, int]:
        return self.send, self.results


def _pipes() -> _Pipes:
    made = _Pipes(*os.pipe(), *os.pipe())
    with suppress(OSError):
        fcntl.fcntl(made.answer, _F_SETPIPE_SZ, _PIPE_BYTES)
    return made


class Child:
    """A process that calls functions, in the order in which they are sent, and the parent's ends of its pipes."""

    def __init__(self, pipes: _Pipes, pid: int = 0, process: Any = None) -> None:
        """Args:
        pipes: The pipes. Whoever made them closes the child's ends.
        pid: Its process id; 0 for a grandchild, which sends its id itself.
        process: The `subprocess` object, if it was started that way.
        """
        self.pid = pid
        #: What it was given and has not answered yet.
        self.given: deque[Any] = deque()
        self.answered: list[Any] = []
        self._send, self.results = pipes.of_parent
        self._ours = pid != 0
        self._process = process
        self._status = 0  # of `waitpid`
        self._out = bytearray()
        self._in = bytearray()
        os.set_blocking(self._send, False)
        os.set_blocking(self.results, False)

    @property
    def sending(self) -> int | None:
        """The descriptor to wait for before `send_more`; None if everything is sent."""
        return self._send if self._out else None

    def send(self, message: object) -> None:
        """Send a message, now or as soon as the child reads."""
        self._out += _frame(message)
        self.send_more()

    def send_more(self) -> None:
        """Send as much as the pipe accepts without blocking."""
        while self._out:
            try:
                del self._out[: os.write(self._send, self._out)]
            except BlockingIOError:
                return
            except BrokenPipeError:  # `received` finds that it has ended
                self._out.clear()

    def received(self) -> list[Any] | None:
        """The results of functions that have arrived so far; None if the child has ended.

        Raises:
            Exception: The exception that a function raised.
        """
        try:
            data = os.read(self.results, _READ_BYTES)
        except BlockingIOError:
            return []
        if not data:
            return None
        self._in += data
        found = []
        while len(self._in) >= _LENGTH:
            end = _LENGTH + int.from_bytes(self._in[:_LENGTH], "little")
            if len(self._in) < end:
                break
            kind, value = pickle.loads(bytes(self._in[_LENGTH:end]))
            del self._in[:end]
            if kind == "pid":
                self.pid = value
            elif kind == "error":
                raise value
            else:
                found.append(value)
        return found

    def kill(self) -> None:
        """Kill the child at once."""
        if self.pid:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def ended_by(self) -> int:
        """The number of the signal that ended the child; 0 if none did, or if unknown. Only after `close`."""
        if self._process is not None:
            return max(0, -int(self._process.returncode))
        return os.WTERMSIG(self._status) if os.WIFSIGNALED(self._status) else 0

    def close(self) -> None:
        """Let the child end; waits for its end if it is a direct child."""
        for end in (self._send, self.results):
            with suppress(OSError):
                os.close(end)
        if self._process is not None:
            self._process.wait()
        elif self._ours:
            self._ours = False
            with suppress(ChildProcessError):
                self._status = os.waitpid(self.pid, 0)[1]


class Nursery:
    """A process that is forked before its task is known: it imports what workers need, then forks into workers.

    Use it as a context manager, or call `close`.
    """

    def __init__(self, children: list[Child]) -> None:
        self._children = children

    def __enter__(self) -> Nursery:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def grow(self, jobs: int, prepare: Callable[..., object], *arguments: object) -> list[Child]:
        """Turn it into at most as many workers as it was made for; they belong to the caller. Call it only once.

        Args:
            prepare: Called with `arguments` in the process before it is forked further.
        """
        workers, self._children = self._children[:jobs], self._children[jobs:]
        self.close()
        workers[0].send((jobs, prepare, arguments))
        return workers

    def close(self) -> None:
        """End the process if it has not become workers."""
        while self._children:  # the first is waited for
            self._children.pop().close()


def nursery(jobs: int, begin: Callable[[], object], imports: Callable[[], object]) -> Nursery:
    """Start a process that will become `jobs` workers. Only where processes are forked.

    Args:
        begin: Called first in each worker.
        imports: Called in the new process at once.
    """
    pipes = [_pipes() for _ in range(jobs)]

    def become() -> None:
        imports()
        message = _next_frame(pipes[0].tasks)
        if message is None:
            return
        wanted, prepare, arguments = message
        with suppress(Exception):  # what is wrong is found again by the first task
            prepare(*arguments)
        others = [fork(partial(serve, *pipes[i].of_child, begin), _other_pipes(pipes, i)) for i in range(1, wanted)]
        for end in _other_pipes(pipes, 0):
            os.close(end)
        serve(*pipes[0].of_child, begin, others)

    with starting():
        pid = fork(become, [end for one in pipes for end in one.of_parent])
    for one in pipes:
        for end in one.of_child:
            os.close(end)
    return Nursery([Child(one, 0 if i else pid) for i, one in enumerate(pipes)])


def can_be_read(pipe: int, seconds: float | None) -> bool:
    """Wait at most `seconds` (None: no limit) until a pipe can be read or has ended; returns whether it can be read."""
    from select import POLLIN, poll

    waiting = poll()  # not `select`, which takes no descriptors above 1023
    waiting.register(pipe, POLLIN)
    return bool(waiting.poll(None if seconds is None else seconds * 1000))


def ready_pipes(children: Sequence[Child], seconds: float | None) -> set[int | None]:
    """Wait at most `seconds` (None: no limit) for workers; returns those of their pipes that can be read or written."""
    from select import POLLIN, POLLOUT, poll

    waiting = poll()
    for child in children:
        waiting.register(child.results, POLLIN)
        if child.sending is not None:
            waiting.register(child.sending, POLLOUT)
    return {pipe for pipe, _ in waiting.poll(None if seconds is None else seconds * 1000)}


def _other_pipes(pipes: Sequence[_Pipes], mine: int) -> list[int]:
    """The children's ends of all pipes but one."""
    return [end for i, one in enumerate(pipes) if i != mine for end in one.of_child]


def start(jobs: int, begin: Callable[[], object], *, forks: bool = True) -> list[Child]:
    """Start `jobs` workers.

    Args:
        begin: A function of a module, called first in each worker.
        forks: False for a process that has threads.
    """
    children: list[Child] = []
    held: list[int] = []
    with starting():
        for _ in range(jobs):
            pipes = _pipes()
            if forks and FORKS:
                pid = fork(partial(serve, *pipes.of_child, begin), [*held, *pipes.of_parent])
                children.append(Child(pipes, pid))
                held += pipes.of_parent
            else:
                children.append(_spawn(pipes, begin))
            for end in pipes.of_child:
                os.close(end)
    return children


def _spawn(pipes: _Pipes, begin: Callable[[], object]) -> Child:
    import subprocess

    command = program(_serve_anew, begin.__module__, begin.__name__)
    process = subprocess.Popen(command, stdin=pipes.tasks, stdout=pipes.answer, stderr=subprocess.DEVNULL)
    return Child(pipes, process.pid, process)


# --- in a child ---------------------------------------------------------------------------------------------------


def serve(tasks: int, answer: int, begin: Callable[[], object], children: Sequence[int] = ()) -> None:
    """Run as a worker until the parent closes the pipe: call each function that arrives, and send back its result.

    Args:
        tasks, answer: File descriptors of the pipes.
        begin: Called first.
        children: Processes that this worker has forked: it waits for their end.
    """
    begin()
    silence(2)  # C code prints there when it aborts; the user must not see that
    ending = threading.Thread(target=_end_with_senders, args=(tasks, children), daemon=True)
    ending.start()
    _send(answer, ("pid", os.getpid()))
    while (message := _next_frame(tasks)) is not None:
        function, arguments = message
        try:
            returned = ("result", function(*arguments))
        except Exception as error:
            returned = ("error", error)
        _send(answer, returned)
    ending.join()  # it ends the process when the others have ended


def _serve_anew(module: str, name: str) -> None:
    """`serve` in a new interpreter; `name` of `module` is called first."""
    from importlib import import_module

    leave_interrupts()
    serve(0, 1, getattr(import_module(module), name))


def _end_with_senders(tasks: int, children: Sequence[int]) -> None:
    """End this process when no other process holds the sending end of its pipe any more."""
    from select import POLLERR, POLLHUP, poll

    waiting = poll()
    waiting.register(tasks, 0)
    while not any(event & (POLLHUP | POLLERR) for _, event in waiting.poll()):
        pass
    for pid in children:  # their pipes are closed as well
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
    os._exit(0)


def _next_frame(source: int) -> Any:
    """The next message; None at the end."""
    head = _exactly(source, _LENGTH)
    body = _exactly(source, int.from_bytes(head, "little")) if head else b""
    return pickle.loads(body) if body else None


def _exactly(source: int, size: int) -> bytes:
    """Read exactly `size` bytes; b"" if the pipe ends before."""
    found = bytearray()
    while len(found) < size:
        data = os.read(source, size - len(found))
        if not data:
            return b""
        found += data
    return bytes(found)


def _send(target: int, message: object) -> None:
    data = memoryview(_frame(message))
    while data:
        data = data[os.write(target, data) :]


def _frame(message: object) -> bytes:
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(_LENGTH, "little") + body
