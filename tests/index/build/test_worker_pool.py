"""What the worker processes share with the process that starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lci_py import app, processes
from lci_py.index.build import generation, worker, worker_pool
from lci_py.index.build.tasks import Done, Task
from lci_py.index.build.worker_pool import _BATCH_BYTES, _unordered_results
from lci_py.source.syntax.languages import load_languages
from lci_py.types.source import FileEntry


def _what_is_loaded(tasks: list[Task], unparsable: str = "") -> list[Done]:
    loaded = load_languages() if load_languages.cache_info().currsize else {}
    names = [name for name, spec in loaded.items() if vars(spec).get("cursors")]
    return [Done(task.entry, ",".join(names), skip=str(bool(loaded))) for task in tasks]


@pytest.mark.skipif(sys.platform != "linux", reason="no process is forked here")
@pytest.mark.parametrize(("files", "shared"), [(["a.py"], ""), (["a.py", "b.py"], "python"), (["a.py", "b.go"], "")])
def test_workers_share_the_languages_and_the_grammar_of_several_batches(files: list[str], shared: str) -> None:
    load_languages.cache_clear()
    tasks = [Task(FileEntry(name, _BATCH_BYTES, 0)) for name in files]  # each is a batch of its own
    done = [one for _, batch in _unordered_results(_what_is_loaded, tasks, 2, None) for one in batch]
    assert {(one.skip, one.sha) for one in done} == {("True", shared)}
    load_languages.cache_clear()


def _indexed(tmp_path: Path) -> tuple[int, int]:
    for number in range(6):
        (tmp_path / f"m{number}.py").write_text(f"def f{number}(): pass\n" * 200)
    built = app.build_index(str(tmp_path), jobs=2)
    return built.files, built.parsed_files


@pytest.mark.skipif(sys.platform != "linux", reason="no process is forked here")
@pytest.mark.parametrize("when", ["at once", "before it is two"])
def test_a_process_that_is_lost_before_its_first_file_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    ends = lambda *_: os._exit(1)  # noqa: E731
    if when == "at once":
        monkeypatch.setattr(worker_pool, "_import_worker", ends)
    else:
        parent, real = os.getpid(), worker.prepare_workers
        monkeypatch.setattr(worker, "prepare_workers", lambda *a: ends() if os.getppid() == parent else real(*a))
    monkeypatch.setattr(worker_pool, "_BATCH_FILES", 2)
    assert _indexed(tmp_path) == (6, 6)


def test_processes_that_start_from_nothing_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where processes are not forked."""
    for module in (worker_pool, generation):
        monkeypatch.setattr(module, "_FORKS", False)
    monkeypatch.setattr(processes, "FORKS", False)
    monkeypatch.setattr(worker_pool, "POOL_THRESHOLD", 0)
    monkeypatch.setattr(worker_pool, "_BATCH_FILES", 2)
    calls: list[list[str]] = []
    real = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda argv, **rest: (calls.append(argv), real(argv, **rest))[1])
    assert _indexed(tmp_path) == (6, 6)
    assert [argv[0] for argv in calls].count(sys.executable) == 2
