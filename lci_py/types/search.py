"""The request and the answer of a search, and the values that both consist of. Immutable, without behaviour.

Lines are 1-based and inclusive; bytes are 0-based and half-open; paths are POSIX, relative to the root.
"""

from __future__ import annotations

from typing import Any, Literal

from lci_py.types.record import NamedTuple, dataclass, field

View = Literal["dense", "bm25", "symbolic"]
Mode = Literal["dense", "bm25", "symbolic", "multiview"]
MODES: tuple[Mode, ...] = ("dense", "bm25", "symbolic", "multiview")
# In this order: a result that several views rank equally is attributed to the first of them.
VIEWS: tuple[View, ...] = ("dense", "bm25", "symbolic")

#: Whether a search refreshes the index first: if that is quick, never, or always.
REFRESH = ("auto", "never", "always")
#: Largest value of `--expand`.
MAX_HOPS = 5

#: Every kind that a symbol can have. An index stores their places, so new kinds come last.
KINDS = (
    "function", "method", "constructor", "class", "struct", "union", "interface", "trait", "object", "enum",
    "enum_member", "type", "constant", "variable", "field", "property", "macro", "namespace", "module", "section",
)  # fmt: skip
#: Kinds of types: a function inside one is a method, a variable inside one is a field.
TYPE_KINDS = frozenset({"class", "struct", "union", "interface", "trait", "object", "enum"})
FUNCTION_KINDS = frozenset({"function", "method", "constructor", "macro"})
#: Kinds of definitions that calls, imports, receivers and base classes can name.
CALLABLE = FUNCTION_KINDS | TYPE_KINDS | {"module", "namespace", "type"}
#: As the number of a call's arguments: the language calls where no call is written (`with x`, a property that is read).
IMPLICIT = -3
#: The same from here downwards, less a place in `types.source.REGISTRATIONS`: no call, but a function that the text
#: registers with a framework.
REGISTERED = -4
#: Kinds of definitions that can have a value.
VALUED_KINDS = ("constant", "variable", "field", "property", "enum_member", "macro")
#: The kind shown for code or text outside every definition.
BLOCK_KIND = "block"
#: Kinds of the other nodes of the graph: a file (its code outside definitions), an anonymous function.
FILE_KIND, LAMBDA_KIND = "file", "lambda"


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """The state of an index: the `index` object of the JSON output."""

    generation: int
    built_at: str
    commit: str | None
    branch: str | None
    stale_files: int  # changed, deleted or new since the build
    unchecked_files: int = 0  # not looked at for lack of time
    command: str = "lci index"  # what brings it up to date

    @property
    def behind(self) -> str:
        """A phrase that says how many files have changed since the index was built, or were not checked; "" if none."""
        changed, unchecked = self.stale_files, self.unchecked_files
        parts = [f"{changed:,} file{'s' if changed > 1 else ''} changed since"] if changed else []
        if unchecked:
            parts.append(f"{unchecked:,} file{'s' if unchecked > 1 else ''} not compared with the index")
        return ", ".join(parts)

    @property
    def advice(self) -> str:
        """The phrase `behind` and the command that brings the index up to date; "" if no file has changed."""
        return f"{self.behind}: run `{self.command}`" if self.behind else ""


# --- search -----------------------------------------------------------------------------------------------------

#: Relations between definitions of one symbol, gravest first: both can be active at once; in one scope the last one
#: wins; one replaces the other where that is not available; their build conditions exclude each other; they are on
#: different branches.
RELATIONS = ("overlap", "duplicate", "fallback", "variant", "branch")
#: Those that are mistakes, as far as lci can tell: they are always listed.
GRAVE = RELATIONS[:2]
#: Values of `--fail-on`: a relation, a disagreement between sources, or any of what is always listed.
FAIL_ON = (*RELATIONS, "disagreement", "any")
#: Kinds of disagreements between sources, and recommendations for resolving them.
CONFLICT_TYPES = ("direct-contradiction", "numeric-mismatch", "temporal-mismatch", "scope-mismatch")
RESOLUTIONS = ("prefer-recent", "prefer-authoritative", "escalate-to-user")


class Changed(NamedTuple):
    """The files and definitions that differ from a commit."""

    files: frozenset[str]
    ids: frozenset[str]  # of definitions
    outside: frozenset[str]  # files whose text outside of definitions differs


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions on results: a result must meet every field that is set, and meets a field by any one of its values."""

    lang: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    path: tuple[str, ...] = ()  # gitignore-style globs
    exclude: tuple[str, ...] = ()  # gitignore-style globs
    name: tuple[str, ...] = ()  # globs on the symbol's name
    parent: tuple[str, ...] = ()  # globs on the enclosing definition's name
    file: tuple[str, ...] = ()  # exact paths or file names
    repo: tuple[str, ...] = ()  # globs on the name of a repository of a workspace
    no_tests: bool = False  # neither test files nor, in Rust, what only a test build has
    changed_since: str = ""  # a revision; the engine looks up `changed`
    changed: Changed | None = None

    def __bool__(self) -> bool:
        return any(getattr(self, field) for field in self.__slots__)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A request: the arguments and flags of one call of `lci search`."""

    query: str
    mode: Mode = "dense"
    limit: int | None = None  # None: the setting
    filters: Filters = Filters()
    conflicts: bool = False
    snippet: int | None = None  # lines of code per result; None is the renderer's default
    context: tuple[int, int] | None = None  # lines before and after the one that matches best, instead of `snippet`
    near: str | None = None
    expand: int = 0
    budget_ms: int | None = None
    max_tokens: int | None = None
    explain: bool = False
    explain_file: str | None = None  # explain the rank of this file: a path from the current folder or the root
    trace: bool = False
    strict: bool = False
    offset: int = 0  # results left out before the first one shown


class Hit(NamedTuple):
    """A unit (a definition, or a block outside definitions) with its rank in one view (dense, BM25 or symbolic)."""

    unit: int
    rank: int  # 1-based within `view`
    score: float  # the view's own unit; comparable only inside one view
    view: View


class Step(NamedTuple):
    """One part of a result's score: a signal, which adds to the sum, or a factor, which multiplies it.

    Attributes:
        name: The name of the signal or factor (docs/ranking.md).
        view: The view that a signal comes from; None for a signal without a view, and for a factor.
        value: The value of a signal, in [0, 1] in multiview, else in the view's own unit; None for a factor.
        weight: The weight of a signal, or the factor itself.
        adds: The amount that a signal adds to the score; for a factor, by how much it changes the sum so far.
        terms: For a BM25 field, maps each term of the query to its score; the scores add up to `value`. Else None.
    """

    name: str
    view: View | None
    value: float | None
    weight: float
    adds: float
    terms: dict[str, float] | None = None


class GraphLink(NamedTuple):
    """A definition or file that is next to a result in the graph."""

    id: str
    symbol: str | None
    file: str
    line: int
    qualified_name: str | None = None


@dataclass(frozen=True, slots=True)
class GraphContext:
    """The neighbours of a result in the graph: some of each kind, and `counts`, how many each kind has in all."""

    callers: tuple[GraphLink, ...] = ()
    callees: tuple[GraphLink, ...] = ()
    imports: tuple[GraphLink, ...] = ()
    imported_by: tuple[GraphLink, ...] = ()
    counts: dict[str, int] = field(
        default_factory=dict
    )  # number of all, with the keys callers, callees, imports, imported_by


@dataclass(frozen=True, slots=True)
class DefinitionSite:
    """One of several definitions of a symbol (`definitions` in the JSON output)."""

    file: str
    line: int
    branch: str | None
    build_tag: str | None
    relation: str  # one of RELATIONS
    active: bool = False  # known to be the active one on this machine
    inferred: str | None = None  # the platform of its file, where that tells it from the others: "windows"


@dataclass(frozen=True, slots=True)
class Result:
    """One result of a search. The fields are those of the JSON output, which leaves out a field that is None."""

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
    snippet_line: int | None = None  # where the snippet starts, if not at `line`
    match_line: int | None = None  # the first line of the snippet that has a word of the query
    marks: tuple[tuple[int, int, int], ...] = ()  # words of the query: line of the snippet from 0, start, end
    stale: bool = False
    doc: str = ""  # first line of the doc comment; shown by `def`
    also_matched: tuple[tuple[View, float], ...] | None = None
    graph: GraphContext | None = None
    via: tuple[tuple[str, str], ...] | None = None  # (id, relation)
    routes: tuple[str, ...] = ()  # that the query names and the result answers
    conflict: bool = False
    definitions: tuple[DefinitionSite, ...] = ()
    explain: dict[str, Any] | None = None
    test: bool = False  # part of a test; not in the JSON output
    also_in: tuple[str, ...] = ()  # files of a workspace with the same content, which have the same result


class Degradation(NamedTuple):
    """A view (dense, BM25 or symbolic search) that failed or exceeded its time budget, and what replaced it."""

    view: str
    failure_mode: str  # shard_missing | model_mismatch | timeout | error | missing (a repository of a workspace)
    fallback_mode: str
    confidence_impact: str  # high | medium | low
    detail: str


class Hint(NamedTuple):
    """A command to suggest when the results are weak, or when many of them are tests.

    Attributes:
        kind: The kind of suggestion: grep, bm25, related or tests.
        command: The command for a shell.
        tool: The suggestion for a client of `lci mcp`, in words.
        reason: Why the command is suggested: "has it", "6 of 10 are tests".
        file, line: The location that the command finds; `file` is "" if the command finds several.
    """

    kind: str
    command: str
    tool: str
    reason: str
    file: str = ""
    line: int = 0


class Confidence(NamedTuple):
    """A judgement whether the index has what a query asks about."""

    level: str  # high | medium | low
    reason: str  # one sentence


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of `lci search`, with the fields of the JSON output."""

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
    truncated: dict[str, Any] | None = None  # what --max-tokens has cut
    expansion: dict[str, Any] | None = None  # what --expand has added after the ranked results, and left out
    did_you_mean: tuple[str, ...] = ()  # names similar to an unknown one
    explain_file: dict[str, Any] | None = None  # the rank of one file, explained (--explain-file)
    confidence: Confidence | None = None  # of the modes dense and multiview
    hints: tuple[Hint, ...] = ()
    offset: int = 0  # results left out before the first one shown
