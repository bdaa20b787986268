"""Defines the commands about the call graph, and `lci refs`."""

from __future__ import annotations

from lci_py.cli.options import (
    ANSWER_FLAGS,
    DRAWN_ANSWER_FLAGS,
    DRAWN_LIST_FLAGS,
    FILTER_FLAGS,
    FILTERS,
    INDEX_FLAGS,
    JSON_FLAG,
    LIST_FLAGS,
    MAX_TOKENS_FLAG,
    OFFSET_FLAG,
    OUTPUT,
    PATHS_FLAG,
    REFRESH_FLAG,
    RETRIEVAL,
    SELECTION_FLAGS,
    Command,
    Flag,
    Positional,
)

# Copies of those in `types.graph`, which a search does not import.
DIRECTIONS = ("callees", "callers")
ROLES = ("definition", "call", "import", "reference")
_TREE_FORMATS = ("text", "json", "markdown", "dot", "mermaid", "svg", "html")
_GRAPH_NAME = Positional(
    "NAME", "A name, a qualified name or the end of one; FILE:: before it; FILE:LINE; or FILE.", required=True
)
_ALL = Flag(("--all", "-a"), "flag", "If several definitions have the name, take them all.", RETRIEVAL)
_ALL_SHOWN = Flag(("--limit", "-n"), "int", "Results shown; all if left out.", RETRIEVAL, "N")
CALLERS = Command(
    "callers",
    "Show who calls a function, or makes objects of a type.",
    _GRAPH_NAME,
    (_ALL, _ALL_SHOWN, *DRAWN_LIST_FLAGS),
    (
        ("lci callers Session.close", "definitions, with the lines of the calls"),
        ("lci callers src/pool.py::close --paths", "every place of a call as file:line"),
        ("lci callers close --all --exclude 'tests/**'", "of every close there is, without the tests"),
    ),
)
CALLEES = Command(
    "callees",
    "Show what a function calls, in the repository and outside it.",
    _GRAPH_NAME,
    (_ALL, _ALL_SHOWN, *DRAWN_LIST_FLAGS),
    (
        ("lci callees Session.close", "definitions first, then what is external or unknown"),
        ("lci callees main --json | jq .external", "only that"),
    ),
)
TREE = Command(
    "tree",
    "Show the call tree of a function, from it down to what it calls, or up to who calls it.",
    _GRAPH_NAME,
    (
        _ALL,
        Flag(("--depth", "-d"), "int", "Levels below the name.", RETRIEVAL, "N", default=3),
        Flag(("--direction",), "text", "callees (down, if left out) or callers (up).", RETRIEVAL, "WAY", DIRECTIONS),
        REFRESH_FLAG,
        *FILTER_FLAGS,
        Flag(
            ("--format", "-f"),
            "text",
            "text, json, markdown, or a picture: dot, mermaid, svg, html; text if left out.",
            OUTPUT,
            "FORMAT",
            _TREE_FORMATS,
        ),
        Flag(("--max-nodes",), "int", "Places shown; 0 for all. If left out, 200 as text, else all.", OUTPUT, "N"),
        MAX_TOKENS_FLAG,
        JSON_FLAG,
        *INDEX_FLAGS,
    ),
    (
        ("lci tree main", "what main calls, and what that calls, three levels deep"),
        ("lci tree Session.close --direction callers -d 2", "who calls it, and who calls them"),
        ("lci tree main --format html > main.html", "as a page to look at: zoom, fold, search, click to the code"),
        ("lci tree main -d 6 --max-nodes 500", "deeper, with more places than the 200 that are shown otherwise"),
    ),
)
PATH = Command(
    "path",
    "Show how one function reaches another: the shortest chains of calls.",
    Positional("FROM TO", "Two names, as for callers; TO may be a function outside of the repository.", True, True),
    (
        _ALL,
        Flag(("--depth", "-d"), "int", "The most calls in a chain.", RETRIEVAL, "N", default=20),
        Flag(("--limit", "-n"), "int", "Chains shown.", RETRIEVAL, "N", default=5),
        *DRAWN_LIST_FLAGS,
    ),
    (
        ("lci path main Session.close", "each line is the call that leads to the next one"),
        ("lci path uv_run epoll_wait", "to a function of a library"),
        ("lci path src/cli.py::main parse --exclude 'tests/**'", "not by way of tests"),
    ),
)
AFFECTED = Command(
    "affected",
    "Show what a change affects: the definitions that differ from a commit, their callers, and the tests.",
    Positional(
        "REV",
        "A branch, tag or commit (HEAD if left out), a name, a file, FILE:LINE, or - for a diff on stdin.",
        many=True,
    ),
    (
        Flag(("--files",), "flag", "The arguments are files: everything in them counts as changed.", RETRIEVAL),
        Flag(
            ("--depth", "-d"),
            "int",
            "Calls from a change at most; 4 if left out, more where no test is as near.",
            RETRIEVAL,
            "N",
        ),
        Flag(("--all",), "flag", "Add the tests that only a name or an import leads to.", RETRIEVAL),
        *SELECTION_FLAGS,
        MAX_TOKENS_FLAG,
        *DRAWN_ANSWER_FLAGS,
        Flag(("--paths",), "flag", "Only the files of the tests, one per line, for a test runner.", OUTPUT),
        Flag(("--fail-if-none",), "flag", "Exit 1 if no test is affected.", OUTPUT),
        *INDEX_FLAGS,
    ),
    (
        ("lci affected", "what the uncommitted changes affect"),
        ("lci affected main --paths | xargs -r pytest", "run the tests that a branch affects"),
        ("lci affected main --fail-if-none --quiet", "in a script: whether a test reaches what has changed"),
        ("git diff main | lci affected - --paths", "the same from a diff, which may not be applied yet"),
        ("lci affected Pool.close", "before an edit: who calls it, and what tests it; src/pool.py:41 is its line"),
        ("lci affected --files src/pool.py -d 2", "what depends on a file, two calls away"),
    ),
)
UNUSED = Command(
    "unused",
    "Show the definitions that the program does not reach.",
    Positional("PATH", "Files or folders; all if left out. What is elsewhere still counts as a use.", many=True),
    (
        Flag(("--all", "-a"), "flag", "List also what is exported or only named, and what only tests use.", RETRIEVAL),
        _ALL_SHOWN,
        Flag(
            ("--fail-on",),
            "list",
            "Exit 1 if there are any, else 0: certain, by_name, tests or any.",
            OUTPUT,
            "WHAT",
            ("certain", "by_name", "tests", "any"),
        ),
        *LIST_FLAGS,
    ),
    (
        ("lci unused", "definitions that nothing calls, imports or names"),
        ("lci unused src --all", "also what other programs, a text or a framework may reach, and what only tests use"),
        ("lci unused --fail-on certain -q", "in a script: exit 1 if there is one"),
    ),
)
REFS = Command(
    "refs",
    "Show the places that refer to a name, from syntax: not in comments, strings or prose.",
    Positional("NAME", "A name, or a qualified name; FILE:: before it.", required=True),
    (
        _ALL_SHOWN,
        OFFSET_FLAG,
        Flag(("--role",), "list", "Only definition, call, import or reference; repeatable.", FILTERS, "ROLE", ROLES),
        REFRESH_FLAG,
        *(flag for flag in FILTER_FLAGS if flag.name != "kind"),
        *ANSWER_FLAGS,
        PATHS_FLAG,
        MAX_TOKENS_FLAG,
        *INDEX_FLAGS,
    ),
    (
        ("lci refs parse_config", "every place, with its role and what is around it"),
        ("lci refs Session.close --role call", "not the calls that are known to mean another close"),
        ("lci refs MAX_SIZE --paths | xargs -n1 code -g", "open each"),
    ),
)
