"""A thread that runs queries while the terminal stays responsive. A newer query replaces a waiting one of its kind."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from lci_py.errors import LciError

if TYPE_CHECKING:
    from collections.abc import Callable

    Work = Callable[[], Any]
    Done = Callable[[Any], None]


class Worker(threading.Thread):
    """Runs the waiting queries, one per kind, in the order of `KINDS`."""

    #: What a keystroke waits for comes first. A preview waits until somebody looks: meanwhile the list is drawn, for
    #: which only one thread of a Python process has time.
    KINDS = ("search", "walk", "preview", "warm")
    LATE, LATE_SECONDS = "preview", 0.06

    def __init__(self, post: Callable[[Callable[[], None]], object]) -> None:
        """Prepare the thread; `post` calls a function in the thread of the terminal."""
        super().__init__(daemon=True)
        self._post = post
        self._waiting: dict[str, tuple[Work, Done]] = {}
        self._changed = threading.Condition()
        self._stopped = False
        self._late = 0.0

    def ask(self, kind: str, work: Work, done: Done) -> None:
        """Run `work` soon, and call `done` with its result or its `LciError`.

        Newer work of the same kind replaces work that has not begun.
        """
        with self._changed:
            self._waiting[kind] = (work, done)
            self._late = time.monotonic() + self.LATE_SECONDS if kind == self.LATE else self._late
            self._changed.notify()

    def stop(self) -> None:
        """Drop the waiting work, let running work end, and return."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        if self.is_alive():
            self.join()

    def run(self) -> None:
        while (task := self._next()) is not None:
            work, done = task
            try:
                result = work()
            except LciError as error:
                result = error
            except Exception as error:  # a bug in one answer must not end the others
                result = LciError(f"internal error: {type(error).__name__}: {error}")
            self._post(lambda done=done, result=result: done(result))  # type: ignore[misc]  # bound now, not later

    def _next(self) -> tuple[Work, Done] | None:
        with self._changed:
            while not self._stopped:
                kind = min(self._waiting, key=self.KINDS.index, default="")
                early = self._late - time.monotonic() if kind == self.LATE else 0.0
                if kind and early <= 0:
                    return self._waiting.pop(kind)
                self._changed.wait(early if kind else None)
            return None
