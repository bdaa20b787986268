"""Finds duplicate keys, of which one is lost. Duplicate keys in code are in the index; JSON, YAML, properties, TOML,
SQL, Make and protobuf files are read on demand.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lci_py.index.shards.stated_values import repeated_keys
from lci_py.search.conflicts.versions import workflows
from lci_py.source.stated_values import is_elsewhere
from lci_py.source.text.patterns import lazily
from lci_py.types.conflicts import Conflict
from lci_py.types.search import DefinitionSite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lci_py.search.snapshot import Snapshot

#: Files that are read at most, and the bytes and lines of each; a longer one is no configuration.
_MAX_FILES, _MAX_BYTES, _MAX_LINES = 5_000, 200_000, 5_000
_LOCKED = lazily(r"(?:lock|shrinkwrap|\.min|\.map|snap)(?:\.\w+)*$|^(?:package|pnpm|composer)-lock")
_JSON = lazily(r'"(?:[^"\\\n]|\\.)*"|[{}\[\],:]|//|/\*')
_COMMENT = lazily(r'"(?://|[$_]?comments?)"')  # where JSON has no comments, a key of this name is one
_YAML = lazily(r"(?P<blank> *)(?P<items>(?:- +)*)(?P<key>[\w.][\w./-]*|\"[^\"\n]+\"|'[^'\n]+') *:(?P<value> .*|)$")
_BLOCK = lazily(r"\s(?:[|>][+-]?\d?|&\w+ *[|>][+-]?)\s*(?:#.*)?$")
_PROPERTY = lazily(r"\s*([\w.-]+)\s*[=:]")
_TARGET = lazily(r"([A-Za-z_][\w.-]*)\s*:(?![:=])[^=]*$")
_CREATED = lazily(r"(?i)\s*create\s+table\s+(?!if\b)([\w.\"`\[\]]+)")
_PROTO = lazily(r"\b(message|oneof|enum|extend|service|rpc|option)\b[^{};]*\{|\{|\}|\b\w+\s+(\w+)\s*=\s*(\d+)\s*[;\[]")
_TEMPLATE = lazily(r"(?<!\$)\{\{|\{%|<%")  # `${{ }}` of GitHub's workflows stands for a value
_PROTO_COMMENT = lazily(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"", re.DOTALL)


#: The kind of these conflicts, and the language of files without a grammar: what knows grammars is slow to import.
KEY, TEXT = "key", "text"


class Key(NamedTuple):
    """An occurrence of a key in a file."""

    scope: int  # the same for keys of which one replaces the other
    text: str  # the same for the same key
    name: str  # as it is shown
    line: int


class Twice(NamedTuple):
    """A duplicate key, with the lines of its first and its second occurrence."""

    name: str
    first: int
    second: int


def reads(path: str) -> bool:
    """Whether a file is checked for duplicate keys."""
    base = path.rpartition("/")[2].lower()
    is_material = "testdata/" in path or is_elsewhere(path)
    return _reader(base) is not None and not _LOCKED.search(base) and not is_material


def _reader(base: str) -> Callable[[str], Iterator[Key]] | None:
    if base in ("makefile", "gnumakefile") or base.endswith(".mk"):
        return _make
    if base.startswith(".env") or base.endswith(".env"):
        return _properties
    suffixes = {"json": _json, "yml": _yaml, "yaml": _yaml, "properties": _properties, "toml": _tables,
                "ini": _tables, "proto": _proto, "sql": _sql}  # fmt: skip
    return suffixes.get(base.rpartition(".")[2]) if "." in base else None


def twice(path: str, text: str) -> list[Twice]:
    """The duplicate keys of a file; a key that occurs three times is listed once."""
    reader = _reader(path.rpartition("/")[2].lower())
    if reader is None or _TEMPLATE.search(text):
        return []
    lines = text.split("\n")
    first: dict[tuple[int, str], int] = {}
    duplicates: dict[tuple[str, int], Twice] = {}
    for scope, key, name, line in reader(text):
        if (before := first.get((scope, key))) is None:
            first[scope, key] = line
        else:
            duplicates.setdefault((name, before), Twice(name, before, line))
    return [
        pair
        for pair in duplicates.values()
        if pair.first == pair.second
        or not _says_the_same(*(lines[at - 1].strip().lstrip("{[- ").rstrip(",") for at in pair[1:]))
    ]


def _says_the_same(line: str, other: str) -> bool:
    """Whether two lines give a key the same value, so that the duplicate does no harm."""
    return line == other and line[-1:] not in ("{", "[", ":", "|", ">", "(")


def _json(text: str) -> Iterator[Key]:
    stack: list[int | None] = []  # where each object begins; None for an array
    names: list[str] = []
    tokens = list(_JSON.finditer(text))
    for match, after in zip(tokens, [*tokens[1:], None], strict=False):
        token = match[0]
        if token in ("//", "/*"):
            return  # with comments it is read by programs that differ
        if token in "{[":
            stack.append(match.start() if token == "{" else None)
            names.append("")
        elif token in "}]":
            if not stack:
                return
            stack.pop()
            names.pop()
        elif token[0] == '"' and after is not None and after[0] == ":" and stack and (scope := stack[-1]) is not None:
            names[-1] = token[1:-1]
            if not _COMMENT.fullmatch(token):
                yield Key(scope, token, ".".join(filter(None, names)), text.count("\n", 0, match.start()) + 1)


def _yaml(text: str) -> Iterator[Key]:
    stack: list[tuple[int, str, int]] = []  # column, key, the line at which its mapping begins
    scalar = -1  # the column that ends a block of text
    for number, line in enumerate(text.split("\n"), 1):
        column = len(line) - len(line.lstrip(" "))
        if line.startswith(("---", "...")):
            stack, scalar = [], -1
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if scalar >= 0 and column > scalar:
            continue
        scalar = -1
        match = _YAML.match(line)
        if match is None:
            is_item = line.lstrip().startswith("-")
            while stack and (stack[-1][0] > column or (stack[-1][0] == column and not is_item)):
                stack.pop()
            continue
        at = match.start("key")
        while stack and (stack[-1][0] > at or (match["items"] and stack[-1][0] > column)):
            stack.pop()
        key = match["key"].strip("\"'")
        scope = stack.pop()[2] if stack and stack[-1][0] == at else number
        yield Key(scope, key, ".".join([*(name for _, name, _ in stack), key]), number)
        stack.append((at, key, scope))
        if _BLOCK.search(match["value"]):
            scalar = column if not match["items"] else at - 1
        elif match["value"].lstrip()[:1] in ('"', "'") and match["value"].count(match["value"].lstrip()[0]) == 1:
            return  # a text over several lines


def _properties(text: str) -> Iterator[Key]:
    continued = False
    for number, line in enumerate(text.split("\n"), 1):
        match = None if continued or line.lstrip()[:1] in ("#", "!") else _PROPERTY.match(line)
        continued = line.endswith("\\")
        if match is not None:
            yield Key(0, match[1], match[1], number)


def _tables(text: str) -> Iterator[Key]:
    """The keys of a TOML or INI file that begin at the left margin; the scope of a key is the header of its table."""
    scope = 0  # the line of the head
    closing = ""  # what ends a value over several lines
    for number, line in enumerate(text.split("\n"), 1):
        if closing:
            closing = "" if closing in line else closing
        elif line.startswith("["):
            scope = number
        elif not line[:1].isspace() and (match := _PROPERTY.match(line)):
            yield Key(scope, match[1], match[1], number)
            value = line[match.end() :].strip()
            closing = next((sign for sign in ('"""', "'''") if value.startswith(sign) and sign not in value[3:]), "")
            closing = "]" if value.startswith("[") and value.count("[") > value.count("]") else closing


def _make(text: str) -> Iterator[Key]:
    depth = 0
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        word = line.strip().partition(" ")[0]
        depth += word in ("ifdef", "ifndef", "ifeq", "ifneq", "define")
        depth -= word in ("endif", "endef")
        match = _TARGET.match(line)
        # Without a recipe it only adds what the target needs.
        if match is not None and not depth and "".join(lines[number : number + 1]).startswith("\t"):
            yield Key(0, match[1], match[1], number)


def _proto(text: str) -> Iterator[Key]:
    text = _PROTO_COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    stack: list[tuple[str, int]] = []  # the kind of each block, and where the numbers of its fields begin to count
    for match in _PROTO.finditer(text):
        if match[0].endswith("{"):
            kind = match[1] or ""
            # The numbers of a `oneof` are those of the message around it.
            stack.append((kind, stack[-1][1] if kind == "oneof" and stack else match.start()))
        elif match[0] == "}":
            if stack:
                stack.pop()
        elif stack and stack[-1][0] in ("message", "oneof"):
            line = text.count("\n", 0, match.start(3)) + 1
            yield Key(stack[-1][1], match[3], f"{match[2]} = {match[3]}", line)


def _sql(text: str) -> Iterator[Key]:
    """The tables that an SQL script creates; dropping or renaming a table begins a new scope."""
    scope = 0  # the line since which nothing is dropped or renamed
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"(?i)\s*(?:drop|alter)\b", line):
            scope = number
        elif match := _CREATED.match(line):
            name = re.sub(r"[\"`\[\]]", "", match[1]).lower()
            yield Key(scope, name, name, number)


def all_of(
    snapshot: Snapshot, passes: Callable[..., bool], is_new: Callable[[str, str, str], bool] | None
) -> Iterator[Conflict]:
    """All duplicate keys of a repository, as conflicts.

    Args:
        snapshot: The open index.
        passes: A filter on file, language, kind, symbol and qualified name.
        is_new: Whether a duplicate is new, by its path, the word `key` and its name; None to list all.
    """
    rows = [
        (row.file, row.language, row.qualified_name, Twice(row.name, row.line - int(row.value), row.line))
        for row in repeated_keys(snapshot.symbols)
        if not row.is_test
    ]
    paths = [*snapshot.symbols.paths(), *workflows(snapshot.root)]
    for path in [path for path in dict.fromkeys(paths) if reads(path)][:_MAX_FILES]:
        text = b"\n".join(snapshot.reader.some(path, 1, _MAX_LINES + 1))
        if len(text) <= _MAX_BYTES and text.count(b"\n") < _MAX_LINES:
            rows += [(path, TEXT, "", pair) for pair in twice(path, text.decode("utf-8", "replace"))]
    branch = snapshot.manifest.branch
    for file, language, owner, pair in rows:
        name = f"{owner}.{pair.name}" if owner else pair.name
        fields = {"file": file, "language": language, "kind": KEY, "symbol": pair.name, "qualified_name": name}
        if passes(**fields) and (is_new is None or is_new(file, KEY, pair.name)):
            sites = (DefinitionSite(file, line, branch, None, "duplicate") for line in (pair.first, pair.second))
            yield Conflict(pair.name, name, KEY, language, "duplicate", tuple(sites))
