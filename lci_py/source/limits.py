"""What one file may cost. One that would cost more is known in part, or as text: never lost, and named with a reason.

All but the time depend on nothing else than the file's content, its language and the settings. The time is that of the
processor, so that a busy machine decides like an idle one, as far as it can.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lci_py.source.walk import LIMIT_REASONS, LONG_LINE

_AGAIN = 0.5  # seconds until the alarm sounds again, if something swallowed its exception
#: What a worker may allocate. A file of 2 MB takes up to 0.9 GB, if it is nothing but the smallest statements.
WORKER_BYTES = 3 << 30


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


def bound_memory(most: int) -> None:
    """Let this process allocate `most` bytes more than it has, on Linux: what needs more fails, or ends it."""
    try:
        import resource

        with open("/proc/self/statm", "rb") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = now + most if hard == resource.RLIM_INFINITY else min(now + most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    except (ImportError, OSError, ValueError):
        pass  # no such limit here
