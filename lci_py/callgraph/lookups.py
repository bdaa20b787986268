"""Tracked look-ups: linking a file asks here for all that it needs to know of other files, and records a key each time.

A look-up is a tuple: its kind, then its arguments as texts. Its key is a hash of 32 bits, stored with the file that
asked. A refresh links a file again if it has the key of a look-up whose answer may have changed. If two look-ups share
a key, a file is only linked again needlessly: 32 bits suffice. docs/adr/0011-relinking.md says what a new kind needs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar
from zlib import crc32

from lci_py.callgraph.file_facts import (
    FileFacts,
    MacroText,
    is_of_local,
    is_shared,
    is_top,
    is_type,
    macro_texts,
    runs_alone,
)
from lci_py.callgraph.language_rules import lists_star_names
from lci_py.callgraph.lookup_tables import Definition, Tables
from lci_py.types.expressions import PARAMETERS
from lci_py.types.source import FIELD, FIELD_TYPE, TAKES, Import, StoredFunction, TypeHint

K = TypeVar("K")
T = TypeVar("T")
#: An answer that files share, and the keys of the look-ups that it rests on.
Shared = tuple[T, set[int]]
LookUp = tuple[str, ...]
#: A name at a file's top level: its definition, its type hints in text order, the import that binds it.
ModuleName = tuple[Definition | None, Sequence[TypeHint], Import | None]
#: A name called on unknown receivers in more places than this is a name of the standard library: append, encode.
COMMON_CALLS = 12
#: A name with more definitions than this says nothing about which one is meant.
MOST_NAMED = 16
#: Maximum number of a package's files that an import has edges to. Names are looked up in all of them.
MOST_PACKAGE_FILES = 16
#: Maximum number of functions in a slot for it to identify a target, if its owner is known, and if not.
MOST_STORED, MOST_STORED_ANYWHERE = 32, 8
#: The kinds of slots that `LookUps.stored_anywhere` can be asked for.
BY_NAME = frozenset({FIELD, FIELD_TYPE})
#: Maximum number of definitions of a name that are compared with a type that may be opened again.
_MOST_REOPENED = 200
#: Maximum number of extension methods of a name that are compared with a receiver.
_MOST_EXTENDING = 100
_MEMO = 50_000  # answers that are kept: memory must not grow with the repository
_SHARED = 10_000  # the same, of a kind of answers that are kept with the keys of many look-ups
#: Files whose macros are kept with the calls in them.
_MACRO_FILES = 64


def offered_names(facts: FileFacts, package: str) -> frozenset[str] | None:
    """The names that a file offers to a star import of its package or namespace; None if it may offer any name."""
    if not lists_star_names(facts.head.language):
        return None
    return facts.offered(package.rpartition(".")[2])


class SiteCounts(Protocol):
    """Counts, for each name, the calls of it on a receiver."""

    def count(self, family: str, name: str) -> int: ...


def key_of(look_up: LookUp) -> int:
    """The key of a look-up, in 0 ... 2**32 - 1. It is the same in every process and version of Python."""
    return crc32("\0".join(look_up).encode("utf-8", "surrogatepass"))


class LookUps:
    """Answers look-ups from `tables` and records their keys.

    A look-up about the file that is being linked is not recorded: if that file changes, it is linked again anyway.

    Attributes:
        keys: Keys of the look-ups since `start`.
        own: The file that is being linked; -1 while an answer that all files share is computed.
        asker: The file that is being linked, in both cases.
        depends_on_asker: Set when an answer depends on which file is being linked, so that it is not shared.
    """

    def __init__(self, tables: Tables, sites: SiteCounts) -> None:
        self.tables = tables
        self.facts = tables.facts
        self.files = tables.files
        self.rules_of = self.files.rules
        self._paths = [head.path for head in self.files.heads]
        self.sites = sites
        self.keys: set[int] = set()
        self.own = self.asker = -1
        self.depends_on_asker = False
        self._memo: dict[LookUp, tuple[int, Any]] = {}
        self._by_name: dict[tuple[str, str], list[Definition]] = {}
        self._definitions: dict[int, Definition] = {}
        self._macros: dict[int, dict[str, list[MacroText]]] = {}  # of files that were asked about lately
        self._variables: dict[str, dict[str, list[int]]] = {}  # of Go packages, by folder
        self._n_variables = 0
        self._finders: dict[str, Callable[..., Any]] = {
            "path": lambda path: self.files.by_path.get(path, -1),
            "ending": lambda segment: self.files.by_ending.get(segment, ()),
            "go": lambda folder: self.files.go_packages.get(folder, ()),
            "crate": lambda name: self.files.manifests["crate"].get(name, ()),
            "modules": lambda: self.files.manifests["modules"],
            "npm": lambda name: self.files.manifests["npm"].get(name, ()),
            "variable": lambda folder, name: self._go_variables(folder).get(name, ()),
            "alone": lambda path: runs_alone(self._facts(path)),
            "declaring": self._declaring,
            "open": self._open,
            "offering": self._offering,
            "module": self._module,
            "member": self._members,
            "bases": self._bases,
            "reopened": self._reopened,
            "deriving": self._deriving,
            "typed": self._declared_types,
            "said": lambda path, scope, kind: self._declared_types(path, scope, int(kind)),
            "methods": self._methods,
            "takes": self._takes,
            "expansion": self._expansion,
            "stars": lambda path: self._facts(path).stars,
            "includes": lambda path: self._facts(path).included,
            "heirs": self._heirs,
            "extending": self._extending,
            "all": self._all,
            "only": self._only,
            "type": lambda family, name: _single(self._types(family, name)),
            "near": self._near,
            "folder": self._folder,
            "orphan": self._orphan,
            "stored": lambda *slot: self._stored_rows(MOST_STORED, *slot),
            "anywhere": lambda family, kind, *slot: self._stored_rows(MOST_STORED_ANYWHERE, family, kind, None, *slot),
            "common": lambda family, name: self.sites.count(family, name) > COMMON_CALLS,
        }

    def release(self) -> None:
        """Drop all answers: reference cycles would keep them until the next garbage collection."""
        vars(self).clear()

    def start(self, file: int) -> None:
        """Begin to link a file."""
        self.own = self.asker = file
        self.keys = set()

    def shared(self, memo: dict[K, Shared[T]], key: K, compute: Callable[..., T], *args: Any) -> T:
        """The result of `compute(*args)`, computed once for all files and kept in `memo` under `key`.

        During the computation no file counts as the file being linked, so that all look-ups are recorded.
        """
        answer = memo.get(key)
        if answer is None:
            own, keys, depends_on_asker = self.own, self.keys, self.depends_on_asker
            self.own, self.keys, self.depends_on_asker = -1, set(), False
            answer = compute(*args), self.keys
            if not self.depends_on_asker:
                if len(memo) >= _SHARED:
                    memo.clear()
                memo[key] = answer
            self.own, self.keys, self.depends_on_asker = own, keys, self.depends_on_asker or depends_on_asker
        self.keys |= answer[1]
        return answer[0]

    def value(self, look_up: LookUp) -> Any:
        """The answer to a look-up, without recording its key."""
        return self._finders[look_up[0]](*look_up[1:])

    def _ask(self, look_up: LookUp) -> T:  # type: ignore[type-var]  # of the type that the caller declares
        entry = self._memo.get(look_up)
        if entry is None:
            if len(self._memo) >= _MEMO:
                self._memo.clear()
            entry = self._memo[look_up] = key_of(look_up), self.value(look_up)
        self.keys.add(entry[0])
        return entry[1]  # type: ignore[no-any-return]

    # --- files ----------------------------------------------------------------------------------------------------

    def at(self, path: str) -> int:
        """The file with this path; -1 if there is none."""
        return self._ask(("path", path))

    def ending_in(self, segment: str) -> Sequence[tuple[tuple[str, ...], int]]:
        """The files with a module name that ends in a segment: (all segments, file), by file."""
        return self._ask(("ending", segment))

    def go_package(self, folder: str) -> Sequence[int]:
        """A folder's Go files without tests, ascending."""
        return self._ask(("go", folder))

    def go_variable(self, folder: str, name: str) -> Sequence[int]:
        """A folder's Go files without tests that declare the type of the top-level variable `name`; ascending."""
        return self._ask(("variable", folder, name))

    def is_alone(self, file: int) -> bool:
        """Whether a Python file refers to no enclosing package: it may be a script, or a module beside a script."""
        if file == self.own:
            return runs_alone(self.facts(file))
        return self._ask(("alone", self.files.heads[file].path))

    def crate(self, name: str) -> Sequence[int]:
        """The Cargo.toml files that declare a Rust crate of this name, ascending."""
        return self._ask(("crate", name))

    def go_modules(self) -> Mapping[str, Sequence[int]]:
        """Maps the path of each Go module to the go.mod files that declare it, ascending."""
        return self._ask(("modules",))

    def npm_package(self, name: str) -> Sequence[int]:
        """The package.json files that declare a package of this name, ascending."""
        return self._ask(("npm", name))

    def declaring(self, family: str, name: str) -> Sequence[int]:
        """The files that declare a qualified name, or belong to the package of that name; ascending."""
        return self._ask(("declaring", family, name))

    def open_files(self, family: str, package: str) -> Sequence[int]:
        """The files of a package or namespace that may offer any name to a star import, among its first
        `MOST_PACKAGE_FILES` files. `offering` omits these files.
        """
        return self._ask(("open", family, package))

    def offering(self, family: str, package: str, name: str) -> Sequence[int]:
        """The files of a package or namespace where a star import can find a name, ascending. A file that is neither in
        this answer nor in `open_files` does not have the name.
        """
        return self._ask(("offering", family, package, name))

    def stars(self, file: int) -> Sequence[Import]:
        """A file's star imports, which bind every name of a module."""
        if file == self.own:
            return self.facts(file).stars
        return self._ask(("stars", self._paths[file]))

    def includes(self, file: int) -> frozenset[str]:
        """The last path segments of the headers that a C or C++ file includes."""
        return self._ask(("includes", self.files.heads[file].path))

    def binding(self, file: int, name: str) -> Import | None:
        """The import that binds a name in a file; None if no import does."""
        return self.in_module(file, name)[2]

    # --- definitions ----------------------------------------------------------------------------------------------

    def in_module(self, file: int, name: str) -> ModuleName:
        """The meanings of a name at a file's top level: (definition, type hints, import)."""
        if file == self.own:
            facts = self.facts(file)
            index = facts.own_top.get(name, -1)
            definition = self._definition(file, index) if index >= 0 else None
            return definition, facts.typed.get((-1, name), ()), facts.bindings.get(name)
        answer: ModuleName = self._ask(("module", self._paths[file], name))
        return answer

    def top(self, file: int, name: str) -> Definition | None:
        """The definition of a name at a file's top level; None if there is none."""
        return self.in_module(file, name)[0]

    def definition(self, file: int, index: int) -> Definition:
        """The definition at an index of a file. No key is recorded: the stable id determines a `Definition`."""
        return self._definition(file, index)

    def place(self, item: Definition) -> int:
        """The index of a definition among the symbols of its file."""
        return item.symbol - self.facts(item.file).first

    def name(self, item: Definition) -> str:
        """The name of a definition."""
        facts = self.facts(item.file)
        return facts.names[item.symbol - facts.first]

    def enclosing(self, item: Definition) -> Definition | None:
        """The definition that directly encloses a definition; None at the top level."""
        facts = self.facts(item.file)
        parent = facts.parents[item.symbol - facts.first]
        return self._definition(item.file, parent) if parent >= 0 else None

    def first_inside(self, file: int, index: int, name: str) -> Definition | None:
        """The first definition of a name directly inside another definition."""
        definitions = self.all_inside(file, index, name)
        return definitions[0] if definitions else None

    def own_members(self, owner: Definition, name: str) -> list[Definition]:
        """All definitions of a name directly inside the definition `owner`."""
        return self.all_inside(owner.file, owner.symbol - self.facts(owner.file).first, name)

    def all_inside(self, file: int, index: int, name: str) -> list[Definition]:
        """All definitions of a name directly inside another definition."""
        facts = self.facts(file)
        if file == self.own:
            indices: Sequence[int] = facts.inside.get(index, {}).get(name, ())
        else:
            pairs: list[tuple[int, int]] = self._ask(("member", self._paths[file], facts.name_at(index), name))
            indices = [inner for outer, inner in pairs if outer == index] if pairs else ()
        return [self._definition(file, inner) for inner in indices] if indices else []

    def typed(self, file: int, scope: int, name: str) -> Sequence[TypeHint]:
        """The type hints of a name that a symbol binds (-1: the top level), in text order.

        The name "" stands for the result of a function.
        """
        if file == self.own:
            return self.facts(file).typed.get((scope, name), ())
        if scope < 0 and name:
            return self.in_module(file, name)[1]
        owner = self.facts(file).name_at(scope) if scope >= 0 else ""
        hints: list[TypeHint] = self._ask(("typed", self._paths[file], owner, name))
        return [item for item in hints if item.scope == scope] if hints else ()

    def hints(self, item: Definition, name: str) -> Sequence[TypeHint]:
        """The type hints of a name that a definition binds, as `typed`."""
        return self.typed(item.file, item.symbol - self.facts(item.file).first, name)

    def declarations(self, item: Definition, kind: int) -> list[str]:
        """The texts of a definition's type hints of one kind, from `TAKES` on: they declare something about it."""
        facts = self.facts(item.file)
        index = item.symbol - facts.first
        if item.file == self.own:
            return [hint.text for hint in facts.typed.get((index, kind), ())]
        hints: list[TypeHint] = self._ask(("said", facts.head.path, facts.name_at(index), str(kind)))
        return [hint.text for hint in hints if hint.scope == index]

    def near_type(self, file: int, name: str) -> Definition | None:
        """The type of this name in a file's folder, if there is only one."""
        return self._ask(("near", self.files.families[file], self.files.folders[file], name))

    def heirs(self, family: str, name: str) -> list[Definition]:
        """The types with a base of this name."""
        return self._ask(("heirs", family, name))

    def all_named(self, family: str, name: str) -> list[Definition]:
        """The definitions of a name that other files can see; [] if there are more than `MOST_NAMED`."""
        return self._ask(("all", family, name))

    def extending(self, family: str, name: str) -> list[tuple[Definition, str]]:
        """The extension methods of a name, each with the type of its receiver."""
        return self._ask(("extending", family, name))

    def member(self, owner: Definition, name: str) -> Definition | None:
        """The member of a name that a type itself has, in its own file or, as in Go, in another file of its folder."""
        return next(iter(self.members(owner, name)), None)

    def members(self, owner: Definition, name: str) -> list[Definition]:
        """All members of a name inside a type; if there are none, the members defined outside of the type."""
        return self.own_members(owner, name) or self.outside_members(owner, name)

    def methods(self, owner: Definition) -> list[str]:
        """The names of the methods inside a type, in text order."""
        facts = self.facts(owner.file)
        index = owner.symbol - facts.first
        if owner.file == self.own:
            return list(facts.inside.get(index, ()))
        pairs: list[tuple[int, str]] = self._ask(("methods", facts.head.path, facts.names[index]))
        return [name for other, name in pairs if other == index]

    def outside_members(self, owner: Definition, name: str) -> list[Definition]:
        """The methods of a name that are defined outside their type.

        The type must be the only type of its name: in the folder or, in languages that allow such methods anywhere,
        in the program.
        """
        facts = self.facts(owner.file)
        rules = self.rules_of[owner.file]
        if "inside_methods" in rules:
            return []
        families, folders = self.files.families, self.files.folders
        type_ = (families[owner.file], folders[owner.file], self.name(owner))
        only: Definition | None = self._ask(("near", *type_))
        if only is not None and only.symbol == owner.symbol:
            methods: list[Definition] = self._ask(("orphan", *type_, name))
            if methods:
                return methods
        if "reopened_types" in rules:
            of_parts: list[Definition] = self._ask(("reopened", type_[0], facts.qualified(self.place(owner)), name))
            return of_parts
        if "adopting" in rules and self.only_type(type_[0], type_[2]) == owner:
            return [item for item in self.all_named(type_[0], name) if item.owner == type_[2]]
        return []

    def parts(self, owner: Definition) -> list[Definition]:
        """The declarations of a type that may name bases: the type itself, or all if the language can reopen types."""
        facts = self.facts(owner.file)
        if "reopened_types" not in self.rules_of[owner.file]:
            return [owner]
        return self._ask(("deriving", facts.head.family, facts.qualified(self.place(owner))))

    def bases(self, owner: Definition) -> list[str]:
        """The names of the bases in one declaration of a type."""
        facts = self.facts(owner.file)
        index = owner.symbol - facts.first
        if owner.file == self.own:
            return facts.base_names.get(index, [])
        pairs: list[tuple[int, str]] = self._ask(("bases", facts.head.path, facts.names[index]))
        return [name for symbol, name in pairs if symbol == index]

    def only(self, family: str, name: str) -> Definition | None:
        """The only definition of a name that other files can see; None if there are several or none."""
        return self._ask(("only", family, name))

    def only_type(self, family: str, name: str) -> Definition | None:
        """The only type of a name; None if there are several or none."""
        return self._ask(("type", family, name))

    def in_folder(self, family: str, folder: str, name: str) -> list[Definition]:
        """The definitions of a name at the top level of a folder's files; at most `MOST_NAMED`."""
        return self._ask(("folder", family, folder, name))

    def variants(self, method: Definition) -> list[Definition]:
        """A method defined outside its type, and the methods of the same name and type in its folder."""
        if not method.owner:
            return [method]
        family, folder = self.files.families[method.file], self.files.folders[method.file]
        return self._ask(("orphan", family, folder, method.owner, self.name(method)))

    def arity(self, definition: Definition) -> int:
        """The arity of a definition (how many arguments it takes), as in `source.syntax.arity`."""
        facts = self.facts(definition.file)
        index = definition.symbol - facts.first
        if definition.file == self.own:
            return facts.arities[index]
        pairs: list[tuple[int, int]] = self._ask(("takes", facts.head.path, facts.names[index]))
        return next((arity for other, arity in pairs if other == index), -1)

    def expansion(self, macro: Definition) -> list[MacroText]:
        """All macros that a file defines under the name of `macro`, each with the calls in its text."""
        facts = self.facts(macro.file)
        look_up = ("expansion", facts.head.path, self.name(macro))
        macros: list[MacroText] = self._expansion(*look_up[1:]) if macro.file == self.own else self._ask(look_up)
        return macros

    def stored(
        self, family: str, kind: int, owner: str, name: str, *, tests: bool
    ) -> Sequence[tuple[int, StoredFunction]]:
        """The functions stored in a slot, as (file, `StoredFunction`); [] if there are more than `MOST_STORED`.

        Args:
            kind, owner, name: The slot, as in `StoredFunction`.
            tests: Whether functions stored by tests count as well.
        """
        look_up = ("stored", family, str(kind), owner, name, "tests" if tests else "")
        return self._ask(look_up)

    def stored_anywhere(
        self, family: str, kind: int, name: str, *, tests: bool
    ) -> Sequence[tuple[int, StoredFunction]]:
        """The functions in slots of this name with any owner, as `stored`; [] if more than `MOST_STORED_ANYWHERE`."""
        rows: Sequence[tuple[int, StoredFunction]] = self._ask(
            ("anywhere", family, str(kind), name, "tests" if tests else "")
        )
        return rows

    def is_common(self, family: str, name: str) -> bool:
        """Whether a name is called on so many receivers that it counts as a name of the standard library."""
        return self._ask(("common", family, name))

    # --- answers --------------------------------------------------------------------------------------------------

    def _facts(self, path: str) -> Any:
        return self.facts(self.files.by_path[path])

    def _definition(self, file: int, index: int) -> Definition:
        symbol = self.facts(file).first + index
        definition = self._definitions.get(symbol)
        if definition is None:
            facts = self.facts(file)
            if len(self._definitions) >= _MEMO:
                self._definitions.clear()
            parent_kind = facts.kind_around(index)
            definition = Definition(
                symbol, file, facts.kinds[index], parent_kind, facts.owners[index], facts.static[index]
            )
            self._definitions[symbol] = definition
        return definition

    def _declaring(self, family: str, name: str) -> Sequence[int]:
        files = {*self.tables.declaring(name), *self.files.by_package.get(name, ())}
        return sorted(file for file in files if self.files.families[file] == family)

    def _package_files(self, family: str, package: str) -> tuple[Sequence[int], Sequence[int]]:
        """(first, others): the first files of a package; its other files, only searched for names that they define."""
        entry = self._memo.get(("declaring", family, package))  # whoever asks for names has asked for the files
        files: Sequence[int] = entry[1] if entry is not None else self._declaring(family, package)
        first = MOST_PACKAGE_FILES + 1  # the file that imports its own package is not counted
        return files[:first], files[first:] if len(files) > first else ()

    def _open(self, family: str, package: str) -> list[int]:
        facts = self.facts
        return [file for file in self._package_files(family, package)[0] if offered_names(facts(file), package) is None]

    def _offering(self, family: str, package: str, name: str) -> list[int]:
        facts = self.facts
        first, others = self._package_files(family, package)
        files = [file for file in first if name in (offered_names(facts(file), package) or ())]
        for item in self._definitions_named(family, name) if others else ():
            index = bisect_left(others, item.file)
            among = index < len(others) and others[index] == item.file and item.file not in files
            if among and name in (offered_names(facts(item.file), package) or ()):
                files.append(item.file)
        return files

    def _go_variables(self, folder: str) -> dict[str, list[int]]:
        """Maps the top-level variables of a Go package to the files that declare their type."""
        variables = self._variables.get(folder)
        if variables is None:
            if self._n_variables >= _MEMO:
                self._variables.clear()
                self._n_variables = 0
            variables = self._variables[folder] = {}
            for file in self.files.go_packages.get(folder, ()):
                for name in self.facts(file).variables:
                    variables.setdefault(name, []).append(file)
            self._n_variables += len(variables) + 1
        return variables

    def _module(self, path: str, name: str) -> ModuleName:
        file = self.files.by_path[path]
        facts = self.facts(file)
        index = facts.top.get(name, -1)
        definition = self._definition(file, index) if index >= 0 else None
        return definition, facts.typed.get((-1, name), ()), facts.bindings.get(name)

    def _members(self, path: str, owner: str, name: str) -> list[tuple[int, int]]:
        facts = self._facts(path)
        return [
            (outer, index)
            for outer, inner in facts.inside.items()
            if facts.name_at(outer) == owner
            for index in inner.get(name, ())
        ]

    def _declared_types(self, path: str, scope: str, subject: str | int) -> list[TypeHint]:
        facts = self._facts(path)
        return [
            item
            for item in facts.by_subject.get(subject, ())
            if (facts.name_at(item.scope) if item.scope >= 0 else "") == scope
        ]

    def _methods(self, path: str, owner: str) -> list[tuple[int, str]]:
        facts = self._facts(path)
        return [
            (index, name) for index, inner in facts.inside.items() if facts.name_at(index) == owner for name in inner
        ]

    def _takes(self, path: str, name: str) -> list[tuple[int, int]]:
        facts = self._facts(path)
        return [(index, facts.arities[index]) for index in facts.callables if facts.names[index] == name]

    def _expansion(self, path: str, name: str) -> list[MacroText]:
        file = self.files.by_path[path]
        texts = self._macros.get(file)
        if texts is None:
            if len(self._macros) >= _MACRO_FILES:
                del self._macros[next(iter(self._macros))]
            texts = self._macros[file] = macro_texts(self.facts(file), self.tables.calls(file))
        return texts.get(name, [])

    def _heirs(self, family: str, name: str) -> list[Definition]:
        return [heir for heir in self.tables.heirs(name) if self.files.families[heir.file] == family]

    def _extending(self, family: str, name: str) -> list[tuple[Definition, str]]:
        return [
            (item, extended)
            for item in self._definitions_named(family, name)
            for hint in self.facts(item.file).typed.get((self.place(item), TAKES), ())
            if (extended := hint.extended)
        ][:_MOST_EXTENDING]

    def _all(self, family: str, name: str) -> list[Definition]:
        definitions = self._shared_definitions(family, name)
        return definitions if len(definitions) <= MOST_NAMED else []

    def _bases(self, path: str, owner: str) -> list[tuple[int, str]]:
        facts = self._facts(path)
        return [(base.symbol, base.name) for base in facts.bases if facts.names[base.symbol] == owner]

    def _reopened(self, family: str, qualified: str, name: str) -> list[Definition]:
        """The definitions of a name directly inside the types and modules with a qualified name."""
        definitions = []
        for item in self._definitions_named(family, name)[:_MOST_REOPENED]:
            facts = self.facts(item.file)
            parent = facts.parents[self.place(item)]
            if parent >= 0 and facts.qualified(parent) == qualified:
                definitions.append(item)
        return definitions

    def _deriving(self, family: str, qualified: str) -> list[Definition]:
        """The types and modules with a qualified name whose declarations name bases."""
        types = []
        for item in self._definitions_named(family, qualified.rpartition(".")[2])[:_MOST_REOPENED]:
            facts, index = self.facts(item.file), self.place(item)
            if index in facts.base_names and facts.qualified(index) == qualified:
                types.append(item)
        return types

    def _definitions_named(self, family: str, name: str) -> list[Definition]:
        definitions = self._by_name.get((family, name))
        if definitions is None:
            if len(self._by_name) >= _MEMO:
                self._by_name.clear()
            families = self.files.families
            definitions = [item for item in self.tables.callables_named(name) if families[item.file] == family]
            self._by_name[family, name] = definitions
        return definitions

    def _only(self, family: str, name: str) -> Definition | None:
        return _single(self._shared_definitions(family, name))

    def _shared_definitions(self, family: str, name: str) -> list[Definition]:
        return [
            item for item in self._definitions_named(family, name) if is_shared(item.parent_kind) and not item.static
        ]

    def _types(self, family: str, name: str) -> list[Definition]:
        return [item for item in self._definitions_named(family, name) if is_type(item.kind, family)]

    def _near(self, family: str, folder: str, name: str) -> Definition | None:
        return _single([item for item in self._types(family, name) if self.files.folders[item.file] == folder])

    def _folder(self, family: str, folder: str, name: str) -> list[Definition]:
        candidates = [item for item in self._definitions_named(family, name) if self.files.folders[item.file] == folder]
        return [item for item in candidates if is_top(item.kind, item.parent_kind)][:MOST_NAMED]

    def _stored_rows(
        self, limit: int, family: str, kind: str, owner: str | None, name: str, tests: str
    ) -> list[tuple[int, StoredFunction]]:
        rows: list[tuple[int, StoredFunction]] = []
        values: set[object] = set()
        for file, item in self.tables.stored(int(kind), owner, name):
            if (
                self.files.families[file] != family
                or is_of_local(item)
                or not (tests or not self.files.heads[file].test)
            ):
                continue
            rows.append((file, item))
            value = item.value, item.place, item.holder
            values.add((file, item.within, value) if item.value and item.value[-1].kind in PARAMETERS else value)
            if len(values) > limit:
                return []
        return rows

    def _orphan(self, family: str, folder: str, owner: str, name: str) -> list[Definition]:
        candidates = [item for item in self._definitions_named(family, name) if self.files.folders[item.file] == folder]
        return [item for item in candidates if item.owner == owner][:MOST_NAMED]


def _single(definitions: list[Definition]) -> Definition | None:
    return definitions[0] if len(definitions) == 1 else None
