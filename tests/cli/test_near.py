"""`lci search --near` on the command line and in a batch."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.fake import Ran, app_fixture, run_fixture  # noqa: F401  # fixtures
from tests.cli.fake_app import FakeApp

MULTIVIEW = ("-m", "multiview")


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("q", "--near", "a.py"), "--near needs --mode multiview"),
        (("q", "--near", "a.py", "-m", "bm25"), "--near needs --mode multiview"),
        (("q", "--near", "", *MULTIVIEW), "--near is empty"),
        (("-k", "class", "--near", "a.py", *MULTIVIEW), "--near needs a QUERY"),
    ],
)
def test_where_a_place_means_nothing(run: Callable[..., Ran], app: FakeApp, flags: tuple[str, ...], says: str) -> None:
    ran = run("search", *flags)
    assert (ran.code, app.requests) == (2, [])
    assert says in ran.err


def test_a_name_with_a_colon(
    run: Callable[..., Ran], app: FakeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd:name.py").touch()
    for place in ("odd:name.py", "other.py:3"):
        run("search", "q", "--near", place, *MULTIVIEW)
    assert [request.near for request in app.requests] == [f"{tmp_path}/odd:name.py", "other.py:3"]


def test_a_batch_has_places_of_its_own(
    run: Callable[..., Ran], app: FakeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").touch()
    lines = [{"query": "one"}, {"query": "two", "near": "src/b.py:3"}, {"query": "three", "near": None}]
    stdin = "\n".join(map(json.dumps, [*lines, {"query": "four", "near": 4}])).encode()
    ran = run("search", "--batch", "-", "--near", "a.py:1", *MULTIVIEW, stdin=stdin)
    # The place of the flag starts at the current folder, the place of a line at the root.
    assert [request.near for request in app.requests] == [f"{tmp_path}/a.py:1", "src/b.py:3", None]
    assert ran.code == 2 and "near must be a string" in ran.lines[3]["error"]["message"]
