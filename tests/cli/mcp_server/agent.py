"""An agent: the SDK's own client, which talks to `lci mcp` over pipes; with plain functions instead of coroutines."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio.from_thread
import mcp_types as types
from mcp import Client, StdioServerParameters, stdio_client

from tests.cli.fake import environment
from tests.support.waiting import PATIENCE
from tests.support.zygote import RELAY


class Agent:
    """Calls tools of one server."""

    def __init__(self, client: Client, portal: Any) -> None:
        self.client = client
        self.portal = portal

    def ask(self, question: Callable[..., Any], *args: Any, **options: Any) -> Any:
        async def wait() -> Any:
            with anyio.fail_after(PATIENCE):
                return await question(*args, **options)

        return self.portal.call(wait)

    def tools(self) -> list[str]:
        return [tool.name for tool in self.ask(self.client.list_tools).tools]

    def call(self, tool: str, /, **arguments: Any) -> types.CallToolResult:
        return self.ask(self.client.call_tool, tool, arguments)

    def text(self, tool: str, /, **arguments: Any) -> str:
        found = self.call(tool, **arguments)
        assert found.structured_content is None, "a client that has both shows its model only this"
        [content] = found.content
        return content.text

    def json(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        found = self.call(tool, **arguments).structured_content
        assert found is not None
        return found


@contextmanager
def agent(
    zygote: str | None,
    cwd: Path,
    *flags: str,
    mode: str = "legacy",
    roots: Callable[[], list[Path]] | None = None,
    structured: bool = True,
) -> Iterator[Agent]:
    """A client and the server that it starts, in a folder; its answers are JSON, or text.

    Args:
        zygote: The socket of what forks the server; None starts an interpreter, which imports the SDK for a second.
        cwd: The folder.
        *flags: Of `lci mcp`.
        mode: Of the SDK's client: which protocol it speaks.
        roots: The folders that the client says it has open.
        structured: Whether answers are JSON.
    """

    async def open_folders(_context: object) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=root.as_uri()) for root in roots()])

    start = ["-m", "lci_py"] if zygote is None else ["-I", "-S", "-c", RELAY, zygote]
    params = StdioServerParameters(
        command=sys.executable,
        args=[*start, "mcp", *flags, *(["--structured"] * structured)],
        cwd=cwd,
        env=environment(),
    )
    with anyio.from_thread.start_blocking_portal() as portal:
        client = Client(stdio_client(params), mode=mode, list_roots_callback=open_folders if roots else None)
        with portal.wrap_async_context_manager(client):
            yield Agent(client, portal)
