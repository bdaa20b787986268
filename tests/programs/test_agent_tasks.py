"""What the harness of agent tasks takes for an answer, and for a difference."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.quality.agent_tasks.__main__ import TASKS, is_answered, is_shown, sign_test


@pytest.mark.parametrize(
    ("item", "command", "text", "shown"),
    [
        ("a/b.py: 12", "rg x", "a/b.py:12:    x = 1\n", True),
        ("a/b.py: 12", "lci refs x", "a/b.py\n12:5 call  x = 1\nc.py\n3:1 call\n", True),
        ("a/b.py: 3", "lci refs x", "a/b.py\n12:5 call  x = 1\nc.py\n3:1 call\n", False),
        ("a/b.py: 12", "rg x", "a/b.py:112:    x\n", False),
        ("a/b.py: if  not x:", "sed -n 1,9p a/b.py", "\tif not x:\n", True),
        ("a/b.py: if not x:", "sed -n 1,9p c.py", "\tif not x:\n", False),
        ("a/b.py: close", "lci outline a/b.py", "9 def close_all()\n", False),
        ("a/b.py: close", "lci outline a/b.py", "9 def close()\n", True),
        ("a/b.py", "rg -l x", "a/b.py\n", True),
    ],
)
def test_an_item_is_shown(item: str, command: str, text: str, shown: bool) -> None:
    assert is_shown(item, command, text) is shown


def test_an_item_is_answered(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("\n" * 9 + "def close():\n    pass\n")
    assert is_answered("a.py: def close():", "a.py:12 close", tmp_path)
    assert not is_answered("a.py: def close():", "a.py:17 close", tmp_path)
    assert is_answered("a.py: 10", "see a.py:10.", tmp_path) and not is_answered("a.py: 10", "a.py:11", tmp_path)
    assert is_answered("a.py: close", "a.py: close and open", tmp_path)


def test_the_sign_test_is_exact() -> None:
    assert sign_test([(1, 2)] * 5) == 2 / 32
    assert sign_test([(1, 2), (2, 1)]) == sign_test([(1, 1)]) == 1.0


def test_every_task_has_an_answer_and_two_plans() -> None:
    assert len(TASKS) == 24 and sum(task.get("held", False) for task in TASKS) == 8
    for task in TASKS:
        assert task["truth"] and task["rg"] and task["lci"]
        assert all(command.startswith("lci ") for command in task["lci"])
        assert not any("lci" in command for command in task["rg"])
