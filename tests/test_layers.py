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
    "index": {"index", "source", "embed"},
    "search": {"search", "index", "source", "embed"},
    "render": {"render"},
    "app": {"config", "search", "index", "source"},
    "cli": {"cli", "app", "render", "config"},
}


def layer(module: str) -> str:
    name = module.split(".")[1] if "." in module else ""
    return "cli" if name.startswith(("cli", "__main__")) else name


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("lci_py"):
            names = (
                [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "lci_py" else [node.module]
            )
            found |= {layer(name) for name in names}
        elif isinstance(node, ast.Import):
            found |= {layer(alias.name) for alias in node.names if alias.name.startswith("lci_py.")}
    return found - {"", "__version__"}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    relative = path.relative_to(PACKAGE)
    own = layer("lci_py." + relative.parts[0].removesuffix(".py"))
    if not own or own == "__init__":
        return
    extra = imports(path) - ALLOWED[own] - {"types", "errors", own}
    assert not extra, f"{relative} may not import {sorted(extra)}"


HEAVY = {"numpy", "faiss", "onnxruntime", "tokenizers", "bm25s", "tree_sitter", "rich", "typer"}


def loaded(*args: str) -> set[str]:
    """The heavy modules that a run of the program imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "lci_py", *args], capture_output=True, text=True, check=False
    )
    names = {line.rpartition("|")[2].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "lci_py" in names
    return names & HEAVY


def test_help_imports_nothing_heavy() -> None:
    assert not loaded("--help") & (HEAVY - {"rich", "typer"})


@pytest.mark.parametrize(
    ("mode", "allowed"),
    [
        ("symbolic", set()),
        ("bm25", {"numpy"}),
        ("dense", {"numpy", "faiss", "tokenizers"}),
        ("multiview", {"numpy", "faiss", "tokenizers"}),
    ],
)
def test_a_mode_imports_only_what_it_needs(repo: Path, mode: str, allowed: set[str]) -> None:
    assert loaded("search", "Shape", "--mode", mode, "--json", "--root", str(repo)) <= allowed


def test_status_and_def_import_nothing_heavy(repo: Path) -> None:
    assert not loaded("status", "--root", str(repo))
    assert not loaded("def", "Shape", "--root", str(repo))
