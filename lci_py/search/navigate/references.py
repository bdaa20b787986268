"""The syntactic references to a name, in the files that hold its words. For an unchanged file, the index has marks
(places of names); files that have changed, or whose marks are incomplete, are parsed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from lci_py.callgraph.file_facts import family
from lci_py.errors import DamagedIndexError
from lci_py.index.shards.symbol_queries import definitions_in, file_state, marks_in
from lci_py.search.answer import results
from lci_py.search.navigate.names import meanings
from lci_py.search.navigate.nodes import Nodes, place_of
from lci_py.search.suggest import near_misses
from lci_py.source.extract.occurrences import finder, marked_occurrences, occurrences, spots
from lci_py.source.syntax.limits import UNPARSED
from lci_py.source.text.words import WORD, joined_spelling, parts, stem
from lci_py.types.graph import GraphAnswer, GraphRequest, Place, Reference
from lci_py.types.search import FUNCTION_KINDS, Filters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lci_py.index.shards.symbol_queries import Span
    from lci_py.index.shards.symbols import Row
    from lci_py.search.snapshot import Snapshot
    from lci_py.source.extract.occurrences import Occurrence

#: Languages with a grammar but without identifiers.
PROSE = frozenset({"text", "markdown"})
#: Maximum number of files that are searched for mentions of a function without callers.
_MOST_FILES = 100
_LAST = re.compile(r"::|\.|(?<=\w)#")
#: What joins the parts of a name, in whichever language.
_BETWEEN = r"\s*(?:\?\.|\.|::|->|\\|:)\s*"


class _File(NamedTuple):
    number: int  # -1 if it came after the index
    path: str
    language: str
    limited: str


def references(snapshot: Snapshot, request: GraphRequest) -> GraphAnswer:
    """The identifiers that refer to a name.

    For a qualified name, other definitions with the same last part are left out, and so are calls that are known to
    mean such a definition. If the repository does not define the qualified name, only text with its qualifier counts.
    """
    rows = meanings(snapshot.symbols, request.name, callable_only=False)
    own = [row for meaning in rows for row in meaning.rows]
    name = own[0]["symbol"] if own else _LAST.split(request.name)[-1]
    others = _Others(snapshot, own, name) if own and _LAST.search(request.name) and name != request.name else None
    search = _Search(snapshot, name, others, None if own else _qualifier(request.name))
    matches = [item for item in search.run(request.filters) if not request.roles or item.role in request.roles]
    left_out = [("unsupported_files", search.unsupported), ("elsewhere", search.elsewhere)]
    return GraphAnswer(
        "refs",
        request.name,
        tuple(map(place_of, own)),
        results.index_info(snapshot),
        len(matches),
        references=tuple(matches[request.offset :][: request.limit]),
        did_you_mean=() if matches or own else tuple(near_misses(snapshot.symbols, request.name)),
        offset=request.offset,
        left_out=tuple((what, count) for what, count in left_out if count),
        unsearched=tuple(search.unsearched),
    )


def mentions(snapshot: Snapshot, targets: Sequence[Place]) -> tuple[tuple[str, int], ...]:
    """(file, line) of the mentions of functions other than calls: in a table, a macro, an argument.

    A name that occurs in more than `_MOST_FILES` files is left out: most of its occurrences mean something else.
    """
    sites = set()
    for name in sorted({place.symbol for place in targets if place.symbol and place.kind in FUNCTION_KINDS}):
        families = {family(place.language) for place in targets if place.symbol == name}
        if len(files_with_words(snapshot, name, snapshot.graph.n_files)) <= _MOST_FILES:
            for item in _Search(snapshot, name, None, None).run(Filters()):
                is_declaration = item.text[item.column - 1 + len(name) :].lstrip().startswith("(")
                if item.role == "reference" and not is_declaration and family(item.language) in families:
                    sites.add((item.file, item.line))
    return tuple(sorted(sites))


class _Others:
    """Lines of definitions and calls that are known to mean another definition of the same name."""

    def __init__(self, snapshot: Snapshot, own: Sequence[Row], name: str) -> None:
        nodes = Nodes(snapshot)
        own_nodes = set(nodes.asked(own))
        same = [row for row in snapshot.symbols.definitions(name, Filters()) if row["symbol_number"] not in own_nodes]
        self.definitions = {(row["file"], row["line"]) for row in same} - {(row["file"], row["line"]) for row in own}
        self.calls = _sites(nodes, nodes.asked(same)) - _sites(nodes, sorted(own_nodes))


def _sites(nodes: Nodes, targets: Sequence[int]) -> set[tuple[str, int]]:
    """(path, line) of the calls of the asked nodes."""
    calls = nodes.calls(targets, "callers")
    places = nodes.places(call.node for call in calls)
    return {(places[call.node].file, line) for call in calls if call.node in places for line in call.lines}


class _Search:
    """One search for a name. It also counts the occurrences that it leaves out."""

    def __init__(self, snapshot: Snapshot, name: str, others: _Others | None, before: re.Pattern[str] | None) -> None:
        """Set up the search.

        Args:
            name: The identifier.
            others: Lines that are known to mean another definition.
            before: Pattern of the text that must precede the identifier on its line.
        """
        self._snapshot = snapshot
        self._name = name
        self._pattern = finder(name)
        self._others = others
        self._before = before
        self.unsupported = 0
        self.elsewhere = 0
        self.unsearched: list[str] = []

    def run(self, filters: Filters) -> Iterator[Reference]:
        """The references, by path and position."""
        from lci_py.index.shards.filters import languages, path_test

        passes = path_test(filters)
        langs = languages(filters)
        for file in self._candidates():
            if (langs and file.language not in langs) or (passes is not None and not passes(file.path)):
                continue
            data = self._snapshot.reader.read(file.path)
            if data is None or next(spots(data, self._pattern, self._name), None) is None:
                continue
            if file.language in PROSE:
                self.unsupported += 1
            elif file.limited in UNPARSED:
                self.unsearched.append(file.path)
            else:
                yield from self._in_file(file, data)

    def _candidates(self) -> list[_File]:
        """The files that may contain the name: files with its words, and files whose words are partly indexed."""
        snapshot = self._snapshot
        states = file_state(snapshot.symbols)
        numbers = set(files_with_words(snapshot, self._name, len(states)))
        numbers |= {number for number, (_, _, limited) in enumerate(states) if limited}
        numbers_of = {path: number for number, (path, _, _) in enumerate(states)}
        fresh = []
        for path in snapshot.freshness.sweep().stale:
            if path in numbers_of:
                numbers.add(numbers_of[path])
            else:
                fresh.append(path)
        files = [_File(number, *states[number]) for number in numbers]
        return sorted([*files, *self._unindexed_files(fresh)], key=lambda file: file.path)

    def _unindexed_files(self, paths: Sequence[str]) -> Iterator[_File]:
        from lci_py.source.syntax.languages import HEAD_BYTES, detect

        for path in paths:
            data = self._snapshot.reader.read(path)
            if data is not None:
                yield _File(-1, path, detect(path, data[:HEAD_BYTES]), "")

    def _in_file(self, file: _File, data: bytes) -> Iterator[Reference]:
        stale = self._snapshot.freshness.changed(file.path)
        is_indexed = not stale and file.number >= 0
        items = self._marked_occurrences(file, data) if is_indexed and not file.limited else None
        if items is None:
            try:
                items = occurrences(data, file.language, self._pattern, name=self._name, path=file.path)
            except Exception:  # OutOfTime, or what a grammar trips over: one file must not cost the answer the others
                self.unsearched.append(file.path)
                return
        if not items:
            return
        # The lines of a changed file are not those of the index.
        spans = definitions_in(self._snapshot.symbols, file.number) if is_indexed else []
        lines = data.split(b"\n")
        for item in items:
            text = lines[item.line - 1].decode("utf-8", "replace").removesuffix("\r")
            if self._is_elsewhere(file.path, item, text):
                self.elsewhere += 1
                continue
            span = _enclosing(spans, item, self._name)
            place = None
            if span is not None:
                place = Place(span.id, span.name, span.qualified_name, span.kind, file.path, span.line, file.language)
            yield Reference(file.path, item.line, item.column, item.role, text, file.language, place, stale)

    def _marked_occurrences(self, file: _File, data: bytes) -> list[Occurrence] | None:
        """The occurrences in an unchanged file, by its marks in the index; None if the marks are incomplete."""
        marks = marks_in(self._snapshot.symbols, file.number)
        if not marks:
            return None
        try:
            return marked_occurrences(data, file.language, self._pattern, self._name, marks)
        except ValueError as error:
            raise DamagedIndexError(f"the symbolic shard: {error}") from error

    def _is_elsewhere(self, path: str, item: Occurrence, text: str) -> bool:
        if self._before is not None:
            return not self._before.search(text[: item.column - 1])
        if self._others is None:
            return False
        site = (path, item.line)
        if item.role == "definition":
            return site in self._others.definitions
        return item.role == "call" and site in self._others.calls


def _qualifier(name: str) -> re.Pattern[str] | None:
    """A pattern of the qualifier in a name that the repository does not define: `json.` of `json.dumps`."""
    *above, _ = _LAST.split(name)
    if not above or not all(above):
        return None
    return re.compile(r"(?<!\w)" + _BETWEEN.join(map(re.escape, above)) + _BETWEEN + "$")


def _enclosing(spans: Sequence[Span], item: Occurrence, name: str) -> Span | None:
    """The innermost definition that encloses an identifier; a definition does not enclose its own name."""
    # Definitions are in the order of their first lines, so the last one that reaches this line is the innermost.
    for index in range(bisect_right(spans, item.line, key=lambda span: span.line) - 1, -1, -1):
        span = spans[index]
        own = item.role == "definition" and span.line == item.line and span.name == name
        if span.end_line >= item.line and not own:
            return span
    return None


def files_with_words(snapshot: Snapshot, name: str, n_files: int) -> list[int]:
    """Files that contain all words of a name."""
    import numpy as np

    lexical = snapshot.lexical
    have = np.ones(n_files, np.bool_)
    for word in WORD.findall(name):
        pieces = parts(word)
        for text in {*map(stem, pieces), *([joined_spelling(word)] if len(pieces) > 1 else [])}:
            term = lexical.term(text)
            here = np.zeros(n_files, np.bool_)
            if term is not None:
                here[lexical.rows("files", term)] = True
            have &= here
    return [int(file) for file in np.flatnonzero(have)]
