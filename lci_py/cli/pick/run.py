"""`lci pick`: opens the index, shows the screen, and opens the selection in the editor or prints it."""

from __future__ import annotations

import gc
import os
import re
import shlex
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from lci_py.cli.output import from_here
from lci_py.cli.pick.questions import ALL_MODES
from lci_py.cli.request import flag_filters, open_engine
from lci_py.cli.streams import paths_stdout, write_json, writing
from lci_py.cli.terminal import has_color
from lci_py.errors import EXIT_NO_RESULTS, EXIT_OK, ConfigError, UsageError, unknown_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output

    from lci_py.app import Engine
    from lci_py.cli.command_line import Invocation
    from lci_py.cli.pick.questions import Entry

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


def is_possible() -> bool:
    """Whether `lci pick` has a terminal for its screen, and the library that draws the screen."""
    return sys.stdout.isatty() and sys.stdin is not None and sys.stdin.isatty() and _is_installed()


def run_pick(call: Invocation) -> int:
    """Let the user select entries, and open or print them; the exit code is 1 if nothing was selected."""
    mode, filters, color = _mode(call.text("mode")), flag_filters(call), has_color(call, True)
    printed = call.flag("print") or call.flag("json")
    terminal = _terminal(printed=printed)
    gc.enable()  # the entry point turned it off for short runs
    with open_engine(call) as engine:
        from lci_py.cli.pick.screen import Screen
        from lci_py.cli.pick.state import Picker
        from lci_py.cli.pick.worker import Worker
        from lci_py.render.text.style import signs_for

        screen = Screen(
            signs_for(sys.stdout.encoding),
            lambda entries: _open(engine, entries),
            lambda entries: "\n".join(_places(call, engine, entries)),
        )
        worker = Worker(screen.post)
        picker = Picker(engine, worker, mode, filters, screen.changed)
        try:
            entries = screen.run(picker, call.text("argument") or "", terminal, worker.start, color=color)
        finally:
            worker.stop()
        if entries and not printed:
            return _open(engine, entries)
        with writing():
            if call.flag("json"):
                from lci_py.render.json.answer import SCHEMA_VERSION

                write_json({"schema_version": SCHEMA_VERSION, "command": "pick", "results": list(map(_json, entries))})
            else:
                paths_stdout().writelines(f"{location}\n" for location in _places(call, engine, entries))
        return EXIT_OK if entries else EXIT_NO_RESULTS


def _json(entry: Entry) -> dict[str, object]:
    fields = {"file": entry.file, "line": entry.line, "qualified_name": entry.name, "kind": entry.kind}
    return {key: value for key, value in fields.items() if value}


def _is_installed() -> bool:
    return all(find_spec(name) is not None for name in ("prompt_toolkit", "pygments"))


def _mode(name: str | None) -> str:
    """The search mode that a name or its first letter stands for; None stands for the first mode."""
    for mode in ALL_MODES:
        if name in (None, mode, mode[0]):
            return mode
    raise unknown_value("mode", name or "", ALL_MODES)


def _terminal(*, printed: bool) -> tuple[Input, Output]:
    """Returns (keyboard, output to draw on). The output is stdout, or the terminal itself if stdout gets the selection.

    Raises:
        UsageError: There is no terminal, or the library is missing.
    """
    if sys.stdin is None or not sys.stdin.isatty() or os.environ.get("TERM") == "dumb":
        raise UsageError("`lci pick` needs a terminal", hint="`lci search` answers a program")
    if not (printed or sys.stdout.isatty()):
        raise UsageError("standard output is not a terminal", hint="`lci pick --print` writes what is chosen there")
    if not _is_installed():
        raise UsageError("the extra pick is not installed", hint="pip install 'lci-py[pick]'")
    from prompt_toolkit.input import create_input
    from prompt_toolkit.output import create_output

    try:
        screen = sys.stdout if sys.stdout.isatty() else open("/dev/tty", "w", encoding="utf-8")  # noqa: SIM115  # to the end
    except OSError as error:
        raise UsageError(f"there is no terminal to draw on: {error.strerror}") from error
    return create_input(sys.stdin), create_output(screen)


def _open(engine: Engine, entries: Sequence[Entry]) -> int:
    """Open the locations of entries in the editor, and wait until it ends.

    Raises:
        ConfigError: The editor does not exist.
    """
    import signal
    import subprocess

    words = editor_command([(os.path.join(str(engine.root), entry.file), entry.line) for entry in entries], os.environ)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the editor's
    try:
        subprocess.run(words, check=False, preexec_fn=lambda: signal.signal(signal.SIGINT, before))
    except OSError as error:
        hint = "set LCI_EDITOR, VISUAL or EDITOR"
        raise ConfigError(f"cannot start the editor {words[0]}: {error.strerror}", hint=hint) from error
    finally:
        signal.signal(signal.SIGINT, before)
    return EXIT_OK


def _places(call: Invocation, engine: Engine, entries: Sequence[Entry]) -> list[str]:
    """The text FILE:LINE for each entry, with paths as other commands print them."""
    relative = (from_here(entry, call, "paths", engine.root) for entry in entries)
    return [f"{entry.file}:{entry.line}" for entry in relative]


def editor_command(places: Sequence[tuple[str, int]], environment: Mapping[str, str]) -> list[str]:
    """The command line that opens `places`, each (absolute path, line), in the editor. No shell interprets it.

    Raises:
        ConfigError: The environment variable that names the editor is no valid command.
    """
    variable = next((name for name in ("LCI_EDITOR", "VISUAL", "EDITOR") if environment.get(name, "").strip()), "")
    text = environment[variable] if variable else "vi"
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ConfigError(f"{variable} is not a command: {error}", hint="set it to the command of an editor") from error
    own = [word for word in words if "{path}" in word or "{line}" in word]
    if own:
        start = words.index(own[0])
        return [*words[:start], *_arguments([words[start:]] * len(places), places)]
    letters = re.match("[a-z_]*", os.path.basename(words[0]).lower())
    form = _BY_NAME.get(letters[0] if letters else "")
    forms = [form] * len(places) if form else [_FIRST, *[_REST] * (len(places) - 1)]
    return [*words, *_arguments(forms, places)]


def _arguments(forms: Sequence[Sequence[str]], places: Sequence[tuple[str, int]]) -> list[str]:
    """The editor's arguments for all locations: `forms` with line and path filled in. Braces in a path are kept."""
    return [
        word.replace("{line}", str(line)).replace("{path}", path)
        for form, (path, line) in zip(forms, places, strict=True)
        for word in form
    ]
