"""Completes the word at a shell's cursor: with commands, flags, values of flags, and names in the index."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from lci_py.cli.options import COMMANDS
from lci_py.errors import LciError, unknown_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lci_py.cli.options import Command, Flag

#: Each shell calls `lci --complete`, with the place of the word and all words, which prints one candidate a line.
_SCRIPTS = {
    "bash": """_lci() {
  local IFS=$'\\n'
  COMPREPLY=($(lci --complete "$COMP_CWORD" "${COMP_WORDS[@]}" 2>/dev/null))
}
complete -o default -F _lci lci
""",
    "zsh": """#compdef lci
_lci() {
  local -a found
  found=(${(f)"$(lci --complete $((CURRENT - 1)) "${(@)words}" 2>/dev/null)"})
  if (( $#found )); then compadd -a found; else _files; fi
}
compdef _lci lci
""",
    "fish": (
        "complete -c lci -a "
        "'(lci --complete (count (commandline -opc)) (commandline -opc) (commandline -ct) 2>/dev/null)'\n"
    ),
}
#: Arguments that may be the name of a definition.
_NAMES = frozenset({"NAME", "TARGET", "FROM TO", "FROM", "TO", "QUERY", "QUESTION"})
#: What a shell takes as it is. A name of a repository must not mean anything else to it.
_PLAIN = re.compile(r"[\w./@%+-]+")


def script(shell: str) -> str:
    """The script that makes a shell complete command lines of lci.

    Raises:
        UsageError: lci has no script for this shell.
    """
    if shell not in _SCRIPTS:
        raise unknown_value("shell", shell, tuple(_SCRIPTS))
    return _SCRIPTS[shell]


def complete(argv: Sequence[str]) -> list[str]:
    """The possible completions of a word; each begins with the word.

    Args:
        argv: The index (from 0) of the word to complete, then all words of the command line.
    """
    if not argv or not re.fullmatch("[1-9][0-9]{0,3}", argv[0]):
        return []
    words = [*argv[1:], ""][: int(argv[0]) + 1]
    roots = [after for before, after in pairwise(argv) if before == "--root"]
    return [
        word
        for word in _candidates(words, roots[-1] if roots else None)
        if word.startswith(words[-1]) and _PLAIN.fullmatch(word)
    ]


def _candidates(words: Sequence[str], root: str | None) -> Iterable[str]:
    if len(words) < 3:
        return (*COMMANDS, "help", "--help", "--version", "--completion")
    if words[1] == "help":
        return COMMANDS
    command, word, before = COMMANDS.get(words[1]), words[-1], words[-2]
    if command is None:
        return _SCRIPTS if words[1] == "--completion" else ()
    flags = {spelling: flag for flag in command.flags for spelling in flag.spellings}
    flag = flags.get(before)
    if flag is not None and flag.shape != "flag":
        return _values(flag)
    if word.startswith("-"):
        return (*flags, "--help")
    return _arguments(command, words[-1], root)


def _values(flag: Flag) -> Iterable[str]:
    if flag.choices is None:
        from lci_py import app

        return app.language_words()
    return flag.choices


def _arguments(command: Command, word: str, root: str | None) -> Iterable[str]:
    argument = command.argument
    if argument is None or argument.choices or argument.metavar not in _NAMES or not word:
        return argument.choices if argument else ()
    from lci_py import app

    try:
        return app.names_from(root, word)
    except LciError:
        return ()  # there is no index, or none to read
