"""`lci affected`: flags to a request, the answer as output and exit code."""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING

from lci_py.cli.request import flag_filters, number, open_engine, path_from_root, plain_text
from lci_py.cli.streams import machine_stdout, one_output, paths_stdout, screen, writing
from lci_py.errors import EXIT_NO_RESULTS, EXIT_OK, UnknownTargetError, UsageError
from lci_py.types.affected import AffectedAnswer, AffectedRequest

if TYPE_CHECKING:
    from lci_py.cli.fast_parser import Invocation


def run_affected(call: Invocation) -> int:
    """Run the command, which exits with 1 if nothing has changed, and with --paths if no test is affected."""
    one_output(call, "json", "jsonl", "paths")
    request = _request(call)
    with open_engine(call, whole=True) as engine:
        for text in call.texts("argument") if call.flag("files") else ():
            if not path_from_root(text, call):
                raise UnknownTargetError(f"there is no file {text}", engine.similar_paths(text))
        answer = engine.affected(request)
        if call.text("root") is None and not (call.flag("json") or call.flag("jsonl")):
            from lci_py.render.relative_paths import affected_seen_from

            answer = affected_seen_from(answer, engine.root, os.getcwd())
    found = answer.tests if call.flag("paths") else answer.changed
    if (max_tokens := number(call.values, "max_tokens")) is not None and not call.flag("paths"):
        answer = _within(answer, call, max_tokens)
    with writing():
        _print(answer, call)
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


# --- output -----------------------------------------------------------------------------------------------------


def _within(answer: AffectedAnswer, call: Invocation, max_tokens: int) -> AffectedAnswer:
    """The answer with as many rows as the budget has room for: changes first, then tests, then callers."""
    import io
    import shutil

    from lci_py.render.token_budget import tokens

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
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

    def fits(part: AffectedAnswer) -> bool:
        written = io.StringIO()
        _write(part, call, written, color=False, width=width)
        return tokens(written.getvalue()) <= max_tokens

    if fits(answer):
        return answer
    low, high = 0, sum(whole)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(first(middle)):
            low = middle
        else:
            high = middle - 1
    return first(low)


def _write(answer: AffectedAnswer, call: Invocation, file: IO[str], *, color: bool, width: int | None) -> None:
    if call.flag("json"):
        from lci_py.render.json.affected import answer_object
        from lci_py.render.json.answer import dumps

        file.write(dumps(answer_object(answer)) + "\n")
    elif call.flag("jsonl"):
        from lci_py.render.json.affected import jsonl

        file.writelines(line + "\n" for line in jsonl(answer))
    elif call.flag("paths"):
        from lci_py.render.text.affected import render_paths

        render_paths(answer, file=file)
    else:
        from lci_py.render.text.affected import render

        render(
            answer,
            file=file,
            color=color,
            width=width,
            footer=not call.flag("quiet"),
            each=call.flag("verbose"),
        )


def _print(answer: AffectedAnswer, call: Invocation) -> None:
    if call.flag("json") or call.flag("jsonl"):
        _write(answer, call, machine_stdout(), color=False, width=None)
    elif call.flag("paths"):
        _write(answer, call, paths_stdout(), color=False, width=None)
    else:
        to = screen(call)
        _write(answer, call, to.file, color=to.color, width=to.width)
