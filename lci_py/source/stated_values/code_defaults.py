"""Finds defaults in code: of parameters, of flags of a command line, and in tables.

Each pattern matches up to the start of the value; one shared pattern, which is slow to compile, then reads the literal.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from lci_py.source.stated_values.values import literal_at
from lci_py.source.text.language_tables import has_rule, table_of
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_PARAMETER = lazily(r"(?<![\w.])(\w{2,100})\s*(?::\s*[^=,()]{1,60})?\s*=\s*(?![=>~])")
_KEYWORD = lazily(r"(?<![\w.:])(\w{2,100}):\s*")


def parameters_of(language: str, signature: str) -> Iterator[tuple[str, str]]:
    """(name, default) of each parameter in a signature that has a default."""
    pattern, sign = (_KEYWORD, ":") if has_rule(language, "keyword_defaults") else (_PARAMETER, "=")
    for match in pattern.finditer(signature) if sign in signature else ():
        if form := literal_at(signature, match.end())[0]:
            yield match[1], form


#: A default: place in the text, name, form of the value.
Given = tuple[int, str, str]


def flags(language: str, source: bytes) -> Iterator[Given]:
    """The defaults of command-line flags as (offset, flag with its dashes, default), in the order of the text."""
    text: str | None = None
    defaults: list[Given] = []
    for row in table_of(language).get("flag_defaults", ()):
        signs, read = (row["signs"], partial(_matches, row["pattern"])) if isinstance(row, dict) else _READERS[row]
        # Most files have none, and searching for fixed bytes is cheap.
        if any(sign.encode() in source for sign in signs):
            text = source.decode("utf-8", "replace") if text is None else text
            defaults += [default for default in read(text) if default[2]]
    return iter(sorted(defaults))


class Lines:
    """Converts offsets in a text to line numbers. The offsets must be passed in ascending order."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._line = text, 0, 1

    def of(self, at: int) -> int:
        self._line += self._text.count("\n", self._at, at)
        self._at = at
        return self._line


def _matches(pattern: str, text: str) -> Iterator[Given]:
    """The defaults of flags that a pattern matches; each default is the literal after the match.

    The pattern has a group `flag` (a flag without its dashes) or `field` (a field whose flag has the same name).
    """
    for match in re.finditer(pattern, text):
        groups = match.groupdict()
        flag = groups.get("flag") or groups["field"].replace("_", "-")
        yield match.start(), f"--{flag}", literal_at(text, match.end())[0]


_CLI_CALL = lazily(r"(?:add_argument|\boption|\bOption|add_option)\s*\(")
_LONG = lazily(r"[\"'](?:-\w[, ]\s*)?(--[A-Za-z][\w-]{2,60})(?:/--[\w-]+)?(?:[ =][^\"'\n]{0,30})?[\"']")
_DEFAULT = lazily(r"\bdefault(?:_value)?\s*[=:]\s*")
#: Of commander: option("--timeout <n>", "description", 60).
_DESCRIBED = lazily(r"\s*[\"'][^\"'\n]{0,80}[\"']\s*,\s*(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}')\s*,\s*")
_MAX_CALL = 700


def _arguments(text: str) -> Iterator[Given]:
    """The defaults of options in calls of argparse, optparse, click, typer, commander and yargs."""
    for match in _CLI_CALL.finditer(text):
        call = _call_arguments(text, match.end())
        flags = _LONG.findall(call)
        if len(flags) != 1:
            continue
        if default := _DEFAULT.search(call):
            form = literal_at(call, default.end())[0]
        elif match[0].startswith("Option"):
            form = literal_at(call, len(call) - len(call.lstrip()))[0]
            form = "" if form.startswith('"--') else form
        else:
            described = _DESCRIBED.match(call)
            form = literal_at(call, described.end())[0] if described else ""
        yield match.start(), flags[0], form


def call_at(text: str, line: int, name: str) -> tuple[str, int]:
    """(arguments, offset of them) of the call that names a flag on or after a line; ("", line) if there is none.

    Args:
        line: The offset of the line.
        name: The flag.
    """
    at = text.find(name.lstrip("-"), line, line + _MAX_CALL)
    start = text.rfind("(", line, at) + 1
    return (_call_arguments(text, start), start) if at >= 0 and start else ("", line)


def _call_arguments(text: str, start: int) -> str:
    """The text of a call's arguments, from `start` to the closing bracket; at most `_MAX_CALL` characters."""
    text = text[start : start + _MAX_CALL]
    depth = 1
    for match in re.finditer(r"[()]", text):
        depth += 1 if match.group() == "(" else -1
        if not depth:
            return text[: match.start()]
    return text


_TABLE = lazily(r"(?:\b\w*[Dd]efault\w*|\bDEFAULT\w*)\b[^\n{};]{0,120}\{")
_ENTRY = lazily(r"(?P<bracket>[{}])|(?<![\w.])[\"':]?(?P<name>[A-Za-z_]\w{2,80})[\"']?\s*(?::(?!:)|=>)\s*")
_MAX_TABLE = 6_000


def tables(text: str) -> Iterator[Given]:
    """The defaults in objects named after defaults: `var DefaultConfig = Config{Size: 5}`, `fn default() -> Self {`."""
    end = 0
    for table in _TABLE.finditer(text):
        if table.start() < end:
            continue
        depth, at, first = 1, table.end(), 0
        for entry in _ENTRY.finditer(text, table.end(), table.end() + _MAX_TABLE):
            if entry["bracket"]:
                depth += 1 if entry["bracket"] == "{" else -1
                if not depth:
                    break
            elif entry.start() >= at:
                form, stop = literal_at(text, entry.end())
                if form and depth == (first := first or depth):
                    yield entry.start("name"), entry["name"], form
                at = max(stop, at)
            end = entry.end()


#: By names in `flag_defaults` of a language's table: texts of which a file with such a default has one, and the reader.
_READERS: dict[str, tuple[tuple[str, ...], Callable[[str], Iterator[Given]]]] = {
    "arguments": (("add_argument", "option(", "Option(", "add_option"), _arguments),
    "options": ((".option(",), _arguments),
}
