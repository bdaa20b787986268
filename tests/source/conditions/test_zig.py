"""Build conditions of Zig: `if` and `switch` between types."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from lci_py.source.extract.extract import extract

ZIG = [
    ("const a = if (builtin.os.tag == .windows) struct {\nfn f() void {}\n} else struct {\nfn f() void {}\n};",
     ["builtin.os.tag == .windows", "!(builtin.os.tag == .windows)"]),
    ("const a = if (x) struct {\nfn f() void {}\n} else if (y) struct {\nfn f() void {}\n} else struct {\nfn f() void {}\n};",
     ["x", "!x && y", "!x && !y"]),
    ("const a = if (x or (y and z)) union {\nfn f() void {}\n} else void;", ["x || (y && z)"]),
    ("const a = if ((x)) struct {\nfn f() void {}\n} else void;", ["x"]),
    ('const a = if (eql(u8, s, "x and y")) struct {\nfn f() void {}\n} else void;', ['eql(u8, s, "x and y")']),
    ("const a = if (x) |y| struct {\nfn f() void {}\n} else struct {\nfn f() void {}\n};", ["x", "!x"]),
    ("const a = switch (builtin.os.tag) {\n.linux, .macos => struct {\nfn f() void {}\n},\n.windows => struct {\n"
     "fn f() void {}\n},\nelse => struct {\nfn f() void {}\n},\n};",
     ["builtin.os.tag == .linux || builtin.os.tag == .macos", "builtin.os.tag == .windows",
      "!(builtin.os.tag == .linux || builtin.os.tag == .macos || builtin.os.tag == .windows)"]),
    ("const a = switch (x) {\n1...3, // few\n5 => struct {\nfn f() void {}\n},\nelse => void };", ["x == 1...3 || x == 5"]),
    ("const a = switch (x) {\ntrue => struct {\nfn f() void {}\n},\nfalse => struct {\nfn f() void {}\n} };", ["x", "!x"]),
    ("const a = switch (x) {\n.p => switch (y) {\n.q => struct {\nfn f() void {}\n}, else => void },\nelse => void };",
     ["x == .p && y == .q"]),
    ("pub usingnamespace if (x) struct {\npub fn f() void {}\n} else struct {\npub fn f() void {}\n};", ["x", "!x"]),
    ("const T = struct {\nconst a = if (x) struct {\nfn f() void {}\n} else void;\nfn g() void {}\n};", ["x", None]),
    ("const a = struct {\nfn f() void {}\n};", [None]),
    # what a function returns depends on its arguments
    ("fn f(T: type) type {\nreturn if (T == u8) struct {\nfn g() void {}\n} else struct {\nfn g() void {}\n};\n}",
     [None, None, None]),
    ("fn f() void {\nif (x) {\nconst S = struct {\nfn g() void {}\n};\n_ = S;\n}\n}", [None, None]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), ZIG, ids=range(len(ZIG)))
def test_zig(source: str, expected: list[str | None]) -> None:
    symbols = sorted(extract("a.zig", source.encode(), "zig").symbols, key=lambda symbol: symbol.line)
    assert [symbol.build_tag for symbol in symbols if symbol.name in ("f", "g")] == expected


PARTS = ["const a = ", "if (", "x", ")", " struct { ", "}", " else ", "switch (", ") {", " => ", ".p", ",", ";", "fn f() void {",
         "else => ", "or", " and ", "|y|", "(", "//", "\n", '"', "usingnamespace "]  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=50))
def test_nothing_raises(parts: list[str]) -> None:
    for symbol in extract("a.zig", "".join(parts).encode(), "zig").symbols:
        assert symbol.build_tag is None or symbol.build_tag


@pytest.mark.parametrize(
    "source",
    [
        "const a = " + "if (x) struct { fn f() void {} }\nelse " * 3_000 + "void;",
        "const a = switch (x) {"
        + ".p => struct { fn f() void {} },\n" * 5_000
        + "else => struct { fn g() void {} } };",
        "const a = if (x) struct { fn f() void {} } else void;\n" * 5_000,
    ],
    ids=range(3),
)
def test_many_branches_stay_cheap(source: str) -> None:
    # Quadratic work on any of these would take minutes.
    for symbol in extract("a.zig", source.encode(), "zig").symbols:
        assert len(symbol.build_tag or "") < 10_000
