"""Rewrites C macros that the grammar does not expect, before parsing. Offsets and lines stay.

- Attributes (`__init`, `__alloc_size(1)`) become blanks.
- Macros that define what an argument names become a plain definition of it: `static DEFINE_MUTEX(lock);` is read as
`static int          lock ;`, and `SYSCALL_DEFINE2(dup2, …) {` as `int            (dup2)     {`.
- A loop (`for_each_cpu(cpu) {`) becomes a call with a semicolon, and a block after it.
- `} while_each_thread(g, p);` becomes a `while`, and an `else` in an `#if` of its own loses the directives.
- A type as an argument (`container_of(p, struct list, head)`) loses its keyword.
- The last parameter of `#define log(args...)` loses its name, and the text of a macro its comments.

The macros are data: `[macros]` of a language.toml, and of .lci.toml. docs/languages.md describes both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from lci_py.source.text.patterns import lazily
from lci_py.types.record import NamedTuple

VISIBLE = lazily(rb"[^\r\n]")
#: Bytes of a macro's arguments that are read, and how deep their parentheses go.
_READ, _DEEPEST = 4_000, 8
_GROUP = lazily(rb"[(),;{}]|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n]){1,4}'|/\*.*?\*/", re.DOTALL)
_NAME = lazily(rb"\s*([A-Za-z_]\w*)((?:\s*\[[^\[\]]{0,100}\])*)\s*")
_BLANKS = lazily(rb"(?:\s+|/\*.*?\*/)*", re.DOTALL)
#: Loops by their names; with a capital and without. Nothing stands before them on their line.
_EACH = (b"or_each", b"OR_EACH", b"oreach", b"OREACH")
_FIRST = lazily(rb"[ \t]+\w+[ \t]*\(")
_INDENTED = 200  # bytes before a loop on its line
_REST = lazily(rb"\w*[ \t]*\(")
_HASH = lazily(rb"[ \t]*#")
_DEFINE = lazily(rb"#[ \t]*define[ \t][^\n]*")
_DIRECTIVE_READ = 20_000
_LINE_END = lazily(rb"(?<!\\)(?<!\\\r)\n")
_NAMED = lazily(rb"#[ \t]*define[ \t]+\w+\((?:[^()]*[^\w()])?(\w+)[ \t]*\.\.\.\)")
_COMMENT = lazily(rb"/\*.*?\*/", re.DOTALL)
_IN_DIRECTIVE = lazily(rb"[^\r\n\\]|\\(?!\r?\n)")
_WHILE = lazily(rb"(while_\w+)[ \t]*\(")
_TAG = lazily(rb"struct[ \t]+\w+[ \t*]*[,)]")
_ELSE = lazily(rb"(#[ \t]*if\w*[ \t][^\n]*)\n\s*(?:\}\s*)?else\b")
_DIRECTIVE = lazily(rb"\n[ \t]*(#[ \t]*(\w+)(?:/\*.*?\*/|[^\n])*)", re.DOTALL)
_TYPE = b"int"


class Use(NamedTuple):
    """A use of a macro that defines something: its name, and where the name starts."""

    name: str
    start: int


class MacroText:
    """Rewrites the uses of macros that a table `[macros]` lists."""

    def __init__(self, attributes: Iterable[str], loops: Iterable[str], defines: dict[str, tuple[bool, int]]) -> None:
        """Compile the patterns for the names of macros.

        Args:
            attributes: Macros beside a declaration that the index can ignore.
            loops: Macros before a block, besides those with `for_each` in their name.
            defines: Maps macros to (whether it defines a function, not a variable; number of the argument that is the
                defined name). Numbers start at 1; if there are fewer arguments, the last one has the name.
        """
        self._defines = {name.encode(): what for name, what in defines.items()}
        first = b"[A-Za-z_]" if any(not name[:1].isupper() for name in self._defines) else b"[A-Z]"
        # It begins with a line break, which is found quickly.
        self._use = re.compile(rb"\n[ \t]*(?:(?:static|extern|const|inline)[ \t]+)*(%s\w+)[ \t]*\(" % first)
        own = [name.encode() for name in attributes]
        self._attributes = [
            pattern for pattern in (_words(b"__", own), *(_words(name, [name]) for name in own if name[:2] != b"__"))
            if pattern is not None
        ]  # fmt: skip
        self._loops = [re.compile(rb"%s[ \t]*\(" % name.encode()) for name in loops]

    def rewritten(self, source: bytes) -> tuple[bytes, list[Use]]:
        """(rewritten source, uses of macros that define something). Length and lines of the source stay the same."""
        edits: list[tuple[int, bytes]] = []
        for prefix, pattern in self._attributes:
            if prefix in source:
                edits += _attributes(source, pattern)
        if edits:
            source = apply_edits(source, edits)
        edits, uses = [], []
        for start, what, arguments in self._uses(source):
            definition = _definition(source, start, *what, arguments)
            if definition is not None:
                edits.append((start, definition))
                uses.append(Use(source[start : source.index(b"(", start)].rstrip().decode(), start))
        edits += self._blocks(source)
        edits += _conditions(source, uses)
        edits += _directives(source)
        edits += _tags(source)
        edits += _elses(source)
        return apply_edits(source, edits), uses

    def _uses(self, source: bytes) -> Iterator[tuple[int, tuple[bool, int], int]]:
        for match in self._use.finditer(b"\n" + source):
            what = self._defines.get(match.group(1))
            # All offsets are one too large. After a backslash, the line is a part of a directive.
            before = source[max(0, match.start() - 3) : max(0, match.start() - 1)].rstrip(b"\r")
            if what is not None and not before.endswith(b"\\"):
                yield match.start(1) - 1, what, match.end() - 2

    def _blocks(self, source: bytes) -> Iterator[tuple[int, bytes]]:
        matches = [match for pattern in self._loops for match in pattern.finditer(source)]
        for part in _EACH:
            at = source.find(part)
            while at >= 0:
                match = _REST.match(source, at + len(part))
                if match is not None:
                    matches.append(match)
                at = source.find(part, at + len(part))
        for match in matches:
            line = source.rfind(b"\n", 0, match.start()) + 1
            if match.start() - line > _INDENTED or not _FIRST.fullmatch(source, line, match.end()):
                continue
            group = _group(source, match.end() - 1)
            if group is None or source[group[-1] + 1 : group[-1] + 2] not in (b" ", b"\t", b"\n", b"\r"):
                continue
            follows = _BLANKS.match(source, group[-1] + 1)
            assert follows is not None
            gap = next((i for i in range(group[-1] + 1, follows.end()) if source[i : i + 1] in (b" ", b"\t")), -1)
            after = source[follows.end() : follows.end() + 1]
            if gap >= 0 and (after in (b"{", b"*", b"(", b"_") or after.isalnum()):
                yield gap, b";"


def _words(prefix: bytes, names: Iterable[bytes]) -> tuple[bytes, re.Pattern[bytes]] | None:
    """(prefix, pattern for the names with this prefix), None without names. Names ending in "()" need arguments."""
    parts = []
    for name in sorted(names, reverse=True):
        if name.startswith(prefix):
            follows = _ARGUMENTS if name.endswith(b"()") else _NO_ARGUMENTS
            parts.append(re.escape(name[len(prefix) :].removesuffix(b"()")) + follows)
    if not parts:
        return None
    # It begins with plain text, which is found quickly: what stands before that is looked at afterwards.
    plain = re.escape(prefix.removesuffix(b"()"))
    return prefix.removesuffix(b"()"), re.compile(rb"%s(?<!\w%s)(?:%s)" % (plain, plain, b"|".join(parts)))


_NO_ARGUMENTS = rb"\b(?!\s*\((?!\s*\*))"  # but a pointer to a function
_ARGUMENTS = rb"\b[ \t]*\((?:[^()\n]|\([^()\n]*\)){0,200}\)"


def _attributes(source: bytes, pattern: re.Pattern[bytes]) -> Iterator[tuple[int, bytes]]:
    for match in pattern.finditer(source):
        if not _HASH.match(source, source.rfind(b"\n", 0, match.start()) + 1):  # a directive's text is not parsed
            yield match.start(), VISIBLE.sub(b" ", match.group())


def _group(source: bytes, opening: int) -> list[int] | None:
    """The offsets of a group's opening parenthesis, its commas and its closing one; None if the group is too long."""
    depth, ends = 0, [opening]
    for match in _GROUP.finditer(source, opening, opening + _READ):
        mark = match.group()
        if mark == b"(":
            depth += 1
            if depth > _DEEPEST:
                return None
        elif mark == b")":
            depth -= 1
            if not depth:
                return [*ends, match.start()]
        elif mark == b"," and depth == 1:
            ends.append(match.start())
        elif mark in (b";", b"{", b"}"):
            return None
    return None


def _definition(source: bytes, start: int, is_function: bool, number: int, opening: int) -> bytes | None:
    """A plain definition that replaces the macro at `start`; None if the macro defines nothing there."""
    ends = _group(source, opening)
    if ends is None:
        return None
    number = min(number, len(ends) - 1)
    match = _NAME.fullmatch(source, ends[number - 1] + 1, ends[number])
    follows = _BLANKS.match(source, ends[-1] + 1)
    assert follows is not None
    after = source[follows.end() : follows.end() + 1]
    if match is None or after not in ((b"{", b"(", b"#") if is_function else (b";", b"=", b"[", b",")):
        return None
    if len(_TYPE) >= opening - start + 1 or (is_function and match.group(2)):
        return None
    text = bytearray(VISIBLE.sub(b" ", source[start : ends[-1] + 1]))
    text[: len(_TYPE)] = _TYPE
    name, end = match.start(1) - start, match.end(2) - start
    text[name:end] = match.group(1) + match.group(2)
    if is_function and after != b"(":
        text[name - 1 : name], text[end : end + 1] = b"(", b")"
    return bytes(text)


def _conditions(source: bytes, uses: list[Use]) -> Iterator[tuple[int, bytes]]:
    """Edits that make `} while_each_thread(g, p);`, which ends a loop that another macro begins, a plain `while`."""
    for match in _WHILE.finditer(source) if b"while_" in source else ():
        if source[max(0, match.start() - 80) : match.start()].rstrip()[-1:] == b"}":
            uses.append(Use(match.group(1).decode(), match.start()))
            yield match.start(), b"while".ljust(len(match.group(1)))


def _tags(source: bytes) -> Iterator[tuple[int, bytes]]:
    """Edits that blank `struct` in `container_of(p, struct list, head)`, so that the grammar accepts the argument."""
    for match in _TAG.finditer(source):
        if source[max(0, match.start() - 80) : match.start()].rstrip()[-1:] == b",":
            yield match.start(), b"      "


def _elses(source: bytes) -> Iterator[tuple[int, bytes]]:
    """Edits that blank the directives around an `else` inside an `#if` of its own."""
    for match in _ELSE.finditer(source):
        spans, depth = [match.span(1)], 1
        for directive in _DIRECTIVE.finditer(source, match.end(1), match.end(1) + _READ):
            word = directive.group(2)
            depth += word.startswith(b"if") - (word == b"endif")
            if depth == (word != b"endif") and word.startswith((b"el", b"endif")):
                spans.append(directive.span(1))
            if depth > _DEEPEST:
                break
            if not depth:
                yield from ((start, VISIBLE.sub(b" ", source[start:end])) for start, end in spans)
                break


def _directives(source: bytes) -> Iterator[tuple[int, bytes]]:
    """Edits of `#define`s that the grammar does not know: they blank `args` in `args...)`, and comments in the text."""
    position = 0
    for match in _DEFINE.finditer(source):
        if match.start() < position:
            continue
        text = match.group()
        if text.endswith((b"\\", b"\\\r")):
            end = _LINE_END.search(source, match.end(), match.end() + _DIRECTIVE_READ)
            text = source[match.start() : end.start() if end is not None else match.end()]
            position = match.start() + len(text)
        if b"...)" in text and (variadic := _NAMED.match(text)) is not None:
            yield match.start() + variadic.start(1), b" " * len(variadic.group(1))
        if b"/*" in text:
            last = len(text[: text.rfind(b"*/")].rstrip()) if text.rstrip(b" \t\r\n\\").endswith(b"*/") else len(text)
            for comment in _COMMENT.finditer(text):
                if comment.end() < last:
                    yield match.start() + comment.start(), _IN_DIRECTIVE.sub(b" ", comment.group())


def apply_edits(source: bytes, edits: list[tuple[int, bytes]]) -> bytes:
    """Apply edits, as (start, new text), to a source; of overlapping edits, the first counts."""
    parts, position = [], 0
    for start, text in sorted(edits):
        if start >= position:
            parts += [source[position:start], text]
            position = start + len(text)
    return b"".join([*parts, source[position:]])


def entries(table: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Convert a table `[macros]` to a tuple, for comparison: ("attribute __init", "function_1 SYSCALL_DEFINE0")."""
    return tuple(f"{what} {name}" for what, names in table.items() for name in names)


@lru_cache(maxsize=8)
def macro_text(table: tuple[str, ...]) -> MacroText:
    """The rewriter for a table of macros, in the form that `entries` returns."""
    by_kind: dict[str, list[str]] = {}
    for entry in table:
        what, _, name = entry.partition(" ")
        by_kind.setdefault(what, []).append(name)
    defines = {
        name: (what.startswith("function"), int(what[-1])) for what, names in by_kind.items() if what[-1].isdigit()
        for name in names
    }  # fmt: skip
    return MacroText(by_kind.get("attribute", ()), by_kind.get("loop", ()), defines)
