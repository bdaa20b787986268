"""Every command that answers has a row, and every row has its renderers."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from lci_py.cli.answering import CommandRun, row_of
from lci_py.cli.command_line import Invocation, defaults
from lci_py.cli.options import ANSWERING, COMMANDS
from lci_py.render.json import answer, answers
from lci_py.search import engine
from lci_py.search.engine import ANSWERED_BY
from tests.cli.fake import REPOSITORY
from tests.support.graph_repo import build


@pytest.mark.parametrize("command", sorted({*ANSWERING} - {"search", "status"}))
@pytest.mark.parametrize("shape", ["text", "json", "paths", "dot"])
def test_what_a_row_names_is_there(command: str, shape: str) -> None:
    call = Invocation(command, defaults(COMMANDS[command]))
    run = CommandRun(call, shape, SimpleNamespace(name=""), None)  # type: ignore[arg-type]  # no engine
    writer = row_of(command).writer(run)
    text = import_module(f"lci_py.render.text.{writer.text}")
    assert callable(getattr(answer if writer.json == "search" else answers, writer.json))
    assert callable(getattr(text, writer.render))


@pytest.mark.parametrize("name", ANSWERED_BY.values())
def test_what_the_engine_names_is_there(name: str) -> None:
    """And it has the types that an overload of `Engine.answer` gives it, which no type checker compares."""
    module, _, function = name.rpartition(".")
    types = getattr(import_module(f"lci_py.search.{module}"), function).__annotations__
    typed = f"def answer(self, question: str, request: {types['request']}) -> {types['return']}: ..."
    assert typed in Path(engine.__file__).read_text()


def test_a_search_takes_few_hops_before_it_searches(tmp_path: Path) -> None:
    """Five below `main`, which two functions of the entry point call: seven (docs/adr/0035)."""
    root = build(tmp_path / "repo")
    command = [sys.executable, "-m", "tests.bench.frames", str(root), "who closes the pool"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    found = re.fullmatch(
        r"exit 0: (\d+) modules, (\d+) functions \(\d+ blocks\), (\d+) deep, (\d+) hops\n", done.stdout
    )
    assert found and int(found[4]) <= 5 and int(found[3]) <= 24, done.stdout
