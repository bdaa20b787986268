"""Members of values: methods and fields of types, through their bases; what a module has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.callgraph import language_rules
from lci_py.callgraph.edges import IMPORT, PACKAGE, SELF, TYPE
from lci_py.callgraph.linearize import merged
from lci_py.callgraph.lookup_tables import Definition
from lci_py.callgraph.lookups import LookUps
from lci_py.callgraph.resolve.imports import ImportResolver
from lci_py.callgraph.resolve.qualified_names import spelled, within
from lci_py.callgraph.resolve.values import BASES, CLASS, EXTERNAL, INSTANCE, MODULE, Value, Values, value_of, with_step
from lci_py.types.search import TYPE_KINDS

if TYPE_CHECKING:
    from lci_py.callgraph.resolve.evaluate import Evaluator

_BASE_DEPTH = 5
_LINEAGE = 12
#: Bases that are looked for to find the base of another class, at once.
_NESTED_BASES = 8


class Members:
    """Looks for members. One for an evaluator, which it asks for all else."""

    def __init__(self, evaluator: Evaluator, look_ups: LookUps, imports: ImportResolver) -> None:
        self._all = evaluator
        self._look = look_ups
        self._import = imports
        self._memo: dict[tuple[Value, str, int], Values] = {}
        self._lineages: dict[tuple[int, int], tuple[Definition, ...]] = {}
        self._bases: dict[int, tuple[Definition, ...]] = {}
        self._nested = 0

    def start(self) -> None:
        """Begin with a file."""
        self._memo.clear()
        self._lineages.clear()
        self._bases.clear()

    def attribute(self, value: Value, name: str, depth: int) -> Values:
        """What a member of a value stands for."""
        if depth <= 0:
            return ()
        key = (value, name, depth)
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = self._attribute(value, name, depth)
        return found

    def _attribute(self, value: Value, name: str, depth: int) -> Values:
        if value.kind == EXTERNAL:
            full = f"{value.text}.{name}"[:200]
            declared = spelled(self._look, value.files[0], -1, f"::{full}") if value.files else None
            if declared is not None:
                return (value_of(declared, PACKAGE),)
            return self._extension(value, name) or (value._replace(text=full),)
        if value.kind == MODULE:
            return self._of_module(value, name, depth)
        if value.at is None:
            return ()
        if value.kind == BASES:
            return with_step(self._of_bases(value.at, name), SELF)
        if name == "this" and value.kind == CLASS:  # Outer.this
            return (value._replace(kind=INSTANCE, step=SELF),)
        step = value.step
        found = self.of_type(value, name, depth) or self._of_class(value, name)
        if value.kind == INSTANCE and step != SELF:
            step = TYPE
        return tuple([v if v.kind == INSTANCE or v.step == step else v._replace(step=step) for v in found])

    def of_type(self, value: Value, name: str, depth: int) -> Values:
        """A member of a type, or of the object beside it; `value` is of a type."""
        assert value.at is not None
        for owner in self.companions(value.at, of_name=value.kind == CLASS):
            found = self.member(owner, name, depth)
            if found:
                return found
        return ()

    def companions(self, owner: Definition, *, of_name: bool) -> list[Definition]:
        """A type, and in some languages the objects or classes of its name beside it.

        Args:
            owner: The type.
            of_name: Objects come first: a member of what the name alone stands for is looked for.
        """
        facts = self._look.tables.facts(owner.file)
        if facts.head.language not in language_rules.COMPANIONS:
            return [owner]
        place = owner.symbol - facts.first
        beside = [
            item for item in self._look.all_named(facts.head.family, facts.names[place])
            if item.file == owner.file and item.kind in TYPE_KINDS and item != owner
            and facts.parents[item.symbol - facts.first] == facts.parents[place]
        ]  # fmt: skip
        return sorted([owner, *beside], key=lambda item: (item.kind == "object") != of_name)

    def _of_class(self, value: Value, name: str) -> Values:
        """What a class or module has under a name beside its members."""
        assert value.at is not None
        language = self._look.files.heads[value.at.file].language
        if value.kind == INSTANCE:
            return (value._replace(kind=CLASS),) if language == "ruby" and name == "class" else ()
        if name == language_rules.MAKERS.get(language):
            return (value,)
        if language in language_rules.SPELLED:
            declared = within(self._look, value.at, name)
            return (value_of(declared, value.step),) if declared is not None else ()
        return ()

    def _extension(self, value: Value, name: str) -> Values:
        """A method that the repository gives a type from outside."""
        head = self._look.files.heads[value.files[0]] if value.files else None
        if head is None or head.language not in language_rules.ADOPTING:
            return ()
        owner = value.text.rpartition(".")[2]
        found = [item for item in self._look.all_named(head.family, name) if item.owner == owner]
        return (value_of(found[0], TYPE),) if found else ()

    def _of_module(self, value: Value, name: str, depth: int) -> Values:
        names = self._all.names
        for file in value.files:
            values = names.in_module(file, name, depth - 1, outside=True) or names.rust_module(file, -1, name)
            if values:
                return with_step(values, IMPORT)
        for file in value.files:  # a package's submodule
            found = self._import.submodule(file, name)
            if found:
                return (Value(MODULE, None, IMPORT, files=found),)
        return ()

    def member(self, owner: Definition, name: str, depth: int) -> Values:
        """A member of a type or, failing that, of its bases in their order."""
        for current in self.lineage(owner):
            found = self._look.member(current, name)
            if found is not None:
                return (value_of(found, SELF),)
            values = self._fields(current, name, depth)
            if values is not None:
                return values
        return ()

    def as_field(self, value: Value, name: str, depth: int) -> Values:
        """A field, where methods have names of their own."""
        if value.at is None or self._look.files.heads[value.at.file].language not in language_rules.SEPARATE_MEMBERS:
            return ()
        for current in self.lineage(value.at):
            found = self._fields(current, name, depth)
            if found is not None:
                return found
        return ()

    def _fields(self, owner: Definition, name: str, depth: int) -> Values | None:
        place = owner.symbol - self._look.tables.facts(owner.file).first
        rows = self._look.typed(owner.file, place, name)
        return self._all.types.rows(owner.file, rows, depth - 1) if rows else None

    def _of_bases(self, owner: Definition, name: str) -> Values:
        for current in self.lineage(owner)[1:]:
            found = self._look.member(current, name)
            if found is not None:
                return (value_of(found, SELF),)
        return ()

    # --- types and their bases ------------------------------------------------------------------------------------

    def lineage(self, owner: Definition, depth: int = _LINEAGE) -> tuple[Definition, ...]:
        """A type and all its bases, in the order in which members are looked for.

        Source:
            Barrett et al., "A Monotonic Superclass Linearization for Dylan", OOPSLA 1996 (C3, Python's order).
            Where it has no answer, the first type that is left goes first.
        """
        key = (owner.symbol, depth)
        known = self._lineages.get(key)
        if known is None:
            known = (owner,)
            bases = self.bases(owner) if depth > 0 else ()
            if bases:
                lists = [list(self.lineage(base, depth - 1)) for base in bases] + [list(bases)]
                known = (owner, *(found for found in merged(lists) if found != owner))
            self._lineages[key] = known
        return known

    def bases(self, owner: Definition) -> tuple[Definition, ...]:
        """The types in the repository that a type is derived from."""
        known = self._bases.get(owner.symbol)
        if known is None:
            # A base may be found through another one (`class A(B.C)`), and sources may make a circle, or any chain.
            self._bases[owner.symbol] = ()
            if self._nested == _NESTED_BASES:
                return ()
            self._nested += 1
            facts = self._look.tables.facts(owner.file)
            around = facts.parents[owner.symbol - facts.first]
            found: dict[Definition, None] = {}
            for text in self._look.bases(owner):
                for value in self._all.types.named(owner.file, around, text, _BASE_DEPTH):
                    if value.at is not None and value.at != owner:
                        found[value.at] = None
            self._nested -= 1
            known = self._bases[owner.symbol] = tuple(found)
        return known

    def named_like_its_type(self, value: Value, name: str) -> Value:
        """The class of an object, if it has this name."""
        at = value.at if value.kind == INSTANCE else None
        facts = self._look.tables.facts(at.file) if at is not None else None
        same = at is not None and facts is not None and facts.names[at.symbol - facts.first] == name
        return value._replace(kind=CLASS) if same else value._replace(kind=EXTERNAL)

    def constructed(self, value: Value) -> Value:
        """The class whose constructor an object calls as `this(...)` or `super(...)`."""
        if value.kind == BASES and value.at is not None:
            bases = [base for base in self.bases(value.at) if base.kind != "interface"]
            return value._replace(kind=CLASS, at=bases[0] if bases else None)
        return value._replace(kind=CLASS) if value.kind == INSTANCE else value
