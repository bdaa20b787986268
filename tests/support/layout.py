"""The same chunks laid out in one segment, or in several segments with dead copies of some files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lci_py.index.shards.arrays import Arrays, write_arrays
from lci_py.index.shards.dense import write_dense
from lci_py.index.shards.numbering import Numbering, number_slots
from lci_py.index.shards.tokens import write_tokens


@dataclass(frozen=True)
class File:
    path: str
    units: int
    chunk_unit: list[int]  # per chunk: the file's unit
    vectors: np.ndarray  # [chunks, d]
    bags: list[list[int]]


@dataclass(frozen=True)
class Layout:
    dense: list[Path]
    tokens: list[Path]
    numbering: Numbering


def row_sizes(sizes: Mapping[str, Sequence[np.ndarray]]) -> dict[str, np.ndarray]:
    """The arrays of a numbering with the number of rows of each file of each segment."""
    return {f"{kind}_sizes": np.concatenate([np.zeros(0), *own]).astype(np.int32) for kind, own in sizes.items()}


def random_file(rng: np.random.Generator, path: str, dimension: int, vocabulary: int, pool: np.ndarray) -> File:
    """A file with vectors of `pool`, so that files have equal chunks."""
    units = int(rng.integers(1, 4))
    chunk_unit = [*range(units), *rng.integers(0, units, rng.integers(0, 4)).tolist()]
    vectors = pool[rng.integers(0, len(pool), len(chunk_unit))]
    bags = [sorted(rng.choice(vocabulary, rng.integers(0, 9), replace=False).tolist()) for _ in chunk_unit]
    return File(path, units, rng.permutation(chunk_unit).tolist(), vectors.reshape(-1, dimension), bags)


def lay_out(folder: Path, segments: Sequence[Sequence[tuple[File, bool]]]) -> Layout:
    """Write the segments, each a list of files: its rows, and whether it is live."""
    folder.mkdir(parents=True)
    dense, tokens, counts, paths = [], [], [], []
    sizes: dict[str, list[np.ndarray]] = {"symbols": [], "units": [], "chunks": []}
    for number, segment in enumerate(segments):
        files = [file for file, _ in segment]
        first = np.cumsum([0, *(file.units for file in files)])
        units = np.array([first[i] + unit for i, file in enumerate(files) for unit in file.chunk_unit], np.int64)
        dimension = files[0].vectors.shape[1]
        dense.append(folder / f"{number}.faiss")
        write_dense(
            dense[-1], np.concatenate([np.zeros((0, dimension), np.float32), *(f.vectors for f in files)]), units
        )
        bags = [bag for file in files for bag in file.bags]
        tokens.append(folder / f"{number}.arrays")
        write_tokens(
            tokens[-1], [], [], np.cumsum([0, *map(len, bags)]), np.array([t for bag in bags for t in bag], np.int32)
        )
        counts.append({"files": len(files), "symbols": 0, "units": int(first[-1]), "chunks": len(bags)})
        paths.append([file.path if alive else None for file, alive in segment])
        sizes["symbols"].append(np.zeros(len(files), np.int64))
        sizes["units"].append(np.array([file.units for file in files], np.int64))
        sizes["chunks"].append(np.array([len(file.bags) for file in files], np.int64))
    if len(segments) == 1 and all(alive for _, alive in segments[0]):
        return Layout(dense, tokens, Numbering(counts))
    write_arrays(folder / "numbering.arrays", number_slots(paths) | row_sizes(sizes))
    return Layout(dense, tokens, Numbering(counts, Arrays(folder / "numbering.arrays")))


def random_layouts(
    folder: Path, rng: np.random.Generator, segments: int, dimension: int, vocabulary: int
) -> tuple[Layout, Layout]:
    """The same live files in one segment, and in several with dead ones."""
    pool = rng.standard_normal((int(rng.integers(1, 30)), dimension)).astype(np.float32)
    pool /= np.linalg.norm(pool, axis=1, keepdims=True)

    def made(path: str) -> File:
        return random_file(rng, path, dimension, vocabulary, pool)

    living = [made(f"{i:03}") for i in range(int(rng.integers(segments, 40)))]
    spread: list[list[tuple[File, bool]]] = [[] for _ in range(segments)]
    for i, file in enumerate(living):
        own = i if i < segments else int(rng.integers(segments))  # none is empty
        for number in range(segments):
            if number == own:
                spread[number].append((file, True))
            elif rng.random() < 0.3:
                spread[number].append((made(file.path), False))  # an older version of the file
    one = lay_out(folder / "one", [[(file, True) for file in living]])
    return one, lay_out(folder / "several", spread)
