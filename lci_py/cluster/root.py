"""The root of a search: adds up the statistics of all parts until no part lacks any, and merges the parts' results."""

from __future__ import annotations

import os
from collections import defaultdict
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.cluster.graph import PART
from lci_py.cluster.leaf import PartAnswer
from lci_py.errors import IndexError_, LciError, UsageError
from lci_py.search.answer.copies import Folding
from lci_py.search.modes.candidates import detail
from lci_py.search.query.text import refuse_wordless
from lci_py.search.ranking.fusion import POOL
from lci_py.search.ranking.graph_lift import SEEDS, Neighbours, ReachedUnits, weigh_neighbours
from lci_py.types.record import replace
from lci_py.types.search import Degradation, IndexInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from lci_py.cluster.fleet import Fleet
    from lci_py.cluster.leaf import Key
    from lci_py.cluster.workers import Workers
    from lci_py.types.search import Answer, Result, SearchRequest

#: Fields of a request that the root does not answer: they need the work tree, or all rows.
_LEFT_OUT = ("near", "expand", "budget_ms", "explain", "explain_file", "conflicts", "trace")

#: Maximum number of ranked results. A part only knows which of its hits are among the first `POOL` of all; the rest of
#: these makes up for copies.
_LIMIT = 300


# --- statistics ---------------------------------------------------------------------------------------------------


def merge_values(key: Key, own: Mapping[int, Any]) -> dict[int, Any]:
    """Maps each part to its value of a statistic (as `search/snapshot.py` defines it), computed over all parts.

    Args:
        key: Kind and name of the statistic, and a limit.
        own: Maps each part to the value that it has computed for itself; in the order of the parts.
    """
    kind, _, limit = key
    values = list(own.values())
    if kind == "share":
        return dict(zip(own, first_of(values, limit), strict=True))
    if kind == "around":
        return _graph_neighbours(own)
    merged: Any
    if kind == "joined":
        merged = tuple(item for value in values for item in value)
    elif kind == "nearest":
        merged = {}
        for name, (close, count) in (item for value in values for item in value.items()):
            best, others = merged.get(name, (close, 0))
            merged[name] = (close, count) if close > best else (best, others + count * (close == best))
    elif kind == "largest" and isinstance(values[0], dict):
        merged = {name: max(value.get(name, 0.0) for value in values) for name in set().union(*values)}
    elif kind == "largest":
        merged = max(values)
    elif isinstance(values[0], tuple):
        merged = tuple(map(sum, zip(*values, strict=True)))
    else:
        merged = sum(values)
    return dict.fromkeys(own, merged)


def first_of(columns: Sequence[tuple[NDArray[Any], ...]], limit: int) -> list[int]:
    """For each sorted list, how many items at its head are among the first `limit` items of all lists together.

    Args:
        columns: The keys by which each list is sorted, the largest first; ties go to the earlier list.
    """
    keys = [np.concatenate(some) for some in zip(*columns, strict=True)]
    of = np.repeat(np.arange(len(columns)), [len(some[0]) for some in columns])
    order = np.lexsort((of, *(-key for key in reversed(keys))))[:limit]
    return [int(count) for count in np.bincount(of[order], minlength=len(columns))]


def _graph_neighbours(own: Mapping[int, tuple[NDArray[Any], ...]]) -> dict[int, Neighbours]:
    """Maps each part to its units that are graph neighbours of the best candidates of all parts."""
    best = first_of([(value[0],) for value in own.values()], SEEDS)
    scores = np.concatenate([value[0][:count] for value, count in zip(own.values(), best, strict=True)])
    order = np.argsort(-scores, kind="stable")
    rank = np.empty(len(scores), np.int64)  # among all of each candidate, part by part
    rank[order] = np.arange(len(scores))
    columns = []
    starts = np.cumsum([0, *best]).tolist()
    for (part, (seeds, group, unit, sure)), count, start in zip(own.items(), best, starts, strict=False):
        relation, seed = np.divmod(group, max(len(seeds), 1))
        valid = seed < count
        unit = np.where(unit < PART, (part + 1) * PART + unit, unit)[valid]
        columns.append((relation[valid] * len(scores) + rank[start + seed[valid]], unit, sure[valid]))
    group, unit, sure = (np.concatenate(some) for some in zip(*columns, strict=True))
    surest = np.lexsort((unit, -sure, group))
    neighbours = weigh_neighbours(ReachedUnits(group[surest], unit[surest], sure[surest]), scores[order])
    of = neighbours.units // PART - 1
    return {part: Neighbours(neighbours.units[of == part] % PART, neighbours.values[of == part]) for part in own}


class _Statistics:
    """The statistics that the parts have reported for a query."""

    def __init__(self) -> None:
        self._own: dict[Key, dict[int, Any]] = {}
        self._merged: dict[Key, dict[int, Any]] = {}
        self._since: dict[Key, int] = {}  # the round trip in which each was first asked for
        self.run = os.urandom(8).hex()

    def add(self, lacking: Mapping[int, Mapping[Key, Any]]) -> None:
        """Add the parts' own values of the statistics that they lack.

        A part may lack a statistic whose total other parts have already used, without this part's value. Then all
        values that were asked for after that total are dropped, and the query starts again.
        """
        now = max(self._since.values(), default=0) + 1
        told = [self._since[key] for values in lacking.values() for key in values if key in self._since]
        last = min(told) if told else now
        if told:
            self.run = os.urandom(8).hex()
            for key in [key for key, since in self._since.items() if since > last]:
                del self._own[key], self._merged[key], self._since[key]
        changed = set()
        for part, values in lacking.items():
            for key, value in values.items():
                if self._since.get(key, now) <= last:
                    self._since.setdefault(key, now)
                    self._own.setdefault(key, {})[part] = value
                    changed.add(key)
        for key in changed:
            self._merged[key] = merge_values(key, dict(sorted(self._own[key].items())))

    def of(self, part: int) -> dict[Key, Any]:
        """The totals of the statistics that a part has asked for."""
        return {key: totals[part] for key, totals in self._merged.items() if part in totals}

    def shown(self) -> dict[int, int]:
        """Maps each part to its number of shown results; {} until the parts ask for it, at the end of a search."""
        counts: dict[int, int] = {}
        for (kind, what, _), shares in self._merged.items():
            if kind == "share" and isinstance(what, tuple) and what[0] == "shown":
                counts |= shares
        return counts


# --- the search ---------------------------------------------------------------------------------------------------


class Root:
    """Searches a fleet: asks the parts, and merges what they answer."""

    def __init__(self, workers: Workers, url: str, published: Callable[[], Fleet], snippet: int = 2) -> None:
        """`published` returns the current fleet; `snippet` is the default number of lines per result."""
        self._workers, self._url, self._published, self._snippet = workers, url, published, snippet
        self._lost: dict[int, str] = {}
        self._shas: dict[str, str] = {}  # of files that may be in several places

    def search(self, request: SearchRequest, repositories: Sequence[str] = ()) -> Answer:
        """Answer one query in its mode. For each part that does not answer, `degraded` has an entry.

        Args:
            repositories: Globs; only matching repositories are counted, ranked and listed. Empty for all.
        Raises:
            UsageError: The query, or a filter, cannot be used, a flag needs what a fleet does not have, or no
                repository has such a name.
            IndexError_: The fleet cannot be read, or no part answers.
        """
        for name in _LEFT_OUT:
            if getattr(request, name):
                raise UsageError(f"a fleet does not support --{name.replace('_', '-')}", hint="leave it out")
        if not request.query.strip() and not request.filters:
            raise UsageError("nothing to search for", hint="give a QUERY or a filter such as --kind or --path")
        size = (10 if request.limit is None else request.limit) + request.offset
        if size > _LIMIT and request.mode != "symbolic":
            raise UsageError(f"a fleet shows the best {_LIMIT} results of a query", hint="narrow it, or ask for fewer")
        for mapping in (self._lost, self._shas):
            mapping.clear()
        self._fleet = self._published()
        self._readable, self._only = self._parts_of(repositories)
        inner = replace(request, offset=0)
        if request.snippet is None and request.context is None:
            inner = replace(inner, snippet=self._snippet)
        previous = -1

        def ask(limit: int) -> Answer:
            nonlocal previous
            limit = limit if request.mode == "symbolic" else min(limit, POOL)
            answer = self._answer(replace(inner, limit=limit))
            if len(answer.results) <= previous:  # no more are shown than have been
                answer = replace(answer, has_more=False)
            previous = len(answer.results)
            return answer

        answer = Folding(lambda path: self._shas.get(path, ""), self._with_content, {}).folded(size, ask)
        if not answer.total and not self._lost:
            refuse_wordless(request)
        if request.offset:
            answer = replace(answer, results=answer.results[request.offset :], offset=request.offset)
        return replace(answer, degraded=(*answer.degraded, *self._losses()))

    def _parts_of(self, repositories: Sequence[str]) -> tuple[Sequence[int], frozenset[int] | None]:
        """The parts to search, as (indices, set of the indices or None for all parts)."""
        names = [part.name for part in self._fleet.parts]
        if not repositories:
            return range(len(names)), None
        places = [i for i, name in enumerate(names) if any(fnmatchcase(name, glob) for glob in repositories)]
        if not places:
            some = ", ".join(list(dict.fromkeys(names))[:5])
            raise UsageError("no repository of the fleet has such a name", hint=f"it has {some}")
        return places, frozenset(places)

    def _answer(self, request: SearchRequest) -> Answer:
        """Search all parts; returns the best results, including copies (results in files with the same content)."""
        parts, statistics = self._readable, _Statistics()
        while True:
            lost = len(self._lost)
            calls = {part: (statistics.run, request, statistics.of(part)) for part in parts}
            answers = self._ask("search", calls)
            lacking = {part: own for part, own in answers.items() if not isinstance(own, PartAnswer)}
            if len(self._lost) > lost:  # what it has counted is no part of the answer
                statistics = _Statistics()
            elif lacking:
                statistics.add(lacking)
            else:
                return self._of_parts(request, list(answers.values()))
            counts = statistics.shown()
            # Once all know how many results they show, the others are asked no more.
            parts = [part for part, count in counts.items() if count] if len(counts) == len(answers) else []
            parts = parts or self._readable

    def _of_parts(self, request: SearchRequest, answers: Sequence[PartAnswer]) -> Answer:
        results: list[Result] = []
        for answer, shas in answers:
            results += answer.results
            self._shas |= {result.file: sha for result, sha in zip(answer.results, shas, strict=True)}
        # Parts are in the order of their paths, and so are equal results.
        results.sort(key=lambda result: -result.mode_score)
        first = answers[0].answer
        return replace(
            first,
            query=request.query,
            results=tuple(results),
            has_more=first.total > len(results),
            index=IndexInfo(self._fleet.generation, self._fleet.built_at, None, None, 0),
            degraded=tuple(dict.fromkeys(item for answer, _ in answers for item in answer.degraded)),
        )

    def _with_content(self, sha: str) -> list[str]:
        return [path for paths in self._ask("copies", dict.fromkeys(self._readable, (sha,))).values() for path in paths]

    def _ask(self, method: str, arguments: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Call a method of several leaves (parts); returns a dict of the results of those that answer, in order.

        Raises:
            LciError: A leaf has raised a usage error, or no part answers.
        """
        arguments = {part: args for part, args in arguments.items() if part not in self._lost}
        calls = [(self._fleet.parts[part], args) for part, args in arguments.items()]
        answers = {}
        first: LciError | None = None
        for part, answer in zip(arguments, self._workers.call(self._url, self._only, method, calls), strict=True):
            if isinstance(answer, IndexError_):
                self._lost[part] = detail(answer)
                first = first or answer
            elif isinstance(answer, BaseException):
                raise answer
            else:
                answers[part] = answer
        if first is not None and len(self._lost) == len(self._readable):
            raise first
        return answers

    def _losses(self) -> list[Degradation]:
        """The entries of `degraded` for parts that did not answer, grouped by error."""
        by_reason: dict[str, list[str]] = defaultdict(list)
        for part, why in sorted(self._lost.items()):
            by_reason[why].append(self._fleet.parts[part].name)
        return [
            Degradation(
                "repositories", "error", "the other repositories", "high", f"{', '.join(dict.fromkeys(names))}: {why}"
            )
            for why, names in by_reason.items()
        ]
