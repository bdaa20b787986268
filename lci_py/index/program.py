"""The propagation of functions as values over all files of an index, for a full link and for a refresh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.errors import DamagedIndexError
from lci_py.index.imports import ImportResolver
from lci_py.index.links import Linked
from lci_py.index.lookups import LookUps
from lci_py.index.points import FlowFile
from lci_py.index.solve import Solver
from lci_py.source.flow import decode
from lci_py.source.lower import LOWERED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from lci_py.index.lookups import SiteCounts
    from lci_py.index.tables import Tables
    from lci_py.types import Import


def solved(tables: Tables, sites: SiteCounts) -> Linked:
    """Edges that follow from where functions go as values."""
    look_ups = LookUps(tables, sites)
    imports = ImportResolver(look_ups)
    solver = Solver(imports.submodule)
    for file, head in enumerate(tables.files.heads):
        if head.language not in LOWERED:
            continue
        facts = tables.facts(file)
        if not facts.flow:
            continue
        try:
            flow = decode(facts.flow)
        except ValueError as error:
            raise DamagedIndexError(f"the symbolic shard: {error}") from error
        python = head.language == "python"
        solver.add(
            FlowFile(
                file,
                flow,
                facts.first,
                tables.first_lambda[file],
                [_meaning(imports, file, item, python) for item in facts.imports],
                python,
            )
        )
    found = Linked()
    found.add(solver.solve(), ())
    return found


def _meaning(
    imports: ImportResolver, file: int, item: Import, python: bool
) -> tuple[tuple[int, ...], str, tuple[int, ...]]:
    heads: tuple[int, ...] = ()
    if python and not item.name and not item.alias and "." in item.module:
        from dataclasses import replace

        heads = imports.targets(file, replace(item, module=item.module.partition(".")[0]))
    return imports.targets(file, item), item.name, heads


def concerns(tables: Tables, files: Iterable[int]) -> bool:
    """Whether the propagation goes through any of some files."""
    heads = tables.files.heads
    return any(heads[file].language in LOWERED for file in files)


def anonymous(tables: Tables, first_symbol: NDArray[Any], files: Sequence[int]) -> NDArray[Any]:
    """int32 [3, n]: the symbol around each anonymous function of some files, its first and its last line."""
    rows = [
        (int(first_symbol[file]) + item.symbol if item.symbol >= 0 else -1, item.line, item.end_line)
        for file in files
        for item in tables.facts(file).lambdas
    ]
    found: NDArray[Any] = np.array(rows, np.int32).reshape(-1, 3).T
    return found
