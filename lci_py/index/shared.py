"""The shards of all segments together: the table of files and the graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lci_py.index.files import write_files
from lci_py.index.parts import table_arrays

if TYPE_CHECKING:
    from lci_py.index.generation import Made, Setting
    from lci_py.index.manifest import Manifest


def write_shared(setting: Setting, made: Made, before: Manifest | None) -> tuple[dict[str, Path], dict[str, int]]:
    """Write them into the staging folder: (role -> path, how many edges there are of each kind)."""
    files = setting.folder / "files.arrays"
    write_files(
        files,
        made.known,
        setting.walked.skipped,
        [*setting.walked.folders, *setting.walked.rules, *setting.watched],
        table_arrays(made.parts),
    )
    setting.report("graph", 0, 0)
    if __import__("os").environ.get("NOGRAPH"):
        (setting.folder / "graph.arrays").write_bytes(b"x")
        return {"files": files, "graph": setting.folder / "graph.arrays"}, {}
    # TEMPORARY: everything is linked anew
    from collections import Counter

    from lci_py.index.cache import Cache
    from lci_py.index.graph import EDGE_KINDS, resolve_edges, write_graph
    from lci_py.index.rows import number
    from lci_py.source.record import Place, decode

    living = [item for item in made.known if item.slot >= 0]
    cache = Cache(setting.place.index_dir, setting.place.secret)
    bodies = cache.get("records", [item.key for item in living])
    rows = number([decode(bodies[i.key], Place(i.path, i.size, i.mtime_ns, i.sha)) for i in living])
    edges, _ = resolve_edges(rows)
    graph = setting.folder / "graph.arrays"
    write_graph(graph, edges, len(rows.symbols), len(rows.records))
    kinds = Counter(EDGE_KINDS[edge[2]] for edge in edges)
    return {"files": files, "graph": graph}, dict(sorted(kinds.items()))
