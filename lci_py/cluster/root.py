"""The root of a search: asks all parts, ranks their candidates as those of one index, and has the results shown.

Round trips of a query: one or two for the statistics (fewer when their terms have been asked before), one for the
heads, and one or two for the results. A multiview query needs two more: what is around the best results, and the
features of what that leads to.
"""

from __future__ import annotations

import time
from _thread import allocate_lock
from bisect import bisect_right
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from lci_py.cluster.messages import Ask, Choice, Counts, Need, Present, Shown
from lci_py.cluster.universe import LackingError, Universe
from lci_py.errors import IndexError_, LciError, UsageError
from lci_py.index.shards.abbreviations import Abbreviation
from lci_py.index.shards.bm25 import FIELDS, ROWS, Collection, Term
from lci_py.search.answer.copies import Copies, Folding
from lci_py.search.answer.graph_context import context
from lci_py.search.degraded import Extras, detail
from lci_py.search.modes.candidates import check_words
from lci_py.search.modes.fallback import first
from lci_py.search.modes.multiview import Question, climbed, own_scores, search
from lci_py.search.modes.single import with_literal_hits
from lci_py.search.modes.structural import terms_of
from lci_py.search.query.plan import plan as make_plan
from lci_py.search.query.rewrites import look_up, rewritten
from lci_py.search.query.text import read_fields, read_symbolic, read_text, refuse_wordless
from lci_py.search.ranking.evidence import SAME_FILE, evidence
from lci_py.search.ranking.fusion import POOL, Outcome
from lci_py.search.ranking.graph_lift import Reached
from lci_py.search.ranking.same_file import spread
from lci_py.search.ranking.spelled import NameCounts, may_be_a_name, texts_of, words_of
from lci_py.search.views.hits import HitList
from lci_py.types.search import VIEWS, Answer, Degradation, Filters, IndexInfo, Result

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from lci_py.cluster.messages import Files, Head
    from lci_py.search.modes.fallback import Attempt
    from lci_py.search.query.plan import Plan
    from lci_py.search.query.rewrites import Wording
    from lci_py.search.query.text import TextQuery
    from lci_py.search.ranking.signals import Mention
    from lci_py.search.ranking.spelled import Spelled
    from lci_py.types.search import SearchRequest, View

_T = TypeVar("_T")
#: Fields of a request that the root does not answer: they need the work tree, or all rows.
_LEFT_OUT = ("near", "expand", "budget_ms", "explain", "explain_file", "shadow", "conflicts", "trace")


class PartInfo(NamedTuple):
    """What the root knows of a part.

    Attributes:
        name: Of the repository, which is the first folder of all its paths.
        counts: Rows of each kind: `files`, `symbols`, `units`, `chunks`, `lambdas`.
        lengths: Field to the sum of its rows' lengths.
        languages: That its files have.
    """

    name: str
    counts: Mapping[str, int]
    lengths: Mapping[str, int]
    languages: frozenset[str]
    has_graph: bool


class FleetInfo(NamedTuple):
    """What is searched: the parts in the order of their paths, and when they were put together."""

    parts: tuple[PartInfo, ...]
    generation: int
    built_at: str


class Calls(Protocol):
    """The way to the leaves."""

    def call(self, method: str, asked: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Call a method of `Leaf` with arguments, for each of some parts at once: part -> what it returned, or the
        error for which it did not. A part that is not in it has not answered."""
        ...


class _Facts:
    """What all parts together have counted; kept for as long as the parts are the same."""

    def __init__(self) -> None:
        self.terms: dict[str, tuple[int, ...] | None] = {}
        self.related: dict[str, list[Abbreviation]] = {}
        self.names: dict[tuple[TextQuery, Filters], NameCounts] = {}
        self.choices: dict[Choice, int] = {}
        self.alike: dict[str, list[str]] = {}
        self.files: dict[Files, dict[Mention, tuple[int, int]]] = {}
        self.copies: dict[str, list[str]] = {}  # files by the digest of their content

    def lacking(self, need: Need) -> Need:
        """What of it is not known."""

        def left(keys: tuple[_T, ...], known: Mapping[_T, Any]) -> tuple[_T, ...]:
            return tuple(key for key in dict.fromkeys(keys) if key not in known)

        return Need(
            left(need.terms, self.terms),
            left(need.related, self.related),
            left(need.names, self.names),
            left(need.choices, self.choices),
            left(need.alike, self.alike),
            left(need.files, self.files),
        )

    def add(self, need: Need, found: Sequence[Counts]) -> None:
        for text in need.terms:
            rows = [one.terms[text] for one in found if text in one.terms]
            self.terms[text] = tuple(map(sum, zip(*rows, strict=True))) if rows else None
        for word in need.related:
            self.related[word] = _related([row for one in found for row in one.related.get(word, ())])
        for name in need.names:
            counts = [one.names[name] for one in found]
            self.names[name] = NameCounts(any(one.exact for one in counts), sum(one.small for one in counts))
        for choice in need.choices:
            self.choices[choice] = sum(one.choices[choice] for one in found)
        for word in need.alike:
            names = dict.fromkeys(sorted(pair for one in found for pair in one.alike[word]))
            self.alike[word] = [name for _, name in names]
        for files in need.files:
            self.files[files] = _closest([one.files[files] for one in found])


def _related(rows: Iterable[tuple[str, str, int, int, int]]) -> list[Abbreviation]:
    sums: dict[tuple[str, str], list[int]] = {}
    for short, long, *counts in rows:
        own = sums.setdefault((short, long), [0, 0, 0])
        own[:] = [a + b for a, b in zip(own, counts, strict=True)]
    pairs = (Abbreviation(*pair, *counts) for pair, counts in sums.items())
    return sorted(pairs, key=lambda item: (-item.files, -item.declared, -item.told, item.short, item.long))


def _closest(found: Iterable[Mapping[Mention, tuple[int, int]]]) -> dict[Mention, tuple[int, int]]:
    best: dict[Mention, tuple[int, int]] = {}
    for one in found:
        for mention, (length, count) in one.items():
            most, files = best.get(mention, (0, 0))
            best[mention] = (length, count) if length > most else (most, files + count * (length == most))
    return best


class Root:
    """Searches a fleet."""

    def __init__(
        self,
        fleet: FleetInfo,
        calls: Calls,
        *,
        readable: Iterable[int] | None = None,
        limit: int = 10,
        snippet: int = 2,
    ) -> None:
        """
        Args:
            fleet: All parts.
            calls: The way to their leaves, by their places in `fleet`.
            readable: The parts that may be read; None for all. Of the others nothing is counted, ranked or listed.
            limit: Results of a request that does not say.
            snippet: Lines of a result where a request does not say.
        """
        self.fleet, self._calls, self._limit, self._snippet = fleet, calls, limit, snippet
        self._readable = sorted(range(len(fleet.parts)) if readable is None else set(readable))
        self._parts = [fleet.parts[part] for part in self._readable]
        self._facts = _Facts()
        self._lost: dict[int, str] = {}
        self._shas: dict[str, str] = {}  # of files that may be in several places
        self._locks = {view: allocate_lock() for view in VIEWS}
        self._ends: dict[str, list[int]] = {}
        for kind in ("files", "symbols", "units", "chunks", "lambdas"):
            sizes = [part.counts[kind] for part in fleet.parts]
            self._ends[kind] = np.cumsum(sizes).tolist() if sizes else []
        self._bounds = None if readable is None else self._visible()
        #: Round trips so far.
        self.trips = 0

    def _visible(self) -> tuple[int, ...]:
        """The nodes of the graph that may be seen, as `PartGraph.within` takes them."""
        found, base = [], 0
        for kind in ("symbols", "files", "lambdas"):
            ends = self._ends[kind]
            for part in self._readable:
                size = self.fleet.parts[part].counts[kind]
                found += [base + ends[part] - size, base + ends[part]] if size else []
            base += ends[-1] if ends else 0
        return tuple(found)

    def search(self, request: SearchRequest) -> Answer:
        """Answer one query in the mode it names. A part that does not answer is an entry of `degraded`.

        Raises:
            UsageError: The query, or a filter, cannot be used, or a flag needs what a fleet does not have.
            IndexError_: No part answers.
        """
        if request.snippet is None and request.context is None:
            request = replace(request, snippet=self._snippet)
        if any(getattr(request, name) for name in _LEFT_OUT):
            wrong = next(name for name in _LEFT_OUT if getattr(request, name))
            raise UsageError(f"a fleet does not answer --{wrong.replace('_', '-')}", hint="leave it out")
        if not request.query.strip() and not request.filters:
            raise UsageError("nothing to search for", hint="give a QUERY or a filter such as --kind or --path")
        try:
            return self._searched(request)
        finally:
            self._shas.clear()
            if self._lost:  # what a part has not counted is not remembered for other queries
                self._facts = _Facts()
                self._lost = {}

    def _searched(self, request: SearchRequest) -> Answer:
        asked = request
        if request.offset:
            request = replace(request, limit=self._shown(request) + request.offset)
        text, filters = read_fields(request.query, request.filters)
        self._check(filters)

        most = -1

        def ask(limit: int) -> Answer:
            nonlocal most
            wanted = replace(request, limit=limit)
            if request.mode == "symbolic" or not text.strip():
                answer = self._structural(wanted)
            elif request.mode == "multiview":
                answer = self._multiview(wanted, text, filters)
            else:
                answer = self._single(wanted, text, filters)
            self._find_copies(answer.results)
            if len(answer.results) <= most:  # parts that cannot show what they have counted
                answer = replace(answer, has_more=False)
            most = len(answer.results)
            return answer

        answer = Folding(Copies(cast(Any, _Contents(self))), {}).folded(self._shown(request), ask)
        if not answer.total and not self._lost:
            refuse_wordless(request)
        if asked.offset:
            answer = replace(answer, results=answer.results[asked.offset :], offset=asked.offset)
        return replace(answer, degraded=(*answer.degraded, *self._losses()))

    def _find_copies(self, results: Sequence[Result]) -> None:
        """Ask all parts where the contents of some results are, unless it is known."""
        known = self._facts.copies
        shas = {sha for result in results if (sha := self._shas.get(result.file)) and sha not in known}
        if shas:
            found = self._all("copies", tuple(sorted(shas)))
            for sha in shas:
                known[sha] = [path for part in sorted(found) for path in found[part].get(sha, ())]

    def _shown(self, request: SearchRequest) -> int:
        return self._limit if request.limit is None else request.limit

    def _check(self, filters: Filters) -> None:
        check_words(filters, frozenset().union(*(part.languages for part in self._parts)))

    def _losses(self) -> list[Degradation]:
        """The parts that did not answer, by what was wrong with them."""
        by_reason: dict[str, list[str]] = defaultdict(list)
        for part, why in sorted(self._lost.items()):
            by_reason[why].append(self.fleet.parts[part].name)
        others = "the other repositories" if len(self._lost) < len(self._parts) else "none"
        return [
            Degradation("repositories", "error", others, "high", f"{', '.join(dict.fromkeys(names))}: {why}")
            for why, names in by_reason.items()
        ]

    # --- the leaves -----------------------------------------------------------------------------------------------

    def _ask(self, method: str, asked: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Call a method of some leaves: what those have returned that answer.

        Raises:
            LciError: A usage error of one of them; or none of all parts answers.
        """
        asked = {part: args for part, args in asked.items() if part not in self._lost}
        if not asked:
            return {}
        self.trips += 1
        found = self._calls.call(method, asked)
        answers = {}
        first: LciError | None = None
        for part in asked:
            answer = found.get(part)
            if isinstance(answer, LciError):
                if not isinstance(answer, IndexError_):
                    raise answer
                self._lost[part] = detail(answer)
                first = first or answer
            elif isinstance(answer, BaseException):
                raise answer
            elif part not in found:
                self._lost[part] = "no worker has answered in time"
            else:
                answers[part] = answer
        if len(self._lost) == len(self._parts) and self._parts:
            raise first or IndexError_("no part of the fleet has answered", hint="look whether its workers run")
        return answers

    def _all(self, method: str, *args: Any) -> dict[int, Any]:
        return self._ask(method, dict.fromkeys(self._readable, args))

    def _know(self, need: Need) -> _Facts:
        """The facts, with what a query needs of them."""
        if left := self._facts.lacking(need):
            self._facts.add(left, list(self._all("counts", left).values()))
        return self._facts

    def _part(self, kind: str, number: int) -> int:
        """The part that has a row of the fleet."""
        return bisect_right(self._ends[kind], number)

    def _by_part(self, units: NDArray[np.int64]) -> dict[int, NDArray[np.int64]]:
        parts = np.searchsorted(np.array(self._ends["units"], np.int64), units, "right")
        return {int(part): units[parts == part] for part in np.unique(parts)}

    # --- phase 1 --------------------------------------------------------------------------------------------------

    def collection(self, texts: Iterable[str]) -> Collection:
        """What BM25 asks of all parts, for some terms."""
        known = self._know(Need(terms=tuple(texts))).terms
        parts = self._parts
        return Collection(
            {field: sum(part.counts[ROWS[field]] for part in parts) for field in FIELDS},
            {field: sum(part.lengths[field] for part in parts) for field in FIELDS},
            {text: dict(zip(FIELDS, having, strict=True)) for text in texts if (having := known[text]) is not None},
        )

    def _terms(self, query: TextQuery, asked: TextQuery) -> tuple[str, ...]:
        """The terms that a query is ranked by, and those by which a text is likely somewhere."""
        stated = (stem for text in texts_of(asked) for stem in words_of(text))
        return tuple(dict.fromkeys((*(term for term, _ in query.terms), *stated)))

    def _names(self, query: TextQuery, filters: Filters) -> tuple[tuple[TextQuery, Filters], ...]:
        return ((query, filters),) if may_be_a_name(query) else ()

    def _asking(
        self, query: TextQuery, asked: TextQuery, filters: Filters, choice: Choice | None, views: tuple[View, ...]
    ) -> Ask:
        names = self._names(asked, filters)
        self._know(Need(terms=self._terms(query, asked), names=names, files=(asked.files,) if asked.files else ()))
        collection = self.collection(self._terms(query, asked))
        counts = self._facts.names[names[0]] if names else None
        return Ask(query, asked, views, POOL, collection, choice, filters, counts, bounds=self._bounds)

    # --- one view -------------------------------------------------------------------------------------------------

    def _single(self, request: SearchRequest, text: str, filters: Filters) -> Answer:
        view: View = "dense" if request.mode == "dense" else "bm25"
        query, limit = read_text(text), self._shown(request)
        asked = first(_Source(self, query, filters), query, filters, strict=request.strict)
        query, choice = asked.query, None if asked.allowed is None else asked.allowed.choice
        self._know(Need(
            terms=self._terms(query, query), names=self._names(query, filters),
            choices=(choice,) if choice and query.phrases else (), files=(query.files,) if query.files else (),
        ))  # fmt: skip
        ask = self._asking(query, query, filters, choice, (view,))
        ask = ask._replace(limit=max(limit, POOL), literal=bool(query.phrases))
        heads = list(self._all("head", ask).values())
        universe = Universe(heads, (), self._locks, self._facts.files.get(query.files))
        raw = universe.hits(view, ask.limit)
        known = universe.spelled(query, raw.units if view == "dense" else None)
        why = evidence(cast(Any, universe), query, raw, known)
        changed, files = why.ranked()
        ranked = spread(changed, files[:POOL], SAME_FILE[view]).head(limit)
        if query.phrases and choice is not None:
            ranked = with_literal_hits(ranked, universe.literal(), self._facts.choices[choice], limit)
        lines = universe.lines()
        shown = [
            Shown(number, known.symbols.get(hit.unit, -1), view, hit.score, lines.get(hit.unit))
            for hit, number in zip(ranked, universe.numbers[ranked.units].tolist(), strict=True)
        ]
        wanted = (query.terms, query.phrases, query.forms)
        results, _ = self._present(shown, replace(request, query=text, filters=filters), wanted, graph=False)
        return self._answer(request, results, ranked.total, asked.relaxed)

    # --- multiview ------------------------------------------------------------------------------------------------

    def _multiview(self, request: SearchRequest, text: str, filters: Filters) -> Answer:
        query = read_text(text)
        run = _Run(self, request, filters, query)
        attempt, plan, outcome = climbed(run, query, filters, strict=request.strict)
        universe = run.universes[id(outcome)]
        lines = {} if universe is None else universe.lines()
        head = outcome.head(self._shown(request))
        scored = own_scores(outcome, head)
        shown = []
        for item in head:
            assert universe is not None
            number = int(universe.numbers[item.unit])
            symbol = outcome.symbols.get(item.unit, -1)
            shown.append(Shown(number, symbol, item.source, item.score, lines.get(item.unit)))
        wanted = (attempt.query.terms, attempt.query.phrases, attempt.query.forms)
        has_graph = self._has_graph()
        made, around = self._present(shown, request, wanted, graph=has_graph)
        results = []
        for item, one in zip(head, made, strict=True):
            others = tuple(
                (view, scores[item.unit])
                for view, scores in scored.items()
                if view != item.source and item.unit in scores
            )
            results.append(replace(one, also_matched=others) if one is not None else None)
        if around:
            results = [
                one if one is None or lists is None else replace(one, graph=lists)
                for one, lists in zip(results, around, strict=True)
            ]
        answer = self._answer(request, results, outcome.total)
        failed = {item.view for item in outcome.degraded}
        more = run.extras.degraded([view for view in VIEWS if view not in failed], wanted=False)
        return replace(answer, plan=plan.as_json(), degraded=(*outcome.degraded, *more))

    def _has_graph(self) -> bool:
        return all(part.has_graph for part in self._parts)

    def reach(self, seeds: NDArray[np.int64]) -> Reached:
        """The units of the fleet around some of its units."""
        n = len(seeds)
        own = self._by_part(seeds)
        found = self._ask("around", {part: (units, self._bounds) for part, units in own.items()})
        columns: list[tuple[NDArray[Any], ...]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        for part, one in found.items():
            places = np.flatnonzero(np.isin(seeds, own[part]))
            count = len(own[part])
            columns.append((one.group // count * n + places[one.group % count], one.unit, one.sure))
        group, unit, sure = (np.concatenate(column) for column in zip(*columns, strict=True))
        order = np.argsort(group, kind="stable")
        return Reached(group[order], unit[order], sure[order])

    def features(self, ask: Ask, units: NDArray[np.int64]) -> list[Head]:
        """What a ranking asks of some units."""
        found = self._ask("features", {part: (ask, own) for part, own in self._by_part(units).items()})
        return list(found.values())

    # --- structure ------------------------------------------------------------------------------------------------

    def _structural(self, request: SearchRequest) -> Answer:
        asked, limit = read_symbolic(request.query, request.filters), self._shown(request)
        self._check(asked.filters)
        found = self._all("matches", asked.filters, asked.phrases, limit)
        if asked.phrases and not request.strict and not any(one.total for one in found.values()):
            asked = asked.with_words()
            found = self._all("matches", asked.filters, asked.phrases, limit)
        symbols = sorted(symbol for one in found.values() for symbol in one.symbols)[:limit]
        shown = [Shown(-1, number, "symbolic", 1.0) for _, _, number in symbols]
        results, _ = self._present(shown, request, (terms_of(asked.filters), asked.phrases, ()), graph=False)
        return self._answer(request, results, sum(one.total for one in found.values()), asked.relaxed)

    # --- results --------------------------------------------------------------------------------------------------

    def _present(
        self, shown: Sequence[Shown], request: SearchRequest, wanted: tuple[Any, Any, Any], *, graph: bool
    ) -> tuple[list[Result | None], list[Any]]:
        """The results, None for one whose part is lost; and with `graph` what is around each."""
        by_part: dict[int, list[int]] = defaultdict(list)
        for place, one in enumerate(shown):
            part = self._part("units", one.unit) if one.unit >= 0 else self._part("symbols", one.symbol)
            by_part[part].append(place)
        asked = {
            part: (Present(tuple(shown[place] for place in places), request, *wanted, graph, self._bounds),)
            for part, places in by_part.items()
        }
        results: list[Result | None] = [None] * len(shown)
        lists: list[Any] = [None] * len(shown)
        for part, found in self._ask("present", asked).items():
            for i, place in enumerate(by_part[part]):
                results[place] = found.results[i]
                self._shas[found.results[i].file] = found.shas[i]
                if found.around:
                    lists[place] = found.around[i]
        return results, self._contexts(lists) if graph else []

    def _contexts(self, lists: Sequence[Any]) -> list[Any]:
        nodes = {node for one in lists if one is not None for some, _ in one.values() for node in some}
        by_part: dict[int, list[int]] = defaultdict(list)
        symbols, files = (self._ends[kind][-1] if self._ends[kind] else 0 for kind in ("symbols", "files"))
        for node in sorted(nodes):
            if node < symbols:
                by_part[self._part("symbols", node)].append(node)
            elif node < symbols + files:
                by_part[self._part("files", node - symbols)].append(node)
            else:
                by_part[self._part("lambdas", node - symbols - files)].append(node)
        links: dict[int, Any] = {}
        for found in self._ask("links", {part: (own,) for part, own in by_part.items()}).values():
            links |= found
        return [None if one is None else context(one, links) for one in lists]

    def _answer(
        self, request: SearchRequest, results: Sequence[Result | None], total: int, relaxed: tuple[str, ...] = ()
    ) -> Answer:
        shown = tuple(result for result in results if result is not None)
        info = IndexInfo(self.fleet.generation, self.fleet.built_at, None, None, 0)
        return Answer(
            query=request.query,
            mode=request.mode,
            results=shown,
            total=total,
            has_more=total > len(shown),
            index=info,
            plan={"relaxed": relaxed} if relaxed else None,
        )


def starts(fleet: FleetInfo, part: int) -> dict[str, int]:
    """The first numbers of a part's rows in the fleet, as `Leaf` takes them."""
    before = fleet.parts[:part]
    found = {kind: sum(one.counts[kind] for one in before)
             for kind in ("files", "symbols", "units", "chunks", "lambdas")}  # fmt: skip
    whole = {f"all_{kind}": sum(one.counts[kind] for one in fleet.parts) for kind in ("symbols", "files")}
    return found | whole


class _Contents:
    """The contents of all files, as `Copies` asks for them: of an index, by its table and by the tree."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self.freshness = self.files = self

    def sha(self, path: str) -> str:
        return self._root._shas.get(path, "")

    def with_content(self, sha: str) -> list[str]:
        return self._root._facts.copies[sha]


class _Selection:
    """What can be a result, as the steps of the ladder have it: a choice, whose units only the leaves know."""

    def __init__(self, root: Root, choice: Choice) -> None:
        self._root, self.choice = root, choice

    def any(self) -> bool:
        return self._root._know(Need(choices=(self.choice,))).choices[self.choice] > 0

    def copy(self) -> _Selection:
        return self

    def __or__(self, other: _Selection) -> _Selection:
        phrases = tuple(dict.fromkeys((*self.choice.phrases, *other.choice.phrases)))
        return _Selection(self._root, Choice(self.choice.filters, phrases, either=True))


class _Vocabulary:
    """The words of all parts, as the rewrites look them up. What is not known yet counts as absent, and is noted."""

    def __init__(self, root: Root, known: Mapping[str, tuple[int, ...] | None]) -> None:
        self._root, self._known = root, known
        self.wanted: dict[str, None] = {}

    def term(self, text: str) -> Term | None:
        if text not in self._known:
            self.wanted[text] = None
        return Term(text, ()) if self._known.get(text) is not None else None

    def starting(self, _prefix: str, _most: int) -> None:
        return None

    def frequency(self, field: str, term: Term) -> int:
        return (self._known[term.text] or (0,) * len(FIELDS))[list(FIELDS).index(field)]

    def size(self, field: str) -> int:
        return sum(part.counts[ROWS[field]] for part in self._root._parts)


class _Related:
    """The abbreviations of all parts, likewise."""

    def __init__(self, known: Mapping[str, list[Abbreviation]]) -> None:
        self._known = known
        self.wanted: dict[str, None] = {}

    def of(self, word: str) -> list[Abbreviation]:
        if word not in self._known:
            self.wanted[word] = None
        return self._known.get(word, [])


class _Run:
    """The attempts of one multiview query."""

    def __init__(self, root: Root, request: SearchRequest, filters: Filters, query: TextQuery) -> None:
        self._root, self._request, self._filters = root, request, filters
        self.extras = Extras()
        self.source = _Source(root, query, filters)
        #: By the identity of the outcome; None if nothing was ranked.
        self.universes: dict[int, Universe | None] = {}
        self._kept: list[Outcome] = []

    def attempt(self, attempt: Attempt) -> tuple[Attempt, Plan, Outcome]:
        root, request = self._root, self._request
        wording = self._wording(attempt.query)
        plan = make_plan(
            attempt.query,
            self._filters,
            wording=wording,
            strict=request.strict,
            files=sum(part.counts["files"] for part in root._parts),
        )
        query = rewritten(attempt.query, wording.rewrites)
        choice = None if attempt.allowed is None else attempt.allowed.choice
        ask = root._asking(query, attempt.query, self._filters, choice, VIEWS)
        heads = list(root._all("head", ask).values())
        found, universe = self._ranked(query, plan, ask, heads, hopeless=attempt.hopeless)
        self._kept.append(found)
        self.universes[id(found)] = universe
        return attempt._replace(query=query), plan, found

    def _ranked(
        self, query: TextQuery, plan: Plan, ask: Ask, heads: list[Head], *, hopeless: bool
    ) -> tuple[Outcome, Universe | None]:
        root = self._root
        around: dict[bytes, Reached] = {}

        def reach(seeds: NDArray[np.int64]) -> Reached:
            key = seeds.tobytes()
            if key not in around:
                around[key] = root.reach(seeds)
            return around[key]

        more: list[Head] = []
        while True:
            mentioned = root._facts.files.get(ask.asked.files)
            universe = Universe(heads, more, root._locks, mentioned, reach if root._has_graph() else None)
            known: Spelled = universe.spelled(ask.asked)
            if hopeless and not known.units:
                return Outcome({view: HitList.empty(view) for view in VIEWS}), None
            allowed = None if ask.choice is None else universe.allowed
            question = Question(query, plan, allowed, None, known)
            try:
                began = time.perf_counter()
                return search(question, universe.views, universe.unit_table, self.extras, began), universe
            except LackingError as error:
                # What is around the best results is ranked as well: measure it, and rank again.
                fresh = root.features(ask, error.units)
                lost = np.setdiff1d(error.units, np.concatenate([np.zeros(0, np.int64), *(h.units for h in fresh)]))
                for key, one in around.items():
                    kept = ~np.isin(one.unit, lost)
                    around[key] = Reached(one.group[kept], one.unit[kept], one.sure[kept])
                more += fresh

    def _wording(self, query: TextQuery) -> Wording:
        """What the vocabulary says of the query. The look-ups follow from each other: what one of them lacks is asked
        of all parts, and they are made again."""
        facts = self._root._facts
        while True:
            words, related = _Vocabulary(self._root, facts.terms), _Related(facts.related)
            found = look_up(query, lambda words=words: words, lambda related=related: related, self.extras)  # type: ignore[misc]
            if not words.wanted and not related.wanted:
                return found
            own = self._root._terms(query, query)
            need = Need(
                terms=(*words.wanted, *own), related=tuple(related.wanted),
                names=self._root._names(query, self._filters), files=(query.files,) if query.files else (),
            )  # fmt: skip
            facts = self._root._know(need)


class _Source:
    """What the steps of the ladder ask of the parts."""

    def __init__(self, root: Root, query: TextQuery, filters: Filters) -> None:
        self._root = root
        if query.phrases:
            alone = tuple(Choice(filters, (phrase,)) for phrase in query.phrases)
            whole = (Choice(filters),) if filters else ()
            root._know(Need(choices=(*whole, Choice(filters, query.phrases), *alone)))
        elif filters:
            root._know(Need(choices=(Choice(filters),)))

    def allowed(self, filters: Filters) -> _Selection | None:
        return _Selection(self._root, Choice(filters)) if filters else None

    def with_phrases(
        self, phrases: tuple[str, ...], allowed: _Selection | None
    ) -> tuple[_Selection | None, dict[int, int]]:
        if not phrases:
            return allowed, {}
        filters = Filters() if allowed is None else allowed.choice.filters
        return _Selection(self._root, Choice(filters, phrases)), {}

    def lacks(self, stems: Sequence[str]) -> bool:
        known = self._root._know(Need(terms=tuple(stems))).terms
        return not any(known[text] is not None for text in stems)

    def near_misses(self, word: str) -> Sequence[str]:
        return self._root._know(Need(alike=(word,))).alike[word]
