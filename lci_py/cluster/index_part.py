"""`python -m lci_py.cluster.index_part`: index one repository as a part, in a process of its own.

A worker of the cluster has threads, so it must not fork, and a grammar may crash; this process may do both. It reads an
object from stdin (`url`, `name`, `source`, `commit`), and writes the part, or an `error`, to stdout.
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
from typing import TYPE_CHECKING, Any

from lci_py.cluster.fleet import part_of
from lci_py.errors import IndexWriteError, LciError, UsageError

if TYPE_CHECKING:
    from lci_py.cluster.fleet import Part


def indexed(url: str, name: str, source: str, commit: str) -> Part:
    """Index a repository in another process, and put it into the store; arguments as of `part.store_part`.

    Raises:
        UsageError, IndexWriteError: It cannot be indexed, or the store not be written.
    """
    asked = json.dumps({"url": url, "name": name, "source": source, "commit": commit})
    done = subprocess.run(
        [sys.executable, "-m", "lci_py.cluster.index_part"], input=asked, capture_output=True, text=True, check=False
    )
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.strip().rpartition("\n")[2]
        what = f"{name} cannot be indexed ({said or done.returncode})"
        raise IndexWriteError(what, hint="run `lci index` on it to see why") from None
    if "error" in found:
        kind = UsageError if found["usage"] else IndexWriteError
        raise kind(f"{name}: {found['error']}", hint=found["hint"])
    return part_of(found)


def main() -> None:
    from lci_py.cluster.objects import Objects
    from lci_py.cluster.part import store_part

    threading.Thread(target=_follow, args=(os.getppid(),), daemon=True).start()
    asked = json.load(sys.stdin)
    try:
        source = Path(asked["source"])
        if not source.is_dir():
            raise UsageError(f"{source} is not a folder", hint="every worker must see it under that path")
        with tempfile.TemporaryDirectory(prefix="lci-part-") as work:
            part = store_part(Objects(asked["url"]), asked["name"], source, Path(work), commit=asked["commit"])
        found: dict[str, Any] = asdict(part)
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
