"""`#if` of C, C++, C#, Swift and Haskell's CPP. It is read from the text, since it may cut a statement in half."""

from __future__ import annotations

import re

from lci_py.source.conditions.normal_form import normal_form
from lci_py.source.conditions.text import File, Range, chain
from lci_py.source.text.patterns import lazily

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
_EXTERN = lazily(rb'\bextern\s+"C"\s*\{')
_CONDITIONALS = frozenset(
    (b"if", b"ifdef", b"ifndef", b"else", b"elif", b"elifdef", b"elifndef", b"elseif", b"endif")
)  # fmt: skip
_IFS = lazily(rb"#[ \t]*if")
_GUARD = lazily(r"!defined\((\w+)\)")
_GUARD_NAME = lazily(r"_(?:H|HH|HPP|HXX|INC|INCLUDED?|GUARD)_*$", re.IGNORECASE)
_MAX_NAME = 200
_MAX_GUARDS = 4  # include guards around each other


class _Open:
    """An `#if` whose `#endif` has not come yet."""

    def __init__(self, begin: int, condition: str) -> None:
        self.begin = begin  # of the current branch
        self.condition = condition  # of the current branch
        self.own = condition  # the same without the negation of earlier branches
        self.earlier: list[str] = []  # the conditions of the branches before
        self.guards = ""  # the name that it may be an include guard for; what follows may still `#define` it
        self.is_first = False  # nothing stands above it
        self.is_named = False  # the guarded name is one of a file
        self.guarded = -1  # where the text after that `#define` begins; -1 if it is no include guard

    def next(self, begin: int, own: str) -> None:
        """Go to the next branch."""
        self.earlier.append(self.own)
        self.begin, self.own = begin, own
        self.condition = "0" if own == "0" or "" in self.earlier else chain(self.earlier, own)
        self.guards, self.guarded = "", -1


def ranges(file: File) -> list[Range]:
    """The branches of a file's conditionals; include guards are none."""
    if not _IFS.search(file.source):
        return []
    scanner = _SCANNERS.get(file.path.rpartition(".")[2], _C)
    return [item for item in _Scan(file, scanner).ranges if item.condition]


class _Scan:
    def __init__(self, file: File, scanner: re.Pattern[bytes]) -> None:
        self._file = file
        self._source = file.source
        self._stack: list[_Open] = []
        self._waiting = 0  # open ones whose `#define` may follow
        self._is_first = True  # no `#if` so far
        self._end = 0  # of the directive before
        self.ranges: list[Range] = []
        # One line break is put before the source, so `start` is that of the directive's line.
        for match in scanner.finditer(b"\n" + file.source):
            word = match["word"]
            if word is not None and (self._waiting or word in _CONDITIONALS):
                self._directive(match.start(), match.end() - 1, word, match["rest"])
        size = len(file.source)
        self.ranges.extend(Range(opened.begin, size, opened.condition) for opened in self._stack if opened.guarded < 0)

    def _directive(self, start: int, end: int, word: bytes, rest: bytes) -> None:
        # Here also comes any other directive while an include guard may begin.
        if self._waiting and not _blank(_EXTERN.sub(b"", self._source[self._end : start])):
            self._give_up()
        self._end = end
        if word == b"define":
            self._defined(end, rest)
        elif word not in _CONDITIONALS:
            return
        elif word.startswith(b"if"):
            self._stack.append(self._opened(start, end, _expression(word, rest)))
        elif self._stack:
            opened = self._stack[-1]
            self._waiting -= bool(opened.guards)
            if not (word == b"endif" and self._is_guard(opened, start, end)):
                self.ranges.append(Range(opened.begin, start, opened.condition))
            if word == b"endif":
                self._stack.pop()
            else:
                opened.next(end, "" if word == b"else" else _expression(word[2:], rest))

    def _opened(self, start: int, end: int, condition: str) -> _Open:
        opened = _Open(end, condition)
        guard = _GUARD.fullmatch(condition)
        if guard is not None and len(self._stack) < _MAX_GUARDS and all(outer.guarded >= 0 for outer in self._stack):
            opened.guards = guard[1]
            opened.is_first = self._is_first and _blank(self._source[:start])
            self._waiting += 1
        self._is_first = False
        return opened

    def _defined(self, end: int, rest: bytes) -> None:
        """A `#define` begins an include guard if it is of the guarded name, with nothing but directives before it."""
        opened = self._stack[-1] if self._stack else None
        words = rest.split(None, 2)
        if opened is None or not opened.guards or words[:1] != [opened.guards.encode()]:
            return
        opened.is_named = words[1:2] in ([], [b"1"]) and self._names_a_file(opened.guards)
        opened.guarded, opened.guards = end, ""
        self._waiting -= 1

    def _names_a_file(self, name: str) -> bool:
        stem = re.sub(r"\W|_", "", self._file.path.rpartition("/")[2].partition(".")[0]).upper()
        return bool(_GUARD_NAME.search(name)) or (len(stem) > 2 and stem in name.replace("_", "").upper())

    def _is_guard(self, opened: _Open, start: int, end: int) -> bool:
        """Whether an `#if` that ends here is an include guard: around the whole file, or of a name such as LIST_H."""
        if opened.guarded < 0 or (opened.is_named and _blank(self._source[opened.guarded : start])):
            return False
        return opened.is_named or (opened.is_first and _blank(self._source[end:]))

    def _give_up(self) -> None:
        for opened in self._stack:
            opened.guards = ""
        self._waiting = 0


def _blank(source: bytes) -> bool:
    return not COMMENTS.sub(b"", source).strip()


def _expression(word: bytes, rest: bytes) -> str:
    """The condition after `#if`, `#ifdef` or `#ifndef`; "" if it always holds."""
    text = COMMENTS.sub(b" ", rest.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")).decode("utf-8", "replace")
    if word in (b"ifdef", b"ifndef"):
        name = text.split(None, 1)
        return f"{'!' if word == b'ifndef' else ''}defined({name[0][:_MAX_NAME]})" if name else ""
    condition = normal_form(text, constants=True)
    return "" if condition == "1" else condition
