"""Where the work on a fleet is done: in this process, or by the workers of a cluster (`dask_workers.py`).

A *job* is a function of a folder for what it needs on the way, of how many processes it may use, and of its own
arguments. Without a cluster nothing listens on a port, no other program is started, and all that is written beside the
store lies in one folder of this command, which nobody else can read.
"""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from lci_py.cluster.fleet import Fleet
from lci_py.cluster.objects import Cache, Objects
from lci_py.cluster.part import Leaves
from lci_py.cluster.root import Calls
from lci_py.errors import IndexError_, IndexWriteError, LciError, UsageError
from lci_py.interrupts import at_interrupt
from lci_py.processes import end_with_parent, program

#: Bytes of objects that a process keeps.
CACHE_BYTES = 20_000_000_000
#: What the folders of commands are called.
_PREFIX = "lci-cluster-"

#: Called with a folder, a number of processes and arguments.
Job = Callable[..., Any]


class Workers(Protocol):
    """Whoever does the work."""

    def each(self, job: Job, calls: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Call a job with each of some arguments: the place of the arguments and what the job has returned, as they
        come.

        Raises:
            LciError: What the job has raised.
            IndexWriteError: A worker has failed.
        """
        ...

    def leaves(self, url: str, fleet: Fleet, readable: frozenset[int] | None, timeout: float | None) -> Calls:
        """The way to the parts of a fleet, of which some may be read; what has not answered after `timeout` seconds is
        given up."""
        ...


class Here:
    """This process. Parts are worked on one after the other; the build of each has processes."""

    def __init__(self, folder: Path, processes: int = 1) -> None:
        """
        Args:
            folder: For what is needed on the way. It is this command's, and ends with it.
            processes: That a job may use.
        """
        self.folder, self._processes = folder, processes
        self._open: dict[str, Leaves] = {}

    def each(self, job: Job, calls: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        for place, arguments in enumerate(calls):
            yield place, job(self.folder, self._processes, *arguments)

    def leaves(self, url: str, fleet: Fleet, readable: frozenset[int] | None, _timeout: float | None) -> Calls:
        if url not in self._open:
            self._open[url] = Leaves(Cache(Objects(url), self.folder / "objects", CACHE_BYTES))
        return LeavesHere(self._open[url], fleet, readable)


class LeavesHere:
    """Calls the leaves of a fleet one after the other."""

    def __init__(self, leaves: Leaves, fleet: Fleet, readable: frozenset[int] | None) -> None:
        self.leaves, self._fleet, self._readable = leaves, fleet, readable

    def call(self, method: str, asked: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        found: dict[int, Any] = {}
        for part, arguments in asked.items():
            try:
                leaf = self.leaves.leaf(self._fleet.parts[part], self._readable)
                found[part] = getattr(leaf, method)(*arguments)
            except LciError as error:
                found[part] = error
        return found


@contextmanager
def here(processes: int = 1) -> Iterator[Here]:
    """This process as the only worker, with a folder that is removed in the end, also by Ctrl-C.

    A process that is killed leaves its folder; the next command of the same user removes it.
    """
    _sweep()
    folder, lock = _own_folder()
    try:
        with at_interrupt(partial(shutil.rmtree, folder, ignore_errors=True)):
            yield Here(folder, processes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _own_folder() -> tuple[Path, int]:
    """A new folder that only this user can read, and a lock on it."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        lock = os.open(folder, os.O_RDONLY)
        if _locked(lock) and folder.exists():  # else another command has taken it for one that is left
            return folder, lock
        os.close(lock)


def _locked(folder: int) -> bool:
    """Whether nobody else has the lock of a folder. Its holder keeps it until the process has ended."""
    try:
        import fcntl
    except ImportError:  # pragma: no cover - not on this platform, where folders of killed processes stay
        return False
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sweep() -> None:
    """Remove what killed commands of this user have left."""
    with suppress(OSError, AttributeError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            own = entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False)
            if own and entry.stat(follow_symlinks=False).st_uid == os.getuid():
                lock = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW)
                if _locked(lock):
                    shutil.rmtree(entry.path, ignore_errors=True)
                os.close(lock)


# --- a job in a process of its own --------------------------------------------------------------------------------


class Failed(NamedTuple):
    """An error on its way to another process: errors of ours take other arguments than pickle gives them."""

    message: str
    hint: str
    of_index: bool

    @classmethod
    def of(cls, error: LciError) -> Failed:
        return cls(error.message, error.hint, isinstance(error, IndexError_))

    def error(self) -> LciError:
        return (IndexError_ if self.of_index else UsageError)(self.message, hint=self.hint)


def in_a_process(job: Job, *arguments: Any) -> Any:
    """Call a job in a new process, which ends with this one. Workers of a cluster have threads, so they cannot fork,
    and what parses files may crash.

    Raises:
        LciError: What the job has raised.
        IndexWriteError: The process has ended before the job has.
    """
    done = subprocess.run(
        program(main), input=pickle.dumps((os.getpid(), job, arguments)),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    if done.returncode:
        how = f"by signal {-done.returncode}" if done.returncode < 0 else f"with exit code {done.returncode}"
        raise IndexWriteError(f"its process has ended {how}", hint="run `lci index` on the repository to see why")
    returned = pickle.loads(done.stdout)
    if isinstance(returned, Failed):
        raise returned.error()
    return returned


def main() -> None:
    """Be the process: call the job that stdin has, and write what it returns to stdout."""
    parent, job, arguments = pickle.loads(sys.stdin.buffer.read())
    end_with_parent(parent)  # somebody else has the task then
    try:
        returned = job(*arguments)
    except LciError as error:
        returned = Failed.of(error)
    sys.stdout.buffer.write(pickle.dumps(returned))


__all__ = ["CACHE_BYTES", "Here", "Job", "LeavesHere", "Workers", "here", "in_a_process"]
