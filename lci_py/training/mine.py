"""Store the pairs of one package as arrays for the later stages, so that no package is parsed twice.

`words.json` lists the distinct words of the package. A bag is word numbers with counts. `units` are chunks, in three
fields as the index embeds them: path, header (kind and qualified name), code.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lci_py.index.shards.text_fields import header_text, path_text
from lci_py.source.syntax.languages import is_test
from lci_py.source.text.words import WORD
from lci_py.training.corpus import Package, sources
from lci_py.training.leaks import fingerprints, hits, is_copy
from lci_py.training.pairs import KINDS, PackageText, Unit, pairs_of
from lci_py.training.texts import texts

FIELDS = ("path", "header", "code")
#: How the words of the question are removed from the answer: not at all, once each, or (a name) everywhere.
APART, ONCE, EVERYWHERE = range(3)


class _Words:
    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, words: Sequence[str]) -> list[int]:
        return [self.numbers.setdefault(word, len(self.numbers)) for word in words]


class _Lists:
    """Lists of numbers as (pointers, values)."""

    def __init__(self) -> None:
        self.pointers = [0]
        self.values: list[int] = []

    def add(self, values: Sequence[int]) -> None:
        self.values.extend(values)
        self.pointers.append(len(self.values))

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        return {f"{name}_ptr": np.array(self.pointers, np.int64), name: np.array(self.values, np.int32)}


def mine(work: Path, package: Package, known: Path) -> dict[str, int]:
    """Read a package and write `mined/<key>/`; returns counts for the report."""
    folder = work / "mined" / package.key
    if (folder / "report.json").exists():
        return dict(json.loads((folder / "report.json").read_text("utf-8")))
    prints = np.load(known, mmap_mode="r") if package.part == "train" else np.zeros(0, np.uint64)
    report: Counter[str] = Counter()
    found = PackageText()
    for text in texts(sources(work, package), package):
        own = fingerprints(text.data)
        report["files"] += 1
        if is_copy(own, prints):
            report["copies"] += 1
            continue
        report["prints"] += len(own)
        report["prints_known"] += hits(own, prints)
        found.add(text, own)
    _write(folder, package, found, report)
    return dict(report)


def _write(folder: Path, package: Package, found: PackageText, report: Counter[str]) -> None:
    rng = random.Random(package.key)
    words = _Words()
    queries, masks = _Lists(), _Lists()
    rows: list[tuple[int, int, int]] = []  # kind, unit, how
    used: dict[int, int] = {}
    for kind, query, unit in pairs_of(found, rng):
        if len(set(query)) < (2 if KINDS[kind] in ("name", "test", "section", "path") else 3):
            continue
        how = _how(KINDS[kind], rng)
        number = used.setdefault(unit.number, len(used)) if package.part == "train" else unit.number
        rows.append((kind, number, how))
        queries.add(words(query))
        own = WORD.findall(unit.symbol.name) if how == EVERYWHERE and unit.symbol is not None else []
        masks.add(words(own))
        report[KINDS[kind]] += 1
    kept = [found.units[number] for number in used] if package.part == "train" else found.units
    arrays: dict[str, Any] = {
        **_unit_arrays(kept, found, words),
        **queries.arrays("query"),
        **masks.arrays("mask"),
        "kind": np.array([row[0] for row in rows], np.uint8),
        "unit": np.array([row[1] for row in rows], np.int32),
        "how": np.array([row[2] for row in rows], np.uint8),
    }
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / "arrays.npz", **arrays)
    names = {"words": list(words.numbers), "files": [text.path for text in found.texts]}
    (folder / "words.json").write_text(json.dumps(names), "utf-8")
    (folder / "report.json").write_text(json.dumps(dict(report)), "utf-8")


def _how(kind: str, rng: random.Random) -> int:
    if kind in ("mention", "section", "test"):
        return APART
    if kind == "path":
        return ONCE if rng.random() < 0.7 else APART
    if kind == "name":
        # Half of the names stay in the code, as in a search: the model must learn that they count.
        return EVERYWHERE if rng.random() < 0.5 else APART
    return ONCE


def _unit_arrays(units: list[Unit], found: PackageText, words: _Words) -> dict[str, np.ndarray]:
    bags = _Lists()
    counts: list[int] = []
    fields: list[int] = []
    numbers = {text.path: number for number, text in enumerate(found.texts)}
    for unit in units:
        row: list[int] = []
        header = header_text(unit.symbol) if unit.symbol is not None else ""
        for position, text in enumerate((path_text(unit.text.path), header, unit.chunk.text)):
            bag = Counter(words(WORD.findall(text)))
            row.extend(bag)
            counts.extend(bag.values())
            fields.extend([position] * len(bag))
        bags.add(row)
    return {
        **bags.arrays("bag"),
        "count": np.minimum(np.array(counts, np.int64), 60_000).astype(np.uint16),
        "field": np.array(fields, np.uint8),
        "unit_file": np.array([numbers[unit.text.path] for unit in units], np.int32),
        "symbol": np.array([unit.chunk.symbol for unit in units], np.int32),
        "language": np.array([found.language(unit) for unit in units], np.uint8),
        "file_print": np.array(found.prints, np.uint64),
        "file_test": np.array([is_test(text.path) for text in found.texts], bool),
    }
