"""`lci conflicts`: builds its request from flags. It exits with 0 if there are conflicts and with 1 if not, as a search
does. With --fail-on it is a check: it exits with 1 if there is a conflict of a kind that the flag names, else with 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.cli.answering import Row
from lci_py.cli.output import MACHINE, Cut, Writer
from lci_py.cli.request import flag_filters, number, plain_text
from lci_py.cli.streams import say_unknown, warn
from lci_py.errors import EXIT_OK, UsageError, unknown_value
from lci_py.types.conflicts import ConflictsAnswer, ConflictsRequest
from lci_py.types.record import replace
from lci_py.types.search import FAIL_ON, GRAVE, RELATIONS, Filters

if TYPE_CHECKING:
    from lci_py.cli.answering import CommandRun
    from lci_py.cli.command_line import Invocation

#: Conflicts in JSON if no --limit says otherwise: what a script can hold.
_MAX_ROWS = 5_000
#: The exit code of a check that fails, as of grep and ruff; a search without results exits with the same number.
_EXIT_FOUND = 1


def _request(call: Invocation, shape: str) -> ConflictsRequest:
    text, limit = call.text("argument"), number(call.values, "limit")
    limit = _MAX_ROWS if limit is None and shape in MACHINE else limit
    name = plain_text((text or "").strip())
    if text is not None and not name:
        raise UsageError("the name is empty", hint="leave it out to list all, or give a NAME")
    since = call.text("diff")
    if since is not None and not since.strip():
        raise UsageError("the revision of --diff is empty", hint="give a branch, a tag or a commit, such as HEAD")
    request = ConflictsRequest(
        flag_filters(call),
        relations=_words(call, "relation", RELATIONS),
        limit=limit,
        offset=number(call.values, "offset") or 0,
        name=name,
        all=call.flag("all"),
        branches=call.flag("branches"),
        since=plain_text(since.strip()) if since else "",
    )
    words = _fail_on(call, request.relations)  # a wrong word is wrong before the index is opened
    return replace(request, also=tuple(word for word in words if word in RELATIONS))


def _words(call: Invocation, flag: str, choices: tuple[str, ...]) -> tuple[str, ...]:
    """The values of a flag that may be repeated and may hold a comma-separated list, in the order of `choices`."""
    words = [word.strip() for text in call.texts(flag) for word in text.split(",")]
    for word in words:
        if word not in choices:
            error = unknown_value(flag.replace("_", "-"), word, choices)
            # The list is short: the hint shows all of it, where `unknown_value` might suggest one word.
            raise UsageError(error.message, hint=f"use one of: {', '.join(choices)}")
    return tuple(word for word in choices if word in words)


def _fail_on(call: Invocation, relations: tuple[str, ...]) -> tuple[str, ...]:
    """The kinds of conflict that --fail-on names.

    Raises:
        UsageError: --relation leaves out a kind, so that the check could never fail on it.
    """
    words = _words(call, "fail_on", FAIL_ON)
    for word in words:
        if relations and word != "any" and word not in relations:
            hint = f"add it to --relation {','.join(relations)}" if word in RELATIONS else "leave out --relation"
            raise UsageError(f"--fail-on {word} can never fail: --relation leaves it out", hint=hint)
    return words


def _fails(answer: ConflictsAnswer, words: tuple[str, ...]) -> bool:
    """Whether the check of --fail-on fails; conflicts beyond --limit count as well. `words` are the flag's values."""
    if answer.conflicts and not {"disagreement", "any"}.isdisjoint(words):
        return True
    failing = {*words, *(GRAVE if "any" in words else ())}
    return any(count and relation in failing for relation, count in answer.by_relation.items())


def _finish(run: CommandRun, answer: ConflictsAnswer, code: int) -> int:
    call, request = run.call, run.request
    machine, quiet = run.shape in MACHINE, call.flag("quiet")
    if machine and request.limit == _MAX_ROWS < answer.total - request.offset:
        text = f"{_MAX_ROWS:,} of {answer.total:,} conflicts are listed, the gravest first: --offset gives the next"
        warn(text, quiet=quiet)
    if request.name and not (answer.results or answer.conflicts or quiet or machine):
        definitions = run.engine.definitions(request.name, Filters(), 1)
        if not definitions.total:  # else it just has no conflict
            say_unknown(request.name, definitions.did_you_mean)
    fail_on = _fail_on(call, request.relations)
    if fail_on:
        return _EXIT_FOUND if _fails(answer, fail_on) else EXIT_OK
    return code


def _cut(answer: ConflictsAnswer) -> Cut[ConflictsAnswer]:
    # Disagreements go last: an answer that hides one is worse than a short answer.
    first = len(answer.conflicts)

    def part(count: int) -> ConflictsAnswer:
        results = answer.results[: max(0, count - first)]
        return replace(answer, results=results, conflicts=answer.conflicts[:count])

    return Cut(first + len(answer.results), part)


def _writer(run: CommandRun) -> Writer[ConflictsAnswer]:
    whole = bool(run.request.name) or run.call.flag("verbose")
    return Writer("conflicts", "conflicts", _cut, {"whole": whole})


ROW = Row(
    _request,
    writer=_writer,
    results=lambda answer: answer.results or answer.conflicts,
    whole=lambda _: False,
    finish=_finish,
)
