"""`lci path`: two names and flags to a request, the answer as output and exit code."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lci_py.cli.request import flag_filters, name_from_root, number, open_engine, plain_text
from lci_py.cli.streams import machine_stdout, one_output, paths_stdout, screen, writing
from lci_py.errors import EXIT_NO_RESULTS, EXIT_OK, UsageError
from lci_py.types.chains import PathAnswer, PathRequest

if TYPE_CHECKING:
    from lci_py.cli.fast_parser import Invocation


def run_path(call: Invocation) -> int:
    one_output(call, "json", "jsonl", "paths")
    request = _request(call)
    with open_engine(call, whole=True) as engine:
        answer = engine.path(request)
        if call.text("root") is None and not (call.flag("json") or call.flag("jsonl")):
            from lci_py.render.relative_paths import chains_seen_from

            answer = chains_seen_from(answer, engine.root, os.getcwd())
    with writing():
        _print(answer, call)
    return EXIT_OK if answer.chains else EXIT_NO_RESULTS


def _request(call: Invocation) -> PathRequest:
    names = [plain_text(name_from_root(name.strip(), call)) for name in call.texts("argument")]
    filters = flag_filters(call)
    if len(names) != 2 or not all(names):
        raise UsageError(f"path takes two names, not {len([name for name in names if name])}", hint="lci path FROM TO")
    depth, limit = number(call.values, "depth"), number(call.values, "limit")
    return PathRequest(
        names[0],
        names[1],
        every=call.flag("all"),
        filters=filters,
        depth=20 if depth is None else depth,
        limit=5 if limit is None else limit,
    )


def _print(answer: PathAnswer, call: Invocation) -> None:
    if call.flag("json"):
        from lci_py.render.json.answer import dumps
        from lci_py.render.json.chains import answer_object

        machine_stdout().write(dumps(answer_object(answer)) + "\n")
    elif call.flag("jsonl"):
        from lci_py.render.json.chains import jsonl

        machine_stdout().writelines(line + "\n" for line in jsonl(answer))
    elif call.flag("paths"):
        from lci_py.render.text.chains import render_paths

        render_paths(answer, file=paths_stdout())
    else:
        from lci_py.render.text.chains import render

        to = screen(call)
        render(answer, file=to.file, color=to.color, width=to.width, footer=not call.flag("quiet"))
