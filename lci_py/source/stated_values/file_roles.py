"""Decides by its path whether a file tells what holds in this project."""

from __future__ import annotations

import re
from functools import cache

from lci_py.source.text.language_tables import shared_table


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(shared_table("stated_values")["files"][name], re.IGNORECASE)


def is_own_code(path: str, language: str) -> bool:
    """Whether a file is code of the program itself. Part of the key of its record in the cache."""
    from lci_py.source.syntax.languages import TEXT, is_test  # a reader of the index needs no grammars

    in_documents = _pattern("documents").search(path)  # where code only shows how something is used
    return language != TEXT and not (in_documents or is_elsewhere(path) or is_test(path))


def is_elsewhere(path: str) -> bool:
    """Whether a file says nothing about this project: it is an example, third-party code, history or a translation."""
    folder, _, base = path.rpartition("/")
    is_example = "example" in base.lower().partition(".")[0]
    return is_example or bool(_pattern("elsewhere").search(f"{folder}/") or _pattern("bundler").search(base))
