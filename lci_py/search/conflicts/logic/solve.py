"""Decides whether a formula over multi-valued variables is satisfiable: DPLL with sets of values, not booleans."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lci_py.search.conflicts.logic.values import Allowed

#: Maximum number of literals that a search examines, some milliseconds; beyond it the question is undecided.
BUDGET = 8_000


class Literal(NamedTuple):
    """The statement that a variable has one of the values `allowed`."""

    variable: str
    allowed: Allowed


class And(NamedTuple):
    """The statement that all parts hold; it is true if there are no parts."""

    parts: tuple[Formula, ...]
    size: int = 1  # literals


class Or(NamedTuple):
    """The statement that at least one option holds; it is false if there are no options."""

    options: tuple[Formula, ...]
    size: int = 1  # literals


Formula = Literal | And | Or
TRUE, FALSE = And(()), Or(())


class OutOfBudgetError(Exception):
    """Raised when a question is not decided within `BUDGET` steps; never leaves this package."""


def both(*parts: Formula) -> Formula:
    """The conjunction of `parts`."""
    return parts[0] if len(parts) == 1 else And(parts, _size(parts))


def either(*options: Formula) -> Formula:
    """The disjunction of `options`; literals of the same variable are united."""
    merged: dict[str, Allowed] = {}
    rest: list[Formula] = []
    for option in options:
        if isinstance(option, Literal):
            name, allowed = option
            merged[name] = merged[name] | allowed if name in merged else allowed
        else:
            rest.append(option)
    parts = (*(Literal(name, allowed) for name, allowed in merged.items()), *rest)
    return parts[0] if len(parts) == 1 else Or(parts, _size(parts))


def _size(parts: tuple[Formula, ...]) -> int:
    return 1 + sum(1 if isinstance(part, Literal) else part.size for part in parts)


def opposite(formula: Formula) -> Formula:
    """The negation of a formula. Formulas have no "not": each literal gets the complement of its values."""
    if isinstance(formula, Literal):
        return Literal(formula.variable, ~formula.allowed)
    if isinstance(formula, And):
        return either(*map(opposite, formula.parts))
    return And(tuple(map(opposite, formula.options)), formula.size)


def variables(formula: Formula) -> Iterator[str]:
    """The variables of a formula, with repetitions."""
    if isinstance(formula, Literal):
        yield formula.variable
    else:
        for part in formula[0]:
            yield from variables(part)


def evaluate(formula: Formula, values: Mapping[str, Allowed]) -> bool | None:
    """Evaluate a formula in Kleene's three-valued logic; None if the known values do not decide it.

    Args:
        values: Maps a variable to its remaining values, never empty. A missing variable can have any value.
    """
    if isinstance(formula, Literal):
        remaining = values.get(formula.variable)
        if remaining is None:
            return None if formula.allowed else False
        common = remaining & formula.allowed
        if not common:
            return False
        return True if common == remaining else None
    undecided = False
    deciding = isinstance(formula, Or)
    for part in formula[0]:
        value = evaluate(part, values)
        if value is deciding:
            return deciding
        undecided |= value is None
    return None if undecided else not deciding


class Problem:
    """A conjunction of formulas in the form that the search works on: values of variables, and disjunctions.

    Attributes:
        known: Maps a variable to the values that its literals allow; None as a whole if some variable has none left.
        choices: The disjunctions.
    """

    __slots__ = ("choices", "known", "variables")

    def __init__(self, formulas: Iterable[Formula]) -> None:
        parts = list(formulas)
        values: dict[str, Allowed] = {}
        self.choices: list[Or] = []
        self.known: dict[str, Allowed] | None = values if _assume(parts, values, self.choices) else None
        self.variables = frozenset(name for part in parts for name in variables(part))


def model(problems: Sequence[Problem], facts: Iterable[Formula]) -> dict[str, Allowed] | None:
    """Maps variables to sets of values, of which every choice satisfies all of `problems` and `facts`; None if
    unsatisfiable.

    Raises:
        OutOfBudgetError: The search needs more than `BUDGET` steps.
    """
    values: dict[str, Allowed] = {}
    choices: list[Or] = []
    for problem in problems:
        if problem.known is None:
            return None
        for name, allowed in problem.known.items():
            values[name] = common = values[name] & allowed if name in values else allowed
            if not common:
                return None
        choices += problem.choices
    if not _assume(facts, values, choices):
        return None
    return _Search().run(values, choices) if choices else values


def _assume(formulas: Iterable[Formula], values: dict[str, Allowed], choices: list[Or]) -> bool:
    """Add formulas to the search state; returns False if the literals alone are contradictory."""
    pending = list(formulas)
    while pending:
        formula = pending.pop()
        if isinstance(formula, Literal):
            name = formula.variable
            values[name] = common = values[name] & formula.allowed if name in values else formula.allowed
            if not common:
                return False
        elif isinstance(formula, And):
            pending.extend(formula.parts)
        elif len(formula.options) == 1:
            pending.append(formula.options[0])
        elif formula.options:
            choices.append(formula)
        else:
            return False
    return True


class _Search:
    """A single search for a satisfying assignment, which may take `BUDGET` steps."""

    def __init__(self) -> None:
        self._left = BUDGET

    def run(self, values: dict[str, Allowed], choices: list[Or]) -> dict[str, Allowed] | None:
        stack = [(values, choices)]
        while stack:
            values, choices = stack.pop()
            open_choices = self._propagate(values, choices)
            if open_choices is None:
                continue
            if not open_choices:
                return values
            smallest = min(open_choices, key=lambda choice: len(choice.options))
            rest = [choice for choice in open_choices if choice is not smallest]
            # The stack is last in, first out; the option that is written first is tried first.
            for option in reversed(smallest.options):
                state, more = dict(values), list(rest)
                self._spend(len(state))
                if _assume([option], state, more):
                    stack.append((state, more))
        return None

    def _spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise OutOfBudgetError

    def _propagate(self, values: dict[str, Allowed], choices: list[Or]) -> list[Or] | None:
        """Remove false options from the disjunctions until nothing changes; None if the formulas are contradictory."""
        changed = True
        while changed and choices:
            changed = False
            pending, choices = choices, []
            for choice in pending:
                self._spend(choice.size)
                verdicts = [evaluate(option, values) for option in choice.options]
                if True in verdicts:
                    continue
                options = [part for part, verdict in zip(choice.options, verdicts, strict=True) if verdict is None]
                if len(options) > 1:
                    choices.append(Or(tuple(options), choice.size))
                elif not _assume(options[:1] or [FALSE], values, choices):
                    return None
                else:
                    changed = True
        return choices
