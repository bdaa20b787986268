"""Go's build conditions, as go/build decides them; tests/quality/conflicts_go.py compares them with it."""

from __future__ import annotations

import pytest

from lci_py.source.conditions import File, Tags
from lci_py.source.extract.extract import extract

GO = [
    ("linux.go", "package p", None),
    ("a_linux.go", "package p", "linux"),
    ("dir_linux/a.go", "package p", None),
    ("a_linux_amd64.go", "package p", "linux && amd64"),
    ("a_linux_amd64_test.go", "package p", "linux && amd64"),
    ("a_arm64.go", "package p", "arm64"),
    ("a_amd64_linux.go", "package p", "linux"),
    ("a_unix.go", "package p", None),  # unix is a tag, but no GOOS
    ("a_linux_extra.go", "package p", None),
    ("a_zos_s390x.go", "package p", "zos && s390x"),  # ports that are gone, or never were in a release, count as well
    ("a_nacl_amd64p32.go", "package p", "nacl && amd64p32"),
    ("a_wasip1.go", "package p", "wasip1"),
    ("a_linux.pb.go", "package p", "linux"),  # the name ends at its first dot
    ("_a.go", "package p", "0"),
    (".a_linux.go", "package p", "0"),
    # //go:build: in one form, on any line of its own before the package clause
    ("a.go", "//go:build linux&&!cgo\n\npackage p", "linux && !cgo"),
    ("a.go", "//go:build !( a||b )\npackage p", "!(a || b)"),
    ("a.go", "//go:build (a) && ((b) || c&&d)\npackage p", "a && (b || (c && d))"),
    ("a.go", "//go:build go1.18 && !go1.20 && é\npackage p", "go1.18 && !go1.20 && é"),
    ("a.go", "// License\n\n/* more */\n//go:build fips\n\npackage p", "fips"),
    ("a.go", "\ufeff//go:build fips\n\npackage p", "fips"),
    ("a.go", "//go:build one\n//go:build two\npackage p", "one"),
    ("a.go", "package p\n\n//go:build late\n", None),
    ("a.go", "/*\n//go:build no\npackage q\n*/\npackage p\n//go:build late\n", None),
    ("a.go", "/* why */ //go:build no\npackage p", None),
    ("a.go", "//go:buildno\npackage p", None),
    ("a.go", "// //go:build no\npackage p", None),
    # // +build: only above a blank line, and above every comment that is no `//`
    ("a.go", "// +build linux,!cgo darwin\n\npackage p", "(linux && !cgo) || darwin"),
    ("a.go", "// +build linux darwin\n// +build cgo\n\npackage p", "(linux || darwin) && cgo"),
    ("a.go", "//+build a\n\n// Package p is.\npackage p", "a"),
    ("a.go", "// +build a\n\n/* more */\n\n// +build late\n\npackage p", "a"),
    ("a.go", "/* more */\n// +build no\n\npackage p", None),
    ("a.go", "// +build doc\npackage p", None),
    ("a.go", "// +buildno\n\npackage p", None),
    ("a.go", "// +build !!a x-y,!b\n\npackage p", "ignore || (ignore && !b)"),
    ("a.go", "// +build\n\npackage p", "ignore"),
    ("a.go", "//go:build new\n// +build old\n\npackage p", "new"),
    # both, and cgo
    ("a_linux.go", "//go:build linux && cgo\n\npackage p", "linux && cgo"),
    ("a_linux.go", "//go:build a || b\n\npackage p", "linux && (a || b)"),
    ("a_windows.go", "//go:build a\r\n\r\npackage p\r\n", "windows && a"),
    ("a.go", 'package p\n\nimport "C"\n', "cgo"),
    ("a.go", 'package p // first\n\nimport (\n\t"fmt"\n\t/* #include "x.h" */\n\t"C"\n)\n', "cgo"),
    ("a.go", '//go:build linux && cgo\n\npackage p\n\nimport "C"\n', "linux && cgo"),
    ("a.go", '//go:build linux || cgo\n\npackage p\n\nimport "C"\n', "(linux || cgo) && cgo"),
    ("a.go", 'package p\n\n// import "C"\nimport "fmt"\n', None),
    ("a.go", 'package p\n\nfunc g() string { return "C" }\n', None),
]


@pytest.mark.parametrize(("path", "head", "expected"), GO, ids=range(len(GO)))
def test_go(path: str, head: str, expected: str | None) -> None:
    symbols = extract(path, f"{head}\nfunc f() {{}}\n".encode(), "go").symbols
    assert {symbol.build_tag for symbol in symbols} == {expected}


def test_a_long_constraint_is_cut_and_its_brackets_are_closed() -> None:
    source = f"//go:build !({' || '.join(f'tag{number}' for number in range(200))})\npackage p\n".encode()
    tag = Tags("go", "go", File("a.go", source, [])).of(len(source) - 1, "")
    assert tag is not None
    assert (len(tag) < 600, tag.count("("), tag.endswith("…)")) == (True, tag.count(")"), True)


@pytest.mark.parametrize(
    "source",
    [
        b"//go:build " + b"(" * 500_000,
        b"//go:build " + b"!" * 500_000,
        b"//go:build " + b"a && (" * 100_000,
        b"/**/" * 250_000,
        b"// +build " + b"a,!b " * 100_000 + b"\n\n",
        b'package p\nimport ("C' + b'" "' * 300_000,
        b"\n//go:build" * 100_000,
    ],
    ids=range(7),
)
def test_a_hostile_header_costs_little(source: bytes) -> None:
    # Quadratic work on any of these would take minutes, and recursion over their nesting would raise.
    tag = Tags("go", "go", File("a.go", source, [])).of(len(source) - 1, "")
    assert tag is None or len(tag) < 1100
