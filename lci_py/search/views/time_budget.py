"""Views side by side, each waited for no longer than its share of a time budget.

A thread cannot be stopped. One that is late goes on by itself, and what it finds goes nowhere; since it may be in the
middle of its shard, nobody else uses that shard until it is through: every use of a view is under the view's turn.
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
    view_locks: Mapping[View, LockType],
    until: Mapping[View, float],
    *,
    threads: bool = True,
) -> dict[View, _T | BaseException]:
    """Run a function for every view.

    Plain threads: importing an executor takes longer than a query.

    Args:
        run: Called with each view, in a thread of its own; without a budget the first one's is the caller's.
        views: Which; at least one.
        view_locks: The lock of each view, held while it runs.
        until: The moment of `time.perf_counter` up to which each is waited for; empty: as long as it takes.
        threads: False if all of them are to run in the caller's, one after the other; only without a budget.
    Returns:
        What each returned or raised. A view that is late is not in it.
    """
    found: dict[View, _T | BaseException] = {}
    done = {view: threading.Event() for view in views}
    given_up: list[bool] = []

    def work(view: View) -> None:
        with view_locks[view]:
            if given_up:
                return  # its turn came when nobody waited any longer
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
    # One that comes after its share, but while another is waited for, has come in time.
    answered = {view: found[view] for view in views if done[view].is_set()}
    given_up.append(True)
    return answered


def within(work: Callable[[], _T], view: View, turn: LockType, budget_ms: int | None, began: float) -> _T:
    """What the one view of a single mode finds.

    Args:
        work: Uses the view.
        view: Its name.
        turn: Its lock.
        budget_ms: The milliseconds that it has; None for as long as it takes.
        began: Since which moment of `time.perf_counter`.
    Raises:
        BudgetExceededError: It has not answered by then.
    """
    if budget_ms is None:
        with turn:
            return work()
    found = side_by_side(lambda _: work(), (view,), {view: turn}, {view: began + budget_ms / 1e3})
    if view not in found:
        raise BudgetExceededError(view, budget_ms)
    made = found[view]
    if isinstance(made, BaseException):
        raise made
    return made


def wait(done: threading.Event, seconds: float | None) -> bool:
    """Whether it is done, after waiting for at most so long; None for as long as it takes."""
    return done.wait(None if seconds is None else max(0.0, seconds))
