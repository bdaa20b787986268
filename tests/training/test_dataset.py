"""The set of pairs: no question is part of its answer, and there are no repetitions."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy", reason="of the extra `training`")

from lci_py.training import dataset
from lci_py.training.mine import APART, EVERYWHERE, FIELDS, ONCE
from lci_py.training.pairs import KINDS
from tests.training.conftest import FILES, Tiny, mined


def words_of(matrix: Any, words: list[str]) -> Counter[str]:
    row = matrix.tocoo()
    return Counter({words[column]: int(count) for column, count in zip(row.col, row.data, strict=True)})


def hand_made(kind: str, how: int, query: list[str], mask: list[str]) -> dataset.Mined:
    """One unit, a/run.py: def run(job): job.start(run)."""
    fields = {
        "path": ["a", "run", "py"],
        "header": ["function", "run"],
        "code": ["def", "run", "job", "job", "start", "run"],
    }
    words = list(dict.fromkeys(word for texts in [*fields.values(), query, mask] for word in texts))
    bags = [
        (words.index(word), n, FIELDS.index(field))
        for field, texts in fields.items()
        for word, n in Counter(texts).items()
    ]
    columns, counts, places = (np.array(values) for values in zip(*bags, strict=True))
    arrays = {
        "bag_ptr": np.array([0, len(bags)]), "bag": columns, "count": counts, "field": places,
        "kind": np.array([KINDS.index(kind)]), "unit": np.array([0]), "how": np.array([how]),
    }  # fmt: skip
    for name, texts in (("query", query), ("mask", mask)):
        arrays |= {
            f"{name}_ptr": np.array([0, len(texts)]),
            name: np.array([words.index(word) for word in texts], np.int32),
        }
    times = np.array([2.0, 3.0, 1.0])[places]
    width = len(words)
    return dataset.Mined(
        words, ["a/run.py"], dataset._matrix(arrays, "bag", width, counts * times),
        dataset._matrix(arrays, "query", width), dataset._matrix(arrays, "mask", width), arrays,
    )  # fmt: skip


WHOLE = Counter({"a": 2, "run": 2 + 3 + 2, "py": 2, "function": 3, "def": 1, "job": 2, "start": 1})


@pytest.mark.parametrize(
    ("kind", "how", "query", "mask", "less"),
    [
        ("test", APART, ["run", "job"], [], {}),
        ("doc", ONCE, ["run", "job", "job", "unknown"], [], {"run": 1, "job": 2}),
        ("doc", ONCE, ["start", "start", "start"], [], {"start": 1}),  # never below nothing
        ("name", EVERYWHERE, ["run"], ["run"], {"run": 7}),
        ("name", APART, ["run"], [], {}),
        ("path", ONCE, ["a", "run"], [], {"a": 2, "run": 7}),
    ],
)
def test_the_question_is_taken_out_of_its_answer(
    kind: str, how: int, query: list[str], mask: list[str], less: dict[str, int]
) -> None:
    item = hand_made(kind, how, query, mask)
    code = dataset.codes(item, np.array([0]))
    assert words_of(code, item.words) == WHOLE - Counter(less)
    assert (code.data > 0).all()


def test_the_body_alone_is_without_path_and_header() -> None:
    item = hand_made("doc", ONCE, ["run"], [])
    code = dataset.codes(item, np.array([0]), body_only=True)
    assert words_of(code, item.words) == Counter({"def": 1, "run": 1, "job": 2, "start": 1})
    assert words_of(item.units, item.words) == WHOLE  # and the whole is as it was


def test_rows_do_not_mix(tiny: Tiny) -> None:
    item = dataset.load(tiny.work, tiny.package)
    assert item is not None
    every = np.arange(len(tiny.arrays["kind"]))
    together = dataset.codes(item, every).toarray()
    for number in every:
        np.testing.assert_array_equal(together[number], dataset.codes(item, every[[number]]).toarray()[0])
    asked = int(np.flatnonzero(tiny.arrays["kind"] == KINDS.index("comment"))[0])
    unit = item.units[tiny.arrays["unit"][asked]].toarray()
    gone = unit - together[asked]
    assert words_of(dataset.sparse.csr_matrix(gone), item.words) == words_of(item.queries[asked], item.words)


def test_a_package_without_pairs_is_none(tmp_path: Path) -> None:
    assert dataset.load(tmp_path, mined(tmp_path, {"a.py": "x = 1\n"}).package) is None


def assembled(work: Path, packages: list[Tiny], seed: int = 0) -> tuple[dict[str, int], dict[str, Any], list[str]]:
    report = dataset.assemble(work, [tiny.package for tiny in packages], seed=seed)
    with np.load(work / "pairs.npz") as opened:
        arrays = {name: opened[name] for name in opened.files}
    return report, arrays, json.loads((work / "parts.json").read_text())


def questions(arrays: dict[str, Any], parts: list[str]) -> list[tuple[int, frozenset[str]]]:
    rows = [
        arrays["query_ids"][start:stop]
        for start, stop in zip(arrays["query_ptr"], arrays["query_ptr"][1:], strict=False)
    ]
    return [(int(p), frozenset(parts[i] for i in row)) for p, row in zip(arrays["package"], rows, strict=True)]


def test_pairs_are_bags_of_identifier_parts(tiny: Tiny) -> None:
    report, arrays, parts = assembled(tiny.work, [tiny])
    asked = dict.fromkeys(words for _, words in questions(arrays, parts))
    assert frozenset("forget every session whose cookie has expired".split()) in asked
    assert report["pairs"] == len(arrays["kind"]) == sum(n for name, n in report.items() if name.startswith("kind "))
    assert report["kind doc"] == 4
    assert report["javascript"] >= 1
    for name in ("query", "answer"):
        assert arrays[f"{name}_ptr"][-1] == len(arrays[f"{name}_ids"]) == len(arrays[f"{name}_cnt"])
        assert (arrays[f"{name}_cnt"] >= 1).all()
    assert (np.diff(arrays["answer_ptr"]) >= 8).all()
    assert len(parts) == len(set(parts))


def test_a_file_of_an_earlier_package_is_not_learned_again(tmp_path: Path) -> None:
    first = mined(tmp_path, FILES, name="first")
    second = mined(
        tmp_path,
        {"new/place.js": FILES["web/session.js"], "own.go": FILES["pool/pool.go"].replace("queue", "line")},
        name="second",
    )
    _, arrays, parts = assembled(tmp_path, [first, second])
    forget = frozenset("forget every session whose cookie has expired".split())
    assert {package for package, words in questions(arrays, parts) if words == forget} == {0}
    assert 1 in arrays["package"]  # by the other file


def test_equal_questions_are_few(tmp_path: Path) -> None:
    files = {
        f"f{i}.js": FILES["web/session.js"].replace("sessions", f"store{i}") for i in range(dataset.SAME_QUERY + 5)
    }
    _, arrays, parts = assembled(tmp_path, [mined(tmp_path, files)])
    forget = frozenset("forget every session whose cookie has expired".split())
    assert [words for _, words in questions(arrays, parts)].count(forget) == dataset.SAME_QUERY


def test_a_package_gives_no_more_than_the_cap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = mined(tmp_path, FILES)
    monkeypatch.setattr(dataset, "CAP", 2)
    _, arrays, _ = assembled(tmp_path, [tiny])
    assert max(Counter(arrays["language"].tolist()).values()) == 2


def test_a_set_is_reproducible_for_one_seed(tiny: Tiny) -> None:
    first, second, other = (assembled(tiny.work, [tiny], seed)[1] for seed in (1, 1, 2))
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name])
    assert any(not np.array_equal(values, other[name]) for name, values in first.items())


def test_counts_of_a_bag_do_not_overflow() -> None:
    matrix = dataset.sparse.csr_matrix(np.array([[0, 300.0], [2, 0]], np.float32))
    bags = dataset.Bags.join([(matrix, np.array([5, 7])), (matrix[1:], np.array([9, 8]))])
    assert bags.pointers.tolist() == [0, 1, 2, 3]
    assert bags.columns.tolist() == [7, 5, 9]
    assert bags.counts.tolist() == [255, 2, 2]
