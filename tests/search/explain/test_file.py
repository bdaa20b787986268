"""`--explain-file`: what became of a file, in every mode and for every reason."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lci_py import app
from lci_py.errors import BadPathError, DamagedIndexError
from lci_py.render.json import answer as render
from lci_py.search.engine import Engine
from lci_py.types.search import MODES, Filters, SearchRequest
from tests.conftest import Ran
from tests.render.json.test_answer import definition
from tests.support.envelopes import envelope

BODY = "def load_{0}(path):\n    # reads the cache\n    return open(path).read()\n\n\nclass Loader{0}:\n    pass\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that can be found, filtered out, empty, and left out for each of several reasons."""
    root = tmp_path_factory.mktemp("explain") / "repo"
    for number in range(14):
        path = root / "src" / f"cache{number:02}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(BODY.format(number))
    (root / "src" / "empty.py").write_text("")
    (root / "src" / "user.py").write_text("from cache00 import load_0\n\n\ndef geese():\n    return load_0('x')\n")
    (root / "src" / "prose.md").write_text("# Birds\n\nNothing but geese.\n")
    (root / "src" / "notes.md").write_text("# Notes\n\nGeese load.\n")
    (root / "tests").mkdir()
    (root / "tests" / "test_cache.py").write_text("def test_load_cache():\n    # reads the cache\n    assert True\n")
    for name, text in {
        ".gitignore": "build/\n*.log\n", "build/out.py": "x = 1\n", "a.log": "x\n", "vendor/.gitignore": "b.py\n",
        "vendor/b.py": "b = 1\n", ".hidden/a.py": "a = 1\n", "go.sum": "x\n", "excluded/c.py": "c = 1\n",
        ".lci.toml": 'exclude = ["excluded/"]\n',
    }.items():  # fmt: skip
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    (root / "data.bin").write_bytes(b"\0\1")
    (root / "link.py").symlink_to("src/cache00.py")
    app.build_index(str(root), jobs=1)
    (root / "new.py").write_text("def new(): pass\n")
    return root


@pytest.fixture(scope="module")
def session(root: Path) -> Iterator[Engine]:
    with app.open_engine(str(root), refresh="never") as opened:
        yield opened


def fate(session: Engine, file: str, query: str = "load the cache", mode: Any = "multiview", **more: Any) -> dict:
    answer = session.search(SearchRequest(query, mode, explain_file=file, snippet=0, **more))
    found = envelope(answer)["explain_file"]
    definition("explainFile").validate(json.loads(render.dumps(found)))
    return found


@pytest.mark.parametrize(
    ("file", "reason", "sentence"),
    [
        ("build/out.py", "ignored", "not indexed: its folder build is ignored by `build/` in .gitignore, line 1"),
        ("a.log", "ignored", "not indexed: ignored by `*.log` in .gitignore, line 2"),
        ("vendor/b.py", "ignored", "not indexed: ignored by `b.py` in vendor/.gitignore, line 1"),
        (".hidden/a.py", "hidden", "not indexed: its folder .hidden is hidden, as its name begins with a dot"),
        ("excluded/c.py", "excluded", "not indexed: its folder excluded is excluded by `exclude` in .lci.toml"),
        ("go.sum", "generated", "not indexed: generated"),
        ("data.bin", "binary", "not indexed: binary"),
        ("link.py", "symlink", "not indexed: a symbolic link, which is not followed"),
        ("new.py", "new", "not indexed: it was not there when the index was made; run `lci index`"),
        (".lci/manifest.json", "own", "not indexed: nothing in .lci is"),
    ],
)
@pytest.mark.parametrize("mode", ["bm25", "symbolic"])
def test_what_is_not_indexed_says_why(session: Engine, file: str, reason: str, sentence: str, mode: str) -> None:
    query = "*" if mode == "symbolic" else "cache"
    assert fate(session, file, query, mode) == {
        "file": file, "status": "not_indexed", "verdict": sentence, "reason": reason
    }  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_a_result_that_is_shown(session: Engine, mode: Any) -> None:
    query = "load*" if mode == "symbolic" else "load the cache"
    answer = session.search(SearchRequest(query, mode, explain=True, snippet=0))
    for rank, result in enumerate(answer.results, 1):
        if any(earlier.file == result.file for earlier in answer.results[: rank - 1]):
            continue
        found = fate(session, result.file, query, mode)
        assert (found["status"], found["rank"], found["total"]) == ("shown", rank, answer.total)
        assert found["best"]["id"] == result.id
        assert {key: found[key] for key in ("waterfall", "views")} == render.lean(render.round_floats(result.explain))
        assert found["score"] == render.round_floats(result.mode_score)


@pytest.mark.parametrize("mode", MODES)
def test_a_result_further_down_has_its_rank(session: Engine, mode: Any) -> None:
    query = "load*" if mode == "symbolic" else "load the cache"
    every = session.search(SearchRequest(query, mode, 500, snippet=0))
    files = [result.file for result in every.results]
    assert len(files) == every.total
    below = next(file for file in files[3:] if file not in files[:3])
    found = fate(session, below, query, mode, limit=3)
    rank = files.index(below) + 1
    assert (found["status"], found["rank"]) == ("ranked", rank)
    assert found["score"] == render.round_floats(every.results[rank - 1].mode_score)
    assert found["last_shown"] == {"rank": 3, "score": render.round_floats(every.results[2].mode_score)}
    assert f"rank {rank} of {every.total}" in found["verdict"] and f"`-n {rank}` shows it" in found["verdict"]
    assert sum(step["adds"] for step in found["waterfall"]) == pytest.approx(found["score"], rel=1e-4)
    assert fate(session, below, query, mode, limit=rank)["status"] == "shown"


def test_the_sentence_names_what_is_missing_and_what_a_factor_took(session: Engine) -> None:
    found = fate(session, "tests/test_cache.py", limit=1)
    assert found["status"] == "ranked"
    test = next(step for step in found["waterfall"] if step["name"] == "test")
    assert f"after test took {-test['adds']:.2f}" in found["verdict"]
    notes = fate(session, "src/notes.md", limit=1)
    assert "nothing from " in notes["verdict"] and notes["status"] == "ranked"


@pytest.mark.parametrize(
    ("more", "filters"),
    [
        ({"filters": Filters(lang=("go",))}, ["--lang go"]),
        ({"filters": Filters(path=("tests/**",))}, ["--path tests/**"]),
        ({"filters": Filters(exclude=("src/",), kind=("class", "function"))}, ["--exclude src/"]),
        ({"filters": Filters(name=("Loader0",), kind=("function",))}, ["--kind function", "--name Loader0"]),
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_a_filter_that_excludes_is_named(session: Engine, mode: Any, more: dict, filters: list[str]) -> None:
    query = "load*" if mode == "symbolic" else "load the cache"
    if mode == "symbolic" and "name" in " ".join(filters):
        query = ""
    found = fate(session, "src/cache00.py", query, mode, **more)
    assert (found["status"], found["filters"]) == ("filtered", filters)
    assert found["verdict"].startswith("filtered out by --")


def test_a_term_of_the_query_is_named_as_it_is_written(session: Engine) -> None:
    assert fate(session, "src/cache00.py", "lang:go cache")["filters"] == ["lang:go"]
    assert fate(session, "src/cache00.py", "kind:trait load_0", "symbolic")["filters"] == ["kind:trait"]
    assert fate(session, "src/prose.md", "load_*", "symbolic")["verdict"] == "filtered out by name:load_*"


def test_what_no_view_finds(session: Engine) -> None:
    found = fate(session, "src/prose.md", "cache", "bm25")
    assert (found["status"], found["verdict"]) == ("not_found", "not found: none of the words occur in it (cach)")
    assert "best" not in found
    quoted = fate(session, "src/prose.md", '"reads the cache"', "bm25")
    assert quoted["verdict"] == "no line of it holds the quoted words letter for letter"
    assert fate(session, "src/cache00.py", '"reads the cache"', "bm25", limit=20)["status"] == "shown"
    empty = fate(session, "src/empty.py")
    assert (empty["status"], empty["verdict"]) == ("empty", "it holds nothing to rank")
    assert fate(session, "src/empty.py", "*", "symbolic")["verdict"] == "no symbol is defined in it"


def test_a_place_too_far_down_in_every_view(session: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lci_py.search.modes.multiview.POOL", 2)
    found = fate(session, "src/prose.md", "load the cache")
    assert found["status"] == "not_found" and "rank" not in found
    assert found["views"]["dense"]["beyond"] is True and found["views"]["dense"]["rank"] > 2
    assert f"dense has it at {found['views']['dense']['rank']}, behind the first 2" in found["verdict"]
    assert "none of the words occur in it (load, cach, loadcache, loader)" in found["verdict"]


def test_a_view_that_failed_is_named(session: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise DamagedIndexError("gone")

    monkeypatch.setattr("lci_py.search.modes.multiview.POOL", 1)
    monkeypatch.setattr(session.snapshot.dense, "search", fail)
    found = fate(session, "src/prose.md", "load the cache")
    assert found["verdict"].startswith("not found: dense failed; none of the words")


def test_what_counts_is_what_was_searched_in_the_end(session: Engine) -> None:
    asked = '"reads teh cache"'
    answer = session.search(SearchRequest(asked, "multiview", 40, explain=True))
    assert answer.plan is not None and answer.plan["relaxed"]
    assert fate(session, "src/cache00.py", asked, limit=40)["status"] == "shown"
    strict = fate(session, "src/cache00.py", asked, strict=True)
    assert strict["verdict"] == "no line of it holds the quoted words letter for letter"


def test_a_time_budget_changes_nothing_in_an_answer_that_is_in_time(session: Engine) -> None:
    for mode in MODES:
        query = "load*" if mode == "symbolic" else "load the cache"
        plain, timed = (fate(session, "src/cache09.py", query, mode, budget_ms=ms) for ms in (None, 600_000))
        assert plain == timed


def test_a_neighbour_of_a_result_is_shown(session: Engine) -> None:
    assert fate(session, "src/user.py", "load_0", limit=1)["status"] == "ranked"
    found = fate(session, "src/user.py", "load_0", limit=1, expand=1)
    assert (found["status"], found["verdict"]) == ("shown", "shown for what it has to do with a result (--expand)")


# --- the name of the file -------------------------------------------------------------------------------------------


def test_paths_start_at_the_current_folder_or_at_the_root(
    session: Engine, root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(root / "src")
    for name in ("cache00.py", "src/cache00.py", str(root / "src" / "cache00.py"), "../src/cache00.py"):
        assert fate(session, name)["file"] == "src/cache00.py"
    monkeypatch.chdir(tmp_path)
    assert fate(session, "./src/cache00.py")["file"] == "src/cache00.py"


def test_a_name_that_is_no_file_is_an_error_with_near_names(session: Engine, tmp_path: Path) -> None:
    with pytest.raises(BadPathError) as caught:
        fate(session, "lib/cache03.py")
    assert caught.value.details["near"] == ["src/cache03.py"]
    with pytest.raises(BadPathError) as caught:
        fate(session, "src/cahce04.py")
    assert caught.value.details["near"][0] == "src/cache04.py" and "did you mean src/cache04.py" in caught.value.hint
    for name, message in {
        "": "empty", "a\0b": "NUL", "src": "is a folder", ".": "is a folder", "../x.py": "not a file below",
        str(tmp_path): "not a file below", "zzz/qq": "there is no file",
    }.items():  # fmt: skip
        with pytest.raises(BadPathError, match=message):
            fate(session, name)


def test_a_file_that_changed_or_went_is_marked(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "src", tmp_path / "r")
    app.build_index(str(tmp_path / "r"), jobs=1)
    (tmp_path / "r" / "cache01.py").write_text("x = 1\n")
    (tmp_path / "r" / "cache02.py").unlink()
    with app.open_engine(str(tmp_path / "r"), refresh="never") as opened:
        found = [fate(opened, f"cache0{number}.py", limit=50) for number in range(3)]
    assert [item.get("stale") for item in found] == [None, True, None]
    assert [item["status"] for item in found] == ["shown", "shown", "not_indexed"]
    assert (found[2]["reason"], found[2]["verdict"]) == ("vanished", "gone since the index was made")


# --- whole programs -------------------------------------------------------------------------------------------------


def test_from_the_command_line(lci: Callable[..., Ran], root: Path) -> None:
    flags = ("search", "load the cache", "--refresh", "never", "-n", "2", "--snippet", "0")
    text = lci(*flags, "--explain-file", "out.py", cwd=root / "build")
    assert text.code == 0
    assert "out.py  not indexed: its folder build is ignored by `build/` in .gitignore, line 1\n" in text.out
    wrong = lci(*flags, "--explain-file", "nowhere.py", "--json", cwd=root)
    assert (wrong.code, wrong.json()["error"]["code"]) == (2, "bad_path")
    none = lci("search", "x", "--lang", "go", "--refresh", "never", "--explain-file", "src/cache00.py", cwd=root)
    assert none.code == 1 and "src/cache00.py  filtered out by --lang go\n" in none.out
    lines = [
        {"query": "cache", "explain_file": "src/cache00.py"},
        {"query": "cache"},
        {"query": "x", "explain_file": 1},
    ]
    batch = lci("search", "--batch", "-", "--refresh", "never", cwd=root, stdin="\n".join(map(json.dumps, lines)))
    one, two, three = map(json.loads, batch.out.splitlines())
    assert one["explain_file"]["file"] == "src/cache00.py" and "explain_file" not in two
    assert three["error"]["message"] == "explain_file must be a string"
