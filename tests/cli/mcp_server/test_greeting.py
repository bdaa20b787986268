"""What is answered without the SDK is what the SDK answers; and lines that are no messages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lci_py.cli.mcp_server.greeting import Greeting
from lci_py.cli.mcp_server.tools import tools
from tests.cli.fake import environment
from tests.support.waiting import PATIENCE
from tests.support.zygote import RELAY

PREFIX = "io.modelcontextprotocol/"
CLIENT = {"name": "test", "version": "1"}
ENVELOPE = {
    "_meta": {
        PREFIX + "protocolVersion": "2026-07-28",
        PREFIX + "clientInfo": CLIENT,
        PREFIX + "clientCapabilities": {"roots": {}},
    }
}


def request(number: int | str, method: str, params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, **({} if params is None else {"params": params})}


def handshake(version: str) -> list[dict[str, Any]]:
    introduced = {"protocolVersion": version, "capabilities": {"roots": {"listChanged": True}}, "clientInfo": CLIENT}
    return [
        request(1, "initialize", introduced),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request("two", "tools/list"),
    ]


def lines(messages: list[Any]) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def served(zygote: str | None, cwd: Path, sent: bytes, *flags: str) -> list[dict[str, Any]]:
    """What `lci mcp` answers to these lines."""
    start = ["-m", "lci_py"] if zygote is None else ["-I", "-S", "-c", RELAY, zygote]
    done = subprocess.run(
        [sys.executable, *start, "mcp", *flags], input=sent, cwd=cwd, capture_output=True, timeout=PATIENCE, check=False,
        env=environment(),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    return [json.loads(line) for line in done.stdout.splitlines()]


def greeted(sent: bytes) -> tuple[list[dict[str, Any]], bytes | None]:
    rest, answers = sent.splitlines(keepends=True), []
    left = Greeting(tools("default")).run(lambda: rest.pop(0) if rest else b"", answers.append)
    return [json.loads(answer) for answer in answers], left


@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25"])
def test_the_greeting_says_what_the_sdk_says(zygote: str | None, tmp_path: Path, version: str) -> None:
    quick, left = greeted(lines(handshake(version)))
    assert left is None and [answer["id"] for answer in quick] == [1, "two"]
    # A ping first, which the greeting leaves to the SDK, and so all that follows.
    slow = served(zygote, tmp_path, lines([request(0, "ping"), *handshake(version)]))
    assert slow[1:] == quick


def test_the_greeting_of_the_stateless_protocol_does_too(zygote: str | None, tmp_path: Path) -> None:
    messages = [request(1, "server/discover", ENVELOPE), request(2, "tools/list", ENVELOPE)]
    quick, left = greeted(lines(messages))
    assert left is None
    # What a client asks with a token of progress is left to the SDK.
    other = {"_meta": {**ENVELOPE["_meta"], "progressToken": 1}}
    slow = served(zygote, tmp_path, lines([request(1, "server/discover", other), request(2, "tools/list", other)]))
    assert slow == quick


UNUSUAL = [
    b"nonsense\n",
    b"\xff\xfe\n",
    b"[1, 2]\n",
    b"{}\n",
    b"[" * 100_000 + b"\n",
    lines([request(1, "initialize")]),
    lines([request(1, "initialize", {"protocolVersion": "1.0", "capabilities": {}, "clientInfo": CLIENT})]),
    lines([request(1, "initialize", {"protocolVersion": ["2025-11-25"], "capabilities": {}, "clientInfo": CLIENT})]),
    lines([request(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": 5, "clientInfo": CLIENT})]),
    lines([request(1, "tools/list")]),
    lines([request(1, "tools/call", {"name": "search"})]),
    lines([{"jsonrpc": "2.0", "id": None, "method": "tools/list"}]),
    lines([{"jsonrpc": "2.0", "id": 1, "method": ["tools/list"]}]),
]


@pytest.mark.parametrize("line", UNUSUAL, ids=lambda line: repr(line[:60]))
def test_what_is_unusual_is_left_to_the_sdk(line: bytes) -> None:
    assert greeted(line) == ([], line)


def test_nonsense_ends_nothing(zygote: str | None, tmp_path: Path) -> None:
    noise = b"".join(UNUSUAL[:5]) + b"x" * 3_000_000 + b"\n"
    half = request(6, "tools/call", {"name": "search", "arguments": {"query": "x", "\ud800": "y\ud800"}})
    rest = [half, request(3, "tools/call", {"name": "zzz", "arguments": {}}), request(4, "no/such"), request(5, "ping")]
    answers = served(zygote, tmp_path, noise + lines(handshake("2025-11-25")) + noise + lines(rest))
    by_number = {answer["id"]: answer for answer in answers}
    assert by_number[1]["result"]["serverInfo"]["name"] == "lci"
    assert by_number[3]["result"]["content"][0]["text"].startswith("unknown tool 'zzz'")
    assert by_number[4]["error"]["code"] == -32601
    assert by_number[5]["result"] == {}
    assert by_number[6]["result"]["content"][0]["text"].startswith("unknown argument '\ufffd'")
    refused = [answer["error"]["code"] for answer in answers if answer["id"] is None]
    assert refused == [-32700, -32700, -32600, -32600, -32700, -32600] * 2


NO_MESSAGES = [
    (b'{"jsonrpc": "2.0", "id": 7, "method": 5}', -32600, 7),
    (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": 7, "method": "ping"', -32700, None),
    (b'[{"jsonrpc": "2.0", "id": 7, "method": "ping"}]', -32600, None),
]


def test_a_line_that_is_no_message_is_answered(zygote: str | None, tmp_path: Path) -> None:
    *answers, pong = served(
        zygote, tmp_path, b"\n\n".join(line for line, _, _ in NO_MESSAGES) + b"\n" + lines([request("\ud800", "ping")])
    )
    assert [(answer["error"]["code"], answer["id"]) for answer in answers] == [
        (code, number) for _, code, number in NO_MESSAGES
    ]
    assert pong == {"jsonrpc": "2.0", "id": "\ufffd", "result": {}}


def test_a_client_that_reads_no_more(tmp_path: Path) -> None:
    pings = lines([request(number, "ping") for number in range(2, 9)])
    with subprocess.Popen(
        [sys.executable, "-m", "lci_py", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, cwd=tmp_path, env=environment(),
    ) as server:  # fmt: skip
        assert server.stdin and server.stdout and server.stderr
        server.stdin.write(lines(handshake("2025-11-25")))
        server.stdin.flush()
        assert b"serverInfo" in server.stdout.readline()
        server.stdout.close()
        server.stdin.write(pings)
        server.stdin.close()
        assert (server.stderr.read(), server.wait(PATIENCE)) == (b"", 0)


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_a_closed_stream_is_an_error(tmp_path: Path, closed: str) -> None:
    command = f"{sys.executable} -m lci_py mcp {closed}"
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, capture_output=True, timeout=PATIENCE, check=False, env=environment(),
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode in (0, 2) and b"Traceback" not in done.stderr


@pytest.mark.parametrize("sent", [b"", b"\n", lines(handshake("2025-11-25")[:1])])
def test_a_client_that_says_little(zygote: str | None, tmp_path: Path, sent: bytes) -> None:
    assert len(served(zygote, tmp_path, sent)) == (1 if len(sent) > 1 else 0)
