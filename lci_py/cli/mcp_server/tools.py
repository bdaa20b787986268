"""Defines the tools: for each, the text that an agent reads about it, and the command that a call runs.

Every agent pays for these texts in every conversation, so they are short (tests/cli/mcp_server/test_tools.py counts).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.cli.options import COMMANDS
from lci_py.errors import UsageError, unknown_value
from lci_py.types.search import MODES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

INSTRUCTIONS = (
    "Code search over an index of this repository, always fresh. Ask `explore` a question first. Find places with"
    " `search`: say what the code does (dense), give exact words (bm25), or both (multiview). Then `read` a result by"
    " its id, a name or FILE:LINE instead of whole files. Paths start at the repository's root."
)
_OF_WORKSPACE = (
    ("this repository", "several repositories"),
    ("start at the repository's root", "start with a repository"),
)
#: Tokens of an answer for which a call names no bound.
MAX_TOKENS = 6000
#: Lines of `grep` for which a call names no bound.
_GREP_LINES = 100
_TEXT, _NUMBER, _YES = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
_TEXTS = {"type": "array", "items": _TEXT}


def _says(schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {**schema, "description": description}


class Tool(NamedTuple):
    """A tool, and the command that answers it. The arguments of the tool are keys that `object_parser` knows."""

    name: str
    command: str
    description: str
    arguments: dict[str, dict[str, Any]]
    required: tuple[str, ...] = ()

    def listed(self) -> dict[str, Any]:
        """The description of the tool that `tools/list` (a request of the protocol) returns."""
        schema: dict[str, Any] = {"type": "object", "properties": self.arguments}
        if self.required:
            schema["required"] = list(self.required)
        read_only = {"readOnlyHint": True}  # clients ask their user less
        return {"annotations": read_only, "description": self.description, "inputSchema": schema, "name": self.name}


#: How every answer is bounded, and where it goes on.
_BOUNDS = {"max_tokens": _NUMBER, "offset": _NUMBER}
_PATH, _NAME, _LIMIT = {"path": _TEXT}, {"name": _TEXT}, {"limit": _NUMBER}
EXPLORE = Tool(
    "explore",
    "explore",
    "The code that answers a question, and what that leads to.",
    {"question": _says(_TEXT, "Also names, FILE:LINE, an issue, a stack trace"), **_PATH, **_BOUNDS},
    ("question",),
)
SEARCH = Tool(
    "search",
    "search",
    "Places, signatures and the lines that match best.",
    {
        "query": _says(_TEXT, "Words; may be left out with filters"),
        "mode": {
            "enum": list(MODES),
            "default": "dense",
            "description": "dense: by meaning; bm25: exact words; symbolic: names and filters alone;"
            " multiview: all, with the call graph",
        },
        "lang": _TEXT,
        "kind": _says(_TEXT, "function, method, class…"),
        **_PATH,
        "exclude": _TEXT,
        "name": _says(_TEXT, "Glob, as path and exclude"),
        "no_tests": _YES,
        "conflicts": _YES,
        **_LIMIT,
        **_BOUNDS,
    },
)
READ = Tool(
    "read",
    "show",
    "Read code as the files are now, with its doc comment.",
    {
        "targets": _says(
            _TEXTS, "Names (Type.method, glob), ids of results, FILE:LINE for what is around it, FILE:A-B, FILE"
        ),
        "context": _NUMBER,
        **_BOUNDS,
    },
    ("targets",),
)  # fmt: skip
MORE = (
    Tool("outline", "outline", "Signatures in files; of a folder, a map.", {"paths": _TEXTS}),
    Tool("callers", "callers", "Who calls a function.", {**_NAME, "all": _YES, **_LIMIT}, ("name",)),
    Tool("callees", "callees", "What a function calls.", {**_NAME, "all": _YES, **_LIMIT}, ("name",)),
    Tool("path", "path", "Chains of calls between two functions.", {"from": _TEXT, "to": _TEXT}, ("from", "to")),
    Tool("refs", "refs", "Places that refer to a name.", {**_NAME, **_PATH, **_LIMIT}, ("name",)),
    Tool(
        "grep",
        "grep",
        "Lines that match a regex.",
        {"pattern": _TEXT, "fixed_strings": _YES, "ignore_case": _YES, **_PATH, **_LIMIT},
        ("pattern",),
    ),
    Tool("similar", "similar", "Near duplicates, and similar code.", {"target": _says(_TEXT, "Code, name, FILE:LINE")},
         ("target",)),
    Tool("conflicts", "conflicts", "Symbols with several definitions.", {**_NAME, **_PATH, **_LIMIT}),
    Tool("affected", "affected", "Tests affected since a commit, by files.", {"rev": _TEXT, "files": _TEXTS}),
)  # fmt: skip
#: It has no results to go on with.
STATUS = Tool("status", "status", "State of the index.", {"max_tokens": _NUMBER})


def tools(which: str, *, workspace: bool = False) -> tuple[Tool, ...]:
    """The tools that --tools selects. In a workspace, tools that take a path also take a glob on the repository."""
    more = [*(tool._replace(arguments={**tool.arguments, **_BOUNDS}) for tool in MORE), STATUS]
    result = (EXPLORE, SEARCH, READ, *(more if which == "all" else ()))
    if not workspace:
        return result
    repo = {"repo": _says(_TEXT, "Glob on the repository, the first part of a path")}
    return tuple(
        item._replace(arguments={**item.arguments, **repo}) if "path" in item.arguments else item for item in result
    )


def instructions(offered: Sequence[Tool]) -> str:
    """The server's description of itself."""
    text = INSTRUCTIONS
    if any("repo" in tool.arguments for tool in offered):
        for of_one, of_several in _OF_WORKSPACE:
            text = text.replace(of_one, of_several)
    return text


def command_object(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Turn a call of a tool into an object that `object_parser` reads.

    Raises:
        UsageError: The call has an argument that the tool does not know, or lacks a required argument.
    """
    for key in arguments:
        if key not in tool.arguments:
            raise unknown_value("argument", str(key)[:100], list(tool.arguments))
    for key in tool.required:
        if arguments.get(key) is None:
            raise UsageError(f"{key} is missing", hint=f"`{tool.name}` needs {' and '.join(tool.required)}")
    fields = {"command": tool.command, **arguments}
    if tool.command == "search" and fields.get("mode") is None:
        fields["mode"] = "dense"
    bounded = tool.command != "explore" and any(flag.name == "max_tokens" for flag in COMMANDS[tool.command].flags)
    if bounded and fields.get("max_tokens") is None:
        fields["max_tokens"] = MAX_TOKENS
    if tool.command == "grep" and fields.get("limit") is None:
        fields["limit"] = _GREP_LINES
    return fields
