"""Finds the files of Rust modules: of a path such as `crate::net::tcp`, `super::util` or `shapes::circle`."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Sequence

from lci_py.callgraph.lookup_tables import shared_folders
from lci_py.callgraph.lookups import LookUps, Shared
from lci_py.callgraph.resolve.values import Values, with_step
from lci_py.types.edges import IMPORT

_ROOTS = ("lib.rs", "main.rs")
#: Folders of a package whose files are crates of their own.
_PROGRAMS = frozenset({"tests", "examples", "benches"})
_INDEXES = ("mod.rs", *_ROOTS)
#: Crates that come with the compiler.
STANDARD = frozenset({"std", "core", "alloc", "proc_macro", "test"})


class Crates:
    """Finds the files of Rust's modules and crates by the paths in the repository."""

    def __init__(self, look_ups: LookUps) -> None:
        self._look = look_ups
        self._heads = look_ups.files.heads
        self._memo: dict[tuple[int, str], Shared[int]] = {}

    def find(self, file: int, segments: Sequence[str]) -> int:
        """The file of the innermost module on a path; -1 if the path begins with a crate outside the repository.

        The segments after that module name an item, or an inline module, in the file.
        """
        if not segments or segments[0] in STANDARD:
            return -1
        current, rest = file, list(segments)
        while rest and rest[0] in ("crate", "self", "super"):
            step = rest.pop(0)
            current = self.root(current) if step == "crate" else self.parent(current) if step == "super" else current
            if current < 0:
                return -1
        if current == file and rest and rest[0] == segments[0] and self.child(file, rest[0]) < 0:
            current = self.root(file)
            if self.child(current, rest[0]) < 0:
                current = self.library(file, rest.pop(0))
                if current < 0:
                    return -1
        while rest:
            inner = self.child(current, rest.pop(0))
            if inner < 0:
                break
            current = inner
        return current

    def root(self, file: int) -> int:
        """The root file (lib.rs or main.rs) of a file's crate; the file itself if no folder above it has one."""
        return self._look.shared(self._memo, (file, ""), self._root, file)

    def _root(self, file: int) -> int:
        folder = posixpath.dirname(self._heads[file].path)
        while True:
            for name in _ROOTS:
                root = self._look.at(posixpath.join(folder, name))
                if root >= 0:
                    return root
            parent, name = posixpath.split(folder)
            if not folder or name == "bin" or (name in _PROGRAMS and self._is_package(parent)):
                return file
            folder = parent

    def _is_package(self, folder: str) -> bool:
        """Whether a folder may be a package with programs in `tests`: it is a crate's folder, or not in `src`."""
        return "src" not in folder.split("/") or self._look.at(posixpath.join(folder, "Cargo.toml")) >= 0

    def library(self, file: int, name: str) -> int:
        """The root file of the nearest library crate of this name; -1 if none exists, or several are equally near."""
        own = self._heads[file].path.split("/")
        best, tied = (-1, -1), False
        for manifest in self._look.crate(name):
            folder = self._heads[manifest].folder
            root = self._look.at(posixpath.join(folder, "src", "lib.rs"))
            if root < 0:
                continue
            parts = folder.split("/") if folder else []
            near = shared_folders(own, parts)
            if near > best[0]:
                best, tied = (near, root), False
            elif near == best[0]:
                tied = True
        return -1 if tied else best[1]

    def parent(self, file: int) -> int:
        """The file of the parent module of a file's module; -1 for the root of a crate."""
        folder, name = posixpath.split(self._heads[file].path)
        if name in _ROOTS:
            return -1
        if name == "mod.rs":
            folder = posixpath.dirname(folder)
        candidates = [posixpath.join(folder, index) for index in _INDEXES] + [f"{folder}.rs"]
        return next((module for path in candidates if (module := self._look.at(path)) >= 0), -1)

    def child(self, file: int, name: str) -> int:
        """The file of a module that is declared in a file; -1 if no such file exists."""
        return self._look.shared(self._memo, (file, name), self._child, file, name)

    def _child(self, file: int, name: str) -> int:
        folder, own = posixpath.split(self._heads[file].path)
        if own not in _INDEXES and self.root(file) != file:
            folder = posixpath.join(folder, own.removesuffix(".rs"))
        candidates = [posixpath.join(folder, f"{name}.rs"), posixpath.join(folder, name, "mod.rs")]
        return next((child for path in candidates if (child := self._look.at(path)) >= 0), -1)


def star_search(file: int, targets: Callable[[int], Iterable[int]], own: Callable[[int], Values | None]) -> Values:
    """The values of a name that star imports (`use super::*`) bring into a file.

    Each file is visited once, depth first: where modules re-export each other's names there are too many paths.

    Args:
        targets: Returns the files whose names a file imports by star.
        own: Returns the values of the name in a file itself; if None, the star imports of that file are searched.
    """
    seen = {file}
    ways = [iter(targets(file))]
    while ways:
        target = next(ways[-1], None)
        if target is None:
            ways.pop()
        elif target not in seen:
            seen.add(target)
            values = own(target)
            if values:
                return with_step(values, IMPORT)
            if values is None:
                ways.append(iter(targets(target)))
    return ()
