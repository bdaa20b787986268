"""The agents that lci supports, as rows: where each looks for MCP servers and for instructions.

The addresses of their documentation are in docs/agents.md. A new agent is a row here, a row there, and a name in
`cli/options/manage.py`.
"""

from __future__ import annotations

import re
import sys
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from lci_py.agents.entry import NAME, Entry, read_json
from lci_py.agents.safe_files import LeftAloneError

if TYPE_CHECKING:
    from collections.abc import Callable

    #: The text of a file beside the one that is asked about, None if there is none.
    Reader = Callable[[str], str | None]


class Home(NamedTuple):
    """A folder of the user: that in a variable, if it is set, else one below the home folder."""

    folder: str
    variable: str = ""
    below: str = ""  # a subfolder of either


class Part(NamedTuple):
    """One thing that lci writes for an agent."""

    kind: str  # mcp, instructions, skill, hook or subagent
    paths: tuple[str, ...]  # the first that exists counts, else the first is made
    home: Home | None = None  # the folder that the paths start at; None: the project
    new: str = ""  # the path to make, where it is not the first
    head: str = ""  # what the file begins with, where it is lci's own
    add: str = ""  # the agent's own command that does the same
    entry: Entry | None = None  # of a hook
    #: Whether the agent reads AGENTS.md by way of the file at a path: then the block belongs there.
    leads_to_agents: Callable[[str, Reader], bool] | None = None


class Agent(NamedTuple):
    name: str
    title: str
    signs: tuple[str, ...]  # in a project: whoever has these uses the agent
    home: Home | None  # the user's folder of the agent
    entry: Entry | None
    parts: tuple[Part, ...]


def _mcp(path: str, home: Home | None = None, add: str = "", *others: str) -> Part:
    return Part("mcp", (path, *others), home, add=add)


def _rules(*paths: str, home: Home | None = None, new: str = "", head: str = "") -> Part:
    return Part("instructions", paths, home, new, head)


def _front_matter(*rows: str) -> str:
    return "\n".join(["---", *rows, "---", "", ""])


def _imports_agents(path: str, read: Reader) -> bool:
    """Whether a CLAUDE.md imports the project's AGENTS.md; text in code does not count."""
    text = re.sub(r"^ {0,3}(```+|~~~+).*?(^ {0,3}\1|\Z)", "", read(path) or "", flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"(`+)[^`\n]*\1", "", text)
    folder = r"\.\./" if "/" in path else r"(?:\./)?"
    return re.search(rf"(?<!\S)@{folder}AGENTS\.md(?![\w/-]|\.\w)", text) is not None and read(_AGENTS) is not None


def _gemini_reads_agents(settings: str, _: str, read: Reader) -> bool:
    """Whether `context.fileName` of the settings names AGENTS.md."""
    try:
        context = read_json(read(settings) or "{}").get("context")
    except LeftAloneError:
        return False
    names = context.get("fileName") if isinstance(context, dict) else None
    return _AGENTS in (names if isinstance(names, list) else [names])


_COMMAND = {"command": "lci", "args": ["mcp"]}
_STDIO = {"type": "stdio", **_COMMAND}
_ENTRY = Entry(("mcpServers", NAME), _COMMAND)
_ABOUT = "Finds code in this repository by meaning, exact words, names, callers and callees."
SKILL_HEAD = _front_matter(
    "name: lci", f"description: {_ABOUT} Use it to search, to read definitions, and to see what a change affects."
)
SUBAGENT_HEAD = _front_matter(
    "name: lci-search",
    f"description: {_ABOUT} Use it proactively to answer where or how something is done.",
    "tools: Bash, Read",
)
CURSOR_HEAD = _front_matter(f"description: {_ABOUT}", "alwaysApply: true")
KIRO_HEAD = _front_matter("inclusion: always")
_XDG = Home(".config", "XDG_CONFIG_HOME")
_CLAUDE, _CODEX, _CURSOR = Home(".claude", "CLAUDE_CONFIG_DIR"), Home(".codex", "CODEX_HOME"), Home(".cursor")
_GEMINI, _COPILOT = Home("", "GEMINI_CLI_HOME", ".gemini"), Home(".copilot", "COPILOT_HOME")
_OPENCODE, _ZED = _XDG._replace(below="opencode"), _XDG._replace(below="zed")
_CODE = Home("Library/Application Support/Code") if sys.platform == "darwin" else _XDG._replace(below="Code")
_WINDSURF, _CLINE, _KIRO = Home(".codeium/windsurf"), Home(".cline"), Home(".kiro")
_AGENTS, _OVERRIDE = "AGENTS.md", "AGENTS.override.md"
_COPILOT_RULES = ".github/copilot-instructions.md"
#: In the order in which Zed looks for them; it takes the first.
_ZED_RULES = (
    ".rules", ".cursorrules", ".windsurfrules", ".clinerules", _COPILOT_RULES, "AGENT.md", _AGENTS, "CLAUDE.md",
    "GEMINI.md",
)  # fmt: skip
#: The tools of Gemini CLI that search.
_GEMINI_TOOLS = "grep_search|search_file_content|run_shell_command"


def _hooks(folder: str, home: Home, file: str, event: str, matcher: str, timeout: int = 5) -> list[Part]:
    """What `--hooks` adds in a project and for the user: after a search of the agent's own, and when a session starts.

    Args:
        folder: Of the agent, in a project.
        home: Of the agent.
        file: In either.
        event: What the agent calls the time after a tool.
        matcher: The tools that search.
        timeout: In the agent's unit: seconds, or milliseconds.
    """
    # A project's files are shared: who has no lci must not read an error after every command.
    hook = {"type": "command", "command": "lci agent hook 2>/dev/null || true", "timeout": timeout}
    entries = (
        Entry(("hooks", event), {"matcher": matcher, "hooks": [hook]}, listed=True),
        Entry(("hooks", "SessionStart"), {"hooks": [hook]}, listed=True),
    )
    places = ((f"{folder}/{file}", None), (file, home))
    return [Part("hook", (path,), where, entry=entry) for path, where in places for entry in entries]


AGENTS = (
    Agent(
        "claude-code", "Claude Code", ("CLAUDE.md", ".claude", ".mcp.json"), _CLAUDE,
        Entry(("mcpServers", NAME), _STDIO),
        (
            _mcp(".mcp.json", None, "claude mcp add --scope project lci -- lci mcp"),
            # Beside the folder ~/.claude; inside the folder that the variable names.
            _mcp(".claude.json", Home("", _CLAUDE.variable), "claude mcp add --scope user lci -- lci mcp"),
            _rules("CLAUDE.md", ".claude/CLAUDE.md")._replace(leads_to_agents=_imports_agents),
            _rules("CLAUDE.md", home=_CLAUDE),
            Part("skill", (".claude/skills/lci/SKILL.md",), head=SKILL_HEAD),
            Part("skill", ("skills/lci/SKILL.md",), _CLAUDE, head=SKILL_HEAD),
            *_hooks(".claude", _CLAUDE, "settings.json", "PostToolUse", "Grep|Bash"),
            # Sub-agents read no instructions of the project.
            Part("subagent", (".claude/agents/lci-search.md",), head=SUBAGENT_HEAD),
            Part("subagent", ("agents/lci-search.md",), _CLAUDE, head=SUBAGENT_HEAD),
        ),
    ),
    Agent(
        "codex", "Codex", (".codex",), _CODEX, Entry(("mcp_servers", NAME), _COMMAND, form="toml"),
        (
            _mcp(".codex/config.toml"),
            _mcp("config.toml", _CODEX, "codex mcp add lci -- lci mcp"),
            _rules(_OVERRIDE, _AGENTS, new=_AGENTS),
            _rules(_OVERRIDE, _AGENTS, new=_AGENTS, home=_CODEX),
            *_hooks(".codex", _CODEX, "hooks.json", "PostToolUse", "Bash"),
        ),
    ),
    Agent(
        "cursor", "Cursor", (".cursor", ".cursorrules"), _CURSOR, _ENTRY,
        (_mcp(".cursor/mcp.json"), _mcp("mcp.json", _CURSOR), _rules(".cursor/rules/lci.mdc", head=CURSOR_HEAD)),
    ),
    Agent(
        "vscode", "VS Code", (".vscode", _COPILOT_RULES), _CODE, Entry(("servers", NAME), _STDIO),
        (
            _mcp(".vscode/mcp.json"),
            _mcp("User/mcp.json", _CODE, """code --add-mcp '{"name": "lci", "command": "lci", "args": ["mcp"]}'"""),
            _rules(_COPILOT_RULES, _AGENTS, new=_AGENTS),
        ),
    ),
    Agent(
        "copilot-cli", "Copilot CLI", (".github/mcp.json",), _COPILOT,
        Entry(("mcpServers", NAME), {"type": "local", **_COMMAND, "tools": ["*"]}),
        (
            _mcp(".github/mcp.json"),
            _mcp("mcp-config.json", _COPILOT, "copilot mcp add lci -- lci mcp"),
            _rules(_COPILOT_RULES, _AGENTS, new=_AGENTS),
            _rules("copilot-instructions.md", home=_COPILOT),
        ),
    ),
    Agent(
        "gemini-cli", "Gemini CLI", ("GEMINI.md", ".gemini"), _GEMINI, _ENTRY,
        (
            _mcp(".gemini/settings.json", None, "gemini mcp add --scope project lci lci mcp"),
            _mcp("settings.json", _GEMINI, "gemini mcp add --scope user lci lci mcp"),
            _rules("GEMINI.md")._replace(leads_to_agents=partial(_gemini_reads_agents, ".gemini/settings.json")),
            _rules("GEMINI.md", home=_GEMINI)._replace(leads_to_agents=partial(_gemini_reads_agents, "settings.json")),
            *_hooks(".gemini", _GEMINI, "settings.json", "AfterTool", _GEMINI_TOOLS, 5_000),
        ),
    ),
    Agent(
        "opencode", "opencode", ("opencode.json", "opencode.jsonc", ".opencode"), _OPENCODE,
        Entry(("mcp", NAME), {"type": "local", "command": ["lci", "mcp"], "enabled": True}),
        (
            _mcp("opencode.json", None, "", "opencode.jsonc"),
            _mcp("opencode.json", _OPENCODE, "", "opencode.jsonc"),
            _rules(_AGENTS),
            _rules(_AGENTS, home=_OPENCODE),
        ),
    ),
    Agent(
        "zed", "Zed", (".zed", ".rules"), _ZED, Entry(("context_servers", NAME), _COMMAND),
        (_mcp(".zed/settings.json"), _mcp("settings.json", _ZED), _rules(*_ZED_RULES, new=_AGENTS)),
    ),
    Agent(
        "windsurf", "Windsurf", (".windsurf", ".windsurfrules"), _WINDSURF, _ENTRY,
        (_mcp("mcp_config.json", _WINDSURF), _rules(_AGENTS), _rules("memories/global_rules.md", home=_WINDSURF)),
    ),
    Agent(
        "cline", "Cline", (".clinerules", ".cline"), _CLINE, _ENTRY,
        (_mcp("data/settings/cline_mcp_settings.json", _CLINE), _rules(_AGENTS), _rules("rules/lci.md", home=_CLINE)),
    ),
    Agent(
        "kiro", "Kiro", (".kiro",), _KIRO, _ENTRY,
        (
            _mcp(".kiro/settings/mcp.json"),
            _mcp("settings/mcp.json", _KIRO),
            _rules(_AGENTS),
            _rules("steering/lci.md", home=_KIRO, head=KIRO_HEAD),
        ),
    ),
    Agent("agents-md", "AGENTS.md", (_AGENTS,), None, None, (_rules(_AGENTS),)),
)  # fmt: skip
NAMES = tuple(agent.name for agent in AGENTS)
BY_NAME = {agent.name: agent for agent in AGENTS}
