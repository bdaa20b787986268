"""What an agent pays for, and that each tool is a command."""

from __future__ import annotations

import json

import pytest

from lci_py.cli.command_line import Invocation, defaults
from lci_py.cli.mcp_server.tools import INSTRUCTIONS, MAX_TOKENS, Tool, command_object, tools
from lci_py.cli.object_parser import invocation
from lci_py.cli.options import COMMANDS
from lci_py.cli.options.manage import TOOLS
from lci_py.errors import UsageError

BASE = Invocation("search", defaults(COMMANDS["search"]))
EXAMPLES = {"string": "x", "integer": 3, "boolean": True, "array": ["x"]}


@pytest.mark.parametrize("which", TOOLS)
def test_the_descriptions_are_short(which: str) -> None:
    written = json.dumps({"tools": [tool.listed() for tool in tools(which)]}, separators=(",", ":"))
    assert len(written) / 4 <= {"default": 410, "all": 1130}[which]
    assert len(INSTRUCTIONS) / 4 <= 120


@pytest.mark.parametrize("tool", tools("all"), ids=lambda tool: tool.name)
def test_every_argument_is_one_of_the_command(tool: Tool) -> None:
    arguments = {key: EXAMPLES[schema["type"]] for key, schema in tool.arguments.items() if "type" in schema}
    call = invocation(command_object(tool, arguments), BASE)
    assert call.command == tool.command
    assert set(tool.required) <= set(tool.arguments)


def test_every_answer_can_be_bounded_and_gone_on_with() -> None:
    assert all("max_tokens" in tool.arguments for tool in tools("all"))
    assert [tool.name for tool in tools("all") if "offset" not in tool.arguments] == ["status"]


def test_answers_are_bounded() -> None:
    explore, search, read = tools("default")
    assert "max_tokens" not in command_object(explore, {"question": "q"}), "the command has a bound of its own"
    assert command_object(search, {"query": "q"}) == {
        "command": "search", "query": "q", "mode": "dense", "max_tokens": MAX_TOKENS
    }  # fmt: skip
    assert command_object(read, {"targets": ["a"], "max_tokens": 5})["max_tokens"] == 5


def test_another_command_cannot_be_called() -> None:
    with pytest.raises(UsageError, match="unknown argument 'command'"):
        command_object(tools("default")[0], {"command": "status"})
