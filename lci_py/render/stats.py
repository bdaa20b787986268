"""`lci stats` as text: one table for all searches, and by mode, intent and day."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from lci_py.render.text import Style, counts, plural, signs_for, visible_line

if TYPE_CHECKING:
    from collections.abc import Mapping

_TURN_ON = 'set log = "on" in .lci.toml, or LCI_LOG=on (with "queries" instead, what was asked is kept as well)'
_COLUMNS = ("searches", "no results", "degraded", "relaxed", "p50", "p90")
#: Days shown, the latest.
_DAYS = 14


def render_stats(found: Mapping[str, Any], *, file: IO[str], color: bool = False) -> None:
    """What the log of searches says, or how to turn it on.

    Args:
        found: The object of `lci stats --json`.
        file: Where to write.
        color: Whether `file` shows colours.
    """
    style, signs = Style(color), signs_for(getattr(file, "encoding", None))
    every = found["all"]
    root = style(visible_line(str(found["root"])), "path")
    if not every["searches"]:
        file.write(f"{root}: {_nothing(found)}\n")
    else:
        many = f"{every['searches']:,} search{'es' * (every['searches'] != 1)}"
        file.write(f"{root}: {many}, {found['first']} to {found['last']}\n")
        for line in _table(found):
            file.write(line.rstrip() + "\n")
        times = " · ".join(f"{name} {_ms(stage['p50_ms'])}" for name, stage in found["stages"].items())
        for label, text in (
            ("stages, p50", times.replace("·", signs.dot)),
            ("flags", counts(found["flags"].items(), signs)),
        ):
            if text:
                file.write(f"  {style(label, 'dim')}  {visible_line(text)}\n")
        asked = found["queries_without_results"]
        if asked:
            file.write(f"  {style('no results for', 'dim')}\n")
            file.writelines(f"    {count:,} × {visible_line(query)}\n" for query, count in asked.items())
        if found["log"] == "off":
            file.write(f"searches are no longer logged: {_TURN_ON}\n")
    if found["unreadable_lines"]:
        lines = plural(found["unreadable_lines"], "line")
        file.write(style(f"{signs.warn} {lines} of the log cannot be read", "warn") + "\n")


def _nothing(found: Mapping[str, Any]) -> str:
    if found["log"] == "off":
        return f"searches are not logged: {_TURN_ON}"
    since = f" since {found['since']}" if found["since"] else " yet"
    return f"no search is logged{since}"


def _table(found: Mapping[str, Any]) -> list[str]:
    days = dict(list(found["by_day"].items())[-_DAYS:])
    rows: list[tuple[str, ...]] = [("", *_COLUMNS), ("all", *_cells(found["all"]))]
    for group in (found["by_mode"], found["by_intent"], days):
        rows += [(f"  {visible_line(name)}", *_cells(row)) for name, row in group.items()]
    wide = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  " + row[0].ljust(wide[0]) + "".join(f"  {cell.rjust(wide[i])}" for i, cell in enumerate(row[1:], 1))
        for row in rows
    ]


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    wrong = (f"{row[name]:,} ({row[f'{name}_share']:.0%})" for name in ("zero_results", "degraded", "relaxed"))
    return (f"{row['searches']:,}", *wrong, _ms(row["p50_ms"]), _ms(row["p90_ms"]))


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} ms" if value < 100 else f"{value:,.0f} ms"
