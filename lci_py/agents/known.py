"""The agents that lci knows: where each of them looks for MCP servers and for instructions.

The addresses of their documentation are in docs/agents.md.
"""

from __future__ import annotations

import os
import re
import sys
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from lci_py.agents import json_entry
from lci_py.agents.instructions import TASKS, TEXT
from lci_py.agents.server import Server
from lci_py.agents.understood import NotUnderstoodError

if TYPE_CHECKING:
    from collections.abc import Callable

    #: The text of a file below a folder, None if there is none.
    Reader = Callable[[str], str | None]


class Home(NamedTuple):
    """A folder of the user's: that of a variable, if it is set, else one below the home folder."""

    folder: str
    variable: str = ""
    below: str = ""  # what follows either


class Part(NamedTuple):
    """A file that an agent reads, below the project or below a folder of the user's."""

    paths: tuple[str, ...]  # the first that exists counts
    new: str  # the one to make if none does
    home: Home | None = None  # None: below the project


class Agent(NamedTuple):
    name: str
    title: str
    signs: tuple[str, ...]  # in a project: whoever has these uses the agent
    home: Home | None  # the user's folder of the agent
    server: Server | None = None
    config: Part | None = None
    user_config: Part | None = None
    rules: Part | None = None  # a file of instructions
    user_rules: Part | None = None
    rules_head: str = ""  # what it begins with if it is lci's own
    skill: Part | None = None
    user_skill: Part | None = None


_COMMAND = {"command": "lci", "args": ["mcp"]}
_ABOUT = "Finds code in this repository by meaning, exact words, names, callers and callees."
SKILL_HEAD = f"""\
---
name: lci
description: {_ABOUT} Use it to search, to read definitions, and to see what a change affects.
---

"""
CURSOR_HEAD = f"""\
---
description: {_ABOUT}
alwaysApply: true
---

"""
_XDG = Home(".config", "XDG_CONFIG_HOME")
_CLAUDE, _CODEX, _CURSOR = Home(".claude", "CLAUDE_CONFIG_DIR"), Home(".codex", "CODEX_HOME"), Home(".cursor")
_GEMINI, _OPENCODE, _ZED = (
    Home("", "GEMINI_CLI_HOME", ".gemini"),
    _XDG._replace(below="opencode"),
    _XDG._replace(below="zed"),
)
_CODE = Home("Library/Application Support/Code") if sys.platform == "darwin" else _XDG._replace(below="Code")
_AGENTS, _OPENCODE_FILES = "AGENTS.md", ("opencode.json", "opencode.jsonc")
#: In the order in which Zed looks for them; it takes the first.
_ZED_RULES = (
    ".rules", ".cursorrules", ".windsurfrules", ".clinerules", ".github/copilot-instructions.md", "AGENT.md", _AGENTS,
    "CLAUDE.md", "GEMINI.md",
)  # fmt: skip
#: A line of CLAUDE.md that takes in AGENTS.md, from the root or from the folder .claude.
_IMPORT = r"^@(?:\./|\.\./)?AGENTS\.md[ \t]*\r?$"


def _one(path: str, home: Home | None = None) -> Part:
    return Part((path,), path, home)


AGENTS = (
    Agent(
        "claude-code",
        "Claude Code",
        ("CLAUDE.md", ".claude", ".mcp.json"),
        _CLAUDE,
        Server("json", "mcpServers", {"type": "stdio", **_COMMAND}),
        _one(".mcp.json"),
        # Beside the folder ~/.claude; inside the folder that the variable names.
        _one(".claude.json", Home("", _CLAUDE.variable)),
        Part(("CLAUDE.md", ".claude/CLAUDE.md"), "CLAUDE.md"),
        _one("CLAUDE.md", _CLAUDE),
        skill=_one(".claude/skills/lci/SKILL.md"),
        user_skill=_one("skills/lci/SKILL.md", _CLAUDE),
    ),
    Agent(
        "codex",
        "Codex",
        (".codex",),
        _CODEX,
        Server("toml", "mcp_servers", _COMMAND),
        _one(".codex/config.toml"),
        _one("config.toml", _CODEX),
        Part(("AGENTS.override.md", _AGENTS), _AGENTS),
        Part(("AGENTS.override.md", _AGENTS), _AGENTS, _CODEX),
    ),
    Agent(
        "cursor",
        "Cursor",
        (".cursor", ".cursorrules"),
        _CURSOR,
        Server("json", "mcpServers", _COMMAND),
        _one(".cursor/mcp.json"),
        _one("mcp.json", _CURSOR),
        _one(".cursor/rules/lci.mdc"),
        rules_head=CURSOR_HEAD,
    ),
    Agent(
        "vscode",
        "VS Code",
        (".vscode", ".github/copilot-instructions.md"),
        _CODE,
        Server("json", "servers", {"type": "stdio", **_COMMAND}),
        _one(".vscode/mcp.json"),
        _one("User/mcp.json", _CODE),
        Part((".github/copilot-instructions.md", _AGENTS), _AGENTS),
    ),
    Agent(
        "gemini-cli",
        "Gemini CLI",
        ("GEMINI.md", ".gemini"),
        _GEMINI,
        Server("json", "mcpServers", _COMMAND),
        _one(".gemini/settings.json"),
        _one("settings.json", _GEMINI),
        _one("GEMINI.md"),
        _one("GEMINI.md", _GEMINI),
    ),
    Agent(
        "opencode",
        "opencode",
        (*_OPENCODE_FILES, ".opencode"),
        _OPENCODE,
        Server(
            "json",
            "mcp",
            {"type": "local", "command": ["lci", "mcp"], "enabled": True},
            {"$schema": "https://opencode.ai/config.json"},
        ),
        Part(_OPENCODE_FILES, _OPENCODE_FILES[0]),
        Part(_OPENCODE_FILES, _OPENCODE_FILES[0], _OPENCODE),
        _one(_AGENTS),
        _one(_AGENTS, _OPENCODE),
    ),
    Agent(
        "zed",
        "Zed",
        (".zed", ".rules"),
        _ZED,
        Server("json", "context_servers", _COMMAND),
        _one(".zed/settings.json"),
        _one("settings.json", _ZED),
        Part(_ZED_RULES, _AGENTS),
    ),
    Agent("agents-md", "AGENTS.md", (_AGENTS,), None, rules=_one(_AGENTS)),
)
NAMES = tuple(agent.name for agent in AGENTS)
BY_NAME = {agent.name: agent for agent in AGENTS}


class File(NamedTuple):
    """One file of an agent, as it is asked for."""

    agent: str
    part: str  # mcp, instructions or skill
    base: str  # the folder that the path starts at, and that no link leads out of
    paths: tuple[str, ...]  # where lci may be in it; the one to write first
    server: Server | None = None
    body: str = ""
    head: str = ""


def files(agent: Agent, root: str | None, reader: Callable[[str, str], str | None]) -> list[File]:
    """The files of an agent.

    Args:
        agent: The agent.
        root: The project; None for the user's own files.
        reader: The text of a file below a folder; None if there is none, "" if it cannot be read.
    """
    found = []
    config, rules, skill = (
        (agent.config, agent.rules, agent.skill)
        if root is not None
        else (agent.user_config, agent.user_rules, agent.user_skill)
    )
    for part, kind in ((config, "mcp"), (rules, "instructions"), (skill, "skill")):
        if part is None:
            continue
        base, folder = (root or "", "") if part.home is None else place(part.home)
        paths = _paths(agent, part, kind, partial(_read_below, reader, base, folder))
        whole = tuple(os.path.join(folder, path) for path in paths)
        if kind == "mcp":
            found.append(File(agent.name, kind, base, whole, server=agent.server))
        elif kind == "skill":
            found.append(File(agent.name, kind, base, whole, body=TASKS, head=SKILL_HEAD))
        else:
            found.append(File(agent.name, kind, base, whole, body=TEXT, head=agent.rules_head))
    return found


def _read_below(reader: Callable[[str, str], str | None], base: str, folder: str, path: str) -> str | None:
    return reader(base, os.path.join(folder, path))


def place(home: Home) -> tuple[str, str]:
    """The folder of the user's that a path starts at, and what comes between."""
    named = os.environ.get(home.variable) if home.variable else None
    if named and os.path.isabs(named):
        return named, home.below
    return os.path.expanduser("~"), os.path.join(home.folder, home.below)


def _paths(agent: Agent, part: Part, kind: str, read: Reader) -> tuple[str, ...]:
    """The path that the agent reads, or that is to be made; then the others that lci may be in."""
    chosen = next((path for path in part.paths if read(path) is not None), part.new)
    others = part.paths
    if kind == "instructions" and agent.name == "claude-code" and part.home is None:
        # CLAUDE.md may import AGENTS.md: then the block belongs there, where other agents read it as well.
        if re.search(_IMPORT, read(chosen) or "", re.MULTILINE) and read(_AGENTS) is not None:
            chosen = _AGENTS
        others = (*others, _AGENTS)
    elif kind == "instructions" and agent.name == "gemini-cli":
        if _AGENTS in _gemini_names(read("settings.json" if part.home else ".gemini/settings.json")):
            chosen = _AGENTS
        others = (*others, _AGENTS)
    return (chosen, *(path for path in others if path != chosen))


def _gemini_names(settings: str | None) -> list[object]:
    """What `context.fileName` of the settings says."""
    try:
        found = json_entry.value(settings or "{}").get("context")
    except NotUnderstoodError:
        return []
    names = found.get("fileName") if isinstance(found, dict) else None
    return names if isinstance(names, list) else [names]
