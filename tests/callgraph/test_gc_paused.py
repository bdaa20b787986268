"""The garbage collector runs less often while an index is built, and as before afterwards."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from lci_py import app
from lci_py.callgraph.gc_paused import gc_paused, gc_rare


def test_a_build_lets_the_collector_run_less_often(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(): pass\n")
    before, during = gc.get_threshold(), set()
    app.build_index(str(tmp_path), jobs=1, progress=lambda _stage, _done, _total: during.add(gc.get_threshold()[0]))
    assert max(during) > before[0]
    assert gc.get_threshold() == before


@pytest.mark.parametrize("context", [gc_paused, gc_rare])
def test_after_an_error_the_collector_is_as_before(context: type) -> None:
    before = gc.isenabled(), gc.get_threshold()
    with pytest.raises(KeyError), context():
        raise KeyError
    assert (gc.isenabled(), gc.get_threshold()) == before
