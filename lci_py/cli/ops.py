"""`lci clean` and `lci hook`."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from lci_py.cli.options import HOOK
from lci_py.cli.streams import machine_stdout, screen, writing
from lci_py.errors import EXIT_NO_RESULTS, EXIT_OK, unknown_value

if TYPE_CHECKING:
    from lci_py.cli.fast_parser import Invocation


def run_clean(call: Invocation) -> int:
    from lci_py import app

    cleaned = app.clean(call.text("root"), cache_only=call.flag("cache"))
    with writing():
        if call.flag("json"):
            from lci_py.render.json.answer import dumps, plain_object

            machine_stdout().write(dumps(plain_object(cleaned)) + "\n")
        elif not call.flag("quiet"):
            from lci_py.render.text.index import render_cleaned

            render_cleaned(cleaned, file=sys.stdout)
    return EXIT_OK


def run_hook(call: Invocation) -> int:
    action, actions = call.text("argument") or "", HOOK.argument.choices if HOOK.argument else ()
    if action not in actions:
        raise unknown_value("action", action, actions)
    from lci_py import app

    if action == "run":
        _detach()
        app.run_hook(call.text("root"))
        return EXIT_OK
    found = app.hooks(call.text("root"), action, force=call.flag("force"))
    with writing():
        if call.flag("json"):
            from lci_py.render.json.answer import dumps, plain_object

            machine_stdout().write(dumps(plain_object(found)) + "\n")
        elif not call.flag("quiet"):
            from lci_py.render.text.index import render_hooks

            to = screen()
            render_hooks(found, file=to.file, color=to.color)
    wanted = ("absent", "skipped") if action == "uninstall" else ("installed",)
    return EXIT_OK if all(hook["state"] in wanted for hook in found["hooks"]) else EXIT_NO_RESULTS


def _detach() -> None:
    """What a hook starts outlives it: away from its terminal, with a low priority, and without what git told it."""
    gc.enable()  # `run` turned it off, which is for short lives
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"):
        os.environ.pop(name, None)
    with suppress(OSError):
        os.setsid()
    with suppress(OSError):
        os.nice(10)
