"""What the worker processes share with the process that starts them."""

from __future__ import annotations

import sys

import pytest

from lci_py.index.build.worker import Done, Task
from lci_py.index.build.worker_pool import _BATCH_BYTES, _unordered
from lci_py.source.syntax.languages import load_languages
from lci_py.types.source import FileEntry


def _what_is_loaded(tasks: list[Task], unparsable: str = "") -> list[Done]:
    loaded = load_languages() if load_languages.cache_info().currsize else {}
    names = [name for name, spec in loaded.items() if "cursor" in vars(spec)]
    return [Done(task.entry, ",".join(names), skip=str(bool(loaded))) for task in tasks]


@pytest.mark.skipif(sys.platform != "linux", reason="no process is forked here")
@pytest.mark.parametrize(("files", "shared"), [(["a.py"], ""), (["a.py", "b.py"], "python"), (["a.py", "b.go"], "")])
def test_workers_share_the_languages_and_the_grammar_of_several_batches(files: list[str], shared: str) -> None:
    load_languages.cache_clear()
    tasks = [Task(FileEntry(name, _BATCH_BYTES, 0)) for name in files]  # each is a batch of its own
    done = [one for _, batch in _unordered(_what_is_loaded, tasks, 2, None) for one in batch]
    assert {(one.skip, one.sha) for one in done} == {("True", shared)}
    load_languages.cache_clear()
