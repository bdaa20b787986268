"""Explains why the walk leaves a path out, and decides whether the walk would list a file that does not exist here."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from lci_py.source.repository.files import ALWAYS_SKIPPED
from lci_py.source.repository.ignore_layers import Layers, ignoring, layers_inside, outer_layers
from lci_py.source.repository.walk import NOTHING, FolderState, GlobRules, WalkOptions, nested_since
from lci_py.types.record import NamedTuple

_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_DIRECTORY


class IgnoreRule(NamedTuple):
    """A line of an ignore file, with the file and the line number."""

    file: str  # for users; relative to the root of the walk if the file is in the tree
    line: int  # from 1 on
    pattern: str

    def __str__(self) -> str:
        return f"`{self.pattern.strip()}` in {self.file}, line {self.line}"


class _Folder(NamedTuple):
    layers: Layers
    inherited: FolderState


class TreeRules:
    """The rules that apply below a root: the settings' globs, and the ignore files in the work tree."""

    def __init__(self, root: Path, options: WalkOptions) -> None:
        """Raises BadGlobError if a glob of `options` is malformed."""
        self._root = root
        self._options = options
        self._globs = GlobRules(options)
        self._members = {
            member.name: TreeRules(Path(member.folder), member.options) for member in options.members or ()
        }
        self._folders: dict[str, _Folder | None] = {}

    def takes(self, path: str) -> bool:
        """Whether the walk would list a file with this path, provided that its size and mode allow this."""
        if self._options.members is not None:
            name, _, rest = path.partition("/")
            return name in self._members and self._members[name].takes(rest)
        folder, _ = self._folder_of(path)
        return folder is not None and self._judge(path.rpartition("/")[2], path, False, folder)[0] is None

    def rule(self, path: str) -> IgnoreRule | None:
        """The line of an ignore file that excludes a path, or a folder above it; None if no line does.

        Args:
            path: Relative to the root, POSIX, with a "/" at the end if it is a folder.
        """
        if self._options.members is not None:
            name, _, rest = path.partition("/")
            inner = self._members[name].rule(rest) if rest and name in self._members else None
            return inner and inner._replace(file=f"{name}/{inner.file}")
        bare = path.rstrip("/")
        folder, outside = self._folder_of(bare)
        if folder is None:
            return self.rule(outside)
        name = bare.rpartition("/")[2]
        flat = [layer for kind in folder.layers for layer in kind]
        verdict, layer = ignoring(flat, name, bare, path.endswith("/"))
        if layer is not None:
            line = layer.rules.line(name, layer.prefix + bare[layer.cut :], path.endswith("/"))
            return IgnoreRule(layer.source, *line)
        if verdict is not None:
            return None
        # With `include` or `allow`, the walk also goes into folders that are left out.
        return self.rule(bare.rpartition("/")[0] + "/") if folder.inherited.reason and "/" in bare else None

    def _folder_of(self, path: str) -> tuple[_Folder | None, str]:
        """(folder that contains `path`, its path); (None, outermost folder that the walk skips) if it is skipped."""
        at = ""
        folder = self._top
        for part in path.split("/")[:-1]:
            inner = at + part + "/"
            if inner not in self._folders:
                self._folders[inner] = self._enter(part, at, folder)
            child = self._folders[inner]
            if child is None:
                return None, inner
            folder, at = child, inner
        return folder, at

    @cached_property
    def _top(self) -> _Folder:
        outer = outer_layers(self._root) if self._options.use_ignore_files else ()
        return self._with_files(_Folder(outer, NOTHING), "") or _Folder(outer, NOTHING)

    def _enter(self, name: str, parent: str, outer: _Folder) -> _Folder | None:
        """The folder `name` in the folder `parent`; None if the walk does not enter it."""
        path = parent + name
        reason, inherited = self._judge(name, path, True, outer)
        return None if reason else self._with_files(_Folder(outer.layers, inherited), path + "/")

    def _judge(self, name: str, path: str, is_folder: bool, outer: _Folder) -> tuple[str | None, FolderState]:
        if name in ALWAYS_SKIPPED or name in ("", ".", ".."):
            return "excluded", NOTHING
        flat = tuple(layer for kind in outer.layers for layer in kind)
        return self._globs.judge(name, path, is_folder, flat, outer.inherited)

    def _with_files(self, folder: _Folder, relative: str) -> _Folder | None:
        """Add the ignore files in a folder to its rules; None if it is a nested repository that the walk leaves out."""
        handle = -1
        try:
            handle = os.open(self._root, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
            for part in filter(None, relative.split("/")):  # one by one, since a link could lead out of the root
                inner = os.open(part, _FOLDER, dir_fd=handle)
                os.close(handle)
                handle = inner
            names = set(os.listdir(handle))
            if relative and nested_since(handle) is not None:
                path = relative[:-1]
                inside = self._globs.inside_nested(path.rpartition("/")[2], path, folder.inherited)
                if inside is None:
                    return None
                folder = folder._replace(inherited=inside)
            where = os.path.join(self._root, relative)
            return folder._replace(layers=layers_inside(folder.layers, where, relative, names, handle))
        except (OSError, ValueError):
            return folder
        finally:
            if handle >= 0:
                os.close(handle)
