"""Finds indexes that others can see or change: committed to git, or in a folder that everybody can write to."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from lci_py.source.repository.git import is_tracked


def exposures(index_dir: Path) -> tuple[bool, tuple[str, ...]]:
    """(whether git tracks files of the index folder, a warning for each problem)."""
    warnings = []
    tracked = is_tracked(index_dir)
    if tracked:
        warnings.append(f"{index_dir} is tracked by git: take it out with `git rm -r --cached {index_dir.name}`")
    try:
        mode = os.stat(index_dir).st_mode
    except OSError:
        mode = 0
    if mode & stat.S_IWOTH:
        warnings.append(f"every user can write to {index_dir}: `chmod o-w` it")
    return tracked, tuple(warnings)
