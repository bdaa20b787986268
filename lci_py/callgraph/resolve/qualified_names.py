"""Finds definitions by dotted names, in languages where several files may continue a module or namespace."""

from __future__ import annotations

from collections.abc import Iterator

from lci_py.callgraph.lookup_tables import Definition
from lci_py.callgraph.lookups import LookUps
from lci_py.types.search import TYPE_KINDS

_MOST_FILES = 16
_HOLDERS = TYPE_KINDS | {"module", "namespace"}


def find_dotted(look: LookUps, file: int, scope: int, dotted: str) -> Definition | None:
    """The first definition of a dotted name, looked up from the innermost enclosing module outwards, as in Ruby.

    Args:
        scope: The innermost enclosing symbol, or -1.
        dotted: The name; a name that begins with `::` is looked up at the top level only.
    """
    family = look.files.families[file]
    absolute = dotted.startswith("::")
    for prefix in ("",) if absolute else _prefixes(look, file, scope):
        full = f"{prefix}.{dotted}" if prefix else dotted.removeprefix("::")
        for target in look.declaring(family, full)[:_MOST_FILES]:
            definition = _definition_inside(look, target, full)
            if definition is not None:
                return definition
    return None


def find_in_module(look: LookUps, owner: Definition, name: str) -> Definition | None:
    """The definition of a name in a module, in any of the module's files."""
    full = next(_prefixes(look, owner.file, look.place(owner)))
    return find_dotted(look, owner.file, -1, f"::{full}.{name}")


def _prefixes(look: LookUps, file: int, scope: int) -> Iterator[str]:
    """Yields the qualified names of the enclosing modules, the innermost first, and then "" for the top level."""
    facts = look.tables.facts(file)
    names: list[str] = []
    while scope >= 0:
        if facts.kinds[scope] in _HOLDERS:
            names.append(facts.names[scope])
        scope = facts.parents[scope]
    if facts.head.package:
        names.append(facts.head.package)
    names.reverse()
    for size in range(len(names), -1, -1):
        yield ".".join(names[:size])


def _definition_inside(look: LookUps, file: int, full: str) -> Definition | None:
    """The definition with a qualified name in a file that declares it."""
    package = look.files.heads[file].package
    rest = full.removeprefix(package + ".") if package else full
    parts = rest.split(".")
    # A name may have dots itself: `defmodule Shop.Cart`.
    for size in range(len(parts), 0, -1):
        definition = look.top(file, ".".join(parts[:size]))
        if definition is None:
            continue
        for part in parts[size:]:
            inner = look.own_members(definition, part)
            if not inner:
                break
            definition = inner[0]
        else:
            return definition
    # `class Shop::Cart`, where no module `Shop` is written: the file declares the name, and has only its last part.
    alone = look.top(file, parts[-1])
    return alone if alone is not None and alone.kind in _HOLDERS else None
