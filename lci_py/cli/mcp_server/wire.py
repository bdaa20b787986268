"""Standard input and output as lines from and to the client."""

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
        """Raises:
        UsageError: Standard input or output is closed.
        """
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
        """The next line that is not too long; b"" at the end."""
        while len(data := self._in.readline(MAX_LINE)) == MAX_LINE and not data.endswith(b"\n"):
            while (data := self._in.readline(MAX_LINE)) and not data.endswith(b"\n"):
                pass
            self.refuse(NO_MESSAGE, "the line is too long")
        return data

    def refuse(self, code: int, message: str, number: Any = None) -> None:
        """Answer a line that is no valid message with an error; `number` is its id if it has one."""
        answer = {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}
        self.write(json.dumps(answer).encode() + b"\n")

    def write(self, line: bytes) -> None:
        self._out.write(line)
        self._out.flush()
