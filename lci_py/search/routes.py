"""The functions registered with a framework, by the name under which a client knows them: `GET /api/checks/<id>`.

A file has only a part of the path: a prefix may be given where the router is made, where it is mounted, and where the
function that mounts it is called. There are few routes, so the parts are joined by each query. A name with an unknown
prefix begins with `…`.
"""

from __future__ import annotations

import re
from functools import cached_property
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING

import numpy as np

from lci_py.index.shards.symbol_queries import (
    bases_of,
    definitions_around,
    definitions_in,
    imports_in,
    members_named,
    names,
    registered_in,
)
from lci_py.index.shards.symbols import narrowest
from lci_py.source.frameworks import hooks_of, table_of
from lci_py.source.frameworks.around import NEUTRAL, OF_TYPE, ROOTED, VERSION
from lci_py.source.frameworks.texts import UNKNOWN, join_paths, route_name, split
from lci_py.types.edges import AMBIGUOUS, CALLS, IMPORTS, INHERITS, ROUTE
from lci_py.types.record import NamedTuple, replace
from lci_py.types.search import TYPE_KINDS, Filters
from lci_py.types.source import Import, Registration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lci_py.index.shards.graph import GraphIndex
    from lci_py.index.shards.symbols import Row
    from lci_py.search.snapshot import Snapshot
    from lci_py.source.frameworks import Hook
    from lci_py.types.search import Answer, Result

#: Types in the lineage of one that are looked at.
_MOST_LINEAGE = 50
#: Names of one route that are shown.
_MOST = 20
#: Bases above each other that are looked at.
_MOST_BASES = 10
#: What each function counts of the one before.
_LESS = 0.97
_PARAMETER = re.compile(r"[<{:*($…]")
_OPTIONAL = re.compile(r"\(([^()]*)\)")
#: Which argument a router is, of `register(1)`: extraction writes this for a call that it is passed to.
_PLACE = re.compile(r"\((\d+)\)$")
_STRING = re.compile(r"""["'`]([^"'`]+)["'`]""")
#: What extraction writes for a constant or a field of a configuration (`source.frameworks.texts.setting`).
_SETTING = re.compile(UNKNOWN + r"\{([\w.]+)\}")
#: Of a signature such as `base: str = os.getenv("BASE", "/api")`, the value, or the default that is given for it.
_VALUE = re.compile(
    r"""[^=:]*(?::\s*(?![=\s"'`])[^=]*=|:?=|:)\s*(?:(?P<computed>[^"'`].*(?:\|\||\?\?|\bor\b|default\s*=|,)\s*))?"""
    r"""["'`](?P<text>[^"'`$]*)["'`][\s;,)\]}]*$""", re.DOTALL,
)  # fmt: skip
#: The same of `base = setting("BASE", "/api", description="…")`, where only one of the texts is a path.
_PATH_IN_CALL = re.compile(r"""\w+(?:\s*:\s*\w+)?\s*=\s*[\w.]+\([^/]*["'](?P<text>/[^"'\s]*)["']""")
_VALUE_KINDS = ("constant", "variable", "field", "property")
_MOUNTS = ("mount", "override", "router")


class Item(NamedTuple):
    """A registration, and the number of its file."""

    file: int
    row: Registration


class Route(NamedTuple):
    """A route with its full path.

    Attributes:
        name: The method and the full path: `GET /path`.
        item: The registration.
        targets: Nodes of its handlers; none if the handler has no name.
    """

    name: str
    item: Item
    targets: tuple[int, ...]


class _Router(NamedTuple):
    """The router of a registration, known by its variable ("" for the enclosing function or file) and by the symbol
    around it, the function that attributes register, or the line if several routers have that variable."""

    file: int
    name: str
    scope: int = -1
    handler: int = -1
    line: int = 0


class Routes:
    """All registrations of an index, and the paths and handlers that follow from them."""

    def __init__(self, snapshot: Snapshot) -> None:
        graph = snapshot.graph
        self._snapshot, self._symbols, self._graph = snapshot, snapshot.symbols, graph
        self._known: dict[_Router, set[str]] = {}
        self._values: dict[str, str | None] = {}  # of settings: a prefix stands before many routes
        self._imports: dict[int, list[Import]] = {}
        self._first_file, self._first_lambda = graph.n_symbols, graph.n_symbols + graph.n_files

    @cached_property
    def _files(self) -> list[tuple[str, str]]:
        return [(path, language) for path, language in self._symbols.per_file("path, language")]

    def path(self, file: int) -> str:
        """The path of a file."""
        return self._files[file][0]

    def is_of_test(self, item: Item) -> bool:
        """Whether the registration is in a test."""
        return self._tests[item.file]

    @cached_property
    def _tests(self) -> list[bool]:
        return [bool(test) for (test,) in self._symbols.per_file("test")]

    @cached_property
    def items(self) -> list[Item]:
        """All registrations, by file and line."""
        rows = [Item(file, row) for file, row in registered_in(self._symbols)]
        return sorted(Item(file, self._with_values(row)) if "{" in row.name else Item(file, row) for file, row in rows)

    @cached_property
    def _at(self) -> dict[tuple[int, int], list[Item]]:
        by_line: dict[tuple[int, int], list[Item]] = {}
        for item in self.items:
            by_line.setdefault((item.file, item.row.line), []).append(item)
        return by_line

    def names_at(self, file: int, line: int, target: int) -> list[str]:
        """The names under which a line registers a node, sorted."""
        items = [item for item in self._at.get((file, line), ()) if item.row.kind not in (*_MOUNTS, "root", "base")]
        return sorted({name for item in items if target in self.handlers(item) for name in self.full_names(item)})

    def _name(self, node: int) -> str:
        if node >= self._first_file:
            return ""
        symbol = names(self._symbols, [node]).get(node)
        return symbol.name if symbol else ""

    def full_names(self, item: Item) -> list[str]:
        """The full names of a registration: with the prefixes of all mounts (places that put a router below a path)."""
        row = item.row
        if row.kind != "route":
            return [row.name or row.kind]
        method, _, path = row.name.rpartition(" ")
        before = self._prefixes(self._router_of(item)._replace(handler=row.symbol))
        before = before if path else before - {UNKNOWN}  # of what is not mounted, the method alone says nothing
        return [
            route_name(method, join_paths(above, path)).replace(f"{UNKNOWN}{{", "{") for above in sorted(before)[:_MOST]
        ]

    # --- constants and settings

    def _with_values(self, row: Registration) -> Registration:
        """The registration, its path completed with the values of settings, as far as these values are known."""
        for setting in _SETTING.findall(row.name):
            if setting not in self._values:
                self._values[setting] = self._setting(setting)
        name = _SETTING.sub(lambda match: self._values[match[1]] or match[0], row.name)
        return row if name == row.name else row._replace(name=re.sub(r"(?<!:)//+", "/", name))

    def _setting(self, name: str) -> str | None:
        """The value of a constant or configuration field; None if there is no value, or several outside of tests.

        If the name is qualified, only definitions whose file or type has the qualifier's name count.
        """
        owner, _, own = name.rpartition(".")
        owner = owner.rpartition(".")[2].lower()
        rows = [row for row in self._symbols.definitions_named(own, Filters()) if row["kind"] in _VALUE_KINDS]
        inside = [
            row
            for row in rows
            if owner and owner in f"{row['file']}.{row['qualified_name'].rpartition('.')[0]}".lower()
        ]
        rows = inside or (rows if own.isupper() or not owner else [])
        values = {value for row in rows if not row["test"] and (value := _value(row["signature"])) is not None}
        if not rows and owner:  # a field of an object in an object: `api: { prefix: "/api" }`
            texts = [row["signature"] for row in self._symbols.definitions_named(owner, Filters()) if not row["test"]]
            inner = [re.search(rf"""\b{re.escape(own)}["']?\s*[:=]\s*["'`]([^"'`$]*)["'`]""", text) for text in texts]
            values = {match[1] for match in inner if match}
        return values.pop() if len(values) == 1 else None

    def _versioned(self, file: int, version: str) -> set[str]:
        """The path prefixes of an API version ("": of routes without a version), by `app.enableVersioning({…})`."""
        base, said = self._application_prefix(file), self._application_prefix(file, VERSION)
        prefix, *default = said.split(" ")
        if prefix.startswith(UNKNOWN) or (not said and version not in ("", NEUTRAL)):
            return {UNKNOWN}
        versions = [version] if default and version else default or [NEUTRAL]  # those in a header are in no path
        return {UNKNOWN if UNKNOWN in v else base if v == NEUTRAL else join_paths(base, prefix + v) for v in versions}

    def _application_prefix(self, file: int, target: str = ROOTED) -> str:
        """The prefix of all routes of a file's application (`app.setGlobalPrefix("api")`); or its versioning."""
        path, language = self._files[file]
        table = table_of(language)
        by_folder: dict[str, set[str]] = {}
        for where, prefix in self._application_prefixes[target]:
            other = self._files[where]
            if table_of(other[1]) is table or (table.settings and re.search(table.settings["files"], other[0])):
                by_folder.setdefault(re.split(r"(?:^|/)src/|[^/]+$", other[0])[0], set()).add(prefix)
        folders = [folder for folder in by_folder if f"{path}/".startswith(f"{folder}/" if folder else "")]
        if not folders and len(by_folder) == 1:
            folders = list(by_folder)  # a module of the only application
        values = by_folder[max(folders, key=len)] - {""} if folders else set()
        return min(values) if len(values) <= 1 and values else UNKNOWN if values else ""

    @cached_property
    def _application_prefixes(self) -> dict[str, list[tuple[int, str]]]:
        """Maps the two targets (prefix, versioning) to (file, value) of each application that states a value."""
        bases = [item for item in self.items if item.row.kind == "base"]
        prefixes = {of: [(app.file, app.row.name) for app in bases if app.row.target == of] for of in (ROOTED, VERSION)}
        tables = [table_of(language).settings for language in sorted({language for _, language in self._files})]
        for settings in filter(None, tables):
            for file, (path, _) in enumerate(self._files):
                if re.search(settings["files"], path) and not self._tests[file]:
                    text = b"\n".join(self._snapshot.reader.lines(path) or ()).decode("utf-8", "replace")
                    said = re.search(settings["pattern"], text)
                    prefixes[ROOTED].append((file, said[1].strip("\"'") if said else ""))
        return prefixes

    # --- prefixes

    def _scope(self, item: Item) -> int:
        """The symbol that encloses a registration; -1 for the file."""
        node = self._graph.caller(item.file, item.row.scope)
        if node >= self._first_lambda:
            return self._graph.lambda_at(node)[2]
        return node if node < self._first_file else -1

    def _prefixes(self, router: _Router) -> set[str]:
        """The possible prefixes of a path that is registered on a router."""
        if router.name == ROOTED:
            return {self._application_prefix(router.file)}
        if router.name.startswith(VERSION):
            return self._versioned(router.file, router.name.removeprefix(VERSION))
        if router.name == OF_TYPE:
            own = self._type_prefix(router.scope, 0) or ""
            if "[controller]" in own:
                own = own.replace("[controller]", self._name(router.scope).removesuffix("Controller"))
            return {join_paths(self._application_prefix(router.file), own)}
        if router not in self._known:
            self._known[router] = {UNKNOWN}  # of one that is mounted below itself
            self._known[router] = self._computed(router)
        return self._known[router]

    def _type_prefix(self, node: int, depth: int) -> str | None:
        """The path prefix that a type's attributes, or else its bases', give to its members; None if there is none.

        An attribute that the program itself declares has the attributes of its declaration.
        """
        item = self._attributed_types.get(node)
        if item is not None and item.row.router == ROOTED:
            return item.row.name
        for name in item.row.target.split() if item else ():
            for spelling in (name, f"{name}Attribute"):
                for row in self._symbols.definitions_named(spelling, Filters()):
                    declared = self._attributed_types.get(row["symbol_number"])
                    if declared is not None and declared.row.router == ROOTED:
                        return declared.row.name
        bases = self._graph.edges([node], INHERITS).node.tolist() if depth < _MOST_BASES else ()
        return next((said for base in bases if (said := self._type_prefix(base, depth + 1)) is not None), None)

    @cached_property
    def _attributed_types(self) -> dict[int, Item]:
        """Maps each type to the registration with the path prefix of its members, or with names of other attributes."""
        return {self._scope(item): item for item in self.items if item.row.kind == "base" and item.row.scope >= 0
                and not item.row.target.startswith(ROOTED)}  # fmt: skip

    def _computed(self, router: _Router) -> set[str]:
        file, name = router.file, router.name
        own = [item for item in self._routers.get((file, name), ()) if name and self._sees(router.scope, item)]
        latest = max((item.row.line for item in own if item.row.line < router.line), default=0)
        own = [item for item in own if item.row.line == latest] if latest else own
        if name and not own and (imported := self._imported(file, name)):
            return {start for where, bound in imported for start in self._prefixes(_Router(where, bound))} or {UNKNOWN}
        base = next((item.row.name for item in own if item.row.kind == "base"), "")
        prefixes = {UNKNOWN if item.row.name and self._has_roots else "" for item in own if item.row.kind == "root"}
        above = [item for item in own if item.row.kind == "router"]
        above += self._mounted.get((file, name), ()) if name else ()
        for item in above or (() if prefixes else self._around_mounts(router)):
            parent = self._router_of(item)
            if parent != router._replace(handler=-1) and self._tests[item.file] <= self._tests[file]:
                own_part = "" if item.row.kind == "override" else base
                if item.row.target[-2:-1] == "/":  # folders are prefixes
                    own_part = join_paths(self.path(file)[len(self._folder(item)) :].rpartition("/")[0], own_part)
                prefixes |= {join_paths(join_paths(start, item.row.name), own_part) for start in self._prefixes(parent)}
        return prefixes or {join_paths(self._unmounted(file, name), base)}

    @cached_property
    def _has_roots(self) -> bool:
        """Whether several folders make routers, of which only one can serve the root path."""
        roots = [item.file for item in self.items if item.row.kind == "root" and item.row.name]
        folders = {dirname(self.path(file)) for file in roots if not self._tests[file]}
        return len([folder for folder in folders if "/vendor/" not in f"/{folder}"]) > 1

    def _router_of(self, item: Item) -> _Router:
        """The router of a registration; of several variables with its name, the last before the registration counts."""
        file, name, scope = item.file, item.row.router, self._scope(item)
        if scope < 0 and item.row.kind in ("route", "mount"):  # a function without a name that a variable holds
            span = definitions_around(self._symbols, file, [item.row.line]).get(item.row.line)
            scope = span.number if span is not None else -1
        routers = [router for router in self._routers.get((file, name), ()) if router.row.kind == "router"]
        return _Router(file, name, scope, line=item.row.line if len(routers) > 1 else 0)

    def _around_mounts(self, router: _Router) -> list[Item]:
        """The mounts of the function that encloses a router; if there are none, the mounts of its file."""
        symbols = self._enclosing(router.scope, router.handler)
        if router.handler >= 0:  # a viewset has the routes of its bases, but for those of methods that it has itself
            own = {member.owner for member in members_named(self._symbols, self._name(router.handler))}
            symbols = list(_lineage(self._graph, symbols, own, below=True))
        mounts = [item for symbol in symbols for item in self._passed(symbol, router)]
        mounts += [item for symbol in symbols for item in self._mounted.get((router.file, self._name(symbol)), ())]
        if not mounts:  # a function that makes a router for another one: `def api(): return users(db)`
            callers = self._graph.edges(symbols, CALLS, incoming=True).node.tolist() if symbols else ()
            mounts = [item for caller in callers for item in self._mounted.get(caller, ())]
        return mounts or list(self._mounted.get((router.file, ""), ()))

    def _passed(self, symbol: int, router: _Router) -> list[Item]:
        """The mounts of a function; mounts that pass another argument than the router's parameter are left out."""
        items = [item for item in self._mounted.get(symbol, ()) if self._tests[item.file] <= self._tests[router.file]]
        places = [_PLACE.search(item.row.target) for item in items]
        if len({match and match[1] for match in places}) == 1:
            return items
        signature = self._symbols.symbol_rows([symbol])[symbol]["signature"]
        parameters = split(signature.partition(f"{self._name(symbol)}(")[2].rpartition(")")[0])
        own = {str(i) for i, text in enumerate(parameters) if re.match(rf"[&*$]*{re.escape(router.name)}\b", text)}
        return [item for item, match in zip(items, places, strict=True) if not match or match[1] in own] or items

    def _unmounted(self, file: int, router: str) -> str:
        """The prefix of a router that nothing mounts."""
        path, language = self._files[file]
        table = table_of(language)
        fresh = not router and table.fresh and not re.search(table.mounted, path)
        return "" if fresh or file in self._root_files else UNKNOWN

    @cached_property
    def _root_files(self) -> set[int]:
        """The files that a Django setting names as the root of all routes."""
        names = [text[1] for item in self.items if item.row.kind == "root" and (text := _STRING.match(item.row.target))]
        return {file for name in names for file in self._files_ending(name.replace(".", "/"), (".py", "/__init__.py"))}

    def _sees(self, scope: int, item: Item) -> bool:
        """Whether the variable that a registration assigns is visible in a symbol."""
        own = self._scope(item)
        return own < 0 or own in self._enclosing(scope, -1)

    def _enclosing(self, scope: int, handler: int) -> list[int]:
        """A symbol and the symbols around it. If attributes register the routes, the handler is used for the symbol."""
        symbols: list[int] = []
        scope = handler if handler >= 0 else scope
        while scope >= 0 and len(symbols) < 20:
            symbols.append(scope)
            row = self._symbols.symbol_rows([scope]).get(scope)
            parent = row["parent"] if row else None
            scope = -1 if parent is None else int(parent)
        return symbols

    @cached_property
    def _routers(self) -> dict[tuple[int, str], list[Item]]:
        """Maps (file, variable) to the registrations that describe the router in that variable."""
        routers: dict[tuple[int, str], list[Item]] = {}
        for item in self.items:
            if item.row.kind in ("router", "root", "base"):
                routers.setdefault((item.file, item.row.target), []).append(item)
        return routers

    @cached_property
    def _mounted(self) -> dict[object, list[Item]]:
        """Maps what is mounted to its mounts: (file, variable), (file, "") for a whole file, or a function's number."""
        mounts: dict[object, list[Item]] = {}
        for item in self.items:
            if item.row.kind in _MOUNTS[:2]:
                for key in self._children(item):
                    mounts.setdefault(key, []).append(item)
        return mounts

    def _children(self, item: Item) -> Iterator[object]:
        """Yield the keys in `_mounted` for what a mount mounts."""
        file, row = item
        text = row.target.strip().removeprefix("&")
        if (string := _STRING.search(text)) is not None and string[1].endswith("/"):
            folder = self._folder(item)
            yield from ((f, "") for f in self._of_file if self.path(f).startswith(folder) and f != file)
            return
        if string is not None:
            if text[0] in "\"'" and "/" not in string[1] and not string[1].endswith(".php"):  # a module of Python
                yield from ((f, "") for f in self._files_ending(string[1].replace(".", "/"), (".py", "/__init__.py")))
            elif string[1].endswith(".php"):
                yield from ((f, "") for f in self._files_ending(string[1].lstrip("./"), ("",)))
            else:
                yield from ((f, "") for f in self._imports_on(file, row.line, string[1]))
            return
        functions = [node for node in self._called(item) if node < self._first_file]
        yield from functions
        if any(row["kind"] in TYPE_KINDS for row in self._symbols.symbol_rows(functions).values()):
            return  # a viewset
        name = re.split(r"\(", text)[0]
        if "(" in text:
            return
        head, _, rest = name.replace("::", ".").partition(".")
        imported = self._imported(file, head)
        if not imported:
            yield from dict.fromkeys(((file, name), (file, head)))  # `router.urls`
            if "." in rest and (file, name) not in self._routers:  # a field of another object: `self.events.router`
                yield from self._fields.get(last(rest), ())
        for where, bound in imported:
            member = rest.rpartition(".")[2] if rest else bound
            yield where, member if any(f.row.router == member for f in self._of_file.get(where, ())) or (
                where, member) in self._routers else ""  # fmt: skip

    def _folder(self, item: Item) -> str:
        """The folder whose files a registration mounts: `{ dir: join(__dirname, "routes") }`."""
        folder = item.row.target.strip("\"'`")
        return normpath(join(dirname(self.path(item.file)), folder)) + "/"

    @cached_property
    def _fields(self) -> dict[str, list[tuple[int, str]]]:
        """Maps the name of a field that holds a router to its (file, variable), unless several fields have the name."""
        fields: dict[str, list[tuple[int, str]]] = {}
        for file, name in self._routers:
            if re.match(r"(?:self|this)\.\w+$", name):
                fields.setdefault(last(name), []).append((file, name))
        return {name: places for name, places in fields.items() if len(places) == 1}

    @cached_property
    def _of_file(self) -> dict[int, list[Item]]:
        by_file: dict[int, list[Item]] = {}
        for item in self.items:
            by_file.setdefault(item.file, []).append(item)
        return by_file

    def _files_ending(self, path: str, suffixes: Sequence[str]) -> list[int]:
        ends = tuple(f"/{path}{suffix}" for suffix in suffixes)
        return [file for file in self._of_file if f"/{self._files[file][0]}".endswith(ends)]

    def _called(self, item: Item) -> list[int]:
        """The functions that a registration's line calls by the registered name; else the functions it registers."""
        name = last(item.row.target.partition("(")[0])
        nodes = [node for node in self._targets(item, 0) if self._name(node) == name]
        return nodes or (self._targets(item, ROUTE) if len(self._at[item.file, item.row.line]) == 1 else [])

    def _targets(self, item: Item, first_rule: int) -> list[int]:
        """The nodes called on a registration's line, by edges whose rule is `first_rule` or a later one of `STEPS`."""
        edges = self._graph.edges([self._graph.caller(item.file, item.row.scope)], CALLS)
        calls = zip(edges.node.tolist(), edges.line.tolist(), (edges.step & ~np.uint8(AMBIGUOUS)).tolist(), strict=True)
        return list(dict.fromkeys(node for node, line, step in calls if line == item.row.line and step >= first_rule))

    def handlers(self, item: Item) -> list[int]:
        """The nodes of the handlers that a registration registers."""
        if item.row.symbol >= 0:
            return [item.row.symbol]
        if not item.row.target:
            return []
        nodes = self._targets(item, ROUTE)
        matching = [node for node in nodes if self._name(node) == last(item.row.target)]
        same = {other.row.target for other in self._at[item.file, item.row.line] if other.row.kind not in _MOUNTS}
        return matching or (nodes if len(same) == 1 else []) or self._variables(item)

    def _variables(self, item: Item) -> list[int]:
        """The variable that a registration names, for a handler that was wrapped: `const show = caught(…)`."""
        head, _, name = item.row.target.rpartition(".")
        files = [(file, bound) for file, bound in self._imported(item.file, head or name)] or [(item.file, "")]
        for file, bound in files:
            spans = definitions_in(self._symbols, file)
            numbers = [span.number for span in spans if span.name == (name if head else bound or name)]
            if numbers:
                return numbers[:1]
        # Rails: `GitHubController` with an acronym of the application's own answers what `github` routes to.
        suffix = "." + item.row.target.replace("::", ".").lower()
        rows = self._symbols.definitions_named(name, Filters()) if head else []
        spelled = [row for row in rows if f".{row['qualified_name']}".replace("::", ".").lower().endswith(suffix)]
        return [row["symbol_number"] for row in spelled] if len(spelled) == 1 else []

    def registrations_of(self, node: int) -> list[tuple[Item, str]]:
        """(registration, full name) for each registration of a variable's value."""
        own = self._name(node)
        items = [reg for reg in self.items if reg.row.kind not in _MOUNTS and own and last(reg.row.target) == own]
        return [
            (item, name)
            for item in items
            if not self._targets(item, ROUTE) and node in self.handlers(item)
            for name in self.full_names(item)
        ]

    # --- imports

    def _imported(self, file: int, name: str) -> list[tuple[int, str]]:
        """(file, name in that file) for the files from which a name is imported; the name is "" for the whole file."""
        imported: list[tuple[int, str]] = []
        if file not in self._imports:
            self._imports[file] = imports_in(self._symbols, file)
        for item in self._imports[file]:
            bound = item.alias or item.name or re.split(r"[./\\]", item.module)[-1]
            if bound != name:
                continue
            own = item.name if item.name not in ("*", "default") else ""
            for target in self._imports_on(file, item.line, own or item.module):
                whole = own and self._stem(target) == own
                imported.append((target, "" if whole else own))
        return imported

    def _imports_on(self, file: int, line: int, name: str) -> list[int]:
        """The files that a line imports; of several files, the files whose stem is a module or name of the import."""
        edges = self._graph.edges([self._first_file + file], IMPORTS)
        files = [
            int(node) - self._first_file
            for node, at in zip(edges.node, edges.line, strict=True)
            if int(at) == line and self._first_file <= node < self._first_lambda
        ]
        last = re.split(r"[./\\]", name.strip("./"))[-1]
        called = [number for number in files if self._stem(number) in (name, last)]
        return called or files

    def _stem(self, file: int) -> str:
        """The module name of a file: its stem, or the folder's name for files such as `index.js`."""
        *folders, base = self._files[file][0].split("/")
        stem = base.split(".")[0]
        return folders[-1] if folders and stem in ("__init__", "index", "mod", "lib") else stem

    # --- search

    def matching(self, text: str) -> list[Route]:
        """The routes that a query such as `GET /checks/12` names, best first."""
        method, _, path = text.strip().rpartition(" ")
        query = segments(path)
        matches: list[tuple[tuple[float, ...], str, Item]] = []
        for item in self.items:
            if item.row.kind != "route" or self.is_of_test(item):
                continue
            for name in self.full_names(item):
                own, _, pattern = name.rpartition(" ")
                if own and method.upper() not in ("", "ANY", own):
                    continue
                scores = [score for match in variants(pattern) if (score := alike(segments(match), query)) is not None]
                if scores:
                    matches.append(((*max(scores), float(own == method.upper())), name, item))
        matches.sort(key=lambda match: (tuple(-part for part in match[0]), match[2].file, match[2].row.line, match[1]))
        best = [match for match in matches if match[0][0] == matches[0][0][0]]
        return [Route(name, item, tuple(self.handlers(item))) for _, name, item in best[:20]]


def handlers(snapshot: Snapshot, text: str) -> list[Row]:
    """The functions that answer a path, best first.

    Args:
        snapshot: What is searched.
        text: A path, with or without a method before it.
    """
    routes = Routes(snapshot).matching(text)
    nodes = list(dict.fromkeys(node for route in routes for node in route.targets if node < snapshot.graph.n_symbols))
    rows = snapshot.symbols.symbol_rows(nodes)
    return [rows[node] for node in nodes]


def answering(snapshot: Snapshot, text: str) -> list[tuple[Row, float]]:
    """(row, weight) of the functions that answer a path. For a function without a name, the row only has the enclosing
    unit and its kind."""
    symbols, row_of = snapshot.symbols, dict[int, "Row"]()
    for route in Routes(snapshot).matching(text):
        rows = symbols.symbol_rows([node for node in route.targets if node < snapshot.graph.n_symbols])
        row_of.update({node: rows[node] for node in route.targets if node in rows and node not in row_of})
        file, row = route.item
        unit = None if row.target or row.symbol >= 0 else narrowest(symbols.chunks_of_file(file), row.line)
        if unit is not None:
            row_of.setdefault(~unit, {"unit": unit, "kind": "function"})
    return [(row, _LESS**rank) for rank, row in enumerate(row_of.values())]


def with_routes(snapshot: Snapshot, text: str, answer: Answer) -> Answer:
    """The answer to a query such as `GET /checks/12`, completed with the routes that lead to its results."""
    routes = Routes(snapshot)
    matching = routes.matching(text)
    targets = [[node for node in route.targets if node < snapshot.graph.n_symbols] for route in matching]
    ids_of = [
        (route, {r.id for r in names(snapshot.symbols, nodes).values()})
        for route, nodes in zip(matching, targets, strict=True)
    ]

    def answers(result: Result, route: Route, ids: set[str]) -> bool:
        row, is_here = route.item.row, routes.path(route.item.file) == result.file
        nameless = not row.target and row.symbol < 0
        return result.id in ids or (nameless and is_here and result.line <= row.line <= result.end_line)

    return replace(answer, results=tuple(
        replace(r, routes=tuple(route.name for route, ids in ids_of if answers(r, route, ids)))
        for r in answer.results
    ))  # fmt: skip


def library_hooks(snapshot: Snapshot, types: Sequence[int]) -> dict[int, list[tuple[int, Hook]]]:
    """Maps each type to the hooks (methods that library bases call) that it inherits: (type that names the base, hook).

    Args:
        snapshot: What is searched.
        types: Numbers of types. Their bases in the repository count as well.
    """
    lineages = {type_: _lineage(snapshot.graph, [type_], set(), below=False) for type_ in types}
    bases_by_type = bases_of(snapshot.symbols, sorted({t for lineage in lineages.values() for t in lineage}))
    files = {type_: snapshot.graph.file_of(type_) for type_ in bases_by_type}
    imports = {file: imports_in(snapshot.symbols, file) for file in sorted(set(files.values()))}
    languages = [language for (language,) in snapshot.symbols.per_file("language")]
    direct = {
        type_: [
            hook for base in bases for hook in hooks_of(languages[files[type_]], _dotted(base, imports[files[type_]]))
        ]
        for type_, bases in bases_by_type.items()
    }
    return {type_: [(t, hook) for t in lineage for hook in direct.get(t, ())] for type_, lineage in lineages.items()}


def _lineage(graph: GraphIndex, types: Sequence[int], without: set[int], *, below: bool) -> dict[int, None]:
    """The types and their supertypes (`below`: subtypes), by level. The types `without`, and types that only they lead
    to, are left out."""
    seen, level = dict.fromkeys(types), list(types)
    while level and len(seen) < _MOST_LINEAGE:
        near = graph.edges(level, INHERITS, incoming=below).node.tolist()
        level = [t for t in dict.fromkeys(near) if t not in seen and t not in without and t < graph.n_symbols]
        seen.update(dict.fromkeys(level))
    return seen


def _dotted(name: str, imports: Sequence[Import]) -> str:
    """The name of a base with the module that it is imported from."""
    head = re.split(r"::|[.\\]", name)[0]
    for item in imports:
        if head == (item.alias or (item.name if item.name != "*" else "")):
            return ".".join(filter(None, (item.module, item.name, name[len(head) + 1 :])))
        if not item.alias and not item.name and re.split(r"::|[./\\]", item.module)[-1] == name:
            return item.module
    return name


def _value(signature: str) -> str | None:
    """The text that a signature assigns to a constant; None if it assigns no text, or a longer expression."""
    match = _VALUE.match(signature) or _PATH_IN_CALL.match(signature)
    return match["text"] if match and len(match["text"]) <= 100 else None


def last(name: str) -> str:
    """The last part of a dotted name."""
    return re.split(r"\.|::|->", name)[-1]


def segments(path: str) -> list[str]:
    """The parts of a path between slashes, without what follows `?`."""
    path = re.sub(r"^\{[\w.]+\}", UNKNOWN, path)  # of a prefix in the settings, the length is not known
    return [part for part in path.partition("?")[0].split("/") if part]


def variants(path: str) -> Iterable[str]:
    """A path with and without its optional parts: `/top(/page/:n)`."""
    if "(" not in path:
        return [path]
    paths = {path}
    for _ in range(4):
        paths |= {
            p[: m.start()] + other + p[m.end() :] for p in paths if (m := _OPTIONAL.search(p)) for other in ("", m[1])
        }
    return sorted(p for p in paths if "(" not in p)


def alike(route: Sequence[str], query: Sequence[str]) -> tuple[float, ...] | None:
    """The quality of a route's match with a path: (full name is known, equal segments, equal letters); else None."""
    whole = not route or not route[0].startswith(UNKNOWN)
    if not whole:
        route = route[1:]
        if not route or len(query) < len(route):
            return None
        query = query[len(query) - len(route) :]
    elif query[:1] == [UNKNOWN]:
        query = query[1:]
        route = route[max(0, len(route) - len(query)) :]
    if len(route) != len(query):
        return None
    same, near = 0, 0.0
    for segment, other in zip(route, query, strict=True):
        if segment == other:
            same += 1
        elif _PARAMETER.search(segment):
            near += 0.5 * (bool(_PARAMETER.search(other)) + (other.strip("<>{}:") in re.split(r"\W+", segment)))
        else:
            return None
    return (float(same and whole), float(same), near)
