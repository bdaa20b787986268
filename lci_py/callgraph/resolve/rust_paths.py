"""Rust's modules: which file a path such as `crate::net::tcp`, `super::util` or `shapes::circle` means."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from lci_py.callgraph.lookups import LookUps

_ROOTS = ("lib.rs", "main.rs")
_INDEXES = ("mod.rs", *_ROOTS)
#: Crates that come with the compiler.
STANDARD = frozenset({"std", "core", "alloc", "proc_macro", "test"})


class Crates:
    """Answers by the paths of the repository; every question is a tracked look-up."""

    def __init__(self, look_ups: LookUps) -> None:
        self._look = look_ups
        self._heads = look_ups.files.heads

    def find(self, file: int, segments: Sequence[str]) -> int:
        """The file of the innermost module that a path goes through, -1 if that is none of this crate.

        What the path names beyond it is an item, or an inline module, of that file.
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
                return -1
        while rest:
            inner = self.child(current, rest.pop(0))
            if inner < 0:
                break
            current = inner
        return current

    def root(self, file: int) -> int:
        """The file that a crate begins with; the file itself if nothing above it looks like one."""
        folder = posixpath.dirname(self._heads[file].path)
        while True:
            for name in _ROOTS:
                found = self._look.at(posixpath.join(folder, name))
                if found >= 0:
                    return found
            if not folder or posixpath.basename(folder) in ("tests", "examples", "benches", "bin"):
                return file
            folder = posixpath.dirname(folder)

    def parent(self, file: int) -> int:
        """The file of the module around that of a file, -1 at the top."""
        folder, name = posixpath.split(self._heads[file].path)
        if name in _ROOTS:
            return -1
        if name == "mod.rs":
            folder = posixpath.dirname(folder)
        candidates = [posixpath.join(folder, index) for index in _INDEXES] + [f"{folder}.rs"]
        return next((found for path in candidates if (found := self._look.at(path)) >= 0), -1)

    def child(self, file: int, name: str) -> int:
        """The file of a module that another one declares, -1 if there is none."""
        folder, own = posixpath.split(self._heads[file].path)
        if own not in _INDEXES and self.root(file) != file:
            folder = posixpath.join(folder, own.removesuffix(".rs"))
        candidates = [posixpath.join(folder, f"{name}.rs"), posixpath.join(folder, name, "mod.rs")]
        return next((found for path in candidates if (found := self._look.at(path)) >= 0), -1)
