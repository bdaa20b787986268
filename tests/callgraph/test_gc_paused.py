"""The garbage collector is paused while an index is built, and as before afterwards."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from lci_py import app
from lci_py.callgraph.file_facts import FileFacts
from lci_py.callgraph.gc_paused import gc_paused
from lci_py.callgraph.link import Linker
from lci_py.callgraph.resolve.calls import _CallResolver
from lci_py.source.extract.extract import extract


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


def test_linking_leaves_no_cycle_that_would_keep_what_it_read() -> None:
    linker = Linker()
    for number in range(20):
        text = f"#define M{number}() f{number}()\nvoid f{number}(void) {{}}\nvoid g{number}(void) {{ M{number}(); }}\n"
        linker.add(f"m{number}.c", False, extract(f"m{number}.c", text.encode(), "c"))
    gc.collect()
    with gc_paused():
        linker.finish()
        kept = [one for one in gc.get_objects() if isinstance(one, _CallResolver | FileFacts)]
    assert not kept
