"""Writes the call graph of a generation that is built from an older one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from lci_py.callgraph.relink import relink
from lci_py.index.build.generation import GRAPH_FILE
from lci_py.index.shards.callgraph_tables import FileRows, SqlTables
from lci_py.index.shards.files import FileTable
from lci_py.index.shards.graph import read_links, write_graph
from lci_py.index.shards.numbering import Numbering
from lci_py.index.shards.symbols import SqliteFile

if TYPE_CHECKING:
    from lci_py.callgraph.edges import Links
    from lci_py.index.build.changes import PreviousGeneration
    from lci_py.index.build.context import BuildContext
    from lci_py.index.build.generation import Generation


def write_relinked(
    context: BuildContext, generation: Generation, previous: PreviousGeneration, files: Path
) -> tuple[Path, Links]:
    """Update the previous graph by linking files again where necessary, and write it into the staging folder.

    Args:
        generation: The new generation.
        previous: The generation that the new one started from.
        files: The new table of files.
    Returns:
        The graph's path in the staging folder, and the graph.
    """
    context.run.report("graph", 0, 0)
    links = _relink_graph(context, generation, previous, FileTable(files))
    write_graph(graph_file := context.folder / GRAPH_FILE, links)
    return graph_file, links


def _relink_graph(context: BuildContext, generation: Generation, previous: PreviousGeneration, new: FileTable) -> Links:
    folder, manifest, old = context.place.index_dir, previous.manifest, previous.table
    old_shards = [folder / segment.shards["symbols"].name for segment in manifest.segments]
    new_shards = [state.symbols for state in generation.segments]
    numbering = Numbering([segment.counts for segment in manifest.segments], old.maps())
    now = {path: number for number, path in enumerate(item.path for item in generation.known if item.slot >= 0)}
    moved = [-1 if path in generation.fresh else now.get(path, -1) for path in old.living_paths()]
    fresh = sorted(set(range(len(now))).difference(moved))
    with ExitStack() as stack:
        before = _tables(stack, old_shards, numbering, {})
        rows = dict(zip(old_shards, before.file_rows, strict=True))
        counts = [state.segment.counts for state in generation.segments]
        after = _tables(stack, new_shards, Numbering(counts, new.maps()), rows)
        return relink(read_links(folder / manifest.shards["graph"].name), before, after, moved, fresh)


def _tables(
    stack: ExitStack, shards: Sequence[Path], numbering: Numbering, file_rows: Mapping[Path, FileRows]
) -> SqlTables:
    """The linker's look-up tables of a generation; `file_rows` has the files of some shards, to save reading."""
    rows = {segment: file_rows[shard] for segment, shard in enumerate(shards) if shard in file_rows}
    return SqlTables([stack.enter_context(closing(SqliteFile(shard))).db for shard in shards], numbering, rows)
