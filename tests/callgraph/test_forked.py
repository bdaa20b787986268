"""A forked computation does not outlive its caller."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from lci_py.callgraph.forked import Forked
from tests.conftest import PROJECT


@pytest.mark.skipif(sys.platform != "linux", reason="no process is forked here")
def test_what_the_other_process_computes_is_the_result() -> None:
    values = (np.arange(100_000, dtype=np.int32), np.zeros(0, np.uint8))
    process, *found = Forked(lambda: [np.array([os.getpid()]), *values], fork=True).result()
    assert process.tolist() != [os.getpid()]
    assert all(np.array_equal(*pair) and pair[0].dtype == pair[1].dtype for pair in zip(found, values, strict=True))


def test_what_no_other_process_can_compute_is_computed_here() -> None:
    own = os.getpid()

    def compute() -> list[np.ndarray]:
        if os.getpid() != own:
            raise OSError
        return [np.array([1])]

    assert Forked(compute, fork=sys.platform == "linux").result() == [np.array([1])]


@pytest.mark.skipif(sys.platform != "linux", reason="no process is forked here")
def test_it_ends_when_its_caller_is_killed() -> None:
    script = (
        "import time; from lci_py.callgraph.forked import Forked\n"
        "Forked(lambda: time.sleep(600), fork=True); print('started', flush=True); time.sleep(600)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )
    assert process.stdout is not None and process.stdout.readline() == "started\n"
    process.kill()
    assert process.communicate(timeout=30) == ("", None)  # ends when the last copy of the pipe is closed
