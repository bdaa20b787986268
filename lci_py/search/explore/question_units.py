"""Finds code that a question names: lines of files, frames of stack traces and logs, routes, or a pasted message.

Somebody who pastes a message asks under which condition it appears. The message is a literal in the code that raises
it, or in a constant or short function that this code uses. Then that code is the answer, whatever else has the words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lci_py.index.shards.symbols import narrowest
from lci_py.search.explore.spend import EXCERPTS
from lci_py.search.navigate.references import references
from lci_py.search.ranking import partial_names
from lci_py.source.text.patterns import ROUTE
from lci_py.types.graph import GraphRequest
from lci_py.types.search import VALUED_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lci_py.index.shards.symbols import Row
    from lci_py.search.answer.results import LineMatcher
    from lci_py.search.explore.weigh import Way
    from lci_py.search.navigate.present import PresentFiles
    from lci_py.search.ranking.fusion import Outcome
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.explore import Piece, PieceRole
    from lci_py.types.search import Filters

#: Factor of each further place.
_LESS = 0.95
#: How much of the question stands there word for word, at least, and in how many definitions at most.
_STATED, _MOST = 0.9, 3
#: Uses of a constant that are looked at, and what one is worth.
_USES, _USE = 8, 0.4
#: Lines of a function that only says the message, at most; and of one that is shown whole.
_HELPER, _LONG = 15, 40
#: Quotation marks, and those of a docstring.
_QUOTES, _DOCSTRING = (b'"', b"'", b"`"), (b'"""', b"'''")


class NamedUnit(NamedTuple):
    """A unit that the question names."""

    unit: int
    role: PieceRole
    worth: float
    via: str = ""  # what it uses, by name


def places(
    snapshot: Snapshot, locations: Sequence[tuple[str, int]], worth: float, role: PieceRole = "named"
) -> list[NamedUnit]:
    """The units around the (path, line) pairs in `locations`, in the same order; for each line the innermost unit."""
    paths = {path: number for number, path in enumerate(snapshot.symbols.paths())}
    chunks = {path: snapshot.symbols.chunks_of_file(paths[path]) for path, _ in locations if path in paths}
    return _places_of((narrowest(chunks[path], line) for path, line in locations if path in chunks), worth, role)


def units_at_frames(snapshot: Snapshot, text: str, filters: Filters, worth: float) -> list[NamedUnit]:
    """The units at the frames of a stack trace or a log, the deepest first."""
    return _places_of(
        (frame.row["unit"] for frame in partial_names.places(snapshot, text, filters, certain=True)), worth, "named"
    )


def handlers(snapshot: Snapshot, text: str, worth: float) -> list[NamedUnit]:
    """The functions that handle a route such as `GET /checks/12`, the closest match first."""
    if not ROUTE.match(text):
        return []
    from lci_py.search.routes import answering

    return _places_of((row["unit"] for row, _ in answering(snapshot, text)), worth, "named")


def _places_of(units: Iterable[int | None], worth: float, role: PieceRole) -> list[NamedUnit]:
    distinct = [unit for unit in dict.fromkeys(units) if unit is not None]
    return [NamedUnit(unit, role, round(worth * _LESS**rank, 6)) for rank, unit in enumerate(distinct)]


# --- a message ----------------------------------------------------------------------------------------------------


class Message(NamedTuple):
    """A pasted message: the definitions that state it, and the definitions that use these."""

    units: list[int]  # definitions that state it
    helpers: frozenset[int]  # the short ones of these
    constants: list[Row]  # definitions without a unit of their own that do
    uses: list[NamedUnit]  # of the constants

    def is_raised_by(self, way: Way) -> bool:
        """Whether a definition, reached by `way`, calls a short function that states the message. A long function tests
        the condition itself, so its callers do not count.
        """
        return way.role == "caller" and way.unit in self.helpers


def pasted_message(snapshot: Snapshot, present: PresentFiles, outcome: Outcome, matcher: LineMatcher) -> Message | None:
    """The code outside of tests that contains nearly all of the question word for word. None if there is no such code,
    or so much of it that the text is a common phrase.
    """
    candidates, table = outcome.candidates, snapshot.unit_table
    if candidates is None or "verbatim" not in candidates.signals:
        return None
    units = candidates.units[candidates.signals["verbatim"] >= _STATED]
    quoting: list[int] = units[~table.is_text[units] & ~table.is_test[units]].tolist()
    if not 0 < len(quoting) <= _MOST:
        return None
    rows = snapshot.symbols.result_rows(quoting)
    quoting = [unit for unit in quoting if _is_quoted(present, rows[unit], matcher)]
    blocks = [rows[unit] for unit in quoting if rows[unit]["symbol_number"] is None]
    constants = [row for block in blocks for row in _constant(snapshot, present, block, matcher)]
    valued = [rows[unit] for unit in quoting if rows[unit]["kind"] in VALUED_KINDS]
    uses = [use for constant in (*constants, *valued) for use in _uses(snapshot, constant)]
    helpers = frozenset(unit for unit in quoting if rows[unit]["end_line"] - rows[unit]["line"] < _HELPER)
    own = [unit for unit in quoting if table.symbol[unit] >= 0]
    return Message(own, helpers, constants, uses) if own or constants else None


def excerpts_of(piece: Piece) -> int | None:
    """How many `EXCERPTS` of a piece to try in an answer about a message: one for a caller (the lines with the call),
    all for a long function. None shows the whole piece.
    """
    if piece.role in ("caller", "test"):
        return 1
    return len(EXCERPTS) if piece.end_line - piece.line > _LONG else None


def _is_quoted(present: PresentFiles, row: Row, matcher: LineMatcher) -> bool:
    """Whether the line with most of the question's words contains a literal. Otherwise the line is a comment, and the
    question is about the subject of that comment.
    """
    lines = (present.lines(row["file"]) or [])[row["line"] - 1 : row["end_line"]]
    said = {number: matcher.weight({key for _, _, key in line}) for number, line in matcher.found(lines).items()}
    highest = max(said.values(), default=None)
    best = [lines[number] for number, weight in said.items() if weight == highest]
    return any(any(q in line for q in _QUOTES) and not any(q in line for q in _DOCSTRING) for line in best)


def _constant(snapshot: Snapshot, present: PresentFiles, block: Row, matcher: LineMatcher) -> list[Row]:
    """The definition in a block (code between functions) with the most words of the message; [] if none has any."""
    lines = present.lines(block["file"]) or []
    best: list[Row] = []
    highest = (0, 0)
    for row in snapshot.symbols.in_files([block["file"]]):
        if block["line"] <= row["line"] and row["end_line"] <= block["end_line"]:
            matches = matcher.found(lines[row["line"] - 1 : row["end_line"]])
            said = matcher.weight({key for line in matches.values() for _, _, key in line})
            if said > highest:
                best, highest = [row], said
    return best


def _uses(snapshot: Snapshot, constant: Row) -> list[NamedUnit]:
    """The definitions that refer to a constant."""
    request = GraphRequest(constant["qualified_name"], limit=_USES, roles=("reference", "call"))
    uses = references(snapshot, request).references
    units = places(snapshot, [(item.file, item.line) for item in uses], _USE, "caller")
    return [item._replace(via=constant["symbol"]) for item in units]
