"""The flags of `lci cluster`; tests/cluster/test_dask_workers.py has it from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lci_py.cli.main import main
from lci_py.errors import EXIT_INDEX, EXIT_USAGE

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
