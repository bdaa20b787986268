"""Names to definitions: which symbol a call or a base class means. Conservative: no edge beats a wrong one.

The steps of a call, first match wins: the object's own type (self, this) and its bases; the scopes around the call;
names the file imports; a receiver that names an imported module or a known type; the same package; a name that only
one definition in the repository has. docs/architecture.md says what this first form leaves out.
"""

from __future__ import annotations

import re
from functools import lru_cache

from lci_py.index.imports import ImportResolver
from lci_py.index.links import CALLS, IMPORTS, INHERITS, Edge
from lci_py.index.lookups import LookUps
from lci_py.index.tables import Definition
from lci_py.source.languages import load_languages
from lci_py.types import FUNCTION_KINDS, TYPE_KINDS

#: In these languages a file sees its folder's (or package's) definitions without an import.
_FOLDER_SCOPE = frozenset({"go", "java", "kotlin", "scala", "csharp", "swift", "php"})
#: A bare name reaches a function anywhere in the program (linked, sourced, one module), import or not.
_PROGRAM_SCOPE = frozenset({"c", "cpp", "bash", "swift", "csharp", "ruby", "php"})
#: What holds names that a bare name inside it reaches, in every language.
_LEXICAL = FUNCTION_KINDS | {"namespace", "module"}
#: A bare name reaches the methods of the object around it.
_IMPLICIT_SELF = frozenset({"java", "kotlin", "scala", "csharp", "swift", "ruby", "cpp"})
#: A file or table of functions is an object here: `list.append(x)` may be a function.
_MODULE_OBJECTS = frozenset({"zig", "lua", "elixir", "haskell", "bash"})


class FileLinker:
    """Edges of one file after another.

    Source:
        Tracked look-ups and re-use while no answer has changed are what build systems do: Mokhov, Mitchell and Peyton
        Jones, "Build systems à la carte", ICFP 2018.
    """

    def __init__(self, look_ups: LookUps) -> None:
        self._look = look_ups
        self._imports = ImportResolver(look_ups)
        self._selfs = {name: frozenset(spec.self_names) for name, spec in load_languages().items()}

    def link(self, file: int) -> tuple[list[Edge], set[int]]:
        """A file's edges, distinct by all but the line (the first counts), and the keys of its look-ups."""
        self._look.start(file)
        calls = _CallResolver(self._look, self._imports, file, self._selfs)
        edges: dict[tuple[int, int, int], int] = {}
        for item, targets in calls.imports:
            for target in targets:
                if target != file:
                    edges.setdefault((~file, ~target, IMPORTS), item.line)
        facts = calls.facts
        known: dict[tuple[str, str, int], int] = {}
        for call in self._look.tables.calls(file):
            asked = (call.name, call.receiver, call.caller)
            if asked not in known:
                found = calls.resolve(call.name, call.receiver, call.caller)
                known[asked] = found.symbol if found else -1
            target = known[asked]
            if target >= 0:
                source = facts.first + call.caller if call.caller >= 0 else ~file
                edges.setdefault((source, target, CALLS), call.line)
        for base in facts.bases:
            found = calls.type_named(file, base.name.rpartition(".")[2])
            source = facts.first + base.symbol
            if found is not None and found.symbol != source:
                edges.setdefault((source, found.symbol, INHERITS), base.line)
        return [Edge(*edge, line) for edge, line in edges.items()], self._look.keys


class _CallResolver:
    """What the calls of one file mean."""

    def __init__(self, look_ups: LookUps, imports: ImportResolver, file: int, selfs: dict[str, frozenset[str]]) -> None:
        self._look = look_ups
        self._import = imports
        self._file = file
        self.facts = look_ups.tables.facts(file)
        self.imports = [(item, imports.targets(file, item)) for item in self.facts.imports]
        self._imported_files = {target for _, targets in self.imports for target in targets}
        head = self.facts.head
        self._language = head.language
        self._family = head.family
        self._folder = head.folder
        self._test = head.test
        self._selfs = selfs.get(head.language, frozenset())
        self._unscoped: dict[str, Definition | None] = {}

    def resolve(self, name: str, receiver: str, caller: int) -> Definition | None:
        """The definition that a call means, None if it is external or not certain."""
        if not receiver:
            return self._bare(name, caller)
        if receiver in self._selfs:
            owner = self._type_around(caller)
            found = self._member(owner, name) if owner is not None else None
            return found or self._unique(name, methods=True)
        first, last = _ends(receiver)
        found = self._imported(last, name)
        bindings = self.facts.bindings
        if found is not None or last in bindings or first in bindings:
            return found  # what an import binds is that, inside the repository or not
        owner = self.type_named(self._file, last)
        if owner is not None:
            return self._member(owner, name)
        found = self._unique(name, methods=True)
        # What is called on an object is a member of it, save where files or tables are the objects.
        free = found is not None and found.kind == "function"
        return None if free and self._language not in _MODULE_OBJECTS else found

    def _bare(self, name: str, caller: int) -> Definition | None:
        facts = self.facts
        implicit = self._language in _IMPLICIT_SELF
        scope = caller
        while scope >= 0:
            kind = facts.kinds[scope]
            # A bare name does not reach a method in languages that demand self.
            if kind in _LEXICAL or implicit:
                inside = facts.members.get(scope)
                if inside is not None and name in inside:
                    return self._own(inside[name])
                adopted = self._look.adopted(self._own(scope), name) if kind in TYPE_KINDS else None
                if adopted is not None:
                    return adopted
            scope = facts.parents[scope]
        if name not in self._unscoped:
            self._unscoped[name] = self._outside_scopes(name)
        return self._unscoped[name]

    def _outside_scopes(self, name: str) -> Definition | None:
        """What a bare name means outside all definitions of the file."""
        place = self.facts.top.get(name, -1)
        if place >= 0:
            return self._own(place)
        item = self.facts.bindings.get(name)
        if item is not None:
            targets = self._import.targets(self._file, item)
            for target in targets:
                found = self._look.top(target, _original(item.name) or name)
                if found is not None:
                    return found
            if not targets:
                return None  # imported from outside the repository
        if self._language in _FOLDER_SCOPE:
            found = self._look.in_folder(self._family, self._folder, name)
            if found is not None:
                return found
        implicit = self._language in _IMPLICIT_SELF
        return self._unique(name, methods=implicit, anywhere=self._language in _PROGRAM_SCOPE)

    def _own(self, place: int) -> Definition:
        facts = self.facts
        return Definition(
            facts.first + place, self._file, facts.kinds[place], facts.kind_around(place), facts.owners[place]
        )

    def _type_around(self, place: int) -> Definition | None:
        while place >= 0 and self.facts.kinds[place] not in TYPE_KINDS:
            place = self.facts.parents[place]
        return self._own(place) if place >= 0 else None

    def _member(self, owner: Definition, name: str) -> Definition | None:
        """A member of a type or, failing that, of its bases, depth first."""
        seen = set()  # a lattice of bases has more paths through it than there is time
        pending = [owner]
        while pending:
            current = pending.pop()
            if current.symbol in seen:
                continue
            seen.add(current.symbol)
            found = self._look.member(current, name)
            if found is not None:
                return found
            for base in reversed(self._look.bases(current)):
                parent = self.type_named(current.file, base.rpartition(".")[2])
                if parent is not None:
                    pending.append(parent)
        return None

    def type_named(self, file: int, name: str) -> Definition | None:
        """The type that a name means in a file (this one, or that of a base class)."""
        found = self._look.top(file, name)
        if found is not None and found.kind in TYPE_KINDS:
            return found
        item = self._look.binding(file, name)
        if item is not None:
            for target in self._import.targets(file, item):
                found = self._look.top(target, _original(item.name) or name)
                if found is not None and found.kind in TYPE_KINDS:
                    return found
        return self._look.only_type(self._look.files.families[file], name)

    def _imported(self, receiver: str, name: str) -> Definition | None:
        item = self.facts.bindings.get(receiver)
        if item is None:
            return None
        original = _original(item.name)
        for target in self._import.targets(self._file, item):
            found = self._look.top(target, name)
            if found is not None:
                return found
            owner = self._look.top(target, original) if original else None
            if owner is not None and owner.kind in TYPE_KINDS:
                return self._member(owner, name)
        return None

    def _unique(self, name: str, *, methods: bool, anywhere: bool = False) -> Definition | None:
        """The only definition of a name, if something speaks for it besides: it is near, or imported, or the language
        has one name space for the program. Code does not call tests."""
        found = self._look.only(self._family, name)
        if found is None:
            return None
        is_method = found.kind in ("method", "constructor")
        if (is_method and not methods) or (self._look.files.heads[found.file].test and not self._test):
            return None
        if is_method and self._look.is_common(self._family, name):
            return None
        near = self._look.files.folders[found.file] == self._folder or found.file in self._imported_files
        return found if near or (anywhere and not is_method) else None


def _original(name: str) -> str:
    """What an import calls a name in its module, "" if it stands for the module itself."""
    return "" if name == "*" else name


@lru_cache(maxsize=10_000)
def _ends(receiver: str) -> tuple[str, str]:
    """The first and the last name in a receiver."""
    parts = re.split(r"::|->|[.\\]", receiver)
    return parts[0], parts[-1]
