"""The function that runs each command, imported on first use."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.cli.command_line import Invocation

#: Commands that answer a question about an index: the module and the name of their row.
ROWS = {
    "explore": ("rows.explore", "ROW"),
    "similar": ("rows.similar", "ROW"),
    "def": ("search", "DEFINITIONS"),
    "callers": ("rows.graph", "ROW"),
    "callees": ("rows.graph", "ROW"),
    "tree": ("rows.graph", "ROW"),
    "refs": ("rows.graph", "ROW"),
    "grep": ("rows.grep", "ROW"),
    "files": ("rows.files", "ROW"),
    "history": ("rows.history", "ROW"),
    "show": ("rows.show", "ROW"),
    "outline": ("rows.outline", "ROW"),
    "path": ("rows.path", "ROW"),
    "affected": ("rows.affected", "ROW"),
    "conflicts": ("rows.conflicts", "ROW"),
}
#: The module of each other command, where that is not called like it; its function is `run_COMMAND`.
_MODULES = {"pick": "pick.run", **dict.fromkeys(("status", "stats", "clean", "workspace", "hook"), "index")}


def runner(command: str) -> Callable[[Invocation], int]:
    """The function that runs a command and returns its exit code."""
    if command in ROWS:
        from lci_py.cli.answering import answer

        module, name = ROWS[command]
        return partial(answer, row=getattr(import_module(f"lci_py.cli.{module}"), name))
    module = _MODULES.get(command, command)
    run: Callable[[Invocation], int] = getattr(import_module(f"lci_py.cli.{module}"), f"run_{command}")
    return run
