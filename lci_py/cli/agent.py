"""`lci agent`: tells coding agents about lci."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.cli.streams import screen, write_json, writing
from lci_py.errors import EXIT_OK, EXIT_USAGE, UsageError

if TYPE_CHECKING:
    from lci_py.cli.command_line import Invocation


def run_agent(call: Invocation) -> int:
    if call.flag("user") and call.text("root") is not None:
        raise UsageError("--user and --root cannot be used together", hint="--user is about the home folder")
    from lci_py.app import upkeep
    from lci_py.render.text.agents import render_agents

    action = call.text("argument") or ""
    found = upkeep.agents(call.text("root"), action, call.texts("more"), user=call.flag("user"), only=call.text("only"))
    with writing():
        if call.flag("json"):
            from lci_py.render.json.answer import plain_object

            write_json(plain_object(found))
        elif not call.flag("quiet"):
            render_agents(found, screen(call))
    left = any(file["state"] == "left_alone" for agent in found["agents"] for file in agent["files"])
    return EXIT_USAGE if left and action != "list" else EXIT_OK
