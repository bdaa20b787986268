"""A stand-in for `lci_py.app` with answers set by the test.

Neither pytest nor jsonschema is imported here: processes of tests load this module, and those would take most of their time.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

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

    def answer(self, question: str, request: ConflictsRequest) -> ConflictsAnswer:
        """The conflicts of `found` that have a relation that the request names."""
        assert question == "conflicts"
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
