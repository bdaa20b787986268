"""The signals of a multiview ranking: what is measured of every candidate, whichever view found it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lci_py.search.fusion import scaled
from lci_py.source.words import STOPWORDS, WORD, parts, stem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from lci_py.index.unit_table import UnitTable
    from lci_py.search.hits import HitList
    from lci_py.search.multiview import Views
    from lci_py.search.query import TextQuery
    from lci_py.types import View


def measure(
    query: TextQuery, units: NDArray[np.int64], views: Views, table: UnitTable,
    hits: Mapping[View, HitList], failed: set[str],
) -> dict[str, NDArray[np.float32]]:  # fmt: skip
    """Every signal of every candidate, scaled to [0, 1]: name -> [candidates]."""
    signals: dict[str, NDArray[np.float32]] = {}
    files = table.file[units]
    if "dense" not in failed:
        dense = views.dense()
        signals["dense"] = scaled(dense.scores(query, units))
        signals["dense_file"] = scaled(_mean_of_best(signals["dense"], files, len(table.paths)))
    if "bm25" not in failed:
        lexical = views.bm25()
        for name, values in lexical.field_scores(query).items():
            signals[name] = scaled(values[units])
        signals["stem"] = stem_match(query, table.paths, files)
    symbolic = hits["symbolic"]
    signals["symbol"] = np.zeros(len(units), np.float32)
    signals["symbol"][np.searchsorted(units, symbolic.units)] = symbolic.scores
    return signals


def _mean_of_best(
    values: NDArray[np.float32], files: NDArray[np.int32], n_files: int, best: int = 3
) -> NDArray[np.float32]:
    """Per candidate, the mean of its file's best values: a file that answers in several places answers better."""
    order = np.lexsort((-values, files))
    sums = np.zeros(n_files, np.float32)
    taken = np.zeros(n_files, np.int32)
    for i in order:
        if taken[files[i]] < best:
            sums[files[i]] += values[i]
            taken[files[i]] += 1
    means: NDArray[np.float32] = sums / np.float32(best)
    return means[files]


def stem_match(query: TextQuery, paths: list[str], files: NDArray[np.int32]) -> NDArray[np.float32]:
    """How much of the file's own name (or its folder's, for index files) the query's words spell: [candidates]."""
    words = {stem(part) for word in query.words if word.lower() not in STOPWORDS for part in parts(word)}
    cache: dict[int, float] = {}
    for number in set(files.tolist()):
        segments = paths[number].split("/")
        name = segments[-1].partition(".")[0]
        if name.lower() in ("index", "__init__", "mod", "lib", "main", "init") and len(segments) > 1:
            name = segments[-2]
        pieces = [stem(part) for word in WORD.findall(name) for part in parts(word)]
        known = sum(len(piece) for piece in pieces if _spelled(piece, words))
        cache[number] = known / max(1, sum(map(len, pieces)))
    return np.array([cache[number] for number in files.tolist()], np.float32)


def _spelled(piece: str, words: set[str]) -> bool:
    """The piece is one of the words, or shares a long beginning with one: resolver, resolution."""
    if piece in words:
        return True
    return len(piece) >= 5 and any(len(w) >= 5 and (w.startswith(piece[:5]) and piece.startswith(w[:5])) for w in words)


def factors(query: TextQuery, units: NDArray[np.int64], table: UnitTable) -> dict[str, NDArray[np.bool_]]:
    """Where each factor applies: name -> [candidates]."""
    asked = {word.lower() for word in query.words}
    nothing = np.zeros(len(units), np.bool_)
    return {
        "test": nothing if asked & {"test", "tests", "testing", "spec", "fixture"} else table.is_test[units],
        "block": table.is_block[units],
        "text": table.is_text[units],
    }
