"""Finds defaults in comments, docstrings and help texts that differ from the code they belong to.

Both sides are in one file, so they are compared when it is indexed, and only differences are kept: a claim `comment`
(the default in the text) and a claim `beside` (the default in the code), both with the same name.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from lci_py.source.stated_values.code_defaults import Given, Lines, call_at, flags, parameters_of, tables
from lci_py.source.stated_values.values import COMPUTED, agree, code_value, literal_at, read, word
from lci_py.source.stated_values.wording import SIGNS, form_of, holds, mentions, stated_defaults
from lci_py.source.text.language_tables import has_rule
from lci_py.source.text.patterns import lazily
from lci_py.source.text.words import joined_spelling
from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS, VALUED_KINDS
from lci_py.types.source import Claim

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from lci_py.types.source import Symbol

_CONSTRUCTORS = frozenset(("__init__", "constructor", "initialize", "__construct", "init", "__new__"))
#: An entry about one parameter: `name: text`, `name (int): text`, `name : int`, `:param int name: text`,
#: `@param {number} [options.name=60] text`, `@param name [Integer] text`, `- name: text`.
_ENTRY = lazily(
    r"(?P<indent>\s*)(?::(?:param|parameter|arg|keyword|kwarg|key)\s+(?:[^:\n]{1,60}\s)?\*{0,2}(?P<sphinx>\w+)\s*:"
    r"|[@\\]param(?:eter)?\s+(?:\{[^\n]{0,80}?\}\s*)?(?:\[(?:\w+\.)?(?P<optional>\w+)(?:\s*=\s*(?P<value>[^\]\n]{1,60}))?\]"
    r"|(?:\w+\.)?(?P<plain>\w+))"
    r"|(?:[-*]\s+)?[`*]{0,2}(?P<name>\w{2,60})[`*]{0,2}\s*(?:\([^()\n]{0,80}\))?\s*:(?!:))"
)
_OTHER = lazily(
    r"\s*(?:[@:\\]\w+|(?:Returns?|Raises?|Yields?|Examples?|Notes?|See Also|Warnings?)\b:?\s*$|-{3,}|={3,})"
)
_MARKS = lazily(r"^(\s*)(?:/\*+!?|\*+/|\*+(?=\s|$)|//+[!/]?|#+!?(?=\s|$)|--+\s?\|?|;+|%+)|\*+/\s*$")
_QUOTED = lazily(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|`([^`]*)`")
#: Of a field of a settings class.
_DESCRIBED = lazily(r"\bField\(.*\b(?:description|help)=[\"'](.{1,200})[\"']")
_NEGATED = lazily(r"--(?:no|not|without|disable|skip)-")
_MAX_LINES = 400  # of one comment
#: The subject of "defaults to": "pypinfo defaults to 10 rows" is about another program.
_SUBJECT = lazily(r"\s*(?:The\s+|Its\s+)?(\w+)\s+defaults\b")
_ITSELF = frozenset("it this that which and value default parameter option argument setting field timeout".split())

#: The lines of a text with their numbers.
_Numbered = list[tuple[int, str]]


def contradicting_claims(language: str, source: bytes, symbols: Sequence[Symbol]) -> Iterator[Claim]:
    """Pairs of claims: a default in a comment or help text, and the different default in the code it belongs to."""
    telling = _telling(source)
    if not telling:
        return
    defaults = list(flags(language, source))
    text = source.decode("utf-8", "replace")
    lines = text.split("\n")
    yield from _of_help(text, defaults)
    members: dict[int, list[int]] = {}
    apart: dict[str, list[tuple[str, int]]] | None = None
    for number, symbol in enumerate(symbols):
        field = symbol.kind in VALUED_KINDS and "Field(" in symbol.signature
        described = _DESCRIBED.search(symbol.signature) if field else None
        if described is None:
            if not symbol.doc:
                continue
            last = symbol.end_line if has_rule(language, "python_modules") else symbol.line
            at = bisect_left(telling, symbol.first_line)
            if at == len(telling) or telling[at] > last:
                continue  # nearly all end here: what follows is slow
        comment = _comment(language, lines, symbol) if described is None else [(symbol.line, described[1])]
        by_name: Mapping[str, tuple[str, int]] = {}
        if symbol.kind in FUNCTION_KINDS and symbol.kind != "macro":
            by_name = _parameters(language, lines, symbol)
        elif symbol.kind in TYPE_KINDS:
            if not members:
                for index, item in enumerate(symbols):
                    members.setdefault(item.parent, []).append(index)
            by_name = _of_type(language, lines, symbols, members.get(number, ()))
        if by_name:
            yield from _entries(number, symbol, comment, by_name)
        elif _has_default(language, symbols, symbol) and (said := _value_in(comment, symbol.name)):
            value = code_value(language, symbol.kind, symbol.name, symbol.signature)
            values = [(value, symbol.line)] if value else []
            if not value and symbol.kind in ("field", "property"):
                apart = _given_apart(language, text, symbols, defaults) if apart is None else apart
                values = apart.get(joined_spelling(symbol.name), [])
            if (
                len(values) == 1
                and sum(
                    joined_spelling(item.name) == joined_spelling(symbol.name) and bool(item.doc) for item in symbols
                )
                < 2
            ):
                yield from _pair(number, symbol.qualified_name, said, values[0])


def _has_default(language: str, symbols: Sequence[Symbol], symbol: Symbol) -> bool:
    """Whether the value of a definition may be a default. A property of an unrelated object may be something else."""
    if symbol.kind == "property" and has_rule(language, "taken_apart") and "=" not in symbol.signature:
        own = symbols[symbol.parent] if symbol.parent >= 0 else None
        return own is None or own.kind in TYPE_KINDS or "default" in own.name.lower()
    return symbol.kind in VALUED_KINDS


def _telling(source: bytes) -> list[int]:
    """Ascending numbers of the lines that may state a default, in a sentence or as in `@param [name=60]`."""
    starts = set()
    for sign in (*SIGNS, b"@param"):
        at = source.find(sign)
        while at >= 0:
            end = source.find(b"\n", at)
            end = len(source) if end < 0 else end
            if sign in SIGNS or source.find(b"=", at, end) >= 0:
                starts.add(source.rfind(b"\n", 0, at) + 1)
            at = source.find(sign, end)
    numbers, line, before = [], 1, 0
    for start in sorted(starts):
        line, before = line + source.count(b"\n", before, start), start
        numbers.append(line)
    return numbers


def _pair(number: int, name: str, said: tuple[str, int], actual: tuple[str, int]) -> Iterator[Claim]:
    value = read(actual[0])
    if actual[0] == COMPUTED or value is None or (value.kind == "number" and value.number in (0.0, -1.0)):
        return  # 0 and -1 mostly stand for "not set"
    if agree(said[0], actual[0]) is False:
        yield Claim(number, name, said[0], said[1], "comment")
        yield Claim(number, name, actual[0], actual[1], "beside")


# --- comments -----------------------------------------------------------------------------------------------------


def _comment(language: str, lines: Sequence[str], symbol: Symbol) -> _Numbered:
    """(number, text) of each line of a definition's comment or docstring; the text is without the comment marks."""
    head = symbol.doc.split("\n", 1)[0].strip().rstrip("…")
    below = range(symbol.line - 1, min(symbol.end_line, len(lines)) if has_rule(language, "python_modules") else 0)
    start = next((at for at in below if head in lines[at]), -1)
    if start >= 0:
        numbered = [(start + 1, lines[start][lines[start].find(head) :])]
        for at in range(start + 1, min(symbol.end_line, start + _MAX_LINES)):
            if '"""' in numbered[-1][1] or "'''" in numbered[-1][1]:
                break
            numbered.append((at + 1, lines[at]))
        return numbered
    first = max(symbol.first_line, symbol.line - _MAX_LINES)
    return [(at, _MARKS.sub(r"\1", lines[at - 1])) for at in range(first, symbol.line)]


def _value_in(passage: _Numbered, about: str) -> tuple[str, int] | None:
    """(default, line) if a passage states exactly one default, for the name `about` or for no name; else None."""
    if not any(any(sign.decode() in line for sign in SIGNS) for _, line in passage):
        return None
    text, starts = "", []
    for number, line in passage:
        starts.append((len(text), number))
        text += line.strip() + " "
    said = stated_defaults(text)
    if len(said) != 1 or not holds(text, said[0]) or not (form := form_of(said[0].value)):
        return None
    first = text.rfind(". ", 0, said[0].start) + 1
    subject = _SUBJECT.match(text, first)
    if (
        subject is not None
        and subject[1].lower() not in _ITSELF
        and joined_spelling(subject[1]) != joined_spelling(about)
    ):
        return None
    for start, name in mentions(text[:1000]):
        inside = first <= start < said[0].end and not said[0].value.start() <= start < said[0].value.end()
        if inside and joined_spelling(name) != joined_spelling(about):
            return None
    at = said[0].value.start()
    return form, next(number for start, number in reversed(starts) if start <= at)


def _entries(
    number: int, symbol: Symbol, comment: _Numbered, defaults: Mapping[str, tuple[str, int]]
) -> Iterator[Claim]:
    """Claims for a comment's entries (one per parameter or member) whose default contradicts `defaults`."""
    done: set[str] = set()
    for name, said in _stated_defaults(comment, defaults):
        if name not in done:
            done.add(name)
            yield from _pair(number, f"{symbol.qualified_name}.{name}", said, defaults[name])


def _stated_defaults(comment: _Numbered, names: Collection[str]) -> Iterator[tuple[str, tuple[str, int]]]:
    """(name, (default, line)) of each default that a comment states for one of the names in `names`."""
    entry: _Numbered = []
    name, indent = "", 0
    for number, line in [*comment, (0, "")]:
        match = _ENTRY.match(line) if line.strip() else None
        subject = match[match.lastgroup or "name"] if match and match.lastgroup != "value" else ""
        if match and match["value"]:
            subject = match["optional"]
            form = literal_at(match["value"].strip(), 0)[0] or word(match["value"].strip())
            if subject in names and form:
                yield subject, (form, number)
        deeper = len(line) - len(line.lstrip()) > indent
        is_next = match is not None and subject and (subject in names or not name or not deeper)
        if name and (is_next or not line.strip() or _OTHER.match(line)):
            if said := _value_in(entry, name):
                yield name, said
            name, entry = "", []
        if match is not None and is_next:
            name, indent = (subject if subject in names else ""), len(match["indent"])
            entry = [(number, line[match.end() :])]
        elif name:
            entry.append((number, line))


# --- values -------------------------------------------------------------------------------------------------------


def _parameters(language: str, lines: Sequence[str], symbol: Symbol) -> dict[str, tuple[str, int]]:
    """Maps names to (default, line): a function's parameters, and the options that it destructures."""
    last = min(symbol.end_line, symbol.line + 40)
    defaults = {name: (form, symbol.line) for name, form in parameters_of(language, symbol.signature)}
    if has_rule(language, "taken_apart"):
        places = Lines(body := "\n".join(lines[symbol.line - 1 : last]))
        for match in _TAKEN_APART.finditer(body):
            line = symbol.line - 1 + places.of(match.start())
            for name, form in parameters_of(language, match[1]):
                defaults.setdefault(name, (form, line))
    return defaults


_TAKEN_APART = lazily(r"\{([^{}]{1,400})\}\s*=\s*(?:this\.)?(?:options|opts|config|settings|props|params)\b")


def _of_type(
    language: str, lines: Sequence[str], symbols: Sequence[Symbol], members: Sequence[int]
) -> dict[str, tuple[str, int]]:
    """Maps names to (default, line): a type's fields, and the parameters of its only constructor."""
    defaults: dict[str, tuple[str, int]] = {}
    constructors = [symbols[index] for index in members if symbols[index].name in _CONSTRUCTORS]
    if len(constructors) == 1:
        defaults = _parameters(language, lines, constructors[0])
    for index in members:
        field = symbols[index]
        if field.kind in VALUED_KINDS and (value := code_value(language, field.kind, field.name, field.signature)):
            defaults.setdefault(field.name, (value, field.line))
    return defaults


def _given_apart(
    language: str, text: str, symbols: Sequence[Symbol], defaults: Sequence[Given]
) -> dict[str, list[tuple[str, int]]]:
    """Maps normalised names of fields to (default, line) pairs: the defaults that a table or an attribute elsewhere in
    the file sets, for fields that are declared without a default.
    """
    by_name: dict[str, list[tuple[str, int]]] = {}
    places = Lines(text)
    for at, name, form in tables(text):
        by_name.setdefault(joined_spelling(name), []).append((form, places.of(at)))
    lines = Lines(text)
    for at, name, form in defaults:
        by_name.setdefault(joined_spelling(name.replace("-", "")), []).append((form, lines.of(at)))
    if has_rule(language, "taken_apart"):
        by_name = {}
        for symbol in symbols:
            if symbol.kind == "property" and symbol.parent >= 0 and "default" in symbols[symbol.parent].name.lower():
                value = code_value(language, symbol.kind, symbol.name, symbol.signature)
                if value:
                    by_name.setdefault(joined_spelling(symbol.name), []).append((value, symbol.line))
    return by_name


# --- help texts ---------------------------------------------------------------------------------------------------


def _of_help(text: str, defaults: Sequence[Given]) -> Iterator[Claim]:
    """Pairs of claims where the help text in a call states another default than an argument of the same call."""
    lines = Lines(text)
    for offset, name, form in defaults:
        line = lines.of(offset)
        call, at = call_at(text, text.rfind("\n", 0, offset) + 1, name)
        words = [(match.start(), next(filter(None, match.groups()), "")) for match in _QUOTED.finditer(call)]
        passage = [(text.count("\n", 0, at + start) + 1, said) for start, said in words if " " in said]
        said = _value_in(passage, name.lstrip("-").replace("-", "_"))
        # `--no-cache`: what "is on by default" is the cache.
        if said and not (_NEGATED.match(name) and said[0] in ("true", "false")):
            yield from _pair(-1, name, said, (form, line))
