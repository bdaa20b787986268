"""Install lci into the files of agents, take it out again, and say where it is.

All changes are made in memory first, since several agents share a file, and then written file by file. A file that is
not understood is left alone, and the others go on.
"""

from __future__ import annotations

import difflib
import io
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from lci_py.agents import json_entry, safe_files, text_block, toml_entry
from lci_py.agents.known import AGENTS, BY_NAME, NAMES, Agent, File, files, place
from lci_py.agents.safe_files import Resolved
from lci_py.agents.text_block import PLAIN
from lci_py.agents.understood import NotUnderstoodError
from lci_py.errors import UsageError, unknown_value
from lci_py.types.record import dataclass

ACTIONS = ("install", "uninstall", "print", "list")
#: What --only takes; a skill belongs to the instructions.
ONLY = ("mcp", "instructions")
_HERE = ("installed", "outdated", "custom")
_FORMS = {"json": json_entry, "toml": toml_entry}


class _Scope(NamedTuple):
    """Which files are meant."""

    root: str  # the project
    user: bool  # the user's own files instead
    only: str | None  # one of `ONLY`

    def files(self, agent: Agent, peek: Callable[[str, str], str | None]) -> list[File]:
        found = files(agent, None if self.user else self.root, peek)
        return [file for file in found if self.only is None or (file.part == "mcp") is (self.only == "mcp")]

    def shown(self, base: str, path: str) -> str:
        return _tilde(os.path.join(base, path)) if self.user else path


@dataclass(slots=True)
class _Row:
    """What became of one file of one agent."""

    file: File
    path: str
    state: str = "absent"
    change: str = "none"
    detail: str = ""
    by_hand: str = ""
    ours: bool = False  # left alone, although something of lci is in it

    def leave(self, error: NotUnderstoodError, *, by_hand: bool) -> None:
        self.state, self.change, self.detail = "left_alone", "none", error.reason
        self.by_hand = _shown(self.file) if by_hand else ""
        self.ours = error.ours


def agents(
    root: str,
    action: str,
    names: Sequence[str] = (),
    *,
    user: bool = False,
    only: str | None = None,
) -> dict[str, Any]:
    """Do or show one of `ACTIONS`.

    Args:
        root: The project, absolute.
        action: install, uninstall, print (what install would write) or list.
        names: Agents; none for those that are found (install, print), installed (uninstall) or known (list).
        user: Whether the user's own files are meant instead of those of the project.
        only: One of `ONLY`; None for all files.
    Returns:
        A JSON-able object: see docs/json-output.md.
    Raises:
        UsageError: An action, a name or a part that does not exist, or a project that is the home folder.
    """
    scope = _Scope(root, user, only)
    _check(scope, action, names)
    tree = _Tree()
    warnings: list[str] = []
    chosen = _chosen(tree, scope, action, names)
    if not chosen and action in ("install", "print"):
        if user:
            raise UsageError("no agent is found in the home folder", hint=f"name one: {', '.join(NAMES[:-1])}")
        chosen = [BY_NAME[PLAIN]]
        warnings.append("no agent is found here: AGENTS.md is taken, which most of them read")
    signs = {agent.name: _signs(tree, agent, scope) for agent in chosen}  # before there are more
    act = {"uninstall": _uninstall, "list": _look}.get(action, _install)
    rows = {agent.name: [row for file in scope.files(agent, tree.peek) for row in act(tree, file)] for agent in chosen}
    everything = [row for found in rows.values() for row in found]
    if action in ("install", "uninstall"):
        tree.write(everything)
    if action != "uninstall" and any(row.file.part == "mcp" and row.state in _HERE for row in everything):
        warnings += _cannot_start()
    return {
        "action": action,
        "scope": "user" if user else "project",
        "root": os.path.expanduser("~") if user else root,
        "agents": [
            {
                "name": agent.name,
                "title": agent.title,
                "detected": signs[agent.name],
                "files": [_as_json(row, scope) for row in rows[agent.name]],
            }
            for agent in chosen
        ],
        **({"diffs": tree.diffs(scope)} if action == "print" else {}),
        "warnings": warnings,
    }


def _check(scope: _Scope, action: str, names: Iterable[str]) -> None:
    if action not in ACTIONS:
        raise unknown_value("action", action, ACTIONS)
    if scope.only is not None and scope.only not in ONLY:
        raise unknown_value("part", scope.only, ONLY)
    for name in names:
        if name not in BY_NAME:
            raise unknown_value("agent", name, NAMES)
        if not scope.files(BY_NAME[name], lambda *_: None):
            kind = "file" if scope.only is None else f"{scope.only} file"
            where = "of the user's" if scope.user else "in a project"
            raise UsageError(f"{name} has no {kind} {where}", hint="`lci agent list` shows what there is")
    if not scope.user and os.path.realpath(scope.root) == os.path.realpath(os.path.expanduser("~")):
        raise UsageError(f"{scope.root} is the home folder, and no project", hint="go to a project, or give --user")


def _chosen(tree: _Tree, scope: _Scope, action: str, names: Sequence[str]) -> list[Agent]:
    if names:
        return [agent for agent in AGENTS if agent.name in names]
    known = [agent for agent in AGENTS if scope.files(agent, tree.peek)]
    if action == "list":
        return known
    if action == "uninstall":
        return [agent for agent in known if _is_installed(tree, agent, scope)]
    return [agent for agent in known if _signs(tree, agent, scope)]


def _is_installed(tree: _Tree, agent: Agent, scope: _Scope) -> bool:
    rows = [row for file in scope.files(agent, tree.peek) for row in _look(tree, file)]
    return any(row.state in _HERE or row.ours for row in rows)


def _signs(tree: _Tree, agent: Agent, scope: _Scope) -> list[str]:
    """Why the agent is taken to be in use: files of the project, and its folder in the user's home."""
    found = []
    if not scope.user:
        found = [sign for sign in agent.signs if os.path.lexists(os.path.join(scope.root, sign))]
    if agent.name == PLAIN:
        text = tree.peek(scope.root, agent.signs[0]) if found else None
        return [] if text is not None and _only_lci(text) else found
    if agent.home is not None:
        base, below = place(agent.home)
        folder = os.path.join(base, below).rstrip("/")
        if os.path.isdir(folder) and folder != os.path.expanduser("~"):
            found.append(_tilde(folder))
    return found


def _only_lci(text: str) -> bool:
    """Whether a file has nothing but lci's block: then it is no sign of an agent."""
    try:
        block = text_block.find(text)
    except NotUnderstoodError:
        return False
    return block is not None and not (text[: block.start] + text[block.end :]).strip()


# --- one file -----------------------------------------------------------------------------------------------------


def _look(tree: _Tree, file: File) -> list[_Row]:
    """Where lci is for this agent: in the file that the agent reads, or in another one that it may read."""
    rows = []
    for path in file.paths:
        row = _Row(file, path)
        try:
            row.state = _state(file, tree.text(file.base, path))
        except NotUnderstoodError as error:
            row.leave(error, by_hand=False)
        rows.append(row)
    here = next((row for row in rows if row.state in _HERE), None)
    return [here or rows[0]]


def _install(tree: _Tree, file: File) -> list[_Row]:
    row = _look(tree, file)[0]
    try:
        text = tree.text(file.base, row.path)
        if _state(file, text) in ("absent", "outdated"):
            if file.server:
                new = _form(file).add(text, file.server)
            else:
                new = text_block.add(text, file.agent, file.body, file.head)
            tree.put(file.base, row.path, new)
            row.state, row.change = "installed", "created" if text is None else "changed"
    except NotUnderstoodError as error:
        row.leave(error, by_hand=True)
    return [row]


def _uninstall(tree: _Tree, file: File) -> list[_Row]:
    rows = []
    for path in file.paths:
        row = _Row(file, path)
        try:
            text = tree.text(file.base, path)
            row.state = _state(file, text)
            if text is not None and row.state in _HERE:
                if row.state == "custom":
                    raise NotUnderstoodError("the entry of lci has been changed: remove it by hand", ours=True)
                if file.server:
                    new = _form(file).remove(text, file.server)
                else:
                    new = text_block.remove(text, file.agent, file.head)
                tree.put(file.base, path, new)
                row.state, row.change = "absent", "removed" if new is None else "changed"
                rows.append(row)
        except NotUnderstoodError as error:
            row.leave(error, by_hand=False)
            if path == file.paths[0] or error.ours:
                rows.append(row)
    return rows or [_Row(file, file.paths[0])]


def _form(file: File) -> Any:
    return _FORMS[file.server.form if file.server else ""]


def _state(file: File, text: str | None) -> str:
    """absent, installed, outdated (another version wrote it) or custom (somebody has changed it)."""
    if text is None:
        return "absent"
    if file.server:
        return str(_form(file).state(text, file.server))
    block = text_block.find(text)
    if block is None or file.agent not in block.names:
        return "absent"
    return "installed" if block.body == file.body.strip() else "outdated"


def _shown(file: File) -> str:
    """What a person would write into the file by hand."""
    if file.server:
        return str(_form(file).shown(file.server))
    return file.head + text_block.written([file.agent], file.body)


def _as_json(row: _Row, scope: _Scope) -> dict[str, str]:
    return {
        "part": row.file.part,
        "path": scope.shown(row.file.base, row.path),
        "state": row.state,
        "change": row.change,
        "detail": row.detail,
        "by_hand": row.by_hand,
    }


def _tilde(path: str) -> str:
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path.startswith(home + "/") else path


def _cannot_start() -> list[str]:
    """What keeps agents from starting `lci mcp` on this machine."""
    import shutil
    from importlib.util import find_spec

    found = []
    if shutil.which("lci") is None:
        found.append("`lci` is not on the PATH, and agents start it by that name")
    if find_spec("mcp") is None:
        found.append("`lci mcp` cannot start without the extra mcp: `pip install 'lci-py[mcp]'`")
    return found


# --- all files ----------------------------------------------------------------------------------------------------


class _Tree:
    """The files, with the changes that are not written yet."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], Resolved] = {}  # folder and path, as they are asked for
        self._before: dict[str, str | None] = {}  # by the absolute path without links
        self._after: dict[str, str | None] = {}
        self._shown: dict[str, tuple[str, str]] = {}

    def text(self, base: str, path: str) -> str | None:
        """The text of a file, None if there is none.

        Raises:
            NotUnderstoodError: It must not be touched.
        """
        if (base, path) not in self._places:
            self._places[base, path] = safe_files.resolve(base, path)
        key = self._key(base, path)
        if key not in self._before:
            self._before[key] = self._after[key] = safe_files.read(self._places[base, path])
            self._shown[key] = (base, path)
        return self._after[key]

    def _key(self, base: str, path: str) -> str:
        place = self._places[base, path]
        return os.path.join(place.base, place.path)

    def peek(self, base: str, path: str) -> str | None:
        """The text of a file, None if there is none, "" if it must not be touched."""
        try:
            return self.text(base, path)
        except NotUnderstoodError:
            return ""

    def put(self, base: str, path: str, text: str | None) -> None:
        """Change the text of a file that has been read; None removes it.

        Raises:
            NotUnderstoodError: It cannot be written.
        """
        safe_files.check_writable(self._places[base, path])
        self._after[self._key(base, path)] = text

    def write(self, rows: Iterable[_Row]) -> None:
        """Write what has changed. The rows of a file that cannot be written say so."""
        for key, after in self._after.items():
            if after == self._before[key]:
                continue
            try:
                safe_files.write(self._places[self._shown[key]], self._before[key], after)
            except NotUnderstoodError as error:
                for row in rows:
                    if row.change != "none" and self._key(row.file.base, row.path) == key:
                        row.leave(error, by_hand=after is not None)

    def diffs(self, scope: _Scope) -> list[dict[str, str]]:
        """The changes as unified diffs."""
        found = []
        for key, after in self._after.items():
            if after != self._before[key]:
                path = key if scope.user else self._shown[key][1]
                found.append({"path": path, "diff": _diff(path, self._before[key], after)})
        return found


def _diff(path: str, before: str | None, after: str | None) -> str:
    old_name, new_name = (path, path) if os.path.isabs(path) else (f"a/{path}", f"b/{path}")
    names = (old_name if before is not None else "/dev/null", new_name)
    # Not str.splitlines, for which a form feed ends a line, too.
    old, new = (io.StringIO(text or "", newline="\n").readlines() for text in (before, after))
    out = []
    for line in difflib.unified_diff(old, new, *names):
        out.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(out)
