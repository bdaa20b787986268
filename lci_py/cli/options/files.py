"""The commands about files and their commits."""

from __future__ import annotations

from lci_py.cli.options.flags import (
    ANSWER_FLAGS,
    COLOR_FLAG,
    FILTER_FLAGS,
    INDEX_FLAGS,
    JSON_FLAG,
    MAX_TOKENS_FLAG,
    NO_TESTS_FLAG,
    OUTPUT,
    PATHS_FLAG,
    QUIET_FLAG,
    REFRESH_FLAG,
    RETRIEVAL,
    ROOT_FLAG,
    SELECTION_FLAGS,
    TRUST_FLAG,
    VERBOSE_FLAG,
    WORKSPACE_FLAG,
    Command,
    Flag,
    Positional,
)
from lci_py.types.search import MODES

FILES = Command(
    "files",
    "Show indexed files by what you remember of their paths, the most used first.",
    Positional("PATTERN", "Parts of a path, in any order; a glob; :LINE is kept. All files if left out.", many=True),
    (
        Flag(("--limit", "-n"), "int", "Files shown; all if left out.", RETRIEVAL, "N"),
        *SELECTION_FLAGS,
        NO_TESTS_FLAG,
        *ANSWER_FLAGS,
        PATHS_FLAG,
        MAX_TOKENS_FLAG,
        *INDEX_FLAGS,
    ),
    (
        ("lci files pool", "every file with pool in its path, pool.py before spooler.py"),
        ("lci files http sess", "both parts, in any order"),
        ("lci files -n 1 sessions.py:42", "the best one; the line is kept"),
        ("lci files '*.proto' --exclude vendor", "a glob, as --path"),
    ),
)
PICK = Command(
    "pick",
    "Search as you type, with a preview, and open what you choose in your editor; needs the extra pick.",
    Positional("QUERY", "What to look for, to begin with; `field:value` terms filter."),
    (
        Flag(
            ("--mode", "-m"),
            "text",
            "multiview (if left out), dense, bm25, symbolic, or files for paths. Its first letter is enough.",
            RETRIEVAL,
            "MODE",
            (*MODES, "files"),
        ),
        REFRESH_FLAG,
        *FILTER_FLAGS,
        NO_TESTS_FLAG,
        JSON_FLAG,
        Flag(("--print",), "flag", "Print file:line of what is chosen instead of opening it.", OUTPUT),
        TRUST_FLAG,
        ROOT_FLAG,
        WORKSPACE_FLAG,
        QUIET_FLAG,
        VERBOSE_FLAG,
        COLOR_FLAG,
    ),
    (
        ("lci pick", "search as you type; F1 shows the keys"),
        ("lci pick 'retry lang:go' --no-tests", "begin with a query, and filters"),
        ("lci pick --print | xargs code --goto", "what is chosen, for another program"),
    ),
)
HISTORY = Command(
    "history",
    "Show the commits that changed a definition or a file, the newest first.",
    Positional("TARGET", "A name, FILE:LINE (the definition there) or FILE.", required=True),
    (
        Flag(("--limit", "-n"), "int", "Commits shown.", RETRIEVAL, "N", default=10),
        *SELECTION_FLAGS,
        Flag(("--patch",), "flag", "What each commit changed of it.", OUTPUT),
        *ANSWER_FLAGS,
        MAX_TOKENS_FLAG,
        *INDEX_FLAGS,
    ),
    (
        ("lci history Session.close", "who changed it, when, and what changed with it"),
        ("lci history src/pool.py:120 --patch", "the definition around a line, with its changes"),
        ("lci history src/pool.py -n 3", "the last commits of a file"),
    ),
)
