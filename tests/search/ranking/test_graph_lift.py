"""What the graph lifts: how much each neighbour is worth on a graph made by hand, and what a lift never does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lci_py import app
from lci_py.callgraph.edges import Links, pointers
from lci_py.errors import DamagedIndexError
from lci_py.index.shards.arrays import Arrays, write_arrays
from lci_py.index.shards.graph import GraphIndex, write_graph
from lci_py.index.shards.unit_columns import UNIT_KINDS, UnitColumns
from lci_py.search.query.plan import Plan
from lci_py.search.ranking.fusion import GRAPH, Candidates, RankedCandidates
from lci_py.search.ranking.graph_lift import MOST, reach, weigh_neighbours
from lci_py.types.edges import AMBIGUOUS, CALLBACK, CALLS, IMPORT, IMPORTS, INHERITS, NAME, SCOPE, confidence
from lci_py.types.search import BLOCK_KIND, Filters, SearchRequest
from tests.support.graph_repo import build

#: Symbols of the graph made by hand, each a unit of its own, of one file; file and anonymous functions follow.
SYMBOLS = 200
SURE = confidence(SCOPE)

Edge = tuple[int, int, int, int]


def links(edges: Iterable[Edge], lambdas: Sequence[int] = ()) -> Links:
    """Edges are (source, target, kind, step); an anonymous function is the symbol that it stands in."""
    rows = np.array(sorted(edges), np.int32).reshape(-1, 4)
    nodes = SYMBOLS + 1 + len(lambdas)
    return Links(
        first_symbol=np.array([0, SYMBOLS], np.int32),
        target=rows[:, 1], kind=rows[:, 2].astype(np.uint8),
        line=np.ones(len(rows), np.int32), step=rows[:, 3].astype(np.uint8), out_ptr=pointers(rows[:, 0], nodes),
        incoming=np.argsort(rows[:, 1], kind="stable").astype(np.int32), in_ptr=pointers(rows[:, 1], nodes),
        first_lambda=np.array([0, len(lambdas)], np.int32), lambda_symbol=np.array(lambdas, np.int32),
        lambda_line=np.ones(len(lambdas), np.int32), lambda_end_line=np.ones(len(lambdas), np.int32),
        key_start=np.zeros(2, np.int32), keys=np.zeros(0, np.int32),
        site_key=np.zeros(0, np.int64), site_count=np.zeros(0, np.int32),
    )  # fmt: skip


def table(kinds: dict[int, tuple[str, int]], symbols: dict[int, int]) -> UnitColumns:
    """A unit per symbol and line, functions but for `kinds`: unit to kind and last line."""
    units = np.arange(SYMBOLS)
    symbol = np.array([symbols.get(unit, unit) for unit in units.tolist()], np.int32)
    of_symbol = np.full(SYMBOLS, -1, np.int64)
    owned = (symbol >= 0) & (symbol < SYMBOLS)
    of_symbol[symbol[owned]] = units[owned]

    class Table(SimpleNamespace):
        def __len__(self) -> int:
            return SYMBOLS

    return cast(
        UnitColumns,
        Table(
            file=np.zeros(SYMBOLS, np.int32), symbol=symbol, line=(units + 1).astype(np.int32),
            kind=np.array([UNIT_KINDS.index(kinds.get(unit, ("function", 0))[0]) for unit in units.tolist()], np.uint8),
            end_line=np.array([kinds.get(unit, ("", unit + 1))[1] for unit in units.tolist()], np.int32),
            unit_of_symbol=lambda _: of_symbol,
        ),
    )  # fmt: skip


class Around:
    """What is found around seeds: unit to value."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "graph"
        self.kinds: dict[int, tuple[str, int]] = {}
        self.symbols: dict[int, int] = {}

    def __call__(
        self, edges: Iterable[Edge], seeds: Sequence[int] = (0,), scores: Sequence[float] = (), lambdas: Sequence[int] = ()
    ) -> dict[int, float]:  # fmt: skip
        self.path.unlink(missing_ok=True)
        write_graph(self.path, links(edges, lambdas))
        return self.read(seeds, scores)

    def read(self, seeds: Sequence[int] = (0,), scores: Sequence[float] = ()) -> dict[int, float]:
        own = np.array(scores or [1.0] * len(seeds))
        near = reach(GraphIndex(self.path), table(self.kinds, self.symbols), np.array(seeds, np.int64))
        found = weigh_neighbours(near, own)
        assert found.units.tolist() == sorted(set(found.units.tolist()))
        return dict(zip(found.units.tolist(), found.values.tolist(), strict=True))

    def damaged(self, **arrays: Any) -> None:
        stored = Arrays(self.path)
        kinds = {"kind": "u1", "step": "u1", "site_key": "i8"}
        names = ("first_symbol", "target", "kind", "line", "step", "first_lambda", "lambda_symbol",
                 "lambda_line", "lambda_end_line", "out_ptr", "incoming", "in_ptr")  # fmt: skip
        whole = {name: np.array(stored.array(name, kinds.get(name, "i4"), "u1")) for name in names}
        for name, (place, value) in arrays.items():
            whole[name][place] = value
        self.path.unlink()
        write_arrays(self.path, whole)


@pytest.fixture
def around(tmp_path: Path) -> Around:
    return Around(tmp_path)


def call(source: int, target: int, step: int = SCOPE) -> Edge:
    return source, target, CALLS, step


def approximately(found: dict[int, float], wanted: dict[int, float]) -> bool:
    return found == {unit: pytest.approx(value, rel=1e-6) for unit, value in wanted.items()}


def test_what_is_called_counts_twice_what_calls_or_is_inherited(around: Around) -> None:
    edges = [call(0, 1), call(2, 0), (0, 3, INHERITS, 0), (4, 0, INHERITS, 0)]
    assert approximately(around(edges), {1: SURE, 2: SURE / 2, 3: SURE / 2, 4: SURE / 2})


def test_an_import_lifts_nothing_and_no_edge_nothing_at_all(around: Around) -> None:
    assert around([(SYMBOLS, SYMBOLS, IMPORTS, 0), call(5, 6)]) == {}
    assert around([]) == {}
    assert around([call(0, 1)], seeds=()) == {}


def test_an_unsure_edge_counts_less_and_of_two_the_surer_one(around: Around) -> None:
    edges = [call(0, 1, CALLBACK), call(3, 0, NAME | AMBIGUOUS), call(1, 0, NAME | AMBIGUOUS)]
    half = confidence(NAME | AMBIGUOUS) / 2 / np.cbrt(2)
    wanted = {1: confidence(CALLBACK) + half, 3: half}
    assert approximately(around(edges), wanted)
    twice = links([call(0, 1, IMPORT | AMBIGUOUS), call(0, 1, IMPORT)])
    around.path.unlink()
    write_graph(around.path, twice)
    assert approximately(around.read(), {1: confidence(IMPORT)})


@pytest.mark.parametrize("fan", [1, 2, 8, 27])
def test_many_neighbours_share_by_the_cube_root_of_their_number(around: Around, fan: int) -> None:
    found = around([call(0, 1 + i) for i in range(fan)])
    assert approximately(found, {1 + i: SURE / np.cbrt(fan) for i in range(fan)})


def test_only_the_surest_of_many_count_but_all_share(around: Around) -> None:
    fan = MOST + 5
    surer = range(fan - 10, fan)
    found = around([call(0, 1 + i, SCOPE if i in surer else NAME | AMBIGUOUS) for i in range(fan)])
    assert set(found) == {1 + i for i in [*range(MOST - 10), *surer]}
    assert found[1 + surer[0]] == pytest.approx(SURE / np.cbrt(fan))


def test_a_seed_counts_by_its_share_of_the_best_ones_score_and_lifts_add_up_to_at_most_1(around: Around) -> None:
    edges = [call(0, 5), call(1, 6), call(2, 5), call(2, 6)]
    shared = SURE / np.cbrt(2)
    found = around(edges, seeds=[0, 1, 2], scores=[4.0, 2.0, 1.0])
    assert approximately(found, {5: min(1.0, SURE + shared / 4), 6: SURE / 2 + shared / 4})
    assert found[5] == 1.0


def test_a_seed_can_lift_another_but_not_itself(around: Around) -> None:
    assert approximately(around([call(0, 0), call(0, 1)], seeds=[0, 1]), {0: SURE / 2, 1: SURE})


def test_a_type_stands_for_what_is_in_it(around: Around) -> None:
    around.kinds[0] = ("class", 3)  # units 1 and 2 lie in it
    edges = [call(1, 10), call(2, 11), call(3, 12), call(2, 1)]
    third = SURE / np.cbrt(3)
    assert approximately(around(edges), {1: third, 2: SURE / 2, 10: third, 11: third})
    around.kinds[0] = ("function", 3)
    assert around.read() == {}


def test_the_members_of_a_large_type_are_all_found(around: Around) -> None:
    around.kinds[0] = ("class", SYMBOLS)
    assert SYMBOLS - 1 in around([call(SYMBOLS - 2, SYMBOLS - 1), call(1, 30)])


def test_a_block_has_no_neighbours_and_is_none(around: Around) -> None:
    around.kinds[0] = (BLOCK_KIND, 1)
    around.symbols[0] = -1
    assert around([call(SYMBOLS, 1), call(0, 1), call(2, SYMBOLS)]) == {}
    assert around.read([2]) == {}


def test_an_anonymous_function_is_what_is_around_it(around: Around) -> None:
    first, second = SYMBOLS + 1, SYMBOLS + 2
    edges = [call(first, 7), call(8, second), call(second, 0), call(9, first)]
    found = around(edges, lambdas=[0, 3])
    # Of unit 0: what its function calls. What calls that function, calls not it. Into it: unit 3, by its function.
    assert approximately(found, {7: SURE, 3: SURE / 2})
    assert approximately(around.read([8]), {3: SURE})


def test_what_has_no_unit_is_left_out(around: Around) -> None:
    around.symbols[1] = -1
    outside = SYMBOLS + 1
    assert around([call(0, 1), call(0, SYMBOLS), call(0, outside)], lambdas=[-1]) == {}


@pytest.mark.parametrize(
    "arrays",
    [
        {"target": (0, SYMBOLS + 9)},
        {"target": (0, -1)},
        {"lambda_symbol": (0, SYMBOLS + 1)},
        {"lambda_symbol": (0, -2)},
        {"out_ptr": (0, -1)},
        {"out_ptr": (1, 99)},
        {"in_ptr": (1, 99)},
        {"in_ptr": (0, 5)},
        {"incoming": (slice(None), 99)},
        {"incoming": (slice(None), -1)},
        {"first_symbol": (1, SYMBOLS + 1)},
    ],
    ids=str,
)
def test_a_damaged_graph_is_refused(around: Around, arrays: dict[str, Any]) -> None:
    around([call(0, 1), call(2, 0)], lambdas=[0])
    around.damaged(**arrays)
    with pytest.raises(DamagedIndexError):
        around.read()


@pytest.mark.parametrize("number", [SYMBOLS, SYMBOLS + 5, 1 << 30])
def test_a_table_of_other_symbols_is_refused(around: Around, number: int) -> None:
    around([call(0, 1)])
    around.symbols[0] = number
    with pytest.raises(DamagedIndexError):
        around.read()


# --- the lift -----------------------------------------------------------------------------------------------------


def plan(saturation: float = 1.0) -> Plan:
    weights = {"content": 1.0, GRAPH: 1.0}
    return Plan("balanced_hybrid", "live", weights, {"test": 0.5}, saturation, {}, (), {}, 0, None, ())


@st.composite
def lifted(draw: st.DrawFn) -> Candidates:
    n = draw(st.integers(1, 12))

    def floats() -> Any:
        # Scores are rounded to 9 decimals: below a millionth, what is under the best can look like it.
        values = st.one_of(st.just(0.0), st.floats(0.01, 1))
        return np.array(draw(st.lists(values, min_size=n, max_size=n)), np.float32)

    def flags() -> Any:
        return np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), np.bool_)

    return Candidates(np.arange(n), np.arange(n, dtype=np.int32), {"content": floats(), GRAPH: floats()},
                      {"test": flags()}, flags())  # fmt: skip


@given(lifted())
def test_a_lift_takes_nothing_away_and_never_leads_past_the_best_that_was_found(candidates: Candidates) -> None:
    without = RankedCandidates(candidates._replace(signals={"content": candidates.signals["content"]}), plan())
    ranked = RankedCandidates(candidates, plan())
    before = dict(zip(without.units.tolist(), without.scores.tolist(), strict=True))
    after = dict(zip(ranked.units.tolist(), ranked.scores.tolist(), strict=True))
    assert all(after[unit] >= score for unit, score in before.items())
    best = max(before.values(), default=0.0)
    risen = [score for unit, score in after.items() if score > before.get(unit, 0.0)]
    assert all(score < best for score in risen)
    assert candidates.is_hit is not None
    signal = candidates.signals[GRAPH]
    assert all(candidates.is_hit[unit] or signal[unit] > 0 for unit in after)


SOURCES = {
    "shop/checkout.py": "from bank.ledger import qzx\n\n\ndef checkout_cart(cart):\n    return qzx(cart)\n",
    "shop/other.py": "def wander():\n    return 'about'\n",
    "bank/ledger.py": "def vvw(thing):\n    return thing\n\n\ndef qzx(thing):\n    return thing\n",
}


def test_a_neighbour_is_lifted_unless_a_filter_keeps_it_out(tmp_path: Path) -> None:
    with app.open_engine(str(build(tmp_path, SOURCES))) as session:

        def names(filters: Filters) -> list[str | None]:
            made = session.search(SearchRequest("checkout cart", "multiview", 20, filters))
            return [result.symbol for result in made.results]

        everywhere = names(Filters())
        assert everywhere[0] == "checkout_cart"
        assert everywhere.index("qzx") < everywhere.index("vvw")
        shop = names(Filters(path=("shop/**",)))
        assert "checkout_cart" in shop and "qzx" not in shop
