"""Reads registrations from attributes before definitions: `@GetMapping("/users")`, `[HttpGet]`, `#[get("/")]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.frameworks.around import OF_TYPE, ROOTED, Arguments, Row
from lci_py.source.frameworks.texts import (
    STRING,
    VERBS,
    attributes_of,
    constant_of,
    content,
    part_name,
    setting,
    split,
    sum_of,
)
from lci_py.source.text.patterns import lazily
from lci_py.types.search import TYPE_KINDS
from lci_py.types.source import Registration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lci_py.source.frameworks.registry import Registry
    from lci_py.types.source import Symbol

_NAMED = lazily(r"(\w+)\s*[=:](?![=:])\s*(.*)", re.DOTALL)
_COMMENTS = ("*", "/")


def read_attributes(
    source: bytes, symbols: Sequence[Symbol], rows: Sequence[Row], mark: str, registry: Registry
) -> None:
    """Add to `registry` what the attributes of a file register.

    Args:
        source: The file's bytes.
        symbols: The file's definitions; a type comes before its members.
        rows: The rows of the table that match attributes.
        mark: Pattern of an attribute's beginning; its group is the attribute's name.
    """
    text = source.decode("utf-8", "replace")
    lines = ["" if line.lstrip().startswith(_COMMENTS) else line for line in text.split("\n")]
    names = {name: row for row in rows for name in row["names"].split()}
    for number, symbol in enumerate(symbols):
        head = "\n".join(lines[symbol.first_line - 1 : symbol.line])
        attributes = list(attributes_of(head, mark))
        if symbol.kind in TYPE_KINDS and rows[0].get("mounted"):
            continue
        if symbol.kind in TYPE_KINDS:
            own = [_paths(_arguments(inner), names[name], source)[0] for name, inner, _ in attributes if name in names]
            others = " ".join(name for name, _, _ in attributes if name not in names)
            if own or others:
                router = ROOTED if own else ""
                registry.note(Registration("base", own[-1] if own else "", router, others, number, -1, symbol.line))
            continue
        for name, inner, at in attributes:
            if (row := names.get(name)) is None or row["kind"] == "base":
                continue
            arguments = _arguments(inner)
            line = symbol.first_line + head.count("\n", 0, at)
            for path in _paths(arguments, row, source):
                title = path.replace("[action]", symbol.name)
                router = "" if row.get("mounted") else OF_TYPE
                if row.get("absolute") and title.startswith(("/", "~/")):
                    title, router = title.removeprefix("~"), ROOTED
                for method in _methods(row, name, arguments):
                    registry.note(
                        Registration(row["kind"], part_name(method, title), router, "", symbol.parent, number, line)
                    )


def _arguments(text: str) -> Arguments:
    parts = [(part, _NAMED.match(part)) for part in split(text)]
    return Arguments(
        tuple(part for part, match in parts if match is None), {match[1]: match[2] for _, match in parts if match}
    )


def _paths(arguments: Arguments, row: Row, source: bytes) -> list[str]:
    def part_of(text: str) -> str:
        if (match := STRING.fullmatch(text)) is not None:
            return content(match)
        constant = constant_of(source, text)
        return setting(text) if constant is None else constant

    text = arguments.get(row.get("name", [0, "value", "path"]))
    if "+" in text:
        return ["".join(map(part_of, sum_of(text)))]
    return [content(match) for match in STRING.finditer(text)] or [part_of(text) if text else ""]


def _methods(row: Row, name: str, arguments: Arguments) -> Iterator[str]:
    """The HTTP methods that an attribute's name or arguments state; a single "" stands for any method."""
    said = row.get("method", "")
    text = name.lower() if said == "callee" else arguments.get(said).lower() if said else ""
    verbs = [verb for verb in VERBS if verb in text]
    yield from (verb.upper() if verb != "any" else "" for verb in verbs or [""])
