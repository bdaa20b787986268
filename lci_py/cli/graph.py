"""`lci callers`, `lci callees`, `lci tree` and `lci refs`: flags to a request, the answer as output and exit code."""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING

from lci_py.cli.request import flag_filters, name_from_root, number, open_engine, required_name
from lci_py.cli.streams import machine_stdout, one_output, paths_stdout, say_unknown, screen, writing
from lci_py.errors import EXIT_NO_RESULTS, EXIT_OK, UsageError, unknown_value
from lci_py.types.graph import DIRECTIONS, FORMATS, ROLES, Direction, Format, GraphAnswer, GraphRequest, Role

if TYPE_CHECKING:
    from lci_py.app import Engine
    from lci_py.cli.fast_parser import Invocation


def run_graph(call: Invocation) -> int:
    """Run one of the four commands."""
    one_output(call, "json", "jsonl", "paths")
    shape = _format(call)
    request = _request(call)
    with open_engine(call, whole=True) as engine:
        answer = _from_here(engine.navigate(call.command, request), engine, call, shape)
    if call.command == "tree":
        answer = _cut(answer, call, shape)
    with writing():
        _print(answer, call, shape)
    quiet = shape == "json" or call.flag("jsonl") or call.flag("quiet")
    if not answer.shown and not answer.targets and not quiet:
        say_unknown(answer.query, answer.did_you_mean)
    return EXIT_OK if answer.shown else EXIT_NO_RESULTS


def _format(call: Invocation) -> Format:
    given = call.text("format")
    if given is None:
        return "json" if call.flag("json") else "text"
    for known in FORMATS:
        if known == given:
            if call.flag("json") and known != "json":
                raise UsageError(f"--json and --format {known} cannot be used together", hint="choose one output")
            return known
    raise unknown_value("format", given, FORMATS)


def _request(call: Invocation) -> GraphRequest:
    name, limit, depth = required_name(call), number(call.values, "limit"), call.number("depth")
    return GraphRequest(
        name_from_root(name, call),
        every=call.flag("all"),
        filters=flag_filters(call),
        limit=limit,
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


def _from_here(answer: GraphAnswer, engine: Engine, call: Invocation, shape: Format) -> GraphAnswer:
    """The answer with paths from the current folder, for people and xargs; with --root they start at the root."""
    if call.text("root") is not None or shape != "text" or call.flag("jsonl"):
        return answer
    from lci_py.render.relative_paths import graph_seen_from

    return graph_seen_from(answer, engine.root, os.getcwd())


def _cut(answer: GraphAnswer, call: Invocation, shape: Format) -> GraphAnswer:
    """A tree within --max-nodes and --max-tokens; as text, with callees of one name as one."""
    from lci_py.render import call_tree

    tokens_left, asked = number(call.values, "max_tokens"), number(call.values, "max_nodes")
    if shape == "text":
        answer = call_tree.alike_merged(answer)
    total = call_tree.size(answer.branches)
    if asked is None:
        most = call_tree.MAX_NODES if shape == "text" and tokens_left is None else total
    else:
        most = asked or total
    if tokens_left is None:
        return call_tree.cut(answer, most)
    import shutil

    from lci_py.render.token_budget import tokens

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    budget = tokens_left

    def fits(part: GraphAnswer) -> bool:
        import io

        written = io.StringIO()
        _write(part, shape, written, width=width, footer=not call.flag("quiet"))
        return tokens(written.getvalue()) <= budget

    return call_tree.within_tokens(answer, most, fits)


def _write(
    answer: GraphAnswer, shape: Format, file: IO[str], *, color: bool = False, width: int | None, footer: bool
) -> None:
    """Write an answer in one of the formats of a tree."""
    if shape == "json":
        from lci_py.render.json.answer import dumps
        from lci_py.render.json.graph import answer_object

        file.write(dumps(answer_object(answer)) + "\n")
    elif shape == "text":
        from lci_py.render.text.graph import render

        render(answer, file=file, color=color, width=width, footer=footer)
    else:
        from lci_py.render.text.graph import render_diagram

        render_diagram(answer, shape, file=file)


def _print(answer: GraphAnswer, call: Invocation, shape: Format) -> None:
    footer = not call.flag("quiet")
    if shape == "json":
        _write(answer, shape, machine_stdout(), width=None, footer=footer)
    elif call.flag("jsonl"):
        from lci_py.render.json.graph import jsonl

        machine_stdout().writelines(line + "\n" for line in jsonl(answer))
    elif call.flag("paths"):
        from lci_py.render.text.graph import render_paths

        render_paths(answer, file=paths_stdout())
    else:
        to = screen(call)
        _write(answer, shape, to.file, color=to.color, width=to.width, footer=footer)
