"""The tables that answer look-ups: the interface, and its implementation in memory for a full link.

The interface is small and plain, so that its two implementations cannot differ: the second reads SQLite for a refresh
(index/shards/callgraph_tables.py). lookups.py derives answers such as "the only type of that name" for both.
"""

from __future__ import annotations

import marshal
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from lci_py.callgraph.file_facts import DECLARED, BaseName, CallSite, FileFacts, FileHead, facts_of
from lci_py.source.text.language_tables import has_rule, words_of
from lci_py.types.expressions import pack
from lci_py.types.search import IMPLICIT, KINDS
from lci_py.types.source import Import, Lambda, StoredFunction, stored_of, typed_of

if TYPE_CHECKING:
    from lci_py.types.source import Call, Extract

_KIND = {kind: number for number, kind in enumerate(KINDS)}
#: Names, without suffix, of files that stand for their folder.
INDEX_NAMES = frozenset({"__init__", "index", "mod", "lib", "main", "init"})
#: Manifests by their names, and the kinds of look-ups that they answer.
_MANIFESTS = {"Cargo.toml": "crate", "go.mod": "modules", "package.json": "npm"}
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
    parent_kind: str  # the kind of its parent, "" at the top level
    owner: str  # as in FileFacts.owners
    static: bool = False  # as in FileFacts.static


class Files:
    """All files by path, module name and package. A file's number is its index in `heads`, which are sorted by path."""

    def __init__(self, heads: Sequence[FileHead]) -> None:
        self.heads = heads

    @cached_property
    def families(self) -> list[str]:
        family_of = {head.language: head.family for head in self.heads}
        return [family_of[head.language] for head in self.heads]

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
        endings: dict[str, list[tuple[tuple[str, ...], int]]] = defaultdict(list)
        for file, head in enumerate(self.heads):
            for segments in module_names(head.path):
                endings[segments[-1]].append((segments, file))
        return endings

    @cached_property
    def go_packages(self) -> dict[str, list[int]]:
        """Maps a folder to its Go files, without tests."""
        packages: dict[str, list[int]] = defaultdict(list)
        for file, head in enumerate(self.heads):
            if in_go_package(head):
                packages[head.folder].append(file)
        return packages

    @cached_property
    def manifests(self) -> dict[str, dict[str, list[int]]]:
        """Maps kinds of manifest, then the names of Rust crates, Go modules or npm packages, to their manifests."""
        by_kind: dict[str, dict[str, list[int]]] = {kind: {} for kind in _MANIFESTS.values()}
        for file, head in enumerate(self.heads):
            if kind := manifest_kind(head):
                by_kind[kind].setdefault(head.package, []).append(file)
        return by_kind

    @cached_property
    def by_package(self) -> dict[str, list[int]]:
        """Maps a declared package or namespace to its files, in families for which `uses_qualified` holds."""
        packages: dict[str, list[int]] = defaultdict(list)
        for file, head in enumerate(self.heads):
            if head.package and uses_qualified(head.family):
                packages[head.package].append(file)
        return packages


def module_names(path: str) -> list[tuple[str, ...]]:
    """The module names by which a file can be imported, each as a tuple of segments."""
    stem = path.rpartition(".")[0] or path
    segments = tuple(stem.split("/"))
    if segments[-1] in INDEX_NAMES and len(segments) > 1:
        return [segments, segments[:-1]]
    return [segments]


def shared_folders(path: Sequence[str], other: Sequence[str]) -> int:
    """The number of leading folders that two paths share."""
    return next((i for i, (a, b) in enumerate(zip(path, other, strict=False)) if a != b), min(len(path), len(other)))


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

    def callables_named(self, name: str) -> Sequence[Definition]:
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


class _Packed:
    """Values of each file, compressed, one after another: one block goes back to the system whole when it is freed."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._starts = array("q", [0])

    def append(self, *values: Any) -> None:
        """Add the values of the next file: numbers, texts, bytes, and lists and tuples of them."""
        self._data += zlib.compress(marshal.dumps(values), 1)
        self._starts.append(len(self._data))

    def __getitem__(self, file: int) -> Any:
        start, stop = self._starts[file : file + 2]
        return marshal.loads(zlib.decompress(self._data[start:stop]))


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
        facts = self._older.pop(file, None) or self._decode(file)
        if self._symbols > _KEPT_SYMBOLS // 2:
            self._older, self._symbols = dict(self), 0
            self.clear()
        self[file] = facts
        self._symbols += len(facts.kinds)
        return facts


class MemoryTables:
    """The facts of all files, each file's as compressed bytes, and columns with what is looked up across files. Add
    every file in path order, then call `freeze`.
    """

    def __init__(self) -> None:
        self._heads: list[FileHead] = []
        self._facts, self._calls = _Packed(), _Packed()
        # Of each callable definition: the hash of its name (64 bits, so that no two names share one), its number, and
        # which of `_traits` it has.
        self._hashes, self._symbols, self._trait = array("q"), array("i"), array("i")
        self._traits: dict[tuple[str, str, str, bool], int] = {}  # fields of `Definition`, from `kind` on
        self._texts: dict[str, int] = {"": 0}  # texts in `_stored`
        self._stored = array("i")  # seven numbers each, as `stored_of`
        self._heirs: dict[str, array[int]] = {}
        self._declared: dict[str, array[int]] = {}
        self.sites: Counter[tuple[str, str]] = Counter()  # (family, name) -> calls of it on some receiver
        # The method of a dict, not one in Python: linking asks for facts at every step.
        self.facts = _KeptFacts(self._decode_facts).__getitem__
        self.lambdas = array("i")  # three numbers each, as in `Lambda`
        # [files + 1] each
        self.first_symbol, self.first_lambda, self._first_call, self._first_stored = (array("i", [0]) for _ in range(4))

    # --- filling --------------------------------------------------------------------------------------------------

    def add_extract(self, path: str, test: bool, extract: Extract) -> None:
        """Add the next file, given what was extracted from it."""
        head = FileHead(path, extract.language, test, extract.package)
        declared = (
            {s.qualified_name for s in extract.symbols if s.kind in DECLARED} if uses_qualified(head.family) else ()
        )
        self.add(facts_of(head, self.first_symbol[-1], extract), extract.calls, declared)

    def add(self, facts: FileFacts, calls: Sequence[CallSite | Call], declared: Iterable[str]) -> None:
        """Add the next file, given its facts and its calls.

        Args:
            facts: The facts; `facts.first` is ignored.
            declared: Qualified names of the file's `DECLARED` definitions, if `uses_qualified` holds for its family.
        """
        file, first = len(self._heads), self.first_symbol[-1]
        self._heads.append(facts.head)
        self._facts.append(
            list(facts.names), bytes(map(_KIND.__getitem__, facts.kinds)), array("i", facts.parents).tobytes(),
            [(index, owner) for index, owner in enumerate(facts.owners) if owner], bytes(facts.static),
            array("i", facts.arities).tobytes(), list(map(tuple, facts.imports)), list(map(tuple, facts.bases)),
            [item.row() for item in facts.types], list(map(tuple, facts.lambdas)), facts.flow,
        )  # fmt: skip
        self._calls.append(*zip(*calls, strict=True))
        called = [name for name, receiver, _, _, arguments, _ in calls if receiver and arguments > IMPLICIT]
        self.sites.update(zip(repeat(facts.head.family), called))
        # Nothing refers to symbols that are not callable, and they may be most of all.
        indices, trait_of = facts.callables, self._trait_of
        self._hashes.extend([hash(facts.names[index]) for index in indices])
        self._symbols.extend([first + index for index in indices])
        self._trait.extend([trait_of(facts, index) for index in indices])
        for base in facts.bases:
            heirs = self._heirs.setdefault(base.name.rpartition(".")[2], array("i"))
            heirs.extend((first + base.symbol, self._trait_of(facts, base.symbol)))
        text = self._number
        for kind, owner, name, value, within, place, holder in facts.stored:
            self._stored.extend((kind, text(owner), text(name), text(pack(value)), within, place, text(pack(holder))))
        for anonymous in facts.lambdas:
            self.lambdas.extend(anonymous)
        for qualified in declared:
            self._declared.setdefault(qualified, array("i")).append(file)
        self.first_symbol.append(first + len(facts.kinds))
        self.first_lambda.append(len(self.lambdas) // 3)
        self._first_stored.append(len(self._stored) // 7)
        self._first_call.append(self.n_calls + len(calls))

    def _number(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def _trait_of(self, facts: FileFacts, index: int) -> int:
        trait = facts.kinds[index], facts.kind_around(index), facts.owners[index], facts.static[index]
        return self._traits.setdefault(trait, len(self._traits))

    def freeze(self) -> None:
        """Build the indexes. No file can be added afterwards."""
        import numpy as np

        self.files = Files(self._heads)
        self._trait_list, self._text = list(self._traits), list(self._texts)
        order = np.argsort(np.frombuffer(self._hashes, np.int64), kind="stable")
        for name in ("_hashes", "_symbols", "_trait"):
            column = getattr(self, name)
            setattr(self, name, array(column.typecode, np.frombuffer(column, column.typecode)[order].tobytes()))
        stored = np.array(self._stored, np.int32).reshape(-1, 7)
        slots = _slot(*(stored[:, column].astype(np.int64) for column in range(3)))
        order = np.argsort(slots, kind="stable")
        self._by_slot = array("i", order.astype(np.int32).tobytes())
        self._slots = array("q", slots[order].tobytes())

    @property
    def n_calls(self) -> int:
        return self._first_call[-1]

    def blocks_of_calls(self, n_blocks: int) -> list[int]:
        """The first file of each of `n_blocks` blocks with about equal numbers of calls, then the number of files."""
        starts = self._first_call
        first = [bisect_left(starts, starts[-1] * block // n_blocks) for block in range(n_blocks)]
        return [*first, len(self.files.heads)]

    # --- look-ups -------------------------------------------------------------------------------------------------

    def _decode_facts(self, file: int) -> FileFacts:
        names, kinds, parents, owned, static, arities, imports, bases, types, lambdas, flow = self._facts[file]
        owners = [""] * len(names)
        for index, owner in owned:
            owners[index] = owner
        return FileFacts(
            self._heads[file],
            self.first_symbol[file],
            names=names,
            kinds=[KINDS[n] for n in kinds],
            parents=array("i", parents),
            owners=owners,
            static=list(map(bool, static)),
            arities=array("i", arities),
            imports=list(map(Import._make, imports)),
            bases=list(map(BaseName._make, bases)),
            types=[typed_of(*row) for row in types],
            stored=[self._stored_row(row) for row in range(*self._first_stored[file : file + 2])],
            lambdas=list(map(Lambda._make, lambdas)),
            flow=flow,
        )

    def calls(self, file: int) -> Sequence[CallSite]:
        return list(map(CallSite._make, zip(*self._calls[file], strict=True)))

    def callables_named(self, name: str) -> Sequence[Definition]:
        number, hashes = hash(name), self._hashes
        start = bisect_left(hashes, number)
        if start == len(hashes) or hashes[start] != number:
            return ()
        stop = bisect_right(hashes, number, start)
        return list(map(self._definition, self._symbols[start:stop], self._trait[start:stop]))

    def _file_of(self, symbol: int) -> int:
        return bisect_right(self.first_symbol, symbol) - 1

    def _definition(self, symbol: int, trait: int) -> Definition:
        return Definition(symbol, self._file_of(symbol), *self._trait_list[trait])

    def names(self, symbols: Sequence[int]) -> dict[int, tuple[str, int]]:
        by_symbol = {}
        for symbol in symbols:
            facts = self.facts(self._file_of(symbol))
            index = symbol - facts.first
            parent = facts.parents[index]
            by_symbol[symbol] = facts.names[index], facts.first + parent if parent >= 0 else -1
        return by_symbol

    def heirs(self, name: str) -> Sequence[Definition]:
        numbers = iter(self._heirs.get(name, ()))
        return [self._definition(symbol, trait) for symbol, trait in sorted(set(zip(numbers, numbers, strict=True)))]

    def stored(self, kind: int, owner: str | None, name: str) -> Sequence[tuple[int, StoredFunction]]:
        of, at = 0 if owner is None else self._texts.get(owner, -1), self._texts.get(name, -1)
        if of < 0 or at < 0:
            return ()
        last = (kind, of, at + 1) if owner is None else (kind, of + 1, at)
        start = bisect_left(self._slots, _slot(kind, of, at))
        stop = bisect_left(self._slots, _slot(*last), start)
        rows = sorted(self._by_slot[start:stop])
        return [(bisect_right(self._first_stored, row) - 1, self._stored_row(row)) for row in rows]

    def _stored_row(self, row: int) -> StoredFunction:
        text = self._text
        kind, owner, name, value, within, place, holder = self._stored[7 * row : 7 * row + 7]
        return stored_of(kind, text[owner], text[name], text[value], within, place, text[holder])

    def declaring(self, qualified_name: str) -> Sequence[int]:
        return self._declared.get(qualified_name, ())
