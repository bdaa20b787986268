"""Flags, or a line of a batch, to the request that they ask for; and the engine that answers it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from lci_py.errors import UnknownModeError, UsageError, near_needs_words, unknown_refresh
from lci_py.types.search import MAX_HOPS, MODES, REFRESH, Filters, Mode, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lci_py.app import Engine
    from lci_py.cli.fast_parser import Invocation

FILTER_KEYS = ("lang", "kind", "path", "exclude", "name")
_FLAGS = ("conflicts", "explain", "trace", "strict")
#: Each number and its smallest valid value.
_NUMBERS = {"limit": 1, "snippet": 0, "max_tokens": 1, "expand": 0, "budget_ms": 1}
#: The same of other commands.
_MORE_NUMBERS = {"max_nodes": 0}
#: The keys of a batch line, in the order in which an error lists them.
BATCH_KEYS = ("query", "mode", "near", *_NUMBERS, *FILTER_KEYS, "explain_file", *_FLAGS, "shadow")
_DEFAULTS = SearchRequest("")
_SURROGATE = re.compile("[\ud800-\udfff]")


def open_engine(call: Invocation) -> Engine:
    """The engine that the flags of a query ask for."""
    refresh = call.text("refresh")
    if refresh is not None and refresh not in REFRESH:
        raise unknown_refresh("--refresh", refresh)
    from lci_py import app

    trust = call.flag("trust_index") or None
    return app.open_engine(call.text("root"), call.text("model"), refresh=refresh, trust=trust)


def required_name(call: Invocation) -> str:
    """The argument NAME of a command that needs one.

    Raises:
        UsageError: It is blank.
    """
    name = (call.text("argument") or "").strip()
    if not name:
        raise UsageError("the name is empty", hint=f"lci {call.command} NAME")
    return plain_text(name)


def plain_text(text: str) -> str:
    """`text` with U+FFFD for each byte that is not UTF-8: SQLite and tokenizers refuse the surrogates of such bytes.

    A `?` would be a glob.
    """
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


# --- a search ---------------------------------------------------------------------------------------------------


def batch_values(call: Invocation) -> dict[str, Any]:
    """The flags of `lci search` under the names that a batch line uses."""
    values: dict[str, Any] = {key: call.values.get(key) for key in BATCH_KEYS if key != "query"}
    if near := call.text("near"):
        values["near"] = _from_here_or_root(near)
    return values


def _from_here_or_root(near: str) -> str:
    """A place that starts at the current folder as an absolute path; one that is not there unchanged.

    The latter may come from an answer, whose paths start at the root.
    """
    here = os.path.abspath(near) if "\0" not in near else near
    folder, _, name = here.rpartition("/")
    return here if os.path.lexists(here) or os.path.lexists(f"{folder}/{name.partition(':')[0]}") else near


def to_request(values: Mapping[str, object]) -> SearchRequest:
    """The request that flags or a batch line ask for.

    Args:
        values: By key of `BATCH_KEYS`; a key that is missing or None has its default.
    Raises:
        UnknownModeError: There is no such mode.
        UsageError: A value has the wrong type or range, or there is neither a query nor a filter.
    """
    unknown = sorted(set(values) - set(BATCH_KEYS))
    if unknown:
        raise UsageError(f"unknown key {unknown[0]!r}", hint=f"use: {', '.join(BATCH_KEYS)}")
    mode = _mode(values.get("mode"))
    query = values.get("query")
    if query is not None and not isinstance(query, str):
        raise UsageError("query must be a text")
    filters = Filters(**{key: texts(values, key) for key in FILTER_KEYS})
    query = plain_text(query or "")
    if not query.strip() and not filters:
        raise UsageError("nothing to search for", hint="give a QUERY, or a filter such as --kind or --path")
    return SearchRequest(
        query=query,
        mode=mode,
        expand=_expand(values, mode),
        near=_near(values.get("near"), mode, query),
        limit=number(values, "limit"),
        filters=filters,
        snippet=number(values, "snippet"),
        max_tokens=number(values, "max_tokens"),
        budget_ms=number(values, "budget_ms"),
        conflicts=_flag(values, "conflicts"),
        explain=_flag(values, "explain"),
        explain_file=_word(values, "explain_file"),
        trace=_flag(values, "trace"),
        strict=_flag(values, "strict"),
        shadow=_shadow(values.get("shadow"), mode),
    )


def _mode(name: object) -> Mode:
    if name is None:
        return _DEFAULTS.mode
    for mode in MODES:
        if mode == name:
            return mode
    import json

    raise UnknownModeError(name if isinstance(name, str) else json.dumps(name))


def _expand(values: Mapping[str, object], mode: Mode) -> int:
    expand = number(values, "expand") or 0
    if expand and mode != "multiview":
        raise UsageError("--expand needs --mode multiview", hint="the other modes read no graph")
    if expand > MAX_HOPS:
        raise UsageError(f"--expand must be at most {MAX_HOPS}, not {expand}")
    return expand


def _near(place: object, mode: Mode, query: str) -> str | None:
    """The place that --near names. Only the index knows whether there is one."""
    if place is None:
        return None
    if not isinstance(place, str):
        raise UsageError("--near must be a text")
    if not place:
        raise UsageError("--near is empty", hint="give FILE or FILE:LINE, or leave it out")
    if mode != "multiview":
        raise UsageError("--near needs --mode multiview", hint="the other modes read no graph")
    if not query.strip():
        raise near_needs_words()
    return place


def _shadow(name: object, mode: Mode) -> str | None:
    if name is None:
        return None
    if not isinstance(name, str):
        raise UsageError("--shadow must be a text")
    if mode != "multiview":
        raise UsageError("--shadow needs --mode multiview", hint="the other modes have one ranking")
    return name


# --- one value of a flag or of a batch line ---------------------------------------------------------------------


def number(values: Mapping[str, object], key: str) -> int | None:
    """
    Raises:
        UsageError: It is no whole number, or smaller than it may be.
    """
    value = values.get(key)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise UsageError(f"{_spelled(key)} must be a whole number")
    least = _NUMBERS[key] if key in _NUMBERS else _MORE_NUMBERS[key]
    if value < least:
        raise UsageError(f"{_spelled(key)} must be at least {least}, not {value}")
    return value


def texts(values: Mapping[str, object], key: str) -> tuple[str, ...]:
    """One text or several, each without bytes that are not UTF-8.

    Raises:
        UsageError: It is something else, or one of them is empty.
    """
    value = values.get(key)
    if value is None:
        return ()
    several = (value,) if isinstance(value, str) else value
    if not isinstance(several, (list, tuple)) or not all(isinstance(item, str) for item in several):
        raise UsageError(f"{_spelled(key)} must be a text or a list of texts")
    if not all(several):
        raise UsageError(f"{_spelled(key)} is empty", hint="leave it out, or give a value")
    return tuple(map(plain_text, several))


def _word(values: Mapping[str, object], key: str) -> str | None:
    value = values.get(key)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{_spelled(key)} must be a text")
    if value == "":
        raise UsageError(f"{_spelled(key)} is empty", hint="leave it out, or give a value")
    return value


def _flag(values: Mapping[str, object], key: str) -> bool:
    value = values.get(key)
    if value is not None and not isinstance(value, bool):
        raise UsageError(f"{_spelled(key)} must be true or false")
    return bool(value)


def _spelled(key: str) -> str:
    return "--" + key.replace("_", "-")
