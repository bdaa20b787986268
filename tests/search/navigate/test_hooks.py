"""`lci callers` and `lci unused` of what a base class from a library calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.fake import VALIDATOR
from tests.conftest import Ran
from tests.support.graph_repo import build

Lci = Callable[..., Ran]
SOURCES = {
    "work.py": (
        "import unittest\nfrom html import parser as html_parser\nfrom threading import Thread\n\n\n"
        "class Worker(Thread):\n    pass\n\n\n"
        "class Loader(Worker):\n    def run(self):\n        return 1\n\n\n"
        "class Links(html_parser.HTMLParser):\n    def handle_data(self, data):\n        return data\n\n    def extra(self):\n"
        "        return 2\n\n\n"
        "class Idle(Thread):\n    def run(self):\n        return 3\n\n\n"
        "class Cart(unittest.TestCase):\n    def setUp(self):\n        self.links = Links()\n\n\n"
        "def begin():\n    loader = Loader()\n    loader.start()\n\n\nbegin()\nprint(Idle, Links)\n"
    ),
    "Job.java": "class Job extends Thread {\n  public void run() {}\n  static void go() { new Job().start(); }\n}\n",
    "basket.rb": "class Basket\n  include Enumerable\n  def each\n  end\nend\nclass Test < Minitest::Test\n  def setup\n  end\nend\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("hooks") / "repo", SOURCES)


def callers(lci: Lci, root: Path, name: str) -> list[tuple[str, str, str, int]]:
    """Kind, name, step and line of each caller."""
    found = json.loads(lci("callers", name, "--json", cwd=root).out)
    VALIDATOR.validate(found)
    return [
        (one["kind"], one.get("qualified_name", one["symbol"]), one["step"], one["sites"][0])
        for one in found["results"]
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Loader.run", ("function", "begin", "hook", 35)),
        ("Job.run", ("method", "Job.go", "hook", 3)),
        ("Idle.run", ("hook", "Idle(Thread)", "hook", 23)),
        ("Links.handle_data", ("hook", "Links(html_parser.HTMLParser)", "hook", 15)),
        ("Cart.setUp", ("hook", "Cart(unittest.TestCase)", "hook", 28)),
        ("Basket.each", ("hook", "Basket(Enumerable)", "hook", 1)),
        ("Test.setup", ("hook", "Test(Minitest.Test)", "hook", 6)),
    ],
)
def test_a_hook_is_called_by_its_library(
    lci: Lci, root: Path, name: str, expected: tuple[str, str, str, int]
) -> None:  # fmt: skip
    assert callers(lci, root, name) == [expected]


def test_other_methods_of_such_a_class_have_no_callers(lci: Lci, root: Path) -> None:
    assert callers(lci, root, "Links.extra") == []


def test_a_hook_is_used_where_its_class_is(lci: Lci, root: Path) -> None:
    found = json.loads(lci("unused", "--all", "--json", cwd=root).out)
    listed = {one["symbol"] for one in found["results"]}
    assert "extra" in listed and "handle_data" not in listed
