"""The files that can hold a text: never one too few, and few."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from lci_py import app
from lci_py.index.shards.word_files import _ends, words_in
from lci_py.search.engine import Engine
from lci_py.source.text.words import stem
from tests.support.properties import examples

WORDS = (
    "vm_insert_page", "my_vm_insert_pages", "refereeing", "processes", "running", "agreed", "flies", "parseURLs",
    "HTTPServer2", "__init__", "éclair_fault", "fault", "naïve", "maſs", "\u212a", "x86_64", "Q" * 100 + "tail", "a1b2c3",
    "getFoo", "getfoo", "boxes", "stopped", "tested", "unused", "ing",
)  # fmt: skip


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("words")
    for number, word in enumerate(WORDS):
        (root / f"f{number:02}.txt").write_text(f"one {word}, two\n")
    app.build_index(str(root), jobs=1)
    # A second segment, and a file of the first one that is dead.
    (root / "f00.txt").write_text("one vm_insert_page, two\nnow with more\n")
    app.build_index(str(root), jobs=1)
    with app.open_engine(str(root)) as opened:
        yield opened


def held(engine: Engine, text: str, *, whole: bool = False, folds: bool = False) -> set[str]:
    numbers = engine.snapshot.word_files.having([[words_in(text, whole=whole)]], folds=folds)
    paths = engine.snapshot.files.living_paths()
    return set(paths) if numbers is None else {paths[number] for number in numbers}


@pytest.mark.parametrize("word", WORDS)
def test_every_part_of_a_word_leads_to_its_file(engine: Engine, word: str) -> None:
    path = f"f{WORDS.index(word):02}.txt"
    for start in range(min(len(word), 20)):
        for stop in (*range(start + 1, min(len(word), 20) + 1), len(word)):
            assert path in held(engine, word[start:stop]), word[start:stop]
            assert path in held(engine, f" {word}, t"[start : stop + 1])
    assert path in held(engine, word, whole=True) & held(engine, word.swapcase(), folds=True)
    assert path in held(engine, word.casefold().upper(), folds=True) or not word.isascii()


def test_few_files_hold_a_rare_text(engine: Engine) -> None:
    # The file with the word that is too long for the index could hold anything.
    cut = f"f{WORDS.index('Q' * 100 + 'tail'):02}.txt"
    assert held(engine, "insert_page") == {"f00.txt", "f01.txt", cut}
    assert held(engine, "insert_page", whole=True) == {cut}
    assert held(engine, "rocesse") == {f"f{WORDS.index('processes'):02}.txt", cut}
    assert held(engine, "one stopped") == {f"f{WORDS.index('stopped'):02}.txt", cut}
    assert held(engine, "nowhere") == {cut}
    assert held(engine, "= {") == set(engine.snapshot.files.living_paths())


@examples(300)
@given(
    st.text("aeisngdxyl", min_size=1, max_size=7),
    st.sampled_from(["", "s", "es", "ies", "ing", "ings", "ed", "eing", "eeing", "nning", "lled", "sses", "e"]),
    st.data(),
)
def test_a_part_of_a_word_is_in_its_stem_or_ends_it(begin: str, end: str, data: st.DataObject) -> None:
    word = begin + end
    start = data.draw(st.integers(0, len(word) - 1))
    part = word[start : data.draw(st.integers(start + 1, len(word)))]
    ends = _ends(part)
    assert ends is None or part in stem(word) or stem(word).endswith(tuple(ends))


def test_words_of_a_text() -> None:
    assert [tuple(part) for part in words_in("a foo_bar(é_x bazé")] == [
        ("a", False), ("foobar", True), ("x", False), ("baz", False),
    ]  # fmt: skip
    assert [tuple(part) for part in words_in("foo bar", whole=True)] == [("foo", True), ("bar", True)]


def test_a_damaged_shard_is_an_error(engine: Engine, tmp_path: Path) -> None:
    from array import array

    from lci_py.errors import DamagedIndexError
    from lci_py.index.shards.arrays import offset_arrays, write_arrays
    from lci_py.index.shards.numbering import Numbering
    from lci_py.index.shards.word_files import WordFiles

    arrays = {
        "terms": b"alpha",
        **offset_arrays("terms", [5]),
        **offset_arrays("content", [1]),
        "content_rows": array("i", [7]),
        "chunk_unit": array("i", [0]),
        "unit_file": array("i", [0]),
    }
    counts = [{"files": 1, "symbols": 0, "units": 1, "chunks": 1}]
    for change in ({}, offset_arrays("terms", [9]), offset_arrays("content", [4]),
                   {"content_rows": array("i", [0]), "unit_file": array("i", [5])}):  # fmt: skip
        path = tmp_path / "bm25.arrays"
        write_arrays(path, {**arrays, **change})
        with pytest.raises(DamagedIndexError):
            WordFiles([path], Numbering(counts)).having([[words_in("alpha")]], folds=False)
