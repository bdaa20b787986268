"""Finds definitions that a query names otherwise than by their whole name: as the call in a pasted line, qualified by
their file or module, as a frame of a stack trace, or mistyped or shortened.

`ranking.spelled` handles a query that is a name as a whole (docs/ranking.md#names-and-verbatim-text).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lci_py.index.shards.symbols import qualifies, segments_of
from lci_py.search.ranking.frames import places
from lci_py.search.ranking.literals import is_parameters
from lci_py.source.text.name_parts import SHORTEST, best_aligned, best_mistyped, distance
from lci_py.source.text.patterns import lazily
from lci_py.source.text.words import STOPWORDS, WORD, joined, parts, stem
from lci_py.types.search import Filters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lci_py.index.shards.symbols import Row
    from lci_py.search.query.text import TextQuery
    from lci_py.search.snapshot import Snapshot

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


class AskedName(NamedTuple):
    """A definition that a query names; `worth` is in (0, 1]."""

    row: Row
    worth: float


class AskedNames(NamedTuple):
    """The definitions that a query names, best first; and whether the query is a line of code with a call, which occurs
    where the definition is used.
    """

    names: Sequence[AskedName] = ()
    called: bool = False


def asked_names(
    snapshot: Snapshot, query: TextQuery, filters: Filters, *, whole: bool, strict: bool = False
) -> AskedNames:
    """The definitions that a query names.

    Args:
        query: Of a long one only the stack frames are used.
        filters: Constrain the definitions.
        whole: Whether the whole query is the name of a definition; it then means that one.
        strict: Whether mistyped and shortened names are ruled out.
    """
    text = query.raw[:_MOST_TEXT]
    found = [AskedName(*place) for place in places(snapshot, text, filters, certain=query.long)]
    if snapshot.whole.total(("places", query.text), bool(found)):
        return AskedNames(found)
    if query.long or is_parameters(query):
        return AskedNames()
    found = list(_calls(snapshot, text, filters))
    if snapshot.whole.total(("calls", text), bool(found)):
        call = _CALL.search(text)
        around = f"{text[: call.start() if call else 0]} {text[text.rfind(')') + 1 :]}"
        return AskedNames(found, called=bool(_OPERATOR.search(around)) or len(WORD.findall(around)) < _SENTENCE)
    found = list(_in_file(snapshot, text, filters))
    if whole:
        return AskedNames(found)
    found += _dotted_names(snapshot, text, filters)
    if not strict and not snapshot.whole.total(("asked", text), bool(found)):
        found = _mistyped_names(snapshot, query, filters) or _shortened_names(snapshot, query, filters)
    return AskedNames(found)


# --- a name and its file ----------------------------------------------------------------------------------------------


def _in_file(snapshot: Snapshot, text: str, filters: Filters) -> Iterator[AskedName]:
    """`client.py close`, `config.c:createIntConfig`: a file, and the name of a definition in it."""
    for match in _FILE.finditer(text):
        rest = text[: match.start()] + " " + text[match.end() :]
        words = WORD.findall(rest)
        if not words or len(words) > _MOST_PARTS:
            continue
        ending = "/" + match[1]
        for row in snapshot.symbols.named([joined("".join(words[first:])) for first in range(len(words))], filters):
            if f"/{row['file']}".endswith(ending):
                whole = joined(row["qualified_name"].replace(".", "")) == joined("".join(words))
                yield AskedName(row, _QUALIFIED if whole else _IN_FILE)


# --- qualified names --------------------------------------------------------------------------------------------------


def _calls(snapshot: Snapshot, text: str, filters: Filters) -> Iterator[AskedName]:
    """`pool.release(conn, timeout=1)`: the first call of a defined name; the receiver selects among several."""
    for match in list(_CALL.finditer(text))[:_MOST_NAMES]:
        segments = segments_of(match[1])
        rows, somewhere = _rows(snapshot, segments, filters)
        if somewhere:
            best, qualified = _best(snapshot, rows, segments)
            for row in qualified if best else rows:
                yield AskedName(row, _QUALIFIED if best and len(segments) > 1 else _BARE)
            return


def _dotted_names(snapshot: Snapshot, text: str, filters: Filters) -> Iterator[AskedName]:
    """`hc.lib.emails.alert`, `ignore::gitignore::Gitignore::new`, `Foo.prototype.bar`, `(*locker).Lock`."""
    for match in list(_DOTTED.finditer(text))[:_MOST_NAMES]:
        segments = segments_of(f"{match[1] or ''}.{match[2]}")
        if len(segments) > 1:
            for row in _best(snapshot, _rows(snapshot, segments, filters)[0], segments)[1]:
                yield AskedName(row, _QUALIFIED)


def _rows(snapshot: Snapshot, segments: Sequence[str], filters: Filters) -> tuple[list[Row], bool]:
    """The definitions of a name (none if they are too many), and whether there are any."""
    rows = [row for row in snapshot.symbols.called(segments[-1], filters) if row["kind"] not in _SCOPE_KINDS]
    count = snapshot.whole.total(("rows", segments[-1]), len(rows))
    return (rows, count > 0) if count <= _MOST_ROWS else ([], False)


def _best(snapshot: Snapshot, rows: Sequence[Row], segments: Sequence[str]) -> tuple[int, list[Row]]:
    """The definitions whose qualified name has the most consecutive segments in common, and that number."""
    lengths = [qualifies(segments, row["file"], row["qualified_name"]) for row in rows]
    best = snapshot.whole.largest(("qualified", tuple(segments)), max(lengths, default=0))
    return best, [row for row, length in zip(rows, lengths, strict=True) if length == best > 0]


# --- mistyped and shortened names -------------------------------------------------------------------------------------


def _mistyped_names(snapshot: Snapshot, query: TextQuery, filters: Filters) -> list[AskedName]:
    """The definitions whose name a lone word nearly is, if the word itself occurs nowhere."""
    if len(query.words) != 1:
        return []
    typed = joined(query.words[0])
    symbols, whole = snapshot.symbols, snapshot.whole
    if len(typed) < SHORTEST or whole.total(("named", typed), bool(symbols.named([typed], Filters()))):
        return []
    if _is_word(snapshot, typed):
        return []
    own = ((name.spelling, distance(typed, name.spelling, 2) or 0) for name in symbols.mistyped(typed))
    names = best_mistyped(whole.joined(("mistyped", typed), tuple(own)))
    whole.settle()
    return [AskedName(row, _MISTYPED * name.worth) for name in names for row in symbols.named([name.spelling], filters)]


def _shortened_names(snapshot: Snapshot, query: TextQuery, filters: Filters) -> list[AskedName]:
    """The definitions whose name parts equal, begin with or abbreviate to the words."""
    words = [part for word in query.words for part in parts(word)]
    if len(query.words) < 2 or len(words) > _MOST_PARTS or all(word in STOPWORDS for word in words):
        return []
    symbols = snapshot.symbols
    names = best_aligned(snapshot.whole.joined(("aligned", tuple(words)), tuple(symbols.aligned(words))))
    return [
        AskedName(row, _SHORTENED * name.worth) for name in names for row in symbols.named([name.spelling], filters)
    ]


def _is_word(snapshot: Snapshot, typed: str) -> bool:
    """Whether the repository has this very word, regardless of filters: then it is no typing error."""
    lock = snapshot.view_locks["bm25"]
    if not lock.acquire(blocking=False):
        return False
    try:
        return any(snapshot.lexical.term(term) is not None for term in (typed, stem(typed)))
    finally:
        lock.release()
