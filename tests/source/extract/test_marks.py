"""The marks of a file say of every word what its syntax tree says, or that they do not know."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from lci_py.source.extract.extract import extract
from lci_py.source.extract.marks import read_marks
from lci_py.source.extract.occurrences import finder, marked_occurrences, occurrences
from lci_py.source.syntax.languages import HEAD_BYTES, detect, load_languages
from tests.conftest import PROJECT

MARKED = sorted(name for name, spec in load_languages().items() if spec.marks_text)
_WORD = re.compile(rb"(?<![0-9A-Za-z_\x80-\xff])[A-Za-z_]\w+")


def _files(language: str) -> Iterator[Path]:
    for top in ("fixtures/corpus", "fixtures/callgraph", "fixtures/conflicts", "lci_py/source"):
        for path in sorted((PROJECT / top).rglob("*")):
            if path.is_file() and detect(path.name, path.read_bytes()[:HEAD_BYTES]) == language:
                yield path


def _compared(source: bytes, language: str, name: str) -> bool:
    """Whether the marks tell about a name; what they say must be what a parse says."""
    marks = extract(f"a.{language}", source, language).marks
    found = marked_occurrences(source, language, finder(name), name, marks)
    if found is not None:
        assert found == occurrences(source, language, finder(name), name=name)
    return found is not None


@pytest.mark.parametrize("language", MARKED)
def test_marks_say_what_a_parse_says(language: str) -> None:
    told = asked = 0
    for path in list(_files(language))[:12]:
        source = path.read_bytes()
        marks = extract(path.name, source, language).marks
        for name in sorted({match.group().decode() for match in _WORD.finditer(source)})[::3]:
            found = marked_occurrences(source, language, finder(name), name, marks)
            asked += 1
            if found is not None:
                told += 1
                assert found == occurrences(source, language, finder(name), name=name), (path, name)
    assert told > asked / 2 > 20


@pytest.mark.parametrize(
    ("language", "source", "name", "roles"),
    [
        ("c", 'int turn(int a) {\n  /* turn */ puts("turn"); return turn(a);\n}\n', "turn", ["definition", "call"]),
        ("c", "#define ONE turn\n#define TWO turn + turn\n#define THREE a.turn\n", "turn", ["reference"] * 2),
        ("c", "#include <turn.h>\n#include \"turn.h\"\n#error turn\nturn x;\n", "turn", ["reference"] * 2),
        ("c", "FOO_API(turn) int f(void); /* turn */\n", "turn", ["reference"]),  # overwritten before parsing
        ("cpp", "auto a = R\"(turn)\"; auto b = turn::x; int t = Box().turn();\n", "turn", ["reference", "call"]),
        ("go", "package a\n\nvar b = `turn` + \"turn\" // turn\n\nfunc turn() { turn() }\n", "turn",
         ["definition", "call"]),
        ("python", "from a import turn\nb = f\"turn {turn(1)} turn\"  # turn\n\n\ndef turn():\n    'turn'\n", "turn",
         ["import", "call", "definition"]),
        ("rust", "// turn\nfn turn() { println!(\"turn {}\", turn); turn(); }\n", "turn",
         ["definition", "reference", "call"]),
    ],
)  # fmt: skip
def test_what_is_no_identifier(language: str, source: str, name: str, roles: list[str]) -> None:
    data = source.encode()
    found = marked_occurrences(data, language, finder(name), name, extract("a", data, language).marks)
    assert found is not None and [item.role for item in found] == roles
    assert _compared(data, language, name)


@pytest.mark.parametrize(
    ("language", "source", "name"),
    [
        ("c", "int a = close$more(1);\n", "close"),  # a dollar is a part of the name
        ("c", 'int f(void) __section("turn");\n', "turn"),  # a string that is overwritten before parsing
        ("python", "match = 1\n", "match"),  # a keyword elsewhere
        ("python", "f'{x:turn}'\n", "turn"),
        ("go", "package a\n\nvar ab = 1\n", "ab"),  # it may be the prefix of a string in some language
        ("rust", "fn r() {}\n", "operator=="),
    ],
)
def test_what_the_marks_do_not_tell_is_left_to_the_parser(language: str, source: str, name: str) -> None:
    assert not _compared(source.encode(), language, name)


def test_columns_count_characters_of_invalid_text_too() -> None:
    source = "/* é \udcff\udcfe */ int turn;\n".encode("utf-8", "surrogateescape")
    assert _compared(source, "c", "turn")


def test_a_file_that_is_not_known_whole_has_no_marks() -> None:
    from lci_py.source.syntax.limits import Limits

    source = b"int a;\nint b;\n"
    assert extract("a.c", source, "c").marks
    assert not extract("a.c", source, "c", Limits(max_file_symbols=1)).marks


@given(st.binary(max_size=80))
def test_damaged_marks_are_an_error_or_marks(data: bytes) -> None:
    for some in (data, zlib.compress(data)):
        try:
            read_marks(some).roles(b"turn", b"turn", [0])
        except ValueError:
            pass
