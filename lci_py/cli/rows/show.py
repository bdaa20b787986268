"""`lci show`: builds its request from targets and flags. It exits with 2 if a target is unknown, but shows the rest."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lci_py.cli.answering import Row, skip_results
from lci_py.cli.output import MACHINE, Writer
from lci_py.cli.request import flag_filters, name_from_root, number, path_from_root, place_from_root, plain_text
from lci_py.cli.streams import say
from lci_py.errors import EXIT_USAGE, UnknownTargetError, UsageError, Words
from lci_py.types.show import ShowAnswer, ShowRequest, Target, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.cli.answering import CommandRun
    from lci_py.cli.command_line import Invocation
    from lci_py.types.search import IndexInfo


def _request(call: Invocation, _shape: str) -> ShowRequest:
    targets = tuple(_target(text, call) for text in call.texts("argument"))
    if not targets:
        raise UsageError("the target is missing", hint=Words("lci show TARGET…", "give names, ids or FILE:LINE"))
    return ShowRequest(
        targets,
        flag_filters(call),
        limit=number(call.values, "limit") or 10,
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
    location = place_from_root(text, call)
    path, first, last = location or (None, None, None)
    if path is not None and first is not None:
        return Target(plain_text(text), name, path, (first, last))
    if path is not None or path_from_root(text, call) == "":
        from lci_py import app

        if os.path.isdir(app.find_root(call.text("root")) / (path or "")):
            raise UsageError(
                f"{text} is a folder", hint=Words(f"`lci outline {text}` shows what it defines", "name a file")
            )
    return Target(plain_text(text), name, path)


def _ask(run: CommandRun) -> ShowAnswer:
    request: ShowRequest = run.request
    answer = run.engine.answer("show", request)
    if answer.unknown and not answer.results:
        raise _error(answer.unknown, answer.info)
    return answer


def _error(unknown: list[Unknown] | tuple[Unknown, ...], info: IndexInfo | None = None) -> UnknownTargetError:
    first, rest = unknown[0], len(unknown) - 1
    more = f" (and {rest} more targets are unknown)" if rest > 1 else " (and another target is unknown)" if rest else ""
    is_name = first.message.startswith("nothing is named")
    search = Words(*(f"`{words}` finds code by what it does" for words in ("lci search", "search")))
    return UnknownTargetError(first.message + more, first.near, search if is_name else "", info)


def _fit(run: CommandRun, answer: ShowAnswer, cost: Callable[[ShowAnswer], int]) -> ShowAnswer:
    max_tokens = number(run.call.values, "max_tokens")
    if max_tokens is None:
        return answer
    from lci_py.render.token_budget import cut_shares

    return cut_shares(answer, max_tokens, cost)


def _finish(run: CommandRun, answer: ShowAnswer, code: int) -> int:
    for unknown in answer.unknown if run.shape not in MACHINE else ():
        error = _error([unknown], answer.info)
        say(f"{error.message}: {error.hint}" if error.hint else error.message)
    return EXIT_USAGE if answer.unknown else code


ROW = Row(
    _request,
    ask=_ask,
    writer=lambda run: Writer("show", "show", options={"numbers": run.call.flag("line_number")}),
    skip=skip_results,
    whole=lambda call: call.flag("callers") or call.flag("callees"),
    fit=_fit,
    finish=_finish,
)
