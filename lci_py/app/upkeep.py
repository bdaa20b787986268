"""The use cases beside building and searching: for removing an index, its log, git hooks, the files of coding agents,
and workspaces (several repositories under one name).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lci_py import config
from lci_py.app import HOOK_WAIT, build_index, find_root, index_dir_of, open_engine, own_index_dir
from lci_py.errors import UsageError

if TYPE_CHECKING:
    from lci_py.source.repository.workspace_changes import Workspace

#: Definitions of a name that an agent is told of; of a name with more than the second, it is told nothing.
_DEFINITIONS, _COMMON = 8, 20


def clean(root: str | None, *, cache_only: bool = False, wait: float = 10.0) -> dict[str, Any]:
    """Delete the index around `root`, or only its cache; returns what was deleted, as a JSON object.

    Raises:
        IndexWriteError: The folder is not lci's, cannot be written, or another process is writing.
    """
    from lci_py.index.store.clean import clean as clean_folder

    where = find_root(root)
    settings, _ = config.load(where)
    index_dir = own_index_dir(where, settings)
    cleaned = clean_folder(index_dir.resolve(), cache_only=cache_only, wait=wait)
    return {
        "root": str(where),
        "index_dir": str(index_dir),
        "freed_bytes": cleaned.freed_bytes,
        "kept": list(cleaned.kept),
    }


def stats(root: str | None, *, since: str | None = None) -> dict[str, Any]:
    """Statistics of the searches around `root`, as a JSON object.

    Raises:
        UsageError: `since` is neither a time span nor a date.
    """
    from lci_py.index.store.search_stats import search_stats

    where = find_root(root)
    settings, warnings = config.load(where)
    report = {"root": str(where), "index_dir": str(folder := index_dir_of(where, settings)), "log": settings.log}
    return {**report, **search_stats(folder, since), "warnings": warnings}


def hooks(root: str | None, action: str, *, force: bool = False) -> dict[str, Any]:
    """Install, remove or show the git hooks around `root`; returns their state, as a JSON object.

    Raises:
        HookError: There is no git or no work tree, the hooks are shared, or a file cannot be written.
    """
    from lci_py.index.store.background_run import last_failure
    from lci_py.source.repository.hooks import hooks as change

    where = find_root(root)
    settings, _ = config.load(where)
    index_dir = index_dir_of(where, settings)
    report = change(where, action, force=force)
    warnings = []
    if action != "uninstall":
        if not os.path.lexists(index_dir / "manifest.json"):
            warnings.append("there is no index yet, and the hooks make none: run `lci index`")
        if failure := last_failure(index_dir):
            warnings.append(f"the last run in the background failed: {failure}")
    return {**report, "hooks": [hook._asdict() for hook in report["hooks"]], "warnings": warnings}


def run_hook(root: str | None) -> None:
    """Refresh the index if it exists, unless another hook is already waiting to do so."""
    from lci_py.index.store.background_run import hook_run

    where = find_root(root)
    settings, _ = config.load(where)
    index_dir = own_index_dir(where, settings)
    if os.path.lexists(index_dir / "manifest.json"):
        from lci_py.index.store.commit import refuse_foreign

        refuse_foreign(index_dir)
        hook_run(index_dir, lambda: build_index(root, wait=HOOK_WAIT))


def agents(root: str | None, action: str, names: Sequence[str], **options: Any) -> dict[str, Any]:
    """Call `agents.install.agents` for the project around `root`: add lci to the files of agents, remove or show it."""
    from lci_py.agents.install import agents as change

    return change(str(find_root(root)), action, names, **options)


def agent_hook(text: str) -> str:
    """The answer to an agent's event; "" unless the project has an index that knows the searched name.

    Args:
        text: The event as JSON from the agent.
    """
    from lci_py.agents.hook import REMINDER, definitions_text, hook_output, read_event

    event = read_event(text)
    if event is None:
        return ""
    where = find_root(event.folder or None)
    settings, _ = config.load(where)
    if not os.path.lexists(index_dir_of(where, settings) / "manifest.json"):
        return ""
    if not event.symbol:
        return hook_output(event, REMINDER)
    from lci_py.types.search import Filters

    with open_engine(str(where), refresh="never") as engine:
        answer = engine.definitions(event.symbol, Filters(), _DEFINITIONS)
    if not 0 < answer.total <= _COMMON:
        return ""
    start = event.folder or str(where)
    definitions = [
        (os.path.relpath(where / item.file, start), item.line, item.signature or f"{item.kind} {item.symbol}")
        for item in answer.results
    ]
    return hook_output(event, definitions_text(event.symbol, definitions, answer.total))


# --- workspaces ---------------------------------------------------------------------------------------------------


def workspace_root(name: str) -> str:
    """The root of a workspace; `all` has the repositories of all workspaces.

    Raises:
        UsageError: There is no workspace of that name.
    """
    from lci_py.source.repository.workspace_changes import workspace

    return str(workspace(name).root)


def workspaces(action: str, names: Sequence[str] = (), called: str | None = None) -> dict[str, Any]:
    """Add repositories to a workspace, remove them, or list all workspaces, as a JSON object.

    Args:
        action: add, remove or list.
        names: The workspace, then repositories; for `list`, workspaces (none for all).
        called: The name to give to a repository, if only one is added.
    Raises:
        BadPathError, UsageError: see `workspace_changes`.
    """
    from lci_py.source.repository import workspace_changes as changes

    if action == "list":
        results = [changes.workspace(name) for name in names] if names else changes.workspaces()
        return {"workspaces": [{**_workspace(item), "indexed": config.has_index(item.root)} for item in results]}
    if not names:
        raise UsageError("no workspace is named", hint=f"lci workspace {action} NAME PATH…")
    if action == "add":
        workspace, touched = changes.add(names[0], names[1:], called)
    else:
        workspace, touched = changes.remove(names[0], names[1:])
    rows = [{"repository": name, "path": path} for name, path in touched.items()]
    return {**_workspace(workspace), "added" if action == "add" else "removed": rows}


def _workspace(workspace: Workspace) -> dict[str, Any]:
    from lci_py.source.repository.workspace import member_problem

    repositories = [
        {"repository": name, "path": path, "problem": member_problem(path)}
        for name, path in workspace.repositories.items()
    ]
    return {"workspace": workspace.name, "root": str(workspace.root), "repositories": repositories}


def missing_repositories(root: str) -> list[dict[str, str]]:
    """The repositories of a workspace that cannot be read, and why."""
    from lci_py.source.repository.workspace import WHY, missing

    return [
        {"repository": name, "path": path, "reason": why, "message": f"{path}: {WHY[why]}"}
        for name, (path, why) in missing(root).items()
    ]
