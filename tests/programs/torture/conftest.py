"""The program and the bench that all short forms share. The long forms run as modules (`make torture`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.torture.kill import Bench
from tests.torture.program import LINUX, Program
from tests.torture.report import Report


@pytest.fixture(scope="session")
def program(zygote: str | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    if not LINUX:
        pytest.skip("needs Linux: pidfd, prctl, /proc")
    with Program(tmp_path_factory.mktemp("torture"), zygote) as started:
        yield started


@pytest.fixture(scope="session")
def bench(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(program, Path(tmp_path_factory.mktemp("bench")))


@pytest.fixture
def report() -> Report:
    return Report("short form", 1, verbose=False)


@pytest.fixture
def unknown(report: Report) -> Callable[[], list[str]]:
    """The violations of the report."""
    return lambda: list(report.violations)
