"""The definitions that a NAME means: `close`, `Session.close`, `src/session.py::Session.close`."""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import TYPE_CHECKING

from lci_py.index.shards.symbol_queries import definitions_around, parents
from lci_py.index.shards.symbols import dotted_name
from lci_py.source.repository.files import is_aside, is_vendored
from lci_py.source.text.language_tables import has_rule
from lci_py.source.text.patterns import ROUTE, lazily
from lci_py.types.edges import CALLS
from lci_py.types.graph import OtherMeaning
from lci_py.types.record import NamedTuple
from lci_py.types.search import FILE_KIND, FUNCTION_KINDS, TYPE_KINDS, Filters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.index.shards.symbols import Row, SymbolicIndex
    from lci_py.search.navigate.nodes import Nodes

#: Suffix of a file that declares the types of another file -> the suffix of that other file.
_STUBS = {".pyi": ".py", ".d.ts": ".ts", ".d.mts": ".mts", ".d.cts": ".cts", ".mli": ".ml"}
_DECLARING_SCRIPTS, _SCRIPTS = (
    (".d.ts", ".d.mts", ".d.cts"),
    (".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts", ".cts"),
)
#: How Ruby's documentation names a method of objects: `Session#close`.
_OF_OBJECTS = lazily(r"\w#\w+[?!=]?$")
#: More digits than a number of a line has.
_DIGITS = 10
#: Kinds of types that no call makes an object of.
_UNCALLED = frozenset({"interface", "trait"})
#: A macro without parameters whose text is no name: no call.
_CONSTANT = lazily(r"#\s*define\s+\w+(?=\s)(?!\s*[A-Za-z_]\w*\s*$)")


class Meaning(NamedTuple):
    """One meaning of a name: a definition with its overloads, declarations and variants."""

    spelled: str  # what names it alone
    rows: tuple[Row, ...]

    def as_other(self) -> OtherMeaning:
        row = self.rows[0]
        return OtherMeaning(self.spelled, row["kind"], row["file"], row["line"])


def meanings(symbols: SymbolicIndex, name: str, *, callable_only: bool = True) -> list[Meaning]:
    """All meanings of a name; meanings in tests come last.

    Args:
        name: A name or the end of a qualified name, perhaps after `FILE::`; FILE may be the end of a path.
        callable_only: Leave out definitions that cannot be called, unless none can.
    """
    rows = symbols.definitions(name, Filters())
    if _OF_OBJECTS.search(name):
        rows = [row for row in rows if not _is_of_class(row)] or rows
    file, _, rest = name.partition("::")
    in_file = [row for row in rows if rest and f"/{row['file']}".endswith(f"/{file}")]
    if in_file:
        exact = [row for row in in_file if row["file"] == file] or in_file
        whole = [row for row in exact if row["qualified_name"] == dotted_name(rest)] or exact
        numbers = {row["symbol_number"] for row in whole}
        # Group by the whole name first: a declaration in a header belongs to the definition in the named file.
        all_meanings = groups(symbols.definitions(rest, Filters()))
        if _OF_OBJECTS.search(name):
            all_meanings = [meaning for meaning in all_meanings if not _is_of_class(meaning.rows[0])] or all_meanings
        result = [meaning for meaning in all_meanings if any(row["symbol_number"] in numbers for row in meaning.rows)]
    else:
        result = groups(rows)
    return _callable(result) if callable_only else result


def handlers_or_meanings(nodes: Nodes, name: str) -> list[Meaning]:
    """Everything that a name can mean. FILE:LINE means the function or type that encloses the line, FILE the file, and
    an HTTP path such as `GET /checks/12` the functions that answer it."""
    symbols = nodes.snapshot.symbols
    result = meanings(symbols, name) or _definition_at(symbols, name) or _files(nodes, name)
    if result or not ROUTE.match(name):
        return result
    from lci_py.search.routes import handlers

    return groups(handlers(nodes.snapshot, name))


def _files(nodes: Nodes, name: str) -> list[Meaning]:
    """The files whose path is `name` or ends in it, each as a meaning with one row, for the file's node."""
    ending = f"/{name.removeprefix('./')}"
    return [
        Meaning(path, ({
            "id": f"file:{path}", "symbol": "", "qualified_name": "", "kind": FILE_KIND, "file": path, "line": 1,
            "language": language, "test": test, "parent": None, "symbol_number": nodes.first_file + number,
        },))
        for number, (path, language, test) in enumerate(nodes.snapshot.symbols.per_file("path, language, test"))
        if "." in name and f"/{path}".endswith(ending)
    ]  # fmt: skip


def _definition_at(symbols: SymbolicIndex, name: str) -> list[Meaning]:
    """The definition that FILE:LINE means; [] if there is no such file, or no definition encloses the line."""
    file, _, line = name.rpartition(":")
    paths = symbols.paths() if file and line.isdecimal() and len(line) < _DIGITS else []
    if file not in paths:
        return []
    span = definitions_around(symbols, paths.index(file), [int(line)]).get(int(line))
    above = [number for _, number, _ in parents(symbols, span.number)] if span is not None else []
    rows = symbols.symbol_rows(above)
    return next((groups([rows[n]]) for n in above if rows[n]["kind"] in FUNCTION_KINDS | TYPE_KINDS), [])


def likeliest(nodes: Nodes, choices: Sequence[Meaning], *, every: bool) -> tuple[list[Row], tuple[OtherMeaning, ...]]:
    """(rows, others): the definitions that a name most likely means, and its other meanings.

    The choice saves the user a second command. Sources come before tests, vendored code, examples and declarations; of
    several sources, the source with the most callers is meant.

    Args:
        choices: The meanings of the name.
        every: Whether all meanings count as meant, and none as another meaning.
    """
    if every or len(choices) < 2:
        return [row for meaning in choices for row in meaning.rows], ()
    order = sorted(choices, key=lambda meaning: (*_remoteness(meaning.rows[0]), -_calls_of(nodes, meaning)))
    return list(order[0].rows), tuple(meaning.as_other() for meaning in order[1:])


def _remoteness(row: Row) -> tuple[bool, bool, bool, bool]:
    path: str = row["file"]
    return bool(row["test"]), is_vendored(path), is_aside(path), _is_stub(row)


def _calls_of(nodes: Nodes, meaning: Meaning) -> int:
    return len(nodes.graph.edges(nodes.asked(meaning.rows), CALLS, incoming=True).node)


def _callable(choices: list[Meaning]) -> list[Meaning]:
    """The meanings that can be called, reduced to their callable rows; all meanings if none can be called."""
    called = [item._replace(rows=rows) for item in choices if (rows := tuple(filter(_is_called, item.rows)))]
    kinds = FUNCTION_KINDS | TYPE_KINDS
    return called or [item for item in choices if any(row["kind"] in kinds for row in item.rows)] or choices


def _is_called(row: Row) -> bool:
    """Whether a definition can be called: a function, a function-like macro, a type that is constructed."""
    kind, language = row["kind"], row["language"]
    if kind == "macro" and has_rule(language, "expanding"):
        return _CONSTANT.match(row["signature"]) is None
    if kind in TYPE_KINDS:
        return (
            kind not in _UNCALLED
            and not has_rule(language, "tagged_types")
            and not (kind == "enum" and has_rule(language, "templates"))
        )
    return kind in FUNCTION_KINDS


def groups(rows: Sequence[Row]) -> list[Meaning]:
    """Group rows by the thing they define, in the order of each group's first row."""
    home: dict[tuple[object, ...], list[Row]] = {}
    owners: dict[int, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row["kind"] == "constructor"):
        group = owners.get(row["parent"]) if row["kind"] == "constructor" else None
        if group is None:  # a constructor that bears its type's name is found with the type
            group = home.setdefault(_key(row), [])
        group.append(row)
        if row["kind"] in TYPE_KINDS:
            owners[row["symbol_number"]] = group
    order = {id(row): index for index, row in enumerate(rows)}
    result, namesakes = [], Counter(key[:2] for key in home)
    for group in _with_declarations(list(home.values())):
        group.sort(key=lambda row: (_is_stub(row), order[id(row)]))
        path, name = key = group[0]["file"], group[0]["qualified_name"]
        spelled = f"{path}::{name}"
        if namesakes[key] > 1:  # Ruby's class and its objects have a method of the name
            scope, _, own = name.rpartition(".")
            spelled = f"{path}:{group[0]['line']}" if _is_of_class(group[0]) else f"{path}::{scope}#{own}"
        result.append(Meaning(spelled, tuple(group)))
    return sorted(result, key=lambda meaning: min(order[id(row)] for row in meaning.rows))


def _with_declarations(home: list[list[Row]]) -> list[list[Row]]:
    """The groups of rows; a script's unique definition takes in the declarations of its name in `.d.ts` files."""
    defined: dict[str, list[list[Row]]] = {}
    for group in home:
        if group[0]["file"].endswith(_SCRIPTS) and not group[0]["file"].endswith(_DECLARING_SCRIPTS):
            defined.setdefault(group[0]["qualified_name"], []).append(group)
    result = []
    for group in home:
        of_name = defined.get(group[0]["qualified_name"], [])
        if group[0]["file"].endswith(_DECLARING_SCRIPTS) and len(of_name) == 1:
            of_name[0].extend(group)
        else:
            result.append(group)
    return result


def _key(row: Row) -> tuple[object, ...]:
    """A key that the rows of one definition share: overloads, an accessor pair, a stub and its definition, the parts of
    a type, variants for several systems."""
    language, name, path = row["language"], row["qualified_name"], row["file"]
    if has_rule(language, "parted_types") and row["kind"] in TYPE_KINDS | {"module"}:
        return language, name
    if row["kind"] == "method" and has_rule(
        language, "declared_methods"
    ):  # declared in a header, and defined in another file
        return language, name
    if has_rule(language, "packages"):  # in one package one name is defined once per system
        return language, name, posixpath.dirname(path)
    for stub, source in _STUBS.items():
        path = path.removesuffix(stub) + source if path.endswith(stub) else path
    return (path, name, _is_of_class(row)) if has_rule(language, "class_methods") else (path, name)


def _is_of_class(row: Row) -> bool:
    """Whether a method is the class's own (Ruby's `def self.x`), so that objects may have another method `x`."""
    return has_rule(row["language"], "class_methods") and row["kind"] == "method" and "static" in row["traits"].split()


def _is_stub(row: Row) -> bool:
    return str(row["file"]).endswith(tuple(_STUBS))
