"""The multiview search: run the views in parallel, collect their candidates, measure every signal, fuse."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.errors import IndexError_, ShardMissingError
from lci_py.search.fusion import Fused, fuse, scaled
from lci_py.source.words import STOPWORDS, WORD, parts, stem
from lci_py.types import VIEWS, Degradation, Hit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lci_py.search.plan import Plan
    from lci_py.search.query import TextQuery
    from lci_py.search.retriever import DenseRetriever, LexicalRetriever, Retriever, SymbolicRetriever
    from lci_py.types import View

#: Candidates of each view. The ranking never depends on how many results are shown, so this is a constant.
POOL = 400


@dataclass(slots=True)
class Views:
    """Loaders of the three views; each may raise an `IndexError_`."""

    dense: Callable[[], DenseRetriever]
    bm25: Callable[[], LexicalRetriever]
    symbolic: Callable[[], SymbolicRetriever]


@dataclass(slots=True)
class Outcome:
    fused: list[Fused] = field(default_factory=list)
    hits: dict[View, dict[int, Hit]] = field(default_factory=dict)  # view -> unit -> hit
    degraded: list[Degradation] = field(default_factory=list)
    trace: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class UnitTable:
    """Facts about units that the fusion needs: all [units]."""

    file: NDArray[np.int32]
    is_test: NDArray[np.bool_]
    is_block: NDArray[np.bool_]
    is_text: NDArray[np.bool_]
    paths: list[str]  # per file


def search(query: TextQuery, plan: Plan, views: Views, table: UnitTable, allowed: NDArray[np.bool_] | None) -> Outcome:
    """Answer a multiview query.

    Args:
        query: The text to rank by.
        plan: Weights and factors.
        views: The loaders; a view that fails is reported in `degraded` and the others answer.
        table: Facts about the units.
        allowed: [units] mask of the filters.
    """
    outcome = Outcome()
    spent: dict[View, float] = {}

    def run(view: View) -> list[Hit]:
        began = time.perf_counter()
        retriever: Retriever = getattr(views, view)()
        hits, _ = retriever.search(query, POOL, allowed)
        spent[view] = (time.perf_counter() - began) * 1e3
        return hits

    found = _in_parallel(run)
    answering = [view for view in VIEWS if not isinstance(found[view], IndexError_)]
    for view in VIEWS:
        hits = found[view]
        if isinstance(hits, IndexError_):
            if not answering:
                raise hits  # the first view's error is the command's
            outcome.hits[view] = {}
            outcome.degraded.append(_degradation(view, hits, answering))
        elif isinstance(hits, BaseException):
            raise hits
        else:
            outcome.hits[view] = {hit.unit: hit for hit in hits}
            outcome.trace[view] = {"ms": spent[view], "candidates": len(hits)}
    units = np.array(sorted(set().union(*outcome.hits.values())), np.int64)
    if len(units):
        began = time.perf_counter()
        failed = {item.view for item in outcome.degraded}
        signals = measure(query, units, views, table, outcome.hits, failed)
        outcome.fused = fuse(units, signals, _factors(query, units, table), table.file[units], plan)
        outcome.trace["fusion"] = {"ms": (time.perf_counter() - began) * 1e3, "candidates": len(units)}
    return outcome


def _in_parallel(run: Callable[[View], list[Hit]]) -> dict[View, list[Hit] | BaseException]:
    """Each view in a thread of its own. Plain threads: importing an executor takes longer than a query."""
    found: dict[View, list[Hit] | BaseException] = {}

    def work(view: View) -> None:
        try:
            found[view] = run(view)
        except BaseException as error:  # re-raised by the caller, in its own thread
            found[view] = error

    threads = [threading.Thread(target=work, args=(view,), daemon=True) for view in VIEWS[1:]]
    for thread in threads:
        thread.start()
    work(VIEWS[0])
    for thread in threads:
        thread.join()
    return found


def _degradation(view: View, error: IndexError_, answering: list[View]) -> Degradation:
    missing = isinstance(error, ShardMissingError)  # also one that is still to be made
    mode = "shard_missing" if missing else error.code if error.code == "model_mismatch" else "error"
    impact = "medium" if view == "symbolic" else "high"
    return Degradation(view, mode, "+".join(answering), impact, error.message)


def measure(
    query: TextQuery, units: NDArray[np.int64], views: Views, table: UnitTable,
    hits: dict[View, dict[int, Hit]], failed: set[str],
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
    signals["symbol"] = np.array([symbolic[u].score if u in symbolic else 0.0 for u in units.tolist()], np.float32)
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


def _factors(query: TextQuery, units: NDArray[np.int64], table: UnitTable) -> dict[str, NDArray[np.bool_]]:
    asked = {word.lower() for word in query.words}
    nothing = np.zeros(len(units), np.bool_)
    return {
        "test": nothing if asked & {"test", "tests", "testing", "spec", "fixture"} else table.is_test[units],
        "block": table.is_block[units],
        "text": table.is_text[units],
    }
