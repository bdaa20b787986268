"""A table in a TOML file, added at its end and taken out again to the byte."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from lci_py.agents import toml_entry
from lci_py.agents.known import BY_NAME
from lci_py.agents.understood import NotUnderstoodError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SERVER = BY_NAME["codex"].server
assert SERVER
TABLE = '[mcp_servers.lci]\ncommand = "lci"\nargs = ["mcp"]'
LINES = st.sampled_from(
    [
        "",
        "# [mcp_servers.lci]",
        'model = "x"',
        "[a]",
        "[[b]]",
        "x = [\n  1, # one\n]",
        "[mcp_servers.other]",
        "s = '''\nlci\n'''",
    ]
    + ["[mcp_servers]", "  ", 'command = "lci"']
)


@settings(max_examples=150)
@given(st.lists(LINES, max_size=5, unique=True), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans())
@example([], "\n", False, False)
@example([""], "\n", True, False)
@example(["[mcp_servers]"], "\n", False, True)
def test_any_document_is_restored(lines: list[str], eol: str, ended: bool, marked: bool) -> None:
    before = "\ufeff" * marked + eol.join(line.replace("\n", eol) for line in lines) + eol * ended
    try:
        old = tomllib.loads(before.removeprefix("\ufeff"))
    except ValueError:
        with pytest.raises(NotUnderstoodError, match="is not valid TOML"):
            toml_entry.state(before, SERVER)
        return
    after = toml_entry.add(before, SERVER)
    assert toml_entry.state(after, SERVER) == "installed"
    assert after.startswith(before)
    new = tomllib.loads(after.removeprefix("\ufeff"))
    assert new["mcp_servers"].pop("lci") == SERVER.value
    assert new == {**old, "mcp_servers": old.get("mcp_servers", {})}
    assert toml_entry.remove(after, SERVER) == before


def test_a_new_file() -> None:
    made = toml_entry.add(None, SERVER)
    assert made == TABLE + "\n"
    assert toml_entry.remove(made, SERVER) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a = ", "is not valid TOML"),
        ("mcp_servers = 1", "mcp_servers is no table"),
        ('mcp_servers.lci = "x"', "lci in mcp_servers is something else"),
        ('[mcp_servers.lci]\nurl = "x"', "lci in mcp_servers is something else"),
    ],
)
def test_what_is_not_understood(text: str, reason: str) -> None:
    with pytest.raises(NotUnderstoodError) as raised:
        toml_entry.state(text, SERVER)
    assert raised.value.reason.startswith(reason)


def test_servers_that_no_table_can_be_added_to() -> None:
    with pytest.raises(NotUnderstoodError, match="no table can be added"):
        toml_entry.add('mcp_servers = {other = {command = "x"}}\n', SERVER)


@pytest.mark.parametrize("more", ['\nenv = {A = "b"}', "\nstartup_timeout_sec = 20\n[mcp_servers.lci.env]\nA = 'b'"])
def test_an_entry_that_somebody_has_changed(more: str) -> None:
    text = f"a = 1\n\n{TABLE}{more}\n"
    assert toml_entry.state(text, SERVER) == "custom"


def test_an_entry_of_the_same_meaning_that_lci_has_not_written() -> None:
    text = 'mcp_servers.lci = {command = "lci", args = ["mcp"]}\n'
    assert toml_entry.state(text, SERVER) == "installed"
    with pytest.raises(NotUnderstoodError, match="remove it by hand"):
        toml_entry.remove(text, SERVER)


def test_the_table_in_a_text_is_no_table() -> None:
    quoted = f"s = '''\n{TABLE}\n'''\n"
    both = quoted + TABLE + "\n"
    assert toml_entry.state(quoted, SERVER) == "absent"
    assert toml_entry.remove(both, SERVER) == quoted
    assert toml_entry.remove(toml_entry.add(quoted, SERVER), SERVER) == quoted


def test_what_follows_the_table_stays() -> None:
    text = toml_entry.add("a = 1\n", SERVER) + "\n[other]\nb = 2\n"
    rest: Any = toml_entry.remove(text, SERVER)
    assert tomllib.loads(rest) == {"a": 1, "other": {"b": 2}}
