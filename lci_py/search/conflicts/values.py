"""Which places contradict each other on the value of a setting or constant: the rule of docs/conflicts.md.

Precision comes first: what is not clearly about one thing is passed over. A configuration file that sets another value
than the default contradicts nothing; a document that says another default than the code does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

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
from lci_py.source.text.words import joined, parts

if TYPE_CHECKING:
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Filters, Result

#: Places that one entry names at most, of each value.
_MAX_PLACES = 3
_NAMED_KINDS = frozenset(("constant", "variable", "field", "property", "enum_member", "macro"))


class Side(NamedTuple):
    """One value, and the places that state it."""

    value: str
    rows: tuple[StatedValue, ...]


def disagreements(claims: Sequence[StatedValue]) -> list[dict[str, Any]]:
    """Where the claims on one name contradict each other, as entries of the envelope's `conflicts`.

    Args:
        claims: All claims with one key (`source.stated_values.claimed`); several names may share it.
    """
    usable = [row for row in claims if not _passed_over(row)]
    code = [row for row in usable if row.how in ("code", "default", "option", "parameter")]
    found = list(_beside(usable))
    for document in _sides([row for row in usable if row.how == "prose"]):
        found += _against_code(document, code)
    written = [row for row in usable if row.how == "commented" or (row.how == "config" and is_template(row.file))]
    for template in _sides(written):
        found += _against_code(template, code, of_template=True)
    return found


def _beside(rows: Sequence[StatedValue]) -> Iterator[dict[str, Any]]:
    """What comments say of the code that they belong to. The index holds only what differs."""
    shown: set[tuple[str, int, str]] = set()  # a class and its constructor may have one docstring
    for said in rows:
        if said.how == "comment" and (said.file, said.line, said.value) not in shown:
            shown.add((said.file, said.line, said.value))
            for code in rows:
                if code.how == "beside" and (code.file, code.name) == (said.file, said.name):
                    yield _entry(said.name, Side(code.value, (code,)), Side(said.value, (said,)))
                    break


def _passed_over(row: StatedValue) -> bool:
    """Whether a place is no evidence of what holds in this project."""
    if row.is_test or row.conditioned or is_elsewhere(row.file) or is_secret(row.name, row.value):
        return True
    if row.how == "code":
        return is_documentation(row.file) or row.name.startswith("__")
    return False


def _sides(rows: Iterable[StatedValue]) -> list[Side]:
    """The rows by name, value and what they are about, in the order of the first of each."""
    groups: dict[tuple[str, str, str], list[StatedValue]] = {}
    for row in rows:
        groups.setdefault((row.name, row.how, documented_folder(row.file)), []).append(row)
    return [side for group in groups.values() for side in _sides_by_value(group)]


# --- documents against code ---------------------------------------------------------------------------------------


def _against_code(side: Side, code: Sequence[StatedValue], *, of_template: bool = False) -> list[dict[str, Any]]:
    """What a document, or a template of a configuration, says of a name that the code gives another value."""
    code = [row for row in code if row.kind != "macro"]  # what a build sets, a `#define` does not tell
    rows = _nearest(side.rows[0], _meant(side.rows[0].name, code))
    literal = [row for row in rows if not is_computed(row)]
    lines = {(row.file, row.line) for row in literal if row.how == "default"}
    if not literal or any(is_computed(row) and (row.file, row.line) not in lines for row in rows):
        return []
    if any(_is_placeholder(row) for row in literal) or not any(_is_evidence(side.rows[0].name, row) for row in literal):
        return []
    verdicts = [agree(side.value, row.value) for row in literal]
    if None in verdicts:
        return []
    if of_template and not (is_capital(side.rows[0].name) or all(row.how == "option" for row in literal)):
        return []
    if of_template and (_is_nothing(literal[0].value) or _mismatch(side.value, literal[0].value) != "numeric-mismatch"):
        return []  # an example of what is off by default, or a place holder
    values = _sides_by_value(literal)
    if True in verdicts or len(values) > 1:
        return []
    return [_entry(side.rows[0].name, values[0], side)]


def _meant(name: str, code: Sequence[StatedValue]) -> list[StatedValue]:
    """The places in code that a name in a document means."""
    if is_flag(name):
        flags = [row for row in code if is_flag(row.name) and row.name.lstrip("-") == name.lstrip("-")]
        return flags or _holding_default_of(name, code)
    if name != last_part(name):
        return [row for row in code if row.name == name or _is_member(name, row)] or _meant(last_part(name), code)
    exact = [row for row in code if (row.name == name or row.how == "option") and not is_flag(row.name)]
    if is_capital(name):
        variables = [row for row in exact if row.how == "default"]
        return variables or [row for row in exact if row.how == "code"] or _holding_default_of(name, code)
    return exact or _holding_default_of(name, code)


def _is_member(name: str, row: StatedValue) -> bool:
    """Whether a name in a document is a definition's qualified name or the end of one."""
    return row.how != "parameter" and f".{row.qualified_name}".endswith(f".{name}")


def _is_evidence(name: str, row: StatedValue) -> bool:
    """Whether a place in code can contradict a document alone. A member or parameter that only has the name of a
    setting may be another thing: it can but confirm what the document says."""
    if row.how in ("default", "option") or is_capital(row.name):
        return True
    # A property of an object may be anybody's: `output.format` is one of the program and one of its bundler.
    if name != last_part(name) and row.kind != "property" and _is_member(name, row):
        return True
    return row.how == "code" and is_configuration(row.file, row.qualified_name.rpartition(".")[0])


def _holding_default_of(name: str, code: Sequence[StatedValue]) -> list[StatedValue]:
    """DEFAULT_MAX_SIZE holds the default of `--max-size` and `max_size`, and so may a number called MAX_SIZE."""
    if len(parts(name)) < 2:
        return []
    plain = joined(name.lstrip("-").replace("-", ""))
    names = (f"default{plain}", f"{plain}default")
    constants = [row for row in code if row.how == "code" and is_capital(row.name)]
    return [
        row
        for row in constants
        if joined(row.name) in names or (joined(row.name) == plain and (_is_number(row.value) or is_computed(row)))
    ]


def _nearest(document: StatedValue, rows: list[StatedValue]) -> list[StatedValue]:
    """Those in the folder that a document is about: packages/a/README.md says nothing of packages/b."""
    folder = documented_folder(document.file)
    return [row for row in rows if not folder or row.file.startswith(f"{folder}/")]


def _is_placeholder(row: StatedValue) -> bool:
    """Whether a value stands for "not set" rather than for itself."""
    value = read(row.value)
    if value is None or value.kind != "number":
        return False
    return value.number == -1 or (value.number == 0 and row.how in ("code", "parameter") and not is_capital(row.name))


def _is_number(form: str) -> bool:
    value = read(word(form.strip('"')))  # "60" in quotes is a number too, as the default of a variable
    return value is not None and value.kind == "number"


def _sides_by_value(rows: Iterable[StatedValue]) -> list[Side]:
    groups: list[list[StatedValue]] = []
    for row in rows:
        for group in groups:
            if agree(group[0].value, row.value):
                group.append(row)
                break
        else:
            groups.append([row])
    return [Side(group[0].value, tuple(group)) for group in groups]


def _is_nothing(form: str) -> bool:
    """Whether a default only says that a variable is not set."""
    value = read(form)
    return value is None or (value.kind != "string" and value.number in (0.0, -1.0))


def _mismatch(one: str, other: str) -> str:
    return "numeric-mismatch" if _is_number(one) and _is_number(other) else "direct-contradiction"


def _entry(name: str, code: Side, said: Side) -> dict[str, Any]:
    """An entry of the envelope: the code decides, and what is said of it is to be mended."""
    places = [*code.rows[:_MAX_PLACES], *said.rows[:_MAX_PLACES]]
    first, second = code.rows[0], said.rows[0]
    verb = "has" if second.how in ("config", "commented") else "says"
    where = f"its comment in {_cited(second)}" if second.how == "comment" else _cited(second)
    where = "the same line" if _cited(first) == _cited(second) else where
    noun = f"the default of {name}" if is_flag(name) or "code" not in (first.how, second.how) else name
    return {
        "conflict_type": _mismatch(code.value, said.value),
        "sources": list(dict.fromkeys(_cited(row) for row in places)),
        "recommended_resolution": "prefer-authoritative",
        "reasoning": f"{noun} is {code.value} in {_cited(first)} but {where} {verb} {said.value}.",
    }


def _cited(row: StatedValue) -> str:
    return f"{row.file}:{row.line}"


# --- of an index --------------------------------------------------------------------------------------------------


def for_results(snapshot: Snapshot, query: str, results: Sequence[Result]) -> tuple[dict[str, Any], ...]:
    """The disagreements that concern a search: on constants and settings among its results, in their lines, and on the
    name that the query is."""
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
    """All disagreements of a repository of which one place passes the filters, by the name they are about.

    Args:
        snapshot: The open index.
        filters: What one of the places has to be.
        name: A name, qualified name or glob, `FILE::` before it; "" for any.
        is_new: What one of the places has to be as well; None if it does not matter.
        has_version: The same of a file that states a version or gives a key twice, by path, subject and value.
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
