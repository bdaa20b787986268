"""The use cases of workspaces: several repositories under one name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lci_py import config
from lci_py.errors import UsageError

if TYPE_CHECKING:
    from lci_py.source.repository.workspace_changes import Workspace


def workspace_root(name: str) -> str:
    """The root of a workspace; `all` is the one of the repositories of all workspaces.

    Raises:
        UsageError: There is none of that name.
    """
    from lci_py.source.repository.workspace_changes import workspace

    return str(workspace(name).root)


def workspaces(action: str, names: Sequence[str] = (), called: str | None = None) -> dict[str, Any]:
    """Add repositories to a workspace, remove them, or list all workspaces, as a JSON object.

    Args:
        action: add, remove or list.
        names: The workspace, then repositories; to list, workspaces, none for all.
        called: The name of the only repository that is added.
    Raises:
        BadPathError, UsageError: see `workspace_changes`.
    """
    from lci_py.source.repository import workspace_changes as changes

    if action == "list":
        listed = [changes.workspace(name) for name in names] if names else changes.workspaces()
        return {"workspaces": [{**_workspace(one), "indexed": config.has_index(one.root)} for one in listed]}
    if not names:
        raise UsageError("no workspace is named", hint=f"lci workspace {action} NAME PATH…")
    if action == "add":
        found, touched = changes.add(names[0], names[1:], called)
    else:
        found, touched = changes.remove(names[0], names[1:])
    done = [{"repository": name, "path": path} for name, path in touched.items()]
    return {**_workspace(found), "added" if action == "add" else "removed": done}


def _workspace(found: Workspace) -> dict[str, Any]:
    from lci_py.source.repository.workspace import member_problem

    repositories = [
        {"repository": name, "path": path, "problem": member_problem(path)} for name, path in found.repositories.items()
    ]
    return {"workspace": found.name, "root": str(found.root), "repositories": repositories}


def missing_repositories(root: str) -> list[dict[str, str]]:
    """The repositories of a workspace that cannot be read, and why."""
    from lci_py.source.repository.workspace import WHY, missing

    return [
        {"repository": name, "path": path, "reason": why, "message": f"{path}: {WHY[why]}"}
        for name, (path, why) in missing(root).items()
    ]
