"""Build conditions of Zig: `if` and `switch` between types."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from lci_py.source.extract.extract import extract

ZIG = [
    "const a = if (x) struct {\nfn f() void {}\n} else struct {\nfn f() void {}\n};",
    "const a = switch (x) {\n.p => struct {\nfn f() void {}\n},\nelse => void };",
    "pub usingnamespace if (x) struct {\npub fn f() void {}\n} else struct {\npub fn f() void {}\n};",
]


@pytest.mark.parametrize("source", ZIG)
def test_a_condition_between_types_is_unknown(source: str) -> None:
    symbols = extract("a.zig", source.encode(), "zig").symbols
    assert {symbol.build_tag for symbol in symbols if symbol.name == "f"} == {"…"}


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
