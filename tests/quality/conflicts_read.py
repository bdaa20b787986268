"""The conflicts and the definitions of a folder, read from an index that is removed again: what both comparisons need."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from lci_py import app
from lci_py.search.conflict_list import conflicts
from lci_py.search.session import Session
from lci_py.types_conflicts import Conflict, ConflictsRequest

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
    """Index a folder: all its definitions, and what `lci conflicts` lists.

    Raises:
        lci_py.errors.LciError: It cannot be indexed.
    """
    with _session(root) as session:
        paths = session.symbols.paths()
        # A new index has one segment, so the numbers of files are those of the paths.
        rows = session.symbols.segments[0].execute(_SQL)
        definitions = [Definition(paths[file], *rest) for file, *rest in rows]
        return definitions, conflicts(session, ConflictsRequest()).results


@contextmanager
def _session(root: Path) -> Iterator[Session]:
    before = {name: os.environ.get(name) for name in ("LCI_INDEX_DIR", "LCI_CONFIG_DIR")}
    with tempfile.TemporaryDirectory(prefix="lci-quality-") as scratch:
        os.environ.update(LCI_INDEX_DIR=f"{scratch}/index", LCI_CONFIG_DIR=f"{scratch}/config")
        try:
            app.build_index(str(root), jobs=1, defer_dense=True)
            with app.open_session(str(root), refresh="never") as session:
                yield session
        finally:
            for name, value in before.items():
                os.environ.pop(name, None) if value is None else os.environ.update({name: value})
