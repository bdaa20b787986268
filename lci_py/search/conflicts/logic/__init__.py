"""Compares build conditions as logic: can two hold together, does one imply the other, does one hold on this machine.

The grammar of a language (`source/conditions/formula.py`) says how a condition is parsed. Its atoms become literals
over multi-valued variables (`atoms.py`, and a module with known facts per family of languages), and a search looks for
a satisfying assignment (`solve.py`). An atom that no rule recognises is a variable named by its text.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from itertools import product
from typing import TYPE_CHECKING

from lci_py.search.conflicts.logic.atoms import ON, Dialect, in_words, off, read
from lci_py.search.conflicts.logic.platforms import Machine
from lci_py.search.conflicts.logic.solve import (
    TRUE,
    Formula,
    Or,
    OutOfBudgetError,
    Problem,
    evaluate,
    model,
    opposite,
    variables,
)
from lci_py.search.conflicts.rules import rules_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lci_py.search.conflicts.logic.values import Allowed

__all__ = ["Machine", "alternatives", "holds", "implies", "never", "together", "witness"]

_PLAIN = Dialect()
#: Switches of one condition times those of the other.
_MAX_PAIRS = 400


class _Tag:
    """A condition in three forms: as a formula, and as two problems to solve (that it holds, that it does not)."""

    __slots__ = ("affirmed", "denied", "formula", "is_cut")

    def __init__(self, tag: str, dialect: Dialect) -> None:
        self.formula = read(tag, dialect) if tag else TRUE
        self.is_cut = any(name.startswith("…") for name in variables(self.formula))
        self.affirmed = Problem([self.formula])
        self.denied = Problem([opposite(self.formula)])


def together(tag: str | None, other: str | None, language: str) -> bool | None:
    """Whether two conditions can hold at the same time, by the rules of `language`.

    Args:
        one, other: A `build_tag`; None always holds.
    Returns:
        None if undecided: a condition was cut (`…`) or its brackets do not match, and its readable part does not
            exclude the other condition; or the search would take too long. An unknown name can have any value, so
            unrelated conditions give True.
    """
    tag, other = tag or "", other or ""
    return _together(min(tag, other), max(tag, other), language)


def alternatives(tag: str | None, other: str | None, language: str) -> bool | None:
    """Whether two conditions are probably alternatives: they hold together only in an unusual build, or only if a
    switch of both is set (`USE_GL` and `USE_METAL`), while a build mostly sets one of them. None if undecided.

    A switch counts if only one condition mentions it. A single switch that a configure script sets is enough, unless
    one condition implies the other.
    """
    return _alternatives(min(tag or "", other or ""), max(tag or "", other or ""), language)


def witness(tag: str | None, other: str | None, language: str) -> str:
    """Describes a situation in which both conditions hold, as `with A and B set`; an empty text if none is known."""
    dialect = _dialect(language)
    left, right = _read(tag or "", language).affirmed, _read(other or "", language).affirmed
    names = left.variables | right.variables
    facts = _facts(names & _fact_names(language), language)
    usual = [fact for fact in dialect.usual if not names.isdisjoint(variables(fact))]
    try:
        values = model([left, right, Problem(usual)], facts) or model([left, right], facts)
    except OutOfBudgetError:
        return ""
    return in_words({name: values[name] for name in sorted(names & values.keys())}, dialect) if values else ""


def implies(tag: str | None, other: str | None, language: str) -> bool | None:
    """Whether `other` holds whenever `tag` holds; None if undecided, as for `together`."""
    return _implies(tag or "", other or "", language)


def never(tag: str | None, language: str) -> bool:
    """Whether a condition can never hold, as `0` or `linux && windows`; False if undecided."""
    return _possible([_read(tag or "", language).affirmed], language) is False


def holds(tag: str | None, language: str, machine: Machine) -> bool | None:
    """Whether a condition holds on a machine; None if it depends on features, flags or installed software."""
    formula, dialect, state = _read(tag or "", language).formula, _dialect(language), _machine_values(language, machine)
    if dialect.unset:
        state = {**{name: ~ON for name in variables(formula) if dialect.is_switch(name)}, **state}
    return evaluate(formula, state)


@lru_cache(maxsize=65_536)
def _together(tag: str, other: str, language: str) -> bool | None:
    left, right = _read(tag, language), _read(other, language)
    possible = _possible([left.affirmed, right.affirmed], language)
    # A cut part is unknown, so only a contradiction of the other parts is certain.
    return None if possible and (left.is_cut or right.is_cut) else possible


@lru_cache(maxsize=4_096)
def _alternatives(tag: str, other: str, language: str) -> bool | None:
    left, right, dialect = _read(tag, language).affirmed, _read(other, language).affirmed, _dialect(language)
    only = [sorted(filter(dialect.is_switch, names)) for names in (
        _open_variables(left) - _open_variables(right), _open_variables(right) - _open_variables(left),
    )]  # fmt: skip
    if any(map(dialect.found_out, left.variables | right.variables)):
        implied = {_implies(tag, other, language), _implies(other, tag, language)}
        return False if True in implied else None if None in implied else True
    pairs = list(product(*only))
    usual = [fact for fact in dialect.usual if (left.variables | right.variables).issuperset(variables(fact))]
    if len(pairs) > _MAX_PAIRS:
        return None
    if not (pairs or usual):
        return False
    apart = (Or((off(tag, dialect), off(other, dialect)), 2) for tag, other in pairs)
    possible = _possible([left, right, Problem([*usual, *apart])], language)
    return None if possible is None else not possible


def _open_variables(problem: Problem) -> frozenset[str]:
    """The variables that decide whether a condition holds: only A for `(A || B) && A`."""
    values = problem.known
    if values is None:
        return problem.variables
    open_choices = [choice for choice in problem.choices if evaluate(choice, values) is not True]
    return frozenset((*values, *(name for choice in open_choices for name in variables(choice))))


@lru_cache(maxsize=16_384)
def _implies(tag: str, other: str, language: str) -> bool | None:
    left, right = _read(tag, language), _read(other, language)
    possible = _possible([left.affirmed, right.denied], language)
    if possible is None or (possible and (left.is_cut or right.is_cut)):
        return None
    return not possible


def _possible(problems: Sequence[Problem], language: str) -> bool | None:
    names = frozenset().union(*(problem.variables for problem in problems))
    try:
        return model(problems, _facts(names & _fact_names(language), language)) is not None
    except OutOfBudgetError:
        return None


@lru_cache(maxsize=16_384)
def _read(tag: str, language: str) -> _Tag:
    return _Tag(tag, _dialect(language))


@lru_cache(maxsize=64)
def _dialect(language: str) -> Dialect:
    module, _, name = rules_of(language).dialect.partition(".")
    if not module:
        return _PLAIN
    dialect: Dialect = getattr(import_module(f"{__name__}.{module}"), name)
    return dialect


@lru_cache(maxsize=64)
def _fact_names(language: str) -> frozenset[str]:
    return frozenset(name for fact in _dialect(language).facts for name in variables(fact))


@lru_cache(maxsize=4_096)
def _facts(names: frozenset[str], language: str) -> tuple[Formula, ...]:
    """The formulas that always hold in a language, as far as all their variables are among `names`."""
    return tuple(fact for fact in _dialect(language).facts if names.issuperset(variables(fact)))


@lru_cache(maxsize=64)
def _machine_values(language: str, machine: Machine) -> Mapping[str, Allowed]:
    return _dialect(language).here(machine)
