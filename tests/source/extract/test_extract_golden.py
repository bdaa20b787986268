"""The extraction of every file of fixtures/corpus/ against a recorded text that people can read.

A golden file has everything that `extract` returns except for the chunks' text. LCI_UPDATE_GOLDEN=1 records it anew;
review the diff like code. Each language has at least one file in the corpus.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lci_py.source.extract.extract import extract, extract_stages
from lci_py.source.syntax.languages import QueryPart, detect, load_languages
from lci_py.types.source import Extract

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
CORPUS, GOLDEN = FIXTURES / "corpus", FIXTURES / "golden" / "extract"
# Folders are named after languages; other files of the corpus belong to other tests.
FILES = sorted(
    path for path in CORPUS.glob("*/**/*") if path.is_file() and path.relative_to(CORPUS).parts[0] in load_languages()
)
IDS = [path.relative_to(CORPUS).as_posix() for path in FILES]
UPDATE = os.environ.get("LCI_UPDATE_GOLDEN") == "1"


def render(found: Extract) -> str:
    """One line per fact, in the order of the file; of doc comments only the first line."""
    names = ["(module)", *(symbol.qualified_name for symbol in found.symbols)]
    out = [
        f"language {found.language}",
        f"package {found.package or '-'}",
        f"errors {'yes' if found.has_errors else 'no'}",
    ]
    out += ["", "symbols: first-line-end kind qualified name, name, scope, parent, exported, build tag"]
    for symbol in found.symbols:
        out += [
            f"  {symbol.first_line}-{symbol.line}-{symbol.end_line} {symbol.kind} {symbol.qualified_name}",
            f"      name={symbol.name} scope={symbol.scope or '-'} in={names[symbol.parent + 1]}"
            f" {'exported' if symbol.exported else 'private'}"
            + (f" tag={symbol.build_tag}" if symbol.build_tag is not None else ""),
            f"      {symbol.signature!r}",
        ]
        if symbol.doc:
            out.append(f"      doc {symbol.doc!r}")
    out += ["", "calls: line receiver . name in caller"]
    out += [
        f"  {c.line} {c.receiver or '-'} . {c.name} in {names[c.caller + 1] if c.caller >= -1 else f'<lambda {-1 - c.caller}>'}"
        for c in found.calls
    ]
    out += ["", "imports: line module, name as alias"]
    out += [f"  {i.line} {i.module or '-'}, {i.name or '-'} as {i.alias or '-'}" for i in found.imports]
    out += ["", "bases: type < base"]
    out += [f"  {names[b.symbol + 1]} < {b.name}" for b in found.bases]
    out += ["", "chunks: line-end owner"]
    out += [f"  {c.line}-{c.end_line} {names[c.symbol + 1]}" for c in found.chunks]
    return "\n".join(out) + "\n"


def _dotted(name: str) -> str:
    return name.replace("::", ".").replace("\\", ".")


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_extraction_is_what_was_recorded(path: Path) -> None:
    relative = path.relative_to(CORPUS)
    source = path.read_bytes()
    language = relative.parts[0]
    assert detect(relative.as_posix(), source) == language, "the file is in the folder of another language"
    actual = render(extract(relative.name, source, language))
    golden = GOLDEN / relative.parent / f"{relative.name}.txt"
    how = "LCI_UPDATE_GOLDEN=1 python -m pytest tests/source/extract/test_extract_golden.py"
    if UPDATE:
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(actual, "utf-8", newline="\n")
        return
    assert golden.is_file(), f"{golden.relative_to(FIXTURES.parent)} is missing; read the extraction, then: {how}"
    expected = golden.read_text("utf-8")
    assert actual == expected, f"the extraction of {relative} has changed; if that is meant: {how}"


@pytest.mark.skipif(UPDATE, reason="recording")
def test_no_golden_is_left_over() -> None:
    known = {f"{path.relative_to(CORPUS).as_posix()}.txt" for path in FILES}
    left = {path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*.txt")} - known
    assert not left, f"golden files of no corpus file: {sorted(left)}"


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_what_is_found_holds_together(path: Path) -> None:
    source = path.read_bytes()
    found = extract(path.name, source, path.relative_to(CORPUS).parts[0])
    last = source.count(b"\n") + 1
    for index, symbol in enumerate(found.symbols):
        assert 1 <= symbol.first_line <= symbol.line <= symbol.end_line <= last, symbol
        assert -1 <= symbol.parent < index, symbol
        assert _dotted(symbol.qualified_name).endswith(_dotted(symbol.name)), symbol
        assert symbol.name and "\n" not in symbol.name and "\n" not in symbol.signature, symbol
    for call in found.calls:
        assert -2 - len(found.lambdas) < call.caller < len(found.symbols) and 1 <= call.line <= last and call.name, call
    covered = {line for chunk in found.chunks for line in range(chunk.line, chunk.end_line + 1)}
    missing = [n for n, text in enumerate(source.decode("utf-8", "replace").split("\n"), 1)
               if any(c.isalnum() for c in text) and n not in covered]  # fmt: skip
    assert not missing, f"lines with words that no chunk holds: {missing}"


@pytest.mark.parametrize("language", ["c", "cpp", "ruby", "rust", "typescript", "python"])
def test_a_query_in_two_parts_captures_what_the_whole_one_does(language: str) -> None:
    """The first part is all that is compiled and matched before the first answer."""
    for path in [path for path in FILES if path.relative_to(CORPUS).parts[0] == language]:
        given = (path.name, path.read_bytes(), language)
        first, staged = extract_stages(*given, part=QueryPart.DEFINITIONS)
        assert staged == extract(*given)
        assert (first.symbols, first.chunks, first.calls) == (staged.symbols, staged.chunks, ())
