"""The values of a search: its request, its answer, and what both are made of. Immutable, without behaviour.

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


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """The envelope's `index` object."""

    generation: int
    built_at: str
    commit: str | None
    branch: str | None
    stale_files: int  # changed, gone or new since
    unchecked_files: int = 0  # there was no time to look at them


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
    context: tuple[int, int] | None = None  # lines before and after the one that matches best, instead of `snippet`
    near: str | None = None
    expand: int = 0
    budget_ms: int | None = None
    max_tokens: int | None = None
    explain: bool = False
    explain_file: str | None = None  # what became of this file: a path from the current folder or the root
    trace: bool = False
    strict: bool = False
    shadow: str | None = None  # a ranking of `weights.RANKINGS` to compare with; multiview only


class Hit(NamedTuple):
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
        value: Of the signal, in [0, 1] in multiview, else in the view's own unit; None for a factor.
        weight: Of the signal, or the factor itself.
        adds: What it adds to the score; a factor adds what it makes of the sum so far.
        terms: Of a BM25 field, what each term of the query is worth in it: they add up to `value`. None elsewhere.
    """

    name: str
    view: View | None
    value: float | None
    weight: float
    adds: float
    terms: dict[str, float] | None = None


class GraphLink(NamedTuple):
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
    snippet_line: int | None = None  # where the snippet starts, if not at `line`
    match_line: int | None = None  # the first line of the snippet that has a word of the query
    marks: tuple[tuple[int, int, int], ...] = ()  # words of the query: line of the snippet from 0, start, end
    stale: bool = False
    doc: str = ""  # first line of the doc comment; shown by `def`
    also_matched: tuple[tuple[View, float], ...] | None = None
    graph: GraphContext | None = None
    via: tuple[tuple[str, str], ...] | None = None  # (id, relation)
    conflict: bool = False
    definitions: tuple[DefinitionSite, ...] = ()
    explain: dict[str, Any] | None = None


class Degradation(NamedTuple):
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
    explain_file: dict[str, Any] | None = None  # what became of the file that was asked about
