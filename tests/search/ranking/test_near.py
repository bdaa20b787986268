"""`--near`: what is close to a place, how far that goes, and what it does to a ranking."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lci_py import app
from lci_py.errors import BadPathError, DamagedIndexError, UsageError
from lci_py.search.engine import Engine
from lci_py.search.ranking import near
from lci_py.search.ranking.near import Near, place_of, tree_closeness
from lci_py.types.search import Answer, SearchRequest
from tests.support.graph_repo import build

CALLERS = 40


def chain(number: int, called: int | None) -> str:
    line = "" if called is None else f"from chain.link{called} import step_{called}\n\n\n"
    body = "1" if called is None else f"step_{called}()"
    return f"{line}def step_{number}():\n    return {body}\n\n\ndef aside_{number}():\n    return 'aside'\n"


SOURCES = {
    # Each step calls the next one.
    **{f"chain/link{i}.py": chain(i, i + 1 if i < 5 else None) for i in range(6)},
    "chain/loner.py": "def loner():\n    return 'alone'\n",
    "other/far/away.py": "def away():\n    return 'far'\n",
    "other/table.py": (
        "class Table:\n    def __init__(self):\n        self.rows = []\n\n"
        "    def visit(self):\n        return map(lambda row: shown(row), self.rows)\n\n\n"
        "def shown(row):\n    return row\n\n\n"
        "class Wide(Table):\n    pass\n"
    ),
    "util/log.py": "def note(text):\n    return text\n",
    **{f"use/user{i:02}.py": f"from util.log import note\n\n\ndef user_{i:02}():\n    return note('{i}')\n"
       for i in range(CALLERS)},
    # Two functions that a query cannot tell apart.
    "left/paint.py": "def paint_wall(color):\n    return color\n",
    "right/paint.py": "def paint_wall(color):\n    return color\n",
    "left/house.py": "from left.paint import paint_wall\n\n\ndef build_house():\n    return paint_wall('red')\n",
    "empty.py": "",
    "chain/notes.txt": "Steps go from one to the next, and the last one ends.\n",
    "run.py": "from chain.link5 import step_5\n\nstep_5()\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with app.open_engine(str(build(tmp_path_factory.mktemp("near"), SOURCES))) as opened:
        yield opened


def closeness(session: Engine, place: str) -> dict[str, float]:
    """Of every definition that is ranked by itself, by name."""
    units = np.arange(session.snapshot.n_units)
    values = Near(session.snapshot, place_of(session.snapshot, place)).closeness(
        units, session.snapshot.unit_table.file[units]
    )
    rows = session.snapshot.symbols.result_rows(units.tolist())
    named = {unit: rows[unit]["qualified_name"] for unit in units.tolist() if rows[unit]["symbol"]}
    return {f"{rows[unit]['file']}:{name}": float(values[unit]) for unit, name in named.items()}


def by_name(session: Engine, place: str) -> dict[str, float]:
    return {name.partition(":")[2]: value for name, value in closeness(session, place).items()}


def test_hops_come_before_folders(session: Engine) -> None:
    found = by_name(session, "chain/link0.py:4")
    order = ["step_0", "step_1", "step_2", "step_3", "step_4", "loner", "note", "away"]
    assert [found[name] for name in order] == sorted((found[name] for name in order), reverse=True)
    assert found["step_1"] > found["step_2"] > found["step_3"] > found["loner"] > found["note"] > found["away"] > 0
    # Four hops are too far: what is left is the folder.
    assert found["step_5"] == found["loner"] == pytest.approx(near.FOLDER)
    # What is beside a place that was reached is nearly as close as that.
    assert found["step_1"] > found["aside_1"] > found["step_2"] > found["aside_2"]


def test_both_ends_of_a_call_are_close_to_each_other(session: Engine) -> None:
    assert by_name(session, "chain/link3.py:4")["step_2"] == by_name(session, "chain/link2.py:4")["step_3"] == 1


def test_a_line_means_the_definition_around_it_and_a_file_all_of_it(session: Engine) -> None:
    whole, function = by_name(session, "chain/link1.py"), by_name(session, "chain/link1.py:4")
    beside, outside = by_name(session, "chain/link1.py:8"), by_name(session, "chain/link1.py:1")
    assert whole["aside_1"] == whole["step_2"] == function["step_2"] == 1
    assert function["aside_1"] < 1 and beside["aside_1"] == 1
    # Nothing is called there, but the file imports.
    assert near.FOLDER + 0.01 < beside["step_2"] < function["step_2"]
    assert near.FOLDER + 0.01 < outside["step_2"] < function["step_2"]
    assert by_name(session, "run.py:3")["step_5"] == 1
    # Text has no definitions.
    units = np.flatnonzero(
        session.snapshot.unit_table.file == session.snapshot.symbols.paths().index("chain/notes.txt")
    )
    files = session.snapshot.unit_table.file[units]
    assert len(units)
    assert (Near(session.snapshot, place_of(session.snapshot, "chain/notes.txt")).closeness(units, files) == 1).all()
    assert (
        Near(session.snapshot, place_of(session.snapshot, "chain/loner.py")).closeness(units, files)
        < near.FOLDER + 0.01
    ).all()


def test_types_functions_without_a_name_and_bases_lead_on(session: Engine) -> None:
    found = by_name(session, "other/table.py:9")  # in `shown`, which an anonymous function calls
    assert found["Table.visit"] == found["shown"] == 1
    assert found["Table.__init__"] < 1
    inside = by_name(session, "other/table.py:6")
    assert inside["Table.visit"] == inside["shown"] == 1
    assert inside["Table.__init__"] < 1
    assert by_name(session, "other/table.py:14")["Table"] == 1  # in `Wide`
    assert by_name(session, "other/table.py:1")["Table.visit"] == 1  # a member of the type at the line


def test_what_many_call_makes_none_of_them_close(session: Engine) -> None:
    assert CALLERS > near.FAN
    log = by_name(session, "util/log.py")
    assert max(log[f"user_{i:02}"] for i in range(CALLERS)) <= near.FOLDER
    one = by_name(session, "use/user00.py")
    assert one["note"] == 1
    assert all(one[f"user_{i:02}"] == pytest.approx(near.FOLDER) for i in range(1, CALLERS))


def test_a_hop_to_too_many_places_is_not_taken(session: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near, "MOST", 1)
    found = by_name(session, "chain/link0.py:4")
    assert found["step_1"] == 1 and found["step_2"] < near.FOLDER + 0.01


@given(st.data())
def test_closeness_is_bounded_and_the_same_twice(session: Engine, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(SOURCES)))
    lines = max(1, len(SOURCES[path].splitlines()))
    place = path + data.draw(st.sampled_from(["", *(f":{line}" for line in range(1, lines + 1))]))
    found = closeness(session, place)
    assert all(0 < value <= 1 for value in found.values())
    assert found == closeness(session, place)
    assert all(value >= near.BESIDE - 1e-6 for name, value in found.items() if name.startswith(f"{path}:"))


segments = st.lists(st.sampled_from("abc"), max_size=4)


@given(segments, segments)
def test_folders_are_closer_the_fewer_steps_there_are_between_them(one: list[str], other: list[str]) -> None:
    here, there = "/".join(one), "/".join(other)
    value = tree_closeness(here, there)
    assert 0 < value <= near.FOLDER < near.IMPORTED * near.BY_HOP[near.HOPS]
    assert value == tree_closeness(there, here)
    assert (value == near.FOLDER) is (one == other)
    assert tree_closeness(here, "/".join([*one, "sub", "y.py"])) >= tree_closeness(
        here, "/".join([*one, "s", "t", "y"])
    )


# --- the search ---------------------------------------------------------------------------------------------------


def search(session: Engine, place: str | None, query: str = "paint wall") -> Answer:
    return session.search(SearchRequest(query, "multiview", 5, snippet=0, near=place, explain=True))


def test_the_close_one_of_two_equals_comes_first(session: Engine) -> None:
    plain = search(session, None)
    assert [result.file for result in plain.results[:2]] == ["right/paint.py", "left/paint.py"]
    assert plain.plan["near"] is None
    moved = search(session, "left/house.py:5")
    assert [result.file for result in moved.results[:2]] == ["left/paint.py", "right/paint.py"]
    assert moved.plan["near"] == "left/house.py:5"
    assert {result.id for result in moved.results} == {result.id for result in plain.results}
    assert search(session, "right/paint.py").results[0].file == "right/paint.py"


def test_the_waterfall_shows_what_it_adds(session: Engine) -> None:
    (step,) = [
        step for step in search(session, "left/house.py").results[0].explain["waterfall"] if step["name"] == "near"
    ]
    assert step["view"] is None and step["value"] == 1
    assert step["adds"] == pytest.approx(step["weight"])
    for result in search(session, "left/house.py").results:
        assert sum(step["adds"] for step in result.explain["waterfall"]) == pytest.approx(result.mode_score)
        assert result.mode_source in ("dense", "bm25", "symbolic")


@pytest.mark.parametrize(
    ("place", "named"),
    [
        ("chain/link1.py", "chain/link1.py"),
        ("./other/../chain/link1.py:3", "chain/link1.py:3"),
        ("chain/link1.py:3:12", "chain/link1.py:3"),
        ("empty.py:1", "empty.py:1"),
    ],
)
def test_a_place_is_named_from_the_root(session: Engine, place: str, named: str) -> None:
    assert search(session, place).plan["near"] == named
    assert search(session, str(session.root / place)).plan["near"] == named


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("chain/nothing.py", "chain/nothing.py is not in the index"),
        ("link1.py:3", "did you mean chain/link1.py?"),
        ("chain", "it is a folder"),
        (".", "it is a folder"),
        ("../x.py", "is not in the index"),
        ("/", "is not in the index"),
        ("a\0b", "is not in the index"),
        ("chain/link1.py:0", "no line 0"),
        ("chain/link1.py:11", "has 10 lines, and no line 11"),  # an editor shows the empty one at the end
        ("chain/link1.py:999999999999", "is not in the index"),
        ("empty.py:2", "has 1 line, and no line 2"),
    ],
)
def test_a_place_that_is_none(session: Engine, place: str, says: str) -> None:
    with pytest.raises(UsageError) as raised:
        search(session, place)
    assert says in f"{raised.value.message}: {raised.value.hint}"
    assert isinstance(raised.value, BadPathError) is ("line" not in says.replace("link", ""))


def test_a_wrong_place_is_answered_with_one_that_is_like_it() -> None:
    known = ["lib/pool/a.py", "bin/pool", "rq/job.py", "rq/version.py", "tests/test_job.py"]
    assert "a folder" in near._hint(known, "lib/pool")  # and not bin/pool, which has its name
    assert near._hint(known, "sr/job.py") == "did you mean rq/job.py?"
    assert near._hint(known, "rq/jobb.py") == "did you mean rq/job.py?"
    assert "--dry-run" in near._hint(known, "missing.py")  # nearly like version.py for difflib alone


def test_a_place_needs_words(session: Engine) -> None:
    with pytest.raises(UsageError, match="--near"):
        search(session, "chain/link1.py", "kind:class")


def test_a_graph_that_does_not_fit_is_damage(session: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = session.snapshot.graph.lambda_symbol.copy()
    wrong[:] = 10**6
    monkeypatch.setattr(session.snapshot.graph, "lambda_symbol", wrong)
    with pytest.raises(DamagedIndexError):
        Near(session.snapshot, place_of(session.snapshot, "other/table.py"))


# --- the command --------------------------------------------------------------------------------------------------


def test_paths_start_where_the_user_is(session: Engine, lci) -> None:
    def ask(cwd: Path, place: str, *flags: str) -> str:
        ran = lci("search", "paint wall", "-m", "multiview", "--json", "--explain", "--near", place, *flags, cwd=cwd)
        assert ran.code == 0, ran.out
        return ran.json()["plan"]["near"]

    root = session.root
    assert ask(root / "left", "house.py:5") == "left/house.py:5"
    assert ask(root / "left", "../right/paint.py") == "right/paint.py"
    assert ask(root, str(root / "empty.py")) == "empty.py"
    # As an answer names it, which starts at the root.
    assert ask(root / "chain", "left/house.py:5") == "left/house.py:5"
    assert ask(Path("/"), "left/house.py:5", "--root", str(root)) == "left/house.py:5"
