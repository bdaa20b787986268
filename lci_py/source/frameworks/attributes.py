"""What attributes and annotations before definitions register: `@GetMapping("/users")`, `[HttpGet]`, `#[get("/")]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.frameworks.around import ROOTED, Arguments, Row
from lci_py.source.frameworks.texts import (
    STRING,
    VERBS,
    attributes_of,
    content,
    join_paths,
    route_name,
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
    """Give to `registry` what the attributes of a file register.

    Args:
        source: The file.
        symbols: Its definitions; a type comes before its members.
        rows: Of the table.
        mark: Pattern of what an attribute begins with, its name as the group.
    """
    text = source.decode("utf-8", "replace")
    lines = ["" if line.lstrip().startswith(_COMMENTS) else line for line in text.split("\n")]
    names = {name: row for row in rows for name in row["names"].split()}
    bases: dict[int, str] = {}  # path of a type whose members are routes
    for number, symbol in enumerate(symbols):
        head = "\n".join(lines[symbol.first_line - 1 : symbol.line])
        for name, inner, at in attributes_of(head, mark):
            if (row := names.get(name)) is None:
                continue
            arguments = _arguments(inner)
            paths = _paths(arguments, row)
            if symbol.kind in TYPE_KINDS:
                bases[number] = paths[0].replace("[controller]", symbol.name.removesuffix("Controller"))
                continue
            if row["kind"] == "base":
                continue
            line = symbol.first_line + head.count("\n", 0, at)
            for path in paths:
                title = _whole(path, bases.get(symbol.parent, ""), row).replace("[action]", symbol.name)
                for method in _methods(row, name, arguments):
                    router = "" if row.get("mounted") else ROOTED
                    registry.note(
                        Registration(row["kind"], route_name(method, title), router, "", symbol.parent, number, line)
                    )


def _arguments(text: str) -> Arguments:
    parts = [(part, _NAMED.match(part)) for part in split(text)]
    return Arguments(
        tuple(part for part, named in parts if named is None), {named[1]: named[2] for _, named in parts if named}
    )


def _paths(arguments: Arguments, row: Row) -> list[str]:
    text = arguments.get(row.get("name", [0, "value", "path"]))
    if "+" in text:
        return [
            "".join(content(found) if (found := STRING.fullmatch(part)) else setting(part) for part in sum_of(text))
        ]
    return [content(found) for found in STRING.finditer(text)] or [setting(text) if text else ""]


def _whole(path: str, base: str, row: Row) -> str:
    """The path of a member with that of its type before it."""
    if row.get("absolute") and path.startswith(("/", "~/")):
        return path.removeprefix("~")
    return join_paths(base, path)


def _methods(row: Row, name: str, arguments: Arguments) -> Iterator[str]:
    """The methods of HTTP that the name of an attribute says, or its arguments; "" for any."""
    said = row.get("method", "")
    text = name.lower() if said == "callee" else arguments.get(said).lower() if said else ""
    verbs = [verb for verb in VERBS if verb in text]
    yield from (verb.upper() if verb != "any" else "" for verb in verbs or [""])
