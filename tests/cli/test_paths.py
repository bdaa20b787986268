"""Paths of the command line: they are read as they are printed, from the current folder or, with --root, from the root."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lci_py import app
from lci_py.cli.main import main

FILES = ("net/src/runtime/mod.rs", "net/src/mod.rs", "app/[id]/page.rs", "app/i/page.rs", "runtime.rs")
RUNTIME, MOD, PAGE, OTHER, TOP = FILES


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("paths") / "repo"
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("fn target() {}\n")
    app.build_index(str(root), jobs=1)
    return root


def found(capsys: pytest.CaptureFixture[str], root: Path, *args: str) -> set[str]:
    """The files of the results, from the root."""
    code = main(["search", "target", "-m", "bm25", "--json", *args])
    answer = json.loads(capsys.readouterr().out)
    assert code in (0, 1), answer
    return {result["file"] for result in answer["results"]}


@pytest.mark.parametrize(
    ("args", "files"),
    [
        (["-p", "runtime/**"], {RUNTIME}),
        (["-p", "."], {RUNTIME, MOD}),
        (["-p", "./mod.rs"], {MOD}),
        (["-p", "mod.rs"], {RUNTIME, MOD}),  # without a slash it matches at any depth, as in .gitignore
        (["-p", "*.rs"], set(FILES)),
        (["-p", "**/mod.rs"], {RUNTIME, MOD}),
        (["-p", "./*.rs"], {MOD}),
        (["-p", "../../app/"], {PAGE, OTHER}),
        (["-p", "../../app/[id]/page.rs"], {PAGE}),  # a file of that name comes before the glob
        (["-p", "../../app/[i]/page.rs"], {OTHER}),
        (["-p", "net/src/runtime"], {RUNTIME}),  # as JSON spells it
        (["-p", "/net/src/*.rs"], {MOD}),  # as .gitignore spells it
        (["-p", "{root}/net/src/runtime"], {RUNTIME}),
        (["-p", "{root}"], set(FILES)),
        (["--exclude", "."], {PAGE, OTHER, TOP}),
        (["runtime"], {RUNTIME}),
        (["mod.rs"], {MOD}),
        ([".", "../../runtime.rs"], {RUNTIME, MOD, TOP}),
        (["*/mod.rs"], {RUNTIME}),
        (["{root}/app"], {PAGE, OTHER}),
        (["--root", "{root}", "-p", "net/src/runtime"], {RUNTIME}),
        (["--root", "{root}", "runtime"], {RUNTIME}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_paths_of_a_subfolder(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, root: Path, args: list[str], files: set[str]
) -> None:
    monkeypatch.chdir(root / "net" / "src")
    assert found(capsys, root, *(arg.replace("{root}", str(root)) for arg in args)) == files


@pytest.mark.parametrize("folder", ["", "net/src", "app/[id]"])
@pytest.mark.parametrize("flags", [[], ["--root", "{root}"]])
def test_each_path_that_is_printed_is_accepted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, root: Path, folder: str, flags: list[str]
) -> None:
    monkeypatch.chdir(root / folder)
    flags = [flag.replace("{root}", str(root)) for flag in flags]
    assert main(["search", "target", "-m", "bm25", "--paths", *flags]) == 0
    printed = [line.rpartition(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert len(printed) == len(FILES)
    for path in printed:
        start = root if flags else Path.cwd()
        expected = os.path.relpath(os.path.realpath(start / path), root)
        assert found(capsys, root, *flags, path) == {expected}
        assert expected in found(capsys, root, *flags, "-p", path)


@pytest.mark.parametrize("command", [["def", "target"], ["refs", "target"], ["conflicts"], ["callers", "target", "-a"]])
def test_every_command_reads_them_alike(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, root: Path, command: list[str]
) -> None:
    monkeypatch.chdir(root / "net" / "src")
    assert main([*command, "-p", "../../../elsewhere/*.rs"]) == 2
    assert "outside" in capsys.readouterr().err
    if command[0] in ("def", "refs"):
        assert main([*command, "-p", "runtime/**", "--paths"]) == 0
        assert capsys.readouterr().out == "runtime/mod.rs:1\n"


def test_a_batch_starts_at_the_root(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, root: Path, tmp_path: Path
) -> None:
    monkeypatch.chdir(root / "net" / "src")
    (batch := tmp_path / "batch").write_text('{"query": "target", "path": "net/src/*.rs"}\n{"query": "target"}\n')
    assert main(["search", "--batch", str(batch), "-m", "bm25", "-p", "runtime/**"]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert [result["file"] for result in first["results"]] == [MOD]
    assert [result["file"] for result in second["results"]] == [RUNTIME]


@pytest.mark.parametrize(
    "command",
    [["search", "target", "-l", "rs"], ["search", "lang:RS", "-m", "symbolic"], ["def", "target", "-l", "rs"],
     ["refs", "target", "-l", "rs"], ["search", "target", "-l", "py", "-m", "multiview"],
     ["refs", "target", "-l", "py"]],
    ids=" ".join,
)  # fmt: skip
def test_every_command_knows_aliases_of_languages(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, root: Path, command: list[str]
) -> None:
    monkeypatch.chdir(root)
    code = main([*command, "--paths"])
    assert (code, len(capsys.readouterr().out.splitlines())) == ((1, 0) if "py" in command else (0, len(FILES)))


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["-p", "../outside/*.py"], "../outside/*.py is outside "),
        (["-p", "/usr/share/**"], "/usr/share/** is outside "),
        ([".."], ".. is outside "),
        (["nothing"], "there is no file or folder nothing: what follows the QUERY are PATHs; put a query of several"),
        ([""], "a PATH is empty"),
    ],
)
def test_what_is_no_path(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, root: Path, args: list[str], said: str
) -> None:
    monkeypatch.chdir(root)
    assert main(["search", "target", *args]) == 2
    assert said in capsys.readouterr().err
