"""Standard input and output as lines from and to the client."""

from __future__ import annotations

import os
from typing import IO

from lci_py.cli.batch import MAX_LINE
from lci_py.errors import UsageError


class Wire:
    """What this process prints otherwise goes to stderr."""

    def __init__(self) -> None:
        """
        Raises:
            UsageError: One of the two is closed.
        """
        try:
            self._in: IO[bytes] = os.fdopen(os.dup(0), "rb")
            self._out: IO[bytes] = os.fdopen(os.dup(1), "wb")
        except OSError as error:
            hint = "an agent starts `lci mcp`, and talks to it there"
            raise UsageError("standard input or output is closed", hint=hint) from error
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, 0)
        os.close(nowhere)
        os.dup2(2, 1)

    def read(self) -> bytes | None:
        """The next line; b"" at the end, None for one that is too long."""
        data = self._in.readline(MAX_LINE)
        if len(data) < MAX_LINE or data.endswith(b"\n"):
            return data
        while (data := self._in.readline(MAX_LINE)) and not data.endswith(b"\n"):
            pass
        return None

    def write(self, line: bytes) -> None:
        self._out.write(line)
        self._out.flush()
