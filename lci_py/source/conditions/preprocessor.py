"""Reads `#if` of C, C++, C#, Swift and Haskell's CPP. It reads the text: an `#if` may cut a statement in half."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.conditions.normal_form import normal_form
from lci_py.source.conditions.text import File, Range, chain
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Comments and literals are matched so that a `#` in them is no directive. Each alternative starts with a fixed
# character, so that the scanner skips text quickly: hence a directive is matched from the line break before it.
_COMMENT = rb"/\*.*?(?:\*/|\Z)|//(?:\\\r?\n|[^\n])*"
_STRING = rb"\"(?:\\.|[^\"\\\n])*\""
_DIRECTIVE = (
    rb"\n[ \t\f]*#[ \t]*(?P<word>\w+)(?P<rest>(?:[^\n/\"'\\]+|//[^\n]*|/\*.*?(?:\*/|\Z)|"
    + _STRING
    + rb"|'(?:\\.|[^'\\\n]){1,4}'|\\\r?\n|[^\n])*)"
)
_SHARED = rb"|" + _DIRECTIVE + rb"|" + _COMMENT + rb"|" + _STRING + rb"|'(?:\\.|[^'\\\n]){1,10}'"
# A prefix of letters makes another name of R, as in PRIxPTR"(".
_C = lazily(
    rb"R(?:(?<!\wR)|(?<=\W[uUL]R)|(?<=\Wu8R))\"(?P<delimiter>[^\s()\\]{0,16})\(.*?(?:\)(?P=delimiter)\"|\Z)" + _SHARED,
    re.DOTALL,
)
_CSHARP = lazily(rb'""".*?(?:"""|\Z)|@\$?"(?:[^"]|"")*"' + _SHARED, re.DOTALL)
_SWIFT = lazily(rb'""".*?(?:"""|\Z)' + _SHARED, re.DOTALL)
# CPP knows nothing of Haskell: not its comments, and `/*` is an operator. Only at the margin is `#` a directive.
_HASKELL = lazily(rb"\n#[ \t]*(?P<word>\w+)(?P<rest>(?:\\\r?\n|[^\n])*)")
_SCANNERS = {
    **dict.fromkeys(("cs", "csx"), _CSHARP),
    "swift": _SWIFT,
    **dict.fromkeys(("hs", "hsc", "chs", "hs-boot", "lhs-boot"), _HASKELL),
}
COMMENTS = lazily(rb"/\*.*?(?:\*/|\Z)|//[^\n]*|\xef\xbb\xbf|(?m:^[ \t]*#[ \t]*pragma\b[^\n]*)", re.DOTALL)
#: What may stand around an include guard. Each part ends in one way only, so that a match fails where it first can.
_BLANK = lazily(
    rb"(?:\s|\xef\xbb\xbf|//[^\n]*(?:\n|\Z)|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|#[ \t]*pragma\b[^\n]*(?:\n|\Z)"
    rb"|extern\s+\"C\"\s*\{)*\Z"
)
_CONDITIONALS = frozenset(
    (b"if", b"ifdef", b"ifndef", b"else", b"elif", b"elifdef", b"elifndef", b"elseif", b"endif")
)  # fmt: skip
_OPENING = frozenset((b"if", b"ifdef", b"ifndef"))
_IFS = lazily(rb"#[ \t]*if")
_GUARD = lazily(r"!defined\((\w+)\)")
_GUARD_NAME = lazily(r"_(?:H|HH|HPP|HXX|INC|INCLUDED?|GUARD)_*$", re.IGNORECASE)
_MAX_NAME = 200
_MAX_GUARDS = 4  # include guards around each other
_MAX_BETWEEN = 20  # directives between the name and its `#define`


class _Directive(NamedTuple):
    start: int  # of its line
    end: int
    word: bytes
    rest: bytes


def ranges(file: File) -> list[Range]:
    """The branches of a file's `#if` conditionals, with their conditions; include guards do not count."""
    source = file.source
    if not _IFS.search(source):
        return []
    scanner = _SCANNERS.get(file.path.rpartition(".")[2], _C)
    # One line break is put before the source, so `start` is that of the directive's line.
    directives = [
        _Directive(match.start(), match.end() - 1, match["word"], match["rest"])
        for match in scanner.finditer(b"\n" + source)
        if match["word"] is not None
    ]
    branches: list[Range] = []
    guarded = [True]  # by depth, whether what is around may be an include guard
    guards: set[bytes] = set()
    for block, depth in _blocks(directives):
        begin = directives[block[0]]
        del guarded[depth + 1 :]
        guard = (
            _guard(directives, block[0], source) if all(guarded) and depth < _MAX_GUARDS and len(block) < 3 else None
        )
        guarded.append(guard is not None)
        if guard is not None and (len(block) == 1 or _is_guard(guard, begin, directives[block[1]], file)):
            if guard.rest in guards:  # a header that was pasted into the file a second time
                branches.append(Range(begin.end, directives[block[-1]].start if len(block) > 1 else len(source), "0"))
            guards.add(guard.rest)
            continue
        earlier: list[str] = []
        for number, following in zip(block, [*block[1:], -1], strict=True):
            directive = directives[number]
            if directive.word == b"endif":
                break
            own = "" if directive.word == b"else" else _expression(directive.word.removeprefix(b"el"), directive.rest)
            condition = "0" if earlier and (own == "0" or "" in earlier) else chain(earlier, own) if earlier else own
            earlier.append(own)
            branches.append(
                Range(directive.end, directives[following].start if following >= 0 else len(source), condition)
            )
    return [item for item in branches if item.condition]


def _blocks(directives: Sequence[_Directive]) -> Iterator[tuple[list[int], int]]:
    """For each `#if`, in the order of the text: (the indices of its directives in `directives`, its nesting depth)."""
    blocks: list[tuple[list[int], int]] = []
    opened: list[list[int]] = []
    for number, directive in enumerate(directives):
        if directive.word in _OPENING:
            opened.append([number])
            blocks.append((opened[-1], len(opened) - 1))
        elif directive.word in _CONDITIONALS and opened:
            opened[-1].append(number)
            if directive.word == b"endif":
                opened.pop()
    yield from blocks


def _guard(directives: Sequence[_Directive], number: int, source: bytes) -> _Directive | None:
    """The `#define` of the name that the `#if` at index `number` tests, if only directives precede it; else None."""
    opening = directives[number]
    name = _GUARD.fullmatch(_expression(opening.word, opening.rest))
    depth = 0
    for before, directive in pairwise(directives[number : number + _MAX_BETWEEN]) if name is not None else ():
        if not _BLANK.match(source, before.end, directive.start):
            return None
        depth += (directive.word in _OPENING) - (directive.word == b"endif")
        is_own = name is not None and directive.rest.split(None, 1)[:1] == [name[1].encode()]
        if directive.word == b"define" and not depth and is_own:
            return directive
    return None


def _is_guard(guard: _Directive, opening: _Directive, closing: _Directive, file: File) -> bool:
    """Whether an `#if` is an include guard: it encloses the whole file, or the macro has a name like LIST_H.

    Args:
        guard: The `#define` of the name that the `#if` tests, from `_guard`.
        opening, closing: The `#if` and its `#endif`.
    """
    name, *value = guard.rest.decode("utf-8", "replace").split(None, 2)
    stem = re.sub(r"\W|_", "", file.path.rpartition("/")[2].partition(".")[0]).upper()
    names_a_file = _GUARD_NAME.search(name) or (len(stem) > 2 and stem in name.replace("_", "").upper())
    if value[:1] in ([], ["1"]) and names_a_file:
        return not _BLANK.match(file.source, guard.end, closing.start)
    return bool(_BLANK.match(file.source, 0, opening.start) and _BLANK.match(file.source, closing.end))


def _expression(word: bytes, rest: bytes) -> str:
    """The condition after `#if`, `#ifdef` or `#ifndef`; "" if it always holds."""
    text = COMMENTS.sub(b" ", rest.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")).decode("utf-8", "replace")
    if word in (b"ifdef", b"ifndef"):
        name = text.split(None, 1)
        return f"{'!' if word == b'ifndef' else ''}defined({name[0][:_MAX_NAME]})" if name else ""
    condition = normal_form(text, constants=True)
    return "" if condition == "1" else condition
