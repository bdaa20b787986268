"""`lci show`: targets and flags to a request, the answer as output and exit code."""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING

from lci_py.cli.request import (
    flag_filters,
    name_from_root,
    number,
    open_engine,
    path_from_root,
    place_from_root,
    plain_text,
)
from lci_py.cli.streams import machine_stdout, one_output, paths_stdout, say, screen, writing
from lci_py.errors import EXIT_NO_RESULTS, EXIT_OK, EXIT_USAGE, UnknownTargetError, UsageError
from lci_py.types.show import ShowAnswer, ShowRequest, Target, Unknown

if TYPE_CHECKING:
    from lci_py.cli.fast_parser import Invocation


def run_show(call: Invocation) -> int:
    """Run the command, which exits with 2 if a target is unknown; the others are shown all the same."""
    one_output(call, "json", "jsonl", "paths")
    request = _request(call)
    with open_engine(call, whole=call.flag("callers") or call.flag("callees")) as engine:
        answer = engine.show(request)
        if call.text("root") is None and not (call.flag("json") or call.flag("jsonl")):
            from lci_py.render.relative_paths import show_seen_from

            answer = show_seen_from(answer, engine.root, os.getcwd())
    if answer.unknown and not answer.results:
        raise _error(answer.unknown)
    if (max_tokens := number(call.values, "max_tokens")) is not None:
        answer = _within(answer, call, max_tokens)
    with writing():
        _print(answer, call)
    if answer.unknown and not (call.flag("json") or call.flag("jsonl")):
        for unknown in answer.unknown:
            error = _error([unknown])
            say(f"{error.message}: {error.hint}" if error.hint else error.message)
    return EXIT_USAGE if answer.unknown else EXIT_OK if answer.results else EXIT_NO_RESULTS


def _error(unknown: list[Unknown] | tuple[Unknown, ...]) -> UnknownTargetError:
    first, rest = unknown[0], len(unknown) - 1
    more = f" (and {rest} more targets are unknown)" if rest > 1 else " (and another target is unknown)" if rest else ""
    named = first.message.startswith("nothing is named")
    return UnknownTargetError(
        first.message + more, first.near, "`lci search` finds code by what it does" if named else ""
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


def _within(answer: ShowAnswer, call: Invocation, max_tokens: int) -> ShowAnswer:
    from lci_py.render.shares import cut
    from lci_py.render.token_budget import tokens

    width = _width()

    def cost(part: ShowAnswer) -> int:
        import io

        written = io.StringIO()
        _write(part, call, written, color=False, width=width)
        return tokens(written.getvalue())

    return cut(answer, max_tokens, cost)


def _width() -> int | None:
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _write(answer: ShowAnswer, call: Invocation, file: IO[str], *, color: bool, width: int | None) -> None:
    if call.flag("json"):
        from lci_py.render.json.answer import dumps
        from lci_py.render.json.show import answer_object

        file.write(dumps(answer_object(answer)) + "\n")
    elif call.flag("jsonl"):
        from lci_py.render.json.show import jsonl

        file.writelines(line + "\n" for line in jsonl(answer))
    elif call.flag("paths"):
        from lci_py.render.text.show import render_paths

        render_paths(answer, file=file)
    else:
        from lci_py.render.text.show import render

        render(
            answer,
            file=file,
            color=color,
            width=width,
            numbers=call.flag("line_number"),
            footer=not call.flag("quiet"),
        )


def _print(answer: ShowAnswer, call: Invocation) -> None:
    if call.flag("json") or call.flag("jsonl"):
        _write(answer, call, machine_stdout(), color=False, width=None)
    elif call.flag("paths"):
        _write(answer, call, paths_stdout(), color=False, width=None)
    else:
        to = screen(call)
        _write(answer, call, to.file, color=to.color, width=to.width)
