"""`lci stats`, and the log of searches that it reads, on the command line."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lci_py import app
from lci_py.app import upkeep
from lci_py.cli.main import main
from lci_py.index.store.search_log import SEARCH_LOG
from lci_py.render.text.stats import stats_lines
from lci_py.render.text.style import Page
from lci_py.types.search import SearchRequest
from tests.cli.fake import VALIDATOR

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def root(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = tmp_path / "repo"
    shutil.copytree(repo, copy)
    monkeypatch.chdir(copy)
    return copy


@pytest.fixture
def run(root: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def go(*argv: str) -> tuple[int, str, str]:
        code = main(argv)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return go


def test_nothing_is_logged_unless_it_is_asked_for(run: Run, root: Path) -> None:
    assert run("search", "warehouse", "--json")[0] == 0
    assert not (root / ".lci" / SEARCH_LOG).exists()
    code, out, _ = run("stats")
    assert code == 1
    assert 'set log = "on" in .lci.toml, or LCI_LOG=on' in out
    code, out, _ = run("stats", "--json")
    VALIDATOR.validate(json.loads(out))
    assert (code, json.loads(out)["log"]) == (1, "off")


def test_the_log_from_a_search_to_the_table(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / ".lci.toml").write_text('log = "on"\n')
    assert "no search is logged yet" in run("stats")[1]
    plain = json.loads(run("search", "warehouse", "-m", "multiview", "--json")[1])
    assert "trace" not in plain
    (root.parent / "queries").write_text("warehouse\nzzzqqq\n")
    assert run("search", "--batch", "../queries", "-m", "bm25")[0] == 0
    assert run("search", "--kind", "class", "-m", "symbolic", "--trace", "--json")[0] == 0
    text = (root / ".lci" / SEARCH_LOG).read_text()
    assert "warehouse" not in text and "zzzqqq" not in text
    monkeypatch.setenv("LCI_LOG", "queries")
    assert run("search", "zzzqqq\x1b\x07", "-m", "bm25")[0] == 1
    code, out, _ = run("stats", "--json", "--since", "1h")
    found = json.loads(out)
    VALIDATOR.validate(found)
    assert code == 0
    assert {mode: row["searches"] for mode, row in found["by_mode"].items()} == {
        "bm25": 3,
        "symbolic": 1,
        "multiview": 1,
    }
    assert found["by_mode"]["bm25"]["zero_results"] == 2
    assert list(found["by_intent"]) == [plain["plan"]["intent"]]
    assert {"dense", "bm25", "symbolic", "fusion"} <= set(found["stages"])
    assert found["flags"] == {"kind": 1, "trace": 1}
    assert found["queries_without_results"] == {"zzzqqq\x1b\x07": 1}
    assert 0 < found["all"]["p50_ms"] <= found["all"]["p90_ms"]
    monkeypatch.setenv("LCI_LOG", "off")
    code, out, _ = run("stats")
    assert code == 0 and "\x1b" not in out
    assert "5 searches" in out and "multiview" in out and "1 × zzzqqq" in out and "no longer logged" in out
    assert run("stats", "-q") == (0, "", "")
    assert run("stats", "--since", "soon")[0] == 2
    code, out, _ = run("stats", "--since", "2100-01-01")
    assert code == 1 and "are not logged" in out
    monkeypatch.setenv("LCI_LOG", "on")
    assert "no search is logged since 2100-01-01" in run("stats", "--since", "2100-01-01")[1]
    assert run("clean", "-q")[0] == 0
    assert not (root / ".lci").exists()


def test_a_file_of_the_repository_cannot_have_queries_logged(run: Run, root: Path) -> None:
    (root / ".lci.toml").write_text('log = "queries"\n')
    assert run("search", "zzzqqq", "-m", "bm25")[0] == 1
    assert "zzzqqq" not in (root / ".lci" / SEARCH_LOG).read_text()
    _, out, _ = run("stats", "--json")
    VALIDATOR.validate(json.loads(out))
    assert (json.loads(out)["log"], "queries_without_results" in json.loads(out)) == ("on", False)
    assert "LCI_LOG=queries" in json.loads(out)["warnings"][0]
    assert "only LCI_LOG=queries" in run("stats")[1]
    assert "only LCI_LOG=queries" in json.loads(run("index", "--json")[1])["warnings"][0]


def test_the_table_fits_on_a_terminal(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LCI_LOG", "queries")
    with app.open_engine(str(root), refresh="never") as session:
        for mode in ("dense", "bm25", "symbolic", "multiview"):
            session.search(SearchRequest("zzzqqq " * 30, mode, trace=True))
    found = upkeep.stats(str(root))
    for width in (60, 80):
        text = io.StringIO()
        page = Page(text, width=width)
        page.lines(stats_lines({**found, "log": "off"}, page.layout))
        lines = text.getvalue().splitlines()
        assert max(map(len, lines)) <= width
        assert any(line.startswith("stages, p50") for line in lines) and lines[-1].startswith(" ")


def test_the_answer_does_not_depend_on_the_log(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = [SearchRequest("warehouse", mode) for mode in ("dense", "bm25", "symbolic", "multiview")]
    answers = []
    for log in ("off", "queries"):
        monkeypatch.setenv("LCI_LOG", log)
        with app.open_engine(str(root), refresh="never") as session:
            answers.append([session.search(request) for request in requests])
    assert answers[0] == answers[1]
    assert (root / ".lci" / SEARCH_LOG).read_text().count("\n") == 4


def test_a_log_that_cannot_be_written_is_told_to_who_asks(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LCI_LOG", "on")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    (root / ".lci" / SEARCH_LOG).mkdir()
    code, out, err = run("search", "warehouse", "-m", "bm25", "--json")
    assert (code, err) == (0, "") and json.loads(out)["results"]
    code, _, err = run("search", "warehouse", "-m", "bm25", "--json", "-v")
    assert code == 0 and "not logged" in err and SEARCH_LOG in err


def test_lines_that_cannot_be_read_are_mentioned(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LCI_LOG", "on")
    run("search", "warehouse", "-m", "bm25")
    with open(root / ".lci" / SEARCH_LOG, "a") as file:
        file.write("rubbish\n")
    code, out, _ = run("stats")
    assert code == 0 and "1 search," in out and "1 line of the log cannot be read" in out
