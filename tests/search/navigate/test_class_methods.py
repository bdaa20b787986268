"""Ruby: a class and its objects may each have a method of one name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lci_py import app
from tests.conftest import Ran

TEXT = """class Job
  def self.run; Job.new.run; end
  def run; end
end
class Sub < Job
  def self.run; super; end
  def run; super; end
end
def all; Job.run; end
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("classes")
    (folder / "a.rb").write_text(TEXT)
    app.build_index(str(folder), jobs=1)
    return folder


@pytest.mark.parametrize(
    ("name", "callers", "other"),
    [
        ("a.rb:2", [6, 9], []),
        ("Job#run", [2, 7], []),
        ("a.rb::Job#run", [2, 7], []),
        ("Job.run", [6, 9], ["a.rb::Job#run"]),  # the one with more callers; then the first
        ("Sub#run", [2], []),
    ],
)
def test_callers_of_one_of_them(
    lci: Callable[..., Ran], root: Path, name: str, callers: list[int], other: list[str]
) -> None:
    answer = json.loads(lci("callers", name, "--json", cwd=root).out)
    assert sorted(line for one in answer["results"] for line in one["sites"]) == callers
    assert [one["name"] for one in answer.get("other_meanings", ())] == other
