"""What agents are told is short, and true: every command line in it is one that the program takes."""

from __future__ import annotations

import re
import shlex

from lci_py.agents.block import Block, find
from lci_py.agents.table import AGENTS, HEADS, NAMES, TASKS, TEXT
from lci_py.cli.command_line import parse
from lci_py.cli.options import COMMANDS
from lci_py.search.query.text import read_symbolic
from lci_py.types.search import MODES, Filters
from tests.conftest import PROJECT

PAGE = (PROJECT / "docs" / "agents.md").read_text("utf-8")
LINES = sorted(set(re.findall(r"`(lci [^`]+)`", TEXT + TASKS)))


def tokens(text: str) -> float:
    return len(text) / 4


def test_the_text_is_short() -> None:
    assert tokens(Block("claude-code", TEXT).text()) <= 250
    assert f"{tokens(TEXT):.0f} tokens" in PAGE


def test_every_command_is_one() -> None:
    assert len(LINES) > 20
    for line in LINES:
        call = parse(shlex.split(line)[1:])
        assert call is not None, line
        assert (call.text("mode") or "dense") in MODES
        if call.text("mode") == "symbolic":
            assert read_symbolic(call.text("argument") or "", Filters())[0] != Filters()


def test_every_flag_is_one_of_the_commands_that_it_is_said_of() -> None:
    flags = {name: {s for flag in command.flags for s in flag.spellings} for name, command in COMMANDS.items()}
    assert "`--max-tokens 1500` bounds the answer of any command" in TEXT
    for name in {line.split()[1] for line in LINES}:
        assert {"--json", "--max-tokens"} <= flags[name] or name in ("agent", "mcp", "status", "index")


def test_the_text_ends_in_what_not_to_do() -> None:
    *_, last = TEXT.strip().split("\n")
    assert last.startswith("Do not ") and last.count("do not ") == 2


def test_the_heads_are_front_matter() -> None:
    """Of plain YAML scalars, which hold no colon before a blank and no hash behind one."""
    for head in HEADS.values():
        first, *rows, last, empty = head.splitlines()
        assert (first, last, empty) == ("---", "---", "")
        for row in rows:
            key, colon, value = row.partition(": ")
            assert key.isalpha() and colon and 0 < len(value) < 1024
            assert ": " not in value and " #" not in value and value[0].isalpha()


def test_the_page_has_the_texts_as_they_are_installed() -> None:
    assert TASKS in PAGE
    block = find(PAGE)
    assert block is not None and block.body == TEXT.strip()


def test_the_page_has_every_agent_and_file() -> None:
    rows = {row.split("`")[1]: row for row in PAGE.splitlines() if re.match(r"\| `[a-z-]+` \|", row)}
    assert tuple(rows) == NAMES
    for agent in AGENTS:
        row = rows[agent.name]
        for part in agent.parts:
            if part.home is None:
                assert all(f"`{path}`" in row or path in ("AGENTS.md", ".claude/CLAUDE.md") for path in part.paths)
            elif part.home.variable:
                assert f"`{part.home.variable}`" in PAGE
            assert f"`{part.command}`" in PAGE or not part.command
        assert all(f"`{part.keys[0]}`" in row for part in agent.parts if part.kind == "mcp")
        assert "](https://" in row
