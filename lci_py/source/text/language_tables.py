"""Reads the TOML files in grammars/. docs/languages.md describes their keys."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.source.text import parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterator


def grammars_dir() -> Path:
    """The folder grammars/: inside the package in a wheel, beside it in a checkout or an editable install."""
    here = Path(__file__).resolve().parents[2]
    packaged = here / "grammars"
    return packaged if packaged.is_dir() else here.parent / "grammars"


@cache
def table_of(language: str) -> dict[str, Any]:
    """The content of a language's `language.toml`; {} if it has no grammar. It is read when first needed."""
    try:
        return shared_table(f"{language}/language")
    except FileNotFoundError:
        return {}


@cache
def shared_table(name: str) -> dict[str, Any]:
    """The content of a TOML file in grammars/. `name` is the file's name without `.toml`.

    Raises:
        FileNotFoundError: There is no such file.
    """
    return parse_toml((grammars_dir() / f"{name}.toml").read_text("utf-8"))


def pairs(text: str, sign: str = " = ") -> Iterator[tuple[str, str]]:
    """(left, right) of each line of a table's text, split at `sign`. Such a text is read faster than TOML keys."""
    for line in text.strip().split("\n") if text else ():
        left, _, right = line.partition(sign)
        yield left.strip(), right


@cache
def has_rule(language: str, rule: str) -> bool:
    """Whether a language has `rule`, one of `callgraph.language_rules`, among the `call_rules` of its table."""
    return rule in table_of(language).get("call_rules", ())


@cache
def words_of(language: str, key: str) -> frozenset[str]:
    """The words that a language's table lists under a key; empty if the table has no such key."""
    return frozenset(table_of(language).get(key, ()))


@cache
def library_methods(language: str) -> frozenset[str]:
    """The names of the methods of a language's standard library; empty if there is no list of them."""
    try:
        return frozenset(shared_table(f"{language}/library_methods")["names"].split())
    except FileNotFoundError:
        return frozenset()
