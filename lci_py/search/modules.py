"""What only other files say about a definition: conditions from module declarations and macros, and shared scopes.

A Rust file is a module because another file declares it, maybe under a condition: `#[cfg(unix)] mod unix;`. A macro
such as tokio's `cfg_net!` puts `#[cfg]` before the items it is given, and is mostly defined in a file of its own. Both
are noted at the definitions of the modules and macros (`source/conditions/rust.py`), so that a file costs a few look-ups
by name here, however large the repository is.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.conditions import conjuncts, join
from lci_py.source.conditions.paths import source_root
from lci_py.source.conditions.rust_cfg import unquote
from lci_py.source.conditions.text import any_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from lci_py.index.symbols import SymbolicIndex

#: More declarations of one file than this say nothing that a person could read.
_MAX_DECLARATIONS = 8
_MAX_CONDITION = 4000  # characters
_MAX_STEPS = 32  # modules around a module
_ROOTS = frozenset({"lib.rs", "main.rs", "mod.rs", "build.rs"})
#: Cargo's folders in which each file is a crate.
_CRATES = frozenset({"bin", "tests", "examples", "benches"})
_UNKNOWN = re.compile(r"macro\((\w+)\)\Z")
_SELECT = (
    "SELECT f.id, f.path, s.name, s.qualified_name, s.build_tag, s.traits FROM symbols s JOIN files f ON f.id = s.file"
)


class _Declaration(NamedTuple):
    """A `mod name;`."""

    file: str
    segment: int
    number: int  # of the file, within the segment
    name: str
    inside: tuple[str, ...]  # names of the inline modules around it
    tag: str | None
    notes: tuple[str, ...]


class Modules:
    """Answers from one index; each question is answered once.

    Args:
        symbols: The symbolic shards.
    """

    def __init__(self, symbols: SymbolicIndex) -> None:
        self._symbols = symbols
        self._named: dict[str, list[_Declaration]] = {}
        self._placed: list[_Declaration] | None = None
        self._declaring: dict[str, list[tuple[_Declaration, str]]] = {}
        self._conditions: dict[str, str | None] = {}
        self._macros: dict[str, list[sqlite3.Row]] = {}
        self._imports: dict[tuple[int, int], list[tuple[str, str, str]]] = {}

    def tag(self, language: str, path: str, build_tag: str | None) -> str | None:
        """A definition's condition together with what other files say: None if it is always built, "0" if never.

        Args:
            language: Of the file.
            path: Of the file, relative to the root.
            build_tag: As the index has it. What a macro that is not known puts before its items stays `macro(name)`.
        """
        if language != "rust":
            return build_tag
        return _bounded([self.condition(language, path), self._resolved(build_tag, path)])

    def condition(self, language: str, path: str) -> str | None:
        """What must hold for a file to be part of a build, as far as other files say; None if they say nothing."""
        return self._condition(path, 0) if language == "rust" else None

    def scope(self, language: str, path: str, qualified_name: str = "") -> str:
        """What variants of one definition share: two of them with different scopes are two things.

        For Rust the path of the item in its crate, from where it is handed on with `pub use`, with the declared name
        of a module in place of its file's: `#[path]` may give one module several files.

        Args:
            language: Of the file.
            path: Of the file, relative to the root.
            qualified_name: Of the definition, in its file; without it, the answer is the scope of the file.
        """
        if language != "rust":
            return source_root(language, path)
        inner = [part for part in qualified_name.split(".") if part]
        at = path
        for _ in range(_MAX_STEPS):
            declared = self._declarations(at)
            if not declared:
                break
            module = declared[0][0]
            words = self._handed_on(module)
            if not inner or not words & {f"gives={inner[0]}", "gives=*"}:
                alias = next((word[3:] for word in sorted(words) if word.startswith("as=")), module.name)
                inner = [alias, *inner]
            inner = [*module.inside, *inner]
            at = module.file
        return f"{at}::{'.'.join(inner)}"

    # --- conditions ---------------------------------------------------------------------------------------------

    def _condition(self, path: str, depth: int) -> str | None:
        if path in self._conditions or depth > _MAX_STEPS:
            return self._conditions.get(path)
        self._conditions[path] = None  # a module that declares itself, through others, depends on nothing
        options: list[str] = []
        for module, condition in self._declarations(path):
            around = self._condition(module.file, depth + 1)
            option = _bounded([around, self._resolved(module.tag, module.file), condition])
            if option is None:
                return None
            if option != "0" and option not in options:
                options.append(option)
        if not options and self._declarations(path):
            options = ["0"]
        found = any_of(options) or None if len(options) <= _MAX_DECLARATIONS else None
        self._conditions[path] = found
        return found

    def _resolved(self, tag: str | None, path: str) -> str | None:
        """A condition in which the macros are replaced by what they stand for."""
        if tag is None or "macro(" not in tag:
            return tag
        parts = []
        for part in conjuncts(tag):
            match = _UNKNOWN.match(part)
            parts.append(self._macro(match.group(1), path, part) if match else part)
        return join(parts)

    def _macro(self, name: str, path: str, unknown: str) -> str:
        """What a macro puts before the items it is given in a file; `unknown` if no definition of it says so."""
        rows = self._macros.get(name)
        if rows is None:
            rows = self._macros[name] = [row for _, row in self._rows("s.name = ? AND s.kind = 'macro'", [name])]
        if not rows:
            return unknown
        near = max((_shared(row["path"], path), row["path"]) for row in rows)[1]
        options = []
        here = [row for row in rows if row["path"] == near]
        for row in here:
            when = next((word[5:] for word in row["traits"].split() if word.startswith("when=")), None)
            if when is None:
                return unknown
            # Of several definitions of one macro it is their own conditions that decide which one counts.
            option = join([row["build_tag"] or "", unquote(when)] if len(here) > 1 else [unquote(when)]) or ""
            if "0" not in conjuncts(option):
                options.append(option)
        return "" if "" in options else any_of(options) if options else "0"

    # --- declarations -------------------------------------------------------------------------------------------

    def _declarations(self, path: str, depth: int = 0) -> list[tuple[_Declaration, str]]:
        """The declarations that lead to a file, with the condition of each that is in an attribute `path`."""
        known = self._declaring.get(path)
        if known is not None or depth > _MAX_STEPS:
            return known or []
        self._declaring[path] = []  # should two files declare each other
        folder, base = posixpath.split(path)
        name = posixpath.basename(folder) if base == "mod.rs" else base.removesuffix(".rs")
        certain, beside = [], []
        for module in dict.fromkeys([*self._modules_named(name), *self._modules_placed()]):
            if module.file == path:
                continue
            certain += [
                (module, condition) for place, condition in _places(module, _own_folder(module.file)) if place == path
            ]
            beside += [(module, condition) for place, condition in _places(module, folder) if place == path]
        # A crate may begin with a file of any name. It has its modules beside it, and nothing declares it.
        found = certain or [item for item in beside if not self._declarations(item[0].file, depth + 1)]
        found.sort(key=lambda item: (item[0].file, item[0].name, item[0].tag or "", item[1]))
        self._declaring[path] = found[: _MAX_DECLARATIONS + 1]
        return self._declaring[path]

    def _modules_named(self, name: str) -> list[_Declaration]:
        if name not in self._named:
            rows = self._rows("s.name = ? AND s.kind = 'module' AND instr(s.traits, 'external')", [name])
            self._named[name] = _declarations(rows)
        return self._named[name]

    def _modules_placed(self) -> list[_Declaration]:
        """All modules with an attribute `path`: the file's name does not lead to these."""
        if self._placed is None:
            self._placed = _declarations(self._rows("s.kind = 'module' AND instr(s.traits, 'path=')", []))
        return self._placed

    def _rows(self, condition: str, args: list[object]) -> list[tuple[int, sqlite3.Row]]:
        return [
            (number, row)
            for number, segment in enumerate(self._symbols.segments)
            for row in segment.execute(f"{_SELECT} WHERE {segment.live} AND {condition} AND f.language = 'rust'", args)
        ]

    def _handed_on(self, module: _Declaration) -> set[str]:
        """Which items of a module its parent hands on as its own: `gives=` and the name or `*`; `as=` another name."""
        key = (module.segment, module.number)
        if key not in self._imports:
            sql = "SELECT module, name, alias FROM imports WHERE file = ?"
            rows = self._symbols.segments[module.segment].execute(sql, [module.number])
            self._imports[key] = [(str(row[0]).removeprefix("self::"), row[1], row[2]) for row in rows]
        words = {note for note in module.notes if note.startswith(("gives=", "as="))}
        if not module.inside:
            for path, name, alias in self._imports[key]:
                if path == module.name and name and not alias:
                    words.add(f"gives={name}")
                elif (path == module.name and not name) or (path == "self" and name == module.name):
                    words |= {f"as={alias}"} if alias else set()
        return words


def _declarations(rows: Iterable[tuple[int, sqlite3.Row]]) -> list[_Declaration]:
    return [
        _Declaration(
            row["path"], segment, row["id"], row["name"], tuple(row["qualified_name"].split(".")[:-1]),
            row["build_tag"], tuple(row["traits"].split()),
        )
        for segment, row in rows
    ]  # fmt: skip


def _own_folder(file: str) -> str:
    """Where the modules of a file are, as far as its name says."""
    folder, base = posixpath.split(file)
    if base in _ROOTS or posixpath.basename(folder) in _CRATES:
        return folder
    return posixpath.join(folder, base.removesuffix(".rs"))


def _places(module: _Declaration, start: str) -> Iterator[tuple[str, str]]:
    """The files that a module may be in, if those of its file are in the folder `start`; the condition of each."""
    folder = posixpath.dirname(module.file)
    inside = posixpath.join(start, *module.inside)
    written = [note[5:].partition("?") for note in module.notes if note.startswith("path=")]
    for path, _, condition in written or [("", "", "")]:
        if path:
            # Beside the file that says so, unless inline modules are around it.
            place = posixpath.join(inside if module.inside else folder, unquote(path))
            yield posixpath.normpath(place), unquote(condition)
        else:
            yield posixpath.join(inside, f"{module.name}.rs"), unquote(condition)
            yield posixpath.join(inside, module.name, "mod.rs"), unquote(condition)


def _shared(one: str, other: str) -> int:
    """How many folders two paths begin with in common; a file is nearer to itself than to all others."""
    mine, theirs = one.split("/"), other.split("/")
    return next((i for i, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), len(mine))


def _bounded(conditions: Iterable[str | None]) -> str | None:
    """All of some conditions; what gets too long loses the innermost ones."""
    text = join(condition for condition in conditions if condition)
    if text is not None and "0" in conjuncts(text):
        return "0"
    while text is not None and len(text) > _MAX_CONDITION:
        parts = conjuncts(text)
        text = join(parts[:-1]) if len(parts) > 1 else None
    return text
