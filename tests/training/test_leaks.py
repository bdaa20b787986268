"""Copies are found however they are disguised; boilerplate is not a copy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lci_py.training.leaks import COPY_COUNT, fingerprints, hits, is_copy, known_prints

LICENCE = "\n".join(f"# Permission is hereby granted, line {i} of the licence" for i in range(20))
IMPORTS = "import collections\nimport dataclasses\nfrom pathlib import Path\n"


def source(seed: int, lines: int = 40) -> str:
    body = "".join(f"    value_{seed}_{i} = compute_{seed}(argument_{i}, {i})\n" for i in range(lines))
    return f"def function_{seed}(argument):\n{body}    return value_{seed}_0\n"


KNOWN = fingerprints(source(1).encode())


@pytest.mark.parametrize(
    "copy",
    [
        source(1),
        source(1).replace("    ", "\t\t"),
        source(1).replace("\n", "\r\n\n"),
        source(1).replace("(", " ( ").replace(", ", ","),
        "\n".join("// another comment\n" + line for line in source(1).split("\n")),
        source(2, 60) + "\n".join(source(1).split("\n")[10:24]) + source(3, 20),  # a part, in the middle
    ],
    ids=["same", "indented", "line ends", "blanks", "comments", "part"],
)
def test_a_copy_is_found(copy: str) -> None:
    assert is_copy(fingerprints(copy.encode()), KNOWN)


def test_a_file_that_shares_a_licence_and_imports_is_no_copy() -> None:
    known = fingerprints((LICENCE + "\n" + IMPORTS + source(1)).encode())
    assert not is_copy(fingerprints((LICENCE + "\n" + IMPORTS + source(2)).encode()), known)


def test_a_short_stretch_of_a_long_file_is_no_copy() -> None:
    mixed = source(2, 100) + "\n".join(source(1).split("\n")[10:18])
    own = fingerprints(mixed.encode())
    assert COPY_COUNT <= hits(own, KNOWN) < 0.1 * len(own)
    assert not is_copy(own, KNOWN)


def test_a_fingerprint_is_three_lines_of_substance() -> None:
    lines = [f"first_value = {i} * width" for i in range(5)]
    assert len(fingerprints("\n".join(lines).encode())) == 3
    assert len(fingerprints("\n}\n# a comment of some length\n".join(lines).encode())) == 3
    assert len(fingerprints("\n".join(lines[:2]).encode())) == 0
    assert len(fingerprints(("\n".join(lines[:1] * 9)).encode())) == 1
    prints = fingerprints("\n".join(lines).encode())
    assert prints.dtype == np.uint64
    assert (np.diff(prints) > 0).all()
    assert not np.array_equal(prints, fingerprints("\n".join(reversed(lines)).encode()))


def test_hits_counts_members() -> None:
    known = np.array([3, 5, 9], np.uint64)
    assert hits(np.array([1, 3, 9, 10], np.uint64), known) == 2
    assert hits(np.zeros(0, np.uint64), known) == 0
    assert hits(known, np.zeros(0, np.uint64)) == 0
    assert not is_copy(np.zeros(0, np.uint64), known)


def test_known_prints_reads_code_under_any_name_and_forgets_what_many_share(tmp_path: Path) -> None:
    for number in range(6):
        folder = tmp_path / f"repo{number}"
        (folder / "vendor").mkdir(parents=True)
        (folder / "own.py").write_text(source(number) + "\n" + source(50))
        (folder / "vendor" / "other.py").write_text(source(60 + number))
        (folder / "notes.txt").write_text(source(70 + number))
        (folder / "README.md").write_text(source(80 + number))
    known = known_prints(tmp_path / f"repo{number}" for number in range(6))
    assert (np.diff(known) > 0).all()
    for number in range(6):
        assert is_copy(fingerprints(source(number).encode()), known)
    for shared_or_not_read in (50, 60, 70, 80):
        assert not is_copy(fingerprints(source(shared_or_not_read).encode()), known)
    assert len(known_prints([tmp_path / "repo0" / "vendor" / "nothing"])) == 0
    few = known_prints(tmp_path / f"repo{number}" for number in range(4))
    assert is_copy(fingerprints(source(50).encode()), few)
