"""Names to definitions: which file an import means, which symbol a call means. Conservative: no edge beats a wrong one.

The steps of a call, first match wins: the object's own type (self, this) and its bases; the scopes around the call;
names the file imports; a receiver that names an imported module or a known type; the same package; a name that only
one definition in the repository has. docs/architecture.md says what this first form leaves out.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from lci_py.source.languages import load_languages
from lci_py.types import FUNCTION_KINDS, TYPE_KINDS

if TYPE_CHECKING:
    from lci_py.index.rows import Rows
    from lci_py.types import Call, Import

_INDEX_NAMES = frozenset({"__init__", "index", "mod", "lib", "main", "init"})
_PREFIXES = frozenset({"crate", "self", "super", "$lib", "@", "~"})
#: In these languages a file sees its folder's (or package's) definitions without an import.
_FOLDER_SCOPE = frozenset({"go", "java", "kotlin", "scala", "csharp", "swift", "php"})
#: One name space: a TypeScript file may call what a JavaScript file defines.
_FAMILY = {"tsx": "javascript", "typescript": "javascript", "cpp": "c", "scala": "java", "kotlin": "java"}
_CALLABLE = FUNCTION_KINDS | TYPE_KINDS
#: A bare name reaches a function anywhere in the program (linked, sourced, one module), import or not.
_PROGRAM_SCOPE = frozenset({"c", "cpp", "bash", "swift", "csharp", "ruby", "php"})
#: An import names a declaration, not a path.
_BY_NAME = frozenset({"java", "php", "csharp", "elixir", "haskell"})
#: What holds names that a bare name inside it reaches, in every language.
_LEXICAL = FUNCTION_KINDS | {"namespace", "module"}
#: A bare name reaches the methods of the object around it.
_IMPLICIT_SELF = frozenset({"java", "kotlin", "scala", "csharp", "swift", "ruby", "cpp"})
#: A file or table of functions is an object here: `list.append(x)` may be a function.
_MODULE_OBJECTS = frozenset({"zig", "lua", "elixir", "haskell", "bash"})
#: A name called on unknown receivers in more places than this is a name of the standard library: append, encode.
_COMMON_CALLS = 12
_MAX_PACKAGE_FILES = 16


def family(language: str) -> str:
    """Languages that call each other directly share a family."""
    return _FAMILY.get(language, language)


class ImportResolver:
    """Module strings to file numbers, by the paths in the repository."""

    def __init__(self, rows: Rows) -> None:
        self.paths = [record.path for record in rows.records]
        self.families = [family(record.extract.language) for record in rows.records]
        self.by_last: dict[str, list[tuple[tuple[str, ...], int]]] = defaultdict(list)
        self.by_path = {path: file for file, path in enumerate(self.paths)}
        self.folders: dict[str, list[int]] = defaultdict(list)
        self.folders_by_name: dict[str, list[str]] = defaultdict(list)
        for file, path in enumerate(self.paths):
            stem, _, _ = path.rpartition(".")
            segments = tuple((stem or path).split("/"))
            self.folders[posixpath.dirname(path)].append(file)
            self.by_last[segments[-1]].append((segments, file))
            if segments[-1] in _INDEX_NAMES and len(segments) > 1:
                self.by_last[segments[-2]].append((segments[:-1], file))
        for folder in self.folders:
            self.folders_by_name[posixpath.basename(folder)].append(folder)
        self.definers = self._definers(rows)
        self._cache: dict[tuple[str, str, str], tuple[int, ...]] = {}

    def _definers(self, rows: Rows) -> dict[tuple[str, str], list[int]]:
        """(family, qualified name of a type or module, or a declared package) to the files that declare it."""
        found: dict[tuple[str, str], list[int]] = defaultdict(list)
        for file, record in enumerate(rows.records):
            if self.families[file] not in _BY_NAME:
                continue
            names = [s.qualified_name for s in record.extract.symbols if s.kind in TYPE_KINDS | {"module", "namespace"}]
            for name in dict.fromkeys([*names, *([record.extract.package] if record.extract.package else [])]):
                found[self.families[file], name].append(file)
        return found

    def targets(self, file: int, item: Import) -> tuple[int, ...]:
        """Files that an import means: one, several for a Go package, none for what is not in the repository."""
        key = (posixpath.dirname(self.paths[file]) + "|" + self.families[file], item.module, item.name)
        found = self._cache.get(key)
        if found is None:
            found = self._cache[key] = self._find(file, item)
        return found

    def _find(self, file: int, item: Import) -> tuple[int, ...]:
        module = item.module
        folder = posixpath.dirname(self.paths[file])
        own = self.families[file]
        if own == "go":
            return self._go_package(tuple(module.split("/")))  # an import is a folder, never a file
        if own == "javascript" and re.fullmatch(r"(?:node:)?[\w-]+", module):
            return ()  # a bare name is an installed package, whatever a file here is called
        if own == "rust" and module.partition("::")[0] in ("std", "core", "alloc"):
            return ()
        if own == "c":
            return self._include(folder, module)
        if own in _BY_NAME:
            return self._declared(file, item)
        beside = posixpath.normpath(posixpath.join(folder, module))
        for path in (beside, f"{beside}.rb", module):  # require_relative, source, a path from the root
            if path in self.by_path:
                return (self.by_path[path],)
        dots = len(module) - len(module.lstrip("."))
        if dots and not module.startswith(("./", "../")):  # Python's relative imports
            base = folder
            for _ in range(dots - 1):
                base = posixpath.dirname(base)
            rest = module[dots:].replace(".", "/")
            return self._relative(posixpath.join(base, rest) if rest else base, item.name)
        if module.startswith("."):
            return self._relative(posixpath.normpath(posixpath.join(folder, module)), item.name)
        if (not re.search(r"\.|::|\\", module) and "/" in module) or (
            re.search(r"\.\w{1,4}$", module) and "/" in module
        ):
            module = re.sub(r"\.\w{1,4}$", "", module)
            segments = tuple(part for part in module.split("/") if part not in _PREFIXES)
        else:
            segments = tuple(part for part in re.split(r"::|[./\\]", module) if part and part not in _PREFIXES)
            if len(segments) > 1 and segments[-1] in ("h", "hpp", "hh", "rb", "js", "ts", "sh", "lua", "zig"):
                segments = segments[:-1]
        name = re.split(r"::|[./\\]", item.name)[0] if item.name and item.name != "*" else ""
        # Rust's last part may be an item inside a module's file; elsewhere a shorter path is another module.
        choices = ((*segments, name) if name else segments, segments, segments[:-1] if own == "rust" else ())
        for wanted in choices:
            found = self._by_suffix(file, wanted) if wanted else ()
            if found:
                return found
        return ()

    def _declared(self, file: int, item: Import) -> tuple[int, ...]:
        """What is imported by its qualified name: the files that declare it, whatever their paths."""
        module, name = (re.sub(r"::|[\\/]", ".", text).strip(".") for text in (item.module, item.name))
        wanted = [f"{module}.{name}", module] if name and name != "*" else [module]
        for dotted in wanted:
            files = [f for f in self.definers.get((self.families[file], dotted), ()) if f != file]
            # A name that a package does not declare as a type says nothing about which of its files is meant.
            if files and (dotted != module or len(files) == 1 or name in ("", "*")):
                return tuple(files[:_MAX_PACKAGE_FILES])
        return ()

    def _include(self, folder: str, header: str) -> tuple[int, ...]:
        """A header beside the file, else the one file whose path ends in the whole of what is included."""
        beside = posixpath.normpath(posixpath.join(folder, header))
        if beside in self.by_path:
            return (self.by_path[beside],)
        stem = header.rpartition(".")[0] or header
        matches = [
            file
            for _, file in self.by_last.get(stem.rpartition("/")[2], ())
            if self.paths[file] == header or self.paths[file].endswith("/" + header)
        ]
        return (matches[0],) if len(set(matches)) == 1 else ()

    def _relative(self, path: str, name: str) -> tuple[int, ...]:
        wanted = tuple(part for part in path.split("/") if part)
        for segments in ((*wanted, name), wanted, ((*wanted[:-1], wanted[-1].rpartition(".")[0]) if wanted else ())):
            if segments and segments[-1]:
                for candidate, file in self.by_last.get(segments[-1], ()):
                    if candidate == segments:
                        return (file,)
        return ()

    def _by_suffix(self, file: int, wanted: tuple[str, ...]) -> tuple[int, ...]:
        best: tuple[int, int, int] | None = None
        own = self.paths[file].split("/")
        for segments, target in self.by_last.get(wanted[-1], ()):
            if target == file or self.families[target] != self.families[file]:
                continue
            size = min(len(segments), len(wanted))
            # The whole module path, or the whole file path when the root lies inside the package.
            if segments[-size:] != wanted[-size:] or (size < len(wanted) and size < 2):
                continue
            if self.families[file] == "python" and size == len(wanted):
                # An absolute import names the whole way down from outside every package: `import subprocess` does
                # not mean asyncio/subprocess.py.
                above = posixpath.join("/".join(segments[:-size]), "__init__.py")
                if above in self.by_path:
                    continue
            near = next((i for i, (a, b) in enumerate(zip(own, segments, strict=False)) if a != b), len(own))
            rank = (-size, -near, target)
            if best is None or rank < best:
                best = rank
        return (best[2],) if best else ()

    def _go_package(self, wanted: tuple[str, ...]) -> tuple[int, ...]:
        """Files of a Go package: the import path, without its module's part if that is a host's name."""
        # `net/http` is the standard library's, wherever a folder `http` may be; `example.org/m/http` may be ours.
        cuts = range(len(wanted)) if "." in wanted[0] else range(1)
        for cut in cuts:
            files = self.folders.get("/".join(wanted[cut:]), ())
            found = tuple(f for f in files if self.families[f] == "go" and not self.paths[f].endswith("_test.go"))
            if found:
                return found[:_MAX_PACKAGE_FILES]
        return ()


class CallResolver:
    """Calls to symbol numbers."""

    def __init__(self, rows: Rows, import_targets: list[list[tuple[int, ...]]]) -> None:
        self.rows = rows
        symbols = rows.symbols
        self.members: dict[int, dict[str, int]] = defaultdict(dict)  # type or scope symbol -> name -> symbol
        self.top: list[dict[str, int]] = [{} for _ in rows.records]  # file -> top-level name -> symbol
        self.folder: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        self.named: dict[tuple[str, str], list[int]] = defaultdict(list)  # (family, name) -> callables
        self.types: dict[tuple[str, str], list[int]] = defaultdict(list)
        self.bases: dict[int, list[str]] = defaultdict(list)
        self.selfs = {name: set(spec.self_names) for name, spec in load_languages().items()}
        families = [family(record.extract.language) for record in rows.records]
        self.families = families
        self.folders = [posixpath.dirname(record.path) for record in rows.records]
        for number, symbol in enumerate(symbols):
            file = rows.symbol_file[number]
            parent = rows.symbol_parent[number]
            if symbol.kind not in _CALLABLE:
                continue
            if parent >= 0:
                self.members[parent].setdefault(symbol.name, number)
            if symbol.kind not in ("method", "constructor") and (
                parent < 0 or symbols[parent].kind in ("namespace", "module")
            ):
                self.top[file].setdefault(symbol.name, number)
                self.folder[families[file], self.folders[file]].setdefault(symbol.name, number)
            if parent < 0 or symbols[parent].kind not in FUNCTION_KINDS:  # others do not see what is local
                self.named[families[file], symbol.name].append(number)
            if symbol.kind in TYPE_KINDS:
                self.types[families[file], symbol.name].append(number)
        self._adopt()
        self.imported_files = [{target for found in targets for target in found} for targets in import_targets]
        self.sites = Counter(
            (families[file], call.name)
            for file, record in enumerate(rows.records)
            for call in record.extract.calls
            if call.receiver
        )
        for file, record in enumerate(rows.records):
            base = rows.first_symbol[file]
            for item in record.extract.bases:
                self.bases[base + item.symbol].append(item.name)
        self.imported: list[dict[str, tuple[tuple[int, ...], str]]] = [
            _imported_names(record.extract.imports, import_targets[file]) for file, record in enumerate(rows.records)
        ]

    def _adopt(self) -> None:
        """Give methods that stand in another file than their type (Go, Swift extensions) to it, within one folder."""
        rows = self.rows
        for number, symbol in enumerate(rows.symbols):
            if symbol.kind != "method" or rows.symbol_parent[number] >= 0 or not symbol.scope:
                continue
            file = rows.symbol_file[number]
            owners = self.types.get((self.families[file], symbol.scope.rpartition(".")[2]), [])
            near = [o for o in owners if self.folders[rows.symbol_file[o]] == self.folders[file]]
            if len(near) == 1:
                self.members[near[0]].setdefault(symbol.name, number)

    def resolve(self, file: int, call: Call) -> int:
        """The symbol that a call means, -1 if it is external or not certain."""
        base = self.rows.first_symbol[file]
        caller = base + call.caller if call.caller >= 0 else -1
        language = self.rows.records[file].extract.language
        receiver = call.receiver
        if not receiver:
            return self._bare(file, caller, call.name, language)
        if receiver in self.selfs.get(language, ()):
            owner = self._type_around(caller)
            found = self._member(owner, call.name) if owner >= 0 else -1
            return found if found >= 0 else self._unique(file, call.name, methods=True)
        last = re.split(r"::|->|[.\\]", receiver)[-1]
        found = self._imported(file, last, call.name)
        first = re.split(r"::|->|[.\\]", receiver)[0]
        if found >= 0 or last in self.imported[file] or first in self.imported[file]:
            return found  # what an import binds is that, inside the repository or not
        owner = self._type_named(file, last)
        if owner >= 0:
            return self._member(owner, call.name)
        found = self._unique(file, call.name, methods=True)
        # What is called on an object is a member of it, save where files or tables are the objects.
        free = found >= 0 and self.rows.symbols[found].kind == "function"
        return -1 if free and language not in _MODULE_OBJECTS else found

    def _bare(self, file: int, caller: int, name: str, language: str) -> int:
        scope = caller
        rows = self.rows
        while scope >= 0:
            found = self.members[scope].get(name, -1) if scope in self.members else -1
            # A bare name does not reach a method in languages that demand self.
            if found >= 0 and (rows.symbols[scope].kind in _LEXICAL or language in _IMPLICIT_SELF):
                return found
            scope = rows.symbol_parent[scope]
        found = self.top[file].get(name, -1)
        if found >= 0:
            return found
        if name in self.imported[file]:
            targets, original = self.imported[file][name]
            for target in targets:
                found = self.top[target].get(original or name, -1)
                if found >= 0:
                    return found
            if not targets:
                return -1  # imported from outside the repository
        if language in _FOLDER_SCOPE:
            found = self.folder[self.families[file], self.folders[file]].get(name, -1)
            if found >= 0:
                return found
        return self._unique(file, name, methods=language in _IMPLICIT_SELF, anywhere=language in _PROGRAM_SCOPE)

    def _type_around(self, symbol: int) -> int:
        while symbol >= 0 and self.rows.symbols[symbol].kind not in TYPE_KINDS:
            symbol = self.rows.symbol_parent[symbol]
        return symbol

    def _member(self, owner: int, name: str) -> int:
        """A member of a type or, failing that, of its bases, depth first; -1 if there is none."""
        seen = set()  # a lattice of bases has more paths through it than there is time
        pending = [owner]
        while pending:
            current = pending.pop()
            if current in seen:
                continue
            seen.add(current)
            found = self.members[current].get(name, -1) if current in self.members else -1
            if found >= 0:
                return found
            file = self.rows.symbol_file[current]
            for base in reversed(self.bases.get(current, [])):
                parent = self._type_named(file, base.rpartition(".")[2])
                if parent >= 0:
                    pending.append(parent)
        return -1

    def _type_named(self, file: int, name: str) -> int:
        found = self.top[file].get(name, -1)
        if found >= 0 and self.rows.symbols[found].kind in TYPE_KINDS:
            return found
        if name in self.imported[file]:
            targets, original = self.imported[file][name]
            for target in targets:
                found = self.top[target].get(original or name, -1)
                if found >= 0 and self.rows.symbols[found].kind in TYPE_KINDS:
                    return found
        candidates = self.types.get((self.families[file], name), [])
        return candidates[0] if len(candidates) == 1 else -1

    def _imported(self, file: int, receiver: str, name: str) -> int:
        entry = self.imported[file].get(receiver)
        if entry is None:
            return -1
        targets, original = entry
        for target in targets:
            found = self.top[target].get(name, -1)
            if found >= 0:
                return found
            if original:
                owner = self.top[target].get(original, -1)
                if owner >= 0 and self.rows.symbols[owner].kind in TYPE_KINDS:
                    return self._member(owner, name)
        return -1

    def _unique(self, file: int, name: str, *, methods: bool, anywhere: bool = False) -> int:
        """The only definition of a name, if something speaks for it besides: it is near, or imported, or the language
        has one name space for the program. Code does not call tests."""
        found = self.named.get((self.families[file], name), [])
        if len(found) != 1:
            return -1
        target = self.rows.symbol_file[found[0]]
        is_method = self.rows.symbols[found[0]].kind in ("method", "constructor")
        if (is_method and not methods) or (self.rows.tests[target] and not self.rows.tests[file]):
            return -1
        if is_method and self.sites[self.families[file], name] > _COMMON_CALLS:
            return -1
        near = self.folders[file] == self.folders[target] or target in self.imported_files[file]
        return found[0] if near or (anywhere and not is_method) else -1

    def resolve_base(self, symbol: int, name: str) -> int:
        """The type that a base name means, -1 if unknown."""
        found = self._type_named(self.rows.symbol_file[symbol], name.rpartition(".")[2])
        return found if found != symbol else -1


def _imported_names(
    imports: tuple[Import, ...], targets: list[tuple[int, ...]]
) -> dict[str, tuple[tuple[int, ...], str]]:
    """What an import binds: local name -> (target files, the name there or "" for the module itself)."""
    names: dict[str, tuple[tuple[int, ...], str]] = {}
    for item, files in zip(imports, targets, strict=True):
        if item.name and item.name != "*":
            local = item.alias or re.split(r"::|[./\\]", item.name)[-1]
            names.setdefault(local, (files, item.name))
        else:
            last = re.split(r"::|[./\\]", re.sub(r"\.(?:h|js|ts|zig|lua)$", "", item.module))[-1]
            names.setdefault(item.alias or last, (files, ""))
    return names
