"""Makes paths relative to the current folder instead of to the root, as ripgrep and git print them in a subfolder.

Such paths are for people and xargs; JSON keeps paths relative to the root.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from lci_py.types.record import replace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    #: A path from the root to the same path from the current folder.
    _Move = Callable[[str], str]

A = TypeVar("A")
#: Fields, and keys of objects, whose value is a path or several.
_PATHS = frozenset({"file", "path", "also_in", "unsearched", "by_name"})
#: Fields in which nothing is a path of the answer, or may be long.
_NO_PATHS = frozenset({"request", "info", "index", "lines", "marks", "explain", "plan", "trace", "tally", "totals"})
#: A source of a disagreement that is a place; any other source is the id of a result.
_SOURCE = re.compile(r"(?s)(.+):(\d+)")


def _move(root: Path, folder: str) -> _Move:
    """Returns a function that rewrites one path, from relative to `root` to relative to `folder`."""
    if root.parent.name == "workspaces":
        return _out_of_workspace(root, folder)
    return lambda path: os.path.relpath(os.path.join(root, path), folder)


def _out_of_workspace(root: Path, folder: str) -> _Move:
    """Returns a function that rewrites a path of a workspace (whose top folders are links): the new path is relative to
    `folder`, or absolute if that is shorter.
    """
    links: dict[str, str] = {}

    def move(path: str) -> str:
        name, slash, rest = path.partition("/")
        if name not in links:
            links[name] = os.path.realpath(os.path.join(root, name))
        full = links[name] + slash + rest
        return min(os.path.relpath(full, folder), full, key=len)

    return move


def seen_from(answer: A, root: Path, folder: str) -> A:
    """A copy of any command's answer with every path relative to `folder`; its request is unchanged."""
    result: A = _mover(_move(root, folder))(answer)
    return result


def _mover(move: _Move) -> Callable[[Any], Any]:
    """Returns a function that rewrites every path in a value, however nested; `move` rewrites one path."""

    def moved(value: Any) -> Any:
        if value is None or isinstance(value, (str, int, float)):
            return value
        if type(value) in (tuple, list):
            return type(value)(map(moved, value))
        if isinstance(value, Iterator):  # the files of grep, which are searched while they are read
            return map(moved, value)
        if isinstance(value, dict):
            if "reasoning" in value:
                return _disagreement(value, move)
            return {name: field(name, item) for name, item in value.items()}
        names = value.__match_args__  # of a record, and of a named tuple
        changed = {name: field(name, getattr(value, name)) for name in names if name not in _NO_PATHS}
        return value._replace(**changed) if hasattr(value, "_replace") else replace(value, **changed)

    def field(name: str, value: Any) -> Any:
        if name in _PATHS and isinstance(value, str):
            return move(value)
        if name in _PATHS and isinstance(value, tuple):
            return tuple(map(move, value))
        if name == "files" and isinstance(value, tuple):  # of an outline: (path, language, stale)
            return tuple((move(path), *rest) for path, *rest in value)
        # Mapped right here: a call tree is as deep as its calls, and each level costs one frame.
        return tuple(map(moved, value)) if type(value) is tuple else moved(value)

    return moved


def _disagreement(conflict: dict[str, Any], move: _Move) -> dict[str, Any]:
    """A copy of a disagreement in which the paths of its sources are rewritten, also where its sentence names them."""
    sources = [str(source) for source in conflict.get("sources", ())]
    moved = {
        source: f"{move(parts[1])}:{parts[2]}" if (parts := _SOURCE.fullmatch(source)) else source for source in sources
    }
    cited = str(conflict.get("reasoning", ""))
    if moved:
        any_source = "|".join(re.escape(source) for source in sorted(moved, key=len, reverse=True))
        cited = re.sub(rf"(?<![\w./-])(?:{any_source})(?!\d)", lambda match: moved[match.group()], cited)
    return {**conflict, "sources": [moved[source] for source in sources], "reasoning": cited}
