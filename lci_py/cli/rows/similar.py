"""`lci similar`: builds its request from a location, a name or code, and from flags."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.cli.answering import Row
from lci_py.cli.request import flag_filters, name_from_root, number, place_from_root, plain_text
from lci_py.cli.rows.explore import standard_input
from lci_py.errors import UsageError, Words
from lci_py.types.similar import SimilarRequest

if TYPE_CHECKING:
    from lci_py.cli.command_line import Invocation

#: What no name and no path has.
_CODE = re.compile(r"[\n(){};=]")


def _request(call: Invocation, _shape: str) -> SimilarRequest:
    text = call.text("argument") or ""
    common = (flag_filters(call), number(call.values, "limit") or 10, number(call.values, "offset") or 0)
    code = standard_input() if text == "-" else text if _CODE.search(text) else None
    if not (text if code is None else code).strip():
        raise UsageError(
            "the code is missing", hint=Words("lci similar FILE:LINE, NAME, or - for stdin", "give a target")
        )
    if code is not None:
        return SimilarRequest("", None, plain_text(code), *common)
    location = place_from_root(text.strip(), call)
    if location is not None and location[1] is not None:
        return SimilarRequest("", (location[0], location[1]), "", *common)
    return SimilarRequest(plain_text(name_from_root(text.strip(), call)), None, "", *common)


ROW = Row(
    _request,
    whole=lambda _: False,
)
