"""Makes `lci similar`: finds similar code. The views select candidates, whose text is then compared.

Vectors and words find code that does the same in other words, at little cost. Copies are recognised by runs of equal
tokens, and copies with other names by runs of tokens of the same shape (clones of type 1, 2 and 3 in Roy, Cordy and
Koschke, Science of Computer Programming 74, 2009).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lci_py.errors import UnknownTargetError
from lci_py.search.answer.results import index_info
from lci_py.search.modes.candidates import allowed_units
from lci_py.search.navigate.names import meanings
from lci_py.search.navigate.present import PresentFiles, innermost
from lci_py.search.query.text import read_text
from lci_py.search.suggest import near_misses, similar_paths
from lci_py.source.text.patterns import lazily
from lci_py.source.text.words import WORD, parts, stem
from lci_py.types.similar import Likeness, SimilarAnswer, SimilarRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Set

    from numpy.typing import NDArray

    from lci_py.search.snapshot import Snapshot
    from lci_py.types.graph import Definition

#: Candidates of each view whose text is compared.
_COMPARED = 60
#: Maximum number of compared tokens, and the minimum for a near duplicate: short functions are all alike.
_MOST, _LEAST = 4_000, 25
#: Thresholds for a near duplicate: of the same text, or of the same shape with some of the words.
_SAME, _SHAPED, _WORDED = 0.7, 0.7, 0.5
#: Minimum similarity of a result.
_ALIKE = 0.3
#: Comments, which are left out, and strings, whole; then words, numbers, and signs.
_TOKEN = lazily(
    r"(?:(?<!\S)(?:#|--)\s|//)[^\n]*|/\*.*?(?:\*/|\Z)"
    r"|(\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z)|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[^\W\d]\w*|\d[\w.]*|[^\w\s])",
    re.DOTALL,
)
#: Words that give code its shape; every other word is a name.
_KEYWORDS = frozenset(
    "and as async await break case catch class continue def defer del do elif else end enum except export extends "
    "false finally fn for foreach from func function go if impl implements import in interface is lambda let loop "
    "match mut new nil none not null or pass private pub public raise return self static struct super switch then "
    "this throw true try type unless until var void when where while with yield".split()
)


class Text(NamedTuple):
    """Code prepared for comparison: its tokens and its names."""

    size: int  # tokens
    words: Set[str]
    runs: Counter[tuple[str, ...]]  # of three tokens
    shapes: Counter[tuple[str, ...]]  # of five, without names


def text_of(code: str) -> Text:
    tokens = [token for match in _TOKEN.finditer(code) if (token := match[1])][:_MOST]
    shapes = ["n" if token[0].isalpha() or token[0] == "_" else token for token in tokens]
    shapes = [
        token.lower()
        if token.lower() in _KEYWORDS
        else "0"
        if token[0].isdigit()
        else '"'
        if token[0] in "\"'"
        else shape
        for token, shape in zip(tokens, shapes, strict=True)
    ]
    words = {stem(part) for token in tokens for word in WORD.findall(token) for part in parts(word)}
    return Text(len(tokens), words - _KEYWORDS, _runs(tokens, 3), _runs(shapes, 5))


def _runs(tokens: Sequence[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[start:] for start in range(size)), strict=False))


def _dice(runs: Counter[tuple[str, ...]], other: Counter[tuple[str, ...]]) -> float:
    total = runs.total() + other.total()
    return 2 * (runs & other).total() / total if total else 0.0


def similar(snapshot: Snapshot, request: SimilarRequest) -> SimilarAnswer:
    """The definitions that are most similar to the code of a request, without that code itself.

    Raises:
        UnknownTargetError: The name or the location does not exist.
        IndexError_: A required shard cannot be used.
    """
    present = PresentFiles(snapshot)
    own = None if request.code else _target(snapshot, present, request)
    code = request.code if own is None else _code(present, own)
    text = text_of(code)
    meaning = snapshot.dense.like(code)
    results = []
    for unit, other in _candidates(snapshot, present, request, code, meaning):
        if own is not None and own.file == other.file and own.line <= other.end_line and other.line <= own.end_line:
            continue  # itself, a part of it, or what it is a part of
        stale = present.stale(other.file)
        results.append(_likeness(text, text_of(_code(present, other)), other, float(meaning[unit]), stale=stale))
    results = [result for result in results if result.score >= _ALIKE]
    results.sort(key=lambda result: (-result.score, result.file, result.line))
    page = results[request.offset : request.offset + request.limit]
    return SimilarAnswer(request, tuple(page), len(results), index_info(snapshot))


def _likeness(text: Text, other: Text, d: Definition, meaning: float, *, stale: bool) -> Likeness:
    words = 2 * len(text.words & other.words) / max(1, len(text.words) + len(other.words))
    same, shape = _dice(text.runs, other.runs), _dice(text.shapes, other.shapes)
    twin = min(text.size, other.size) >= _LEAST and (same >= _SAME or (shape >= _SHAPED and words >= _WORDED))
    return Likeness(
        d.id, d.qualified_name, d.kind, d.file, d.line, d.end_line, d.language,
        d.signature, round((meaning + words + same + shape) / 4, 4), round(meaning, 4), round(words, 4),
        round(same, 4), round(shape, 4), twin, stale,
    )  # fmt: skip


def _target(snapshot: Snapshot, present: PresentFiles, request: SimilarRequest) -> Definition:
    if request.place is not None:
        path, line = request.place
        if (definition := innermost(present.definitions(path), line)) is None:
            near = similar_paths(path, snapshot.symbols.paths()) if path not in snapshot.symbols.paths() else ()
            raise UnknownTargetError(f"no definition is at {path}:{line}", near)
        return definition
    symbols, name = snapshot.symbols, request.name
    exact = symbols.with_id(name)
    rows = (
        [exact] if exact else [row for meaning in meanings(symbols, name, callable_only=False) for row in meaning.rows]
    )
    definition = next((d for row in rows if (d := present.of_row(row)) is not None), None)
    if definition is None:
        raise UnknownTargetError(f"nothing is named {name!r}", near_misses(symbols, name))
    return definition


def _code(present: PresentFiles, definition: Definition) -> str:
    """The text of a definition, without the comment above it."""
    lines = present.lines(definition.file) or []
    return b"\n".join(lines[definition.line - 1 : definition.end_line]).decode("utf-8", "replace")


def _candidates(
    snapshot: Snapshot, present: PresentFiles, request: SimilarRequest, code: str, meaning: NDArray[np.float32]
) -> Iterator[tuple[int, Definition]]:
    """(unit, definition) for each definition that the views dense and bm25 find."""
    mask = allowed_units(snapshot, request.filters)
    close = meaning if mask is None else np.where(mask, meaning, -np.inf)
    units = np.argsort(-close, kind="stable")[:_COMPARED]
    words = read_text(" ".join(dict.fromkeys(WORD.findall(code)[:_MOST])))
    units = np.union1d(units[close[units] > 0], snapshot.bm25.search(words, _COMPARED, mask).units)
    rows = snapshot.symbols.result_rows(units.tolist())
    for unit, row in rows.items():
        if row["symbol_number"] is not None and (definition := present.of_row(row)) is not None:
            yield unit, definition
