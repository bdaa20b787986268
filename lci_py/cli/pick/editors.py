"""The arguments by which each editor opens a file at a line."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING

from lci_py.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Arguments of one place -> the programs that take them, by the letters that their names begin with.
_FORMS = {
    ("+{line}", "{path}"): "emacs emacsclient gedit jed joe kak mg micro nano ne xed",
    ("--goto", "{path}:{line}"): "code codium cursor positron vscodium windsurf",
    ("{path}:{line}",): "helix hx lapce lite subl sublime_text zed zeditor",
    ("--line", "{line}", "{path}"): (
        "clion datagrip goland idea kate kwrite mate phpstorm pycharm rider rubymine rustrover studio webstorm"
    ),
}
_BY_NAME = {name: form for form, names in _FORMS.items() for name in names.split()}
#: vi and what descends from it takes one line, which is that of the first file: also what is unknown.
_FIRST, _REST = ("+{line}", "{path}"), ("{path}",)


def command(places: Sequence[tuple[str, int]], environment: Mapping[str, str]) -> list[str]:
    """The command line that opens files, each an absolute path, at their lines. No shell interprets it.

    Raises:
        ConfigError: The variable that names the editor is no valid command.
    """
    variable = next((name for name in ("LCI_EDITOR", "VISUAL", "EDITOR") if environment.get(name, "").strip()), "")
    text = environment[variable] if variable else "vi"
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ConfigError(f"{variable} is not a command: {error}", hint="set it anew") from error
    own = [word for word in words if "{path}" in word or "{line}" in word]
    if own:
        start = words.index(own[0])
        return [*words[:start], *_arguments([words[start:]] * len(places), places)]
    letters = re.match("[a-z_]*", os.path.basename(words[0]).lower())
    form = _BY_NAME.get(letters[0] if letters else "")
    forms = [form] * len(places) if form else [_FIRST, *[_REST] * (len(places) - 1)]
    return [*words, *_arguments(forms, places)]


def _arguments(forms: Sequence[Sequence[str]], places: Sequence[tuple[str, int]]) -> list[str]:
    """The arguments for all places. Paths are inserted last, so that braces in them are not replaced."""
    return [
        word.replace("{line}", str(line)).replace("{path}", path)
        for form, (path, line) in zip(forms, places, strict=True)
        for word in form
    ]
