"""The entry that makes an agent start `lci mcp`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from lci_py.agents.understood import NotUnderstoodError


class Server(NamedTuple):
    """What stands where in a configuration file."""

    form: str  # json, with comments or without, or toml
    parent: str  # the key of the object that holds the servers
    value: Mapping[str, Any]
    top: Mapping[str, Any] = {}  # what else a file that is new begins with
    name: str = "lci"


def same(found: object, value: Mapping[str, Any]) -> bool:
    """Whether an entry says what lci writes; agents add members that are empty, such as `"env": {}`."""
    return isinstance(found, Mapping) and {
        key: item for key, item in found.items() if item not in ({}, [], None)
    } == dict(value)


def runs_lci(value: object) -> bool:
    """Whether an entry starts `lci mcp`, whatever else it says."""
    if not isinstance(value, Mapping):
        return False
    command, more = value.get("command"), value.get("args")
    words = [*(command if isinstance(command, list) else [command]), *(more if isinstance(more, list) else [])]
    first = words[0]
    return isinstance(first, str) and os.path.basename(first) == "lci" and words[1:2] == ["mcp"]


def differs(server: Server) -> NotUnderstoodError:
    return NotUnderstoodError(f"{server.name} in {server.parent} is something else")
