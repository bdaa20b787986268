"""The arrays of a package: every number leads to the right word, unit or file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from lci_py.training.leaks import fingerprints
from lci_py.training.mine import APART, EVERYWHERE, FIELDS, ONCE, mine
from lci_py.training.pairs import KINDS, LANGUAGES
from tests.training.conftest import FILES, Tiny, mined

REMOVE = FILES["web/session.js"]


def row(tiny: Tiny, name: str, number: int) -> list[str]:
    start, stop = tiny.arrays[f"{name}_ptr"][number : number + 2]
    return [tiny.words[word] for word in tiny.arrays[name][start:stop]]


def field_of(tiny: Tiny, unit: int, field: str) -> Counter[str]:
    start, stop = tiny.arrays["bag_ptr"][unit : unit + 2]
    own = slice(start, stop)
    chosen = tiny.arrays["field"][own] == FIELDS.index(field)
    words = [tiny.words[word] for word in tiny.arrays["bag"][own][chosen]]
    return Counter(dict(zip(words, tiny.arrays["count"][own][chosen].tolist(), strict=True)))


def pair(tiny: Tiny, kind: str, first: str) -> int:
    kinds = np.flatnonzero(tiny.arrays["kind"] == KINDS.index(kind))
    return next(int(number) for number in kinds if row(tiny, "query", number)[0] == first)


def test_a_pair_leads_to_its_words_and_its_unit(tiny: Tiny) -> None:
    number = pair(tiny, "doc", "Forget")
    assert row(tiny, "query", number) == "Forget every session whose cookie has expired".split()
    unit = int(tiny.arrays["unit"][number])
    assert tiny.files[tiny.arrays["unit_file"][unit]] == "web/session.js"
    assert LANGUAGES[tiny.arrays["language"][unit]] == "javascript"
    assert field_of(tiny, unit, "path") == Counter({"web": 1, "session": 1, "js": 1})
    assert field_of(tiny, unit, "header") == Counter({"function": 1, "removeExpired": 1})
    code = field_of(tiny, unit, "code")
    assert (code["sessions"], code["removed"], code["removeExpired"]) == (REMOVE.count("sessions"), 3, 1)


def test_how_a_question_was_taken_from_its_answer(tiny: Tiny) -> None:
    hows = {(KINDS[kind], int(how)) for kind, how in zip(tiny.arrays["kind"], tiny.arrays["how"], strict=True)}
    assert {how for kind, how in hows if kind in ("doc", "comment", "module", "signature")} == {ONCE}
    assert {how for kind, how in hows if kind in ("mention", "section", "test")} == {APART}
    assert {how for kind, how in hows if kind == "name"} <= {EVERYWHERE, APART}
    for number, how in enumerate(tiny.arrays["how"]):
        assert bool(row(tiny, "mask", number)) == (how == EVERYWHERE)


def test_the_mask_of_a_name_is_the_name_as_it_is_written(tmp_path: Path) -> None:
    masks = set()
    for number in range(4):
        tiny = mined(tmp_path, FILES, name=f"tiny{number}")
        for masked in np.flatnonzero(tiny.arrays["how"] == EVERYWHERE):
            assert KINDS[tiny.arrays["kind"][masked]] == "name"
            masks.add(tuple(row(tiny, "mask", masked)))
    assert ("removeExpired",) in masks


def test_training_keeps_only_units_that_answer_and_evaluation_all(tmp_path: Path) -> None:
    files = {**FILES, "quiet.py": "x = 1\n" * 3}
    train, dev = mined(tmp_path, files), mined(tmp_path, files, part="dev", name="other")
    assert sorted(set(train.arrays["unit"].tolist())) == list(range(len(train.arrays["unit_file"])))
    assert "quiet.py" not in {train.files[number] for number in train.arrays["unit_file"]}
    assert "quiet.py" in {dev.files[number] for number in dev.arrays["unit_file"]}
    for tiny in (train, dev):  # the same answer to the same question
        unit = int(tiny.arrays["unit"][pair(tiny, "doc", "Forget")])
        assert field_of(tiny, unit, "header")["removeExpired"] == 1


def test_copies_stay_out_of_training_and_are_counted(tmp_path: Path) -> None:
    np.save(tmp_path / "known.npy", fingerprints(REMOVE.encode()))
    train = mined(tmp_path, FILES)
    assert train.report["copies"] == 1
    assert "web/session.js" not in train.files
    assert train.report["files"] == len(FILES)
    dev = mined(tmp_path, FILES, part="dev", name="other")  # what is held out is known to be known
    assert "web/session.js" in dev.files
    assert "copies" not in dev.report


def test_the_report_counts_the_pairs_and_a_second_run_reads_it(tiny: Tiny) -> None:
    counts = np.bincount(tiny.arrays["kind"], minlength=len(KINDS))
    assert {kind: tiny.report.get(kind, 0) for kind in KINDS} == dict(zip(KINDS, counts.tolist(), strict=True))
    arrays = tiny.work / "mined" / tiny.package.key / "arrays.npz"
    arrays.unlink()
    assert mine(tiny.work, tiny.package, tiny.work / "known.npy") == tiny.report
    assert not arrays.exists()


def test_mining_is_reproducible(tmp_path: Path) -> None:
    first, second = mined(tmp_path / "a", FILES), mined(tmp_path / "b", FILES)
    assert (first.words, first.files, first.report) == (second.words, second.files, second.report)
    for name, values in first.arrays.items():
        np.testing.assert_array_equal(values, second.arrays[name])


def test_files_of_equal_substance_have_one_print(tmp_path: Path) -> None:
    tiny = mined(tmp_path, {"a.js": REMOVE, "b.js": REMOVE.replace("  ", "\t"), "c.go": FILES["pool/pool.go"]})
    prints = dict(zip(tiny.files, tiny.arrays["file_print"].tolist(), strict=True))
    assert prints["a.js"] == prints["b.js"] != prints["c.go"]
    assert mined(tmp_path, FILES, name="other").arrays["file_test"].tolist().count(True) == 1
