"""Which places contradict each other on the value of a setting or constant: the rule of docs/conflicts.md.

Precision comes first: what is not clearly about one thing is passed over. A configuration file that sets another value
than the default contradicts nothing; a document that says another default than the code does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.index.shards.filters import languages, name_glob, path_test
from lci_py.index.shards.stated_values import (
    PACKAGED,
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
from lci_py.source.stated_values.values import agree, read
from lci_py.source.text.words import joined, parts

if TYPE_CHECKING:
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Filters, Result

#: Places that one entry names at most, of each value.
_MAX_PLACES = 3
_NAMED_KINDS = frozenset(("constant", "variable", "field", "property", "enum_member", "macro"))
#: What every part of a program sets for itself, and what a release changes in many places at once.
_COMMON = frozenset("version host port path dir directory name url uri level debug home root env user".split())


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
    code = [row for row in usable if row.how in ("code", "default", "parameter")]
    documents = _newest([row for row in usable if row.how.partition(" ")[0] in ("prose", "dated")])
    written = [row for row in usable if row.how in ("config", "commented")]
    templates = [row for row in written if row.how == "commented" or is_template(row.file)]
    settings = [row for row in written if row not in templates]
    found: list[dict[str, Any]] = []
    for document in _sides(documents):
        found += _against_code(document, code) or _against_files(document, code, templates, settings)
    for template in _sides([row for row in templates if is_capital(row.name)]):
        if not found:
            found += _against_code(template, code, of_template=True)
    if not found:
        found += _among_documents(documents, code, written)
    return [*found, *_among_code(code)]


def _passed_over(row: StatedValue) -> bool:
    """Whether a place is no evidence of what holds in this project."""
    if row.is_test or row.conditioned or is_elsewhere(row.file) or is_secret(row.name, row.value):
        return True
    if row.how == "code":
        return is_documentation(row.file) or row.name.startswith("__")
    return False


def _newest(documents: list[StatedValue]) -> list[StatedValue]:
    """Without what documents say of versions before the newest that one of them names."""
    dated = {row.how.partition(" ")[2]: row for row in documents if row.how.startswith("dated")}
    newest = max(dated, key=_version, default="")
    return [row for row in documents if not row.how.startswith("dated") or row.how.partition(" ")[2] == newest]


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part[:9]) for part in text.split(".") if part.isdigit())


def _sides(rows: Iterable[StatedValue]) -> list[Side]:
    """The rows by name, value and what they are about, in the order of the first of each."""
    groups: dict[tuple[str, str, str], list[StatedValue]] = {}
    for row in rows:
        groups.setdefault((row.name, row.how, documented_folder(row.file)), []).append(row)
    return [side for group in groups.values() for side in _sides_by_value(group)]


# --- documents against code ---------------------------------------------------------------------------------------


def _against_code(side: Side, code: Sequence[StatedValue], *, of_template: bool = False) -> list[dict[str, Any]]:
    """What a document, or a template of a configuration, says of a name that the code gives another value."""
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
    if of_template and (_is_nothing(literal[0].value) or _mismatch(side.value, literal[0].value) != "numeric-mismatch"):
        return []  # an example of what is off by default, or a place holder
    values = _sides_by_value(literal)
    if True not in verdicts and len(values) == 1:
        dated = side.rows[0].how.startswith("dated")
        kind = "temporal-mismatch" if dated else _mismatch(side.value, values[0].value)
        return [_entry(kind, "prefer-recent" if dated else "prefer-authoritative", side.rows[0].name, values[0], side)]
    if len(values) == 2 and _are_two_scopes(side.rows[0].name, values):
        return [_scopes(side, values)]
    return []


def _meant(name: str, code: Sequence[StatedValue]) -> list[StatedValue]:
    """The places in code that a name in a document means."""
    if is_flag(name):
        flags = [row for row in code if is_flag(row.name) and row.name.lstrip("-") == name.lstrip("-")]
        return flags or _holding_default_of(name, code)
    if name != last_part(name):
        return [row for row in code if row.name == name or _is_member(name, row)] or _meant(last_part(name), code)
    exact = [row for row in code if row.name == name and not is_flag(row.name)]
    if is_capital(name):
        variables = [row for row in exact if row.how == "default"]
        return variables or [row for row in exact if row.how == "code"] or _holding_default_of(name, code)
    return exact or _holding_default_of(name, code)


def _is_member(name: str, row: StatedValue) -> bool:
    """Whether a name in a document is a definition's qualified name or the end of one, or a function's parameter."""
    if row.how != "parameter":
        return f".{row.qualified_name}".endswith(f".{name}")
    scope, _, last = name.rpartition(".")
    owner = f".{row.qualified_name}"
    return row.name == last and (owner.endswith(f".{scope}") or owner.rpartition(".")[0].endswith(f".{scope}"))


def _is_evidence(name: str, row: StatedValue) -> bool:
    """Whether a place in code can contradict a document alone. A member or parameter that only has the name of a
    setting may be another thing: it can but confirm what the document says."""
    if row.how == "default" or is_capital(row.name) or (name != last_part(name) and _is_member(name, row)):
        return True
    return row.how == "code" and is_configuration(row.file, row.qualified_name.rpartition(".")[0])


def _holding_default_of(name: str, code: Sequence[StatedValue]) -> list[StatedValue]:
    """DEFAULT_MAX_SIZE holds the default of `--max-size` and `max_size`, and so may MAX_SIZE."""
    if len(parts(name)) < 2:
        return []
    plain = joined(name.lstrip("-").replace("-", ""))
    names = (f"default{plain}", f"{plain}default", plain)
    return [row for row in code if row.how == "code" and joined(row.name) in names and is_capital(row.name)]


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
    value = read(form)
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


def _are_two_scopes(name: str, values: Sequence[Side]) -> bool:
    """Whether a name that a document does not qualify is a constant of exactly two scopes."""
    rows = [row for side in values for row in side.rows]
    if len(rows) != 2 or name != last_part(name) or not is_capital(name) or len(parts(name)) < 2:
        return False
    return all(row.how == "code" and row.kind in ("constant", "macro") for row in rows) and (
        rows[0].language == rows[1].language
    )


def _scopes(document: Side, values: Sequence[Side]) -> dict[str, Any]:
    name = document.rows[0].name
    places = [side.rows[0] for side in values]
    said = " and ".join(f"{row.value} in {_cited(row)}" for row in places)
    stated = f"{_cited(document.rows[0])} says {document.value}"
    return {
        "conflict_type": "scope-mismatch",
        "sources": [_cited(row) for row in [*places, *document.rows[:_MAX_PLACES]]],
        "recommended_resolution": "escalate-to-user",
        "reasoning": f"{name} is {said}; {stated} and does not say which of them it means.",
    }


# --- the others ---------------------------------------------------------------------------------------------------


def _against_files(
    document: Side, code: Sequence[StatedValue], templates: Sequence[StatedValue], settings: Sequence[StatedValue]
) -> list[dict[str, Any]]:
    """What a document says of a setting that no code names, but one configuration file does."""
    name = document.rows[0].name
    if is_flag(name) or _meant(name, code):
        return []
    for rows in (templates, settings):
        meant = _nearest(document.rows[0], [row for row in rows if _is_key(name, row.name)])
        values = _sides_by_value(meant)
        if values:
            if len(values) > 1 or agree(document.value, values[0].value) is not False:
                return []
            if rows is settings and len({row.file for row in meant}) > 1:
                return []
            kind = _mismatch(document.value, values[0].value)
            return [_entry(kind, "escalate-to-user", name, values[0], document)]
    return []


def _is_key(name: str, key: str) -> bool:
    """Whether a document's name is a key of a configuration: the whole of it, or its end if that is specific."""
    return key == name or (is_specific(name) and f".{key}".endswith(f".{name}"))


def _among_documents(
    documents: Sequence[StatedValue], code: Sequence[StatedValue], written: Sequence[StatedValue]
) -> list[dict[str, Any]]:
    """Two documents that say different things of a variable of which nothing else says anything."""
    named = [row for row in documents if is_capital(row.name) and len(parts(row.name)) > 1]
    if not named or written or _meant(named[0].name, code):
        return []
    values = _sides_by_value(row for row in named if row.name == named[0].name)
    if len(values) != 2 or agree(values[0].value, values[1].value) is not False:
        return []
    one, other = values
    if one.rows[0].how.startswith("dated"):
        one, other = other, one
    dated = other.rows[0].how.startswith("dated")
    kind = "temporal-mismatch" if dated else _mismatch(one.value, other.value)
    return [_entry(kind, "prefer-recent" if dated else "escalate-to-user", named[0].name, one, other)]


def _among_code(code: Sequence[StatedValue]) -> list[dict[str, Any]]:
    """Places in code that give one variable, or one qualified constant, different values."""
    found = []
    groups: dict[tuple[str, str], list[StatedValue]] = {}
    for row in code:
        if row.how == "default" and is_capital(row.name):
            groups.setdefault(("", row.name), []).append(row)
        elif (row.how, row.kind) == ("code", "constant") and row.language in PACKAGED and _is_packaged(row):
            groups.setdefault((row.language, row.qualified_name), []).append(row)
    for (language, name), rows in groups.items():
        words = set(parts(last_part(name)))
        if any(map(is_computed, rows)) or len(words) < 2 or words & _COMMON:
            continue
        values = _sides_by_value(rows)
        if len(values) != 2 or agree(values[0].value, values[1].value) is not False:
            continue
        if any(_is_nothing(side.value) for side in values) and not language:
            continue
        kind = _mismatch(values[0].value, values[1].value)
        if len({row.file for row in rows}) < 2 and (language or kind != "numeric-mismatch"):
            continue  # two cases of one place
        found.append(_entry(kind, "escalate-to-user", name, *values))
    return found


def _is_packaged(row: StatedValue) -> bool:
    """Whether a name is qualified by a package and a type."""
    return row.qualified_name.count(".") > 1


def _is_nothing(form: str) -> bool:
    """Whether a default only says that a variable is not set."""
    value = read(form)
    return value is None or (value.kind != "string" and value.number in (0.0, -1.0))


def _mismatch(one: str, other: str) -> str:
    return "numeric-mismatch" if _is_number(one) and _is_number(other) else "direct-contradiction"


def _entry(kind: str, resolution: str, name: str, one: Side, other: Side) -> dict[str, Any]:
    """An entry of the envelope; `one` is what counts, if something does."""
    places = [*one.rows[:_MAX_PLACES], *other.rows[:_MAX_PLACES]]
    first, second = one.rows[0], other.rows[0]
    verb = "says" if second.how.partition(" ")[0] in ("prose", "dated") else "has"
    since = f" since {second.how.partition(' ')[2]}" if second.how.startswith("dated") else ""
    noun = f"the default of {name}" if is_flag(name) or "default" in (first.how, second.how) else name
    return {
        "conflict_type": kind,
        "sources": list(dict.fromkeys(_cited(row) for row in places)),
        "recommended_resolution": resolution,
        "reasoning": (f"{noun} is {one.value} in {_cited(first)} but {_cited(second)} {verb} {other.value}{since}."),
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


def all_of(snapshot: Snapshot, filters: Filters, name: str = "") -> tuple[dict[str, Any], ...]:
    """All disagreements of a repository of which one place passes the filters, by the name they are about.

    Args:
        snapshot: The open index.
        filters: What one of the places has to be.
        name: A name, qualified name or glob, `FILE::` before it; "" for any.
    """
    passes, named = _test(filters), _named(name)
    found = []
    for rows in stated_values_of(snapshot.symbols, disputable_keys(snapshot.symbols)).values():
        cited = {_cited(row): row for row in rows}
        for entry in disagreements(rows):
            if any(passes(cited[source]) and named(cited[source]) for source in entry["sources"]):
                found.append(entry)
    return tuple(found)


def _named(name: str) -> Callable[[StatedValue], bool]:
    """Whether a place is about a name; the same as `SymbolicIndex.definitions` reads one, for what is no definition."""
    file, _, rest = name.rpartition("::")
    pattern = _as_pattern(rest)

    def named(row: StatedValue) -> bool:
        names = (row.name, row.qualified_name, last_part(row.name))
        is_there = not file or f"/{row.file}".endswith(f"/{file}")
        return not name or (is_there and any(pattern.fullmatch(one) for one in names if one))

    return named


def _test(filters: Filters) -> Callable[[StatedValue], bool]:
    """Whether a place passes filters; one without a definition has no kind, and no parent."""
    path = path_test(filters)
    known = languages(filters)
    kinds = {kind.lower() for kind in filters.kind}
    names = [_as_pattern(glob) for glob in filters.name]
    owners = [_as_pattern(glob) for glob in filters.parent]

    def passes(row: StatedValue) -> bool:
        owner = row.qualified_name.rpartition(".")[0].rpartition(".")[2] if row.how == "code" else ""
        return (
            (path is None or path(row.file))
            and (not known or row.language in known)
            and (not kinds or (row.how == "code" and row.kind in kinds))
            and (not names or any(pattern.fullmatch(row.name) for pattern in names))
            and (not owners or any(pattern.fullmatch(owner) for pattern in owners))
        )

    return passes


def _as_pattern(glob: str) -> re.Pattern[str]:
    """A glob as `filters.where` has SQLite read it."""
    import fnmatch

    return re.compile(fnmatch.translate(name_glob(glob).replace("[^", "[!")))
