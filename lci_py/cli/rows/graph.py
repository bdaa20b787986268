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


def _fit(asked: CommandRun, answer: GraphAnswer, cost: Callable[[GraphAnswer], int]) -> GraphAnswer:
    """Shortens a tree to --max-nodes and --max-tokens. As text, callees that have the same name are merged."""
    if answer.command != "tree":
        return answer
    from lci_py.render import call_tree

    values = asked.call.values
    max_tokens, most = number(values, "max_tokens"), number(values, "max_nodes")
    if asked.shape == "text":
        answer = call_tree.alike_merged(answer)
    total = call_tree.size(answer.branches)
    if most is None and asked.shape == "text" and max_tokens is None:
        most = call_tree.MAX_NODES
    if max_tokens is None:
        return call_tree.cut(answer, most or total)
    return call_tree.within_tokens(answer, most or total, max_tokens, cost)


def _cut(answer: GraphAnswer) -> Cut[GraphAnswer]:
    references, neighbours, external = lists = (answer.references, answer.neighbours, answer.external)
    known = len(references) + len(neighbours)

    def first(count: int) -> GraphAnswer:
        rest = external[: max(0, count - known)]
        return replace(answer, references=references[:count], neighbours=neighbours[:count], external=rest)

    spared = max(0, len(answer.targets) - _TARGETS)
    return Cut(sum(map(len, lists)), first, lambda part: replace(part, targets=part.targets[:_TARGETS]), spared)


def _finish(asked: CommandRun, answer: GraphAnswer, code: int) -> int:
    quiet = asked.shape in MACHINE or asked.call.flag("quiet")
    if not answer.shown and not answer.targets and not quiet:
        say_unknown(answer.query, answer.did_you_mean)
    return code


ROW = Row(
    _request,
    writer=lambda asked: Writer("graph", "graph", None if asked.call.command == "tree" else _cut),
    results=lambda answer: answer.shown,
    fit=_fit,
    finish=_finish,
)
