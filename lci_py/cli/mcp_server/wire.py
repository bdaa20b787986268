"""Reads lines from the client on standard input, and writes lines to it on standard output."""

from __future__ import annotations

import json
import os
from typing import IO, Any

from lci_py.cli.batch import MAX_LINE
from lci_py.errors import UsageError

#: The codes of JSON-RPC.
NO_JSON, NO_MESSAGE = -32700, -32600


class Wire:
    """Exchanges lines with the client; other output of this process is redirected to stderr."""

    def __init__(self) -> None:
        """Take over standard input and output; raises a `UsageError` if either is closed."""
        try:
            self._in: IO[bytes] = os.fdopen(os.dup(0), "rb")
            self._out: IO[bytes] = os.fdopen(os.dup(1), "wb")
        except OSError as error:
            hint = "an agent starts `lci mcp` and uses its standard input and output"
            raise UsageError("standard input or output is closed", hint=hint) from error
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, 0)
        os.close(nowhere)
        os.dup2(2, 1)

    def read(self) -> bytes:
        """The next line from the client, skipping lines that are too long; b"" at the end."""
        while len(data := self._in.readline(MAX_LINE)) == MAX_LINE and not data.endswith(b"\n"):
            while (data := self._in.readline(MAX_LINE)) and not data.endswith(b"\n"):
                pass
            self.refuse(NO_MESSAGE, "the line is too long")
        return data

    def refuse(self, code: int, message: str, number: Any = None) -> None:
        """Answer an invalid message with an error; `number` is the id of the message, None if it has no id."""
        answer = {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}
        self.write(json.dumps(answer).encode() + b"\n")

    def write(self, line: bytes) -> None:
        self._out.write(line)
        self._out.flush()
