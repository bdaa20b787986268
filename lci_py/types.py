"""The values that flow between stages. Frozen, and free of behaviour.

Lines are 1-based and inclusive; bytes are 0-based and half-open; paths are POSIX, relative to the root.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

View = Literal["dense", "bm25", "symbolic"]
Mode = Literal["dense", "bm25", "symbolic", "multiview"]
MODES: tuple[Mode, ...] = ("dense", "bm25", "symbolic", "multiview")
# The tie order of the contract: a result found equally by several views is attributed to the first.
VIEWS: tuple[View, ...] = ("dense", "bm25", "symbolic")

#: Whether a search refreshes the index first: if that is quick, never, or whatever it takes.
REFRESH = ("auto", "never", "always")
#: Hops of `--expand` at most.
MAX_HOPS = 5

#: Every kind a symbol can have; grammars may use no other. An index holds their places: new ones come last.
KINDS = (
    "function", "method", "constructor", "class", "struct", "union", "interface", "trait", "object", "enum",
    "enum_member", "type", "constant", "variable", "field", "property", "macro", "namespace", "module", "section",
)  # fmt: skip
#: Kinds whose members are members: a function inside one is a method, a variable inside one is a field.
TYPE_KINDS = frozenset({"class", "struct", "union", "interface", "trait", "object", "enum"})
FUNCTION_KINDS = frozenset({"function", "method", "constructor", "macro"})
#: What calls, imports, receivers and base classes can mean.
CALLABLE = FUNCTION_KINDS | TYPE_KINDS | {"module", "namespace", "type"}
#: Kinds of definitions that are given a value.
VALUED_KINDS = ("constant", "variable", "field", "property", "enum_member", "macro")
#: The kind shown for code or text outside every definition.
BLOCK_KIND = "block"
#: Kinds of what the graph has besides definitions: a file (what it runs outside them), an anonymous function.
FILE_KIND, LAMBDA_KIND = "file", "lambda"


# --- source -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file the walk found and did not skip."""

    path: str
    size: int  # bytes
    mtime_ns: int
    ctime_ns: int = 0  # tells a change that put size and modification time back


@dataclass(frozen=True, slots=True)
class Skip:
    """A file or folder left out, and why (one of `source.walk.REASONS`, or of `LIMIT_REASONS` if a part is kept)."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """One definition. `parent` is an index into the same file's symbols, -1 at the top level."""

    name: str
    qualified_name: str
    kind: str
    parent: int
    scope: str  # qualified name of what encloses it, "" at the top level
    signature: str
    doc: str
    exported: bool
    line: int
    end_line: int
    first_line: int  # with the doc comment, attributes and decorators before it
    build_tag: str | None
    arity: int = -1  # how many arguments it takes (source.arity), -1 if that is not known
    traits: str = ""  # what decides whether another definition contradicts it (source.traits), words by blanks
    digest: str = ""  # of its text, without the functions and types in it: 16 hex digits


@dataclass(frozen=True, slots=True)
class Call:
    """A call in the text. `caller` is the innermost enclosing function (or type), -1 at module level; in an anonymous
    function -2 less its place among the file's `lambdas`. What a macro's text calls has the macro as its caller."""

    name: str
    receiver: str  # source text before the name: "self", "os.path"; "" for a bare call
    line: int
    caller: int
    arguments: int = -1  # -1 if that is not known, -2 (`arity.NAMED`) for a name that stands for itself


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name. `name` is "" when the module itself is imported, "*" for everything in it."""

    module: str
    name: str
    alias: str
    line: int


@dataclass(frozen=True, slots=True)
class Base:
    """`symbol` (an index) inherits from, implements or mixes in `name`."""

    symbol: int
    name: str


class Lambda(NamedTuple):
    """An anonymous function: the symbol (an index) around it, -1 at the top level, and its lines."""

    symbol: int
    line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Typed:
    """What is known of the type of a name: its declaration, or a value that it is given.

    Attributes:
        scope: The symbol (an index) whose local, member, parameter or result this is; -1 at the top level.
        name: "" for the result of a function.
        text: A type as written, without blanks; "=" and an expression for a value; "~" and a type for an alias; "" if
            the name is only known to be bound here.
        within: The symbol in which the text stands: the method, where `scope` is the class of `self.x = y`.
    """

    scope: int
    name: str
    text: str
    within: int


class Claim(NamedTuple):
    """What a place says the value of a named setting or constant is.

    Attributes:
        symbol: The constant (an index into the same file's symbols), -1 if it is not a definition: a line of a
            configuration file or of prose, the default of an environment variable.
        name: As written, `timeout` or `Config.timeout`; a flag with its dashes.
        value: A literal in one form per value: `60`, `"text"`, `true`.
        line: 1-based.
        how: What kind of place it is, a word of `source.claims.HOW`.
    """

    symbol: int
    name: str
    value: str
    line: int
    how: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of lines to rank. `symbol` is the definition it belongs to (an index), -1 outside definitions."""

    symbol: int
    line: int
    end_line: int
    text: str


@dataclass(frozen=True, slots=True)
class Handed:
    """What of a file only hands on what other files define: its imports and exports.

    Attributes:
        whole: Nearly all of it, and it defines nothing itself.
        chunks: The places of the chunks outside definitions that hold nothing else.
    """

    whole: bool = False
    chunks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Extract:
    """What one file holds."""

    language: str
    package: str  # the package or namespace that the file declares, "" if none
    symbols: tuple[Symbol, ...] = ()
    calls: tuple[Call, ...] = ()
    imports: tuple[Import, ...] = ()
    bases: tuple[Base, ...] = ()
    types: tuple[Typed, ...] = ()
    lambdas: tuple[Lambda, ...] = ()  # of languages whose functions are followed as values
    claims: tuple[Claim, ...] = ()
    flow: bytes = b""  # constraints of the propagation of functions as values (source.flow), "" if there are none
    chunks: tuple[Chunk, ...] = ()
    has_errors: bool = False
    limit: str = ""  # which of `source.walk.LIMIT_REASONS` keeps it from being complete
    handed: Handed = Handed()


# --- index ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """The envelope's `index` object."""

    generation: int
    built_at: str
    commit: str | None
    branch: str | None
    stale_files: int  # changed, gone or new since
    unchecked_files: int = 0  # there was no time to look at them


@dataclass(frozen=True, slots=True)
class BuildSummary:
    """What one run of `lci index` did: the one-screen summary."""

    root: str
    generation: int
    changed: bool  # False when the index was fresh and nothing was written
    files: int
    files_by_language: dict[str, int]
    symbols_by_kind: dict[str, int]
    chunks: int
    edges_by_kind: dict[str, int]
    skipped_by_reason: dict[str, int]
    seconds: float
    bytes_read: int
    bytes_on_disk: int
    reused_files: int = 0  # taken over from the index as it was
    parsed_files: int = 0  # new, or read again
    removed_files: int = 0  # in the index before, and no longer
    embedded_chunks: int = 0  # by the model in this run; the others' vectors were there
    warnings: tuple[str, ...] = ()
    limited_by_reason: dict[str, int] = field(default_factory=dict)  # files of which only a part is known
    branches: dict[str, int] = field(default_factory=dict)  # indexed beside the tree: how many files differ in each


# --- search -----------------------------------------------------------------------------------------------------

#: How several definitions of one symbol relate, gravest first: both can hold at once; the last of one scope wins; one
#: stands in where the other cannot be had; their conditions exclude each other; another branch has another one.
RELATIONS = ("overlap", "duplicate", "fallback", "variant", "branch")
#: What `--fail-on` can name: these, that sources disagree, and all of it.
FAIL_ON = (*RELATIONS, "disagreement", "any")
#: What sources can disagree in, and what is recommended then.
CONFLICT_TYPES = ("direct-contradiction", "numeric-mismatch", "temporal-mismatch", "scope-mismatch")
RESOLUTIONS = ("prefer-recent", "prefer-authoritative", "escalate-to-user")


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions on results; each field is a disjunction, the fields are a conjunction."""

    lang: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    path: tuple[str, ...] = ()  # gitignore-style globs
    exclude: tuple[str, ...] = ()  # gitignore-style globs
    name: tuple[str, ...] = ()  # globs on the symbol's name
    parent: tuple[str, ...] = ()  # globs on the enclosing definition's name
    file: tuple[str, ...] = ()  # exact paths or file names

    def __bool__(self) -> bool:
        return any((self.lang, self.kind, self.path, self.exclude, self.name, self.parent, self.file))


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search, as the flags say it."""

    query: str
    mode: Mode = "dense"
    limit: int | None = None  # None: what .lci.toml says, else 10
    filters: Filters = Filters()
    conflicts: bool = False
    snippet: int | None = None  # lines of code per result; None is the renderer's default
    near: str | None = None
    expand: int = 0
    budget_ms: int | None = None
    max_tokens: int | None = None
    explain: bool = False
    trace: bool = False
    strict: bool = False
    shadow: str | None = None  # a ranking of `weights.RANKINGS` to compare with; multiview only


@dataclass(frozen=True, slots=True)
class Hit:
    """One view's opinion of one unit (a definition, or a block outside definitions)."""

    unit: int
    rank: int  # 1-based within `view`
    score: float  # the view's own unit; comparable only inside one view
    view: View


class Step(NamedTuple):
    """One step of a result's score. All steps of a result add up to its score.

    Attributes:
        name: Of a signal or a factor (docs/ranking.md).
        view: The sub-index that a signal is from; None for one of no view, and for a factor.
        value: Of the signal, in [0, 1]; None for a factor.
        weight: Of the signal, or the factor itself.
        adds: What it adds to the score; a factor adds what it makes of the sum so far.
    """

    name: str
    view: View | None
    value: float | None
    weight: float
    adds: float


@dataclass(frozen=True, slots=True)
class GraphLink:
    id: str
    symbol: str | None
    file: str
    line: int
    qualified_name: str | None = None


@dataclass(frozen=True, slots=True)
class GraphContext:
    """Short lists of neighbours, and how many there are in all."""

    callers: tuple[GraphLink, ...] = ()
    callees: tuple[GraphLink, ...] = ()
    imports: tuple[GraphLink, ...] = ()
    imported_by: tuple[GraphLink, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)  # the same four keys


@dataclass(frozen=True, slots=True)
class DefinitionSite:
    """One of several definitions of one symbol (the contract's `definitions`)."""

    file: str
    line: int
    branch: str | None
    build_tag: str | None
    relation: str  # one of RELATIONS
    active: bool = False  # whether this is the one that counts on this machine, as far as that can be told


@dataclass(frozen=True, slots=True)
class Result:
    """One result, as the contract lists its fields; None means that the answer leaves the field out."""

    id: str
    file: str
    line: int
    end_line: int
    symbol: str | None
    qualified_name: str | None
    kind: str
    language: str
    signature: str | None
    snippet: str
    mode_source: View
    mode_score: float
    snippet_line: int | None = None  # where the snippet starts, if not at `line`: a quoted phrase further down
    stale: bool = False
    doc: str = ""  # first line of the doc comment; shown by `def`
    also_matched: tuple[tuple[View, float], ...] | None = None
    graph: GraphContext | None = None
    via: tuple[tuple[str, str], ...] | None = None  # (id, relation)
    conflict: bool = False
    definitions: tuple[DefinitionSite, ...] = ()
    explain: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Degradation:
    """A view that failed or missed its budget, and what answered instead."""

    view: str
    failure_mode: str  # shard_missing | model_mismatch | timeout | error
    fallback_mode: str
    confidence_impact: str  # high | medium | low
    detail: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One search's answer: the contract's envelope."""

    query: str
    mode: Mode
    results: tuple[Result, ...]
    total: int
    has_more: bool
    index: IndexInfo
    plan: dict[str, Any] | None = None
    degraded: tuple[Degradation, ...] = ()
    conflicts: tuple[dict[str, Any], ...] = ()
    trace: dict[str, Any] | None = None
    truncated: dict[str, Any] | None = None  # what --max-tokens cut
    expansion: dict[str, Any] | None = None  # what --expand added after the ranked results, and what it left out
    shadow: dict[str, Any] | None = None  # what another ranking would move (--shadow)
    did_you_mean: tuple[str, ...] = ()  # names like the one that nothing has
