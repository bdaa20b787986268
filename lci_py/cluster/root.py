"""The root of a search: adds up what all parts count, sends them the sums, and merges their best results.

The statistics of a query have up to three steps: counts, which are kept for further queries; scores, for the best hits
of each view and the largest value of each signal; and, in multiview, what the graph has around the best candidates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from lci_py.cluster.graph import PART
from lci_py.cluster.leaf import Ask, Need, best_hits, first_of
from lci_py.errors import IndexError_, LciError, ShardMissingError, UsageError
from lci_py.index.shards.abbreviations import Abbreviation
from lci_py.index.shards.bm25 import FIELDS, ROWS, Collection, Term
from lci_py.search.answer.copies import Copies, Folding
from lci_py.search.degraded import Extras, detail
from lci_py.search.modes.candidates import check_words
from lci_py.search.modes.fallback import Heard, LookUps, Tried, climbed, first
from lci_py.search.query.plan import plan as make_plan
from lci_py.search.query.rewrites import look_up, rewritten
from lci_py.search.query.text import read_fields, read_symbolic, read_text, refuse_wordless
from lci_py.search.query.weights import GRAPH
from lci_py.search.ranking.fusion import POOL
from lci_py.search.ranking.graph_lift import SEEDS, Reached, weighed
from lci_py.search.ranking.signals import means_of_best, scaled
from lci_py.search.ranking.spelled import HEAD, may_be_a_name, texts_of, words_of
from lci_py.search.whole import NameCounts, Whole
from lci_py.types.record import replace
from lci_py.types.search import VIEWS, Answer, Degradation, Filters, IndexInfo

if TYPE_CHECKING:
    from lci_py.cluster.fleet import Fleet
    from lci_py.cluster.leaf import Ranks, Scores, Seeds
    from lci_py.search.modes.fallback import Attempt
    from lci_py.search.query.rewrites import Wording
    from lci_py.search.query.text import TextQuery
    from lci_py.search.ranking.signals import Mention
    from lci_py.types.search import Result, SearchRequest

#: Fields of a request that the root does not answer: they need the work tree, or all rows.
_LEFT_OUT = ("near", "expand", "budget_ms", "explain", "explain_file", "shadow", "conflicts", "trace")

#: Results of a ranking that are shown. A part knows which of its hits are among the first `POOL` of all, and no more;
#: the others are for those that are copies.
_MOST = 300


class Calls(Protocol):
    """The way to the leaves."""

    def call(self, method: str, asked: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Call a method of `Leaf` with arguments, for each of some parts at once: part -> what it returned, or the
        error for which it did not. A part that is not in it has not answered."""
        ...


# --- what all parts count -----------------------------------------------------------------------------------------


def _terms(found: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    return tuple(map(sum, zip(*found, strict=True))) if found else None


def _related(found: Sequence[Sequence[tuple[str, str, int, int, int]]]) -> list[Abbreviation]:
    sums: dict[tuple[str, str], list[int]] = {}
    for short, long, *counts in (row for one in found for row in one):
        own = sums.setdefault((short, long), [0, 0, 0])
        own[:] = [a + b for a, b in zip(own, counts, strict=True)]
    pairs = (Abbreviation(*pair, *counts) for pair, counts in sums.items())
    return sorted(pairs, key=lambda item: (-item.files, -item.declared, -item.told, item.short, item.long))


def _names(found: Sequence[NameCounts]) -> NameCounts:
    return NameCounts(any(one.exact for one in found), sum(one.small for one in found))


def _alike(found: Sequence[Sequence[tuple[float, str]]]) -> list[str]:
    return list(dict.fromkeys(name for _, name in sorted(pair for one in found for pair in one)))


def _closest(found: Sequence[Mapping[Mention, tuple[int, int]]]) -> dict[Mention, tuple[int, int]]:
    best: dict[Mention, tuple[int, int]] = {}
    for mention, (length, count) in (item for one in found for item in one.items()):
        most, files = best.get(mention, (0, 0))
        best[mention] = (length, count) if length > most else (most, files + count * (length == most))
    return best


#: How the values that the parts have for one key are put together, for each field of `Need`.
_SUMS: dict[str, Callable[[Any], Any]] = {
    "terms": _terms,
    "related": _related,
    "names": _names,
    "choices": sum,
    "alike": _alike,
    "files": _closest,
    "contents": lambda found: [path for paths in found for path in paths],
}


class Root:
    """Searches a fleet."""

    def __init__(
        self, fleet: Fleet, calls: Calls, *, readable: Iterable[int] | None = None, limit: int = 10, snippet: int = 2
    ) -> None:
        """
        Args:
            fleet: All parts.
            calls: The way to their leaves, by their places in `fleet`.
            readable: The parts that may be read; None for all. Of the others nothing is counted, ranked or listed.
            limit: Results of a request that does not say.
            snippet: Lines of a result where a request does not say.
        """
        self._fleet, self._calls, self._limit, self._snippet = fleet, calls, limit, snippet
        self._readable = sorted(range(len(fleet.parts)) if readable is None else set(readable))
        self._parts = [fleet.parts[part] for part in self._readable]
        self._has_graph = all(part.graph is not None for part in self._parts)
        self._known = _nothing_known()
        self._lost: dict[int, str] = {}
        self._shas: dict[str, str] = {}  # of files that may be in several places

    def search(self, request: SearchRequest) -> Answer:
        """Answer one query in the mode it names. A part that does not answer is an entry of `degraded`.

        Raises:
            UsageError: The query, or a filter, cannot be used, or a flag needs what a fleet does not have.
            IndexError_: No part answers.
        """
        if request.snippet is None and request.context is None:
            request = replace(request, snippet=self._snippet)
        for name in _LEFT_OUT:
            if getattr(request, name):
                raise UsageError(f"a fleet does not answer --{name.replace('_', '-')}", hint="leave it out")
        if not request.query.strip() and not request.filters:
            raise UsageError("nothing to search for", hint="give a QUERY or a filter such as --kind or --path")
        try:
            return self._searched(request)
        finally:
            self._shas.clear()
            if self._lost:  # what a part has not counted is not remembered for other queries
                self._known, self._lost = _nothing_known(), {}

    def _searched(self, request: SearchRequest) -> Answer:
        text, filters = read_fields(request.query, request.filters)
        structural = request.mode == "symbolic" or not text.strip()
        self._check(read_symbolic(request.query, request.filters).filters if structural else filters)
        shown = (self._limit if request.limit is None else request.limit) + request.offset
        if shown > _MOST and not structural:
            raise UsageError(f"a fleet shows the best {_MOST} results of a query", hint="narrow it, or ask for fewer")
        most = -1

        def ask(limit: int) -> Answer:
            nonlocal most
            wanted = replace(request, limit=limit if structural else min(limit, POOL), offset=0)
            if structural:
                answer = self._structural(wanted)
            elif request.mode == "multiview":
                answer = self._multiview(wanted, text, filters)
            else:
                answer = self._single(wanted, text, filters)
            if len(answer.results) <= most:  # no more are shown than have been
                answer = replace(answer, has_more=False)
            most = len(answer.results)
            return answer

        answer = Folding(Copies(lambda path: self._shas.get(path, ""), self._with_content), {}).folded(shown, ask)
        if not answer.total and not self._lost:
            refuse_wordless(request)
        if request.offset:
            answer = replace(answer, results=answer.results[request.offset :], offset=request.offset)
        return replace(answer, query=request.query, degraded=(*answer.degraded, *self._losses()))

    def _check(self, filters: Filters) -> None:
        check_words(filters, frozenset().union(*(part.languages for part in self._parts)))

    def _with_content(self, sha: str) -> list[str]:
        found: list[str] = self._counts(Need(contents=(sha,)))["contents"][sha]
        return found

    def _losses(self) -> list[Degradation]:
        """The parts that did not answer, by what was wrong with them."""
        by_reason: dict[str, list[str]] = defaultdict(list)
        for part, why in sorted(self._lost.items()):
            by_reason[why].append(self._fleet.parts[part].name)
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
        found = self._calls.call(method, asked) if asked else {}
        answers = {}
        first: LciError | None = None
        for part in asked:
            answer = found.get(part)
            if isinstance(answer, IndexError_):
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

    def _counts(self, need: Need) -> dict[str, dict[Any, Any]]:
        """What is known, with what a query needs: for each field of `Need` key -> value."""
        known = self._known
        left = Need(**{
            field: tuple(key for key in dict.fromkeys(keys) if key not in known[field])
            for field, keys in need._asdict().items()
        })  # fmt: skip
        if any(left):
            found = self._ask("counts", dict.fromkeys(self._readable, (left,))).values()
            for field, keys in left._asdict().items():
                for key in keys:
                    values = [own[key] for one in found if key in (own := getattr(one, field))]
                    known[field][key] = _SUMS[field](values)
        return known

    def _counted(self, query: TextQuery, asked: TextQuery, filters: Filters, *, lexical: bool = True) -> Whole:
        """The counts that a query is ranked by.

        Args:
            query: What is ranked by.
            asked: The same before rewrites.
            filters: Of the query.
            lexical: Whether words are.
        """
        names = ((asked, filters),) if may_be_a_name(asked) else ()
        files = (asked.files,) if asked.files else ()
        # And by which a text is likely somewhere.
        words = (*(term for term, _ in query.terms), *(stem for text in texts_of(asked) for stem in words_of(text)))
        known = self._counts(Need(terms=words if lexical else (), names=names, files=files))
        parts = self._parts
        collection = Collection(
            {field: sum(part.counts[ROWS[field]] for part in parts) for field in FIELDS},
            {field: sum(part.lengths[field] for part in parts) for field in FIELDS},
            {text: dict(zip(FIELDS, having, strict=True)) for text in words if (having := known["terms"].get(text))},
        )
        return Whole(
            collection if lexical else None,
            known["names"][names[0]] if names else None,
            known["files"][asked.files] if files else None,
        )

    # --- ranking --------------------------------------------------------------------------------------------------

    def _scores(self, ask: Ask, whole: Whole) -> dict[int, Scores]:
        return self._ask("scores", dict.fromkeys(self._readable, (ask, whole)))

    def _wholes(self, ask: Ask, whole: Whole, scores: dict[int, Scores]) -> dict[int, Whole]:
        """What each part must know of the others' scores."""
        found = list(scores.values())
        hits = best_hits(found)
        if ask.views == ("dense",):
            read = [first_of([(one.hits["dense"][0],) for one in found], HEAD)]
        else:
            texts = enumerate(texts_of(ask.attempt.query))
            read = [first_of([one.likely[number] for one in found], text.head) for number, text in texts]
        whole = whole._replace(
            best=max((one.best for one in found), default=0.0),
            peaks=_peaks([one.first(own) for one, own in zip(found, hits, strict=True)])
            if ask.plan is not None
            else None,
        )
        return {
            part: whole._replace(hits=hits[i], read=tuple(counts[i] for counts in read))
            for i, part in enumerate(scores)
        }

    def _with_graph(self, ask: Ask, wholes: dict[int, Whole]) -> dict[int, Whole]:
        """The same, with what is around the best candidates of all."""
        found: dict[int, Seeds] = self._ask("seeds", {part: (ask, whole) for part, whole in wholes.items()})
        if not found:
            return {}
        best = first_of([(one.scores,) for one in found.values()], SEEDS)
        scores = np.concatenate([one.scores[:count] for one, count in zip(found.values(), best, strict=True)])
        order = np.argsort(-scores, kind="stable")
        rank = np.empty(len(scores), np.int64)  # among all of each seed, part by part
        rank[order] = np.arange(len(scores))
        columns = []
        for one, count, start in zip(found.values(), best, np.cumsum([0, *best]).tolist(), strict=False):
            relation, place = np.divmod(one.group, max(len(one.scores), 1))
            kept = place < count
            group = relation[kept] * len(scores) + rank[start + place[kept]]
            columns.append((group, one.unit[kept], one.sure[kept]))
        group, unit, sure = (np.concatenate(some) for some in zip(*columns, strict=True))
        order_ = np.argsort(group, kind="stable")
        around = weighed(Reached(group[order_], unit[order_], sure[order_]), scores[order])
        highest = max(one.highest for one in found.values())
        made = {}
        for part in found:
            own = around.units // PART == part
            made[part] = wholes[part]._replace(highest=highest, around=(around.units[own] % PART, around.values[own]))
        return made

    def _structural(self, request: SearchRequest) -> Answer:
        asked = read_symbolic(request.query, request.filters)

        def totals() -> dict[int, int]:
            none = dict.fromkeys(self._readable, (replace(request, limit=0), asked))
            return {part: found.total for part, found in self._ask("select", none).items()}

        found = totals()
        if asked.phrases and not request.strict and not any(found.values()):
            asked = asked.with_words()
            found = totals()
        left, wanted = self._limit if request.limit is None else request.limit, {}
        for part, total in found.items():  # in the order of their paths
            if count := min(total, left):
                wanted[part] = (replace(request, limit=count), asked)
                left -= count
        answer = self._merged("select", request, wanted, sum(found.values()))
        return replace(answer, plan={"relaxed": asked.relaxed} if asked.relaxed else None)

    def _single(self, request: SearchRequest, text: str, filters: Filters) -> Answer:
        attempt = first(self._look_ups(), read_text(text), filters, strict=request.strict)
        query, request = attempt.query, replace(request, query=text, filters=filters)
        ask = Ask(request, attempt, query)
        whole = self._counted(query, query, filters, lexical=request.mode == "bm25")
        answer = self._searched_for(ask, self._wholes(ask, whole, self._scores(ask, whole)))
        return replace(answer, plan={"relaxed": attempt.relaxed} if attempt.relaxed else None)

    def _multiview(self, request: SearchRequest, text: str, filters: Filters) -> Answer:
        extras = Extras()
        if not self._has_graph:
            extras.errors["graph"] = ShardMissingError("the fleet has no call graph", hint="run `lci cluster index`")

        def attempt(asked: Attempt) -> Tried:
            wording = self._wording(asked.query)
            files = sum(part.counts["files"] for part in self._parts)
            plan = make_plan(asked.query, filters, wording=wording, strict=request.strict, files=files)
            query = rewritten(asked.query, wording.rewrites)
            ask = Ask(replace(request, query=text, filters=filters), asked, query, plan)
            whole = self._counted(query, asked.query, filters)
            scores = self._scores(ask, whole)
            words = any(len(one.hits[view][0]) for one in scores.values() for view in ("bm25", "symbolic"))
            heard = Heard(
                any(len(one.files) for one in scores.values()), words or any(one.symbols for one in scores.values())
            )
            return Tried(asked._replace(query=query), plan, heard, (ask, whole, scores))

        tried = climbed(self._look_ups(), read_text(text), filters, attempt, strict=request.strict)
        ask, whole, scores = tried.found
        wholes = self._wholes(ask, whole, scores)
        if self._has_graph and tried.plan.weights.get(GRAPH):
            wholes = self._with_graph(ask, wholes)
        answer = self._searched_for(ask, wholes)
        return replace(answer, plan=tried.plan.as_json(), degraded=extras.degraded(VIEWS, wanted=False))

    def _look_ups(self) -> LookUps:
        def lacks(stems: Sequence[str]) -> bool:
            known = self._counts(Need(terms=tuple(stems)))["terms"]
            return not any(known[text] for text in stems)

        return LookUps(
            lambda choice: self._counts(Need(choices=(choice,)))["choices"][choice] > 0,
            lacks,
            lambda word: self._counts(Need(alike=(word,)))["alike"][word],
        )

    def _wording(self, query: TextQuery) -> Wording:
        """What the vocabulary says of the query. The look-ups follow from each other: what one of them lacks is asked
        of all parts, and they are made again."""
        own = tuple(term for term, _ in query.terms)
        while True:
            words = _Words(self._known, sum(part.counts[ROWS["content"]] for part in self._parts))
            found = look_up(query, lambda words=words: words, lambda words=words: words, Extras())  # type: ignore[misc]
            if not any(words.need):
                return found
            self._counts(Need(terms=(*words.need.terms, *own), related=words.need.related))

    # --- results --------------------------------------------------------------------------------------------------

    def _searched_for(self, ask: Ask, wholes: dict[int, Whole]) -> Answer:
        """The best results of all parts: only these are made."""
        ranks: dict[int, Ranks] = self._ask("ranks", {part: (ask, whole) for part, whole in wholes.items()})
        counts = first_of([(one.scores,) for one in ranks.values()], ask.request.limit or 0)
        wanted = {part: (ask, wholes[part], count) for part, count in zip(ranks, counts, strict=True) if count}
        return self._merged("search", ask.request, wanted, sum(one.total for one in ranks.values()))

    def _merged(self, method: str, request: SearchRequest, asked: Mapping[int, tuple[Any, ...]], total: int) -> Answer:
        results: list[Result] = []
        for one in self._ask(method, asked).values():
            results += one.results
            self._shas |= {made.file: sha for made, sha in zip(one.results, one.shas, strict=True)}
        # Parts are in the order of their paths, and so are equal results.
        results.sort(key=lambda made: -made.mode_score)
        return Answer(
            query=request.query,
            mode=request.mode,
            results=tuple(results),
            total=total,
            has_more=total > len(results),
            index=IndexInfo(self._fleet.generation, self._fleet.built_at, None, None, 0),
        )


def _nothing_known() -> dict[str, dict[Any, Any]]:
    return {field: {} for field in Need._fields}


def _peaks(scores: Sequence[Scores]) -> dict[str, float]:
    """The largest value of each signal among the best hits of all parts and what the query spells out."""
    peaks: dict[str, float] = {}
    for one in scores:
        for name, values in one.measured.items():
            peaks[name] = max(peaks.get(name, 0.0), float(values.max(initial=0.0)))
    if "dense" in peaks:
        means = [0.0]
        for one in scores:
            values = scaled(one.measured["dense"], peaks["dense"])
            means.append(float(means_of_best(values, one.files, int(one.files.max(initial=-1)) + 1).max(initial=0.0)))
        peaks["dense_file"] = max(means)
    return peaks


class _Words:
    """The vocabulary and the abbreviations of all parts, as the rewrites look them up. What is not known yet counts as
    absent, and is needed."""

    def __init__(self, known: Mapping[str, Mapping[Any, Any]], rows: int) -> None:
        self._terms, self._related, self._rows = known["terms"], known["related"], rows
        self.need = Need()

    def term(self, text: str) -> Term | None:
        if text not in self._terms:
            self.need = self.need._replace(terms=(*self.need.terms, text))
        return Term(text, ()) if self._terms.get(text) else None

    def starting(self, _prefix: str, _most: int) -> None:
        return None

    def frequency(self, field: str, term: Term) -> int:
        found: int = self._terms[term.text][list(FIELDS).index(field)]
        return found

    def size(self, _field: str) -> int:
        return self._rows

    def of(self, word: str) -> list[Abbreviation]:
        if word not in self._related:
            self.need = self.need._replace(related=(*self.need.related, word))
        found: list[Abbreviation] = self._related.get(word, [])
        return found
