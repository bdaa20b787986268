"""Selects lines of a definition for a question: its header, and those that match the question best."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lci_py.search.answer.results import LineMatcher
    from lci_py.search.navigate.present import Definition

#: Lines that a header has at most.
_HEADER = 12
#: Lines of code besides the header in a short and in a long excerpt; and the context around a matching line.
LOOKS = (4, 24)
_AROUND = (0, 2)
#: Lines shown for the name of another piece that is used in them; and lines before each.
_USES, _BEFORE = 2, 3
_ENDS = (":", "{", ";", "=", "=>", "then", "do", "begin", "(where)")


def header(found: Definition, lines: Sequence[bytes]) -> range:
    """The numbers of the lines from the name to the body."""
    last = min(found.end_line, found.line + _HEADER - 1, len(lines))
    if found.line == found.end_line:
        return range(found.line, found.line + 1)
    depth = 0
    for number in range(found.line, last + 1):
        text = lines[number - 1].split(b"#")[0].split(b"//")[0].strip()
        depth += sum(text.count(sign) for sign in b"([") - sum(text.count(sign) for sign in b")]")
        if depth <= 0 and text.decode("utf-8", "replace").endswith(_ENDS):
            return range(found.line, number + 1)
    return range(found.line, found.line + 1)


def _using(name: str, lines: Sequence[bytes], inside: Sequence[int]) -> Iterator[int]:
    """The numbers of the first lines with a name, each with those before it, which often say on which condition."""
    pattern = re.compile(rb"(?<!\w)" + re.escape(name.encode()) + rb"(?!\w)")
    for number in [number for number in inside if pattern.search(lines[number - 1])][:_USES]:
        yield from range(max(number - _BEFORE, inside[0]), number + 1)


def telling(
    found: Definition, lines: Sequence[bytes], wanted: LineMatcher, look: int, taken: Sequence[range], uses: str = ""
) -> list[int]:
    """The numbers of the lines of an excerpt, ascending.

    Args:
        lines: Of the definition's file.
        wanted: The weighted words of the question.
        look: An index into `LOOKS`.
        taken: Lines of other pieces inside the definition, which are shown by themselves.
        uses: The name of another piece, for which this one is shown: the lines with it matter most.
    """
    head = header(found, lines)
    chosen = set(head)
    inside = [number for number in range(head.stop, found.end_line + 1) if not any(number in one for one in taken)]
    chosen.update(_using(uses, lines, inside) if uses else ())
    matches = wanted.found([lines[number - 1] for number in inside])
    keys = {inside[at]: {key for _, _, key in line} for at, line in matches.items()}
    weights = {number: wanted.weight(some) for number, some in keys.items()}
    room = LOOKS[look]
    seen: set[frozenset[str]] = set()
    best = sorted(weights, key=lambda number: (*(-value for value in weights[number]), number))
    own = set(inside)
    for number in best:
        if room <= 0:
            break
        said = frozenset(keys[number])
        if look == 0 and said in seen:
            continue  # says what another line says
        seen.add(said)
        around = [n for n in range(number - _AROUND[look], number + _AROUND[look] + 1) if n in own and n not in chosen]
        chosen.update(around)
        room -= len(around)
    return sorted(chosen)
