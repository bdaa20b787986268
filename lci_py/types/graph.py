"""The requests and answers of the commands about the call graph: callers, callees, tree and refs.

Lines and columns are 1-based, columns count characters; paths are POSIX, relative to the root.
"""

from __future__ import annotations

from typing import Literal

from lci_py.types.record import NamedTuple, dataclass
from lci_py.types.search import Filters, IndexInfo

Direction = Literal["callers", "callees"]
DIRECTIONS: tuple[Direction, ...] = ("callees", "callers")
Role = Literal["definition", "call", "import", "reference"]
ROLES: tuple[Role, ...] = ("definition", "call", "import", "reference")


class GraphRequest(NamedTuple):
    """A request: the arguments and flags of one call of `lci callers`, `callees`, `tree` or `refs`."""

    name: str
    all_meanings: bool = False  # all definitions that an ambiguous name can mean
    filters: Filters = Filters()
    limit: int | None = None
    offset: int = 0  # results left out before the first one shown
    roles: tuple[Role, ...] = ()  # of references; none for all
    direction: Direction = "callees"  # of a tree
    depth: int = 3  # of a tree


class Place(NamedTuple):
    """A node of the graph: a definition, an anonymous function, or a file."""

    id: str
    symbol: str | None  # None for a file
    qualified_name: str | None
    kind: str
    file: str
    line: int
    language: str


class Definition(NamedTuple):
    """A definition of the index, with the lines that it has in the file as it is now."""

    id: str
    symbol: str
    qualified_name: str
    kind: str
    file: str
    language: str
    line: int
    end_line: int
    first_line: int  # with the doc comment, attributes and decorators before it
    signature: str
    doc: str
    exported: bool
    parent: int  # its place among the definitions of the file, -1 at the top level
    number: int  # the public number; -1 if the file was parsed
    digest: str  # of its text, without inner functions and types
    above: tuple[str, ...] = ()  # in an outline, the ids of the definitions around it, the outermost first

    @property
    def place(self) -> Place:
        return Place(self.id, self.symbol, self.qualified_name, self.kind, self.file, self.line, self.language)


class OtherMeaning(NamedTuple):
    """A definition that an ambiguous name can mean as well, besides the definitions that the answer is about."""

    name: str  # that names it alone: FILE::QUALIFIED_NAME
    kind: str
    file: str
    line: int


class Neighbour(NamedTuple):
    """A definition, an anonymous function or a file that calls a requested definition, or is called by it."""

    place: Place
    sites: tuple[int, ...]  # lines of the calls, in the caller's file
    step: str  # the rule that resolved the surest call
    confidence: float  # of the surest call, in (0, 1]
    ambiguous: bool  # each call may mean another definition instead
    targets: tuple[str, ...]  # ids of the requested definitions that it calls, or that call it


class Through(NamedTuple):
    """A method that has implementations: in derived types, or in types that implement its interface."""

    place: Place
    types: int  # methods behind it
    calls: int  # of it, that may run the definition asked about; of callees, inside that definition
    listed: bool  # whether they are among the neighbours, with the step `dispatch`


class External(NamedTuple):
    """A name that is called, and that is not known to mean any definition of the repository."""

    name: str  # with its module, if an import names it: os.path.join
    sites: tuple[int, ...]
    file: str
    imported: bool  # an import names its module


class Branch(NamedTuple):
    """A node of a call tree, and the calls below it."""

    place: Place
    sites: tuple[int, ...]
    step: str  # "" for the root
    confidence: float
    ambiguous: bool
    children: tuple[Branch, ...]
    more: int  # number of neighbours that are not shown: below the last level, or left out by a limit
    repeated: bool  # the calls below it are shown elsewhere in the tree
    cycle: bool  # the place also stands above itself
    alike: int = 1  # definitions of this name that are shown as this one


class Link(NamedTuple):
    """The calls from one definition or file of an answer to another."""

    source: str  # id
    target: str  # id
    sites: tuple[int, ...]  # lines of the calls, in the source's file
    step: str  # the rule that resolved the surest call
    confidence: float  # of the surest call, in (0, 1]
    ambiguous: bool  # each call may mean another definition instead


class Reference(NamedTuple):
    """An occurrence of a name in the source."""

    file: str
    line: int
    column: int
    role: Role
    text: str  # the source line
    language: str
    enclosing: Place | None  # the innermost definition around it
    stale: bool


@dataclass(frozen=True)
class GraphAnswer:
    """The result of `lci callers`, `callees`, `tree` or `refs`."""

    command: str
    query: str
    targets: tuple[Place, ...]  # the definitions that the answer is about
    index: IndexInfo
    total: int
    neighbours: tuple[Neighbour, ...] = ()
    external: tuple[External, ...] = ()
    through: tuple[Through, ...] = ()
    branches: tuple[Branch, ...] = ()
    references: tuple[Reference, ...] = ()
    direction: Direction | None = None
    depth: int | None = None
    places_left_out: int = 0  # of a tree, by a limit on its size
    limited_by: str = "--max-nodes"  # the flag that did
    max_tokens: int | None = None  # of a tree, if a budget did
    unresolved_uses: int = 0  # calls of the name (of callees: calls inside the definitions) without a known target
    mentions: tuple[
        tuple[str, int], ...
    ] = ()  # file and line of places that name it without a call; if it has no callers
    calls_of_unknown_name: tuple[
        tuple[str, int], ...
    ] = ()  # file and line of calls that may mean it; if it has no callers
    did_you_mean: tuple[str, ...] = ()
    left_out: tuple[tuple[str, int], ...] = ()  # (what the answer does not cover, how many)
    unsearched: tuple[str, ...] = ()  # files that could not be parsed
    offset: int = 0  # results left out before the first one shown
    others: tuple[OtherMeaning, ...] = ()  # what the name can mean as well, likeliest first

    @property
    def shown(self) -> int:
        return len(self.neighbours) + len(self.external) + len(self.branches) + len(self.references)
