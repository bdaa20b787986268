"""Installs lci into the files of agents, uninstalls it, and lists where it is.

A part of an agent is an `Entry` of a configuration file, or a `Block` of text; both raise LeftAloneError for a file
that they must not change.
"""

from __future__ import annotations

import difflib
import io
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.agents.block import PLAIN, Block, find
from lci_py.agents.instructions import TASKS, TEXT
from lci_py.agents.safe_files import LeftAloneError, safe_file
from lci_py.agents.table import AGENTS, BY_NAME, NAMES, Agent, Home, Part
from lci_py.errors import UsageError, unknown_value
from lci_py.types.record import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lci_py.agents.entry import Entry

ACTIONS = ("install", "uninstall", "print", "list")
#: What --only takes; a skill belongs to the instructions.
ONLY = ("mcp", "instructions", "hooks")
_PART_OF = {"mcp": "mcp", "instructions": "instructions", "skill": "instructions", "hook": "hooks", "subagent": "hooks"}
_HERE = ("installed", "outdated", "custom")
_NO_EXTRA = "`lci mcp` cannot start without the extra mcp: `pip install 'lci-py[mcp]'`"


class _Scope(NamedTuple):
    """The files that the command is about."""

    root: str  # the project
    user: bool  # the user's own files instead
    only: tuple[str, ...]  # of `ONLY`

    def parts(self, agent: Agent) -> list[Part]:
        parts = [part for part in agent.parts if (part.home is not None) is self.user]
        return [part for part in parts if _PART_OF[part.kind] in self.only]


@dataclass(slots=True)
class _Row:
    """What was done to one file of one agent."""

    part: Part
    base: str  # the folder that the path starts at, and that no link leads out of
    path: str
    content: Entry | Block
    state: str = "absent"
    change: str = "none"
    detail: str = ""
    ours: bool = False  # left alone, although something of lci is in it

    def leave(self, error: LeftAloneError) -> None:
        self.state, self.change, self.detail, self.ours = "left_alone", "none", error.reason, error.ours

    def as_json(self, action: str) -> dict[str, str]:
        help_wanted = self.state == "left_alone" and action in ("install", "print")
        return {
            "part": self.part.kind,
            "path": _tilde(os.path.join(self.base, self.path)) if self.part.home else self.path,
            "state": self.state,
            "change": self.change,
            "detail": self.detail,
            "by_hand": self.content.by_hand() if help_wanted else "",
            "command": self.part.add if help_wanted else "",
        }


def agents(
    root: str,
    action: str,
    names: Sequence[str] = (),
    *,
    user: bool = False,
    only: str | None = None,
    hooks: bool = False,
) -> dict[str, Any]:
    """Do or show one of `ACTIONS`; returns a JSON object (see docs/json-output.md).

    Args:
        root: The project, absolute.
        action: install, uninstall, print (what install would write) or list.
        names: Agents; by default those in use (install, print), installed (uninstall) or known (list).
        user: Whether to use the user's own files instead of those of the project.
        only: One of `ONLY`; None for all files.
        hooks: Whether install and print write hooks, which they do not otherwise.
    Raises:
        UsageError: An action, a name or a part that does not exist, or a project that is the home folder.
    """
    if only is not None and only not in ONLY:
        raise unknown_value("part", only, ONLY)
    unasked = action in ("install", "print") and not hooks
    kinds = (only,) if only is not None else ONLY[:2] if unasked else ONLY
    scope = _Scope(root, user, (*kinds, "hooks") if hooks and only is not None else kinds)
    _check(scope, action, names)
    files = _Files(scope, dry=action == "print")
    warnings: list[str] = []
    chosen = _chosen(files, action, names)
    if not chosen and action in ("install", "print"):
        if user:
            raise UsageError("no agent was found in the home folder", hint=f"name one: {', '.join(NAMES[:-1])}")
        chosen = [BY_NAME[PLAIN]]
        warnings.append("no agent was found here: AGENTS.md is used, which most agents read")
    signs = {agent.name: _signs(files, agent) for agent in chosen}  # before there are more
    rows = {
        agent.name: [row for part in scope.parts(agent) for row in _act(files, agent, part, action)] for agent in chosen
    }
    started = {row.part.kind for found in rows.values() for row in found if row.state in _HERE}
    if action != "uninstall" and not started.isdisjoint(("mcp", "hook")):
        warnings += _cannot_start(server="mcp" in started)
    return {
        "action": action,
        "scope": "user" if user else "project",
        "root": os.path.expanduser("~") if user else root,
        "agents": [
            {
                "name": agent.name,
                "title": agent.title,
                "detected": signs[agent.name],
                "files": [row.as_json(action) for row in rows[agent.name]],
            }
            for agent in chosen
        ],
        **({"diffs": files.diffs()} if action == "print" else {}),
        "warnings": warnings,
    }


def _check(scope: _Scope, action: str, names: Iterable[str]) -> None:
    if action not in ACTIONS:
        raise unknown_value("action", action, ACTIONS)
    for name in names:
        if name not in BY_NAME:
            raise unknown_value("agent", name, NAMES)
        if not scope.parts(BY_NAME[name]):
            kind = "file" if len(scope.only) > 1 else f"{scope.only[0]} file"
            where = "of the user's" if scope.user else "in a project"
            raise UsageError(f"{name} has no {kind} {where}", hint="`lci agent list` shows what there is")
    if scope.only == ("mcp",) and action == "install" and _lacks_extra():
        raise UsageError(_NO_EXTRA, hint="then run this again")
    if not scope.user and os.path.realpath(scope.root) == os.path.realpath(os.path.expanduser("~")):
        raise UsageError(f"{scope.root} is the home folder, not a project", hint="go to a project, or give --user")


def _chosen(files: _Files, action: str, names: Sequence[str]) -> list[Agent]:
    candidates = [agent for agent in AGENTS if files.scope.parts(agent) and (not names or agent.name in names)]
    if names or action == "list":
        return candidates
    return [agent for agent in candidates if (_is_installed if action == "uninstall" else _signs)(files, agent)]


def _is_installed(files: _Files, agent: Agent) -> bool:
    rows = [row for part in files.scope.parts(agent) for row in _rows(files, agent, part)]
    return any(row.state in _HERE or row.ours for row in rows)


def _signs(files: _Files, agent: Agent) -> list[str]:
    """Signs that the agent is in use: files of the project, and its folder in the user's home."""
    root, found = files.scope.root, []
    if not files.scope.user:
        found = [sign for sign in agent.signs if os.path.lexists(os.path.join(root, sign))]
    if agent.name == PLAIN and found and _only_lci(files.peek(root, found[0]) or ""):
        return []
    if agent.home is not None:
        folder = os.path.join(*_folder(agent.home)).rstrip("/")
        if os.path.isdir(folder) and folder != os.path.expanduser("~"):
            found.append(_tilde(folder))
    return found


def _only_lci(text: str) -> bool:
    """Whether a file has nothing but lci's block: then it is no sign of an agent."""
    try:
        block = find(text)
    except LeftAloneError:
        return False
    return block is not None and not (text[: block.start] + text[block.end :]).strip()


def _lacks_extra() -> bool:
    from importlib.util import find_spec

    return find_spec("mcp") is None


def _cannot_start(*, server: bool) -> list[str]:
    """The reasons why agents cannot start lci, or its server, on this machine."""
    import shutil

    found = [] if shutil.which("lci") else ["`lci` is not on the PATH, and agents start it by that name"]
    return [*found, _NO_EXTRA] if server and _lacks_extra() else found


def _content(agent: Agent, part: Part) -> Entry | Block:
    entry = agent.entry if part.kind == "mcp" else part.entry
    if entry is not None:
        return entry
    return Block(agent.name, TASKS if part.kind == "skill" else TEXT, part.head)


def _rows(files: _Files, agent: Agent, part: Part) -> list[_Row]:
    """The files that may contain this part; first the one that the agent reads, or that would be created."""
    base, folder = _folder(part.home) if part.home else (files.scope.root, "")

    def read(path: str) -> str | None:
        return files.peek(base, os.path.join(folder, path))

    paths = list(part.paths)
    chosen = next((path for path in paths if read(path) is not None), part.new or paths[0])
    if part.leads_to_agents is not None:
        paths.append("AGENTS.md")
        if part.leads_to_agents(chosen, read):
            chosen = "AGENTS.md"
    rows = []
    for path in dict.fromkeys([chosen, *paths]):
        row = _Row(part, base, os.path.join(folder, path), _content(agent, part))
        try:
            text = files.text(base, row.path)
            row.state = "absent" if text is None else row.content.state(text)
        except LeftAloneError as error:
            row.leave(error)
        rows.append(row)
    return rows


def _act(files: _Files, agent: Agent, part: Part, action: str) -> Iterator[_Row]:
    """Carry out the action, and report each file that is concerned."""
    rows = _rows(files, agent, part)
    if action == "uninstall":
        rows = [row for row in rows if row.state in _HERE or row.ours] or rows[:1]
    else:
        rows = [next((row for row in rows if row.state in _HERE), rows[0])]
    if _PART_OF[part.kind] == "hooks" and action in ("uninstall", "list"):
        rows = [row for row in rows if row.state != "absent"]  # nobody misses what is written only when asked for
    for row in rows:
        if action == "uninstall" and row.state in _HERE:
            _change(files, row, remove=True)
        elif action in ("install", "print") and row.state in ("absent", "outdated"):
            if part.kind == "mcp" and _lacks_extra():
                row.detail = _NO_EXTRA
            else:
                _change(files, row, remove=False)
        yield row


def _change(files: _Files, row: _Row, *, remove: bool) -> None:
    try:
        if remove and row.state == "custom":
            raise LeftAloneError("the entry of lci has been changed: remove it by hand", ours=True)
        text = files.text(row.base, row.path)
        new = row.content.remove(text or "") if remove else row.content.add(text)
        files.put(row.base, row.path, new)
        row.state = "absent" if remove else "installed"
        row.change = "created" if text is None else "removed" if new is None else "changed"
    except LeftAloneError as error:
        row.leave(error)


def _folder(home: Home) -> tuple[str, str]:
    """The folder of the user that a path is relative to, and the subfolder."""
    named = os.environ.get(home.variable) if home.variable else None
    if named and os.path.isabs(named):
        return named, home.below
    return os.path.expanduser("~"), os.path.join(home.folder, home.below)


def _tilde(path: str) -> str:
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path.startswith(home + "/") else path


class _Files:
    """The files of agents, as they are and as they will be: agents share some, and `print` writes none."""

    def __init__(self, scope: _Scope, *, dry: bool) -> None:
        self.scope = scope
        self._dry = dry
        self._changes: dict[str, tuple[str, str | None, str | None]] = {}  # path as asked for, before, after

    def text(self, base: str, path: str) -> str | None:
        """The text of a file; None if it does not exist.

        Raises:
            LeftAloneError: It must not be touched.
        """
        file = safe_file(base, path)
        return self._changes[file.full][2] if file.full in self._changes else file.read()

    def peek(self, base: str, path: str) -> str | None:
        """The text of a file; None if it does not exist, "" if it must not be touched."""
        try:
            return self.text(base, path)
        except LeftAloneError:
            return ""

    def put(self, base: str, path: str, new: str | None) -> None:
        """Change the text of a file; None removes it.

        Raises:
            LeftAloneError: It cannot be written.
        """
        file = safe_file(base, path)
        old = self.text(base, path)
        file.check_writable()
        if self._dry:
            asked, before, _ = self._changes.get(file.full, (path, old, None))
            self._changes[file.full] = (asked, before, new)
        elif new != old:
            file.write(old, new)

    def diffs(self) -> list[dict[str, str]]:
        """The changes as unified diffs."""
        found = []
        for full, (asked, before, after) in self._changes.items():
            path = full if self.scope.user else asked
            found.append({"path": path, "diff": _diff(path, before, after)})
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
