"""`lci callers`, `lci callees`, `lci tree` and `lci refs`: flags to a request, the answer as output and exit code."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import IO, TYPE_CHECKING

from lci_py.cli.output import MACHINE, Cut, Writer, cost, emit, from_here, shape_of
from lci_py.cli.request import flag_filters, name_from_root, number, open_engine, required_name
from lci_py.cli.streams import say_unknown
from lci_py.errors import EXIT_NO_RESULTS, EXIT_OK, unknown_value
from lci_py.types.graph import DIRECTIONS, ROLES, Direction, GraphAnswer, GraphRequest, Role

if TYPE_CHECKING:
    from lci_py.cli.fast_parser import Invocation
    from lci_py.cli.streams import Screen
    from lci_py.render.json.answer import Parts

#: Formats of a tree that draw it.
_DIAGRAMS = ("dot", "mermaid")


def run_graph(call: Invocation) -> int:
    """Run one of the four commands."""
    shape = shape_of(call)
    request = _request(call)
    with open_engine(call, whole=True) as engine:
        answer = engine.navigate(call.command, request)
        # Only what is printed as text starts here: a diagram may be stored.
        if from_here(call, shape) and shape not in _DIAGRAMS:
            from lci_py.render.relative_paths import seen_from

            answer = seen_from(answer, engine.root, os.getcwd())
    writer = _writer(shape)
    written = "text" if shape in _DIAGRAMS else shape
    if call.command == "tree":
        writer = writer._replace(cut=None)
        answer = _cut(answer, call, written, writer)
    emit(call, written, answer, writer, bare=shape in _DIAGRAMS)
    quiet = shape in MACHINE or call.flag("quiet")
    if not answer.shown and not answer.targets and not quiet:
        say_unknown(answer.query, answer.did_you_mean)
    return EXIT_OK if answer.shown else EXIT_NO_RESULTS


def _request(call: Invocation) -> GraphRequest:
    name, limit, depth = required_name(call), number(call.values, "limit"), call.number("depth")
    offset = number(call.values, "offset") or 0
    return GraphRequest(
        name_from_root(name, call),
        every=call.flag("all"),
        filters=flag_filters(call),
        limit=limit,
        offset=offset,
        roles=_roles(call.texts("role")),
        direction=_direction(call.text("direction")),
        depth=3 if depth is None else depth,
    )


def _direction(given: str | None) -> Direction:
    for known in DIRECTIONS:
        if known == (given or DIRECTIONS[0]):
            return known
    raise unknown_value("direction", given or "", DIRECTIONS)


def _roles(given: tuple[str, ...]) -> tuple[Role, ...]:
    for name in given:
        if name not in ROLES:
            raise unknown_value("role", name, ROLES)
    return tuple(role for role in ROLES if role in given)


def _cut(answer: GraphAnswer, call: Invocation, shape: str, writer: Writer[GraphAnswer]) -> GraphAnswer:
    """A tree within --max-nodes and --max-tokens; as text, with callees of one name as one."""
    from lci_py.render import call_tree

    max_tokens, asked = number(call.values, "max_tokens"), number(call.values, "max_nodes")
    diagram = call.text("format") in _DIAGRAMS
    if shape == "text" and not diagram:
        answer = call_tree.alike_merged(answer)
    total = call_tree.size(answer.branches)
    if asked is None:
        most = call_tree.MAX_NODES if shape == "text" and not diagram and max_tokens is None else total
    else:
        most = asked or total
    if max_tokens is None:
        return call_tree.cut(answer, most)
    return call_tree.within_tokens(answer, most, max_tokens, cost(call, shape, writer))


def _writer(shape: str) -> Writer[GraphAnswer]:
    def parts(answer: GraphAnswer) -> Parts:
        from lci_py.render.json.graph import parts

        return parts(answer)

    def text(answer: GraphAnswer, to: Screen, footer: bool) -> None:
        from lci_py.render.text.graph import render, render_diagram

        if shape in _DIAGRAMS:
            render_diagram(answer, shape, file=to.file)
        else:
            render(answer, file=to.file, color=to.color, width=to.width, footer=footer)

    def paths(answer: GraphAnswer, file: IO[str]) -> None:
        from lci_py.render.text.graph import render_paths

        render_paths(answer, file=file)

    def cut(answer: GraphAnswer) -> Cut[GraphAnswer]:
        lists = (answer.references, answer.neighbours, answer.external)

        def first(count: int) -> GraphAnswer:
            references, neighbours, external = lists
            known = len(references) + len(neighbours)
            return replace(
                answer,
                references=references[:count],
                neighbours=neighbours[:count],
                external=external[: max(0, count - known)],
            )

        return Cut(sum(map(len, lists)), first)

    return Writer(parts, text, paths, cut)
