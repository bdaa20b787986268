"""Finds the bases of types, the order in which they are searched for members, and derived types.

Answers about types in files other than the one being linked are computed once for all files (`LookUps.shared`).
"""

from __future__ import annotations

from collections.abc import Callable

from lci_py.callgraph.linearize import merge_orders
from lci_py.callgraph.lookup_tables import Definition
from lci_py.callgraph.lookups import LookUps, Shared
from lci_py.callgraph.resolve.values import EXTERNAL, Values
from lci_py.source.frameworks import Hook, hooks_of
from lci_py.source.text.language_tables import has_rule
from lci_py.types.record import NamedTuple

_BASE_DEPTH = 5
_LINEAGE = 24
#: How deep look-ups of base classes may be nested in each other.
_NESTED_BASES = 8
#: If a type has more derived types than this, none is known.
MOST_HEIRS = 12


class Bases(NamedTuple):
    """The bases of a type: those in the repository (`own`), and the names of external bases (`library`)."""

    own: tuple[Definition, ...]
    library: tuple[str, ...]


class Ancestry:
    """Finds the bases and the derived types of types; a part of an `Evaluator`."""

    def __init__(
        self, look_ups: LookUps, types_named: Callable[[int, int, str, int], Values],
        shared: tuple[Ancestry, Callable[[], None]] | None,
    ) -> None:  # fmt: skip
        """Takes `Types.named` of the evaluator that this object belongs to (`types_named`).

        `shared` is the `Ancestry` of the shared evaluator, whose answers all files share, and a function that clears
        the caches of that evaluator. It is None in the shared evaluator.
        """
        self._look = look_ups
        self._types_named = types_named
        self._shared = shared
        self._lineages: dict[tuple[int, int], tuple[Definition, ...]] = {}
        self._bases: dict[int, Bases] = {}
        self._nested = 0
        self._shared_lineages: dict[tuple[int, int], Shared[tuple[Definition, ...]]] = {}
        self._shared_bases: dict[int, Shared[Bases]] = {}
        self._shared_heirs: dict[int, Shared[list[Definition]]] = {}

    def start(self) -> None:
        """Start with another file: clear the caches."""
        self._lineages.clear()
        self._bases.clear()

    def lineage(self, owner: Definition, depth: int = _LINEAGE) -> tuple[Definition, ...]:
        """A type and all its bases, in the order in which they are searched for members.

        Source:
            Barrett et al., "A Monotonic Superclass Linearization for Dylan", OOPSLA 1996 (C3, Python's order). Where C3
                has no answer, the first remaining type goes first.
        """
        key, own = (owner.symbol, depth), self._look.own
        # While a shared answer is computed, no memo of a file is read: its entries leave no keys.
        types = self._lineages.get(key) if own >= 0 or self._shared is None else None
        if types is None:
            if self._shared is not None and owner.file != own:
                types = self._look.shared(self._shared_lineages, key, self._find_lineage, owner, depth)
            else:
                types = self._find_lineage(owner, depth)
            self._lineages[key] = types
        return types

    def _find_lineage(self, owner: Definition, depth: int) -> tuple[Definition, ...]:
        bases = self.bases(owner) if depth > 0 else ()
        if not bases:
            return (owner,)
        lists = [list(self.lineage(base, depth - 1)) for base in bases] + [list(bases)]
        return (owner, *(item for item in merge_orders(lists) if item != owner))

    def bases(self, owner: Definition) -> tuple[Definition, ...]:
        """The types in the repository that a type is derived from."""
        return self._all_bases(owner).own

    def hooks(self, owner: Definition) -> tuple[Hook, ...]:
        """The hooks of a type: the methods of its objects that bases from libraries call."""
        merged: dict[Hook, None] = {}
        for current in self.lineage(owner):
            for base in self._all_bases(current).library:
                merged.update(dict.fromkeys(hooks_of(self._look.files.heads[current.file].language, base)))
        return tuple(merged)

    def heirs(self, owner: Definition) -> list[Definition]:
        """All types that are derived from a type, directly or indirectly; [] if there are more than `MOST_HEIRS`."""
        return self._look.shared(self._shared_heirs, owner.symbol, self._find_heirs, owner)

    def _find_heirs(self, owner: Definition) -> list[Definition]:
        heirs: dict[int, Definition] = {}
        pending = [owner]
        while pending:
            current = pending.pop()
            family = self._look.files.families[current.file]
            for heir in self._look.heirs(family, self._look.name(current)):
                if heir.symbol not in heirs and current in self.bases(heir):
                    if len(heirs) == MOST_HEIRS:
                        return []
                    heirs[heir.symbol] = heir
                    pending.append(heir)
        return list(heirs.values())

    def _all_bases(self, owner: Definition) -> Bases:
        if self._shared is not None and owner.file != self._look.own:
            return self._look.shared(self._shared_bases, owner.symbol, self._find_shared_bases, owner)
        bases = self._bases.get(owner.symbol)
        if bases is None:
            # A base may be found through another one (`class A(B.C)`), in circles and in chains of any length.
            self._bases[owner.symbol] = Bases((), ())
            if self._nested == _NESTED_BASES:
                return self._bases[owner.symbol]
            self._nested += 1
            bases = self._bases[owner.symbol] = self._find_bases(owner)
            self._nested -= 1
        return bases

    def _find_shared_bases(self, owner: Definition) -> Bases:
        """The bases of a type, for all files: the shared evaluator computes them, with empty caches."""
        assert self._shared is not None
        ancestry, empty = self._shared
        empty()
        return ancestry._all_bases(owner)

    def _find_bases(self, owner: Definition) -> Bases:
        definitions: dict[Definition, None] = {}
        library: list[str] = []
        for part in self._look.parts(owner):
            facts = self._look.facts(part.file)
            own = part.symbol - facts.first
            mixes = has_rule(facts.head.language, "reopened_types")  # `include` stands inside the type
            for text in self._look.bases(part):
                for scope in (facts.outer[own], own) if mixes else (facts.outer[own],):
                    values = self._types_named(part.file, scope, text, _BASE_DEPTH)
                    bases = [value.at for value in values if value.at is not None and value.at != owner]
                    definitions.update(dict.fromkeys(bases))
                    if bases:
                        break
                else:
                    library += [value.text for value in values if value.kind == EXTERNAL] or [text]
        return Bases(tuple(definitions), tuple(library))
