"""`lci path`: two names and flags to a request, the answer as output and exit code."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING

from lci_py.cli.output import Cut, Writer, emit, from_here, shape_of
from lci_py.cli.request import flag_filters, name_from_root, number, open_engine, plain_text
from lci_py.errors import EXIT_NO_RESULTS, EXIT_OK, UsageError
from lci_py.types.chains import PathAnswer, PathRequest

if TYPE_CHECKING:
    from lci_py.cli.fast_parser import Invocation
    from lci_py.cli.streams import Screen
    from lci_py.render.json.answer import Parts


def run_path(call: Invocation) -> int:
    shape = shape_of(call)
    request = _request(call)
    with open_engine(call, whole=True) as engine:
        answer = engine.path(request)
        if from_here(call, shape):
            from lci_py.render.relative_paths import seen_from

            answer = seen_from(answer, engine.root, os.getcwd())
    emit(call, shape, answer, _writer())
    return EXIT_OK if answer.chains else EXIT_NO_RESULTS


def _request(call: Invocation) -> PathRequest:
    names = [plain_text(name_from_root(name.strip(), call)) for name in call.texts("argument")]
    filters = flag_filters(call)
    if len(names) != 2 or not all(names):
        raise UsageError(f"path takes two names, not {len([name for name in names if name])}", hint="lci path FROM TO")
    depth, limit = number(call.values, "depth"), number(call.values, "limit")
    return PathRequest(
        names[0],
        names[1],
        every=call.flag("all"),
        filters=filters,
        depth=20 if depth is None else depth,
        limit=5 if limit is None else limit,
    )


def _writer() -> Writer[PathAnswer]:
    def parts(answer: PathAnswer) -> Parts:
        from lci_py.render.json.chains import parts

        return parts(answer)

    def text(answer: PathAnswer, to: Screen, footer: bool) -> None:
        from lci_py.render.text.chains import render

        render(answer, file=to.file, color=to.color, width=to.width, footer=footer)

    def paths(answer: PathAnswer, file: IO[str]) -> None:
        from lci_py.render.text.chains import render_paths

        render_paths(answer, file=file)

    def cut(answer: PathAnswer) -> Cut[PathAnswer]:
        return Cut(len(answer.chains), lambda count: answer._replace(chains=answer.chains[:count]))

    return Writer(parts, text, paths, cut)
