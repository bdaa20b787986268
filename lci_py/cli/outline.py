"""`lci outline`: paths and flags to a request, the answer as output and exit code."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING

from lci_py.cli.output import Writer, cost, emit, from_here, shape_of
from lci_py.cli.request import flag_filters, number, open_engine, path_from_root, place_from_root, plain_text
from lci_py.errors import EXIT_NO_RESULTS, EXIT_OK, UnknownTargetError, UsageError
from lci_py.types.outline import MAP_TOKENS, OutlineAnswer, OutlineRequest

if TYPE_CHECKING:
    from lci_py.cli.fast_parser import Invocation
    from lci_py.cli.streams import Screen
    from lci_py.render.json.answer import Parts

#: Tokens that a line of a map takes at least.
_LEAST = 5


def run_outline(call: Invocation) -> int:
    shape, writer = shape_of(call), _writer()
    request, max_tokens = _request(call)
    with open_engine(call, whole=True) as engine:
        for text in call.texts("argument"):
            if path_from_root(text, call) is None:
                raise UnknownTargetError(f"there is no file or folder {text}", engine.similar_paths(text))
        answer = engine.outline(request)
        if from_here(call, shape):
            from lci_py.render.relative_paths import seen_from

            answer = seen_from(answer, engine.root, os.getcwd())
    if max_tokens is not None:
        from lci_py.render.outline_tree import within_tokens

        answer = within_tokens(answer, max_tokens, cost(call, shape, writer))
    emit(call, shape, answer, writer)
    return EXIT_OK if answer.total else EXIT_NO_RESULTS


def _request(call: Invocation) -> tuple[OutlineRequest, int | None]:
    from lci_py import app

    root = app.find_root(call.text("root"))
    paths = [path for text in call.texts("argument") if (path := path_from_root(text, call)) is not None]
    folders = [plain_text(path) for path in paths if os.path.isdir(root / path)]
    files = [plain_text(path) for path in paths if not os.path.isdir(root / path)]
    max_tokens, query = number(call.values, "max_tokens"), call.text("query")
    request = OutlineRequest(
        tuple(dict.fromkeys(files)),
        tuple(dict.fromkeys(folders)),
        flag_filters(call),
        depth=number(call.values, "depth"),
        tests=call.flag("tests"),
        near=_near(call),
        query=plain_text(query or "").strip(),
        indexed_only=call.flag("indexed_only"),
    )
    if query is not None and not request.query:
        raise UsageError("--query is empty", hint="give words, or leave it out")
    if not request.is_map:
        if request.near or request.query:
            raise UsageError("--near and --query choose what a map shows", hint="give a folder, or no PATH")
        return request, max_tokens
    if max_tokens is None:
        max_tokens = MAP_TOKENS
    return request._replace(most=max(1, max_tokens // _LEAST)), max_tokens


def _near(call: Invocation) -> tuple[str, int | None] | None:
    near = call.text("near")
    if near is None:
        return None
    place = place_from_root(near, call)
    if place is None or place[2] is not None:
        raise UsageError(f"--near {near}: there is no such file", hint="give FILE or FILE:LINE")
    return place[0], place[1]


# --- output -----------------------------------------------------------------------------------------------------


def _writer() -> Writer[OutlineAnswer]:
    def parts(answer: OutlineAnswer) -> Parts:
        from lci_py.render.json.outline import parts

        return parts(answer)

    def text(answer: OutlineAnswer, to: Screen, footer: bool) -> None:
        from lci_py.render.text.outline import render

        render(answer, file=to.file, color=to.color, width=to.width, footer=footer)

    def paths(answer: OutlineAnswer, file: IO[str]) -> None:
        from lci_py.render.text.outline import render_paths

        render_paths(answer, file=file)

    return Writer(parts, text, paths)
