"""The fast parser and typer read every command line alike."""

from __future__ import annotations

from typing import Any

import pytest
import typer
from hypothesis import example, given, settings, strategies as st

from lci_py.cli.fast_parser import COMPLETE_VARIABLE, Invocation, parse
from lci_py.cli.options import COMMANDS
from lci_py.cli.typer_app import build
from lci_py.errors import UsageError

SPELLINGS = sorted({s for c in COMMANDS.values() for f in c.flags for s in f.spellings})
VALUES = ["", "x", "-", "--", "5", "-5", "+5", " 5", "5.0", "1_0", "٣", "-n", "--json", "a=b", "a b", "9" * 12, "é"]
joined = st.builds(
    lambda a, b: a + b, st.sampled_from(SPELLINGS), st.sampled_from(["=", "=x", "=5", "5", "x", "q", "qv"])
)
tokens = st.sampled_from([*SPELLINGS, *VALUES, "--help", "-h", "--nope"]) | joined
lines = st.tuples(st.sampled_from([*COMMANDS, "nope", "--version"]), st.lists(tokens, max_size=6)).map(
    lambda parts: [parts[0], *parts[1]]
)
_seen: list[Invocation] = []


def _keep(call: Invocation) -> int:
    _seen.append(call)
    return 0


APP = typer.main.get_command(build(_keep))


def by_typer(argv: list[str]) -> Invocation | None:
    """The invocation that typer reads from a line; None for errors and help."""
    _seen.clear()
    try:
        APP.main(args=argv, prog_name="lci", standalone_mode=False)
    except Exception as error:  # typer's own copy of click has no public names
        assert hasattr(error, "format_message"), error
        return None
    return _seen[0] if _seen else None


@settings(max_examples=400)
@given(lines)
@example(["search", "-qn5", "-vm", "bm25", "q", "-l", "go", "-lpy", "--path=a=b"])
@example(["search", "--", "--json"])
@example(["search", "--json=1"])
@example(["def"])
@example(["search", "q", "--root", "a", "--root=b"])
@example(["search", "q", "a", "-q", "b"])
@example(["search", "q", "--", "-c"])
@example(["status", "x"])
@example(["index", "--files", "a", "-q", "b", "--", "-c", "--json"])
@example(["index", "a", "b"])
@example(["index", "--wait=0", "--wait", "-1"])
@example(["hook", "install", "--force"])
@example(["hook"])
@example(["agent", "list", "-q", "zed", "--json", "codex"])
@example(["clean", "x"])
def test_they_agree(argv: list[str]) -> None:
    fast = parse(argv)
    if fast is not None:
        slow = by_typer(argv)
        assert slow is not None
        assert (fast.command, dict(fast.values)) == (slow.command, dict(slow.values))


@pytest.mark.parametrize(
    "argv",
    [
        ["search", "q"],
        ["search", "-m", "bm25", "-n5", "--json", "-l", "go", "--lang=py", "q"],
        ["search", "-qv", "--kind", "class"],
        ["search", "--", "-q"],
        ["search", "q", "src", "-n5", "*.py"],
        ["def", "x", "--paths"],
        ["index", ".", "-j", "2"],
        ["index", "--files", "a.py", "b.py", "--quiet", "--wait", "0"],
        ["status", "--json", "--check"],
        ["clean", "--cache"],
        ["hook", "run"],
        ["agent", "install", "codex", "zed", "--only", "mcp", "--user"],
    ],
    ids=" ".join,
)
def test_plain_lines_do_not_need_typer(argv: list[str]) -> None:
    assert parse(argv) is not None  # typer would take 100 ms longer


@pytest.mark.parametrize("argv", [[], ["-h"], ["search", "-h"], ["search", "--help"], ["--version"], ["search", "-n"]])
def test_help_and_errors_are_typers(argv: list[str]) -> None:
    assert parse(argv) is None


def test_completion_is_typers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(COMPLETE_VARIABLE, "complete_bash")
    assert parse(["search", "q"]) is None


def test_values() -> None:
    call: Any = parse(["search", "q", "-l", "a", "-n", "3", "-l", "b", "--json"])
    assert (call.text("argument"), call.texts("lang"), call.number("limit"), call.flag("json")) == (
        "q",
        ("a", "b"),
        3,
        True,
    )
    assert (call.text("mode"), call.texts("kind"), call.number("snippet"), call.flag("paths")) == (
        None,
        (),
        None,
        False,
    )


def test_a_second_root_is_an_error() -> None:
    assert parse(["search", "q", "--root", "a", "--root", "b"]) is None
    with pytest.raises(UsageError, match="--root is given 2 times"):
        APP.main(args=["search", "q", "--root", "a", "--root=b"], prog_name="lci", standalone_mode=False)
