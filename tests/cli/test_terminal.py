"""What a person at a terminal sees, and a script does not."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lci_py import app
from tests.conftest import Ran


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("terminal") / "repo"
    root.mkdir()
    (root / "a.py").write_text("".join(f"def target{i}():\n    return {i}\n\n\n" for i in ("", *range(40))))
    app.build_index(str(root), jobs=1)
    return root


HINT = "lci: `lci def target` shows where it is defined\n"


def test_who_types_a_name_hears_of_def(lci: Callable[..., Ran], root: Path, on_a_terminal: Callable[..., str]) -> None:
    assert on_a_terminal(root, "search", "target", "-n", "1").endswith(HINT)
    for argv in (["target", "-q"], ["target", "-m", "dense"], ["target", "--json"], ["target twice"], ["returned"]):
        assert HINT not in on_a_terminal(root, "search", "-n", "1", *argv)
    assert lci("search", "target", cwd=root).err == ""


def test_the_settings_choose_the_mode(lci: Callable[..., Ran], root: Path) -> None:
    def mode(*argv: str, **env: str) -> str:
        return str(json.loads(lci("search", "target", "--json", *argv, cwd=root, **env).out)["mode"])

    assert mode() == "dense"
    assert mode(LCI_MODE="bm25") == "bm25"
    assert mode("-m", "dense", LCI_MODE="bm25") == "dense"
    ran = lci("search", "target", cwd=root, LCI_MODE="fast")
    assert (ran.code, ran.err) == (
        2,
        "lci: LCI_MODE cannot be 'fast': use one of: dense, bm25, symbolic, multiview\n",
    )


def test_every_command_warns_of_a_key_that_is_none(
    lci: Callable[..., Ran], root: Path, on_a_terminal: Callable[..., str]
) -> None:
    said = "lci: unknown key 'limt' in .lci.toml, did you mean 'limit'?\n"
    (root / ".lci.toml").write_text("limt = 1\n")
    try:
        for argv in (["search", "target"], ["def", "target"], ["refs", "target"], ["status"], ["conflicts"]):
            assert said in on_a_terminal(root, *argv, PAGER="cat")
            assert said not in on_a_terminal(root, *argv, "-q", PAGER="cat")
        assert lci("search", "target", cwd=root).err == ""
    finally:
        (root / ".lci.toml").unlink()


# --- colours, links, the pager ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "env", "coloured"),
    [
        ([], {}, False),
        (["--color", "always"], {}, True),
        (["--color=always"], {"NO_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "0"}, False),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colours_in_a_pipe(
    lci: Callable[..., Ran], root: Path, flags: list[str], env: dict[str, str], coloured: bool
) -> None:
    ran = lci("def", "target", *flags, cwd=root, **env)
    assert ran.code == 0 and ("\x1b[35ma.py\x1b[0m" in ran.out) == coloured
    assert ("\x1b" in ran.out) == coloured


def test_colours_on_a_terminal(root: Path, on_a_terminal: Callable[..., str]) -> None:
    assert "\x1b[35ma.py" in on_a_terminal(root, "def", "target")
    assert "\x1b" not in on_a_terminal(root, "def", "target", "--color", "never")


def test_places_are_links(lci: Callable[..., Ran], root: Path, on_a_terminal: Callable[..., str]) -> None:
    ran = lci("def", "target", "--hyperlink", "always", cwd=root)
    assert ran.out.startswith(f"\x1b]8;;file://{root}/a.py\x1b\\a.py:1\x1b]8;;\x1b\\  function target\n")
    ran = lci("refs", "target", "--hyperlink", "always", cwd=root, LCI_HYPERLINK="vscode://file{path}:{line}")
    assert ran.out.startswith(f"\x1b]8;;vscode://file{root}/a.py:1\x1b\\")
    ran = lci("def", "target", "--hyperlink", "always", "--root", str(root))
    assert f"file://{root}/a.py" in ran.out
    assert "\x1b]8" in on_a_terminal(root, "def", "target", VTE_VERSION="7000")
    assert "\x1b]8" not in on_a_terminal(root, "def", "target", "--hyperlink", "never", VTE_VERSION="7000")


@pytest.mark.parametrize(
    ("flags", "env"),
    [
        (["--color", "blue"], {}),
        (["--hyperlink", "on"], {}),
        (["--hyperlink", "always"], {"LCI_HYPERLINK": "x\x1b{path}"}),
    ],
)
def test_what_is_no_choice(lci: Callable[..., Ran], root: Path, flags: list[str], env: dict[str, str]) -> None:
    ran = lci("def", "target", *flags, cwd=root, **env)
    assert ran.code == 2 and ran.err.startswith("lci: ") and "Traceback" not in ran.err


def test_a_long_answer_goes_through_the_pager(
    lci: Callable[..., Ran], root: Path, on_a_terminal: Callable[..., str]
) -> None:
    pager = "sed 's/^/> /'"
    long, short = ["search", "target", "-m", "bm25", "-n", "30"], ["search", "target", "-m", "bm25", "-n", "1"]
    shown = on_a_terminal(root, *long, "--color", "never", LCI_PAGER=pager)
    assert shown.startswith("> a.py:1  ") and shown.count("\n> ") > 30
    assert on_a_terminal(root, *long, "--color", "never", LCI_PAGER="", PAGER=pager) == shown
    for argv, env in [
        (long, {"LCI_PAGER": "no-such-program"}), (long, {"LCI_PAGER": "cat"}), ([*long, "--no-pager"], {"LCI_PAGER": pager}),
        (short, {"LCI_PAGER": pager}), (long, {"LCI_PAGER": pager, "TERM": "dumb"}),
    ]:  # fmt: skip
        plain = on_a_terminal(root, *argv, "--color", "never", **env)
        assert plain.startswith("a.py:1  ") and "> " not in plain
    assert lci(*long, cwd=root, LCI_PAGER=pager).out.startswith("a.py\n1-2 function target")


def test_a_message_on_a_terminal_breaks_between_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from lci_py.cli import streams
    from lci_py.errors import UsageError

    error = UsageError(
        "there is no file or folder one", hint="put a query of several words in quotes, as in `lci search 'a b'`"
    )
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr.fileno", lambda: 2, raising=False)
    monkeypatch.setattr("os.get_terminal_size", lambda *_: os.terminal_size((60, 24)))
    streams.report(error, as_json=False)
    assert capsys.readouterr().err.splitlines() == [
        "lci: there is no file or folder one: put a query of several",
        "  words in quotes, as in `lci search 'a b'`",
    ]
