"""Reads Go's build constraints as `go/build` does: the file name, the comment above the package clause, cgo."""

from __future__ import annotations

import re

from lci_py.source.conditions.normal_form import normal_form
from lci_py.source.conditions.text import File, Range
from lci_py.source.text.language_tables import pairs, shared_table
from lci_py.source.text.patterns import lazily

_TABLE = shared_table("conditions")["build_constraints"]
_KINDS = {kind: frozenset(names.split()) for kind, names in pairs(_TABLE["kinds"])}
# What go/build calls known in file names: Go 1.23's list. Names stay in it when their port is removed.
_GOOS = _KINDS["os"] - {"rumprun"}
_GOARCH = _KINDS["arch"] - {"alpha", "ia64", "m68k", "nios2", "sh", "shbe"}
_BUILD, _PLUS, _BOM = b"//go:build", b"+build", b"\xef\xbb\xbf"
_COMMENT = lazily(rb"([ \t\r\n\f\v]*)(?:(?P<line>//[^\n]*)|/\*.*?(?:\*/|\Z)|)", re.DOTALL)
_TAG = lazily(r"[\w.]+")
#: The head of a file up to an import of "C": a file with one is built with cgo only.
_IMPORTS_C = lazily(
    rb"(?:\xef\xbb\xbf)?(?:\s|;|//[^\n]*\n|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|package\s+\w+|import\b|\w+(?=\s*[\"`])|[.()]"
    rb"|\"[^\"\n]*\"(?<!\"C\")|`[^`]*`(?<!`C`))*[\"`]C[\"`]"
)


def ranges(file: File) -> list[Range]:
    """The conditions of a file, from its name, its constraint and cgo. Each holds for the whole file.

    A name that the go command ignores gives the condition "0": the file is never built.
    """
    conditions = [*_name_tags(file.path), *_constraint(file.source)]
    if (b'"C"' in file.source or b"`C`" in file.source) and _IMPORTS_C.match(file.source):
        conditions.append("cgo")  # once, if the constraint says it as well
    return [Range(0, len(file.source), condition) for condition in conditions]


def _name_tags(path: str) -> list[str]:
    base = path.rsplit("/", 1)[-1]
    if base.startswith(("_", ".")):
        return ["0"]
    words = base.partition(".")[0].split("_")[1:]  # linux.go is built everywhere
    if words and words[-1] == "test":
        words.pop()
    if len(words) >= 2 and words[-2] in _GOOS and words[-1] in _GOARCH:
        return words[-2:]
    return [word for word in words[-1:] if word in _GOOS or word in _GOARCH]


def _constraint(source: bytes) -> list[str]:
    """The `//go:build` line of a file, or its `// +build` lines if it has no `//go:build`.

    `//go:build` may be on any line of its own before the package clause. `// +build` lines must be followed by a blank
    line, and may have only `//` comments before them.
    """
    if _BUILD not in source and _PLUS not in source:
        return []
    conditions: list[str] = []
    waiting: list[str] = []  # those that no blank line has followed yet
    start = at = len(_BOM) if source.startswith(_BOM) else 0
    only_lines = True
    while (comment := _COMMENT.match(source, at)) and comment.end() > comment.end(1):
        lines, line = comment[1].count(b"\n"), comment["line"]
        if lines > 1:
            conditions, waiting = conditions + waiting, []
        if line is None:
            only_lines, waiting = False, []
        elif line.startswith(_BUILD) and not line[len(_BUILD) :][:1].strip() and (lines or at == start):
            return [normal_form(line[len(_BUILD) :].decode("utf-8", "replace").partition("//")[0], constants=False)]
        elif only_lines and (text := line[2:].strip()).startswith(_PLUS) and not text[len(_PLUS) :][:1].strip():
            waiting.append(_plus_build(text[len(_PLUS) :].decode("utf-8", "replace")))
        at = comment.end()
    return conditions + waiting if comment and comment[1].count(b"\n") > 1 else conditions


def _plus_build(text: str) -> str:
    """The condition in a `// +build` line: `(a && !b) || c` for `a,!b c`. An invalid tag counts as `ignore`."""
    options = []
    for option in text.split():
        parts = []
        for word in option.split(","):
            tag = word.removeprefix("!")
            sign = "!" if word != tag and tag[:1] not in ("", "!") else ""
            parts.append(sign + (tag if _TAG.fullmatch(tag) else "ignore"))
        options.append(f"({' && '.join(parts)})")
    return normal_form(" || ".join(options) or "ignore", constants=False)
