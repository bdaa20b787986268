"""Prepares stdout on a terminal: colours, links on locations, and a pager for output longer than the screen."""

from __future__ import annotations

import io
import os
import re
import sys
from typing import IO, TYPE_CHECKING, cast
from urllib.parse import quote

from lci_py.cli.options import WHEN
from lci_py.errors import ConfigError, unknown_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lci_py.cli.command_line import Invocation

#: The prefix of links, from the user's own environment: a repository must not choose where a click leads.
_LINK_VARIABLE, _FILE_LINK = "LCI_HYPERLINK", "file://{path}"
#: Variables of terminals that show links.
_KNOWN = ("VTE_VERSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "WT_SESSION", "WEZTERM_PANE", "GHOSTTY_RESOURCES_DIR")
_KNOWN_PROGRAMS = ("iTerm.app", "WezTerm", "vscode", "ghostty")
#: A place as the renderers colour it.
_PLACE = re.compile("\x1b\\[35m([^\x1b]+)\x1b\\[0m:\x1b\\[32m(\\d+)[^\x1b]*\x1b\\[0m")
#: A path above the numbers of its lines, and such a number.
_HEADING = re.compile("\x1b\\[35m([^\x1b]+)\x1b\\[0m(?!:)")
_NUMBER = re.compile("( *)(\x1b\\[32m *(\\d+)[^\x1b]*\x1b\\[0m)")
_CODE = re.compile("\x1b\\[[0-9;]*m|\x1b]8;[^\x1b]*\x1b\\\\")
_PAGER = "less -FRX"

_paged: list[_PageBuffer] = []


def stdout_for(call: Invocation) -> tuple[IO[str], bool, int | None]:
    """Returns (the stream for text, whether it may have escape codes, the terminal's columns or None for a pipe).

    Raises:
        UsageError: A flag or an environment variable has no valid value.
    """
    on_terminal = sys.stdout.isatty()
    color, links = has_color(call, on_terminal), _links(call, on_terminal)
    out: IO[str] = sys.stdout
    width = None
    if on_terminal:
        import shutil

        width = shutil.get_terminal_size().columns
        if not call.flag("no_pager") and (command := _pager()):
            _paged.append(buffer := _PageBuffer(command))
            out = buffer
    if links:
        out = cast("IO[str]", _LinkWriter(out, links, _folder(call), color))
    return out, color or bool(links), width


def has_color(call: Invocation, on_terminal: bool) -> bool:
    """Whether the output has colours.

    Raises:
        UsageError: The flag --color has no valid value.
    """
    when = _when(call, "color")
    if when != "auto":
        return when == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if (force := os.environ.get("FORCE_COLOR")) and force != "0":
        return True
    return on_terminal and os.environ.get("TERM") != "dumb"


def _links(call: Invocation, on_terminal: bool) -> str:
    """The pattern from which links to locations are made; "" for no links."""
    when = _when(call, "hyperlink")
    capable = any(map(os.environ.get, _KNOWN)) or os.environ.get("TERM_PROGRAM") in _KNOWN_PROGRAMS
    if when == "never" or (when == "auto" and not (on_terminal and capable and os.environ.get("TERM") != "dumb")):
        return ""
    return _pattern()


def editor_link(root: str) -> Callable[[str, int], str]:
    """Returns a function that makes the link to a file and line, given the path below the root and the line.

    Raises:
        ConfigError: The environment variable for links has no valid pattern.
    """
    pattern = _pattern()
    return lambda path, line: _target(pattern, os.path.join(root, path), str(line))


def _target(pattern: str, path: str, line: str) -> str:
    return pattern.replace("{path}", quote(path, errors="surrogateescape")).replace("{line}", line)


def _pattern() -> str:
    pattern = os.environ.get(_LINK_VARIABLE) or _FILE_LINK
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]*\{path\}[!-~]*", pattern):
        raise ConfigError(
            f"{_LINK_VARIABLE} cannot be {pattern!r}", hint="write a link such as vscode://file{path}:{line}"
        )
    return pattern


def _folder(call: Invocation) -> str:
    """The folder to which the paths of an answer are relative."""
    return os.path.abspath((call.text("root") if call.starts_at_root else None) or ".")


def _when(call: Invocation, flag: str) -> str:
    word = call.text(flag)
    if word is not None and word not in WHEN:
        raise unknown_value(flag, word, WHEN)
    return word or "auto"


class _LinkWriter(io.TextIOBase):
    """A stream that turns the locations in the output into links (OSC 8)."""

    def __init__(self, out: IO[str], pattern: str, folder: str, color: bool) -> None:
        self._out, self._pattern, self._folder, self._color = out, pattern, folder, color
        self._heading = ""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self._out, "encoding", "utf-8")

    def write(self, text: str) -> int:
        linked = _PLACE.sub(lambda match: self._link(match[0], match[1], match[2]), text)
        if linked == text and (heading := _HEADING.match(text)):
            self._heading = heading[1]
            linked = self._link(heading[0], heading[1], "1") + text[heading.end() :]
        elif linked == text and self._heading and (number := _NUMBER.match(text)):
            linked = number[1] + self._link(number[2], self._heading, number[3]) + text[number.end() :]
        text = linked
        self._out.write(text if self._color else re.sub("\x1b\\[[0-9;]*m", "", text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:  # type: ignore[override]
        for line in lines:
            self.write(line)

    def _link(self, text: str, path: str, line: str) -> str:
        """The text of a location, made a link to it if the file exists."""
        path = os.path.join(self._folder, path)
        if not os.path.exists(path):  # its name is spelled out, or it has gone
            return text
        target = _target(self._pattern, path, line)
        return f"\x1b]8;;{target}\x1b\\{text}\x1b]8;;\x1b\\"


# --- the pager --------------------------------------------------------------------------------------------------


class _PageBuffer(io.StringIO):
    """Buffers the output for the pager, until `show_paged` writes it."""

    def __init__(self, command: list[str]) -> None:
        super().__init__(newline="")
        self.command = command

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return sys.stdout.encoding


def _pager() -> list[str]:
    """The command line of the pager; [] for no pager."""
    import shlex

    if os.environ.get("TERM") == "dumb":
        return []
    text = os.environ.get("LCI_PAGER") or os.environ.get("PAGER") or _PAGER
    try:
        command = shlex.split(text)
    except ValueError as error:
        raise ConfigError(
            f"the pager {text!r} is not a command: {error}", hint="set LCI_PAGER or PAGER to a command"
        ) from error
    return [] if command == ["cat"] else command


def show_paged() -> None:
    """Write the buffered output: through the pager if it is longer than the screen and the pager exists."""
    import shutil

    while _paged:
        buffer = _paged.pop()
        text = buffer.getvalue()
        columns, rows = shutil.get_terminal_size()
        if _rows(text, columns) < rows or not _through(buffer.command, text):
            sys.stdout.write(text)


def _rows(text: str, columns: int) -> int:
    from lci_py.render.text.style import width_of

    return sum(max(1, -(-width_of(_CODE.sub("", line)) // max(1, columns))) for line in text.splitlines())


def _through(command: list[str], text: str) -> bool:
    """Show `text` in the pager; returns False if the pager does not start."""
    import signal
    import subprocess

    sys.stdout.flush()
    # As git does: a bare `less` or `more` shows colours, too.
    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pager's
    try:
        pager = subprocess.Popen(
            command, stdin=subprocess.PIPE, env=environment, preexec_fn=lambda: signal.signal(signal.SIGINT, before)
        )
        pager.communicate(text.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))
    except OSError:
        return False
    finally:
        signal.signal(signal.SIGINT, before)
    return pager.returncode not in (126, 127)
