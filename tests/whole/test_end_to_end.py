"""The program as its users run it: whole processes on a real index, output checked against the published schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.conftest import PROJECT, Ran

Lci = Callable[..., Ran]
SCHEMA = Draft202012Validator(json.loads((PROJECT / "docs" / "json-output.schema.json").read_text()))
MODES = ["dense", "bm25", "symbolic", "multiview"]
QUERIES = {"dense": "add an item", "bm25": "add an item", "symbolic": "*e*", "multiview": "add an item"}


def search(lci: Lci, repo: Path, mode: str, *flags: str) -> Ran:
    return lci("search", QUERIES[mode], "--mode", mode, "--root", str(repo), *flags)


@pytest.mark.parametrize("mode", MODES)
def test_the_answer_is_what_the_schema_says_and_the_same_twice(lci: Lci, repo: Path, mode: str) -> None:
    flags = ("--json", "--conflicts", "--explain", "--snippet", "3", "-n", "20")
    first, second = search(lci, repo, mode, *flags), search(lci, repo, mode, *flags)
    assert first.code == 0 and not first.err
    SCHEMA.validate(first.json())
    assert first.out == second.out
    answer = first.json()
    assert answer["mode"] == mode and len(answer["results"]) == 20
    assert all(result["mode_source"] == mode or mode == "multiview" for result in answer["results"])


@pytest.mark.parametrize("mode", MODES)
def test_snippets_are_the_lines_of_the_file(lci: Lci, repo: Path, mode: str) -> None:
    for result in search(lci, repo, mode, "--json", "--snippet", "5", "-n", "30").json()["results"]:
        lines = (repo / result["file"]).read_bytes().decode("utf-8", "replace").split("\n")
        first, shown = result.get("snippet_line", result["line"]), result["snippet"].split("\n")
        assert shown == [line.removesuffix("\r") for line in lines[first - 1 : first - 1 + len(shown)]]
        assert len(shown) <= 5 and first - 1 + len(shown) <= max(result["end_line"], first)
        assert first <= result.get("match_line", first) < first + len(shown)
        if result.get("symbol") and result["kind"] not in ("block", "section"):
            name = result["symbol"].strip("`'\"").split(".")[-1].split(" ")[0]
            name = name.lstrip(":@#~").split(":")[0]  # of a selector, what its first line has
            assert name in lines[result["line"] - 1], result["id"]


@pytest.mark.parametrize("mode", MODES)
def test_fewer_results_are_the_head_of_more(lci: Lci, repo: Path, mode: str) -> None:
    long = search(lci, repo, mode, "--json", "-n", "50").json()["results"]
    assert search(lci, repo, mode, "--json", "-n", "5").json()["results"] == long[:5]


def test_leaving_the_mode_out_is_dense(lci: Lci, repo: Path) -> None:
    assert lci("search", "add an item", "--root", str(repo), "--json").out == search(lci, repo, "dense", "--json").out


def test_an_unknown_mode_names_the_four_and_never_falls_back(lci: Lci, repo: Path) -> None:
    ran = lci("search", "x", "--mode", "nonsense", "--json", "--root", str(repo))
    assert ran.code == 2
    SCHEMA.validate(ran.json())
    assert ran.json()["error"]["valid_modes"] == MODES
    plain = lci("search", "x", "--mode", "nonsense", "--root", str(repo))
    assert (plain.code, plain.out) == (2, "") and all(mode in plain.err for mode in MODES)


def test_exit_codes(lci: Lci, repo: Path, tmp_path: Path) -> None:
    none = lci("search", "kind:macro name:no_such_*", "--mode", "symbolic", "--json", "--root", str(repo))
    assert none.code == 1 and none.json()["results"] == []
    SCHEMA.validate(none.json())
    missing = lci("search", "x", "--refresh", "never", "--json", "--root", str(tmp_path))
    assert (missing.code, missing.json()["error"]["code"]) == (3, "no_index")
    assert str(tmp_path) in missing.json()["error"]["hint"]
    assert lci("search", "x", "--kind", "klass", "--root", str(repo)).code == 2
    assert lci("search", "x", "--lang", "pyhton", "--json", "--root", str(repo)).json()["error"]["hint"]
    assert lci("search", "x", "--path", "[z-a]", "--root", str(repo)).code == 2
    assert lci("index", str(tmp_path / "nowhere"), "--json").json()["error"]["code"] == "bad_path"


def test_a_quoted_phrase_finds_the_literal_place_only(lci: Lci, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "def one():\n    x = 1\n    y = 2\n    z = 3\n    raise OSError('connection refused by peer')\n\n\n"
        "def two():\n    # the peer refused the connection\n    return None\n"
    )
    assert lci("index", str(tmp_path), "-q").code == 0
    for mode in ("bm25", "multiview"):
        ran = lci("search", '"connection refused"', "--mode", mode, "--json", "--root", str(tmp_path), "--snippet", "1")
        (only,) = ran.json()["results"]
        assert (only["symbol"], only["snippet_line"]) == ("one", 5)
        assert "connection refused" in only["snippet"]
    both = lci("search", "connection refused", "--mode", "bm25", "--json", "--root", str(tmp_path)).json()
    assert [result["symbol"] for result in both["results"]] != ["one"]


def test_conflicting_definitions_are_marked_only_when_asked(lci: Lci, repo: Path) -> None:
    marked = lci("search", "*", "--mode", "symbolic", "-n", "2000", "--conflicts", "--json", "--root", str(repo))
    plain = lci("search", "*", "--mode", "symbolic", "-n", "2000", "--json", "--root", str(repo))
    conflicts = [result for result in marked.json()["results"] if result.get("conflict")]
    assert conflicts and all(len(result["definitions"]) > 1 for result in conflicts)
    assert "conflict" not in plain.out.replace("conflicts", "")
    for result in conflicts:
        assert {"file": result["file"], "line": result["line"]} in [
            {"file": site["file"], "line": site["line"]} for site in result["definitions"]
        ]


def test_batch_equals_single_queries(lci: Lci, repo: Path) -> None:
    lines = "\n".join(json.dumps({"query": QUERIES[mode], "mode": mode}) for mode in MODES)
    ran = lci("search", "--batch", "-", "--json", "--root", str(repo), stdin=lines + "\n")
    assert ran.code == 0
    for mode, line in zip(MODES, ran.out.splitlines(), strict=True):
        assert line + "\n" == search(lci, repo, mode, "--json").out


def test_status_index_and_def_fit_the_schema(lci: Lci, repo: Path) -> None:
    for args in (("status",), ("def", "Shape"), ("index", "--dry-run")):
        ran = lci(*args, "--json", "--root", str(repo))
        assert ran.code == 0, ran.out
        SCHEMA.validate(ran.json())
    again = lci("index", str(repo), "--json")
    SCHEMA.validate(again.json())
    assert again.json()["changed"] is False


def test_a_definition_keeps_its_id_when_it_moves(lci: Lci, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    source = "class A:\n    def f(self): pass\n\n\ndef g():\n    return A()\n\n\ndef g():\n    return 2\n"

    def ids() -> list[str]:
        assert lci("index", str(tmp_path), "-q").code == 0
        answer = lci("search", "*", "--mode", "symbolic", "--json", "--root", str(tmp_path)).json()
        return [result["id"] for result in answer["results"]]

    path.write_text(source)
    before = ids()
    assert len(set(before)) == 4  # two functions of one name are two definitions
    path.write_text("# a new first line\n\n\n" + source.replace("return A()", "return A() or None"))
    assert ids() == before


def test_a_file_that_becomes_the_manifest_of_a_crate_names_it(lci: Lci, tmp_path: Path) -> None:
    (tmp_path / "k/src").mkdir(parents=True)
    (tmp_path / "k/src/lib.rs").write_text("pub fn start() {}\n")
    (tmp_path / "main.rs").write_text("fn main() { kit::start(); }\n")
    manifest = tmp_path / "k/Cargo.toml"
    manifest.with_name("notes.toml").write_text('[package]\nname = "kit"\n')
    assert lci("index", str(tmp_path), "-q").code == 0
    assert lci("callers", "start", "--json", "--root", str(tmp_path)).code == 1
    manifest.with_name("notes.toml").rename(manifest)  # the record of this content is in the cache
    assert lci("index", str(tmp_path), "-q").code == 0
    assert "main.rs" in lci("callers", "start", "--json", "--root", str(tmp_path)).out


def test_in_a_subfolder_paths_are_relative_to_it(lci: Lci, tmp_path: Path) -> None:
    for name in ("src/a.py", "lib/b.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("def target():\n    return 1\n")
    assert lci("index", str(tmp_path), "-q").code == 0
    flags = ("search", "target", "--mode", "symbolic")
    inside = lci(*flags, "--paths", cwd=tmp_path / "src")
    assert sorted(inside.out.splitlines()) == ["../lib/b.py:1", "a.py:1"]
    assert "../lib/b.py\n" in lci(*flags, cwd=tmp_path / "src").out
    rooted = lci(*flags, "--paths", "--root", str(tmp_path), cwd=tmp_path / "src")
    assert sorted(rooted.out.splitlines()) == ["lib/b.py:1", "src/a.py:1"]
    files = [r["file"] for r in lci(*flags, "--json", cwd=tmp_path / "src").json()["results"]]
    assert sorted(files) == ["lib/b.py", "src/a.py"]
