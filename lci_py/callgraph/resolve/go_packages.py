"""Evaluates names in Go packages, which consist of all files in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lci_py.callgraph.lookup_tables import Definition, is_go_test
from lci_py.callgraph.lookups import LookUps
from lci_py.callgraph.resolve.values import Values, distinct, value_of, with_step
from lci_py.types.edges import IMPORT
from lci_py.types.source import ALIAS, TypeHint

#: Evaluates type hints of a file, and the text of a type: `Types.rows`, `Types.declared`.
Rows = Callable[[int, Iterable[TypeHint], int], Values]
Declared = Callable[[int, int, str, int], Values]


def in_package(look_ups: LookUps, rows: Rows, file: int, name: str, depth: int) -> Values:
    """The values of a top-level name in a file's Go package, as other packages see the name.

    Args:
        rows: A function that evaluates type hints (`Types.rows`).
        depth: How many further names may be followed.
    """
    heads, folder = look_ups.files.heads, look_ups.files.folders[file]
    definitions = look_ups.in_folder("go", folder, name)
    values = tuple(value_of(item, IMPORT) for item in definitions if not is_go_test(heads[item.file].path))
    if values:
        return values
    for other in look_ups.go_variable(folder, name):
        values = rows(other, look_ups.typed(other, -1, name), depth)
        if values:
            return with_step(values, IMPORT)
    return ()


def named_type(look_ups: LookUps, declared: Declared, type_: Definition, depth: int) -> Values:
    """The type behind a named type: `[]*Item` for `type Items []*Item`."""
    rows = look_ups.typed(type_.file, -1, look_ups.name(type_))
    return distinct(v for row in rows if row.kind == ALIAS for v in declared(type_.file, -1, row.text, depth))
