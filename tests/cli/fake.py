"""Ways to run `lci` over the stand-in of tests/cli/fake_app.py."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import jsonschema
import pytest

import lci_py
from lci_py.cli import main
from tests.cli.fake_app import FakeApp
from tests.support.waiting import PATIENCE

REPOSITORY = Path(__file__).parents[2]
SCHEMA = json.loads((REPOSITORY / "docs" / "json-output.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture(name="app")
def app_fixture(monkeypatch: pytest.MonkeyPatch) -> FakeApp:
    fake = FakeApp()
    monkeypatch.setitem(sys.modules, "lci_py.app", fake)
    monkeypatch.setattr(lci_py, "app", fake, raising=False)
    return fake


@pytest.fixture(name="run")
def run_fixture(
    app: FakeApp, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ran]:
    def go(*argv: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(stdin)))
        code = main.main(argv)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return go


def raising(error: BaseException) -> Callable[[str], None]:
    def hook(_: str) -> None:
        raise error

    return hook


FAKE = """
import sys, lci_py, os
import tests.cli.fake_app as t
fake = t.FakeApp()
fake.hits = (t.replace(t.HIT, file=os.fsdecode(b"src/\\xff\\xc3\\xa9.py")),) * {hits}
sys.modules["lci_py.app"] = lci_py.app = fake
from lci_py.cli.main import main
sys.exit(main())
"""


def environment(**changes: str) -> dict[str, str]:
    """This environment without the variables that change how the program reads and writes."""
    base = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTHON", "NO_COLOR", "_LCI"))}
    return {**base, "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1", **changes}


def process(*argv: str, hits: int = 0, env: dict[str, str] | None = None, **options: Any) -> Any:
    """Run `lci` as a process; with `hits`, over the stand-in with as many results."""
    start = ["-c", FAKE.format(hits=hits)] if hits else ["-m", "lci_py"]
    options.setdefault("capture_output", True)
    return subprocess.run(
        [sys.executable, *start, *argv], env=environment(**(env or {})), check=False, timeout=PATIENCE, **options
    )
