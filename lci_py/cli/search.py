"""`lci search` and `lci def`: the answer as output and exit code."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from lci_py.cli.request import batch_values, flag_filters, number, open_engine, required_name, to_request
from lci_py.cli.streams import (
    machine_stdout,
    one_output,
    paths_stdout,
    say_unknown,
    screen,
    warn,
    write_json,
    writing,
)
from lci_py.errors import (
    EXIT_DEGRADED,
    EXIT_NO_RESULTS,
    EXIT_OK,
)
from lci_py.types.search import Answer, Filters, SearchRequest

if TYPE_CHECKING:
    from lci_py.app import Engine
    from lci_py.cli.fast_parser import Invocation

#: A query that may be a name, and needs no quotes in a shell.
_NAME = re.compile(r"\w[\w.:]*")


def run_search(call: Invocation) -> int:
    one_output(call, "json", "jsonl", "paths")
    request = to_request({**batch_values(call), "query": call.text("argument")})
    if call.flag("paths") and request.snippet is not None:
        request = replace(request, snippet=None)  # the line that matches is printed, whatever would be shown
    with open_engine(call, snippet=_default_lines(call)) as engine:
        answer = _from_here(engine.search(request), engine, call)
        _warn_of_log(engine, call)
        name = _defined_name(engine, request, call)
    with writing():
        _print(answer, call, request)
    if name:
        warn(f"`lci def {name}` shows where it is defined", quiet=False)
    return _exit_code(answer, request.strict)


def _default_lines(call: Invocation) -> int | None:
    """Lines per result that the output has without --snippet, so that these are the ones that match best; None for the
    setting."""
    if call.flag("json") or call.flag("jsonl") or call.flag("paths"):
        return None
    from lci_py.render.text.results import DEFAULT_SNIPPET_LINES

    return DEFAULT_SNIPPET_LINES


def run_def(call: Invocation) -> int:
    one_output(call, "json", "paths")
    name = required_name(call)
    filters = flag_filters(call)
    limit = number(call.values, "limit")
    with open_engine(call) as engine:
        answer = _from_here(engine.definitions(name, filters, limit or 1), engine, call)
    with writing():
        if call.flag("json"):
            _print_json(answer, doc=True)
        elif call.flag("paths"):
            _print_paths(answer)
        else:
            from lci_py.render.text.results import render_definitions

            to = screen(call)
            render_definitions(answer, file=to.file, color=to.color, width=to.width, footer=not call.flag("quiet"))
    if not answer.results and not filters and not call.flag("json") and not call.flag("quiet"):
        say_unknown(answer.query, answer.did_you_mean)
    return _exit_code(answer, strict=False)


def _defined_name(engine: Engine, request: SearchRequest, call: Invocation) -> str:
    """The query, if it is the name of a definition and nobody chose the mode: then `lci def` is what a person wants."""
    quiet = any(call.flag(flag) for flag in ("quiet", "json", "jsonl", "paths")) or not sys.stderr.isatty()
    if quiet or call.text("mode") is not None or request.mode != "dense" or not _NAME.fullmatch(request.query.strip()):
        return ""
    name = request.query.strip()
    return name if engine.definitions(name, Filters(), 1).total else ""


# --- output -----------------------------------------------------------------------------------------------------


def _exit_code(answer: Answer, strict: bool) -> int:
    # The answer before --max-tokens cuts it: results that do not fit were found all the same.
    if strict and answer.degraded:
        return EXIT_DEGRADED
    return EXIT_OK if answer.results else EXIT_NO_RESULTS


def _within_budget(answer: Answer, max_tokens: int | None) -> Answer:
    if max_tokens is None:
        return answer
    from lci_py.render.token_budget import cut

    return cut(answer, max_tokens)


def _from_here(answer: Answer, engine: Engine, call: Invocation) -> Answer:
    """The answer with paths from the current folder, for people and xargs; with --root they start at the root."""
    if call.text("root") is not None or call.flag("json") or call.flag("jsonl"):
        return answer
    from lci_py.render.relative_paths import seen_from

    return seen_from(answer, engine.root, os.getcwd())


def _print(answer: Answer, call: Invocation, request: SearchRequest) -> None:
    answer = _within_budget(answer, request.max_tokens)
    if call.flag("json"):
        _print_json(answer)
    elif call.flag("jsonl"):
        from lci_py.render.json.answer import jsonl

        machine_stdout().writelines(line + "\n" for line in jsonl(answer))
    elif call.flag("paths"):
        _print_paths(answer)
        _warn(answer, call)
    else:
        from lci_py.render.text.results import render

        to, quiet = screen(call), call.flag("quiet")
        render(
            answer,
            file=to.file,
            color=to.color,
            width=to.width,
            snippet_lines=request.snippet if request.context is None else sum(request.context) + 1,
            footer=not quiet,
            explain=request.explain,
            imports=bool(request.expand) or call.flag("verbose"),
        )


def _print_json(answer: Answer, *, doc: bool = False) -> None:
    from lci_py.render.json.answer import envelope

    write_json(envelope(answer, doc=doc))


def _print_paths(answer: Answer) -> None:
    from lci_py.render.text.results import render_paths

    render_paths(answer, file=paths_stdout())


def _warn(answer: Answer, call: Invocation) -> None:
    """Warnings about the answer, which a list of paths has no room for."""
    for d in answer.degraded:
        warn(f"degraded: {d.view} ({d.failure_mode}), answered by {d.fallback_mode}", quiet=call.flag("quiet"))
    for given_up in (answer.plan or {}).get("relaxed", ()):
        warn(f"relaxed: {given_up}", quiet=call.flag("quiet"))


def _warn_of_log(engine: Engine, call: Invocation) -> None:
    if call.flag("verbose") and (problem := getattr(engine, "log_problem", "")):
        warn(f"not logged: {problem}", quiet=call.flag("quiet"))
