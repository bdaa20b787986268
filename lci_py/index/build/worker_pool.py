"""Extract files in worker processes. A file that crashes its worker or never ends does not affect other files."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from lci_py.index.build.child_process import start_worker, starting
from lci_py.index.build.worker import Done, Task, Workplace, prepare_workers, process_tasks
from lci_py.interrupts import at_interrupt

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

Batch = tuple[int, list[Task]]  # number and tasks
Work = Callable[..., list[Done]]  # called with tasks, and with `unparsable` as in `process_tasks`
#: Below this many bytes a pool costs more time than it saves, on systems without fork.
POOL_THRESHOLD = 300_000
_FORKS = sys.platform == "linux"
#: If no batch ends for this long, a worker hangs and its own timer has not ended it. Those timers count processor
#: time, and on a busy machine much more time passes.
STALL_SECONDS = 300.0
_BATCH_BYTES = 150_000
_BATCH_FILES = 64
#: Each worker gets about this many batches of what is left, so that all of them end at about the same time.
_SHARES = 3
_LEAST_BYTES = 40_000
#: A file takes as much time as this many bytes, however small it is.
_FILE_BYTES = 500


def process(
    place: Workplace,
    tasks: Sequence[Task],
    jobs: int,
    load: Callable[[Task], Task] | None = None,
    keep: Callable[[list[Done]], object] | None = None,
) -> Generator[list[Done], None, None]:
    """Process the tasks; yields results in batches, in the order of the tasks.

    Args:
        place: Where the files and the cache are.
        tasks: The files.
        jobs: The number of worker processes. Where fork exists, files are parsed in another process even with 1.
        load: Completes a task shortly before a worker gets it.
        keep: Called with every batch as soon as it is there, in any order.
    """
    finished: dict[int, list[Done]] = {}
    wanted = 0
    with closing(_unordered(partial(process_tasks, place), tasks, jobs, load)) as batches:
        for number, results in batches:
            if keep is not None:
                keep(results)
            finished[number] = results
            while wanted in finished:
                yield finished.pop(wanted)
                wanted += 1


def _batches(tasks: Sequence[Task], jobs: int, load: Callable[[Task], Task] | None) -> Iterator[Batch]:
    """Batches that get smaller towards the end.

    Source: guided self-scheduling, Polychronopoulos and Kuck, IEEE Transactions on Computers C-36(12), 1987.
    """
    number, batch, size = 0, [], 0
    left = sum(task.entry.size + _FILE_BYTES for task in tasks)
    for task in tasks:
        batch.append(task if load is None else load(task))
        size += task.entry.size + _FILE_BYTES
        if size >= min(_BATCH_BYTES, max(_LEAST_BYTES, left // (_SHARES * jobs))) or len(batch) >= _BATCH_FILES:
            yield number, batch
            left -= size
            number, batch, size = number + 1, [], 0
    if batch:
        yield number, batch


def _unordered(
    work: Work,
    tasks: Sequence[Task],
    jobs: int,
    load: Callable[[Task], Task] | None,
) -> Generator[tuple[int, list[Done]], None, None]:
    """Results by batch number. Even a small repository is parsed in another process: a grammar can crash it."""
    batches = _batches(tasks, max(1, jobs), load)
    small = not _FORKS and sum(task.entry.size for task in tasks) < POOL_THRESHOLD
    if not tasks or small or (jobs <= 1 and not _FORKS):
        for number, batch in batches:
            yield number, work(batch)
        return
    lost: list[Batch] = []
    few = next(batches, None)
    more = next(batches, None)
    jobs = max(1, jobs) if more else 1
    first = [batch for batch in (few, more) if batch]
    if _FORKS:
        prepare_workers([batch for _, batch in first])
    batches = _again(first, batches)
    while True:
        with _pool(jobs) as pool:
            yield from _pooled(pool, work, batches, 4 * jobs, lost)
        if not lost:
            return
        while lost:
            number, batch = lost.pop()
            yield number, list(_alone(work, batch))


def _again(first: list[Batch], rest: Iterator[Batch]) -> Iterator[Batch]:
    yield from first
    yield from rest


def _pooled(
    pool: ProcessPoolExecutor,
    work: Work,
    batches: Iterator[Batch],
    ahead: int,
    lost: list[Batch],
) -> Iterator[tuple[int, list[Done]]]:
    """Results as they come, until a process dies: the batches that were being processed then go to `lost`."""
    from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait

    pending: dict[Future[list[Done]], Batch] = {}
    while True:
        while not lost and len(pending) < ahead and (batch := next(batches, None)):
            try:
                with starting():
                    pending[pool.submit(work, batch[1])] = batch
            except BrokenExecutor:
                lost.append(batch)
        if not pending:
            return
        done, _ = wait(pending, STALL_SECONDS, FIRST_COMPLETED)
        if not done:
            _kill(pool)
        for future in done:
            batch = pending.pop(future)
            try:
                yield batch[0], future.result()
            except BrokenExecutor:
                lost.append(batch)


def _alone(work: Work, batch: list[Task]) -> Iterator[Done]:
    """Process a batch again after a process died: a file that crashes its process or never ends is kept as text."""
    from concurrent.futures import BrokenExecutor, TimeoutError

    with _pool(1) as pool:
        with starting():
            future = pool.submit(work, batch)
        workers = list((pool._processes or {}).values())
        try:
            yield from future.result(STALL_SECONDS)
            return
        except BrokenExecutor:
            reason = "parser_crash"
        except TimeoutError:
            reason = "parser_timeout"
            _kill(pool)
    # Not before: while the pool exists, one of its threads may collect the exit status.
    if any(process.exitcode == -signal.SIGVTALRM for process in workers):
        reason = "parser_timeout"
    if len(batch) == 1:
        yield from work(batch, unparsable=reason)
        return
    for task in batch:
        yield from _alone(work, [task])


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # fork takes milliseconds, and is safe here: a worker uses no lock that another thread could hold.
    method = "fork" if _FORKS else None
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context(method), initializer=start_worker)
    try:
        with at_interrupt(lambda: _kill(pool, wait=True)):
            yield pool
    except BaseException:
        _kill(pool)
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _kill(pool: ProcessPoolExecutor, *, wait: bool = False) -> None:
    processes = list((pool._processes or {}).values())  # kill_workers() is public since Python 3.14 only
    for process in processes:
        process.kill()
    for process in processes if wait else ():
        with suppress(OSError):  # a thread of the pool was faster
            os.waitpid(process.pid or -1, 0)
