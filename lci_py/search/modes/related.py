"""Questions about a definition that are not answered by what it says: who calls it, which tests reach it.

Only multiview asks this: the other modes rank by one kind of evidence, and by nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Iterable

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
#: Meanings of a name, and places, that are taken.
_MOST_MEANT, _MOST_PLACES = 3, 20
#: What each place counts of the one before.
_LESS = 0.98


class Related(NamedTuple):
    """What a question asks of a definition.

    Attributes:
        command: The command that lists all of it.
        rows: Definitions, with how much of an answer each is, best first.
    """

    command: str
    rows: tuple[tuple[Row, float], ...]


def related(snapshot: Snapshot, text: str) -> Related | None:
    """The callers or the tests that a query asks for; None if it asks for none, or of nothing that has the name."""
    if match := _CALLERS.match(text):
        return _answer(snapshot, match["name"] or match["passive"], tests=False)
    if match := _TESTS.match(text):
        return _answer(snapshot, match["name"] or match["passive"], tests=True)
    return None


def _answer(snapshot: Snapshot, name: str, *, tests: bool) -> Related | None:
    from lci_py.search.navigate.names import meanings

    name = name.replace(" ", ".")
    meant = meanings(snapshot.symbols, name)
    if not meant or len(meant) > _MOST_MEANT:
        return None
    rows = [row for one in meant for row in one.rows]
    if tests:
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
    files = sorted({row["file"] for row in rows})
    command = f"lci affected --files {' '.join(files)}" if tests else f"lci callers {name}"
    return Related(command, tuple((row, _LESS**rank) for rank, row in enumerate(found)))
