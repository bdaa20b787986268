"""Keys that a file gives twice."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lci_py.search.conflicts.keys import reads, twice
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
        ("a.json", '{"a": 1, // or\n "a": 2}', []),
        ("package-lock.json", '{"a": 1, "a": 2}', None),
        ("tests/a.json", '{"a": 1, "a": 2}', None),
        ("a.yml", YAML, []),
        ("a.yml", YAML.replace("  build", "  test"), [("jobs.test", 11, 13)]),
        ("a.yml", "a:\n  - b: 1\n    c: 2\n    b: 3\n", [("a.b", 2, 4)]),
        ("a.yml", "a: {{ x }}\na: 2\n", []),
        ("a.properties", "a.b=1\n# a.b=2\na.c=x \\\n  a.b=3\n", []),
        ("a.properties", "a.b=1\na.c=2\na.b : 3\n", [("a.b", 1, 3)]),
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


def test_it_is_a_disagreement(lci: Callable[..., Any], tmp_path: Path) -> None:
    def listed(*flags: str) -> list[list[str]]:
        done = lci("conflicts", "--json", "--refresh", "always", "--root", str(tmp_path), *flags)
        VALIDATOR.validate(done.json())
        return [one["sources"] for one in done.json().get("conflicts", ())]

    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(tmp_path)]
    (tmp_path / "a.json").write_text('{"a": 1,\n"a": 2}\n')
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    assert listed() == [["a.json:1", "a.json:2"]]
    assert listed("--path", "b/") == listed("--diff", "HEAD") == []
    (tmp_path / "a.json").write_text('{"a": 1,\n"a": 2,\n"b": 1, "b": 2}\n')
    assert listed("--diff", "HEAD") == [["a.json:3"]]
