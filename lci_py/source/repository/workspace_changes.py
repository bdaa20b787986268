"""Creates, changes and lists workspaces, for the command `lci workspace` and the flag --workspace."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from lci_py.errors import BadPathError, UsageError, unknown_value
from lci_py.source.repository.workspace import ALL, is_workspace, members, workspaces_folder
from lci_py.types.record import NamedTuple

#: A workspace is a folder: nothing that a shell or another system reads otherwise.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
#: A repository is the first part of every path of its files, and --repo is a glob.
_BAD = re.compile(r'[\x00-\x1f\x7f-\x9f\ud800-\udfff/\\*?\[\]:"]|^[.\s!#-]|\s$')


class Workspace(NamedTuple):
    """A workspace. `repositories` maps names to folders."""

    name: str
    root: Path
    repositories: Mapping[str, str]


def workspaces() -> list[Workspace]:
    """All workspaces of the user, sorted by name."""
    folder = workspaces_folder()
    names = sorted(os.listdir(folder)) if folder.is_dir() else []
    return [
        Workspace(name, folder / name, members(folder / name))
        for name in names
        if name != ALL and is_workspace(folder / name)
    ]


def workspace(name: str) -> Workspace:
    """The workspace with this name. `all` means the only workspace, or one with the repositories of all workspaces.

    Raises:
        UsageError: There is no workspace with that name.
    """
    existing = workspaces()
    if not existing:
        raise UsageError("there is no workspace yet", hint="lci workspace add NAME PATH…")
    if name == ALL:
        return existing[0] if len(existing) == 1 else _union(existing)
    match = next((item for item in existing if item.name == name), None)
    if match is None:
        raise unknown_value("workspace", name, [*(item.name for item in existing), ALL])
    return match


def add(name: str, paths: Sequence[str], called: str | None = None) -> tuple[Workspace, dict[str, str]]:
    """Add repositories to a workspace, which is created if necessary.

    Args:
        name: The name of the workspace.
        paths: The folders of the repositories.
        called: The name for a single repository; by default, the name of its folder.
    Returns:
        (workspace, added repositories as a dict from names to folders).
    Raises:
        BadPathError: A path is no readable folder, or lies where it cannot be a repository.
        UsageError: A name is invalid or taken. Then nothing is added.
    """
    if name == ALL:
        raise UsageError(f"{ALL} stands for all workspaces", hint="choose another name")
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be the name of a workspace", hint="use letters, digits, and . _ - inside of it"
        )
    if not paths:
        raise UsageError("no repository is named", hint=f"lci workspace add {name} PATH…")
    if called is not None and len(paths) > 1:
        raise UsageError("--named names one repository", hint="add them one by one")
    root = workspaces_folder() / name
    repositories = members(root) if is_workspace(root) else {}
    added: dict[str, str] = {}
    for path in paths:
        target = _folder(path)
        if target in repositories.values():
            continue
        own = called if called is not None else os.path.basename(target)
        if not own or _BAD.search(own):
            raise UsageError(f"{own!r} cannot be the name of a repository", hint="choose another name: --named NAME")
        if (folder := repositories.get(own)) is not None:
            raise UsageError(
                f"the name {own} is taken by {folder}", hint=f"choose another name for {target}: --named NAME"
            )
        if (other := next((item for item in repositories.items() if _overlap(item[1], target)), None)) is not None:
            raise UsageError(
                f"{target} and {other[0]} ({other[1]}): one lies inside the other",
                hint="the outer one has the files of both",
            )
        repositories[own] = added[own] = target
    _make(root)
    for own, target in added.items():
        os.symlink(target, root / own)
    return Workspace(name, root, members(root)), added


def remove(name: str, names: Sequence[str]) -> tuple[Workspace, dict[str, str]]:
    """Remove repositories from a workspace; without `names`, remove the workspace and its index.

    `names` are names or folders. The repositories themselves are not touched. Returns (workspace, what was removed).

    Raises:
        UsageError: The workspace has no repository with one of the names.
    """
    current = workspace(name) if name != ALL else None
    if current is None:
        raise UsageError(f"{ALL} stands for all workspaces", hint="name one of them")
    gone = {}
    for item in names:
        full = os.path.realpath(item)
        key = (
            item
            if item in current.repositories
            else next((k for k, v in current.repositories.items() if v == full), None)
        )
        if key is None:
            raise unknown_value("repository", item, list(current.repositories))
        gone[key] = current.repositories[key]
    if not names:
        import shutil

        shutil.rmtree(current.root)  # it follows no links
        return Workspace(current.name, current.root, {}), dict(current.repositories)
    for item in gone:
        os.unlink(current.root / item)
    return Workspace(current.name, current.root, members(current.root)), gone


def _folder(path: str) -> str:
    """Resolve the links of a folder's path.

    Raises:
        BadPathError: The folder cannot be a repository of a workspace.
    """
    target = os.path.realpath(path) if path and "\0" not in path else ""
    if not os.path.isdir(target):
        what = "is not a folder" if os.path.exists(path) else "does not exist"
        raise BadPathError(f"{path} {what}", hint="give the folder of a repository")
    if not os.access(target, os.R_OK | os.X_OK):
        raise BadPathError(f"{path} cannot be read", hint="check its permissions")
    home = str(workspaces_folder())
    if target == "/" or _is_below(target, home):
        raise BadPathError(f"{path} cannot be a repository of a workspace", hint="give the folder of a repository")
    return target


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def _overlap(folder: str, other: str) -> bool:
    """Whether one of two folders contains the other's files. A submodule or a linked worktree does not count."""
    inner, outer = (folder, other) if len(folder) > len(other) else (other, folder)
    if not _is_below(inner, outer):
        return False
    while inner != outer:
        try:
            if stat.S_ISREG(os.lstat(os.path.join(inner, ".git")).st_mode):
                return False
        except OSError:
            pass
        inner = os.path.dirname(inner)
    return True


def _make(root: Path) -> None:
    for folder in (root.parent, root):
        os.makedirs(folder, 0o700, exist_ok=True)
    if not is_workspace(root):
        raise UsageError(f"{root} belongs to others, or others can write to it", hint="remove it, or change its mode")


def _union(existing: Iterable[Workspace]) -> Workspace:
    """Create or update the workspace `all`, with the repositories of all workspaces, each once."""
    targets: dict[str, str] = {}
    for item in existing:
        for name, target in item.repositories.items():
            if any(_overlap(target, other) for other in targets.values()):
                continue
            targets[name if name not in targets else f"{item.name}.{name}"] = target
    root = workspaces_folder() / ALL
    _make(root)
    current = members(root)
    for name, target in current.items():
        if targets.get(name) != target:
            with suppress(FileNotFoundError):  # another process does the same
                os.unlink(root / name)
    for name, target in targets.items():
        if current.get(name) != target:
            with suppress(FileExistsError):
                os.symlink(target, root / name)
    return Workspace(ALL, root, members(root))
