"""Finds the ignore files that apply in each folder of a walk, and decides by them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from lci_py.source.repository.git import common_dir, git_root, global_excludes
from lci_py.source.repository.ignore_rules import IgnoreRules, parse_ignore_file
from lci_py.types.record import NamedTuple

# Strongest first, as in ripgrep: a kind of file beats a weaker kind whatever the depth of the two. But the first two
# do not bring back what git ignores: they may have come with a clone, and would open what its user keeps from others.
IGNORE_FILES = (".lciignore", ".ignore", ".gitignore")
_GIT = 2  # the index of .gitignore
_MAX_IGNORE_BYTES = 1 << 20


class Layer(NamedTuple):
    """An ignore file, and where it applies: its patterns match `prefix + path[cut:]` for a path of the walk."""

    rules: IgnoreRules
    prefix: str
    cut: int
    source: str = ""  # the file's name for users: relative to the walk's root if it is in the tree
    git: bool = True  # whether git reads it, too


def ignoring(flat: Iterable[Layer], name: str, path: str, is_folder: bool) -> tuple[bool | None, Layer | None]:
    """Decide by the ignore files whether an entry (a file or folder) is ignored.

    Args:
        flat: The ignore files, the strongest first.
        name: The last part of the path.
        path: The path of the entry, relative to the root of the walk.
    Returns:
        (True, the file that ignores the entry); (False, None) if a file re-includes it; (None, None) if none matches.
    """
    back: bool | None = None
    for layer in flat:
        if back is not None and not layer.git:
            continue
        verdict = layer.rules.match(name, layer.prefix + path[layer.cut :], is_folder)
        if verdict:
            return True, layer
        if verdict is not None:
            back = False
            if layer.git:
                break
    return back, None


# Per kind of ignore file, deepest first; last, git's global excludes. Empty if ignore files are not used.
Layers = tuple[tuple[Layer, ...], ...]


def outer_layers(root: Path) -> Layers:
    """The ignore files outside of `root` that apply at it: those of its parents, and git's exclude files."""
    resolved = root.resolve()
    top = git_root(root) or resolved
    layers: list[list[Layer]] = [[], [], []]
    for folder in resolved.parents:
        if folder == top or top in folder.parents:
            prefix = resolved.relative_to(folder).as_posix() + "/"
            for kind, name in enumerate(IGNORE_FILES):
                source = _upwards(prefix) + name
                layers[kind] += _load(os.path.join(folder, name), prefix, source=source, git=kind == _GIT)
    prefix = "" if top == resolved else resolved.relative_to(top).as_posix() + "/"
    layers[_GIT] += _load_excludes(top, prefix)
    excludes = _load(global_excludes(root), prefix, follow=True, source="git's global excludes")
    return (*map(tuple, layers), tuple(excludes))


def _upwards(prefix: str) -> str:
    return "../" * prefix.count("/")


def layers_inside(layers: Layers, folder: str, relative: str, names: set[str], handle: int) -> Layers:
    """The ignore files that apply in a folder.

    Args:
        layers: The ignore files that apply in the parent folder.
        folder: The path of the folder, with a "/" at the end.
        relative: The same path relative to the walk's root; "" for the root itself.
        names: The names of the entries in the folder.
        handle: An open descriptor of the folder.
    """
    if not layers or names.isdisjoint((*IGNORE_FILES, ".git")):
        return layers
    cut = len(relative)
    inner = [list(kind) for kind in layers]
    if ".git" in names and relative:  # a repository inside the repository obeys only its own .gitignore
        inner[_GIT] = _load_excludes(Path(folder), "", cut)
    for kind, name in enumerate(IGNORE_FILES):
        if name in names:
            inner[kind][:0] = _load(name, "", cut, folder=handle, source=relative + name, git=kind == _GIT)
    return tuple(map(tuple, inner))


def _load(
    path: str,
    prefix: str,
    cut: int = 0,
    *,
    follow: bool = False,
    folder: int | None = None,
    source: str = "",
    git: bool = True,
) -> list[Layer]:
    """Read the ignore file at `path`; empty if it has no rules. A symlink, which may lead anywhere, needs `follow`."""
    # Its type is checked after opening: by then, a regular file may have been replaced by a link or a FIFO.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        handle = os.open(path, flags, dir_fd=folder)
    except (OSError, ValueError):
        return []
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return []
        with open(handle, "rb", closefd=False) as file:
            rules = parse_ignore_file(file.read(_MAX_IGNORE_BYTES))
    except OSError:
        return []
    finally:
        os.close(handle)
    return [Layer(rules, prefix, cut, source, git)] if rules else []


def _load_excludes(top: Path, prefix: str, cut: int = 0) -> list[Layer]:
    common = common_dir(top)
    if common is None:
        return []
    return _load(os.path.join(common, "info", "exclude"), prefix, cut, follow=True, source=".git/info/exclude")


def folders_towards(globs: Iterable[str]) -> IgnoreRules:
    """Rules that match each folder that may contain, at any depth, an entry that one of `globs` matches."""
    lines: list[str] = []
    for glob in globs:
        segments = glob.removesuffix("/").removeprefix("/").split("/")
        if glob.startswith("!"):
            continue
        if "/" not in glob.removesuffix("/") or segments[0] == "**":
            return IgnoreRules(["*"])
        deep = segments.index("**") if "**" in segments else len(segments) - 1
        lines += ["/" + "/".join(segments[:end]) + "/" for end in range(1, deep + 1)]
        lines += ["/" + "/".join(segments[:deep]) + "/**/"] if "**" in segments else []
    return IgnoreRules(lines)
