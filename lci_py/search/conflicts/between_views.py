"""Whether the sub-indexes mean different things by a query that is exactly one name.

The symbolic view knows what has the name; the dense view ranks by meaning, the lexical by words. It is their purpose to
put different places first, so only a query that is a name can get contradicting answers from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.index.shards.symbols import dotted
from lci_py.source.text.patterns import lazily
from lci_py.source.text.words import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.index.shards.symbols import Row
    from lci_py.search.ranking.fusion import Outcome
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Filters, View

_NAME = lazily(r"[\w$]+(?:(?:\.|::|#)[\w$]+)*(?:\(\))?$")
#: Definitions of one name at most: more are a convention, such as `run`, and no answer of a view is surprising.
_MAX_NAMED = 8
#: Hits of a view that are looked at for its best definition.
_HEAD = 10
#: A smaller preference of a view is noise: the margin in dense scores, and the share of the best lexical score.
_MARGIN, _SHARE = 0.08, 0.8


def view_disagreements(
    snapshot: Snapshot, query: str, filters: Filters, outcome: Outcome
) -> tuple[dict[str, Any], ...]:
    """At most one entry of the envelope's `conflicts`: where the dense view's best definition contradicts the name."""
    name = query.strip()
    if not _NAME.match(name) or "__" in name or not len(outcome.hits["dense"]):
        return ()
    name = dotted(name.removesuffix("()"))
    rows = snapshot.symbols.called(name, filters)
    named = [row for row in rows if not row["test"] and row["unit"] is not None and row["kind"] != "section"]
    exact = _by_place([row for row in named if name in (row["symbol"], row["qualified_name"]) or "." in name])
    if not 1 <= len(exact) <= _MAX_NAMED:
        return ()
    best = _best(snapshot, outcome, "dense")
    if best is None:
        return ()
    units = {row["unit"] for row in exact}
    if best["unit"] in units:
        words = _best(snapshot, outcome, "bm25")
        entry = _scopes(name, exact, best, words, outcome) if words is not None and words["unit"] in units else None
    else:
        entry = _contradiction(name, exact, best, outcome)
    return (entry,) if entry else ()


def _by_place(rows: Sequence[Row]) -> list[Row]:
    """The first row of each qualified name in a file: variants of one definition are found elsewhere."""
    kept: dict[tuple[str, str], Row] = {}
    for row in rows:
        kept.setdefault((row["file"], row["qualified_name"]), row)
    return list(kept.values())


def _best(snapshot: Snapshot, outcome: Outcome, view: View) -> Row | None:
    """The first definition among a view's best hits; tests and documents are none."""
    units = outcome.hits[view].units[:_HEAD].tolist()
    rows = snapshot.symbols.result_rows(units) if units else {}
    for unit in units:
        row = rows[unit]
        if row["symbol"] and not row["test"] and row["kind"] != "section":
            return row
    return None


def _score(outcome: Outcome, view: View, unit: int) -> float:
    return outcome.hits[view].score(unit)


def _contradiction(name: str, exact: Sequence[Row], best: Row, outcome: Outcome) -> dict[str, Any] | None:
    """The dense view's best definition has the name that is asked for, but in another scope or spelling. One of a name
    that is only like it says no more than that the dense view ranks by meaning."""
    if joined(name.rpartition(".")[2]) != joined(best["symbol"]) or any(_is_around(row, best) for row in exact):
        return None
    ahead = _score(outcome, "dense", best["unit"]) - max(_score(outcome, "dense", row["unit"]) for row in exact)
    if ahead < _MARGIN:
        return None
    known = ", ".join(f"{row['qualified_name']} at {_cited(row)}" for row in exact[:3])
    found = f"the dense index puts {best['qualified_name']} at {_cited(best)} first"
    return {
        "conflict_type": "direct-contradiction",
        "sources": [_cited(row) for row in (*exact[:3], best)],
        "recommended_resolution": "prefer-authoritative" if len(exact) == 1 else "escalate-to-user",
        "reasoning": f"{name} is {known} by name, but {found}.",
    }


def _scopes(name: str, exact: Sequence[Row], best: Row, words: Row, outcome: Outcome) -> dict[str, Any] | None:
    """The views put different ones of several definitions of the name first, and each is sure of it."""
    if len(exact) < 2 or best["unit"] == words["unit"] or best["qualified_name"] == words["qualified_name"]:
        return None
    ahead = _score(outcome, "dense", best["unit"]) - _score(outcome, "dense", words["unit"])
    if ahead < _MARGIN:
        return None
    if _score(outcome, "bm25", best["unit"]) > _SHARE * _score(outcome, "bm25", words["unit"]):
        return None
    return {
        "conflict_type": "scope-mismatch",
        "sources": [_cited(best), _cited(words)],
        "recommended_resolution": "escalate-to-user",
        "reasoning": (
            f"{name} has {len(exact)} definitions: {best['qualified_name']} at {_cited(best)} is the first of the "
            f"dense index, {words['qualified_name']} at {_cited(words)} that of the lexical one."
        ),
    }


def _is_around(one: Row, other: Row) -> bool:
    """Whether one of two definitions is in the other, by place or by name: a property and its field are one thing."""
    for outer, inner in ((one, other), (other, one)):
        inside = outer["file"] == inner["file"] and outer["line"] <= inner["line"] <= outer["end_line"]
        if inside or str(inner["qualified_name"]).startswith(f"{outer['qualified_name']}."):
            return True
    return one["file"] == other["file"] and one["parent"] == other["parent"] and one["parent"] is not None


def _cited(row: Row) -> str:
    return f"{row['file']}:{row['line']}"
