"""Calls that lead out of the repository, or whose target is unknown: listed by name, so that nothing is hidden."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.callgraph.file_facts import bound_name
from lci_py.index.shards.symbol_queries import calls_in, calls_named, imports_in, names, types_named
from lci_py.search.navigate.nodes import step_name
from lci_py.source.text.language_tables import has_rule, words_of
from lci_py.types.edges import CALLS, INHERITS
from lci_py.types.graph import External

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    from lci_py.index.shards.symbol_queries import CallText
    from lci_py.index.shards.symbols import Row
    from lci_py.search.navigate.nodes import Nodes
    from lci_py.types.graph import Place
    from lci_py.types.source import Import

_DOTS = re.compile(r"::|\\")
#: A receiver that is a type.
_TYPE = re.compile(r"(?:\w+(?:::|\.))*([A-Z]\w*[a-z]\w*)(?:::)?(?:<.*>)?", re.DOTALL)
#: The name of a call of an element, `t[name]()`: as `ELEMENT` of source.syntax.captures, which a query does not import.
_ELEMENT = "[]"
_FIRST = re.compile(r"[\w$]+")
#: The variable that a receiver begins with, also with the sign of Perl or Ruby.
_VARIABLE = re.compile(r"[@$%]*((?!\d)[\w$]+)")
#: Steps of edges whose target may have another name than the call: functions as values, renaming imports.
_RENAMED = frozenset({"flow", "value", "import"})


def externals(nodes: Nodes, rows: Sequence[Row]) -> tuple[External, ...]:
    """The calls in definitions that no graph edge explains, by name and file, in the order of their first lines."""
    callers = nodes.asked(rows)
    explained = _explained_names(nodes, callers)
    lines: dict[tuple[str, str], tuple[list[int], bool]] = {}
    for file, places in sorted(_places(nodes, callers).items()):
        path = nodes.path(file)
        bound = _imports_by_name(nodes, file)
        calls = [call for call in calls_in(nodes.snapshot.symbols, file) if call.caller in places]
        for call in _unexplained_calls(calls, explained.get(file, {}), bound):
            name, imported = _qualified_call(call, bound)
            lines.setdefault((path, name), ([], imported))[0].append(call.line)
    result = [
        External(name, tuple(sorted(set(sites))), path, imported) for (path, name), (sites, imported) in lines.items()
    ]
    return tuple(sorted(result, key=lambda item: (item.file, item.sites, item.name)))


def _imports_by_name(nodes: Nodes, file: int) -> dict[str, Import]:
    """Maps the names that the imports of a file bind to the imports; of several imports of a name, to the first."""
    return {bound_name(item): item for item in reversed(imports_in(nodes.snapshot.symbols, file))}


def _places(nodes: Nodes, callers: Iterable[int]) -> dict[int, set[int]]:
    """Maps files to the positions of the asked nodes among the file's symbols."""
    positions: dict[int, set[int]] = {}
    for node in callers:
        file = nodes.file_of(node)
        positions.setdefault(file, set()).add(node - int(nodes.graph.first_symbol[file]))
    return positions


def _explained_names(nodes: Nodes, callers: Sequence[int]) -> dict[int, dict[int, list[tuple[set[str], str]]]]:
    """Maps file, then line to (names, step) of each edge from that line: names that a call may use for its target."""
    own = [*callers, *(inner for node in callers for inner in nodes.graph.lambdas_of(node))]
    edges = nodes.graph.edges(own, CALLS)
    places = nodes.places(edges.node.tolist())
    explained: dict[int, dict[int, list[tuple[set[str], str]]]] = {}
    for origin, node, line, step in zip(*(column.tolist() for column in edges), strict=True):
        target = places.get(node)
        if target is not None:
            # A call by a type's name leads to its constructor.
            names = set((target.qualified_name or "").split(".")[-2:]) | {target.symbol or ""}
            by_line = explained.setdefault(nodes.file_of(own[origin]), {})
            by_line.setdefault(line, []).append((names, step_name(step)))
    return explained


def _unexplained_calls(
    calls: Iterable[CallText], explained: dict[int, list[tuple[set[str], str]]], bound: dict[str, Import]
) -> list[CallText]:
    """The calls that no edge from the same line explains."""
    rest: dict[int, list[CallText]] = {}
    matched: dict[int, set[int]] = {}
    for call in calls:
        edges = explained.get(call.line, [])
        item = bound.get(call.name) if not call.receiver else None
        names = {call.name, *(() if item is None else (item.name, _DOTS.sub(".", item.module).rpartition(".")[2]))}
        matches = {i for i, (target_names, _) in enumerate(edges) if target_names & names}
        if matches:
            matched.setdefault(call.line, set()).update(matches)
        else:
            rest.setdefault(call.line, []).append(call)
    unexplained = []
    for line, unmatched in rest.items():
        edges = explained.get(line, [])
        over = [step for i, (_, step) in enumerate(edges) if i not in matched.get(line, ()) and step in _RENAMED]
        # An edge to another name explains a call through a variable, but not a call of a name that an import binds.
        unmatched.sort(key=lambda call: (call.receiver or call.name) in bound)
        unexplained += unmatched[len(over) :]
    return unexplained


def _qualified_call(call: CallText, bound: dict[str, Import]) -> tuple[str, bool]:
    """(name, imported): a call's name, qualified by the module it is from; whether an import gives that module."""
    text = f"{call.receiver}{'' if call.name == _ELEMENT else '.'}{call.name}" if call.receiver else call.name
    first = _FIRST.match(text)
    item = bound.get(first.group()) if first else None
    if first is None or item is None:
        plain = _DOTS.sub(".", text)
        return plain, any(plain.startswith(_DOTS.sub(".", other.module) + ".") for other in bound.values())
    module, name = _DOTS.sub(".", item.module), "" if item.name in ("", "*") else _DOTS.sub(".", item.name)
    whole = module if not name or module.endswith(f".{name}") else f"{module}.{name}"
    return whole + _DOTS.sub(".", text[first.end() :]), True


def unresolved_uses(
    nodes: Nodes,
    name: str,
    passes: Callable[[Place], bool] | None = None,
    known_sites: Container[tuple[int, int]] = (),
    owners: frozenset[str] = frozenset(),
) -> int:
    """The number of calls of a name with unknown target. Calls of another definition of the name have a known target.

    Args:
        name: The unqualified name.
        passes: Selects callers; None for all.
        known_sites: (caller's node, line) of calls that are known to mean the name; they are not counted.
        owners: The names of the types with this method: a call on another type, `Vec::new()`, does not mean it.
    """
    unexplained = unexplained_uses(nodes, name, known_sites)
    if owners:
        unexplained = {
            site: count for site, count in unexplained.items() if not _is_of_others(nodes, site, name, owners)
        }
    if passes is not None:
        places = nodes.places(node for node, _ in unexplained)
        callers = {node for node, caller in places.items() if passes(caller)}
        unexplained = {site: count for site, count in unexplained.items() if site[0] in callers}
    return sum(unexplained.values())


def _is_of_others(nodes: Nodes, site: tuple[int, int], name: str, owners: frozenset[str]) -> bool:
    """Whether all calls of a method on a line are on types that neither have the method nor inherit it."""
    node, line = site
    calls = [
        call for call in calls_in(nodes.snapshot.symbols, nodes.file_of(node)) if (call.line, call.name) == (line, name)
    ]
    for call in calls:
        match = _TYPE.fullmatch(call.receiver)
        if match is None or match[1] in owners or match[1] == "Self":
            return False
        types = [type_.number for type_ in types_named(nodes.snapshot.symbols, [match[1]]).get(match[1], ())]
        if len(nodes.graph.edges(types, INHERITS).node):
            return False
    return bool(calls)


def unexplained_uses(nodes: Nodes, name: str, skip: Container[tuple[int, int]] = ()) -> dict[tuple[int, int], int]:
    """Maps (caller's node, line) to the number of calls of a name with unknown target. See `unresolved_uses`."""
    uses: dict[tuple[int, int], int] = {}
    for file, caller, line in calls_named(nodes.snapshot.symbols, name):
        site = nodes.graph.caller(file, caller), line
        uses[site] = uses.get(site, 0) + 1
    if not uses:
        return {}
    edges = _edges_at(nodes, {site for site in uses if site not in skip})
    unexplained = {site: count for site, count in uses.items() if site not in skip and site not in edges}
    same = _targets_named(nodes, {target for targets in edges.values() for target, _ in targets}, name)
    for site, targets in edges.items():
        if any(target in same for target, _ in targets):
            continue
        renamed = any(step in _RENAMED for _, step in targets)
        unexplained[site] = _unexplained_at(nodes, site, name) if renamed else uses[site]
    return unexplained


def open_receivers(nodes: Nodes, node: int, line: int, name: str) -> list[bool]:
    """Whether the receiver is the caller's own object, for each call of a method's name, by a node on a line, whose
    receiver may have any type. Calls on imports, literals, `super` or other types, and calls of plain functions, are
    left out."""
    file = nodes.file_of(node)
    language = nodes.language(file)
    bound = _imports_by_name(nodes, file)
    own, base = words_of(language, "self_names"), words_of(language, "super_names")
    bare = has_rule(language, "implicit_self")
    are_own = []
    for call in calls_in(nodes.snapshot.symbols, file):
        if (call.line, call.name) != (line, name) or nodes.graph.caller(file, call.caller) != node:
            continue
        first = _VARIABLE.match(call.receiver)
        if call.receiver in own or (bare and not call.receiver):
            are_own.append(True)
        elif (
            first
            and first[1] not in base
            and first[1] not in bound
            and _TYPE.fullmatch(call.receiver.removesuffix("()")) is None
        ):
            are_own.append(False)
    return are_own


def external_calls(nodes: Nodes, name: str) -> list[tuple[int, int]]:
    """(caller's node, line) of calls of a name that the repository does not define: `os.path.exists`, `exists`."""
    whole = _DOTS.sub(".", name)
    last = whole.rpartition(".")[2]
    sites = sorted(unexplained_uses(nodes, last))
    if whole == last:
        return sites
    qualified = []
    for node, line in sites:
        file = nodes.file_of(node)
        bound = _imports_by_name(nodes, file)
        calls = (call for call in calls_in(nodes.snapshot.symbols, file) if call.line == line and call.name == last)
        if any(f".{_qualified_call(call, bound)[0]}".endswith(f".{whole}") for call in calls):
            qualified.append((node, line))
    return qualified


def _edges_at(nodes: Nodes, sites: set[tuple[int, int]]) -> dict[tuple[int, int], list[tuple[int, str]]]:
    """Maps the sites (caller's node, line) that have edges to the edges: (target, step)."""
    own = sorted({node for node, _ in sites})
    edges_of: dict[tuple[int, int], list[tuple[int, str]]] = {}
    edges = nodes.graph.edges(own, CALLS)
    for origin, target, line, step in zip(*(column.tolist() for column in edges), strict=True):
        site = own[origin], line
        if site in sites:
            edges_of.setdefault(site, []).append((target, step_name(step)))
    return edges_of


def _targets_named(nodes: Nodes, targets: set[int], name: str) -> set[int]:
    """The targets, out of several, that a call by this name may lead to; for a type's name, the type's constructors."""
    symbols = sorted(target for target in targets if target < nodes.first_file)
    rows = names(nodes.snapshot.symbols, symbols)
    return {
        number for number, row in rows.items() if name == row.name or name in row.qualified_name.split(".")[-2:]
    }  # fmt: skip


def _unexplained_at(nodes: Nodes, site: tuple[int, int], name: str) -> int:
    """The number of calls of a name at a place (node, line) that no edge explains."""
    node, line = site
    file = nodes.file_of(node)
    bound = _imports_by_name(nodes, file)
    calls = [
        call
        for call in calls_in(nodes.snapshot.symbols, file)
        if call.line == line and nodes.graph.caller(file, call.caller) == node
    ]
    explained = _explained_names(nodes, [node]).get(file, {})
    return sum(call.name == name for call in _unexplained_calls(calls, explained, bound))
