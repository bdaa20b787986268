"""Indexes of checkouts that are kept between two measurements, outside of the measured trees."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lci_py import app
from lci_py.search.engine import Engine

#: Folder of the indexes, below the folder that a measurement is started from. `make clean` removes it.
KEPT = Path("build", "quality")


@contextmanager
def opened(root: Path, kept: Path) -> Iterator[Engine]:
    """The index of a folder, up to date, without the settings of the user.

    Args:
        root: The folder; nothing is written into it.
        kept: Folder of the index, created if it does not exist.
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
