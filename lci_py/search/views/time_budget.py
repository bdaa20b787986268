"""Runs views side by side, and waits for each no longer than its share of a time budget.

A thread cannot be stopped: a late one runs on, and its result is dropped. It may still be reading its shard, so nobody
else may use that shard until it ends: every use of a view holds the view's lock.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, TypeVar

from lci_py.errors import BudgetExceededError

if TYPE_CHECKING:
    from _thread import LockType
    from collections.abc import Callable, Mapping, Sequence

    from lci_py.types.search import View

_T = TypeVar("_T")


def side_by_side(
    run: Callable[[View], _T],
    views: Sequence[View],
    locks: Mapping[View, LockType],
    until: Mapping[View, float],
    *,
    threads: bool = True,
) -> dict[View, _T | BaseException]:
    """Run a function for every view, in plain threads: importing an executor takes longer than a query.

    Args:
        run: Called with each view, in a thread of its own; without a budget the first view runs in the caller's thread.
        views: At least one.
        locks: The lock of each view, held while it runs.
        until: Each view's deadline, by `time.perf_counter`; empty for none.
        threads: False to run all views one after the other in the caller's thread; only without a budget.
    Returns:
        What each returned or raised. A late view is missing.
    """
    found: dict[View, _T | BaseException] = {}
    done = {view: threading.Event() for view in views}
    given_up: list[bool] = []

    def work(view: View) -> None:
        with locks[view]:
            if given_up:
                return  # it got the lock when nobody waited any longer
            try:
                found[view] = run(view)
            except BaseException as error:  # for the caller, in its own thread
                found[view] = error
        done[view].set()

    own = () if until else views[:1] if threads else views
    for view in views[len(own) :]:
        threading.Thread(target=work, args=(view,), daemon=True, name=f"lci-{view}").start()
    for view in own:
        work(view)
    for view in sorted(views, key=lambda view: until.get(view, 0.0)):
        wait(done[view], until[view] - time.perf_counter() if until else None)
    # A view that comes after its share, while another is still waited for, has come in time.
    answered = {view: found[view] for view in views if done[view].is_set()}
    given_up.append(True)
    return answered


def within(work: Callable[[], _T], view: View, lock: LockType, budget_ms: int | None, began: float) -> _T:
    """Run the view of a single mode within the budget.

    Args:
        work: Uses the view.
        budget_ms: None for no limit.
        began: The start of the budget, by `time.perf_counter`.
    Raises:
        BudgetExceededError: It has not answered in time.
    """
    if budget_ms is None:
        with lock:
            return work()
    found = side_by_side(lambda _: work(), (view,), {view: lock}, {view: began + budget_ms / 1e3})
    if view not in found:
        raise BudgetExceededError(view, budget_ms)
    made = found[view]
    if isinstance(made, BaseException):
        raise made
    return made


def wait(done: threading.Event, seconds: float | None) -> bool:
    """Wait for an event, at most so many seconds (None: without limit), and return whether it is set."""
    return done.wait(None if seconds is None else max(0.0, seconds))
