"""`lci outline`: builds its request from paths and from flags."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lci_py.cli.answering import Row, skip_results
from lci_py.cli.output import PICTURES, Writer
from lci_py.cli.request import flag_filters, number, path_from_root, place_from_root, plain_text
from lci_py.errors import UnknownTargetError, UsageError
from lci_py.types.outline import MAP_TOKENS, OutlineAnswer, OutlineRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.cli.answering import CommandRun
    from lci_py.cli.command_line import Invocation

#: Tokens that a line of a map takes at least.
_ROW_TOKENS = 5
#: Definitions of a picture.
_DRAWN = 2_000


def _request(call: Invocation, shape: str) -> OutlineRequest:
    from lci_py import app

    root = app.find_root(call.text("root"))
    paths = [path for text in call.texts("argument") if (path := path_from_root(text, call)) is not None]
    folders = [plain_text(path) for path in paths if os.path.isdir(root / path)]
    files = [plain_text(path) for path in paths if not os.path.isdir(root / path)]
    query = call.text("query")
    request = OutlineRequest(
        tuple(dict.fromkeys(files)),
        tuple(dict.fromkeys(folders)),
        flag_filters(call),
        depth=number(call.values, "depth"),
        tests=call.flag("tests"),
        near=_near(call),
        query=plain_text(query or "").strip(),
        indexed_only=call.flag("indexed_only"),
        calls=shape in PICTURES,
    )
    if query is not None and not request.query:
        raise UsageError("--query is empty", hint="give words, or leave it out")
    if not request.is_map:
        if request.near or request.query:
            raise UsageError("--near and --query choose what a map shows", hint="give a folder, or no PATH")
        return request
    max_tokens = number(call.values, "max_tokens")
    limit = _DRAWN if request.calls and max_tokens is None else (max_tokens or MAP_TOKENS) // _ROW_TOKENS
    return request._replace(limit=max(1, limit) + (number(call.values, "offset") or 0))


def _near(call: Invocation) -> tuple[str, int | None] | None:
    near = call.text("near")
    if near is None:
        return None
    location = place_from_root(near, call)
    if location is None or location[2] is not None:
        raise UsageError(f"--near {near}: there is no such file", hint="give FILE or FILE:LINE")
    return location[0], location[1]


def _ask(run: CommandRun) -> OutlineAnswer:
    for text in run.call.texts("argument"):
        if path_from_root(text, run.call) is None:
            raise UnknownTargetError(f"there is no file or folder {text}", run.engine.similar_paths(text))
    return run.engine.outline(run.request)


def _fit(run: CommandRun, answer: OutlineAnswer, cost: Callable[[OutlineAnswer], int]) -> OutlineAnswer:
    is_text_map = answer.request.is_map and not answer.request.calls
    max_tokens = number(run.call.values, "max_tokens") or (MAP_TOKENS if is_text_map else None)
    if max_tokens is None:
        return answer
    from lci_py.render.outline_tree import within_tokens

    return within_tokens(answer, max_tokens, cost)


ROW = Row(
    _request,
    ask=_ask,
    writer=lambda _: Writer("outline", "outline"),
    skip=skip_results,
    fit=_fit,
)
