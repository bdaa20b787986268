"""Makes results (with snippet and staleness) from index rows, and the envelope around the results.

The graph context of a result is its callers, callees, imports and importers: short lists, with the full counts.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from lci_py.index.shards.filters import only_in_tests
from lci_py.index.shards.symbol_queries import constructors, names
from lci_py.source.repository.workspace import index_command
from lci_py.source.text import lines_digest
from lci_py.source.text.patterns import lazily
from lci_py.source.text.words import joined_spelling, located_parts, parts, stem
from lci_py.types.record import NamedTuple
from lci_py.types.search import (
    TYPE_KINDS,
    VALUED_KINDS,
    Answer,
    GraphContext,
    GraphLink,
    IndexInfo,
    Result,
    SearchRequest,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set

    from lci_py.index.shards.graph import GraphIndex
    from lci_py.index.shards.symbols import Row, SymbolicIndex
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import View

#: Bytes that a word is made of: ASCII letters, digits, _, and all of a character beyond ASCII.
_WORD = lazily(rb"[\w\x80-\xff]+")
#: Maximum number of lines of one definition that are searched for words.
_MOST_LINES = 300
#: Characters of the signature of a constant.
_VALUE = 100
#: Weight of a quoted phrase, in thousandths, as for words.
_PHRASE = 1_000_000


#: A word or a phrase of the query in a line: first byte, byte behind it, which one. A plain tuple: a named one takes a
#: quarter of a millisecond to define.
Match = tuple[int, int, str]


class LineMatcher:
    """Matches the words and phrases of a query in code, including other forms of the words and parts of names."""

    def __init__(
        self, terms: Iterable[tuple[str, float]], phrases: Iterable[str] = (), forms: Iterable[str] = ()
    ) -> None:
        """Takes weighted terms (as in `TextQuery`), quoted phrases, and the terms that are only other word forms."""
        self._forms = frozenset(forms)
        # Integers, so that the order of addition does not matter.
        self._weights = {term: round(weight * 1000) for term, weight in terms}
        self._phrases = [(phrase, phrase.encode("utf-8", "surrogatepass")) for phrase in phrases]
        # The common prefix of all forms of the word: the stem of `queries` is `query`.
        self._needles = {(term[:-1] if term[3:].endswith("y") else term).encode() for term in self._weights}
        self._known: dict[bytes, tuple[Match, ...]] = {}

    def weight(self, keys: Set[str]) -> tuple[int, int]:
        """(own, forms): the total weight of the query's own words and phrases in `keys`, and of other word forms."""
        own = sum(self._weights.get(key, _PHRASE) for key in keys - self._forms)
        return own, sum(self._weights[key] for key in keys & self._forms)

    def found(self, lines: Sequence[bytes], phrases_from: int = 0) -> dict[int, list[Match]]:
        """Maps the index of each line that has matches to these matches, in the order of the lines.

        Args:
            lines: The lines of a file.
            phrases_from: The index of the first line in which phrases are looked for.
        """
        text = b"\n".join(lines)
        lower = text.lower()
        ends = list(accumulate(len(line) + 1 for line in lines))
        places = {index for needle in self._needles for index in _lines_with(lower, needle, ends)}
        matches = {index: self._in_line(lines[index]) for index in sorted(places)[:_MOST_LINES]}
        for phrase, needle in self._phrases:
            for index in _lines_with(text, needle, ends):
                if index >= phrases_from:
                    start = lines[index].find(needle)
                    matches.setdefault(index, []).append((start, start + len(needle), phrase))
        return {index: matches[index] for index in sorted(matches) if matches[index]}

    def _in_line(self, line: bytes) -> list[Match]:
        matches = []
        for word in _WORD.finditer(line):
            parts = self._known.get(word.group())
            if parts is None:
                parts = self._known[word.group()] = tuple(self._in_word(word.group()))
            matches += [(word.start() + start, word.start() + end, key) for start, end, key in parts]
        return matches

    def _in_word(self, word: bytes) -> Iterator[Match]:
        text = word.decode("utf-8", "replace")
        if (whole := joined_spelling(text)) in self._weights:
            yield 0, len(word), whole
        # The parts of a word beyond ASCII are normalized, and cannot be located in it.
        located = located_parts(text) if text.isascii() else [(0, len(word), part) for part in parts(text)]
        for start, end, part in located:
            if (key := stem(part)) in self._weights:
                yield start, end, key


def _lines_with(text: bytes, needle: bytes, ends: Sequence[int]) -> list[int]:
    """The indices of the first `_MOST_LINES` lines that contain the text `needle`."""
    indices: list[int] = []
    at = text.find(needle)
    while at >= 0 and len(indices) < _MOST_LINES:
        indices.append(index := bisect_right(ends, at))
        at = text.find(needle, ends[index])
    return indices


class ShownLines(NamedTuple):
    """The lines that a result shows."""

    start: int  # the number of the first line
    text: str = ""
    match_line: int | None = None  # the number of the first line that has a word of the query
    marks: tuple[tuple[int, int, int], ...] = ()  # of each word: line of the text from 0, first character, end


def shown_rows(snapshot: Snapshot, units: Sequence[int], symbols: Mapping[int, int]) -> dict[int, Row]:
    """Maps each unit (a definition or block) to its row or, if `symbols` has the unit, to the row of that symbol."""
    rows = snapshot.symbols.result_rows(units) if units else {}
    instead = {unit: symbols[unit] for unit in units if unit in symbols}
    if instead:
        by_number = snapshot.symbols.symbol_rows(list(instead.values()))
        rows.update((unit, by_number[number]) for unit, number in instead.items())
    return rows


def result(
    snapshot: Snapshot,
    row: Row,
    request: SearchRequest,
    view: View,
    score: float,
    matcher: LineMatcher | None = None,
    at: int | None = None,
) -> Result:
    """Makes a result from an index row.

    Args:
        row: The row of a definition or a block.
        request: Determines how many lines are shown.
        view: The view that found the row.
        score: The score in the unit of the mode.
        matcher: Selects the lines to show; None shows the first lines.
        at: The first line of the row that contains a quoted phrase.
    """
    stale = snapshot.freshness.changed(row["file"])
    if not stale and _max_lines(snapshot, request) > 0:
        # The file may have changed since that check: the content that is shown decides.
        stale = snapshot.reader.digest(row["file"]) != snapshot.freshness.sha(row["file"])
    excerpt = _shown_lines(snapshot, row, request, matcher, at, stale=stale)
    return Result(
        id=row["id"],
        file=row["file"],
        line=row["line"],
        end_line=row["end_line"],
        symbol=row["symbol"],
        qualified_name=row["qualified_name"],
        kind=row["kind"],
        language=row["language"],
        signature=_short_signature(row),
        snippet=excerpt.text,
        snippet_line=excerpt.start if excerpt.text and excerpt.start != row["line"] else None,
        match_line=excerpt.match_line,
        marks=excerpt.marks,
        mode_source=view,
        mode_score=score,
        stale=stale,
        test=bool(row["test"]) or only_in_tests(row["build_tag"]),
    )


def _short_signature(row: Row) -> str | None:
    """The signature of a definition; the long signature of a constant is cut, since it ends in data."""
    signature: str | None = row["signature"]
    if signature is None or row["kind"] not in VALUED_KINDS or len(signature) <= _VALUE:
        return signature
    return signature[: _VALUE - 1].rstrip() + "…"


def _max_lines(snapshot: Snapshot, request: SearchRequest) -> int:
    """The maximum number of lines shown per result."""
    if request.context is not None:
        return sum(request.context) + 1
    return snapshot.snippet if request.snippet is None else request.snippet


def _shown_lines(
    snapshot: Snapshot, row: Row, request: SearchRequest, matcher: LineMatcher | None, at: int | None, *, stale: bool
) -> ShownLines:
    """The lines of a definition that match `matcher` best: the first lines, unless later lines match better."""
    own: int = row["line"]
    limit, context = _max_lines(snapshot, request), request.context
    if limit <= 0:
        return ShownLines(own)
    first = min(own, own if row["first_line"] is None else row["first_line"], own if at is None else at)
    last = max(own, row["end_line"])
    if stale:
        chunks = _unchanged_chunks(snapshot, row)
        surrounding = [(begin, end) for begin, end in chunks if begin <= own <= end]
        if not surrounding:
            return ShownLines(own)  # these lines hold something else by now; showing them would be a lie
        first, last = surrounding[0]
    # Lines around the match are not only the definition's, as long as the file is what was indexed.
    before, after = context or (0, 0)
    begin, end = (first, last) if stale else (max(1, first - before), last + after)
    lines = snapshot.reader.some(row["file"], begin, end)
    hits = {} if matcher is None else matcher.found(lines, 0 if at is None else at - begin)
    if context is None:
        if at is None and begin + max(hits, default=0) < own:
            hits = {}  # words of nothing but the comment above: what is shown is what it says that of
        start = begin + (own - begin if matcher is None else _window(hits, matcher, own - begin, lines, limit))
        stop = start + limit
    else:
        inside = {index: line for index, line in hits.items() if first <= begin + index <= last}
        match = begin + (own - begin if matcher is None else _window(inside, matcher, own - begin, lines, 1))
        start, stop = max(begin, match - before), match + after + 1
    texts = lines[start - begin : stop - begin]
    matches = [(index, hits[start - begin + index]) for index in range(len(texts)) if start - begin + index in hits]
    return ShownLines(
        start,
        "\n".join(line.decode("utf-8", "replace").removesuffix("\r") for line in texts),
        start + matches[0][0] if matches else None,
        tuple(mark for index, line in matches for mark in _marks(index, texts[index], line)),
    )


def _window(
    hits: Mapping[int, Sequence[Match]], matcher: LineMatcher, own: int, lines: Sequence[bytes], limit: int
) -> int:
    """The index of the first of the `limit` lines that, together with a definition's own line, match a query best.

    The definition's own line is always shown above. So the lines that follow it are chosen unless other lines match
    better. Ties go to the lines with the best single line, then with the most matching lines, then to the first lines.
    Other forms of a word only break ties between lines that match the query's own words equally.
    """
    keys = {index: {key for _, _, key in line} for index, line in hits.items()}
    weights = {index: matcher.weight(line)[0] for index, line in keys.items()}
    above = keys.get(own, set())

    def score_of(places: Sequence[int]) -> tuple[int, int, int, int]:
        words, others = matcher.weight(above.union(*(keys[index] for index in places)))
        return words, max((weights[index] for index in places), default=0), others, len(places)

    places = list(keys)
    first = best = score_of([index for index in places if own <= index < own + limit])
    start = own
    for i, index in enumerate(places):
        here = [other for other in places[i : i + limit] if other < index + limit]
        score = score_of(here)
        if (score[0], score[2]) > (first[0], first[2]) and (start == own or score > best):
            # One line more above, unless it says nothing; the others below.
            room = index > 0 and here[-1] - index + 1 < limit and _WORD.search(lines[index - 1])
            best, start = score, min(index - 1 if room else index, len(lines) - limit)
    return max(start, 0) if start != own else own


def _marks(index: int, line: bytes, matches: Sequence[Match]) -> Iterator[tuple[int, int, int]]:
    """Converts the matches in a line into (place, start, end), in characters; adjacent matches are merged."""
    spans: list[list[int]] = []
    for start, end, _ in sorted(matches):
        if spans and start <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([start, end])
    for start, end in spans:
        if not line.isascii():
            start, end = (len(line[:index].decode("utf-8", "replace")) for index in (start, end))
        yield index, start, end


def _unchanged_chunks(snapshot: Snapshot, row: Row) -> list[tuple[int, int]]:
    """(first, last) line of each chunk of a unit; [] if a chunk has changed since the file was indexed."""
    lines = snapshot.reader.lines(row["file"])
    if row["unit"] is None or lines is None:
        return []
    chunks = snapshot.symbols.chunk_digests(row["unit"])
    if not all(lines_digest(lines, first, last) == sha for first, last, sha in chunks):
        return []
    return [(first, last) for first, last, _ in chunks]


def index_info(snapshot: Snapshot) -> IndexInfo:
    """The envelope's `index` object. Call this function last, when the answer has read all that it needs."""
    manifest = snapshot.manifest
    swept = snapshot.freshness.sweep()
    stale = len(swept.stale) + snapshot.freshness.changed_since(snapshot.reader.paths)
    built = (manifest.generation, manifest.built_at, manifest.commit, manifest.branch)
    return IndexInfo(*built, stale, swept.unchecked, index_command(snapshot.root))


def answer(snapshot: Snapshot, request: SearchRequest, results: Sequence[Result], total: int) -> Answer:
    """Makes the envelope around the results."""
    return Answer(
        query=request.query,
        mode=request.mode,
        results=tuple(results),
        total=total,
        has_more=total > len(results),
        index=index_info(snapshot),
    )


#: Neighbours listed per relation: a utility with 500 callers must not flood the answer.
SHOWN = 3


def contexts(snapshot: Snapshot, rows: Sequence[Row]) -> list[GraphContext]:
    """The graph context of each row. A function that constructs an object of a type is one of the type's callers."""
    if not rows:
        return []
    surroundings = _surroundings(snapshot, snapshot.graph, rows)
    nodes = {node for lists in surroundings for some, _ in lists.values() for node in some}
    links = links_of(snapshot.symbols, snapshot.unit_table.paths, snapshot.graph, nodes)
    return [
        GraphContext(
            **{name: tuple(links[node] for node in some if node in links) for name, (some, _) in lists.items()},
            counts={name: count for name, (_, count) in lists.items()},
        )
        for lists in surroundings
    ]


def _surroundings(snapshot: Snapshot, graph: GraphIndex, rows: Sequence[Row]) -> list[dict[str, tuple[list[int], int]]]:
    """The graph neighbours of each row: a dict from relation to (first nodes, ascending; total number of nodes)."""
    files = [graph.n_symbols + int(row["file_number"]) for row in rows]
    # A block's calls are its file's: the graph has no finer node for code outside definitions.
    own = [
        file if row["symbol_number"] is None else int(row["symbol_number"])
        for row, file in zip(rows, files, strict=True)
    ]
    types = [node for node, row in zip(own, rows, strict=True) if row["kind"] in TYPE_KINDS]
    made_by: dict[int, list[int]] = {}
    for constructor, type_ in constructors(snapshot.symbols, types).items() if types else ():
        made_by.setdefault(type_, []).append(constructor)
    groups = [[node, *made_by.get(node, ())] for node in own]
    with_lambdas = [[*group, *(inner for node in group for inner in graph.lambdas_of(node))] for group in groups]
    into, out = (
        _first_neighbours(graph, groups, files, incoming=True),
        _first_neighbours(graph, with_lambdas, files, incoming=False),
    )
    n = len(rows)
    return [
        {"callers": into[i], "callees": out[i], "imports": out[n + i], "imported_by": into[n + i]} for i in range(n)
    ]


def _first_neighbours(
    graph: GraphIndex, groups: Sequence[Sequence[int]], files: Sequence[int], *, incoming: bool
) -> list[tuple[list[int], int]]:
    """The neighbours by calls of each group, then by imports of each file: (first `SHOWN`, ascending; total number)."""
    import numpy as np

    from lci_py.types.edges import CALLS, IMPORTS

    nodes = [node for group in groups for node in group]
    slots = np.array([*(i for i, group in enumerate(groups) for _ in group), *range(len(groups), 2 * len(groups))])
    kinds = np.array([CALLS] * len(nodes) + [IMPORTS] * len(files), np.uint8)
    edges = graph.edges([*nodes, *files], kinds, incoming=incoming)
    size = graph.n_nodes
    keys = np.sort(slots[edges.origin] * size + edges.node)
    keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]  # not `unique`, which imports all of numpy.ma
    counts = np.bincount(keys // size, minlength=2 * len(groups)).tolist()
    ends = keys % size
    return [
        (ends[stop - count : stop - count + min(count, SHOWN)].tolist(), count)
        for stop, count in zip(accumulate(counts), counts, strict=True)
    ]


def links_of(
    symbols: SymbolicIndex, paths: Sequence[str], graph: GraphIndex, nodes: Collection[int]
) -> dict[int, GraphLink]:
    """Maps each node in a context to the link to show for it, without nodes that no longer exist."""
    links = {node: link for node in nodes if (link := graph.outside(node)) is not None}
    nodes = [node for node in nodes if node not in links]
    lambdas = {node: graph.lambda_at(node) for node in nodes if node >= graph.n_symbols + graph.n_files}
    own = {node for node in nodes if node < graph.n_symbols}
    by_number = names(symbols, sorted(own | {enclosing for _, _, enclosing in lambdas.values() if enclosing >= 0}))
    for node in nodes:
        if node in lambdas:
            file, line, enclosing = lambdas[node]
            outer = f"{by_number[enclosing].qualified_name}." if enclosing in by_number else ""
            links[node] = GraphLink(f"lambda:{paths[file]}:{line}", "<lambda>", paths[file], line, f"{outer}<lambda>")
        elif node >= graph.n_symbols:
            path = paths[node - graph.n_symbols]
            links[node] = GraphLink(f"file:{path}", None, path, 1)
        elif node in by_number:
            name = by_number[node]
            links[node] = GraphLink(name.id, name.name, paths[name.file], name.line, name.qualified_name)
    return links
