"""Entries of configuration files: what makes an agent start `lci mcp`, or run it after its own searches.

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
#: What the items of lists are told by, however somebody has changed them.
_MARK = "lci agent hook"
_SPACE = re.compile(r"[ \t\r\n]*")
# What is never closed is matched to its end, too: looked for from each place again, it would take quadratic time.
_STRING = r'"(?:[^"\\\r\n]|\\.)*"?'
_COMMENT = re.compile(rf"({_STRING})|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
#: Text that a comma may follow, and a trailing comma behind it.
_TRAILING_COMMA = re.compile(rf'({_STRING}|[^\s",\[{{])(?:([ \t\r\n]*),(?=[ \t\r\n]*[}}\]]))?', re.DOTALL)


class _Item(NamedTuple):
    """Offsets of a member of an object, or of an item of an array."""

    start: int
    value: int  # where its value begins
    end: int


class Entry(NamedTuple):
    """A member of nested objects, or with `listed` an item of the array that is there."""

    keys: tuple[str, ...]
    value: Mapping[str, Any]
    form: str = "json"  # or toml
    listed: bool = False

    def state(self, text: str) -> str:
        """absent, installed, or custom: it starts lci, but differs from what lci writes.

        Raises:
            LeftAloneError: The file is not valid, has another structure, or has something else by this name.
        """
        holder = self._holder(self._read(text))
        if isinstance(holder, list):
            if self.value in holder:
                return "installed"
            return "custom" if any(_MARK in json.dumps(item, default=str) for item in holder) else "absent"
        found = holder.get(self.keys[-1])
        if found is None:
            return "absent"
        # Agents add members that are empty, such as `"env": {}`.
        if isinstance(found, dict) and {k: v for k, v in found.items() if v not in ({}, [], None)} == self.value:
            return "installed"
        if _runs_lci(found):
            return "custom"
        raise LeftAloneError(f"{NAME} in {self.keys[0]} does not start lci")

    def add(self, text: str | None) -> str:
        """The text with the entry.

        Raises:
            LeftAloneError: see `state`; or the entry does not fit into the file as it is written.
        """
        if text is None:
            return append(None, self._table() if self.form == "toml" else json.dumps(self._nested(0), indent=2))
        wanted = self._read(text)
        holder = self._holder(wanted, make=True)
        if isinstance(holder, list):
            holder.insert(0, dict(self.value))
        else:
            holder[self.keys[-1]] = dict(self.value)
        return self._checked(append(text, self._table()) if self.form == "toml" else self._with_item(text), wanted)

    def remove(self, text: str) -> str | None:
        """The text without the entry, and without the objects around it if nothing else is in them.

        Raises:
            LeftAloneError: see `state`; or the entry cannot be removed from the file as it is written.
        """
        wanted = self._read(text)
        if self.form == "toml":
            self._holder(wanted).pop(NAME)
            return self._without_table(text, wanted)
        bare = _bare(text)
        start = _skip(bare, 0)
        node: Any = wanted
        levels: list[tuple[Any, dict[str | int, _Item], str | int]] = []  # what holds, its items, and the one inside
        for key in (*self.keys, *([self._holder(wanted).index(self.value)] if self.listed else [])):
            levels.append((node, _items(bare, start), key))
            start, node = levels[-1][1][key].value, node[key]
        while len(levels) > 1 and len(levels[-1][1]) == 1:
            _, items, key = levels[-2]
            if _has_comments(text[items[key].start : items[key].end]):
                break
            levels.pop()
        node, items, key = levels[-1]
        del node[key]
        if not wanted and not _has_comments(text):
            return None
        return self._checked(_without(text, bare, items, key), wanted)

    def by_hand(self) -> str:
        """What a person would write into the file."""
        return self._table() if self.form == "toml" else json.dumps(self._nested(0))

    def _nested(self, depth: int) -> Any:
        """The value below the keys from a depth on."""
        value: Any = [dict(self.value)] if self.listed else dict(self.value)
        for key in reversed(self.keys[depth:]):
            value = {key: value}
        return value

    def _table(self) -> str:
        rows = [f"{key} = {json.dumps(value)}" for key, value in self.value.items()]
        return "\n".join([f"[{'.'.join(self.keys)}]", *rows])

    def _read(self, text: str) -> dict[str, Any]:
        return _read_toml(text) if self.form == "toml" else read_json(text)

    def _holder(self, found: dict[str, Any], *, make: bool = False) -> Any:
        """The object or the array that the entry is in; `make` puts it where it lacks."""
        node: Any = found
        for depth, key in enumerate(self.keys if self.listed else self.keys[:-1], 1):
            is_list = self.listed and depth == len(self.keys)
            empty: Any = [] if is_list else {}
            node = node.setdefault(key, empty) if make else node.get(key, empty)
            if not isinstance(node, list if is_list else dict):
                noun = "a list" if is_list else "a table" if self.form == "toml" else "an object"
                raise LeftAloneError(f"{key} is not {noun}")
        return node

    def _checked(self, text: str, wanted: dict[str, Any]) -> str:
        with suppress(LeftAloneError):
            if self._read(text) == wanted:
                return text
        raise LeftAloneError(f"{NAME} in {self.keys[0]} is written in a way that can only be edited by hand", ours=True)

    def _with_item(self, text: str) -> str:
        """JSON with the entry before the first item of what it is in, in the style of the file."""
        bare = _bare(text)
        start = _skip(bare, 0)
        inside = _items(bare, start)
        unit = next((_indent(text, item.start) for item in inside.values()), None) or "  "
        depth = 0
        while depth < len(self.keys) and self.keys[depth] in inside:
            start = inside[self.keys[depth]].value
            inside, depth = _items(bare, start), depth + 1
        name = f"{json.dumps(self.keys[depth])}: " if depth < len(self.keys) else ""
        value = self._nested(depth + 1) if name else dict(self.value)
        eol, level = end_of_line(text), unit * (depth + 1)
        if not inside:
            rest = text[start + 1 :]
            closed = "\n" in rest[: min(bare.find(sign, start) % (len(bare) + 1) for sign in "}]") - start]
            brace = "" if closed else eol + level.removesuffix(unit)
            return f"{text[: start + 1]}{eol}{level}{name}{_lines(value, level, unit, eol)}{brace}{rest}"
        first = next(iter(inside.values())).start
        own = _indent(text, first)
        if own is None:
            return f"{text[:first]}{name}{json.dumps(value)}, {text[first:]}"
        return f"{text[:first]}{name}{_lines(value, own, unit, eol)},{eol}{own}{text[first:]}"

    def _without_table(self, text: str, wanted: dict[str, Any]) -> str | None:
        table = ".".join(self.keys)
        header = rf"^\[{re.escape(table)}\][^\n]*(?:\n(?!\s*(?:\[|\r?\n|\Z))[^\n]*)*"
        for found in re.finditer(header, text, re.MULTILINE):
            rest = cut(text, found.start(), found.end() - text[: found.end()].endswith("\r"))
            with suppress(LeftAloneError):  # it was the text of a value
                if {self.keys[0]: {}, **self._read(rest or "")} == wanted:
                    return rest
        raise LeftAloneError(f"[{table}] is written in another way: remove it by hand", ours=True)


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


def _has_comments(text: str) -> bool:
    return any(found[1] is None for found in _COMMENT.finditer(text))


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _items(bare: str, start: int) -> dict[str | int, _Item]:
    """The members of the object at `start` by key, or the items of the array there by place."""
    found: dict[str | int, _Item] = {}
    decoder = json.JSONDecoder()
    at = _skip(bare, start + 1)
    while bare[at] not in "}]":
        key, value = len(found), at
        if bare[start] == "{":
            key, end = decoder.raw_decode(bare, at)
            value = _skip(bare, bare.index(":", end) + 1)
        if key in found:
            raise LeftAloneError(f"{key} occurs twice in one object")
        found[key] = _Item(at, value, decoder.raw_decode(bare, value)[1])
        at = _skip(bare, found[key].end)
        if bare[at] == ",":
            at = _skip(bare, at + 1)
    return found


def _indent(text: str, at: int) -> str | None:
    """The indentation of an offset; None if it is not at the start of a line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line if "\n" in text[:at] and not line.strip(" \t") else None


def _lines(value: object, level: str, unit: str, eol: str) -> str:
    """A value on several lines."""
    return json.dumps(value, indent=unit).replace("\n", eol + level)


def _without(text: str, bare: str, items: Mapping[str | int, _Item], key: str | int) -> str:
    """The text without an item, with the comma that goes with it; comments stay."""
    start, _, end = items[key]
    comma = _skip(bare, end)
    if bare[comma] == ",":
        return text[:start] + text[end:comma] + re.sub(r"\A[ \t]*(?:\r?\n)?[ \t]*", "", text[comma + 1 :])
    previous = max((item.end for item in items.values() if item.start < start), default=None)
    if previous is not None:
        comma = _skip(bare, previous)
        return text[:comma] + text[comma + 1 : start].rstrip() + text[end:]
    before, rest = text[:start].rstrip(), re.sub(r"\A\s*,", "", text[end:])
    closes = before.endswith(("{", "[")) and rest.lstrip().startswith(("}", "]"))
    return before + (rest.lstrip() if closes else rest)
