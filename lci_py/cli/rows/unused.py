"""`lci unused`: builds its request from paths and from flags. It exits with 0 if there are results and with 1 if not.
With --fail-on it is a check: it exits with 1 if a definition is in a class that the flag names, else with 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.cli.answering import Row
from lci_py.cli.output import Writer, cut_results
from lci_py.cli.request import flag_filters, number, path_from_root
from lci_py.errors import EXIT_NO_RESULTS, EXIT_OK, BadPathError
from lci_py.types.record import replace
from lci_py.types.unused import CERTAINTIES, UnusedAnswer, UnusedRequest

if TYPE_CHECKING:
    from lci_py.cli.answering import CommandRun
    from lci_py.cli.command_line import Invocation


def _request(call: Invocation, _shape: str) -> UnusedRequest:
    filters, paths = flag_filters(call), []
    for text in call.texts("argument"):
        path = path_from_root(text, call)
        if path is None:
            raise BadPathError(f"there is no file or folder {text}", hint="a glob needs --path")
        paths += [path, f"{path}/**"] if path else ["**"]
    filters = replace(filters, path=(*filters.path, *paths))
    return UnusedRequest(filters, call.flag("all"), number(call.values, "limit"), number(call.values, "offset") or 0)


def _finish(run: CommandRun, answer: UnusedAnswer, code: int) -> int:
    words = run.call.texts("fail_on")
    if not words:
        return code
    failing = CERTAINTIES if "any" in words else words
    return EXIT_NO_RESULTS if any(answer.counts[level] for level in CERTAINTIES if level in failing) else EXIT_OK


ROW = Row(
    _request,
    writer=lambda run: Writer(
        "unused",
        "unused",
        cut_results,
        options={"each": run.call.flag("verbose") or bool(run.call.number("limit"))},
    ),
    finish=_finish,
)
