"""The second attempt at a C file whose syntax tree has errors: blanks text (by spaces) that confuses the parser.

These texts become blanks of the same length, so that offsets and lines stay:

- words that look like attributes, near an error: `__word` and `WORD`, with arguments or without, and empty or attribute
  macros of the file, where a declaration has a word too many (`WORD int f(`, `int WORD f(`, `f(void) WORD {`);
- macros that stand alone on a line, near an error: indented ones without small letters in their names;
- the directives of a conditional that cuts a statement or a block in half, with its later branches;
- the directives that an error consists of, such as those in the braces of an array.

The caller keeps the tree with fewer bytes in errors.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from lci_py.source.syntax.macro_text import VISIBLE
from lci_py.source.text.patterns import lazily
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

Edit = tuple[int, bytes]
#: Maximum number of errors examined, bytes of text around each, and bytes of a conditional that may be blanked.
_MOST_ERRORS, _AROUND, _CONDITIONAL = 300, 1_200, 6_000
#: Bytes of an error that is worse than the loss of a head.
_LARGE = 2_000
#: Conditionals around each other of which the inner ones count.
_DEEPEST = 16
#: Errors that are a mere mark: the text around them has been parsed.
_MARK = lazily(rb"\s*(?:\w+|[;,]|\.\.\.|#[ \t]*(?:else|endif))?\s*")
_ARGUMENTS = rb"[ \t]*\((?:[^()]|\((?:[^()]|\([^()]*\))*\)){0,300}\)"
_WORD = lazily(rb"(?<![\w.>\"'#])([A-Za-z_]\w*)(" + _ARGUMENTS + rb")?")
_LOOKS = lazily(rb"__[a-z]\w*|_*[A-Z][A-Z0-9]*_[A-Z0-9_]+|[A-Z][A-Z0-9]{2,}")
#: What a compiler defines and the grammar knows, and types.
_KNOWN = lazily(
    rb"__(?:attribute|asm|typeof|extension|inline|restrict|volatile|const|signed|builtin|declspec|cdecl|stdcall|fastcall|"
    rb"thiscall|vectorcall|based|unaligned|alignof|label|thread|func|FUNCTION|int\d|float\d|[subl]e?\d)|\w+_t$"
)
_OWN = lazily(
    rb"\n[ \t]*#[ \t]*define[ \t]+(\w+)(?:\([^()\n]*\))?[ \t]*"
    rb"(?:\r?\n|/[/*]|__attribute|__declspec|_Pragma|extern\b|static\b|inline\b|__inline)"
)
_TYPES = frozenset(
    b"void char short int long float double signed unsigned bool _Bool struct union enum size_t ssize_t const volatile "
    b"static extern inline register typedef auto".split()
)
_TAGS = frozenset((b"struct", b"union", b"enum", b"goto", b"return", b"case", b"else", b"sizeof"))
_NO_LINE = lazily(rb"[ \t]*[#*/]")  # a directive, or a comment
_QUALIFIERS = frozenset(b"const volatile static extern inline register typedef auto".split())
_BEFORE = lazily(rb"(\w*)\s*\Z")
_AFTER = lazily(rb"\s*(\w+|\*+|.)?\s*(\w|\*|\(\s*\*)?", re.DOTALL)
_ALONE = lazily(
    rb"\n([A-Za-z_]\w*" + _ARGUMENTS + rb"|[ \t]+[A-Z][A-Z0-9]*_[A-Z0-9_]+(?:[ \t]*:|" + _ARGUMENTS + rb")?)"
    rb"[ \t\r]*(?=(?://[^\n]*)?\n\s*(\{?))"
)
_DIRECTIVE = lazily(
    rb"\n[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b((?:/\*.*?\*/|\\\r?\n|[^\n])*)", re.DOTALL
)
_DEFINE = lazily(rb"^[ \t]*#[ \t]*define\b(?:/\*.*?\*/|\\\r?\n|[^\n])*\n?", re.DOTALL | re.MULTILINE)
_BRACKETS = lazily(rb"[(){}]|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n]){1,4}'|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_NO_CODE = lazily(rb"/\*.*?(?:\*/|\Z)|//[^\n]*|\n[ \t]*#(?:\\\r?\n|[^\n])*", re.DOTALL)
#: A function's head at the margin, with its brace or without.
_HEAD = lazily(rb"\s*\n\w[^;{}]*\)\s*\{?")
_ELSE = lazily(rb"\s*(?:\}\s*)?else\b")
_STATEMENT_END = lazily(rb"[;{}:]|\A")


def without_directives(text: bytes) -> tuple[list[Edit], list[list[tuple[int, int]]]]:
    """Edits that blank each `#define`, and of each conditional all but the first branch (after `#if 0`, the second).

    Returns:
        (edits, groups of blanked ranges to parse separately: all macro definitions, and each blanked branch).
    """
    comments = [m.span() for m in _BRACKETS.finditer(text) if m.group().startswith(b"/*")]

    def is_comment(byte: int) -> bool:
        at = bisect_right(comments, (byte, len(text))) - 1
        return at >= 0 and byte < comments[at][1]

    macros = [match.span() for match in _DEFINE.finditer(text) if not is_comment(match.start())]
    edits = [_blank(text, *span) for span in macros]
    others = [macros] if macros else []
    open_: list[_Open] = []
    for match in _DIRECTIVE.finditer(b"\n" + text):
        start, end, word = match.start(), match.end() - 1, match.group(1)
        if is_comment(start):
            continue
        edits.append(_blank(text, start, end))
        if word.startswith(b"if"):
            index = 1 if (word, match.group(2).strip()) == (b"if", b"0") else 0
            inside = bool(open_) and (open_[-1].inside or open_[-1].number != open_[-1].wanted)
            open_.append(_Open(index, 0, end, inside))
        elif open_:
            branch = open_.pop()
            if branch.number != branch.wanted and not branch.inside:
                edits.append(_blank(text, branch.body, start))
                others.append([(branch.body, start)])
            if word != b"endif":
                open_.append(branch._replace(number=branch.number + 1, body=end))
    return edits, others


def errors(root: Node) -> list[tuple[int, int]]:
    """The byte ranges of the errors in a tree; errors that are only a punctuation mark are left out."""
    if root.type == "ERROR":
        return [(root.start_byte, root.end_byte)]
    ranges, pending = [], [root] if root.has_error else []
    while pending:
        for child in pending.pop().children:
            if child.type == "ERROR":
                text = child.text or b""
                if len(text) > 60 or not _MARK.fullmatch(text):
                    ranges.append((child.start_byte, child.end_byte))
            elif child.is_missing:
                if child.type != ";" or _lacks_name(child):
                    ranges.append((child.start_byte, child.start_byte + 1))
            elif child.has_error:
                pending.append(child)
    return sorted(ranges)


def _lacks_name(semicolon: Node) -> bool:
    """Whether a missing semicolon cuts a function's head in two: `void attribute` and `name(void) {`."""
    parent = semicolon.parent
    if parent is None or parent.type != "declaration":
        return False
    name = parent.child_by_field_name("declarator")
    return name is not None and name.type == "identifier"


def cost(ranges: list[tuple[int, int]]) -> int:
    """The total number of bytes in ranges of errors."""
    return sum(end - start for start, end in ranges)


def repairs(text: bytes, ranges: list[tuple[int, int]]) -> list[Edit]:
    """Edits after which a text may have fewer errors. Its length and its lines stay the same."""
    ranges = ranges[:_MOST_ERRORS]
    edits = list(_conditionals(text, ranges))
    own = set(_OWN.findall(b"\n" + text))
    for start, end in _regions(text, ranges):
        edits += _attributes(text, start, end, own)
        edits += _alone(text, start, end)
    return [(start, new) for start, new in edits if text[start : start + len(new)] != new]


def mark_edits(tree: Tree, text: bytes, edits: list[Edit]) -> Tree:
    """Mark in a tree the ranges that edits are about to change, so that the parser can reuse all other nodes."""
    row, line, at = 0, 0, 0
    for start, new in sorted(edits):
        points = []
        for offset in (start, start + len(new)):
            if offset > at:
                row += text.count(b"\n", at, offset)
                line, at = text.rfind(b"\n", 0, offset) + 1, offset
            points.append((row, offset - line))
        tree.edit(start, start + len(new), start + len(new), points[0], points[1], points[1])
    return tree


def _blank(text: bytes, start: int, end: int) -> Edit:
    return start, VISIBLE.sub(b" ", text[start:end])


def _regions(text: bytes, ranges: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """(start, end) of the text around each error, from the end of the declaration before it."""
    position = 0
    for start, end in ranges:
        low = max(position, start - _AROUND)
        begin = max(low, *(text.rfind(mark, low, start) for mark in (b"\n}", b";\n", b"\n\n")))
        stop = text.find(b"\n", max(start + _AROUND // 2, end))
        stop = len(text) if stop < 0 else stop
        if stop > position:
            yield max(begin, position), stop
            position = stop


def _attributes(text: bytes, start: int, end: int, own: set[bytes]) -> Iterator[Edit]:
    last_end, word_before, mark = -1, b"", b""
    for match in _WORD.finditer(text, start, end):
        word = match.group(1)
        looks = word in own or (_LOOKS.fullmatch(word) is not None and not _KNOWN.match(word))
        line = text.rfind(b"\n", 0, match.start()) + 1
        if not looks or _NO_LINE.match(text, line) or _goes_on(text, line):
            continue
        if last_end < 0 or text[last_end : match.start()].strip():  # several in a row stand where the first does
            before = _BEFORE.search(text, max(start, match.start() - 80), match.start())
            assert before is not None
            word_before = before.group(1)
            mark = text[before.start() - 1 : before.start()] if not word_before else b""
        after = _AFTER.match(text, match.end())
        assert after is not None
        if _is_attribute(word_before, mark, after.group(1) or b"", after.group(2) or b"", match.group(2) is not None):
            yield _blank(text, match.start(), match.end())
            last_end = match.end()


def _is_attribute(before: bytes, mark: bytes, after: bytes, then: bytes, has_arguments: bool) -> bool:
    """Whether a word looks like an attribute, because the declaration has a word too many. `before` is the word before
    it, or else `mark` is the character there; `after` and `then` are the beginnings of the texts that follow.
    """
    if before in _TAGS or (mark and mark not in b";{})*(]"):
        return False
    if after[:1].isalpha() or after[:1] == b"_":
        if after in _TYPES:
            return True
        if mark == b")" and _LOOKS.fullmatch(after):
            return True  # the first of several
        return mark == b"*" or bool(before and before not in _QUALIFIERS) or bool(then)
    if after[:1] == b"*":
        return has_arguments or bool(before and before not in _QUALIFIERS)
    return after in (b";", b"{", b"=") and mark in (b")", b"]") and mark != b""


def _alone(text: bytes, start: int, end: int) -> Iterator[Edit]:
    last_end = 0
    for match in _ALONE.finditer(text, max(0, start - 1), end):
        before = text[max(last_end, match.start() - 400) : match.start()]
        if (
            not match.group(2)
            and not _goes_on(text, match.start(1))
            and _STATEMENT_END.search(_NO_CODE.sub(b"", before).rstrip()[-1:])
        ):
            yield _blank(text, match.start(1), match.end(1))
            last_end = match.end()


def _goes_on(text: bytes, line: int) -> bool:
    """Whether a line continues the text of a macro, as the line before ends in a backslash. `line` is its offset."""
    return text[max(0, line - 3) : line].rstrip(b"\r\n")[-1:] == b"\\"


class _Branch(NamedTuple):
    start: int  # of its directive, after the line break
    body: int
    word: bytes
    condition: bytes


class _Open(NamedTuple):
    """An open conditional: the number of the branch to keep, and the number and offset of the latest branch."""

    wanted: int
    number: int
    body: int
    inside: bool  # of a branch that is left out


def _conditionals(text: bytes, ranges: list[tuple[int, int]]) -> Iterator[Edit]:
    open_: list[list[_Branch]] = []
    for match in _DIRECTIVE.finditer(b"\n" + text):
        start, body, word = match.start(), match.end() - 1, match.group(1)
        if word.startswith(b"if"):
            open_.append([])
        elif not open_:
            return
        open_[-1].append(_Branch(start, body, word, match.group(2).strip()))
        if word == b"endif":
            branches = open_.pop()
            if len(open_) < _DEEPEST and body - branches[0].start < _CONDITIONAL:
                largest = max((b - a for a, b in ranges if a < body and branches[0].start < b), default=0)
                yield from _conditional(text, branches, largest)


def _conditional(text: bytes, branches: list[_Branch], in_error: int) -> Iterator[Edit]:
    """The edits for a conditional (#if to #endif). `in_error` is the size in bytes of the largest error around it."""
    pairs = list(pairwise(branches))
    texts = [_NO_CODE.sub(b"", b"\n" + text[branch.body : other.start]).rstrip() for branch, other in pairs]
    directives = [_blank(text, branch.start, branch.body) for branch in branches]
    cuts = in_error and not all(map(_complete, texts))
    balanced = all(map(_is_balanced, texts))
    if balanced and not cuts:
        if in_error and any(part.endswith(b",") or _ELSE.match(part) for part in texts):
            yield from directives
        return
    if len(texts) > 1 and in_error < _LARGE and all(_HEAD.fullmatch(part) for part in texts):
        return  # several heads of one function: each is found
    first = branches[0]
    kept_index = 1 if (first.word, first.condition) in ((b"if", b"0"), (b"ifdef", b"__cplusplus")) else 0
    if balanced and len(texts) == 1:
        kept_index = -1  # an attribute between two halves of a declaration
    yield from directives
    for number, (branch, other) in enumerate(pairs):
        if number != kept_index:
            yield _blank(text, branch.body, other.start)


def _complete(text: bytes) -> bool:
    """Whether a branch ends where a statement, a declaration or a list element may end."""
    return text[-1:] in b";{}:,"


def _is_balanced(text: bytes) -> bool:
    depth = {b"(": 0, b"{": 0}
    for match in _BRACKETS.finditer(text):
        mark = match.group()
        if mark in depth:
            depth[mark] += 1
        elif mark in (b")", b"}"):
            mark = b"(" if mark == b")" else b"{"
            depth[mark] -= 1
            if depth[mark] < 0:
                return False
    return not any(depth.values())
