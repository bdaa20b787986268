"""Recognises phrases that state a default: "default: 60", "defaults to 60", "60 by default", "60 unless given".

To guess nothing, it ignores sentences about another time, a special case or an example, bounds ("at least 60"), and
lists of several values.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.stated_values.values import NUMBER, UNIT, number, string, word
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Bytes of which a text that states a default has one.
SIGNS = (b"efault", b"DEFAULT", b"unless")
DEFAULT = lazily("default", re.IGNORECASE)
_NUMBER = rf"(?<![\w.])(?P<n>{NUMBER})(?:[\s-]?(?P<unit>(?i:{UNIT}))(?!\w))?(?![\w]|\.\d|\.x)"
VALUE = lazily(
    r"\**(?:(?P<tick>`{1,2})(?P<code>[^`\n]{1,100})(?P=tick)|[\"“](?P<quoted>[^\"”\n]{1,100})[\"”]"
    r"|'(?P<single>[^'\n]{1,60})'|\{@code (?P<java>[^{}\n]{1,60})\}"
    rf"|{_NUMBER}|(?P<bool>(?i:true|false|enabled|disabled|on|off)))(?![\w-])\**"
)
#: "default: 60", "defaults to 60", "(default 60)", "Default value is `60`", "@default 60".
_PHRASE = lazily(
    r"(?i:\bdefaults?(?:[ -]values?)?)\**(?:`|')?(?:\s*(?::|=|\bto\b|\bis\b|\bof\b)\**)?:?\s*"
    r"(?:(?:the\s+)?(?:value|number)\s+)?(?:of\s+)?"
)
_KIND = lazily(r"(?<=[\"'`])\s+(?!by\b|is\b)[a-z]+|\s+value\b")
#: In brackets a path or an address needs no quotes: "(default: /var/lib)".
_BARE = lazily(r"(?P<bare>[~/.]?[\w-]*[/:][\w./:-]{2,80}|[a-z][\w-]{2,40})(?=[)\]])")
_BY_DEFAULT = lazily(r"\s+by\s+default\b")
#: "60 unless given", "60 unless you say otherwise", "60 unless `NAME` is set"; not "60 unless the file is large".
_UNLESS = lazily(
    r"(?:\s+\w+){0,4},?\s+unless\s+(?:you\s+(?:say|pass|give|set|specify|change|override|tell|configure)\b|otherwise\b|(?:explicitly\s+)?(?:given|set|configured|specified|told|changed"
    r"|overrid\w+)\b|(?:`{1,2}[^`\n]{1,60}`{1,2}|\$?[A-Z][A-Z0-9]*_[A-Z0-9_]+|--[a-z][\w-]+|[\w.-]+\.\w+)\s+"
    r"(?:is\s+(?:set|given)|says\b))"
)
#: After a value: another value, or a condition under which it holds.
_OPEN_END = lazily(
    r"\s*(?:or\b|to\b|[-–/|×+*%^]|\([^()\n]{0,80}(?:`|:|\b(?:if|when|otherwise|unless|or|on|for|in)\b)|,?\s*(?:if|when|unless|on|for|in|with|except|otherwise|but|and|before|until|times|per)\b|,\s*\d|\(\w+\)\.)",
    re.IGNORECASE,
)
#: Before a value: it bounds something.
_BOUND = lazily(
    r"(?:\b(?:at least|at most|up to|less than|more than|(?:great|larg|small|few|high|low)er than(?: the)?|minimum"
    r"|maximum|above|below|under|over|exceeds?|between|from|about|around|roughly|approximately|not?)(?: of| is)?"
    r"|[<>≤≥~≈])\s*$",
    re.IGNORECASE,
)
_HISTORY = lazily(
    r"\b(?:was|were|used to|previously|formerly|(?:before|until|prior to) (?:v?\d|version)|earlier|older?|legacy"
    r"|change[ds]|instead of|e\.g\.|for example|such as|example|overrid\w+|unlike|rather than|except|otherwise"
    r"|depend\w*|deprecated|removed|increased?|decreased?|reduced?|raised?|bumped|typically|usually|consider|recommend\w*"
    r"|suggest\w*|(?-i:If|When|Unless|For|On) .{0,60}(?:,|then) .{0,40}default|on (?:windows|linux|mac\w*|unix|ios)"
    r"|(?:as of|since|from|starting (?:in|with)|in|with) (?:version |release )?v?\d{1,4}\.\d[\d.]{0,10})\b",
    re.IGNORECASE,
)
#: These belong to the phrases that state a value after all.
_OF_UNLESS = lazily(r"unless (?:\S+ says?|you say) otherwise|unless overrid\w+|set `[^`]*` to change", re.IGNORECASE)
_CAPITALS = lazily(r"_*[A-Z][A-Z0-9_]*$")
_FLAG = lazily(r"--?[A-Za-z]")
_NAME = r"[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*"
#: A code span, a flag, a constant, a name in bold type.
_SPAN = lazily(
    r"(`{1,2})(?P<code>[^`\n]{1,120})\1|(?<![\w`$.=/-])(?P<flag>--[a-z][\w-]{2,60})|(?<![\w`$./#-])(?P<caps>[A-Z][A-Z0-9]*_[A-Z0-9_]{2,80})(?![\w`./(-])|\*\*(?P<bold>[A-Za-z_][\w.-]{2,80})\*\*"
)
_CONTENT = lazily(
    rf"(?:-\w(?:[, /]|,\s))?(?P<flag>--[A-Za-z][\w.-]*|-[A-Za-z][\w.-]{{3,}})(?:[ =].{{0,40}})?$"
    rf"|~?(?P<name>{_NAME})(?:=<[^<>]{{0,40}}>)?$"
)


class StatedDefault(NamedTuple):
    """A default that a text states: the match of its value, and where the phrase starts and ends."""

    start: int  # of the phrase or the value, whichever comes first
    value: re.Match[str]
    end: int  # of both


def stated_defaults(text: str) -> list[StatedDefault]:
    """The defaults that a line or a passage states, in the order of the text."""
    defaults = []
    for phrase in _PHRASE.finditer(text) if DEFAULT.search(text) else ():
        value = VALUE.match(text, phrase.end())
        if value is not None and phrase.group()[-2:-1] == "t" and _KIND.match(text, value.end()):
            continue  # the default "x" file, the default 0 value
        if value is None and phrase.group().rstrip()[-1:] in ":=" and text[phrase.start() - 1 : phrase.start()] in "([":
            value = _BARE.match(text, phrase.end())
        if value is not None:
            defaults.append(StatedDefault(phrase.start(), value, value.end()))
    if "by default" in text or "unless" in text:
        at = 0
        while (value := VALUE.search(text, at)) is not None:
            at = value.end() if value.end() > at else at + 1
            after = _BY_DEFAULT.match(text, value.end()) or _UNLESS.match(text, value.end())
            if after is not None and (value["bool"] is None or " by" in after.group()):
                if defaults and defaults[-1].end == after.end():
                    defaults.pop()  # "on port 80 unless"
                defaults.append(StatedDefault(value.start(), value, after.end()))
    return sorted(defaults)


def mentions(line: str) -> Iterator[tuple[int, str]]:
    """(start, name) of each code span, flag and constant in a line."""
    for span in _SPAN.finditer(line):
        content = span["code"] or span["flag"] or span["caps"] or span["bold"]
        match = _CONTENT.match(content.strip())
        if match is not None:
            yield span.start(), match["flag"] or match["name"]


def holds(text: str, default: StatedDefault) -> bool:
    """Whether a stated default counts: its sentence is about the present, and not about a special case."""
    start = default.value.start()
    first = max(text.rfind(". ", 0, start), text.rfind("; ", 0, start)) + 1
    last = text.find(". ", default.end)
    sentence = _OF_UNLESS.sub("", text[first : last if last >= 0 else len(text)])
    if _HISTORY.search(sentence) or any(_BOUND.search(text, max(0, at - 24), at) for at in (start, default.start)):
        return False
    return default.end > default.value.end() or not _OPEN_END.match(text, default.end)


def form_of(match: re.Match[str]) -> str:
    """The normal form of a value that `stated_defaults` matched in prose; "" if it cannot be compared."""
    groups = match.groupdict()
    if groups.get("bare") is not None:
        return word(groups["bare"])
    if groups["n"] is not None:
        return number(groups["n"], groups["unit"] or "")
    if groups["bool"] is not None:
        return word(groups["bool"])
    for name in ("quoted", "single"):
        if groups[name] is not None:
            return string(groups[name])
    return _code_form((groups["code"] or groups["java"]).strip())


def _code_form(text: str) -> str:
    """The normal form of the value in a code span (text in backquotes); "" if the span is a name instead."""
    quoted = re.fullmatch(r"\"([^\"]*)\"|'([^']*)'", text)
    if quoted:
        return string(quoted[1] if quoted[1] is not None else quoted[2])
    if _FLAG.match(text) or re.search(r"[<>{}()\[\]$%*\s]", text):
        return "" if not re.fullmatch(rf"{NUMBER} ?(?i:{UNIT})", text) else word(text)
    if (_CAPITALS.match(text) and "_" in text) or re.fullmatch(r"[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)+", text):
        return ""
    return word(text)
