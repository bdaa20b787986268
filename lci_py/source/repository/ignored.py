"""Whether the walk would list a file that does not exist, such as one of another branch, by its path alone."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from lci_py.source.repository.ignore_layers import Layers, layers_inside, outer_layers
from lci_py.source.repository.paths import ALWAYS_SKIPPED
from lci_py.source.repository.walk import NOTHING, GlobRules, Inherited, WalkOptions

_FOLDER = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_DIRECTORY", 0)


class _Folder(NamedTuple):
    layers: Layers
    inherited: Inherited


class TreeRules:
    """The rules in force below a root: the settings' globs, and the ignore files in the work tree."""

    def __init__(self, root: Path, options: WalkOptions) -> None:
        """
        Raises:
            BadGlobError: If a glob of `options` is malformed.
        """
        self._root = root
        self._options = options
        self._globs = GlobRules(options)
        self._folders: dict[str, _Folder | None] = {}

    def takes(self, path: str) -> bool:
        """Whether the walk would list a file with this path, if its size and mode allow it."""
        folders = path.split("/")
        name = folders.pop()
        at = ""
        folder = self._top
        for part in folders:
            inner = at + part + "/"
            if inner not in self._folders:
                self._folders[inner] = self._enter(part, at, folder)
            found = self._folders[inner]
            if found is None:
                return False
            folder, at = found, inner
        return self._judge(name, path, False, folder)[0] is None

    @cached_property
    def _top(self) -> _Folder:
        outer = outer_layers(self._root) if self._options.use_ignore_files else ()
        return _Folder(self._with_files(outer, ""), NOTHING)

    def _enter(self, name: str, around: str, outer: _Folder) -> _Folder | None:
        """The folder `name` in the folder `around`; None if the walk does not go into it."""
        path = around + name
        reason, inherited = self._judge(name, path, True, outer)
        return None if reason else _Folder(self._with_files(outer.layers, path + "/"), inherited)

    def _judge(self, name: str, path: str, is_folder: bool, outer: _Folder) -> tuple[str | None, Inherited]:
        if name in ALWAYS_SKIPPED or name in ("", ".", ".."):
            return "excluded", NOTHING
        flat = tuple(layer for kind in outer.layers for layer in kind)
        return self._globs.judge(name, path, is_folder, flat, outer.inherited)

    def _with_files(self, layers: Layers, relative: str) -> Layers:
        """The layers with the ignore files of a folder, if it exists."""
        handle = -1
        try:
            handle = os.open(self._root, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0))
            for part in filter(None, relative.split("/")):  # one by one, since a link could lead out of the root
                inner = os.open(part, _FOLDER, dir_fd=handle)
                os.close(handle)
                handle = inner
            names = set(os.listdir(handle))
            return layers_inside(layers, os.path.join(self._root, relative), relative, names, handle)
        except (OSError, ValueError):
            return layers
        finally:
            if handle >= 0:
                os.close(handle)
