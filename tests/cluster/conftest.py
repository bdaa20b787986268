"""The repositories of `tests.support.fleets` as one index over one folder, and as parts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lci_py import app
from lci_py.search.engine import Engine
from tests.support.fleets import FILES, Opened, Parts, publish


@pytest.fixture(scope="session")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("one")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    app.build_index(str(root), jobs=1)
    with app.open_engine(str(root), refresh="never") as engine:
        yield engine


@pytest.fixture(scope="session")
def parts(one: Engine, tmp_path_factory: pytest.TempPathFactory) -> Parts:
    return Parts(one.root, tmp_path_factory.mktemp("parts"))


@pytest.fixture(scope="session")
def whole(parts: Parts) -> Iterator[Opened]:
    """One part for each repository."""
    found = parts.opened(parts.fleet())
    yield found
    found.workers.close()


@pytest.fixture(scope="session")
def store(one: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same in a folder. A test that breaks it makes its own copy."""
    folder = tmp_path_factory.mktemp("fleet")
    publish(str(folder / "store"), one.root, folder)
    return folder / "store"
