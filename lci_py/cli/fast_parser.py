"""Read a well-formed command line without typer, whose import takes longer than a search.

For anything else (help, completion, any error) the parser returns None, and typer reads the line. Both must read every
line alike; tests/cli/test_fast_parser.py compares them.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from lci_py.cli.options import COMMANDS, Command, Flag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Value = str | int | bool | tuple[str, ...] | None
#: The key of a command's argument in `Invocation.values`.
ARGUMENT = "argument"
#: The key of what may follow it.
MORE = "more"
COMPLETE_VARIABLE = "_LCI_COMPLETE"
_INT = re.compile(r"-?[0-9]{1,9}", re.ASCII)


class Invocation(NamedTuple):
    """A command, its argument, and the value of each of its flags."""

    command: str
    values: Mapping[str, Value]

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
        """Whether paths start at the root because --root is given; those of --workspace start at the current one."""
        return self.text("root") is not None and self.text("workspace") is None

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.values.get(name)
        return value if isinstance(value, tuple) else ()


def defaults(command: Command) -> dict[str, Value]:
    """The values of a command without argument and flags."""
    values: dict[str, Value] = {}
    if command.argument:
        values[ARGUMENT] = () if command.argument.many else None
    if command.more:
        values[MORE] = ()
    for flag in command.flags:
        values[flag.name] = {"flag": False, "int": flag.default, "text": None, "once": None, "list": ()}[flag.shape]
    return values


def parse(argv: Sequence[str]) -> Invocation | None:
    """The invocation, or None if typer must read the line."""
    command = COMMANDS.get(argv[0]) if argv else None
    if command is None or os.environ.get(COMPLETE_VARIABLE):
        return None
    values = defaults(command)
    spelled = {spelling: flag for flag in command.flags for spelling in flag.spellings}
    rest = list(argv[1:])[::-1]
    positionals: list[str] = []
    while rest:
        token = rest.pop()
        if token == "--":
            positionals += reversed(rest)
            break
        if len(token) < 2 or token[0] != "-":
            positionals.append(token)
        elif not _option(token, spelled, rest, values):
            return None
    argument = command.argument
    required = argument is not None and argument.required and values.get("batch") is None
    if argument and argument.many:
        if required and not positionals:
            return None
        values[ARGUMENT] = tuple(positionals)
        return Invocation(command.name, values)
    if command.more:
        values[MORE], positionals = tuple(positionals[1:]), positionals[:1]
    if len(positionals) > (1 if argument else 0) or (required and not positionals):
        return None
    if positionals:
        values[ARGUMENT] = positionals[0]
    return Invocation(command.name, values)


def _option(token: str, spelled: Mapping[str, Flag], rest: list[str], values: dict[str, Value]) -> bool:
    """Read one option into `values`, taking its value from `rest` if it needs one; False if it is not well formed."""
    if token.startswith("--"):
        spelling, equals, attached = token.partition("=")
        flag = spelled.get(spelling)
        if flag is None:
            return False
        if flag.shape == "flag":
            return not equals and _store(flag, "", values)
        if not equals:
            return bool(rest) and _store(flag, rest.pop(), values)
        return _store(flag, attached, values)
    # Short options can be joined: -qv, -n5, -qn5.
    for i, letter in enumerate(token[1:], 2):
        flag = spelled.get(f"-{letter}")
        if flag is None:
            return False
        if flag.shape == "flag":
            _store(flag, "", values)
            continue
        if i < len(token):
            return _store(flag, token[i:], values)
        return bool(rest) and _store(flag, rest.pop(), values)
    return True


def _store(flag: Flag, text: str, values: dict[str, Value]) -> bool:
    if flag.shape == "flag":
        values[flag.name] = True
    elif flag.shape == "int":
        if not _INT.fullmatch(text):
            return False
        values[flag.name] = int(text)
    elif flag.shape == "list":
        held = values[flag.name]
        values[flag.name] = (*(held if isinstance(held, tuple) else ()), text)
    elif flag.shape == "once" and values[flag.name] is not None:
        return False
    else:
        values[flag.name] = text
    return True
