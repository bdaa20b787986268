"""The last attempt at a file whose syntax tree has errors: finds the parts that do not parse and leaves them out.

The lines of a file are divided by their indentation: a part is a line with the deeper lines below it and the line that
closes them. The parts of a level are bisected until those are found that add errors; these are divided in turn. What
remains is blanked at the same length: a statement, a directive, or a head, whose keyword, name and brace stay if it
holds definitions. So a construct that the grammar does not know costs its line, not the rest of the file.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, pairwise
from typing import NamedTuple

from lci_py.source.syntax.macro_text import VISIBLE
from lci_py.source.text.patterns import lazily

#: Maximum number of times the bytes of a file are parsed, and of indentation levels that are divided.
_BUDGET, _DEEPEST = 24, 12
#: Number of rounds over the whole file: parts that parse alone may not parse together.
_ROUNDS = 3
#: Lines that a head may have.
_HEAD_LINES = 40
_IN_TEXT = 1 << 20  # the indentation of a line that begins in a comment or a string
#: A line that closes or goes on with what is above it, and one that belongs to what is below it.
_CLOSES = lazily(
    rb"\s*(?:[)\]}{>:]|(?:end|else|elsif|elif|elseif|catch|finally|except|rescue|ensure|then|where|do|done|fi|esac)\b)"
)
_ABOVE = lazily(rb"\s*(?:@|\[|#\[|template\s*<|//|/\*|\*|--)")
_COMMENT = lazily(rb"\s*(?://|/\*|\*|--)")
_DIRECTIVE = lazily(rb"(\s*#\s*(?:if|ifdef|ifndef|else|elif|elseif|endif)\b[ \t]*)([^\n]*)")
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


class Culprit(NamedTuple):
    """Lines that do not parse, and the numbers of the enclosing lines that they need."""

    first: int
    last: int
    around: Sequence[int]


class _Part(NamedTuple):
    first: int  # its first line after the comments above it
    inside: int  # the first line that is not its head
    last: int


class _Spent(Exception):
    """The budget for parsing is used up; the rest is left as it is."""


class Recovery:
    """Finds the parts of a text that do not parse."""

    def __init__(self, text: bytes, cost: Callable[[bytes], int], suspects: Iterable[int] = ()) -> None:
        """Args:
        cost: Returns the number of bytes in errors of a text's tree.
        suspects: Bytes at which the tree of the whole text has errors.
        """
        self.lines = re.findall(rb"[^\n]*\n|[^\n]+\Z", text)
        self._starts = list(accumulate(map(len, self.lines), initial=0))
        self.culprits: list[Culprit] = []
        self._cost_of = cost
        self._left = _BUDGET * len(text)
        self._blanked = 0
        self._edits: list[tuple[int, int]] = []
        self._indents = self._indentation(text)
        self._suspects = sorted({bisect_right(self._starts, byte) - 1 for byte in suspects})

    def text(self) -> bytes:
        """The text with blanks for the parts that do not parse; offsets and lines stay."""
        for _ in range(_ROUNDS):
            done = len(self.culprits)
            with suppress(_Spent):
                self._level([(0, len(self.lines))], [], 0, depth=0, lifts=False)
            for first, last, _ in self.culprits[done:]:
                self._blanked += sum(len(line.strip()) for line in self.lines[first:last])
                self._blank(first, last)
            if len(self.culprits) == done or self._left < 0 or not self._cost_of(b"".join(self.lines)):
                break
        return b"".join(self.lines)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The blanked ranges, except directives: starts and ends; adjacent ones are merged."""
        found: list[tuple[int, int]] = []
        lines = [(self._starts[first], self._starts[last]) for first, last, _ in self.culprits]
        for start, end in sorted([*lines, *self._edits]):
            if found and start <= found[-1][1]:
                start, end = found[-1][0], max(end, found.pop()[1])
            found.append((start, end))
        return found

    @property
    def size(self) -> int:
        """The number of blanked bytes."""
        return self._blanked

    def _cost(self, numbers: Sequence[int]) -> int:
        text = b"".join([self.lines[number] for number in numbers])
        self._left -= len(text)
        if self._left < 0:
            raise _Spent
        return self._cost_of(text)

    def _blank(self, first: int, last: int) -> None:
        for number in range(first, last):
            self.lines[number] = VISIBLE.sub(b" ", self.lines[number])
            self._indents[number] = -1

    def _level(self, runs: list[tuple[int, int]], around: list[int], base: int, *, depth: int, lifts: bool) -> None:
        """Find the culprits in some runs of lines.

        Args:
            runs: First lines, and the lines after the last ones.
            around: The enclosing lines.
            base: Their cost.
            depth: The number of enclosing parts.
            lifts: Whether one of these is a function: the others may then contain statements.
        """
        parts = [part for run in runs for part in self._parts(*run)]
        framing = [part for part in parts if self._frames(part)]
        frame, cost = self._frame(around, framing, base)
        kept = set(frame)
        in_frame = set(framing)
        rest = [part for part in parts if part not in in_frame]
        for part in framing:
            if part.first not in kept:
                if self._is_directive(part):
                    self._blank(part.first, part.last)
                else:
                    rest.append(part)
        for group, lines in self._bad([[part] for part in sorted(rest)], frame, cost):
            self._enter(group[0], lines, cost, depth=depth, lifts=lifts)

    def _frame(self, around: list[int], framing: list[_Part], base: int) -> tuple[list[int], int]:
        """The enclosing lines with those of a level that others need, as far as these add no errors."""
        if not framing:
            return around, base
        frame = _with(around, [framing])
        cost = self._cost(frame)
        if cost <= base:
            return frame, cost
        for part in framing:  # conditions are read from the file itself
            match = _DIRECTIVE.match(self.lines[part.first])
            if match is not None and match.group(2).strip():
                for number in range(part.first, part.last):
                    line, keep = self.lines[number], match.start(2) if number == part.first else 0
                    self.lines[number] = line[:keep] + VISIBLE.sub(b" ", line[keep:])
                line = self.lines[part.first]
                self.lines[part.first] = line[: match.start(2)] + b"x" + line[match.start(2) + 1 :]
        groups = self._groups(framing)
        bad = {group[0].first for group, _ in self._bad(groups, around, base)}
        frame = _with(around, [group for group in groups if group[0].first not in bad])
        return frame, self._cost(frame)

    def _groups(self, framing: list[_Part]) -> list[list[_Part]]:
        """Each opening with what closes it: an `#if` with its branches and its end, a brace and its other half."""
        groups: list[list[_Part]] = []
        opened: dict[bool, list[list[_Part]]] = {True: [], False: []}
        for part in framing:
            directive = self._is_directive(part)
            match = _DIRECTIVE.match(self.lines[part.first])
            word = match.group(1).strip(b" \t#") if directive and match is not None else b""
            stack = opened[directive]
            opens = word.startswith(b"if") if directive else self._depth(part) > 0
            if opens or not stack:
                groups.append([part])
                if opens:
                    stack.append(groups[-1])
            else:
                stack[-1].append(part)
                if not directive or word == b"endif":
                    stack.pop()
        return groups

    def _enter(self, part: _Part, frame: list[int], base: int, *, depth: int, lifts: bool) -> None:
        """Find the culprits in a part that adds errors to a frame."""
        whole = Culprit(part.first, part.last, frame)
        if part.inside >= part.last or depth >= _DEEPEST:
            self.culprits.append(whole)
            return
        margin = self._indents[part.first]
        bones = [n for n in range(part.inside, part.last) if 0 <= self._indents[n] <= margin]
        ends = [part.inside - 1, *bones, part.last]
        runs = [(a + 1, b) for a, b in pairwise(ends) if b > a + 1]
        around = sorted([*frame, *range(part.first, part.inside), *bones])
        head = b"".join(self.lines[part.first : part.inside])
        holds = _HOLDER.search(head) is not None
        cost = self._cost(around)
        if cost > base and self._reduce(part):
            cost = self._cost(around)
        if cost <= base:
            self._level(runs, around, cost, depth=depth + 1, lifts=lifts or not holds)
            return
        if (
            holds
            or lifts
            or (
                not _FUNCTION.search(head)
                and any(_DEFINES.match(self.lines[p.first]) for r in runs for p in self._parts(*r))
            )
        ):
            self.culprits.append(Culprit(part.first, part.inside, frame))
            self.culprits += [Culprit(number, number + 1, frame) for number in bones]
            self._level(runs, frame, base, depth=depth + 1, lifts=lifts)
            return
        self.culprits.append(whole)

    def _reduce(self, part: _Part) -> bool:
        """Reduce a head to its keyword and name, and the brace at its end."""
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

    def _bad(self, groups: list[list[_Part]], frame: list[int], base: int) -> list[tuple[list[_Part], list[int]]]:
        """The groups of parts that add errors to a frame, each with the frame that it adds them to."""
        if not groups or self._cost(_with(frame, groups)) <= base:
            return []
        if len(groups) == 1:
            return [(groups[0], frame)]
        suspects = [group for group in groups if any(map(self._is_suspect, group))]
        if 0 < len(suspects) < len(groups):
            suspected = {group[0].first for group in suspects}
            halves = ([group for group in groups if group[0].first not in suspected], suspects)
        else:
            halves = (groups[: len(groups) // 2], groups[len(groups) // 2 :])
        found = [one for half in halves for one in self._bad(half, frame, base)]
        while not found:  # each half parses without the other
            low, high = 1, len(groups)
            while low < high:
                middle = (low + high) // 2
                low, high = (low, middle) if self._cost(_with(frame, groups[:middle])) > base else (middle + 1, high)
            before = groups[: high - 1]
            found = [(groups[high - 1], _with(frame, before))]
            found += self._bad([*before, *groups[high:]], frame, base)
        return found

    def _is_suspect(self, part: _Part) -> bool:
        place = bisect_left(self._suspects, part.first)
        return place < len(self._suspects) and self._suspects[place] < part.last

    def _is_directive(self, part: _Part) -> bool:
        return _DIRECTIVE.match(self.lines[part.first]) is not None

    def _frames(self, part: _Part) -> bool:
        """Whether adjacent parts need this one: a directive, `<?php`, a bracket without its other half."""
        line = self.lines[part.first]
        return line.startswith(b"<?") or self._is_directive(part) or self._depth(part) != 0

    def _depth(self, part: _Part) -> int:
        """The number of brackets that a part opens and does not close."""
        depth = 0
        for match in _BRACKETS.finditer(b"".join(self.lines[part.first : part.last])):
            mark = match.group()
            depth += mark in (b"(", b"{", b"[")
            depth -= mark in (b")", b"}", b"]")
        return depth

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
        """The line after the head of a part: its first line that ends in a brace or the like, outside parentheses."""
        depth = 0
        for number in range(core, min(stop, core + _HEAD_LINES)):
            for match in _BRACKETS.finditer(self.lines[number]):
                depth += (match.group() in (b"(", b"[")) - (match.group() in (b")", b"]"))
            if depth <= 0 and _OPENS.search(self.lines[number]):
                return number + 1
        return core + 1

    def _indentation(self, text: bytes) -> list[int]:
        """The column of each line's text; -1 for a blank line, a large number inside a comment or a string."""
        found = []
        for line in self.lines:
            bare = line.lstrip()
            found.append(len(line[: len(line) - len(bare)].expandtabs(8)) if bare else -1)
        for match in _SPANNING.finditer(text):
            if b"\n" in match.group():
                first = bisect_right(self._starts, match.start())
                for number in range(first, bisect_right(self._starts, match.end() - 1)):
                    if found[number] >= 0:
                        found[number] = _IN_TEXT
        return found


def _with(frame: list[int], groups: Iterable[Iterable[_Part]]) -> list[int]:
    """The numbers of the lines of a frame and of some parts."""
    return sorted({*frame, *(number for parts in groups for part in parts for number in range(part.first, part.last))})
