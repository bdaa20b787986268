"""Fetches the definitions that may contradict a result, and marks the result if they do. `definitions` has the rule."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lci_py.search.conflicts.definitions import Site, definitions, group_key
from lci_py.search.conflicts.rules import rules_of
from lci_py.source.conditions.paths import inferred_condition, path_condition
from lci_py.types.record import replace

if TYPE_CHECKING:
    from lci_py.index.shards.symbols import Row, SymbolicIndex
    from lci_py.search.conflicts.logic.platforms import Machine
    from lci_py.search.conflicts.rust_modules import Modules
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Answer, DefinitionSite, Result

#: More definitions of one name than this, such as `main` in a folder of scripts, are no variants of one symbol.
MAX_SITES = 400


def with_conflicts(snapshot: Snapshot, answer: Answer) -> Answer:
    """Adds `conflict` and `definitions` to each result of an answer that has contradicting definitions, and adds the
    disagreements between sources about a value in the results.
    """
    return replace(
        answer,
        results=tuple(_with_sites(snapshot, result) for result in answer.results),
        conflicts=(*answer.conflicts, *_disagreements(snapshot, answer)),
    )


def _disagreements(snapshot: Snapshot, answer: Answer) -> tuple[dict[str, Any], ...]:
    """The contradicted comments in the lines of the results, as entries; mostly none, and then nothing is imported."""
    stated = snapshot.symbols.files_with_stated_values()
    if not any(result.file in stated for result in answer.results):
        return ()
    from lci_py.search.conflicts.values import for_results

    return for_results(snapshot, answer.results)


def _with_sites(snapshot: Snapshot, result: Result) -> Result:
    sites = definition_sites(snapshot, result.id, result.language, result.qualified_name)
    return replace(result, conflict=True, definitions=sites) if len(sites) > 1 else result


def definition_sites(
    snapshot: Snapshot, symbol_id: str, language: str, qualified_name: str | None
) -> tuple[DefinitionSite, ...]:
    """The contradicting definitions of one symbol; () if there are none."""
    if not qualified_name:
        return ()
    rows = snapshot.symbols.same_name(qualified_name, language, MAX_SITES)
    symbol = next((row for row in rows if row["id"] == symbol_id), None)
    if symbol is None:
        return ()
    clash: tuple[DefinitionSite, ...] = ()
    if len(rows) > 1 or "import=" in symbol["traits"]:
        # The conditions of a definition cost more than its scope, and most definitions are alone in theirs.
        key = group_key(_unconditional(snapshot, symbol))
        others = [row for row in rows if row is not symbol and group_key(_unconditional(snapshot, row)) == key]
        if others or "import=" in symbol["traits"]:
            sites = [site for row in (symbol, *others) for site in sites_of(snapshot, row)]
            clash = definitions(sites, snapshot.manifest.branch, _machine)
    if snapshot.branches is None:
        return clash
    from lci_py.search.conflicts.branches import with_branches

    return with_branches(snapshot, symbol, rows, clash)


def _machine() -> Machine:
    # To compare conditions takes imports, and most results have one definition.
    from lci_py.search.conflicts.logic.platforms import this_machine

    return this_machine()


def sites_of(snapshot: Snapshot, row: Row) -> list[Site]:
    """The site of a definition; and a second site if its file imports the same name under another condition."""
    site = site_of(snapshot, row)
    noted = next((word for word in site.traits if word.startswith("import=")), None)
    if noted is None:
        return [site]
    from lci_py.source.conditions.rust_cfg import unquote

    line, _, tag = noted.removeprefix("import=").partition("?")
    tag = unquote(tag)
    imported = site._replace(
        line=int(line),
        build_tag=tag,
        signature="import",
        digest="",
        traits=frozenset(),
    )
    return [site, imported]


def site_of(snapshot: Snapshot, row: Row) -> Site:
    """The site of a definition, with the conditions from its row, from its path and from other files."""
    language, file, tag = row["language"], row["file"], row["build_tag"]
    if rules_of(language).modules:
        tag = _rust_modules(snapshot.symbols).tag(file, tag)
    return _unconditional(snapshot, row)._replace(
        build_tag=tag,
        path_tag=path_condition(language, file),
        # Tests of several platforms are mostly different ones, which only share their names.
        inferred=None if row["test"] else inferred_condition(language, file),
    )


def _unconditional(snapshot: Snapshot, row: Row) -> Site:
    """The site of a definition, without the conditions that its path or other files add."""
    language, file = row["language"], row["file"]
    return Site(
        symbol_id=row["id"],
        file=file,
        line=row["line"],
        name=row["symbol"],
        qualified_name=row["qualified_name"],
        kind=row["kind"],
        language=language,
        signature=row["signature"] or "",
        is_test=bool(row["test"]),
        traits=frozenset(row["traits"].split()),
        parent=row["parent"] if row["parent"] is not None else -1,
        digest=row["digest"],
        arity=row["arity"],
        broken=bool(row["errors"]),
        scope=_rust_modules(snapshot.symbols).scope(file, row["qualified_name"])
        if rules_of(language).modules
        else _program(snapshot.symbols, row),
    )


def _program(symbols: SymbolicIndex, row: Row) -> str:
    """The path of a Go definition's file if its folder has several programs, which are separate packages; else ""."""
    if rules_of(row["language"]).scope != "folder" or not row["qualified_name"].startswith("main."):
        return ""
    return row["file"] if row["file"].rpartition("/")[0] in _folders_of_programs(symbols, row["language"]) else ""


@lru_cache(maxsize=1)
def _folders_of_programs(symbols: SymbolicIndex, language: str) -> frozenset[str]:
    counts = Counter(row["file"].rpartition("/")[0] for row in symbols.same_name("main.main", language, 100_000))
    return frozenset(folder for folder, count in counts.items() if count > 1)


@lru_cache(maxsize=1)
def _rust_modules(symbols: SymbolicIndex) -> Modules:
    """The Rust modules of an index, kept until another index is asked about."""
    from lci_py.search.conflicts.rust_modules import Modules

    return Modules(symbols)
