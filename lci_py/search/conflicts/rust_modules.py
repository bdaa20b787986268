"""Determines what other files say about a Rust definition: conditions of module declarations and macros, and its scope.

A file is a module because another file declares it, perhaps under a condition: `#[cfg(unix)] mod unix;`. A macro such
as tokio's `cfg_net!` puts `#[cfg]` before the items that it contains; it is mostly defined in a file of its own. Both
conditions are stored with the definitions of the modules and macros (`source/conditions/rust.py`). So a file costs a
few look-ups by name here, however large the repository is.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from lci_py.index.shards.filters import KIND_NUMBER, kinds_in, named_in, qualified_in
from lci_py.source.conditions.rust_cfg import UNKNOWN, unquote
from lci_py.source.conditions.text import any_of, clip, conjuncts, join
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from lci_py.index.shards.symbols import SymbolicIndex

#: For a file with more declarations than this no condition is computed: no person could read it.
_MAX_DECLARATIONS = 8
_MAX_STEPS = 32  # modules around a module
_ROOTS = frozenset({"lib.rs", "main.rs", "mod.rs", "build.rs"})
_MAX_TEXT = 4_000  # of a condition; a longer one is cut
_UNKNOWN = lazily(r"macro\((\w+)\)\Z")
#: With `=`, as the index of such modules has it.
_IS_MODULE = f"s.kind_number = {KIND_NUMBER['module']}"
_SELECT = (
    "SELECT f.id, f.path, s.name, s.qualified_name, s.build_tag, s.traits FROM symbols s JOIN files f ON f.id = s.file"
)


class _Module(NamedTuple):
    """A declaration `mod name;`, whose module is in a file of its own."""

    file: str
    segment: int
    number: int  # of the file, within the segment
    name: str
    inside: tuple[str, ...]  # names of the inline modules around it
    tag: str | None
    notes: tuple[str, ...]


#: A part of the path of an item, the file that declares it, and the path by which that file declares it.
_Part = tuple[str, str, str]


class _Lead(NamedTuple):
    """A declaration that makes a file a module."""

    module: _Module
    condition: str  # of its attribute `path`
    placed: bool  # whether the attribute names the file


class Modules:
    """Answers questions about the Rust modules of one index; each answer is cached."""

    def __init__(self, symbols: SymbolicIndex) -> None:
        self._symbols = symbols
        self._names_read: set[str] = set()
        #: By the path of a file, the declarations that lead to it: if submodules lie in the folder of a file's name,
        #: and if they lie beside the file.
        self._by_place: tuple[dict[str, list[_Lead]], dict[str, list[_Lead]]] = ({}, {})
        self._leading: dict[str, list[_Lead]] = {}
        self._conditions: dict[str, str | None] = {}
        self._tags: dict[tuple[str, str | None], str | None] = {}
        self._public: dict[tuple[str, str], bool] = {}
        self._macros: dict[str, list[sqlite3.Row]] = {}
        self._imports: dict[tuple[int, int], dict[str, dict[str, str]]] = {}

    def tag(self, path: str, build_tag: str | None) -> str | None:
        """A definition's condition joined with those from other files: None if it is always built, "0" if never.

        Args:
            path: The path of the definition's file, relative to the root.
            build_tag: The definition's condition in the index. The condition of an unknown macro stays `macro(name)`.
        """
        key = (path, build_tag)
        if key not in self._tags:
            self._tags[key] = all_of([self.condition(path), self._expand_macros(build_tag, path)])
        return self._tags[key]

    def condition(self, path: str) -> str | None:
        """The condition under which a file is part of a build, according to other files; None if they state none."""
        return self._condition(path, 0)

    def scope(self, path: str, qualified_name: str = "") -> str:
        """A key that the variants of one definition share: definitions with different scopes are different things.

        The key is the item's path in its crate, as re-exported by `pub use`. It has the declared name of a module and
        not the name of its file, since `#[path]` may give one module several files.

        Args:
            path: The path of the file, relative to the root.
            qualified_name: The name of the definition in its file; "" for the scope of the file.
        """
        # Each part of the path with the file that declares it, and the name that it is declared by there.
        parts = qualified_name.split(".") if qualified_name else []
        items = [(part, path, ".".join(parts[: at + 1])) for at, part in enumerate(parts)]
        at = path
        for _ in range(_MAX_STEPS):
            leads = self._leads(at)
            if not leads:
                break
            module = leads[0].module
            names = (*module.inside, module.name)
            modules = [(name, module.file, ".".join(names[: at + 1])) for at, name in enumerate(names)]
            at = module.file
            items = self._handed_on([*modules, *items], module, is_root=not self._leads(at))
        return f"{at}::{'.'.join(name for name, _, _ in items)}"

    def _handed_on(self, parts: list[_Part], module: _Module, *, is_root: bool) -> list[_Part]:
        """The path `parts` of an item, shortened by the `use` items in the file that declares `module`."""
        uses = self._uses(module, is_root)
        for _ in range(_MAX_STEPS):
            names = [name for name, _, _ in parts]
            for end in range(len(parts), 0, -1):
                inside, name = "::".join(names[: end - 1]), names[end - 1]
                words = uses.get(inside, {}) if inside else uses.get("self", {})
                alias = words.get(name)
                is_reexport = alias is not None or ("*" in words and inside and self._is_public(*parts[end - 1][1:]))
                if is_reexport and (inside or alias != name):
                    _, file, declared = parts[end - 1]
                    parts = [(alias or name, file, declared), *parts[end:]]
                    break
            else:
                break
        return parts

    def _is_public(self, path: str, name: str) -> bool:
        """Whether `use module::*` includes an item of a file; True for an item in a macro call, as it is unknown."""
        if (path, name) not in self._public:
            is_visible = "s.exported OR s.signature LIKE 'pub%' OR instr(s.build_tag, 'macro(')"
            self._public[path, name] = bool(
                self._rows(f"{qualified_in('s.', [name])} AND f.path = ? AND ({is_visible})", [name, name, path])
            )
        return self._public[path, name]

    # --- conditions ---------------------------------------------------------------------------------------------

    def _condition(self, path: str, depth: int) -> str | None:
        if path in self._conditions or depth > _MAX_STEPS:
            return self._conditions.get(path)
        self._conditions[path] = None  # for a module that declares itself, through others
        options: list[str] = []
        leads = self._leads(path)
        for lead in leads:
            enclosing = self._condition(lead.module.file, depth + 1)
            option = all_of([enclosing, self._expand_macros(lead.module.tag, lead.module.file), lead.condition])
            if option is None:
                return None
            options.append(option)
        if leads:
            self._conditions[path] = one_of(options) or None if len(leads) <= _MAX_DECLARATIONS else "…"
        return self._conditions[path]

    def _expand_macros(self, tag: str | None, path: str, inside: tuple[str, ...] = ()) -> str | None:
        """A condition with each `macro(name)` expanded, except the macros in `inside`, which are being expanded."""
        if tag is None or "macro(" not in tag:
            return tag
        parts = []
        for part in conjuncts(tag):
            match = _UNKNOWN.match(part)
            is_expandable = match is not None and match.group(1) not in inside and len(inside) < _MAX_STEPS
            parts.append(self._macro(match.group(1), path, inside) if match is not None and is_expandable else part)
        return all_of(parts)

    def _macro(self, name: str, path: str, inside: tuple[str, ...]) -> str:
        """The condition that a macro puts before its items in the file `path`; `macro(name)` if it is unknown."""
        rows = self._macros.get(name)
        if rows is None:
            rows = self._macros[name] = [
                row for _, row in self._rows(f"{named_in('s.', [name])} AND {kinds_in('s.', ['macro'])}", [name])
            ]
        if not rows:
            return UNKNOWN.format(name)
        near = max((_shared_folders(row["path"], path), row["path"]) for row in rows)[1]
        here = [row for row in rows if row["path"] == near]
        options = []
        for row in here:
            when = next((word[5:] for word in row["traits"].split() if word.startswith("when=")), None)
            if when is None:
                return UNKNOWN.format(name)
            # Which one of several definitions counts depends on their own conditions.
            own = row["build_tag"] if len(here) > 1 else None
            options.append(all_of([own, self._expand_macros(unquote(when), near, (*inside, name))]) or "")
        return one_of(options)

    # --- declarations -------------------------------------------------------------------------------------------

    def _leads(self, path: str, depth: int = 0) -> list[_Lead]:
        """The declarations `mod name;` that make a file a module."""
        cached = self._leading.get(path)
        if cached is not None or depth > _MAX_STEPS:
            return cached or []
        self._leading[path] = []  # for two files that declare each other
        folder, base = posixpath.split(path)
        self._read(posixpath.basename(folder) if base == "mod.rs" else base.removesuffix(".rs"))
        certain, beside = ([item for item in at.get(path, ()) if item.module.file != path] for at in self._by_place)
        # Submodules lie beside a file, whatever its name, if it is the root of a crate, which nothing declares, or if
        # an attribute names it.
        leads = certain or [
            lead for lead in beside if all(lead_above.placed for lead_above in self._leads(lead.module.file, depth + 1))
        ]
        leads.sort(key=lambda lead: (lead.module.file, lead.module.name, lead.module.tag or "", lead.condition))
        self._leading[path] = leads[: _MAX_DECLARATIONS + 1]
        return self._leading[path]

    def _read(self, name: str) -> None:
        """Read the declarations of modules called `name`; the first call also reads all declarations with `#[path]`."""
        if not self._names_read:
            # The name of such a module need not be that of its file.
            self._take_down(self._rows(f"{_IS_MODULE} AND instr(s.traits, 'path=')", []))
        if name not in self._names_read:
            sql = f"{named_in('s.', [name])} AND {_IS_MODULE} AND instr(s.traits, 'external')"
            sql += " AND NOT instr(s.traits, 'path=')"
            self._take_down(self._rows(sql, [name]))
        self._names_read.add(name)

    def _take_down(self, rows: Iterable[tuple[int, sqlite3.Row]]) -> None:
        for module in _modules(rows):
            folders = _own_folder(module.file), posixpath.dirname(module.file)
            for at, folder in zip(self._by_place, folders, strict=True):
                for file, lead in _leading(module, folder):
                    at.setdefault(file, []).append(lead)

    def _rows(self, condition: str, args: list[object]) -> list[tuple[int, sqlite3.Row]]:
        return [
            (number, row)
            for number, segment in enumerate(self._symbols.segments)
            for row in segment.execute(f"{_SELECT} WHERE {segment.live} AND {condition} AND f.language = 'rust'", args)
        ]

    def _uses(self, module: _Module, is_root: bool) -> dict[str, dict[str, str]]:
        """Maps each module that the file of `module` imports from to a dict from an item (or `*`) to its local name."""
        key = (module.segment, module.number)
        if key not in self._imports:
            imports: dict[str, dict[str, str]] = {}
            sql = "SELECT module, name, alias FROM imports WHERE file = ?"
            for path, name, alias in self._symbols.segments[module.segment].execute(sql, [module.number]):
                inside = str(path).removeprefix("self::")
                inside = inside.removeprefix("crate::") if is_root else inside
                if not name:  # `use a::b as c`, which names no item
                    inside, _, name = inside.rpartition("::")
                imports.setdefault(inside or "self", {})[name] = alias or name
            self._imports[key] = imports
        return self._imports[key]


# --- conditions of several files as one -----------------------------------------------------------------------------


def all_of(conditions: Iterable[str | None]) -> str | None:
    """The conjunction of conditions; None if no condition is set, "0" if one of them never holds."""
    nonempty = [condition for condition in conditions if condition]
    joined = "0" if "0" in nonempty else join(nonempty)
    return clip(joined, _MAX_TEXT) if joined is not None else None


def one_of(conditions: Iterable[str]) -> str:
    """The disjunction of conditions: "0" if there are none, "" if one of them always holds."""
    options = list(dict.fromkeys(condition for condition in conditions if condition != "0"))
    return "" if "" in options else clip(any_of(options), _MAX_TEXT) or "0"


# --- declarations of modules ------------------------------------------------------------------------------------------


def _modules(rows: Iterable[tuple[int, sqlite3.Row]]) -> list[_Module]:
    return [
        _Module(
            row["path"], segment, row["id"], row["name"], tuple(row["qualified_name"].split(".")[:-1]),
            row["build_tag"], tuple(row["traits"].split()),
        )
        for segment, row in rows
    ]  # fmt: skip


def _own_folder(file: str) -> str:
    """The folder that contains the submodules of a file, judging by the file's name."""
    folder, base = posixpath.split(file)
    return folder if base in _ROOTS else posixpath.join(folder, base.removesuffix(".rs"))


def _leading(module: _Module, start: str) -> Iterator[tuple[str, _Lead]]:
    """(path, declaration) of each file that a module may be in, if its parent's submodules are in `start`."""
    inside = posixpath.join(start, *module.inside)
    paths = [note[5:].partition("?") for note in module.notes if note.startswith("path=")]
    for path, _, quoted in paths or [("", "", "")]:
        lead = _Lead(module, unquote(quoted), bool(path))
        if path:
            # Beside the file that says so, unless inline modules are around it.
            base = inside if module.inside else posixpath.dirname(module.file)
            yield posixpath.normpath(posixpath.join(base, unquote(path))), lead
        else:
            yield posixpath.join(inside, f"{module.name}.rs"), lead
            yield posixpath.join(inside, module.name, "mod.rs"), lead


def _shared_folders(path: str, other: str) -> int:
    """The number of leading folders that two paths share; for two equal paths also the file counts."""
    ours, others = path.split("/"), other.split("/")
    return next((i for i, (a, b) in enumerate(zip(ours, others, strict=False)) if a != b), len(ours))
