"""Measure a model on packages it has not seen, and never on the benchmark.

Two measures. *Within package*: each doc comment searches its definition among all documented ones of the package; mean
reciprocal rank (MRR). *Repository*: questions of every kind search all chunks of a package, files are ranked by their
best chunk, and only the file of the question is right; NDCG@10, as for a search.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lci_py.training.corpus import Package
from lci_py.training.dataset import Mined, Parts, codes, load
from lci_py.training.mine import EVERYWHERE, ONCE
from lci_py.training.pairs import KINDS
from lci_py.types.record import dataclass

#: (bags of tokens with counts [n, tokens], whether they are questions) -> unit vectors [n, d].
Embed = Callable[[sparse.csr_matrix, bool], NDArray[np.float32]]
PER_PACKAGE = 400
#: Questions of a repository, by kind.
_MIX = {"doc": 40, "comment": 25, "module": 10, "mention": 10, "section": 0, "name": 15, "test": 5}


@dataclass(slots=True)
class Questions:
    """Questions and chunks of one package, over part numbers of `Parts`."""

    name: str
    queries: sparse.csr_matrix  # question x part
    units: sparse.csr_matrix  # chunk x part, without the text of the questions
    unit_file: NDArray[np.int64]
    wanted: NDArray[np.int64]  # file of each question
    kinds: NDArray[np.int64]


def within(work: Path, packages: list[Package], parts: Parts, *, body_only: bool = False) -> list[Questions]:
    """Doc comments as questions, and their definitions as chunks: chunk i answers question i."""
    found = []
    for package in packages:
        mined = load(work, package)
        if mined is None:
            continue
        docs = np.flatnonzero(mined.arrays["kind"] == KINDS.index("doc"))
        rng = random.Random(package.key)
        chosen, seen = [], set()
        for pair in rng.sample(docs.tolist(), len(docs)):
            text = mined.queries[pair].indices.tobytes()
            if text not in seen and mined.queries[pair].nnz >= 4:
                seen.add(text)
                chosen.append(pair)
        kept = np.array(sorted(chosen[:PER_PACKAGE]), np.int64)
        code = codes(mined, kept, body_only=body_only)
        enough = np.diff(code.indptr) >= 8
        kept, code = kept[enough], code[enough]
        if len(kept) < 50:
            continue
        expand, numbers = parts.matrix(mined.words)
        rows = np.arange(len(kept))
        kinds = mined.arrays["kind"][kept].astype(np.int64)
        found.append(
            Questions(
                package.key,
                _spread(mined.queries[kept] @ expand, numbers),
                _spread(code @ expand, numbers),
                rows,
                rows,
                kinds,
            )
        )
    return found


def repositories(work: Path, packages: list[Package], parts: Parts) -> list[Questions]:
    """Packages as repositories, with questions of every kind."""
    found = []
    for package in packages:
        mined = load(work, package)
        if mined is None:
            continue
        kept = _mixed(mined, random.Random(package.key))
        if len(kept) < 20:
            continue
        expand, numbers = parts.matrix(mined.words)
        units = mined.units.tolil(copy=True)
        how, unit = mined.arrays["how"][kept], mined.arrays["unit"][kept]
        for pair in kept[(how == ONCE) | (how == EVERYWHERE)]:
            row = int(mined.arrays["unit"][pair])
            if KINDS[mined.arrays["kind"][pair]] != "name":  # a search for a name finds it in the code
                units[row] = np.maximum(units[row].toarray() - mined.queries[pair].toarray(), 0)
        files = mined.arrays["unit_file"].astype(np.int64)
        found.append(
            Questions(
                package.key,
                _spread(mined.queries[kept] @ expand, numbers),
                _spread(units.tocsr() @ expand, numbers),
                files,
                files[unit],
                mined.arrays["kind"][kept].astype(np.int64),
            )
        )
    return found


def _mixed(mined: Mined, rng: random.Random) -> NDArray[np.int64]:
    chosen: list[int] = []
    for kind, count in _MIX.items():
        pairs = np.flatnonzero(mined.arrays["kind"] == KINDS.index(kind)).tolist()
        pairs = [pair for pair in pairs if mined.queries[pair].nnz >= (2 if kind in ("name", "test") else 4)]
        chosen.extend(rng.sample(pairs, min(count, len(pairs))))
    return np.array(sorted(chosen), np.int64)


def _spread(matrix: sparse.csr_matrix, numbers: NDArray[np.int64]) -> sparse.csr_matrix:
    """The same rows over global part numbers, up to the largest one so far."""
    matrix = matrix.tocsr()
    matrix.eliminate_zeros()
    return sparse.csr_matrix(
        (matrix.data, numbers[matrix.indices], matrix.indptr), shape=(matrix.shape[0], int(numbers.max()) + 1)
    )


def mrr(items: list[Questions], embed: Embed, tokens: sparse.csr_matrix) -> tuple[float, float]:
    """Mean reciprocal rank within packages (mean over packages), and among the definitions of all packages."""
    inside, questions, answers = [], [], []
    for item in items:
        query, code = embed(_tokens(item.queries, tokens), True), embed(_tokens(item.units, tokens), False)
        inside.append(_reciprocal(query @ code.T).mean())
        questions.append(query)
        answers.append(code)
    return float(np.mean(inside)), float(_reciprocal(np.concatenate(questions) @ np.concatenate(answers).T).mean())


def _reciprocal(scores: NDArray[np.float32]) -> NDArray[np.float64]:
    own = np.diagonal(scores)[:, None]
    ranks = 1 + (scores > own).sum(axis=1) + ((scores == own).sum(axis=1) - 1) / 2
    return np.asarray(1.0 / ranks, np.float64)


def table_embedder(rows: NDArray[np.float32], ratios: NDArray[np.float32]) -> Embed:
    """An `Embed` of a table: rows [tokens, d], and factors [tokens] of the tokens' weights in questions."""

    def embed(bags: sparse.csr_matrix, question: bool) -> NDArray[np.float32]:
        vectors = _weighted(bags, ratios if question else None) @ rows
        return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-9)[:, None], np.float32)

    return embed


def _weighted(bags: sparse.csr_matrix, ratios: NDArray[np.float32] | None) -> sparse.csr_matrix:
    weights = (1.0 + np.log(bags.data)).astype(np.float32)
    if ratios is not None:
        weights *= ratios[bags.indices]
    return sparse.csr_matrix((weights, bags.indices, bags.indptr), shape=bags.shape)


def ndcg(
    items: list[Questions], rows: NDArray[np.float32], ratios: NDArray[np.float32], tokens: sparse.csr_matrix,
    *, late: float = 0.0,
) -> tuple[float, dict[str, float]]:  # fmt: skip
    """NDCG@10 over files: mean over packages; and by kind of question.

    A chunk is scored as in dense search: cosine + `late` x coverage (`index.shards.tokens`).
    """
    embed = table_embedder(rows, ratios)
    means: list[float] = []
    by_kind: dict[str, list[float]] = {}
    for item in items:
        query, code = _tokens(item.queries, tokens), _tokens(item.units, tokens)
        scores = np.maximum(embed(query, True) @ embed(code, False).T, 0)
        if late:
            scores += late * coverage(query, code, rows, ratios)
        gains = gains_of(item, scores)
        means.append(float(gains.mean()))
        for kind, gain in zip(item.kinds, gains, strict=True):
            by_kind.setdefault(KINDS[kind], []).append(gain)
    return float(np.mean(means)), {kind: round(float(np.mean(gains)), 4) for kind, gains in by_kind.items()}


def coverage(
    query: sparse.csr_matrix, code: sparse.csr_matrix, rows: NDArray[np.float32], ratios: NDArray[np.float32]
) -> NDArray[np.float32]:
    """`index.shards.tokens.TokenBags.coverage` of every chunk for every question: [questions, chunks]."""
    sizes = np.linalg.norm(rows, axis=1)
    used = np.flatnonzero(np.diff(code.indptr) > 0)
    distinct, back = np.unique(code.indices, return_inverse=True)
    closest = rows[distinct] / np.maximum(sizes[distinct], 1e-9)[:, None]
    weighted = _weighted(query, ratios)
    out = np.zeros((query.shape[0], code.shape[0]), np.float32)
    for row in range(query.shape[0]):
        own = slice(weighted.indptr[row], weighted.indptr[row + 1])
        ids = weighted.indices[own]
        weights = weighted.data[own] * sizes[ids]
        if not len(ids) or not weights.sum():
            continue
        asked = rows[ids] / np.maximum(sizes[ids], 1e-9)[:, None]
        near = np.maximum(asked @ closest.T, 0) ** 2
        out[row, used] = weights / weights.sum() @ np.maximum.reduceat(near[:, back], code.indptr[used], axis=1)
    return out


def gains_of(item: Questions, scores: NDArray[np.float32]) -> NDArray[np.float64]:
    """The gain of each question, from the scores [questions, chunks]."""
    order = np.argsort(item.unit_file, kind="stable")
    first = np.flatnonzero(np.diff(item.unit_file[order], prepend=-1))
    best = np.maximum.reduceat(scores[:, order], first, axis=1)
    files = item.unit_file[order][first]
    own = best[np.arange(len(best)), np.searchsorted(files, item.wanted)][:, None]
    rank = 1 + (best > own).sum(axis=1)
    return np.where(rank <= 10, 1 / np.log2(1 + rank), 0.0)


def _tokens(bags: sparse.csr_matrix, tokens: sparse.csr_matrix) -> sparse.csr_matrix:
    return (bags @ tokens[: bags.shape[1]]).tocsr()
