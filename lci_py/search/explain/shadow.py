"""Makes `--shadow NAME`: ranks the same candidates by a second ranking, and lists the results that it would move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.search.query.plan import ranking as ranking_named
from lci_py.search.ranking.fusion import RankedCandidates
from lci_py.types.record import replace

if TYPE_CHECKING:
    from lci_py.search.query.plan import Plan, Ranking
    from lci_py.search.ranking.fusion import Outcome
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import SearchRequest


def under(plan: Plan, ranking: Ranking) -> Plan:
    """A copy of a plan that has the weights of another ranking."""
    return replace(
        plan,
        ranking=ranking.name,
        weights=ranking.weights_of(plan.intent, plan.files),
        factors=ranking.factors,
        saturation=ranking.saturation,
    )


def shadow(snapshot: Snapshot, request: SearchRequest, plan: Plan, outcome: Outcome) -> dict[str, Any]:
    """The envelope's `shadow`: the first results of either ranking whose ranks in the two rankings differ.

    Args:
        request: Has the name of the second ranking, and the number of results to show.
        plan, outcome: The plan and outcome of the live ranking; they are not changed.
    Raises:
        UsageError: There is no such ranking.
    """
    ranking = ranking_named(request.shadow or "")
    limit = snapshot.shown(request)
    live: dict[int, int] = {}
    other: dict[int, int] = {}
    if outcome.ranked is not None and outcome.candidates is not None:
        live = _ranks(outcome.ranked, limit)
        other = _ranks(RankedCandidates(outcome.candidates, under(plan, ranking)), limit)
    moved = [unit for unit in {**live, **other} if live.get(unit) != other.get(unit)]
    rows = snapshot.symbols.result_rows(moved) if moved else {}
    moves = [
        {
            "id": row["id"],
            "file": row["file"],
            "line": row["line"],
            "symbol": row["symbol"],
            "qualified_name": row["qualified_name"],
            "live": live.get(unit),
            "shadow": other.get(unit),
        }
        for unit, row in ((unit, rows[unit]) for unit in moved)
    ]
    return {"ranking": ranking.name, "moves": moves, "same": len({**live, **other}) - len(moved)}


def of_unranked(request: SearchRequest, shown: int) -> dict[str, Any]:
    """The envelope's `shadow` for an unranked answer (filters without text). Errors as in `shadow`."""
    return {"ranking": ranking_named(request.shadow or "").name, "moves": [], "same": shown}


def _ranks(ranked: RankedCandidates, limit: int) -> dict[int, int]:
    return {unit: rank for rank, unit in enumerate(ranked.units[:limit].tolist(), 1)}
