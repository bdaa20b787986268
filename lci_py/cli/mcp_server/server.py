"""The server: the official SDK speaks the protocol, and each call of a tool becomes a request to the worker process."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import server as sdk
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from lci_py import __version__
from lci_py.cli.mcp_server.tools import Tool, command_object, instructions
from lci_py.cli.mcp_server.wire import NO_JSON, NO_MESSAGE, Wire
from lci_py.cli.mcp_server.worker import WorkerProcess, said_error
from lci_py.cli.request import plain_text
from lci_py.errors import LciError, unknown_value

#: Seconds that a client has to say which folders are open in it.
_ROOTS_SECONDS = 5.0
_ROOTS = "roots"
_STATUS = types.Resource(
    name="status", uri="lci://status", description="What is indexed, and how fresh it is", mime_type="application/json"
)
_Context: TypeAlias = ServerRequestContext[Any]


class Server:
    """Serves one client, in one folder at a time."""

    def __init__(
        self, wire: Wire, tools: Sequence[Tool], worker: WorkerProcess, root: str | None, *, structured: bool = False
    ) -> None:
        """Make a server that is not yet running.

        Args:
            tools: The tools to offer.
            worker: Answers the calls of tools.
            root: The folder to search; None to ask the client which folders it has open.
            structured: Whether answers are JSON instead of text.
        """
        self._wire = wire
        self._tools = {tool.name: tool for tool in tools}
        self._worker = worker
        self._root = root
        self._structured = structured
        self._of_client: str | None = None
        self._unsaid = ""  # about the folder, to be said with the next answer
        self._asked = False  # for the folder
        self._turn = anyio.Lock()

    def run(self, replayed: list[bytes], line: bytes | None) -> None:
        """Serve until the client has gone.

        Args:
            replayed: Lines that `Greeting` has answered, for the SDK to read again; its answer to the first is dropped.
            line: A line that `Greeting` has not answered; None if there is no such line.
        """
        lines = [*replayed, *([] if line is None else [line])]
        anyio.run(self._serve, _Input(self._wire, lines), _Output(self._wire, dropped=len(replayed[:1])))

    async def _serve(self, lines: Any, answers: Any) -> None:
        server = sdk.Server[Any](
            "lci",
            version=__version__,
            instructions=instructions(list(self._tools.values())),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )
        changed = "notifications/roots/list_changed"
        server.add_notification_handler(changed, types.NotificationParams, self._forget_folder)
        async with stdio_server(lines, answers) as (read, write):
            await server.run(read, write, server.create_initialization_options())

    # --- what is offered ------------------------------------------------------------------------------------------

    async def _list_tools(self, _context: _Context, _params: object) -> types.ListToolsResult:
        return types.ListToolsResult.model_validate({"tools": [tool.listed() for tool in self._tools.values()]})

    async def _list_resources(self, _context: _Context, _params: object) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[_STATUS])

    async def _list_templates(self, _context: _Context, _params: object) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[])

    # --- calls ----------------------------------------------------------------------------------------------------

    async def _call_tool(
        self, context: _Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        try:
            tool = self._tools.get(params.name)
            if tool is None:
                raise unknown_value("tool", params.name[:100], list(self._tools))
            command = command_object(tool, params.arguments or {})
            if reply := await self._ask_for_folder(context, params):
                return reply
            answer = await self._ask(context, command, as_json=self._structured)
        except LciError as error:
            answer = {"text": said_error(error, as_json=self._structured), "error": True}
        text, unsaid, self._unsaid = plain_text(answer["text"]).strip("\n") or "no results", self._unsaid, ""
        data = _without_surrogates(json.loads(answer["text"])) if self._structured else None
        content = f"{text}\n{unsaid}" if unsaid and not self._structured else text
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=content)], structured_content=data, is_error=answer["error"]
        )

    async def _read_resource(
        self, context: _Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        if str(params.uri) != _STATUS.uri:
            raise MCPError(types.INVALID_PARAMS, "there is no such resource", {"uri": str(params.uri)[:200]})
        if reply := await self._ask_for_folder(context, params):
            return reply
        try:
            text = (await self._ask(context, {"command": "status"}, as_json=True))["text"]
        except LciError as error:
            text = said_error(error, as_json=True)
        contents = types.TextResourceContents(uri=_STATUS.uri, mime_type=_STATUS.mime_type, text=plain_text(text))
        return types.ReadResourceResult(contents=[contents])

    async def _ask(self, context: _Context, command: dict[str, Any], *, as_json: bool) -> dict[str, Any]:
        """Send a command to the worker, and return the worker's answer. If the client cancels, the worker is ended."""
        source = "flag" if self._root else "client" if self._of_client else "nobody"
        folder = self._root or self._of_client or os.getcwd()
        request = {"folder": folder, "chosen": source, "command": command, "json": as_json}

        def report(part: float, stage: str) -> None:
            anyio.from_thread.run(context.session.report_progress, part, 1.0, stage)

        async with self._turn:
            try:
                ask = partial(self._worker.ask, request, report)
                return await anyio.to_thread.run_sync(ask, abandon_on_cancel=True)
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(self._worker.stop)
                    self._worker.started()
                raise

    # --- the folder -----------------------------------------------------------------------------------------------

    async def _ask_for_folder(
        self, context: _Context, params: types.CallToolRequestParams | types.ReadResourceRequestParams
    ) -> types.InputRequiredResult | None:
        """Ask the client once which folders it has open, and use the first that exists.

        Returns:
            A reply that makes the client call again and send its folders, if the protocol has no other way; else None.
        """
        capabilities = context.session.client_capabilities
        if self._root or self._asked or capabilities is None or capabilities.roots is None:
            return None
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            reply = (params.input_responses or {}).get(_ROOTS)
            if reply is None:
                return types.InputRequiredResult(input_requests={_ROOTS: types.ListRootsRequest()})
        else:
            try:
                reply = await context.session.send_request(
                    types.ListRootsRequest(), types.ListRootsResult, request_read_timeout_seconds=_ROOTS_SECONDS
                )
            except (MCPError, TimeoutError, ValueError):
                reply = None  # it says that it has roots, and does not name them
        self._asked = True
        folders = [_folder(str(root.uri)) for root in reply.roots] if isinstance(reply, types.ListRootsResult) else []
        there = list(dict.fromkeys(folder for folder in folders if folder))
        self._of_client = there[0] if there else None
        if len(there) > 1:
            others = ", ".join(map(plain_text, there[1:]))
            self._unsaid = (
                f"only {plain_text(there[0])} is searched, not {others}: start a server per folder, or name a workspace"
            )
        return None

    async def _forget_folder(self, _context: _Context, _params: object) -> None:
        self._asked = False


def _folder(uri: str) -> str | None:
    """The folder that a `file:` URI names; None if no such folder exists."""
    try:
        parts = urlsplit(uri)
        path = unquote(parts.path)
        local = parts.scheme == "file" and parts.netloc in ("", "localhost") and "\0" not in path
        return os.path.realpath(path) if local and os.path.isdir(path) else None
    except (ValueError, OSError):
        return None


def _without_surrogates(value: Any) -> Any:
    """A copy of a JSON value, with lone surrogates replaced, so that it can be written as UTF-8."""
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {plain_text(key): _without_surrogates(item) for key, item in value.items()}
    return value


# --- the wire, as the SDK reads and writes it ---------------------------------------------------------------------


class _Input:
    """Iterates over the client's messages, for the SDK. Invalid lines are answered here: the SDK would drop them."""

    def __init__(self, wire: Wire, first: list[bytes]) -> None:
        self._wire = wire
        self._first = first

    def __aiter__(self) -> _Input:
        return self

    async def __anext__(self) -> str:
        while line := self._first.pop(0) if self._first else await self._read():
            if (message := self._message(line)) is not None:
                return message
        raise StopAsyncIteration

    async def _read(self) -> bytes:
        return await anyio.to_thread.run_sync(self._wire.read, abandon_on_cancel=True)

    def _message(self, line: bytes) -> str | None:
        """The message in a line, for the SDK; None if the line is empty, or invalid and so answered here."""
        text = line.decode("utf-8", "replace")
        if not text.strip() or _is_message(text):
            return text.strip() or None
        try:
            value = _without_surrogates(json.loads(text))  # half a character is no JSON for the SDK
        except (ValueError, RecursionError):
            self._wire.refuse(NO_JSON, "the line is not JSON")
            return None
        if _is_message(text := json.dumps(value)):
            return text
        number = value.get("id") if isinstance(value, dict) else None
        has_id = isinstance(number, (int, str)) and not isinstance(number, bool)
        self._wire.refuse(NO_MESSAGE, "the line is not a message of JSON-RPC 2.0", number if has_id else None)
        return None


def _is_message(text: str) -> bool:
    try:
        message = types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        return False
    # The SDK takes a request with an id that cannot be one for a notification, which nobody answers.
    return not (isinstance(message, types.JSONRPCNotification) and "id" in json.loads(text))


class _Output:
    def __init__(self, wire: Wire, *, dropped: int) -> None:
        self._wire = wire
        self._dropped = dropped  # answers that the client has had

    async def write(self, text: str) -> None:
        if self._dropped:
            self._dropped -= 1
        else:
            with suppress(BrokenPipeError):  # a client that reads no more ends the server by asking no more
                self._wire.write(text.encode())

    async def flush(self) -> None:
        pass
