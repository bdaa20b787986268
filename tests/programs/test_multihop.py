"""The measurement of multi-hop questions, over a tree with known ranks."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.quality import multihop
from tests.quality.checkouts import opened

_SOURCES = {
    "pool.py": "class Pool:\n    def evict_idle(self, connection):\n        finish(connection)\n",
    "wire.py": "class Wire:\n    def finish(self):\n        self.socket = None\n\n    def start(self):\n        pass\n",
    "other.py": "def unrelated():\n    return 1\n",
}
_ASKED = {"file": "pool.py", "symbol": "Pool.evict_idle"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hops")
    for name, text in _SOURCES.items():
        (folder / "small").mkdir(exist_ok=True)
        (folder / "small" / name).write_text(text)
    return folder


def _questions(folder: Path, bridges: list[dict[str, str]], *texts: str) -> tuple[list[multihop.Question], list[str]]:
    items = [{"question": text, "asked": _ASKED, "bridges": bridges, "hops": 1} for text in texts]
    problems: list[str] = []
    with opened(folder / "small", folder / "kept") as session:
        spec = {"name": "small", "split": "development", "questions": items}
        return list(multihop.measured(spec, session, ("bm25",), problems)), problems


def test_ranks_are_those_of_the_first_result_at_the_place(folder):
    (found,), problems = _questions(folder, [{"file": "wire.py", "symbol": "Wire.finish"}], "evict idle")
    assert not problems
    assert found.ranks["bm25"] == {"bridge": None, "itself": None, "file": None, "asked": 1}
    (found,), _ = _questions(folder, [{"file": "wire.py", "symbol": "Wire.finish"}], "start")
    # The class is around the bridge; its other method is not at it, but in its file.
    assert found.ranks["bm25"]["file"] == 1
    assert found.ranks["bm25"]["itself"] is None
    (found,), _ = _questions(folder, [{"file": "wire.py", "symbol": "finish"}], "wire finish")
    assert found.ranks["bm25"]["itself"] is not None


def test_a_class_counts_for_its_methods_but_is_not_the_method(folder):
    bridge = [{"file": "wire.py", "symbol": "Wire.finish"}]
    (found,), _ = _questions(folder, bridge, "class Wire")
    assert found.ranks["bm25"]["bridge"] == 1
    assert found.ranks["bm25"]["itself"] != 1


def test_what_the_index_lacks_is_named(folder):
    _, problems = _questions(folder, [{"file": "wire.py", "symbol": "Wire.gone"}], "evict")
    assert problems == ["small: no Wire.gone in wire.py"]


def test_report_gives_the_difference_to_the_best_single_mode():
    def question(dense: int | None, bm25: int | None, multiview: int | None) -> multihop.Question:
        ranks = {"dense": dense, "bm25": bm25, "multiview": multiview}
        return multihop.Question(
            "small", "test", "?", 1, {mode: dict.fromkeys(multihop.MEASURES, rank) for mode, rank in ranks.items()}
        )

    questions = [question(1, None, 10), question(10, 11, 11), question(None, None, 3), question(None, None, 1)]
    lines = list(multihop.report(questions, multihop.MODES))
    assert re.split(r"\s{2,}", lines[3].strip()) == ["TEST", "4", "0.500", "0.000", "0.750", "+0.250 (+2 -1 dense)"]


def test_questions_of_the_test_split_are_listed_only_on_demand(folder, tmp_path):
    spec = {"name": "small", "repository": "a/b", "revision": "0", "split": "test"}
    item = {"question": "evict idle things", "asked": _ASKED, "bridges": [_ASKED], "hops": 1, "via": ["calls"]}
    (tmp_path / "data.json").write_text(json.dumps([{**spec, "questions": [item]}]))
    command = [sys.executable, "-m", "tests.quality.multihop", str(folder), "--data", str(tmp_path / "data.json"), "-v"]
    root = str(Path(multihop.__file__).parents[2])

    def printed(*more: str) -> str:
        run = subprocess.run([*command, *more], cwd=tmp_path, env={"PYTHONPATH": root}, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return run.stdout

    assert "evict idle things" not in printed()
    assert "evict idle things" in printed("--only", "test")


def test_every_repository_has_ten_questions_of_two_files():
    data = json.loads(multihop.DATA.read_text())
    assert [(spec["split"], len(spec["questions"])) for spec in data] == [("development", 10)] * 3 + [("test", 10)] * 3
    for item in (item for spec in data for item in spec["questions"]):
        assert item["asked"]["file"] not in [bridge["file"] for bridge in item["bridges"]], item["question"]
        assert len(item["via"]) == item["hops"]
