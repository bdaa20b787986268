"""Defaults in documents: `MAX_SIZE` (default: 60), "defaults to 60", a column "Default", "Default: 60" below a name.
And those that configuration files give.

`wording` says which sentences state a default; this module says whose. A sentence that leaves it open does not count.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.stated_values.file_roles import is_template
from lci_py.source.stated_values.literals import literal_at
from lci_py.source.stated_values.names import is_capital, is_flag, is_specific, last_part
from lci_py.source.stated_values.values import string, word
from lci_py.source.stated_values.wording import DEFAULT, SIGNS, VALUE, Stated, form_of, holds, stated
from lci_py.source.text.patterns import lazily
from lci_py.types.source import Claim

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_LINE = 1_000
#: At most so many lines between a name and its "Default:".
_REACH = 12
_NAME = r"[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*"
_SPAN = lazily(
    r"(`{1,2})(?P<code>[^`\n]{1,120})\1|(?<![\w`$.=/-])(?P<flag>--[a-z][\w-]{2,60})|(?<![\w`$./#-])(?P<caps>[A-Z][A-Z0-9]*_[A-Z0-9_]{2,80})(?![\w`./(-])|\*\*(?P<bold>[A-Za-z_][\w.-]{2,80})\*\*"
)
_CONTENT = lazily(
    rf"(?:-\w(?:[, /]|,\s))?(?P<flag>--[A-Za-z][\w.-]*|-[A-Za-z][\w.-]{{3,}})(?:[ =].{{0,40}})?$"
    rf"|~?(?P<name>{_NAME})(?:=<[^<>]{{0,40}}>)?$"
)
#: "default value of `x` is 60", "the default for `x` is 60".
_OF = lazily(
    r"(?i:\bdefault(?:\s+value)?)\s+(?:(?:of|for)\s+)?(?:the\s+)?(?P<subject>`{1,2}[^`\n]{1,100}`{1,2}|--[\w-]+"
    r"|[A-Z][A-Z0-9]*_[A-Z0-9_]+)\s*(?:\w+\s+){0,2}?(?:is|=|:)\s+"
)
_BULLET = lazily(r"\s*(?:[-*+•]|\d+[.)]|#{1,6}|[:>]|&#?\w{1,8};|[^\w\s`*|-]{1,3})?\s*(?:\[[ x]\]\s*)?\**\[?")
#: Markup after a name that is otherwise alone on its line.
_ALONE = lazily(r"(?:<[^<>]{0,60}>|\]\([^()\s]{0,100}\)|\{[^{}]{0,100}\}|[\s:*\]#=~])*$")
_DIRECTIVE = lazily(
    r"\.\.\s+(?:\w+:)?(?:confval|envvar|data|setting|option|attribute|cmdoption|py:\w+|std:\w+)::\s*(\S{1,100})"
)
#: Not `~~~`, which underlines titles in reStructuredText.
_FENCE = lazily(r"\s*```+\s*\{?\.?([\w+-]*)[^`]*$")
_CONFIG_FENCES = frozenset("env dotenv ini toml yaml yml properties conf cfg sh bash shell console".split())
_CODE_FENCES = frozenset(("json", "diff", "mermaid"))
_UNDERLINE = lazily(r"([~=\-^\"'*+#])\1{2,}\s*$")
#: reStructuredText's blocks of code.
_LITERAL_BLOCK = lazily(
    r"\s*(?:\.\. (?:code-block|sourcecode|code|highlight|parsed-literal|doctest)::|(?!\.\.).*::\s*$)"
)
_OBJECT = lazily(r"\.\.\s+(?:py:|js:|c:|cpp:)?(?:function|class|method|autofunction|autoclass)::\s*([\w.]{2,80})")
_NAMED = lazily(rf"`(?:new )?({_NAME})(?:\([^`\n]{{0,80}})?`|(?<![\w.])({_NAME})\([^()\n]{{0,80}}\)")


_SIGN = lazily(r"efault|DEFAULT|unless|not set|unset|ithout|::.*\(.*=")


class _Mention(NamedTuple):
    start: int
    end: int
    name: str  # "" if the span contains no name


class _Term(NamedTuple):
    """A name that the lines below it are about."""

    name: str
    line: int
    indent: int
    heading: bool


def statements(source: bytes) -> Iterator[Claim]:
    """The defaults that a document states."""
    if not any(sign in source for sign in (*SIGNS, b":: ")):
        return
    lines = source.decode("utf-8", "replace").split("\n")
    near = _near(lines)
    fence: str | None = None
    literal = -1  # lines that are indented further than this are a block of code; -1 outside of one
    scope = ""  # the function or class that the last heading names
    lead = ""  # the last line of text, if it names just a function
    owner = ""  # that of the current table: its head's, or the heading's
    column: tuple[int, int] | None = None  # the columns of names and of defaults in the current table
    term = _Term("", -_REACH, 0, heading=False)
    for number_, line in enumerate(lines, 1):
        text = line.lstrip()
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
                owner = _named_in(line) or _named_in(lead) or scope
            else:
                yield from (_within(owner, claim) for claim in _row(line, number_, column))
        elif literal < 0 or len(line) - len(text) <= literal:
            column = None
            lead = line if "(" in line and line.count("`") == 2 else ""
            literal = len(line) - len(text) if "::" in line and _LITERAL_BLOCK.match(line) else -1
            below = lines[number_] if number_ < len(lines) else ""
            if text[0] in "#.":
                scope = _scope(line, scope)
            elif _UNDERLINE.match(below):
                scope = _named_in(line)
            if near[number_ - 1]:
                term = _term(line, number_, below, term)
                if _SIGN.search(line):
                    yield from _signature(line, number_)
                    for claim in _sentence(line, number_, term):
                        yield _within(scope, claim)
                        if claim.name == term.name:
                            term = term._replace(name="")  # another "default" below is about a special case


def _near(lines: list[str]) -> list[bool]:
    """Per line, whether it or one of the `_REACH` lines below may state a default, which may be about its names."""
    near = [False] * len(lines)
    last = len(lines) + _REACH
    for place in range(len(lines) - 1, -1, -1):
        if _SIGN.search(lines[place]):
            last = place
        near[place] = last - place <= _REACH
    return near


def _scope(line: str, before: str) -> str:
    """The function or class that a heading names: `Client`, `fetch(url, options)`, `.. function:: fetch(url)`.

    Of a line that is no heading, the scope before it.
    """
    if found := _OBJECT.match(line.strip()):
        return found[1]
    return _named_in(line) if re.match(r"#{1,6}\s", line) else before


def _named_in(line: str) -> str:
    """The first function or class that a line names, "" if there is none."""
    found = _NAMED.search(line)
    return (found[1] or found[2]).replace("::", ".").replace("#", ".") if found else ""


def _within(scope: str, claim: Claim) -> Claim:
    """A claim with its name qualified by the heading's, unless it is a constant, a flag or qualified already."""
    plain = "." not in claim.name and not is_flag(claim.name) and not is_capital(claim.name)
    if not scope or not plain or last_part(scope) == claim.name:
        return claim
    return claim._replace(name=f"{scope}.{claim.name}")


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


def _term(line: str, number_: int, below: str, before: _Term) -> _Term:
    """The name that the next lines are about: that of a heading or a directive, or at the start of a list's entry."""
    if directive := _DIRECTIVE.match(line.strip()):
        return _Term(directive[1].strip("`"), number_, 4, heading=True)
    indent = len(line) - len(line.lstrip())
    spans = mentions(line)
    if line.startswith("#") or _UNDERLINE.match(below):
        bare = re.fullmatch(_NAME, line.strip("# *`:\r"))
        if len(spans) == 1 and _ALONE.match(line, spans[0].end):
            return _Term(spans[0].name, number_, 0, heading=True)
        return _Term(bare.group() if bare and not spans else "", number_, 0, heading=True)
    begin = _BULLET.match(line)
    if spans and begin and spans[0].start <= begin.end() + 1:
        alone = _ALONE.match(line, spans[0].end) is not None
        # In a paragraph, a line may begin with a name by chance.
        if alone or begin.group().strip() or re.match(r"\W{0,3}[:–—-]\s", line[spans[0].end :]):
            return _Term(spans[0].name, number_, indent, heading=alone)
    # A new entry of a list ends the one before it. Below a heading, all entries are about its name.
    is_entry = line.lstrip()[:2] in ("- ", "* ", "+ ") and not before.heading and indent <= before.indent
    return _Term("", number_, indent, heading=False) if is_entry else before


def _sentence(line: str, number_: int, term: _Term) -> Iterator[Claim]:
    spans = mentions(line)
    for found in _OF.finditer(line):
        named = _CONTENT.match(found["subject"].strip("`"))
        value = VALUE.match(line, found.end())
        if named and value:
            yield from _claim(named["flag"] or named["name"], Stated(0, value, value.end()), line, number_)
            return
    said = stated(line)
    if len(said) != 1 or len(DEFAULT.findall(line)) > 2:
        return
    (one,) = said
    known = [span for span in spans if span.name and not one.value.start() <= span.start < one.value.end()]
    before = [span for span in known if span.end <= one.start]
    inside = [span for span in known if one.start <= span.start < one.end]  # "Without `--jobs`, two are built."
    name = _member(line, one, known) or _subject(line, one.start, before)
    if not name and not before:
        # "The level is `info` unless you pass `--level`."
        only = known[0].name if len({span.name for span in known}) == 1 else ""
        name = only if inside else _of_term(line, one.start, number_, term) or only
    if name:
        yield from _claim(name, one, line, number_)


def _member(line: str, value: Stated, named: list[_Mention]) -> str:
    """`Client.connect.timeout` of "`Client.connect` waits 30 s unless you pass a `timeout`", else ""."""
    first = line.rfind(". ", 0, value.start) + 1
    inside = [one for one in named if one.start >= first and ". " not in line[value.end : one.start]]
    if len(inside) != 2 or value.end == value.value.end():
        return ""
    owner, member = (one.name for one in inside)
    is_owner = "." in owner or "(" in line[inside[0].start : inside[0].end]
    return f"{owner}.{member}" if is_owner and member == last_part(member) and not is_flag(member) else ""


#: A function or class with its parameters, in reStructuredText.
_SIGNED = lazily(
    r"\.\.\s+(?:py:)?(?:function|class|method|classmethod|staticmethod|exception)::\s*(?:async\s+)?([\w.]{2,80})\("
)
_GIVEN = lazily(r"(?<=[,( ])(\w{2,60})(?::\s*[^=,()]{1,60}?)?\s*=\s*")


def _signature(line: str, number_: int) -> Iterator[Claim]:
    """The parameters' defaults in `.. function:: connect(timeout=30)`."""
    if found := _SIGNED.match(line.strip()):
        text = line.strip()[found.end() - 1 :]
        for given in _GIVEN.finditer(text):
            if form := literal_at(text, given.end())[0]:
                yield Claim(-1, f"{found[1]}.{given[1]}", form, number_, "prose")


#: Before the long name of a flag.
_SHORT = lazily(r"^(?:`{1,2}-\w(?: <[^<>`]{0,40}>)?`{1,2}|-\w\b)?\s*(?:,|/|\bor\b)?\s*`?")


def _subject(line: str, phrase: int, named: list[_Mention]) -> str:
    """The name whose default a phrase states: the one that the line begins with, or the only one in the sentence."""
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


def _of_term(line: str, phrase: int, number_: int, term: _Term) -> str:
    """The name in a line above whose default a phrase states; "" if the phrase is not at the start of its line."""
    indent = len(line) - len(line.lstrip())
    begins = not re.sub(r"[\s\-*+•:>(\[_]|\bThe\b", "", line[:phrase]) or line[:phrase].rstrip("*_ ").endswith(".")
    if not term.name or number_ - term.line > _REACH:
        return ""
    if term.heading:
        return term.name if begins and indent <= term.indent + 4 else ""
    return term.name if indent > term.indent and (begins or number_ - term.line <= 3) else ""


def _claim(name: str, value: Stated, line: str, number_: int) -> Iterator[Claim]:
    if holds(line, value) and (form := form_of(value.value)):
        yield Claim(-1, name.replace("::", ".").replace("#", "."), form, number_, "prose")


def _cells(line: str) -> list[str]:
    cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
    return cells if len(cells) <= 20 else []


def _columns(line: str) -> tuple[int, int] | None:
    """The columns of names and of defaults in a table's head, (-1, -1) if it has no column of defaults."""
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
    """The form of a value as configuration files write it, "" if it is not one."""
    found = _GIVEN_VALUE.match(text.rstrip("\r"))
    if found is None:
        return ""
    if found["bare"] is not None:
        return word(found["bare"])
    return string(found["d"] if found["d"] is not None else found["s"])


_IN_FENCE = lazily(
    r"\s*(?:[#;]\s?)?(?:export\s+)?([A-Za-z_][\w.-]{2,80})\s*[=:]\s*([^\s#]\S*)\s+#\s*(?:the )?default(?: value)?"
    r"\.?\s*$",
    re.IGNORECASE,
)


#: `[ check_interval: <duration> | default = 30s ]`
_OPTIONAL = lazily(r"\s*\[?\s*([a-z][\w-]{2,80}):\s*<[^<>]{1,60}>\s*\|\s*default\s*=\s*([^\s\]]+)\s*\]?\s*$")


def _fenced(line: str, number_: int, fence: str) -> Iterator[Claim]:
    """Claims in a line of a code block: `NAME=60  # default`, and the output of `--help`."""
    if not DEFAULT.search(line) or fence in _CODE_FENCES:
        return
    if fence in _CONFIG_FENCES and (found := _IN_FENCE.match(line) or _OPTIONAL.match(line)):
        if form := value_of(found[2]):
            yield Claim(-1, found[1], form, number_, "prose")
        return
    if line.lstrip().startswith("-"):
        yield from _sentence(line, number_, _Term("", -_REACH, 0, heading=False))


# --- configuration files ------------------------------------------------------------------------------------------

#: A larger file is data.
_MAX_BYTES = 200_000
_ASSIGNED = lazily(
    r"(?P<off>[#;]\s?)?(?:export\s+)?(?P<name>[A-Za-z_][\w-]{2,99})\s*[=:]\s*(?!//)(?P<value>\S.{0,150})$"
)
_REMARKED = lazily(rb"(?m)^[ \t]*(?:[#;]+[ \t]?(.*)|.*)$")


def settings(path: str, source: bytes) -> Iterator[Claim]:
    """The values in a template of a configuration, also those that are commented out, and the defaults in comments."""
    if len(source) > _MAX_BYTES:
        return
    yield from statements(_REMARKED.sub(lambda found: found[1] or b"", source))
    if is_template(path):
        for number, line in enumerate(source.decode("utf-8", "replace").split("\n"), 1):
            found = _ASSIGNED.match(line.rstrip())
            if found is not None and (form := value_of(found["value"])):
                yield Claim(-1, found["name"], form, number, "commented" if found["off"] else "config")
