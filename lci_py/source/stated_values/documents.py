"""Defaults in documents, where name and value are on one line: `MAX_SIZE` (default: 60), a column "Default"; and those
in configuration files.

`wording` recognises sentences that state a default; this module finds the name. A sentence that leaves it open does not
count, nor does a name in a line above, in a heading or in a signature: in 34 repositories these led to no true entry.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.stated_values.file_roles import is_template
from lci_py.source.stated_values.names import is_specific
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
#: Not `~~~`, which underlines titles in reStructuredText.
_FENCE = lazily(r"\s*```+\s*\{?\.?([\w+-]*)[^`]*$")
_CONFIG_FENCES = frozenset("env dotenv ini toml yaml yml properties conf cfg sh bash shell console".split())
_CODE_FENCES = frozenset(("json", "diff", "mermaid"))
#: reStructuredText's blocks of code.
_LITERAL_BLOCK = lazily(
    r"\s*(?:\.\. (?:code-block|sourcecode|code|highlight|parsed-literal|doctest)::|(?!\.\.).*::\s*$)"
)


class _Mention(NamedTuple):
    start: int
    end: int
    name: str  # "" if the span contains no name


def statements(source: bytes) -> Iterator[Claim]:
    """The defaults that a document states."""
    if not any(sign in source for sign in SIGNS):
        return
    fence: str | None = None
    literal = -1  # lines that are indented further than this are a block of code; -1 outside of one
    column: tuple[int, int] | None = None  # the columns of names and of defaults in the current table
    for number_, line in enumerate(source.decode("utf-8", "replace").split("\n"), 1):
        text = line.lstrip()
        indent = len(line) - len(text)
        if not text or len(line) > _MAX_LINE:
            column = None
        elif text[0] == "`" and (found := _FENCE.match(line)):
            fence = None if fence is not None else found[1].lower()
            column = None
        elif fence is not None:
            yield from _fenced(line, number_, fence)
        elif text[0] == "|" or (column and "|" in line):
            if column is None:
                column = _columns(line)
            else:
                yield from _row(line, number_, column)
        elif literal < 0 or indent <= literal:
            column = None
            literal = indent if "::" in line and _LITERAL_BLOCK.match(line) else -1
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


def _sentence(line: str, number_: int) -> Iterator[Claim]:
    if not DEFAULT.search(line) or len(DEFAULT.findall(line)) > 2:
        return
    said = stated(line)
    if len(said) != 1:
        return
    (one,) = said
    known = [span for span in mentions(line) if span.name and span.end <= one.start]
    if name := _subject(line, one.start, known):
        yield from _claim(name, one, line, number_)


#: Before the long name of a flag.
_SHORT = lazily(r"^(?:`{1,2}-\w(?: <[^<>`]{0,40}>)?`{1,2}|-\w\b)?\s*(?:,|/|\bor\b)?\s*`?")


def _subject(line: str, phrase: int, named: list[_Mention]) -> str:
    """The name whose default a phrase states: the one at the start of the line, or the only one in the sentence."""
    if not named:
        return ""
    begin = _BULLET.match(line)
    first = named[0]
    others = {one.name for one in named[1:] if is_specific(one.name) and one.name != first.name}
    if begin is not None and not _SHORT.sub("", line[begin.end() : first.start]):
        return "" if others else first.name
    sentence = max(line.rfind(". ", 0, phrase), line.rfind("; ", 0, phrase), line.rfind(": ", 0, phrase - 2))
    inside = [one for one in named if one.start > sentence]
    nearest = inside[-1] if inside else None
    if nearest is None or phrase - nearest.end > 40 or len({one.name for one in inside}) > 1:
        return ""
    return nearest.name


def _claim(name: str, value: Stated, line: str, number_: int) -> Iterator[Claim]:
    if holds(line, value) and (form := form_of(value.value)):
        yield Claim(-1, name.replace("::", ".").replace("#", "."), form, number_, "prose")


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
        yield Claim(-1, names.pop().replace("::", ".").replace("#", "."), form, number_, "prose")


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


#: `[ check_interval: <duration> | default = 30s ]`
_OPTIONAL = lazily(r"\s*\[?\s*([a-z][\w-]{2,80}):\s*<[^<>]{1,60}>\s*\|\s*default\s*=\s*([^\s\]]+)\s*\]?\s*$")


def _fenced(line: str, number_: int, fence: str) -> Iterator[Claim]:
    """Claims in a line of a code block: `[ name: <duration> | default = 30s ]`, and the output of `--help`."""
    if not DEFAULT.search(line) or fence in _CODE_FENCES:
        return
    if fence in _CONFIG_FENCES and (found := _OPTIONAL.match(line)):
        if form := value_of(found[2]):
            yield Claim(-1, found[1], form, number_, "prose")
        return
    if line.lstrip().startswith("-"):
        yield from _sentence(line, number_)


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
