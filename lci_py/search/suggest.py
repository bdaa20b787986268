"""Suggestions for a name or path that does not exist: the most similar names or paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.index.shards.symbols import dotted_name
from lci_py.types.search import Filters

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lci_py.index.shards.symbols import SymbolicIndex

#: Paths that are named.
MOST = 3
#: Minimum similarity (`difflib`) of two file names: missing.py does not resemble snapshot.py.
_NEAR = 0.75
#: Names that complete a word.
_MOST_OFFERED = 200
#: Names that are compared with one that nothing has.
_MOST_ALIKE = 1_000


def similar_paths(name: str, candidates: Sequence[str]) -> list[str]:
    """Paths similar to a wrong path, the most similar first. Without an equal file name, similar file names count."""
    from difflib import SequenceMatcher, get_close_matches

    names: dict[str, list[str]] = {}
    for path in candidates:
        names.setdefault(path.rpartition("/")[2], []).append(path)
    last = name.rstrip("/").rpartition("/")[2]
    close = [last] if last in names else get_close_matches(last, names, MOST, _NEAR)
    paths = [path for match in close for path in names[match]]
    matcher = SequenceMatcher(None, "", name, autojunk=False)
    scored = []
    for path in paths[:1000]:
        matcher.set_seq1(path)
        scored.append((-matcher.ratio(), path))
    return [path for _, path in sorted(scored)[:MOST]]


def near_misses(symbols: SymbolicIndex, name: str) -> tuple[str, ...]:
    """Names that may be meant by a name without a definition."""
    rest = name.rpartition("::")[2] if "::" in name else name
    last = dotted_name(rest).rpartition(".")[2]
    if last != name:
        rows = symbols.definitions(last, Filters()) if last else []
        if rows:
            from difflib import SequenceMatcher

            # Another scope was meant: the likest one first.
            matcher = SequenceMatcher(None, "", dotted_name(rest), autojunk=False)
            scored: dict[str, float] = {}
            for row in rows[:_MOST_ALIKE]:
                matcher.set_seq1(row["qualified_name"])
                scored[row["qualified_name"]] = matcher.ratio()
            return tuple(sorted(scored, key=lambda spelling: (-scored[spelling], spelling)))[:3]
    from lci_py.index.shards.symbol_queries import alike

    return tuple(alike(symbols, last))


def names_from(symbols: SymbolicIndex, start: str) -> list[str]:
    """Names of definitions that begin with a text, for shell completion; for `Session.cl`, members of `Session`."""
    scope, _, last = start.rpartition(".")
    if not scope:
        return symbols.names_from(start, _MOST_OFFERED)
    rows, _ = symbols.select(Filters(name=(f"{last}*",), parent=(scope.rpartition(".")[2],)), _MOST_OFFERED)
    return sorted({f"{scope}.{row['symbol']}" for row in rows})


def enumeration(words: Iterable[str], last: str = "and") -> str:
    """Join words as `a, b and c`."""
    some: Sequence[str] = list(words)
    return f" {last} ".join([*([", ".join(some[:-1])] if len(some) > 1 else []), *some[-1:]])
