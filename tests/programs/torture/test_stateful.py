"""The short form of tests/torture/stateful.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture import stateful, trees
from tests.torture.actions import ACTIONS, Tree
from tests.torture.program import Program, Ran
from tests.torture.report import Report


def _machine(program: Program, report: Report, scratch: Path, *bases: type) -> type[stateful.Repository]:
    return type("Machine", (*bases, stateful.Repository), {"program": program, "report": report, "scratch": scratch})


def test_answers_do_not_depend_on_how_the_index_came_about(program: Program, report: Report, tmp_path: Path) -> None:
    stateful.run(_machine(program, report, tmp_path), examples=1, steps=4, repeatable=True)
    assert report.figures["refreshes compared with a fresh index"] >= 2


class _Forgetful:
    """A program in which `lci index` does nothing after the first run, and reports success."""

    def index(self, *flags: str, **options: float) -> Ran:
        if not hasattr(self, "first"):
            self.first = super().index(*flags, **options)  # type: ignore[misc]
        return self.first


def test_a_stale_index_is_noticed(program: Program, report: Report, tmp_path: Path) -> None:
    machine = _machine(program, report, tmp_path, _Forgetful)()
    machine.make()
    ACTIONS["add_definition"](machine.tree, 3, 0)
    with pytest.raises(AssertionError, match="should be"):
        machine.indexed()
    machine.teardown()


def test_an_edit_that_keeps_size_and_time_is_seen(program: Program, tmp_path: Path) -> None:
    trees.write(tmp_path / "a.txt", "an entry\n")
    program.run("index", str(tmp_path), "--jobs", "1")
    Tree(tmp_path).edit_with_old_size_and_time(0, 0)
    assert program.run("index", str(tmp_path), "--jobs", "1", "--json").json()["changed"]
