"""Defaults in documents, where name and value are on one line: `MAX_SIZE` (default: 60), a column "Default"; and those
in configuration files.

`wording` says which sentences state a default; this module says whose: the line begins with the name, or a table's row
has it. What a sentence leaves open, or says of a name in a line above, led to no true entry in 75 repositories.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.stated_values.file_roles import is_template
from lci_py.source.stated_values.names import is_flag, is_specific
from lci_py.source.stated_values.values import string, word
from lci_py.source.stated_values.wording import DEFAULT, SIGNS, VALUE, Stated, form_of, holds, stated
from lci_py.source.text.patterns import lazily
from lci_py.types.source import Claim

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_LINE = 1_000
_NAME = r"[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*"
_SPAN = lazily(
    r"(`{1,2})(?P<code>[^`\n]{1,120})\1|(?<![\w`$.=/-])(?P<flag>--[a-z][\w-]{2,60})|(?<![\w`$./#-])(?P<caps>[A-Z][A-Z0-9]*_[A-Z0-9_]{2,80})(?![\w`./(-])|\*\*(?P<bold>[A-Za-z_][\w.-]{2,80})\*\*"
)
_CONTENT = lazily(
    rf"(?:-\w(?:[, /]|,\s))?(?P<flag>--[A-Za-z][\w.-]*|-[A-Za-z][\w.-]{{3,}})(?:[ =].{{0,40}})?$"
    rf"|~?(?P<name>{_NAME})(?:=<[^<>]{{0,40}}>)?$"
)
_BULLET = lazily(r"\s*(?:[-*+•]|\d+[.)]|#{1,6}|[:>]|&#?\w{1,8};|[^\w\s`*|-]{1,3})?\s*(?:\[[ x]\]\s*)?\**\[?")


class _Mention(NamedTuple):
    start: int
    end: int
    name: str  # "" if the span contains no name


def statements(source: bytes) -> Iterator[Claim]:
    """The defaults that a document states."""
    if not any(sign in source for sign in SIGNS):
        return
    column: tuple[int, int] | None = None  # the columns of names and of defaults in the current table
    for number_, line in enumerate(source.decode("utf-8", "replace").split("\n"), 1):
        if len(line) > _MAX_LINE:
            continue
        if line.lstrip().startswith("|") or (column and "|" in line):
            if column is None:
                column = _columns(line)
            else:
                yield from _row(line, number_, column)
        else:
            column = None
            yield from _sentence(line, number_)


def mentions(line: str) -> list[_Mention]:
    """Code spans, flags and constants of a line."""
    found = []
    for span in _SPAN.finditer(line):
        content = span["code"] or span["flag"] or span["caps"] or span["bold"]
        named = _CONTENT.match(content.strip())
        name = (named["flag"] or named["name"]) if named else ""
        if span["bold"] and not is_specific(name):
            continue
        found.append(_Mention(span.start(), span.end(), name))
    return found


#: Before the long name of a flag.
_SHORT = lazily(r"^(?:`{1,2}-\w(?: <[^<>`]{0,40}>)?`{1,2}|-\w\b)?\s*(?:,|/|\bor\b)?\s*`?")


def _sentence(line: str, number_: int) -> Iterator[Claim]:
    """The default that a line states of the name that it begins with, if it mentions no other before."""
    if not DEFAULT.search(line) or len(DEFAULT.findall(line)) > 2:
        return
    said, begin = stated(line), _BULLET.match(line)
    if len(said) != 1 or begin is None:
        return
    before = [span for span in mentions(line) if span.name and span.end <= said[0].start]
    if not before or _SHORT.sub("", line[begin.end() : before[0].start]):
        return
    if not any(is_specific(one.name) and one.name != before[0].name for one in before[1:]):
        yield from _claim(before[0].name, said[0], line, number_)


def _claim(name: str, value: Stated, line: str, number_: int) -> Iterator[Claim]:
    if holds(line, value) and (form := form_of(value.value)):
        yield Claim(-1, _flag(name), form, number_, "prose")


def _flag(name: str) -> str:
    """A name, of a flag with two dashes, as the code's sides have it."""
    return f"--{name.lstrip('-')}" if is_flag(name) else name


def _cells(line: str) -> list[str]:
    cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
    return cells if len(cells) <= 20 else []


def _columns(line: str) -> tuple[int, int] | None:
    """The columns of names and of defaults in a table's head; (-1, -1) if it has no column of defaults."""
    heads = [re.sub(r"[*_]|`.*", "", cell).strip().lower() for cell in _cells(line)]
    of_defaults = [i for i, head in enumerate(heads) if re.fullmatch(r"defaults?(?: values?)?", head)]
    names = [
        i
        for i, head in enumerate(heads)
        if re.match(
            r"(?:(?:env\w*|config\w*|option|argument|parameter|command|cli)\b.*|name|option|variable|parameter|param|key|setting|flag|property|field|arg\w*|attribute)s?$",
            head,
        )
    ]
    if len(of_defaults) != 1:
        return -1, -1
    return (names[0] if names else 0), of_defaults[0]


_REMARK = lazily(r"\s*(?:\((?!or\b)[^()]{0,40}\))?$")


def _row(line: str, number_: int, column: tuple[int, int]) -> Iterator[Claim]:
    cells = _cells(line)
    if column[1] < 0 or max(column) >= len(cells) or re.fullmatch(r"[-:\s|]+", line.strip()):
        return
    spans = mentions(cells[column[0]])
    bare = re.fullmatch(rf"--[a-z][\w-]+|{_NAME}", cells[column[0]])
    names = {one.name for one in spans if one.name} or ({bare.group()} if bare else set())
    value = VALUE.match(cells[column[1]])
    if len(names) != 1 or value is None or not _REMARK.match(cells[column[1]], value.end()):
        return
    at = line.find(cells[column[1]])
    if (form := form_of(value)) and holds(line, Stated(at, value, at + value.end())):
        yield Claim(-1, _flag(names.pop()), form, number_, "prose")


#: A value with an optional comment after it. More words are prose, as in a comment that contains a `:`.
_GIVEN_VALUE = lazily(
    r"(?:\"(?P<d>[^\"\\]{0,100})\"|'(?P<s>[^'\\]{0,100})'|(?P<bare>[^\s#;\"'{}\[\]<>$%&*|,]{1,100}))(?:\s+[#;].*|\s*;)?\s*$"
)


def value_of(text: str) -> str:
    """The normal form of a value as configuration files write it; "" if it is none."""
    found = _GIVEN_VALUE.match(text.rstrip("\r"))
    if found is None:
        return ""
    if found["bare"] is not None:
        return word(found["bare"])
    return string(found["d"] if found["d"] is not None else found["s"])


# --- configuration files ------------------------------------------------------------------------------------------

#: A larger file is data.
_MAX_BYTES = 200_000
_ASSIGNED = lazily(
    r"(?P<off>[#;]\s?)?(?:export\s+)?(?P<name>[A-Za-z_][\w-]{2,99})\s*[=:]\s*(?!//)(?P<value>\S.{0,150})$"
)
_REMARKED = lazily(rb"(?m)^[ \t]*(?:[#;]+[ \t]?(.*)|.*)$")


def settings(path: str, source: bytes) -> Iterator[Claim]:
    """The values in a configuration template, including commented-out ones, and the defaults in comments."""
    if len(source) > _MAX_BYTES:
        return
    yield from statements(_REMARKED.sub(lambda found: found[1] or b"", source))
    if is_template(path):
        for number, line in enumerate(source.decode("utf-8", "replace").split("\n"), 1):
            found = _ASSIGNED.match(line.rstrip())
            if found is not None and (form := value_of(found["value"])):
                yield Claim(-1, found["name"], form, number, "commented" if found["off"] else "config")
