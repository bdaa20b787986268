"""The shards of all segments together: the table of files and the graph."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lci_py.callgraph.relink import relink
from lci_py.errors import DamagedIndexError
from lci_py.index.build.generation import GRAPH_FILE
from lci_py.index.build.merge_policy import table_arrays
from lci_py.index.shards.callgraph_tables import SqlTables
from lci_py.index.shards.files import FileTable, write_files
from lci_py.index.shards.graph import read_links, write_graph
from lci_py.index.shards.numbering import Numbering

if TYPE_CHECKING:
    from lci_py.callgraph.edges import Links
    from lci_py.index.build.generation import BuildContext, Generation
    from lci_py.index.build.graph_process import GraphProcess
    from lci_py.index.store.manifest import Manifest, Shard


def write_global_shards(
    context: BuildContext,
    generation: Generation,
    before: tuple[Manifest, FileTable] | None,
    graph: GraphProcess,
    branches: Path | Shard | None,
) -> tuple[dict[str, Path | Shard], dict[str, int]]:
    """Write them into the staging folder.

    Args:
        context: What the generation is made with.
        generation: The generation.
        before: The one before, if this one was made of it.
        graph: Has been given all records, if it was not.
        branches: The shard of other branches, in the staging folder or as it was; None if there is none.
    Returns:
        Role -> path, or shard that stays, and how many edges there are of each kind.
    """
    files, graph_file = context.folder / "files.arrays", context.folder / GRAPH_FILE
    shards: dict[str, Path | Shard] = {"files": files, "graph": graph_file}
    if branches is not None:
        shards["branches"] = branches
    write_files(files, generation.known, context.walked.skipped, context.watched, table_arrays(generation.segments))
    context.report("graph", 0, 0)
    if before is None:
        return shards, graph.finish(graph_file)
    links = _relinked(context, generation, *before, FileTable(files))
    write_graph(graph_file, links)
    return shards, links.edges_by_kind()


def _relinked(
    context: BuildContext, generation: Generation, manifest: Manifest, old: FileTable, new: FileTable
) -> Links:
    folder = context.place.index_dir
    old_shards = [folder / segment.shards["symbols"].name for segment in manifest.segments]
    new_shards = [state.symbols for state in generation.segments]
    numbering = Numbering([segment.counts for segment in manifest.segments], old.maps())
    now = {path: number for number, path in enumerate(item.path for item in generation.known if item.slot >= 0)}
    was = [item.path for item in old.known() if item.slot >= 0]
    moved = [-1 if path in generation.fresh else now.get(path, -1) for path in was]
    fresh = sorted(set(range(len(now))).difference(moved))
    with (
        _tables(old_shards, numbering) as before,
        _tables(new_shards, Numbering([state.segment.counts for state in generation.segments], new.maps())) as after,
    ):
        return relink(read_links(folder / manifest.shards["graph"].name), before, after, moved, fresh)


@contextmanager
def _tables(shards: Sequence[Path], numbering: Numbering) -> Iterator[SqlTables]:
    with ExitStack() as stack:
        connections = []
        for shard in shards:
            try:
                uri = shard.resolve().as_uri() + "?mode=ro&immutable=1"
                connection = stack.enter_context(closing(sqlite3.connect(uri, uri=True)))
                connection.execute("PRAGMA trusted_schema = OFF")
            except sqlite3.DatabaseError as error:
                raise DamagedIndexError(f"{shard.name}: {error}") from error
            connections.append(connection)
        yield SqlTables(connections, numbering)
