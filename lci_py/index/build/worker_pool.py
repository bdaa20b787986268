"""Extracts files in worker processes. A file that crashes its worker or never ends does not affect other files."""

from __future__ import annotations

import gc
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from lci_py.processes import FORKS, Child, Lost, Nursery, closing_children, nursery, results, start
from lci_py.source.syntax.limits import allow_last_resort
from lci_py.types.record import replace

if TYPE_CHECKING:
    from lci_py.index.build.tasks import Done, Task, Workplace

Batch = tuple[int, list["Task"]]  # number and tasks
Work = Callable[..., "list[Done]"]  # called with tasks, and with `unparsable` as in `process_tasks`
#: Below this many bytes other processes cost more time than they save, on systems without fork.
POOL_THRESHOLD = 300_000
_FORKS = FORKS
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


def default_jobs() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def early_workers(jobs: int) -> Nursery | None:
    """Start processes before the tasks are known, to become workers later; None on systems that cannot fork."""
    if not _FORKS:
        return None
    from lci_py.source.syntax.languages import is_test

    is_test("")  # reads the languages and their names of tests, which this process needs as well as its workers
    return nursery(max(1, jobs), allow_last_resort, _import_worker)


def _import_worker() -> None:
    import lci_py.index.build.worker  # noqa: F401
    from lci_py.callgraph.gc_paused import collect_rarely

    gc.enable()
    collect_rarely()


def process(
    workplace: Workplace,
    tasks: Sequence[Task],
    jobs: int,
    load: Callable[[Task], Task] | None = None,
    keep: Callable[[list[Done]], object] | None = None,
    early: Nursery | None = None,
    meanwhile: Callable[[], object] = bool,
) -> Generator[list[Done], None, None]:
    """Process the tasks; yields results in batches, in the order of the tasks. If `workplace` asks for stages, the
    results of `finish_tasks` for the same batches follow, computed when the caller requests them.

    Args:
        workplace: The folders of the files and of the cache.
        jobs: The number of worker processes. Where fork exists, files are parsed in another process even with 1.
        load: Completes a task shortly before a worker gets it.
        keep: Called with every batch as soon as it is done, in any order.
        early: Processes that can become workers, at most `jobs` of them; None to start processes here.
        meanwhile: Called once as soon as workers have something to do.
    """
    finished: dict[int, list[Done]] = {}
    next_number = 0
    work = partial(_process_tasks, workplace)
    whole = partial(_process_tasks, replace(workplace, staged=False)) if workplace.staged else None
    with closing(_unordered_results(work, tasks, jobs, load, early, meanwhile, whole)) as batches:
        for number, done in batches:
            if keep is not None:
                keep(done)
            finished[number] = done
            while next_number in finished:
                yield finished.pop(next_number)
                next_number += 1


def _batches(tasks: Sequence[Task], jobs: int) -> Iterator[Batch]:
    """Divide the tasks into batches that get smaller towards the end.

    Source: guided self-scheduling, Polychronopoulos and Kuck, IEEE Transactions on Computers C-36(12), 1987.
    """
    number, batch, size = 0, [], 0
    rest = sum(task.entry.size + _FILE_BYTES for task in tasks)
    for task in tasks:
        batch.append(task)
        size += task.entry.size + _FILE_BYTES
        if size >= min(_BATCH_BYTES, max(_LEAST_BYTES, rest // (_SHARES * jobs))) or len(batch) >= _BATCH_FILES:
            yield number, batch
            rest -= size
            number, batch, size = number + 1, [], 0
    if batch:
        yield number, batch


def _unordered_results(
    work: Work,
    tasks: Sequence[Task],
    jobs: int,
    load: Callable[[Task], Task] | None,
    early: Nursery | None = None,
    meanwhile: Callable[[], object] = bool,
    whole: Work | None = None,
) -> Generator[tuple[int, list[Done]], None, None]:
    """Yields (batch number, results). Even a small repository is parsed in another process: a grammar can crash it.

    Args:
        whole: The work without stages, for a process that ends and keeps no state; None if `work` has no stages.
    """
    alone = whole or work
    all_batches = list(_batches(tasks, max(1, jobs)))
    small = not _FORKS and sum(task.entry.size for task in tasks) < POOL_THRESHOLD
    if not tasks or small or (jobs <= 1 and not _FORKS):
        for number, batch in all_batches:
            yield number, alone(_load_batch(batch, load))
            gc.collect(0)  # the cycles of parsed files, which nothing else frees in a process that pauses the collector
        return
    message = lambda job: (work, _load_batch(job[1], load))  # noqa: E731
    batches = deque(all_batches)
    while batches:
        with closing_children(_workers(min(max(1, jobs), len(batches)), batches, early, whole is not None)) as workers:
            shared = results(workers, batches, message, ahead=True, seconds=STALL_SECONDS, meanwhile=meanwhile)
            for (number, batch), result in shared:
                yield number, _alone(alone, _load_batch(batch, load)) if isinstance(result, Lost) else result
            if whole is not None and not batches:
                yield from _finished(workers, whole, all_batches)
        early, meanwhile = None, bool


def _finished(workers: list[Child], whole: Work, batches: list[Batch]) -> Iterator[tuple[int, list[Done]]]:
    """Yields the results of `finish_tasks` from the worker that started each batch; `whole` does the other batches.

    The batch numbers continue after the last number of the first stage.
    """
    rest = dict(batches)
    for worker in workers:
        for number, batch in worker.answered:
            worker.give(number, _finish_tasks, batch)
    for number, result in results(workers, deque[int](), lambda _: (), seconds=STALL_SECONDS):
        batch = rest.pop(number)
        yield len(batches) + number, _alone(whole, batch) if isinstance(result, Lost) else result
    for number, batch in rest.items():
        yield len(batches) + number, _alone(whole, batch)


def _load_batch(batch: list[Task], load: Callable[[Task], Task] | None) -> list[Task]:
    return batch if load is None else [load(task) for task in batch]


def _workers(jobs: int, batches: Sequence[Batch], early: Nursery | None, staged: bool) -> list[Child]:
    """Workers that, if forked, share in memory the grammars that the first batches need."""
    from lci_py.index.build.tasks import languages_of

    first = [languages_of(batch) for _, batch in list(batches)[:2]] if _FORKS else []
    nursery = early or early_workers(jobs)
    return start(jobs, allow_last_resort) if nursery is None else nursery.grow(jobs, _prepare_workers, staged, *first)


def _alone(work: Work, batch: list[Task]) -> list[Done]:
    """Process a batch whose worker died, file by file; a file that crashes its process or never ends becomes text."""
    with closing_children(start(1, allow_last_resort)) as workers:
        [(_, result)] = results(workers, deque([batch]), lambda tasks: (work, tasks), seconds=STALL_SECONDS)
    if not isinstance(result, Lost):
        done: list[Done] = result
        return done
    if len(batch) > 1:
        return [done for task in batch for done in _alone(work, [task])]
    late = result.late or result.signal == signal.SIGVTALRM
    return work(batch, unparsable="parser_timeout" if late else "parser_crash")


# What parses is imported where it is used: whoever only waits for the results does without.


def _prepare_workers(staged: bool, *languages: Sequence[str]) -> None:
    from lci_py.index.build.worker import prepare_workers

    prepare_workers(staged, *languages)


def _process_tasks(workplace: Workplace, tasks: list[Task], unparsable: str = "") -> list[Done]:
    from lci_py.index.build.worker import process_tasks

    return process_tasks(workplace, tasks, unparsable)


def _finish_tasks(tasks: list[Task]) -> list[Done]:
    from lci_py.index.build.worker import finish_tasks

    return finish_tasks(tasks)
