"""The process that answers, without a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lci_py.cli.mcp_server.worker import WorkerProcess
from tests.support.waiting import until

SETTINGS = {"refresh": None, "trust_index": False, "indexed_only": True}


def asked(worker: WorkerProcess, folder: Path) -> dict[str, Any]:
    request = {"folder": str(folder), "chosen": "flag", "command": {"command": "search", "query": "f"}, "json": False}
    return worker.ask(request, lambda part, stage: None)


def test_it_ends_when_nobody_asks_and_is_there_for_the_next_question(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("def f():\n    pass\n")
    worker = WorkerProcess(SETTINGS, idle=0.05)
    try:
        first = asked(worker, tmp_path)
        process = worker.started()
        until(lambda: process.poll() is not None)
        # One that ends after it was looked at, and before it has read the question.
        worker._process = process
        process.poll = lambda: None  # type: ignore[method-assign]
        assert asked(worker, tmp_path) == first and "main.py" in first["text"] and not first["error"]
    finally:
        worker.stop()
