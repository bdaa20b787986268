"""`lci cluster`: the flags, and a fleet on workers of this machine from end to end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lci_py.cli.main import main
from lci_py.cluster import dask_workers
from lci_py.cluster.dask_workers import connected
from lci_py.errors import EXIT_INDEX, EXIT_OK, EXIT_USAGE
from tests.conftest import Ran
from tests.support.fleets import cluster

WRONG = {
    "no store": (["search", "x"], "--store"),
    "another action": (["destroy", "--store", "s"], "destroy"),
    "a flag of the other action": (["index", "--store", "s", "--mode", "bm25"], "--mode"),
    "repositories for a search": (["search", "--store", "s", "--repos", "f", "x"], "--repos"),
    "a query for an index run": (["index", "--store", "s", "x"], "QUERY"),
    "no repositories": (["index", "--store", "s"], "--repos"),
    "a file that is not there": (["index", "--store", "s", "--repos", "nowhere"], "nowhere"),
    "one word on a line": (["index", "--store", "s", "--repos", "one"], "one:2"),
    "an open quote": (["index", "--store", "s", "--repos", "open"], "open:1"),
    "no workers": (["index", "--store", "s", "--repos", "empty", "--workers", "0"], "--workers"),
    "workers and a scheduler": (
        ["index", "--store", "s", "--repos", "empty", "--workers", "2", "--scheduler", "h"],
        "--workers",
    ),
    "workers for a search": (["search", "--store", "s", "--workers", "2", "x"], "--workers"),
    "time for workers that there are not": (["search", "--store", "s", "--timeout", "9", "x"], "--scheduler"),
    "no time": (["search", "--store", "s", "--timeout", "0", "x"], "--timeout"),
    "a root": (["search", "--store", "s", "--root", ".", "x"], "--root"),
    "nothing to search for": (["search", "--store", "s"], "nothing to search for"),
    "half of TLS": (["search", "--store", "s", "--tls-ca", "f", "x"], "--tls-cert"),
    "TLS without a scheduler": (
        ["search", "--store", "s", "--tls-ca", "one", "--tls-cert", "one", "--tls-key", "one", "x"],
        "--scheduler",
    ),
    "a certificate that is not there": (
        [
            "search",
            "--store",
            "s",
            "--tls-ca",
            "nofile",
            "--tls-cert",
            "one",
            "--tls-key",
            "one",
            "x",
            "--scheduler",
            "s",
        ],
        "nofile",
    ),
    "a query for cleaning": (["clean", "--store", "s", "x"], "QUERY"),
    "a time in the future": (["clean", "--store", "s", "--grace", "-1"], "--grace"),
    "a time for a search": (["search", "--store", "s", "--grace", "1", "x"], "--grace"),
    "a batch and a query": (["search", "--store", "s", "--batch", "one", "x"], "QUERY"),
    "a batch for an index run": (["index", "--store", "s", "--batch", "one"], "--batch"),
    "a protocol that is none": (["search", "--store", "nosuch://s", "x"], "nosuch://s"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_meant_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before any worker is started."""
    monkeypatch.chdir(tmp_path)
    Path("one").write_text("# a comment\nalone\n")
    Path("empty").write_text("")
    Path("open").write_text('a "b\n')
    args, said = WRONG[name]
    assert main(["cluster", *args, "--json"]) == EXIT_USAGE
    error = json.loads(capsys.readouterr().out)["error"]
    assert said in error["message"] + error.get("hint", "")


def test_a_store_without_a_fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "search", "--store", str(tmp_path), "x", "--json"]) == EXIT_INDEX
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "shard_missing"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., Ran]:
    """`lci cluster` in this process, with the fleet of this test."""

    def go(action: str, *args: str) -> Ran:
        capsys.readouterr()
        code = main(["cluster", action, "--store", str(tmp_path / "store"), *args])
        return Ran(code, *capsys.readouterr())

    return go


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_from_end_to_end(run: Callable[..., Ran], tmp_path: Path) -> None:
    for name, text in (
        ("one", "def remove_expired(sessions):\n    pass\n"),
        ("two", "def keep(sessions):\n    pass\n"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "store.py").write_text(text)
    (tmp_path / "repos").write_text(f"one {tmp_path}/one v1\ntwo {tmp_path}/two v1  # the other one\n")
    made = run("index", "--repos", str(tmp_path / "repos"), "--json")
    assert made.code == EXIT_OK and made.json()["indexed"] == ["one", "two"] and not made.err
    here = run("search", "remove expired", "-m", "multiview", "--json")
    with cluster(1) as address:
        of = ("--scheduler", address)
        found = run("search", *of, "remove expired", "-m", "multiview", "--json")
        assert found.code == EXIT_OK and not found.err and "degraded" not in found.json()
        assert found.json() == here.json()
        best = found.json()["results"][0]
        assert (best["repository"], best["file"]) == ("one", "one/store.py")
        _ask_in_a_batch(run, of, found, tmp_path)
        (tmp_path / "repos").write_text(f"one {tmp_path}/one v1\n")
        less = run("index", *of, "--repos", str(tmp_path / "repos"))
        assert less.out.startswith("1 repository, 1 files, ") and "0 indexed" in less.out
    done = run("clean", "--grace", "0", "--json")
    assert done.code == EXIT_OK and done.json()["removed"] > 5 and done.json()["kept"] > 5


def _ask_in_a_batch(run: Callable[..., Ran], of: tuple[str, ...], alone: Ran, folder: Path) -> None:
    """Each line is answered as a command of its own, a wrong one with an error, and all over one connection."""
    (folder / "lines").write_text(
        'remove expired\n{"query": "sessions", "repo": "two", "mode": "bm25"}\n{"query": "x", "near": "f"}\n{x\n'
    )
    opened = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_workers, "connected", lambda *args: opened.append(args) or connected(*args))
        said = run("search", *of, "--batch", str(folder / "lines"), "-m", "multiview")
    first, other, unknown, broken = map(json.loads, said.out.splitlines())
    assert first == alone.json() and len(opened) == 1 and said.code == EXIT_USAGE
    assert [result["file"] for result in other["results"]] == ["two/store.py"] and other["mode"] == "bm25"
    assert "near" in unknown["error"]["message"] and unknown["error"]["line"] == 3
    assert "not a JSON object" in broken["error"]["message"]
