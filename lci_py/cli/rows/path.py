"""`lci path`: builds its request from two names and from flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.cli.answering import Row, skip_results
from lci_py.cli.output import Writer, cut_results
from lci_py.cli.request import flag_filters, name_from_root, number, plain_text
from lci_py.errors import UsageError
from lci_py.types.chains import PathRequest

if TYPE_CHECKING:
    from lci_py.cli.command_line import Invocation


def _request(call: Invocation, _shape: str) -> PathRequest:
    names = [plain_text(name_from_root(name.strip(), call)) for name in call.texts("argument")]
    filters = flag_filters(call)
    if len(names) != 2 or not all(names):
        raise UsageError(f"path takes two names, not {len([name for name in names if name])}", hint="lci path FROM TO")
    return PathRequest(
        names[0],
        names[1],
        all_meanings=call.flag("all"),
        filters=filters,
        depth=number(call.values, "depth") or 20,
        limit=(number(call.values, "limit") or 5) + (number(call.values, "offset") or 0),
    )


ROW = Row(
    _request,
    writer=lambda _: Writer("chains", "chains", cut_results),
    skip=skip_results,
)
