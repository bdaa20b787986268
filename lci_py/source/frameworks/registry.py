"""Collects the registrations of one file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.frameworks.texts import UNKNOWN, is_inline, maker, method_of, part_name, reference, split
from lci_py.types.search import FUNCTION_KINDS, REGISTERED, TYPE_KINDS
from lci_py.types.source import REGISTRATIONS, Call, Registration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.source.frameworks.around import Row
    from lci_py.types.source import Symbol

_CAPITAL = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MOST_NAME, _MOST_TARGET = 300, 200


class Registry:
    """Collects the registrations of one file, and synthetic calls: edges to functions that are registered by name."""

    def __init__(self, symbols: Sequence[Symbol], controllers: Row | None = None, actions: Row | None = None) -> None:
        """Start empty; `controllers` and `actions` are the tables with these names in docs/languages.md."""
        self.registered: list[Registration] = []
        self.calls: list[Call] = []
        self._symbols, self._controllers, self._actions = symbols, controllers, actions or {}

    def add(self, kind: str, name: str, router: str, text: str, scope: int, line: int) -> None:
        """Add a registration of the function that an expression names, and an edge to this function.

        Args:
            kind: One of `REGISTRATIONS`.
            name, router, scope, line: The fields of `Registration`.
            text: The expression.
        """
        target = None if is_inline(text) else reference(text)
        self.note(Registration(kind, name, router, ".".join(filter(None, target or ())), scope, -1, line))
        if target is not None:
            made_by = maker(text)
            self.call(kind, target, scope, line, f"?{'.'.join(made_by)}" if made_by else "")

    def note(self, item: Registration) -> None:
        """Add a registration; if it names a definition of the file, add an edge to that definition as well."""
        if len(item.name) > _MOST_NAME or len(item.target) > _MOST_TARGET:
            return
        self.registered.append(item)
        if item.symbol >= 0:
            self.call(item.kind, ("", self._symbols[item.symbol].name), item.scope, item.line, str(item.symbol))

    def name(self, symbol: int) -> str:
        """The name of a definition."""
        return self._symbols[symbol].name

    def parent(self, symbol: int) -> int:
        """The index of the definition that encloses a definition; -1 if none does."""
        return self._symbols[symbol].parent

    def methods_of_http(self, type_: int) -> list[tuple[str, int]]:
        """The members of a type whose names are HTTP methods, each as (HTTP method, symbol index)."""
        if self._symbols[type_].kind not in TYPE_KINDS:
            return []
        members = [
            (method_of(symbol.name), number) for number, symbol in enumerate(self._symbols) if symbol.parent == type_
        ]
        return [(method, number) for method, number in members if method]

    def fixtures(self, number: int) -> None:
        """Add the fixtures that the function with index `number` takes as parameters (pytest)."""
        symbol = self._symbols[number]
        for parameter in split(symbol.signature.partition("(")[2].rpartition(")")[0]):
            name = parameter.partition(":")[0].strip()
            if name.isidentifier() and name not in ("self", "cls"):
                self.call("fixture", ("", name), number, symbol.line)

    def template(self, name: str, row: Row, scope: int, line: int) -> None:
        """Add a template that a function shows by name. Without a folder, it is looked up in the controller's folder.

        Args:
            name: The template's name in the code.
            row: The row of the table; it says whether the name has dots for slashes, names a partial, or is relative.
            scope, line: The fields of `Registration`.
        """
        if row.get("dotted"):
            name = name.rpartition("::")[2].replace(".", "/")
        if row.get("partial"):
            folder, slash, base = name.rpartition("/")
            name = f"{folder}{slash}_{base}"
        if row.get("beside") and not name.startswith("/"):
            name = f"./{name}"
        if name and UNKNOWN not in name and len(name) <= _MOST_TARGET:
            folders = [] if "/" in name else self._folders(scope)
            for path in [f"{folder}/{name}" for folder in folders] or [name]:
                self.call("template", ("", path), scope, line)

    def actions(self) -> list[tuple[str, str, str]]:
        """The actions of a resource, each as (name of the method, HTTP method, path after the resource's path). In the
        path, `{}` stands for the parameter.
        """
        parts = [text.split() for text in self._actions.get("methods", ())]
        return [(name, verb, "".join(rest)) for name, verb, *rest in parts]

    def routes_by_name(self) -> None:
        """Add the routes of methods that answer a route because of their name (Django REST framework's viewsets)."""
        types = set[str]()  # what is below one is one, too
        for number, symbol in enumerate(self._symbols if "types" in self._actions else ()):
            bases = re.findall(r"\w+", symbol.signature.partition("(")[2]) if symbol.kind in TYPE_KINDS else ()
            if bases and (re.search(self._actions["types"], symbol.signature) or not types.isdisjoint(bases)):
                types.add(symbol.name)
            if symbol.parent >= 0 and self._symbols[symbol.parent].name in types:
                for name, verb, rest in self.actions():
                    if name == symbol.name:
                        title = part_name(verb, rest.replace("{}", "{pk}"))
                        self.note(Registration("route", title, "", "", symbol.parent, number, symbol.line))

    def shown_by_name(self) -> None:
        """Add, for each controller method, the template of the same name, which frameworks show without a call."""
        for number, symbol in enumerate(self._symbols):
            if symbol.kind in FUNCTION_KINDS:
                for folder in self._folders(symbol.parent):
                    self.call("template", ("", f"{folder}/{symbol.name}"), number, symbol.line)

    def _folders(self, scope: int) -> list[str]:
        """The template folders of the controller that encloses the symbol `scope`; [] without a controller."""
        while scope >= 0 and self._controllers is not None:
            symbol = self._symbols[scope]
            match = re.search(self._controllers["pattern"], symbol.qualified_name)
            if match is not None and symbol.kind not in FUNCTION_KINDS:
                name = re.sub(r"::|\.", "/", match[1])
                name = _CAPITAL.sub("_", name).lower() if self._controllers.get("snake") else name
                return [folder.replace("{}", name) for folder in self._controllers["folders"]]
            scope = symbol.parent
        return []

    def call(self, kind: str, target: tuple[str, str], scope: int, line: int, symbol: str = "") -> None:
        """Add a synthetic call, which becomes an edge of the call graph.

        Args:
            target: (Receiver, name) of the called function.
            symbol: The symbol index of the called function, or `?` and a name that counts if `target` is not found.
        """
        receiver, name = target
        self.calls.append(Call(name, receiver, line, scope, REGISTERED - REGISTRATIONS.index(kind), symbol))
