"""lci's table in a TOML file, added and removed as text."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from lci_py.agents.lines import append, cut
from lci_py.agents.server import Server, differs, runs_lci, same
from lci_py.agents.understood import NotUnderstoodError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def shown(server: Server) -> str:
    """The table as lci writes it."""
    rows = [f"{key} = {json.dumps(value)}" for key, value in server.value.items()]
    return "\n".join([f"[{server.parent}.{server.name}]", *rows])


def state(text: str, server: Server) -> str:
    """absent, installed, or custom: it starts `lci mcp`, and is not as lci writes it.

    Raises:
        NotUnderstoodError: The file is not valid TOML, or has something else by this name.
    """
    found = _servers(_parse(text), server).get(server.name)
    if found is None:
        return "absent"
    if same(found, server.value):
        return "installed"
    if runs_lci(found):
        return "custom"
    raise differs(server)


def add(text: str | None, server: Server) -> str:
    """The text with the table at its end.

    Raises:
        NotUnderstoodError: The result would mean something else, or could not be undone.
    """
    new = append(text, shown(server))
    if text is None:
        return new
    try:
        fits = remove(new, server) == text  # which compares what both texts mean
    except NotUnderstoodError:
        fits = False
    if not fits:
        raise NotUnderstoodError(f"no table can be added to it: {server.parent} is written in another way")
    return new


def remove(text: str, server: Server) -> str | None:
    """The text without the table; None if nothing else is in the file.

    Raises:
        NotUnderstoodError: The table is not as lci writes it.
    """
    table = r"\r?\n".join(map(re.escape, shown(server).split("\n")))
    before = _parse(text)
    servers = _servers(before, server)
    rest = {name: value for name, value in servers.items() if name != server.name}
    for found in re.finditer(rf"^{table}(?=\r?$)", text, re.MULTILINE):
        new = cut(text, found.start(), found.end())
        after = {} if new is None else _parse(new)
        if {**before, server.parent: rest} == {**after, server.parent: after.get(server.parent, {})}:
            return new
    raise NotUnderstoodError(f"[{server.parent}.{server.name}] has been changed: remove it by hand", ours=True)


def _servers(found: dict[str, Any], server: Server) -> dict[str, Any]:
    servers = found.get(server.parent, {})
    if not isinstance(servers, dict):
        raise NotUnderstoodError(f"{server.parent} is no table")
    return servers


def _parse(text: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        why = " ".join(str(error).split())[:80]
        raise NotUnderstoodError(f"is not valid TOML ({why})") from error
    return found
