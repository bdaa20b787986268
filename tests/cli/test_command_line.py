"""A command line is read by the table of options, and what is wrong with it is said in one line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from lci_py.cli.command_line import ARGUMENT, MORE, parse
from lci_py.cli.main import main
from lci_py.cli.options import COMMANDS
from lci_py.errors import UsageError
from tests.support.properties import examples


@st.composite
def written(draw: st.DrawFn) -> tuple[list[str], str, dict[str, Any]]:
    """A well-formed line, its command, and what it says, in the many ways in which a shell user may write it."""
    command = draw(st.sampled_from([*COMMANDS.values()]))
    texts = st.sampled_from(["x", "a b", "-", "é", "a=b", "5", ""])
    said: dict[str, Any] = {}
    parts: list[list[str]] = []
    for flag in draw(st.lists(st.sampled_from(command.flags), max_size=5, unique=True)) if command.flags else []:
        if flag.name == "batch":
            continue
        spelling = draw(st.sampled_from(flag.spellings))
        if flag.shape == "flag":
            said[flag.name] = True
            parts.append([spelling])
            continue
        values = draw(st.lists(texts, min_size=1, max_size=2 if flag.shape in ("list", "text") else 1))
        if flag.shape == "int":
            values = [str(draw(st.integers(-99, 10**8)))]
        for value in values:
            long = spelling.startswith("--")
            attached = draw(st.booleans()) and (long or value)
            parts.append([f"{spelling}{'=' * long}{value}"] if attached else [spelling, value])
        said[flag.name] = (
            tuple(values) if flag.shape == "list" else int(values[0]) if flag.shape == "int" else values[-1]
        )
    positionals = []
    if command.argument:
        many = command.argument.many or command.more is not None
        positionals = draw(
            st.lists(st.sampled_from(["q", "", "-", "--json", "a b"]), min_size=1, max_size=3 if many else 1)
        )
        said[ARGUMENT] = tuple(positionals) if command.argument.many else positionals[0]
        if command.more:
            said[MORE] = tuple(positionals[1:])
    options = [word for part in parts for word in part]
    dashed = any(word.startswith("-") and word != "-" for word in positionals)
    if positionals and not dashed and draw(st.booleans()):
        return [command.name, *positionals, *options], command.name, said
    return [command.name, *options, *(["--"] if dashed else []), *positionals], command.name, said


@examples(300)
@given(written())
def test_a_line_means_what_is_written(line: tuple[list[str], str, dict[str, Any]]) -> None:
    argv, command, said = line
    call = parse(argv)
    assert call is not None and call.command == command
    left_out = {
        flag.name: ({"flag": False, "int": flag.default, "list": ()}.get(flag.shape))
        for flag in COMMANDS[command].flags
    }
    for name, value in left_out.items():
        assert call.values[name] == said.get(name, value), name
    for name in (ARGUMENT, MORE):
        assert name not in said or call.values[name] == said[name]


TOKENS = [*sorted({s for c in COMMANDS.values() for f in c.flags for s in f.spellings}), "", "x", "-", "--", "5", "-5"]
TOKENS += ["٣", "--json=1", "-n", "-h", "--help", "--nope", "-nx", "9" * 12, "a=b", "é", "\ud800"]


@examples(300)
@given(st.sampled_from([*COMMANDS, "nope", "--version", "-x"]), st.lists(st.sampled_from(TOKENS), max_size=5))
@example("search", ["-qn5", "-vm", "bm25", "q", "-l", "go", "-lpy", "--path=a=b"])
@example("search", [])
def test_any_line_is_read_or_refused(command: str, tokens: list[str]) -> None:
    try:
        call = parse([command, *tokens])
    except UsageError as error:
        assert error.message and error.hint
        return
    assert call is not None or "h" in "".join(tokens) or command == "--version"


def test_values() -> None:
    call: Any = parse(["search", "q", "-l", "a", "-qn", "3", "-l", "b", "--json"])
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
    assert call.flag("quiet")


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["-h"],
        ["help", "grep"],
        ["search", "-h"],
        ["search", "q", "--help"],
        ["grep", "-ih"],
        ["-V"],
        ["--complete", "1"],
    ],
)
def test_what_is_about_the_program(argv: list[str]) -> None:
    assert parse(argv) is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("serach q", "unknown command 'serach': did you mean 'search'?"),
        ("--color search", "no such option: --color: an option follows its command: see `lci --help`"),
        (
            "search --limi 3",
            "no such option: --limi: did you mean --limit? to look for --limi itself: lci search -- --limi",
        ),
        (
            "search --max-columns-preview",
            "no such option: --max-columns-preview: to look for --max-columns-preview "
            "itself: lci search -- --max-columns-preview",
        ),
        ("index --he", "no such option: --he: did you mean --help?"),
        ("index --zzz", "no such option: --zzz: see `lci index --help`"),
        ("grep -Z0 x", "no such option: -Z: if it is no option, write -- before it: lci grep -- -Z0"),
        ("status -Z", "no such option: -Z: see `lci status --help`"),
        ("search -n", "-n needs a value: see `lci search --help`"),
        ("search q -n x", "--limit must be a whole number of up to nine digits, not 'x': see `lci search --help`"),
        ("search --limit=", "--limit must be a whole number of up to nine digits, not '': see `lci search --help`"),
        ("search --json=1", "--json takes no value: see `lci search --help`"),
        ("search --root a --root=b", "--root is given twice: give it once"),
        ("grep", "missing argument 'PATTERN': see `lci grep --help`"),
        ("show", "missing argument 'TARGET': see `lci show --help`"),
        ("def a b", "`lci def` takes one NAME, and 'b' is one too many: see `lci def --help`"),
        ("status x", "`lci status` takes no argument, and 'x' is one too many: see `lci status --help`"),
    ],
)
def test_what_is_wrong_with_a_line(capsys: pytest.CaptureFixture[str], line: str, said: str) -> None:
    assert main(line.split()) == 2
    assert capsys.readouterr() == ("", f"lci: {said}\n")
