"""The last attempt at a file whose syntax tree has errors: finds the parts that do not parse and blanks them.

The lines of a file are divided by their indentation. A part is a line with the deeper lines below it and the line that
closes them. The parts of one level are bisected until those are found that add errors; these parts are divided in turn.
What is left then is blanked (replaced by spaces): a statement, a directive, or a head (the lines before a block). If a
head holds definitions, its keyword, name and brace stay. So code unknown to the grammar costs its line, not the file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, pairwise

from lci_py.source.syntax.macro_text import VISIBLE
from lci_py.source.text.patterns import lazily
from lci_py.types.record import NamedTuple

#: Maximum number of times the bytes of a file are parsed, and of indentation levels that are divided.
_BUDGET, _DEEPEST = 24, 12
#: Lines that a head may have.
_HEAD_LINES = 40
_IN_TEXT = 1 << 20  # the indentation of a line that begins in a comment or a string
#: A line that closes or goes on with what is above it, and one that belongs to what is below it.
_CLOSES = lazily(
    rb"\s*(?:[)\]}{>:]|(?:end|else|elsif|elif|elseif|catch|finally|except|rescue|ensure|then|where|do|done|fi|esac)\b)"
)
_ABOVE = lazily(rb"\s*(?:@|\[|#\[|template\s*<|//|/\*|\*|--)")
_COMMENT = lazily(rb"\s*(?://|/\*|\*|--)")
_DIRECTIVE = lazily(rb"\s*#\s*(?:if|ifdef|ifndef|else|elif|elseif|endif)\b")
#: The head of what holds definitions: it can lose all but this and its brace.
_HOLDER = lazily(
    rb"\b(?:class|struct|interface|trait|enum|object|impl|extension|protocol|namespace|module|union|record|actor)"
    rb"[ \t]+\w+"
)
_DEFINES = lazily(rb"\s*(?:[\w@]+\s+)*?(?:fun|func|fn|def|class|interface|object|struct|enum|protocol|trait)\b")
_FUNCTION = lazily(rb"\b(?:fun|func|fn|def|function)\b")
_OPENS = lazily(rb"(?:[{:=]|\bdo|\bwhere)\s*(?://[^\n]*|/\*[^\n]*\*/\s*)?$")
#: Brackets outside of strings and comments.
_BRACKETS = lazily(rb"[(){}\[\]]|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n]){1,4}'|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_SPANNING = lazily(
    rb"/\*.*?\*/|\"\"\".*?\"\"\"|'''.*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n]){1,4}'|//[^\n]*", re.DOTALL
)


def shortest_lines(text: bytes, errors: Iterable[tuple[int, int]]) -> int:
    """The total length, without indentation, of the shortest line in each error: a repair seldom blanks less."""
    shortest: dict[int, int] = {}  # by the place of the line
    for start, end in errors:
        at = text.rfind(b"\n", 0, start) + 1
        sizes = []
        while at < max(end, start + 1):
            stop = text.find(b"\n", at) % (len(text) + 1)
            sizes.append((len(text[at:stop].strip()), at))
            at = stop + 1
        size, at = min((line for line in sizes if line[0]), default=(0, start))
        shortest[at] = size
    return sum(shortest.values())


class _Part(NamedTuple):
    first: int  # its first line after the comments above it
    inside: int  # the first line that is not its head
    last: int


class _Spent(Exception):
    """The attempt must end: the budget for parsing is used up, or too much has been blanked."""


class Recovery:
    """Finds the parts of a text that do not parse, and blanks them."""

    def __init__(self, text: bytes, cost: Callable[[bytes], int], limit: int) -> None:
        """`cost` returns how many bytes of a text are in errors. The attempt ends when it blanks `limit` bytes."""
        self.lines = re.findall(rb"[^\n]*\n|[^\n]+\Z", text)
        self._starts = list(accumulate(map(len, self.lines), initial=0))
        self.culprits: list[tuple[int, int]] = []  # the first line of each, and the one after its last
        self._cost_of = cost
        self._left = _BUDGET * len(text)
        self._most = limit
        self._blanked = 0
        self._edits: list[tuple[int, int]] = []
        self._indents = self._indentation(text)

    def text(self) -> bytes:
        """The text with spaces in place of the parts that do not parse; offsets and lines stay."""
        with suppress(_Spent):
            self._level([(0, len(self.lines))], [], 0, depth=0, lifts=False)
        for first, last in self.culprits:
            for number in range(first, last):
                self.lines[number] = VISIBLE.sub(b" ", self.lines[number])
        return b"".join(self.lines)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The blanked byte ranges as (start, end); adjacent ranges are merged."""
        merged: list[tuple[int, int]] = []
        lines = [(self._starts[first], self._starts[last]) for first, last in self.culprits]
        for start, end in sorted([*lines, *self._edits]):
            if merged and start <= merged[-1][1]:
                start, end = merged[-1][0], max(end, merged.pop()[1])
            merged.append((start, end))
        return merged

    @property
    def size(self) -> int:
        """The number of blanked bytes."""
        return self._blanked

    def _leave_out(self, first: int, last: int) -> None:
        self.culprits.append((first, last))
        self._blanked += sum(len(line.strip()) for line in self.lines[first:last])
        if self._blanked >= self._most:
            raise _Spent

    def _cost(self, numbers: Sequence[int]) -> int:
        text = b"".join([self.lines[number] for number in numbers])
        self._left -= len(text)
        if self._left < 0:
            raise _Spent
        return self._cost_of(text)

    def _level(self, runs: list[tuple[int, int]], enclosing: list[int], base: int, *, depth: int, lifts: bool) -> None:
        """Find the parts that add errors, among runs of lines with the same indentation, and blank their errors.

        Args:
            runs: (first line, line after the last one) of each run.
            enclosing: The numbers of the enclosing lines.
            base: The bytes in errors when the enclosing lines are parsed alone.
            depth: The number of enclosing parts.
            lifts: Whether one of the enclosing parts is a function, so that statements are allowed.
        """
        parts = [part for run in runs for part in self._parts(*run)]
        for part, frame in self._bad(parts, enclosing, base):
            self._enter(part, frame, base, depth=depth, lifts=lifts)

    def _enter(self, part: _Part, frame: list[int], base: int, *, depth: int, lifts: bool) -> None:
        """Find the lines inside a part that add errors, and blank them. `frame`: numbers of the enclosing lines."""
        whole = part.first, part.last
        if part.inside >= part.last or depth >= _DEEPEST:
            self._leave_out(*whole)
            return
        margin = self._indents[part.first]
        bones = [n for n in range(part.inside, part.last) if 0 <= self._indents[n] <= margin]
        ends = [part.inside - 1, *bones, part.last]
        runs = [(a + 1, b) for a, b in pairwise(ends) if b > a + 1]
        enclosing = sorted([*frame, *range(part.first, part.inside), *bones])
        head = b"".join(self.lines[part.first : part.inside])
        holds = _HOLDER.search(head) is not None
        cost = self._cost(enclosing)
        if cost > base and self._reduce(part):
            cost = self._cost(enclosing)
        if cost <= base:
            self._level(runs, enclosing, cost, depth=depth + 1, lifts=lifts or not holds)
            return
        if (
            holds
            or lifts
            or (
                not _FUNCTION.search(head)
                and any(_DEFINES.match(self.lines[p.first]) for r in runs for p in self._parts(*r))
            )
        ):
            for first, last in ((part.first, part.inside), *((number, number + 1) for number in bones)):
                self._leave_out(first, last)
            self._level(runs, frame, base, depth=depth + 1, lifts=lifts)
            return
        self._leave_out(*whole)

    def _reduce(self, part: _Part) -> bool:
        """Blank a head except its keyword, its name and its final brace; returns whether that was possible."""
        head = b"".join(self.lines[part.first : part.inside])
        name = _HOLDER.search(head)
        if name is None:
            return False
        end = len(head.rstrip())
        reduced = bytearray(VISIBLE.sub(b" ", head))
        reduced[name.start() : name.end()] = name.group()
        at = self._starts[part.first]
        self._edits += [(at, at + name.start()), (at + name.end(), at + len(head))]
        if head[end - 1 : end] in (b"{", b":"):
            reduced[end - 1 : end] = head[end - 1 : end]
        at = 0
        for number in range(part.first, part.inside):
            size = len(self.lines[number])
            self.lines[number] = bytes(reduced[at : at + size])
            at += size
        return True

    def _bad(self, parts: list[_Part], frame: list[int], base: int) -> list[tuple[_Part, list[int]]]:
        """(part, lines beside which it adds errors) of each part that adds errors to the lines `frame`."""
        if not parts or self._cost(_with(frame, parts)) <= base:
            return []
        if len(parts) == 1:
            return [(parts[0], frame)]
        middle = len(parts) // 2
        culprits = [*self._bad(parts[:middle], frame, base), *self._bad(parts[middle:], frame, base)]
        while not culprits:  # each half parses without the other
            low, high = 1, len(parts)
            while low < high:
                middle = (low + high) // 2
                low, high = (low, middle) if self._cost(_with(frame, parts[:middle])) > base else (middle + 1, high)
            before = parts[: high - 1]
            culprits = [(parts[high - 1], _with(frame, before))]
            culprits += self._bad([*before, *parts[high:]], frame, base)
        return culprits

    def _parts(self, first: int, last: int) -> Iterator[_Part]:
        indents, lines = self._indents, self.lines
        inside = [n for n in range(first, last) if indents[n] >= 0]
        directives = {n for n in inside if indents[n] < _IN_TEXT and _DIRECTIVE.match(lines[n])}
        margin = min((indents[n] for n in inside if n not in directives), default=_IN_TEXT)
        starts: list[tuple[int, int]] = []
        above = core = -1  # the first of the lines before that belong to what follows, and of those without comments
        after = True  # whether a directive ends above
        for number in inside:
            line = lines[number]
            if after and number and lines[number - 1].rstrip().endswith(b"\\"):
                continue  # of a directive
            if number in directives and indents[number] <= margin:
                starts.append((number, number))
                above, core, after = -1, -1, True
            elif indents[number] <= margin or after:
                if _ABOVE.match(line):
                    above = number if above < 0 else above
                    core = number if core < 0 and not _COMMENT.match(line) else core
                else:
                    if after or not _CLOSES.match(line):
                        starts.append((number if above < 0 else above, number if core < 0 else core))
                    above = core = -1
                    after = False
        for index, (_, core) in enumerate(starts):
            stop = starts[index + 1][0] if index + 1 < len(starts) else last
            while stop > core + 1 and indents[stop - 1] == -1:
                stop -= 1
            yield _Part(core, self._head_end(core, stop), stop)

    def _head_end(self, core: int, stop: int) -> int:
        """The line after a part's head, which ends with the first line that opens a block, as by a brace."""
        depth = 0
        for number in range(core, min(stop, core + _HEAD_LINES)):
            for match in _BRACKETS.finditer(self.lines[number]):
                depth += (match.group() in (b"(", b"[")) - (match.group() in (b")", b"]"))
            if depth <= 0 and _OPENS.search(self.lines[number]):
                return number + 1
        return core + 1

    def _indentation(self, text: bytes) -> list[int]:
        """The column of each line's text; -1 for a blank line, a large number inside a comment or a string."""
        columns = []
        for line in self.lines:
            bare = line.lstrip()
            columns.append(len(line[: len(line) - len(bare)].expandtabs(8)) if bare else -1)
        for match in _SPANNING.finditer(text):
            if b"\n" in match.group():
                first = bisect_right(self._starts, match.start())
                for number in range(first, bisect_right(self._starts, match.end() - 1)):
                    if columns[number] >= 0:
                        columns[number] = _IN_TEXT
        return columns


def _with(frame: list[int], parts: Iterable[_Part]) -> list[int]:
    """The sorted numbers of the lines `frame` and of the lines of `parts`."""
    return sorted({*frame, *(number for part in parts for number in range(part.first, part.last))})
