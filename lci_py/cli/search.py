"""`lci search` and `lci def`: writes the answer, and decides the exit code."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from lci_py.cli.answering import Row
from lci_py.cli.output import MACHINE, Cut, Writer, cost, emit, fields_of, from_here, shape_of
from lci_py.cli.request import flag_filters, number, open_engine, required_name, to_request
from lci_py.cli.streams import say_unknown, warn
from lci_py.errors import EXIT_DEGRADED, EXIT_NO_RESULTS, EXIT_OK
from lci_py.types.record import replace
from lci_py.types.search import Answer, Filters, SearchRequest

if TYPE_CHECKING:
    from lci_py.app import Engine
    from lci_py.cli.answering import CommandRun
    from lci_py.cli.command_line import Invocation

#: Lines of code per result, where neither a flag nor the settings say: on a terminal, where ten results are then about
#: one screen, and where a program pays for each.
_LINES, _FEW_LINES = 4, 2
#: A query that may be a name, and needs no quotes in a shell.
_NAME = re.compile(r"\w[\w.:]*")


def run_search(call: Invocation) -> int:
    shape = shape_of(call)
    request = to_request(call, call.text("argument"), flag_filters(call))
    if shape == "paths" and request.snippet is not None:
        request = replace(request, snippet=None)  # the line that matches is printed, whatever would be shown
    with open_engine(call, snippet=_LINES if shape == "text" and sys.stdout.isatty() else _FEW_LINES) as engine:
        answer = from_here(engine.search(request), call, shape, engine.root)
        no_code = not any(result.snippet for result in answer.results)  # a flag or a setting says 0 lines
        if call.flag("verbose") and (problem := getattr(engine, "log_problem", "")):
            warn(f"not logged: {problem}", quiet=call.flag("quiet"))
        name = _defined_name(engine, request, call, shape)
    code = put(call, shape, request, answer, no_code=no_code)
    if name:
        warn(f"`lci def {name}` shows where it is defined", quiet=False)
    return code


def put(call: Invocation, shape: str, request: SearchRequest, answer: Answer, *, no_code: bool) -> int:
    """Write the answer of a search, and return the exit code. `no_code`: results are shown without code."""
    writer = _writer(call, request, no_code=no_code)
    # Results that do not fit into a budget were found all the same.
    code = EXIT_OK if answer.results else EXIT_NO_RESULTS
    if request.strict and answer.degraded:
        code = EXIT_DEGRADED
    if request.max_tokens is not None:
        from lci_py.render.token_budget import cut

        answer = cut(answer, request.max_tokens, cost(call, shape, writer))
    emit(call, shape, answer, writer)
    if shape == "paths":
        _warn(answer, call)
    return code


def _definitions(run: CommandRun) -> Answer:
    name, filters, limit, offset = run.request
    answer = run.engine.definitions(name, filters, limit + offset)
    return replace(answer, results=answer.results[offset:], offset=offset)


def _say_unknown(run: CommandRun, answer: Answer, code: int) -> int:
    none = not answer.total and not run.request[1]
    if none and run.shape not in MACHINE and not run.call.flag("quiet"):
        say_unknown(answer.query, answer.did_you_mean)
    return code


#: `lci def`. Its request is the name, the filters, the limit and the offset.
DEFINITIONS = Row(
    lambda call, _: (
        required_name(call),
        flag_filters(call),
        number(call.values, "limit") or 1,
        number(call.values, "offset") or 0,
    ),
    ask=_definitions,
    writer=lambda _: Writer("search", "results", _cut, {}, {"doc": True}, "render_definitions"),
    whole=lambda _: False,
    finish=_say_unknown,
)


def _defined_name(engine: Engine, request: SearchRequest, call: Invocation, shape: str) -> str:
    """The query if it is the name of a definition and no mode is given: `lci def` would answer better. Else ""."""
    quiet = call.flag("quiet") or shape != "text" or not sys.stderr.isatty()
    if quiet or call.text("mode") is not None or request.mode != "dense" or not _NAME.fullmatch(request.query.strip()):
        return ""
    name = request.query.strip()
    return name if engine.definitions(name, Filters(), 1).total else ""


# --- output -----------------------------------------------------------------------------------------------------


def _writer(call: Invocation, request: SearchRequest, *, no_code: bool) -> Writer[Answer]:
    options = {
        "snippet_lines": 0 if no_code else None,
        "explain": request.explain,
        "imports": bool(request.expand) or call.flag("verbose"),
    }
    fields = fields_of(call)
    linked, signature = bool(request.expand) or "graph" in fields, "signature" in fields
    json = {"linked": linked, "signature": signature, "explain": request.explain}
    return Writer("search", "results", None, options, json)


def _cut(answer: Answer) -> Cut[Answer]:
    return Cut(len(answer.results), lambda count: replace(answer, results=answer.results[:count]))


def _warn(answer: Answer, call: Invocation) -> None:
    """Print the warnings about an answer to stderr, for output that has no room for them, such as a list of paths."""
    for d in answer.degraded:
        warn(f"degraded: {d.view} ({d.failure_mode}), answered by {d.fallback_mode}", quiet=call.flag("quiet"))
    for given_up in (answer.plan or {}).get("relaxed", ()):
        warn(f"relaxed: {given_up}", quiet=call.flag("quiet"))
