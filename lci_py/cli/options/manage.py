"""Defines the commands that make, inspect and remove an index, and the commands for coding agents and for fleets."""

from __future__ import annotations

from lci_py.cli.options import (
    ANSWER_FLAGS,
    BATCH_FLAG,
    FILTER_FLAGS,
    GENERAL_FLAGS,
    INDEX_FLAGS,
    JSON_FLAG,
    MAX_TOKENS_FLAG,
    MODE_HELP,
    MODEL_HELP,
    NAME_FLAG,
    OFFSET_FLAG,
    OUTPUT,
    PATHS_FLAG,
    QUIET_FLAG,
    REFRESH_FLAG,
    RETRIEVAL,
    ROOT_FLAG,
    SCREEN_FLAGS,
    TRUST_FLAG,
    VERBOSE_FLAG,
    WORKSPACE_FLAG,
    Command,
    Flag,
    Positional,
)
from lci_py.types.search import MODES

INDEX = Command(
    "index",
    "Index a repository; run again, refresh what changed.",
    Positional("PATH", "The repository, or a folder in it; with --files, the files.", many=True),
    (
        Flag(("--full",), "flag", "Rebuild everything instead of what changed.", "Build"),
        Flag(("--dry-run",), "flag", "List what would be indexed and what is skipped; write nothing.", "Build"),
        Flag(("--yes", "-y"), "flag", "Index a large folder outside of git without asking.", "Build"),
        Flag(("--no-ignore",), "flag", "Index what ignore files leave out, too; later runs remember it.", "Build"),
        Flag(("--ignore",), "flag", "Obey ignore files again, after --no-ignore.", "Build"),
        Flag(
            ("--include",),
            "list",
            "Index what matches even if ignored; later runs remember it, until ''; repeatable.",
            "Build",
            "GLOB",
        ),
        Flag(("--jobs", "-j"), "int", "Worker processes; as many as there are CPUs if left out.", "Build", "N"),
        Flag(("--model",), "text", MODEL_HELP, "Build", "DIR"),
        Flag(
            ("--files",),
            "flag",
            "The arguments are files: refresh these only, deleted ones included; they start at the current folder.",
            "Build",
        ),
        Flag(("--wait",), "int", "Seconds to wait for another run to finish.", "Build", "SECONDS", default=10),
        Flag(
            ("--branches",),
            "text",
            "Index also what differs on these branches, for --conflicts; as before if left out, '' for none.",
            "Build",
            "NAME,…",
        ),
        Flag(("--defer-dense",), "flag", "Leave the embedding of what is new to a later run.", "Build"),
        Flag(
            ("--trust-index",),
            "flag",
            "Take over an index that was not made by you on this machine, after checking it, instead of rebuilding it.",
            "Build",
        ),
        JSON_FLAG,
        *GENERAL_FLAGS,
    ),
    (
        ("lci index", "index the repository around the current folder"),
        ("lci index ~/src/project -j 4", "another one, with four workers"),
        ("lci index --files src/a.py src/b.py", "only what changed in these two"),
        ("lci index --dry-run | wc -l", "count the files, write nothing"),
        ("lci index --dry-run -v", "what is left out, each with the rule that does it"),
    ),
)
STATUS = Command(
    "status",
    "Show what is indexed, and whether it is fresh.",
    None,
    (
        Flag(("--check",), "flag", "Read every shard whole, and say what is wrong with each.", "Checks"),
        JSON_FLAG,
        MAX_TOKENS_FLAG,
        *INDEX_FLAGS,
    ),
    (
        ("lci status", "counts, shards, model, age, stale files"),
        ("lci status --check", "exit 3 if the index is damaged"),
        ("lci status --json | jq .stale_files", "one number"),
    ),
)
STATS = Command(
    "stats",
    "Show what the log of searches says; there is one if you turn it on.",
    None,
    (
        Flag(("--since",), "text", "Only of this time: 12h, 7d, 4w, or from a day on: 2026-11-22.", RETRIEVAL, "WHEN"),
        JSON_FLAG,
        *GENERAL_FLAGS,
    ),
    (
        ("lci stats", "by mode, intent and day: how many, how long, how many without results"),
        ("lci stats --since 7d --json | jq .all.zero_results_share", "one number of a week"),
    ),
)
CLEAN = Command(
    "clean",
    "Remove the index; what is not lci's in its folder stays.",
    None,
    (
        Flag(("--cache",), "flag", "Remove only the caches of earlier runs; the index stays.", "Remove"),
        JSON_FLAG,
        *GENERAL_FLAGS,
    ),
    (("lci clean", "remove the index of this repository"), ("lci clean --cache", "only its cache")),
)
HOOK = Command(
    "hook",
    "Refresh the index in the background after each commit, checkout, merge and rebase.",
    Positional(
        "ACTION",
        "install, uninstall or status; run is what the hooks call.",
        required=True,
        choices=("install", "uninstall", "status", "run"),
    ),
    (
        Flag(("--force",), "flag", "Write even if other repositories use these hooks, too.", "Install"),
        JSON_FLAG,
        ROOT_FLAG,
        *SCREEN_FLAGS,
    ),
    (
        ("lci hook install", "add to this repository's git hooks; again, nothing changes"),
        ("lci hook uninstall", "take exactly that out again"),
        ("lci hook status", "exit 1 unless all are installed"),
    ),
)
WORKSPACE_ACTIONS = ("add", "remove", "list", "status")
WORKSPACE = Command(
    "workspace",
    "Name several repositories that are searched as one, with --workspace.",
    Positional(
        "ACTION",
        "add, remove (repositories; the workspace if none is named), list or status.",
        required=True,
        choices=WORKSPACE_ACTIONS,
    ),
    (
        Flag(
            ("--named",),
            "text",
            "The name of the one repository that is added; that of its folder if left out.",
            "Add",
            "NAME",
        ),
        JSON_FLAG,
        *SCREEN_FLAGS,
    ),
    (
        ("lci workspace add work ~/src/api ~/src/web", "make a workspace of two repositories, or add them to it"),
        ("lci workspace add work ~/old/api --named old-api", "under another name than its folder's"),
        ("lci search 'retry an upload' --workspace work", "search both at once"),
        ("lci search 'retry an upload' --workspace work --repo 'api*'", "some of them"),
        ("lci workspace remove work web", "take one out; the repository itself is not touched"),
        ("lci workspace list", "all workspaces with their repositories"),
    ),
    Positional("NAME", "The workspace, then repositories: folders, or for remove their names.", many=True),
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
CLUSTER_ACTIONS = ("index", "search", "clean")
_FLEET = "Cluster"
CLUSTER = Command(
    "cluster",
    "Index and search the repositories of a fleet, here or on the workers of a Dask cluster.",
    Positional("ACTION", "index, search or clean.", required=True, choices=CLUSTER_ACTIONS),
    (
        Flag(("--store",), "text", "Where the fleet is: a folder, or a URL that fsspec knows.", _FLEET, "URL"),
        Flag(
            ("--repos",),
            "text",
            "The repositories, one on a line: NAME PATH[@REVISION]; for index.",
            _FLEET,
            "FILE",
        ),
        Flag(
            ("--grace",),
            "int",
            "For clean: keep what was written in the last HOURS; 24 if left out.",
            _FLEET,
            "HOURS",
        ),
        Flag(
            ("--scheduler",),
            "text",
            "The address of a scheduler of Dask; without it, the work is done here.",
            _FLEET,
            "ADDRESS",
        ),
        Flag(("--workers",), "int", "For index without --scheduler: worker processes; 2 if left out.", _FLEET, "N"),
        Flag(
            ("--timeout",),
            "int",
            "For search: seconds to wait for the scheduler's workers in each step; 30 if left out.",
            _FLEET,
            "N",
        ),
        Flag(("--tls-ca",), "text", "TLS: the certificate that the scheduler's is signed with.", _FLEET, "FILE"),
        Flag(("--tls-cert",), "text", "TLS: your certificate.", _FLEET, "FILE"),
        Flag(("--tls-key",), "text", "TLS: your key.", _FLEET, "FILE"),
        Flag(("--mode", "-m"), "text", MODE_HELP, RETRIEVAL, "MODE", MODES),
        Flag(("--limit", "-n"), "int", "Results shown, 10 if left out.", RETRIEVAL, "N"),
        OFFSET_FLAG,
        Flag(("--strict",), "flag", "Exit 4 when the answer is degraded; relax no query.", RETRIEVAL),
        *FILTER_FLAGS,
        NAME_FLAG,
        *ANSWER_FLAGS,
        PATHS_FLAG,
        Flag(("--snippet",), "int", "Lines of code per result, those that match best; 0 for none.", OUTPUT, "N"),
        MAX_TOKENS_FLAG,
        BATCH_FLAG,
        *GENERAL_FLAGS,
    ),
    (
        ("lci cluster index --repos repos.txt --store /srv/fleet --workers 4", "on this machine"),
        ("lci cluster search --store /srv/fleet 'who retries a failed upload' -m multiview", "the same"),
        ("lci cluster search --store s3://b/fleet --scheduler tcp://h:8786 retry --repo 'web-*'", "on others"),
        ("lci cluster search --store s3://b/fleet --scheduler tcp://h:8786 --batch -", "many queries, one connection"),
        ("lci cluster clean --store /srv/fleet", "remove what no repository of the fleet needs any more"),
    ),
    Positional("QUERY", "What to search for.", many=True),
)
