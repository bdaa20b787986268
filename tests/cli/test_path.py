"""`lci path` as its users run it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.fake import VALIDATOR
from tests.conftest import Ran
from tests.support.graph_repo import SOURCES, build

MORE = {
    # Two shortest ways to `goal`, and a longer one.
    "ways.py": (
        "import os\n\n\ndef start():\n    left()\n    right()\n    long()\n\n\n"
        "def left():\n    goal()\n    goal()\n\n\ndef right():\n    goal()\n\n\n"
        "def long():\n    left()\n\n\ndef goal():\n    os.path.exists('x')\n"
    ),
    # The receiver of `run` is unknown: the way is lost there.
    "lost.py": (
        "def begin(thing):\n    middle(thing)\n\n\ndef middle(thing):\n    thing.kick_off()\n\n\n"
        "class Job:\n    def kick_off(self):\n        finish()\n\n\nclass Other:\n    def kick_off(self):\n        pass\n\n\n"
        "def finish():\n    pass\n"
    ),
    "either.py": (
        "class First:\n    def turn(self):\n        stop()\n\n\nclass Second:\n    def turn(self):\n        stop()\n\n\n"
        "def choose(flag):\n    thing = First() if flag else Second()\n    thing.turn()\n\n\n"
        "def stop():\n    pass\n"
    ),
    # Each caller of `each` passes another function; `detour` reaches `dinner` on its own, too.
    "passed.py": (
        "def each(items, task):\n    def worker(item):\n        task(item)\n    for item in items:\n        worker(item)\n\n\n"
        "def morning():\n    each([1], coffee)\n\n\ndef evening():\n    each([2], soup)\n\n\n"
        "def coffee(cup):\n    pass\n\n\ndef soup(bowl):\n    dinner()\n\n\ndef dinner():\n    pass\n\n\n"
        "def detour():\n    each([3], coffee)\n    one()\n\n\ndef one():\n    two()\n\n\ndef two():\n    three()\n\n\n"
        "def three():\n    four()\n\n\ndef four():\n    dinner()\n"
    ),
    "behind.py": (
        "class Task:\n    def go(self):\n        self.work()\n    def work(self):\n        pass\n\n\n"
        "class Wash(Task):\n    def work(self):\n        dry()\n\n\ndef dry():\n    pass\n"
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("path") / "repo", {**SOURCES, **MORE})


@pytest.fixture
def path(lci: Callable[..., Ran], root: Path) -> Callable[..., Ran]:
    return lambda *argv, **options: lci("path", *argv, **{"cwd": root, **options})


def answer(ran: Ran) -> dict:
    found = json.loads(ran.out)
    VALIDATOR.validate(found)
    return found


def test_each_line_is_the_call_that_leads_to_the_next(path: Callable[..., Ran], root: Path) -> None:
    assert path("main", "pong") == Ran(
        0,
        "shop/app.py\n7 function main  ping(3)\n15 function ping  scope  return pong(n)\n18 function pong  scope\n1 chain of 2 calls\n",
        "",
    )
    assert path("main", "pong", "--paths").out == "shop/app.py:7\nshop/app.py:15\nshop/app.py:18\n"
    assert path("app.py::main", "pong", "--paths", cwd=root / "shop").out == "app.py:7\napp.py:15\napp.py:18\n"
    assert path("ping", "ping", "--paths").out == "shop/app.py:15\nshop/app.py:19\nshop/app.py:14\n"  # recursion


def test_all_shortest_chains_and_only_those(path: Callable[..., Ran]) -> None:
    ran = path("start", "goal")
    assert ran.out == (
        "ways.py\n5 function start  left()\n11 function left  scope  and 12  goal()\n23 function goal  scope\n\n"
        "ways.py\n6 function start  right()\n16 function right  scope  goal()\n23 function goal  scope\n"
        "2 chains of 2 calls\n"
    )
    assert path("start", "goal", "-n", "1").out.endswith("1 of 2 chains of 2 calls\n")
    found = answer(path("start", "goal", "--json", "-n", "1"))
    assert (found["total"], found["has_more"]) == (2, True)
    [first, left, goal] = found["results"][0]["places"]
    assert (first["symbol"], left["sites"], goal["sites"], goal["step"]) == ("start", [5], [11, 12], "scope")
    assert path("start", "goal", "--depth", "1").code == 1
    assert path("start", "goal", "--exclude", "ways.py").code == 1
    *chains, summary = map(json.loads, path("start", "goal", "--jsonl").out.splitlines())
    for line in (*chains, summary):
        VALIDATOR.validate(line)
    assert len(chains) == summary["summary"]["total"] == 2


def test_a_function_outside_of_the_repository(path: Callable[..., Ran]) -> None:
    ran = path("start", "os.path.exists", "-n1")
    assert ran.out.splitlines()[-2:] == ["24 external os.path.exists", "1 of 2 chains of 3 calls"]
    assert path("start", "exists", "-n1", "--paths").out == "ways.py:5\nways.py:11\nways.py:24\n"
    assert answer(path("goal", "exists", "--json"))["results"][0]["places"][1] == {
        "external": "exists", "sites": [24], "text": "os.path.exists('x')",
    }  # fmt: skip
    assert path("start", "glob.exists").code == 2


def test_ambiguous_calls_are_marked(path: Callable[..., Ran]) -> None:
    ran = path("choose", "stop", "--json")
    found = answer(ran)["results"]
    assert all(chain["ambiguous"] and chain["places"][1]["ambiguous"] for chain in found)
    assert {chain["places"][1]["qualified_name"] for chain in found} == {"First.turn", "Second.turn"}
    assert "· ambiguous" in path("choose", "stop").out


def test_no_chain_names_the_frontier(path: Callable[..., Ran]) -> None:
    ran = path("begin", "finish")
    assert (ran.code, ran.err) == (1, "")
    assert ran.out == (
        "none: begin reaches 1 place within 1 call, not finish; the frontier is these calls without a known target:\n"
        "lost.py\n6 function middle  calls kick_off\n"
    )
    found = answer(path("begin", "finish", "--json"))
    assert (found["results"], found["frontier"]["reached"], found["frontier"]["ended"]) == ([], 1, True)
    assert [place["call"] for place in found["frontier"]["places"]] == ["kick_off"]
    assert path("goal", "start").out == "none: goal reaches 0 places, not start\n"
    deep = answer(path("start", "goal", "-d1", "--json"))["frontier"]
    assert (deep["ended"], deep["depth"]) == (False, 1)


def test_wrong_names(path: Callable[..., Ran]) -> None:
    ran = path("strat", "goal")
    assert (ran.code, ran.err) == (2, "lci: nothing is named 'strat': did you mean start?\n")
    assert path("start", "gaol").err == "lci: nothing is named 'gaol', and nothing calls it: did you mean goal?\n"
    assert path("clean", "main", "--all").code == 1
    assert path("start").code == path("a", "b", "c").code == path("start", "goal", "-d", "0").code == 2


def test_an_ambiguous_name_means_the_definition_that_a_chain_leads_to(path: Callable[..., Ran]) -> None:
    likeliest = answer(path("main", "clean", "--json"))
    assert [place["file"] for place in likeliest["targets"]] == ["shop/store.py"]
    assert [other["file"] for other in likeliest["other_meanings"]] == ["other/tools.py"]
    ends = answer(path("clean", "goal", "--json"))
    assert (ends["results"], len(ends["other_meanings"])) == ([], 1)


def test_a_function_that_another_caller_passes_is_marked(path: Callable[..., Ran]) -> None:
    assert "flow · ambiguous · passed by another caller" in path("morning", "dinner").out
    places = answer(path("morning", "dinner", "--json"))["results"][0]["places"]
    assert [place["symbol"] for place in places if "passed_elsewhere" in place] == ["soup"]
    assert "another caller" not in path("evening", "dinner").out
    # A chain that its own callers make comes first, although it is longer.
    first = answer(path("detour", "dinner", "--json"))["results"][0]["places"]
    assert [place["symbol"] for place in first] == ["detour", "one", "two", "three", "four", "dinner"]


def test_a_chain_may_go_on_in_an_overriding_method(path: Callable[..., Ran]) -> None:
    places = answer(path("Task.go", "dry", "--json"))["results"][0]["places"]
    assert [(place["symbol"], place.get("step")) for place in places] == [
        ("go", None), ("work", "dispatch"), ("dry", "scope"),
    ]  # fmt: skip
