"""Suggests commands when an answer seems to miss its target. Each is tried here first, so that a hint is never wrong.

Also recognises questions about the callers or the tests of a definition, which the text of the definition does not
answer. Only multiview answers such questions itself, since the other modes rank by one kind of evidence alone.
"""

from __future__ import annotations

import time
from shlex import quote
from typing import TYPE_CHECKING

from lci_py.search.query.text import read_fields, read_text
from lci_py.search.ranking.signals import ASKED_BY
from lci_py.source.text.patterns import lazily
from lci_py.source.text.words import STOPWORDS, WORD, parts, stem
from lci_py.types.record import NamedTuple, replace
from lci_py.types.search import Confidence, Hint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lci_py.index.shards.symbols import Row
    from lci_py.search.query.text import TextQuery
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.graph import Place
    from lci_py.types.search import Answer, SearchRequest

_NAME = r"`?(?P<name>[\w$][\w$.:#>-]*(?: [\w$.]+)?)`?(?:\(\))?\s*\??$"
_CALLERS = lazily(
    rf"^\s*(?:(?:who|what)(?: else)? (?:calls|uses|invokes)|(?:all )?(?:callers|usages?|uses|calls) (?:of|to)) {_NAME}"
    rf"|^\s*where (?:is|are) (?P<passive>[\w$][\w$.:#>-]*) (?:called|used|invoked)(?: from)?\s*\??$",
)
_TESTS = lazily(
    rf"^\s*(?:(?:which|what|the) )?tests? (?:for|of|covering|(?:that )?(?:covers?|exercises?|calls?)) {_NAME}"
    rf"|^\s*(?:how|where) (?:is|are) (?P<passive>[\w$][\w$.:#>-]*) tested\s*\??$",
)
#: One of these occurs in every such question: a cheap test before the patterns.
_SAID = ("call", "use", "usage", "invoke", "test")
#: Meanings of a name, and places, that are taken.
_MOST_MEANT, _MOST_RELATED = 3, 20
#: Factor of each further place.
_LESS = 0.98


class RelationQuestion(NamedTuple):
    """A question that asks for the callers or the tests of a definition.

    Attributes:
        name: The name of the definition.
        tests: Whether the question asks for tests; otherwise it asks for callers.
        rows: The rows of the definitions with that name.
        command: The shell command that lists the complete answer.
        tool: The equivalent call for a client of `lci mcp`, in words.
    """

    name: str
    tests: bool
    rows: Sequence[Row]
    command: str
    tool: str


def relation_question(snapshot: Snapshot, text: str) -> RelationQuestion | None:
    """The question of a query for callers or tests of a definition; None for other queries and unknown names."""
    if not any(word in text.lower() for word in _SAID):
        return None
    calls = _CALLERS.match(text)
    if (match := calls or _TESTS.match(text)) is None:
        return None
    from lci_py.search.navigate.names import meanings

    name = (match["name"] or match["passive"]).replace(" ", ".")
    candidates = meanings(snapshot.symbols, name)
    if not candidates or len(candidates) > _MOST_MEANT:
        return None
    rows = [row for meaning in candidates for row in meaning.rows]
    files = sorted({row["file"] for row in rows})
    if calls:
        return RelationQuestion(name, False, rows, f"lci callers {quote(name)}", f"`callers` of {name}")
    return RelationQuestion(
        name, True, rows, f"lci affected --files {' '.join(map(quote, files))}", f"`affected` with files {files}"
    )


def related_definitions(snapshot: Snapshot, text: str) -> tuple[str, list[tuple[Row, float]]] | None:
    """(command, definitions): the command that lists all callers or tests that a query asks for, and the first of these
    with weights, best first. None if the query does not ask for them, or there are none.
    """
    if (about := relation_question(snapshot, text)) is None:
        return None
    name, rows = about.name, about.rows
    if about.tests:
        from lci_py.search.navigate.affected import tests_of

        places: Iterable[Place] = tests_of(snapshot, rows)
    else:
        from lci_py.search.navigate.calls import neighbours
        from lci_py.types.graph import GraphRequest

        request = GraphRequest(name, all_meanings=True, limit=_MOST_RELATED)
        places = [related.place for related in neighbours(snapshot, request, "callers").neighbours]
    related = [row for place in list(places)[:_MOST_RELATED] if (row := snapshot.symbols.with_id(place.id)) is not None]
    if not related:
        return None
    return about.command, [(row, _LESS**rank) for rank, row in enumerate(related)]


#: Bounds: characters of a searched text, texts per query, files read per text, and seconds for all.
_LETTERS, _MOST_TEXTS, _MOST_FILES, _SECONDS = range(4, 121), 4, 200, 0.1
#: Number of bm25 results that are checked for all words of the query.
_MOST_PLACES = 10
#: Separators of the parts of a query that may be literal texts.
_BETWEEN = lazily(r"[\"'`]|: |\n")


class _Holder(NamedTuple):
    """A location that has the words of a query: the hint that leads to it, and whether a result shows it already."""

    hint: Hint
    shown: bool


def with_hints(snapshot: Snapshot, request: SearchRequest, answer: Answer) -> Answer:
    """Add hints: to a weak answer, at most one command that finds more; if most results are tests, how to exclude them.

    A low confidence is raised if a definition contains the words of the query: the vector of two words resembles its
    target less than the vectors of whole questions do, for which the thresholds were measured.

    Raises:
        IndexError_: The lexical shard cannot be used.
    """
    text, filters = read_fields(request.query, request.filters)
    request = replace(request, query=text, filters=filters)
    query = read_text(text)
    weak = answer.confidence is not None and answer.confidence.level != "high"
    hints: list[Hint] = []
    if request.mode in ("dense", "bm25") and (about := relation_question(snapshot, text)) is not None:
        hints.append(Hint("related", about.command, about.tool, "lists what the question asks for"))
    elif weak or not answer.total:
        holder = _literal(snapshot, request, query, answer)
        if holder is None or holder.shown:
            holder = _by_words(snapshot, request, query, answer) or holder
        if holder is not None:
            hints += [] if holder.shown else [holder.hint]
            if answer.confidence is not None and answer.confidence.level == "low":
                there = f"{holder.hint.file}:{holder.hint.line} {holder.hint.reason}"
                answer = replace(answer, confidence=Confidence("medium", there))
    return replace(answer, hints=(*hints, *_tests(answer, request, query)))


def _tests(answer: Answer, request: SearchRequest, query: TextQuery) -> Iterator[Hint]:
    """A hint if more than half of the results are tests, though the query did not ask for tests."""
    tests, total = sum(result.test for result in answer.results), len(answer.results)
    names_tests = not query.long and not ASKED_BY["test"].isdisjoint(
        part for word in query.words for part in parts(word)
    )
    if 2 * tests > total > 1 and not names_tests and not request.filters.no_tests:
        mode = f"-m {request.mode} " if request.mode != "dense" else ""
        command = f"lci search {mode}{quote(request.query)} --no-tests"
        yield Hint("tests", command, "no_tests leaves them out", f"{tests} of {total} are tests")


# --- a text as it stands ----------------------------------------------------------------------------------------------


def _literal(snapshot: Snapshot, request: SearchRequest, query: TextQuery, answer: Answer) -> _Holder | None:
    """A location where the query, or a part of it, occurs literally."""
    until = time.monotonic() + _SECONDS
    for text in _texts(query):
        location = _text_location(snapshot, request, text, until)
        if location is None:
            continue
        file, line, folded = location
        is_shown = any(item.file == file and item.line <= line <= item.end_line for item in answer.results)
        command = f"lci grep {'-Fi' if folded else '-F'} {'-- ' if text.startswith('-') else ''}{quote(text)}"
        tool = f"`grep` with the pattern {text!r} and fixed_strings{' and ignore_case' if folded else ''}"
        return _Holder(Hint("grep", command, tool, "has it", file, line), is_shown)
    return None


def _texts(query: TextQuery) -> list[str]:
    """Texts that may occur literally in a file: the query, and the longest of its parts between quotes and colons."""
    whole = query.raw.strip()
    pieces = [whole.strip("\"'`"), *sorted(_BETWEEN.split(whole), key=len, reverse=True)]
    texts = (text.strip() for text in pieces)
    # A single word of a longer query says little.
    long_enough = [text for text in texts if len(text) in _LETTERS and (len(WORD.findall(text)) > 1 or text == whole)]
    return list(dict.fromkeys(text for text in long_enough if "\n" not in text))[:_MOST_TEXTS]


def _text_location(snapshot: Snapshot, request: SearchRequest, text: str, until: float) -> tuple[str, int, bool] | None:
    """(file, line, folded) of the first occurrence of a text, in code if possible; folded: only in another case."""
    from lci_py.index.shards.filters import path_test
    from lci_py.index.shards.unit_columns import TEST, TEXT
    from lci_py.index.shards.word_files import words_in

    numbers = snapshot.word_files.having([[words_in(text)]], folds=True)
    if numbers is None or len(numbers) > _MOST_FILES:
        return None
    paths, flags, passes = snapshot.files.living_paths(), snapshot.unit_table.file_flags, path_test(request.filters)
    other: tuple[str, int, bool] | None = None
    needle = text.encode("utf-8", "surrogatepass")
    for number in sorted(numbers, key=lambda number: (bool(flags[number] & (TEST | TEXT)), number)):
        data = snapshot.reader.read(paths[number]) if passes is None or passes(paths[number]) else None
        if time.monotonic() > until:
            break
        if data is not None and (at := data.find(needle)) >= 0:
            return paths[number], data.count(b"\n", 0, at) + 1, False
        if data is not None and other is None and (at := data.lower().find(needle.lower())) >= 0:
            other = paths[number], data.count(b"\n", 0, at) + 1, True
    return other


# --- all of its words -------------------------------------------------------------------------------------------------


def _by_words(snapshot: Snapshot, request: SearchRequest, query: TextQuery, answer: Answer) -> _Holder | None:
    """A definition that contains all words of the query, preferably a definition among the results."""
    from lci_py.search.modes.candidates import allowed_units

    words = [word for word in query.words if word.lower() not in STOPWORDS]
    terms = dict.fromkeys(stem(part) for word in words for part in parts(word) if len(part) > 1)
    if request.mode not in ("dense", "multiview") or len(terms) < 2 or query.long:
        return None
    plain = replace(query, terms=tuple((term, 1.0) for term in terms))
    if len(snapshot.bm25.known(plain)) < len(terms):
        return None
    best = snapshot.bm25.search(plain, _MOST_PLACES, allowed_units(snapshot, request.filters)).units
    best = best[~(snapshot.unit_table.is_test | snapshot.unit_table.is_text)[best]]
    parted = zip(best.tolist(), snapshot.bm25.coverage(plain, best).tolist(), strict=True)
    whole = [unit for unit, part in parted if part == 1]
    rows = snapshot.symbols.result_rows(whole)
    if not whole:
        return None
    results = {result.id for result in answer.results}
    row = next((row for row in rows.values() if row["id"] in results), rows[whole[0]])
    command, tool = f"lci search -m bm25 {quote(request.query)}", "`search` with mode bm25"
    hint = Hint("bm25", command, tool, "has all its words", row["file"], row["line"])
    return _Holder(hint, row["id"] in results or request.mode == "multiview")  # which has asked bm25
