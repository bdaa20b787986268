"""The request and the answer of `lci path`, and the values that the answer consists of."""

from __future__ import annotations

from typing import NamedTuple

from lci_py.types.graph import OtherMeaning, Place
from lci_py.types.search import Filters, IndexInfo


class PathRequest(NamedTuple):
    """A request: the arguments and flags of one call of `lci path`."""

    source: str
    target: str
    all_meanings: bool = False  # all definitions that an ambiguous name can mean
    filters: Filters = Filters()
    depth: int = 20  # calls of a chain at most
    limit: int = 5  # chains


class Hop(NamedTuple):
    """A definition in a chain of calls, and the calls by which the definition before it in the chain leads to it."""

    place: Place | None  # None for a function outside of the repository
    name: str
    sites: tuple[int, ...]  # lines in the file of the place before; () for the first
    step: str  # "" for the first, and for a call out of the repository
    confidence: float
    ambiguous: bool
    passed_elsewhere: bool = False  # a function that another caller passes to the one before, and none of this chain
    text: str = ""  # the first of the sites, as it is in the source


class Lost(NamedTuple):
    """A definition that calls reach, and that may lead further: by a call whose target is unknown."""

    place: Place
    line: int  # of the call
    name: str  # that it calls


class Frontier(NamedTuple):
    """The part of the call graph that calls reach from the source, if they do not reach the target."""

    reached: int  # places
    depth: int  # calls to the farthest of them
    ended: bool  # there is nothing beyond, however large the depth
    places: tuple[Lost, ...]  # those that call a name from which calls lead to the target, if there are such


class PathAnswer(NamedTuple):
    """The result of `lci path`: the chains of calls to the target or, if none is found, how far calls lead."""

    request: PathRequest
    sources: tuple[Place, ...]
    targets: tuple[Place, ...]  # none if the target is outside of the repository
    results: tuple[tuple[Hop, ...], ...]  # chains
    total: int  # shortest chains, also those beyond the limit
    info: IndexInfo
    frontier: Frontier | None = None
    others: tuple[OtherMeaning, ...] = ()  # what the names can mean as well, likeliest first
    offset: int = 0  # results left out before the first one shown
