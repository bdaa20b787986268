"""Parses a command line by the table of options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from lci_py.cli.options import COMMANDS, Command, Flag
from lci_py.errors import UsageError, unknown_value
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


Value = str | int | bool | tuple[str, ...] | None
#: The key of a command's argument in `Invocation.values`.
ARGUMENT = "argument"
#: The key of what may follow it.
MORE = "more"
_INT = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)
_HELP = ("-h", "--help")
#: First arguments of a line that is about the program.
_ABOUT = (*_HELP, "help", "-V", "--version", "--complete", "--completion")
#: Arguments that are looked for in the source, where a text like an option can stand.
_TEXTS = ("QUERY", "PATTERN", "NAME")


class Invocation(NamedTuple):
    """A command, with its argument and the value of each of its flags in `values`."""

    command: str
    values: Mapping[str, Value]
    session: Any = None  # what answers, where it stays open between commands: a `KeptEngine`, or the root of a fleet

    def flag(self, name: str) -> bool:
        return self.values.get(name) is True

    def text(self, name: str) -> str | None:
        value = self.values.get(name)
        return value if isinstance(value, str) else None

    def number(self, name: str) -> int | None:
        value = self.values.get(name)
        return value if isinstance(value, int) else None

    @property
    def starts_at_root(self) -> bool:
        """Whether paths are relative to the root: with --root, but without --workspace; else to the current folder."""
        return self.text("root") is not None and self.text("workspace") is None

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.values.get(name)
        return value if isinstance(value, tuple) else ()


def defaults(command: Command) -> dict[str, Value]:
    """The values of a command's argument and flags if none is given."""
    values: dict[str, Value] = {}
    if command.argument:
        values[ARGUMENT] = () if command.argument.many else None
    if command.more:
        values[MORE] = ()
    for flag in command.flags:
        values[flag.name] = {"flag": False, "int": flag.default, "text": None, "once": None, "list": ()}[flag.shape]
    return values


def parse(argv: Sequence[str]) -> Invocation | None:
    """The parsed command line; None if it asks for help, the version or a completion.

    Raises:
        UsageError: The command or an option is unknown, a value is missing or of the wrong type, or the number of
            arguments is wrong.
    """
    if not argv or argv[0] in _ABOUT:
        return None
    command = COMMANDS.get(argv[0])
    if command is None:
        if argv[0].startswith("-"):
            raise UsageError(f"no such option: {argv[0]}", hint="an option follows its command: see `lci --help`")
        raise unknown_value("command", argv[0], tuple(COMMANDS))
    line = _Line(command, list(argv[1:])[::-1])
    return Invocation(command.name, line.values) if line.read() else None


class _Line:
    """The arguments of a command, while they are read."""

    def __init__(self, command: Command, rest: list[str]) -> None:
        """`rest` has the arguments after the command in reverse order, so that `pop` takes the next argument."""
        self.values = defaults(command)
        self._command = command
        self._rest = rest
        self._flags = {spelling: flag for flag in command.flags for spelling in flag.spellings}

    def read(self) -> bool:
        """Read all arguments into `values`; returns False if help is asked for."""
        positionals: list[str] = []
        while self._rest:
            token = self._rest.pop()
            if token == "--":
                positionals += reversed(self._rest)
                break
            if len(token) < 2 or token[0] != "-":
                positionals.append(token)
            elif not self._option(token):
                return False
        self._arguments(positionals)
        return True

    def _arguments(self, words: list[str]) -> None:
        argument, name = self._command.argument, self._command.name
        if patterns := self.values.get("regexp"):
            words = [self._either(cast("tuple[str, ...]", patterns)), *words]
        if argument and argument.required and self.values.get("batch") is None and not words:
            raise self._wrong(f"missing argument {argument.metavar!r}")
        if argument and argument.many:
            self.values[ARGUMENT] = tuple(words)
            return
        if self._command.more:
            self.values[MORE], words = tuple(words[1:]), words[:1]
        limit = 1 if argument else 0
        if len(words) > limit:
            takes = f"one {argument.metavar}" if argument else "no argument"
            raise self._wrong(f"`lci {name}` takes {takes}, and {words[limit]!r} is one too many")
        if words:
            self.values[ARGUMENT] = words[0]

    def _either(self, patterns: tuple[str, ...]) -> str:
        """Joins the patterns of several -e into a single regular expression that matches any of them."""
        if len(patterns) == 1:
            return patterns[0]
        if self.values["fixed_strings"]:
            self.values["fixed_strings"], patterns = False, tuple(map(re.escape, patterns))
        return "|".join(f"(?:{pattern})" for pattern in patterns)

    def _option(self, token: str) -> bool:
        """Read an option and, if it needs one, its value from the next argument; returns False if help is asked for."""
        if token.startswith("--"):
            spelling, equals, attached = token.partition("=")
            flag = self._flags.get(spelling)
            if flag is None:
                if token in _HELP:
                    return False
                raise self._no_such_option(spelling, token)
            if flag.shape != "flag":
                self._store(flag, attached if equals else self._value(spelling))
            elif equals:
                raise self._wrong(f"{spelling} takes no value")
            else:
                self.values[flag.name] = True
            return True
        # Short options can be joined: -qv, -n5, -qn5.
        for i, letter in enumerate(token[1:], 2):
            flag = self._flags.get(f"-{letter}")
            if flag is None:
                if letter == "h":
                    return False
                raise self._no_such_option(f"-{letter}", token)
            if flag.shape != "flag":
                self._store(flag, token[i:] or self._value(f"-{letter}"))
                return True
            self.values[flag.name] = True
        return True

    def _value(self, spelling: str) -> str:
        if not self._rest:
            raise self._wrong(f"{spelling} needs a value")
        return self._rest.pop()

    def _store(self, flag: Flag, text: str) -> None:
        value = self.values[flag.name]
        if flag.shape == "int":
            if not _INT.fullmatch(text):
                raise self._wrong(f"{flag.spellings[0]} must be a whole number of up to nine digits, not {text!r}")
            self.values[flag.name] = int(text)
        elif flag.shape == "list":
            self.values[flag.name] = (*(value if isinstance(value, tuple) else ()), text)
        elif flag.shape == "once" and value is not None:
            raise UsageError(f"{flag.spellings[0]} is given twice", hint="give it once")
        else:
            self.values[flag.name] = text

    def _no_such_option(self, spelling: str, token: str) -> UsageError:
        path = f"lci {self._command.name}"
        for spellings, instead in self._command.refused:
            if spelling in spellings.split():
                return UsageError(f"`{path}` has no {spelling}", hint=instead)
        import shlex

        sought = f"{path} -- {shlex.quote(token)}"
        if not spelling.startswith("--") and self._command.argument:
            return UsageError(f"no such option: {spelling}", hint=f"if it is no option, write -- before it: {sought}")
        from difflib import get_close_matches

        long = [option[2:] for option in (*self._flags, "--help") if option.startswith("--")]
        near = [f"did you mean --{name}?" for name in get_close_matches(spelling[2:], long, 1)]
        if self._command.argument and self._command.argument.metavar in _TEXTS:
            near.append(f"to look for {spelling} itself: {sought}")
        return UsageError(f"no such option: {spelling}", hint=" ".join(near) or f"see `{path} --help`")

    def _wrong(self, problem: str) -> UsageError:
        return UsageError(problem, hint=f"see `lci {self._command.name} --help`")
