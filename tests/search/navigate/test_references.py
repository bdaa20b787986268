"""References by syntax: every identifier of the name, and nothing that only spells it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lci_py import app
from lci_py.errors import DamagedIndexError
from lci_py.render.text.style import Page
from lci_py.search.engine import Engine
from lci_py.search.navigate import references
from lci_py.source.extract.occurrences import finder, occurrences
from lci_py.types.graph import GraphRequest
from lci_py.types.search import Filters
from tests.support.graph_repo import build


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with app.open_engine(str(build(tmp_path_factory.mktemp("refs")))) as opened:
        yield opened


def test_references_with_role_and_what_is_around(session: Engine) -> None:
    answer = session.answer("refs", GraphRequest("clean"))
    assert [
        (f"{r.file}:{r.line}:{r.column}", r.role, r.enclosing.qualified_name if r.enclosing else None)
        for r in answer.references
    ] == [
        ("other/tools.py:1:5", "definition", None),
        ("other/tools.py:6:12", "call", "use"),
        ("shop/app.py:1:31", "import", None),
        ("shop/app.py:6:5", "call", "main"),
        ("shop/app.py:19:34", "call", "pong"),
        ("shop/store.py:21:16", "call", "Store.check"),
        ("shop/store.py:25:16", "call", "Store.size"),
        ("shop/store.py:29:9", "call", "Store.size"),
        ("shop/store.py:32:5", "definition", None),
    ]
    assert answer.references[1].text == "    return clean('')"
    assert dict(answer.left_out) == {"unsupported_files": 2}
    assert answer.total == 9


def test_a_qualified_name_leaves_out_what_is_known_to_be_another(session: Engine) -> None:
    answer = session.answer("refs", GraphRequest("other/tools.py::clean"))
    assert [f"{r.file}:{r.line}" for r in answer.references] == [
        "other/tools.py:1",
        "other/tools.py:6",
        "shop/app.py:1",
    ]
    assert dict(answer.left_out)["elsewhere"] == 6


def test_roles_filters_and_limit(session: Engine) -> None:
    def found(**options: object) -> list[str]:
        answer = session.answer("refs", GraphRequest("clean", **options))  # type: ignore[arg-type]
        return [f"{r.file}:{r.line}" for r in answer.references]

    assert found(roles=("import",)) == ["shop/app.py:1"]
    assert found(filters=Filters(path=("other/",))) == ["other/tools.py:1", "other/tools.py:6"]
    assert found(filters=Filters(lang=("c",))) == []
    assert found(limit=2) == ["other/tools.py:1", "other/tools.py:6"]
    assert session.answer("refs", GraphRequest("clean", limit=2)).total == 9


def test_a_name_that_the_repository_does_not_define_has_references(session: Engine) -> None:
    answer = session.answer("refs", GraphRequest("dumps"))
    assert [(r.file, r.line, r.role) for r in answer.references] == [("shop/store.py", 14, "call")]
    assert not answer.did_you_mean
    assert session.answer("refs", GraphRequest("json.dumps")).references == answer.references
    other = session.answer("refs", GraphRequest("yaml.dumps"))
    assert not other.references and dict(other.left_out) == {"elsewhere": 1}


def test_the_files_are_read_as_they_are_now(tmp_path: Path) -> None:
    root = build(tmp_path, {"a.py": "def clean():\n    pass\n", "b.py": "x = 1\n"})
    (root / "b.py").write_text("\nclean()\n")
    (root / "c.py").write_text("clean()\n")
    with app.open_engine(str(root), refresh="never") as session:
        found = session.answer("refs", GraphRequest("clean")).references
    assert [(r.file, r.line, r.stale) for r in found] == [("a.py", 1, False), ("b.py", 2, True), ("c.py", 1, True)]


def test_a_call_that_may_mean_both_refers_to_both(tmp_path: Path) -> None:
    source = (
        "class A:\n    def go(self):\n        return 1\n\n\nclass B:\n    def go(self):\n        return 2\n\n\n"
        "def run(c):\n    x = A() if c else B()\n    x.go()\n    A().go()\n    B().go()\n"
    )
    with app.open_engine(str(build(tmp_path, {"m.py": source}))) as session:
        found = {name: [r.line for r in session.answer("refs", GraphRequest(f"{name}.go")).references] for name in "AB"}
    assert found == {"A": [2, 13, 14], "B": [7, 13, 15]}


def test_a_file_of_which_the_end_is_not_indexed_is_searched_whole(tmp_path: Path) -> None:
    (tmp_path / ".lci.toml").write_text("max_file_chunks = 2\n")
    filler = "".join(f"def filler_{i}():\n    return '{'x' * 900}'\n\n\n" for i in range(12))
    root = build(tmp_path, {"a.py": filler + "def rare_bird():\n    return 1\n"})
    with app.open_engine(str(root)) as session:
        (found,) = session.answer("refs", GraphRequest("rare_bird")).references
    assert found.line == 49


#: Language to a source, in which `run` stands as an identifier on the lines given, and as text on others.
LANGUAGES = {
    "python": ("# run\n'run'\nf'run {run}'\nrun = 1\nx.run()\n", [3, 4, 5]),
    "javascript": ("// run\n'run'\n`run ${run}`\nconst { run } = x\nx.run(/run/)\n", [3, 4, 5]),
    "typescript": ('// run\n"run"\nfunction run(): void {}\nrun()\n', [3, 4]),
    "tsx": ("const a = <p>run</p>\nconst b = <run.x>{run}</run.x>\n", [2, 2, 2]),
    "go": ('package a\n// run\nvar s = "run"\nfunc run() { run() }\n', [4, 4]),
    "rust": ('// run\nfn run() { println!("run {}", run); }\n', [2, 2]),
    "java": ('// run\nclass A { String s = "run"; void run() { run(); } }\n', [2, 2]),
    "c": ('/* run */\nchar *s = "run";\nint run(void) { return run(); }\n', [3, 3]),
    "cpp": ('// run\nauto s = R"(run)";\nint A::run() { return this->run(); }\n', [3, 3]),
    "csharp": ('// run\nclass A { string s = "run"; void run() { this.run(); } }\n', [2, 2]),
    "ruby": ('# run\ns = "run #{run}"\ndef run; end\n', [2, 3]),
    "php": ("<?php\n// run\n$s = 'run';\nfunction run() { run(); }\n", [4, 4]),
    "kotlin": ('// run\nval s = "run ${run}"\nfun run() { run() }\n', [2, 3, 3]),
    "swift": ('// run\nlet s = "run \\(run)"\nfunc run() { run() }\n', [2, 3, 3]),
    "scala": ('// run\nobject A { val s = "run"; def run() = run() }\n', [2, 2]),
    "bash": ("# run\necho run 'run'\nrun() { echo; }\nrun\n", [3, 4]),
    "lua": ("-- run\nlocal s = 'run'\nfunction run() run() end\n", [3, 3]),
    "hcl": ('# run\nresource "a_b" "run" {\n  x = "to run ${a_b.run.id}"\n  run = 1\n}\n', [2, 3, 4]),
    "make": ("# run\nrun: x\n\techo run $(run)\nall: run\nrun += 1\nifdef run\nendif\n", [2, 3, 4, 5, 6]),
    "haskell": ('-- run\ns = "run"\nrun x = run x\n', [3, 3]),
    "ocaml": ('(* run *)\nlet s = "run"\nlet run x = M.run x\n', [3, 3]),
    "ocaml_interface": ("(** run *)\nval run : run:int -> int\n", [2, 2]),
    "elixir": ('# run\ndefmodule A do\n  @s "run"\n  def run(x), do: run(x)\nend\n', [4, 4]),
    "dart": ("// run\nvar s = 'run $run';\nrun() => run();\n", [2, 3, 3]),
    "dockerfile": ("# run\nFROM a AS run\nRUN echo\nFROM run\n", [2, 4]),
    "julia": ('# run\ns = "run $run"\nrun(x) = run(x)\n', [2, 3, 3]),
    "nix": ('# run\n{ run = x: "run ${run x}"; s = run 1; }\n', [2, 2, 2]),
    "perl": ("# run\nmy $s = 'run';\nsub run { run(1) }\n", [3, 3]),
    "powershell": ("# run\n$s = 'run'\nfunction run { run 1 }\n", [3, 3]),
    "zig": ('// run\nconst s = "run";\nfn run() void { run(); }\n', [3, 3]),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_identifiers_of(language: str) -> None:
    source, lines = LANGUAGES[language]
    found = occurrences(source.encode(), language, finder("run"))
    assert [item.line for item in found] == lines


@pytest.mark.parametrize(
    ("language", "source", "name"),
    [
        ("ruby", "class A\n  def owner=(x); end\nend\n", "owner="),
        ("javascript", "class A {\n  #n = 1\n}\n", "#n"),
        ("typescript", "namespace a.b {\n}\n", "a.b"),
    ],
)
def test_names_that_are_not_plain(language: str, source: str, name: str) -> None:
    assert [item.role for item in occurrences(source.encode(), language, finder(name))] == ["definition"]


def test_columns_count_characters() -> None:
    (found,) = occurrences("x = 'ä€𝄞'; run()\n".encode(), "python", finder("run"))
    assert (found.line, found.column, found.role) == (1, 12, "call")


def test_a_name_is_whole(session: Engine) -> None:
    source = b"run; runs; rerun; run_; _run; run1; x.run; \xc3\xa9run\n"
    found = occurrences(source, "python", finder("run"))
    assert [item.column for item in found] == [1, 39]


def test_files_with_marks_are_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = build(tmp_path, {"a.py": "def turn():\n    return turn\n", "b.py": "# turn\nprint(turn())\n"})
    with app.open_engine(str(root)) as session:
        parsed: list[str] = []
        original = references.occurrences
        monkeypatch.setattr(
            references, "occurrences", lambda data, *rest, **more: parsed.append("") or original(data, *rest, **more)
        )
        answer = session.answer("refs", GraphRequest("turn"))
        assert [(r.file, r.line, r.role) for r in answer.references] == [
            ("a.py", 1, "definition"),
            ("a.py", 2, "reference"),
            ("b.py", 2, "call"),
        ]
        assert not parsed
    # A file that has changed is read as it is now.
    (root / "b.py").write_text("print(1)\nprint('turn', turn())\n")
    with app.open_engine(str(root), refresh="never") as session:
        answer = session.answer("refs", GraphRequest("turn"))
        assert [(r.file, r.line, r.stale) for r in answer.references][2:] == [("b.py", 2, True)]
        assert len(parsed) == 1


def test_damaged_marks_are_an_error_of_the_index(tmp_path: Path) -> None:
    import sqlite3

    root = build(tmp_path, {"a.py": "def turn():\n    return turn\n"})
    (shard,) = (root / ".lci").glob("symbols-*.sqlite")
    with app.open_engine(str(root), refresh="never") as session:
        session.snapshot.symbols.segments[0].db.close()
        damaged = sqlite3.connect(":memory:", check_same_thread=False)
        sqlite3.connect(shard).backup(damaged)
        damaged.execute("UPDATE marks SET marks = x'00'")
        damaged.execute("CREATE TEMP TABLE dead (id INTEGER PRIMARY KEY)")
        damaged.row_factory = sqlite3.Row
        session.snapshot.symbols.segments[0].db = damaged
        with pytest.raises(DamagedIndexError):
            session.answer("refs", GraphRequest("turn"))


def test_marks_and_a_parse_give_the_same_references(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "typedef struct {\n  int turn;  /* turn */\n} Box;\n\nint get(Box *b) {\n  return b->turn;\n}\n"
    root = build(tmp_path, {"a.c": source})
    with app.open_engine(str(root)) as session:
        by_marks = session.answer("refs", GraphRequest("turn")).references
        monkeypatch.setattr(references, "marked_occurrences", lambda *_: None)
        assert session.answer("refs", GraphRequest("turn")).references == by_marks
    assert [(r.line, r.enclosing.symbol if r.enclosing else None) for r in by_marks] == [(2, "Box"), (6, "get")]


def test_control_characters_of_a_line_do_not_reach_the_terminal(tmp_path: Path) -> None:
    import io

    from lci_py.render.text.graph import render

    root = build(tmp_path, {"a.py": "turn = 1  # \x1b[31m\u202e\n"})
    with app.open_engine(str(root)) as session:
        shown = io.StringIO()
        render(session.answer("refs", GraphRequest("turn")), Page(shown))
    assert "\\x1b[31m\\u202e" in shown.getvalue() and "\x1b" not in shown.getvalue()
