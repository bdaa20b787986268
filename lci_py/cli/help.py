"""Writes help and the man page, from the table of options."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

from lci_py.cli.options import COMMANDS
from lci_py.errors import unknown_value
from lci_py.render.text.style import ASCII, Layout, Style, sentence, signs_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lci_py.cli.options import Command, Flag

ABOUT = "Local code search: by meaning, by words, by structure, over the call graph."
CODES = "Exit: 0 results, 1 none, 2 usage, 3 no usable index, 4 degraded with --strict, 70 internal error."
#: Lines of a short help. What it only names is described by `--help --all`.
SHORT = 30
#: Flags that most commands have: a short help names them.
_SHARED = frozenset(
    "json jsonl format fields vimgrep paths max_tokens offset refresh exclude repo model batch "
    "trust_index root workspace quiet verbose color hyperlink no_pager".split()
)
#: Flags that a short help describes last.
_RARE = frozenset("budget_ms strict trace explain_file expand near".split())
_FEW = 3  # examples of a short help
_WIDEST = 100


class _Page:
    """Builds lines of help that are as wide as the terminal."""

    def __init__(self) -> None:
        on_terminal = sys.stdout.isatty()
        width = 80
        if on_terminal:
            import shutil

            width = min(shutil.get_terminal_size().columns, _WIDEST)
        self._color = on_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self._layout = Layout(Style(False), signs_for(getattr(sys.stdout, "encoding", None)), width)
        self.bold = Style(self._color)
        self.lines: list[str] = []

    def head(self, text: str) -> None:
        self.lines += ["", self.bold(text, "bold")] if self.lines else [self.bold(text, "bold")]

    def text(self, text: str, indent: str = "") -> None:
        self.lines += list(self.wrapped(text, indent))

    def wrapped(self, text: str, indent: str = "", first: str | None = None) -> Iterator[str]:
        """Wrap `text` to the width of the page; the first line begins with `first` instead of `indent`."""
        start = indent if first is None else first
        lines = sentence(text, self._layout, indent, len(start))
        yield start + next(lines)
        yield from lines

    def table(self, rows: Iterable[tuple[str, str]]) -> None:
        self.lines += [line for row in self.rows(rows) for line in row]

    def rows(self, rows: Iterable[tuple[str, str]]) -> list[list[str]]:
        """Lay out terms and their meanings in two columns; returns a list of lines for each pair."""
        pairs = list(rows)
        width = min(max((len(term) for term, _ in pairs), default=0), 24)
        indent = " " * (width + 4)
        blocks = []
        for term, meaning in pairs:
            if len(term) > width:
                blocks.append([f"  {term}", *self.wrapped(meaning, indent)])
            else:
                blocks.append(list(self.wrapped(meaning, indent, f"  {term:<{width}}  ")))
        return blocks

    def write(self) -> None:
        text = "\n".join(self.lines) + "\n"
        if self._layout.signs is ASCII:
            text = text.replace("…", "...").replace("·", "-").replace("→", "->")
        sys.stdout.write(text)


def show_help(argv: Sequence[str]) -> None:
    """Write the page for `lci help …`, `lci --help` or `lci COMMAND --help`.

    Raises:
        UsageError: There is no such command.
    """
    words = [word for word in argv if word in COMMANDS][:1]
    operands = [word for word in argv if not word.startswith("-") and word != "help"][:1]
    if operands and not words:
        raise unknown_value("command", operands[0], tuple(COMMANDS))
    if "--man" in argv:
        sys.stdout.write(man())
        return
    page = _Page()
    if not words:
        _overview(page)
    elif "--all" in argv:
        _whole(page, COMMANDS[words[0]])
    else:
        _short(page, COMMANDS[words[0]])
    page.write()


def brief() -> str:
    """The eight lines that `lci` alone prints."""
    from lci_py import __version__

    rows = {
        "index": "build the index of this repository, or refresh it",
        "search QUERY": "by meaning; -m bm25 by words, -m multiview by all",
        "explore QUESTION": "one answer, with the code that belongs to it",
        "def, refs, callers NAME": "where it is defined, used, called",
        "grep PATTERN": "lines that match, as rg prints them",
        "pick": "search as you type, on a terminal",
    }
    lines = [f"  lci {term:<23}  {meaning}" for term, meaning in rows.items()]
    last = "`lci help` lists all commands, `lci help COMMAND` says what one takes."
    return "\n".join([f"lci {__version__}, code search by meaning, words, structure and calls", *lines, last]) + "\n"


def _overview(page: _Page) -> None:
    page.head("Usage: lci COMMAND [ARGUMENT] [FLAGS]")
    page.text(ABOUT)
    page.head("Commands")
    page.table((command.name, _clause(command.help, 60)) for command in COMMANDS.values())
    page.head("More")
    page.table(
        [
            ("help COMMAND", "What a command takes; with --all every flag. `lci help --man` prints a man page."),
            ("-V, --version", "The version."),
            ("--completion SHELL", "What makes bash, zsh or fish complete commands, flags and names."),
        ]
    )
    page.text(CODES)


def _usage(command: Command) -> str:
    metavars = []
    for argument, required in (
        (command.argument, command.argument and command.argument.required),
        (command.more, False),
    ):
        if argument is not None:
            metavar = argument.metavar + ("…" if argument.many and " " not in argument.metavar else "")
            metavars.append(metavar if required else f"[{metavar}]")
    return " ".join([f"Usage: lci {command.name}", *metavars, "[FLAGS]"])


def _arguments(command: Command) -> list[tuple[str, str]]:
    return [(item.metavar, item.help) for item in (command.argument, command.more) if item is not None]


def _short(page: _Page, command: Command) -> None:
    """Write as many of a command's own flags as fit, and only the names of its other flags."""
    own = sorted((flag for flag in command.flags if flag.name not in _SHARED), key=lambda flag: flag.name in _RARE)
    rows = page.rows((_term(flag), _clause(flag.help)) for flag in own)
    others = [flag for flag in command.flags if flag not in own]
    for count in range(len(rows), -1, -1):
        page.lines = []
        _begin(page, command)
        page.lines += [line for row in rows[:count] for line in row]
        if rest := [flag.spellings[0] for flag in (*own[count:], *others)]:
            page.lines.append("")
            page.text(f"Also: {' '.join(rest)}. `lci {command.name} --help --all` says what they do.")
        page.lines += _examples(page, command, _FEW)
        if len(page.lines) <= SHORT:
            return


def _begin(page: _Page, command: Command) -> None:
    page.head(_usage(command))
    page.text(command.help)
    page.lines.append("")
    page.table(_arguments(command))


def _examples(page: _Page, command: Command, limit: int) -> list[str]:
    some = command.examples[:limit]
    width = max((len(line) for line, _ in some), default=0)
    if width <= 44:
        lines = [f"  {line:<{width}}  # {does}" for line, does in some]
    else:
        lines = [line for example, does in some for line in (f"  # {does}", f"  {example}")]
    return ["", page.bold("Examples:", "bold"), *lines] if some else []


def _whole(page: _Page, command: Command) -> None:
    _begin(page, command)
    for panel in dict.fromkeys(flag.panel for flag in command.flags):
        page.head(panel)
        page.table((_term(flag), _meaning(flag)) for flag in command.flags if flag.panel == panel)
    page.lines += _examples(page, command, len(command.examples))


def _term(flag: Flag) -> str:
    return ", ".join(sorted(flag.spellings, key=len)) + (f" {flag.metavar}" if flag.metavar else "")


def _meaning(flag: Flag) -> str:
    return flag.help if flag.default is None else f"{flag.help} Default: {flag.default}."


def _clause(text: str, limit: int | None = None) -> str:
    """The first clause of a help text; if the clause is longer than `limit` characters, its part before the comma."""
    first = re.split(r"[;:] |\. ", text)[0].rstrip(".")
    return (first if limit is None or len(first) < limit else first.partition(",")[0]) + "."


# --- the man page -----------------------------------------------------------------------------------------------


def man() -> str:
    """The man page lci(1), which describes all commands, in troff."""
    from lci_py import __version__

    lines = [f'.TH LCI 1 "" "lci {__version__}" "User Commands"', ".SH NAME", "lci \\- " + _troff(ABOUT[:-1].lower())]
    lines += [".SH SYNOPSIS", ".B lci", "COMMAND [ARGUMENT] [FLAGS]", ".SH COMMANDS"]
    for command in COMMANDS.values():
        lines += [f".SS {_troff(_usage(command).removeprefix('Usage: '))}", _troff(command.help)]
        terms = [(flag, _term(flag)) for flag in command.flags]
        for term, meaning in [*_arguments(command), *((term, _meaning(flag)) for flag, term in terms)]:
            lines += [".TP", f".B {_troff(term)}", _troff(meaning)]
        for line, does in command.examples:
            lines += [".PP", _troff(f"{does}:"), ".br", f".B {_troff(line)}"]
    lines += [".SH EXIT STATUS", _troff(CODES)]
    return "\n".join(lines) + "\n"


def _troff(text: str) -> str:
    """A line of text, escaped so that troff does not read any part of it as a troff command."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    escaped = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in escaped)
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped
