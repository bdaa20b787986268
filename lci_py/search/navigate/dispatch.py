"""Calls that reach a method without naming it: dynamic dispatch through the method of a base or interface, and computed
names (`getattr(self, "visit_" + kind)`).

No edges are stored for these calls. They are derived from inheritance edges, and from the text of the few calls that
take a function's name.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from lci_py.callgraph.file_facts import family
from lci_py.index.shards.symbol_queries import Member, calls_named, members_named, owned_names, parents, types_named
from lci_py.search.navigate.external import open_receivers, unexplained_uses
from lci_py.search.navigate.nodes import calls_by_node, merge_calls
from lci_py.source.text.language_tables import has_rule, library_methods, table_of
from lci_py.types import graph as types
from lci_py.types.edges import AMBIGUOUS, CALLS, DISPATCH, FIELD, FLOW, INHERITS, OVERRIDE, SELF, VALUE
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lci_py.index.shards.symbols import Row
    from lci_py.search.navigate.nodes import Call, Edge, Nodes
    from lci_py.types.graph import Direction

#: Maximum number of implementations, or of callers of the declared method, that are listed; more are only counted.
MOST_LISTED = 12
#: Maximum number of supertypes or subtypes that are examined.
_MOST_TYPES = 2_000
#: Maximum number of interfaces with a method of the name that are compared.
_MOST_INTERFACES = 100
#: A call that runs more methods of a name than this is megamorphic: it may run others of the name, too.
_MOST_MORPHS = 4
#: Maximum number of calls without a known target of which the text is read; more are not listed anyway.
_MOST_OPEN = 100
#: Methods that are never called through the method of a base.
_CONSTRUCTORS = frozenset({"__init__", "__new__", "__init_subclass__", "__post_init__", "initialize", "__construct"})
#: Steps of edges to the function that actually runs: no further dispatch follows.
_FOLLOWED = frozenset({OVERRIDE, FLOW})
#: Steps of edges from calls that do not name the function.
_UNNAMED = frozenset({FLOW, FIELD, VALUE})
#: Lines around a call within which its name argument may be computed.
_NEAR = 3
#: A quoted name with a computed part inside, after or before it.
_BUILT = re.compile(
    r"""(?P<quote>["'`])(?P<text>(?:\w|\{[^{}"'`]*\}|\#\{[^{}]*\}|%\(?\w*\)?s)+)(?P=quote)(?P<behind>\s*[+.%]|\s*\.format)?"""
)
_HOLE = re.compile(r"#?\{[^{}]*\}|%\(?\w*\)?s")
_BEFORE = re.compile(r"(?:\+|(?<=\s)\.)\s*$")
_LITERAL = re.compile(r"""(?:["'`]|(?<![\w:]):)(\w[\w-]*[?!]?)""")
#: Maximum number of calls whose text is read; any name counts as possible for the others.
_MOST_READ = 2_000
#: Minimum number of literal letters in a computed name.
_LEAST = 3


class Through(NamedTuple):
    """A declared (base or interface) method, and the methods that implement or override it."""

    declared: int  # its number
    types: int  # methods that override it, or implement it
    sites: tuple[tuple[int, int], ...]  # node and line of the calls of it that may reach the method asked about
    calls: tuple[Call, ...]  # the same, or the methods behind it; none if there are too many


class NameTaker(NamedTuple):
    """A call that takes the name of a function, such as `getattr(x, name)`."""

    node: int  # the caller
    line: int
    is_own: bool  # on the caller's own object
    patterns: tuple[re.Pattern[str], ...]  # of computed names near the call
    literals: frozenset[str]  # names that stand near the call, or in it if it has one itself
    is_open: bool  # nothing says which names it takes

    def takes(self, name: str) -> bool:
        return name in self.literals or any(pattern.fullmatch(name) for pattern in self.patterns)


class Dispatch:
    """Finds the calls by dynamic dispatch in one snapshot, from which methods implement or override which others."""

    def __init__(self, nodes: Nodes, *, most_callers: int = MOST_LISTED) -> None:
        """List up to `most_callers` callers even of a method with many implementations."""
        self._nodes = nodes
        self._most_callers = most_callers
        self._graph = nodes.graph
        self._symbols = nodes.snapshot.symbols
        self._members = cache(self._read_members)
        self._further_targets = cache(self._read_further_targets)
        self._reachable_types = cache(self._read_reachable_types)
        self._implementing = cache(self._read_implementing)
        self._type_of_symbol = cache(self._read_type_of_symbol)
        self._taking_names = cache(self._read_taking_names)
        self._open_calls = cache(self._read_open_calls)

    # --- both ways --------------------------------------------------------------------------------------------------

    def calls(
        self, rows: Sequence[Row], nodes: Sequence[int], direction: Direction
    ) -> tuple[list[Call], list[Through]]:
        """(calls, declared): the calls by dynamic dispatch or computed name to definitions, or from them; and the
        declared (base or interface) methods that these calls name.

        Args:
            rows: The definitions; origins of callers are indices into these.
            nodes: The nodes of the definitions; origins of callees are indices into these.
        """
        declared = [*self.callers(rows), *self.megamorphic(rows)] if direction == "callers" else self.callees(nodes)
        calls: dict[int, Call] = {}
        by_name = [*self.by_name(rows), *self.of_unknown_receiver(rows)] if direction == "callers" else []
        for call in [*(call for through in declared for call in through.calls), *by_name]:
            calls[call.node] = merge_calls(calls[call.node], call) if call.node in calls else call
        return list(calls.values()), declared

    def places(self, through: Sequence[Through]) -> list[types.Through]:
        """Convert declared methods to the form in which an answer has them."""
        places = self._nodes.places(method.declared for method in through)
        return [
            types.Through(places[method.declared], method.types, len(method.sites), bool(method.calls))
            for method in through
            if method.declared in places and method.types
        ]

    # --- who calls ------------------------------------------------------------------------------------------------

    def callers(self, rows: Sequence[Row]) -> list[Through]:
        """The declared methods that the rows' methods override, each with its calls; the least overridden first."""
        own = [int(row["symbol_number"]) for row in rows]
        own_sites = self._sites(own)
        by_number: dict[int, tuple[set[tuple[int, int]], list[Edge]]] = {}
        types: dict[int, int] = {}
        for origin, row in enumerate(rows):
            for owner, method in self._of_row(row):
                for declared in self._overridden_methods(owner, method):
                    if declared.number in own:
                        continue
                    sites, edges = by_number.setdefault(declared.number, (set(), []))
                    for site, edge in self._reaching(declared, owner, origin, own_sites):
                        sites.add(site)
                        edges.append(edge)
                    if declared.number not in types:
                        types[declared.number] = len(self._further_targets(declared))
        through = []
        for number, (sites, edges) in sorted(by_number.items(), key=lambda item: (types[item[0]], item[0])):
            calls = tuple(calls_by_node(edges))
            is_listed = types[number] <= MOST_LISTED or len(calls) <= self._most_callers
            if sites:
                through.append(Through(number, types[number], tuple(sorted(sites)), calls if is_listed else ()))
        return through

    def megamorphic(self, rows: Sequence[Row]) -> list[Through]:
        """The megamorphic calls (many targets) that may run the rows' methods, by the uppermost overridden method."""
        by_number: dict[int, tuple[Member, list[Edge]]] = {}
        for origin, row in enumerate(rows):
            for owner, method in self._of_row(row):
                declared = [method, *self._overridden_methods(owner, method)][-1]
                edges = by_number.setdefault(declared.number, (declared, []))[1]
                edges += [(origin, node, line, DISPATCH | AMBIGUOUS) for node, line in self._megamorphic(owner, method)]
        through = []
        for number, (declared, edges) in by_number.items():
            calls = tuple(calls_by_node(edges))
            sites = tuple(sorted({(node, line) for _, node, line, _ in edges}))
            listed_calls = calls * (len(calls) <= self._most_callers)
            if sites:
                through.append(Through(number, len(self._further_targets(declared)), sites, listed_calls))
        return through

    def _megamorphic(self, owner: int, method: Member) -> Iterator[tuple[int, int]]:
        """Yield (node, line) of megamorphic calls that may run the method: they run so many methods of its name in
        related types that the points-to analysis has not kept all."""
        types = {owner, *self._supertypes(owner)}
        types |= {below for above in tuple(types) for below in self._subtypes(above)}
        targets = [m.number for o, methods in self._members(method.name).items() if o in types for m in methods]
        known_sites = self._sites([method.number])
        edges = self._graph.edges(targets, CALLS, incoming=True)
        run: dict[tuple[int, int], set[int]] = {}
        for origin, node, line, step in zip(*(column.tolist() for column in edges), strict=True):
            if step & ~AMBIGUOUS == FLOW and (node, line) not in known_sites:
                run.setdefault((node, line), set()).add(origin)
        for (node, line), places in sorted(run.items()):
            if len(places) > _MOST_MORPHS:
                receivers = open_receivers(self._nodes, node, line, method.name)
                if not all(receivers) or not receivers or self._are_related(self.type_around(node), owner):
                    yield node, line

    def _sites(self, methods: Sequence[int]) -> set[tuple[int, int]]:
        edges = self._graph.edges(methods, CALLS, incoming=True)
        return set(zip(edges.node.tolist(), edges.line.tolist(), strict=True))

    def _reaching(
        self, declared: Member, owner: int, origin: int, own_sites: set[tuple[int, int]]
    ) -> Iterator[tuple[tuple[int, int], Edge]]:
        """Yield the calls of a declared method that may run `owner`'s implementation of it: ((node, line), edge)."""
        edges = self._graph.edges([declared.number], CALLS, incoming=True)
        for node, line, step in zip(edges.node.tolist(), edges.line.tolist(), edges.step.tolist(), strict=True):
            rule = step & ~AMBIGUOUS
            if (node, line) in own_sites or rule in _FOLLOWED:
                continue
            if rule == SELF and not self._is_open(node, declared, owner):
                continue
            yield (node, line), (origin, node, line, DISPATCH | AMBIGUOUS)

    def _is_open(self, caller: int, declared: Member, owner: int) -> bool:
        """Whether a call on `self` may be on an object of type `owner`: it is in a supertype, and names no base."""
        enclosing = self.type_around(caller)
        if enclosing == owner or enclosing not in self._supertypes(owner):
            return False
        return enclosing == declared.owner or enclosing not in self._members(declared.name)

    # --- what is called -------------------------------------------------------------------------------------------

    def callees(self, nodes: Sequence[int]) -> list[Through]:
        """The declared methods that definitions call, each with the calls of its implementations."""
        return [
            Through(
                node, types, tuple(sorted({(nodes[origin], line) for origin, _, line, _ in edges})),
                tuple(calls_by_node(edges)) * (types <= MOST_LISTED),
            )
            for node, types, edges in self._calls_behind(nodes) if edges
        ]  # fmt: skip

    def edges(self, nodes: Sequence[int]) -> list[Edge]:
        """The edges from definitions to the implementations of methods that they call, if a method has few."""
        return [edge for _, types, edges in self._calls_behind(nodes) if types <= MOST_LISTED for edge in edges]

    def _calls_behind(self, nodes: Sequence[int]) -> Iterator[tuple[int, int, list[Edge]]]:
        """Yield (called method, number of its implementations, edges to them) for the methods that definitions call."""
        own = [(index, inner) for index, node in enumerate(nodes) for inner in (node, *self._graph.lambdas_of(node))]
        edges = self._graph.edges([inner for _, inner in own], CALLS)
        rows = list(zip(*(column.tolist() for column in edges), strict=True))
        explained = {(own[origin][0], node, line) for origin, node, line, _ in rows}
        methods = self._members_at([node for _, node, _, _ in rows if node < self._nodes.first_file])
        edges_of: dict[int, list[Edge]] = {}
        for origin, node, line, step in rows:
            method = methods.get(node)
            if method is None or step & ~AMBIGUOUS in _FOLLOWED:
                continue
            index, caller = own[origin]
            below = self._further_targets(method)
            if step & ~AMBIGUOUS == SELF:
                enclosing = self.type_around(caller)
                if enclosing != method.owner and enclosing in self._members(method.name):
                    continue  # the method of the base is named
                heirs = set(self._subtypes(enclosing)) if enclosing >= 0 else set()
                below = [member for member in below if member.owner in heirs]
            more = [(index, member.number, line, DISPATCH | AMBIGUOUS) for member in below]
            edges_of.setdefault(node, []).extend(edge for edge in more if edge[:3] not in explained)
        for node, targets in edges_of.items():
            yield node, len(self._further_targets(methods[node])), targets

    # --- methods --------------------------------------------------------------------------------------------------

    def _of_row(self, row: Row) -> Iterator[tuple[int, Member]]:
        """Yield (type, method) for a row that is a method and no constructor; nothing for any other row."""
        if row["kind"] != "method" or row["symbol"] in _CONSTRUCTORS:
            return
        for owner, methods in self._members(row["symbol"]).items():
            yield from ((owner, method) for method in methods if method.number == int(row["symbol_number"]))

    def _members_at(self, numbers: Sequence[int]) -> dict[int, Member]:
        """Maps the numbers of symbols that are methods of types to these methods; constructors are left out."""
        requested = set(numbers)
        names = {
            row["symbol"]
            for row in self._symbols.symbol_rows(sorted(requested)).values()
            if row["kind"] == "method" and row["symbol"] not in _CONSTRUCTORS
        }
        return {
            method.number: method
            for name in sorted(names)
            for methods in self._members(name).values()
            for method in methods
            if method.number in requested
        }

    def _read_members(self, name: str) -> dict[int, list[Member]]:
        """Maps each type to its own methods with a name."""
        by_type: dict[int, list[Member]] = {}
        outside = []
        for method in members_named(self._symbols, name):
            if method.owner >= 0:
                by_type.setdefault(method.owner, []).append(method)
            elif method.scope:
                outside.append(method)
        types = types_named(self._symbols, sorted({method.scope for method in outside}))
        for method in outside:
            owner = _nearest(method, types.get(method.scope, ()))
            if owner >= 0:
                by_type.setdefault(owner, []).append(method._replace(owner=owner))
        return by_type

    def _overridden_methods(self, owner: int, method: Member) -> list[Member]:
        """The methods of bases and interfaces that a method overrides."""
        members = self._members(method.name)
        if has_rule(method.language, "method_sets"):
            interfaces = [m for methods in members.values() for m in methods if m.around == "interface"]
            return [
                other for other in interfaces[:_MOST_INTERFACES]
                if other.owner != owner and _may_be(other, method) and owner in self._implementing(other.owner)
            ]  # fmt: skip
        return [m for above in self._supertypes(owner) for m in members.get(above, ()) if _may_be(m, method)]

    def _read_further_targets(self, declared: Member) -> list[Member]:
        """The other methods that a call of a declared method may run."""
        members = self._members(declared.name)
        if has_rule(declared.language, "method_sets"):
            below = self._implementing(declared.owner) if declared.around == "interface" else set[int]()
        else:
            below = set(self._subtypes(declared.owner))
        targets = [m for owner in sorted(below) for m in members.get(owner, ()) if _may_be(declared, m)]
        return [m for m in targets if declared.test or not m.test]  # the program never calls what only tests derive

    # --- types ----------------------------------------------------------------------------------------------------

    def _supertypes(self, type_: int) -> list[int]:
        return self._reachable_types(type_, incoming=False)

    def _subtypes(self, type_: int) -> list[int]:
        return self._reachable_types(type_, incoming=True)

    def _read_reachable_types(self, type_: int, incoming: bool) -> list[int]:
        """The supertypes or subtypes of a type, the nearest first."""
        reached: dict[int, None] = {}
        level = [type_]
        while level and len(reached) < _MOST_TYPES:
            ends = self._graph.edges(level, INHERITS, incoming=incoming).node.tolist()
            level = [end for end in dict.fromkeys(ends) if end not in reached and end != type_]
            reached.update(dict.fromkeys(level))
        return list(reached)

    def _read_implementing(self, interface: int) -> set[int]:
        """The types that have all methods of an interface, including the methods of interfaces embedded in it."""
        implementing: set[int] | None = None
        for name in owned_names(self._symbols, [interface, *self._supertypes(interface)]):
            owners = {o for o, methods in self._members(name).items() if methods[0].around != "interface"}
            owners |= {heir for owner in owners for heir in self._subtypes(owner)}
            implementing = owners if implementing is None else implementing & owners
        return implementing or set()

    def type_around(self, node: int) -> int:
        """The type that encloses a definition or anonymous function; -1 if there is none."""
        if node >= self._nodes.first_lambda:
            node = self._graph.lambda_at(node)[2]
        if not 0 <= node < self._nodes.first_file:
            return -1
        return self._type_of_symbol(node)

    def _read_type_of_symbol(self, symbol: int) -> int:
        for name, number, is_type in parents(self._symbols, symbol):
            if is_type:
                return number
            owners = (o for o, methods in self._members(name).items() if any(m.number == number for m in methods))
            if (owner := next(owners, -1)) >= 0:
                return owner
        return -1

    # --- receivers of unknown type ------------------------------------------------------------------------------------

    def of_unknown_receiver(self, rows: Sequence[Row]) -> list[Call]:
        """The calls by name that may run the rows' methods, as the type of the receiver is unknown. A call is left out
        if its text excludes the method, or the standard library has a method of the name. [] if there are too many
        callers to list, and for languages without a table `library_methods`."""
        edges: list[Edge] = []
        for origin, row in enumerate(rows):
            for owner, method in self._of_row(row):
                for node, line, is_own in self._open_calls(method.name, family(method.language)):
                    if not is_own or self._are_related(self.type_around(node), owner):
                        edges.append((origin, node, line, DISPATCH | AMBIGUOUS))
        calls = calls_by_node(edges)
        return calls if len(calls) <= self._most_callers else []

    def _read_open_calls(self, name: str, language: str) -> list[tuple[int, int, bool]]:
        """(node, line, own) of the calls of a name that no edge explains; `own`: whether on the caller's own object."""
        of_library = library_methods(language)
        if not of_library or not name.rstrip("?!").isidentifier() or name.startswith("__"):
            return []
        uses = unexplained_uses(self._nodes, name)
        if len(uses) > _MOST_OPEN:
            return []
        open_calls = []
        for (node, line), _ in sorted(uses.items()):
            if self._nodes.family(self._nodes.file_of(node)) == language:
                receivers = open_receivers(self._nodes, node, line, name)
                open_calls += [(node, line, own) for own in sorted(set(receivers)) if own or name not in of_library]
        return open_calls

    # --- names that are put together --------------------------------------------------------------------------------

    def by_name(self, rows: Sequence[Row]) -> list[Call]:
        """The calls with a computed name that may be the name of one of the definitions."""
        edges: list[Edge] = []
        for origin, row in enumerate(rows):
            calls = [call for call in self._name_takers(row) if call.takes(row["symbol"])]
            explained = self._sites([int(row["symbol_number"])]) if calls else set()
            edges += [
                (origin, call.node, call.line, DISPATCH | AMBIGUOUS)
                for call in calls if (call.node, call.line) not in explained
            ]  # fmt: skip
        return calls_by_node(edges)

    def of_unknown_name(self, rows: Sequence[Row]) -> list[tuple[int, int]]:
        """(node, line) of the calls whose computed name is completely unknown: they may mean any function."""
        open_ = {(call.node, call.line) for row in rows for call in self._name_takers(row) if call.is_open}
        own = sorted({node for node, _ in open_})
        edges = self._graph.edges(own, CALLS)
        followed = {
            (own[origin], line)
            for origin, _, line, step in zip(*(column.tolist() for column in edges), strict=True)
            if step & ~AMBIGUOUS in _UNNAMED
        }
        return sorted(open_ - followed)

    def _name_takers(self, row: Row) -> Iterator[NameTaker]:
        """Yield the calls that take a function's name (`getattr(x, name)`), if `x` may have the row's method."""
        if row["kind"] not in ("method", "function"):
            return
        owner = next((owner for owner, _ in self._of_row(row)), -1)
        for call in self._taking_names(family(row["language"])):
            enclosing = self.type_around(call.node) if call.is_own else -1
            if enclosing < 0 or self._are_related(enclosing, owner) or (owner < 0 and row["kind"] == "method"):
                yield call

    def _read_taking_names(self, language: str) -> list[NameTaker]:
        """The calls in a family of languages that take the name of a function, such as `getattr(x, name)`."""
        takers: list[NameTaker] = []
        for taking in table_of(language).get("calls_by_name", ()):
            word = re.escape(taking) if taking.isidentifier() else ""
            own = re.compile(rf"\b(?:self|cls|this)\b(?!\s*(?:\.|->)\s*(?!{word or '$^'})\w)")
            uses = calls_named(self._symbols, taking.rstrip("*"), prefix=taking.endswith("*"))
            calls = [(f, self._graph.caller(f, c), line) for f, c, line in uses if self._nodes.family(f) == language]
            scopes = self._symbols.symbol_rows(sorted({node for _, node, _ in calls if node < self._nodes.first_file}))
            for file, node, line in calls:
                begin, end = (scopes[node]["line"], scopes[node]["end_line"]) if node in scopes else (1, line + _NEAR)
                first = max(begin, line - _NEAR)
                read: list[bytes] = []
                if len(takers) < _MOST_READ:
                    read = self._nodes.snapshot.reader.some(self._nodes.path(file), first, min(end, line + _NEAR))
                lines = [part.decode("utf-8", "replace") for part in read]
                here = lines[line - first] if line - first < len(lines) else ""
                patterns = tuple(_computed_name_patterns("\n".join(lines)))
                inside = frozenset(_LITERAL.findall(here.partition(taking)[2] if word else here))
                takers.append(
                    NameTaker(
                        node, line, bool(own.search(here)), patterns,
                        inside or frozenset(_LITERAL.findall("\n".join(lines))), not (inside or patterns),
                    )
                )  # fmt: skip
        return takers

    def _are_related(self, type_: int, other: int) -> bool:
        """Whether an object may have both types."""
        if type_ < 0 or other < 0:
            return False
        below = {other, *self._subtypes(other)}
        return type_ in below or not below.isdisjoint(self._subtypes(type_))


def _computed_name_patterns(text: str) -> list[re.Pattern[str]]:
    """Regular expressions of the function names that a piece of code can compute, such as `"visit_" + kind`."""
    patterns = []
    for match in _BUILT.finditer(text):
        template = match["text"]
        parts = _HOLE.split(template)
        pattern = r"\w+".join(map(re.escape, parts))
        if len(parts) == 1:
            follows, before = (
                bool(match["behind"]),
                bool(_BEFORE.search(text[max(0, match.start() - 8) : match.start()])),
            )
            if not follows and not before:
                continue
            pattern = r"\w+" * before + pattern + r"\w+" * follows
        if max(map(len, parts)) >= _LEAST:
            patterns.append(re.compile(pattern))
    return patterns


def _nearest(method: Member, types: Sequence[Member]) -> int:
    """The type of a method defined outside of it: the only type in the same file, folder or language; else -1."""
    own = [type_ for type_ in types if type_.language == method.language]
    beside = [type_ for type_ in own if type_.folder == method.folder]
    for candidates in ([type_ for type_ in beside if type_.file == method.file], beside, own):
        if len(candidates) == 1:
            return candidates[0].number
    return -1


def _may_be(declared: Member, method: Member) -> bool:
    """Whether a method may override a declared method: the numbers of parameters agree, and both belong to objects, or
    both to classes."""
    if has_rule(declared.language, "class_methods") and declared.static != method.static:
        return False
    if has_rule(declared.language, "method_sets"):
        return _parameters(declared) == _parameters(method)
    return (
        declared.arity < 0
        or method.arity < 0
        or declared.arity == method.arity
        or has_rule(method.language, "free_arity")
    )


def _parameters(method: Member) -> int:
    """The number of parameters in a Go signature."""
    text = method.signature.partition(f"{method.name}(")[2]
    depth, commas = 0, 0
    for index, sign in enumerate(text):
        if sign == ")" and not depth:
            return commas + bool(text[:index].strip())
        depth += (sign in "([{") - (sign in ")]}")
        commas += sign == "," and not depth and text[index + 1 :].lstrip()[:1] != ")"
    return -1
