"""The commands that make, inspect and remove an index."""

from __future__ import annotations

from lci_py.cli.options.flags import (
    GENERAL_FLAGS,
    JSON_FLAG,
    MAX_TOKENS_FLAG,
    MODEL_HELP,
    RETRIEVAL,
    ROOT_FLAG,
    SCREEN_FLAGS,
    TRUST_FLAG,
    Command,
    Flag,
    Positional,
)

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
        TRUST_FLAG,
        *GENERAL_FLAGS,
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
