"""Sets up stdout and stderr: encodings, terminals, broken pipes, and errors as text or JSON."""

from __future__ import annotations

import codecs
import os
import re
import sys
from contextlib import contextmanager, nullcontext, suppress
from typing import IO, TYPE_CHECKING

from lci_py import interrupts
from lci_py.errors import InterruptedRun, LciError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from lci_py.cli.command_line import Invocation
    from lci_py.render.text.progress import Progress
    from lci_py.render.text.style import Page

#: A bug in this program: EX_SOFTWARE of sysexits.h.
EXIT_INTERNAL = 70
_MACHINE_FLAGS = ("--json", "--jsonl", "--batch", "--fields")
#: --format, in arguments that are separated by NUL.
_MACHINE_FORMAT = "\0(?:--format[\0=]|-f\0?)jsonl?\0"
_BYTES = "lci-bytes"

_json_begun = False  # some of the answer is on stdout


def _bytes_or_escape(error: UnicodeError) -> tuple[str | bytes, int]:
    """The error handler for paths in a pipe: restores bytes that are not UTF-8, and escapes what cannot be encoded."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeEncodeError:
        return codecs.backslashreplace_errors(error)


def prepare_streams() -> None:
    """Make stdout and stderr accept any text, so that no character of a repository makes the program fail."""
    codecs.register_error(_BYTES, _bytes_or_escape)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller: `lci … >&-`
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # open until the process ends
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def machine_stdout() -> IO[str]:
    """stdout, set to UTF-8 for JSON, whatever the locale says."""
    global _json_begun
    _json_begun = True
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    return sys.stdout


def write_json(value: object) -> None:
    """Write a JSON value to stdout as one line."""
    from lci_py.render.json.answer import dumps

    machine_stdout().write(dumps(value) + "\n")


def paths_stdout() -> IO[str]:
    """stdout for lines of paths. A pipe gets the exact bytes of each path, so that the reader can open the file."""
    if hasattr(sys.stdout, "reconfigure") and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8", errors=_BYTES)
    return sys.stdout


def screen(call: Invocation) -> Page:
    """stdout as a `Page`: with a width and a pager on a terminal, and with colours and links if wanted.

    Raises:
        UsageError: A flag or an environment variable has no valid value.
    """
    from lci_py.render.text.style import Page

    styled = call.text("color") or call.text("hyperlink") or os.environ.get("FORCE_COLOR")
    if not styled and not sys.stdout.isatty():
        return Page(sys.stdout)
    from lci_py.cli import terminal

    return Page(*terminal.stdout_for(call))


def warn(text: str, *, quiet: bool) -> None:
    """Write a warning to stderr if that is a terminal, and not `quiet`; a script finds the warning in the JSON."""
    if not quiet and sys.stderr.isatty():
        say(text)


def say(text: str) -> None:
    """Write a sentence to stderr; on a terminal, the sentence is wrapped between words."""
    from lci_py.render.text.style import Layout, Style, sentence, signs_for

    width = None
    if sys.stderr.isatty():
        with suppress(OSError, ValueError):
            width = os.get_terminal_size(sys.stderr.fileno()).columns or None
    layout = Layout(Style(False), signs_for(sys.stderr.encoding), width)
    sys.stderr.writelines(line + "\n" for line in sentence(f"lci: {text}", layout, "  "))


def say_unknown(name: str, near: Iterable[str]) -> None:
    """Write to stderr, even for a script, that no definition has this name and so stdout is empty."""
    from lci_py.render.text.style import did_you_mean

    say(did_you_mean(name, near))


def silence_stdout() -> None:
    """Redirect stdout to the null device, so that the flush at exit does not fail a second time."""
    with suppress(OSError, ValueError, AttributeError):
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, sys.stdout.fileno())
        os.close(devnull)


@contextmanager
def writing() -> Iterator[None]:
    """Guard the code that prints an answer: a pipe that its reader closes (`| head`) is no error, but a full disk is.

    Raises:
        LciError: The output cannot be written.
    """
    try:
        yield
        if "lci_py.cli.terminal" in sys.modules:
            from lci_py.cli import terminal

            terminal.show_paged()
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
    except OSError as error:
        silence_stdout()
        message = f"cannot write to standard output: {error.strerror or error}"
        raise LciError(message, hint="is the disk full?") from error


def wants_json(argv: Sequence[str]) -> bool:
    """Whether errors go to stdout as JSON. The raw arguments are searched, since they may be invalid."""
    flags = argv[: argv.index("--")] if "--" in argv else argv
    if any(flag in _MACHINE_FLAGS or flag.startswith(("--batch=", "--fields=")) for flag in flags):
        return True
    return re.search(_MACHINE_FORMAT, "\0".join(("", *flags, ""))) is not None


def wants_traceback(argv: Sequence[str]) -> bool:
    flags = argv[: argv.index("--")] if "--" in argv else argv
    return any(flag == "--verbose" or (flag[:1] == "-" and flag[1:2] != "-" and "v" in flag) for flag in flags)


def report(error: LciError, *, as_json: bool) -> int:
    """Print an error with its hint, as JSON on stdout or as a line on stderr, and return its exit code."""
    if as_json:
        from lci_py.render.json.answer import error_object

        with suppress(BrokenPipeError), writing():
            write_json(error_object(error))
        return error.exit_code
    text = f"{error.message}: {error.hint}" if error.hint else error.message
    with suppress(OSError):
        say(" ".join(text.split()))
        sys.stderr.flush()
    return error.exit_code


def say_interrupted(error: InterruptedRun, *, as_json: bool) -> None:
    """Report that Ctrl-C ended the program: as JSON (unless JSON was already written), or as a line on stderr.

    `interrupts` calls this function, which must not import `json` then, and so builds the JSON itself.
    """
    global _json_begun
    if not as_json:
        interrupts.say(2, f"lci: {error.message}, {error.hint}\n")
    elif not _json_begun:
        fields = "".join(f', "{name}": {number}' for name, number in error.details.items())
        text = f'"code": "{error.code}", "message": "{error.message}", "hint": "{error.hint}"{fields}'
        interrupts.say(1, f'{{"error": {{{text}}}}}\n')
        _json_begun = True


def internal(error: Exception, argv: Sequence[str]) -> int:
    """Report an unexpected exception as a bug, with its traceback if -v is given, and return the exit code."""
    if wants_traceback(argv):
        import traceback

        traceback.print_exception(error, file=sys.stderr)
    bug = InternalError(f"internal error: {type(error).__name__}: {error}")
    if not wants_traceback(argv):
        bug.hint = "run with -v for the traceback"
    return report(bug, as_json=wants_json(argv))


class InternalError(LciError):
    """An exception that the program does not expect: a bug."""

    code = "internal"
    exit_code = EXIT_INTERNAL


def progress(call: Invocation) -> AbstractContextManager[Progress | None]:
    """The progress bar of a build; None if stderr is no terminal, or with --quiet or --json."""
    if call.flag("quiet") or call.flag("json") or not sys.stderr.isatty():
        return nullcontext()
    import shutil

    from lci_py.render.text.progress import Progress

    return Progress(sys.stderr, shutil.get_terminal_size().columns)
