"""`lci conflicts`: flags to a request, the answer as output and exit code."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import IO, TYPE_CHECKING

from lci_py.cli.output import MACHINE, Cut, Writer, emit, from_here, shape_of
from lci_py.cli.request import flag_filters, number, open_engine, plain_text
from lci_py.cli.streams import machine_stdout, say_unknown, warn, writing
from lci_py.errors import EXIT_NO_RESULTS, EXIT_OK, UsageError, unknown_value
from lci_py.types.conflicts import ConflictsAnswer, ConflictsRequest
from lci_py.types.search import FAIL_ON, RELATIONS, Filters

if TYPE_CHECKING:
    from lci_py.app import Engine
    from lci_py.cli.fast_parser import Invocation
    from lci_py.cli.streams import Screen
    from lci_py.render.json.answer import Parts

#: Conflicts in JSON and SARIF if no --limit says otherwise: what GitHub shows of a log, and what a script can hold.
_MOST = 5_000
#: The exit code of a check that fails, as of grep and ruff; a search without results exits with the same number.
_EXIT_FOUND = 1


def run_conflicts(call: Invocation) -> int:
    """Run `lci conflicts`, which exits with 0 if there are conflicts and with 1 if not, as a search does with results.

    With --fail-on it is a check: it exits with 1 if there is a conflict of a kind that the flag names, else with 0.
    """
    shape = shape_of(call, "sarif")
    machine = shape in (*MACHINE, "sarif")
    request = _request(call, machine=machine)
    fail_on = _fail_on(call, request.relations)
    with open_engine(call) as engine:
        answer = engine.conflicts(request)
        shown = _from_here(answer, engine) if from_here(call, shape) and shape != "sarif" else answer
        found = bool(answer.results or answer.conflicts)
        near = () if found or not request.name else _near(engine, request.name)
    if shape == "sarif":
        _print_sarif(shown)
    else:
        emit(call, shape, shown, _writer(call, request))
    if machine and request.limit == _MOST < answer.total - request.offset:
        text = f"{_MOST:,} of {answer.total:,} conflicts are listed, the gravest first: --offset gives the next"
        warn(text, quiet=call.flag("quiet"))
    if near is not None and request.name and not found and not call.flag("quiet") and not machine:
        say_unknown(request.name, near)
    if fail_on:
        return _EXIT_FOUND if _fails(answer, fail_on) else EXIT_OK
    return EXIT_OK if found else EXIT_NO_RESULTS


# --- request ----------------------------------------------------------------------------------------------------


def _request(call: Invocation, *, machine: bool) -> ConflictsRequest:
    given, limit = call.text("argument"), number(call.values, "limit")
    limit = _MOST if limit is None and machine else limit
    name = plain_text((given or "").strip())
    if given is not None and not name:
        raise UsageError("the name is empty", hint="leave it out to list all, or give a NAME")
    since = call.text("diff")
    if since is not None and not since.strip():
        raise UsageError("the revision of --diff is empty", hint="give a branch, a tag or a commit, such as HEAD")
    return ConflictsRequest(
        flag_filters(call),
        relations=_words(call, "relation", RELATIONS),
        limit=limit,
        offset=number(call.values, "offset") or 0,
        name=name,
        all=call.flag("all"),
        since=plain_text(since.strip()) if since else "",
    )


def _words(call: Invocation, flag: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """The values of a repeatable flag that also takes several with commas, in the order of `known`."""
    given = [word.strip() for text in call.texts(flag) for word in text.split(",")]
    for word in given:
        if word not in known:
            error = unknown_value(flag.replace("_", "-"), word, known)
            # The list is short: the hint shows all of it, where `unknown_value` might suggest one word.
            raise UsageError(error.message, hint=f"use one of: {', '.join(known)}")
    return tuple(word for word in known if word in given)


def _fail_on(call: Invocation, relations: tuple[str, ...]) -> tuple[str, ...]:
    """
    Raises:
        UsageError: --relation leaves out what --fail-on names, so the check could never fail.
    """
    words = _words(call, "fail_on", FAIL_ON)
    for word in words:
        if relations and word != "any" and word not in relations:
            hint = f"add it to --relation {','.join(relations)}" if word in RELATIONS else "leave out --relation"
            raise UsageError(f"--fail-on {word} can never fail: --relation leaves it out", hint=hint)
    return words


def _fails(answer: ConflictsAnswer, words: tuple[str, ...]) -> bool:
    """Whether the check fails, whatever --limit leaves out."""
    if answer.conflicts and not {"disagreement", "any"}.isdisjoint(words):
        return True
    return any(count and (relation in words or "any" in words) for relation, count in answer.by_relation.items())


# --- output -----------------------------------------------------------------------------------------------------


def _from_here(answer: ConflictsAnswer, engine: Engine) -> ConflictsAnswer:
    from lci_py.render.relative_paths import seen_from

    return seen_from(answer, engine.root, os.getcwd())


def _near(engine: Engine, name: str) -> tuple[str, ...] | None:
    """Names that resemble `name` if no definition has it; None if one has it, and just has no conflict."""
    found = engine.definitions(name, Filters(), 1)
    return None if found.total else found.did_you_mean


def _writer(call: Invocation, request: ConflictsRequest) -> Writer[ConflictsAnswer]:
    def parts(answer: ConflictsAnswer) -> Parts:
        from lci_py.render.json.conflicts import parts

        return parts(answer)

    def text(answer: ConflictsAnswer, to: Screen, footer: bool) -> None:
        from lci_py.render.text.conflicts import render

        whole = bool(request.name) or call.flag("verbose")
        render(answer, file=to.file, color=to.color, width=to.width, footer=footer, whole=whole)

    def paths(answer: ConflictsAnswer, file: IO[str]) -> None:
        from lci_py.render.text.conflicts import render_paths

        render_paths(answer, file=file)

    def cut(answer: ConflictsAnswer) -> Cut[ConflictsAnswer]:
        # Disagreements go last: an answer that hides one is worse than a short answer.
        first = len(answer.conflicts)

        def part(count: int) -> ConflictsAnswer:
            kept = answer.results[: max(0, count - first)]
            return replace(answer, results=kept, conflicts=answer.conflicts[:count])

        return Cut(first + len(answer.results), part)

    return Writer(parts, text, paths, cut)


def _print_sarif(answer: ConflictsAnswer) -> None:
    from lci_py.render.json.sarif import sarif

    with writing():
        machine_stdout().write(sarif(answer) + "\n")
