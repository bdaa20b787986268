"""Chooses among several definitions of one name those that take as many arguments as a call has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lci_py.callgraph.edges import AMBIGUOUS, OVERRIDE
from lci_py.source.syntax.arity import lacks_only_defaults, takes

if TYPE_CHECKING:
    from lci_py.callgraph.lookup_tables import Definition

#: (symbol, step) pairs.
Targets = tuple[tuple[int, int], ...]


def fitting(
    targets: Targets, arguments: int, known: dict[int, Definition], arity: Callable[[Definition], int]
) -> Targets:  # fmt: skip
    """The targets that take so many arguments; all targets if none does.

    Args:
        targets: What a call may mean.
        arguments: Number of its arguments, as in `Call`.
        known: Symbol to definition; a target that is missing here fits.
        arity: Gives the arity of a definition, as in `source.syntax.arity`.
    """
    if arguments < 0 or len(targets) < 2:
        return targets
    found: list[tuple[int, int]] = []
    # Overrides are targets besides what they override, not alternatives to it.
    for overriding in (False, True):
        group = [target for target in targets if (target[1] & ~AMBIGUOUS == OVERRIDE) is overriding]
        fit = _fitting(group, arguments, known, arity) if len(group) > 1 else group
        found += [(fit[0][0], fit[0][1] & ~AMBIGUOUS)] if len(fit) == 1 else fit
    return tuple(found)


def _fitting(
    group: Sequence[tuple[int, int]], arguments: int, known: dict[int, Definition],
    arity: Callable[[Definition], int],
) -> Sequence[tuple[int, int]]:  # fmt: skip
    arities = [arity(known[symbol]) if symbol in known else -1 for symbol, _ in group]
    for fits in (takes, lacks_only_defaults):
        fit = [target for target, one in zip(group, arities, strict=True) if fits(one, arguments)]
        if fit:
            return fit
    return group


def named(targets: Targets, known: dict[int, Definition], *, of_macro: bool) -> Targets:
    """What a name means that is not called (`source.syntax.arity.NAMED`).

    Args:
        targets: What it would mean if it were called.
        known: As in `fitting`.
        of_macro: It is the whole text of a macro, and may mean a function. Elsewhere it can only mean a macro.
    """
    kinds = ("macro", "function") if of_macro else ("macro",)
    return tuple(target for target in targets if target[0] in known and known[target[0]].kind in kinds)
