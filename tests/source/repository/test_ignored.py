"""The line of an ignore file that leaves a path out."""

from __future__ import annotations

from pathlib import Path

from lci_py.source.repository.ignored import TreeRules
from lci_py.source.repository.walk import WalkOptions, walk


def rule(root: Path, path: str, **options: object) -> str | None:
    found = TreeRules(root, WalkOptions(**options)).rule(path)  # type: ignore[arg-type]
    return str(found) if found is not None else None


def test_the_line_that_decides(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / ".git" / "info").mkdir(parents=True)
    (tmp_path / ".git" / "info" / "exclude").write_text("local.py\n")
    (tmp_path / ".gitignore").write_text("\ufeff# generated\n\nx.py\n*.tmp  \n[z-a\n!keep.tmp\nout/\n")
    (tmp_path / "a" / ".ignore").write_text("!x.py\n*.old\n")
    (tmp_path / "a" / ".lciignore").write_text("!keep.old\n")
    (tmp_path / "a" / "b" / ".gitignore").write_text("y.py\n")
    assert rule(tmp_path, "x.py") == "`x.py` in .gitignore, line 3"
    assert rule(tmp_path, "a/x.py") == "`x.py` in .gitignore, line 3"  # .ignore does not bring it back
    assert rule(tmp_path, "a/y.old") == "`*.old` in a/.ignore, line 2"
    assert rule(tmp_path, "a/keep.old") is None  # .lciignore is stronger, and brings it back
    assert rule(tmp_path, "a/b/y.py") == "`y.py` in a/b/.gitignore, line 1"
    assert rule(tmp_path, "a/local.py") == "`local.py` in .git/info/exclude, line 1"
    assert rule(tmp_path, "a/z.py") is None
    assert rule(tmp_path, "keep.tmp") is None
    assert rule(tmp_path / "a" / "b", "z.tmp") == "`*.tmp` in ../../.gitignore, line 4"
    # A folder that is gone had no ignore file of its own that is still there.
    assert rule(tmp_path, "gone/z.tmp") == "`*.tmp` in .gitignore, line 4"
    # What is in an ignored folder is left out by the folder's rule, also if the walk goes into it.
    assert rule(tmp_path, "a/out/b/c.py") == "`out/` in .gitignore, line 7"
    assert rule(tmp_path, "a/out/b/c.py", allow=("d.py",)) == "`out/` in .gitignore, line 7"
    assert rule(tmp_path, "x.py", use_ignore_files=False) is None


def test_a_line_that_is_too_long_to_count_does_not_shift_the_others(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*" + "a" * 1000 + "\nb.py\n")
    assert rule(tmp_path, "b.py") == "`b.py` in .gitignore, line 2"


def test_a_nested_repository_takes_nothing_unless_it_is_included(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / ".git").write_text("gitdir: x\n")
    (tmp_path / "lib" / "a.py").touch()
    for include, taken in (((), False), (("lib/",), True), (("lib/*.py",), True), (("src/",), False)):
        options = WalkOptions(include=include)
        assert TreeRules(tmp_path, options).takes("lib/a.py") is taken
        assert ("lib/a.py" in [entry.path for entry in walk(tmp_path, options).files]) is taken
