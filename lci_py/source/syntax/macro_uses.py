"""Reads Rust's `use` declarations in the arguments of a macro such as `cfg_rt! { … }`, which parse as tokens only."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from tree_sitter import Node

#: Bytes of a declaration that are read, and how deep its lists may be nested.
_READ, _DEEPEST = 10_000, 16
_TOKEN = lazily(rb"(?P<blank>\s+|//[^\n]*|/\*.*?\*/)|(?:r#)?[A-Za-z_\x80-\xff][\w\x80-\xff]*|::|[{},;*]", re.DOTALL)
#: A path up to the name after it, and the bytes that are searched for it.
_PATH = lazily(rb"(?:(?<![\w\x80-\xff])[A-Za-z_\x80-\xff][\w\x80-\xff]*::)+\Z")
_PATH_READ = 200


class Used(NamedTuple):
    """A name that a `use` declaration imports. The fields are those of `Import`."""

    module: str
    name: str
    alias: str


def in_program(imports: list[dict[str, list[Node]]], conditions: list[Node]) -> list[dict[str, list[Node]]]:
    """Leave out imports in definitions of macros, and put imports in the arguments of macros last.

    Args:
        imports: The captures of each import.
        conditions: Nodes, among them all definitions of macros.
    """
    plain = [captures for captures in imports if captures["import"][0].type != "use"]
    if len(plain) == len(imports):
        return imports
    macros = sorted((node.start_byte, node.end_byte) for node in conditions if node.type == "macro_definition")
    for captures in sorted(imports, key=lambda captures: captures["import"][0].start_byte):
        node = captures["import"][0]
        index = bisect_right(macros, (node.start_byte, node.end_byte)) - 1
        if node.type == "use" and (index < 0 or macros[index][1] <= node.start_byte):
            plain.append(captures)
    return plain


def path_before(source: bytes, start: int) -> str:
    """The path `a::b::` before a name; "" if there is none. Among tokens, a query captures only a path's last part."""
    if source[max(0, start - 2) : start] != b"::":
        return ""
    match = _PATH.search(source[max(0, start - _PATH_READ) : start])
    return match.group().decode("utf-8", "replace") if match is not None else ""


def used_in(source: bytes, start: int) -> list[Used]:
    """The names that the declaration whose `use` is at `start` imports; [] if the declaration is not complete."""
    tokens: list[str] = []
    at, stop = start + len(b"use"), min(len(source), start + _READ)
    while at < stop:
        match = _TOKEN.match(source, at, stop)
        if match is None:
            return []  # `$name` or a bracket: the macro makes something else of it
        at = match.end()
        if match.lastgroup == "blank":
            continue
        if match.group() == b";":
            reader = _Reader(tokens)
            names = list(reader.tree((), 0))
            return names if reader.place == len(tokens) else []
        if match.group() == b"use":
            return []  # every part of the text is read once
        tokens.append(match.group().decode("utf-8", "replace").removeprefix("r#"))
    return []


class _Reader:
    """Parses the tree of paths in a `use` declaration: `a::{b as c, d::*}`."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self.place = 0

    def _skip_if(self, token: str) -> bool:
        matches = self._tokens[self.place : self.place + 1] == [token]
        self.place += matches
        return matches

    def tree(self, prefix: tuple[str, ...], depth: int) -> Iterator[Used]:
        """The names that the tree at `place` imports, as paths below `prefix`; moves `place` past the tree."""
        path = list(prefix)
        self._skip_if("::")
        while self.place < len(self._tokens) and depth < _DEEPEST:
            if self._skip_if("*"):
                if path:
                    yield Used("::".join(path), "*", "")
                return
            if self._skip_if("{"):
                while not self._skip_if("}"):
                    yield from self.tree(tuple(path), depth + 1)
                    if not self._skip_if(",") and self._tokens[self.place : self.place + 1] != ["}"]:
                        return
                return
            word = self._tokens[self.place]
            if not word[0].isalpha() and word[0] != "_":
                return
            self.place += 1
            if word != "self" or not path:
                path.append(word)
            if not self._skip_if("::"):
                alias = ""
                if self._skip_if("as") and self.place < len(self._tokens):
                    alias = self._tokens[self.place]
                    self.place += 1
                if path and alias != "_":
                    yield Used("::".join(path[:-1]), path[-1], alias) if len(path) > 1 else Used(path[0], "", alias)
                return
