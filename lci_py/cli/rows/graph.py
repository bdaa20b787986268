"""`lci callers`, `lci callees`, `lci tree` and `lci refs`: builds their requests from a name and from flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.cli.answering import Row
from lci_py.cli.output import MACHINE, Cut, Writer
from lci_py.cli.request import flag_filters, name_from_root, number, required_name
from lci_py.cli.streams import say_unknown
from lci_py.errors import unknown_value
from lci_py.types.graph import DIRECTIONS, ROLES, Direction, GraphAnswer, GraphRequest, Role
from lci_py.types.record import replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.cli.answering import CommandRun
    from lci_py.cli.command_line import Invocation

#: Definitions asked about that an answer names within a budget.
_TARGETS = 3


def _request(call: Invocation, _shape: str) -> GraphRequest:
    name, limit, depth = required_name(call), number(call.values, "limit"), call.number("depth")
    offset = number(call.values, "offset") or 0
    return GraphRequest(
        name_from_root(name, call),
        all_meanings=call.flag("all"),
        filters=flag_filters(call),
        limit=limit,
        offset=offset,
        roles=_roles(call.texts("role")),
        direction=_direction(call.text("direction")),
        depth=3 if depth is None else depth,
    )


def _direction(word: str | None) -> Direction:
    for direction in DIRECTIONS:
        if direction == (word or DIRECTIONS[0]):
            return direction
    raise unknown_value("direction", word or "", DIRECTIONS)


def _roles(names: tuple[str, ...]) -> tuple[Role, ...]:
    for name in names:
        if name not in ROLES:
            raise unknown_value("role", name, ROLES)
    return tuple(role for role in ROLES if role in names)


def _fit(run: CommandRun, answer: GraphAnswer, cost: Callable[[GraphAnswer], int]) -> GraphAnswer:
    """Shortens a tree to --max-nodes and --max-tokens. As text, callees that have the same name are merged."""
    if answer.command != "tree":
        return answer
    from lci_py.render import call_tree

    values = run.call.values
    max_tokens, limit = number(values, "max_tokens"), number(values, "max_nodes")
    if run.shape == "text":
        answer = call_tree.alike_merged(answer)
    total = call_tree.size(answer.branches)
    if limit is None and run.shape == "text" and max_tokens is None:
        limit = call_tree.MAX_NODES
    if max_tokens is None:
        return call_tree.cut(answer, limit or total)
    return call_tree.within_tokens(answer, limit or total, max_tokens, cost)


def _cut(answer: GraphAnswer) -> Cut[GraphAnswer]:
    references, neighbours, external = lists = (answer.references, answer.neighbours, answer.external)
    start = len(references) + len(neighbours)

    def first(count: int) -> GraphAnswer:
        rest = external[: max(0, count - start)]
        return replace(answer, references=references[:count], neighbours=neighbours[:count], external=rest)

    spared = max(0, len(answer.targets) - _TARGETS)
    return Cut(sum(map(len, lists)), first, lambda part: replace(part, targets=part.targets[:_TARGETS]), spared)


def _finish(run: CommandRun, answer: GraphAnswer, code: int) -> int:
    quiet = run.shape in MACHINE or run.call.flag("quiet")
    if not answer.shown and not answer.targets and not quiet:
        say_unknown(answer.query, answer.did_you_mean)
    return code


ROW = Row(
    _request,
    writer=lambda run: Writer("graph", "graph", None if run.call.command == "tree" else _cut),
    results=lambda answer: answer.shown,
    fit=_fit,
    finish=_finish,
)
