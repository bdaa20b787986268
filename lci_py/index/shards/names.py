"""How the symbolic shards keep the names of definitions, and find them.

An index of kinds and names answers both what has a name and what is of a kind. A qualified name is stored only where
it differs from the name. Of the spelling, by which `getHttp` and `get_http` are the same, a number is stored: whoever
looks one up compares the names that it finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from lci_py.index.shards.filters import marks
from lci_py.source.text.words import joined
from lci_py.types.search import KINDS, TYPE_KINDS

_KINDS = ",".join(f"'{kind}'" for kind in KINDS)


def joined_name(kind: str, name: str) -> str:
    """The spelling of the name by which a definition is looked up: conn for the type or module `Plug.Conn`, as for
    `Conn` in `Plug`. A namespace or a section with a dot in its name keeps its whole name."""
    nested = kind in TYPE_KINDS or kind == "module"
    return joined((name.rpartition(".")[2] if nested else "") or name)


def spelling(text: str) -> int:
    """The number of a spelling, below 2^31; some spellings share one."""
    return crc32(text.encode("utf-8", "surrogatepass")) >> 1


def named_in(column: str, count: int) -> str:
    """An SQL condition for definitions with one of `count` names; `column` is `s.` or the like."""
    return f"({column}kind IN ({_KINDS}) AND {column}name IN ({marks(range(count))}))"


def qualified_in(column: str, count: int) -> str:
    """An SQL condition for definitions with one of `count` qualified names, which are its values twice."""
    same = f"{column}qualified IS NULL AND {named_in(column, count)}"
    return f"({column}qualified IN ({marks(range(count))}) OR {same})"


def ending_in(name: str, plain: str) -> tuple[str, list[object]]:
    """An SQL condition for definitions `s` of a name, or with this end of their qualified name; and its values.

    Args:
        name: The name as written.
        plain: The same with dots between its parts.
    """
    # A qualified name ends with the name, which may have dots in it (a module `A.B`).
    parts = plain.split(".")
    ends = sorted({name, *(".".join(parts[first:]) for first in range(len(parts)))})
    fits = "(s.name IN (?, ?) OR s.qualified_name = ? OR substr(s.qualified_name, -length(?) - 1) = '.' || ?)"
    dotted = "s.id IN (SELECT id FROM definitions WHERE instr(name, '.'))"
    asked = [name, plain, plain, plain, plain]
    return f"({named_in('s.', len(ends))} AND {fits} OR {dotted} AND {fits})", [*ends, *asked, *asked]


def spelled_in(spellings: Sequence[str]) -> str:
    """An SQL condition for definitions `s` that may have one of some spellings, as `joined_name` gives them."""
    return f"s.spelled IN ({','.join(map(str, sorted(set(map(spelling, spellings)))))})"
