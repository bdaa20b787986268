"""Installs lci into the files of agents, uninstalls it, and lists where it is.

A part of an agent is an `Entry` of a configuration file, or a `Block` of text; both raise LeftAloneError for a file
that they must not change.
"""

from __future__ import annotations

import difflib
import io
import os
import re
import sys
from typing import TYPE_CHECKING, Any

from lci_py.agents.block import PLAIN, Block
from lci_py.agents.entry import Entry
from lci_py.agents.safe_files import LeftAloneError, safe_file
from lci_py.agents.table import AGENTS, BY_NAME, NAMES, TASKS, TEXT, Agent, Home, Part
from lci_py.errors import UsageError, unknown_value
from lci_py.types.record import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

ACTIONS = ("install", "uninstall", "print", "list")
#: What --only takes; a skill belongs to the instructions.
ONLY = ("mcp", "instructions", "hooks")
_PART_OF = {"mcp": "mcp", "instructions": "instructions", "skill": "instructions", "hook": "hooks", "subagent": "hooks"}
_HERE = ("installed", "outdated", "custom")
_AGENTS_MD = "AGENTS.md"
_NO_EXTRA = "`lci mcp` cannot start without the extra mcp: `pip install 'lci-py[mcp]'`"


def agents(
    root: str, action: str, names: Sequence[str], *, user: bool, only: str | None, hooks: bool
) -> dict[str, Any]:
    """Do or show one of `ACTIONS`; returns a JSON object (see docs/json-output.md).

    Args:
        root: The project, absolute.
        action: install, uninstall, print (what install would write) or list.
        names: The agents; by default all in use (install, print), all installed (uninstall) or all known (list).
        user: Whether to use the user's own files instead of those of the project.
        only: One of `ONLY`; None for all files.
        hooks: Whether install and print include hooks.
    Raises:
        UsageError: An action, a name or a part that does not exist, or a project that is the home folder.
    """
    if action not in ACTIONS:
        raise unknown_value("action", action, ACTIONS)
    if only is not None and only not in ONLY:
        raise unknown_value("part", only, ONLY)
    writes = action in ("install", "print")
    kinds = (only,) if only is not None else ONLY[:2] if writes else ONLY
    run = _Run(os.path.expanduser("~") if user else root, user, (*kinds, "hooks") if hooks else kinds, action)
    for name in names:
        if name not in BY_NAME:
            raise unknown_value("agent", name, NAMES)
        if not run.parts(BY_NAME[name]):
            kind, where = f"{only} file" if only else "file", "of the user's" if user else "in a project"
            raise UsageError(f"{name} has no {kind} {where}", hint="`lci agent list` shows what there is")
    if only == "mcp" and action == "install" and _lacks_extra():
        raise UsageError(_NO_EXTRA, hint="then run this again")
    if not user and os.path.realpath(root) == os.path.realpath(os.path.expanduser("~")):
        raise UsageError(f"{root} is the home folder, not a project", hint="go to a project, or give --user")
    warnings: list[str] = []
    selection = [agent for agent in AGENTS if run.parts(agent) and (not names or agent.name in names)]
    if not names and action != "list":
        selection = [agent for agent in selection if run.is_installed(agent) or (writes and run.signs(agent))]
    if not selection and writes:
        if user:
            raise UsageError("no agent was found in the home folder", hint=f"name one: {', '.join(NAMES[:-1])}")
        selection = [BY_NAME[PLAIN]]
        warnings.append("no agent was found here: AGENTS.md is used, which most agents read")
    signs = [run.signs(agent) for agent in selection]  # before there are more
    rows = [[row for part in run.parts(agent) for row in run.act(agent, part)] for agent in selection]
    started = {row.part.kind for own in rows for row in own if row.state in _HERE}
    if action != "uninstall" and started & {"mcp", "hook"}:
        warnings += _cannot_start(server="mcp" in started)
    return {
        "action": action,
        "scope": "user" if user else "project",
        "root": run.root,
        "agents": [
            {"name": agent.name, "title": agent.title, "detected": marks, "files": [row.as_json(run) for row in own]}
            for agent, marks, own in zip(selection, signs, rows, strict=True)
        ],
        **({"diffs": run.diffs()} if action == "print" else {}),
        "warnings": warnings,
    }


def _lacks_extra() -> bool:
    from importlib.util import find_spec

    return find_spec("mcp") is None


def _cannot_start(*, server: bool) -> list[str]:
    """The reasons why agents cannot start lci (or its MCP server) on this machine; [] if they can."""
    import shutil

    reasons = [] if shutil.which("lci") else ["`lci` is not on the PATH, and agents start it by that name"]
    return [*reasons, _NO_EXTRA] if server and _lacks_extra() else reasons


@dataclass(slots=True)
class _Row:
    """The effect of an action on one file of one agent."""

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

    def as_json(self, run: _Run) -> dict[str, str]:
        help_wanted = self.state == "left_alone" and run.writes
        return {
            "part": self.part.kind,
            "path": _tilde(os.path.join(self.base, self.path)) if run.user else self.path,
            "state": self.state,
            "change": self.change,
            "detail": self.detail,
            "by_hand": self.content.by_hand() if help_wanted else "",
            "command": self.part.command if help_wanted else "",
        }


class _Run:
    """One action on the files of agents. Changes are collected first: agents share files, and `print` writes none."""

    def __init__(self, root: str, user: bool, kinds: Sequence[str], action: str) -> None:
        """Prepare the action.

        Args:
            root: The project, or the home folder.
            user: Whether the files are the user's own.
            kinds: The kinds of files to use, out of `ONLY`.
            action: One of `ACTIONS`.
        """
        self.root, self.user, self._kinds, self._action = root, user, kinds, action
        self.writes = action in ("install", "print")
        self._changes: dict[str, tuple[str, str | None, str | None]] = {}  # path as asked for, before, after

    def parts(self, agent: Agent) -> list[Part]:
        return [
            part for part in agent.parts if (part.home is not None) is self.user and _PART_OF[part.kind] in self._kinds
        ]

    def is_installed(self, agent: Agent) -> bool:
        rows = [row for part in self.parts(agent) for row in self._rows(agent, part)]
        return any(row.state in _HERE or row.ours for row in rows)

    def signs(self, agent: Agent) -> list[str]:
        """Signs that the agent is in use: files of the project, and its folder in the user's home."""
        signs = [sign for sign in agent.signs if not self.user and os.path.lexists(os.path.join(self.root, sign))]
        if agent.name == PLAIN and "lci:start" in (self._peek(self.root, _AGENTS_MD) or ""):
            return []
        if agent.home is not None:
            folder = os.path.join(*_folder(agent.home)).rstrip("/")
            if os.path.isdir(folder) and folder != os.path.expanduser("~"):
                signs.append(_tilde(folder))
        return signs

    def act(self, agent: Agent, part: Part) -> list[_Row]:
        """Carry out the action on the files of a part; returns a row for each relevant file."""
        rows = self._rows(agent, part)
        here = [row for row in rows if row.state in _HERE or (row.ours and not self.writes)]
        rows = (here if self._action == "uninstall" else here[:1]) or rows[:1]
        if _PART_OF[part.kind] == "hooks" and not self.writes:
            rows = [row for row in rows if row.state != "absent"]  # nobody misses what is written only when asked for
        for row in rows:
            if self.writes and row.state in ("absent", "outdated") and part.kind == "mcp" and _lacks_extra():
                row.detail = _NO_EXTRA
            elif row.state in (("absent", "outdated") if self.writes else _HERE if self._action == "uninstall" else ()):
                self._change(row)
        return rows

    def _rows(self, agent: Agent, part: Part) -> list[_Row]:
        """A row per file that may contain this part; first the file that the agent reads, or that would be created."""
        base, folder = _folder(part.home) if part.home else (self.root, "")
        paths = [os.path.join(folder, path) for path in part.paths]
        first = next((path for path in paths if self._peek(base, path) is not None), os.path.join(folder, part.new))
        if part.agents_md is not None:
            file, pattern = part.agents_md
            paths.append(os.path.join(folder, _AGENTS_MD))
            if re.search(pattern, self._peek(base, os.path.join(folder, file) if file else first) or ""):
                first = paths[-1]
        rows = []
        for path in dict.fromkeys([first, *paths]):
            content: Entry | Block = Block(agent.name, TASKS if part.kind == "skill" else TEXT, part.head)
            if part.entry is not None:
                content = Entry(agent.name, part.keys, part.entry, part.kind == "hook", path.endswith(".toml"))
            row = _Row(part, base, path, content)
            try:
                text = self._text(base, path)
                row.state = "absent" if text is None else content.state(text)
            except LeftAloneError as error:
                row.leave(error)
            rows.append(row)
        return rows

    def _change(self, row: _Row) -> None:
        try:
            if row.state == "custom":
                raise LeftAloneError("the entry of lci has been changed: remove it by hand", ours=True)
            text = self._text(row.base, row.path)
            new = row.content.add(text) if self.writes else row.content.remove(text or "")
            self._put(row.base, row.path, text, new)
            row.state = "installed" if self.writes else "absent"
            row.change = "created" if text is None else "removed" if new is None else "changed"
        except LeftAloneError as error:
            row.leave(error)

    def _text(self, base: str, path: str) -> str | None:
        """The text of a file; None if it does not exist. Raises LeftAloneError if it must not be touched."""
        file = safe_file(base, path)
        return self._changes[file.full][2] if file.full in self._changes else file.read()

    def _peek(self, base: str, path: str) -> str | None:
        """The text of a file; None if it does not exist, "" if it must not be touched."""
        try:
            return self._text(base, path)
        except LeftAloneError:
            return ""

    def _put(self, base: str, path: str, old: str | None, new: str | None) -> None:
        """Change the text of a file; None removes it. Raises LeftAloneError if it cannot be written."""
        file = safe_file(base, path)
        file.check_writable()
        if self._action == "print":
            printed, before, _ = self._changes.get(file.full, (path, old, None))
            self._changes[file.full] = (printed, before, new)
        elif new != old:
            file.write(old, new)

    def diffs(self) -> list[dict[str, str]]:
        """The changes as unified diffs."""
        paths = [(full if self.user else printed, old, new) for full, (printed, old, new) in self._changes.items()]
        return [{"path": path, "diff": _diff(path, old, new)} for path, old, new in paths]


def _folder(home: Home) -> tuple[str, str]:
    """(folder, below): the user's folder that a path is relative to, and the subfolder in it."""
    if home.darwin and sys.platform == "darwin":
        return os.path.expanduser("~"), home.darwin
    folder = os.environ.get(home.variable) if home.variable else None
    if folder and os.path.isabs(folder):
        return folder, home.below
    return os.path.expanduser("~"), os.path.join(home.folder, home.below)


def _tilde(path: str) -> str:
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path.startswith(home + "/") else path


def _diff(path: str, before: str | None, after: str | None) -> str:
    old_name, new_name = (path, path) if os.path.isabs(path) else (f"a/{path}", f"b/{path}")
    names = (old_name if before is not None else "/dev/null", new_name)
    # Not str.splitlines, for which a form feed ends a line, too.
    old, new = (io.StringIO(text or "", newline="\n").readlines() for text in (before, after))
    lines = difflib.unified_diff(old, new, *names)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
