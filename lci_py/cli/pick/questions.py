"""The queries of `lci pick`: each answer is a list of entries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lci_py.cli.request import PATH_LINE
from lci_py.errors import LciError
from lci_py.types.files import FilesRequest
from lci_py.types.graph import GraphRequest
from lci_py.types.outline import OutlineRequest
from lci_py.types.search import FILE_KIND, MODES, Filters, SearchRequest
from lci_py.types.show import ShowRequest, Target
from lci_py.types.similar import SimilarRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lci_py.app import Engine
    from lci_py.types.graph import GraphAnswer
    from lci_py.types.search import Mode

FILES = "files"
#: In the order of Tab; the first is where it starts.
ALL_MODES: tuple[Mode | str, ...] = ("multiview", *(mode for mode in MODES if mode != "multiview"), FILES)
#: Entries of a list.
LIMIT = 40
#: Files above the results of a search whose text looks like a path.
_FEW_FILES = 5
#: Lines that a preview has above a definition, below the best line, and between the two: to colour them takes long.
_ABOVE, _BELOW, _LONGEST = 40, 140, 400
_PATH = re.compile(r"\S*(?:/\S*|\w\.[A-Za-z]\w{0,5}(?::[0-9:]*)?)")
_WORD = re.compile(r"\w{2,}")
#: Words of a question that say nothing.
_COMMON = frozenset(
    "an and are at be by do does for from how if in is it not of on or the this to what when where which with".split()
)
_FIELD = re.compile(r"\b(?:kind|name|path|lang|parent|file):\S*")


class Entry(NamedTuple):
    """An entry of the displayed list: a file, or a location in it. Its path is relative to the root."""

    file: str
    line: int
    end_line: int
    name: str  # "" for a file, and for lines outside of definitions
    kind: str
    note: str = ""
    begin: int = 0  # where the definition around `line` begins, if not there


class EntryList(NamedTuple):
    """The entries that a query found, and the total number of results."""

    entries: tuple[Entry, ...]
    total: int


class Text(NamedTuple):
    """Lines of a file, as it is now.

    Attributes:
        start: The line number of the first line.
        lines: The text of the lines.
        language: The programming language of the file.
        match: The line number of the best match.
        above: The number of lines above the definition; code colouring starts below them.
    """

    start: int
    lines: tuple[str, ...]
    language: str
    match: int
    above: int


def search(engine: Engine, text: str, mode: str, filters: Filters) -> EntryList:
    """The results of a text in a search mode. If text and filters are empty: the most used files."""
    if mode == FILES or not (text.strip() or filters):
        return _files(engine, text, filters, LIMIT)
    if mode == "symbolic":
        # The last word is not typed to its end yet.
        text = re.sub(r"(?<!\S)(\w+)$", r"\1*", text)
    files = _files(engine, text, filters, _FEW_FILES) if _PATH.fullmatch(text.strip()) else EntryList((), 0)
    engine.snapshot.forget()
    # Not `engine.search`: it adds hints, and the log would count every keystroke.
    request = SearchRequest(text, mode, LIMIT, filters, snippet=0)  # type: ignore[arg-type]  # one of MODES
    answer = engine.ranked(request)
    entries = [Entry(hit.file, hit.line, hit.end_line, hit.qualified_name or "", hit.kind) for hit in answer.results]
    return EntryList((*files.entries, *entries), files.total + answer.total)


def _files(engine: Engine, text: str, filters: Filters, limit: int) -> EntryList:
    match = PATH_LINE.fullmatch(text.strip())
    pattern, line = (match[1], int(match[2])) if match else (text.strip().rstrip(":"), 1)
    answer = engine.answer("files", FilesRequest(pattern, line, filters, limit))
    return EntryList(tuple(Entry(hit.file, line, line, "", FILE_KIND, begin=1) for hit in answer.results), answer.total)


def callers(engine: Engine, entry: Entry) -> EntryList:
    """The callers of an entry's definition; the line of each is its first call."""
    return _neighbours(engine.answer("callers", GraphRequest(_identifying_name(entry))), at_call=True)


def callees(engine: Engine, entry: Entry) -> EntryList:
    """The definitions in the repository that an entry's definition calls."""
    return _neighbours(engine.answer("callees", GraphRequest(_identifying_name(entry))), at_call=False)


def _neighbours(answer: GraphAnswer, *, at_call: bool) -> EntryList:
    entries = []
    for item in answer.neighbours:
        place, line = item.place, item.sites[0] if at_call and item.sites else item.place.line
        entries.append(Entry(place.file, line, line, place.qualified_name or "", place.kind, item.step, place.line))
    return EntryList(tuple(entries), len(entries))


def outline(engine: Engine, entry: Entry) -> EntryList:
    """The definitions in an entry's file, in the order of their lines."""
    items = sorted(
        engine.outline(OutlineRequest(files=(entry.file,))).results, key=lambda item: (item.line, -item.end_line)
    )
    entries = tuple(Entry(item.file, item.line, item.end_line, item.qualified_name, item.kind) for item in items)
    return EntryList(entries, len(entries))


def similar(engine: Engine, entry: Entry) -> EntryList:
    """The definitions that are similar to an entry's definition."""
    answer = engine.answer("similar", SimilarRequest(place=(entry.file, entry.line), limit=LIMIT))
    entries = tuple(
        Entry(item.file, item.line, item.end_line, item.qualified_name, item.kind, f"{item.score:.2f}")
        for item in answer.results
    )
    return EntryList(entries, answer.total)


#: Ways to walk from an entry to others.
WALKS: dict[str, Callable[[Engine, Entry], EntryList]] = {
    "callers": callers, "callees": callees, "outline": outline, "similar": similar,
}  # fmt: skip


def _identifying_name(entry: Entry) -> str:
    """A name, FILE::NAME, that identifies the definition of an entry.

    Raises:
        LciError: The entry is no definition.
    """
    if not entry.name:
        raise LciError("files and loose lines have no callers and callees: choose a definition")
    return f"{entry.file}::{entry.name}"


def preview(engine: Engine, entry: Entry, words: Sequence[str], *, at_words: bool) -> Text:
    """The lines around an entry.

    Args:
        words: The words of the query, in lower case.
        at_words: Whether the best line is the line with the most query words, instead of the first line of the entry.
    Raises:
        LciError: The file no longer exists.
    """
    begin = max(entry.begin or entry.line, entry.line - _LONGEST)
    start, last = max(1, begin - _ABOVE), max(entry.end_line, entry.line)
    target = Target(entry.file, entry.file, entry.file, (start, last + _BELOW))
    answer = engine.answer("show", ShowRequest((target,)))
    if not answer.results:
        raise LciError(answer.unknown[0].message if answer.unknown else f"{entry.file} is not there")
    lines = answer.results[0].lines
    own = lines[entry.line - start : last + 1 - start] if at_words else ()
    counts = [sum(word in line.lower() for word in words) for line in own]
    match = entry.line + counts.index(max(counts)) if counts else entry.line
    return Text(start, lines[: match + _BELOW - start], answer.results[0].language, match, begin - start)


def words_of(text: str) -> tuple[str, ...]:
    """The words of a query that a preview highlights, in lower case."""
    words = dict.fromkeys(word.lower() for word in _WORD.findall(_FIELD.sub(" ", text)))
    return tuple(word for word in words if word not in _COMMON)
