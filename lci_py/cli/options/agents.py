"""The commands for coding agents: the MCP server, and the entries in agents' files."""

from __future__ import annotations

from lci_py.cli.options.flags import (
    JSON_FLAG,
    QUIET_FLAG,
    REFRESH_FLAG,
    ROOT_FLAG,
    SCREEN_FLAGS,
    TRUST_FLAG,
    VERBOSE_FLAG,
    WORKSPACE_FLAG,
    Command,
    Flag,
    Positional,
)

#: What --tools and --files of `lci mcp` take.
TOOLS = ("default", "all")
READABLE = ("indexed", "all")
MCP = Command(
    "mcp",
    "Serve the index to a coding agent, over MCP on standard input and output; needs the extra mcp.",
    None,
    (
        Flag(("--tools",), "text", "default (explore, search and read, if left out) or all.", "Server", "WHICH", TOOLS),
        Flag(
            ("--files",),
            "text",
            "What `read` may show: indexed files (if left out) or all below the root.",
            "Server",
            "WHICH",
            READABLE,
        ),
        Flag(("--structured",), "flag", "Answers as JSON, in the structured content too, instead of text.", "Server"),
        REFRESH_FLAG,
        TRUST_FLAG,
        ROOT_FLAG,
        WORKSPACE_FLAG,
        QUIET_FLAG,
        VERBOSE_FLAG,
    ),
    (
        ("lci mcp", "as an agent starts it, in the folder of the project or with roots of its own"),
        ("lci mcp --root ~/src/project --tools all", "one project, with the call graph and more as tools"),
    ),
)
AGENT_ACTIONS = ("install", "uninstall", "print", "list", "hook")
AGENT_NAMES = (
    "claude-code", "codex", "cursor", "vscode", "copilot-cli", "gemini-cli", "opencode", "zed", "windsurf", "cline",
    "kiro", "agents-md",
)  # fmt: skip
AGENT_PARTS = ("mcp", "instructions", "hooks")
AGENT = Command(
    "agent",
    "Tell coding agents about lci: in the files that each of them reads.",
    Positional(
        "ACTION",
        "install, uninstall, print (what install would write), list, or hook (what --hooks lets an agent run).",
        required=True,
        choices=AGENT_ACTIONS,
    ),
    (
        Flag(("--user",), "flag", "Your own files, for all projects, instead of those of this project.", "Files"),
        Flag(
            ("--only",),
            "text",
            "Only the entry of the MCP server, only the instructions, or only the hooks.",
            "Files",
            "PART",
            AGENT_PARTS,
        ),
        Flag(
            ("--hooks",),
            "flag",
            "Hooks as well, where an agent has them: definitions beside its own searches, a reminder, a sub-agent.",
            "Files",
        ),
        JSON_FLAG,
        ROOT_FLAG,
        *SCREEN_FLAGS,
    ),
    (
        ("lci agent list", "which agents are known and in use, and what lci has written"),
        ("lci agent print claude-code codex", "what would be written, as a diff"),
        ("lci agent install", "for all agents that are in use here"),
        ("lci agent install cursor --only mcp", "the MCP server of one agent"),
        ("lci agent install claude-code --hooks", "with definitions beside the agent's own searches"),
        ("lci agent uninstall", "take everything out again"),
    ),
    Positional(
        "NAME",
        f"Agents: {', '.join(AGENT_NAMES[:-1])} or {AGENT_NAMES[-1]}; if left out, all that fit the action.",
        many=True,
        choices=AGENT_NAMES,
    ),
)
