"""Writes the index of `fixtures/shards/tree` in today's format to `fixtures/shards/index`.

    python -m tests.support.make_shards

Run it when something in the format changes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from lci_py import app
from lci_py.index.store.manifest import SHARD_NAME
from lci_py.index.store.seal import CONFIG_VARIABLE

SHARDS = Path(__file__).resolve().parents[2] / "fixtures" / "shards"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ[CONFIG_VARIABLE] = str(Path(folder, "config"))
        root = Path(shutil.copytree(SHARDS / "tree", Path(folder, "repo")))
        # A removed file, so that numbers are mapped.
        (root / "gone.py").write_text("def gone():\n    return None\n")
        app.build_index(str(root), jobs=1)
        (root / "gone.py").unlink()
        app.build_index(str(root), jobs=1)
        target = SHARDS / "index"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for item in (root / ".lci").iterdir():
            if item.name == "manifest.json" or SHARD_NAME.fullmatch(item.name):
                shutil.copy(item, target)


if __name__ == "__main__":
    main()
