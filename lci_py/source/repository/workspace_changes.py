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
    known = workspaces()
    if not known:
        raise UsageError("there is no workspace yet", hint="lci workspace add NAME PATH…")
    if name == ALL:
        return known[0] if len(known) == 1 else _union(known)
    found = next((one for one in known if one.name == name), None)
    if found is None:
        raise unknown_value("workspace", name, [*(one.name for one in known), ALL])
    return found


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
    held = members(root) if is_workspace(root) else {}
    added: dict[str, str] = {}
    for path in paths:
        target = _folder(path)
        if target in held.values():
            continue
        own = called if called is not None else os.path.basename(target)
        if not own or _BAD.search(own):
            raise UsageError(f"{own!r} cannot be the name of a repository", hint="choose another name: --named NAME")
        if (taken := held.get(own)) is not None:
            raise UsageError(
                f"the name {own} is taken by {taken}", hint=f"choose another name for {target}: --named NAME"
            )
        if (other := next((one for one in held.items() if _overlap(one[1], target)), None)) is not None:
            raise UsageError(
                f"{target} and {other[0]} ({other[1]}): one lies inside the other",
                hint="the outer one has the files of both",
            )
        held[own] = added[own] = target
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
    held = workspace(name) if name != ALL else None
    if held is None:
        raise UsageError(f"{ALL} stands for all workspaces", hint="name one of them")
    gone = {}
    for one in names:
        full = os.path.realpath(one)
        found = one if one in held.repositories else next((k for k, v in held.repositories.items() if v == full), None)
        if found is None:
            raise unknown_value("repository", one, list(held.repositories))
        gone[found] = held.repositories[found]
    if not names:
        import shutil

        shutil.rmtree(held.root)  # it follows no links
        return Workspace(held.name, held.root, {}), dict(held.repositories)
    for one in gone:
        os.unlink(held.root / one)
    return Workspace(held.name, held.root, members(held.root)), gone


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


def _overlap(one: str, other: str) -> bool:
    """Whether one of two folders contains the other's files. A submodule or a linked worktree does not count."""
    inner, outer = (one, other) if len(one) > len(other) else (other, one)
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


def _union(known: Iterable[Workspace]) -> Workspace:
    """Create or update the workspace `all`, with the repositories of all workspaces, each once."""
    wanted: dict[str, str] = {}
    for one in known:
        for name, target in one.repositories.items():
            if any(_overlap(target, other) for other in wanted.values()):
                continue
            wanted[name if name not in wanted else f"{one.name}.{name}"] = target
    root = workspaces_folder() / ALL
    _make(root)
    held = members(root)
    for name, target in held.items():
        if wanted.get(name) != target:
            with suppress(FileNotFoundError):  # another process does the same
                os.unlink(root / name)
    for name, target in wanted.items():
        if held.get(name) != target:
            with suppress(FileExistsError):
                os.symlink(target, root / name)
    return Workspace(ALL, root, members(root))
