"""The commands and their flags, as data for the fast parser and for typer, which makes help, errors and completion.

A query does without typer: to import it, build the commands and convert one value takes longer than the search. The
values here are named tuples because a dataclass takes half a millisecond to define.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from lci_py.types.search import FAIL_ON, KINDS, MODES, REFRESH, RELATIONS

Shape = Literal["flag", "int", "text", "once", "list"]  # of "text" the last counts, of "once" a second is an error

# Copies of those in `types.graph`, which a search does not import.
DIRECTIONS = ("callees", "callers")
ROLES = ("definition", "call", "import", "reference")
RETRIEVAL, FILTERS, OUTPUT, GENERAL = "Retrieval", "Filters", "Output", "General"
MATCHING = "Matching"
#: What --tools and --files of `lci mcp` take.
TOOLS = ("default", "all")
READABLE = ("indexed", "all")


class Flag(NamedTuple):
    """An option; `Invocation.values` has it under its first spelling, without the dashes."""

    spellings: tuple[str, ...]
    shape: Shape
    help: str
    panel: str
    metavar: str | None = None
    choices: tuple[str, ...] | None = ()  # for completion only; the command checks the value. None: languages
    default: int | None = None

    @property
    def name(self) -> str:
        return self.spellings[0].lstrip("-").replace("-", "_")


class Positional(NamedTuple):
    """The argument of a command; with `many`, any number of them."""

    metavar: str
    help: str
    required: bool = False
    many: bool = False
    choices: tuple[str, ...] = ()  # for completion only


class Command(NamedTuple):
    name: str
    help: str
    argument: Positional | None
    flags: tuple[Flag, ...]
    examples: tuple[tuple[str, str], ...]  # (command line, what it does)
    more: Positional | None = None  # what may follow the argument, any number of them
    refused: tuple[tuple[str, str], ...] = ()  # flags of programs like it, separated by blanks, and what to write here


_MODE_HELP = f"{', '.join(MODES[:-1])} or {MODES[-1]}; dense if left out."
_MODEL_HELP = "The folder of an embedding model: ONNX and tokenizer.json; the built-in one if left out."
_ROOT = Flag(("--root",), "once", "Default: the nearest parent with an index or a .git.", GENERAL, "PATH")
_WORKSPACE = Flag(
    ("--workspace",),
    "once",
    "The repositories of this workspace instead of one root; all for those of all workspaces.",
    GENERAL,
    "NAME",
)
_JSON = Flag(("--json",), "flag", "One JSON object on stdout, and nothing else there.", OUTPUT)
_QUIET = Flag(("--quiet", "-q"), "flag", "No summary, progress or warnings.", GENERAL)
_VERBOSE = Flag(("--verbose", "-v"), "flag", "More detail; the traceback of an internal error.", GENERAL)
WHEN = ("auto", "always", "never")
_COLOR = Flag(("--color",), "text", "auto (on a terminal, if left out), always or never.", GENERAL, "WHEN", WHEN)
_HYPERLINK = Flag(
    ("--hyperlink",),
    "text",
    "Places as links: auto (on a terminal known to show them, if left out), always or never.",
    GENERAL,
    "WHEN",
    WHEN,
)
_NO_PAGER = Flag(("--no-pager",), "flag", "Print what is longer than the terminal without a pager.", GENERAL)
_SCREEN = (_QUIET, _VERBOSE, _COLOR, _HYPERLINK, _NO_PAGER)
_GENERAL = (_ROOT, _WORKSPACE, *_SCREEN)
_TRUST = Flag(("--trust-index",), "flag", "Read an index that was not made by you on this machine.", GENERAL)
_REFRESH = Flag(
    ("--refresh",),
    "text",
    "Refresh the index first: auto (if that is quick), never or always.",
    RETRIEVAL,
    "WHEN",
    REFRESH,
)
_MAX_TOKENS = Flag(("--max-tokens",), "int", "Cut the output to a token budget, and say what was cut.", OUTPUT, "N")
_FORMATS = ("text", "json", "jsonl", "markdown")
_TREE_FORMATS = ("text", "json", "markdown", "dot", "mermaid")
_FORMAT = Flag(("--format",), "text", "text, json, jsonl or markdown; text if left out.", OUTPUT, "FORMAT", _FORMATS)
_FIELDS = Flag(("--fields",), "text", "Only these keys of each result, as JSON: file,line,symbol.", OUTPUT, "KEY,…")
_OFFSET = Flag(("--offset",), "int", "Results to skip before the first one shown.", RETRIEVAL, "N")
_PATHS = Flag(("--paths",), "flag", "file:line per line, for xargs and editors.", OUTPUT)
_JSONL = Flag(("--jsonl",), "flag", 'One result per line, then one {"summary": …} line.', OUTPUT)
_BATCH = Flag(("--batch",), "text", "One of these per line, text or JSON; one JSON answer per line.", OUTPUT, "FILE|-")
#: What every command with results has.
_ANSWER = (_JSON, _JSONL, _FORMAT, _FIELDS)
_FILTERS = (
    Flag(
        ("--lang", "-l"),
        "list",
        "Only this language: its name, an alias or a suffix (python, c++, rs); repeatable.",
        FILTERS,
        "LANG",
        choices=None,
    ),
    Flag(("--kind", "-k"), "list", "Only this kind: function, class, struct, …; repeatable.", FILTERS, "KIND", KINDS),
    Flag(
        ("--path", "-p"),
        "list",
        "Only paths that match, as in .gitignore; with a slash from the current folder; repeatable.",
        FILTERS,
        "GLOB",
    ),
    Flag(("--exclude",), "list", "No paths that match; as --path; repeatable.", FILTERS, "GLOB"),
    Flag(("--repo",), "list", "Of a workspace, only repositories whose name matches; repeatable.", FILTERS, "GLOB"),
)
_NAME = Flag(("--name",), "list", "Only symbols whose name matches; repeatable.", FILTERS, "GLOB")

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
        Flag(("--jobs", "-j"), "int", "Worker processes; as many as there are CPUs if left out.", "Build", "N"),
        Flag(("--model",), "text", _MODEL_HELP, "Build", "DIR"),
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
            "Index what these branches have otherwise, too, for --conflicts; as before if left out, '' for none.",
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
        _JSON,
        *_GENERAL,
    ),
    (
        ("lci index", "index the repository around the current folder"),
        ("lci index ~/src/project -j 4", "another one, with four workers"),
        ("lci index --files src/a.py src/b.py", "only what changed in these two"),
        ("lci index --dry-run | wc -l", "count the files, write nothing"),
        ("lci index --dry-run -v", "what is left out, each with the rule that does it"),
    ),
)
SEARCH = Command(
    "search",
    "Search the index, in one named mode.",
    Positional("QUERY", "What to look for; may be left out when there is a filter."),
    (
        Flag(("--mode", "-m"), "text", _MODE_HELP, RETRIEVAL, "MODE", MODES),
        Flag(
            ("--conflicts",),
            "flag",
            "Show all definitions of a result that has several, and where sources disagree.",
            RETRIEVAL,
        ),
        Flag(
            ("--limit", "-n"),
            "int",
            "Results shown, 10 if left out; the ranking does not depend on it.",
            RETRIEVAL,
            "N",
        ),
        _OFFSET,
        Flag(("--model",), "text", "The folder of the embedding model that made the index.", RETRIEVAL, "DIR"),
        Flag(
            ("--near",),
            "text",
            "In multiview, prefer what is close to this place: in the call and import graph, then in the folders.",
            RETRIEVAL,
            "FILE[:LINE]",
        ),
        Flag(
            ("--expand",),
            "int",
            "In multiview, add what is within N calls or imports of the best results.",
            RETRIEVAL,
            "N",
        ),
        Flag(
            ("--budget-ms",),
            "int",
            "Milliseconds for the retrieval; a view that misses its share of them is reported.",
            RETRIEVAL,
            "N",
        ),
        _REFRESH,
        Flag(
            ("--strict",), "flag", "Exit 4 when the answer is degraded; relax no query that finds nothing.", RETRIEVAL
        ),
        *_FILTERS,
        _NAME,
        *_ANSWER,
        _PATHS,
        Flag(("--snippet",), "int", "Lines of code per result, those that match best; 0 for none.", OUTPUT, "N"),
        Flag(("--context", "-C"), "int", "Instead: the line that matches best, and N lines around it.", OUTPUT, "N"),
        Flag(("--before-context", "-B"), "int", "The same, with N lines before it.", OUTPUT, "N"),
        Flag(("--after-context", "-A"), "int", "The same, with N lines after it.", OUTPUT, "N"),
        _MAX_TOKENS,
        Flag(("--explain",), "flag", "The plan, and every score and adjustment of each result.", OUTPUT),
        Flag(
            ("--explain-file",),
            "text",
            "What became of this file, and why it is not among the results.",
            OUTPUT,
            "PATH",
        ),
        Flag(("--trace",), "flag", "Time and number of candidates of every stage.", OUTPUT),
        Flag(("--shadow",), "text", "In multiview, say what another ranking would move.", OUTPUT, "RANKING"),
        _TRUST,
        *_GENERAL,
    ),
    (
        ('lci search "where are expired sessions removed"', "by meaning"),
        ("lci search -m bm25 '\"connection refused\"'", "these words, literally"),
        ("lci search -m symbolic --kind interface -p 'src/api/**'", "by structure, without a query"),
        ('lci search -m multiview "who retries a failed upload" --json', "for a script"),
        ('lci search -m multiview "retry policy" --near src/http/client.py:80', "from where you are"),
        ("lci search parse_config --paths | head -1 | xargs code -g", "open the first result"),
        ("lci search --batch queries.txt -m bm25 -n 3", "many queries, one load of the index"),
        ('lci search "retry an upload" -m multiview --explain-file src/queue.py', "why is this file not shown?"),
        ('lci search "retry an upload" src/http tests', "only in these folders"),
    ),
    Positional("PATH", "Only what is in these files and folders; they start at the current folder.", many=True),
)
DEF = Command(
    "def",
    "Show the definitions of a name, with kind and signature.",
    Positional("NAME", "The name, or a qualified name.", required=True),
    (
        Flag(("--limit", "-n"), "int", "Definitions shown.", RETRIEVAL, "N", default=50),
        _OFFSET,
        _REFRESH,
        *_FILTERS,
        *_ANSWER,
        _PATHS,
        _MAX_TOKENS,
        _TRUST,
        *_GENERAL,
    ),
    (
        ("lci def SessionStore", "every definition of the name"),
        ("lci def AES.encrypt --kind method", "a method of one type"),
        ("lci def main --lang go --paths", "file:line only"),
    ),
)
_GRAPH_NAME = Positional("NAME", "A name, a qualified name or the end of one; FILE:: before it.", required=True)
_ALL = Flag(("--all", "-a"), "flag", "If several definitions have the name, take them all.", RETRIEVAL)
_ALL_SHOWN = Flag(("--limit", "-n"), "int", "Results shown; all if left out.", RETRIEVAL, "N")
_GRAPH_REST = (_REFRESH, *_FILTERS, *_ANSWER, _PATHS, _MAX_TOKENS, _TRUST, *_GENERAL)
SHOW = Command(
    "show",
    "Show the text of definitions: by name, by the id of a result, or by place.",
    Positional(
        "TARGET",
        "A name, as for def; an id; FILE:LINE for what is around it; FILE:A-B; a FILE.",
        required=True,
        many=True,
    ),
    (
        Flag(("--limit", "-n"), "int", "Definitions of one TARGET that are shown.", RETRIEVAL, "N", default=10),
        Flag(("--callers",), "flag", "Below each, who calls it.", RETRIEVAL),
        Flag(("--callees",), "flag", "Below each, what it calls.", RETRIEVAL),
        _REFRESH,
        *_FILTERS,
        Flag(("--context", "-C"), "int", "Also N lines before and after each.", OUTPUT, "N"),
        Flag(("--signature",), "flag", "The signature instead of the text.", OUTPUT),
        Flag(("--doc",), "flag", "The doc comment instead of the text.", OUTPUT),
        Flag(("--line-number", "-N"), "flag", "Line numbers; a terminal always gets them.", OUTPUT),
        _MAX_TOKENS,
        *_ANSWER,
        _PATHS,
        _TRUST,
        *_GENERAL,
    ),
    (
        ("lci show Session.close", "a method, with its doc comment"),
        ("lci show 5f1c0a7be2d94c18 src/pool.py:120", "a result of a search, and what is around a line"),
        ("lci show src/pool.py:80-120 -N", "some lines, with their numbers"),
        ("lci show 'parse_*' --signature", "how to call them"),
        ("lci show Session Pool.get --callers --max-tokens 2000", "each gets its share of the tokens"),
    ),
)
OUTLINE = Command(
    "outline",
    "Show what files define, as trees of signatures; of a folder, a map of the most central definitions.",
    Positional("PATH", "Files, or folders; the whole repository if left out.", many=True),
    (
        Flag(
            ("--near",),
            "text",
            "A map of what is around this place in the call and import graph.",
            RETRIEVAL,
            "FILE[:LINE]",
        ),
        Flag(("--query",), "text", "A map of what is around the best results of this search.", RETRIEVAL, "QUERY"),
        Flag(("--tests",), "flag", "Tests as well, in a map.", RETRIEVAL),
        Flag(("--depth", "-d"), "int", "Levels of definitions inside each other; all if left out.", RETRIEVAL, "N"),
        _REFRESH,
        *_FILTERS,
        Flag(
            ("--max-tokens",),
            "int",
            "Keep what matters most within a token budget; 1,000 for a map if left out.",
            OUTPUT,
            "N",
        ),
        *_ANSWER,
        _PATHS,
        _TRUST,
        *_GENERAL,
    ),
    (
        ("lci outline src/pool.py", "every definition of a file, with its lines and its doc comment"),
        ("lci outline", "the repository in 1,000 tokens"),
        ("lci outline src/http --max-tokens 3000", "more of one folder"),
        ("lci outline --query 'retry an upload'", "what matters for a question"),
        ("lci outline --near src/pool.py:120", "what is around a place"),
    ),
)
CALLERS = Command(
    "callers",
    "Show who calls a function, or makes objects of a type.",
    _GRAPH_NAME,
    (_ALL, _ALL_SHOWN, _OFFSET, *_GRAPH_REST),
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
    (_ALL, _ALL_SHOWN, _OFFSET, *_GRAPH_REST),
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
        _REFRESH,
        *_FILTERS,
        Flag(
            ("--format", "-f"),
            "text",
            "text, json, markdown, dot or mermaid; text if left out.",
            OUTPUT,
            "FORMAT",
            _TREE_FORMATS,
        ),
        Flag(("--max-nodes",), "int", "Places shown; 0 for all. If left out, 200 as text, else all.", OUTPUT, "N"),
        _MAX_TOKENS,
        _JSON,
        _TRUST,
        *_GENERAL,
    ),
    (
        ("lci tree main", "what main calls, and what that calls, three levels deep"),
        ("lci tree Session.close --direction callers -d 2", "who calls it, and who calls them"),
        ("lci tree main --format dot | dot -Tsvg > main.svg", "as a picture"),
        ("lci tree main -d 6 --max-nodes 500", "deeper, with more places than the 200 that are shown otherwise"),
    ),
)
PATH = Command(
    "path",
    "Show how one function reaches another: the shortest chains of calls.",
    Positional("FROM TO", "Two names, as for callers; TO may be a function outside of the repository.", True, True),
    (
        _ALL,
        Flag(("--depth", "-d"), "int", "Calls of a chain at most.", RETRIEVAL, "N", default=20),
        Flag(("--limit", "-n"), "int", "Chains shown.", RETRIEVAL, "N", default=5),
        _REFRESH,
        *_FILTERS,
        *_ANSWER,
        _PATHS,
        _MAX_TOKENS,
        _TRUST,
        *_GENERAL,
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
    Positional("REV", "A branch, tag or commit; HEAD if left out; with --files, the files.", many=True),
    (
        Flag(("--files",), "flag", "The arguments are files: everything in them counts as changed.", RETRIEVAL),
        Flag(("--depth", "-d"), "int", "Calls from a change at most; any number if left out.", RETRIEVAL, "N"),
        _REFRESH,
        *_FILTERS,
        _MAX_TOKENS,
        *_ANSWER,
        Flag(("--paths",), "flag", "Only the files of the tests, one per line, for a test runner.", OUTPUT),
        Flag(("--fail-if-none",), "flag", "Exit 1 if no test is affected.", OUTPUT),
        _TRUST,
        *_GENERAL,
    ),
    (
        ("lci affected", "what the uncommitted changes affect"),
        ("lci affected main --paths | xargs -r pytest", "run the tests that a branch affects"),
        ("lci affected main --fail-if-none --quiet", "in a script: whether a test reaches what has changed"),
        ("lci affected --files src/pool.py -d 2", "what depends on a file, two calls away"),
    ),
)
REFS = Command(
    "refs",
    "Show the places that refer to a name, from syntax: not in comments, strings or prose.",
    Positional("NAME", "A name, or a qualified name; FILE:: before it.", required=True),
    (
        _ALL_SHOWN,
        _OFFSET,
        Flag(("--role",), "list", "Only definition, call, import or reference; repeatable.", FILTERS, "ROLE", ROLES),
        _REFRESH,
        *(flag for flag in _FILTERS if flag.name != "kind"),
        *_ANSWER,
        _PATHS,
        _MAX_TOKENS,
        _TRUST,
        *_GENERAL,
    ),
    (
        ("lci refs parse_config", "every place, with its role and what is around it"),
        ("lci refs Session.close --role call", "not the calls that are known to mean another close"),
        ("lci refs MAX_SIZE --paths | xargs -n1 code -g", "open each"),
    ),
)
GREP = Command(
    "grep",
    "Show the lines that match a regular expression or a text, each with the definition around it.",
    Positional("PATTERN", "A regular expression, or with -F a text; -- before one that begins with a dash.", True),
    (
        Flag(("--fixed-strings", "-F"), "flag", "The pattern is a text, not a regular expression.", MATCHING),
        Flag(("--ignore-case", "-i"), "flag", "Letters match in either case.", MATCHING),
        Flag(("--smart-case", "-S"), "flag", "The same, unless the pattern has a capital letter.", MATCHING),
        Flag(("--word-regexp", "-w"), "flag", "Only matches that are not a part of a longer word.", MATCHING),
        Flag(("--invert-match", "-v"), "flag", "The lines that do not match.", MATCHING),
        Flag(("--max-count", "-m"), "int", "Lines per file at most.", MATCHING, "N"),
        _REFRESH,
        Flag(
            ("--lang",),
            "list",
            "Only this language: its name, an alias or a suffix (python, c++, rs); repeatable.",
            FILTERS,
            "LANG",
            choices=None,
        ),
        Flag(
            ("--kind", "-k"),
            "list",
            "Only lines in this kind of definition: function, class, struct, …; block for those in none; repeatable.",
            FILTERS,
            "KIND",
            KINDS,
        ),
        Flag(("--name",), "list", "Only lines in definitions whose name matches; repeatable.", FILTERS, "GLOB"),
        *(flag for flag in _FILTERS if flag.name in ("path", "exclude", "repo")),
        Flag(("--files-with-matches", "-l"), "flag", "Only the paths of the files.", OUTPUT),
        Flag(("--only-matching", "-o"), "flag", "Only the matches, each on a line; with -c, how many.", OUTPUT),
        Flag(("--count", "-c"), "flag", "Only how many lines of each file match.", OUTPUT),
        Flag(("--context", "-C"), "int", "N lines before and after each.", OUTPUT, "N"),
        Flag(("--before-context", "-B"), "int", "N lines before each.", OUTPUT, "N"),
        Flag(("--after-context", "-A"), "int", "N lines after each.", OUTPUT, "N"),
        Flag(("--line-number", "-n"), "flag", "Line numbers; they are always shown.", OUTPUT),
        Flag(("--limit",), "int", "Lines shown, of all files together; all if left out.", OUTPUT, "N"),
        *_ANSWER,
        _PATHS,
        _MAX_TOKENS,
        _TRUST,
        *(flag._replace(spellings=("--verbose",)) if flag is _VERBOSE else flag for flag in _GENERAL),  # -v inverts
    ),
    (
        ("lci grep 'retry_(count|limit)'", "a regular expression"),
        ("lci grep -F 'items[0]' src", "a text, in one folder"),
        ("lci grep -o 'E[0-9]{4}' | sort | uniq -c", "the matches alone"),
        ("lci grep -wi todo -C 2 --exclude 'vendor/**'", "a word in either case, with the lines around it"),
        ("lci grep 'unwrap\\(\\)' --lang rust --kind function -c", "how often per file, in functions only"),
        ("lci grep -l deprecated | xargs wc -l", "the files"),
    ),
    Positional("PATH", "Only these files and folders; they start at the current folder.", many=True),
    (
        ("-e --regexp -f --file", "give one expression, such as 'first|second'"),
        ("-E --extended-regexp --encoding", "expressions are extended anyway, and files are UTF-8"),
        ("-P --pcre2 --perl-regexp", "expressions are RE2's, without look-around and back-references"),
        ("-g --glob --iglob --include", "--path GLOB; for !GLOB --exclude GLOB"),
        ("-t --type", "--lang LANGUAGE"),
        ("-T --type-not", "--exclude GLOB"),
        ("-U --multiline", "a match never goes beyond its line"),
        ("-r -R --recursive --replace", "folders are searched anyway, and nothing is replaced"),
        ("-x --line-regexp", "write ^ and $ around the expression"),
        ("-L --files-without-match --follow", "-l lists the files that have a match, and no link is followed"),
        ("--files", "`lci index --dry-run` lists the files that are searched"),
        ("-u --no-ignore --hidden", "`lci index --no-ignore` takes in what ignore files leave out"),
    ),
)
CONFLICTS = Command(
    "conflicts",
    "List the symbols that have several definitions, and the values on which sources disagree.",
    Positional("NAME", "Only of this name: a name, a qualified name or a glob; FILE:: before it."),
    (
        Flag(
            ("--relation", "-r"),
            "list",
            f"Only {', '.join(RELATIONS[:-1])} or {RELATIONS[-1]}; repeatable, or several with commas.",
            FILTERS,
            "RELATION",
            RELATIONS,
        ),
        *_FILTERS,
        _NAME,
        _REFRESH,
        Flag(("--limit", "-n"), "int", "Conflicts shown; if left out all, in JSON and SARIF 5,000.", RETRIEVAL, "N"),
        _OFFSET,
        Flag(
            ("--all", "-a"),
            "flag",
            "List also what has the same text in every place, and the members of a listed type.",
            RETRIEVAL,
        ),
        Flag(
            ("--diff",),
            "text",
            "Only what the work tree adds to this commit; REV... for the commit where the branches parted.",
            FILTERS,
            "REV",
        ),
        Flag(
            ("--fail-on",),
            "list",
            "Exit 1 if there is such a conflict, else 0: a relation, disagreement or any; with commas or repeated.",
            OUTPUT,
            "WHAT",
            FAIL_ON,
        ),
        *_ANSWER,
        _PATHS,
        _MAX_TOKENS,
        Flag(("--sarif",), "flag", "SARIF 2.1.0, for code scanning in CI.", OUTPUT),
        _TRUST,
        *_GENERAL,
    ),
    (
        ("lci conflicts", "all of the repository, gravest first"),
        ("lci conflicts 'Socket*' --lang c", "of some names"),
        ("lci conflicts --relation overlap,duplicate", "only what can clash in one build"),
        ("lci conflicts --fail-on overlap,duplicate -q", "in a script: exit 1 if there is one"),
        ("lci conflicts --diff HEAD --fail-on any", "exit 1 if what is not committed yet adds one"),
        ("lci conflicts --sarif > conflicts.sarif", "for code scanning"),
    ),
)
STATUS = Command(
    "status",
    "Show what is indexed, and whether it is fresh.",
    None,
    (
        Flag(("--check",), "flag", "Read every shard whole, and say what is wrong with each.", "Checks"),
        _JSON,
        _TRUST,
        *_GENERAL,
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
        _JSON,
        *_GENERAL,
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
        Flag(("--cache",), "flag", "Only what earlier runs kept to be quicker; the index stays.", "Remove"),
        _JSON,
        *_GENERAL,
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
        _JSON,
        _ROOT,
        *_SCREEN,
    ),
    (
        ("lci hook install", "add to this repository's git hooks; again, nothing changes"),
        ("lci hook uninstall", "take exactly that out again"),
        ("lci hook status", "exit 1 unless all are installed"),
    ),
)
MCP = Command(
    "mcp",
    "Serve the index to a coding agent, over MCP on standard input and output; needs the extra mcp.",
    None,
    (
        Flag(("--tools",), "text", "default (search and read, if left out) or all.", "Server", "WHICH", TOOLS),
        Flag(
            ("--files",),
            "text",
            "What `read` shows: indexed files (if left out) or all below the root.",
            "Server",
            "WHICH",
            READABLE,
        ),
        _REFRESH,
        _TRUST,
        _ROOT,
        _WORKSPACE,
        _QUIET,
        _VERBOSE,
    ),
    (
        ("lci mcp", "as an agent starts it, in the folder of the project or with roots of its own"),
        ("lci mcp --root ~/src/project --tools all", "one project, with the call graph and more as tools"),
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
        _JSON,
        *_SCREEN,
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
AGENT_ACTIONS = ("install", "uninstall", "print", "list")
AGENT_NAMES = (
    "claude-code", "codex", "cursor", "vscode", "copilot-cli", "gemini-cli", "opencode", "zed", "windsurf", "cline",
    "kiro", "agents-md",
)  # fmt: skip
AGENT_PARTS = ("mcp", "instructions")
AGENT = Command(
    "agent",
    "Tell coding agents about lci: in the files that each of them reads.",
    Positional(
        "ACTION",
        "install, uninstall, print (what install would write) or list.",
        required=True,
        choices=AGENT_ACTIONS,
    ),
    (
        Flag(("--user",), "flag", "Your own files, for all projects, instead of those of this project.", "Files"),
        Flag(
            ("--only",),
            "text",
            "Only the entry of the MCP server, or only the instructions.",
            "Files",
            "PART",
            AGENT_PARTS,
        ),
        _JSON,
        _ROOT,
        *_SCREEN,
    ),
    (
        ("lci agent list", "which agents are known and in use, and what lci has written"),
        ("lci agent print claude-code codex", "what would be written, as a diff"),
        ("lci agent install", "for all agents that are in use here"),
        ("lci agent install cursor --only mcp", "the MCP server of one agent"),
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
_CLUSTER = "Cluster"
CLUSTER = Command(
    "cluster",
    "Index and search the repositories of a fleet, here or on the workers of a Dask cluster.",
    Positional("ACTION", "index, search or clean.", required=True, choices=CLUSTER_ACTIONS),
    (
        Flag(("--store",), "text", "Where the fleet is: a folder, or a URL that fsspec knows.", _CLUSTER, "URL"),
        Flag(
            ("--repos",),
            "text",
            "The repositories, one on a line: NAME PATH[@REVISION]; for index.",
            _CLUSTER,
            "FILE",
        ),
        Flag(("--grace",), "int", "For clean: keep what was written in the last hours; 24.", _CLUSTER, "HOURS"),
        Flag(
            ("--scheduler",),
            "text",
            "The address of a scheduler of Dask; without it, the work is done here.",
            _CLUSTER,
            "ADDRESS",
        ),
        Flag(("--workers",), "int", "For index without --scheduler: processes that work; 2.", _CLUSTER, "N"),
        Flag(
            ("--timeout",),
            "int",
            "For search: seconds to wait for the scheduler's workers in each step; 30.",
            _CLUSTER,
            "N",
        ),
        Flag(("--tls-ca",), "text", "TLS: the certificate that the scheduler's is signed with.", _CLUSTER, "FILE"),
        Flag(("--tls-cert",), "text", "TLS: your certificate.", _CLUSTER, "FILE"),
        Flag(("--tls-key",), "text", "TLS: your key.", _CLUSTER, "FILE"),
        Flag(("--mode", "-m"), "text", _MODE_HELP, RETRIEVAL, "MODE", MODES),
        Flag(("--limit", "-n"), "int", "Results shown, 10 if left out.", RETRIEVAL, "N"),
        _OFFSET,
        Flag(("--strict",), "flag", "Exit 4 when the answer is degraded; relax no query.", RETRIEVAL),
        *_FILTERS,
        _NAME,
        *_ANSWER,
        _PATHS,
        Flag(("--snippet",), "int", "Lines of code per result, those that match best; 0 for none.", OUTPUT, "N"),
        _MAX_TOKENS,
        _BATCH,
        *_GENERAL,
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
_ALL_COMMANDS = (
    INDEX,
    SEARCH,
    SHOW,
    OUTLINE,
    GREP,
    DEF,
    REFS,
    CALLERS,
    CALLEES,
    TREE,
    PATH,
    AFFECTED,
    CONFLICTS,
    STATUS,
    STATS,
    CLEAN,
    WORKSPACE,
    HOOK,
    AGENT,
    MCP,
    CLUSTER,
)
#: The commands that answer questions about an index: each can be a line of a batch.
ANSWERING = (
    "search", "show", "outline", "grep", "def", "refs", "callers", "callees", "tree", "path", "affected", "conflicts",
    "status",
)  # fmt: skip


def _with_batch(command: Command) -> Command:
    place = next(place for place, flag in enumerate(command.flags) if flag.panel == GENERAL)
    return command._replace(flags=(*command.flags[:place], _BATCH, *command.flags[place:]))


COMMANDS = {command.name: _with_batch(command) if command.name in ANSWERING else command for command in _ALL_COMMANDS}
#: Of each command that has the flag, the values of --format.
FORMATS = {
    command.name: flag.choices
    for command in _ALL_COMMANDS
    for flag in command.flags
    if flag.name == "format" and flag.choices
}
