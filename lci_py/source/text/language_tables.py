"""The tables of grammars/: where they are, and what one language's says. docs/languages.md describes the keys."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any


def grammars_dir() -> Path:
    """Where grammars/ is: inside the package in a wheel, beside it in a checkout or an editable install."""
    here = Path(__file__).resolve().parents[2]
    packaged = here / "grammars"
    return packaged if packaged.is_dir() else here.parent / "grammars"


@cache
def table_of(language: str) -> dict[str, Any]:
    """All of a language's `language.toml`; {} for one without a grammar. A query reads those of its results only."""
    # A query that needs no table does not import the parser of TOML either.
    if sys.version_info >= (3, 11):
        import tomllib
    else:  # pragma: no cover - 3.10 only
        import tomli as tomllib
    try:
        data: dict[str, Any] = tomllib.loads((grammars_dir() / language / "language.toml").read_text("utf-8"))
    except FileNotFoundError:
        return {}
    return data


@cache
def has_rule(language: str, rule: str) -> bool:
    """Whether a language names a rule among its `call_rules`; it reads this one table, `language_rules` all."""
    return rule in table_of(language).get("call_rules", ())
