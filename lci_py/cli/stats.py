"""`lci stats`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.cli.streams import machine_stdout, screen, writing
from lci_py.errors import EXIT_NO_RESULTS, EXIT_OK

if TYPE_CHECKING:
    from lci_py.cli.fast_parser import Invocation


def run_stats(call: Invocation) -> int:
    from lci_py import app

    found = app.stats(call.text("root"), since=call.text("since"))
    with writing():
        if call.flag("json"):
            from lci_py.render.json.answer import dumps, plain_object

            machine_stdout().write(dumps(plain_object(found)) + "\n")
        elif not call.flag("quiet"):
            from lci_py.render.text.stats import render_stats

            to = screen()
            render_stats(found, file=to.file, color=to.color, width=to.width)
    return EXIT_OK if found["all"]["searches"] else EXIT_NO_RESULTS
