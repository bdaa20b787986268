"""Finds and reads workspaces: folders with a link to each of several repositories, which are searched as one tree.

A workspace is a folder `NAME` in the user's data folder. Each symbolic link in it is a member: the link's name is the
repository's name, its target the repository. Only these links are ever followed, because only `lci workspace` creates
them: a link that comes with a repository lies deeper, or in a folder that is no workspace.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from lci_py.errors import UsageError

DATA_VARIABLE = "LCI_DATA_DIR"
#: The name of the folder of all workspaces.
FOLDER = "workspaces"
#: The union of all workspaces; made by `all_workspaces`, never by a user.
ALL = "all"
_LINKLESS = os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW
_found: set[tuple[str, str | None]] = set()
#: A folder that is only passed through need not be readable.
_THROUGH = _LINKLESS | getattr(os, "O_PATH", os.O_RDONLY)


def workspaces_folder() -> Path:
    """The folder that contains all workspaces, without links: in LCI_DATA_DIR, else the user's data folder for lci."""
    override = os.environ.get(DATA_VARIABLE)
    base = Path(override) if override and os.path.isabs(override) else user_folder("data")
    return Path(os.path.realpath(base / FOLDER))


#: By kind, the folder of the user in which programs have theirs on Linux.
_LINUX_FOLDERS = {"cache": "~/.cache", "config": "~/.config", "data": "~/.local/share"}


def user_folder(kind: str) -> Path:
    """The user's folder for those files of lci that are of one kind: `cache`, `config` or `data`."""
    if sys.platform == "linux":  # what platformdirs returns; importing it takes longer than some queries
        base = os.environ.get(f"XDG_{kind.upper()}_HOME", "").strip()
        return Path(base if os.path.isabs(base) else os.path.expanduser(_LINUX_FOLDERS[kind]), "lci")
    import platformdirs

    folder: Path = getattr(platformdirs, f"user_{kind}_path")("lci")
    return folder


def is_workspace(root: Path | str) -> bool:
    """Whether `root` is a workspace of this user that nobody else can write to. It must be absolute, without links."""
    folder = os.path.dirname(root)
    # The name alone rules out nearly every root, at no cost.
    if os.path.basename(folder) != FOLDER:
        return False
    if (key := (str(root), os.environ.get(DATA_VARIABLE))) not in _found:
        if folder != str(workspaces_folder()) or not all(map(_is_private, (folder, str(root)))):
            return False
        _found.add(key)  # it is asked for every file
    return True


def index_command(root: Path | str) -> str:
    """The command line that refreshes the index of a root."""
    return f"lci index --workspace {os.path.basename(root)}" if is_workspace(root) else "lci index"


def _is_private(folder: str) -> bool:
    try:
        info = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(info.st_mode) and info.st_uid == os.getuid() and not info.st_mode & 0o022


def members(root: Path | str) -> dict[str, str]:
    """Maps the names of a workspace's repositories to their folders, sorted by name; {} if the workspace is gone."""
    try:
        with os.scandir(root) as entries:
            targets = {entry.name: os.readlink(entry.path) for entry in entries if entry.is_symlink()}
    except FileNotFoundError:  # or changed just now
        return {}
    return dict(sorted(targets.items()))


#: What the problem of a member is, for people.
WHY = {
    "vanished": "it is not there",
    "symlink": "it has become a link",
    "special": "it is not a folder",
    "unreadable": "it cannot be read",
}


def member_problem(target: str) -> str | None:
    """The reason, one of the walk's `REASONS`, why the folder of a repository cannot be read; None if it can."""
    if not os.path.lexists(target):
        return "vanished"
    if os.path.realpath(target) != target:
        return "symlink"  # it, or a folder above it, has become a link, and may lead anywhere
    if not os.path.isdir(target):
        return "special"
    return None if os.access(target, os.R_OK | os.X_OK) else "unreadable"


def missing(root: Path | str) -> dict[str, tuple[str, str]]:
    """Maps the names of repositories that cannot be read to (folder, reason)."""
    return {name: (target, why) for name, target in members(root).items() if (why := member_problem(target))}


def open_member(root: str, name: str) -> int | None:
    """Open the folder of a workspace's repository, and return its descriptor; None if `root` is no workspace.

    No link above the folder is followed.

    Raises:
        OSError: There is no such repository, or its folder cannot be opened.
    """
    if not is_workspace(root):
        return None
    parts = os.readlink(os.path.join(root, name)).strip("/").split("/")
    handle = os.open("/", _THROUGH)
    for depth, part in enumerate(parts, 1):
        try:
            inner = os.open(part, _THROUGH if depth < len(parts) else _LINKLESS | os.O_RDONLY, dir_fd=handle)
        finally:
            os.close(handle)
        handle = inner
    return handle


_T = TypeVar("_T")


def of_each_repository(root: Path, ask: Callable[[Path, str], _T]) -> tuple[list[_T], tuple[str, ...] | None]:
    """Call `ask` for the repository of a root, or for each repository of a workspace.

    Args:
        ask: A function of the folder of a repository and the prefix of its paths in the workspace ("" outside).
    Returns:
        (answers, names of the repositories that cannot answer); None instead of names if the root is no workspace.
    Raises:
        UsageError: The repository cannot answer, or none of a workspace can.
    """
    if not is_workspace(root):
        return [ask(root, "")], None
    answers: list[_T] = []
    failed: dict[str, UsageError] = {}
    for name, folder in members(root).items():
        try:
            answers.append(ask(Path(folder), f"{name}/"))
        except UsageError as error:
            failed[name] = error
    if not answers:
        raise next(iter(failed.values()), UsageError("the workspace has no repositories"))
    return answers, tuple(failed)


def inside(root: Path | str, full: str) -> str | None:
    """Convert an absolute path to one relative to the workspace; None if no repository of the workspace contains it."""
    for name, target in sorted(members(root).items(), key=lambda item: -len(item[1])):  # of nested ones the inner
        if full == target or full.startswith(target.rstrip("/") + "/"):
            return (name + full[len(target.rstrip("/")) :]).rstrip("/")
    return None
