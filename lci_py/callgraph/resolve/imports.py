"""Resolves imports: finds the files of the repository that an import means."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from posixpath import splitext

from lci_py.callgraph import language_rules
from lci_py.callgraph.language_rules import lists_star_names
from lci_py.callgraph.lookup_tables import INDEX_NAMES, Definition, shared_folders
from lci_py.callgraph.lookups import MOST_PACKAGE_FILES, LookUps, Shared
from lci_py.callgraph.resolve.npm_packages import NpmPackages
from lci_py.callgraph.resolve.rust_paths import STANDARD, Crates
from lci_py.source.text.language_tables import has_rule, words_of
from lci_py.types.source import Import

_PREFIXES = frozenset({"crate", "self", "super", "$lib", "@", "~"})
#: Rules of families whose imports mean the same in all files of a folder; a file may even import itself.
_BY_FOLDER = ("includes", "packages")
#: A computed folder before the path of a script: `$ROOT/`, `"${X%/*}"/`, `$(dirname "$0")/`.
_SHELL_FOLDER = re.compile(r"^.*[$`\")}][^/]*/")
_HOLDER = re.compile(r"::|[.\\]")
_SEPARATOR = re.compile(r"::|[\\/]")


def holder_of(item: Import) -> str:
    """The last part of an import's module. If the import names a type as its module, this is the type's name."""
    return _HOLDER.split(item.module)[-1]


def submodule_paths(path: str, name: str) -> tuple[str, ...]:
    """The possible paths of a module inside a package or folder, the preferred path first. `path` is the main file."""
    stem, _, suffix = path.rpartition(".")
    folder = posixpath.dirname(path) if stem.rpartition("/")[2] in INDEX_NAMES else stem
    inside = (f"{name}.{suffix}", f"{name}/__init__.{suffix}", f"{name}/mod.{suffix}")
    return tuple(f"{folder}/{rest}".lstrip("/") for rest in inside)


class ImportResolver:
    """Resolves imports by the paths and declared names in the repository."""

    def __init__(self, look_ups: LookUps) -> None:
        self._look = look_ups
        self._heads = look_ups.files.heads
        self._families = look_ups.files.families
        self._folders = look_ups.files.folders
        self.crates = Crates(look_ups)
        self._npm = NpmPackages(look_ups)
        self._memo: dict[tuple[object, ...], Shared[tuple[int, ...]]] = {}

    def targets(self, file: int, item: Import) -> tuple[int, ...]:
        """The files that an import means: one, several for a package, none if the import is external."""
        own = self._families[file]
        origin = file if words_of(own, "call_rules").isdisjoint(_BY_FOLDER) else self._folders[file]
        return self._look.shared(self._memo, (own, origin, item.module, item.name), self._find, file, item)

    def star_package(self, file: int, star: Import) -> str:
        """The package or namespace of a star import, if `LookUps.offering` can list its names; else ""."""
        package = _dotted_name(star.module)
        if not lists_star_names(self._families[file]) or star.name not in ("", "*"):
            return ""
        return package if package.rpartition(".")[2] == holder_of(star) else ""

    def is_named(self, definition: Definition, name: str) -> bool:
        """Whether the linked file can use a definition by its bare name: it is imported, or in the same package."""
        own, self._look.depends_on_asker = self._look.asker, True
        imported = self._look.binding(own, name) is not None or bool(self._look.stars(own))
        return imported or self._heads[definition.file].package == self._heads[own].package

    def submodule(self, file: int, name: str) -> tuple[int, ...]:
        """The file of a module inside a package or folder. The package is given as its `__init__` or index file."""
        for path in submodule_paths(self._heads[file].path, name):
            target = self._look.at(path)
            if target >= 0:
                return (target,)
        return ()

    def holders(self, file: int, item: Import, targets: tuple[int, ...]) -> tuple[int, ...]:
        """The files in which an imported name is looked up first.

        If the name may be a module's name, these are the files of the enclosing module: in Rust a function or type may
        share a module's name, and in Python a name bound in `__init__.py` hides the submodule.

        Args:
            file: The importing file.
            targets: The files that the import means.
        """
        language = self._heads[file].language
        if not item.name or item.name == "*" or not has_rule(language, "item_imports"):
            return targets
        if has_rule(language, "python_modules") and not (
            len(targets) == 1 and self._may_be_named(targets[0], item.name)
        ):
            return targets
        enclosing = self.targets(file, Import(item.module, "", "", 0))
        if has_rule(language, "crates"):
            return enclosing or targets
        return targets if enclosing == targets else enclosing

    def _may_be_named(self, file: int, name: str) -> bool:
        """Whether a Python file may be the module `name`: its path ends in `name.py` or `name/__init__.py`."""
        stem = splitext(self._heads[file].path)[0].removesuffix("/__init__")
        return stem.rpartition("/")[2] == name

    def _find(self, file: int, item: Import) -> tuple[int, ...]:
        module = item.module
        folder = self._folders[file]
        own = self._families[file]
        rules = words_of(own, "call_rules")
        if "packages" in rules:
            return self._go_package(file, tuple(module.split("/")))  # an import names a folder, never a file
        if "npm_packages" in rules and module[:1] not in (".", "/"):
            target = self._npm.find(file, module)
            if target >= 0:
                return (target,)
            if re.fullmatch(r"(?:node:)?[\w-]+", module):
                return ()  # a bare name is an installed package, even if a file here has that name
        if "crates" in rules:
            segments = [part for part in module.split("::") if part]
            crate_file = self.crates.find(file, [*segments, *([item.name] if item.name not in ("", "*") else [])])
            if crate_file >= 0 or (segments and segments[0] in (*STANDARD, "crate", "self", "super")):
                return (crate_file,) if crate_file >= 0 else ()
        if "includes" in rules:
            return self._include(folder, module)
        if "declared_imports" in rules:
            return self._declaring_files(file, item)
        if "file_modules" in rules:  # A.B is a/b.ml, or a module in a.ml
            parts = [part[:1].lower() + part[1:] for part in f"{module}.{item.name}".rstrip(".*").split(".")]
            return self._by_suffix(file, tuple(parts)) or self._by_suffix(file, tuple(parts[: module.count(".") + 1]))
        if "script_folders" in rules:
            module = _SHELL_FOLDER.sub("", module)
        beside = posixpath.normpath(posixpath.join(folder, module))
        for path in (beside, f"{beside}.rb", module):  # require_relative, source, a path from the root
            target = self._look.at(path)
            if target >= 0:
                return (target,)
        if "npm_packages" in rules and module[:1] == ".":
            path = "" if beside == "." else beside
            entry = self._npm.entry_of(path)
            if entry >= 0 and module.rstrip("/").rpartition("/")[2] in (".", ".."):
                return (entry,)  # `require('..')` names a folder, and no file beside it
            return self._relative(own, path, item.name) or ((entry,) if entry >= 0 else ())
        dots = len(module) - len(module.lstrip("."))
        if dots and not module.startswith(("./", "../")):  # Python's relative imports
            base = folder
            for _ in range(dots - 1):
                base = posixpath.dirname(base)
            rest = module[dots:].replace(".", "/")
            return self._relative(own, posixpath.join(base, rest) if rest else base, item.name)
        if module.startswith("."):
            return self._relative(own, posixpath.normpath(posixpath.join(folder, module)), item.name)
        return self._by_segments(file, module, item.name)

    def _by_segments(self, file: int, module: str, imported: str) -> tuple[int, ...]:
        if (not re.search(r"\.|::|\\", module) and "/" in module) or (
            re.search(r"\.\w{1,4}$", module) and "/" in module
        ):
            module = re.sub(r"\.\w{1,4}$", "", module)
            segments = tuple(part for part in module.split("/") if part not in _PREFIXES)
        else:
            segments = tuple(part for part in re.split(r"::|[./\\]", module) if part and part not in _PREFIXES)
            if len(segments) > 1 and segments[-1] in ("h", "hpp", "hh", "rb", "js", "ts", "sh", "lua", "zig"):
                segments = segments[:-1]
        name = re.split(r"::|[./\\]", imported)[0] if imported and imported != "*" else ""
        # In Rust the last part may be an item in a module's file; elsewhere a shorter path is another module.
        shorter = segments[:-1] if has_rule(self._families[file], "crates") else ()
        for path in ((*segments, name) if name else segments, segments, shorter):
            files = self._by_suffix(file, path) if path else ()
            if files:
                return files
        return ()

    def _declaring_files(self, file: int, item: Import) -> tuple[int, ...]:
        """The files that declare an import's qualified name, whatever their paths."""
        module, name = _dotted_name(item.module), _dotted_name(item.name)
        candidates = [f"{module}.{name}", module] if name and name != "*" else [module]
        for dotted in candidates:
            files = [f for f in self._look.declaring(self._families[file], dotted) if f != file]
            # If the package declares no type of that name, nothing says which of its files is meant.
            if files and (dotted != module or len(files) == 1 or name in ("", "*")):
                if len(files) > 1 and dotted != module:  # copies of a type, or its parts
                    own = self._heads[file].path.split("/")
                    files.sort(key=lambda f: -shared_folders(own, self._heads[f].path.split("/")))
                return tuple(files[:MOST_PACKAGE_FILES])
        return ()

    def _include(self, folder: str, header: str) -> tuple[int, ...]:
        """The file of an included header: relative to the folder, or else the only file whose path ends in `header`."""
        beside = self._look.at(posixpath.normpath(posixpath.join(folder, header)))
        if beside >= 0:
            return (beside,)
        stem = header.rpartition(".")[0] or header
        # A library's own header of such a name is not seen elsewhere, unless the repository is the C library.
        suffix = f"/include/{header}" if header in language_rules.STANDARD_HEADERS else f"/{header}"
        matches = {
            file
            for _, file in self._look.ending_in(stem.rpartition("/")[2])
            if self._heads[file].path == header or self._heads[file].path.endswith(suffix)
        }
        return tuple(matches) if len(matches) == 1 else ()

    def _relative(self, own: str, path: str, name: str) -> tuple[int, ...]:
        parts = tuple(part for part in path.split("/") if part)
        for segments in ((*parts, name), parts, ((*parts[:-1], parts[-1].rpartition(".")[0]) if parts else ())):
            if segments and segments[-1]:
                files = [f for candidate, f in self._look.ending_in(segments[-1]) if candidate == segments]
                if files:  # `./button` is button.ts before button.css
                    return (next((f for f in files if self._families[f] == own), files[0]),)
        return ()

    def _by_suffix(self, file: int, parts: tuple[str, ...]) -> tuple[int, ...]:
        best: tuple[int, int, int] | None = None
        own = self._heads[file].path.split("/")
        folder, beside = tuple(own[:-1]), -1
        for segments, target in self._look.ending_in(parts[-1]):
            if target == file or self._families[target] != self._families[file]:
                continue
            size = min(len(segments), len(parts))
            # The whole module path, or the whole file path when the root lies inside the package.
            if segments[-size:] != parts[-size:] or (size < len(parts) and size < 2):
                continue
            # An absolute import in Python names the whole path from the outermost package: `import subprocess` does not
            # mean asyncio/subprocess.py.
            whole = has_rule(self._families[file], "python_modules") and size == len(parts)
            if whole and self._look.at(posixpath.join("/".join(segments[:-size]), "__init__.py")) >= 0:
                beside = beside if segments[:-size] != folder else target
                continue
            rank = (-size, -shared_folders(own, segments), target)
            if best is None or rank < best:
                best = rank
        if beside >= 0 and parts[0] not in language_rules.STANDARD_MODULES and self._look.is_alone(file):
            return (beside,)  # the folder of a script comes first in `sys.path`, even if it is a package
        return (best[2],) if best else ()

    def _go_package(self, file: int, parts: tuple[str, ...]) -> tuple[int, ...]:
        """The files of a Go package: in the module whose path begins the import's path, if a go.mod declares one."""
        modules = self._look.go_modules()
        for size in range(len(parts), 0, -1):
            for folder in self._module_folders(file, modules.get("/".join(parts[:size]), ())):
                if files := self._look.go_package(posixpath.join(folder, *parts[size:])):
                    return tuple(files[:MOST_PACKAGE_FILES])
        if "." not in parts[0] and "std" in modules:
            for folder in self._module_folders(file, modules["std"]):
                if files := self._look.go_package(posixpath.join(folder, *parts)):
                    return tuple(files[:MOST_PACKAGE_FILES])
        enclosing = self._module_folders(
            file, [manifest for files in modules.values() for manifest in files], enclosing=True
        )
        if enclosing:  # the module is another one; perhaps a copy of it is here
            files = self._look.go_package(posixpath.join(enclosing[0], "vendor", *parts))
            return tuple(files[:MOST_PACKAGE_FILES])
        # `net/http` is the standard library's even if there is a folder `http`; `example.org/m/http` may be ours.
        cuts = range(len(parts)) if "." in parts[0] else range(1)
        packages = (self._look.go_package("/".join(parts[cut:])) for cut in cuts)
        return next((tuple(files[:MOST_PACKAGE_FILES]) for files in packages if files), ())

    def _module_folders(self, file: int, manifests: Sequence[int], *, enclosing: bool = False) -> list[str]:
        """The folders of manifests, nearest to the file first; with `enclosing`, only folders that contain the file."""
        own = self._folders[file].split("/")
        ranked = []
        for manifest in manifests:
            folder = self._folders[manifest]
            parts = folder.split("/") if folder else []
            shared = shared_folders(own, parts)
            if not enclosing or shared == len(parts):
                ranked.append((-shared, len(parts), folder))
        return [folder for _, _, folder in sorted(ranked)]


def _dotted_name(text: str) -> str:
    return _SEPARATOR.sub(".", text).strip(".")
