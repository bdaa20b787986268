"""What an expression stands for, as far as declarations and assignments tell: receivers of calls, types of fields.

Evaluation goes from a name to what it was given, on to what that was given, and so on, through any file, for a bounded
number of steps: a value is a function of the texts and of that bound alone, so it does not matter where one starts,
nor in which order. What it learns of other files it asks of `LookUps`, which takes the questions down.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lci_py.index import rules
from lci_py.index.imports import ImportResolver
from lci_py.index.links import IMPORT, PACKAGE, SCOPE, SELF, TYPE, VALUE
from lci_py.index.lookups import LookUps
from lci_py.index.receivers import Step, TypeText, steps_of, types_in
from lci_py.index.spelled import spelled, within
from lci_py.index.tables import Definition
from lci_py.types import FUNCTION_KINDS, TYPE_KINDS, Import, Typed

#: How many names one after the other are looked through.
_DEPTH = 14
_BASE_DEPTH = 5
_LINEAGE = 12
_MOST_VALUES = 8
INSTANCE, CLASS, FUNCTION, MODULE, EXTERNAL, MANY, BASES = range(7)
_HOLDERS = TYPE_KINDS | {"module", "namespace"}


class Value(NamedTuple):
    """What an expression may stand for.

    Attributes:
        kind: INSTANCE of, or CLASS (or module), or FUNCTION that `at` is; MODULE: the files; EXTERNAL: `text` is its
            dotted name; MANY: a container of the type `text`, written at `place` of the first file; BASES: `at` as its
            base classes see it.
        step: What it rests on, as in `links.STEPS`.
    """

    kind: int
    at: Definition | None
    step: int
    files: tuple[int, ...] = ()
    text: str = ""
    place: int = -1


Values = tuple[Value, ...]


class Evaluator:
    """Evaluates expressions in the files of a repository."""

    def __init__(self, look_ups: LookUps, imports: ImportResolver, selfs: dict[str, frozenset[str]]) -> None:
        self._look = look_ups
        self._import = imports
        self._selfs = selfs
        self._memo: dict[tuple[object, ...], Values] = {}
        self._memo_types: dict[tuple[str, int, int], tuple[Definition, ...]] = {}

    def start(self) -> None:
        """Begin with a file: what was found for another one would not be taken down for this."""
        self._memo.clear()
        self._memo_types.clear()

    # --- expressions ----------------------------------------------------------------------------------------------

    def expression(self, file: int, place: int, text: str, depth: int = _DEPTH) -> Values:
        """What an expression stands for at a place: a symbol of the file, or -1 for the file's top level."""
        key = ("expression", file, place, text, depth)
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = self._along(file, place, steps_of(text), depth) if depth > 0 else ()
        return found

    def _along(self, file: int, place: int, steps: tuple[Step, ...], depth: int) -> Values:
        if not steps:
            return ()
        if steps[0].kind == "text":
            return (Value(EXTERNAL, None, TYPE, files=(file,), text="String"),)
        head, rest = steps[0], steps[1:]
        if head.kind == "cast":
            values = self.declared(file, place, head.name, depth - 1)
        else:
            values = self.name(file, place, head.name, depth - 1)
        if not values and rest and self._look.files.heads[file].language in rules.QUALIFIED:
            values, rest = self.qualified(file, steps)
        receivers: Values = ()
        for number, step in enumerate(rest):
            if not values:
                return ()
            if step.kind == "attr":
                receivers = values
                called = number + 1 < len(rest) and rest[number + 1].kind == "call"
                values = self._attributes(values, step.name, depth - 1, called)
            elif step.kind == "call":
                values = self._chained(values, receivers) or self._results(values, depth - 1)
                receivers = ()
            else:
                values = _distinct(found for value in values for found in self._items(value, depth - 1))
        return values

    def qualified(self, file: int, steps: tuple[Step, ...]) -> tuple[Values, tuple[Step, ...]]:
        """The type that a chain of names begins with, as in `a.b.C.f()`, and the steps after it."""
        names = [step.name for step in steps]
        family = self._look.files.families[file]
        for size in range(2, len(steps) + 1):
            if steps[size - 1].kind != "attr":
                break
            for target in self._look.declaring(family, ".".join(names[:size])):
                found = self._look.top(target, names[size - 1])
                if found is not None:
                    return (_of(found, IMPORT),), steps[size:]
        return (), steps[1:]

    def _attributes(self, values: Values, name: str, depth: int, called: bool) -> Values:
        found: list[Value] = []
        for value in values:
            if value.kind == FUNCTION:  # a property: it is called by looking at it
                for result in self.result(value, depth - 1):
                    found.extend(self.attribute(result, name, depth - 1))
            elif not called and value.kind == INSTANCE and (fields := self._as_field(value, name, depth)):
                found.extend(fields)
            elif value.kind == MANY and called and name in rules.ELEMENT_GETTERS:
                found.append(value._replace(kind=FUNCTION))
            else:
                values = self.attribute(value, name, depth - 1)
                made = not called and values == (value,)  # Ruby's `C.new` without parentheses
                found.extend(self._results(values, depth - 1) if made and value.kind == CLASS else values)
        return _distinct(found)

    def _chained(self, values: Values, receivers: Values) -> Values:
        """The receivers themselves, if all methods give what they are called on (`-> Self`)."""
        for value in values:
            if value.kind != FUNCTION or value.at is None or not receivers:
                return ()
            place = value.at.symbol - self._look.tables.facts(value.at.file).first
            rows = self._look.typed(value.at.file, place, "")
            if not rows or any(row.text.lstrip("&?").removeprefix("mut ") not in ("Self", "static") for row in rows):
                return ()
        return tuple(v._replace(kind=INSTANCE, step=TYPE) for v in receivers if v.kind in (INSTANCE, CLASS))

    def _results(self, values: Values, depth: int) -> Values:
        return _distinct(result for value in values for result in self.result(value, depth))

    def _items(self, value: Value, depth: int) -> Values:
        if value.kind == MANY:
            return self.declared(value.files[0], value.place, value.text, depth)
        if value.kind == INSTANCE:
            for method in ("__iter__", "__aiter__", "__getitem__", "GetEnumerator", "iterator"):
                for found in self.attribute(value, method, depth - 1):
                    results = self._results((found,), depth - 1)
                    return _distinct(item for result in results for item in self._items(result, depth - 1)) or results
        return ()

    # --- names ----------------------------------------------------------------------------------------------------

    def name(self, file: int, place: int, name: str, depth: int = _DEPTH, callee: bool = False) -> Values:
        """What a bare name stands for at a place.

        Args:
            file: The file.
            place: The innermost symbol around the name, or -1.
            name: The name.
            depth: How many further names may be looked through.
            callee: The name is called.
        """
        if depth <= 0:
            return ()
        key = ("name", file, place, name, depth, callee)
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = self._name(file, place, name, depth, callee)
        return found

    def _name(self, file: int, place: int, name: str, depth: int, callee: bool) -> Values:
        facts = self._look.tables.facts(file)
        language = facts.head.language
        if language == "rust" and name in ("crate", "super"):
            return self._rust_module(file, place, name)
        plain = language in rules.PLAIN_SELF and name == "self"
        if not plain and (name in self._selfs.get(language, ()) or name in rules.SUPERS or name in rules.OWN_TYPES):
            found = self._own_object(file, place, name, language)
            if found:
                return found
        absolute = name.startswith("::")
        if absolute:
            place = -1
        bare = name.lstrip("$@:")
        if bare == rules.MAKERS.get(language):
            return tuple(v._replace(kind=CLASS) for v in self._own_object(file, place, "self", language))
        hidden = not (callee and language in rules.SEPARATE_NAMES)
        member = name != bare and name[0] == "@"
        scope = place
        while scope >= 0:
            kind = facts.kinds[scope]
            if kind in FUNCTION_KINDS and hidden and not member:
                rows = self._look.typed(file, scope, bare)
                if rows:
                    found = self.rows(file, rows, depth)
                    return tuple(v._replace(step=VALUE) if v.kind in (FUNCTION, CLASS) else v for v in found)
            inside = self._in_scope(file, scope, kind, bare, language, callee, depth)
            if not inside and facts.owners[scope] and language in rules.IMPLICIT_SELF:
                own = self._own_object(file, scope, "self", language)
                inside = tuple(v._replace(step=SELF) for o in own if o.at for v in self.member(o.at, bare, depth - 1))
            if inside:
                return inside
            scope = facts.parents[scope]
        if language not in rules.SPELLED or not bare[:1].isupper():
            return self._outside(file, bare, depth) or (self._own_object(file, place, name, language) if plain else ())
        if self._look.binding(file, bare) is None or absolute:
            declared = spelled(self._look, file, place, f"::{bare}" if absolute else bare)
            if declared is not None:
                return (_of(declared, PACKAGE),)
        return self._outside(file, bare, depth) or (Value(EXTERNAL, None, IMPORT, files=(file,), text=bare),)

    def _in_scope(
        self, file: int, scope: int, kind: str, name: str, language: str, callee: bool, depth: int
    ) -> Values:  # fmt: skip
        """What the definition around has under a name that is not bound in it as a local."""
        if kind in TYPE_KINDS:
            owner = self._look.definition(file, scope)
            if callee and language not in rules.IMPLICIT_SELF:
                return ()
            fields = language in rules.IMPLICIT_FIELDS or (language == "ruby")
            if not fields:
                return ()
            members = self._members(Value(CLASS, owner, SELF), name, depth - 1)
            return tuple(v if v.kind == INSTANCE else v._replace(step=SELF) for v in members)
        found = self._look.inside(file, scope, name)
        if found is not None and (kind in FUNCTION_KINDS or kind in ("namespace", "module")):
            return (_of(found, SCOPE),)
        if kind in ("namespace", "module"):
            return self.rows(file, self._look.typed(file, scope, name), depth)
        return ()

    def _rust_module(self, file: int, place: int, name: str) -> Values:
        """The module that `crate` or `super` means; in a module inside a file, `super` is the file's own."""
        head = self._look.files.heads[file]
        if head.language != "rust" or name not in ("crate", "super"):
            return ()
        facts = self._look.tables.facts(file)
        while place >= 0 and facts.kinds[place] != "module":
            place = facts.parents[place]
        crates = self._import.crates
        found = crates.root(file) if name == "crate" else file if place >= 0 else crates.parent(file)
        return (Value(MODULE, None, IMPORT, files=(found,)),) if found >= 0 else ()

    def _own_object(self, file: int, place: int, name: str, language: str) -> Values:
        facts = self._look.tables.facts(file)
        while place >= 0 and facts.kinds[place] not in _HOLDERS:
            owner = facts.owners[place]
            if owner:
                found = self._look.near_type(file, owner) or self._look.only_type(facts.head.family, owner)
                if found is not None:
                    return (Value(BASES if name in rules.SUPERS else INSTANCE, found, SELF),)
            place = facts.parents[place]
        if place < 0:
            return ()
        kind = BASES if name in rules.SUPERS else INSTANCE
        return (Value(kind, self._look.definition(file, place), SELF),)

    def _outside(self, file: int, name: str, depth: int) -> Values:
        """What a name means outside all definitions of a file."""
        found = self.in_module(file, name, depth)
        if found:
            return found
        head = self._look.files.heads[file]
        if head.language in rules.FOLDER_SCOPE:
            beside = self._look.in_folder(head.family, head.folder, name)
            if beside is not None:
                return (_of(beside, PACKAGE),)
        if head.language in rules.PROGRAM_TYPES:
            only = self._look.only_type(head.family, name)
            if only is not None and not (only.around in TYPE_KINDS and head.language in rules.NESTED_HIDDEN):
                return (_of(only, PACKAGE),)
        return ()

    def in_module(self, file: int, name: str, depth: int, *, outside: bool = False) -> Values:
        """What a file has under a name: its definitions, its imports, its variables.

        Args:
            file: The file.
            name: The name.
            depth: How many further names may be looked through.
            outside: Another file asks: what this one imports counts only if that makes it one of its own names.
        """
        if depth <= 0:
            return ()
        key = ("module", file, name, depth, outside)
        known = self._memo.get(key)
        if known is None:
            known = self._memo[key] = self._in_module(file, name, depth, outside)
        return known

    def _in_module(self, file: int, name: str, depth: int, outside: bool) -> Values:
        found = self._look.top(file, name)
        if found is not None:
            rust = found.kind == "module" and self._look.files.heads[file].language == "rust"
            inner = self._import.crates.child(file, name) if rust else -1
            return (_of(found, SCOPE) if inner < 0 else Value(MODULE, None, SCOPE, files=(inner,)),)
        rows = self._look.typed(file, -1, name)
        own = not outside or self._look.files.heads[file].language not in rules.PRIVATE_IMPORTS
        item = self._look.binding(file, name) if own else None
        if item is not None:
            return self.imported(file, item, name, depth)
        if rows or not own:
            return self.rows(file, rows, depth)
        for star in self._look.stars(file):
            for target in self._import.targets(file, star):
                if target != file:
                    values = self.in_module(target, name, depth - 1, outside=True)
                    values = values or self._static(target, star, name, depth - 1)
                    if values:
                        return tuple(value._replace(step=IMPORT) for value in values)
        return ()

    def imported(self, file: int, item: Import, name: str, depth: int) -> Values:
        """What an import binds a name to, through any re-exports."""
        targets = self._import.targets(file, item)
        original = "" if item.name == "*" else item.name
        language = self._look.files.heads[file].language
        if language in rules.SPELLED and item.name != "*":
            full = ".".join(filter(None, (item.module, original))).replace("\\", ".").replace("::", ".").strip(".")
            declared = spelled(self._look, file, -1, f"::{full}")
            if declared is not None:
                return (_of(declared, IMPORT),)
        if language in rules.MODULE_VALUES:
            values = self._module_value(targets, original, rules.MODULE_VALUES[language], depth)
            if values:
                return values
        if not targets and original and language in rules.QUALIFIED:
            for target in self._look.declaring(self._look.files.families[file], item.module):
                found = self._look.top(target, original)
                if found is not None:
                    return (_of(found, IMPORT),)
        if not targets:
            dotted = ".".join(filter(None, (item.module, original))) if original or item.alias else item.module
            if not original and not item.alias and self._look.files.heads[file].language == "python":
                dotted = item.module.partition(".")[0]
            return (Value(EXTERNAL, None, IMPORT, text=dotted or name),)
        wanted = original.rpartition(".")[2] or ("" if item.name in ("", "*") and item.alias else name)
        if wanted:
            for target in targets:
                if target == file:
                    continue
                values = self.in_module(target, wanted, depth - 1, outside=True)
                values = values or self._default(target, wanted, depth - 1)
                if not values and original:
                    values = self._static(target, item, wanted, depth - 1)
                if values:
                    return tuple(value._replace(step=IMPORT) for value in values)
        return (Value(MODULE, None, IMPORT, files=targets),)

    def _static(self, file: int, item: Import, name: str, depth: int) -> Values:
        """A member of the type that an import names as its module."""
        holder = re.split(r"::|[.\\]", item.module)[-1]
        if holder == name or self._look.files.heads[file].language not in rules.QUALIFIED | {"rust"}:
            return ()
        owners = self.in_module(file, holder, depth, outside=True)
        return _distinct(v for o in owners if o.at for v in self.attribute(o, name, depth))

    def _module_value(self, files: tuple[int, ...], member: str, name: str, depth: int) -> Values:
        """What a module is that hands out one value, or what that has as a member."""
        found: list[Value] = []
        for file in files:
            for value in self.rows(file, self._look.typed(file, -1, name), depth - 1):
                found.extend(self.attribute(value, member, depth - 1) if member else (value,))
        return tuple(value._replace(step=IMPORT) for value in _distinct(found))

    def _default(self, file: int, name: str, depth: int) -> Values:
        """JavaScript's default export."""
        if name != "default":
            return ()
        return self.rows(file, self._look.typed(file, -1, "default"), depth)

    # --- members --------------------------------------------------------------------------------------------------

    def attribute(self, value: Value, name: str, depth: int) -> Values:
        """What a member of a value stands for."""
        if depth <= 0:
            return ()
        if value.kind == EXTERNAL:
            full = f"{value.text}.{name}"[:200]
            declared = spelled(self._look, value.files[0], -1, f"::{full}") if value.files else None
            if declared is not None:
                return (_of(declared, PACKAGE),)
            return self._extension(value, name) or (value._replace(text=full),)
        if value.kind == MODULE:
            return self._of_module(value, name, depth)
        if value.at is None:
            return ()
        if value.kind == BASES:
            found = self._of_bases(value.at, name)
            return tuple(v._replace(step=SELF) for v in found)
        if name == "this" and value.kind == CLASS:  # Outer.this
            return (value._replace(kind=INSTANCE, step=SELF),)
        step = value.step
        found = self._members(value, name, depth) or self._of_class(value, name)
        if value.kind == INSTANCE and step != SELF:
            step = TYPE
        return tuple(v if v.kind == INSTANCE else v._replace(step=step) for v in found)

    def _members(self, value: Value, name: str, depth: int) -> Values:
        """A member of a type, or of the object beside it."""
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
        if facts.head.language not in rules.COMPANIONS:
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
        if name == rules.MAKERS.get(language):
            return (value,)
        if language in rules.SPELLED:
            declared = within(self._look, value.at, name)
            return (_of(declared, value.step),) if declared is not None else ()
        return ()

    def _extension(self, value: Value, name: str) -> Values:
        """A method that the repository gives a type from outside."""
        head = self._look.files.heads[value.files[0]] if value.files else None
        if head is None or head.language not in rules.ADOPTING:
            return ()
        owner = value.text.rpartition(".")[2]
        found = [item for item in self._look.all_named(head.family, name) if item.owner == owner]
        return (_of(found[0], TYPE),) if found else ()

    def _of_module(self, value: Value, name: str, depth: int) -> Values:
        for file in value.files:
            values = self.in_module(file, name, depth - 1, outside=True) or self._rust_module(file, -1, name)
            if values:
                return tuple(v._replace(step=IMPORT) for v in values)
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
                return (_of(found, SELF),)
            values = self._fields(current, name, depth)
            if values is not None:
                return values
        return ()

    def _as_field(self, value: Value, name: str, depth: int) -> Values:
        """A field, where methods have names of their own."""
        if value.at is None or self._look.files.heads[value.at.file].language not in rules.SEPARATE_MEMBERS:
            return ()
        for current in self.lineage(value.at):
            found = self._fields(current, name, depth)
            if found is not None:
                return found
        return ()

    def _fields(self, owner: Definition, name: str, depth: int) -> Values | None:
        place = owner.symbol - self._look.tables.facts(owner.file).first
        rows = self._look.typed(owner.file, place, name)
        return self.rows(owner.file, rows, depth - 1) if rows else None

    def _of_bases(self, owner: Definition, name: str) -> Values:
        for current in self.lineage(owner)[1:]:
            found = self._look.member(current, name)
            if found is not None:
                return (_of(found, SELF),)
        return ()

    def lineage(self, owner: Definition, depth: int = _LINEAGE) -> tuple[Definition, ...]:
        """A type and all its bases, in the order in which members are looked for.

        Source:
            Barrett et al., "A Monotonic Superclass Linearization for Dylan", OOPSLA 1996 (C3, Python's order).
            Where it has no answer, the first type that is left goes first.
        """
        key = ("lineage", owner.symbol, depth)
        known = self._memo_types.get(key)
        if known is None:
            bases = self.bases(owner) if depth > 0 else ()
            lists = [list(self.lineage(base, depth - 1)) for base in bases] + [list(bases)]
            known = self._memo_types[key] = (owner, *(found for found in _merged(lists) if found != owner))
        return known

    def bases(self, owner: Definition) -> tuple[Definition, ...]:
        """The types in the repository that a type is derived from."""
        key = ("bases", owner.symbol, 0)
        known = self._memo_types.get(key)
        if known is None:
            facts = self._look.tables.facts(owner.file)
            around = facts.parents[owner.symbol - facts.first]
            found: dict[Definition, None] = {}
            for text in self._look.bases(owner):
                for value in self.type_named(owner.file, around, text, _BASE_DEPTH):
                    if value.at is not None and value.at != owner:
                        found[value.at] = None
            known = self._memo_types[key] = tuple(found)
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

    # --- calls and types ------------------------------------------------------------------------------------------

    def result(self, value: Value, depth: int) -> Values:
        """What a call of a value gives."""
        if depth <= 0 or value.kind == MODULE:
            return ()
        if value.kind == EXTERNAL:
            return (value,)
        if value.kind == FUNCTION and value.at is None:
            return self._items(value._replace(kind=MANY), depth)
        if value.at is None:
            return ()
        if value.kind == CLASS:
            return (Value(INSTANCE, value.at, TYPE),)
        if value.kind != FUNCTION:
            return (value,) if value.kind == BASES else ()
        at = value.at
        facts = self._look.tables.facts(at.file)
        place = at.symbol - facts.first
        if at.kind == "constructor":
            around = facts.parents[place]
            return (Value(INSTANCE, self._look.definition(at.file, around), TYPE),) if around >= 0 else ()
        return self.rows(at.file, self._look.typed(at.file, place, ""), depth - 1)

    def rows(self, file: int, rows: Iterable[Typed], depth: int) -> Values:
        """What a name stands for of which this is known; what is declared counts more than what is given."""
        if depth <= 0:
            return ()
        rows = list(rows)
        declared = [row for row in rows if row.text and row.text[0] not in "=~"]
        found: list[Value] = []
        for row in declared or rows[:_MOST_VALUES]:
            if row.text.startswith("="):
                found.extend(self.expression(file, row.within, row.text[1:], depth - 1))
            elif row.text.startswith("~"):
                found.extend(v._replace(kind=CLASS) for v in self.declared(file, row.within, row.text[1:], depth - 1))
            elif row.text:
                found.extend(self.declared(file, row.within, row.text, depth - 1))
        return _distinct(found)

    def declared(self, file: int, place: int, text: str, depth: int) -> Values:
        """What is declared to be of a type."""
        if depth <= 0:
            return ()
        return _distinct(v for item in types_in(text) for v in self._declared(file, place, item, depth))

    def _declared(self, file: int, place: int, item: TypeText, depth: int) -> Iterator[Value]:
        last = item.name.rpartition(".")[2]
        if item.arguments and (last in rules.TRANSPARENT and not item.item):
            for argument in item.arguments:
                yield from self.declared(file, place, argument, depth - 1)
            return
        if item.item and not item.arguments:
            yield Value(MANY, None, TYPE, files=(file,), text=item.name, place=place)
            return
        if item.name in rules.OWN_TYPES:
            yield from (v._replace(step=TYPE) for v in self._own_object(file, place, "self", ""))
            return
        known = self.type_named(file, place, item.name, depth - 1) if item.name else ()
        for value in known:
            yield Value(INSTANCE, value.at, TYPE) if value.kind == CLASS else value
        if item.arguments and not known:
            yield Value(MANY, None, TYPE, files=(file,), text=item.arguments[-1], place=place)
        elif item.name and not known and self._look.files.heads[file].language in rules.TYPED:
            yield Value(EXTERNAL, None, TYPE, files=(file,), text=item.name[:200])

    def type_named(self, file: int, place: int, dotted: str, depth: int = _DEPTH) -> Values:
        """The types that a name, dotted or not, means at a place."""
        names = [name for name in dotted.replace("::", ".").replace("\\", ".").split(".") if name]
        if not names or depth <= 0:
            return ()
        if self._look.files.heads[file].language in rules.SPELLED and self._look.binding(file, names[0]) is None:
            declared = spelled(self._look, file, place, ".".join(names))
            if declared is not None and declared.kind in _HOLDERS:
                return (_of(declared, SCOPE if declared.file == file else PACKAGE),)
        values = self._type_in_scope(file, place, names[0], depth - 1)
        for name in names[1:]:
            values = _distinct(found for value in values for found in self.attribute(value, name, depth - 1))
        found = tuple(value for value in values if value.kind in (CLASS, EXTERNAL))
        if not found and self._look.files.heads[file].language in rules.PROGRAM_TYPES:
            only = self._look.only_type(self._look.files.families[file], names[-1])
            if only is not None:
                return (_of(only, PACKAGE),)
        return found

    def _type_in_scope(self, file: int, place: int, name: str, depth: int) -> Values:
        facts = self._look.tables.facts(file)
        scope = place
        while scope >= 0:
            found = self._look.inside(file, scope, name)
            if found is not None and found.kind in _HOLDERS:
                return (_of(found, SCOPE),)
            if facts.names[scope] == name and facts.kinds[scope] in TYPE_KINDS:
                return (_of(self._look.definition(file, scope), SCOPE),)
            scope = facts.parents[scope]
        return self._outside(file, name, depth)


def _of(found: Definition, step: int) -> Value:
    return Value(CLASS if found.kind in _HOLDERS else FUNCTION, found, step)


def _distinct(values: Iterable[Value]) -> Values:
    found: dict[tuple[object, ...], Value] = {}
    for value in values:
        key = (value.kind, value.at.symbol if value.at is not None else -1, value.files, value.text, value.place)
        found.setdefault(key, value)
        if len(found) > _MOST_VALUES:
            break
    return tuple(found.values())


def _merged(lists: list[list[Definition]]) -> Iterator[Definition]:
    """C3: the first head that is in no tail, again and again."""
    while True:
        lists = [items for items in lists if items]
        if not lists:
            return
        tails = {item for items in lists for item in items[1:]}
        chosen = next((items[0] for items in lists if items[0] not in tails), lists[0][0])
        yield chosen
        lists = [[item for item in items if item != chosen] for items in lists]
