"""Makes `--explain`: the summands of a result's score, in every mode. They add up to the score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lci_py.types.search import Step

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lci_py.search.query.text import Conditions
    from lci_py.search.ranking.evidence import Evidence, SingleViewResult
    from lci_py.search.ranking.fusion import FusedResult, Outcome
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import SearchRequest, View


def explanation(steps: Iterable[Step], views: Mapping[View, Mapping[str, Any]]) -> dict[str, Any]:
    """A result's `explain`: the summands of its score, and for each view its rank (from 1) and score in the view."""
    return {"waterfall": [_step(step) for step in steps], "views": dict(views)}


def _step(step: Step) -> dict[str, Any]:
    entry = step._asdict()
    if step.terms is None:
        del entry["terms"]
    return entry


def of_fused(outcome: Outcome, unit: int | None, item: FusedResult | None) -> dict[str, Any]:
    """The `explain` of a multiview result; a result that only the graph has found has no summands."""
    views = {
        view: {"rank": hit.rank, "score": hit.score}
        for view, hits in outcome.hits.items()
        if unit is not None and (hit := hits.get(unit)) is not None
    }
    return explanation(item.steps if item else (), views)


def of_match(rank: int) -> dict[str, Any]:
    """The `explain` of a result of the mode symbolic, in which all matches score 1."""
    return explanation(MATCH, {"symbolic": {"rank": rank, "score": 1.0}})


#: The waterfall of a structural match.
MATCH = (Step("match", "symbolic", 1.0, 1.0, 1.0),)


def of_single(snapshot: Snapshot, result: SingleViewResult, units: Sequence[int]) -> list[dict[str, Any]]:
    """The `explain` of each unit that the mode dense or bm25 has found."""
    view = result.ranked.view
    explanations = []
    for unit, steps in zip(units, single_steps(snapshot, result, units), strict=True):
        hit = result.raw.get(unit)
        explanations.append(explanation(steps, {} if hit is None else {view: {"rank": hit.rank, "score": hit.score}}))
    return explanations


def single_steps(snapshot: Snapshot, result: SingleViewResult, units: Sequence[int]) -> list[tuple[Step, ...]]:
    """The summands of the score that each unit has in `found.ranked`."""
    from lci_py.search.ranking.evidence import SAME_FILE
    from lci_py.search.ranking.same_file import POOL, damping_steps

    view, evidence = result.ranked.view, result.evidence
    own = (_dense_steps if view == "dense" else _bm25_steps)(snapshot, result, units)
    index_of = {unit: i for i, unit in enumerate(evidence.hits.units[: len(evidence.files)].tolist())}
    head, files = evidence.ranked()
    depth = dict(zip(head.units[:POOL].tolist(), damping_steps(files[:POOL]).tolist(), strict=True))
    waterfalls = []
    for unit, steps in zip(units, own, strict=True):
        if unit in index_of:
            steps = _of_evidence(evidence, index_of[unit], steps)
        score = result.ranked.score(unit)
        before = math.fsum(step.adds for step in steps)  # `sum` adds in another way from Python 3.12 on
        # The difference, not the product: views add up in single precision, and the sum must be the score.
        if unit in evidence.hits and unit not in depth:  # its score is only brought below those of the head
            steps = [*steps, Step("behind", None, None, score / before if before else 1.0, score - before)]
        elif depth.get(unit):
            steps = [*steps, Step("same_file", None, None, SAME_FILE[view] ** depth[unit], score - before)]
        waterfalls.append(tuple(step for step in steps if step.adds or step.name in ("phrase", "cosine")))
    return waterfalls


def _dense_steps(snapshot: Snapshot, result: SingleViewResult, units: Sequence[int]) -> list[list[Step]]:
    """The summands of the dense view for each unit: the cosine of its best chunk, and the matches of single tokens."""
    retriever = snapshot.dense
    waterfalls = []
    for unit in units:
        cosine, coverage, late = retriever.parts(result.query, unit)
        weight = 1 / (1 + late)
        steps = [Step("cosine", "dense", cosine, weight, cosine * weight)]
        if late:
            steps.append(Step("coverage", "dense", coverage, late * weight, coverage * late * weight))
        waterfalls.append(steps)
    return waterfalls


def _bm25_steps(snapshot: Snapshot, result: SingleViewResult, units: Sequence[int]) -> list[list[Step]]:
    """The summands of the bm25 view for each unit: a step per field, with the value that each term adds."""
    from lci_py.search.retrievers import BM25_FIELDS

    fields = snapshot.bm25.parts(result.query, units)
    waterfalls = []
    for i, unit in enumerate(units):
        steps = []
        for name, weight in BM25_FIELDS.items():
            terms = {term: worth for term, worth in fields[name][i].items() if worth}
            value = math.fsum(terms.values())
            steps.append(Step(name, "bm25", value, weight, value * weight, terms))
        alone = unit not in result.evidence.hits  # a place may hold nothing but the phrase
        waterfalls.append([Step("phrase", "bm25", 1.0, 0.0, 0.0)] if alone else steps)
    return waterfalls


def _of_evidence(evidence: Evidence, index: int, own: Sequence[Step]) -> list[Step]:
    """A unit's summands: those of the view (`own`, scaled to the mode's score), then the summands of the evidence.

    Args:
        index: The index of the unit in `evidence`.
    """
    view, scale = evidence.hits.view, evidence.scale
    steps = [step._replace(weight=step.weight * scale, adds=step.adds * scale) for step in own]
    for name, (weight, values) in evidence.added.items():
        value = float(values[index])
        steps.append(Step(name, view, value, weight * scale, weight * scale * value))
    total = math.fsum(step.adds for step in steps)
    for name, factors in evidence.factors.items():
        factor = float(factors[index])
        steps.append(Step(name, None, None, factor, total * (factor - 1)))
        total *= factor
    for name, (weight, values) in evidence.spelled.items():
        steps.append(Step(name, None, float(values[index]), weight, weight * float(values[index])))
    return steps


# --- plans of the single modes, which plan nothing ----------------------------------------------------------------


def single_plan(snapshot: Snapshot, result: SingleViewResult, request: SearchRequest) -> dict[str, Any]:
    """The plan of the mode dense or bm25, as JSON: weights, the query's terms and phrases, the filters.

    Args:
        request: The request; its filters include those of the query.
    """
    from lci_py.search.query.plan import filters_in_use
    from lci_py.search.ranking.evidence import COVER, FACTORS, FILE, SAME_FILE, STEM
    from lci_py.search.retrievers import BM25_FIELDS

    plan: dict[str, Any] = {"mode": request.mode, "views": [request.mode]}
    if request.mode == "dense":
        late = snapshot.dense.late
        own = 1 / (1 + FILE)
        plan["weights"] = {"cosine": own / (1 + late), **({"coverage": own * late / (1 + late)} if late else {})}
        plan["weights"] |= {"stem": STEM["dense"] * own, "file": FILE * own}
        plan["factors"] = dict(FACTORS)
    else:
        plan["weights"] = {**BM25_FIELDS, "stem": STEM["bm25"], "file": FILE}
        plan["factors"] = {"coverage": 1 - COVER, **FACTORS}
        plan["terms"] = dict(result.query.terms)
    plan["phrases"] = list(result.query.phrases)
    plan["relaxed"] = result.relaxed
    plan["spelled"] = {name: weight for name, (weight, _) in result.evidence.spelled.items()}
    return {**plan, "same_file": SAME_FILE[request.mode], "filters": filters_in_use(request.filters)}


def symbolic_plan(request: SearchRequest, conditions: Conditions) -> dict[str, Any]:
    """The plan of a structural query, as JSON: only filters, including those of the query."""
    from lci_py.search.query.plan import filters_in_use

    plan = {"mode": request.mode, "views": ["symbolic"], "phrases": list(conditions.phrases)}
    return {**plan, "relaxed": conditions.relaxed, "filters": filters_in_use(conditions.filters)}
