"""Properties of the chunks of any file, in any language; and the chunks of typical code."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from lci_py.source.extract.chunk import MAX_CHARS, OUTLINE_CHARS, chunk_text
from lci_py.source.extract.extract import extract
from lci_py.source.syntax.languages import detect, load_languages
from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS
from lci_py.types.source import Chunk, Extract, Symbol
from tests.source.extract.test_python_ast import modules
from tests.support.properties import examples

PROJECT = Path(__file__).resolve().parents[3]
CORPUS = sorted(path for path in (PROJECT / "fixtures" / "corpus").rglob("*") if path.is_file())
#: One in ten of the program's own files.
OWN = sorted([*(PROJECT / "lci_py").rglob("*.py"), *(PROJECT / "docs").glob("*.md")])[::10]
LANGUAGES = sorted(load_languages())
WORD = re.compile(r"\w+")


def margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def check(source: bytes, found: Extract) -> None:
    text = source.decode("utf-8", "replace")
    lines = text.split("\n")
    chunks, symbols = found.chunks, found.symbols
    last = len(lines) if lines[-1] else len(lines) - 1
    for chunk in chunks:
        assert 1 <= chunk.line <= chunk.end_line <= last
        assert -1 <= chunk.symbol < len(symbols)
        assert lines[chunk.line - 1].strip() and lines[chunk.end_line - 1].strip()
        assert chunk.text.startswith(lines[chunk.line - 1])
        own = lines[chunk.line - 1 : chunk.end_line]
        extra = OUTLINE_CHARS if chunk.symbol >= 0 else 0
        assert len(chunk.text) <= max(MAX_CHARS, max(map(len, own))) + extra + 1
    assert list(chunks) == sorted(chunks, key=lambda c: (c.line, c.end_line, c.symbol))
    check_nothing_is_lost(lines, chunks)
    if found.language == "lua":
        symbols = tuple(s._replace(kind="variable") if s.kind == "object" else s for s in symbols)
    check_owners(lines, chunks, symbols)


def check_nothing_is_lost(lines: list[str], chunks: tuple[Chunk, ...]) -> None:
    """The words of each line are in the text of a chunk that includes the line."""
    unseen = {number: line.rstrip() for number, line in enumerate(lines, 1) if any(c.isalnum() for c in line)}
    for chunk in chunks:
        own = {line.rstrip() for line in chunk.text.split("\n")}
        for number in range(chunk.line, chunk.end_line + 1):
            if unseen.get(number) in own:
                del unseen[number]
    assert not unseen


def check_owners(lines: list[str], chunks: tuple[Chunk, ...], symbols: tuple[Symbol, ...]) -> None:
    """A definition's chunks are in its range, apart from scraps around it and comments at its body's end.

    Blocks are in no function or type, except that a Lua table is an object whose chunks are cut as for a variable.
    """
    for chunk in chunks:
        if chunk.symbol < 0:
            for symbol in symbols:
                if symbol.kind in FUNCTION_KINDS | TYPE_KINDS and symbol.kind != "macro":
                    assert chunk.end_line < symbol.first_line or chunk.line > symbol.end_line, (chunk, symbol)
            continue
        symbol = symbols[chunk.symbol]
        above = range(chunk.line, min(symbol.first_line, chunk.end_line + 1))
        below = range(max(symbol.end_line + 1, chunk.line), chunk.end_line + 1)
        for outside in (above, below):
            with_words = [
                number
                for number in outside
                if WORD.search(lines[number - 1]) and margin(lines[number - 1]) <= margin(lines[symbol.line - 1])
            ]
            # Those of other definitions are not in this chunk.
            own = set(chunk.text.split("\n"))
            strays = [n for n in with_words if lines[n - 1] in own and not _defined(n, symbols, chunk.symbol)]
            assert len(strays) <= 5, (symbol, strays)


def _defined(number: int, symbols: tuple[Symbol, ...], but: int) -> bool:
    return any(s.first_line <= number <= s.end_line for i, s in enumerate(symbols) if i != but)


def owner(found: Extract, line: int) -> str:
    """The qualified name of the definition whose chunk includes the line, the smallest of several; "" for a block."""
    around = [c for c in found.chunks if c.line <= line <= c.end_line]
    smallest = min(around, key=lambda c: c.end_line - c.line)
    return found.symbols[smallest.symbol].qualified_name if smallest.symbol >= 0 else ""


@pytest.mark.parametrize("path", CORPUS + OWN, ids=lambda path: path.relative_to(PROJECT).as_posix())
def test_real_files(path: Path) -> None:
    source = path.read_bytes()
    language = detect(path.name, source)
    found = extract(path.name, source, language)
    check(source, found)
    assert found.chunks
    windows = source.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n").rstrip()  # and the last line has no end
    check(windows, extract(path.name, windows, language))


@examples(80)
@given(modules() | modules(windows=True))
def test_generated_python(source: bytes) -> None:
    check(source, extract("a.py", source, "python"))


def paragraphs() -> list[tuple[str, list[str]]]:
    found = []
    for path in CORPUS:
        language = detect(path.name, path.read_bytes())
        text = path.read_text("utf-8", "replace")
        found.append((language, [part for part in re.split(r"(\n+)", text) if part]))
    return [(language, parts) for language, parts in found if len(parts) > 3]


PARAGRAPHS = paragraphs()


@examples(150)
@given(st.data())
def test_torn_files(data: st.DataObject) -> None:
    """Lines of real files, repeated, left out and out of order, as in a broken or half-written file."""
    language, parts = data.draw(st.sampled_from(PARAGRAPHS))
    pieces = []
    for _ in range(data.draw(st.integers(1, 6))):
        start = data.draw(st.integers(0, len(parts) - 1))
        piece = "".join(parts[start : start + data.draw(st.integers(1, 40))])
        pieces.append(piece * data.draw(st.sampled_from([1, 1, 1, 2, 9])))
    source = data.draw(st.sampled_from(["", "\n", "\n\n", " "])).join(pieces).encode()
    check(source, extract("a", source, language))


@examples(150)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00")), st.sampled_from(["text", *LANGUAGES]))
def test_any_text(text: str, language: str) -> None:
    source = text.encode()
    check(source, extract("a", source, language))


@examples(50)
@given(st.lists(st.text("ab \n", max_size=900), max_size=12))
def test_text_files(parts: list[str]) -> None:
    source = "\n".join(parts).encode()
    check(source, Extract("text", "", chunks=chunk_text(source)))


TEXTS = [
    (b"", []),
    (b"\n", []),
    (b" \r\n\t\r\n", []),
    (b"...\n---\n", []),
    (b"one", [(1, 1)]),
    (b"one\n", [(1, 1)]),
    (b"\n\none\n\n\n", [(3, 3)]),
    (b"one\r\ntwo\r\n", [(1, 2)]),
    (b"one\n\ntwo", [(1, 3)]),
    (b"\xff\xfe one", [(1, 1)]),
    (b"word " * 1000, [(1, 1)]),
    (b"word " * 1000 + b"\nshort\n", [(1, 1), (2, 2)]),
    (b"short\n" + b"word " * 1000, [(1, 1), (2, 2)]),
]


@pytest.mark.parametrize(("source", "expected"), TEXTS, ids=range(len(TEXTS)))
def test_text_fallback(source: bytes, expected: list[tuple[int, int]]) -> None:
    assert [(c.line, c.end_line) for c in chunk_text(source)] == expected


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("source", [b"", b"\n", b"\r\n", b"x", b"{\n"])
def test_degenerate_files(language: str, source: bytes) -> None:
    check(source, extract("a", source, language))


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.relative_to(CORPUS[0].parents[1]).as_posix())
def test_invalid_utf_8(path: Path) -> None:
    source = path.read_bytes()
    torn = re.sub(rb"([A-Za-z])e", b"\\1\xe9", source)
    language = detect(path.name, source)
    check(torn, extract(path.name, torn, language))


def test_text_is_cut_at_blank_lines() -> None:
    paragraph = "a line of words\n" * 20
    chunks = chunk_text("\n".join([paragraph] * 12).encode())
    assert len(chunks) > 2
    for before, after in pairwise(chunks):
        assert after.line == before.end_line + 2


LARGE = {
    "statements": "def f():\n" + "".join(f"    value_{i} = call({i}, other)\n" for i in range(1000)),
    "table": "TABLE = {\n" + "".join(f'    "key {i}": ({i}, "value"),\n' for i in range(1000)) + "}\n",
    "fields": "class A:\n" + "".join(f"    field_{i}: int = {i}\n" for i in range(500)),
    "branches": "def f(x):\n    if x == 0:\n        return 0\n"
    + "".join(f"    elif x == {i}:\n        y = {i}\n        return y\n" for i in range(1, 200)),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_definition_is_one_unit_of_even_pieces(name: str) -> None:
    source = LARGE[name].encode()
    found = extract("a.py", source, "python")
    check(source, found)
    assert {chunk.symbol for chunk in found.chunks} == {0}
    assert len(found.chunks) <= 2 * len(source) / MAX_CHARS + 1
    assert min(len(chunk.text) for chunk in found.chunks) >= MAX_CHARS // 4
    lines = LARGE[name].split("\n")
    if name == "branches":
        assert all(lines[chunk.line - 1].startswith("    elif") for chunk in found.chunks[1:])


def test_a_piece_begins_with_an_outer_statement() -> None:
    inner = "".join(f"        call({i}, 'some words to fill the line')\n" for i in range(9))
    source = "def f():\n" + "".join(f"    for x_{i} in y:\n{inner}" for i in range(12))
    found = extract("a.py", source.encode(), "python")
    lines = source.split("\n")
    assert len(found.chunks) > 3
    assert all(lines[chunk.line - 1].startswith("    for") for chunk in found.chunks[1:])


def test_constants_make_blocks_of_neighbours() -> None:
    source = "".join(f"CONSTANT_{i} = {i}\n" for i in range(400)).encode()
    found = extract("a.py", source, "python")
    check(source, found)
    assert {chunk.symbol for chunk in found.chunks} == {-1}
    assert all(len(chunk.text) > MAX_CHARS // 4 for chunk in found.chunks)


PYTHON = '''\
# Copyright of this file
# and its license.

"""What this module is about."""

import os
import sys


# About the limit.
LIMIT = 5


# ------------
# Parsing
# ------------


@decorated
@twice(
    1,
)
# Why.
def parse(text):
    """Doc."""
    return text
    # Nothing else.
    #
    # Really.


class Reader(Base):
    # -- public --

    def read(self):
        return parse(self)
        # Not reached.

    # The rest
    # is missing.


# How often.
TIMES = 5


if __name__ == "__main__":
    sys.exit(parse(sys.argv))
'''


def test_owners_in_python() -> None:
    found = extract("a.py", PYTHON.encode(), "python")
    check(PYTHON.encode(), found)
    owners = {}
    for number, line in enumerate(PYTHON.split("\n"), 1):
        if line.strip():
            owners[line.strip()] = owner(found, number)
    assert owners["# Copyright of this file"] == owners["import os"] == ""
    assert owners["# About the limit."] == owners["LIMIT = 5"] == ""  # neighbours, one block
    assert {owners[line] for line in ("# Parsing", "@decorated", "# Why.", '"""Doc."""', "# Really.")} == {"parse"}
    assert {owners[line] for line in ("# -- public --", "# The rest", "# is missing.")} == {"Reader"}
    assert {owners[line] for line in ("return parse(self)", "# Not reached.")} == {"Reader.read"}
    assert owners["# How often."] == owners["TIMES = 5"] == ""
    assert owners["sys.exit(parse(sys.argv))"] == ""  # no part of the last method


def test_a_definition_that_stands_alone_is_a_unit() -> None:
    source = "def f():\n    pass\n\n\n# Why.\nLIMIT = 5\n\n\ndef g():\n    pass\n"
    found = extract("a.py", source.encode(), "python")
    check(source.encode(), found)
    assert [owner(found, line) for line in (1, 5, 6, 9)] == ["f", "LIMIT", "LIMIT", "g"]


RUST = """\
struct A;

fn before() {
    1
}

impl A {
    fn first() {
        2
    }
}

impl Drop for A {
    fn drop(&mut self) {
        3
    }
}
"""


def test_what_opens_and_closes_is_no_unit() -> None:
    found = extract("a.rs", RUST.encode(), "rust")
    check(RUST.encode(), found)
    assert all(chunk.symbol >= 0 for chunk in found.chunks)
    texts = {found.symbols[chunk.symbol].name: chunk.text for chunk in found.chunks}
    assert texts["first"].startswith("impl A {") and texts["drop"].startswith("impl Drop for A {")


OPENED = """\
if sys.version_info >= (3, 12) and sys.platform != "win32":

    def lock(path):
        return path

else:

    def lock(path):
        return None
"""


def test_what_opens_stays_with_what_it_holds() -> None:
    found = extract("a.py", OPENED.encode(), "python")
    check(OPENED.encode(), found)
    assert [(chunk.line, chunk.end_line) for chunk in found.chunks if chunk.symbol >= 0] == [(1, 4), (6, 9)]
    assert len(found.chunks) == 2


def test_a_block_does_not_begin_with_a_bracket() -> None:
    source = RUST + "static MESSAGE: &str = concat!(one, two, three);\nstatic OTHER: u8 = 1;\n"
    found = extract("a.rs", source.encode(), "rust")
    check(source.encode(), found)
    (block,) = [chunk for chunk in found.chunks if chunk.symbol < 0]
    assert block.text.startswith("static MESSAGE")


@pytest.mark.parametrize("count", range(30, 70, 3))
def test_the_last_piece_is_no_scrap(count: int) -> None:
    body = "".join(f"  value_{i} = call(of, some, words);\n" for i in range(count))
    source = f"void f() {{\n{body}}}\n".encode()
    found = extract("a.c", source, "c")
    check(source, found)
    assert len(found.chunks) == 1 or min(len(chunk.text) for chunk in found.chunks) >= MAX_CHARS // 5


ONE_LINE = [
    ("typescript", "interface A { f(): void; g(): number }\n", "A"),
    ("java", "interface A { void f(); }\n", "A"),
    ("rust", "trait A { fn f(&self); }\n", "A"),
    ("cpp", "struct A { A(); ~A(); };\n", "A"),
    ("java", "class A { void f() {\n  g();\n} }\n", "A"),
]


@pytest.mark.parametrize(("language", "source", "name"), ONE_LINE, ids=range(len(ONE_LINE)))
def test_a_type_is_found_though_its_members_share_its_line(language: str, source: str, name: str) -> None:
    found = extract("a", source.encode(), language)
    check(source.encode(), found)
    assert name in {found.symbols[chunk.symbol].name for chunk in found.chunks}


def test_a_type_is_outlined() -> None:
    methods = "".join(f"    def method_{i}(self, x):\n        return {i}\n\n\n\n" for i in range(30))
    source = f"class A:\n    field = 1\n\n{methods}    last = 2\n"
    found = extract("a.py", source.encode(), "python")
    check(source.encode(), found)
    (text,) = [chunk.text for chunk in found.chunks if found.symbols[chunk.symbol].name == "A"]
    assert text.startswith("class A:\n    field = 1\n    last = 2\ndef method_0(self, x)\ndef method_1")
    assert "method_29" in text and "return" not in text and "\n\n" not in text


def test_helpers_stay_with_a_small_function_only() -> None:
    helper = "    def helper():\n        a = 1\n        return a\n"
    small = extract("a.py", f"def f():\n{helper}    return helper()\n".encode(), "python")
    assert [small.symbols[chunk.symbol].name for chunk in small.chunks] == ["f"]
    filling = "".join(f"    value_{i} = call({i})\n" for i in range(99))
    large = extract("a.py", f"def f():\n{helper}{filling}".encode(), "python")
    assert {large.symbols[chunk.symbol].name for chunk in large.chunks} == {"f", "helper"}


def test_a_comment_above_macros_belongs_to_the_function_that_uses_them() -> None:
    source = b"""/* Try to expire a few timed out keys, in a fast cycle or in a slow one. */

#define KEYS_PER_LOOP 20 /* Keys for each
                            loop. */
#define SLOW_TIME_PERC 25

typedef struct { long now; } scanned;

void callback(scanned *data) {
    data->now = 1;
}

void cycle(int type) {
    long keys = KEYS_PER_LOOP * type;
    use(keys, SLOW_TIME_PERC);
}
"""

    def owner(source: bytes) -> tuple[str, int]:
        found = extract("expire.c", source, "c")
        chunk = next(chunk for chunk in found.chunks if chunk.line == 1)
        return (found.symbols[chunk.symbol].name if chunk.symbol >= 0 else "", chunk.end_line)

    assert owner(source) == ("cycle", 5)
    assert owner(source.replace(b"KEYS_PER_LOOP *", b"3 *")) == ("cycle", 5)  # half of them
    assert owner(source.replace(b"KEYS_PER_LOOP *", b"3 *").replace(b"SLOW_TIME_PERC)", b"4)"))[0] == ""
    assert owner(source.replace(b"#define KEYS", b'#include "a.h"\n#define KEYS'))[0] == ""
