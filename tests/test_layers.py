"""Imports point one way, and a query imports only what its mode needs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
PACKAGE = PROJECT / "lci_py"
#: Layer -> what it may import. Everything may import `types`, `errors` and the package itself.
ALLOWED = {
    "types": set(),
    "errors": {"types"},
    "config": {"source", "errors"},
    "source": {"source"},
    "embed": {"embed", "source"},
    "training": {"embed", "index", "source"},  # a tool, which nothing imports
    "callgraph": {"source"},
    "index": {"callgraph", "source", "embed"},
    "search": {"search", "index", "callgraph", "source", "embed"},
    "render": {"render"},
    "app": {"config", "search", "index", "source"},
    "cli": {"cli", "app", "render", "config"},
}
#: What makes the model; its libraries are those of the extra `training`.
TRAINING = "lci_py.training."
TRAINING_ONLY = {"torch", "scipy", "onnx"}


def layer(module: str) -> str:
    if (module + ".").startswith(TRAINING):
        return "training"
    name = module.split(".")[1] if "." in module else ""
    return "cli" if name == "__main__" else name


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("lci_py"):
            # A module may be what is imported, not only what is imported from.
            deep = node.module in ("lci_py", "lci_py.embed")
            names = [f"{node.module}.{alias.name}" for alias in node.names] if deep else [node.module]
            found |= {layer(name) for name in names}
        elif isinstance(node, ast.Import):
            found |= {layer(alias.name) for alias in node.names if alias.name.startswith("lci_py.")}
    return found - {"", "__version__"}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    relative = path.relative_to(PACKAGE)
    own = layer(".".join(["lci_py", *relative.with_suffix("").parts]))
    if not own or own == "__init__":
        return
    extra = imports(path) - ALLOWED[own] - {"types", "errors", own}
    assert not extra, f"{relative} may not import {sorted(extra)}"


def test_nothing_outside_imports_the_training() -> None:
    users = [path for path in PACKAGE.rglob("*.py") if "training" in imports(path)]
    assert users  # itself
    assert {path.parent for path in users} == {PACKAGE / "training"}


def test_nothing_outside_the_training_imports_its_libraries() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path.parent.name != "training":
            tree = list(ast.walk(ast.parse(path.read_text("utf-8"))))
            names = {alias.name for node in tree if isinstance(node, ast.Import) for alias in node.names}
            names |= {node.module or "" for node in tree if isinstance(node, ast.ImportFrom)}
            assert not {name.partition(".")[0] for name in names} & TRAINING_ONLY, path


HEAVY = {"numpy", "faiss", "onnxruntime", "tokenizers", "bm25s", "tree_sitter", "rich", "typer"}


def loaded(*args: str) -> set[str]:
    """The heavy modules that a run of the program imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "lci_py", *args], capture_output=True, text=True, check=False
    )
    names = {line.rpartition("|")[2].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "lci_py" in names
    assert not names & TRAINING_ONLY
    return names & HEAVY


def test_the_program_whole_does_not_load_the_trainings_libraries() -> None:
    modules = [
        ".".join(path.relative_to(PROJECT).with_suffix("").parts)
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.parent.name != "training" and path.stem not in ("__main__", "__init__")
    ]
    assert "lci_py.cli.main" in modules
    # Of torch only: scipy and onnx are what onnxruntime and others may use themselves.
    code = f"import sys, importlib\nfor name in {modules!r}: importlib.import_module(name)\nassert 'torch' not in sys.modules\nassert not [m for m in sys.modules if m.startswith('{TRAINING[:-1]}')]"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_help_imports_nothing_heavy() -> None:
    assert not loaded("--help") & (HEAVY - {"rich", "typer"})


@pytest.mark.parametrize(
    ("mode", "allowed"),
    [
        ("symbolic", set()),
        ("bm25", {"numpy"}),
        ("dense", {"numpy", "tokenizers"}),
        ("multiview", {"numpy", "tokenizers"}),
    ],
)
def test_a_mode_imports_only_what_it_needs(repo: Path, mode: str, allowed: set[str]) -> None:
    assert loaded("search", "Shape", "--mode", mode, "--json", "--root", str(repo)) <= allowed


def test_explaining_a_structural_answer_imports_nothing_heavy(repo: Path) -> None:
    flags = ("--explain", "--trace", "--explain-file", "README.md")
    for file in ("README.md", "python/store.py"):
        assert not loaded("search", "kind:class", "--mode", "symbolic", *flags[:-1], file, "--root", str(repo))


def test_status_def_and_conflicts_import_nothing_heavy(repo: Path) -> None:
    assert not loaded("status", "--root", str(repo))
    assert not loaded("def", "Shape", "--root", str(repo))
    for output in ("--json", "--sarif", "--paths", "-v"):
        assert not loaded("conflicts", output, "--root", str(repo))
