"""The same repositories as one index over one folder, and as a fleet of parts in one process."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lci_py import app
from lci_py.cluster.leaf import Leaf
from lci_py.cluster.link import Linkable, link
from lci_py.cluster.part_graph import PartGraph
from lci_py.cluster.root import FleetInfo, PartInfo, Root, starts
from lci_py.errors import LciError
from lci_py.search.engine import Engine


def copy_files(source: Path, paths: Sequence[str], target: Path) -> Path:
    """A folder with some files of another one, of the same times."""
    for path in paths:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / path, target / path)
    return target


class InProcess:
    """Calls the leaves one after the other. A part in `lost` does not answer."""

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        self.leaves = leaves
        self.lost: set[int] = set()
        self.asked: list[tuple[str, tuple[int, ...]]] = []

    def call(self, method: str, asked: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        self.asked.append((method, tuple(asked)))
        found: dict[int, Any] = {}
        for part, args in asked.items():
            if part in self.lost:
                continue
            try:
                found[part] = getattr(self.leaves[part], method)(*args)
            except LciError as error:
                found[part] = error
        return found


def info(engine: Engine, name: str, lambdas: int) -> PartInfo:
    snapshot = engine.snapshot
    counts = {kind: snapshot.numbering.total(kind) for kind in ("files", "symbols", "units", "chunks")}
    languages = frozenset(snapshot.manifest.counts["files_by_language"])
    return PartInfo(name, {**counts, "lambdas": lambdas}, snapshot.lexical.total_lengths(), languages, True)


class Fleet:
    """Parts of a folder, each with an index of its own."""

    def __init__(self, source: Path, parts: Sequence[Sequence[str]], folder: Path) -> None:
        """
        Args:
            source: The folder.
            parts: The paths of each part, in their order.
            folder: An empty folder.
        """
        self.engines: list[Engine] = []
        for number, paths in enumerate(parts):
            root = copy_files(source, paths, folder / f"root-{number}")
            root.mkdir(exist_ok=True)
            app.build_index(str(root), jobs=1)
            self.engines.append(app.open_engine(str(root), refresh="never"))
        snapshots = [engine.snapshot for engine in self.engines]
        (folder / "links").mkdir()
        linked = link(
            [Linkable(s.shards("symbols"), s.numbering, s.unit_table.symbol) for s in snapshots], folder / "links"
        )
        infos = [
            info(engine, paths[0].partition("/")[0] if paths else "", lambdas)
            for engine, paths, (_, lambdas) in zip(self.engines, parts, linked, strict=True)
        ]
        self.info = FleetInfo(tuple(infos), 1, "2026-01-01T00:00:00Z")
        leaves = []
        for number, (snapshot, (path, _)) in enumerate(zip(snapshots, linked, strict=True)):
            counts = infos[number].counts
            graph = lambda path=path, counts=counts: PartGraph(path, counts["symbols"], counts["files"])  # noqa: E731
            leaves.append(Leaf(snapshot, starts(self.info, number), graph))
        self.calls = InProcess(leaves)
        self.root = Root(self.info, self.calls)

    def close(self) -> None:
        for engine in self.engines:
            engine.snapshot.close()


def indexed_paths(engine: Engine) -> list[str]:
    return sorted(engine.snapshot.symbols.paths())
