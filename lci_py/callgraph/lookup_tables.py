"""The tables that answer look-ups: the interface, and its implementation in memory for a full link.

The interface is small and plain, so that its two implementations cannot differ: the second reads SQLite for a refresh
(index/shards/callgraph_tables.py). lookups.py derives answers such as "the only type of that name" for both.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from lci_py.callgraph.file_facts import DECLARED, BaseName, CallSite, FileFacts, FileHead, facts_of
from lci_py.source.text.language_tables import has_rule, words_of
from lci_py.types.expressions import pack
from lci_py.types.search import CALLABLE, IMPLICIT, KINDS
from lci_py.types.source import Import, Lambda, StoredFunction, stored_of, typed_of

if TYPE_CHECKING:
    from lci_py.types.source import Extract

_KIND = {kind: number for number, kind in enumerate(KINDS)}
#: Names, without suffix, of files that stand for their folder.
INDEX_NAMES = frozenset({"__init__", "index", "mod", "lib", "main", "init"})
#: Manifests by their names, and the kinds of look-ups that they answer.
_MANIFESTS = {"Cargo.toml": "crate", "go.mod": "modules", "package.json": "npm"}
#: The parts of `MemoryTables`.
_PARTS = ("symbols", "calls", "imports", "bases", "types", "stored", "lambdas")
#: Number of symbols in decoded files that are kept: popular files are asked for again and again.
_KEPT_SYMBOLS = 100_000


def uses_qualified(family: str) -> bool:
    """Whether the languages of a family use qualified names, at least for modules spread over several files."""
    return has_rule(family, "declared_imports") or has_rule(family, "spread_modules")


class Definition(NamedTuple):
    """A definition that code can refer to (`CALLABLE`)."""

    symbol: int
    file: int
    kind: str
    around: str  # the kind of its parent, "" at the top level
    owner: str  # as in FileFacts.owners
    static: bool = False  # as in FileFacts.static


class Files:
    """All files by path, module name and package. A file's number is its index in `heads`, which are sorted by path."""

    def __init__(self, heads: Sequence[FileHead]) -> None:
        self.heads = heads

    @cached_property
    def families(self) -> list[str]:
        known = {head.language: head.family for head in self.heads}
        return [known[head.language] for head in self.heads]

    @cached_property
    def rules(self) -> list[frozenset[str]]:
        """Per file, the rules of its language (`language_rules.RULES`)."""
        return [words_of(head.language, "call_rules") for head in self.heads]

    @cached_property
    def folders(self) -> list[str]:
        return [head.folder for head in self.heads]

    @cached_property
    def by_path(self) -> dict[str, int]:
        return {head.path: file for file, head in enumerate(self.heads)}

    @cached_property
    def by_ending(self) -> dict[str, list[tuple[tuple[str, ...], int]]]:
        """Maps the last segment of a module name to (all segments, file): `a/b.py` is a.b, `a/__init__.py` also a."""
        found: dict[str, list[tuple[tuple[str, ...], int]]] = defaultdict(list)
        for file, head in enumerate(self.heads):
            for segments in module_names(head.path):
                found[segments[-1]].append((segments, file))
        return found

    @cached_property
    def go_packages(self) -> dict[str, list[int]]:
        """Maps a folder to its Go files, without tests."""
        found: dict[str, list[int]] = defaultdict(list)
        for file, head in enumerate(self.heads):
            if in_go_package(head):
                found[head.folder].append(file)
        return found

    @cached_property
    def manifests(self) -> dict[str, dict[str, list[int]]]:
        """Maps kinds of manifest, then the names of Rust crates, Go modules or npm packages, to their manifests."""
        found: dict[str, dict[str, list[int]]] = {kind: {} for kind in _MANIFESTS.values()}
        for file, head in enumerate(self.heads):
            if kind := manifest_kind(head):
                found[kind].setdefault(head.package, []).append(file)
        return found

    @cached_property
    def by_package(self) -> dict[str, list[int]]:
        """Maps a declared package or namespace to its files, in families for which `uses_qualified` holds."""
        found: dict[str, list[int]] = defaultdict(list)
        for file, head in enumerate(self.heads):
            if head.package and uses_qualified(head.family):
                found[head.package].append(file)
        return found


def module_names(path: str) -> list[tuple[str, ...]]:
    """The module names by which a file can be imported, each as a tuple of segments."""
    stem = path.rpartition(".")[0] or path
    segments = tuple(stem.split("/"))
    if segments[-1] in INDEX_NAMES and len(segments) > 1:
        return [segments, segments[:-1]]
    return [segments]


def shared_folders(one: Sequence[str], other: Sequence[str]) -> int:
    """The number of leading folders that two paths share."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def is_go_test(path: str) -> bool:
    """Whether a Go file is built for tests only, so that other packages cannot import it."""
    return path.endswith("_test.go")


def in_go_package(head: FileHead) -> bool:
    """Whether a file is a Go file that other packages can import: any but a test."""
    return has_rule(head.language, "packages") and not is_go_test(head.path)


def manifest_kind(head: FileHead) -> str:
    """The kind of a manifest that declares a name: "crate", "modules" (Go) or "npm"; "" for other files."""
    return _MANIFESTS.get(head.path.rpartition("/")[2], "") if head.package and head.language == "text" else ""


class Tables(Protocol):
    """Plain look-ups about all files, which leave no keys; `LookUps` asks these, and records the keys."""

    @property
    def files(self) -> Files: ...

    @property
    def first_lambda(self) -> Sequence[int]:
        """[files + 1]: the number of each file's first anonymous function, and then the number of all."""

    def facts(self, file: int, /) -> FileFacts:
        """Definitions, imports and bases of a file."""

    def calls(self, file: int) -> Sequence[CallSite]:
        """Calls in a file, in text order."""

    def named(self, name: str) -> Sequence[Definition]:
        """All callable definitions of a name, in every language, by symbol number."""

    def names(self, symbols: Sequence[int]) -> dict[int, tuple[str, int]]:
        """Maps each symbol to its name and the number of its enclosing symbol (-1 at the top level).

        Args:
            symbols: Numbers of `CALLABLE` symbols, ascending.
        """

    def heirs(self, name: str) -> Sequence[Definition]:
        """The types with a base whose last name segment is `name`, each once, by symbol number."""

    def stored(self, kind: int, owner: str | None, name: str) -> Sequence[tuple[int, StoredFunction]]:
        """The functions in a slot, as (file, item), by file, in text order; if `owner` is None, with any owner."""

    def declaring(self, qualified_name: str) -> Sequence[int]:
        """The files that declare a type, module or namespace of that qualified name, ascending."""


class StoredTables(Tables, Protocol):
    """The tables of one generation of an index. A refresh compares two generations.

    Every method raises `DamagedIndexError` if the index cannot be read.
    """

    @property
    def n_symbols(self) -> int: ...

    def stable_ids(self, file: int) -> Sequence[str]:
        """The stable ids of a file's symbols, in the order of the symbols."""

    def stable_id(self, symbol: int) -> str:
        """The stable id of a symbol, which a refresh keeps although the symbol's number may change."""

    def qualified_names(self, file: int) -> Sequence[str]:
        """The qualified names of a file's symbols, in the order of the symbols."""


def _slot(kind: Any, owner: Any, name: Any) -> Any:
    """One number of 62 bits for a slot, from its kind and the numbers of its owner and name; works on arrays, too."""
    return kind << 58 | name << 29 | owner


class _KeptFacts(dict[int, FileFacts]):
    """A cache of decoded facts in two generations: when the younger generation is full, it replaces the older."""

    def __init__(self, decode: Callable[[int], FileFacts]) -> None:
        super().__init__()
        self._decode = decode
        self._older: dict[int, FileFacts] = {}
        self._symbols = 0

    def __missing__(self, file: int) -> FileFacts:
        found = self._older.pop(file, None) or self._decode(file)
        if self._symbols > _KEPT_SYMBOLS // 2:
            self._older, self._symbols = dict(self), 0
            self.clear()
        self[file] = found
        self._symbols += len(found.kinds)
        return found


class MemoryTables:
    """The facts of all files in columns; each string is kept once. Add every file in path order, then call `freeze`."""

    def __init__(self) -> None:
        self._heads: list[FileHead] = []
        self._texts: dict[str, int] = {"": 0}
        self._names, self._parents, self._owners = array("i"), array("i"), array("i")
        self._arities, self._static = array("i"), array("B")
        self._kinds = array("B")
        self._calls = array("i")  # six numbers each: name, receiver, line, caller, arguments, what is passed
        self._imports = array("i")  # four numbers each: module, name, alias, line
        self._bases = array("i")  # three numbers each: symbol, name, line
        self._types = array("i")  # five numbers each: kind, scope, name, packed, within
        self._stored = array("i")  # seven numbers each, as `stored_of`
        self._heirs: dict[int, list[int]] = {}
        self._flows: list[bytes] = []  # per file
        self._lambdas = array("i")  # three numbers each, as in `Lambda`
        self._starts = {part: array("i", [0]) for part in _PARTS}
        self._declared: dict[str, array[int]] = {}
        self.sites: Counter[tuple[str, str]] = Counter()  # (family, name) -> calls of it on some receiver
        # The method of a dict, not one in Python: linking asks for facts at every step.
        self.facts = _KeptFacts(self._decode_facts).__getitem__
        self.first_symbol = self._starts["symbols"]  # [files + 1]
        self.first_lambda = self._starts["lambdas"]  # [files + 1]

    # --- filling --------------------------------------------------------------------------------------------------

    def add_extract(self, path: str, test: bool, extract: Extract) -> None:
        """Add the next file, given what was extracted from it."""
        head = FileHead(path, extract.language, test, extract.package)
        calls = [(c.name, c.receiver, c.line, c.caller, c.arguments, c.passed) for c in extract.calls]
        declared = (
            {s.qualified_name for s in extract.symbols if s.kind in DECLARED} if uses_qualified(head.family) else ()
        )
        self.add(facts_of(head, self.first_symbol[-1], extract), calls, declared)

    def add(
        self,
        facts: FileFacts,
        calls: Iterable[tuple[str, str, int, int, int, str]],
        declared: set[str] | tuple[str, ...],
    ) -> None:
        """Add the next file, given its facts and its calls.

        Args:
            facts: The facts; `facts.first` is ignored.
            calls: The calls, with the fields of `CallSite`.
            declared: Qualified names of the file's `DECLARED` definitions, if `uses_qualified` holds for its family.
        """
        text = self._number
        own = facts.head.family
        self._heads.append(facts.head)
        # Nothing refers to symbols that are not callable, and they may be most of all: their names are not kept.
        self._names.extend(text(n) if k in CALLABLE else 0 for n, k in zip(facts.names, facts.kinds, strict=True))
        self._kinds.extend(_KIND[kind] for kind in facts.kinds)
        self._parents.extend(facts.parents)
        self._owners.extend(map(text, facts.owners))
        self._arities.extend(facts.arities)
        self._static.extend(facts.static)
        for name, receiver, line, caller, arguments, passed in calls:
            self._calls.extend((text(name), text(receiver), line, caller, arguments, text(passed)))
            if receiver and arguments > IMPLICIT:
                self.sites[own, name] += 1
        for item in facts.imports:
            self._imports.extend((text(item.module), text(item.name), text(item.alias), item.line))
        for base in facts.bases:
            heirs = self._heirs.setdefault(text(base.name.rpartition(".")[2]), [])
            if not heirs or heirs[-1] != self.first_symbol[-1] + base.symbol:
                heirs.append(self.first_symbol[-1] + base.symbol)
            self._bases.extend((base.symbol, text(base.name), base.line))
        for typed in facts.types:
            self._types.extend((typed.kind, typed.scope, text(typed.name), text(typed.packed), typed.within))
        for kind, owner, name, value, within, place, holder in facts.stored:
            self._stored.extend((kind, text(owner), text(name), text(pack(value)), within, place, text(pack(holder))))
        self._flows.append(facts.flow)
        for anonymous in facts.lambdas:
            self._lambdas.extend(anonymous)
        for qualified in declared:
            self._declared.setdefault(qualified, array("i")).append(len(self._heads) - 1)
        for part, column, width in (
            ("symbols", self._names, 1), ("calls", self._calls, 6), ("imports", self._imports, 4),
            ("bases", self._bases, 3), ("types", self._types, 5), ("stored", self._stored, 7),
            ("lambdas", self._lambdas, 3),
        ):  # fmt: skip
            self._starts[part].append(len(column) // width)

    def _number(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def freeze(self) -> None:
        """Build the indexes. No file can be added afterwards."""
        import numpy as np

        self.files = Files(self._heads)
        self._text = list(self._texts)
        names = np.array(self._names, np.int32)
        callable_ = np.array([kind in CALLABLE for kind in KINDS])[np.array(self._kinds, np.uint8)]
        symbols = np.flatnonzero(callable_)
        order = symbols[np.argsort(names[symbols], kind="stable")]
        self._by_name = memoryview(order.astype(np.int32).tobytes()).cast("i")
        starts = np.searchsorted(names[order], np.arange(len(self._text) + 1))
        self._name_starts = memoryview(starts.astype(np.int32).tobytes()).cast("i")
        first = np.array(self.first_symbol, np.int32)
        counts = first[1:] - first[:-1]
        self._file_of = memoryview(np.repeat(np.arange(len(counts), dtype=np.int32), counts).tobytes()).cast("i")
        stored = np.array(self._stored, np.int32).reshape(-1, 7)
        slots = _slot(*(stored[:, column].astype(np.int64) for column in range(3)))
        order = np.argsort(slots, kind="stable")
        self._by_slot = memoryview(order.astype(np.int32).tobytes()).cast("i")
        self._slots = memoryview(slots[order].tobytes()).cast("q")

    @property
    def n_calls(self) -> int:
        return self._starts["calls"][-1]

    def blocks_of_calls(self, n_blocks: int) -> list[int]:
        """The first file of each of `n_blocks` blocks with about equal numbers of calls, then the number of files."""
        starts = self._starts["calls"]
        first = [bisect_left(starts, starts[-1] * block // n_blocks) for block in range(n_blocks)]
        return [*first, len(self.files.heads)]

    # --- look-ups -------------------------------------------------------------------------------------------------

    def _decode_facts(self, file: int) -> FileFacts:
        text = self._text
        start, stop = self.first_symbol[file : file + 2]
        imports = self._rows("imports", self._imports, file, 4)
        bases = self._rows("bases", self._bases, file, 3)
        types = self._rows("types", self._types, file, 5)
        return FileFacts(
            self._heads[file],
            start,
            names=[text[n] for n in self._names[start:stop]],
            kinds=[KINDS[n] for n in self._kinds[start:stop]],
            parents=self._parents[start:stop],
            owners=[text[n] for n in self._owners[start:stop]],
            static=[bool(n) for n in self._static[start:stop]],
            arities=self._arities[start:stop],
            imports=[
                Import(text[m], text[n], text[a], line) for m, n, a, line in zip(*[iter(imports)] * 4, strict=True)
            ],
            bases=[BaseName(s, text[n], line) for s, n, line in zip(*[iter(bases)] * 3, strict=True)],
            types=[typed_of(k, s, text[n], text[t], w) for k, s, n, t, w in zip(*[iter(types)] * 5, strict=True)],
            stored=[self._stored_row(row) for row in range(*self._starts["stored"][file : file + 2])],
            lambdas=[
                Lambda(*row) for row in zip(*[iter(self._rows("lambdas", self._lambdas, file, 3))] * 3, strict=True)
            ],
            flow=self._flows[file],
        )

    def _rows(self, part: str, column: array[int], file: int, width: int) -> array[int]:
        start, stop = self._starts[part][file : file + 2]
        return column[start * width : stop * width]

    def calls(self, file: int) -> Sequence[CallSite]:
        text = self._text
        numbers = self._rows("calls", self._calls, file, 6)
        columns = (
            map(text.__getitem__, numbers[0::6]),
            map(text.__getitem__, numbers[1::6]),
            numbers[2::6],
            numbers[3::6],
            numbers[4::6],
            map(text.__getitem__, numbers[5::6]),
        )
        return list(map(CallSite._make, zip(*columns, strict=True)))

    def named(self, name: str) -> Sequence[Definition]:
        number = self._texts.get(name)
        if number is None:
            return ()
        return [self._definition(s) for s in self._by_name[self._name_starts[number] : self._name_starts[number + 1]]]

    def _definition(self, symbol: int) -> Definition:
        file = self._file_of[symbol]
        parent = self._parents[symbol]
        around = KINDS[self._kinds[self.first_symbol[file] + parent]] if parent >= 0 else ""
        of, static = self._text[self._owners[symbol]], bool(self._static[symbol])
        return Definition(symbol, file, KINDS[self._kinds[symbol]], around, of, static)

    def names(self, symbols: Sequence[int]) -> dict[int, tuple[str, int]]:
        parents = ((symbol, self._parents[symbol], self.first_symbol[self._file_of[symbol]]) for symbol in symbols)
        return {
            symbol: (self._text[self._names[symbol]], first + parent if parent >= 0 else -1)
            for symbol, parent, first in parents
        }

    def heirs(self, name: str) -> Sequence[Definition]:
        return [self._definition(symbol) for symbol in sorted(set(self._heirs.get(self._texts.get(name, -1), ())))]

    def stored(self, kind: int, owner: str | None, name: str) -> Sequence[tuple[int, StoredFunction]]:
        of, at = 0 if owner is None else self._texts.get(owner, -1), self._texts.get(name, -1)
        if of < 0 or at < 0:
            return ()
        last = (kind, of, at + 1) if owner is None else (kind, of + 1, at)
        start = bisect_left(self._slots, _slot(kind, of, at))
        stop = bisect_left(self._slots, _slot(*last), start)
        starts = self._starts["stored"]
        rows = sorted(self._by_slot[start:stop])
        return [(bisect_right(starts, row) - 1, self._stored_row(row)) for row in rows]

    def _stored_row(self, row: int) -> StoredFunction:
        text = self._text
        kind, owner, name, value, within, place, holder = self._stored[7 * row : 7 * row + 7]
        return stored_of(kind, text[owner], text[name], text[value], within, place, text[holder])

    def declaring(self, qualified_name: str) -> Sequence[int]:
        return self._declared.get(qualified_name, ())
