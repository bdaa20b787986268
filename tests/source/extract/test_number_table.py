"""Tables of numbers are read by lines; what the syntax tree gives is the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from lci_py.source.extract import extract as extraction
from lci_py.source.extract.number_table import number_table
from lci_py.source.syntax.limits import DEFAULTS, Limits
from lci_py.types.record import replace
from lci_py.types.source import Extract

_NAMES = st.sampled_from(["A", "mmREG_CNTL", "REG__FIELD_MASK", "__packed", "x1", "TIMEOUT", "_T_H"])
_NUMBERS = st.sampled_from(["", "0", "0x0309", "0x00000001L", "15UL", "60", "0x1f ", "7\t"])
_DEFINES = st.builds("#define {}{}{}\n".format, _NAMES, st.sampled_from([" ", "\t\t", " " * 60]), _NUMBERS).map(
    lambda line: line if line.split()[2:] else line.rstrip() + "\n"
)
_COMMENTS = st.sampled_from([
    "// addressBlock: gc_grbmdec\n", "/* one */\n", "/* of\n * two lines */\n", "/** doc\n *\n */\n", "  // indented\n",
    "//\n", "/* The default is 30. */\n", "/* Ünïcode © */\n", "/* unclosed? // no */ \n", "// MODULE_LICENSE(x)\n",
])  # fmt: skip
_BLANKS = st.sampled_from(["\n", "  \n", "\n\n\n"])
_BODIES = st.lists(st.one_of(_DEFINES, _DEFINES, _DEFINES, _COMMENTS, _BLANKS), min_size=1, max_size=120).map("".join)
_LICENCE = "/*\n" + " * Permission is hereby granted, free of charge, to any person obtaining a copy.\n" * 17 + " */\n"
_EDGES = st.lists(st.one_of(_COMMENTS, _BLANKS, st.just(_LICENCE)), max_size=4).map("".join)
_ENDS = st.sampled_from(["", " /* _T_H */", " // _T_H"])


def _tree(path: str, source: bytes, language: str, limits: Limits = DEFAULTS) -> Extract:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extraction, "number_table", lambda *_: None)
        return extraction.extract(path, source, language, limits)


def _guarded(before: str, body: str, end: str, after: str) -> bytes:
    return f"{before}#ifndef _T_H\n#define _T_H\n{body}#endif{end}\n{after}".encode()


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["c", "cpp"]), _EDGES, _BODIES, _ENDS, _EDGES)
def test_a_made_table_is_read_as_its_tree(language: str, before: str, body: str, end: str, after: str) -> None:
    for source in ((before + body + after).encode(), _guarded(before, body, end, after)):
        assert extraction.extract("lib/t.h", source, language) == _tree("lib/t.h", source, language)


@pytest.mark.parametrize(
    "source",
    [
        _guarded(_LICENCE, "".join(f"#define REG_{n} {n}\n" for n in range(99)), " // _T_H", ""),  # cut at the guard
        (_LICENCE + "".join(f"#define REG_{n} {n}\n" for n in range(99))).encode(),
        b"#define A 1\n#define D 4\n#define E 5\n/** Apart. */\n\n#define B 2\n/* Not of C. */\n\n#define C 3\n",
        b"// The default is 30.\n#define TIMEOUT 60\n#define A 1\n",
    ],
)
def test_a_table_is_read_as_its_tree(source: bytes) -> None:
    assert number_table("lib/t.h", source, "c", DEFAULTS) is not None
    assert extraction.extract("lib/t.h", source, "c") == _tree("lib/t.h", source, "c")


def test_a_table_that_exceeds_limits_is_cut_as_its_tree() -> None:
    source = _guarded("", "".join(f"// R{n}\n#define R{n} {n}\n" for n in range(400)), "", "")
    for limits in (replace(DEFAULTS, max_file_symbols=100), replace(DEFAULTS, max_file_chunks=2)):
        assert number_table("t.h", source, "c", limits) is not None
        found = extraction.extract("t.h", source, "c", limits)
        assert found.limit
        assert found == _tree("t.h", source, "c", limits)


@pytest.mark.parametrize(
    "line",
    [
        "int x;", "#define F(x) 1", "#include <a.h>", "#undef A", "#define A (1)", "#define A B", "#define A 1 /* x */",
        "#if X", "#else", "#endif", "#ifndef B", "/* open", "/* #undef A */", "#define A 1\\", "# define A 1", "\f",
    ],
)  # fmt: skip
def test_a_file_with_another_line_is_no_table(line: str) -> None:
    table = b"#define A 1\n#define B 2\n#define C 3\n"
    assert number_table("t.h", table, "c", DEFAULTS) is not None
    assert number_table("t.h", table + line.encode() + b"\n", "c", DEFAULTS) is None
    assert number_table("t.h", table, "rust", DEFAULTS) is None
