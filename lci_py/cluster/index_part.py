"""`python -m lci_py.cluster.index_part`: index one part, in a process of its own.

A worker of the cluster has threads, so it must not fork, and a grammar may crash; this process may do both. It reads an
object from stdin (the fields of `Asked`), and writes the part and warnings, or an `error`, to stdout.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.cluster.fleet import part_of
from lci_py.cluster.sources import Run
from lci_py.errors import IndexWriteError, LciError, UsageError

if TYPE_CHECKING:
    from lci_py.cluster.fleet import Part


class Asked(NamedTuple):
    """What is to be indexed; `store_part` says more."""

    url: str
    name: str
    source: str
    commit: str
    run: Run
    former: Part | None = None
    records: str = ""


def indexed(asked: Asked) -> tuple[Part | None, list[str]]:
    """Index a part in another process, and put it into the store.

    Returns:
        The part, None if it has no files to index; and warnings.
    Raises:
        UsageError, IndexWriteError: It cannot be indexed, or the store not be written.
    """
    former = None if asked.former is None else asdict(asked.former)
    done = subprocess.run(
        [sys.executable, "-m", "lci_py.cluster.index_part"],
        input=json.dumps({**asked._asdict(), "former": former}), capture_output=True, text=True, check=False,
    )  # fmt: skip
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.strip().rpartition("\n")[2]
        what = f"{asked.name} cannot be indexed ({said or done.returncode})"
        raise IndexWriteError(what, hint="run `lci index` on it to see why") from None
    if "error" in found:
        kind = UsageError if found["usage"] else IndexWriteError
        raise kind(f"{asked.name}: {found['error']}", hint=found["hint"])
    return None if found["part"] is None else part_of(found["part"]), found["warnings"]


def main() -> None:
    from lci_py.cluster.objects import Objects
    from lci_py.cluster.part import Wanted, store_part

    threading.Thread(target=_follow, args=(os.getppid(),), daemon=True).start()
    data = json.load(sys.stdin)
    asked = Asked(**{**data, "run": Run(*data["run"]), "former": data["former"] and part_of(data["former"])})
    try:
        with tempfile.TemporaryDirectory(prefix="lci-part-") as work:
            part, warnings = store_part(
                Objects(asked.url),
                Wanted(asked.name, asked.source, asked.commit, asked.run),
                Path(work),
                former=asked.former,
                records=Path(asked.records) if asked.records else None,
            )
        found: dict[str, Any] = {"part": None if part is None else asdict(part), "warnings": warnings}
    except LciError as error:
        found = {"error": error.message, "hint": error.hint, "usage": isinstance(error, UsageError)}
    json.dump(found, sys.stdout)


def _follow(parent: int) -> None:
    """End with the worker that asked: somebody else has the task then."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    main()
