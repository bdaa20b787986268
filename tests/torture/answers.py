"""The answers of an index, in a form in which two indexes of one tree must agree; and the files that it has."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.torture.program import NO_REFRESH, Program, Ran

MODES = ("dense", "bm25", "symbolic", "multiview")
#: Lines of a batch. Every mode, with filters, phrases, conflicts, all results, explanations.
QUERIES: tuple[dict[str, Any], ...] = (
    {"query": "where are expired sessions removed", "mode": "dense", "limit": 50},
    {"query": "load an entry of the cache", "mode": "dense", "explain": True, "lang": ["python"]},
    {"query": "retry upload of the queue", "mode": "dense", "path": ["src/**", "web/"], "snippet": 3},
    {"query": "expired cache entry queue", "mode": "bm25", "limit": 50},
    {"query": '"connection refused"', "mode": "bm25", "explain": True},
    {"query": "load_cache parse_entry", "mode": "bm25", "exclude": ["lib/**"], "conflicts": True},
    {"query": "warehouse", "mode": "bm25", "lang": ["markdown", "text"], "limit": 50},
    {"query": "", "mode": "symbolic", "name": ["*a*"], "limit": 50},
    {"query": "kind:function name:*e*", "mode": "symbolic", "limit": 50, "conflicts": True},
    {"query": "", "mode": "symbolic", "lang": ["go"], "conflicts": True, "limit": 50},
    {"query": "who calls load_cache when a session opens", "mode": "multiview", "limit": 50, "explain": True},
    {"query": "load_cache", "mode": "multiview", "explain": True, "conflicts": True},
    {"query": 'flush "connection refused"', "mode": "multiview", "limit": 50},
    {"query": "evict buffer", "mode": "multiview", "kind": ["function", "method"], "conflicts": True},
    {"query": "ring push", "mode": "multiview", "path": ["lib/c/**"], "max_tokens": 400},
)
DEFINITIONS = ("load_cache", "Seal")
_TEMPORARY = re.compile(r"tmp|temp\b|temporary|partial|staging|damaged|-journal|-wal|-shm|\.new\b|~$", re.IGNORECASE)


def comparable(answer: Any) -> Any:
    """An answer without the parts in which two indexes of one tree may differ: the `index` object and times."""
    return {key: value for key, value in answer.items() if key not in ("index", "trace")}


@dataclass(frozen=True)
class Asked:
    """All answers of an index, or why there are none."""

    answers: dict[str, Any]
    refused: str | None = None  # the code of a typed error
    wrong: str | None = None  # a crash, or something else that must never happen
    generations: tuple[int, ...] = ()

    def differs(self, truth: Asked) -> str | None:
        """The first query whose answer differs; None if there is none."""
        for name, answer in truth.answers.items():
            if self.answers.get(name) != answer:
                return f"{name}: {difference(self.answers.get(name), answer)}"
        return None


def difference(found: Any, wanted: Any, where: str = "") -> str:
    """The first place where two JSON values differ."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        for key in wanted.keys() | found.keys():
            if found.get(key) != wanted.get(key):
                return difference(found.get(key), wanted.get(key), f"{where}.{key}")
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        for number, pair in enumerate(zip(found, wanted, strict=True)):
            if pair[0] != pair[1]:
                return difference(*pair, f"{where}[{number}]")
    return f"{where} is {str(found)[:200]}, should be {str(wanted)[:200]}"


def write_batch(path: Path, queries: Iterable[dict[str, Any]] = QUERIES) -> Path:
    path.write_text("".join(json.dumps(query) + "\n" for query in queries))
    return path


def ask(program: Program, root: Path, index_dir: Path | None = None, **options: Any) -> Asked:
    """Every query, in two processes: one batch, and one `lci def`."""
    batch = program.home / "queries.jsonl"
    if not batch.exists():
        write_batch(batch)
    where = ("--root", str(root), "--json")
    ran = program.run(
        "search", "--batch", str(batch), *where[:2], *NO_REFRESH, index_dir=index_dir, cwd=root, **options
    )
    if (found := _failure(ran)) is not None:
        return found
    answers, generations = {}, []
    for query, line in zip(QUERIES, ran.out.splitlines(), strict=True):
        answer = json.loads(line)
        if "error" in answer:
            return Asked({}, refused=str(answer["error"]["code"]))
        generations.append(answer["index"]["generation"])
        answers[json.dumps(query)] = comparable(answer)
    for name in DEFINITIONS:
        ran = program.run("def", name, *where, *NO_REFRESH, index_dir=index_dir, cwd=root, **options)
        if (found := _failure(ran)) is not None:
            return found
        generations.append(ran.json()["index"]["generation"])
        answers[f"def {name}"] = comparable(ran.json())
    return Asked(answers, generations=tuple(generations))


def _failure(ran: Ran) -> Asked | None:
    if (wrong := ran.misbehaved()) is not None:
        return Asked({}, wrong=f"{wrong}: {ran.told()}")
    if ran.code == 3:
        return Asked({}, refused=ran.error)
    if not ran.out.strip():
        return Asked({}, wrong=f"no output: {ran.told()}")
    return None


def truth(program: Program, root: Path, scratch: Path) -> Asked:
    """The answers of a fresh full index of the tree, in a folder of its own."""
    import shutil

    shutil.rmtree(scratch, ignore_errors=True)
    built = program.run("index", str(root), "--jobs", "1", "--json", index_dir=scratch)
    assert built.code == 0, built.told()
    asked = ask(program, root, scratch)
    assert asked.answers, asked
    return asked


# --- the folder -----------------------------------------------------------------------------------------------------


def listing(folder: Path) -> dict[str, tuple[int, ...]]:
    """Everything in a folder: path to (inode, size, mtime, ctime); folders without the size."""
    found = {}
    for path in sorted(folder.rglob("*")):
        info = path.lstat()
        found[path.relative_to(folder).as_posix()] = (info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
    return found


def masked(folder: Path) -> set[str]:
    """The names in a folder, without their numbers and digests."""
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    return {re.sub(r"[0-9a-f]{8,}|[0-9]+", "#", name) for name in names}


def usage(folder: Path) -> int:
    """Bytes of all files below a folder."""
    total = 0
    for here, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(here, name)).st_size
            except FileNotFoundError:
                pass  # a writer is at work
    return total


def bound(fresh: int) -> int:
    """The largest size of an index in bytes, if a fresh one has `fresh`: merges run before most of its rows are dead.

    The constant is for the fixed size of a segment.
    """
    return 4 * fresh + (4 << 20)


class Debris:
    """Finds what an interrupted run leaves behind after the next run: files that an undisturbed run does not have."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._fresh = 0

    def learn(self, index_dir: Path) -> None:
        """Remember the files of an undisturbed run."""
        self._known |= masked(index_dir)
        self._fresh = max(self._fresh, usage(index_dir))

    def found(self, index_dir: Path) -> str | None:
        """A description of files that should not be there; None if there are none."""
        names = masked(index_dir)
        if odd := sorted(names - self._known):
            return f"debris: {', '.join(odd[:5])}"
        if odd := sorted(name for name in names if _TEMPORARY.search(name)):
            return f"debris: {', '.join(odd[:5])}"
        if (used := usage(index_dir)) > bound(self._fresh):
            return f"{used:,} bytes on disk, at most {bound(self._fresh):,} expected"
        return None
