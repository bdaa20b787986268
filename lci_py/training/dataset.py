"""Join the pairs of all mined packages over one vocabulary of identifier parts, without repetitions.

A bag is a row of a sparse matrix: identifier parts (as `source.text.words.parts` splits them) with their counts.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lci_py.index.shards.text_fields import EMBEDDED_HEADER, EMBEDDED_PATH
from lci_py.source.text.words import parts
from lci_py.training.corpus import Package
from lci_py.training.mine import EVERYWHERE, FIELDS, ONCE
from lci_py.training.pairs import KINDS, LANGUAGES
from lci_py.training.texts import THIN
from lci_py.types.record import dataclass

#: Most pairs of one package and language; more where a language has few packages.
CAP, CAP_THIN = 12_000, 60_000
SAME_QUERY = 4
#: Share of pairs of a kind that is kept before the cap: there are many, and they are similar.
KEEP = {"signature": 0.5, "path": 0.7, "name": 0.8}


@dataclass(slots=True)
class Mined:
    """The arrays of one package (see `mine`), as matrices over the words of the package."""

    words: list[str]
    files: list[str]
    units: sparse.csr_matrix  # unit x word, all fields
    queries: sparse.csr_matrix  # pair x word
    masks: sparse.csr_matrix
    arrays: dict[str, NDArray[np.generic]]


def _matrix(
    arrays: dict[str, NDArray[np.generic]], name: str, width: int, data: NDArray[np.generic] | None = None
) -> sparse.csr_matrix:
    columns = arrays[name]
    values = np.ones(len(columns), np.float32) if data is None else data.astype(np.float32)
    pointers = arrays[f"{name}_ptr"].copy()  # summing up works in place
    matrix = sparse.csr_matrix((values, columns.copy(), pointers), shape=(len(pointers) - 1, width))
    matrix.sum_duplicates()
    return matrix


def load(work: Path, package: Package) -> Mined | None:
    """The pairs of a package; None if it has none."""
    folder = work / "mined" / package.key
    if not (folder / "report.json").exists():
        return None
    names = json.loads((folder / "words.json").read_text("utf-8"))
    with np.load(folder / "arrays.npz") as opened:
        arrays = {name: opened[name] for name in opened.files}
    width = len(names["words"])
    if not width or not len(arrays["kind"]):
        return None
    times = np.array([EMBEDDED_PATH, EMBEDDED_HEADER, 1.0], np.float32)[arrays["field"]]
    return Mined(
        names["words"], names["files"], _matrix(arrays, "bag", width, arrays["count"] * times),
        _matrix(arrays, "query", width), _matrix(arrays, "mask", width), arrays,
    )  # fmt: skip


def codes(mined: Mined, pairs: NDArray[np.int64], *, body_only: bool = False) -> sparse.csr_matrix:
    """The answers of some pairs, without the words of the question: [len(pairs), words].

    With `body_only` only the code, without path and header.
    """
    how = mined.arrays["how"][pairs]
    units = mined.units
    if body_only:
        counts = np.where(mined.arrays["field"] == FIELDS.index("code"), mined.arrays["count"], 0)
        units = _matrix(mined.arrays, "bag", len(mined.words), counts)
    code = units[mined.arrays["unit"][pairs]]
    asked = mined.queries[pairs]
    code = code - sparse.diags((how == ONCE).astype(np.float32)) @ asked
    code.data = np.maximum(code.data, 0)
    # Words of a path or a heading count more than once: remove them all (for half of the headings, as with names).
    kind = mined.arrays["kind"][pairs]
    whole = (how == ONCE) & (kind == KINDS.index("path")) | (kind == KINDS.index("section")) & (pairs % 2 == 0)
    gone = sparse.diags((how == EVERYWHERE).astype(np.float32)) @ mined.masks[pairs]
    gone = (gone + sparse.diags(whole.astype(np.float32)) @ asked).tocsr()
    gone.data[:] = 1
    code = (code - code.multiply(gone)).tocsr()
    code.eliminate_zeros()
    return code


class Parts:
    """Numbers of identifier parts, growing."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def matrix(self, words: list[str]) -> tuple[sparse.csr_matrix, NDArray[np.int64]]:
        """The parts of one package's words: (word x part, numbered within the package; global number of each part)."""
        own: dict[int, int] = {}
        pointers, columns = [0], []
        for word in words:
            for part in parts(word):
                number = self.numbers.setdefault(part, len(self.numbers))
                columns.append(own.setdefault(number, len(own)))
            pointers.append(len(columns))
        data = np.ones(len(columns), np.float32)
        matrix = sparse.csr_matrix((data, np.array(columns, np.int32), pointers), shape=(len(words), max(len(own), 1)))
        return matrix, np.array(list(own) or [0], np.int64)


@dataclass(slots=True)
class Bags:
    """Rows of part numbers with counts, as three flat arrays."""

    pointers: NDArray[np.int64]
    columns: NDArray[np.int32]
    counts: NDArray[np.uint8]

    @classmethod
    def join(cls, rows: list[tuple[sparse.csr_matrix, NDArray[np.int64]]]) -> Bags:
        pointers = [np.zeros(1, np.int64)]
        total = 0
        for matrix, _ in rows:
            pointers.append(matrix.indptr[1:].astype(np.int64) + total)
            total += int(matrix.indptr[-1])
        columns = np.empty(total, np.int32)
        counts = np.empty(total, np.uint8)
        start = 0
        for matrix, numbers in rows:
            stop = start + len(matrix.indices)
            columns[start:stop] = numbers[matrix.indices]
            counts[start:stop] = np.minimum(matrix.data, 255)
            start = stop
        return cls(np.concatenate(pointers), columns, counts)


def assemble(work: Path, packages: list[Package], *, seed: int = 0) -> dict[str, int]:
    """Write `pairs.npz` and `parts.json` with every usable training pair; returns counts."""
    vocabulary, rng = Parts(), random.Random(seed)
    queries: list[tuple[sparse.csr_matrix, NDArray[np.int64]]] = []
    answers: list[tuple[sparse.csr_matrix, NDArray[np.int64]]] = []
    about: dict[str, list[NDArray[np.generic]]] = {"kind": [], "language": [], "package": [], "chunk": []}
    seen_files: set[int] = set()
    seen: Counter[int] = Counter()
    chunks = 0
    for number, package in enumerate(packages):
        mined = load(work, package)
        if mined is None:
            continue
        kept = _choose(mined, seen_files, seen, rng)
        if not len(kept):
            continue
        expand, numbers = vocabulary.matrix(mined.words)
        query, answer = mined.queries[kept] @ expand, codes(mined, kept) @ expand
        enough = (np.diff(answer.indptr) >= 8) & (np.diff(query.indptr) >= 2)
        kept, query, answer = kept[enough], query[enough], answer[enough]
        queries.append((query, numbers))
        answers.append((answer, numbers))
        about["kind"].append(mined.arrays["kind"][kept])
        about["language"].append(mined.arrays["language"][mined.arrays["unit"][kept]])
        about["package"].append(np.full(len(kept), number, np.int32))
        about["chunk"].append(mined.arrays["unit"][kept].astype(np.int64) + chunks)
        chunks += mined.units.shape[0]
    arrays: dict[str, Any] = {name: np.concatenate(values) for name, values in about.items()}
    for name, rows in (("query", queries), ("answer", answers)):
        bags = Bags.join(rows)
        arrays |= {f"{name}_ptr": bags.pointers, f"{name}_ids": bags.columns, f"{name}_cnt": bags.counts}
    np.savez(work / "pairs.npz", **arrays)
    (work / "parts.json").write_text(json.dumps(list(vocabulary.numbers)), "utf-8")
    report = {f"kind {KINDS[k]}": int(n) for k, n in enumerate(np.bincount(arrays["kind"], minlength=len(KINDS)))}
    report |= {LANGUAGES[k]: int(n) for k, n in enumerate(np.bincount(arrays["language"], minlength=len(LANGUAGES)))}
    return {"pairs": len(arrays["kind"]), **report}


def _choose(mined: Mined, seen_files: set[int], seen: Counter[int], rng: random.Random) -> NDArray[np.int64]:
    """The pairs to keep of a package: no copied files, few pairs per question, and a cap per language."""
    arrays = mined.arrays
    prints = arrays["file_print"].tolist()
    fresh_file = [print_ not in seen_files for print_ in prints]
    for index, print_ in enumerate(prints):
        if print_ in seen_files:
            fresh_file[index] = False
        seen_files.add(print_)
    units, kinds = arrays["unit"].tolist(), arrays["kind"].tolist()
    files, languages = arrays["unit_file"].tolist(), arrays["language"].tolist()
    pointers, words = arrays["query_ptr"].tolist(), arrays["query"].tolist()
    order = list(range(len(kinds)))
    rng.shuffle(order)
    per_language: Counter[int] = Counter()
    kept = []
    for pair in order:
        unit = units[pair]
        language = languages[unit]
        cap = CAP_THIN if LANGUAGES[language] in THIN else CAP
        if not fresh_file[files[unit]] or per_language[language] >= cap:
            continue
        if LANGUAGES[language] not in THIN and rng.random() > KEEP.get(KINDS[kinds[pair]], 1.0):
            continue
        query = " ".join(mined.words[word] for word in words[pointers[pair] : pointers[pair + 1]]).lower()
        key = hash(query)
        if seen[key] >= SAME_QUERY:
            continue
        seen[key] += 1
        per_language[language] += 1
        kept.append(pair)
    return np.array(sorted(kept), np.int64)
