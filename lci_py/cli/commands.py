"""Which function runs a command; each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lci_py.cli.fast_parser import Invocation

#: Commands that answer a question about an index: the module and the name of their row.
ROWS = {
    "def": ("search", "DEFINITIONS"),
    "callers": ("graph", "ROW"),
    "callees": ("graph", "ROW"),
    "tree": ("graph", "ROW"),
    "refs": ("graph", "ROW"),
    "grep": ("grep", "ROW"),
    "show": ("show", "ROW"),
    "outline": ("outline", "ROW"),
    "path": ("path", "ROW"),
    "affected": ("affected", "ROW"),
    "conflicts": ("conflicts", "ROW"),
}
#: The module of each other command, where that is not called like it; its function is `run_COMMAND`.
_MODULES = dict.fromkeys(("status", "stats", "clean", "workspace", "hook"), "index")


def run_command(call: Invocation) -> int:
    """Run one command, and return its exit code."""
    if call.command in ROWS:
        from lci_py.cli.answering import answer

        module, name = ROWS[call.command]
        return answer(call, getattr(import_module(f"lci_py.cli.{module}"), name))
    module = _MODULES.get(call.command, call.command)
    code: int = getattr(import_module(f"lci_py.cli.{module}"), f"run_{call.command}")(call)
    return code
