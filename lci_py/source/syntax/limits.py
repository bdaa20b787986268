"""Limits on the time, memory and size of one file. If a file exceeds them, only a part of it or its text is indexed,
and the reason is recorded.

Except for time and memory, the outcome depends only on the file's content, its language and the settings. Time is
processor time, so that a busy machine decides like an idle one.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from lci_py.source.repository.content import LONG_LINE
from lci_py.types.record import dataclass

#: Why only a part of a file is known, gravest first; a file has the gravest of its reasons. All of its text is
#: searched, unless it has too many chunks.
LIMIT_REASONS = (
    "parser_crash",  # the grammar crashed its process, or the extraction raised an error: text only
    "parser_timeout",  # longer than max_file_seconds: text only
    "too_many_chunks",  # the end of its text is missing
    "too_many_symbols",  # the later definitions are missing
    "too_deep",  # definitions and calls nested deeper than max_nesting are missing
    "not_linked",  # linking raised an error: none of its calls leads anywhere
)
#: The reasons of files that were not parsed.
UNPARSED = LIMIT_REASONS[:2]
NOT_LINKED = LIMIT_REASONS[-1]

_AGAIN = 0.5  # seconds until the alarm is repeated, in case its exception was swallowed
#: A worker is ended after this many times the bound: some loops in a grammar's C code never check their timeout.
_LAST = 1.5
#: What a worker may allocate for one file. A file of 2 MB that consists of the smallest statements takes 0.9 GB.
WORKER_BYTES = 3 << 30
#: Whether `last_resort` may end this process.
_expendable = False


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the extraction of one file, from the settings; docs/languages.md says what happens beyond each."""

    max_line_bytes: int = LONG_LINE  # a file with a longer line is no source, and is left out
    max_nesting: int = 500  # depth of the syntax tree
    max_file_symbols: int = 20_000
    max_file_chunks: int = 10_000
    max_file_seconds: float = 10.0  # of the processor
    macros: tuple[str, ...] = ()  # of the repository, as `macro_text` takes them


DEFAULTS = Limits()


class OutOfTime(Exception):
    """The work on a file took longer than its limit."""


def graver(reason: str, other: str) -> str:
    """The more severe of two reasons, each one of `LIMIT_REASONS` or "" for none."""
    return min(filter(None, (reason, other)), key=LIMIT_REASONS.index, default="")


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """A context manager. Raises OutOfTime in its body once the process has computed for `seconds`.

    A timer's signal does this, so the limit works only in the main thread, and only if nobody else uses that timer;
    otherwise the body has no limit. The signal stops Python code and regular expressions. Parsers and queries have
    timeouts of their own (languages.py).
    """
    armed = True

    def on_alarm(_signal: int, _frame: object) -> None:
        if armed:
            raise OutOfTime

    try:
        free = not any(signal.getitimer(signal.ITIMER_PROF))
        before = signal.signal(signal.SIGPROF, on_alarm) if free else None
    except (ValueError, AttributeError):  # another thread, which gets no signals, or a platform without them
        free = False
    if not free:
        yield
        return
    # An exception raised in a callback of the garbage collector is printed and lost.
    collects = gc.isenabled()
    gc.disable()
    try:
        try:
            signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
            yield
        finally:
            armed = False
    finally:
        # This line is reached even if the alarm comes before the one above is done.
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        if collects:
            gc.enable()


def allow_last_resort() -> None:
    """Allow `last_resort` to end this process: called in a worker, which can be replaced."""
    global _expendable
    _expendable = True


@contextmanager
def last_resort(seconds: float, memory: int) -> Iterator[None]:
    """A context manager. Ends the process if its body computes far longer than `seconds` or takes over `memory` bytes.

    Does nothing in a process that has not called `allow_last_resort`, or on a platform without such limits. Too much
    time ends the process by SIGVTALRM; too much memory raises MemoryError, or makes C code abort.
    """
    if not _expendable:
        yield
        return
    try:
        import resource

        handle = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)  # `open` makes twice as many system calls
        try:
            now = int(os.read(handle, 200).split()[0]) * resource.getpagesize()
        finally:
            os.close(handle)
        before = resource.getrlimit(resource.RLIMIT_AS)
        limit = now + memory if before[0] == resource.RLIM_INFINITY else min(now + memory, before[0])
        signal.setitimer(signal.ITIMER_VIRTUAL, _LAST * seconds)
    except (ImportError, OSError, ValueError, AttributeError):
        yield
        return
    try:
        resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
        yield
    finally:
        # Sending the result must not fail for lack of memory.
        resource.setrlimit(resource.RLIMIT_AS, before)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
