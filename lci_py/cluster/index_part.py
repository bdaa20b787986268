"""Indexes parts in a process beside the worker, each in a fork of that process.

A worker of the cluster has threads, so it must not fork, and a grammar may crash; a fork of the other process may do
both. That process imports what indexing needs once, for all parts that its worker gets. It reads a line for each part
from stdin (the fields of `Asked`), and writes a line with the part and warnings, or with an `error`, to stdout.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.cluster.fleet import part_of
from lci_py.cluster.sources import Run
from lci_py.errors import IndexWriteError, LciError, UsageError
from lci_py.index.build.child_process import FORKS

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


# --- in the worker ------------------------------------------------------------------------------------------------

#: Processes that wait for a part: one for each thread of the worker that has had one at the same time.
_waiting: list[subprocess.Popen[str]] = []


def indexed(asked: Asked) -> tuple[Part | None, list[str]]:
    """Index a part in another process, and put it into the store.

    Returns:
        The part, None if it has no files to index; and warnings.
    Raises:
        UsageError, IndexWriteError: It cannot be indexed, or the store not be written.
    """
    former = None if asked.former is None else asdict(asked.former)
    said = _answered(json.dumps({**asked._asdict(), "former": former}))
    try:
        found: dict[str, Any] = json.loads(said)
    except ValueError:
        what = f"{asked.name} cannot be indexed (its process has ended)"
        raise IndexWriteError(what, hint="run `lci index` on it to see why") from None
    if "error" in found:
        kind = UsageError if found["usage"] else IndexWriteError
        raise kind(f"{asked.name}: {found['error']}", hint=found["hint"])
    return None if found["part"] is None else part_of(found["part"]), found["warnings"]


def _answered(line: str) -> str:
    """What a process answers; nothing whole if it ends meanwhile."""
    process = _waiting_one() or _started()
    assert process.stdin is not None and process.stdout is not None
    said = ""
    with suppress(OSError):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        said = process.stdout.readline()
    if said.endswith("\n"):
        _waiting.append(process)
    else:
        process.kill()
        process.communicate()
    return said


def _waiting_one() -> subprocess.Popen[str] | None:
    while True:
        try:
            process = _waiting.pop()
        except IndexError:
            return None
        if process.poll() is None:
            return process
        process.communicate()  # it has been killed


def end_waiting() -> None:
    """End the processes that wait for a part."""
    while (process := _waiting_one()) is not None:
        process.communicate()


def _started() -> subprocess.Popen[str]:
    # Not `-m`: a folder `lci_py` in the current folder would be this program.
    script = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip


# --- in the process -----------------------------------------------------------------------------------------------


def main() -> None:
    """Answer line after line, until the worker ends. This process has one thread."""
    _load()
    while line := sys.stdin.buffer.readline():
        said = _in_a_fork(line) if FORKS else _line(_made(json.loads(line)))
        if not said:
            return
        sys.stdout.buffer.write(said)
        sys.stdout.buffer.flush()


def _in_a_fork(line: bytes) -> bytes:
    """What a fork of this process answers; nothing if the worker has ended meanwhile."""
    answer, own = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(answer)
        _answer(line, own)
    os.close(own)
    said = b""
    while True:
        # stdin has something to say only when the worker has ended: the fork sees that this process has, too.
        if sys.stdin.buffer in select.select([sys.stdin.buffer, answer], [], [])[0]:
            return b""
        if not (some := os.read(answer, 1 << 16)):
            break
        said += some
    os.close(answer)
    _, status = os.waitpid(pid, 0)
    if said.endswith(b"\n"):
        return said
    code = os.waitstatus_to_exitcode(status)
    how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    return _line({"error": f"its process has ended {how}", "hint": "run `lci index` on it", "usage": False})


def _load() -> None:
    """Import and read what every part needs. Nothing of it starts a thread."""
    import gc

    import fsspec  # noqa: F401

    import lci_py.cluster.part
    import lci_py.index.build.embedding
    import lci_py.index.build.generation
    import lci_py.index.build.worker
    import lci_py.index.build.write_segment  # noqa: F401
    from lci_py.callgraph.gc_paused import collect_rarely
    from lci_py.embed.encoder import load_builtin
    from lci_py.source.syntax.languages import load_languages

    load_languages()
    load_builtin()
    collect_rarely()
    gc.freeze()  # a fork that collects need not copy all of it


def _answer(line: bytes, answer: int) -> None:
    """Index the part of a line, and end."""
    parent = os.getppid()
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    status = 1
    try:
        with os.fdopen(answer, "wb") as file:
            file.write(_line(_made(json.loads(line))))
        status = 0
    finally:
        os._exit(status)


def _made(data: dict[str, Any]) -> dict[str, Any]:
    from lci_py.cluster.objects import Objects
    from lci_py.cluster.part import Wanted, store_part

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
        return {"part": None if part is None else asdict(part), "warnings": warnings}
    except LciError as error:
        return {"error": error.message, "hint": error.hint, "usage": isinstance(error, UsageError)}
    except Exception as error:  # a fault in one part: its worker says which
        return {"error": f"{type(error).__name__}: {error}", "hint": "run `lci index` on it", "usage": False}


def _line(found: dict[str, Any]) -> bytes:
    return json.dumps(found).encode() + b"\n"


def _follow(parent: int) -> None:
    """End with the worker that asked: somebody else has the task then."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
