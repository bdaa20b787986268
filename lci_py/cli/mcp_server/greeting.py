"""Answers a client's first messages without the SDK, whose import takes longer than agents like to wait.

Every client first asks for the server's description and its tools. The answers are constants, and equal to the answers
of the SDK (tests/cli/mcp_server/test_greeting.py). Anything unusual is left to the SDK.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lci_py import __version__
from lci_py.cli.mcp_server.tools import instructions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lci_py.cli.mcp_server.tools import Tool

#: The versions of the protocol that begin with a handshake, and the one whose requests carry everything they need.
_HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
_STATELESS = "2026-07-28"
_PREFIX = "io.modelcontextprotocol/"
_SERVER = {"name": "lci", "version": __version__}
_CAPABILITIES = {"resources": {"listChanged": False, "subscribe": False}, "tools": {"listChanged": False}}


class Greeting:
    """Answers a client's messages until the SDK is needed."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = [tool.listed() for tool in tools]
        self._instructions = instructions(tools)
        #: The lines that the SDK must see to know what the client knows; the client has the answer to the first.
        self.replayed: list[bytes] = []

    def run(self, read: Callable[[], bytes], write: Callable[[bytes], None]) -> bytes | None:
        """Answer until the tools have been listed, or a message arrives that only the SDK can answer.

        Args:
            read: Returns the next line from the client; b"" at the end.
            write: Sends a line to the client.
        Returns:
            The line that the SDK must answer; b"" if the client has gone; None if every line has been answered.
        """
        while line := read():
            message = _parse_message(line)
            answer = None if message is None else self._answer(message)
            if message is None or (answer is None and message.get("method") != "notifications/initialized"):
                return line
            if message["method"] in ("initialize", "notifications/initialized"):
                self.replayed.append(line)
            if answer is None:
                continue
            write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}).encode() + b"\n")
            if message["method"] == "tools/list":
                return None
        return line

    def _answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        method, params = message.get("method"), message.get("params")
        begun = bool(self.replayed)
        if method == "initialize" and not begun and isinstance(params, dict) and _is_introduction(params):
            return {
                "capabilities": _CAPABILITIES,
                "instructions": self._instructions,
                "protocolVersion": params["protocolVersion"],
                "serverInfo": _SERVER,
            }
        if method == "tools/list" and begun and params in (None, {}):
            return {"tools": self._tools}
        if begun or not _is_envelope(params):
            return None
        frame = {
            "cacheScope": "private",
            "resultType": "complete",
            "ttlMs": 0,
            "_meta": {_PREFIX + "serverInfo": _SERVER},
        }
        if method == "server/discover":
            result = {
                "capabilities": _CAPABILITIES,
                "instructions": self._instructions,
                "supportedVersions": [_STATELESS],
            }
            return {**frame, **result}
        return {**frame, "tools": self._tools} if method == "tools/list" else None


def _parse_message(line: bytes) -> dict[str, Any] | None:
    """The message in a line if it has the usual form, which every client sends; else None."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return None
    if message.get("method") == "notifications/initialized":
        return message if set(message) <= {"jsonrpc", "method"} or message.get("params") == {} else None
    is_request = isinstance(message.get("id"), (int, str)) and not isinstance(message["id"], bool)
    return message if is_request and set(message) <= {"jsonrpc", "id", "method", "params"} else None


def _is_introduction(params: dict[str, Any]) -> bool:
    if set(params) != {"protocolVersion", "capabilities", "clientInfo"}:
        return False
    supported = params["protocolVersion"] in _HANDSHAKE
    return supported and _is_client(params["clientInfo"], params["capabilities"])


def _is_envelope(params: Any) -> bool:
    """Whether a request's parameters hold only the fields that the newest protocol requires."""
    meta = params.get("_meta") if isinstance(params, dict) and set(params) == {"_meta"} else None
    names = {_PREFIX + name for name in ("protocolVersion", "clientInfo", "clientCapabilities")}
    if not isinstance(meta, dict) or set(meta) != names or meta[_PREFIX + "protocolVersion"] != _STATELESS:
        return False
    return _is_client(meta[_PREFIX + "clientInfo"], meta[_PREFIX + "clientCapabilities"])


def _is_client(info: Any, capabilities: Any) -> bool:
    valid = isinstance(info, dict) and isinstance(info.get("name"), str) and isinstance(info.get("version"), str)
    return valid and isinstance(capabilities, dict) and all(isinstance(value, dict) for value in capabilities.values())
