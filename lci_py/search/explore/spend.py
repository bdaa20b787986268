"""Fills a token budget with pieces: many are shown as a location, some as their best lines, few as a whole.

The value of an answer is submodular: a piece adds less, the more is shown already. So the step that adds most per
token is taken again and again. The result is within (1 - 1/e)/2 of the best answer if the best single piece is
compared (Leskovec et al., Cost-effective outbreak detection in networks, 2007; Lin and Bilmes, A class of submodular
functions for document summarization, 2011). The gain of a step is recomputed only when its turn comes.
"""

from __future__ import annotations

import heapq
import math
import re
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from lci_py.search.answer.results import LineMatcher
from lci_py.types.explore import EXPLORE_TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lci_py.types.explore import Piece
    from lci_py.types.graph import Definition

#: The value of a definition's location, and what each excerpt adds; shown as a whole it is 1.
_PLACE, _ADDED = 0.1, (0.05, 0.1)
#: An excerpt of a definition with more lines than this is worth the square root of the share of its lines, since the
#: best lines come first.
_LONG = 40
#: Share of the budget for the first lines of longer definitions that the question names.
_NAMED = 0.6
#: Factor for each further piece of a file with code.
_SAME_FILE = 0.93
#: Tokens reserved for the end of an answer and its chains; in a small answer, this fraction of it.
_AROUND, _SHARE = 60, 3
#: Share of the budget that the best piece may take before the others are considered.
_FIRST = 0.5
#: The number of best pieces of which more than the location may be shown.
_WITH_CODE = 40
#: A definition with at most this many lines more than its excerpt is shown as a whole.
_FEW_MORE = 6
#: Worth from which on the place of a piece is shown, and its code, with a budget of `EXPLORE_TOKENS` or less; inversely
#: proportional to a larger one.
_LEAST_PLACE, _LEAST_CODE = 0.02, 0.05
#: Lines that a header has at most.
_HEADER = 12
#: Lines of code besides the header in a short and in a long excerpt; and the context around a matching line.
EXCERPTS = (4, 24)
_CONTEXT = (0, 2)
#: Lines shown for the name of another piece that is used in them; and lines before each.
_USES, _BEFORE = 2, 3
_ENDS = (":", "{", ";", "=", "=>", "then", "do", "begin", "(where)")


class Open(NamedTuple):
    """A candidate piece, with its definition and the lines of its file."""

    piece: Piece
    definition: Definition
    lines: Sequence[bytes]  # of its file
    excerpts: int | None = None  # how many at most, and never whole; one of a caller is the lines that call


class _Step(NamedTuple):
    level: int  # 0: its location; then an excerpt; the last one is whole
    numbers: tuple[int, ...]
    value: float  # what a reader has of the definition then


def spend(pieces: Sequence[Open], matcher: LineMatcher, max_tokens: int, *, all_of_it: bool = False) -> list[Piece]:
    """The states of pieces to show, in the order of selection. A state replaces the earlier state with the same id.

    Args:
        pieces: The candidates, the best first.
        matcher: The weighted words of the question.
        max_tokens: The budget of the whole answer.
        all_of_it: Whether to spend the whole budget, even on pieces of little worth.
    """
    part = 0.0 if all_of_it else min(EXPLORE_TOKENS / max_tokens, 1.0)
    minimum = part * _LEAST_PLACE, part * _LEAST_CODE
    return _Purse(pieces, matcher, max_tokens - min(_AROUND, max_tokens // _SHARE), minimum).bought()


class _Purse:
    def __init__(
        self, pieces: Sequence[Open], matcher: LineMatcher, room: float, minimum: tuple[float, float] = (0.0, 0.0)
    ) -> None:
        self._pieces, self._matcher, self._room, self._minimum = pieces, matcher, room, minimum
        self._files: dict[str, int] = {}  # file -> pieces with code in it
        self._code: dict[str, set[int]] = {}
        self._level = [-1] * len(pieces)
        self._value = [0.0] * len(pieces)
        self._steps: list[list[_Step] | None] = [None] * len(pieces)
        self._inside = _by_file(pieces)

    def bought(self) -> list[Piece]:
        purchases = self._beginnings() or self._best()
        steps = [(i, step) for i, level in enumerate(self._level) for step in range(level >= 0, len(self._ladder(i)))]
        heap = [(-self._density(i, step), i, step) for i, step in steps]
        heapq.heapify(heap)
        while heap:
            _, i, step = heapq.heappop(heap)
            if self._ladder(i)[step].level <= self._level[i]:
                continue  # a later step of the piece was better
            if self._pieces[i].piece.worth < self._minimum[step > 0]:
                continue
            now = self._density(i, step)
            if heap and -heap[0][0] > now + 1e-12:
                heapq.heappush(heap, (-now, i, step))
                continue
            if (cost := self._cost(i, step)) > self._room:
                continue
            purchases.append(self._buy(i, step, cost))
            if not step:
                for later in range(1, len(self._ladder(i))):
                    heapq.heappush(heap, (-self._density(i, later), i, later))
        return purchases

    def _beginnings(self) -> list[Piece]:
        """Select the first lines of each definition that the question names, whatever their gain. Else a switch of 800
        lines, each of which adds little, would lose the whole budget to the short functions that it calls.
        """
        named_pieces = [i for i, piece in enumerate(self._pieces) if piece.piece.role == "named"]
        purchases = []
        for i in named_pieces:
            room, piece = self._room, self._pieces[i]
            whole = range(piece.definition.first_line, min(piece.definition.end_line, len(piece.lines)) + 1)
            share = _NAMED * room / len(named_pieces) - len(piece.definition.file) / 4
            costs = accumulate((len(piece.lines[number - 1]) + 7) / 4 for number in whole)
            numbers = tuple(number for number, cost in zip(whole, costs, strict=True) if cost <= share)
            if numbers:
                value = _PLACE + (1 - _PLACE) * math.sqrt(len(numbers) / len(whole))
                last = len(EXCERPTS) + 1
                self._steps[i] = [_Step(last, numbers, 1.0 if len(numbers) == len(whole) else value)]
                purchases.append(self._buy(i, 0, self._cost(i, 0)))
        return purchases

    def _best(self) -> list[Piece]:
        """Select as much of the best piece as fits into a fixed share of the budget."""
        if not self._pieces or (cost := self._cost(0, 0)) > self._room:
            return []
        room = self._room * _FIRST
        purchases = [self._buy(0, 0, cost)]
        steps = [step for step in range(1, len(self._ladder(0))) if self._cost(0, step) <= room]
        return [*purchases, self._buy(0, steps[-1], self._cost(0, steps[-1]))] if steps else purchases

    def _ladder(self, i: int) -> list[_Step]:
        """The steps in which the piece number `i` can be shown. Its lines are rated once its location is selected."""
        cached = self._steps[i]
        if cached is not None:
            return cached
        if self._level[i] < 0 or i >= _WITH_CODE:
            return [_Step(0, (), _PLACE)]
        piece = self._pieces[i]
        item, ladder = piece.definition, [_Step(0, (), _PLACE)]
        nested = [self._pieces[j].definition for j in self._inside[item.file] if j != i]
        apart = [range(d.line, d.end_line + 1) for d in nested if item.line < d.line and d.end_line <= item.end_line]
        whole = range(item.first_line, min(item.end_line, len(piece.lines)) + 1)
        uses = piece.piece.via.rpartition(".")[2] if piece.piece.role in ("caller", "test") else ""
        matcher = LineMatcher(()) if uses and piece.excerpts == 1 else self._matcher
        for excerpt in range(len(EXCERPTS) if piece.excerpts is None else piece.excerpts):
            numbers = telling(item, piece.lines, matcher, excerpt, apart, uses)
            if len(numbers) + _FEW_MORE >= len(whole):
                break
            if len(numbers) > len(ladder[-1].numbers):
                value = _PLACE + sum(_ADDED[: excerpt + 1])
                if len(whole) > _LONG:
                    value = _PLACE + (1 - _PLACE) * math.sqrt(len(numbers) / len(whole))
                ladder.append(_Step(excerpt + 1, tuple(numbers), value))
        if piece.excerpts is None or len(ladder) == 1:
            ladder.append(_Step(len(EXCERPTS) + 1, tuple(whole), 1.0))
        self._steps[i] = ladder
        return ladder

    def _density(self, i: int, index: int) -> float:
        """The gain per token of step `index` of the piece number `i`."""
        piece = self._pieces[i]
        step = self._ladder(i)[index]
        gain = piece.piece.worth * (step.value - self._value[i])
        if index:
            gain *= _SAME_FILE ** self._files.get(piece.definition.file, 0)
        return gain / max(self._cost(i, index), 1.0)

    def _cost(self, i: int, index: int) -> float:
        piece = self._pieces[i]
        file = piece.definition.file
        lines_shown = self._code.get(file)
        cost = 0.0
        if self._level[i] < 0:
            if lines_shown is not None and piece.definition.line in lines_shown:
                return 1.0
            cost += 4 + len(piece.piece.qualified_name) / 4 + (0 if lines_shown is not None else len(file) / 4 + 1)
        for number in self._ladder(i)[index].numbers:
            if lines_shown is None or number not in lines_shown:
                cost += (len(piece.lines[number - 1]) + 7) / 4
        return cost

    def _buy(self, i: int, index: int, cost: float) -> Piece:
        piece, step = self._pieces[i], self._ladder(i)[index]
        self._room -= cost
        lines_shown = self._code.setdefault(piece.definition.file, set())
        if step.numbers and self._level[i] <= 0:
            self._files[piece.definition.file] = self._files.get(piece.definition.file, 0) + 1
        lines_shown.update(step.numbers)
        self._level[i], self._value[i] = step.level, step.value
        lines = tuple(
            (number, piece.lines[number - 1].removesuffix(b"\r").decode("utf-8", "replace")) for number in step.numbers
        )
        return piece.piece._replace(lines=lines, whole=step.value == 1.0, tokens=max(1, round(cost)))


def _by_file(pieces: Sequence[Open]) -> dict[str, list[int]]:
    by_file: dict[str, list[int]] = {}
    for i, piece in enumerate(pieces):
        by_file.setdefault(piece.definition.file, []).append(i)
    return by_file


# --- excerpts -----------------------------------------------------------------------------------------------------


def header(definition: Definition, lines: Sequence[bytes]) -> range:
    """The line numbers of a definition's head, from its name to the start of its body."""
    last = min(definition.end_line, definition.line + _HEADER - 1, len(lines))
    if definition.line == definition.end_line:
        return range(definition.line, definition.line + 1)
    depth = 0
    for number in range(definition.line, last + 1):
        text = lines[number - 1].split(b"#")[0].split(b"//")[0].strip()
        depth += sum(text.count(sign) for sign in b"([") - sum(text.count(sign) for sign in b")]")
        if depth <= 0 and text.decode("utf-8", "replace").endswith(_ENDS):
            return range(definition.line, number + 1)
    return range(definition.line, definition.line + 1)


def _using(name: str, lines: Sequence[bytes], inside: Sequence[int]) -> Iterator[int]:
    """The numbers of the first lines with a name and of the lines just before them, which often state a condition."""
    pattern = re.compile(rb"(?<!\w)" + re.escape(name.encode()) + rb"(?!\w)")
    for number in [number for number in inside if pattern.search(lines[number - 1])][:_USES]:
        yield from range(max(number - _BEFORE, inside[0]), number + 1)


def telling(
    item: Definition, lines: Sequence[bytes], matcher: LineMatcher, excerpt: int, apart: Sequence[range], uses: str = ""
) -> list[int]:
    """The numbers of the lines that an excerpt of a definition shows, ascending.

    Args:
        lines: The lines of the definition's file.
        matcher: The weighted words of the question.
        excerpt: An index into `EXCERPTS`, the sizes of excerpts.
        apart: Line ranges of other pieces inside the definition, which are shown separately.
        uses: The name of another piece that this definition uses; the lines with that name matter most.
    """
    head = header(item, lines)
    numbers = set(head)
    inside = [number for number in range(head.stop, item.end_line + 1) if not any(number in span for span in apart)]
    numbers.update(_using(uses, lines, inside) if uses else ())
    matches = matcher.found([lines[number - 1] for number in inside])
    keys = {inside[at]: {key for _, _, key in line} for at, line in matches.items()}
    weights = {number: matcher.weight(some) for number, some in keys.items()}
    room = EXCERPTS[excerpt]
    seen: set[frozenset[str]] = set()
    best = sorted(weights, key=lambda number: (*(-value for value in weights[number]), number))
    own = set(inside)
    for number in best:
        if room <= 0:
            break
        said = frozenset(keys[number])
        if excerpt == 0 and said in seen:
            continue  # says what another line says
        seen.add(said)
        context = [
            n
            for n in range(number - _CONTEXT[excerpt], number + _CONTEXT[excerpt] + 1)
            if n in own and n not in numbers
        ]
        numbers.update(context)
        room -= len(context)
    return sorted(numbers)
