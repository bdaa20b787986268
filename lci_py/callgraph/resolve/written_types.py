"""Parses a type, as written in a declaration, into its names and type arguments."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple


class TypeText(NamedTuple):
    """A written type: its dotted name and its type arguments. `item`: whether it is a container of `name`."""

    name: str
    arguments: tuple[str, ...]
    item: bool


_ARRAY = re.compile(r"^\[[\w.]*\](?=.)|^\.\.\.")
_NOISE = re.compile(r"^(?:[&*?]+|'\w+(?=\W|$)|const\b|mut\b|dyn\b|impl\b|out\b|ref\b|in\b|struct\b|enum\b|class\b|"
                    r"some\b|any\b|final\b|inout\b|static\b|unsigned\b|params\b|typename\b|readonly\b| )")  # fmt: skip
_DOTTED = re.compile(r"[@$]?[^\W\d][\w$]*(?:(?:::|[.\\])[^\W\d][\w$]*)*")


@lru_cache(maxsize=20_000)
def types_in(text: str) -> tuple[TypeText, ...]:
    """The types that a declaration's text names: several for a union."""
    text = text.strip("\"'` ")
    if len(text) > 1 and text[0] == "(" and text[-1] == ")":
        if "," not in text:
            text = text[1:-1]
        elif len(places := _split(text[1:-1], ",")) > 1 and text.find(")") > text.rfind("("):  # Rust's (A, B)
            return (TypeText("tuple", tuple(places), False),)
    parts = _split(text, "|")
    if len(parts) > 1:
        return tuple(type_ for part in parts for type_ in types_in(part))[:8]
    item = False
    while True:
        match = _NOISE.match(text)
        if match and match.end():
            text = text[match.end() :]
            continue
        array = _ARRAY.match(text)
        if array:
            item, text = True, text[array.end() :]
        elif text.startswith("map["):
            end = text.find("]")
            item, text = True, text[end + 1 :] if end > 0 else ""
        else:
            break
        if text.startswith(("[", "map[")):  # of containers
            return (TypeText("", (text,), True),)
    text = text.lstrip("\\:")
    if text.startswith("[") and text.endswith("]"):  # Swift's [T] and [K: V]
        inner = _split(text[1:-1], ":")
        return (TypeText("", (inner[-1],), True),)
    match = _DOTTED.match(text)
    if match is None:
        return ()
    name = re.sub(r"::|\\", ".", match.group()).lstrip("$@")
    rest = text[match.end() :].rstrip("?!&* ")
    arguments: tuple[str, ...] = ()
    if rest[:1] in ("<", "["):
        closer = {"<": ">", "[": "]"}[rest[0]]
        end = rest.rfind(closer)
        if end > 1:
            arguments = tuple(part for part in _split(rest[1:end], ",") if part)
            rest = rest[end + 1 :].rstrip("?!&* ")
        elif end == 1:
            item, rest = True, ""
    if rest.endswith("[]"):
        item = True
    return (TypeText(name, arguments, item),)


@lru_cache(maxsize=20_000)
def places_in(text: str) -> tuple[str, ...]:
    """The types of a tuple's elements, in order; the type itself if it is not a tuple."""
    return tuple(_split(text, ",")) if "," in text else (text,)


def place_in(text: str, number: int) -> str:
    """The type of one element of a tuple; of another container, the type of its elements."""
    items = places_in(text)
    return items[0] if items[-1] == "..." else items[min(number, len(items) - 1)]


def _split(text: str, separator: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for index, letter in enumerate(text):
        if letter in "([{<":
            depth += 1
        elif letter in ")]}>":
            depth -= 1
        elif letter == separator and not depth:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]
