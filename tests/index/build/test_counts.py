"""The totals of a generation."""

from __future__ import annotations

from pathlib import Path

from lci_py import app


def test_files_with_syntax_errors_are_counted_by_language(tmp_path: Path) -> None:
    (tmp_path / "fine.c").write_text("int f(void) { return 0; }\n")
    (tmp_path / "broken.c").write_text("int f( {\n  return +;\n")
    (tmp_path / "broken.py").write_text("def f(:\n    pass\n")
    app.build_index(str(tmp_path), jobs=1)
    status = app.status(str(tmp_path))
    assert status["errors_by_language"] == {"c": 1, "python": 1}
    assert {one["path"]: one["of"] for one in status["lost_lines"]} == {"broken.c": 3, "broken.py": 3}
    assert all(0 < one["lines"] <= 3 for one in status["lost_lines"])
    (tmp_path / "broken.c").unlink()
    app.build_index(str(tmp_path), jobs=1)
    status = app.status(str(tmp_path))
    assert status["errors_by_language"] == {"python": 1}
    assert [one["path"] for one in status["lost_lines"]] == ["broken.py"]


def test_macros_of_the_settings_are_known_and_build_the_index_anew(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("DEFINE_POOL(struct item, items);\n")
    app.build_index(str(tmp_path), jobs=1)
    assert "variable" not in app.status(str(tmp_path))["symbols_by_kind"]
    (tmp_path / ".lci.toml").write_text('[macros]\nvariable_2 = ["DEFINE_POOL"]\n')
    assert app.build_index(str(tmp_path), jobs=1).changed
    assert app.status(str(tmp_path))["symbols_by_kind"]["variable"] == 1
    assert not app.build_index(str(tmp_path), jobs=1).changed
