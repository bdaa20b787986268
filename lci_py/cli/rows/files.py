"""`lci files`: builds its request from parts of a path and from flags."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from lci_py.cli.answering import Row
from lci_py.cli.request import PATH_LINE, flag_filters, number, plain_text
from lci_py.types.files import FilesRequest

if TYPE_CHECKING:
    from lci_py.cli.command_line import Invocation


def _request(call: Invocation, _shape: str) -> FilesRequest:
    text = " ".join(plain_text(part) for part in call.texts("argument")).strip().removeprefix("./")
    match = PATH_LINE.fullmatch(text)
    return FilesRequest(
        match[1] if match else text,
        int(match[2]) if match else None,
        flag_filters(call),
        number(call.values, "limit"),
        number(call.values, "offset") or 0,
    )


ROW = Row(
    _request,
    results=lambda answer: answer.total,
    whole=lambda _: False,
    bare=lambda shape: shape == "text" and not sys.stdout.isatty(),
)
