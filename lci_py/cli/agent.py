"""`lci agent`: tells coding agents about lci."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from lci_py.cli.streams import screen, write_json, writing
from lci_py.errors import EXIT_OK, EXIT_USAGE, UsageError

if TYPE_CHECKING:
    from lci_py.cli.command_line import Invocation

#: Seconds after which an agent that waits for its hook is told nothing.
_SECONDS = 2
#: Characters of an event that are read: with the answer of a tool it may be long.
_MOST_READ = 16_000_000


def run_agent(call: Invocation) -> int:
    if call.flag("user") and call.text("root") is not None:
        raise UsageError("--user and --root cannot be used together", hint="--user is about the home folder")
    action = call.text("argument") or ""
    if action == "hook":
        _hook()
    from lci_py.app import upkeep
    from lci_py.render.text.agents import render_agents

    found = upkeep.agents(
        call.text("root"), action, call.texts("more"),
        user=call.flag("user"), only=call.text("only"), hooks=call.flag("hooks"),
    )  # fmt: skip
    with writing():
        if call.flag("json"):
            from lci_py.render.json.answer import plain_object

            write_json(plain_object(found))
        elif not call.flag("quiet"):
            render_agents(found, screen(call))
    left = any(file["state"] == "left_alone" for agent in found["agents"] for file in agent["files"])
    return EXIT_USAGE if left and action != "list" else EXIT_OK


def _hook() -> NoReturn:
    """Answer an event of an agent. Whatever happens, the agent goes on: exit code 0, nothing on stderr, soon."""
    with suppress(BaseException):
        signal.signal(signal.SIGALRM, lambda *_: os._exit(EXIT_OK))
        signal.alarm(_SECONDS)
        from lci_py.app import upkeep

        sys.stdout.write(upkeep.agent_hook(sys.stdin.read(_MOST_READ)))
        sys.stdout.flush()
    os._exit(EXIT_OK)
