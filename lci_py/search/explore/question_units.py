"""Places that a question names explicitly: lines of files, frames of stack traces and logs, routes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lci_py.index.shards.symbols import narrowest
from lci_py.search.ranking import frames
from lci_py.source.text.patterns import ROUTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lci_py.search.snapshot import Snapshot
    from lci_py.types.explore import PieceRole
    from lci_py.types.search import Filters

#: Factor of each further place.
_LESS = 0.95


class NamedUnit(NamedTuple):
    """A unit that the question names."""

    unit: int
    role: PieceRole
    worth: float
    via: str = ""  # what it uses, by name


def places(
    snapshot: Snapshot, given: Sequence[tuple[str, int]], worth: float, role: PieceRole = "named"
) -> list[NamedUnit]:
    """The innermost units that enclose the given (path, line) pairs, in order."""
    paths = {path: number for number, path in enumerate(snapshot.symbols.paths())}
    chunks = {path: snapshot.symbols.chunks_of_file(paths[path]) for path, _ in given if path in paths}
    return _places_of((narrowest(chunks[path], line) for path, line in given if path in chunks), worth, role)


def units_at_frames(snapshot: Snapshot, text: str, filters: Filters, worth: float) -> list[NamedUnit]:
    """The units at the frames of a stack trace or a log, the deepest first."""
    return _places_of(
        (place.row["unit"] for place in frames.places(snapshot, text, filters, certain=True)), worth, "named"
    )


def handlers(snapshot: Snapshot, text: str, worth: float) -> list[NamedUnit]:
    """The handlers of a route such as `GET /checks/12`, the closest first."""
    if not ROUTE.match(text):
        return []
    from lci_py.search.routes import answering

    return _places_of((row["unit"] for row, _ in answering(snapshot, text)), worth, "named")


def _places_of(units: Iterable[int | None], worth: float, role: PieceRole) -> list[NamedUnit]:
    distinct = [unit for unit in dict.fromkeys(units) if unit is not None]
    return [NamedUnit(unit, role, round(worth * _LESS**place, 6)) for place, unit in enumerate(distinct)]
