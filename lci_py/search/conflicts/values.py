"""Decides which places contradict each other on the value of a setting or constant: the rule of docs/conflicts.md.

Precision comes first: what is not clearly about one thing is ignored. A configuration file that sets another value than
the default is no contradiction; a document that states another default than the code does is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lci_py.index.shards.filters import path_test, row_test
from lci_py.index.shards.stated_values import (
    StatedValue,
    disputable_keys,
    is_computed,
    keys_in,
    stated_values_of,
)
from lci_py.source.stated_values.file_roles import (
    documented_folder,
    is_configuration,
    is_documentation,
    is_elsewhere,
    is_template,
)
from lci_py.source.stated_values.names import claimed, is_capital, is_flag, is_secret, is_specific, last_part
from lci_py.source.stated_values.values import agree, read, word

if TYPE_CHECKING:
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Filters, Result

#: Places that one entry names at most, of each value.
_MAX_PLACES = 3
_NAMED_KINDS = frozenset(("constant", "variable", "field", "property", "enum_member", "macro"))


def disagreements(claims: Sequence[StatedValue]) -> list[dict[str, Any]]:
    """The contradictions between claims on one name, as entries of the envelope's `conflicts`.

    Args:
        claims: All claims with one key (`source.stated_values.claimed`); several names may share it.
    """
    usable = [row for row in claims if not _passed_over(row)]
    code = [row for row in usable if row.how in ("code", "default", "option")]
    written = [
        row for row in usable if row.how in ("prose", "commented") or (row.how == "config" and is_template(row.file))
    ]
    return [*_beside(usable), *(entry for rows in _alike(written) for entry in _against_code(rows, code))]


def _beside(rows: Sequence[StatedValue]) -> Iterator[dict[str, Any]]:
    """Comments that contradict the code that they belong to. The index holds only those that differ."""
    shown: set[tuple[str, int, str]] = set()  # a class and its constructor may have one docstring
    for said in rows:
        if said.how == "comment" and (said.file, said.line, said.value) not in shown:
            shown.add((said.file, said.line, said.value))
            for code in rows:
                if code.how == "beside" and (code.file, code.name) == (said.file, said.name):
                    yield _entry(said.name, [code], [said])
                    break


def _passed_over(row: StatedValue) -> bool:
    """Whether a place is no evidence of what holds in this project."""
    if row.is_test or row.conditioned or is_elsewhere(row.file) or is_secret(row.name, row.value):
        return True
    if row.how == "code":
        return is_documentation(row.file) or row.name.startswith("__")
    return False


def _alike(rows: Iterable[StatedValue]) -> list[list[StatedValue]]:
    """The rows grouped by name, kind of place, subject and value, in the order of each group's first row."""
    groups: dict[tuple[str, str, str], list[list[StatedValue]]] = {}
    for row in rows:
        by_value = groups.setdefault((row.name, row.how, documented_folder(row.file)), [])
        same = next((group for group in by_value if agree(group[0].value, row.value)), None)
        if same is None:
            by_value.append([row])
        else:
            same.append(row)
    return [group for by_value in groups.values() for group in by_value]


# --- documents against code ---------------------------------------------------------------------------------------


def _against_code(said: Sequence[StatedValue], code: Sequence[StatedValue]) -> list[dict[str, Any]]:
    """Documents and configuration templates that state another value of a name than the code."""
    name, value = said[0].name, said[0].value
    # What a build sets, a `#define` does not tell; and packages/a/README.md says nothing of packages/b.
    folder = documented_folder(said[0].file)
    near = [row for row in code if row.kind != "macro" and (not folder or row.file.startswith(f"{folder}/"))]
    rows = _meant(name, near)
    literal = [row for row in rows if not is_computed(row)]
    lines = {(row.file, row.line) for row in literal if row.how == "default"}
    if any(is_computed(row) and (row.file, row.line) not in lines for row in rows):
        return []
    if any(_is_placeholder(row) for row in literal) or not any(_is_evidence(name, row) for row in literal):
        return []
    if any(agree(value, row.value) is not False or not agree(literal[0].value, row.value) for row in literal):
        return []
    if said[0].how != "prose" and (
        # An example of what is off by default, a place holder, or a key that may be anybody's.
        _is_nothing(literal[0].value)
        or _mismatch(value, literal[0].value) != "numeric-mismatch"
        or not (is_capital(name) or all(row.how == "option" for row in literal))
    ):
        return []
    return [_entry(name, literal, said)]


def _meant(name: str, code: Sequence[StatedValue]) -> list[StatedValue]:
    """The places in code that a name in a document refers to."""
    if is_flag(name):
        return [row for row in code if is_flag(row.name) and row.name.lstrip("-") == name.lstrip("-")]
    if name != last_part(name):
        return [row for row in code if row.name == name or _is_member(name, row)] or _meant(last_part(name), code)
    exact = [row for row in code if (row.name == name or row.how == "option") and not is_flag(row.name)]
    if is_capital(name):
        variables = [row for row in exact if row.how == "default"]
        return variables or [row for row in exact if row.how == "code"]
    return exact


def _is_member(name: str, row: StatedValue) -> bool:
    """Whether a name in a document is a definition's qualified name or the end of one."""
    return f".{row.qualified_name}".endswith(f".{name}")


def _is_evidence(name: str, row: StatedValue) -> bool:
    """Whether a place in code can contradict a document on its own. A member that merely has the name of a setting may
    be another thing: it can only confirm the document.
    """
    if row.how in ("default", "option") or is_capital(row.name):
        return True
    # A property of an object may be anybody's: `output.format` is one of the program and one of its bundler.
    if name != last_part(name) and row.kind != "property" and _is_member(name, row):
        return True
    return row.how == "code" and is_configuration(row.file, row.qualified_name.rpartition(".")[0])


def _is_placeholder(row: StatedValue) -> bool:
    """Whether a value stands for "not set" rather than for itself."""
    value = read(row.value)
    if value is None or value.kind != "number":
        return False
    return value.number == -1 or (value.number == 0 and row.how == "code" and not is_capital(row.name))


def _is_number(form: str) -> bool:
    value = read(word(form.strip('"')))  # "60" in quotes is a number too, as the default of a variable
    return value is not None and value.kind == "number"


def _is_nothing(form: str) -> bool:
    """Whether a default only means that a variable is not set."""
    value = read(form)
    return value is None or (value.kind != "string" and value.number in (0.0, -1.0))


def _mismatch(one: str, other: str) -> str:
    return "numeric-mismatch" if _is_number(one) and _is_number(other) else "direct-contradiction"


def _entry(name: str, code: Sequence[StatedValue], said: Sequence[StatedValue]) -> dict[str, Any]:
    """An entry of the envelope: the code is right, and the other statements are to be corrected."""
    places = [*code[:_MAX_PLACES], *said[:_MAX_PLACES]]
    first, second = code[0], said[0]
    verb = "has" if second.how in ("config", "commented") else "says"
    where = f"its comment in {_cited(second)}" if second.how == "comment" else _cited(second)
    where = "the same line" if _cited(first) == _cited(second) else where
    noun = f"the default of {name}" if is_flag(name) or "code" not in (first.how, second.how) else name
    return {
        "conflict_type": _mismatch(first.value, second.value),
        "sources": list(dict.fromkeys(_cited(row) for row in places)),
        "recommended_resolution": "prefer-authoritative",
        "reasoning": f"{noun} is {first.value} in {_cited(first)} but {where} {verb} {second.value}.",
    }


def _cited(row: StatedValue) -> str:
    return f"{row.file}:{row.line}"


# --- of an index --------------------------------------------------------------------------------------------------


def for_results(snapshot: Snapshot, query: str, results: Sequence[Result]) -> tuple[dict[str, Any], ...]:
    """The disagreements that concern a search: about constants and settings among its results, in their lines, and
    about the name that the query is.
    """
    keys = {claimed(result.symbol) for result in results if result.symbol and result.kind in _NAMED_KINDS}
    words = query.split()
    if len(words) <= 3:
        keys |= {claimed(word.strip("\"'`")) for word in words if is_specific(word.strip("\"'`"))}
    keys |= keys_in(snapshot.symbols, ((result.file, result.line, result.end_line) for result in results))
    keys.discard("")
    return tuple(entry for rows in stated_values_of(snapshot.symbols, keys).values() for entry in disagreements(rows))


def all_of(
    snapshot: Snapshot,
    filters: Filters,
    name: str = "",
    is_new: Callable[[StatedValue], bool] | None = None,
    has_version: Callable[[str, str, str], bool] | None = None,
) -> tuple[dict[str, Any], ...]:
    """All disagreements of a repository with a place that passes the filters, by name.

    Args:
        name: A name, qualified name or glob, perhaps after `FILE::`; "" for any.
        is_new: A further condition on one of the places; None for none.
        has_version: The same for a file with a version or a duplicate key, by path, subject and value.
    """
    passes = row_test(filters, name)
    found = []
    for rows in stated_values_of(snapshot.symbols, disputable_keys(snapshot.symbols)).values():
        cited = {_cited(row): row for row in rows}
        for entry in disagreements(rows):
            if is_new is not None and not any(is_new(row) for row in rows if _cited(row) in entry["sources"]):
                continue
            if any(_passes(passes, cited[source]) for source in entry["sources"]):
                found.append(entry)
    if name or filters.lang or filters.kind or filters.name or filters.parent:
        return tuple(found)
    from lci_py.search.conflicts import keys, versions

    inside = path_test(filters) or bool
    return (*found, *versions.all_of(snapshot, inside, has_version), *keys.all_of(snapshot, inside, has_version))


def _passes(passes: Callable[..., bool], row: StatedValue) -> bool:
    return passes(
        file=row.file,
        language=row.language,
        kind=row.kind if row.how == "code" else "",
        symbol=last_part(row.name),
        qualified_name=row.qualified_name or row.name,
    )
