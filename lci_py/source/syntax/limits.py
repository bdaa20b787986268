"""What one file may cost. One that would cost more is known in part, or as text: never lost, and named with a reason.

All but the time depend on nothing else than the file's content, its language and the settings. The time is that of the
processor, so that a busy machine decides like an idle one, as far as it can.
"""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lci_py.source.repository.content import LONG_LINE

#: Every reason why only a part of what a file holds is known, gravest first. Its text is searched all the same, but for
#: "too_many_chunks". A file has one: the gravest.
LIMIT_REASONS = (
    "parser_crash",  # the grammar ended its process, or the extraction failed: text only
    "parser_timeout",  # longer than max_file_seconds: text only
    "too_many_chunks",  # its end is missing
    "too_many_symbols",  # the later definitions are missing
    "too_deep",  # definitions and calls nested deeper than max_nesting are missing
)
#: A parser failed, which is never a matter of course.
UNPARSED = LIMIT_REASONS[:2]

_AGAIN = 0.5  # seconds until the alarm sounds again, if something swallowed its exception
#: A worker that may be ended has so many times the bound: not every loop of a grammar's C code asks for the time.
_LAST = 1.5
#: What a worker may allocate for a file. One of 2 MB takes up to 0.9 GB, if it is nothing but the smallest statements.
WORKER_BYTES = 3 << 30
#: Whether a file that costs too much may end this process.
_expendable = False


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one file's extraction; docs/languages.md says what lies beyond each."""

    max_line_bytes: int = LONG_LINE  # a longer line: not source, left out
    max_nesting: int = 500  # depth of the syntax tree
    max_file_symbols: int = 20_000
    max_file_chunks: int = 10_000
    max_file_seconds: float = 10.0  # of the processor


DEFAULTS = Limits()


class OutOfTime(Exception):
    """A file took longer than it may."""


def graver(one: str, other: str) -> str:
    """The graver of two of `LIMIT_REASONS`, or of one and ""."""
    return min(filter(None, (one, other)), key=LIMIT_REASONS.index, default="")


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the body once the process has computed for `seconds`.

    By a signal, and so only in the main thread, and not while somebody else uses that timer: elsewhere the body runs
    on. It reaches Python code and regular expressions; a parser and a query have timeouts of their own (languages.py).
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
    # What is raised in a callback of the collector is printed, and lost.
    collects = gc.isenabled()
    gc.disable()
    try:
        try:
            signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
            yield
        finally:
            armed = False
    finally:
        # If the alarm sounds before the line above is done, this one is reached all the same.
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        if collects:
            gc.enable()


def allow_last_resort() -> None:
    """Let `last_resort` end this process, because it is a worker that can be replaced."""
    global _expendable
    _expendable = True


@contextmanager
def last_resort(seconds: float, memory: int) -> Iterator[None]:
    """End this process if the body computes for much longer than `seconds`, or takes more bytes than `memory`.

    For workers only, which `allow_last_resort` names: elsewhere nothing happens, nor on a platform without such limits.
    The first sends SIGVTALRM; the second is a MemoryError, or an abort of C code.
    """
    if not _expendable:
        yield
        return
    try:
        import resource

        with open("/proc/self/statm", "rb") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        before = resource.getrlimit(resource.RLIMIT_AS)
        most = now + memory if before[0] == resource.RLIM_INFINITY else min(now + memory, before[0])
        signal.setitimer(signal.ITIMER_VIRTUAL, _LAST * seconds)
    except (ImportError, OSError, ValueError, AttributeError):
        yield
        return
    try:
        resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
        yield
    finally:
        # What comes after, such as to send the result, must not fail for want of memory.
        resource.setrlimit(resource.RLIMIT_AS, before)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
