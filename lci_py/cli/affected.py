"""`lci affected`: flags to a request, the answer as output and exit code."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING

from lci_py.cli.output import Writer, cost, emit, from_here, shape_of
from lci_py.cli.request import flag_filters, number, open_engine, path_from_root, plain_text
from lci_py.cli.streams import say
from lci_py.errors import EXIT_NO_RESULTS, EXIT_OK, UnknownTargetError, UsageError
from lci_py.types.affected import AffectedAnswer, AffectedRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.cli.fast_parser import Invocation
    from lci_py.cli.streams import Screen
    from lci_py.render.json.answer import Parts


def run_affected(call: Invocation) -> int:
    """Run the command, which exits with 1 if nothing has changed, and with --paths or --fail-if-none if no test is
    affected."""
    shape, writer = shape_of(call), _writer(call)
    request = _request(call)
    with open_engine(call, whole=True) as engine:
        for text in call.texts("argument") if call.flag("files") else ():
            if not path_from_root(text, call):
                raise UnknownTargetError(f"there is no file {text}", engine.similar_paths(text))
        answer = engine.affected(request)
        if from_here(call, shape):
            from lci_py.render.relative_paths import seen_from

            answer = seen_from(answer, engine.root, os.getcwd())
    found = answer.tests if call.flag("paths") or call.flag("fail_if_none") else answer.changed
    unsaid = _unsaid(answer) if shape == "paths" and not call.flag("quiet") else ""
    if (max_tokens := number(call.values, "max_tokens")) is not None and shape != "paths":
        answer = _within(answer, max_tokens, cost(call, shape, writer))
    emit(call, shape, answer, writer)
    if unsaid:
        say(unsaid)
    return EXIT_OK if found else EXIT_NO_RESULTS


def _request(call: Invocation) -> AffectedRequest:
    given, filters, depth = call.texts("argument"), flag_filters(call), number(call.values, "depth")
    if call.flag("files"):
        if not given:
            raise UsageError("--files needs files", hint="lci affected --files FILE…")
        paths = tuple(plain_text(path) for text in given if (path := path_from_root(text, call)))
        return AffectedRequest(files=paths, filters=filters, depth=depth)
    if len(given) > 1:
        raise UsageError(f"affected takes one revision, not {len(given)}", hint="files need --files before them")
    if given and not given[0].strip():
        raise UsageError("the revision is empty", hint="leave it out for HEAD")
    return AffectedRequest(plain_text(given[0]) if given else "HEAD", filters=filters, depth=depth)


def _unsaid(answer: AffectedAnswer) -> str:
    """Why there is nothing on stdout, for whoever looks on: `lci affected --paths | xargs -r pytest` runs no test."""
    if answer.changed:
        from lci_py.render.text.affected import no_test

        return no_test(answer)
    return "nothing has changed" + (f" since {answer.request.revision}" if answer.request.files is None else "")


# --- output -----------------------------------------------------------------------------------------------------


def _within(answer: AffectedAnswer, max_tokens: int, cost: Callable[[AffectedAnswer], int]) -> AffectedAnswer:
    """The answer with as many rows as the budget has room for: changes first, then tests, then callers."""
    from lci_py.render.token_budget import largest

    if cost(answer) <= max_tokens:
        return answer
    whole = len(answer.changed), len(answer.tests), len(answer.callers)

    def first(count: int) -> AffectedAnswer:
        kept, room = [], count
        for size in whole:
            kept.append(min(size, room))
            room -= kept[-1]
        changes, tests, callers = kept
        return answer._replace(
            changed=answer.changed[:changes],
            tests=answer.tests[:tests],
            callers=answer.callers[:callers],
            dropped=(whole[0] - changes, whole[1] - tests, whole[2] - callers),
            max_tokens=max_tokens,
        )

    return first(largest(sum(whole), lambda count: cost(first(count)) <= max_tokens))


def _writer(call: Invocation) -> Writer[AffectedAnswer]:
    def parts(answer: AffectedAnswer) -> Parts:
        from lci_py.render.json.affected import parts

        return parts(answer)

    def text(answer: AffectedAnswer, to: Screen, footer: bool) -> None:
        from lci_py.render.text.affected import render

        each = call.flag("verbose")
        render(answer, file=to.file, color=to.color, width=to.width, footer=footer, each=each)

    def paths(answer: AffectedAnswer, file: IO[str]) -> None:
        from lci_py.render.text.affected import render_paths

        render_paths(answer, file=file)

    return Writer(parts, text, paths)
