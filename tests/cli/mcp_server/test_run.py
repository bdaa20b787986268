"""`lci mcp` before there is a server."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lci_py.cli.mcp_server import run as entry
from tests.cli.fake import Ran, app_fixture, run_fixture  # noqa: F401  # fixtures
from tests.cli.fake_app import FakeApp


def test_without_the_extra_it_says_what_to_install(run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "find_spec", lambda name: None)
    ran = run("mcp")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "lci: the extra mcp is not installed: pip install 'lci-py[mcp]'\n"


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--tools", "some"], "unknown --tools 'some': use one of: default, all"),
        (["--files", "some"], "unknown --files 'some': use one of: indexed, all"),
        (["--refresh", "often"], "--refresh cannot be 'often'"),
        (["--batchs", "-"], "no such option"),
    ],
)  # fmt: skip
def test_usage_errors(run: Callable[..., Ran], app: FakeApp, argv: list[str], says: str) -> None:
    ran = run("mcp", *argv)
    assert ran.code == 2 and says.lower() in ran.err.lower()
    assert app.opened == 0
