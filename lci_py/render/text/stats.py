"""`lci stats` as text: a table of the logged searches, in total and by search mode, intent and day."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.text.style import plural, shorten, visible_line, width_of, wrap_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lci_py.render.text.style import Layout

_TURN_ON = 'set log = "on" in .lci.toml, or LCI_LOG=on (LCI_LOG=queries keeps what was asked, too)'
_COLUMNS = ("searches", "no results", "degraded", "relaxed", "p50", "p90")
#: Days shown, the latest.
_DAYS = 14
#: Columns that the first sentence needs beside the path; with fewer it gets a line of its own.
_MIN_WIDTH = 40


def stats_lines(report: Mapping[str, Any], layout: Layout) -> Iterator[str]:
    """The lines of the statistics (`lci stats --json`) or, if no search was logged, how to turn the log on."""
    style, signs, width, _ = layout
    root = shorten(visible_line(str(report["root"])), width and width - 1, signs.ellipsis)
    start, indent = f"{style(root, 'path')}: ", width_of(root) + 2
    if width is not None and indent + _MIN_WIDTH > width:
        yield start.rstrip()
        start, indent = "    ", 4
    if not report["all"]["searches"]:
        yield from wrap_words(_no_searches(report).split(" "), start, layout, start_width=indent)
    else:
        many = f"{report['all']['searches']:,} search{'es' * (report['all']['searches'] != 1)}"
        yield from wrap_words([f"{many},", f"{report['first']} to {report['last']}"], start, layout, start_width=indent)
        for line in _table(report):
            yield shorten(line.rstrip(), width, signs.ellipsis)
        # The slowest stage comes first: it is what readers look for.
        slowest = sorted(report["stages"].items(), key=lambda item: (-item[1]["p50_ms"], item[0]))
        times = [f"{name} {_ms(stage['p50_ms'])}" for name, stage in slowest]
        flags = [f"{name} {count:,}" for name, count in report["flags"].items()]
        for label, parts in (("stages, p50", times), ("flags", flags)):
            if parts:
                words = [f"{part} {signs.dot}" for part in parts[:-1]] + parts[-1:]
                yield from wrap_words(words, f"{style(label, 'dim')}  ", layout, start_width=len(label) + 2)
        queries = report["queries_without_results"]
        if queries:
            yield style("no results for", "dim")
            for query, count in queries.items():
                yield shorten(visible_line(f"  {count:,} {signs.times} {query}"), width, signs.ellipsis)
        if report["log"] == "off":
            yield from wrap_words(f"searches are no longer logged: {_TURN_ON}".split(" "), "", layout)
    warnings = list(report.get("warnings", ()))
    if report["unreadable_lines"]:
        warnings.append(f"{plural(report['unreadable_lines'], 'line')} of the log cannot be read")
    for warning in warnings:
        yield style(f"{signs.warn} {visible_line(warning)}", "warn")


def _no_searches(report: Mapping[str, Any]) -> str:
    since = f" since {report['since']}" if report["since"] else " yet"
    if report["log"] == "off":
        before = f"no search is logged{since}; " if report["since"] else ""
        return f"{before}searches are not logged: {_TURN_ON}"
    return f"no search is logged{since}"


def _table(report: Mapping[str, Any]) -> list[str]:
    days = dict(list(report["by_day"].items())[-_DAYS:])
    rows: list[tuple[str, ...]] = [("", *_COLUMNS), ("all", *_cells(report["all"]))]
    for label, group in (("mode", report["by_mode"]), ("intent", report["by_intent"]), ("day", days)):
        rows += [(label, *("" for _ in _COLUMNS))] if group else []
        rows += [(f"  {visible_line(name)}", *_cells(row)) for name, row in group.items()]
    sizes = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        row[0].ljust(sizes[0]) + "".join(f"  {cell.rjust(sizes[i])}" for i, cell in enumerate(row[1:], 1))
        for row in rows
    ]


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    wrong = (f"{row[name]:,} ({row[f'{name}_share']:.0%})" for name in ("zero_results", "degraded", "relaxed"))
    return (f"{row['searches']:,}", *wrong, _ms(row["p50_ms"]), _ms(row["p90_ms"]))


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} ms" if value < 100 else f"{value:,.0f} ms"
