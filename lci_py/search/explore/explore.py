"""Makes `lci explore`: one sufficient answer to a question, within a token budget.

The pieces of an answer are definitions that match the question (`weigh.py`) or are named in it (`question_units.py`),
and their neighbours in the graph. `spend.py` decides how much of each piece is shown, `chain.py` in which order.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from lci_py.errors import UsageError
from lci_py.search.answer.results import LineMatcher, index_info
from lci_py.search.explore import question_units, weigh
from lci_py.search.explore.chain import calls_between, chains_of, flow
from lci_py.search.explore.spend import Open, spend
from lci_py.search.modes.candidates import allowed_units
from lci_py.search.modes.multiview import multiview
from lci_py.search.navigate.present import PresentFiles
from lci_py.search.query.text import read_fields, read_text
from lci_py.types.explore import ExploreAnswer, ExploreRequest, Piece
from lci_py.types.search import Confidence, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lci_py.index.shards.symbols import Row
    from lci_py.search.explore.question_units import Message, NamedUnit
    from lci_py.search.explore.weigh import UnitProbabilities
    from lci_py.search.ranking.fusion import Outcome
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.explore import PieceRole
    from lci_py.types.search import Answer

#: Words of a change that are searched for.
_NAMES = 12


def explore(snapshot: Snapshot, request: ExploreRequest) -> ExploreAnswer:
    """Answer a question. The answer has the states of its pieces, in the order in which they are selected.

    Raises:
        UsageError: There is nothing to look for, or a filter cannot be used.
        IndexError_: A required shard cannot be used.
    """
    return _Work(snapshot, request).answer()


class _Work:
    def __init__(self, snapshot: Snapshot, request: ExploreRequest) -> None:
        self._snapshot, self._request = snapshot, request
        self._table, self._graph = snapshot.unit_table, snapshot.graph
        self._outcome: Outcome | None = None
        self._search: Answer | None = None
        self._present = PresentFiles(snapshot)
        self._lines = cache(self._present.lines)

    def answer(self) -> ExploreAnswer:
        request = self._request
        units = self._explicit_places()
        text = request.question.strip() or " ".join(self._names(units))
        if not text and not units:
            if request.revision is not None:
                return ExploreAnswer(request, (), (), index_info(self._snapshot))
            raise UsageError(
                "no indexed code is at this location", hint="give a question in words, or the line of a definition"
            )
        words = read_text(read_fields(text, request.filters)[0]) if text else None
        matcher = LineMatcher(words.terms, words.phrases, words.forms) if words else LineMatcher(())
        worth = self._worth(text)
        message = None
        if self._outcome is not None and not units:
            message = question_units.pasted_message(self._snapshot, self._present, self._outcome, matcher)
        weighed = self._weigh_units(worth, units, message)
        rows = self._snapshot.symbols.result_rows(weighed.units) if weighed.units else {}
        named_units = {item.unit: item for item in (message.uses if message else units)}
        pieces = self._pieces(weighed, rows, named_units)
        if message is not None:
            pieces = [item._replace(excerpts=question_units.excerpts_of(item.piece)) for item in pieces]
            pieces = [*self._constants(message.constants), *pieces]
        states = spend(pieces, matcher, request.max_tokens)
        skip = request.offset
        while skip and states:  # drop what earlier answers have shown
            skipped_ids = list(dict.fromkeys(piece.id for piece in states))[:skip]
            skip -= len(skipped_ids)
            pieces = [item for item in pieces if item.piece.id not in skipped_ids]
            states = spend(pieces, matcher, request.max_tokens, all_of_it=True)
        units_of = {row["id"]: unit for unit, row in rows.items()}
        bought = {piece.id: piece for piece in states}
        modes = {id: self._view(units_of[id]) for id, item in bought.items() if item.role == "match"}
        states = [piece._replace(mode=modes.get(piece.id, "")) for piece in states]
        numbers = {row["id"]: int(row["symbol_number"]) for row in rows.values() if row["symbol_number"] is not None}
        final = {piece.id: piece for piece in states}
        calls = calls_between(self._graph, {id: numbers[id] for id in final if id in numbers})
        ordered = flow(list(final.values()), calls)
        left_out = tuple(item.piece for item in pieces if item.piece.id not in final)
        return ExploreAnswer(
            request, tuple(ordered), chains_of(ordered, calls), index_info(self._snapshot), left_out, len(pieces),
            self._search.degraded if self._search else (), self._confidence(units), tuple(states),
        )  # fmt: skip

    def _confidence(self, units: Sequence[NamedUnit]) -> Confidence | None:
        """The confidence in the answer: that of the search; high if the question names locations, None for a diff."""
        if self._request.revision is not None:
            return None
        if units:
            return Confidence("high", "a place of the question is there")
        return self._search.confidence if self._search else None

    # --- what is asked ------------------------------------------------------------------------------------------

    def _explicit_places(self) -> list[NamedUnit]:
        """The units that the question names: by a diff, by path and line, by frames of a stack trace, or by a route."""
        request, snapshot = self._request, self._snapshot
        if request.revision is not None:
            from lci_py.search.navigate.affected import affected
            from lci_py.types.affected import AffectedRequest

            answer = affected(snapshot, AffectedRequest(request.revision, filters=request.filters))
            changed = [(item.place.file, item.place.line) for item in answer.changed if item.place.symbol is not None]
            tests = [(item.place.file, item.place.line) for item in answer.tests[:_NAMES]]
            callers = [(item.place.file, item.place.line) for item in answer.callers[:_NAMES]]
            return [
                *question_units.places(snapshot, changed, weigh.NAMED, "changed"),
                *question_units.places(snapshot, callers, 0.3, "caller"),
                *question_units.places(snapshot, tests, 0.25, "test"),
            ]
        units = question_units.places(snapshot, request.places, weigh.NAMED)
        return (
            units
            or question_units.units_at_frames(snapshot, request.question, request.filters, weigh.NAMED)
            or question_units.handlers(snapshot, request.question.strip(), weigh.NAMED)
        )

    def _names(self, units: Sequence[NamedUnit]) -> list[str]:
        rows = self._snapshot.symbols.result_rows([unit.unit for unit in units[:_NAMES]])
        return [row["symbol"] for row in rows.values() if row["symbol"]]

    def _worth(self, text: str) -> dict[int, float]:
        """Searches for a text, and maps each unit found to the probability that it belongs to the answer."""
        if not text:
            return {}
        result = multiview(self._snapshot, SearchRequest(text, "multiview", 1, self._request.filters, snippet=0))
        self._search = result.answer
        if result.merged is None:
            return {}
        self._outcome = outcome = result.merged.outcome
        return weigh.lift_callees(outcome, self._table, self._graph, weigh.of_outcome(outcome, self._table))

    def _weigh_units(
        self, worth: dict[int, float], units: Sequence[NamedUnit], message: Message | None
    ) -> UnitProbabilities:
        mask = allowed_units(self._snapshot, self._request.filters)
        if message is not None:
            worth = dict.fromkeys(message.units, weigh.NAMED) | {item.unit: item.worth for item in message.uses}
        elif units:
            worth = {unit: value / 2 for unit, value in worth.items()}
            worth |= {item.unit: item.worth for item in units}
        weighed = weigh.with_neighbours(self._graph, self._table, worth)
        if mask is None and message is None:
            return weighed
        # Beside a message, only who raises it.
        passing = [
            (mask is None or bool(mask[unit]))
            and (message is None or unit in worth or message.is_raised_by(weighed.ways[unit]))
            for unit in weighed.units
        ]
        return weighed._replace(
            units=[unit for unit, passes in zip(weighed.units, passing, strict=True) if passes],
            worth=[value for value, passes in zip(weighed.worth, passing, strict=True) if passes],
        )

    def _view(self, unit: int) -> str:
        """The view (dense, bm25 or symbolic) that contributes most to a unit's score."""
        item = self._outcome.find(unit) if self._outcome is not None else None
        return item.source if item is not None else "dense"

    # --- pieces -------------------------------------------------------------------------------------------------

    def _pieces(
        self, weighed: UnitProbabilities, rows: Mapping[int, Row], units: Mapping[int, NamedUnit]
    ) -> list[Open]:
        pieces = []
        for unit, worth in zip(weighed.units, weighed.worth, strict=True):
            row = rows[unit]
            if row["symbol_number"] is None:
                continue
            way, spot = weighed.ways.get(unit), units.get(unit)
            via = rows.get(way.unit) if way is not None else None
            role = spot.role if spot is not None else way.role if way is not None and via is not None else "match"
            if role == "caller" and row["test"]:
                role = "test"
            led = spot is None and way is not None and via is not None
            piece = self._open(row, role, worth)
            if piece is None:
                continue
            if led and way and via:
                leading = piece.piece._replace(via=via["qualified_name"] or "", edge=way.edge, ambiguous=way.ambiguous)
                piece = piece._replace(piece=leading)
            elif spot is not None and spot.via:
                piece = piece._replace(piece=piece.piece._replace(via=spot.via, edge="reference"))
            pieces.append(piece)
        return pieces

    def _constants(self, rows: Sequence[Row]) -> list[Open]:
        pieces = (self._open(row, "named", weigh.NAMED) for row in rows)
        return [piece for piece in pieces if piece is not None]

    def _open(self, row: Row, role: PieceRole, worth: float) -> Open | None:
        """The candidate piece that shows the definition of a row; None if the file no longer has it."""
        definition, lines = self._present.of_row(row), self._lines(row["file"])
        if definition is None or lines is None or definition.line > len(lines):
            return None
        if role == "match" and self._request.question.strip() in (definition.symbol, definition.qualified_name):
            role = "named"
        piece = Piece(
            definition.id, definition.qualified_name, definition.kind, definition.file, definition.line,
            definition.end_line, definition.language, role, "", "", "", False, worth,
            stale=self._present.stale(definition.file),
        )  # fmt: skip
        return Open(piece, definition, lines)
