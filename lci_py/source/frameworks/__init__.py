"""Reads what a file registers with a framework: routes, commands, listeners, injected functions.

`grammars/LANGUAGE/frameworks.toml` lists the calls, decorators and attributes that register something (see
docs/languages.md). A registration is stored as it is written; `search.routes` joins the prefixes of several files.

Terms (docs/architecture.md#terms): routes are registered on a *router*; to *mount* one is to put it below a path; a
*hook* is a method that a library calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from lci_py.source.frameworks.around import Row
from lci_py.source.text.language_tables import shared_table
from lci_py.types.record import NamedTuple
from lci_py.types.search import FUNCTION_KINDS
from lci_py.types.source import Registration

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.source.frameworks.registry import Registry
    from lci_py.source.syntax.captures import Captures, Finder
    from lci_py.types.source import Call, Symbol

#: Registrations that are kept of one file.
MOST = 2_000


class Table(NamedTuple):
    """A language's `frameworks.toml`, which lists how its frameworks register functions.

    Attributes:
        signs: Substrings; a file that contains none of them has no registrations.
        calls, attributes, texts: Rows that match calls, attributes, or the plain text.
        reader: `rails` if routes follow conventions that no table can list.
        fixtures: Whether a test's parameters are names of fixtures.
        templates: Suffixes that lead from a template's name in code to the path of its file.
        controllers: The rules that recognise controllers and their templates.
        actions: Types whose methods answer a route by their name, and these methods, each as `NAME METHOD PATH`.
        settings: Settings files with a prefix of all routes, and the pattern of this prefix.
        fresh: Whether a nameless router that is mounted nowhere serves the root path.
        mounted: Pattern of the paths of files for which `fresh` does not hold.
        hook: The rows that `hooks_of` reads.
    """

    signs: tuple[bytes, ...] = ()
    calls: Sequence[Row] = ()
    attributes: Sequence[Row] = ()
    texts: Sequence[Row] = ()
    reader: str = ""
    fixtures: bool = False
    templates: Sequence[str] = ("",)
    controllers: Row | None = None
    actions: Row | None = None
    settings: Row | None = None
    fresh: bool = False
    mounted: str = "$^"
    hook: Sequence[Row] = ()


class Hook(NamedTuple):
    """Hooks: methods of a class that its base class, from a library, calls. `Thread.start` calls the hook `run`.

    Attributes:
        callers: The methods of the base class that call the hooks.
        takers: Pattern of library functions that take an object or class and call its hooks; None without any.
        names: The names of the hooks.
        pattern: Pattern of further names of hooks, made from names with a star (`visit_*`).
    """

    callers: frozenset[str]
    takers: re.Pattern[str] | None
    names: frozenset[str]
    pattern: re.Pattern[str]

    def has(self, name: str) -> bool:
        """Whether a method of this name is a hook."""
        return name in self.names or self.pattern.fullmatch(name) is not None


@cache
def table_of(language: str) -> Table:
    """What registers routes, events and commands in a language; `templates.toml` for templates without a grammar."""
    try:
        data = shared_table(f"{language}/frameworks")
    except FileNotFoundError:
        data = shared_table("templates")
    if "same_as" in data:
        return table_of(data["same_as"])
    rows = [data.get(kind, []) for kind in ("call", "attribute", "text")]
    entries = [*(row for some in rows for row in some), data.get("controllers", {}), data.get("actions", {})]
    signs = dict.fromkeys(sign.encode() for row in entries for sign in row.get("signs", ()))
    return Table(tuple(signs), *rows, **{key: value for key, value in data.items() if key in Table._fields[4:]})


def _pattern_of(names: Iterable[str]) -> re.Pattern[str]:
    """Compile a pattern that matches any of the names, in which `*` stands for any letters, digits or `_`."""
    return re.compile("|".join(re.escape(name).replace(r"\*", r"\w*") for name in names) or "$^")


@cache
def _hooks(language: str) -> dict[str, list[tuple[re.Pattern[str], Hook]]]:
    """Maps each package ("" for any) to its base classes, each as (pattern of the class name, its hooks)."""
    hooks: dict[str, list[tuple[re.Pattern[str], Hook]]] = {}
    for row in table_of(language).hook:
        methods = row["methods"].split()
        hook = Hook(
            frozenset(row.get("callers", "").split()),
            _pattern_of(row["takers"].split()) if "takers" in row else None,
            frozenset(name for name in methods if "*" not in name),
            _pattern_of([name for name in methods if "*" in name]),
        )
        packages: dict[str, list[str]] = {}
        for base in row["bases"].split():
            package, _, name = base.rpartition(".")
            packages.setdefault(package, []).append(name)
            packages.setdefault("", []).extend([name] * ("*" not in name))
        for package, names in packages.items():
            hooks.setdefault(package, []).append((_pattern_of(names), hook))
    return hooks


@cache
def hook_packages(language: str) -> frozenset[str]:
    """The packages that have base classes which call hooks (methods of derived classes)."""
    return frozenset(_hooks(language)) - {""}


@cache
def hook_callers(language: str) -> frozenset[str]:
    """The names of the library methods that call hooks."""
    return frozenset().union(*(hook.callers for rows in _hooks(language).values() for _, hook in rows))


@lru_cache(4_096)
def hooks_of(language: str, base: str) -> tuple[Hook, ...]:
    """The hooks that a base class from a library calls.

    Args:
        language: The language of the file that names the class.
        base: The dotted name of the base class. Only its first part, the package, and its last part are compared, since
            a library offers a class in several modules (`django.views.View`, `django.views.generic.base.View`). A name
            without a package matches classes of any package.
    """
    parts = re.split(r"::|[./\\]", base)
    rows = _hooks(language).get(parts[0] if len(parts) > 1 else "", ())
    return tuple(hook for names, hook in rows if names.fullmatch(parts[-1]))


def registrations(
    language: str,
    captured: Captures,
    finder: Finder,
    symbols: Sequence[Symbol],
    caller: Callable[[int], int],
) -> tuple[list[Registration], list[Call]]:
    """(The registrations of a file, a synthetic call for each function that is registered by name).

    A synthetic call is an edge of the call graph for which the code has no call.

    Args:
        language: The language of the file.
        captured, finder, symbols: Query matches, scopes and definitions of the file.
        caller: Function that returns the innermost function around a byte, as `Call.caller`.
    """
    table = table_of(language)
    source = captured.source
    # Most files have none, and searching for fixed bytes is cheap.
    if not any(sign in source for sign in table.signs):
        return [], []
    from lci_py.source.frameworks.attributes import read_attributes
    from lci_py.source.frameworks.calls import Calls
    from lci_py.source.frameworks.rails import rails_routes
    from lci_py.source.frameworks.registry import Registry

    calls, attributes, texts = (
        [row for row in rows if any(sign.encode() in source for sign in row["signs"])]
        for rows in (table.calls, table.attributes, table.texts)
    )
    registry = Registry(symbols, table.controllers, table.actions)
    registry.shown_by_name()
    registry.routes_by_name()
    if table.reader == "rails":
        rails_routes(captured, registry.add, registry.actions())
        calls = [row for row in calls if row["kind"] != "route"]
    if calls or table.reader != "rails":
        Calls(captured, finder, caller, calls, registry).read()
        _read_texts(source, caller, texts, registry)
        if table.fixtures:
            _fixtures(source, symbols, registry)
        if attributes:  # the first row of the table has what they begin with, whether its own signs are there or not
            read_attributes(source, symbols, attributes, table.attributes[0]["mark"], registry)
    return registry.registered[:MOST], registry.calls[:MOST]


def template_includes(language: str, path: str, source: bytes) -> list[Call]:
    """A template's includes of other templates, as synthetic calls, for template languages without a grammar."""
    rows = [row for row in table_of(language).texts if re.search(row["files"], path)]
    if not rows:
        return []
    from lci_py.source.frameworks.registry import Registry

    registry = Registry(())
    _read_texts(source, lambda _: -1, rows, registry)
    return registry.calls[:MOST]


def _read_texts(source: bytes, caller: Callable[[int], int], rows: Sequence[Row], registry: Registry) -> None:
    """Add to `registry` what the regular expressions of rows match in the text: routers, templates, commands."""
    for row in rows:
        line, end = 1, 0
        for match in re.finditer(row["pattern"].encode(), source):
            groups = {name: text.decode("utf-8", "replace") for name, text in match.groupdict().items()}
            line, end, scope = line + source.count(b"\n", end, match.start()), match.start(), caller(match.start())
            if row["kind"] == "template":
                registry.template(groups["target"], row, scope, line)
            elif row["kind"] == "root":
                registry.note(Registration("root", "", "", groups["target"], -1, -1, line))
            else:
                registry.add(row["kind"], groups["name"], "", groups["target"], scope, line)


def _fixtures(source: bytes, symbols: Sequence[Symbol], registry: Registry) -> None:
    """Add to `registry` the fixtures that tests and other fixtures take as parameters (pytest)."""
    lines = source.split(b"\n")
    for number, symbol in enumerate(symbols):
        is_test = symbol.name.startswith("test")
        if symbol.kind in FUNCTION_KINDS and (
            is_test or any(b"fixture" in line for line in lines[symbol.first_line - 1 : symbol.line - 1])
        ):
            registry.fixtures(number)
