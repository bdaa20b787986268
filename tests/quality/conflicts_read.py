"""The conflicts and definitions of a folder, from a temporary index, for the comparisons of conflicts."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from lci_py.search.conflicts.repository import conflicts
from lci_py.types.conflicts import Conflict, ConflictsRequest
from tests.quality.edges import indexed

_SQL = "SELECT file, line, name, qualified_name, kind, build_tag, traits FROM symbols ORDER BY id"


class Definition(NamedTuple):
    """One definition of the index; `path` is relative to its root."""

    path: str
    line: int
    name: str
    qualified_name: str
    kind: str
    build_tag: str | None
    traits: str


def read_conflicts(root: Path) -> tuple[list[Definition], tuple[Conflict, ...]]:
    """Index a folder, and read all its definitions and the conflicts that `lci conflicts` lists.

    Raises:
        lci_py.errors.LciError: It cannot be indexed.
    """
    with indexed(root) as session:
        paths = session.snapshot.symbols.paths()
        # A new index has one segment, so the numbers of files are those of the paths.
        rows = session.snapshot.symbols.segments[0].execute(_SQL)
        definitions = [Definition(paths[file], *rest) for file, *rest in rows]
        return definitions, conflicts(session.snapshot, ConflictsRequest(all=True)).results
