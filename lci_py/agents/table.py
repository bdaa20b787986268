"""The agents that lci supports, from `agents.toml`: where each looks for MCP servers and for instructions."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from lci_py.source.text import parse_toml

_TABLE = parse_toml(Path(__file__).with_name("agents.toml").read_text("utf-8"))
#: What an agent reads with every task, and what it reads when it wants to know more.
TEXT, TASKS = _TABLE["text"], _TABLE["tasks"]
#: The first lines of files that are lci's own.
HEADS: dict[str, str] = _TABLE["heads"]


class Home(NamedTuple):
    """A user's folder: the folder in an environment variable if that is set, else a folder below the home folder."""

    folder: str
    variable: str = ""
    below: str = ""  # a subfolder of either
    darwin: str = ""  # on macOS: below the home folder, whatever the variable says


class Part(NamedTuple):
    """A file of an agent, and what lci writes into it."""

    kind: str  # mcp, instructions, skill, hook or subagent
    paths: tuple[str, ...]  # the first that exists counts, else the first is made
    home: Home | None  # the folder that the paths start at; None: the project
    new: str  # the path to make
    head: str = ""  # what the file begins with, where it is lci's own
    command: str = ""  # the agent's own command that does the same
    keys: tuple[str, ...] = ()  # of an entry: those that lead to it, or to the list that it is an item of
    entry: dict[str, Any] | None = None  # its value; None for text
    #: If a pattern occurs in a file ("" for the chosen one), the agent reads AGENTS.md, and the text goes there.
    agents_md: tuple[str, str] | None = None


class Agent(NamedTuple):
    name: str
    title: str
    signs: tuple[str, ...]  # in a project: whoever has these uses the agent
    home: Home | None  # the user's folder of the agent
    parts: tuple[Part, ...]


_HOMES = {None: None, **{name: Home(**row) for name, row in _TABLE["homes"].items()}}


def _part(row: dict[str, Any], agent: dict[str, Any]) -> Part:
    entry = {"keys": (agent["servers"], "lci"), "entry": agent["entry"]} if row["kind"] == "mcp" else {}
    redirect = row.get("agents_md")
    return Part(
        row["kind"], tuple(row["paths"]), _HOMES[row.get("home")], row.get("new", row["paths"][0]),
        head=HEADS.get(row.get("head", ""), ""), command=row.get("command", ""), **entry,
        agents_md=redirect and (redirect.get("file", ""), redirect["pattern"]),
    )  # fmt: skip


def _hooks(home: str, folder: str, file: str, event: str, matcher: str, timeout: int) -> list[Part]:
    """The hooks of `--hooks`, in a project and for the user: after an agent's own search, and when a session starts.

    Args:
        home: The agent's folder in the user's home.
        folder: The agent's folder in a project.
        file: The file with hooks in either folder.
        event: The agent's name for the event after a tool call.
        matcher: The tools that search.
        timeout: The time limit in the agent's unit: seconds, or milliseconds.
    """
    # A project's files are shared: who has no lci must not read an error after every command.
    hooks = {"hooks": [{"type": "command", "command": "lci agent hook 2>/dev/null || true", "timeout": timeout}]}
    entries: dict[str, dict[str, Any]] = {event: {"matcher": matcher, **hooks}, "SessionStart": hooks}
    return [
        Part("hook", (path,), base, path, keys=("hooks", when), entry=entry)
        for path, base in ((f"{folder}/{file}", None), (file, _HOMES[home]))
        for when, entry in entries.items()
    ]


def _agent(row: dict[str, Any]) -> Agent:
    home: Any = row.get("home")
    hooks = _hooks(home, **row["hooks"]) if "hooks" in row else []
    parts = (*(_part(part, row) for part in row["parts"]), *hooks)
    return Agent(row["name"], row["title"], tuple(row["signs"]), _HOMES[home], parts)


AGENTS = tuple(map(_agent, _TABLE["agents"]))
BY_NAME = {agent.name: agent for agent in AGENTS}
NAMES = tuple(BY_NAME)
