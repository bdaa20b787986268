"""`#if`, as C, C++, C# and others have it: read from the text, since an `#if` may cut a statement in half."""

from __future__ import annotations

import re

from lci_py.source.conditions.text import File, Range, chain, clip, enclosed

# Comments and literals are matched so that a `#` in them is passed over. Each alternative starts with a fixed
# character, which lets the scanner skip text quickly: hence a directive is matched from the line break before it.
_DIRECTIVE = (
    rb'|\n[ \t]*#[ \t]*(\w+)((?:[^\n/"\\]+|//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|\\\r?\n|[^\n])*)'
    rb"|/\*.*?(?:\*/|\Z)|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n]){1,10}'"
)
_SCAN_C = re.compile(rb'R"([^\s()\\]{0,16})\(.*?(?:\)\1"|\Z)' + _DIRECTIVE, re.DOTALL)
_SCAN_CSHARP = re.compile(rb'(""").*?(?:"""|\Z)|@"(?:[^"]|"")*"' + _DIRECTIVE, re.DOTALL)
COMMENTS = re.compile(rb"/\*.*?(?:\*/|\Z)|//[^\n]*|\xef\xbb\xbf|(?m:^[ \t]*#[ \t]*pragma\b[^\n]*)", re.DOTALL)
_DEFINED = re.compile(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))")


class _Open:
    """An `#if` whose `#endif` is not reached yet."""

    def __init__(self, begin: int, condition: str) -> None:
        self.begin = begin  # of the current branch
        self.condition = condition  # of the current branch
        self.written = [condition]  # what stands after each directive, without the negation of earlier branches
        self.guards = ""  # the name that it may be an include guard for
        self.is_guard = False


def ranges(file: File) -> list[Range]:
    """What stands between directives. Include guards are no conditions."""
    return _ranges(file.path, file.source) if b"#" in file.source else []


def _ranges(path: str, source: bytes) -> list[Range]:
    ranges: list[Range] = []
    stack: list[_Open] = []
    # One line break is put before the source, so `start` is that of the directive's line.
    for match in (_SCAN_CSHARP if path.endswith(".cs") else _SCAN_C).finditer(b"\n" + source):
        start, end = match.start(), match.end() - 1
        word, rest = (match.group(2) or b"").decode("utf-8", "replace"), match.group(3) or b""
        if word == "define" and len(stack) == 1 and stack[0].guards:
            first = rest.split()[:1] == [stack[0].guards.encode()]
            stack[0].is_guard = first and _blank(source[stack[0].begin : start])
            stack[0].guards = ""
        elif word in ("if", "ifdef", "ifndef"):
            opened = _Open(end, _expression(word, rest))
            if not stack and not ranges and opened.condition.startswith("!defined(") and _blank(source[:start]):
                opened.guards = opened.condition[9:-1]
            stack.append(opened)
        elif stack and word.startswith(("el", "endif")):
            opened = stack[-1]
            if not (opened.is_guard and word == "endif" and _blank(source[end:])):
                ranges.append(Range(opened.begin, start, opened.condition))
            if word == "endif":
                stack.pop()
            else:
                own = "" if word == "else" else _expression(word[2:], rest)
                opened.begin, opened.condition = end, chain(opened.written, own)
                opened.written.append(own)
    ranges.extend(Range(opened.begin, len(source), opened.condition) for opened in stack if not opened.is_guard)
    return [item for item in ranges if item.condition]


def _blank(source: bytes) -> bool:
    return not COMMENTS.sub(b"", source).strip()


def _expression(word: str, rest: bytes) -> str:
    """The condition after `#if`, `#ifdef` or `#ifndef`; "" if it always holds."""
    text = COMMENTS.sub(b" ", rest.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")).decode("utf-8", "replace")
    if word in ("ifdef", "ifndef"):
        name = text.split()
        return f"{'!' if word == 'ifndef' else ''}defined({name[0]})" if name else ""
    text = _DEFINED.sub(lambda m: f"defined({m.group(1) or m.group(2)})", clip(text))
    text = re.sub(r"!\s+", "!", text)
    while enclosed(text):
        text = text[1:-1].strip()
    return {"1": "", "true": "", "false": "0"}.get(text, text)
