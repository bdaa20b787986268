"""`--explain`, `--explain-file` and `--trace` as text: how scores add up, the plan, the rank of a file, the stages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.text.style import shorten, visible_line, width_of, wrap_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lci_py.render.text.style import Layout

_INDENT = "    "
#: How many terms of a field a line names, highest scores first.
_TERMS = 4
#: The step that lifts a result by its place in the call graph, never above the best result.
_LIFT = "graph"
#: What a query looks like, in words.
_INTENTS = {
    "fast_exact": "a name",
    "balanced_hybrid": "a question in words",
    "ambiguous_multiquery": "a few ambiguous words",
    "structured_filter_heavy": "mostly filters",
}
#: Columns that a sentence needs beside the path; with fewer the path gets a line of its own.
_MIN_WIDTH = 20


def explanation(explain: Mapping[str, Any], score: float, layout: Layout) -> Iterator[str]:
    """The lines below a result: the summands of its score, and the views (rankings) that found the result."""
    yield from _waterfall(explain.get("waterfall", ()), score, layout)
    # A view that ranks a result too far down does not make it a candidate; its signals count if another view does.
    standings = [
        f"{view} at {standing['rank']:,} ({standing['score']:.2f}{', too far down' if standing.get('beyond') else ''})"
        for view, standing in explain.get("views", {}).items()
    ]
    if standings:
        yield from wrap_words(f"found by {', '.join(standings)}".split(" "), _INDENT, layout)


def _waterfall(steps: Sequence[Mapping[str, Any]], score: float, layout: Layout) -> Iterator[str]:
    """Lines such as `dense  0.93 × 1.00  +0.93`, one for each summand of a score, then the score."""
    style, signs, width, _ = layout
    rows = []
    first = next((i for i, step in enumerate(steps) if step["value"] is None or step["name"] == _LIFT), len(steps))
    # Signals come largest first; then what multiplies or lifts their sum, in the order of the calculation.
    for step in [*sorted(steps[:first], key=lambda step: -step["adds"]), *steps[first:]]:
        value = "" if step["value"] is None else f"{step['value']:.2f}"
        note = _terms(step.get("terms"))
        if step["name"] == _LIFT and step["adds"] < 0.999 * step["value"] * step["weight"]:
            note = "bounded"
        rows.append((step["name"], value, f"{step['weight']:.2f}", f"{step['adds']:+.2f}", note))
    if not rows:
        return
    rows.append(("score", "", "", f"{score:.2f}", ""))
    names, values, weights, adds = (max(len(row[column]) for row in rows) for column in range(4))
    for row in rows:
        sign = signs.times if row[2] else " "
        head = f"{row[0]:<{names}}  {row[1]:>{values}} {sign} {row[2]:>{weights}}  {row[3]:>{adds}}"
        text = shorten(visible_line(f"{_INDENT}{head}  {row[4]}".rstrip()), width, signs.ellipsis)
        yield style(text, "bold") if row is rows[-1] else style(text, "dim")


def _terms(terms: Mapping[str, float] | None) -> str:
    """Text such as `cancel 3.10, task 2.11`: query terms and scores, the largest first; a single term without score."""
    if not terms or len(terms) < 2:
        return "" if not terms else next(iter(terms))
    ordered = sorted(terms.items(), key=lambda item: (-item[1], item[0]))
    more = f", +{len(ordered) - _TERMS}" if len(ordered) > _TERMS else ""
    return ", ".join(f"{term} {worth:.2f}" for term, worth in ordered[:_TERMS]) + more


def plan_lines(plan: Mapping[str, Any], layout: Layout) -> Iterator[str]:
    """The lines of a search plan, one per decision; decisions without content (no filter, no rewrite) are left out."""
    plain = {**plan, "intent": _INTENTS.get(str(plan.get("intent")), plan.get("intent"))}
    rows = [(key, parts) for key, value in plain.items() if (parts := _parts(value, layout.signs.dot))]
    label = max((len(key) for key, _ in rows), default=0)
    for i, (key, parts) in enumerate(rows):
        start = f"{'plan' if not i else '    '}  {visible_line(key):<{label}}  "
        yield from wrap_words(parts, start, layout, " " * width_of(start))


def _parts(value: object, dot: str) -> list[str]:
    """Splits a value of the plan into pieces that stay on one line, such as a name with its number."""
    if isinstance(value, dict):
        items = [f"{key} {_plain(item)}" for key, item in value.items() if item not in (None, (), [], {})]
        return [f"{item} {dot}" for item in items[:-1]] + items[-1:]
    if isinstance(value, (list, tuple)):
        words = [_plain(item) for item in value]
        return [f"{word}," for word in words[:-1]] + words[-1:]
    return [] if value in (None, "", 0) else _plain(value).split(" ")


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_plain, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(item)}" for key, item in value.items())
    return str(value)


def trace_lines(trace: Mapping[str, Any], layout: Layout) -> Iterator[str]:
    """One line per stage of the search: its milliseconds, and how many candidates came in and went out."""
    rows = []
    for name, stage in trace.items():
        entering, leaving = stage.get("candidates_in"), stage.get("candidates")
        counts = [f"{number:,}" for number in (entering, leaving) if number is not None]
        rows.append((visible_line(name), f"{stage['ms']:.1f} ms", f" {layout.signs.arrow} ".join(counts)))
    label, times = (max((len(row[column]) for row in rows), default=0) for column in range(2))
    for i, (name, ms, between) in enumerate(rows):
        line = f"{'trace' if not i else '     '}  {name:<{label}}  {ms:>{times}}  {between}".rstrip()
        yield shorten(line, layout.width, layout.signs.ellipsis)


def file_lines(report: Mapping[str, Any], layout: Layout) -> Iterator[str]:
    """The lines of `--explain-file`: the verdict, then the file's best result and the summands of its score."""
    name = shorten(visible_line(report["file"]), layout.width, layout.signs.ellipsis)
    words, label, columns = report["verdict"].split(" "), layout.style(name, "path"), width_of(name) + 2
    if layout.width is not None and columns + _MIN_WIDTH > layout.width:
        yield label
        yield from wrap_words(words, _INDENT, layout, _INDENT)
    else:
        yield from wrap_words(words, f"{label}  ", layout, _INDENT, columns)
    if best := report.get("best"):
        what = f"{best['kind']} {best['qualified_name'] or best['symbol'] or ''}".rstrip()
        text = visible_line(f"best place: {what}, line {best['line']}")
        yield _INDENT + shorten(text, layout.width and layout.width - len(_INDENT), layout.signs.ellipsis)
    yield from explanation(report, report.get("score", 0.0), layout)
