"""Imports point one way, in the whole and inside every part, and a query imports only what its mode needs."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.layers import EVERYWHERE, INSIDE, PAGE, PARTS, PROJECT, drawn, imported_names, imports, level, part, room
from tests.support.heavy_modules import TRAINING_ONLY, loaded

PACKAGE = PROJECT / "lci_py"
#: Modules of one folder, and lines of one file: more, and nobody finds a room.
MOST_MODULES, MOST_LINES = 25, 900
TRAINING = "lci_py.training"


def test_no_two_modules_import_each_other() -> None:
    try:
        TopologicalSorter(imports(PACKAGE)).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


@pytest.mark.parametrize("name", PARTS)
def test_a_part_imports_only_what_stands_below_it(name: str) -> None:
    own = [module for module in imports(PACKAGE) if part(module) == name]
    assert own
    allowed = {name, *PARTS[name], *(() if name == "types" else ("types",) if name == "errors" else EVERYWHERE), ""}
    wrong = [
        f"{module} -> {other}" for module in own for other in imports(PACKAGE)[module] if part(other) not in allowed
    ]
    assert not wrong


@pytest.mark.parametrize("folder", INSIDE)
def test_a_room_imports_only_what_stands_below_it(folder: str) -> None:
    levels = level(folder)
    own = [module for module in imports(PACKAGE) if part(module) == folder and room(module)]
    assert {room(module) for module in own} == set(levels)
    wrong = [
        f"{module} -> {other}"
        for module in own
        for other in imports(PACKAGE)[module]
        if part(other) == folder and room(other) and room(other) != room(module)
        if levels[room(other)] <= levels[room(module)]
    ]
    assert not wrong


def test_folders_and_files_stay_small() -> None:
    paths = list(PACKAGE.rglob("*.py"))
    folders = Counter(path.parent for path in paths)
    assert not {folder: number for folder, number in folders.items() if number > MOST_MODULES}
    lines = {path: path.read_text("utf-8").count("\n") for path in paths}
    assert not {path: number for path, number in lines.items() if number > MOST_LINES}


def test_the_picture_of_the_architecture_page_is_that_of_the_tables() -> None:
    page = PAGE.read_text("utf-8")
    assert drawn(page) == page, "run `python -m tests.layers`"
    assert "```mermaid" in page


def test_nothing_outside_the_training_imports_its_libraries() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path.parent.name != "training":
            assert not {name.partition(".")[0] for _, name in imported_names(path)} & TRAINING_ONLY, path


def test_the_program_whole_does_not_load_the_trainings_libraries() -> None:
    modules = [
        ".".join(path.relative_to(PROJECT).with_suffix("").parts)
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.parent.name != "training" and path.stem not in ("__main__", "__init__")
    ]
    assert "lci_py.cli.main" in modules
    # Of torch only: scipy and onnx are what onnxruntime and others may use themselves.
    code = f"import sys, importlib\nfor name in {modules!r}: importlib.import_module(name)\nassert 'torch' not in sys.modules\nassert not [m for m in sys.modules if m.startswith('{TRAINING}')]"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_help_imports_nothing_heavy() -> None:
    assert not loaded("--help")


@pytest.mark.parametrize(
    ("mode", "allowed"),
    [
        ("symbolic", set()),
        ("bm25", {"numpy"}),
        ("dense", {"numpy"}),
        ("multiview", {"numpy"}),
    ],
)
def test_a_mode_imports_only_what_it_needs(repo: Path, mode: str, allowed: set[str]) -> None:
    assert loaded("search", "Shape", "--mode", mode, "--json", "--root", str(repo)) <= allowed


def test_explaining_a_structural_answer_imports_nothing_heavy(repo: Path) -> None:
    flags = ("--explain", "--trace", "--explain-file", "README.md")
    for file in ("README.md", "python/store.py"):
        assert not loaded("search", "kind:class", "--mode", "symbolic", *flags[:-1], file, "--root", str(repo))


def test_status_def_grep_conflicts_and_agent_import_nothing_heavy(repo: Path) -> None:
    assert not loaded("status", "--root", str(repo))
    assert not loaded("agent", "list", "--root", str(repo))
    assert not loaded("def", "Shape", "--root", str(repo))
    assert not loaded("grep", "Shape", "--json", "--root", str(repo))
    assert loaded("grep", "Sh[a]pes?", "--root", str(repo)) == {"re2"}
    for output in ("--json", "--paths", "-v"):
        assert not loaded("conflicts", output, "--root", str(repo))


def test_classes_of_values_are_those_of_types_record() -> None:
    """To define one with the standard library's takes 1 ms of every start."""
    for path in PACKAGE.rglob("*.py"):
        assert path.name == "record.py" or "from dataclasses import" not in path.read_text("utf-8"), path
