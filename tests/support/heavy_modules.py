"""Which libraries that take long to load a run of the program imports."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"re2", "numpy", "faiss", "onnxruntime", "tokenizers", "bm25s", "tree_sitter", "prompt_toolkit", "pygments"}
#: What makes the model: the extra `training`.
TRAINING_ONLY = {"torch", "scipy", "onnx"}


def loaded(*args: str) -> set[str]:
    """The heavy modules that a run of the program imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "lci_py", *args], capture_output=True, text=True, check=False
    )
    names = {line.rpartition("|")[2].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "lci_py" in names
    assert not names & TRAINING_ONLY
    return names & HEAVY
