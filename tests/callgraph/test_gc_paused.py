"""The garbage collector is paused while an index is built, and as before afterwards."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from lci_py import app
from lci_py.callgraph.gc_paused import gc_paused


def test_a_build_pauses_the_collector(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(): pass\n")
    during = set()
    gc.enable()
    app.build_index(str(tmp_path), jobs=1, progress=lambda stage, _done, _total: during.add((stage, gc.isenabled())))
    assert ("graph", False) in during and ("symbols", False) in during
    assert gc.isenabled()


def test_after_an_error_the_collector_is_as_before() -> None:
    before = gc.isenabled()
    with pytest.raises(KeyError), gc_paused():
        raise KeyError
    assert gc.isenabled() == before
