"""Finds definitions that a query names by more or less than their name: as the call in a pasted line, qualified by file
or module, as a frame of a stack trace, mistyped or shortened.

`ranking.literal_matches` handles a query that is a name as a whole (docs/ranking.md#names-and-verbatim-text).

Words that contain punctuation are also matched as a whole: `maxmemory-policy`, `--max-columns-preview`,
`/api/v3/checks/`, `X-Forwarded-For`. BM25 only knows their parts. So the units with all parts are read, and the units
that contain the word literally count. They count most where the word is quoted, as in the definition of a key or
option; tests and documents count less than code.

A frame of a stack trace, `FILE:LINE` of a compiler or an editor, and a symbol with an offset have a line and mostly a
function. The line may be that of another version of the file, so the function decides where both are known.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from lci_py.index.shards.symbols import qualifies, segments_of
from lci_py.source.text.name_parts import SHORTEST, best_abbreviated, distance, nearest
from lci_py.source.text.patterns import lazily
from lci_py.source.text.words import STOPWORDS, WORD, joined_spelling, parts, stem
from lci_py.types.record import NamedTuple
from lci_py.types.search import Filters

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lci_py.index.shards.symbols import Row
    from lci_py.search.query.text import TextQuery
    from lci_py.search.snapshot import Snapshot

#: Maximum number of words in a query with a literal, minimum length of a literal, and number of places read.
_MOST_WORDS, _LEAST, PLACES = 4, 4, 240
#: Punctuation inside a word, or before it.
_PUNCTUATED = lazily(r"[^\w\s]\w|\w[^\w\s]+\w")
#: What stands around a word in a sentence and is no part of it.
_AROUND = "\"'`,;!?()[]{}<>"
#: Value of a match: the word quoted, by itself, and inside a longer word.
_QUOTED, _ALONE, _INSIDE = 1.0, 0.75, 0.5
#: Factors for a line that has another string first, for a test, and for a document.
_SECOND, _TEST, _DOCUMENT = 0.85, 0.5, 0.6
#: A list of parameters, with a keyword before it and a result behind it, or without.
_PARAMETERS = lazily(r"\s*(?:def|func|fn|function|fun|sub|lambda)?\s*\([^()]*[\w)][^()]*.*\)", re.S)
#: Value of a definition with exactly these parameters, and with more.
_SAME, _MORE = 1.0, 0.6
#: Lines of one place that are read.
_MOST_LINES = 400

#: Size in lines, unit, file and first line of a place that states a text.
Stated = tuple[int, int, int, int]


def literals_of(query: TextQuery) -> list[str]:
    """The words of a short query that contain punctuation, in lower case."""
    words = query.text.split()
    if query.long or len(words) > _MOST_WORDS:
        return []
    bare = [word.strip(_AROUND).rstrip(".:").lower() for word in words]
    # Between other words, `server-side` is prose.
    sure = bare if len(words) == 1 else [word for word in bare if "/" in word or word.startswith("-")]
    return [word for word in sure if len(word) >= _LEAST and _PUNCTUATED.search(word)]


def holding(snapshot: Snapshot, literal: str, units: Sequence[int]) -> dict[Stated, float]:
    """Maps the locations that contain a literal to ratings: higher where the literal seems to be defined.

    Args:
        literal: The text to find, in lower case.
        units: The units that may contain it.
    """
    table = snapshot.unit_table
    whole = re.compile(rf"(?<![\w-]){re.escape(literal)}(?![\w-])")
    ratings: dict[Stated, float] = {}
    for location, text in chunk_texts(snapshot, units, _MOST_LINES):
        worths = [_worth(line, literal, whole) for line in text.split("\n")]
        value = max(worths, default=0.0)
        if value:
            factor = _TEST if table.is_test[location[1]] else _DOCUMENT if table.is_text[location[1]] else 1.0
            ratings[location] = round(value * factor, 9)
    return ratings


def chunk_texts(snapshot: Snapshot, units: Sequence[int], most_lines: int) -> Iterator[tuple[Stated, str]]:
    """Yield (location, text in lower case) of the chunks of units; at most `most_lines` lines after the first line."""
    paths = snapshot.files.living_paths()
    for unit, file, first, last in snapshot.symbols.chunks_of_units(units) if units else ():
        lines = snapshot.reader.some(paths[file], first, min(last, first + most_lines))
        yield (last - first, unit, file, first), b"\n".join(lines).decode("utf-8", "replace").lower()


def _worth(line: str, literal: str, whole: re.Pattern[str]) -> float:
    at = line.find(literal)
    if at < 0:
        return 0.0
    before, after = line[at - 1 : at], line[at + len(literal) : at + len(literal) + 1]
    if before and before == after and before in "\"'`":
        return _QUOTED * (_SECOND if any(quote in line[: at - 1] for quote in "\"'`") else 1.0)
    return _ALONE if whole.search(line) else _INSIDE


# --- parameters -------------------------------------------------------------------------------------------------------


def is_parameters(query: TextQuery) -> bool:
    """Whether a query is a list of parameters without the name before it: `func(ctx, id) error`."""
    return not query.long and _PARAMETERS.match(query.raw) is not None


def having_parameters(snapshot: Snapshot, query: TextQuery, units: Sequence[int]) -> dict[Stated, float]:
    """Maps the locations of the definitions that have the parameters of a query to ratings.

    Args:
        query: A list of parameters.
        units: The units that may have them.
    """
    parameters = _without_blanks(_list_in(query.raw))
    ratings: dict[Stated, float] = {}
    for unit, row in snapshot.symbols.result_rows(units).items():
        own = row["signature"] or ""
        at = own.find("(", own.find(row["symbol"] or "") + 1)
        if parameters in _without_blanks(own):
            worth = _SAME if _without_blanks(_list_in(own[max(at, 0) :])) == parameters else _MORE
            ratings[row["end_line"] - row["line"], unit, row["file_number"], row["line"]] = worth
    return ratings


def _list_in(text: str) -> str:
    """The first pair of parentheses with its contents; if the pair is not closed, the text from the parenthesis on."""
    first = max(text.find("("), 0)
    depth = 0
    for at, letter in enumerate(text[first:], first):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return text[first : at + 1]
    return text[first:]


def _without_blanks(text: str) -> str:
    return "".join(text.split()).replace(",)", ")")


#: Characters of a query that are read for names.
_MOST_TEXT = 60_000
#: Maximum number of namesakes among which a qualifier selects, and of names looked up per query.
_MOST_ROWS, _MOST_NAMES = 2_000, 8
#: Words of a query that may be parts of one name.
_MOST_PARTS = 10
#: Match quality of a name: fully qualified, by its last part alone, and by that in the named file.
_QUALIFIED, _BARE, _IN_FILE = 1.0, 0.9, 0.7
#: The same of a mistyped or shortened name.
_MISTYPED, _SHORTENED = 0.95, 1.0

_NAME = r"[A-Za-z_$][\w$]*"
_SCOPED = rf"{_NAME}(?:(?:\.|::|->|\?\.|#){_NAME})*"
#: A name with an argument list behind it, as a call or a definition has it.
_CALL = lazily(rf"(?<![\w.$])({_SCOPED})[!?]?(?:<[^<>()]{{0,60}}>|::<[^<>()]{{0,60}}>)?\(")
#: Signs around a call that show a line of code rather than a sentence; and words that do so.
_OPERATOR = lazily(r"[=;{}<>&|+*/\\\[\]]")
_SENTENCE = 3
#: A name with a scope or a module before it. `(*locker).Lock` is Go's.
_DOTTED = lazily(rf"(?<![\w.$/-])(?:\(\*?({_NAME})\)[.:#])?({_NAME}(?:(?:\.|::|->|#|/|\.\(\*|\)\.){_NAME})*)[!?]?")
#: A word that may be the name of a file, or the end of a path.
_FILE = lazily(r"(?<![\w.])((?:[\w.+@-]+/)*[\w+@-]+(?:\.[A-Za-z]\w{0,7})+)(?![\w/])")
#: Kinds that are the scope of names, and that every file of a package may open.
_SCOPE_KINDS = frozenset({"module", "namespace", "section"})


class AskedNames(NamedTuple):
    """The definitions that a query names, best first (`names`); and whether the query is a line of code with a call
    (`called`): such a line occurs where the definition is used.
    """

    names: Sequence[NamedDefinition] = ()
    called: bool = False


def partial_names(
    snapshot: Snapshot, query: TextQuery, filters: Filters, *, whole: bool, strict: bool = False
) -> AskedNames:
    """The definitions that a query names.

    Args:
        query: The query. Of a long question only the stack frames are used.
        filters: Constrain the definitions.
        whole: Whether the whole query is the name of a definition, and so means that definition.
        strict: Whether mistyped and shortened names are ruled out.
    """
    text = query.raw[:_MOST_TEXT]
    named = list(places(snapshot, text, filters, certain=query.long))
    if snapshot.whole.total(("places", query.text), bool(named)):
        return AskedNames(named)
    if query.long or is_parameters(query):
        return AskedNames()
    named = list(_calls(snapshot, text, filters))
    if snapshot.whole.total(("calls", text), bool(named)):
        call = _CALL.search(text)
        rest = f"{text[: call.start() if call else 0]} {text[text.rfind(')') + 1 :]}"
        return AskedNames(named, called=bool(_OPERATOR.search(rest)) or len(WORD.findall(rest)) < _SENTENCE)
    named = list(_in_file(snapshot, text, filters))
    if whole:
        return AskedNames(named)
    named += _dotted_names(snapshot, text, filters)
    if not strict and not snapshot.whole.total(("asked", text), bool(named)):
        named = _mistyped_names(snapshot, query, filters) or _shortened_names(snapshot, query, filters)
    return AskedNames(named)


# --- a name and its file ----------------------------------------------------------------------------------------------


def _in_file(snapshot: Snapshot, text: str, filters: Filters) -> Iterator[NamedDefinition]:
    """Read `client.py close` or `config.c:createIntConfig`: a file, and the name of a definition in it."""
    for match in _FILE.finditer(text):
        rest = text[: match.start()] + " " + text[match.end() :]
        words = WORD.findall(rest)
        if not words or len(words) > _MOST_PARTS:
            continue
        ending = "/" + match[1]
        for row in snapshot.symbols.definitions_spelled(
            [joined_spelling("".join(words[first:])) for first in range(len(words))], filters
        ):
            if f"/{row['file']}".endswith(ending):
                whole = joined_spelling(row["qualified_name"].replace(".", "")) == joined_spelling("".join(words))
                yield NamedDefinition(row, _QUALIFIED if whole else _IN_FILE)


# --- qualified names --------------------------------------------------------------------------------------------------


def _calls(snapshot: Snapshot, text: str, filters: Filters) -> Iterator[NamedDefinition]:
    """Read `pool.release(conn, timeout=1)`: the first call of a defined name; the receiver selects a definition."""
    for match in list(_CALL.finditer(text))[:_MOST_NAMES]:
        segments = segments_of(match[1])
        rows, somewhere = _rows(snapshot, segments, filters)
        if somewhere:
            best, qualified = _best(snapshot, rows, segments)
            for row in qualified if best else rows:
                yield NamedDefinition(row, _QUALIFIED if best and len(segments) > 1 else _BARE)
            return


def _dotted_names(snapshot: Snapshot, text: str, filters: Filters) -> Iterator[NamedDefinition]:
    """Read `hc.lib.emails.alert`, `ignore::gitignore::Gitignore::new`, `Foo.prototype.bar`, `(*locker).Lock`."""
    for match in list(_DOTTED.finditer(text))[:_MOST_NAMES]:
        segments = segments_of(f"{match[1] or ''}.{match[2]}")
        if len(segments) > 1:
            for row in _best(snapshot, _rows(snapshot, segments, filters)[0], segments)[1]:
                yield NamedDefinition(row, _QUALIFIED)


def _rows(snapshot: Snapshot, segments: Sequence[str], filters: Filters) -> tuple[list[Row], bool]:
    """(rows, any): the definitions of a name, and whether the collection has any; ([], False) if there are too many."""
    rows = [row for row in snapshot.symbols.definitions_named(segments[-1], filters) if row["kind"] not in _SCOPE_KINDS]
    count = snapshot.whole.total(("rows", segments[-1]), len(rows))
    return (rows, count > 0) if count <= _MOST_ROWS else ([], False)


def _best(snapshot: Snapshot, rows: Sequence[Row], segments: Sequence[str]) -> tuple[int, list[Row]]:
    """(length, rows): the largest number of consecutive segments in a qualified name; the definitions with so many."""
    lengths = [qualifies(segments, row["file"], row["qualified_name"]) for row in rows]
    best = snapshot.whole.largest(("qualified", tuple(segments)), max(lengths, default=0))
    return best, [row for row, length in zip(rows, lengths, strict=True) if length == best > 0]


# --- mistyped and shortened names -------------------------------------------------------------------------------------


def _mistyped_names(snapshot: Snapshot, query: TextQuery, filters: Filters) -> list[NamedDefinition]:
    """The definitions whose name is a letter or two away from the query, a lone word that occurs nowhere."""
    if len(query.words) != 1:
        return []
    typed = joined_spelling(query.words[0])
    symbols, whole = snapshot.symbols, snapshot.whole
    if len(typed) < SHORTEST or whole.total(("named", typed), bool(symbols.definitions_spelled([typed], Filters()))):
        return []
    if _is_word(snapshot, typed):
        return []
    own = ((name.spelling, distance(typed, name.spelling, 2) or 0) for name in symbols.nearest_names(typed))
    names = nearest(whole.joined(("mistyped", typed), tuple(own)))
    whole.settle()
    return [
        NamedDefinition(row, _MISTYPED * name.worth)
        for name in names
        for row in symbols.definitions_spelled([name.spelling], filters)
    ]


def _shortened_names(snapshot: Snapshot, query: TextQuery, filters: Filters) -> list[NamedDefinition]:
    """The definitions whose name parts equal, begin with or abbreviate to the query's words."""
    words = [part for word in query.words for part in parts(word)]
    if len(query.words) < 2 or len(words) > _MOST_PARTS or all(word in STOPWORDS for word in words):
        return []
    symbols = snapshot.symbols
    names = best_abbreviated(snapshot.whole.joined(("aligned", tuple(words)), tuple(symbols.abbreviated_names(words))))
    return [
        NamedDefinition(row, _SHORTENED * name.worth)
        for name in names
        for row in symbols.definitions_spelled([name.spelling], filters)
    ]


def _is_word(snapshot: Snapshot, typed: str) -> bool:
    """Whether the repository has this very word, regardless of filters: then it is no typing error."""
    return any(snapshot.lexical.term(term) for term in (typed, stem(typed)))


# --- locations: frames of stack traces, FILE:LINE -----------------------------------------------------------------


#: Maximum number of locations read per text, of frames that count, and the factor of each further frame.
_MOST_PLACES, _MOST_FRAMES, _LESS = 200, 12, 0.4
#: Files that may be meant by a frame; with more, it says nothing.
_MOST_FILES = 3

#: A place in a file: Python's, then `FILE:LINE` (C#: `FILE:line LINE`), then PHP's. The text is anybody's: a run of
#: characters begins only where none is before it, so that a search takes linear time.
_PLACE = lazily(
    r"File \"(?P<quoted>[^\"\n]{1,500})\", line (?P<quoted_line>\d{1,7})"
    r"|(?<![\w./\\+-])(?P<path>[\w./\\+-]+)(?::(?:line )?(?P<line>\d{1,7})\b(?!/)|\((?P<bracketed>\d{1,7})\)(?=:))"
)
#: The end of a path that names a file.
_FILE_NAME = lazily(r"\w\.[A-Za-z]\w{0,7}$")
#: A symbol of the kernel or of a library, with the offset in it: `tcp_v4_rcv+0x1a5/0x2b0`.
_OFFSET = lazily(r"(?<![\w.])([A-Za-z_]\w+)(?:\.\w+)*\+0x[0-9a-f]+")
#: Text between a location and its function's name: after it in Python, Ruby, Elixir and PHP, else before it.
_BEHIND = lazily(r"(?:, in |: in |:in [`'](?:block in |rescue in )?|: (?=[\w?!\\]+[.>:#(/-]))([\w.#:>?!\\-]+)")
_BEFORE = lazily(
    r"(?<![\w.$:#<>-])([\w.$:#<>-]+)\s*(?:(?:\[as \w+\]\s*)?\(|(?:\([^()]*\)\s*){1,2}(?:at|in) (?:[A-Za-z]:)?|@)$"
)
#: The beginning of an address, whose path the place has.
_ADDRESS = lazily(r"\b(?:file|https?|webpack|webpack-internal|node):(?://[\w.:-]*)?$")
#: A line that has only a location; its function is in the line before.
_LOCATION_ONLY = lazily(r"^\s*(?:at |--> |in )?$")
_LAST_NAME = lazily(r"[A-Za-z_$][\w$]*(?=[^A-Za-z_$]*$)")
#: The arguments, closures and generic parameters at the end of a frame.
_TRAILING = lazily(r"(?:\([^()]*\)|::\{\{[\w#]+\}\}|::h[0-9a-f]{16}|<[^<>]*>|\.func\d+[.\d]*|\s)+$")
#: Characters before a place, and of the line above it, that are read for its function.
_BEFORE_TEXT, _ABOVE_TEXT = 200, 500
#: Starts the frames of the causing exception.
_CAUSE = "Caused by:"


class Frame(NamedTuple):
    """A stack frame or location in a text. `path` may be from any machine; `name` is the function's, or ""."""

    path: str
    line: int
    name: str


class NamedDefinition(NamedTuple):
    """A definition that a text names, or that is at one of its frames; `worth` is in (0, 1]."""

    row: Row
    worth: float


def frames_of(text: str) -> list[Frame]:
    """The frames of a text, the deepest first. Python prints the deepest frame last, Java one cause at a time."""
    frames: list[Frame] = []
    for part in reversed(text.split(_CAUSE)):
        own = list(_PLACE.finditer(part))
        if 'File "' in part:
            own.reverse()
        frames += _frames(part, own[:_MOST_PLACES])
    return list(dict.fromkeys(frames))[:_MOST_PLACES]


def _frames(text: str, matches: Sequence[re.Match[str]]) -> Iterator[Frame]:
    for match in matches:
        path = (match["quoted"] or match["path"]).replace("\\", "/")
        if not _FILE_NAME.search(path):
            continue
        start = text.rfind("\n", 0, match.start()) + 1
        before = _ADDRESS.sub("", text[max(start, match.start() - _BEFORE_TEXT) : match.start()])
        name = ""
        if following := _BEHIND.match(text, match.end()):
            name = following[1]
        elif there := _BEFORE.search(before):
            name = there[1]
            if "/" not in path and name.count(".") > 1:
                # Java names the package, and the file without its folder.
                path = "/".join([*name.split(".")[:-2], path])
        elif start and _LOCATION_ONLY.match(before):
            above = text[max(text.rfind("\n", 0, start - 1) + 1, start - _ABOVE_TEXT) : start - 1]
            name = "" if _PLACE.search(above) else _TRAILING.sub("", above)
        last = _LAST_NAME.search(name)
        yield Frame(path, int(match["quoted_line"] or match["line"] or match["bracketed"]), last[0] if last else "")


def places(snapshot: Snapshot, text: str, filters: Filters, *, certain: bool) -> Iterator[NamedDefinition]:
    """The definitions at the frames of a text, the deepest first.

    Args:
        filters: Constrain the definitions.
        certain: Whether a frame must match a file by more than its name, as in a text that names other things, too.
    """
    worth, whole = 1.0, snapshot.whole
    frames = frames_of(text)
    files = _files(snapshot, {frame.path for frame in frames})
    frames = [frame for frame in frames if frame.path in files][:_MOST_FRAMES]
    for frame in frames:
        rows = []
        for file in files[frame.path]:
            row, by_name = _definition_at(snapshot, file, frame, filters)
            if row is not None and (by_name or not certain or "/" in frame.path):
                rows.append(row)
        yield from (NamedDefinition(row, worth) for row in rows)
        worth *= _LESS if whole.total(frame, bool(rows)) else 1
    for name in list(dict.fromkeys(match[1] for match in _OFFSET.finditer(text)))[:_MOST_FRAMES]:
        rows = snapshot.symbols.definitions_named(name, filters)
        count = whole.share(("called", name), ([1.0] * len(rows),), _MOST_FILES)
        yield from (NamedDefinition(row, worth) for row in rows[:count])
        worth *= _LESS if whole.total(("called", name), bool(rows)) else 1


def _definition_at(snapshot: Snapshot, file: int, frame: Frame, filters: Filters) -> tuple[Row | None, bool]:
    """(row, named): the innermost definition or block at a frame's line or, if its name is not the frame's, the nearest
    definition with the frame's name; and whether the row has the frame's name."""
    from lci_py.index.shards.symbol_queries import definitions_around, passing
    from lci_py.index.shards.symbols import narrowest

    symbols = snapshot.symbols
    span = definitions_around(symbols, file, [frame.line]).get(frame.line)
    there = None if span is None else symbols.symbol_rows([span.number])[span.number]
    if frame.name and (there is None or there["symbol"].rpartition(".")[2] != frame.name):
        own = [row for row in symbols.definitions_named(frame.name, filters) if row["file_number"] == file]
        if own:
            return min(own, key=lambda row: abs(row["line"] - frame.line)), True
    if there is not None and span is not None:
        return (there if not filters or passing(symbols, [span.number], filters) else None), bool(frame.name)
    unit = None if filters else narrowest(symbols.chunks_of_file(file), frame.line)
    return (None if unit is None else symbols.result_rows([unit])[unit]), False


def _files(snapshot: Snapshot, paths: set[str]) -> Mapping[str, Sequence[int]]:
    """Maps paths (of any machine) to the files with the longest common end; paths with too many files are left out."""
    if not paths:
        return {}
    by_base: dict[str, list[tuple[str, list[str]]]] = {}
    for path in paths:
        parts = [part for part in path.split("/") if part not in ("", ".", "..")]
        by_base.setdefault(parts[-1], []).append((path, parts))
    best: dict[str, tuple[int, list[int]]] = {}
    for number, own in enumerate(snapshot.files.living_paths()):
        for path, parts in by_base.get(own.rpartition("/")[2], ()):
            same = common_end(own.split("/"), parts)
            if same < min(2, len(parts), own.count("/") + 1):
                continue  # another folder's file of this name
            length, files = best.get(path, (0, []))
            if same >= length:
                best[path] = (same, [*files, number] if same == length else [number])
    longest = {path: (length, len(files)) for path, (length, files) in best.items()}
    nearest = snapshot.whole.nearest("frames", longest)
    snapshot.whole.settle()
    return {
        path: best[path][1] if path in longest and longest[path][0] == length else ()
        for path, (length, count) in nearest.items()
        if count <= _MOST_FILES
    }


def common_end(first: Sequence[str], second: Sequence[str]) -> int:
    """The number of segments that two paths share at their ends."""
    pairs = zip(reversed(first), reversed(second), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
