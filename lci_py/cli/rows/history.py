"""`lci history`: builds its request from a target and from flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.cli.answering import Row
from lci_py.cli.request import flag_filters, name_from_root, number, place_from_root, plain_text
from lci_py.errors import UsageError
from lci_py.types.history import HistoryRequest

if TYPE_CHECKING:
    from lci_py.cli.command_line import Invocation


def _request(call: Invocation, _shape: str) -> HistoryRequest:
    text = (call.text("argument") or "").strip()
    if not text:
        raise UsageError("the target is missing", hint="lci history NAME, FILE:LINE or FILE")
    path, first, last = place_from_root(text, call) or (None, None, None)
    if last is not None:
        raise UsageError(
            f"{text}: history takes one line, and shows the definition around it", hint="lci history FILE:LINE"
        )
    return HistoryRequest(
        plain_text(text),
        plain_text(name_from_root(text, call)),
        path,
        first,
        flag_filters(call),
        number(call.values, "limit") or 10,
        number(call.values, "offset") or 0,
        call.flag("patch"),
    )


ROW = Row(
    _request,
    results=lambda answer: answer.total,
    whole=lambda _: False,
)
