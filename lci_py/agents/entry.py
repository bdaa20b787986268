"""Entries of configuration files: what makes an agent start `lci mcp`, or run it after its own searches.

JSON (comments and trailing commas are allowed) is edited as text: the entry is inserted before the first member of its
object, and found again by its key. In TOML it is a marked block. The new text is parsed before it is written, and
refused if the edit had another result than intended. The rest of the file is unchanged.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from typing import Any, NamedTuple

from lci_py.agents.block import TOML, Block
from lci_py.agents.safe_files import LeftAloneError
from lci_py.source.text import parse_toml

#: What the items of lists are told by, however somebody has changed them.
_MARK = "lci agent hook"
# What is never closed is matched to its end, too: looked for from each place again, it would take quadratic time.
_STRING = r'"(?:[^"\\\r\n]|\\.)*"?'
_TOKEN = re.compile(rf"{_STRING}|[^\s\"]", re.DOTALL)
_COMMENT = re.compile(rf"({_STRING})|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
#: Text that a comma may follow, and a trailing comma behind it.
_TRAILING_COMMA = re.compile(rf'({_STRING}|[^\s",\[{{])(?:([ \t\r\n]*),(?=[ \t\r\n]*[}}\]]))?', re.DOTALL)
_SPACE = " \t\r\n"


class Entry(NamedTuple):
    """An entry of a configuration file: a member of nested objects or, with `listed`, an item of an array."""

    agent: str
    keys: tuple[str, ...]  # that lead to the member, or to the array
    value: dict[str, Any]
    listed: bool = False
    toml: bool = False

    def state(self, text: str) -> str:
        """The state of the entry: absent, installed, or custom (it starts lci, but differs from what lci writes).

        Raises:
            LeftAloneError: The file is invalid, has another structure, or uses the entry's name for something else.
        """
        holder = self._holder(self._read(text))
        if self.listed and self.value not in holder:
            return "custom" if _MARK in json.dumps(holder, default=str) else "absent"
        entry = self.value if self.listed else holder.get(self.keys[-1])
        if entry is None:
            return "absent"
        # Agents add members that are empty, such as `"env": {}`.
        if isinstance(entry, dict) and {k: v for k, v in entry.items() if v not in ({}, [], None)} == self.value:
            return "installed"
        if _runs_lci(entry):
            return "custom"
        raise LeftAloneError(f"lci in {self.keys[0]} does not start lci")

    def add(self, text: str | None) -> str:
        """The text with the entry.

        Raises:
            LeftAloneError: see `state`; or the entry does not fit into the file as it is written.
        """
        if text is None:
            return self._table.add(None) if self.toml else json.dumps(self._nested(self.keys), indent=2) + "\n"
        data = self._read(text)
        self._holder(data)  # has the structure
        new = self._table.add(text) if self.toml else self._with_member(text, data)
        holder = self._holder(data, make=True)
        if self.listed:
            holder.insert(0, self.value)
        else:
            holder[self.keys[-1]] = self.value
        return self._checked(new, data)

    def remove(self, text: str) -> str | None:
        """The text without the entry, and without the enclosing objects that become empty; None if nothing is left.

        Raises:
            LeftAloneError: see `state`; or the entry cannot be removed from the file as it is written.
        """
        data = self._read(text)
        pieces = [] if self.toml else self._pieces(data)
        holder = self._holder(data)
        if self.listed:
            holder.remove(self.value)
        else:
            del holder[self.keys[-1]]
        if self.toml:
            rest = self._table.remove(text)
            return None if rest is None else self._checked(rest, data)
        for piece in pieces:
            # The file may have been formatted anew: blanks between tokens, commas before closing brackets.
            closing = r"(?:\s*,)?\s*"
            tokens = ((closing if token in "]}" else r"\s*") + re.escape(token) for token in _TOKEN.findall(piece))
            for match in re.finditer("".join(tokens).removeprefix(r"\s*"), text):
                if match[0] == text.strip("\ufeff" + _SPACE):
                    return None
                with suppress(LeftAloneError):
                    return self._checked(_cut(text, match), data)
        return self._checked(text, data)

    def by_hand(self) -> str:
        """The entry in the form in which a user would write it into the file."""
        return self._table.text() if self.toml else json.dumps(self._nested(self.keys))

    @property
    def _table(self) -> Block:
        rows = (f"{key} = {json.dumps(value)}" for key, value in self.value.items())
        return Block(self.agent, "\n".join([f"[{'.'.join(self.keys)}]", *rows]), comment=TOML)

    def _nested(self, keys: tuple[str, ...]) -> Any:
        """The entry's value, nested in an object for each of `keys`."""
        value: Any = [self.value] if self.listed else self.value
        for key in reversed(keys):
            value = {key: value}
        return value

    def _read(self, text: str) -> dict[str, Any]:
        return _read_toml(text) if self.toml else read_json(text)

    def _holder(self, data: dict[str, Any], *, make: bool = False) -> Any:
        """The object or array that holds the entry; with `make`, missing objects are created."""
        node: Any = data
        keys = self.keys if self.listed else self.keys[:-1]
        for key in keys:
            empty: Any = [] if self.listed and key is keys[-1] else {}
            node = node.setdefault(key, empty) if make else node.get(key, empty)
            if type(node) is not type(empty):
                noun = "a list" if empty == [] else "a table" if self.toml else "an object"
                raise LeftAloneError(f"{key} is not {noun}")
        return node

    def _checked(self, text: str, data: dict[str, Any]) -> str:
        """The text, if parsing it gives `data` (empty objects do not count); otherwise raises LeftAloneError."""
        with suppress(LeftAloneError):
            if _without_empty(self._read(text)) == _without_empty(data):
                return text
        raise LeftAloneError(f"lci in {self.keys[0]} is written in a way that can only be edited by hand", ours=True)

    def _with_member(self, text: str, data: dict[str, Any]) -> str:
        """The JSON text with the entry as the first member of the innermost enclosing object that exists."""
        node: Any = data
        depth = 0
        while depth < len(self.keys) and self.keys[depth] in node:
            node, depth = node[self.keys[depth]], depth + 1
        outer, lacking = self.keys[:depth], self.keys[depth:]
        piece = json.dumps(self._nested(lacking))[1:-1] if lacking else json.dumps(self.value)
        bare = _bare(text)
        start = _opening(bare, outer)
        first = len(bare) - len(bare[start:].lstrip(_SPACE))
        if not node:
            return text[:start] + piece + text[start:]
        space = text[len(text[:first].rstrip(_SPACE)) : first] or " "
        return f"{text[:first]}{piece},{space}{text[first:]}"

    def _pieces(self, data: dict[str, Any]) -> list[str]:
        """The JSON texts that may be cut out to remove the entry, best first: enclosing objects without another member,
        from the outermost, then the entry."""
        pieces = [json.dumps(data, ensure_ascii=False)]
        node: Any = data
        for key in self.keys:
            pieces = [*(pieces if len(node) == 1 else ()), json.dumps({key: node[key]}, ensure_ascii=False)[1:-1]]
            node = node[key]
        return [*(pieces if len(node) == 1 else ()), json.dumps(self.value)] if self.listed else pieces


def _opening(bare: str, keys: tuple[str, ...]) -> int:
    """The offset behind the bracket that opens the value at `keys`, which must exist."""
    level = depth = 0
    tokens = _TOKEN.finditer(bare)
    for token in tokens:
        if token[0] in "{[":
            level += 1
            if level > depth == len(keys):
                return token.end()
        level -= token[0] in "]}"
        depth += depth < len(keys) and level == depth + 1 and token[0] == json.dumps(keys[depth])
    return len(bare)


def _cut(text: str, match: re.Match[str]) -> str:
    """The text without a match and without one comma: the comma behind the match, or else the comma before it."""
    before, after = text[: match.start()], text[match.end() :]
    if comma := re.match(rf"[{_SPACE}]*,[{_SPACE}]*", after):
        return before + after[comma.end() :]
    return re.sub(rf"[{_SPACE}]*,?[{_SPACE}]*\Z", "", before) + after


def _without_empty(value: Any) -> Any:
    """The value without empty objects and lists, at any depth."""
    if not isinstance(value, dict):
        return value
    return {key: rest for key, item in value.items() if (rest := _without_empty(item)) not in ({}, [])}


def read_json(text: str) -> dict[str, Any]:
    """The object in a JSON file; comments and trailing commas are allowed.

    Raises:
        LeftAloneError: It is not valid JSON, or no object.
    """
    try:
        data = json.loads(_bare(text), parse_constant=lambda name: int(name, 0))  # NaN is no JSON: ValueError
    except json.JSONDecodeError as error:
        why = f" (line {error.lineno}: {error.msg})"
        raise LeftAloneError(f"is not valid JSON{why}" if text.strip() else "is empty") from error
    except (ValueError, RecursionError) as error:
        raise LeftAloneError("is not valid JSON") from error
    if not isinstance(data, dict):
        raise LeftAloneError("is no JSON object")
    return data


def _read_toml(text: str) -> dict[str, Any]:
    try:
        return parse_toml(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise LeftAloneError(f"is not valid TOML ({' '.join(str(error).split())[:80]})") from error


def _runs_lci(value: object) -> bool:
    """Whether an entry starts `lci mcp`, whatever else it contains."""
    if not isinstance(value, dict):
        return False
    command, more = value.get("command"), value.get("args")
    words = [*(command if isinstance(command, list) else [command]), *(more if isinstance(more, list) else [])]
    return isinstance(words[0], str) and os.path.basename(words[0]) == "lci" and words[1:2] == ["mcp"]


def _bare(text: str) -> str:
    """The text as plain JSON of the same length: blanks for comments, trailing commas and a byte order mark."""
    bare = _COMMENT.sub(lambda m: m[1] or re.sub(r"[^\r\n]", " ", m[0]), text)
    bare = _TRAILING_COMMA.sub(lambda m: m[1] + ("" if m[2] is None else m[2] + " "), bare)
    return " " + bare[1:] if bare.startswith("\ufeff") else bare
