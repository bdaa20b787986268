"""`lci index` says which line of an ignore file leaves a file out, and `--no-ignore` takes such files in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.conftest import Ran
from tests.render.json.test_answer import definition

Lci = Callable[..., Ran]


def source(number: int, word: str = "total") -> str:
    return f"def read_{number}(value):\n    {word} = value + {number}\n    return write_{number}({word})\n"


def test_nothing_to_index_names_the_rule_and_what_takes_the_files_in(lci: Lci, tmp_path: Path) -> None:
    root = tmp_path / "gen"
    root.mkdir()
    for number in range(3):
        (root / f"f{number}.py").write_text(source(number))
    (root / ".gitignore").write_text("# everything\n*\n")
    for _ in range(2):  # also when nothing has changed
        ran = lci("index", cwd=root)
        assert ran.code == 0
        assert ran.out.endswith(
            "⚠ no files to index: 4 ignored by `*` in .gitignore, line 2; `lci index --no-ignore` takes them in\n"
        )
    assert lci("index", "--json", cwd=root).json()["warnings"][0].startswith("no files to index: 4 ignored by `*` in")
    (root / ".gitignore").write_text("*\n!.gitignore\n")
    assert "⚠ only 1 file to index: 3 ignored by `*` in .gitignore, line 1;" in lci("index", cwd=root).out
    (root / ".gitignore").write_text("f1.py\n")
    assert "to index" not in lci("index", cwd=root).out


def test_no_ignore_is_remembered(lci: Lci, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / ".gitignore").write_text("out/\n")
    (tmp_path / "a.py").write_text(source(1))
    (tmp_path / "out" / "b.py").write_text(source(2))

    def status() -> tuple[int, int, bool]:
        found = json.loads(lci("status", "--json", cwd=tmp_path).out)
        return found["files"], found["stale_files"], found["ignore_files"]

    assert lci("index", cwd=tmp_path).code == 0
    assert status() == (1, 0, True)
    assert lci("index", "--no-ignore", cwd=tmp_path).code == 0
    assert status() == (2, 0, False)
    # The freshness check and the refresh of a search count the same files.
    (tmp_path / "out" / "c.py").write_text(source(3, "brand_new"))
    assert status() == (2, 1, False)
    assert lci("search", "brand_new", "-m", "bm25", "--paths", cwd=tmp_path).out == "out/c.py:2\n"
    assert status() == (3, 0, False)
    assert "out/c.py" in lci("index", "--dry-run", cwd=tmp_path).out
    assert "out/c.py" not in lci("index", "--dry-run", "--ignore", cwd=tmp_path).out
    assert lci("index", "--full", cwd=tmp_path).code == 0
    assert status() == (3, 0, False)
    assert lci("index", "--ignore", cwd=tmp_path).code == 0
    assert status() == (1, 0, True)


def test_no_ignore_is_remembered_where_nothing_is_ignored_yet(lci: Lci, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(source(1))
    assert lci("index", cwd=tmp_path).code == 0
    assert lci("index", "--no-ignore", cwd=tmp_path).out.startswith("up to date")
    (tmp_path / ".gitignore").write_text("b.py\n")
    (tmp_path / "b.py").write_text(source(2))
    assert lci("search", "read_2", "-m", "bm25", "--paths", cwd=tmp_path).out.startswith("b.py:1\n")


def test_a_dry_run_names_the_rule_of_each_file(lci: Lci, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / ".gitignore").write_text("*.log\nout/\n")
    (tmp_path / "a.log").touch()
    ran = lci("index", "--dry-run", "-v", cwd=tmp_path)
    assert ran.err == (
        "skipped .gitignore: hidden\n"
        "skipped a.log: ignored (by `*.log` in .gitignore, line 1)\n"
        "skipped out/: ignored (by `out/` in .gitignore, line 2)\n"
    )
    found = lci("index", "--dry-run", "--json", cwd=tmp_path).json()
    definition("dryRun").validate(found)
    assert found["skipped"][1]["rule"] == {"file": ".gitignore", "line": 1, "pattern": "*.log"}


def test_settings_of_a_clone_bring_back_nothing_that_git_ignores_and_the_user_does(lci: Lci, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text(".env\nout/\n")
    (tmp_path / ".lci.toml").write_text('include = [".env", "/out/b.py"]\nhidden = true\n')
    (tmp_path / ".ignore").write_text("!.env\n")
    (tmp_path / "a.py").write_text(source(1))
    (tmp_path / ".env").write_text("PASSWORD=hunter2\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "b.py").write_text("GENERATED_TWO = 2\n")

    def places(*words: str) -> str:
        return lci("search", *words, "-m", "bm25", "--paths", cwd=tmp_path).out

    built = lci("index", "--json", cwd=tmp_path).json()
    assert built["skipped_by_reason"] == {"not_allowed": 2}
    assert "`lci index --include GLOB`" in " ".join(built["warnings"])
    assert places("hunter2") == places("generated_two") == ""
    assert "names it; `lci index --include GLOB`" in lci("search", "x", "--explain-file", ".env", cwd=tmp_path).out
    # The user's own word counts, and is remembered by later runs and by the refresh before a search.
    assert lci("index", "--include", "/out/b.py", cwd=tmp_path).code == 0
    assert (places("hunter2"), places("generated_two")) == ("", "out/b.py:1\n")
    (tmp_path / "out" / "b.py").write_text("GENERATED_THREE = 3\n")
    assert places("generated_three") == "out/b.py:1\n"
    status = lci("status", "--json", cwd=tmp_path).json()
    definition("status").validate(status)
    assert status["allow"] == ["/out/b.py"]
    assert lci("index", "--include", "", cwd=tmp_path).code == 0
    assert places("generated_three") == ""
