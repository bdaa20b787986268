"""The signals of a multiview ranking: what is measured of every candidate, whichever view found it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lci_py.search.spread import depths
from lci_py.source.words import STOPWORDS, WORD, parts, stem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from lci_py.index.graph import GraphIndex
    from lci_py.index.unit_table import UnitTable
    from lci_py.search.hits import HitList
    from lci_py.search.multiview import Views
    from lci_py.search.query import TextQuery
    from lci_py.types import View


class Measure:
    """Measures the signals of a query's candidates. What is scaled, is scaled by the largest value of the first ones:
    those that come later, from the graph, do not change what the others are worth."""

    def __init__(
        self, query: TextQuery, views: Views, table: UnitTable, hits: Mapping[View, HitList], graph: GraphIndex | None
    ) -> None:
        """
        Args:
            query: The text.
            views: The loaders; the ones that did not answer are not asked.
            table: Facts about the units.
            hits: Of the views that answered.
            graph: None if it cannot be used.
        """
        self._query, self._views, self._table, self._hits, self._graph = query, views, table, hits, graph
        self._peaks: dict[str, float] = {}
        self._file_means: NDArray[np.float32] | None = None

    def signals(self, units: NDArray[np.int64]) -> dict[str, NDArray[np.float32]]:
        """Every signal of every candidate, in [0, 1]: name -> [n], for units [n], ascending."""
        query, table = self._query, self._table
        files = table.file[units]
        signals: dict[str, NDArray[np.float32]] = {}
        if "dense" in self._hits:
            dense = self._views.dense()
            signals["dense"] = self._scaled("dense", dense.scores(query, units))
            if self._file_means is None:
                self._file_means = _means_of_best(signals["dense"], files, len(table.paths))
            signals["dense_file"] = self._scaled("dense_file", self._file_means[files])
            whole = dense.of_files(query, table.file, len(table.paths))
            signals["dense_all"] = self._scaled("dense_all", whole[files])
        if "bm25" in self._hits:
            for name, values in self._views.bm25().field_scores(query).items():
                signals[name] = self._scaled(name, values[units])
            signals["stem"] = stem_match(query, table.paths, files)
        if self._graph is not None:
            signals["hub"] = self._scaled("hub", np.log1p(self._graph.importers[files].astype(np.float32)))
        if "symbolic" in self._hits:
            found = self._hits["symbolic"]
            signals["symbol"] = np.zeros(len(units), np.float32)
            place = np.searchsorted(units, found.units)
            place = np.minimum(place, max(len(units) - 1, 0))
            there = units[place] == found.units if len(units) else np.zeros(len(place), np.bool_)
            signals["symbol"][place[there]] = found.scores[there]
        return signals

    def _scaled(self, name: str, values: NDArray[np.float32]) -> NDArray[np.float32]:
        peak = self._peaks.setdefault(name, float(values.max()) if len(values) else 0.0)
        return np.clip(values / np.float32(peak), 0, 1) if peak > 0 else np.zeros_like(values)


def _means_of_best(
    values: NDArray[np.float32], files: NDArray[np.int32], n_files: int, best: int = 3
) -> NDArray[np.float32]:
    """Of each file, the mean of its best values: a file that answers in several places answers better. [n_files]"""
    order = np.lexsort((-values, files))
    order = order[depths(files[order]) < best]
    return np.asarray(np.bincount(files[order], values[order], minlength=n_files) / best, np.float32)


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
