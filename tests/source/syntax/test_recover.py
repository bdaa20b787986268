"""What a grammar does not know costs its lines, not the rest of the file."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from lci_py.source.extract.extract import extract
from lci_py.source.extract.occurrences import finder, occurrences
from lci_py.source.syntax.languages import TEXT, detect
from lci_py.source.syntax.recover import Recovery, shortest_lines

KOTLIN = b"""class Recovery : Base() {
    @Test
    fun first() {
        val wait = suspend { awaiter() }
        run(wait)
    }

    @Test
    fun second() {
        helper(1)
    }
}

interface Channel<out T> {
    fun close(): Boolean
}
"""
HEAD = b"""class Stream internal constructor(
  val id: Int,
) : Lockable,
  Socket {
  val timeout = 3

  operator fun set(id: Int) {
    if (id < 0) {
      return
    }

    val bit = 1 shl id
    set = set or bit
    values[id] = 1
  }

  fun size(): Int = count(set)
}
"""
CPP = b"""#if HAS_INCLUDE(<bit>) && \\
    defined(X)
#  include <bit>
#endif

namespace lib {
template <typename T> struct Traits {
  using type = T;
  auto odd(T && t) -> decltype(t->~odd(, )) ;
};

inline int parse(const char* text) {
  return count(text);
}
}  // namespace lib
"""
SWIFT = b"""struct Handle {
    func first() {
        switch errno {
        #if canImport(Darwin)
        case .missing:
            ()
        #endif
        case .other:
            report()
        }
    }

    func second() -> Int { measure() }
}
"""


@pytest.mark.parametrize(
    ("name", "source", "language", "wanted"),
    [
        ("a.kt", KOTLIN, "kotlin", ["Recovery.first", "Recovery.second", "Channel", "Channel.close"]),
        ("b.kt", HEAD, "kotlin", ["Stream", "Stream.timeout", "Stream.set", "Stream.size"]),
        ("c.cpp", CPP, "cpp", ["lib", "lib.Traits", "lib.Traits.type", "lib.parse"]),
        ("d.swift", SWIFT, "swift", ["Handle", "Handle.first", "Handle.second"]),
    ],
)
def test_definitions_around_what_does_not_parse(name: str, source: bytes, language: str, wanted: list[str]) -> None:
    found = extract(name, source, language)
    assert found.has_errors
    assert [one for one in wanted if one not in [symbol.qualified_name for symbol in found.symbols]] == []
    lines = {symbol.qualified_name: (symbol.line, symbol.end_line) for symbol in found.symbols}
    for one in wanted:
        assert re.search(rb"\b%s\b" % one.rpartition(".")[2].encode(), source.split(b"\n")[lines[one][0] - 1])


def test_calls_and_names_in_the_lost_lines_stay() -> None:
    found = extract("a.kt", KOTLIN, "kotlin")
    assert {("helper", 10), ("run", 5)} <= {(call.name, call.line) for call in found.calls}
    places = occurrences(HEAD, "kotlin", finder("bit"), name="bit")
    assert [place.line for place in places] == [12, 13]


def test_what_has_no_marks_of_code_is_not_left_out() -> None:
    source = b"<?php\nfunction one() { return 1; }\nfunction two( { ]\nfunction three() { return one(); }\n"
    names = [symbol.name for symbol in extract("a.php", source, "php").symbols]
    assert {"one", "three"} <= set(names)


@given(st.lists(st.sampled_from(KOTLIN.splitlines(keepends=True) + CPP.splitlines(keepends=True)), max_size=30))
def test_offsets_and_lines_stay(lines: list[bytes]) -> None:
    source = b"".join(lines)
    # Whatever a parser finds fault with: here, a line with a brace, which is more than any real one.
    recovery = Recovery(source, lambda text: text.count(b"{") + 2 * text.count(b"suspend"), 1 << 20)
    text = recovery.text()
    assert len(text) == len(source)
    assert [i for i, byte in enumerate(text) if byte == 10] == [i for i, byte in enumerate(source) if byte == 10]
    lines, at = [], 0
    for line in source.splitlines(keepends=True):
        kept = text[at : at + len(line)] == line or any(start <= at < end for start, end in recovery.ranges)
        if not kept:
            # Of the head of a type, what says what it is stays.
            assert text[at : at + len(line)].split()[:1] in ([], *([word] for word in line.split()))
            assert any(at <= start < at + len(line) for start, _ in recovery.ranges)
        lines.append(line)
        at += len(line)


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        (b"@A(x)\n@B\nopen class C {\n  fun f() {}\n}\n\n@A\nclass D\n", ["C", "C.f", "D"]),
        (b"@A\nconst val X = 1\n\n@A // why\nconst val Y = 2\n", ["X", "Y"]),
        (b"class C {\n  fun f(a: Int, suspend: (Int) -> Int): Int {\n    if (suspend(a)) return 1\n    return f(2, suspend = { a -> a })\n  }\n}\n\nclass D\n", ["C", "C.f", "D"]),
    ],
)  # fmt: skip
def test_keywords_that_the_grammar_of_kotlin_takes_for_names(source: bytes, wanted: list[str]) -> None:
    found = extract("a.kt", source, "kotlin")
    assert [symbol.qualified_name for symbol in found.symbols] == wanted
    assert not found.has_errors


def test_a_name_that_begins_like_an_operator_of_kotlin_is_a_name() -> None:
    lines = b"".join(
        b'    val in%d = open%d()\n    check(read(in%d, 5)).isEqualTo("A")\n    in%d.close()\n' % (n, n, n, n)
        for n in (1, 2)
    )
    source = b"class A {\n  fun f() {\n" + lines + b"  }\n\n  fun g() = 1\n}\n"
    found = extract("a.kt", source, "kotlin")
    assert not found.has_errors
    assert [symbol.qualified_name for symbol in found.symbols] == ["A", "A.f", "A.g"]


def test_what_cannot_pay_is_not_tried_to_its_end() -> None:
    source = b"".join(b"class A%d {\n  suspend(%d)\n  keep(%d)\n}\n" % (n, n, n) for n in range(64))
    costs: list[bytes] = []

    def cost(text: bytes) -> int:
        costs.append(text)
        return text.count(b"suspend")

    ended = Recovery(source, cost, 40)
    ended.text()
    assert ended.size >= 40
    few = len(costs)
    costs.clear()
    whole = Recovery(source, cost, len(source))
    assert b"suspend" not in whole.text()
    assert whole.text().count(b"keep") == 64
    assert len(costs) > 2 * few


@pytest.mark.parametrize(
    ("text", "errors", "least"),
    [
        (b"", [], 0),
        (b"int a;\n  if (x <) y();\n", [(13, 14)], 13),
        (b"int a;\n  if (x <) y();\n", [(13, 14), (15, 16)], 13),
        (b"long line\nab\n\nlong line", [(3, 20)], 2),
        (b"one\n\n", [(4, 5)], 0),
        (b"one\nlast", [(8, 9)], 4),
    ],
)
def test_the_shortest_line_of_each_error(text: bytes, errors: list[tuple[int, int]], least: int) -> None:
    assert shortest_lines(text, errors) == least


def test_a_translation_of_qt_is_no_typescript() -> None:
    assert detect("app_de.ts", b'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n<TS/>\n') == TEXT
    assert detect("app.ts", b"const x = <T>(y: T) => y;\n") == "typescript"
