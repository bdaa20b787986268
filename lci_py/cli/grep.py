"""`lci grep`: flags to a request, the answer as output and exit code."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from lci_py.cli.request import flag_filters, number, open_engine
from lci_py.cli.streams import machine_stdout, one_output, paths_stdout, screen, warn, writing
from lci_py.errors import EXIT_NO_RESULTS, EXIT_OK
from lci_py.types.grep import GrepAnswer, GrepRequest

if TYPE_CHECKING:
    from lci_py.app import Engine
    from lci_py.cli.fast_parser import Invocation
    from lci_py.cli.streams import Screen


def run_grep(call: Invocation) -> int:
    one_output(call, "json", "jsonl", "paths", "files_with_matches", "count")
    machine = call.flag("json") or call.flag("jsonl")
    to = None if machine or call.flag("paths") else screen(call)
    # A pipe gets what ripgrep prints, which has no place for definitions.
    request = _request(call)._replace(
        enclosing=machine or (to is not None and to.width is not None),
        marks=machine or (to is not None and (to.color or to.width is not None)),
    )
    with open_engine(call) as engine:
        answer = engine.grep(request)
        with writing():
            _print(answer, engine, call, to)
    return EXIT_OK if answer.tally.lines else EXIT_NO_RESULTS


def _request(call: Invocation) -> GrepRequest:
    around, before, after = (number(call.values, key) for key in ("context", "before_context", "after_context"))
    around = around or 0
    lines = "none" if call.flag("files_with_matches") else "count" if call.flag("count") else "text"
    context = (around if before is None else before, around if after is None else after)
    return GrepRequest(
        call.text("argument") or "",
        fixed=call.flag("fixed_strings"),
        ignore_case=call.flag("ignore_case"),
        smart_case=call.flag("smart_case"),
        words=call.flag("word_regexp"),
        filters=flag_filters(call),
        context=(0, 0) if call.flag("paths") else context,
        max_count=number(call.values, "max_count"),
        limit=number(call.values, "limit"),
        lines=lines,
    )


def _print(answer: GrepAnswer, engine: Engine, call: Invocation, to: Screen | None) -> None:
    if call.flag("json") or call.flag("jsonl"):
        from lci_py.render.json.grep import jsonl, parts

        # One object is written whole or, after an error on the way, not at all.
        machine_stdout().writelines(jsonl(answer) if call.flag("jsonl") else list(parts(answer)))
        return
    from lci_py.render.text import grep

    if call.text("root") is None:
        from lci_py.render.relative_paths import grep_seen_from

        answer = grep_seen_from(answer, engine.root, os.getcwd())
    paths_stdout()
    if to is None:
        grep.render_paths(answer, file=sys.stdout)
        return
    grep.render(answer, file=to.file, color=to.color, width=to.width, footer=not call.flag("quiet"))
    if to.width is None and (stale := answer.info.stale_files):
        from lci_py.render.text.style import plural

        warn(f"{plural(stale, 'file')} changed since: run `lci index`", quiet=call.flag("quiet"))
