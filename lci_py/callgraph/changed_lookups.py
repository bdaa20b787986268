"""Finds the look-ups whose answers may have changed when files change.

Each file contributes to the answers of some look-ups: a definition to look-ups of its name, a path to look-ups of its
last segment. If the changed files contribute the same to a look-up before and after, its answer is the same. Editing
a function's body changes none: contributions are in stable terms (ids of symbols and paths, no numbers or lines).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lci_py.callgraph.file_facts import (
    DECLARED,
    is_of_local,
    is_shared,
    is_top,
    is_type,
    macro_texts,
    runs_alone,
)
from lci_py.callgraph.language_rules import lists_star_names
from lci_py.callgraph.lookup_tables import (
    Definition,
    StoredTables,
    in_go_package,
    manifest_kind,
    module_names,
    uses_qualified,
)
from lci_py.callgraph.lookups import BY_NAME, COMMON_CALLS, LookUp, LookUps, key_of, offered_names
from lci_py.source.text.language_tables import has_rule
from lci_py.types.search import IMPLICIT
from lci_py.types.source import TAKES

if TYPE_CHECKING:
    from lci_py.callgraph.edges import Sites

Contribution = tuple[LookUp, tuple[object, ...]]
#: Kinds whose answer depends on many contributions ("the only one"), and is mostly unaffected by a change of one.
_SUMMARIES = frozenset({"only", "type", "near", "folder", "orphan", "declaring"})


def contributions(tables: StoredTables, file: int) -> Iterator[Contribution]:
    """Yields what a file contributes to the answers of look-ups, for every kind in `LookUps` but "common"."""
    facts = tables.facts(file)
    head = facts.head
    path, language, family, folder = head.path, head.language, head.family, head.folder
    yield ("path", path), (language,)
    for segments in module_names(path):
        yield ("ending", segments[-1]), (path, segments, language)
    if in_go_package(head):
        yield ("go", folder), (path,)
        for name in facts.variables:
            yield ("variable", folder, name), (path,)
    if has_rule(language, "python_modules"):
        yield ("alone", path), (runs_alone(facts),)
    kind = manifest_kind(head)
    if kind == "modules":
        yield (kind,), (head.package, path)
    elif kind:
        yield (kind, head.package), (path,)
    if uses_qualified(family):
        names = {n for n, kind in zip(tables.qualified_names(file), facts.kinds, strict=True) if kind in DECLARED}
        for name in names | ({head.package} if head.package else set()):
            yield ("declaring", family, name), (path,)
            if lists_star_names(family):
                offers = offered_names(facts, name)
                if offers is None:
                    yield ("open", family, name), (path,)
                for inner in offers or ():
                    yield ("offering", family, name, inner), (path,)
    for name, item in facts.bindings.items():
        yield ("module", path, name), ("import", item.module, item.name, language)
    ids = [*tables.stable_ids(file)]
    # An anonymous function is identified by its enclosing symbol and its number.
    ids += [f"{ids[item.symbol] if item.symbol >= 0 else path}{number}" for number, item in enumerate(facts.lambdas)]
    for star in facts.stars:
        yield ("stars", path), (star.module, language)
    for typed in facts.types:
        scope, enclosing = (ids[index] if index >= 0 else "" for index in (typed.scope, typed.within))
        owner = facts.name_at(typed.scope) if typed.scope >= 0 else ""
        look_up: LookUp = ("said", path, owner, str(typed.kind))
        if typed.kind < TAKES:
            at_top = typed.scope < 0 and typed.name
            look_up = ("module", path, typed.name) if at_top else ("typed", path, owner, typed.name)
        yield look_up, (typed.kind, scope, typed.text, typed.expr, enclosing, language)
        if extended := typed.extended:
            yield ("extending", family, owner), (scope, extended)
    for base in facts.bases:
        yield ("heirs", family, base.name.rpartition(".")[2]), (ids[base.symbol], language)
        yield ("bases", path, facts.names[base.symbol]), (ids[base.symbol], base.name, language)
        if has_rule(language, "reopened_types"):
            yield ("deriving", family, facts.qualified(base.symbol)), (ids[base.symbol], base.name, language)
    for record in facts.stored:
        if is_of_local(record):
            continue
        what = (*record[1:4], ids[record.within] if record.within >= 0 else "", *record[5:], path, language)
        for tests in ("tests",) if head.test else ("", "tests"):
            yield ("stored", family, str(record.kind), record.owner, record.name, tests), what
            if record.kind in BY_NAME:
                yield ("anywhere", family, str(record.kind), record.name, tests), what
    if has_rule(language, "expanding"):
        yield ("includes", path), (language, *sorted(facts.included))
        for name, texts in macro_texts(facts, tables.calls(file)).items():
            yield ("expansion", path, name), (language, *((ids[index], inside) for index, inside in texts))
    for index in facts.callables:
        name, kind, parent_kind = facts.names[index], facts.kinds[index], facts.kind_around(index)
        # Linking also asks for the language of what it finds: in another language it is another definition. A method of
        # an interface may become one of a type of the same name.
        outer = facts.outer[index]
        token = (ids[index], language, parent_kind, facts.owners[index], facts.is_hidden(index))
        yield ("takes", path, name), (ids[index], facts.arities[index])
        if outer >= 0:
            yield ("member", path, facts.name_at(outer), name), (ids[outer], *token)
            if has_rule(language, "reopened_types") and facts.parents[index] >= 0:
                yield ("reopened", family, facts.qualified(facts.parents[index]), name), token
            if has_rule(language, "method_sets"):
                yield ("methods", path, facts.name_at(outer)), (ids[outer], name)
        if is_top(kind, parent_kind, language):
            yield ("module", path, name), token
            yield ("folder", family, folder, name), token
        if is_shared(parent_kind) and not facts.static[index]:
            yield ("only", family, name), token
            yield ("all", family, name), token
        if is_type(kind, family):
            yield ("type", family, name), token
            yield ("near", family, folder, name), token
        if facts.owners[index]:
            yield ("orphan", family, folder, facts.owners[index], name), token


class ChangedFiles(NamedTuple):
    """The files that differ between two generations of the index: the tables of one, and its numbers of these files."""

    tables: StoredTables
    files: Sequence[int]


def changed_look_ups(old: ChangedFiles, new: ChangedFiles) -> dict[int, list[LookUp]]:
    """Maps keys to the look-ups to which the changed files contribute something different after the change."""
    before: dict[LookUp, list[object]] = defaultdict(list)
    after: dict[LookUp, list[object]] = defaultdict(list)
    for tokens, (tables, files) in ((before, old), (after, new)):
        for file in files:
            for look_up, token in contributions(tables, file):
                tokens[look_up].append(token)
    changed: dict[int, list[LookUp]] = {}
    for look_up in before.keys() | after.keys():
        if before.get(look_up) != after.get(look_up):
            changed.setdefault(key_of(look_up), []).append(look_up)
    return changed


def site_changes(old: ChangedFiles, new: ChangedFiles) -> Counter[tuple[str, str]]:
    """Maps (family of languages, name) to the change in the number of calls of that name on a receiver."""
    change: Counter[tuple[str, str]] = Counter()
    for (tables, files), sign in ((old, -1), (new, 1)):
        for file in files:
            family = tables.files.families[file]
            for call in tables.calls(file):
                if call.receiver and call.arguments > IMPLICIT:
                    change[family, call.name] += sign
    return Counter({name: count for name, count in change.items() if count})


def common_changes(change: Iterable[tuple[str, str]], before: Sites, after: Sites) -> dict[int, list[LookUp]]:
    """The look-ups of names in `change` that became common, or ceased to be: a dict from key to look-ups."""
    look_ups: dict[int, list[LookUp]] = {}
    for family, name in change:
        if (before.count(family, name) > COMMON_CALLS) != (after.count(family, name) > COMMON_CALLS):
            look_up = ("common", family, name)
            look_ups.setdefault(key_of(look_up), []).append(look_up)
    return look_ups


class Comparison:
    """Compares the answers to a look-up before and after a change; `changed_look_ups` only finds candidates."""

    def __init__(self, old: StoredTables, new: StoredTables, before: Sites, after: Sites) -> None:
        self._sides = ((old, LookUps(old, before)), (new, LookUps(new, after)))

    def differ(self, look_up: LookUp) -> bool:
        """Whether the answer may differ; False only if the answer is certainly the same."""
        if look_up[0] not in _SUMMARIES:
            return True
        before, after = (_stable(tables, look_ups.value(look_up)) for tables, look_ups in self._sides)
        return before != after


def _stable(tables: StoredTables, answer: Definition | Iterable[int] | None) -> object:
    """The answer in stable terms: ids and paths instead of numbers."""
    heads = tables.files.heads
    if isinstance(answer, Definition):
        head = heads[answer.file]
        return head.path, head.language, tables.stable_id(answer.symbol)
    if isinstance(answer, list) and answer and isinstance(answer[0], Definition):
        return [_stable(tables, definition) for definition in answer]
    return answer if answer is None else [(heads[file].path, heads[file].language) for file in answer]
