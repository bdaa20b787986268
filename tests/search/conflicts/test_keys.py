"""Keys that are given twice, in files of data and in code."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lci_py.search.conflicts.keys import reads, twice
from lci_py.source.extract.extract import extract
from lci_py.source.syntax.languages import detect
from tests.cli.fake import VALIDATOR

MAKE = "all: a\n\tcc a\n\nclean:\n\trm a\n\nifdef X\nall:\n\tcc x\nendif\n"
YAML = """\
.base:
  image: a
on:
  - name: x
    run: |
      name: y
      name: z
  - name: x
  - {name: x, name: y}
jobs:
  test: &t
    name: x
  build:
    <<: *t
    name: x
---
jobs: 1
"""
PROTO = """\
message A {
  int32 a = 1;  // int32 b = 1;
  oneof kind { string c = 2; string d = 3; }
  message B { int32 e = 1; }
  enum E { X = 0; Y = 0; }
}
"""


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("a.json", '{"a": 1, "b": {"a": [{"a": 1}, {"a": 2}]}, "c": "a"}', []),
        ("a.json", '{"x": {\n"a": {"k": {}},\n"b": 2,\n"a": 3}}', [("x.a", 2, 4)]),
        ("a.json", "plain\n", []),
        ("a.json", '{"a": 1,\n"$comment": 1,\n"$comment": 2,\n"a": 2,\n"a": 3}', [("a", 1, 4)]),
        ("a.json", '{"a": 1,\n"a": 1,\n"b": {\n},\n"b": {\n}}', [("b", 3, 5)]),
        ("a.json", '{"a": 1, // or\n "a": 2}', []),
        ("package-lock.json", '{"a": 1, "a": 2}', None),
        ("tests/a.json", '{"a": 1, "a": 2}', None),
        ("a.yml", YAML, []),
        ("a.yml", YAML.replace("  build", "  test"), [("jobs.test", 11, 13)]),
        ("a.yml", "a:\n  - b: 1\n    c: 2\n    b: 3\n", [("a.b", 2, 4)]),
        ("a.yml", "a: {{ x }}\na: 2\n", []),
        ("a.properties", "a.b=1\n# a.b=2\na.c=x \\\n  a.b=3\n", []),
        ("a.properties", "a.b=1\na.c=2\na.b : 3\n", [("a.b", 1, 3)]),
        (".env.example", "A=1\nB=2\nA=3\n", [("A", 1, 3)]),
        ("a.toml", '[a]\nx = 1\ny = [\n"x = 1",\n]\nx = 2\n[b]\nx = 1\n', [("x", 2, 6)]),
        ("a.ini", "[a]\nx = 1\n  x = 2\n[b]\nx = 1\n", []),
        ("a.sql", "CREATE TABLE a (x int);\n-- create table a\ncreate table if not exists A (y int);\n", []),
        ("a.sql", 'CREATE TABLE s.a (x int);\ncreate table "s"."a" (y int);\n', [("s.a", 1, 2)]),
        ("a.sql", "CREATE TABLE a (x int);\nDROP TABLE a;\nCREATE TABLE a (y int);\n", []),
        ("Makefile", MAKE, []),
        ("Makefile", MAKE + "clean:\n\trm b\nall: c\n", [("clean", 4, 11)]),
        ("a.proto", PROTO, []),
        ("a.proto", PROTO.replace("d = 3", "d = 1"), [("d = 1", 2, 3)]),
    ],
)
def test_what_is_given_twice(path: str, text: str, found: list[tuple[str, int, int]] | None) -> None:
    assert reads(path) == (found is not None)
    if found is not None:
        assert [one[:3] for one in twice(path, text)] == found


def test_a_workflow_is_read_though_its_folder_is_hidden(lci: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("A = 1\n")
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    (tmp_path / ".github" / "workflows" / "ci.yml").write_text(
        "jobs:\n  test:\n    name: a\n    runs: ${{ x }}\n    name: b\n"
    )
    [found] = lci("conflicts", "--json", "--refresh", "always", "--root", str(tmp_path)).json()["results"]
    assert [(one["file"], one["line"]) for one in found["definitions"]] == [
        (".github/workflows/ci.yml", 3), (".github/workflows/ci.yml", 5),
    ]  # fmt: skip


def test_they_are_duplicates(lci: Callable[..., Any], tmp_path: Path) -> None:
    def listed(*flags: str) -> list[tuple[str, list[str]]]:
        done = lci("conflicts", "--json", "--refresh", "always", "--root", str(tmp_path), *flags)
        VALIDATOR.validate(done.json())
        assert all((one["relation"], one["kind"]) == ("duplicate", "key") for one in done.json()["results"])
        return [
            (
                one.get("qualified_name", one["symbol"]),
                [f"{site['file']}:{site['line']}" for site in one["definitions"]],
            )
            for one in done.json()["results"]
        ]

    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(tmp_path)]
    (tmp_path / "a.json").write_text('{"a": 1,\n"a": 2}\n')
    (tmp_path / "a.py").write_text("SIZES = {\n    'k': 1,\n    'k': 2,\n}\n")
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    data, code = ("a", ["a.json:1", "a.json:2"]), ("SIZES.k", ["a.py:2", "a.py:3"])
    assert listed() == [data, code]
    assert listed("k") == listed("--lang", "python") == [code]
    assert listed("--path", "b/") == listed("--diff", "HEAD") == listed("--kind", "function") == []
    (tmp_path / "a.json").write_text('{"a": 1,\n"a": 2,\n"b": 1, "b": 2}\n')
    (tmp_path / "a.py").write_text("\nSIZES = {\n    'k': 1,\n    'k': 2,\n    'm': 3, 'm': 4,\n}\n")
    assert listed("--diff", "HEAD") == [("b", ["a.json:3", "a.json:3"]), ("SIZES.m", ["a.py:5", "a.py:5"])]
    assert lci("conflicts", "-q", "--root", str(tmp_path), "--fail-on", "duplicate").code == 1


CODE = {
    "a.py": ("D = {'a': 1, \"a\": 2, b: 1, b.c: 2}\nclass A:\n    x = 1\n    y = x\n    z = 1\n    x = 2\n    z = 3\n", "a z"),
    "b.py": ("match v:\n    case 'a' if b: pass\n    case 'a': pass\n    case 1: pass\n    case 1: pass\n", "1"),
    "c.py": ("def f(a, b):\n    a.add_argument('-x', help='-y')\n    a.add_argument('-y', '-x')\n    b.add_argument('-y')\n"
             "    b = b.sub()\n    b.add_argument('-y')\n    a.add_argument('z')\n    a.add_argument('z')\n", "-x"),
    "a.js": ("o = {a: 1, 'a': 2, get b() {}, set b(v) {}, 3: 1, [d]: 1, [d]: 2}\nswitch (x) { case A.B: case 1: case A.B: }\n", "a A.B"),
    "b.js": ("o = {a: 1, b: 2, ...c, a: 3, b: 2};\n", ""),
    "a.ts": ("enum E { A = 1, B, A }\nconst o = { a: { a: 1 }, b: { a: 2 } };\n", "A"),
    "a.go": ('package p\nvar m = map[string]int{"a": 1, "a": 2}\nfunc f() { switch { case a: case a: } }\n', "a"),
    "a.c": ("struct s x = { .a = 1, .b.c = 1, .b.d = 2,\n#ifdef X\n .d = 1,\n#else\n .d = 2,\n#endif\n .a = 2 };\n", ""),
    "b.c": ("struct s x = { .a = 1, .b.c = 1, .b.d = 2, .a = 2 };\nvoid f(int x) { switch (x) { case 1: case 2: case 1: ; } }\n", "a 1"),
    "A.java": ("enum E { A, B, A }\n", "A"),
    "a.kt": ('val m = mapOf("a" to 1, "a" to 2)\nval l = listOf("a" to 1, "a" to 2)\n', "a"),
    "a.cs": ('class A { void f(int x) { switch (x) { case 1 when y: break; case 1: break; case 2: break; case 2: break; } }\n'
             'string[,] a = { {"a", "b"}, {"a", "c"} }; object d = new Dictionary<string, int> { {"a", 1}, {"a", 2} }; }\n', "2 a"),
    "a.swift": ('let d = ["a": 1, "a": 2]\nfunc f() { switch x { case .a where y: h(); case .a: h(); case 1: h(); case 1: h() } }\n', "a 1"),
    "a.rs": ("fn f() { match x { 1 if y => 2, 1 => 2, A::B => 1, A::B => 3, #[cfg(a)] A::C => 1, A::C => 2, _ => 3 } }\n", "A::B"),
    "b.rs": ("enum E { #[cfg(a)] A = 1, #[cfg(not(a))] A = 2, B, B }\n", "B"),
    "a.rb": ('H = { "a" => 1, a: 2, b: 4, :b => 5 }\n', "b"),
    "a.php": ("<?php\n$a = ['a' => 1, \"a\" => 2, 'b', 'b'];\n", "a"),
    "a.lua": ('t = { a = 1, ["a"] = 2, { a = 1 } }\n', "a"),
    "a.ex": ('m = %{a: 1, b: 3, b: 3, a: 2}\nl = [a: 1, a: 2]\n', "a"),
    "a.sh": ("case $x in\n  a) f;;\n  b|a) g;;\nesac\ncase $x in\n  c) f;;&\n  c) g;;\n  *\"d\"*) f;;\n  *\"e\"*) f;;\nesac\n", "a"),
    "a.scala": ('val m = Map("a" -> 1, "a" -> 2)\n', "a"),
    "a.zig": ("const s = S{ .a = 1, .a = 2 };\n", "a"),
    "a.m": ('void f() { d = @{ @"a": @1, @"a": @2 }; }\n', "a"),
    "tests/a.py": ("D = {'a': 1, 'a': 2}\n", ""),
}  # fmt: skip


@pytest.mark.parametrize("path", CODE)
def test_keys_in_code(path: str) -> None:
    text, expected = CODE[path]
    claims = extract(path, text.encode(), detect(path)).claims
    assert [claim.name for claim in claims if claim.how == "twice"] == expected.split()
