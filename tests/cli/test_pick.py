"""`lci pick` on a real terminal: tmux holds it, types, and says what it shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lci_py import app
from lci_py.cli.pick.run import editor_command
from lci_py.errors import ConfigError
from tests.conftest import PROJECT, Ran
from tests.support.waiting import until

on_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pick") / "repo"
    (root / "tests").mkdir(parents=True)
    (root / "pool.py").write_text(
        'def lend(pool):\n    """Take a boat out of the pool."""\n    return pool.pop()\n\n\n'
        "def give_back(pool, boat):\n    pool.append(boat)\n\n\n"
        "def tour(pool):\n    boat = lend(pool)\n    give_back(pool, boat)\n"
    )
    (root / "tests" / "test_pool.py").write_text(
        "from pool import lend\n\n\ndef test_lend():\n    assert lend([1]) == 1\n"
    )
    (root / "evil\x1b]0;owned\x07.py").write_text("def evil_boat():\n    return '\x1b[31mred'\n")
    app.build_index(str(root), jobs=1)
    return root


class Terminal:
    """A tmux server of its own, with one window in which a shell command runs."""

    def __init__(self, root: Path, columns: int, line: str, **env: str) -> None:
        self._env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TMUX")}
        self._folder = tempfile.mkdtemp(prefix="lci")  # a path that is short enough for a socket
        self._env |= {
            "TMUX_TMPDIR": self._folder,
            "PYTHONPATH": str(PROJECT),
            "LCI": f"{sys.executable} -m lci_py",
            **env,
        }
        # The window stays until the test has read what the command left in it.
        self._tmux("-f", os.devnull, "new-session", "-d", "-x", str(columns), "-y", "24", "-c", str(root),
                   f"{line}; echo ended $?; cat")  # fmt: skip
        self._tmux("set", "-g", "status", "off")

    def _tmux(self, *argv: str) -> str:
        return subprocess.run(["tmux", *argv], env=self._env, check=True, capture_output=True, text=True).stdout

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def with_codes(self) -> str:
        return self._tmux("capture-pane", "-pe")

    def shows(self, *texts: str) -> str:
        """The screen, once it has all of these."""
        return until(lambda: (shown := self.screen()) and all(text in shown for text in texts) and shown, f"{texts}")

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def resize(self, columns: int) -> None:
        self._tmux("resize-window", "-x", str(columns))

    def close(self) -> None:
        subprocess.run(["tmux", "kill-server"], env=self._env, check=False, capture_output=True)
        shutil.rmtree(self._folder)


@pytest.fixture
def terminal(root: Path) -> Iterator[Callable[..., Terminal]]:
    pytest.importorskip("prompt_toolkit", reason="the extra pick is not installed")
    opened: list[Terminal] = []

    def start(line: str, columns: int = 80, **env: str) -> Terminal:
        opened.append(Terminal(root, columns, line, **env))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


@on_tmux
def test_search_walk_and_open(terminal: Callable[..., Terminal], root: Path, tmp_path: Path) -> None:
    editor = tmp_path / "vim.sh"
    editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/arguments\n')
    editor.chmod(0o755)
    it = terminal("$LCI", VISUAL=f"{editor} -X", NO_COLOR="1")  # alone in a repository, it picks
    it.shows("multiview>", "test_pool.py")  # every file, before anything is typed
    it.type("take a boat out")
    shown = it.shows("> lend ", "pool.py:1", "Take a boat out")
    assert re.search(r"1 def lend\(pool\):", shown), "no preview"
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", it.with_codes()), "colours"
    it.press("F2")
    it.shows("callers of lend", "> tour", "test_lend")
    it.type("test")
    it.shows("1 of 2", "> test_lend")
    it.press("Escape")
    it.shows("multiview> take a boat out", "> lend ")
    it.press("F6")
    it.shows("no tests", "> lend ")
    it.press("Tab")
    it.shows("dense> take a boat out")
    it.resize(60)
    narrow = re.compile("^> lend {20,}pool.py:1$", re.MULTILINE)
    until(lambda: narrow.search(it.screen()) and max(map(len, it.screen().splitlines())) <= 60, "60 columns")
    it.press("C-u")
    it.type("kind:nothing")
    it.shows("unknown kind 'nothing'")
    it.press("C-u")
    it.type("pool.py:11")
    it.shows("> pool.py ", "pool.py:11 -")
    it.press("Enter")
    it.shows("ended 0")
    assert (tmp_path / "arguments").read_text().splitlines() == ["-X", "+11", f"{root}/pool.py"]


@on_tmux
def test_print_what_is_marked(terminal: Callable[..., Terminal], root: Path) -> None:
    it = terminal('found=$($LCI pick --print -m symbolic "*boat*"); echo "got $found"', columns=130)
    shown = it.shows("symbolic> *boat*", "evil_boat", "\\x1b]0;owned\\x07.py:1", "return '\\x1b[31mred'")
    assert "│" in shown  # the preview stands beside the list
    it.press("C-u")
    it.type("len")
    it.shows("> lend", "pool.py:1")
    it.press("C-t")
    it.shows("* lend", "1 marked")
    it.press("C-y")
    it.shows("copied pool.py:1")
    it.press("C-u")
    it.type("give")
    it.shows("> give_back")
    it.press("C-t", "F1")
    it.shows("2 marked", "these keys")
    it.press("Escape", "Enter")
    it.shows("got pool.py:1\npool.py:6", "ended 0")


@on_tmux
def test_nothing_chosen(terminal: Callable[..., Terminal]) -> None:
    it = terminal("$LCI pick nothing_of_this")
    it.shows("multiview> nothing_of_this")
    it.press("Escape")
    it.shows("ended 1")


def test_without_a_terminal(lci: Callable[..., Ran], root: Path) -> None:
    ran = lci("pick", "boat", cwd=root)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "lci: `lci pick` needs a terminal: `lci search` answers a program\n"
    assert lci("pick", "-m", "fuzzy", cwd=root).err.startswith("lci: unknown mode 'fuzzy'")


PLACES = [("/r/a b.py", 3), ("/r/{line}.py", 4)]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, ["vi", "+3", "/r/a b.py", "/r/{line}.py"]),
        ({"EDITOR": "nvim"}, ["nvim", "+3", "/r/a b.py", "/r/{line}.py"]),
        ({"EDITOR": "vi", "VISUAL": "emacsclient -t"},
         ["emacsclient", "-t", "+3", "/r/a b.py", "+4", "/r/{line}.py"]),
        ({"VISUAL": "/usr/bin/code --wait"},
         ["/usr/bin/code", "--wait", "--goto", "/r/a b.py:3", "--goto", "/r/{line}.py:4"]),
        ({"VISUAL": "hx"}, ["hx", "/r/a b.py:3", "/r/{line}.py:4"]),
        ({"VISUAL": "idea64.sh"}, ["idea64.sh", "--line", "3", "/r/a b.py", "--line", "4", "/r/{line}.py"]),
        ({"VISUAL": "hx", "LCI_EDITOR": "my-ed -r {path}@{line}"},
         ["my-ed", "-r", "/r/a b.py@3", "/r/{line}.py@4"]),
        ({"LCI_EDITOR": "subl -n"}, ["subl", "-n", "/r/a b.py:3", "/r/{line}.py:4"]),
    ],
)  # fmt: skip
def test_how_an_editor_is_told_the_line(variables: dict[str, str], expected: list[str]) -> None:
    assert editor_command(PLACES, variables) == expected


def test_an_editor_that_is_no_command() -> None:
    with pytest.raises(ConfigError, match="VISUAL is not a command"):
        editor_command(PLACES, {"VISUAL": "vim 'x"})
