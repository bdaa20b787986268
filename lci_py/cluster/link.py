"""The call graph of a fleet: linked over all parts as that of one index, then cut into the parts.

It reads the symbolic shards of all parts, and no sources. The numbers of its nodes are those of one index over all
parts: a part is a run of the sorted paths, so its rows follow each other.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lci_py.callgraph.link import Linker
from lci_py.cluster.part_graph import Spans, write_part_graph
from lci_py.errors import DamagedIndexError
from lci_py.index.shards.arrays import Arrays, write_arrays
from lci_py.index.shards.callgraph_tables import SqlTables
from lci_py.index.shards.graph import GraphIndex, write_graph
from lci_py.index.shards.numbering import COUNTED, Numbering
from lci_py.processes import FORKS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from lci_py.index.shards.files import FileTable


class Linkable(NamedTuple):
    """What linking needs of a part.

    Attributes:
        symbols: The symbolic shard of each segment.
        numbering: Of the segments.
        files: The table of files.
        unit_symbol: [units] the symbol of each unit, -1 for none.
    """

    symbols: Sequence[Path]
    numbering: Numbering
    files: FileTable
    unit_symbol: NDArray[np.int32]


def _read_facts(parts: Sequence[Linkable], folder: Path) -> Linker:
    """What linking needs of all parts, in the order of their paths.

    Raises:
        DamagedIndexError: A shard is not what was written.
        OSError: A file cannot be written into `folder`.
    """
    numbering = _joined(parts, folder / "numbering.arrays")
    with ExitStack() as stack:
        connections = []
        for shard in (shard for part in parts for shard in part.symbols):
            try:
                uri = shard.resolve().as_uri() + "?mode=ro&immutable=1"
                connections.append(stack.enter_context(closing(sqlite3.connect(uri, uri=True))))
                connections[-1].execute("PRAGMA trusted_schema = OFF")
            except sqlite3.DatabaseError as error:
                raise DamagedIndexError(f"{shard.name}: {error}") from error
        tables = SqlTables(connections, numbering)
        linker = Linker()
        for file in range(numbering.total("files")):
            linker.add_facts(tables.facts(file), tables.calls(file), tables.qualified_names(file))
    return linker


def link(parts: Sequence[Linkable], folder: Path) -> list[tuple[Path, int]]:
    """Link the parts.

    Args:
        parts: In the order of their paths.
        folder: A folder for the files.
    Returns:
        The graph of each part, and how many anonymous functions it has.
    Raises:
        DamagedIndexError: A shard is not what was written.
        OSError: A file cannot be written.
    """
    links = _read_facts(parts, folder).finish(fork=FORKS)
    write_graph(whole := folder / "graph.arrays", links)
    graph = GraphIndex(whole)
    unit_of = np.full(graph.n_symbols + 1, -1, np.int64)
    first_symbol = first_unit = 0
    for part in parts:
        owned = np.flatnonzero(part.unit_symbol >= 0)
        unit_of[first_symbol + part.unit_symbol[owned]] = first_unit + owned
        first_symbol += part.numbering.total("symbols")
        first_unit += part.numbering.total("units")
    shas = [[known.sha for known in part.files.known() if known.slot >= 0] for part in parts]
    times = Counter(sha for own in shas for sha in own)
    made = []
    files = symbols = 0
    for number, part in enumerate(parts):
        stop, end = files + part.numbering.total("files"), symbols + part.numbering.total("symbols")
        lambdas = int(graph.first_lambda[files]), int(graph.first_lambda[stop])
        path = folder / f"part-{number}.arrays"
        copied = np.array([times[sha] > 1 for sha in shas[number]], np.uint8)
        write_part_graph(path, graph, Spans((symbols, end), (files, stop), lambdas), unit_of, copied)
        made.append((path, lambdas[1] - lambdas[0]))
        files, symbols = stop, end
    return made


def _joined(parts: Sequence[Linkable], path: Path) -> Numbering:
    """The numbering of the segments of all parts."""
    publics = []
    first = 0
    for part in parts:
        for segment, counts in enumerate(part.numbering.counts):
            own = part.numbering.public_array("files", segment)
            public = np.arange(counts["files"]) if own is None else own.astype(np.int64)
            publics.append(np.where(public >= 0, public + first, -1))
        first += part.numbering.total("files")
    public = np.concatenate([np.zeros(0, np.int64), *publics])
    slots = np.empty(first, np.int32)
    living = np.flatnonzero(public >= 0)
    slots[public[living]] = living
    arrays: dict[str, NDArray[np.int32]] = {"files_public": public.astype(np.int32), "files_slot": slots}
    for kind in COUNTED[1:]:
        sizes = [np.array(part.files.arrays.view(f"{kind}_sizes", "i4"), np.int32) for part in parts]
        arrays[f"{kind}_sizes"] = np.concatenate([np.zeros(0, np.int32), *sizes])
    write_arrays(path, arrays)
    return Numbering([counts for part in parts for counts in part.numbering.counts], Arrays(path))
