"""Resolution over shapes that are hard on an algorithm."""

from __future__ import annotations

from pathlib import Path

from lci_py import app

WIDTH, DEPTH = 12, 12


def test_a_lattice_of_bases_is_walked_once(tmp_path: Path) -> None:
    """Each of 12 classes in a layer has all of the next layer as its bases: 12 ** 12 ways lead to the last one."""
    lines = []
    for layer in reversed(range(DEPTH)):
        bases = ", ".join(f"C{layer + 1}_{i}" for i in range(WIDTH)) if layer < DEPTH - 1 else ""
        lines += [f"class C{layer}_{i}({bases}): pass" for i in range(WIDTH)]
    lines += ["class Last(C0_0):", "    def run(self):", "        self.nowhere_to_be_found()"]
    (tmp_path / "a.py").write_text("\n".join(lines) + "\n")
    assert app.build_index(str(tmp_path), jobs=1).edges_by_kind["inherits"] == WIDTH * WIDTH * (DEPTH - 1) + 1


def test_modules_that_import_all_of_one_another_are_not_all_searched(tmp_path: Path) -> None:
    """Each of 45 modules takes every name of the others, and calls one that none of them has."""
    for number in range(45):
        stars = "".join(f"from m{other} import *\n" for other in range(45) if other != number)
        (tmp_path / f"m{number}.py").write_text(
            f"{stars}def f{number}():\n    nowhere{number}()\n    f{number - 1}()\n"
        )
    built = app.build_index(str(tmp_path), jobs=1)
    assert built.edges_by_kind["calls"] == 44  # the look-up finds what the first modules have
