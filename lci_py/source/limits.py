"""What one file may cost. One that would cost more is known in part, or as text: never lost, and named with a reason.

All but the time depend on nothing else than the file's content, its language and the settings.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lci_py.source.walk import LIMIT_REASONS, LONG_LINE

_AGAIN = 0.5  # seconds until the alarm sounds again, if something swallowed its exception


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one file's extraction; docs/languages.md says what lies beyond each."""

    max_line_bytes: int = LONG_LINE  # a longer line: not source, left out
    max_nesting: int = 500  # depth of the syntax tree
    max_file_symbols: int = 20_000
    max_file_chunks: int = 10_000
    max_file_seconds: float = 10.0


DEFAULTS = Limits()


class OutOfTime(Exception):
    """A file took longer than it may."""


def graver(one: str, other: str) -> str:
    """The graver of two of `LIMIT_REASONS`, or of one and ""."""
    return min(filter(None, (one, other)), key=LIMIT_REASONS.index, default="")


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the body once it has run for `seconds`.

    By an alarm, and so only in the main thread, and not while another alarm is set: elsewhere the body runs on. It
    reaches Python code and regular expressions; a parser and a query have timeouts of their own (languages.py).
    """
    armed = True

    def on_alarm(_signal: int, _frame: object) -> None:
        if armed:
            raise OutOfTime

    try:
        if any(signal.getitimer(signal.ITIMER_REAL)):
            yield
            return
        before = signal.signal(signal.SIGALRM, on_alarm)
    except (ValueError, AttributeError):  # another thread, which gets no signals, or a platform without them
        yield
        return
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
            yield
        finally:
            armed = False
    finally:
        # If the alarm sounds before the line above is done, this one is reached all the same.
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
