"""Flags that stand for conditions: variables of Python, and the names that the build script of a Rust package defines.

A name of Python stands for what a module assigns to it (`LINUX = sys.platform.startswith("linux")`, then `if LINUX:`),
in its own file or, if all modules that assign it agree, in another one. Only an expression that asks for the platform
or for a version counts: any other may change while the program runs. In Rust, `cfg_aliases!` in `build.rs` says what
a name stands for in the package.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from lci_py.source.conditions.rust_cfg import predicate
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lci_py.index.shards.symbols import Row, SymbolicIndex
    from lci_py.search.snapshot import Snapshot

_NAME = lazily(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|(?<![\w.])(?:\w+\.)*([A-Za-z_]\w*)(?![\w.(\[])")
_NO_FLAGS = frozenset({"and", "or", "not", "in", "is", "if", "else", "True", "False", "None", "try", "except"})
_PLATFORM = lazily(
    r"\b(?:sys\.platform|os\.name|platform\.(?:system|machine|python_implementation)|version_info|hexversion"
    r"|implementation\.name|byteorder)\b"
)
_ASSIGNED = lazily(r"\w+(?: ?: ?[\w.\[\]]+)? = (.+)")
_MAX_NESTING = 3  # flags made of flags
_MAX_TEXT = 4_000
_MAX_ROWS = 40  # assignments of one name
#: Names of Rust that no build script defines, or a value is compared with.
_BUILT_IN = lazily(r'"[^"]*"|\b(?:unix|windows|test|debug_assertions|doc|docsrs|miri|loom|\w+(?= = ))\b|[^\w"]+')
_WORD = lazily(r'"[^"]*"|\b[A-Za-z_]\w*\b(?! = )')
_ALIASES = lazily(r"\bcfg_aliases!\s*[{(\[]")
_ALIAS = lazily(r"//[^\n]*|\b(\w+)\s*:\s*\{([^{}]{0,2000})\}|\}")
_MAX_SCRIPTS, _MAX_LINES, _MAX_SCRIPT = 400, 2_000, 100_000


def spelled_out(symbols: SymbolicIndex, file: str, tag: str | None) -> str | None:
    """A condition with each flag in the words that it stands for."""
    for _ in range(_MAX_NESTING if tag else 0):
        assert tag is not None
        spelled = _NAME.sub(lambda match: _value(symbols, file, match), tag)
        if spelled == tag:
            break
        tag = spelled if len(spelled) <= _MAX_TEXT else "…"
    return tag


def aliased(snapshot: Snapshot, file: str, tag: str) -> str:
    """A condition of Rust in which each alias of the file's package is replaced by what it stands for."""
    if not _BUILT_IN.sub("", tag):
        return tag
    scripts, folder = _build_scripts(snapshot), file
    while folder and scripts:
        folder = folder.rpartition("/")[0]
        if folder in scripts:
            spelled = _spelled(scripts[folder], tag)
            return spelled if len(spelled) <= _MAX_TEXT else "…"
    return tag


def _spelled(aliases: Mapping[str, str], tag: str) -> str:
    return _WORD.sub(lambda match: aliases.get(match[0], match[0]), tag)


@lru_cache(maxsize=1)
def _build_scripts(snapshot: Snapshot) -> dict[str, dict[str, str]]:
    """By folder with a `build.rs`, the aliases that it defines."""
    found: dict[str, dict[str, str]] = {}
    scripts = [path for path in snapshot.symbols.paths() if path == "build.rs" or path.endswith("/build.rs")]
    for path in scripts[:_MAX_SCRIPTS]:
        text = b"\n".join(snapshot.reader.some(path, 1, _MAX_LINES)).decode("utf-8", "replace")[:_MAX_SCRIPT]
        aliases = found[path.rpartition("/")[0]] = {}
        start = _ALIASES.search(text)
        for match in _ALIAS.finditer(text, start.end()) if start else ():
            if match[0] == "}":
                break
            meant = _spelled(aliases, predicate(match[2].strip())) if match[1] else ""
            if meant and len(meant) <= _MAX_TEXT:
                aliases[match[1]] = f"({meant})"
    return found


def _value(symbols: SymbolicIndex, file: str, match: re.Match[str]) -> str:
    name = match[1]
    if name is None or name in _NO_FLAGS:
        return match[0]
    value = _assigned(symbols, name, file if "." not in match[0] else "")
    return f"({value})" if value else match[0]


@lru_cache(maxsize=4_096)
def _assigned(symbols: SymbolicIndex, name: str, file: str) -> str:
    """The expression that a name stands for in a file; "" if it stands for none, or that cannot be told."""
    rows = [row for row in symbols.same_name(name, "python", _MAX_ROWS) if row["parent"] is None or row["parent"] < 0]
    own = [row for row in rows if row["file"] == file]
    values = {_expression(row) for row in own or [row for row in rows if not row["test"]]}
    value = values.pop() if len(values) == 1 else ""
    if value and not _PLATFORM.search(value):
        parts = [match[1] for match in _NAME.finditer(value) if match[1] and match[1] not in _NO_FLAGS]
        is_made_of_flags = parts and name not in parts and all(_is_flag(symbols, part, file) for part in parts)
        return value if is_made_of_flags else ""
    return value


def _is_flag(symbols: SymbolicIndex, name: str, file: str) -> bool:
    rows = symbols.same_name(name, "python", _MAX_ROWS)
    return any(_PLATFORM.search(_expression(row)) for row in rows)


def _expression(row: Row) -> str:
    """What a row assigns; "" for what is no plain assignment without a condition."""
    found = _ASSIGNED.fullmatch(row["signature"] or "")
    if found is None or row["build_tag"] or row["kind"] not in ("variable", "constant") or "\u2026" in found[1]:
        return ""
    return found[1]
