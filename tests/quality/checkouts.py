"""Indexes of checkouts that stay between two runs of a measurement, outside the trees that are measured."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lci_py import app
from lci_py.search.engine import Engine

#: Where the indexes lie, in the folder a measurement is started from: `make clean` removes it.
KEPT = Path("build", "quality")


@contextmanager
def opened(root: Path, kept: Path) -> Iterator[Engine]:
    """The index of a folder, up to date, with the settings of nobody's user.

    Args:
        root: The folder; nothing is written into it.
        kept: Folder of the index; made if it is not there, and it stays.
    Raises:
        lci_py.errors.LciError: It cannot be indexed.
    """
    own = {"LCI_INDEX_DIR": str(kept / "index"), "LCI_CONFIG_DIR": str(kept / "config")}
    before = {name: os.environ.get(name) for name in own}
    os.environ.update({name: str(Path(path).resolve()) for name, path in own.items()})
    try:
        app.build_index(str(root))
        with app.open_engine(str(root), refresh="never") as session:
            yield session
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
