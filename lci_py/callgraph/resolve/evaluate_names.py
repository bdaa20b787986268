"""What a bare name stands for: in the scopes around it, in its file, through imports and re-exports, in its package."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from lci_py.callgraph import language_rules
from lci_py.callgraph.edges import IMPORT, PACKAGE, SCOPE, SELF, VALUE
from lci_py.callgraph.file_facts import FileFacts
from lci_py.callgraph.lookups import LookUps
from lci_py.callgraph.resolve.imports import ImportResolver
from lci_py.callgraph.resolve.qualified_names import spelled
from lci_py.callgraph.resolve.values import (
    BASES,
    CLASS,
    DEPTH,
    EXTERNAL,
    FUNCTION,
    HOLDERS,
    INSTANCE,
    MODULE,
    Value,
    Values,
    distinct,
    is_own,
    value_of,
    with_step,
)
from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS
from lci_py.types.source import Import

if TYPE_CHECKING:
    from lci_py.callgraph.resolve.evaluate import Evaluator

_NO_SCOPES: frozenset[int] = frozenset()
_RUST_MODULES = frozenset({"crate", "super"})


class _Language(NamedTuple):
    """The rules of one language, put together once: a name is looked up a hundred times in a file."""

    name: str
    own: frozenset[str]  # names of the object, the class or the bases around
    maker: str | None
    plain_self: bool
    separate: bool
    implicit_self: bool
    spelled: bool
    lexical: bool  # a name means what the scopes around bind, and nothing that a type around has


class Names:
    """Looks names up. One for an evaluator, which it asks for all else."""

    def __init__(
        self, evaluator: Evaluator, look_ups: LookUps, imports: ImportResolver, selfs: Mapping[str, frozenset[str]]
    ) -> None:
        self._all = evaluator
        self._look = look_ups
        self._import = imports
        self._selfs = selfs
        self._languages: dict[str, _Language] = {}
        self._memo: dict[tuple[int, int, str, int, bool], Values] = {}
        self._memo_modules: dict[tuple[int, str, int, bool], Values] = {}

    def start(self) -> None:
        """Begin with a file."""
        self._memo.clear()
        self._memo_modules.clear()

    def _language(self, name: str) -> _Language:
        plain = name in language_rules.PLAIN_SELF
        own = self._selfs.get(name, frozenset()) | language_rules.SUPERS | language_rules.OWN_TYPES
        found = self._languages[name] = _Language(
            name,
            own - {"self"} if plain else own,
            language_rules.MAKERS.get(name),
            plain,
            name in language_rules.SEPARATE_NAMES,
            name in language_rules.IMPLICIT_SELF,
            name in language_rules.SPELLED,
            name not in language_rules.IMPLICIT_SELF | language_rules.SPELLED | language_rules.PREFIXED | {"rust"},
        )
        return found

    def name(self, file: int, place: int, name: str, depth: int = DEPTH, callee: bool = False) -> Values:
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
        key = (file, place, name, depth, callee)
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = self._name(file, place, name, depth, callee)
        return found

    def scope(self, file: int, place: int, name: str) -> int:
        """The outermost place from where a name means the same as at a place: what no scope around binds means the same
        everywhere in the file, and what one of them binds the same inside of it."""
        if place < 0 or file != self._look.own:
            return place
        facts = self._look.tables.facts(file)
        language = self._languages.get(facts.head.language) or self._language(facts.head.language)
        if not language.lexical:
            return place
        parents = facts.parents
        if name in language.own:
            holder = place
            while holder >= 0 and facts.kinds[holder] not in HOLDERS:
                if facts.owners[holder]:
                    return place
                holder = parents[holder]
            if holder >= 0:
                return holder
        scopes = facts.scopes.get(name)
        if scopes is None:
            return -1
        while place >= 0 and place not in scopes:
            place = parents[place]
        return place

    def _name(self, file: int, place: int, name: str, depth: int, callee: bool) -> Values:
        facts = self._look.tables.facts(file)
        language = self._languages.get(facts.head.language) or self._language(facts.head.language)
        if language.name == "rust" and name in _RUST_MODULES:
            return self.rust_module(file, place, name)
        if name in language.own:
            found = self.own_object(file, place, name)
            if found:
                return found
        bare = name.lstrip("$@:")
        if bare == language.maker:
            return tuple(v._replace(kind=CLASS) for v in self.own_object(file, place, "self"))
        absolute = name.startswith("::")
        if not absolute and place >= 0:
            around = self._around(file, place, facts, name, bare, language, depth, callee)
            if around is not None:
                return around
        if not language.spelled or not bare[:1].isupper():
            plain = language.plain_self and name == "self"
            return self.outside(file, bare, depth) or (self.own_object(file, place, name) if plain else ())
        if self._look.binding(file, bare) is None or absolute:
            declared = spelled(self._look, file, place, f"::{bare}" if absolute else bare)
            if declared is not None:
                return (value_of(declared, PACKAGE),)
        return self.outside(file, bare, depth) or (Value(EXTERNAL, None, IMPORT, files=(file,), text=bare),)

    def _around(
        self, file: int, place: int, facts: FileFacts, name: str, bare: str, language: _Language, depth: int,
        callee: bool,
    ) -> Values | None:  # fmt: skip
        """What the scopes around have under a name, the innermost first; None if none of them has it."""
        everywhere = language.implicit_self or file != self._look.own
        known = facts.scopes.get(bare, _NO_SCOPES) if not everywhere else _NO_SCOPES
        if not everywhere and not known:
            return None
        hidden = (callee and language.separate) or (name != bare and name[0] == "@")
        scope = place
        while scope >= 0:
            if everywhere or scope in known:
                kind = facts.kinds[scope]
                if kind in FUNCTION_KINDS and not hidden:
                    rows = self._look.typed(file, scope, bare)
                    if rows:
                        found = self._all.types.rows(file, rows, depth)
                        return tuple([v._replace(step=VALUE) if v.kind in (FUNCTION, CLASS) else v for v in found])
                inside = self._in_scope(file, scope, kind, bare, language, depth)
                if not inside and language.implicit_self and facts.owners[scope]:
                    own = [value.at for value in self.own_object(file, scope, "self")]
                    member = self._all.members.member
                    inside = tuple(v._replace(step=SELF) for at in own if at for v in member(at, bare, depth - 1))
                if inside:
                    return inside
            scope = facts.parents[scope]
        return None

    def _in_scope(
        self, file: int, scope: int, kind: str, name: str, language: _Language, depth: int
    ) -> Values:  # fmt: skip
        """What the definition around has under a name that is not bound in it as a local."""
        if kind in TYPE_KINDS:
            if not language.implicit_self:
                return ()
            owner = self._look.definition(file, scope)
            members = self._all.members.of_type(Value(CLASS, owner, SELF), name, depth - 1)
            return tuple(v if v.kind == INSTANCE else v._replace(step=SELF) for v in members)
        found = self._look.inside(file, scope, name)
        if found is not None and (kind in FUNCTION_KINDS or kind in ("namespace", "module")):
            return (value_of(found, SCOPE),)
        if kind in ("namespace", "module"):
            return self._all.types.rows(file, self._look.typed(file, scope, name), depth)
        return ()

    def rust_module(self, file: int, place: int, name: str) -> Values:
        """The module that `crate` or `super` means; in a module inside a file, `super` is the file's own."""
        if name not in _RUST_MODULES or self._look.files.heads[file].language != "rust":
            return ()
        facts = self._look.tables.facts(file)
        while place >= 0 and facts.kinds[place] != "module":
            place = facts.parents[place]
        crates = self._import.crates
        found = crates.root(file) if name == "crate" else file if place >= 0 else crates.parent(file)
        return (Value(MODULE, None, IMPORT, files=(found,)),) if found >= 0 else ()

    def own_object(self, file: int, place: int, name: str) -> Values:
        """The object around a place; as its bases see it, if `name` says so."""
        facts = self._look.tables.facts(file)
        kind = BASES if name in language_rules.SUPERS else INSTANCE
        while place >= 0 and facts.kinds[place] not in HOLDERS:
            owner = facts.owners[place]
            if owner:
                found = self._look.near_type(file, owner) or self._look.only_type(facts.head.family, owner)
                if found is not None:
                    return (Value(kind, found, SELF),)
            place = facts.parents[place]
        return (Value(kind, self._look.definition(file, place), SELF),) if place >= 0 else ()

    # --- the file and what it sees --------------------------------------------------------------------------------

    def outside(self, file: int, name: str, depth: int) -> Values:
        """What a name means outside all definitions of a file."""
        found = self.in_module(file, name, depth)
        if found:
            return found
        head = self._look.files.heads[file]
        if head.language in language_rules.FOLDER_SCOPE:
            beside = [
                found for found in self._look.in_folder(head.family, head.folder, name)
                if head.test or not self._look.files.heads[found.file].test
            ]  # fmt: skip
            if beside and not is_own(beside[0], head.family):
                return self._all.types.rows(beside[0].file, self._look.typed(beside[0].file, -1, name), depth)
            if beside:
                return tuple(value_of(found, PACKAGE) for found in beside)
        if head.language in language_rules.PROGRAM_TYPES:
            only = self._look.only_type(head.family, name)
            if only is not None and not (only.around in TYPE_KINDS and head.language in language_rules.NESTED_HIDDEN):
                return (value_of(only, PACKAGE),)
        if head.language in language_rules.FILE_MODULES and name[:1].isupper():
            return self.imported(file, Import(name, "", "", 0), name, depth)
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
        key = (file, name, depth, outside)
        known = self._memo_modules.get(key)
        if known is None:
            known = self._memo_modules[key] = self._in_module(file, name, depth, outside)
        return known

    def _in_module(self, file: int, name: str, depth: int, outside: bool) -> Values:
        rows = self._all.types.rows
        found = self._look.top(file, name)
        if found is not None and not is_own(found, self._look.files.families[file]):
            return rows(file, self._look.typed(file, -1, name), depth)
        if found is not None:
            rust = found.kind == "module" and self._look.files.heads[file].language == "rust"
            inner = self._import.crates.child(file, name) if rust else -1
            return (value_of(found, SCOPE) if inner < 0 else Value(MODULE, None, SCOPE, files=(inner,)),)
        typed = self._look.typed(file, -1, name)
        own = not outside or self._look.files.heads[file].language not in language_rules.PRIVATE_IMPORTS
        item = self._look.binding(file, name) if own else None
        if item is not None:
            return self.imported(file, item, name, depth)
        if typed or not own:
            return rows(file, typed, depth)
        for star in self._look.stars(file):
            for target in self._import.targets(file, star):
                if target != file:
                    values = self.in_module(target, name, depth - 1, outside=True)
                    values = values or self._static(target, star, name, depth - 1)
                    if values:
                        return with_step(values, IMPORT)
        return ()

    def imported(self, file: int, item: Import, name: str, depth: int) -> Values:
        """What an import binds a name to, through any re-exports."""
        targets = self._import.targets(file, item)
        original = "" if item.name == "*" else item.name
        language = self._look.files.heads[file].language
        if language in language_rules.SPELLED and item.name != "*":
            full = ".".join(filter(None, (item.module, original))).replace("\\", ".").replace("::", ".").strip(".")
            declared = spelled(self._look, file, -1, f"::{full}")
            if declared is not None:
                return (value_of(declared, IMPORT),)
        if language in language_rules.MODULE_VALUES:
            values = self._module_value(targets, original, language_rules.MODULE_VALUES[language], depth)
            if values:
                return values
        if not targets:
            return self._unresolved(file, item, original, name)
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
                    return with_step(values, IMPORT)
        return (Value(MODULE, None, IMPORT, files=targets),)

    def _unresolved(self, file: int, item: Import, original: str, name: str) -> Values:
        """What an import means that no file is known for: a declared name all the same, or something from outside."""
        language = self._look.files.heads[file].language
        if original and language in language_rules.QUALIFIED:
            for target in self._look.declaring(self._look.files.families[file], item.module):
                found = self._look.top(target, original)
                if found is not None:
                    return (value_of(found, IMPORT),)
        dotted = ".".join(filter(None, (item.module, original))) if original or item.alias else item.module
        if not original and not item.alias and language == "python":
            dotted = item.module.partition(".")[0]
        return (Value(EXTERNAL, None, IMPORT, text=dotted or name),)

    def _static(self, file: int, item: Import, name: str, depth: int) -> Values:
        """A member of the type that an import names as its module."""
        holder = re.split(r"::|[.\\]", item.module)[-1]
        if holder == name or self._look.files.heads[file].language not in language_rules.STATIC_IMPORTS:
            return ()
        owners = self.in_module(file, holder, depth, outside=True)
        return distinct(v for o in owners if o.at for v in self._all.members.attribute(o, name, depth))

    def _module_value(self, files: tuple[int, ...], member: str, name: str, depth: int) -> Values:
        """What a module is that hands out one value, or what that has as a member."""
        found: list[Value] = []
        for file in files:
            for value in self._all.types.rows(file, self._look.typed(file, -1, name), depth - 1):
                found.extend(self._all.members.attribute(value, member, depth - 1) if member else (value,))
        return with_step(distinct(found), IMPORT)

    def _default(self, file: int, name: str, depth: int) -> Values:
        """JavaScript's default export."""
        if name != "default":
            return ()
        return self._all.types.rows(file, self._look.typed(file, -1, "default"), depth)
