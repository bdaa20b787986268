"""Handles Ctrl-C: calls the actions that `at_interrupt` has registered, and ends the process with exit code 130.

No exception is raised. KeyboardInterrupt can occur anywhere: imports and C extensions turn it into another error,
finalisers and callbacks drop it, and the interpreter prints it where nobody catches it.

This is the first module that the program imports, so it imports only what is built into the interpreter.
"""

# Not `signal`: it imports `enum` first, and Python's own handler would be in place for longer.
import _signal  # type: ignore[import-not-found]
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_EXIT = 130  # `EXIT_INTERRUPTED` of errors.py, which imports too much

_process = 0  # that has called `install`
_actions: "list[Callable[[], object]]" = []


def install() -> None:
    """Handle Ctrl-C from now on, unless whoever started the program has Ctrl-C ignored, as `nohup` does.

    In a forked process, also discard the actions that the parent has registered.
    """
    global _process
    _process = os.getpid()
    _actions.clear()
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        try:
            _signal.signal(_signal.SIGINT, _end)
        except ValueError:
            pass  # only the main thread can handle signals


def at_interrupt(action: "Callable[[], object]") -> "_Registration":
    """A context manager. Ctrl-C in its body calls `action` and then ends the process; the latest action comes first.

    An action runs between any two steps of the program: it must not wait for a lock, nor import a module that may be in
    the middle of its import. Without `install`, KeyboardInterrupt is raised as usual, and no action is called.
    """
    return _Registration(action)


class _Registration:
    # Not a generator with `contextmanager`: contextlib takes milliseconds to import.
    def __init__(self, action: "Callable[[], object]") -> None:
        self._action = action

    def __enter__(self) -> None:
        _actions.append(self._action)

    def __exit__(self, *_exc: object) -> None:
        _actions.remove(self._action)


def say(stream: int, text: str) -> None:
    """Write to a file descriptor, bypassing Python's buffers, which the interrupted code may be using."""
    try:
        os.write(stream, text.encode("utf-8", "replace"))
    except OSError:
        pass  # the reader has gone, too


def _end(*_: object) -> None:
    _signal.signal(_signal.SIGINT, _end_now)
    if os.getpid() == _process:  # a forked process has the handler for a moment, but not what it would clean up
        while _actions:
            try:
                _actions.pop()()
            except BaseException:  # what cannot be cleaned up now is by the next run
                pass
    os._exit(_EXIT)


def _end_now(*_: object) -> None:
    """End the process: the handler of a second Ctrl-C, which comes while the actions run."""
    os._exit(_EXIT)
