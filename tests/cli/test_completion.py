"""What a shell offers at the cursor, asked as bash asks it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lci_py import app
from tests.conftest import PROJECT, Ran


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["se"], ["search"]),
        (["sta"], ["status", "stats"]),
        (["help", "cal"], ["callers", "callees"]),
        (["search", "--mode", "b"], ["bm25"]),
        (["search", "--kind", "enum"], ["enum", "enum_member"]),
        (["search", "--lang", "go"], ["go", "golang"]),
        (["search", "x", "--no-t"], ["--no-tests"]),
        (["hook", "un"], ["uninstall"]),
        (["--completion", "f"], ["fish"]),
        (["nothing", "x"], []),
        (["def", "Shap"], ["Shape"]),
        (["search", "Shape.ar"], ["Shape.area"]),
        (["outline", "Shap"], []),
        (["def", "Shap", "--root", "/"], []),
    ],
)
def test_completion(lci: Callable[..., Ran], repo: Path, words: list[str], expected: list[str]) -> None:
    place = 2 if "--root" in words else len(words)
    ran = lci("--complete", str(place), "lci", *words, cwd=repo)
    assert (ran.code, ran.out.split()[: len(expected) + 1], ran.err) == (0, expected, "")


def test_no_name_means_anything_to_a_shell(lci: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("struct A { bool operator*(int); };\nint opera() { return 1; }\n")
    app.build_index(str(tmp_path), jobs=1)
    assert lci("--complete", "2", "lci", "def", "oper", cwd=tmp_path).out.split() == ["opera"]
    assert not lci("--complete", "2", "lci", "def", "oper", cwd=PROJECT / "docs", LCI_INDEX_DIR=str(tmp_path / "x")).out


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_takes_the_script(repo: Path) -> None:
    lines = f"""
lci() {{ "{sys.executable}" -m lci_py "$@"; }}
eval "$(lci --completion bash)"
COMP_WORDS=(lci callers Shap) COMP_CWORD=2
_lci
echo "${{COMPREPLY[@]}}"
"""
    ran = subprocess.run(
        ["bash", "-c", lines], cwd=repo, env={**os.environ, "PYTHONPATH": str(PROJECT)}, capture_output=True, text=True
    )
    assert (ran.stdout, ran.stderr) == ("Shape\n", "")


def test_an_unknown_shell(lci: Callable[..., Ran]) -> None:
    assert lci("--completion", "powershell").err == "lci: unknown shell 'powershell': use one of: bash, zsh, fish\n"
