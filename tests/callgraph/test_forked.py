"""A forked computation does not outlive its caller."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import PROJECT


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
