"""Questions about the callers or the tests of a definition, which its own text does not answer.

Only multiview answers them: the other modes rank by one kind of evidence alone.
"""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lci_py.index.shards.symbols import Row
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.graph import Place

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
_MOST_MEANT, _MOST_PLACES = 3, 20
#: Factor of each further place.
_LESS = 0.98


class Asked(NamedTuple):
    """A question about a definition.

    Attributes:
        name: The definition.
        tests: Whether it asks for tests; otherwise for callers.
        rows: Of the definitions of that name.
        command: The shell command that lists the complete answer.
        tool: The same in words for a client of `lci mcp`.
    """

    name: str
    tests: bool
    rows: Sequence[Row]
    command: str
    tool: str


class Related(NamedTuple):
    """The answer to a question about a definition.

    Attributes:
        command: The command that lists the complete answer.
        rows: Definitions with their weights, best first.
    """

    command: str
    rows: tuple[tuple[Row, float], ...]


def asked(snapshot: Snapshot, text: str) -> Asked | None:
    """The definition whose callers or tests a query asks for; None if it does not, or there is no such definition."""
    if not any(word in text.lower() for word in _SAID):
        return None
    calls = _CALLERS.match(text)
    if (match := calls or _TESTS.match(text)) is None:
        return None
    from lci_py.search.navigate.names import meanings

    name = (match["name"] or match["passive"]).replace(" ", ".")
    meant = meanings(snapshot.symbols, name)
    if not meant or len(meant) > _MOST_MEANT:
        return None
    rows = [row for one in meant for row in one.rows]
    files = sorted({row["file"] for row in rows})
    if calls:
        return Asked(name, False, rows, f"lci callers {quote(name)}", f"`callers` of {name}")
    return Asked(
        name, True, rows, f"lci affected --files {' '.join(map(quote, files))}", f"`affected` with files {files}"
    )


def related(snapshot: Snapshot, text: str) -> Related | None:
    """The callers or tests that a query asks for; None if there are none."""
    if (about := asked(snapshot, text)) is None:
        return None
    name, rows = about.name, about.rows
    if about.tests:
        from lci_py.search.navigate.affected import tests_of

        places: Iterable[Place] = tests_of(snapshot, rows)
    else:
        from lci_py.search.navigate.calls import neighbours
        from lci_py.types.graph import GraphRequest

        request = GraphRequest(name, every=True, limit=_MOST_PLACES)
        places = [found.place for found in neighbours(snapshot, request, "callers").neighbours]
    found = [row for place in list(places)[:_MOST_PLACES] if (row := snapshot.symbols.with_id(place.id)) is not None]
    if not found:
        return None
    return Related(about.command, tuple((row, _LESS**rank) for rank, row in enumerate(found)))
