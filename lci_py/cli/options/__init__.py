"""Defines the commands and their flags, as data for the parser, for help and for completion.

Here are the types of the table (options, arguments, commands), and the options that many commands share. The module of
a command is imported only when the command is looked up, so that a query does not load all modules. The types are named
tuples, because a dataclass takes half a millisecond to define.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from lci_py.types.record import NamedTuple
from lci_py.types.search import KINDS, MODES, REFRESH

if TYPE_CHECKING:
    from collections.abc import Iterator

Shape = Literal["flag", "int", "text", "once", "list"]  # of "text" the last counts, of "once" a second is an error
RETRIEVAL, FILTERS, OUTPUT, GENERAL = "Retrieval", "Filters", "Output", "General"
WHEN = ("auto", "always", "never")


class Flag(NamedTuple):
    """An option. Its key in `Invocation.values` is its first spelling, with `_` for `-` and no leading dashes."""

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
    """The argument of a command; if `many`, the argument may be given any number of times."""

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


MODE_HELP = f"{', '.join(MODES[:-1])} or {MODES[-1]}; dense if left out. Its first letter is enough."
MODEL_HELP = "The folder of an embedding model: ONNX and tokenizer.json; the built-in one if left out."
ROOT_FLAG = Flag(("--root",), "once", "Default: the nearest parent with an index or a .git.", GENERAL, "PATH")
WORKSPACE_FLAG = Flag(
    ("--workspace",),
    "once",
    "The repositories of this workspace instead of one root; all for those of all workspaces.",
    GENERAL,
    "NAME",
)
JSON_FLAG = Flag(("--json",), "flag", "One JSON object on stdout, and nothing else there.", OUTPUT)
QUIET_FLAG = Flag(("--quiet", "-q"), "flag", "No summary, progress or warnings.", GENERAL)
VERBOSE_FLAG = Flag(("--verbose", "-v"), "flag", "More detail; the traceback of an internal error.", GENERAL)
COLOR_FLAG = Flag(("--color",), "text", "auto (on a terminal, if left out), always or never.", GENERAL, "WHEN", WHEN)
HYPERLINK_FLAG = Flag(
    ("--hyperlink",),
    "text",
    "Places as links: auto (on a terminal known to show them, if left out), always or never.",
    GENERAL,
    "WHEN",
    WHEN,
)
NO_PAGER_FLAG = Flag(("--no-pager",), "flag", "Print what is longer than the terminal without a pager.", GENERAL)
SCREEN_FLAGS = (QUIET_FLAG, VERBOSE_FLAG, COLOR_FLAG, HYPERLINK_FLAG, NO_PAGER_FLAG)
GENERAL_FLAGS = (ROOT_FLAG, WORKSPACE_FLAG, *SCREEN_FLAGS)
TRUST_FLAG = Flag(("--trust-index",), "flag", "Read an index that was not made by you on this machine.", GENERAL)
#: The flags of every command that reads an index.
INDEX_FLAGS = (TRUST_FLAG, *GENERAL_FLAGS)
REFRESH_FLAG = Flag(
    ("--refresh",),
    "text",
    "Refresh the index first: auto (if that is quick), never or always.",
    RETRIEVAL,
    "WHEN",
    REFRESH,
)
MAX_TOKENS_FLAG = Flag(("--max-tokens",), "int", "Cut the output to a token budget, and say what was cut.", OUTPUT, "N")
_FORMATS = ("text", "json", "jsonl", "markdown")
FORMAT_FLAG = Flag(
    ("--format",), "text", "text, json, jsonl or markdown; text if left out.", OUTPUT, "FORMAT", _FORMATS
)
PICTURE_FLAG = FORMAT_FLAG._replace(
    help="text, json, jsonl, markdown, or a picture: dot, mermaid, svg, html; text if left out.",
    choices=(*_FORMATS, "dot", "mermaid", "svg", "html"),
)
FIELDS_FLAG = Flag(("--fields",), "text", "Only these keys of each result, as JSON: file,line,symbol.", OUTPUT, "KEY,…")
OFFSET_FLAG = Flag(("--offset",), "int", "Results to skip before the first one shown.", RETRIEVAL, "N")
PATHS_FLAG = Flag(("--paths",), "flag", "file:line per line, for xargs and editors.", OUTPUT)
VIMGREP_FLAG = Flag(("--vimgrep",), "flag", "file:line:column: text per line, for vim, Emacs and others.", OUTPUT)
JSONL_FLAG = Flag(("--jsonl",), "flag", 'One result per line, then one {"summary": …} line.', OUTPUT)
BATCH_FLAG = Flag(
    ("--batch",), "text", "One of these per line, text or JSON; one JSON answer per line.", OUTPUT, "FILE|-"
)
#: The flags of every command with results.
ANSWER_FLAGS = (JSON_FLAG, JSONL_FLAG, FORMAT_FLAG, FIELDS_FLAG, VIMGREP_FLAG)
FILTER_FLAGS = (
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
    Flag(("--exclude",), "list", "Leave out paths that match; as --path; repeatable.", FILTERS, "GLOB"),
    Flag(("--repo",), "list", "Of a workspace, only repositories whose name matches; repeatable.", FILTERS, "GLOB"),
)
#: The flags that say which results a command shows.
SELECTION_FLAGS = (OFFSET_FLAG, REFRESH_FLAG, *FILTER_FLAGS)
#: The flags of a command that shows a list, besides the length of the list.
LIST_FLAGS = (*SELECTION_FLAGS, *ANSWER_FLAGS, PATHS_FLAG, MAX_TOKENS_FLAG, *INDEX_FLAGS)
DRAWN_ANSWER_FLAGS = tuple(PICTURE_FLAG if flag is FORMAT_FLAG else flag for flag in ANSWER_FLAGS)
DRAWN_LIST_FLAGS = tuple(PICTURE_FLAG if flag is FORMAT_FLAG else flag for flag in LIST_FLAGS)
NO_TESTS_FLAG = Flag(
    ("--no-tests",), "flag", "Leave out tests: by their paths, and in Rust what only a test build has.", FILTERS
)
CHANGED_FLAG = Flag(
    ("--changed-since",), "text", "Only what differs from this commit: definitions; in grep, files.", FILTERS, "REV"
)
NAME_FLAG = Flag(("--name",), "list", "Only symbols whose name matches; repeatable.", FILTERS, "GLOB")

#: Command, in the order of the help -> the module of this folder that has its table, under its name in capitals.
_MODULES = {
    "index": "manage",
    "explore": "find",
    "search": "find",
    "pick": "find",
    "show": "find",
    "outline": "find",
    "grep": "find",
    "files": "find",
    "similar": "find",
    "def": "find",
    "refs": "graph",
    "callers": "graph",
    "callees": "graph",
    "tree": "graph",
    "path": "graph",
    "affected": "graph",
    "unused": "graph",
    "history": "find",
    "conflicts": "find",
    "status": "manage",
    "stats": "manage",
    "clean": "manage",
    "workspace": "manage",
    "hook": "manage",
    "agent": "manage",
    "mcp": "manage",
    "cluster": "manage",
}
#: The commands that answer questions about an index: each can be a line of a batch.
ANSWERING = (
    "explore", "search", "show", "outline", "grep", "files", "similar", "def", "refs", "callers", "callees", "tree",
    "path", "affected", "unused", "history", "conflicts", "status",
)  # fmt: skip


class _Commands(Mapping[str, "Command"]):
    """Maps the name of a command to its `Command`, whose module is imported on first use."""

    def __init__(self) -> None:
        self._loaded: dict[str, Command] = {}

    def __getitem__(self, name: str) -> Command:
        if name not in self._loaded:
            command: Command = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name.upper())
            self._loaded[name] = _with_batch(command) if name in ANSWERING else command
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


def _with_batch(command: Command) -> Command:
    """A copy of a command with the flag --batch, placed before the general flags."""
    first = next(i for i, flag in enumerate(command.flags) if flag.panel == GENERAL)
    return command._replace(flags=(*command.flags[:first], BATCH_FLAG, *command.flags[first:]))


COMMANDS: Mapping[str, Command] = _Commands()
