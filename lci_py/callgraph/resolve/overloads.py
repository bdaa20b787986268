"""Resolves overloads: chooses among definitions of one name by the number of arguments, then by their types, as far as
these are declared or literal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lci_py.callgraph.resolve.argument_types import (
    BOXED,
    CONVERTED,
    EXACT,
    MAYBE,
    NO,
    OWN,
    PERHAPS,
    PROMOTED,
    StaticType,
)
from lci_py.callgraph.resolve.extension_methods import parse_receiver
from lci_py.callgraph.resolve.static_types import StaticTypes, TypesOfArguments
from lci_py.source.extract.arguments import KNOWN, NO_LABEL, SEPARATOR, UNKNOWN
from lci_py.source.extract.cpp_arguments import TEMPLATE, agree
from lci_py.source.syntax.arity import has_defaults, lacks_only_defaults, takes, with_least
from lci_py.types.edges import AMBIGUOUS, OVERRIDE
from lci_py.types.expressions import CAST
from lci_py.types.search import TYPE_KINDS
from lci_py.types.source import DEFAULTS, TAKES

if TYPE_CHECKING:
    from lci_py.callgraph.lookup_tables import Definition
    from lci_py.callgraph.lookups import LookUps
    from lci_py.callgraph.resolve.evaluate import Evaluator

#: The phase of overload resolution for each fit: as it is, boxed or as another number, by a conversion.
_PHASES = {EXACT: 0, PROMOTED: 1, BOXED: 2, CONVERTED: 2, OWN: 3, PERHAPS: 4}
_VARIABLE, _DEFAULTS = 5, 6
#: In C++, fits by which a type is more specialised than the other: `Derived` than `Base`.
_PARTS = (EXACT, PROMOTED, BOXED)
#: Of more overloads than this, types are not compared: each is compared with each.
_MOST = 64
#: Stands for the parameters of a definition that does not take the arguments.
_NONE = "!"
#: (symbol, step) pairs.
Targets = tuple[tuple[int, int], ...]


def fitting(
    targets: Targets, arguments: int, definitions: dict[int, Definition], arity: Callable[[Definition], int]
) -> Targets:  # fmt: skip
    """The targets that accept the number of arguments; all targets if none of them does.

    Args:
        arguments: The number of arguments, as in `Call`.
        definitions: Maps symbols to definitions; a target that is missing here is taken to fit.
        arity: Returns the arity of a definition, as in `source.syntax.arity`.
    """
    if arguments < 0 or len(targets) < 2:
        return targets
    matches: list[tuple[int, int]] = []
    # Overrides are targets besides what they override, not alternatives to it.
    for overriding in (False, True):
        group = [target for target in targets if (target[1] & ~AMBIGUOUS == OVERRIDE) is overriding]
        fit = _fitting(group, arguments, definitions, arity) if len(group) > 1 else group
        matches += [(fit[0][0], fit[0][1] & ~AMBIGUOUS)] if len(fit) == 1 else fit
    return tuple(matches)


def _fitting(
    group: Sequence[tuple[int, int]], arguments: int, definitions: dict[int, Definition],
    arity: Callable[[Definition], int],
) -> Sequence[tuple[int, int]]:  # fmt: skip
    arities = [arity(definitions[symbol]) if symbol in definitions else -1 for symbol, _ in group]
    for fits in (takes, lacks_only_defaults):
        fit = [target for target, number in zip(group, arities, strict=True) if fits(number, arguments)]
        if fit:
            return fit
    return group


def targets_without_call(targets: Targets, definitions: dict[int, Definition], *, of_macro: bool) -> Targets:
    """The targets of a name that is used without a call (`source.syntax.arity.NAMED`).

    Args:
        targets: The targets of a call of the name.
        definitions: Maps symbols to definitions.
        of_macro: Whether the name is the whole text of a macro. Only then it may mean a function; else, only a macro.
    """
    kinds = ("macro", "function") if of_macro else ("macro",)
    return tuple(target for target in targets if target[0] in definitions and definitions[target[0]].kind in kinds)


class _Candidate(NamedTuple):
    """An overload that a call may mean, compared with the call's arguments.

    Attributes:
        target: (symbol, step).
        types: The parameter type for each argument; None if unknown.
        phase: The latest of `phases`, plus a penalty if defaults are used; `_VARIABLE` for variable arity.
        sure: Whether the overload certainly accepts the arguments.
        phases: The phase (of `_PHASES`) of overload resolution in which each argument fits.
        is_template: Whether it is a C++ template: a function is preferred to it, and a constraint may exclude it.
    """

    target: tuple[int, int]
    types: tuple[StaticType | None, ...] | None
    phase: int
    sure: bool
    phases: tuple[int, ...] = ()
    is_template: bool = False


class Overloads:
    """Chooses among overloads by the types of arguments."""

    def __init__(self, look_ups: LookUps, evaluator: Evaluator, definitions: dict[int, Definition]) -> None:
        self._look = look_ups
        self._types = TypesOfArguments(look_ups, evaluator)
        self._ancestry = evaluator.ancestry
        self._known = definitions
        self._file = -1
        self._rules: frozenset[str] = frozenset()
        self._ranks = False
        self._arguments: dict[tuple[int, str], StaticTypes] = {}
        self._results: dict[tuple[Targets, tuple[StaticTypes, ...], tuple[str, ...], bool], Targets] = {}
        self._derived: dict[int, bool] = {}
        self._arities: dict[int, int] = {}
        self._templates: set[int] = set()
        self._parameter_texts: dict[int, list[str] | None] = {}
        self._parameter_types: dict[tuple[int, str], StaticType | None] = {}
        self._names: tuple[str, ...] = ()  # of the arguments of the current call

    def start(self, file: int) -> None:
        """Start with another file: clear the caches."""
        self._file = file
        self._rules = self._look.rules_of[file]
        self._ranks = "templates" in self._rules
        self._types.start(file)
        self._arguments.clear()
        self._parameter_texts.clear()
        self._parameter_types.clear()
        self._results.clear()
        self._derived.clear()
        self._arities.clear()
        self._templates.clear()

    def arity(self, at: Definition) -> int:
        """The arity of a definition. For a C++ method defined outside its class, defaults may be in the class."""
        arity = self._look.arity(at)
        if not at.owner or arity <= 0 or not self._ranks:
            return arity
        effective = self._arities.get(at.symbol)
        if effective is None:
            types = self._texts(at) or []
            family = self._look.files.families[at.file]
            for _, item in self._look.stored(family, DEFAULTS, at.owner, self._look.name(at), tests=True):
                if agree([step.name for step in item.value], types):
                    arity = with_least(arity, item.place)
            effective = self._arities[at.symbol] = arity
        return effective

    def overriding(self, targets: Targets, arguments: int) -> Targets:
        """The targets, without overrides that cannot take so many arguments, given the base method's defaults."""
        if arguments < 0 or not any(step & ~AMBIGUOUS == OVERRIDE for _, step in targets):
            return targets
        plain = [
            self.arity(self._known[symbol])
            for symbol, step in targets
            if step & ~AMBIGUOUS != OVERRIDE and symbol in self._known
        ]
        fits = lacks_only_defaults if any(has_defaults(number) for number in plain) else takes
        matches = [
            target for target in targets
            if target[1] & ~AMBIGUOUS != OVERRIDE or fits(self.arity(self._known[target[0]]), arguments)
        ]  # fmt: skip
        return tuple(matches)

    def inherited(self, targets: Targets, arguments: int) -> Targets:
        """The targets if any accepts the number of arguments; else the methods of the type's bases that accept it. If
        no method does, and a base is external, [], since the call means a method of that base.

        Source:
            JLS 21, 15.12.2.1: a method is applicable only if it takes the number of arguments.
        """
        if arguments < 0 or not targets or not self._is_of_derived(targets[0][0]):
            return targets
        plain = [target for target in targets if target[1] & ~AMBIGUOUS != OVERRIDE and target[0] in self._known]
        if not plain or any(takes(self._look.arity(self._known[symbol]), arguments) for symbol, _ in plain):
            return targets
        methods = next(self._of_bases(plain[0][0], arguments), None)
        if not methods:
            return () if self._has_base_outside(plain[0][0]) else targets
        mark = AMBIGUOUS if len(methods) > 1 else 0
        return tuple((symbol, plain[0][1] & ~AMBIGUOUS | mark) for symbol in methods)

    def _has_base_outside(self, method: int) -> bool:
        """Whether the type of a method is derived from a type that the repository does not define."""
        owner = self._look.enclosing(self._known[method])
        return owner is not None and any(
            len(self._look.bases(base)) > len(self._ancestry.bases(base)) for base in self._ancestry.lineage(owner)
        )

    def _of_bases(self, method: int, arguments: int) -> Iterator[list[int]]:
        """Yields, for each base of a method's type, the methods of the same name that accept so many arguments."""
        at = self._known[method]
        owner = self._look.enclosing(at)
        if at.kind != "method" or owner is None or at.parent_kind not in TYPE_KINDS:
            return
        for base in self._ancestry.lineage(owner)[1:]:
            methods = self._look.own_members(base, self._look.name(at))
            methods = [item for item in methods if takes(self._look.arity(item), arguments)]
            if methods:
                self._known.update((item.symbol, item) for item in methods)
                yield [item.symbol for item in methods]

    def of_extension(
        self, targets: Targets, receiver: str, arguments: int, passed: str, scope: int
    ) -> Targets:  # fmt: skip
        """The extension methods among the targets that a call on a receiver can mean: static methods whose first
        argument is the receiver. Further arguments are as in `by_types` and `Call`.
        """
        methods = [
            target for target in targets
            # The arity is that of both forms of a call.
            if arguments < 0 or all(takes(self.arity(self._known[target[0]]), n) for n in (arguments, arguments + 1))
        ]  # fmt: skip
        if len(methods) < 2:
            return tuple(methods)
        literal = parse_receiver(receiver)[-1:]
        first = KNOWN + literal[0].name if literal and literal[0].kind == CAST else receiver
        texts = [first if SEPARATOR not in first else UNKNOWN, *([passed] if passed else [UNKNOWN] * max(arguments, 0))]
        return self.by_types(tuple(methods), SEPARATOR.join(texts), scope, together=True)

    def by_types(self, targets: Targets, passed: str, scope: int, *, together: bool = False) -> Targets:
        """The targets that a call can mean, judging by the types of its arguments.

        Args:
            targets: Definitions that accept the number of arguments.
            passed: The arguments, as in `Call`.
            scope: The index of the enclosing symbol, or -1.
            together: Whether the targets compete with each other although they are in different types.
        """
        inherited = "inherited_overloads" in self._rules
        if len(targets) == 1 and not (inherited and self._is_of_derived(targets[0][0])):
            return targets
        texts = passed.split(SEPARATOR)
        names: tuple[str, ...] = ()
        if "=" in passed and "named_arguments" in self._rules:
            names = tuple(text.rpartition("=")[0] for text in texts)
            texts = [text.rpartition("=")[2] for text in texts]
        argument_types = tuple(self._argument(scope, text) for text in texts)
        key = targets, argument_types, names, together
        best = self._results.get(key)
        if best is None:
            self._names = names
            best = self._results[key] = self._for_types(targets, argument_types, together=together)
        return best

    def _for_types(self, targets: Targets, arguments: Sequence[StaticTypes], *, together: bool) -> Targets:
        groups: dict[tuple[bool, int, int | str], list[tuple[int, int]]] = {}
        for symbol, step in targets:
            at = self._known.get(symbol)
            if at is None or at.kind == "macro":  # what a macro calls gets other arguments
                return targets
            facts = self._look.facts(at.file)
            parent = at.symbol - facts.first
            if at.kind not in TYPE_KINDS:
                parent = facts.parents[parent]
            beside: tuple[int, int | str] = at.file, parent
            if self._ranks:  # those of a type or namespace stand in any file
                beside = -1, at.owner or (facts.names[parent] if parent >= 0 else "")
            elif together:
                beside = -1, ""
            groups.setdefault((step & ~AMBIGUOUS == OVERRIDE, *beside), []).append((symbol, step))
        winners: dict[bool, list[tuple[int, int]]] = {False: [], True: []}
        for (overriding, _, _), group in groups.items():
            if overriding or "inherited_overloads" not in self._rules:
                best = self._chosen(group, arguments)
            else:
                best = self._chosen_of_lineage(group, arguments)
            winners[overriding] += best or (() if overriding or self._ranks else group)
        plain = [target for (overriding, *_), group in groups.items() if not overriding for target in group]
        winners[False] = winners[False] or plain
        if winners[True]:  # those that override an overload which the call does not mean
            types = [self._parameters(symbol) for symbol, _ in winners[False]]
            others = [self._parameters(target[0]) for target in plain if target not in winners[False]]
            others = [texts for texts in others if texts not in types]
            winners[True] = [target for target in winners[True] if self._parameters(target[0]) not in others]
        result: list[tuple[int, int]] = []
        for group in winners.values():
            result += [(group[0][0], group[0][1] & ~AMBIGUOUS)] if len(group) == 1 else group
        return tuple(result)

    def _chosen_of_lineage(
        self, group: Sequence[tuple[int, int]], arguments: Sequence[StaticTypes]
    ) -> list[tuple[int, int]]:  # fmt: skip
        """The best methods of a type; if methods of a base fit the arguments better, the methods of that base."""
        bases = list(self._of_bases(group[0][0], len(arguments)))
        inherited = [(symbol, group[0][1] | AMBIGUOUS) for methods in bases for symbol in methods]
        best = self._chosen([*group, *inherited], arguments)
        own = [target for target in best if target in group]
        nearest = next((methods for methods in bases if best and best[0][0] in methods), [])
        return own or [target for target in best if target[0] in nearest]

    def _is_of_derived(self, symbol: int) -> bool:
        """Whether a target is a method of a type that has bases."""
        is_derived = self._derived.get(symbol)
        if is_derived is None:
            is_derived = self._derived[symbol] = self._has_bases(symbol)
        return is_derived

    def _has_bases(self, symbol: int) -> bool:
        at = self._known.get(symbol)
        if at is None or at.kind != "method" or at.parent_kind not in TYPE_KINDS:
            return False
        owner = self._look.enclosing(at)
        return owner is not None and bool(self._look.bases(owner))

    def _argument(self, scope: int, text: str) -> StaticTypes:
        if (scope, text) not in self._arguments:
            self._arguments[scope, text] = self._types.argument(self._file, scope, text)
        return self._arguments[scope, text]

    def _chosen(self, group: Sequence[tuple[int, int]], arguments: Sequence[StaticTypes]) -> list[tuple[int, int]]:
        takes_all = [(target, self._parameters(target[0])) for target in group]
        takes_all = [
            (target, placed) for target, texts in takes_all for placed in (self._in_order(texts, len(arguments)),)
            if placed is None or placed[:1] != [_NONE]
        ]  # fmt: skip
        of_all = [_per_argument(texts, len(arguments)) for _, texts in takes_all]
        same = [len({texts[i] if texts is not None else None for texts in of_all}) == 1 for i in range(len(arguments))]
        candidates = [
            candidate
            for target, texts in takes_all
            for candidate in (self._candidate(target, texts, arguments, same),)
            if candidate is not None
        ]
        sure = [item for item in candidates if item.sure] if len(candidates) <= _MOST else []
        return [item.target for item in candidates if not any(self._beats(other, item) for other in sure)]

    def _parameters(self, symbol: int) -> list[str] | None:
        """The parameter types of a definition, "T..." for variable arity; None if unknown."""
        if symbol in self._parameter_texts:
            return self._parameter_texts[symbol]
        types = self._parameter_texts[symbol] = self._texts(self._known[symbol])
        return types

    def _texts(self, at: Definition) -> list[str] | None:
        text = next(iter(self._look.declarations(at, TAKES)), "")
        if text[:1] == TEMPLATE and self._ranks:
            self._templates.add(at.symbol)
            text = text[1:]
        text = text.replace(":this ", ":", 1)
        return text.split(SEPARATOR) if text else [] if self._look.arity(at) == 0 else None

    def _in_order(self, texts: list[str] | None, arguments: int) -> list[str] | None:
        """The parameter types in the order of the arguments (some may be named), and then the remaining types.

        Returns:
            `[_NONE]` if no parameter has the name of a named argument; None if the types are unknown.
        """
        if texts is None or "named_arguments" not in self._rules:
            return texts
        names = [text.partition(":")[0] for text in texts]
        types = [text.partition(":")[2] for text in texts]
        if not self._names:
            return types
        if any(text.endswith("...") for text in types):
            return None
        rest = list(range(len(types)))
        order: list[int] = []
        in_order = self._names[:1] == (NO_LABEL,) or NO_LABEL in self._names or "labels" in self._rules
        for number, name in enumerate(self._names):
            if not rest:
                return [_NONE]
            if not name:  # by place; a function behind the parentheses is the last one
                index = rest[-1] if number == arguments - 1 and number else rest[0]
            else:
                index = next((i for i in rest if names[i] == name), -1)
            if index < 0:
                return [_NONE]
            order.append(index)
            rest = [i for i in rest if i > index] if in_order else [i for i in rest if i != index]
        return [types[index] for index in order] + [types[index] for index in rest]

    def _candidate(
        self, target: tuple[int, int], texts: list[str] | None, arguments: Sequence[StaticTypes], same: list[bool]
    ) -> _Candidate | None:
        """A definition as a candidate; None if it does not accept the arguments."""
        parameters = _per_argument(texts, len(arguments))
        if texts is None or parameters is None:
            return _Candidate(target, None, 0, False)
        symbol = target[0]
        # In C++, to use a default is no worse than to use none.
        defaults = (
            _DEFAULTS
            * (not self._ranks)
            * ((len(texts) > len(arguments) and not texts[-1].endswith("...")) or len(texts) > len(arguments) + 1)
        )
        types = tuple(self._parameter_type(symbol, text) for text in parameters)
        if texts and texts[-1].endswith("..."):
            whole = types
            if self._ranks:  # only what is passed for `...` is worse
                return self._judge(target, types, arguments, same, 0, fixed=len(texts) - 1)
            if len(texts) == len(arguments):  # an array may be passed as it is
                array = self._parameter_type(symbol, f"{texts[-1][:-3]}[]")
                whole = (*types[:-1], array)
                last = self._types.fits(arguments[-1], array)
                if last in (EXACT, BOXED):
                    return self._judge(target, whole, arguments, same, defaults)
            return self._judge(target, types, arguments, same, defaults, min_phase=_VARIABLE)
        return self._judge(target, types, arguments, same, defaults)

    def _judge(
        self, target: tuple[int, int], types: tuple[StaticType | None, ...], arguments: Sequence[StaticTypes],
        same: list[bool], phase: int, min_phase: int = 0, fixed: int = _MOST,
    ) -> _Candidate | None:  # fmt: skip
        sure = True
        phases: list[int] = []
        for index, (argument, type_, equal) in enumerate(zip(arguments, types, same, strict=True)):
            if index >= fixed:
                phases.append(_VARIABLE)
                continue
            fit = self._types.fits(argument, type_)
            if fit == NO:
                return None
            phases.append(_PHASES.get(fit, 0))
            if fit in (CONVERTED, PERHAPS) or (fit == MAYBE and not equal):
                sure = False
        is_template = target[0] in self._templates
        phase += max(min_phase, *phases, 0)
        return _Candidate(target, types, phase, sure and not is_template, tuple(phases), is_template)

    def _parameter_type(self, symbol: int, text: str) -> StaticType | None:
        if (symbol, text) not in self._parameter_types:
            at = self._known[symbol]
            self._parameter_types[symbol, text] = self._types.type_named(at.file, self._look.place(at), text)
        return self._parameter_types[symbol, text]

    def _beats(self, candidate: _Candidate, other: _Candidate) -> bool:
        """Whether one candidate is preferred to another by overload resolution."""
        if candidate is other or other.types is None or candidate.types is None:
            return False
        if candidate.phase != other.phase:
            return candidate.phase < other.phase
        if self._ranks and candidate.phases != other.phases:
            return all(a <= b for a, b in zip(candidate.phases, other.phases, strict=True))
        if candidate.is_template != other.is_template:
            return other.is_template
        return self._is_more_special(candidate, other) and not self._is_more_special(other, candidate)

    def _is_more_special(self, candidate: _Candidate, other: _Candidate) -> bool:
        pairs = zip(candidate.types or (), other.types or (), strict=True)
        return all(self._is_part(a, b) for a, b in pairs)

    def _is_part(self, type_: StaticType | None, other: StaticType | None) -> bool:
        if type_ is None or other is None:
            return type_ is other
        same = type_.name == other.name and type_.arrays == other.arrays
        accepted = _PARTS if self._ranks else (EXACT,)
        return same or self._types.fits_one(type_, other) in accepted


def _per_argument(texts: list[str] | None, arguments: int) -> list[str] | None:
    """The parameter type for each of `arguments` arguments; None if unknown, or if there are too few parameters."""
    if texts is None:
        return None
    if texts and texts[-1].endswith("..."):
        texts = texts[:-1] + [texts[-1][:-3]] * max(arguments - len(texts) + 1, 0)
    return texts[:arguments] if len(texts) >= arguments else None
