"""The meaning of names outside all definitions of a file: its top-level names, and its imports.

`ModuleNames` is a part of an `Evaluator`, whose other parts evaluate type hints and members.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from lci_py.callgraph.lookup_tables import Definition
from lci_py.callgraph.lookups import LookUps, Shared
from lci_py.callgraph.resolve.go_packages import in_package
from lci_py.callgraph.resolve.imports import ImportResolver, holder_of
from lci_py.callgraph.resolve.qualified_names import find_dotted
from lci_py.callgraph.resolve.rust_paths import star_search
from lci_py.callgraph.resolve.values import (
    CLASS,
    EXTERNAL,
    FUNCTION,
    MODULE,
    Value,
    Values,
    distinct,
    is_own,
    value_of,
    with_step,
)
from lci_py.source.text.language_tables import has_rule, table_of
from lci_py.types.edges import IMPORT, PACKAGE, SCOPE
from lci_py.types.record import NamedTuple
from lci_py.types.search import TYPE_KINDS
from lci_py.types.source import Import, TypeHint

#: Names of modules in Rust.
RUST_MODULES = frozenset({"crate", "super"})
#: Modules that one name is looked up in through imports of every name. Where thousands of modules import all of one
#: another, each name would be looked for in all of them, from every file.
MOST_STARS = 500


class Star(NamedTuple):
    """A star import, which binds every name of a module."""

    item: Import
    targets: tuple[int, ...]
    package: str  # as `ImportResolver.star_package` gives it
    open_files: Collection[int]  # of the package


class ModuleNames:
    """Evaluates top-level names. `start` clears the cache of names for each file that is linked."""

    def __init__(
        self, look_ups: LookUps, imports: ImportResolver, rows: Callable[[int, Iterable[TypeHint], int], Values],
        attribute: Callable[[Value, str, int], Values],
    ) -> None:  # fmt: skip
        """Takes `imports`, which resolves imports by the same look-ups.

        `rows` is a function that evaluates the type hints of a file; `attribute` evaluates the members of values.
        """
        self._look = look_ups
        self._rules_of = look_ups.rules_of
        self._import = imports
        self._rows = rows
        self._attribute = attribute
        self._memo: dict[tuple[int, str, int, bool], Values] = {}
        self._stars: dict[int, list[Star]] = {}
        self._known_stars: dict[int, Shared[list[Star]]] = {}
        self._stars_left = 0  # of the look-up in progress; 0 if none is

    def start(self) -> None:
        """Start with another file: clear the caches."""
        self._memo.clear()
        self._stars.clear()

    def outside(self, file: int, name: str, depth: int) -> Values:
        """The values of a name that is used in a file but bound by none of the enclosing definitions."""
        item = self.in_module(file, name, depth)
        if item:
            return item
        head, rules = self._look.files.heads[file], self._rules_of[file]
        if "folder_scope" in rules:
            definitions = self._look.in_folder(head.family, head.folder, name)
            beside = [item for item in definitions if head.test or not self._look.files.heads[item.file].test]
            beside = beside or [item for item in definitions if item.kind in TYPE_KINDS]  # `TestClass` is seldom a test
            if beside and not is_own(beside[0], head.family):
                return self._rows(beside[0].file, self._look.typed(beside[0].file, -1, name), depth)
            if beside:
                return tuple(value_of(item, PACKAGE) for item in beside)
            if has_rule(head.family, "packages") and (values := in_package(self._look, self._rows, file, name, depth)):
                return values
        if "program_types" in rules:
            only = self._look.only_type(head.family, name)
            if only is not None and not (only.parent_kind in TYPE_KINDS and "nested_hidden" in rules):
                return (value_of(only, PACKAGE),)
        if "crates" in rules and name[:1].islower():
            library = self._import.crates.library(file, name)
            return (Value(MODULE, None, IMPORT, files=(library,)),) if library >= 0 else ()
        if "file_modules" in rules and name[:1].isupper():
            return self.imported(file, Import(name, "", "", 0), name, depth)
        return ()

    def in_module(self, file: int, name: str, depth: int, *, outside: bool = False) -> Values:
        """The values of a name at a file's top level. `outside`: without the file's private imports."""
        if depth <= 0:
            return ()
        key = (file, name, depth, outside)
        if (values := self._memo.get(key)) is None:
            values = self._memo[key] = self._in_module(*key)
        return values

    def _in_module(self, file: int, name: str, depth: int, outside: bool) -> Values:
        if (values := self._of_module(file, name, depth, outside)) is not None:
            return values
        if "crates" in self._rules_of[file]:
            passed_on = lambda other: [target for star in self._stars_of(other) for target in star.targets]  # noqa: E731
            return star_search(file, passed_on, lambda other: self._of_module(other, name, depth - 1, True))
        return self._by_stars(file, name, depth)

    def _of_module(self, file: int, name: str, depth: int, outside: bool) -> Values | None:
        """The values as from `in_module`, but without star imports; None if the file does not have the name."""
        definition, typed, item = self._look.in_module(file, name)
        if definition is not None and not is_own(definition, self._look.files.families[file]):
            return self._rows(file, typed, depth)
        if definition is not None:
            rust = definition.kind == "module" and "crates" in self._rules_of[file]
            inner = self._import.crates.child(file, name) if rust else -1
            value = value_of(definition, SCOPE) if inner < 0 else Value(MODULE, None, SCOPE, files=(inner,))
            imported = self._imported_as_well(file, name, definition, depth)
            # What stands in a module inside the file is seen from there; an import is mostly the file's.
            return imported if imported and definition.parent_kind == "module" else (value, *imported)
        own = not outside or "private_imports" not in self._rules_of[file]
        if item is not None and own:
            return self.imported(file, item, name, depth)
        return self._rows(file, typed, depth) if typed or not own else None

    def _by_stars(self, file: int, name: str, depth: int) -> Values:
        if self._stars_left:
            return self._through_stars(file, name, depth)
        self._stars_left = MOST_STARS
        try:
            return self._through_stars(file, name, depth)
        finally:
            self._stars_left = 0

    def _through_stars(self, file: int, name: str, depth: int) -> Values:
        family = self._look.files.families[file]
        is_package = has_rule(family, "packages")
        for star, targets, package, open_files in self._stars_of(file):
            offering: Collection[int] = targets
            if package and name != "this":  # which every type and namespace has
                offering = self._look.offering(family, package, name)
                offering = sorted({*offering, *open_files}) if open_files else offering
            elif is_package:
                return in_package(self._look, self._rows, targets[0], name, depth)
            for target in offering:
                if target != file:
                    if self._stars_left <= 1:
                        return ()
                    self._stars_left -= 1
                    values = self.in_module(target, name, depth - 1, outside=True)
                    values = values or self._static(target, star, name, depth - 1)
                    if values:
                        return with_step(values, IMPORT)
        return ()

    def _stars_of(self, file: int) -> list[Star]:
        stars = self._stars.get(file)
        if stars is None:
            stars = self._stars[file] = self._look.shared(self._known_stars, file, self._find_stars, file)
        return stars

    def _find_stars(self, file: int) -> list[Star]:
        stars = []
        for item in self._look.stars(file):
            targets = self._import.targets(file, item)
            if targets:
                package = self._import.star_package(file, item)
                family = self._look.files.families[file]
                stars.append(Star(item, targets, package, self._look.open_files(family, package) if package else ()))
        return stars

    def _imported_as_well(self, file: int, name: str, defined: Definition, depth: int) -> Values:
        """The values that a Rust file imports under a name that it also defines: a function and a module may share a
        name, or conditions (of the build) select the definition or the import.
        """
        if "crates" not in self._rules_of[file]:
            return ()
        item = self._look.binding(file, name)
        if item is None or (defined.kind != "module" and item.module.startswith("super")):
            return ()
        values = self.imported(file, item, name, depth - 1)
        return tuple(value for value in values if value.kind in (FUNCTION, CLASS) and value.at != defined)

    def imported(self, file: int, item: Import, name: str, depth: int) -> Values:
        """The values of a name that an import binds, through any re-exports."""
        targets = self._import.targets(file, item)
        original = "" if item.name == "*" else item.name
        rules = self._rules_of[file]
        if "module_scope" in rules and item.name != "*":
            full = ".".join(filter(None, (item.module, original))).replace("\\", ".").replace("::", ".").strip(".")
            declared = find_dotted(self._look, file, -1, f"::{full}")
            if declared is not None:
                return (value_of(declared, IMPORT),)
        if module_value := table_of(self._look.files.heads[file].language).get("module_value"):
            values = self._module_value(targets, original, module_value, depth)
            if values and (original or "npm_packages" not in rules):
                return values
            if values:  # the value, and what else the module sets on it: `module.exports.errors = errors`
                return (*values, Value(MODULE, None, IMPORT, files=targets))
        if not targets:
            own = item.module.startswith(f"{self._look.files.heads[file].package}.")  # its own nested type
            values = self._static(file, item, original, depth - 1) if own and original else ()
            return values or self._unresolved_import(file, item, original, name)
        last = original.rpartition(".")[2] or ("" if item.name in ("", "*") and item.alias else name)
        if last and "packages" not in rules:
            for target in self._import.holders(file, item, targets):
                values = self.in_module(target, last, depth - 1, outside=True)
                if not values and original:
                    values = self._static(target, item, last, depth - 1)
                if values:
                    return with_step(values, IMPORT)
        return (Value(MODULE, None, IMPORT, files=targets),)

    def _unresolved_import(self, file: int, item: Import, original: str, name: str) -> Values:
        """The value of an import that resolves to no file: an external value."""
        language = self._look.files.heads[file].language
        dotted = ".".join(filter(None, (item.module, original))) if original or item.alias else item.module
        files = (file,) if has_rule(language, "named_extensions") else ()
        return (Value(EXTERNAL, None, IMPORT, files=files, text=dotted or name),)

    def _static(self, file: int, item: Import, name: str, depth: int) -> Values:
        """The values of a static import, which means a member of a type: the import names the type as its module."""
        if "static_imports" not in self._rules_of[file]:
            return ()
        owners = self.in_module(file, holder_of(item), depth, outside=True)
        if not owners:  # a type in another one
            package = self._look.files.heads[file].package
            outer, *inner = item.module.removeprefix(f"{package}.").split(".")
            owners = self.in_module(file, outer, depth, outside=True)
            for part in inner:
                owners = distinct(v for o in owners if o.at for v in self._attribute(o, part, depth))
        return distinct(v for o in owners if o.at for v in self._attribute(o, name, depth))

    def _module_value(self, files: tuple[int, ...], member: str, name: str, depth: int) -> Values:
        """The values of the single object that a module exports, or of a member of that object."""
        members: list[Value] = []
        for file in files:
            for value in self._rows(file, self._look.typed(file, -1, name), depth - 1):
                members.extend(self._attribute(value, member, depth - 1) if member else (value,))
        return with_step(distinct(members), IMPORT)

    def rust_module(self, file: int, scope: int, name: str) -> Values:
        """The module that Rust's `crate` or `super` means. In an inline module, `super` is the module of the file."""
        if name not in RUST_MODULES or "crates" not in self._rules_of[file]:
            return ()
        facts = self._look.facts(file)
        while scope >= 0 and facts.kinds[scope] != "module":
            scope = facts.parents[scope]
        crates = self._import.crates
        module = crates.root(file) if name == "crate" else file if scope >= 0 else crates.parent(file)
        return (Value(MODULE, None, IMPORT, files=(module,)),) if module >= 0 else ()
