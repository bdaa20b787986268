"""The same repositories as one index over one folder, and as a fleet of parts in one process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lci_py import app
from lci_py.cluster.fleet import KINDS, Fleet as StoredFleet, Part, write_fleet
from lci_py.cluster.graph import PartGraph, link
from lci_py.cluster.leaf import Leaf, pruned
from lci_py.cluster.objects import Cache, Named, Objects
from lci_py.cluster.part import Wanted, linked, store_part
from lci_py.cluster.root import Root
from lci_py.errors import LciError
from lci_py.search.answer.graph_context import SHOWN
from lci_py.search.engine import Engine
from lci_py.types import record
from lci_py.types.search import SearchRequest

#: Repositories that call and import each other, with names and words in common.
FILES = {
    "a-b/notes.md": "# Retries\n\nThe store retries a failed write three times.\n",
    "a/store.py": (
        'import os\nfrom a.retry import backoff\n\n\nclass Store:\n    """Keeps sessions."""\n\n'
        "    def save(self, session, config):\n        cfg = config\n        return backoff(lambda: session.write(cfg))\n\n"
        "    def remove_expired(self, sessions):\n        for session in sessions:\n"
        "            if session.expired():\n                self.drop(session)\n\n"
        "    def drop(self, session):\n        raise KeyError(f\"cannot drop {session}: permission denied\")\n"
    ),
    "a/retry.py": (
        "def backoff(work, times=3):\n    for attempt in range(times):\n        try:\n            return work()\n"
        "        except OSError:\n            wait(attempt)\n\n\ndef wait(attempt):\n    return attempt * 2\n"
    ),
    "b/cmd/main.go": (
        "package main\n\n// Run starts the server.\nfunc Run(config Config) error {\n\treturn serve(config)\n}\n\n"
        "func serve(c Config) error {\n\treturn nil\n}\n\ntype Config struct {\n\tName string\n}\n"
    ),
    "b/cmd/main_test.go": "package main\n\nfunc TestRun(t *testing.T) {\n\tRun(Config{})\n}\n",
    "c/app.py": (
        "from a.store import Store\n\n\ndef run(config):\n    store = Store()\n    store.save(None, config)\n"
        "    store.remove_expired([])\n    return store\n\n\nSTORE = Store()\n"
    ),
    "c/index.js": "export * from './store.js'\n",
    "c/store.js": "export class Store {\n  save(session) { return backoff(() => session) }\n}\nfunction backoff(f) { return f() }\n",
    "d/x/a/store.py": "LIMIT = 3\n",
    "c/tests/test_app.py": "from c.app import run\n\n\ndef test_run():\n    assert run({})\n",
}  # fmt: skip
# Without the frame of a stack trace: which one leads, a part cannot tell (docs/cluster.md).
LONG = "Saving a session fails\n\nSee store.py and `remove_expired`.\n\nThe server in cmd/main.go says nothing.\n"
QUERIES = (
    "where are expired sessions removed", "store", "Store", "remove_expired", "parse config", "configuration retries",
    '"session"', '"session" "nowhere else"', '"=> session"', '"cannot drop" "def run"', "stroe sessoin", "xyzzy", LONG,
    "KeyError: cannot drop 'x.db': permission denied", "the store retries a failed write", "lang:python save",
    "kind:function", "name:*e* lang:go", "path:c/** run", "serve",
)  # fmt: skip


def said(source: Any, request: SearchRequest) -> Any:
    """The answer, or the error, without what is of the index and not of the query. Of many neighbours a fleet lists those
    of the same part first, and it says nothing of confidence, which was measured on single repositories."""
    try:
        found = record.asdict(source.search(request))
    except LciError as error:
        return type(error).__name__, error.message
    for result in found["results"]:
        for relation in ("callers", "callees", "imports", "imported_by") if result["graph"] else ():
            links = result["graph"][relation]
            result["graph"][relation] = sorted(links) if result["graph"]["counts"][relation] <= SHOWN else ()
    return {key: value for key, value in found.items() if key not in ("index", "trace", "confidence")}


def copy_files(source: Path, paths: Sequence[str], target: Path) -> Path:
    """A folder with some files of another one, of the same times."""
    for path in paths:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / path, target / path)
    return target


class InProcess:
    """Calls the leaves one after the other. A part in `lost` does not answer."""

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        self.leaves = leaves
        self.lost: set[int] = set()
        self.workers: list[list[int]] = []  # which parts have one in common that prunes their answers
        self.asked: list[tuple[str, tuple[int, ...]]] = []

    def call(self, method: str, asked: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        self.asked.append((method, tuple(asked)))
        found: dict[int, Any] = {}
        for part, args in asked.items():
            if part in self.lost:
                continue
            try:
                found[part] = getattr(self.leaves[part], method)(*args)
            except LciError as error:
                found[part] = error
        for parts in self.workers:
            own = [part for part in parts if part in found]
            found |= zip(own, pruned([found[part] for part in own]), strict=True)
        return found


class Fleet:
    """Parts of a folder, each with an index of its own."""

    def __init__(self, source: Path, parts: Sequence[Sequence[str]], folder: Path) -> None:
        """
        Args:
            source: The folder.
            parts: The paths of each part, in their order.
            folder: An empty folder.
        """
        self.engines: list[Engine] = []
        for number, paths in enumerate(parts):
            root = copy_files(source, paths, folder / f"root-{number}")
            root.mkdir(exist_ok=True)
            app.build_index(str(root), jobs=1)
            self.engines.append(app.open_engine(str(root), refresh="never"))
        snapshots = [engine.snapshot for engine in self.engines]
        (folder / "links").mkdir()
        for snapshot, path in zip(snapshots, link(snapshots, folder / "links"), strict=True):
            snapshot.graph = PartGraph(path)
        named = Named("", 0, "")
        self.parts = tuple(
            Part(
                paths[0].partition("/")[0] if paths else "", "", "", "", "", "", "", named, named,
                {kind: snapshot.numbering.total(kind) for kind in KINDS}, snapshot.lexical.total_lengths(),
                tuple(snapshot.manifest.counts["files_by_language"]), "",
            )
            for snapshot, paths in zip(snapshots, parts, strict=True)
        )  # fmt: skip
        self.calls = InProcess([Leaf(snapshot) for snapshot in snapshots])
        self.root = Root(StoredFleet(1, "2026-01-01T00:00:00Z", "test", self.parts), self.calls)

    def close(self) -> None:
        for engine in self.engines:
            engine.snapshot.close()


@contextmanager
def cluster(workers: int) -> Iterator[str]:
    """The address of a scheduler of Dask on this machine, with workers."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=workers, threads_per_worker=1, memory_limit=0, dashboard_address=":0", host="127.0.0.1",
        silence_logs=50,
    ) as found:  # fmt: skip
        yield found.scheduler_address


def indexed_paths(engine: Engine) -> list[str]:
    return sorted(engine.snapshot.symbols.paths())


NAMES = sorted({path.partition("/")[0] for path in FILES})


def make(url: str, source: Path, work: Path, names: Sequence[str] = NAMES) -> StoredFleet:
    """Put the repositories of a folder into a store as a fleet."""
    objects = Objects(url)
    work.mkdir()
    parts = []
    for name in names:
        (work / name).mkdir()
        part, _ = store_part(objects, Wanted(name, str(source / name), f"of {name}"), work / name)
        assert part is not None
        parts.append(part)
    fleet = StoredFleet(0, "2026-01-01T00:00:00Z", "test", ()).ordered(parts)
    (work / "link").mkdir()
    return write_fleet(objects, linked(objects, Cache(objects, work / "cache", 1 << 30), fleet, work / "link"), 0)
