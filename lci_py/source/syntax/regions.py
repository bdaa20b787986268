"""Finds code in files of another kind: scripts of components, tags of templates, cells of notebooks.

The code keeps its offsets, so that lines and offsets are those of the file; the text around it is blanked.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from lci_py.source.text.patterns import lazily

_VISIBLE = re.compile(rb"[^\n]")
#: The lines of one cell; Jupyter writes a string per line.
_CELL = lazily(rb'"source"\s*:\s*\[((?:\s*"(?:[^"\\\n]|\\.)*",?)*)\s*\]')
_STRING = lazily(rb'(?m)^[ \t]*("(?:[^"\\\n]|\\.)*")')
_CELL_TYPE = lazily(rb'"cell_type"\s*:\s*"(\w+)"')
_KERNEL = lazily(rb'"kernelspec"\s*:\s*\{[^{}]*?"language"\s*:\s*"([^"]+)"')


class Regions(NamedTuple):
    """A description of where code is in files with certain suffixes; a table `[[regions]]` of a language.

    Attributes:
        code: A pattern whose groups are code. None for notebooks.
        separator: A byte that is written after each region, to end its last statement.
        language: For notebooks: the language of the kernel; cells of other kernels are comments.
    """

    suffixes: tuple[str, ...]
    code: re.Pattern[bytes] | None
    separator: bytes
    language: bytes

    @classmethod
    def of(cls, table: dict[str, Any]) -> Regions:
        code = table.get("code")
        return cls(
            tuple(table["suffixes"]),
            lazily(code.encode()) if code else None,
            table.get("separator", "").encode(),
            table.get("notebook", "").encode(),
        )

    def readable(self, source: bytes) -> bytes:
        """The text to show and to index. For a notebook, these are the lines of its cells, without JSON and outputs."""
        return source if self.code is not None else _cells(source, self.language)

    def parsable(self, readable: bytes) -> bytes:
        """The text to parse: `readable` with blanks for all that is not code. Offsets stay the same."""
        if self.code is None:
            return readable
        text = bytearray(_VISIBLE.sub(b" ", readable))
        for match in self.code.finditer(readable):
            for group in range(1, len(match.groups()) + 1):
                start, end = match.span(group)
                if start < 0:
                    continue
                text[start:end] = readable[start:end]
                if self.separator and readable[end : end + 1] not in (b"", b"\n"):
                    text[end : end + 1] = self.separator
        return bytes(text)


def _cells(source: bytes, language: bytes) -> bytes:
    """The text of a notebook's cells, each line at its offset in the file. Cells that are not code become comments."""
    text = bytearray(_VISIBLE.sub(b" ", source))
    kernel = _KERNEL.search(source)
    foreign = kernel is not None and kernel[1].lower() != language
    kinds = [(match.start(), match[1]) for match in _CELL_TYPE.finditer(source)]
    before = 0
    for cell in _CELL.finditer(source):
        while before < len(kinds) and kinds[before][0] < cell.start():
            before += 1
        code = not foreign and before > 0 and kinds[before - 1][1] == b"code"
        for match in _STRING.finditer(source, *cell.span(1)):
            line = str(json.loads(match[1], strict=False)).rstrip("\n").replace("\n", " ")
            if not code:
                line = f"# {line}"
            elif line[:1] in ("%", "!"):  # what IPython runs itself
                line = f"#{line[1:]}"
            at, data = match.start(), line.encode("utf-8", "replace")[: match.end() - match.start()]
            text[at : at + len(data)] = data
    return bytes(text)
