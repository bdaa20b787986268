"""Defines the commands and their flags, as data for the parser, for help and for completion.

The module of a command is imported only when the command is looked up, so that a query does not load all modules.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lci_py.cli.options.flags import Command

#: Command, in the order of the help -> the module of this folder that has its table, under its name in capitals.
_MODULES = {
    "index": "manage",
    "explore": "find",
    "search": "find",
    "pick": "find",
    "show": "find",
    "outline": "find",
    "grep": "find",
    "files": "find",
    "similar": "find",
    "def": "find",
    "refs": "graph",
    "callers": "graph",
    "callees": "graph",
    "tree": "graph",
    "path": "graph",
    "affected": "graph",
    "unused": "graph",
    "history": "find",
    "conflicts": "find",
    "status": "manage",
    "stats": "manage",
    "clean": "manage",
    "workspace": "manage",
    "hook": "manage",
    "agent": "manage",
    "mcp": "manage",
    "cluster": "manage",
}
#: The commands that answer questions about an index: each can be a line of a batch.
ANSWERING = (
    "explore", "search", "show", "outline", "grep", "files", "similar", "def", "refs", "callers", "callees", "tree",
    "path", "affected", "unused", "history", "conflicts", "status",
)  # fmt: skip


class _Commands(Mapping[str, "Command"]):
    """Maps the name of a command to its `Command`, whose module is imported on first use."""

    def __init__(self) -> None:
        self._loaded: dict[str, Command] = {}

    def __getitem__(self, name: str) -> Command:
        if name not in self._loaded:
            command: Command = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name.upper())
            self._loaded[name] = _with_batch(command) if name in ANSWERING else command
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


def _with_batch(command: Command) -> Command:
    """A copy of a command with the flag --batch, placed before the general flags."""
    from lci_py.cli.options.flags import BATCH_FLAG, GENERAL

    first = next(i for i, flag in enumerate(command.flags) if flag.panel == GENERAL)
    return command._replace(flags=(*command.flags[:first], BATCH_FLAG, *command.flags[first:]))


COMMANDS: Mapping[str, Command] = _Commands()
