"""Orders the pieces of an answer by control flow, and finds the chains of calls between the pieces."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lci_py.types.edges import AMBIGUOUS, CALLS
from lci_py.types.explore import Link

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.index.shards.graph import GraphIndex
    from lci_py.types.explore import Piece

#: Chains that are shown, and calls of one.
_CHAINS, _LONG = 3, 6


#: Caller -> callee -> whether each call may mean another definition.
Calls = Mapping[str, Mapping[str, bool]]


def calls_between(graph: GraphIndex, numbers: Mapping[str, int]) -> Calls:
    """The calls between some definitions: caller -> callee -> whether each call may mean another definition.

    Args:
        numbers: Maps the id of each definition to its symbol number.
    """
    calls: dict[str, dict[str, bool]] = {id: {} for id in numbers}
    ends = {number: id for id, number in numbers.items()}
    own = [(id, node) for id, number in numbers.items() for node in (number, *graph.lambdas_of(number))]
    edges = graph.edges([node for _, node in own], CALLS)
    for origin, node, step in zip(edges.origin.tolist(), edges.node.tolist(), edges.step.tolist(), strict=True):
        caller, callee = own[origin][0], ends.get(node)
        if callee is not None and callee != caller:
            calls[caller][callee] = calls[caller].get(callee, True) and bool(step & AMBIGUOUS)
    return calls


def flow(pieces: Sequence[Piece], calls: Calls) -> list[Piece]:
    """The pieces, ordered by file and line. A file comes before the files that it calls. Files without calls between
    them, or with calls in a circle, are ordered by their best piece.
    """
    worth: dict[str, float] = {}
    for piece in pieces:
        worth[piece.file] = max(worth.get(piece.file, 0.0), piece.worth)
    file_of = {piece.id: piece.file for piece in pieces if piece.lines}
    before: dict[str, set[str]] = {file: set() for file in worth}
    for caller, callees in calls.items():
        for callee, unsure in callees.items():
            source, other = file_of.get(caller), file_of.get(callee)
            if source is not None and other is not None and source != other and not unsure:
                before[other].add(source)
    order: list[str] = []
    remaining = sorted(worth, key=lambda file: (-worth[file], file))
    while remaining:
        # Files in a circle: the worthiest is first.
        following = next((file for file in remaining if before[file].isdisjoint(remaining)), remaining[0])
        remaining.remove(following)
        order.append(following)
    rank = {file: i for i, file in enumerate(order)}
    return sorted(pieces, key=lambda piece: (rank[piece.file], piece.line, -piece.end_line, piece.id))


def chains_of(pieces: Sequence[Piece], calls: Calls) -> tuple[tuple[Link, ...], ...]:
    """The chains of calls among the pieces with code, the best chains first; no call is in two chains."""
    with_code = {piece.id: piece for piece in pieces if piece.lines}
    used: set[tuple[str, str]] = set()
    chains = []
    for _ in range(_CHAINS):
        best: list[str] = []
        value = 0.0
        for start in sorted(with_code, key=lambda id: (-with_code[id].worth, id)):
            chain = _longest(start, with_code, calls, used)
            own = sum(with_code[id].worth for id in chain)
            if len(chain) > 1 and own > value + 1e-9:
                best, value = chain, own
        if not best:
            break
        used |= set(itertools.pairwise(best))
        links = [Link(with_code[best[0]].qualified_name, False)]
        for caller, callee in itertools.pairwise(best):
            links.append(Link(with_code[callee].qualified_name, calls[caller][callee]))
        chains.append(tuple(links))
    return tuple(chains)


def _longest(start: str, with_code: Mapping[str, Piece], calls: Calls, used: set[tuple[str, str]]) -> list[str]:
    """The chain of calls from the piece `start`, which continues with the best callee that is not yet in the chain."""
    chain = [start]
    while len(chain) < _LONG:
        here = chain[-1]
        further = [id for id in calls.get(here, ()) if id in with_code and id not in chain and (here, id) not in used]
        if not further:
            break
        chain.append(max(further, key=lambda id: (not calls[here][id], with_code[id].worth, id)))
    return chain
