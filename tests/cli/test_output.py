"""What all commands write in the same way: formats, fields, offsets, budgets, and JSON without what says nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from lci_py.cli.streams import wants_json
from lci_py.render.json.answers import FIELDS
from tests.cli.fake import SCHEMA, VALIDATOR
from tests.conftest import PROJECT, Ran
from tests.render.json.test_answer import values
from tests.support.graph_repo import SOURCES, build

GOLDEN = PROJECT / "fixtures" / "golden" / "output"
#: Of each command: arguments that find something, and the definition of a result in the schema.
COMMANDS = {
    "search": (["clean", "-m", "multiview"], "result"),
    "def": (["clean"], "result"),
    "show": (["clean", "--callers", "--callees"], "shown"),
    "outline": (["shop"], "outlineFile"),
    "grep": (["clean", "-C1"], "grepLine"),
    "refs": (["clean"], "reference"),
    "callers": (["shop/store.py::clean"], "neighbour"),
    "callees": (["main"], "neighbour"),
    "files": (["store"], "indexedFile"),
    "path": (["main", "clean", "shop"], "chain"),
    "affected": (["--files", "shop/store.py"], "affectedPlace"),
    "unused": (["--all"], "unusedDefinition"),
    "conflicts": (["--all"], "symbolConflict"),
}
COMMANDS["path"] = (["main", "shop/store.py::clean"], "chain")
TREE = ["tree", "main"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    twice = "import sys\n\nif sys.platform == 'win32':\n    def beep():\n        return 1\nelse:\n    def beep():\n        return 2\n"
    test = "from shop.store import clean\n\n\ndef test_clean():\n    assert clean(1)\n"
    return build(tmp_path_factory.mktemp("output") / "repo", {**SOURCES, "beep.py": twice, "tests/test_store.py": test})


@pytest.fixture
def run(lci: Callable[..., Ran], root: Path) -> Callable[..., Ran]:
    return lambda *argv, **options: lci(*argv, **{"cwd": root, **options})


@pytest.mark.parametrize("command", [*COMMANDS, "tree", "status", "stats", "index", "dry-run"])
def test_no_json_holds_what_says_nothing(run: Callable[..., Ran], command: str) -> None:
    argv = {"tree": TREE, "dry-run": ["index", "--dry-run"]}.get(command, [command, *COMMANDS.get(command, ([],))[0]])
    ran = run(*argv, "--json")
    assert ran.code in (0, 1), ran.err
    VALIDATOR.validate(found := json.loads(ran.out))
    assert [value for value in values(found) if value in (None, "", [], {})] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_fields(run: Callable[..., Ran], command: str) -> None:
    argv, definition = COMMANDS[command]
    # What can be chosen is what the schema has; doc is only of `def`.
    known = set(SCHEMA["$defs"][definition]["properties"]) - ({"doc"} if command == "search" else set())
    assert set(FIELDS[command]) == known
    whole = run(command, *argv, "--json").json()
    assert whole["results"]
    chosen = list(reversed([key for key in FIELDS[command] if key != "graph"]))
    for shape in ("json", "jsonl"):
        ran = run(command, *argv, "--fields", ",".join(chosen), "--format", shape)
        results = ran.json()["results"] if shape == "json" else list(map(json.loads, ran.out.splitlines()))[:-1]
        assert len(results) == len(whole["results"]) and ran.code == 0
        for found, full in zip(results, whole["results"], strict=True):
            assert list(found) == [key for key in chosen if key in found]
            # A name and a signature that stand elsewhere are there where they are asked for.
            more = {"qualified_name", "signature"}
            assert {key: found[key] for key in found if key not in more} == {
                key: full[key] for key in full if key not in more | {"graph"}
            }
    ran = run(command, *argv, "--fields", "file,nonesuch")
    assert ran.code == 2 and ran.json()["error"]["hint"] == f"use some of: {', '.join(FIELDS[command])}"
    assert run(command, *argv, "--fields", chosen[0], "--format", "text").code == 2


def test_fields_of_a_graph_have_ids_and_a_signature_is_what_was_asked_for(run: Callable[..., Ran]) -> None:
    argv = ("search", "clean", "-m", "multiview", "-k", "function")
    [found, *_] = run(*argv, "--fields", "qualified_name,graph,signature").json()["results"]
    assert found["graph"]["callers"][0]["id"] and found["signature"] == "def clean(text)"
    assert list(found) == ["qualified_name", "graph", "signature"]
    plain = run(*argv, "--json").json()["results"][0]
    assert isinstance(plain["graph"]["callers"][0], str) and "signature" not in plain


@pytest.mark.parametrize(
    "argv",
    [
        *(["search", "clean the store", "-m", mode] for mode in ("dense", "bm25", "symbolic", "multiview")),
        ["search", "--kind", "function"], ["def", "c*"], ["refs", "clean"], ["callers", "shop/store.py::clean"],
        ["callees", "main"], ["conflicts"],
    ],
)  # fmt: skip
def test_an_offset_is_the_tail_of_the_whole_list(run: Callable[..., Ran], argv: list[str]) -> None:
    argv = ["search", "c*", *argv[2:]] if "symbolic" in argv else argv
    most = run(*argv, "--json", "-n", "4").json()
    whole = run(*argv, "--json", "-n", "1000").json()["results"]
    for offset in (0, 1, 3):
        part = run(*argv, "--json", "-n", "2", "--offset", str(offset)).json()
        assert part["results"] == whole[offset : offset + 2]
        assert part["total"] == most["total"] and part["has_more"] == (part["total"] > offset + 2)
    none = run(*argv, "--json", "--offset", "100000")
    assert none.json()["results"] == [] and not none.json()["has_more"]
    assert run(*argv, "--offset", "-1").code == 2


def test_neighbours_are_of_the_first_page(run: Callable[..., Ran]) -> None:
    ran = run("search", "clean", "-m", "multiview", "--expand", "1", "--offset", "2", "--json")
    assert ran.code == 2 and "--offset" in ran.json()["error"]["message"]


@pytest.mark.parametrize("shape", ["text", "json", "jsonl", "markdown"])
@pytest.mark.parametrize("command", [*COMMANDS, "tree"])
def test_a_budget(run: Callable[..., Ran], command: str, shape: str) -> None:
    if (command, shape) == ("tree", "jsonl"):
        return
    argv = TREE if command == "tree" else [command, *COMMANDS[command][0]]
    whole = run(*argv, "--format", shape)
    assert run(*argv, "--format", shape, "--max-tokens", "100000").out == whole.out
    size = -(-len(whole.out.encode()) // 4)
    assert run(*argv, "--format", shape, "--max-tokens", str(size)).out == whole.out
    budget = size - 1
    ran = run(*argv, "--format", shape, "--max-tokens", str(budget))
    if command != "show" or ran.out:
        assert ran.code == whole.code
    if command in ("path", "conflicts") and ran.out == whole.out:
        return  # the first result stays, and of these it is in one piece
    held = len(ran.out.encode())
    # Where one result is all there is, what says so may be longer than what was left out.
    assert held <= 4 * budget or not re.search(r'"results":\[\{|^### |^- ', ran.out, re.MULTILINE) or command == "tree"
    said = {"text": "tokens|left out|more lines", "markdown": "_cut to|more lines"}.get(shape, '"truncated"')
    assert re.search(said, ran.out), ran.out
    if shape == "json":
        VALIDATOR.validate(ran.json())


def test_a_cut_grep_keeps_the_lines_around_its_last_match(run: Callable[..., Ran]) -> None:
    argv = ["grep", "clean", "shop", "-C1"]
    whole = run(*argv).out
    for budget in range(40, len(whole) // 4):
        out = run(*argv, "--max-tokens", str(budget)).out
        *lines, said = out.splitlines()
        assert len(out.encode()) <= 4 * budget and "results dropped" in said or "result dropped" in said
        kept = "\n".join(lines)
        assert whole.startswith(kept) and (not kept or lines[-1] != "--")
        break


@pytest.mark.parametrize("name", ["search", "outline", "callers", "grep", "affected"])
def test_markdown(run: Callable[..., Ran], name: str) -> None:
    import os

    out = run(name, *COMMANDS[name][0], "--format", "markdown").out
    path = GOLDEN / f"{name}.md"
    if os.environ.get("LCI_UPDATE_GOLDEN") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(out)
    assert out == path.read_text()


def test_markdown_cannot_be_broken_out_of(lci: Callable[..., Ran], tmp_path: Path) -> None:
    evil = 'def f():\n    """\n```\n<img src=x>\n````\n"""\n    return 1\n'
    root = build(tmp_path / "repo", {"a`](x)<b> [c].py": evil})
    out = lci("show", "a`](x)<b> [c].py", "--format", "markdown", cwd=root).out
    fence = re.findall(r"^(`{3,})python$", out, re.MULTILINE)
    assert fence == ["`````"] and out.rstrip().endswith("`````")
    assert "](<a`](x)%3Cb%3E%20[c].py#L1>)" in out and "<b>" not in out.splitlines()[0].replace(
        "`` a`](x)<b> [c].py:1 ``", ""
    )


@pytest.mark.parametrize(
    "argv",
    [
        ["--format", "jsonl"],
        ["--format=jsonl"],
        ["--format=json"],
        ["-fjson"],
        ["--fields", "x"],
        ["--fields=x"],
        ["--jsonl"],
    ],
)
def test_errors_are_json_where_the_answer_would_be(argv: list[str]) -> None:
    assert wants_json(["refs", "x", *argv])
    assert not wants_json(["refs", "x", "--", *argv])
    assert not wants_json(["refs", "x", "--format", "markdown"]) and not wants_json(["refs", "--format=text"])


def test_two_outputs(run: Callable[..., Ran]) -> None:
    for argv in (["--json", "--format", "text"], ["--format", "markdown", "--paths"], ["--json", "--jsonl"]):
        assert run("refs", "clean", *argv).code == 2, argv
    assert run("refs", "clean", "--json", "--format", "json").out == run("refs", "clean", "--format", "json").out
    assert run(*TREE, "--format", "jsonl").code == 2
    for argv in (["--format", "markdown"], ["--paths"], ["--jsonl"]):
        assert run("search", "--batch", "-", *argv, stdin="clean\n").code == 2, argv
    line = run("search", "--batch", "-", "--fields", "file", stdin="clean\n").json()
    assert all(list(found) == ["file"] for found in line["results"])


@pytest.mark.parametrize("command", COMMANDS)
def test_vimgrep_lines_are_places_that_editors_jump_to(run: Callable[..., Ran], root: Path, command: str) -> None:
    ran = run(command, *COMMANDS[command][0], "--vimgrep")
    assert ran.code == 0 and ran.out
    for line in ran.out.splitlines():
        found = re.fullmatch(r"([^:]+):([1-9]\d*):([1-9]\d*):(?: (\S.*))?", line)
        assert found, line
        lines = (root / found[1]).read_text().splitlines()
        assert int(found[2]) <= len(lines)
    if command in ("def", "show", "refs", "grep"):
        assert "clean" in lines[int(found[2]) - 1]


def test_vimgrep_excludes_another_form(run: Callable[..., Ran]) -> None:
    assert run("def", "clean", "--vimgrep", "--json").code == 2
    assert run("grep", "-v", "clean", "shop/store.py", "--vimgrep").out.startswith("shop/store.py:1:1: import json")
