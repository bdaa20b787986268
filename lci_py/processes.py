"""Starts child processes, sends them tasks, receives their results, and ends them.

Children leave Ctrl-C to their parent, print nothing, and end with it. `fork` and `program` start a process for any
purpose; a `Child` is a process that calls the functions it is sent, and `results` shares calls out among several; a
`ForkedComputation` calls one function, while its parent goes on.

`concurrent.futures` is not used: importing it takes longer than forking, its processes start with the first task, and
its threads compete with whoever waits for the results.
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
from typing import Any, Generic, NamedTuple, TypeVar

from lci_py.interrupts import at_interrupt

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
_Call = TypeVar("_Call")
_Result = TypeVar("_Result")

# --- one process --------------------------------------------------------------------------------------------------


@contextmanager
def starting() -> Iterator[None]:
    """A context manager: hold Ctrl-C back while its body starts child processes, which call `leave_interrupts`."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave_interrupts() -> None:
    """Ignore Ctrl-C in a child process: the parent receives Ctrl-C as well, and ends its children."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def fork(body: Callable[[], object], foreign: Sequence[int] = (), *, interruptible: bool = False) -> int:
    """Fork a process that calls `body` and ends; returns its id. A process that has threads must not call this.

    Args:
        body: The function to call. If it raises an exception, the exit code is 1.
        foreign: File descriptors for the child to close, so that it does not keep pipes of other processes open.
        interruptible: Whether the child handles Ctrl-C itself, like its parent.
    Raises:
        OSError: The system cannot create another process.
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
    """The command line of a new interpreter that calls `function`, which must be at the top level of a module.

    Args:
        *arguments: Arguments of the function, whose `repr` is valid Python.
    """
    # Not `-m`: a folder `lci_py` in the current folder would be this program.
    call = f"{function.__name__}({', '.join(map(repr, arguments))})"
    script = f"import sys; sys.path[:] = {sys.path!r}; from {function.__module__} import {function.__name__}; {call}"
    return [sys.executable, "-c", script]


def end_with_parent(parent: int) -> None:
    """Start a thread that ends this process soon after its parent has ended.

    Args:
        parent: The parent's process id, sent by the parent itself, since the parent may have ended already.
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


class ForkedComputation(Generic[_Result]):
    """Computes something in a forked process; if that process cannot be started or fails, `result` computes it."""

    def __init__(self, compute: Callable[[], _Result], *, fork: bool) -> None:
        """Start a process that runs `compute`, or leave the computation to `result` if `fork` is False.

        `compute` returns what can be pickled, and has no side effects. The caller must not have threads.
        """
        self._compute = compute
        self.pid = 0
        if fork:
            with suppress(OSError):
                self._start()

    def _start(self) -> None:
        # Not a pipe: it holds 64 kB, and a process that waits until somebody reads the rest keeps all its memory.
        self._file = os.fdopen(os.memfd_create("lci"), "w+b")
        parent = os.getpid()

        def write() -> None:
            end_with_parent(parent)  # nobody waits for the result then
            pickle.dump(self._compute(), self._file, pickle.HIGHEST_PROTOCOL)
            self._file.flush()

        try:
            self.pid = fork(write)
        except OSError:
            self._file.close()
            raise

    def result(self) -> _Result:
        """Wait for the result and return it."""
        if self.pid:
            _, status = os.waitpid(self.pid, 0)
            with self._file as file:
                if status == 0:
                    file.seek(0)  # the place in it is that of the other process, too
                    value: _Result = pickle.load(file)
                    return value
        return self._compute()


# --- a process that calls functions -------------------------------------------------------------------------------


class _Pipes(NamedTuple):
    """The file descriptors of the two pipes between a process and its child."""

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
    pipes = _Pipes(*os.pipe(), *os.pipe())
    with suppress(OSError):
        fcntl.fcntl(pipes.answer, _F_SETPIPE_SZ, _PIPE_BYTES)
    return pipes


class Child:
    """The parent's view of a worker: a child process that calls functions, in the order in which they are sent."""

    def __init__(self, pipes: _Pipes, pid: int = 0, process: Any = None) -> None:
        """`pipes` lead to and from the child; the caller closes the child's ends. `pid` is 0 for a grandchild, which
        sends its id itself. `process` is the `subprocess` object, if the child was started by `subprocess`.
        """
        self.pid = pid
        #: The calls that it was given and has not answered yet, and those that it has.
        self.pending: deque[Any] = deque()
        self.answered: list[Any] = []
        #: Whether it was killed because no call had ended for too long.
        self.late = False
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
        """The file descriptor to wait for before `send_more`; None if everything has been sent."""
        return self._send if self._out else None

    def give(self, call: object, function: Callable[..., object], *arguments: object) -> None:
        """Send a function and its arguments; `results` returns its result together with `call`."""
        self.pending.append(call)
        self.send((function, arguments))

    def send(self, message: object) -> None:
        """Send a message to the child now, or buffer it until `send_more` if the pipe is full."""
        self._out += _frame(message)
        self.send_more()

    def send_more(self) -> None:
        """Send as much of the buffered messages as the pipe accepts without blocking."""
        while self._out:
            try:
                del self._out[: os.write(self._send, self._out)]
            except BlockingIOError:
                return
            except BrokenPipeError:  # `received` finds that it has ended
                self._out.clear()

    def received(self) -> list[Any] | None:
        """The results that the child has sent since the last call; None if the child has ended.

        Raises:
            Exception: The exception that a function raised in the child.
        """
        try:
            data = os.read(self.results, _READ_BYTES)
        except BlockingIOError:
            return []
        if not data:
            return None
        self._in += data
        results = []
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
                results.append(value)
        return results

    def kill(self) -> None:
        """Kill the child at once."""
        if self.pid:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def ended_by(self) -> int:
        """The number of the signal that ended the child; 0 if none did, or if unknown. Call it only after `close`."""
        if self._process is not None:
            return max(0, -int(self._process.returncode))
        return os.WTERMSIG(self._status) if os.WIFSIGNALED(self._status) else 0

    def close(self) -> None:
        """Close the pipes, so that the child ends; wait for its end if it is a direct child of this process."""
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
    """A process that is forked before its task is known: it imports what workers need, and later forks into workers.

    Use it as a context manager, or call `close`.
    """

    def __init__(self, children: list[Child]) -> None:
        self._children = children

    def __enter__(self) -> Nursery:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def grow(self, jobs: int, prepare: Callable[..., object], *arguments: object) -> list[Child]:
        """Turn the process into workers and return them; the caller must close them. Call this only once.

        Args:
            jobs: The number of workers, at most as many as the nursery was made for.
            prepare: The function that the process calls with `arguments` before it is forked into workers.
        """
        workers, self._children = self._children[:jobs], self._children[jobs:]
        self.close()
        workers[0].send((jobs, prepare, arguments))
        return workers

    def close(self) -> None:
        """End the process, unless it has become workers."""
        while self._children:  # the first is waited for
            self._children.pop().close()


def nursery(jobs: int, begin: Callable[[], object], imports: Callable[[], object]) -> Nursery:
    """Start a process that will become up to `jobs` workers. Works only where processes can be forked (`FORKS`).

    Args:
        begin: The function that each worker calls first.
        imports: The function that the new process calls at once.
    """
    pipes = [_pipes() for _ in range(jobs)]

    def become() -> None:
        imports()
        message = _next_frame(pipes[0].tasks)
        if message is None:
            return
        number, prepare, arguments = message
        with suppress(Exception):  # what is wrong is found again by the first task
            prepare(*arguments)
        others = [fork(partial(serve, *pipes[i].of_child, begin), _other_pipes(pipes, i)) for i in range(1, number)]
        for end in _other_pipes(pipes, 0):
            os.close(end)
        serve(*pipes[0].of_child, begin, others)

    with starting():
        pid = fork(become, [end for item in pipes for end in item.of_parent])
    for item in pipes:
        for end in item.of_child:
            os.close(end)
    return Nursery([Child(item, 0 if i else pid) for i, item in enumerate(pipes)])


def can_be_read(pipe: int, seconds: float | None) -> bool:
    """Wait at most `seconds` (None: no limit) for data in a pipe, or its end; returns whether one of these has come."""
    return bool(_ready([pipe], [], seconds))


def _ready(readable: Sequence[int], writable: Sequence[int], seconds: float | None) -> set[int]:
    """Wait as `can_be_read` does; returns the pipes that can now be read, or written."""
    from select import POLLIN, POLLOUT, poll

    waiting = poll()  # not `select`, which takes no descriptors above 1023
    for pipes, event in ((readable, POLLIN), (writable, POLLOUT)):
        for pipe in pipes:
            waiting.register(pipe, event)
    return {pipe for pipe, _ in waiting.poll(None if seconds is None else seconds * 1000)}


def _other_pipes(pipes: Sequence[_Pipes], index: int) -> list[int]:
    """The children's ends of all `pipes`, except those of pipe number `index`."""
    return [end for i, item in enumerate(pipes) if i != index for end in item.of_child]


def start(jobs: int, begin: Callable[[], object], *, forks: bool = True) -> list[Child]:
    """Start `jobs` workers (child processes that call functions).

    Args:
        begin: A function at the top level of a module, which each worker calls first.
        forks: False if this process has threads, and so must not be forked.
    """
    children: list[Child] = []
    ends: list[int] = []
    with starting():
        for _ in range(jobs):
            pipes = _pipes()
            if forks and FORKS:
                pid = fork(partial(serve, *pipes.of_child, begin), [*ends, *pipes.of_parent])
                children.append(Child(pipes, pid))
                ends += pipes.of_parent
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


@contextmanager
def closing_children(children: list[Child]) -> Iterator[list[Child]]:
    """A context manager: closes the children after its body. If an exception or Ctrl-C ends it, they are killed."""

    def kill() -> None:
        for child in children:
            child.kill()

    with at_interrupt(kill):
        try:
            yield children
        except BaseException:
            kill()
            raise
        finally:
            for child in reversed(children):  # the first may wait for the others
                child.close()


class Lost(NamedTuple):
    """Stands for the result of a call whose process has ended."""

    signal: int  # that ended the process; 0 if none did, or if unknown
    late: bool  # whether it was killed because no call had ended for too long


def results(
    children: list[Child],
    calls: deque[_Call],
    message: Callable[[_Call], tuple[Any, ...]],
    *,
    ahead: bool = False,
    seconds: float | None = None,
    meanwhile: Callable[[], object] = bool,
) -> Iterator[tuple[_Call, Any]]:
    """Share calls out among children; yields (call, result or `Lost`) as they end, also of what a child had before.

    Children that have ended are closed and removed from `children`; without any child, the rest stays in `calls`.

    Args:
        message: The function and the arguments of a call, asked for when a child is to get it.
        ahead: Whether a child gets its next call before it has ended one.
        seconds: If no call ends for so long, all children that work are killed.
        meanwhile: Called once as soon as the children have something to do.
    Raises:
        Exception: The exception that a function raised.
    """
    ended: deque[tuple[_Call, Any]] = deque()
    while True:
        # One call is always there for whoever is ready, but not at the end, where another may be ready sooner.
        for limit in (1, 2) if ahead else (1,):
            for child in children:
                if len(child.pending) < limit and len(calls) > (limit - 1) * len(children):
                    call = calls.popleft()
                    child.give(call, *message(call))
        meanwhile()
        meanwhile = bool
        # Not all at once: whoever takes a result works on it, and meanwhile another child may have nothing to do.
        if ended:
            yield ended.popleft()
        busy = [child for child in children if child.pending]
        if not busy and not ended:
            return
        sending = [child.sending for child in busy if child.sending is not None]
        ready = _ready([child.results for child in busy], sending, 0 if ended else seconds)
        for child in busy:
            if not (ready or ended):
                child.late = True
                child.kill()
            if child.sending in ready:
                child.send_more()
            if child.results not in ready:
                continue
            answers = child.received()
            if answers is None:
                children.remove(child)
                child.close()
                ended += ((lost, Lost(child.ended_by(), child.late)) for lost in child.pending)
            else:
                child.answered += (batch := [child.pending.popleft() for _ in answers])
                ended += zip(batch, answers, strict=True)


# --- in a child ---------------------------------------------------------------------------------------------------


def serve(tasks: int, answer: int, begin: Callable[[], object], children: Sequence[int] = ()) -> None:
    """Run as a worker until the parent closes the pipe: call each function that arrives, and send back its result.

    Args:
        tasks, answer: The file descriptors that functions arrive from, and that results are written to.
        begin: The function to call first.
        children: Ids of processes that this worker has forked, and for whose end it waits.
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
    """Run `serve` in a new interpreter. `module` and `name` name the function to call first."""
    from importlib import import_module

    leave_interrupts()
    serve(0, 1, getattr(import_module(module), name))


def _end_with_senders(tasks: int, children: Sequence[int]) -> None:
    """End this process (and wait for `children`) once no process holds the sending end of the pipe `tasks` any more."""
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
    """Read the next message from a pipe; None at the end of the pipe."""
    head = _exactly(source, _LENGTH)
    body = _exactly(source, int.from_bytes(head, "little")) if head else b""
    return pickle.loads(body) if body else None


def _exactly(source: int, size: int) -> bytes:
    """Read exactly `size` bytes from a pipe; b"" if the pipe ends before."""
    buffer = bytearray()
    while len(buffer) < size:
        data = os.read(source, size - len(buffer))
        if not data:
            return b""
        buffer += data
    return bytes(buffer)


def _send(target: int, message: object) -> None:
    data = memoryview(_frame(message))
    while data:
        data = data[os.write(target, data) :]


def _frame(message: object) -> bytes:
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(_LENGTH, "little") + body
