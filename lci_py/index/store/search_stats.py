"""`lci stats`: statistics of the log of searches."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from lci_py.errors import UsageError
from lci_py.index.store.search_log import TIME, read_log
from lci_py.types.search import MODES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lci_py.index.store.search_log import Entry

_SPAN = re.compile(r"([0-9]{1,6})([mhdw])", re.ASCII)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
#: The number of listed queries without results, if the log has the text of queries.
_QUERIES = 10


def begins(since: str, now: datetime) -> datetime:
    """The start of a time span.

    Args:
        since: The length of a span that ends `now` (`30m`, `12h`, `7d`, `4w`), or a date (`2026-11-22`), UTC.
        now: The current time, with its time zone.
    Raises:
        UsageError: `since` is neither a span nor a date.
    """
    try:
        if match := _SPAN.fullmatch(since):
            return now - timedelta(**{_UNITS[match[2]]: int(match[1])})
        return datetime.strptime(since, "%Y-%m-%d").replace(tzinfo=timezone.utc)
    except (ValueError, OverflowError):
        raise UsageError(
            f"--since cannot be {since!r}", hint="give a time span such as 12h, 7d or 4w, or a date such as 2026-11-22"
        ) from None


def search_stats(folder: Path, since: str | None) -> dict[str, Any]:
    """The statistics of the log in an index folder (which may not exist), as a JSON object.

    Args:
        since: A span or a date, as in `begins`; None for the whole log.
    Raises:
        UsageError: `since` cannot be read.
    """
    start = None if since is None else begins(since, datetime.now(timezone.utc)).strftime(TIME)
    lines = list(read_log(folder))
    # Times of this form sort as texts.
    entries = [item for item in lines if item is not None and (start is None or item.time >= start)]
    stages = sorted({stage for item in entries for stage in item.ms} - {"total"})
    intents = sorted({item.intent for item in entries if item.intent is not None})
    days = sorted({item.time[:10] for item in entries})
    return {
        "since": start,
        "first": min((item.time for item in entries), default=None),
        "last": max((item.time for item in entries), default=None),
        "all": tally(entries),
        "by_mode": {mode: tally(own) for mode in MODES if (own := [item for item in entries if item.mode == mode])},
        "by_intent": {intent: tally([item for item in entries if item.intent == intent]) for intent in intents},
        "by_day": {day: tally([item for item in entries if item.time[:10] == day]) for day in days},
        "stages": {stage: _times([item.ms[stage] for item in entries if stage in item.ms]) for stage in stages},
        "flags": _count_names(flag for item in entries for flag in item.flags),
        "queries_without_results": _count_names(
            (item.query for item in entries if item.query is not None and not item.total), _QUERIES
        ),
        "unreadable_lines": lines.count(None),
    }


def tally(entries: Sequence[Entry]) -> dict[str, Any]:
    """Count the searches, and the searches without results, degraded and relaxed; add percentiles of the times.

    Shares are in [0, 1], and 0 without searches; times are in milliseconds, and null without searches.
    """
    counts = {
        "zero_results": sum(not item.total for item in entries),
        "degraded": sum(bool(item.degraded) for item in entries),
        "relaxed": sum(item.relaxed for item in entries),
    }
    report: dict[str, Any] = {"searches": len(entries)}
    for name, count in counts.items():
        report |= {name: count, f"{name}_share": count / len(entries) if entries else 0.0}
    return report | _times([item.ms["total"] for item in entries if "total" in item.ms])


def _times(values: list[float]) -> dict[str, float | None]:
    """The median and the 90th percentile of the values, by nearest rank."""
    values.sort()
    return {f"p{percent}_ms": values[-(-len(values) * percent // 100) - 1] if values else None for percent in (50, 90)}


def _count_names(names: Any, limit: int | None = None) -> dict[str, int]:
    """Maps each name to the number of times it occurs, the most frequent first."""
    counts = sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))
    return dict(counts[:limit])
