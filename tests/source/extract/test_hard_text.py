"""Text for which a naive regular expression takes quadratic time, and so minutes instead of milliseconds."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from lci_py.source.conditions import File, Tags
from lci_py.source.extract.describe import clean_doc
from lci_py.source.extract.extract import extract
from lci_py.source.repository.ignore_rules import parse_ignore_file

HARD: dict[str, Callable[[], object]] = {
    "blank lines before a cfg": lambda: Tags("rust", "", File("a.rs", b"#![cfg(x)]\n" + b"\n" * 100_000, [])),
    "cfg without an end": lambda: Tags("rust", "", File("a.rs", b"#![cfg(\n" + b"#![cfg(\n" * 8_000 + b"]", [])),
    "comments that never close": lambda: Tags(
        "preprocessor", "c", File("a.c", b"#if " + b"/* " * 6000 + b"\nint x;" * 60_000, [])
    ),
    "stars in a comment": lambda: clean_doc("\n".join(["x" + "*" * 19_999] * 300), is_string=False),
    "attributes of one item": lambda: extract("a.rs", b"#[cfg(a)]\n" * 6_000 + b"fn f() {}\n", "rust"),
    "attributes of no item": lambda: extract("a.rs", b"#[cfg(a)]\n" * 6_000, "rust"),
    "blanks in an ignore file": lambda: parse_ignore_file(b" " * 1_000_000 + b"\\ \n"),
    "blanks in a heading": lambda: extract("a.md", (b"# a" + b" " * 19_000 + b"b\n") * 40, "markdown"),
}


@pytest.mark.parametrize("work", HARD.values(), ids=list(HARD))
def test_hard_text_takes_no_time(work: Callable[[], object]) -> None:
    began = time.process_time()
    work()
    assert time.process_time() - began < 10
