"""The same repositories as one index over one folder, and as a fleet of parts in one process."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lci_py.cluster.fleet import Fleet, Part, write_fleet
from lci_py.cluster.indexing import PartSource, index_part, link_parts
from lci_py.cluster.objects import Objects
from lci_py.cluster.root import Root
from lci_py.cluster.sources import Run
from lci_py.cluster.workers import Here
from lci_py.errors import IndexError_, LciError
from lci_py.search.answer.results import SHOWN
from lci_py.types import record
from lci_py.types.search import Answer, SearchRequest

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
LONG = (
    "Saving a session fails\n\nSee store.py and `remove_expired`.\n\nThe server in cmd/main.go says nothing.\n"
    'Traceback:\n  File "/srv/a/retry.py", line 4, in backoff\n  File "/x/y/store.py", line 9, in save\n'
)
TRACE = 'Traceback:\n  File "/srv/c/app.py", line 6, in run\n  File "/srv/a/retry.py", line 4, in backoff\nOSError'
QUERIES = (
    "where are expired sessions removed", "store", "Store", "remove_expired", "parse config", "configuration retries",
    '"session"', '"session" "nowhere else"', '"=> session"', '"cannot drop" "def run"', "stroe sessoin", "xyzzy", LONG,
    "KeyError: cannot drop 'x.db': permission denied", "the store retries a failed write", "lang:python save",
    "kind:function", "name:*e* lang:go", "path:c/** run", "serve", TRACE,
)  # fmt: skip


NAMES = sorted({path.partition("/")[0] for path in FILES})
_BUILT = "2026-01-01T00:00:00Z"


def said(source: Any, request: SearchRequest) -> Any:
    """The answer, or the error, without what is of the index and not of the query. Of many neighbours a fleet lists those
    of the same part first, and it has no hints at commands: those are of one index."""
    try:
        found = record.asdict(source.search(request))
    except LciError as error:
        return type(error).__name__, error.message
    for result in found["results"]:
        for relation in ("callers", "callees", "imports", "imported_by") if result["graph"] else ():
            links = result["graph"][relation]
            result["graph"][relation] = sorted(links) if result["graph"]["counts"][relation] <= SHOWN else ()
    return {key: value for key, value in found.items() if key not in ("index", "trace", "hints")}


class Noting(Here):
    """This process, which notes what it is asked. A part in `lost` does not answer."""

    asked: list[tuple[str, int]]
    lost: Collection[str] = ()

    def call(
        self, url: str, readable: frozenset[int] | None, method: str, calls: Sequence[tuple[Part, tuple[Any, ...]]]
    ) -> list[Any]:
        self.asked.append((method, len(calls)))
        found = super().call(url, readable, method, calls)
        return [
            IndexError_("lost") if part.name in self.lost else one for (part, _), one in zip(calls, found, strict=True)
        ]


class Opened:
    """A fleet, opened in this process."""

    def __init__(
        self, url: str, fleet: Fleet, folder: Path, *, most: int = 1 << 30, readable: Sequence[str] = ()
    ) -> None:
        """
        Args:
            url: Of the store with its objects.
            fleet: Its manifest.
            folder: For a cache.
            most: Bytes of it.
            readable: The repositories that may be read; none for all.
        """
        folder.mkdir(exist_ok=True)
        self.fleet, self.workers = fleet, Noting(folder, cache_bytes=most)
        self.workers.asked = []
        self._root, self._readable = Root(self.workers, url, lambda: fleet), readable

    def search(self, request: SearchRequest) -> Answer:
        return self._root.search(request, self._readable)


class Parts:
    """Parts of the repositories of a folder in one store, each of them indexed once."""

    def __init__(self, source: Path, folder: Path, url: str = "") -> None:
        self.source, self.folder = source, folder
        self.objects = Objects(url or f"memory://{folder}")
        self._made: dict[tuple[str, str, str | None], Part | None] = {}

    def part(self, name: str, start: str = "", stop: str | None = None) -> Part | None:
        key = name, start, stop
        if key not in self._made:
            wanted = PartSource(name, str(self.source / name), Run(start, stop, commit=f"of {name}"))
            self._made[key], _ = index_part(self.folder, 1, self.objects.url, wanted)
        return self._made[key]

    def fleet(self, names: Sequence[str] = tuple(NAMES), starts: Collection[str] = ()) -> Fleet:
        """Some repositories, cut before some paths."""
        parts = []
        for name in names:
            inside = sorted(path[len(name) + 1 :] for path in starts if path.startswith(f"{name}/"))
            for start, stop in zip(["", *inside], [*inside, None], strict=True):
                parts += [part for part in [self.part(name, start, stop)] if part is not None]
        fleet = Fleet(0, _BUILT, "test", ()).ordered(parts)
        (work := self.folder / f"link-{len(list(self.folder.iterdir()))}").mkdir()
        return link_parts(work, 1, self.objects.url, fleet)

    def opened(self, fleet: Fleet, **more: Any) -> Opened:
        return Opened(self.objects.url, fleet, self.folder / f"open-{len(list(self.folder.iterdir()))}", **more)


@contextmanager
def cluster(workers: int) -> Iterator[str]:
    """The address of a scheduler of Dask on this machine, with workers."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=workers, threads_per_worker=1, memory_limit=0, dashboard_address=":0", host="127.0.0.1",
        silence_logs=50,
    ) as found:  # fmt: skip
        yield found.scheduler_address


def publish(url: str, source: Path, folder: Path, names: Sequence[str] = tuple(NAMES)) -> Fleet:
    """Put the repositories of a folder into a store as a fleet."""
    parts = Parts(source, folder, url)
    return write_fleet(parts.objects, parts.fleet(names), 0)
