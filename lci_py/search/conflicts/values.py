"""Decides which places contradict each other on the value of a setting or constant: the rule of docs/conflicts.md.

Precision comes first: names have to be spelled alike, and what is not clearly about one thing is passed over. A
configuration file that sets another value than the default contradicts nothing; a document that says another default
than the code does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lci_py.index.shards.filters import path_test, row_test
from lci_py.index.shards.stated_values import (
    StatedValue,
    disputable_names,
    is_computed,
    names_in,
    stated_values_of,
)
from lci_py.source.stated_values.file_roles import documented_folder, is_documentation, is_elsewhere, is_template
from lci_py.source.stated_values.names import is_capital, is_flag, is_secret, is_specific
from lci_py.source.stated_values.values import agree, read, word
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Filters, Result

#: Places that one entry names at most, of each value.
_MAX_PLACES = 3
#: A type whose constants a document may be about; in another one, a name may stand for anything.
_OF_SETTINGS = lazily(r"conf|setting|option|const|param|limit|env")
_NAMED_KINDS = frozenset(("constant", "variable", "field", "property", "enum_member", "macro"))


def disagreements(claims: Sequence[StatedValue]) -> list[dict[str, Any]]:
    """Where the claims on one name contradict each other, as entries of the envelope's `conflicts`."""
    usable = [row for row in claims if not _passed_over(row)]
    code = [row for row in usable if row.how in ("code", "default", "option")]
    return [
        *_contradicted_comments(usable),
        *(entry for rows in _alike(usable) if (entry := _against_code(rows, code)) is not None),
    ]


def _contradicted_comments(rows: Sequence[StatedValue]) -> Iterator[dict[str, Any]]:
    """Comments that contradict the code that they belong to. The index holds only those that differ."""
    shown: set[tuple[str, int, str]] = set()  # a class and its constructor may have one docstring
    for said in rows:
        if said.how == "comment" and (said.file, said.line, said.value) not in shown:
            shown.add((said.file, said.line, said.value))
            for code in rows:
                if code.how == "beside" and code.file == said.file:
                    yield _entry([code], [said])
                    break


def _passed_over(row: StatedValue) -> bool:
    """Whether a place is no evidence of what holds in this project."""
    if row.is_test or row.conditioned or is_elsewhere(row.file) or is_secret(row.name, row.value):
        return True
    if row.how != "code":
        return False
    owner = row.qualified_name.rpartition(".")[0].lower()
    is_setting = "default" in owner or (is_capital(row.name) and (not owner or _OF_SETTINGS.search(owner)))
    # What a build sets, a `#define` does not tell.
    return is_documentation(row.file) or row.kind == "macro" or not is_setting


def _alike(rows: Iterable[StatedValue]) -> list[list[StatedValue]]:
    """What documents and templates of a configuration say, by what they are about, and by value."""
    groups: dict[tuple[str, str], list[list[StatedValue]]] = {}
    for row in rows:
        if row.how not in ("prose", "commented") and not (row.how == "config" and is_template(row.file)):
            continue
        by_value = groups.setdefault((row.how, documented_folder(row.file)), [])
        same = next((group for group in by_value if agree(group[0].value, row.value)), None)
        if same is None:
            by_value.append([row])
        else:
            same.append(row)
    return [group for by_value in groups.values() for group in by_value]


def _against_code(said: Sequence[StatedValue], code: Sequence[StatedValue]) -> dict[str, Any] | None:
    """A document, or a configuration template, that states another value of a name than the code; else None."""
    value, folder = said[0].value, documented_folder(said[0].file)  # packages/a/README.md says nothing about packages/b
    near = [row for row in code if not folder or row.file.startswith(f"{folder}/")]
    rows = [row for row in near if row.how == "default"] or near
    if not rows or any(is_computed(row) or _is_placeholder(row) for row in rows):
        return None
    if any(agree(value, row.value) is not False or not agree(rows[0].value, row.value) for row in rows):
        return None
    if said[0].how != "prose" and (
        # An example of a setting that is off by default, a placeholder, or a key of something else.
        _is_nothing(rows[0].value)
        or _mismatch(value, rows[0].value) != "numeric-mismatch"
        or not (is_capital(rows[0].name) or all(row.how == "option" for row in rows))
    ):
        return None
    return _entry(rows, said)


def _is_placeholder(row: StatedValue) -> bool:
    """Whether a value stands for "not set" rather than for itself."""
    value = read(row.value)
    return value is not None and value.kind == "number" and value.number == -1


def _is_number(form: str) -> bool:
    value = read(word(form.strip('"')))  # "60" in quotes is a number too, as the default of a variable
    return value is not None and value.kind == "number"


def _is_nothing(form: str) -> bool:
    """Whether a default only means that a variable is not set."""
    value = read(form)
    return value is None or (value.kind != "string" and value.number in (0.0, -1.0))


def _mismatch(one: str, other: str) -> str:
    return "numeric-mismatch" if _is_number(one) and _is_number(other) else "direct-contradiction"


def _entry(code: Sequence[StatedValue], said: Sequence[StatedValue]) -> dict[str, Any]:
    """An entry of the envelope: the code decides, and what is said of it is to be mended."""
    places = [*code[:_MAX_PLACES], *said[:_MAX_PLACES]]
    first, second = code[0], said[0]
    verb = "has" if second.how in ("config", "commented") else "says"
    where = f"its comment in {_citation(second)}" if second.how == "comment" else _citation(second)
    where = "the same line" if _citation(first) == _citation(second) else where
    noun = f"the default of {first.name}" if is_flag(first.name) or first.how != "code" else first.name
    return {
        "conflict_type": _mismatch(first.value, second.value),
        "sources": list(dict.fromkeys(_citation(row) for row in places)),
        "recommended_resolution": "prefer-authoritative",
        "reasoning": f"{noun} is {first.value} in {_citation(first)} but {where} {verb} {second.value}.",
    }


def _citation(row: StatedValue) -> str:
    return f"{row.file}:{row.line}"


# --- of an index --------------------------------------------------------------------------------------------------


def for_results(snapshot: Snapshot, query: str, results: Sequence[Result]) -> tuple[dict[str, Any], ...]:
    """The disagreements that concern a search: on constants and settings among its results, in their lines, and on the
    name that the query is."""
    names = {result.symbol for result in results if result.symbol and result.kind in _NAMED_KINDS}
    words = [word.strip("\"'`") for word in query.split()]
    if len(words) <= 3:
        names |= {word for word in words if is_specific(word)}
    names |= names_in(snapshot.symbols, ((result.file, result.line, result.end_line) for result in results))
    return tuple(entry for rows in stated_values_of(snapshot.symbols, names).values() for entry in disagreements(rows))


def all_of(
    snapshot: Snapshot,
    filters: Filters,
    name: str = "",
    is_new: Callable[[StatedValue], bool] | None = None,
    has_version: Callable[[str, str, str], bool] | None = None,
) -> tuple[dict[str, Any], ...]:
    """All disagreements of a repository with a place that passes the filters, by name.

    Args:
        snapshot: The open index.
        filters: What one of the places has to be.
        name: A name, qualified name or glob, `FILE::` before it; "" for any.
        is_new: What one of the places has to be as well; None if it does not matter.
        has_version: The same of a file that states a version, by path, subject and value.
    """
    passes = row_test(filters, name)
    found = []
    for rows in stated_values_of(snapshot.symbols, disputable_names(snapshot.symbols)).values():
        cited = {_citation(row): row for row in rows}
        for entry in disagreements(rows):
            if is_new is not None and not any(is_new(row) for row in rows if _citation(row) in entry["sources"]):
                continue
            if any(_passes(passes, cited[source]) for source in entry["sources"]):
                found.append(entry)
    if name or filters.lang or filters.kind or filters.name or filters.parent:
        return tuple(found)
    from lci_py.search.conflicts import versions

    return (*found, *versions.all_of(snapshot, path_test(filters) or bool, has_version))


def _passes(passes: Callable[..., bool], row: StatedValue) -> bool:
    return passes(
        file=row.file,
        language=row.language,
        kind=row.kind if row.how == "code" else "",
        symbol=row.name.rpartition(".")[2],
        qualified_name=row.qualified_name or row.name,
    )
