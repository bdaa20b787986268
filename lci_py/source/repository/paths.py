"""Names of files, as a user or git gives them, to paths of the index."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from lci_py.errors import BadPathError

#: Folders that the walk neither enters nor counts.
ALWAYS_SKIPPED = frozenset({".git", ".lci"})


def relative_to_root(root: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Paths relative to the root, POSIX, sorted, each once.

    Args:
        root: The root, absolute and resolved.
        names: Names relative to the current folder, or absolute. A file need not exist: it may have been deleted.
    Raises:
        BadPathError: A name lies outside the root, or is the root.
    """
    return tuple(sorted({_relative(root, name) for name in names}))


def _relative(root: Path, name: str) -> str:
    if not name or "\0" in name:
        raise BadPathError("a name is empty or holds a NUL", hint="--files takes names of files")
    full = os.path.abspath(name)
    # The path as written comes first: if a folder has become a link, the file that was below it before is meant.
    for path in (full, os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))):
        found = os.path.relpath(path, root)
        if found != os.curdir and found.split(os.sep)[0] != os.pardir:
            return found.replace(os.sep, "/")
    raise BadPathError(
        f"{name} is not a file below {root}", hint="--files takes files of one repository; see --root for another"
    )
