"""Values in configuration files: `NAME=value` and `name: value`, with the sections or keys around them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.stated_values.code_defaults import Lines, shell_defaults
from lci_py.source.stated_values.file_roles import DOCKER, ENV, JSON, TOML, YAML, is_template
from lci_py.source.stated_values.values import string, word
from lci_py.types.source import Claim

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A larger file is data.
_MAX_BYTES, _MAX_LINES = 200_000, 5_000
_MAX_DEPTH = 12
_ASSIGNED = re.compile(
    r"\s*(?P<off>[#;]\s?)?(?:export\s+)?(?P<name>[A-Za-z_][\w.-]{2,99})\s*(?P<is>[=:])\s*(?P<value>\S.{0,150}|)$"
)
_DOCKER = re.compile(r"\s*(?:ENV|ARG)\s+(?P<name>[A-Z][A-Z0-9_]{3,99})[= ]\s*(?P<value>\S.{0,150})$")
_SECTION = re.compile(r"\s*\[+\s*\"?([\w.-]{1,100})\"?\s*\]+\s*$")
_KEY = re.compile(r"(?P<indent> *)(?P<off>#\s?)?(?P<name>[A-Za-z_][\w.-]{0,99})\s*:(?:\s+(?P<value>\S.{0,150})|\s*)$")
_MEMBER = re.compile(r"\s*\"(?P<name>[A-Za-z_][\w.-]{0,99})\"\s*:\s*(?P<value>.{1,150}?)\s*,?\s*$")
#: A value with an optional comment after it. More words are prose, as in a comment that contains a `:`.
_VALUE = re.compile(
    r"(?:\"(?P<d>[^\"\\]{0,100})\"|'(?P<s>[^'\\]{0,100})'|(?P<bare>[^\s#;\"'{}\[\]<>$%&*|,]{1,100}))(?:\s+[#;].*|\s*;)?\s*$"
)


def settings(kind: str, path: str, source: bytes) -> Iterator[Claim]:
    """The settings of a file; `kind` is one of those in `file_roles`."""
    if len(source) > _MAX_BYTES:
        return
    text = source.decode("utf-8", "replace")
    lines = text.split("\n")[:_MAX_LINES]
    if kind == DOCKER:
        yield from _docker(text, lines)
    elif kind == YAML:
        yield from _nested(lines, commented=is_template(path))
    elif kind == JSON:
        yield from _members(lines)
    else:
        yield from _flat(kind, lines, commented=kind != TOML or is_template(path))


def value_of(text: str) -> str:
    """The form of a value as configuration files write it, "" if it is not one."""
    found = _VALUE.match(text.rstrip("\r"))
    if found is None:
        return ""
    if found["bare"] is not None:
        return word(found["bare"])
    return string(found["d"] if found["d"] is not None else found["s"])


def _flat(kind: str, lines: list[str], *, commented: bool) -> Iterator[Claim]:
    section = ""
    for number, line in enumerate(lines, 1):
        if found := _SECTION.match(line):
            section = f"{found[1]}."
            continue
        found = _ASSIGNED.match(line.rstrip())
        if found is None or (found["off"] and not commented):
            continue
        if kind == ENV and found["is"] == ":":
            continue
        if found["off"] and (found["is"] == ":" or line.lstrip("#; \t").startswith("http")):
            continue  # a colon in a comment
        if form := value_of(found["value"]):
            yield Claim(-1, f"{section}{found['name']}", form, number, "commented" if found["off"] else "config")


def _docker(text: str, lines: list[str]) -> Iterator[Claim]:
    for number, line in enumerate(lines, 1):
        if (found := _DOCKER.match(line.rstrip())) and (form := value_of(found["value"])):
            yield Claim(-1, found["name"], form, number, "config")
    places = Lines(text)
    for at, name, form in shell_defaults(text):
        if form:
            yield Claim(-1, name, form, places.of(at), "config")


def _nested(lines: list[str], *, commented: bool) -> Iterator[Claim]:
    """YAML's mappings, by their indentation. Mappings in lists have no name of their own and are left out."""
    above: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        stripped = line.lstrip(" ")
        if stripped.startswith("- "):
            indent = len(line) - len(stripped)
            above = [item for item in above if item[0] < indent]
            above.append((indent, ""))
            continue
        found = _KEY.match(line.rstrip())
        if found is None or (found["off"] and not commented):
            continue
        indent = len(found["indent"])
        while above and above[-1][0] >= indent:
            above.pop()
        names = [name for _, name in above]
        if found["value"] is None:
            if not found["off"] and len(above) < _MAX_DEPTH:
                above.append((indent, found["name"]))
        elif "" not in names and (form := value_of(found["value"])):
            how = "commented" if found["off"] else "config"
            yield Claim(-1, ".".join([*names, found["name"]]), form, number, how)


def _members(lines: list[str]) -> Iterator[Claim]:
    """Members of JSON objects, one per line."""
    above: list[str] = []
    for number, line in enumerate(lines, 1):
        found = _MEMBER.match(line)
        value = found["value"] if found else line.strip()
        if found and value in ("{", "["):
            above.append(found["name"] if value == "{" else "")
        elif found:
            if "" not in above and len(above) < _MAX_DEPTH and (form := value_of(value)):
                yield Claim(-1, ".".join([*above, found["name"]]), form, number, "config")
        elif value in ("{", "[") and above:
            above.append("")
        elif value.rstrip(",") in ("}", "]") and above:
            above.pop()
