"""Cuts a file into chunks, the pieces that are ranked. Chunks follow symbols.

Every line belongs to the innermost definition that owns chunks, or to no definition. The lines of a definition are one
chunk, or several cut at statement boundaries when it is large. A type's own lines are those outside its methods, with
the methods' signatures added: an outline that answers questions about the type as a whole.
"""

from __future__ import annotations

import re
from functools import cache, partial
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from lci_py.source.text.patterns import lazily
from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS
from lci_py.types.source import Chunk, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

MAX_CHARS = 1600  # of one chunk; about 400 tokens
_MIN_TAIL = MAX_CHARS // 4  # of the last piece of a definition that was cut
OUTLINE_CHARS = 1200  # of member signatures added to a type's chunk
_OUTLINED = TYPE_KINDS | {"namespace", "module"}
_ALWAYS = FUNCTION_KINDS | _OUTLINED | {"section"}
_MIN_LINES = 3  # a shorter constant, field or alias stays with its neighbours
_SCRAP_LINES = 2  # so many lines right above or below a definition are added to it
_SCRAP_WORDS = 3  # a block with so few words gets no chunk of its own
_BLOCK = -1
_APART = FUNCTION_KINDS | TYPE_KINDS
_WORDS = lazily(r"\w+")
_BRACKETS = lazily(r"[\s\])};,]*")
_COMMENT = lazily(r"\s*/[/*]")
_DIRECTIVE = lazily(r"\s*#\s*(?!define\b|undef\b)[a-z]")
_CLOSING = lazily(r"\s*(?:[#@]?\w|[])}])")  # code and directives such as `#endif`, unlike comments


def chunk_symbols(
    symbols: list[Symbol], nodes: list[Node], root: Node, source: bytes, row: Callable[[int], int]
) -> tuple[Chunk, ...]:
    """Cut a parsed file into chunks, ordered by first line.

    Args:
        symbols: The file's definitions, outer before inner.
        nodes: The tree node of each symbol.
        row: Function that returns the row of a byte, from 0.
    """
    lines = source.decode("utf-8", "replace").split("\n")
    starts = _starts(lines)
    owners = _paint(symbols, lines, starts)
    runs: dict[int, list[tuple[int, int]]] = {}
    blocks: list[tuple[int, int]] = []
    for owner, first, last in _runs(owners):
        if owner == _BLOCK:
            blocks.append((first, last))
        else:
            runs.setdefault(owner, []).append((first, last))
    _settle(blocks, runs, owners, symbols, lines)
    chunks: list[Chunk] = []
    members = _members(symbols, runs)
    for owner, parts in runs.items():
        extra = _outline(symbols, members.get(owner, ())) if symbols[owner].kind in _OUTLINED else ""
        chunks.extend(_pieces(owner, parts, lines, starts, extra, partial(_break_depths, nodes[owner], row)))
    root_depths = cache(lambda: _break_depths(root, row))
    macros = [symbol for symbol in symbols if symbol.kind == "macro"]
    for block in blocks:
        owner = _described_function(block, macros, symbols, owners, lines) if macros else _BLOCK
        chunks.extend(_pieces(owner, [block], lines, starts, "", root_depths))
    chunks.sort(key=lambda chunk: (chunk.line, chunk.end_line, chunk.symbol))
    return tuple(chunks)


def chunk_text(source: bytes) -> tuple[Chunk, ...]:
    """Cut a file without a grammar into chunks: runs of lines, cut at blank lines where possible."""
    lines = source.decode("utf-8", "replace").split("\n")
    return tuple(_pieces(_BLOCK, [(1, len(lines))], lines, _starts(lines), "", dict))


def _owns_chunks(symbol: Symbol, symbols: list[Symbol], size: int) -> bool:
    if symbol.kind not in _ALWAYS or symbol.kind == "macro":
        return symbol.end_line - symbol.line + 1 >= _MIN_LINES and not _inside_function(symbol, symbols)
    if symbol.kind in FUNCTION_KINDS and _inside_function(symbol, symbols):
        # A helper inside a function is part of it, unless the outer one must be cut anyway.
        return size > MAX_CHARS and symbol.end_line - symbol.line + 1 >= _MIN_LINES
    return True


def _inside_function(symbol: Symbol, symbols: list[Symbol]) -> bool:
    return symbol.parent >= 0 and symbols[symbol.parent].kind in FUNCTION_KINDS


def _starts(lines: list[str]) -> list[int]:
    """The offset of each line in characters, line breaks not counted; the last item is the length of all lines."""
    return list(accumulate(map(len, lines), initial=0))


def _size(starts: list[int], first: int, last: int) -> int:
    """The number of characters of lines `first` to `last`, including line breaks."""
    return starts[last] - starts[first - 1] + last - first + 1


def _paint(symbols: list[Symbol], lines: list[str], starts: list[int]) -> list[int]:
    """The index of the symbol that owns each line (index 0 is line 1); `_BLOCK` for a line without an owner."""
    owners = [_BLOCK] * len(lines)
    for index, symbol in enumerate(symbols):
        if symbol.end_line - symbol.line < _MIN_LINES - 1 and (symbol.kind not in _ALWAYS or symbol.kind == "macro"):
            continue  # most symbols: see `_owns_chunks`
        outer = symbols[symbol.parent] if symbol.parent >= 0 else None
        size = _size(starts, outer.first_line, min(outer.end_line, len(lines))) if outer else 0
        if _owns_chunks(symbol, symbols, size):
            first, last = symbol.first_line - 1, min(symbol.end_line, len(lines))
            enclosing = owners[symbol.line - 1]
            if symbol.kind in _APART and (enclosing < 0 or symbols[enclosing].line < symbol.line):
                last = _comments_after(symbol.line, last, lines, owners)
            owners[first:last] = [index] * (last - first)
    seen = set(owners)
    for index, symbol in enumerate(symbols):
        if index not in seen and symbol.kind in _APART and symbol.line <= len(lines):
            # `interface A { f(): void }`: the members on its only line must not hide the type itself.
            inner = owners[symbol.line - 1]
            while inner >= 0 and inner != index:
                inner = symbols[inner].parent
            if inner == index:
                owners[symbol.line - 1] = index
    return owners


def _comments_after(line: int, last: int, lines: list[str], owners: list[int]) -> int:
    """The last line of the comments that follow a definition and are indented like its body."""
    margin, owner = _margin(lines[line - 1]), owners[line - 1]
    for number in range(last + 1, len(lines) + 1):
        if owners[number - 1] != owner:
            break
        if lines[number - 1].strip():
            if _margin(lines[number - 1]) <= margin:
                break
            last = number
    return last


def _runs(owners: list[int]) -> list[tuple[int, int, int]]:
    """The runs of lines with the same owner, each as (owner, first line, last line)."""
    runs: list[tuple[int, int, int]] = []
    start = 0
    for owner, group in groupby(owners):
        end = start + len(list(group))
        runs.append((owner, start + 1, end))
        start = end
    return runs


def _settle(
    blocks: list[tuple[int, int]], runs: dict[int, list[tuple[int, int]]], owners: list[int],
    symbols: list[Symbol], lines: list[str],
) -> None:  # fmt: skip
    """Drop blank blocks, and assign fragments (a stray `#endif`, a bracket) to a definition next to them.

    A short definition gets its own lines if it shares them with nothing else.
    """
    defined = {symbol.line for symbol in symbols}
    alone: dict[tuple[int, int], int] = {}  # the lines of definitions, -1 for those of several
    for index, symbol in enumerate(symbols if blocks else ()):
        span = symbol.first_line, symbol.end_line
        alone[span] = -1 if span in alone else index

    def give(owner: int, first: int, last: int) -> None:
        runs.setdefault(owner, []).append((first, last))

    remaining: list[tuple[int, int]] = []
    for start, stop in blocks:
        before = owners[start - 2] if start > 1 else _BLOCK
        after = owners[stop] if stop < len(owners) else _BLOCK
        touches_before = bool(lines[start - 1].strip())
        first, last = _trim(start, stop, lines)
        while before >= 0 and first <= last and _BRACKETS.fullmatch(lines[first - 1]):
            if lines[first - 1].strip():  # brackets that close what is around
                give(before, first, first)
                touches_before = False
            first += 1
        if after >= 0 and first <= last:
            top = _paragraph(first, last, -1, lines)
            opens = _margin(lines[last - 1]) < _margin(lines[stop])
            touches = last == stop and (top > start or not touches_before)
            near = last - top < _SCRAP_LINES and (opens or touches)
            if (near or _is_heading(top, last, lines)) and defined.isdisjoint(range(top, last + 1)):
                give(after, top, last)  # `impl T {`, `#if X`, `else:`, `# --- Parsing ---`
                first, last = _trim(first, top - 1, lines)
        if before >= 0 and touches_before and first <= last:
            end = _paragraph(first, last, 1, lines)
            if end - first < _SCRAP_LINES and defined.isdisjoint(range(first, end + 1)):
                give(before, first, end)  # `#endif`, `module_init(f);`
                first, last = _trim(end + 1, last, lines)
        if first > last:
            continue
        nearest = before if before >= 0 else after
        if nearest >= 0 and _few_words(first, last, lines) and defined.isdisjoint(range(first, last + 1)):
            give(nearest, first, last)
        elif alone.get((first, last), -1) >= 0:
            give(alone[first, last], first, last)
        else:
            remaining.append((first, last))
    blocks[:] = remaining


def _described_function(
    block: tuple[int, int], macros: list[Symbol], symbols: list[Symbol], owners: list[int], lines: list[str]
) -> int:
    """The function that the comment above a block of macros describes: the later function that uses most of the macros,
    at least half of them. `_BLOCK` for other blocks, and if the comment belongs to the first macro.
    """
    first, last = block
    own = [symbol for symbol in macros if first <= symbol.line <= last]
    if not own or own[0].first_line == first or not _COMMENT.match(lines[first - 1]):
        return _BLOCK
    others = sum(first <= symbol.line <= last for symbol in symbols) > len(own)
    if others or any(_DIRECTIVE.match(line) for line in lines[first - 1 : last]):
        return _BLOCK
    pattern = re.compile(rf"\b(?:{'|'.join(re.escape(name) for name in {symbol.name for symbol in own})})\b")
    uses: dict[int, set[str]] = {}
    for line, owner in zip(lines[last:], owners[last:], strict=True):
        if owner >= 0 and symbols[owner].kind in FUNCTION_KINDS:
            uses.setdefault(owner, set()).update(pattern.findall(line))
    best = max(uses, key=lambda owner: len(uses[owner]), default=_BLOCK)  # of equal ones the first
    return best if best >= 0 and 2 * len(uses[best]) >= len({symbol.name for symbol in own}) else _BLOCK


def _trim(first: int, last: int, lines: list[str]) -> tuple[int, int]:
    while first <= last and not lines[first - 1].strip():
        first += 1
    while last >= first and not lines[last - 1].strip():
        last -= 1
    return first, last


def _paragraph(first: int, last: int, step: int, lines: list[str]) -> int:
    """The last line of the paragraph that begins at `first`, not beyond `last`.

    With a `step` of -1, the first line of the paragraph that ends at `last`, not before `first`.
    """
    number = first if step > 0 else last
    while first <= number + step <= last and lines[number + step - 1].strip():
        number += step
    return number


def _few_words(first: int, last: int, lines: list[str]) -> bool:
    words = 0
    for number in range(first, last + 1):
        words += len(_WORDS.findall(lines[number - 1]))
        if words > _SCRAP_WORDS:
            return False
    return True


def _is_heading(first: int, last: int, lines: list[str]) -> bool:
    """Whether the lines are a short comment, possibly framed, which belongs to the definition below it."""
    return _few_words(first, last, lines) and not _CLOSING.match(lines[first - 1])


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def _has_words(text: str) -> bool:
    return any(c.isalnum() for c in text)


def _members(symbols: list[Symbol], runs: dict[int, list[tuple[int, int]]]) -> dict[int, list[int]]:
    members: dict[int, list[int]] = {}
    for index, symbol in enumerate(symbols):
        if symbol.parent >= 0 and index in runs:
            members.setdefault(symbol.parent, []).append(index)
    return members


def _outline(symbols: list[Symbol], members: list[int] | tuple[()]) -> str:
    out: list[str] = []
    size = 0
    for index in members:
        size += len(symbols[index].signature) + 1
        if size > OUTLINE_CHARS:
            break
        out.append(symbols[index].signature)
    return "\n".join(out)


def _pieces(
    owner: int, parts: list[tuple[int, int]], lines: list[str], starts: list[int], extra: str,
    depths: Callable[[], dict[int, int]],
) -> list[Chunk]:  # fmt: skip
    """Cut an owner's lines (`parts`) into chunks of about `MAX_CHARS`; `depths` is called only for large owners."""
    trimmed = [_trim(first, last, lines) for first, last in sorted(parts)]
    trimmed = [(first, last) for first, last in trimmed if first <= last]
    remaining = sum(_size(starts, first, last) for first, last in trimmed)
    if remaining <= MAX_CHARS:
        text = "\n".join(["\n".join(lines[first - 1 : last]) for first, last in trimmed])
        return _chunk(owner, trimmed[0][0], trimmed[-1][1], text, extra) if trimmed else []
    numbers = [number for first, last in trimmed for number in range(first, last + 1)]
    breaks = depths()
    chunks: list[Chunk] = []
    start = 0
    while start < len(numbers):
        end = _cut(numbers, start, lines, breaks, remaining)
        if numbers[end - 1] - numbers[start] == end - start - 1:
            remaining -= _size(starts, numbers[start], numbers[end - 1])
        else:
            remaining -= sum(len(lines[number - 1]) + 1 for number in numbers[start:end])
        last = end
        while last > start and not lines[numbers[last - 1] - 1].strip():
            last -= 1
        text = "\n".join(lines[number - 1] for number in numbers[start:last])
        if last > start:
            chunks.extend(_chunk(owner, numbers[start], numbers[last - 1], text, extra if not start else ""))
        start = end
    return chunks


def _chunk(owner: int, first: int, last: int, text: str, extra: str) -> list[Chunk]:
    if owner == _BLOCK and not _has_words(text):
        return []
    return [Chunk(owner, first, last, f"{text}\n{extra}" if extra else text)]


def _cut(numbers: list[int], start: int, lines: list[str], depths: dict[int, int], remaining: int) -> int:
    """The index in `numbers` where the piece from `start` ends: the outermost statement boundary in its second half.

    `remaining` is the number of characters from `start` on. The last piece gets at least `_MIN_TAIL` characters.
    """
    if remaining <= MAX_CHARS:
        return len(numbers)
    room = min(MAX_CHARS, remaining - _MIN_TAIL)
    size, end = 0, start
    while end < len(numbers) and (size + len(lines[numbers[end] - 1]) < room or end == start):
        size += len(lines[numbers[end] - 1]) + 1
        end += 1
    if end == len(numbers):
        return end
    best, best_rank = end, 1 << 30
    for index in range(end, start + max(1, (end - start) // 2) - 1, -1):
        number = numbers[index]
        rank = 2 * depths.get(number, 1000)
        if rank <= best_rank:
            rank -= not lines[number - 2].strip()
            if rank < best_rank:
                best, best_rank = index, rank
                if rank < 0:
                    break  # no boundary is better than a blank line of the outermost level
    return best


def _break_depths(node: Node, row: Callable[[int], int]) -> dict[int, int]:
    """Maps each line to the tree depth of the outermost statement that starts on it. Only large nodes are entered."""
    depths: dict[int, int] = {}
    stack = [(node, 0)]
    while stack:
        current, depth = stack.pop()
        for child in current.children:
            if child.is_named:
                line = row(child.start_byte) + 1
                earlier = depths.get(line)
                depths[line] = depth if earlier is None else min(earlier, depth)
            if child.end_byte - child.start_byte > MAX_CHARS // 2:
                stack.append((child, depth + 1))
    return depths
