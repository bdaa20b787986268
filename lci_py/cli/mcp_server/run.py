"""The entry of `lci mcp`: reads the flags, runs the greeting, and then the server, which imports the SDK."""

from __future__ import annotations

import gc
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from lci_py.cli.mcp_server.greeting import Greeting
from lci_py.cli.mcp_server.tools import tools
from lci_py.cli.mcp_server.wire import Wire
from lci_py.cli.mcp_server.worker import WorkerProcess
from lci_py.cli.options.manage import READABLE, TOOLS
from lci_py.cli.streams import say
from lci_py.errors import EXIT_OK, UsageError, unknown_refresh, unknown_value
from lci_py.types.search import REFRESH

if TYPE_CHECKING:
    from lci_py.cli.command_line import Invocation


def run_mcp(call: Invocation) -> int:
    """Serve until the client has gone, and return the exit code.

    Raises:
        UsageError: The SDK is not installed, or a flag has no valid value.
    """
    which, refresh, root = call.text("tools") or TOOLS[0], call.text("refresh"), call.text("root")
    if which not in TOOLS:
        raise unknown_value("--tools", which, TOOLS)
    files = call.text("files") or READABLE[0]
    if files not in READABLE:
        raise unknown_value("--files", files, READABLE)
    if refresh is not None and refresh not in REFRESH:
        raise unknown_refresh(refresh)
    if find_spec("mcp") is None:
        raise UsageError("the extra mcp is not installed", hint="pip install 'lci-py[mcp]'")
    workspace = False
    if root is not None:
        from lci_py import app

        root = str(app.find_root(root))
        workspace = app.is_of_workspace(root)
    if sys.stdin is not None and sys.stdin.isatty() and not call.flag("quiet"):
        say("an agent starts this, and talks to it on standard input; Ctrl-D ends it")
    wire, offered = Wire(), tools(which, workspace=workspace)
    settings = {"refresh": refresh, "trust_index": call.flag("trust_index"), "indexed_only": files == READABLE[0]}
    worker = WorkerProcess(settings)
    try:
        worker.started()  # it imports its part while this process imports the SDK
        greeting = Greeting(offered)
        line = greeting.run(wire.read, wire.write)
        if line != b"":
            from lci_py.cli.mcp_server.server import Server

            gc.enable()  # the entry point turned it off for short runs, such as this import
            Server(wire, offered, worker, root, structured=call.flag("structured")).run(greeting.replayed, line)
    except BrokenPipeError:
        pass  # the client has gone
    finally:
        worker.stop()
    return EXIT_OK
