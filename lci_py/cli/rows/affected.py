"""`lci affected`: builds its request from a revision, a name, a diff or files, and from flags. It exits with 1 if
nothing has changed, and with --paths or --fail-if-none if no test is affected.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from lci_py.cli.answering import Row
from lci_py.cli.output import PICTURES, Writer
from lci_py.cli.request import flag_filters, number, path_from_root, plain_text
from lci_py.cli.streams import say
from lci_py.errors import EXIT_NO_RESULTS, UnknownTargetError, UsageError, Words
from lci_py.types.affected import AffectedAnswer, AffectedRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.cli.answering import CommandRun
    from lci_py.cli.command_line import Invocation


def _request(call: Invocation, _shape: str) -> AffectedRequest:
    words, filters, whole = call.texts("argument"), flag_filters(call), call.flag("all")
    depth = number(call.values, "depth")
    if call.flag("files"):
        if not words:
            raise UsageError(
                "--files needs files", hint=Words("lci affected --files FILE…", "leave files out, or name some")
            )
        paths = tuple(plain_text(path) for text in words if (path := path_from_root(text, call)))
        return AffectedRequest(files=paths, filters=filters, depth=depth, all=whole)
    if len(words) > 1:
        raise UsageError(f"affected takes one revision, not {len(words)}", hint="write --files before the files")
    if words and not words[0].strip():
        raise UsageError("the revision is empty", hint="leave it out for HEAD")
    if words == ("-",):
        return AffectedRequest(diff=_diff(call), filters=filters, depth=depth, all=whole)
    return AffectedRequest(plain_text(words[0]) if words else "HEAD", filters=filters, depth=depth, all=whole)


def _diff(call: Invocation) -> str:
    """Reads the diff from standard input."""
    if call.session is not None or sys.stdin is None:
        raise UsageError("there is no diff on standard input", hint="git diff main | lci affected -")
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")


def _ask(run: CommandRun) -> AffectedAnswer:
    for text in run.call.texts("argument") if run.call.flag("files") else ():
        if not path_from_root(text, run.call):
            raise UnknownTargetError(f"there is no file {text}", run.engine.similar_paths(text))
    request: AffectedRequest = run.request._replace(calls=run.shape in PICTURES)
    try:
        answer = run.engine.answer("affected", request)
    except UsageError:
        words = run.call.texts("argument")
        if request.files is not None or not words or not (path := path_from_root(words[0], run.call)):
            raise
        answer = run.engine.answer("affected", request._replace(files=(plain_text(path),)))
    # A test runner is given those that only share words with the change if nothing better is known.
    reached = tuple(test for test in answer.tests if test.reached)
    return answer._replace(tests=reached) if run.shape == "paths" and reached and not answer.request.all else answer


def _finish(run: CommandRun, answer: AffectedAnswer, code: int) -> int:
    call = run.call
    if run.shape == "paths" and not call.flag("quiet") and (unsaid := _unsaid(answer)):
        say(unsaid)
    if (call.flag("fail_if_none") and not any(test.reached for test in answer.tests)) or (
        call.flag("paths") and not answer.tests
    ):
        return EXIT_NO_RESULTS
    return code


def _unsaid(answer: AffectedAnswer) -> str:
    """A note on why stdout is empty (`lci affected --paths | xargs -r pytest` then runs no test); "" if it is not."""
    if answer.changed:
        from lci_py.render.text.affected import no_test

        return no_test(answer)
    request = answer.request
    return "nothing has changed" + (
        f" since {request.revision}" if request.files is None and request.diff is None else ""
    )


def _fit(run: CommandRun, answer: AffectedAnswer, cost: Callable[[AffectedAnswer], int]) -> AffectedAnswer:
    max_tokens = number(run.call.values, "max_tokens")
    if max_tokens is None or run.shape == "paths":
        return answer
    from lci_py.render.token_budget import fitted

    size = len(answer.changed) + len(answer.tests) + len(answer.callers)
    return fitted(answer, max_tokens, cost, size, lambda count: _rows(answer, 0, count)._replace(max_tokens=max_tokens))


def _rows(answer: AffectedAnswer, first: int, last: int | None) -> AffectedAnswer:
    """The answer with the rows `first` to `last`, counted through its changes, then its tests, then its callers."""
    lists: list[tuple[Any, ...]] = [answer.changed, answer.tests, answer.callers]
    starts = [0, len(lists[0]), len(lists[0]) + len(lists[1])]
    parts = [
        rows[max(0, first - start) : None if last is None else max(0, last - start)]
        for rows, start in zip(lists, starts, strict=True)
    ]
    counts = [was + len(rows) - len(some) for was, rows, some in zip(answer.dropped, lists, parts, strict=True)]
    changed, tests, callers = parts
    return answer._replace(changed=changed, tests=tests, callers=callers, dropped=(counts[0], counts[1], counts[2]))


ROW = Row(
    _request,
    ask=_ask,
    writer=lambda run: Writer("affected", "affected", options={"each": run.call.flag("verbose")}),
    results=lambda answer: answer.changed or answer.offset,
    skip=lambda answer, offset: _rows(answer, offset, None)._replace(offset=offset),
    fit=_fit,
    finish=_finish,
)
