"""The entry of a configuration file that makes an agent start `lci mcp`, added and removed by its key.

JSON, with comments and trailing commas or without, and TOML are edited as text, and parsed again before anything is
written: an edit with another result than intended is refused. The rest of the file stays as it is.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from lci_py.agents.block import append, cut, end_of_line
from lci_py.agents.safe_files import LeftAloneError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NAME = "lci"
_SPACE = re.compile(r"[ \t\r\n]*")
# What is never closed is matched to its end, too: looked for from each place again, it would take quadratic time.
_STRING = r'"(?:[^"\\\r\n]|\\.)*"?'
_COMMENT = re.compile(rf"({_STRING})|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
#: Text that a comma may follow, and a trailing comma behind it.
_TRAILING_COMMA = re.compile(rf'({_STRING}|[^\s",\[{{])(?:([ \t\r\n]*),(?=[ \t\r\n]*[}}\]]))?', re.DOTALL)


class _Member(NamedTuple):
    """Offsets of a member of an object."""

    start: int
    value: int  # where its value begins
    end: int


class Entry(NamedTuple):
    parent: str  # the key of the object that holds the servers
    value: Mapping[str, Any]
    form: str = "json"  # or toml

    def state(self, text: str) -> str:
        """absent, installed, or custom: it starts `lci mcp`, but differs from what lci writes.

        Raises:
            LeftAloneError: The file is not valid, has another structure, or has something else by this name.
        """
        found = self._servers(self._read(text)).get(NAME)
        if found is None:
            return "absent"
        # Agents add members that are empty, such as `"env": {}`.
        if isinstance(found, dict) and {k: v for k, v in found.items() if v not in ({}, [], None)} == self.value:
            return "installed"
        if _runs_lci(found):
            return "custom"
        raise LeftAloneError(f"{NAME} in {self.parent} is something else")

    def add(self, text: str | None) -> str:
        """The text with the entry.

        Raises:
            LeftAloneError: see `state`; or the entry does not fit into the file as it is written.
        """
        if text is None:
            made = {self.parent: {NAME: dict(self.value)}}
            return append(None, self._table() if self.form == "toml" else json.dumps(made, indent=2))
        wanted = self._read(text)
        wanted[self.parent] = {**self._servers(wanted), NAME: dict(self.value)}
        return self._checked(append(text, self._table()) if self.form == "toml" else self._with_member(text), wanted)

    def remove(self, text: str) -> str | None:
        """The text without the entry, and without its parent object if that is empty then; None if nothing is left.

        Raises:
            LeftAloneError: see `state`; or the entry cannot be removed from the file as it is written.
        """
        wanted = self._read(text)
        servers = self._servers(wanted)
        servers.pop(NAME)
        if self.form == "toml":
            return self._without_table(text, wanted)
        bare = _bare(text)
        top = _members(bare, _skip(bare, 0))
        around = top[self.parent]
        if servers or _commented(text[around.start : around.end]):
            return self._checked(_without(text, bare, _members(bare, around.value), NAME), wanted)
        del wanted[self.parent]
        if not wanted and not _commented(text):
            return None
        return self._checked(_without(text, bare, top, self.parent), wanted)

    def by_hand(self) -> str:
        """The text that a person would add to the file."""
        return self._table() if self.form == "toml" else json.dumps({self.parent: {NAME: dict(self.value)}})

    def _table(self) -> str:
        rows = [f"{key} = {json.dumps(value)}" for key, value in self.value.items()]
        return "\n".join([f"[{self.parent}.{NAME}]", *rows])

    def _read(self, text: str) -> dict[str, Any]:
        return _read_toml(text) if self.form == "toml" else read_json(text)

    def _servers(self, found: dict[str, Any]) -> dict[str, Any]:
        servers = found.get(self.parent, {})
        if not isinstance(servers, dict):
            raise LeftAloneError(f"{self.parent} is no {'table' if self.form == 'toml' else 'object'}")
        return servers

    def _checked(self, text: str, wanted: dict[str, Any]) -> str:
        with suppress(LeftAloneError):
            if self._read(text) == wanted:
                return text
        raise LeftAloneError(f"{NAME} in {self.parent} is written in a way that can only be edited by hand", ours=True)

    def _with_member(self, text: str) -> str:
        """JSON with the entry before the first member of its object, in the style of the file."""
        bare = _bare(text)
        start = _skip(bare, 0)
        inside = top = _members(bare, start)
        unit = next((_indent(text, member.start) for member in top.values()), None) or "  "
        key, value, level = self.parent, {NAME: dict(self.value)}, unit
        if self.parent in top:
            start = top[self.parent].value
            inside, key, value, level = _members(bare, start), NAME, dict(self.value), unit * 2
        eol = end_of_line(text)
        if not inside:
            rest = text[start + 1 :]
            brace = "" if "\n" in rest[: bare.index("}", start) - start] else eol + level.removesuffix(unit)
            return f"{text[: start + 1]}{eol}{level}{_lines(key, value, level, unit, eol)}{brace}{rest}"
        first = next(iter(inside.values())).start
        own = _indent(text, first)
        if own is None:
            return f"{text[:first]}{json.dumps(key)}: {json.dumps(value)}, {text[first:]}"
        return f"{text[:first]}{_lines(key, value, own, unit, eol)},{eol}{own}{text[first:]}"

    def _without_table(self, text: str, wanted: dict[str, Any]) -> str | None:
        header = rf"^\[{re.escape(self.parent)}\.{NAME}\][^\n]*(?:\n(?!\s*(?:\[|\r?\n|\Z))[^\n]*)*"
        for found in re.finditer(header, text, re.MULTILINE):
            rest = cut(text, found.start(), found.end() - text[: found.end()].endswith("\r"))
            with suppress(LeftAloneError):  # it was the text of a value
                if {self.parent: {}, **self._read(rest or "")} == wanted:
                    return rest
        raise LeftAloneError(f"[{self.parent}.{NAME}] is written in another way: remove it by hand", ours=True)


def read_json(text: str) -> dict[str, Any]:
    """The object in a JSON file; comments and trailing commas are allowed.

    Raises:
        LeftAloneError: It is not valid JSON, or no object.
    """
    try:
        found = json.loads(_bare(text), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        if not text.strip():
            raise LeftAloneError("is empty") from error
        raise LeftAloneError(f"is not valid JSON (line {error.lineno}: {error.msg})") from error
    except (ValueError, RecursionError) as error:
        raise LeftAloneError("is not valid JSON") from error
    if not isinstance(found, dict):
        raise LeftAloneError("is no JSON object")
    return found


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def _read_toml(text: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise LeftAloneError(f"is not valid TOML ({' '.join(str(error).split())[:80]})") from error
    return found


def _runs_lci(value: object) -> bool:
    """Whether an entry starts `lci mcp`, whatever else it says."""
    if not isinstance(value, Mapping):
        return False
    command, more = value.get("command"), value.get("args")
    words = [*(command if isinstance(command, list) else [command]), *(more if isinstance(more, list) else [])]
    return isinstance(words[0], str) and os.path.basename(words[0]) == "lci" and words[1:2] == ["mcp"]


# --- JSON as text -------------------------------------------------------------------------------------------------


def _bare(text: str) -> str:
    """The text as plain JSON of the same length: blanks for comments, trailing commas and a byte order mark."""
    bare = _COMMENT.sub(lambda m: m[1] or re.sub(r"[^\r\n]", " ", m[0]), text)
    bare = _TRAILING_COMMA.sub(lambda m: m[1] + ("" if m[2] is None else m[2] + " "), bare)
    return " " + bare[1:] if bare.startswith("\ufeff") else bare


def _commented(text: str) -> bool:
    return any(found[1] is None for found in _COMMENT.finditer(text))


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _members(bare: str, start: int) -> dict[str, _Member]:
    """Key to member of the object at `start`."""
    found = {}
    decoder = json.JSONDecoder()
    at = _skip(bare, start + 1)
    while bare[at] != "}":
        key, end = decoder.raw_decode(bare, at)
        if key in found:
            raise LeftAloneError(f"{key} stands twice in one object")
        value = _skip(bare, bare.index(":", end) + 1)
        found[key] = _Member(at, value, decoder.raw_decode(bare, value)[1])
        at = _skip(bare, found[key].end)
        if bare[at] == ",":
            at = _skip(bare, at + 1)
    return found


def _indent(text: str, at: int) -> str | None:
    """The indentation of an offset; None if it is not at the start of a line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line if "\n" in text[:at] and not line.strip(" \t") else None


def _lines(key: str, value: object, level: str, unit: str, eol: str) -> str:
    """A member on several lines."""
    return f"{json.dumps(key)}: " + json.dumps(value, indent=unit).replace("\n", eol + level)


def _without(text: str, bare: str, members: Mapping[str, _Member], key: str) -> str:
    """The text without a member of an object, with the comma that goes with it; comments stay."""
    start, _, end = members[key]
    comma = _skip(bare, end)
    if bare[comma] == ",":
        return text[:start] + text[end:comma] + re.sub(r"\A[ \t]*(?:\r?\n)?[ \t]*", "", text[comma + 1 :])
    previous = max((member.end for member in members.values() if member.start < start), default=None)
    if previous is not None:
        comma = _skip(bare, previous)
        return text[:comma] + text[comma + 1 : start].rstrip() + text[end:]
    before, rest = text[:start].rstrip(), re.sub(r"\A\s*,", "", text[end:])
    return before + (rest.lstrip() if before.endswith("{") and rest.lstrip().startswith("}") else rest)
