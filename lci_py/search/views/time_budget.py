"""Views side by side, each waited for no longer than its share of a time budget.

A thread cannot be stopped. A late one goes on by itself, and what it finds is dropped. Since it may be in the
middle of reading its shard, nobody else uses that shard until it is through: every use of a view holds its lock.
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
    """Run a function for every view.

    Plain threads: importing an executor takes longer than a query.

    Args:
        run: Called with each view, in a thread of its own; without a budget the first one's is the caller's.
        views: Which; at least one.
        locks: The lock of each view, held while it runs.
        until: The moment of `time.perf_counter` up to which each is waited for; empty: as long as it takes.
        threads: False if all of them are to run in the caller's, one after the other; only without a budget.
    Returns:
        What each returned or raised. A view that is late is not in it.
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
    """Run the one view of a single mode within the budget.

    Args:
        work: Uses the view.
        view: Its name.
        lock: The view's lock.
        budget_ms: The milliseconds that it has; None for as long as it takes.
        began: The moment of `time.perf_counter` from which the budget counts.
    Raises:
        BudgetExceededError: It has not answered by then.
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
    """Wait for an event, at most so many seconds (None: as long as it takes), and return whether it is set."""
    return done.wait(None if seconds is None else max(0.0, seconds))
