"""`lci show`: targets and flags to a request, the answer as output and exit code."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING

from lci_py.cli.output import MACHINE, Writer, cost, emit, from_here, shape_of
from lci_py.cli.request import (
    flag_filters,
    name_from_root,
    number,
    open_engine,
    path_from_root,
    place_from_root,
    plain_text,
)
from lci_py.cli.streams import say
from lci_py.errors import EXIT_NO_RESULTS, EXIT_OK, EXIT_USAGE, UnknownTargetError, UsageError
from lci_py.types.show import ShowAnswer, ShowRequest, Target, Unknown

if TYPE_CHECKING:
    from lci_py.cli.fast_parser import Invocation
    from lci_py.cli.streams import Screen
    from lci_py.render.json.answer import Parts
    from lci_py.types.search import IndexInfo


def run_show(call: Invocation) -> int:
    """Run the command, which exits with 2 if a target is unknown; the others are shown all the same."""
    shape, writer = shape_of(call), _writer(call)
    request = _request(call)
    with open_engine(call, whole=call.flag("callers") or call.flag("callees")) as engine:
        answer = engine.show(request)
        if from_here(call, shape):
            from lci_py.render.relative_paths import seen_from

            answer = seen_from(answer, engine.root, os.getcwd())
    if answer.unknown and not answer.results:
        raise _error(answer.unknown, answer.info)
    found = bool(answer.results)  # those that do not fit into a budget are found all the same
    if (max_tokens := number(call.values, "max_tokens")) is not None:
        from lci_py.render.shares import cut

        answer = cut(answer, max_tokens, cost(call, shape, writer))
    emit(call, shape, answer, writer)
    if answer.unknown and shape not in MACHINE:
        for unknown in answer.unknown:
            error = _error([unknown])
            say(f"{error.message}: {error.hint}" if error.hint else error.message)
    return EXIT_USAGE if answer.unknown else EXIT_OK if found else EXIT_NO_RESULTS


def _error(unknown: list[Unknown] | tuple[Unknown, ...], info: IndexInfo | None = None) -> UnknownTargetError:
    first, rest = unknown[0], len(unknown) - 1
    more = f" (and {rest} more targets are unknown)" if rest > 1 else " (and another target is unknown)" if rest else ""
    named = first.message.startswith("nothing is named")
    return UnknownTargetError(
        first.message + more, first.near, "`lci search` finds code by what it does" if named else "", info
    )


def _request(call: Invocation) -> ShowRequest:
    targets = tuple(_target(text, call) for text in call.texts("argument"))
    if not targets:
        raise UsageError("there is no target", hint="lci show TARGET…")
    limit = number(call.values, "limit")
    return ShowRequest(
        targets,
        flag_filters(call),
        limit=10 if limit is None else limit,
        context=number(call.values, "context") or 0,
        signature=call.flag("signature"),
        doc=call.flag("doc"),
        callers=call.flag("callers"),
        callees=call.flag("callees"),
        indexed_only=call.flag("indexed_only"),
    )


def _target(text: str, call: Invocation) -> Target:
    text = text.strip()
    if not text:
        raise UsageError("a target is empty", hint="give a name, an id, FILE:LINE or FILE:A-B")
    name = plain_text(name_from_root(text, call))
    place = place_from_root(text, call)
    path, first, last = place or (None, None, None)
    if path is not None and first is not None:
        return Target(plain_text(text), name, path, (first, last))
    if path is not None or path_from_root(text, call) == "":
        from lci_py import app

        if os.path.isdir(app.find_root(call.text("root")) / (path or "")):
            raise UsageError(f"{text} is a folder", hint=f"`lci outline {text}` shows what it defines")
    return Target(plain_text(text), name, path)


# --- output -----------------------------------------------------------------------------------------------------


def _writer(call: Invocation) -> Writer[ShowAnswer]:
    def parts(answer: ShowAnswer) -> Parts:
        from lci_py.render.json.show import parts

        return parts(answer)

    def text(answer: ShowAnswer, to: Screen, footer: bool) -> None:
        from lci_py.render.text.show import render

        numbers = call.flag("line_number")
        render(answer, file=to.file, color=to.color, width=to.width, numbers=numbers, footer=footer)

    def paths(answer: ShowAnswer, file: IO[str]) -> None:
        from lci_py.render.text.show import render_paths

        render_paths(answer, file=file)

    return Writer(parts, text, paths)
