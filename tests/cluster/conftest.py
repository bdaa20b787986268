"""The repositories of `tests.support.fleets` as one index over one folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lci_py import app
from lci_py.search.engine import Engine
from tests.support.fleets import FILES


@pytest.fixture(scope="session")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("one")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    app.build_index(str(root), jobs=1)
    with app.open_engine(str(root), refresh="never") as engine:
        yield engine
