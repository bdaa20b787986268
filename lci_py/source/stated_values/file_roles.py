"""Decides by its path how a file's claims are read: as code, a document or a configuration file, or not at all."""

from __future__ import annotations

import re
from functools import cache

from lci_py.source.text.language_tables import shared_table

CODE, PROSE, CONFIG = "code", "prose", "config"


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(shared_table("stated_values")["files"][name], re.IGNORECASE)


def place_kind(path: str, language: str) -> str:
    """The kind of place that a file is; "" if its claims do not count. Part of the key of its record in the cache."""
    from lci_py.source.syntax.languages import TEXT, is_test  # a reader of the index needs no grammars

    base = path.rpartition("/")[2]
    if is_elsewhere(path) or is_test(path):
        return ""
    if language not in (TEXT, "markdown"):
        return "" if is_documentation(path) else CODE
    if _pattern("prose").search(base) or (language == TEXT and _pattern("plain").search(path)):
        return "" if _pattern("history").match(base) or _pattern("translated").search(base) else PROSE
    if _pattern("container").match(base):
        return CONFIG
    is_config = _pattern("environment").match(base) or _pattern("configuration").search(base)
    return CONFIG if is_config and not (_pattern("tools").match(base) or _pattern("stage").search(base)) else ""


def is_elsewhere(path: str) -> bool:
    """Whether a file says nothing about this project: it is an example, third-party code, history or a translation."""
    folder, _, base = path.rpartition("/")
    is_example = "example" in base.lower().partition(".")[0]
    return is_example or bool(_pattern("elsewhere").search(f"{folder}/") or _pattern("bundler").search(base))


def is_template(path: str) -> bool:
    """Whether a configuration file holds defaults: `.env.example`, `defaults.yaml`, the `values.yaml` of a chart."""
    return bool(_pattern("template").search(path.rpartition("/")[2]))


def documented_folder(path: str) -> str:
    """The folder whose code a document is about: its own, or the parent of its documentation folder; "" for all."""
    folder = path.rpartition("/")[0]
    found = _pattern("documents").search(f"/{folder}/")
    around = folder[: max(found.start() - 1, 0)] if found else folder
    return "" if found and _pattern("pages").fullmatch(around) else around


def is_documentation(path: str) -> bool:
    """Whether a file is in a documentation folder, where code only shows how something is used."""
    return bool(_pattern("documents").search(path))
