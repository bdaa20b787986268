"""Resolves imports of npm packages in the repository: finds the file of `import "name/sub"` by the manifests."""

from __future__ import annotations

import posixpath
import re

from lci_py.callgraph.lookup_tables import shared_folders
from lci_py.callgraph.lookups import LookUps
from lci_py.source.extract.manifests import NPM
from lci_py.source.text.language_tables import has_rule

#: Folders of build output: their sources are in `src`, or in the package's own folder.
_BUILT = frozenset("dist build lib out esm cjs es umd mjs _esm _cjs types target output".split())
_SUFFIX = re.compile(r"(?:\.d)?\.[cm]?[jt]sx?$")
_ENTRIES = ("src/index", "index", "lib/index")


class NpmPackages:
    """Finds files by the names of npm packages and by the packages' entry points."""

    def __init__(self, look_ups: LookUps) -> None:
        self._look = look_ups
        self._heads = look_ups.files.heads
        self._families = look_ups.files.families

    def find(self, file: int, module: str) -> int:
        """The file of a module that is no path: `name`, `@scope/name/sub` or `#internal`; -1 if no file is found."""
        if module[:1] == "#":
            manifest, key = self._enclosing_manifest(file), module
        else:
            parts = module.split("/")
            size = 2 if module[:1] == "@" else 1
            manifest = self._manifest_by_name(file, "/".join(parts[:size])) if len(parts) >= size else -1
            key = "/".join((".", *parts[size:]))
        if manifest < 0:
            return -1
        return self._of_package(manifest, key)

    def entry_of(self, folder: str) -> int:
        """The file that an import of a folder means: its package's entry point, or its index file; -1 if neither."""
        manifest = self._look.at(posixpath.join(folder, NPM))
        return self._of_package(manifest, ".") if manifest >= 0 else self._source(folder, "index")

    def _of_package(self, manifest: int, key: str) -> int:
        folder = self._heads[manifest].folder
        targets = [target for name in (key, "main") if key in (name, ".") and (target := self._entry(manifest, name))]
        if targets:
            return next((source for target in targets if (source := self._source(folder, target)) >= 0), -1)
        if key == ".":
            return next((source for entry in _ENTRIES if (source := self._source(folder, entry)) >= 0), -1)
        return self._source(folder, key) if key[:1] == "." else -1

    def _manifest_by_name(self, file: int, name: str) -> int:
        """The nearest manifest that declares a package; manifests in tests count only if `file` is a test."""
        test, own = self._heads[file].test, self._heads[file].path.split("/")
        best = (-1, -1)
        for manifest in self._look.npm_package(name):
            parts = self._heads[manifest].path.split("/")
            near = shared_folders(own, parts)
            if near > best[0] and (test or not self._heads[manifest].test):
                best = near, manifest
        return best[1]

    def _enclosing_manifest(self, file: int) -> int:
        """The manifest of the package that contains a file."""
        folder = self._heads[file].folder
        while True:
            manifest = self._look.at(posixpath.join(folder, NPM))
            if manifest >= 0 or not folder:
                return manifest
            folder = posixpath.dirname(folder)

    def _entry(self, manifest: int, key: str) -> str:
        """The path of an entry point according to a manifest, where its key may be a pattern such as `./features/*`."""
        item = self._look.binding(manifest, key)
        if item is not None:
            return item.module
        before = key
        while "/" in before:
            before = before.rpartition("/")[0]
            rest = key[len(before) + 1 :]
            for pattern in (f"{before}/*", f"{before}/*.js"):
                item = self._look.binding(manifest, pattern)
                if item is not None:
                    return item.module.replace("*", rest.removesuffix(".js") if pattern.endswith(".js") else rest)
        return ""

    def _source(self, folder: str, target: str) -> int:
        """The file with the path `target` in a package; for a built file, the source that it was built from."""
        parts = posixpath.normpath(_SUFFIX.sub("", target)).split("/")
        file = self._module(folder, parts)
        while file < 0 and len(parts) > 1 and parts[0] in _BUILT:
            parts = parts[1:]
            file = self._module(folder, ["src", *parts])
            file = file if file >= 0 else self._module(folder, parts)
        return file

    def _module(self, folder: str, parts: list[str]) -> int:
        segments = (*(part for part in folder.split("/") if part), *parts)
        for candidate, file in self._look.ending_in(segments[-1]):
            if candidate == segments and has_rule(self._families[file], "npm_packages"):
                return file
        return -1
