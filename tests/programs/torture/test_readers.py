"""The short form of tests/torture/readers.py."""

from __future__ import annotations

import threading
from pathlib import Path

from tests.torture import readers
from tests.torture.program import Program
from tests.torture.report import Report


def test_readers_see_one_generation(program: Program, report: Report, tmp_path: Path) -> None:
    readers.readers_and_writer(program, tmp_path, report, seconds=1, readers=2, answers=3, generations=2)
    assert report.figures["generations seen"] >= 2
    assert report.figures["answers, search"] >= 3
    assert report.violations == []


def test_a_torn_generation_is_noticed(program: Program, report: Report, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    readers.stamp(root, 1)
    part = root / "src" / "part0.py"
    part.write_text(part.read_text().replace("_gen_1", "_gen_2"))
    assert program.run("index", str(root), "--jobs", "1").code == 0
    reader = readers.Reader(program, root, report, 0, threading.Event())
    reader._many()
    assert any(": generations [1, 2]" in text for text in report.violations)
    assert {text.split(":")[0] for text in report.violations} >= {"batch, symbolic", "batch, bm25"}
