"""Commands as JSON objects."""

from __future__ import annotations

from typing import Any

import pytest

from lci_py.cli.command_line import Invocation, defaults, parse
from lci_py.cli.object_parser import invocation, text_invocation
from lci_py.cli.options import ANSWERING, COMMANDS, GENERAL
from lci_py.cli.request import to_request
from lci_py.errors import UnknownModeError, UsageError
from lci_py.types.search import MODES, Filters


def base(command: str = "search", **values: Any) -> Invocation:
    return Invocation(command, {**defaults(COMMANDS[command]), **values})


@pytest.mark.parametrize(
    ("found", "argv"),
    [
        ({"query": "q", "mode": "bm25", "limit": 3.0, "lang": "go", "conflicts": True}, "search q -m bm25 -n3 -l go --conflicts"),
        ({"command": "show", "targets": ["a", "b"], "max-tokens": 9, "kind": ["class"]}, "show a b --max-tokens 9 -k class"),
        ({"command": "show", "target": "a", "line_number": True}, "show a -N"),
        ({"command": "refs", "name": "f", "role": ["call"]}, "refs f --role call"),
        ({"command": "path", "to": "b", "from": "a", "depth": 3}, "path a b -d 3"),
        ({"command": "grep", "pattern": "x", "ignore-case": True, "path": "src"}, "grep x -i --path src"),
        ({"command": "conflicts", "name": "A*"}, "conflicts A*"),
        ({"command": "affected", "files": ["a.py"]}, "affected --files a.py"),
        ({"command": "affected", "rev": "main", "files": False}, "affected main"),
        ({"command": "outline", "paths": [], "path": "src/**"}, "outline --path src/**"),
        ({"command": "outline", "path": "src/a.py"}, "outline src/a.py"),
        ({"command": "outline", "paths": ["src"], "path": "src/a.py"}, "outline src --path src/a.py"),
        ({"command": "status", "check": True}, "status --check"),
    ],
    ids=str,
)  # fmt: skip
def test_an_object_is_a_command_line(found: dict[str, Any], argv: str) -> None:
    assert invocation(found, base()) == parse(argv.split())


def test_a_line_has_the_values_of_the_command_line_for_its_own_command() -> None:
    given = base("show", context=3, kind=("class",))
    assert invocation({"target": "a", "kind": "method"}, given).values["kind"] == ("method",)
    assert invocation({"target": "a"}, given).number("context") == 3
    assert invocation({"target": "a", "context": None}, given).number("context") is None
    assert invocation({"command": "grep", "pattern": "a"}, given).number("context") is None


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ({"quary": "q"}, "unknown key 'quary'.*did you mean 'query'"),
        ({"comand": "show"}, "unknown key 'comand'.*did you mean 'command'"),
        ({"command": "shaw"}, "unknown command 'shaw'.*did you mean 'show'"),
        ({"command": "clean"}, "unknown command 'clean'"),
        ({"command": 5}, "unknown command '5'"),
        ({"query": ["q"]}, "query must be a string"),
        ({"query": "q", "limit": "3"}, "limit must be a whole number"),
        ({"query": "q", "limit": True}, "limit must be a whole number"),
        ({"query": "q", "limit": 10**30}, "limit has more than 9 digits"),
        ({"query": "q", "max_tokens": 1.5}, "max_tokens must be a whole number"),
        ({"query": "q", "strict": 1}, "strict must be true or false"),
        ({"query": "q", "lang": [1]}, "lang must be a string or a list of strings"),
        ({"command": "show", "targets": {"a": 1}}, "targets must be a string or a list of strings"),
        ({"command": "show"}, "targets is missing"),
        ({"command": "path", "from": 1}, "from must be a string"),
        ({"query": "q", "ro\ud800ot": "/"}, "unknown key"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named(found: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as raised:
        invocation(found, base())
    import re

    assert re.search(message, f"{raised.value.message} {raised.value.hint}")


@pytest.mark.parametrize("command", ANSWERING)
@pytest.mark.parametrize(
    "key", ["root", "model", "refresh", "trust_index", "batch", "json", "paths ", "format", "verbose"]
)
def test_no_object_says_which_index_is_opened_or_how_a_process_prints(command: str, key: str) -> None:
    with pytest.raises(UsageError, match="unknown key"):
        invocation({"command": command, key: "x"}, base())


def test_every_other_flag_of_every_command_is_a_key() -> None:
    known = {
        "json",
        "jsonl",
        "paths",
        "vimgrep",
        "format",
        "files_with_matches",
        "count",
        "batch",
        "refresh",
        "model",
        "trust_index",
        "regexp",
    }
    for command in ANSWERING:
        for flag in COMMANDS[command].flags:
            if flag.panel == GENERAL or flag.name in known:
                continue
            with pytest.raises(UsageError) as raised:
                invocation({"command": command, flag.name: {}}, base())
            assert "unknown key" not in raised.value.message, (command, flag.name)


@pytest.mark.parametrize("mode", MODES)
def test_the_first_letter_of_a_mode_is_the_mode(mode: str) -> None:
    assert to_request(invocation({"query": "x", "mode": mode[0]}, base()), "x", Filters()).mode == mode


def test_an_unknown_mode_names_the_four_whatever_it_is() -> None:
    with pytest.raises(UnknownModeError):
        invocation({"query": "q", "mode": 1}, base())


def test_text_that_no_command_line_can_hold() -> None:
    call = invocation({"command": "show", "targets": ["a\0b", "c\ud800"]}, base())
    assert call.texts("argument") == ("a\ufffdb", "c\ufffd")


def test_a_line_of_text_is_the_argument() -> None:
    assert text_invocation("Session.close", base("show")).texts("argument") == ("Session.close",)
    assert text_invocation("a b", base("grep")).text("argument") == "a b"
    assert text_invocation("a 'b c'", base("path")).texts("argument") == ("a", "b c")
    for command, text in (("status", "x"), ("path", "a 'b")):
        with pytest.raises(UsageError):
            text_invocation(text, base(command))
