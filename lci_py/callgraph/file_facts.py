"""The facts of one file that linking needs: no signatures, no texts, and only names that code can refer to.

The *place* of a symbol is its index among the symbols of its file. The places of anonymous functions come after the
places of symbols, as in `TypeHint.scope`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, cached_property

from lci_py.source.text.language_tables import has_rule, table_of
from lci_py.types.expressions import Expr
from lci_py.types.record import NamedTuple, dataclass
from lci_py.types.search import CALLABLE, FUNCTION_KINDS, LAMBDA_KIND, TYPE_KINDS
from lci_py.types.source import LOCAL, NESTED, VARIABLE_TYPE, Extract, Import, Lambda, StoredFunction, TypeHint

#: Kinds of declarations that are imported by their qualified names.
DECLARED = TYPE_KINDS | {"module", "namespace", "function"}
_SPACES = frozenset({"module", "namespace"})
_REOPENED = TYPE_KINDS | {"module"}
#: Maximum number of namespaces in a file for which the names that it offers are listed.
_MOST_SPACES = 16
#: Suffixes of files of C and C++ that are mostly not included by others.
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".m", ".mm")
_SEPARATOR = re.compile(r"::|[./\\]")
_MAJOR = re.compile(r"v\d+")
_SCRIPT = re.compile(r"\.(?:h|js|ts|zig|lua)$")


@cache
def family(language: str) -> str:
    """The name of a language's family: languages with a common name space, such as TypeScript and JavaScript."""
    return str(table_of(language).get("family", language))


class FileHead(NamedTuple):
    """The part of a file's facts that is kept in memory for all files at once."""

    path: str
    language: str
    test: bool
    package: str

    @property
    def family(self) -> str:
        return family(self.language)

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]


#: A macro's place, and name, receiver and number of arguments of each call in its text.
MacroText = tuple[int, tuple[tuple[str, str, int], ...]]


class CallSite(NamedTuple):
    """A call in the text, as in `lci_py.types.source.Call`."""

    name: str
    receiver: str
    line: int
    caller: int
    arguments: int
    passed: str


class BaseName(NamedTuple):
    """The name of a base type; `symbol` and `line` are the index and the line of the derived type."""

    symbol: int
    name: str
    line: int


@dataclass(frozen=True, eq=False)
class FileFacts:
    """Definitions, imports and bases of one file.

    Attributes:
        first: Number of the file's first symbol; arbitrary if it has none.
        names: The name of each symbol; may be "" if it is not `CALLABLE`.
        parents: Per symbol, the index of the enclosing symbol, which is smaller than its own; -1 at the top level.
        static: Per symbol, whether it is visible only in its own file and in files that include it (C's `static`).
        owners: Per symbol, the result of `owner`.
        arities: Per symbol, as in `source.syntax.arity`.
        types, stored, lambdas, flow: As in `Extract`.
    """

    head: FileHead
    first: int
    names: Sequence[str]
    kinds: Sequence[str]
    parents: Sequence[int]
    owners: Sequence[str]
    static: Sequence[bool]
    arities: Sequence[int]
    imports: Sequence[Import]
    bases: Sequence[BaseName]
    types: Sequence[TypeHint]
    stored: Sequence[StoredFunction]
    lambdas: Sequence[Lambda]
    flow: bytes

    def kind_around(self, index: int) -> str:
        """The kind of a symbol's parent; "" at the top level."""
        parent = self.parents[index]
        return self.kinds[parent] if parent >= 0 else ""

    def qualified(self, index: int) -> str:
        """The dotted name of the type or module at an index, in a language where types and modules may be reopened."""
        if index < 0:
            return self.head.package
        name = self._qualified.get(index)
        if name is None:
            prefix = self.qualified(self.parents[index]) or self.owners[index]
            name = self._qualified[index] = f"{prefix}.{self.names[index]}" if prefix else self.names[index]
        return name

    @cached_property
    def _qualified(self) -> dict[int, str]:
        return {}

    @cached_property
    def outer(self) -> Sequence[int]:
        """The index of the enclosing scope, per symbol and then per anonymous function."""
        if not self._scopes:
            return self.parents
        scopes = [*self.parents, *(item.symbol for item in self.lambdas)]
        for item in self.types:
            if item.kind == NESTED:
                scopes[item.scope] = item.within
        return scopes

    @cached_property
    def _scopes(self) -> set[int]:
        """The indices of the anonymous functions that bind names."""
        scopes = {item.within if item.kind == NESTED else item.scope for item in self.types}
        return {scope for scope in scopes if scope >= len(self.kinds)}

    @cached_property
    def scope_kinds(self) -> Sequence[str]:
        """The kind, per symbol and then per anonymous function."""
        return [*self.kinds, *(LAMBDA_KIND for _ in self.lambdas)] if self._scopes else self.kinds

    def name_at(self, index: int) -> str:
        """The name of the symbol at an index; "" for an anonymous function."""
        return self.names[index] if index < len(self.names) else ""

    def place_of(self, caller: int) -> int:
        """The index of the innermost scope of a call, from its `Call.caller`."""
        if caller >= -1:
            return caller
        number = -2 - caller
        scope = len(self.kinds) + number
        if scope in self._scopes:
            return scope
        return self.outer[scope] if self._scopes else self.lambdas[number].symbol

    @cached_property
    def callables(self) -> list[int]:
        """The indices of the symbols that are `CALLABLE`."""
        return [index for index, kind in enumerate(self.kinds) if kind in CALLABLE]

    @cached_property
    def top(self) -> dict[str, int]:
        """Maps the names at the file's top level, as other files see them, to the index of the first definition.

        An anonymous function may wrap a whole module: definitions in it count too, after definitions outside of it.
        """
        return self._first_places(hidden=True) | self.own_top if self._scopes else self.own_top

    @cached_property
    def own_top(self) -> dict[str, int]:
        """Maps names at the file's top level to indices, as `top`, but without definitions in anonymous functions."""
        return self._first_places(hidden=False)

    def _first_places(self, *, hidden: bool) -> dict[str, int]:
        first: dict[str, int] = {}
        for index in self.callables:
            is_one = is_top(self.kinds[index], self.kind_around(index), self.head.language)
            if is_one and self.is_hidden(index) == hidden:
                first.setdefault(self.names[index], index)
        return first

    def is_hidden(self, index: int) -> bool:
        """Whether a symbol is directly inside an anonymous function."""
        return self.outer[index] >= len(self.kinds)

    @cached_property
    def inside(self) -> dict[int, dict[str, list[int]]]:
        """Maps each scope to the definitions directly inside it, by name. Methods of unnamed objects do not count as
        inside an anonymous function.
        """
        by_scope: dict[int, dict[str, list[int]]] = {}
        for index in self.callables:
            outer = self.outer[index]
            if outer >= 0 and not (outer >= len(self.kinds) and self.kinds[index] == "method"):
                by_scope.setdefault(outer, {}).setdefault(self.names[index], []).append(index)
        return by_scope

    @cached_property
    def base_names(self) -> dict[int, list[str]]:
        """Maps a symbol's index to the names of its bases."""
        names: dict[int, list[str]] = {}
        for base in self.bases:
            names.setdefault(base.symbol, []).append(base.name)
        return names

    @cached_property
    def typed(self) -> dict[tuple[int, str | int], list[TypeHint]]:
        """Maps (scope, `TypeHint.subject`) to type hints in text order; a hint of a function's result has no name."""
        hints: dict[tuple[int, str | int], list[TypeHint]] = {}
        for item in self.types:
            hints.setdefault((item.scope, item.subject), []).append(item)
        return hints

    @cached_property
    def variables(self) -> dict[str, None]:
        """The top-level names that have type hints, in text order (the keys of a dict)."""
        return dict.fromkeys(item.name for item in self.types if item.scope < 0)

    @cached_property
    def of_locals(self) -> dict[tuple[int, int, str], list[Expr]]:
        """Maps (function, `StoredFunction.kind`, name of a local) to the expressions stored in that local variable."""
        values: dict[tuple[int, int, str], list[Expr]] = {}
        for item in self.stored:
            if is_of_local(item):
                values.setdefault((item.within, item.kind, item.owner), []).append(item.value)
        return values

    @cached_property
    def by_subject(self) -> dict[str | int, list[TypeHint]]:
        """Maps `TypeHint.subject` to the type hints of that subject in any scope, in text order."""
        hints: dict[str | int, list[TypeHint]] = {}
        for item in self.types:
            hints.setdefault(item.subject, []).append(item)
        return hints

    @cached_property
    def scopes(self) -> dict[str, set[int]]:
        """Maps a name to the scopes (indices) that bind it, as a definition or as a name with a type hint."""
        by_name: dict[str, set[int]] = {}
        for item in self.types:
            if item.name and item.scope >= 0:
                by_name.setdefault(item.name, set()).add(item.scope)
        for outer, inner in self.inside.items():
            for name in inner:
                by_name.setdefault(name, set()).add(outer)
        return by_name

    @cached_property
    def stars(self) -> list[Import]:
        """The imports that bind every name of a module."""
        whole = has_rule(self.head.language, "whole_imports")  # `using a.b;`, `import A.B`
        return [
            item
            for item in self.imports
            if item.alias == "." or (not item.alias and (item.name == "*" or (whole and not item.name)))
        ]

    @cached_property
    def included(self) -> frozenset[str]:
        """The last parts of the paths that the file imports: `b.h` of `a/b.h`."""
        return frozenset(item.module.rpartition("/")[2] for item in self.imports)

    def offered(self, holder: str) -> frozenset[str] | None:
        """The names that a star import of a package or namespace finds in this file, if `lists_star_names` holds.

        Args:
            holder: The last part of the name of the package or namespace.
        Returns:
            None if the names are not known: `holder` also names a type, which may inherit members, or the file has so
                many namespaces that a list for each would be too long.
        """
        if holder not in self._offered:
            self._offered[holder] = self._offers(holder)
        return self._offered[holder]

    @cached_property
    def _offered(self) -> dict[str, frozenset[str] | None]:
        return {}

    def _offers(self, holder: str) -> frozenset[str] | None:
        if self._has_many_scopes or holder in self.variables or holder in self._no_spaces:
            return None
        indices = {index for index in self._spaces if self.names[index] == holder}
        if any(index in self.base_names for index in indices):
            return None
        inside = {name for index in indices for name in self.inside.get(index, ())}
        return frozenset(
            inside.union(
                self.top,
                (item.name for item in self.types if item.name and (item.scope == -1 or item.scope in indices)),
            )
        )

    @cached_property
    def _spaces(self) -> list[int]:
        """The indices of packages and namespaces."""
        return [index for index in self.callables if self.kinds[index] in _SPACES]

    @cached_property
    def _no_spaces(self) -> set[str]:
        """The names of definitions that are neither packages nor namespaces."""
        return {self.names[index] for index in self.callables if self.kinds[index] not in _SPACES}

    @cached_property
    def _has_many_scopes(self) -> bool:
        dotted = sum(
            "." in self.names[index] for index in self.callables
        )  # `X.N` ends in N, but is not in `_no_spaces`
        return len(self._spaces) + dotted > _MOST_SPACES

    @cached_property
    def bindings(self) -> dict[str, Import]:
        """Maps a local name to the first import that binds it."""
        imports: dict[str, Import] = {}
        for item in self.imports:
            if not has_rule(self.head.language, "including") or not is_include(item):
                item = bound_import(item, self.head.language)
                imports.setdefault(bound_name(item), item)
        return imports


def macro_texts(facts: FileFacts, calls: Iterable[CallSite]) -> dict[str, list[MacroText]]:
    """Maps a name to the file's macros of that name, in text order, each with the calls in its text."""
    calls_of: dict[int, list[tuple[str, str, int]]] = {
        index: [] for index, kind in enumerate(facts.kinds) if kind == "macro"
    }  # fmt: skip
    for call in calls:
        if call.caller in calls_of:
            calls_of[call.caller].append((call.name, call.receiver, call.arguments))
    texts: dict[str, list[MacroText]] = {}
    for index, inside in calls_of.items():
        texts.setdefault(facts.names[index], []).append((index, tuple(dict.fromkeys(inside))))
    return texts


def is_of_local(item: StoredFunction) -> bool:
    """Whether the slot (a place that holds a function) is a local variable, which only the enclosing function sees."""
    return item.within >= 0 and item.kind in (LOCAL, VARIABLE_TYPE)


def is_top(kind: str, parent_kind: str, language: str = "") -> bool:
    """Whether a definition is at its file's top level; `parent_kind` is the kind of its parent, or ""."""
    if parent_kind == "class" and has_rule(language, "class_functions"):
        return True  # methods of a type class are functions of the module
    if kind in ("method", "constructor") or (parent_kind == "module" and has_rule(language, "file_modules")):
        return False
    return parent_kind in ("", "namespace", "module")


def is_type(kind: str, family: str) -> bool:
    """Whether a definition of this kind has members: types, and Go's `type`. In other languages `type` is an alias."""
    return kind in TYPE_KINDS or (kind == "type" and has_rule(family, "method_sets"))


def is_static(head: FileHead, kind: str, exported: bool) -> bool:
    """Whether only its own file sees a function (internal linkage) or a macro (because it is not in a header)."""
    is_own = kind == "macro" or (kind == "function" and not exported)
    return is_own and has_rule(head.language, "expanding") and head.path.endswith(_SOURCES)


def is_shared(parent_kind: str) -> bool:
    """Whether other files can see a definition: not inside a function. `parent_kind`: as in `is_top`."""
    return parent_kind not in FUNCTION_KINDS


def owner(kind: str, parent_kind: str, scope: str, language: str) -> str:
    """The type to which a method belongs that is defined outside of the type (Go, Swift extensions, C++). For a
    reopened type, the scope in its name: `Shop` for Ruby's `class Shop::Cart`. Else "".

    `parent_kind` is the kind of the parent, or "".
    """
    if kind in ("method", "constructor"):
        return scope.rpartition(".")[2] if parent_kind in ("", "namespace", "module") else ""
    return scope if not parent_kind and kind in _REOPENED and has_rule(language, "reopened_types") else ""


def runs_alone(facts: FileFacts) -> bool:
    """Whether a Python file has imports, but none that is relative or begins with a folder that contains the file."""
    folders = set(facts.head.folder.split("/"))
    heads = {item.module.partition(".")[0] for item in facts.imports}
    return bool(heads) and "" not in heads and not heads & folders


def is_include(item: Import) -> bool:
    """Whether an import in C or C++ is `#include "x.h"`, which binds no name, rather than `using a::b`, which does."""
    return not item.name and not item.alias and ("." in item.module or "/" in item.module)


def bound_import(item: Import, language: str) -> Import:
    """The import as it binds a name: Python's `import a.b` is returned as `import a`, for it binds the package `a`."""
    if item.name or item.alias or not has_rule(language, "python_modules"):
        return item
    return item._replace(module=item.module.partition(".")[0] or item.module)


def bound_name(item: Import) -> str:
    """The local name that an import binds: its alias, else the last part of what it imports."""
    if item.alias:
        return item.alias
    if item.name and item.name != "*":
        return _SEPARATOR.split(item.name)[-1]
    parts = _SEPARATOR.split(_SCRIPT.sub("", item.module))
    # The major version at the end of a Go module's path is no part of the package's name.
    return parts[-2] if len(parts) > 1 and "/" in item.module and _MAJOR.fullmatch(parts[-1]) else parts[-1]


def facts_of(head: FileHead, first: int, extract: Extract) -> FileFacts:
    """The facts of an extracted file; `first` is the number of its first symbol."""
    symbols = extract.symbols
    return FileFacts(
        head,
        first,
        names=[s.name if s.kind in CALLABLE else "" for s in symbols],
        kinds=[s.kind for s in symbols],
        parents=[s.parent for s in symbols],
        owners=[
            owner(s.kind, symbols[s.parent].kind if s.parent >= 0 else "", s.scope, head.language) for s in symbols
        ],
        static=[is_static(head, s.kind, s.exported) for s in symbols],
        arities=[s.arity for s in symbols],
        imports=extract.imports,
        bases=[BaseName(b.symbol, b.name, symbols[b.symbol].line) for b in extract.bases],
        types=extract.types,
        stored=extract.stored,
        lambdas=extract.lambdas,
        flow=extract.flow,
    )
