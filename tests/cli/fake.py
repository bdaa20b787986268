"""A stand-in for `lci_py.app` with answers set by the test, and ways to run `lci` over it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import jsonschema
import pytest

import lci_py
from lci_py.cli import main
from lci_py.types.conflicts import Conflict, ConflictsAnswer, ConflictsRequest
from lci_py.types.index import BuildSummary
from lci_py.types.record import replace
from lci_py.types.search import (
    RELATIONS,
    Answer,
    DefinitionSite,
    Degradation,
    IndexInfo,
    Result,
    SearchRequest,
)
from lci_py.types.source import FileEntry, Skip
from tests.support.waiting import PATIENCE

REPOSITORY = Path(__file__).parents[2]
SCHEMA = json.loads((REPOSITORY / "docs" / "json-output.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
INDEX = IndexInfo(1, "2025-03-01T09:30:00Z", None, None, 0)
HIT = Result(
    id="id",
    file="src/a.py",
    line=4,
    end_line=5,
    symbol="f",
    qualified_name="a.f",
    kind="function",
    language="python",
    signature="def f()",
    snippet="def f():\n    return 1\n",
    mode_source="dense",
    mode_score=0.5,
)
SITES = (
    DefinitionSite("src/a.py", 4, "main", 'sys.platform == "win32"', "overlap"),
    DefinitionSite("src/a.py", 9, "main", "FAST", "overlap", active=True),
)
CONFLICT = Conflict("f", "a.f", "function", "python", "overlap", SITES)
DISAGREEMENT = {
    "conflict_type": "numeric-mismatch",
    "recommended_resolution": "prefer-authoritative",
    "sources": ["src/a.py:1", "README.md:40"],
    "reasoning": "TIMEOUT is 30 in src/a.py:1 and 60 in README.md:40.",
}
DEGRADED = (Degradation("dense", "timeout", "bm25", "low", ""),)


class FakeApp(ModuleType):
    """Records what it is asked, and answers with its attributes."""

    def __init__(self) -> None:
        super().__init__("lci_py.app")
        self.upkeep = self
        self.hits: tuple[Result, ...] = (HIT,)
        self.degraded: tuple[Degradation, ...] = ()
        self.found: tuple[Conflict, ...] = (CONFLICT,)
        self.disagreements: tuple[dict[str, Any], ...] = ()
        self.index = replace(INDEX, branch="main")
        self.requests: list[SearchRequest] = []
        self.calls: list[Any] = []
        self.opened = 0
        self.model: str | None = None
        self.root = Path.cwd()
        self.closed = 0
        self.options: dict[str, Any] = {}
        self.hook_state = "installed"
        self.state: dict[str, Any] = {
            "root": "/r",
            "generation": 1,
            "built_at": "x",
            "age_seconds": 1.5,
            "health": "ok",
        }
        self.hook: Callable[[str], None] = lambda _: None  # called with each query; may raise

    def default_mode(self, root: str | None) -> str:
        return "dense"

    def settings_warnings(self, root: str | None) -> list[str]:
        return []

    def find_root(self, root: str | None) -> Path:
        return Path(root) if root else self.root

    def open_engine(self, root: str | None, model: str | None = None, **options: Any) -> FakeApp:
        self.hook("open")
        self.model = model
        self.options = options
        self.calls.append(root)
        self.opened += 1
        return self

    def __enter__(self) -> FakeApp:
        return self

    def __exit__(self, *_: object) -> None:
        self.closed += 1

    def search(self, request: SearchRequest) -> Answer:
        self.requests.append(request)
        self.hook(request.query)
        hits = () if request.query == "nothing" else self.hits
        return Answer(request.query, request.mode, hits, len(hits), False, INDEX, degraded=self.degraded)

    def definitions(self, name: str, filters: Any, limit: int) -> Answer:
        self.calls.append((name, filters, limit))
        hits = tuple(replace(hit, doc="Does f.", mode_source="symbolic") for hit in self.hits)
        return Answer(name, "symbolic", hits, len(hits), False, INDEX)

    def conflicts(self, request: ConflictsRequest) -> ConflictsAnswer:
        """Those of `found` that have a relation that the request names."""
        self.calls.append(request)
        self.hook(request.name)
        wanted = [c for c in self.found if not request.relations or c.relation in request.relations]
        count = {name: sum(c.relation == name for c in wanted) for name in RELATIONS}
        said = () if request.relations else self.disagreements
        return ConflictsAnswer(tuple(wanted[: request.limit]), said, len(wanted), count, self.index)

    def build_index(self, path: str | None, **options: Any) -> BuildSummary:
        self.calls.append((path, options))
        return BuildSummary("/r", 2, True, 1, {"python": 1}, {}, 3, {}, {}, 0.5, 10, 20)

    def is_unasked(self, path: str | None) -> bool:
        return False

    def dry_run(self, path: str | None, **options: Any) -> tuple[list[FileEntry], list[Skip], dict[str, Any]]:
        self.calls.append(path)
        self.options = options
        return [FileEntry("a.py", 1, 1)], [Skip("b.bin", "binary")], {}

    def status(self, root: str | None, **options: Any) -> dict[str, Any]:
        self.options = options
        return self.state

    def clean(self, root: str | None, **options: Any) -> dict[str, Any]:
        self.calls.append((root, options))
        return {"root": "/r", "index_dir": "/r/.lci", "freed_bytes": 12_345, "kept": ["mine.txt"]}

    def hooks(self, root: str | None, action: str, **options: Any) -> dict[str, Any]:
        self.calls.append((root, action, options))
        hooks = [{"name": "post-commit", "state": self.hook_state, "detail": ""}]
        return {"folder": "/r/.git/hooks", "shared": False, "changed": [], "hooks": hooks, "warnings": ["no index"]}

    def run_hook(self, root: str | None) -> None:
        self.calls.append((root, "run"))


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
import tests.cli.fake as t
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
