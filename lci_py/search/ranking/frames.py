"""Finds locations in a query: frames of a stack trace, `FILE:LINE` of compilers and editors, symbols with offsets.

A frame has a line and mostly a function. The line may be that of another version of the file, so the function decides
where both are known (docs/ranking.md#names-and-verbatim-text).
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from lci_py.source.text.patterns import lazily
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping, Sequence

    from lci_py.index.shards.symbols import Row
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Filters

#: Maximum number of locations read per text, of frames that count, and the factor of each further frame.
_MOST_PLACES, _MOST_FRAMES, _LESS = 200, 12, 0.4
#: Files that may be meant by a frame; with more, it says nothing.
_MOST_FILES = 3

#: A place in a file: Python's, then `FILE:LINE` (C#: `FILE:line LINE`), then PHP's. The text is anybody's: a run of
#: characters begins only where none is before it, so that a search takes linear time.
_PLACE = lazily(
    r"File \"(?P<quoted>[^\"\n]{1,500})\", line (?P<quoted_line>\d{1,7})"
    r"|(?<![\w./\\+-])(?P<path>[\w./\\+-]+)(?::(?:line )?(?P<line>\d{1,7})\b(?!/)|\((?P<bracketed>\d{1,7})\)(?=:))"
)
#: The end of a path that names a file.
_FILE = lazily(r"\w\.[A-Za-z]\w{0,7}$")
#: A symbol of the kernel or of a library, with the offset in it: `tcp_v4_rcv+0x1a5/0x2b0`.
_OFFSET = lazily(r"(?<![\w.])([A-Za-z_]\w+)(?:\.\w+)*\+0x[0-9a-f]+")
#: Text between a location and its function's name: after it in Python, Ruby, Elixir and PHP, else before it.
_BEHIND = lazily(r"(?:, in |: in |:in [`'](?:block in |rescue in )?|: (?=[\w?!\\]+[.>:#(/-]))([\w.#:>?!\\-]+)")
_BEFORE = lazily(
    r"(?<![\w.$:#<>-])([\w.$:#<>-]+)\s*(?:(?:\[as \w+\]\s*)?\(|(?:\([^()]*\)\s*){1,2}(?:at|in) (?:[A-Za-z]:)?|@)$"
)
#: The beginning of an address, whose path the place has.
_ADDRESS = lazily(r"\b(?:file|https?|webpack|webpack-internal|node):(?://[\w.:-]*)?$")
#: A line that has only a location; its function is in the line before.
_BARE = lazily(r"^\s*(?:at |--> |in )?$")
_LAST_NAME = lazily(r"[A-Za-z_$][\w$]*(?=[^A-Za-z_$]*$)")
#: The arguments, closures and generic parameters at the end of a frame.
_TRAILING = lazily(r"(?:\([^()]*\)|::\{\{[\w#]+\}\}|::h[0-9a-f]{16}|<[^<>]*>|\.func\d+[.\d]*|\s)+$")
#: Characters before a place, and of the line above it, that are read for its function.
_BEFORE_TEXT, _ABOVE_TEXT = 200, 500
#: Starts the frames of the causing exception.
_CAUSE = "Caused by:"


class Frame(NamedTuple):
    """A location in a text. `path` may be from any machine; `name` is the function's, or empty."""

    path: str
    line: int
    name: str


class NamedDefinition(NamedTuple):
    """A definition that a text names, or has a frame of; `worth` is in (0, 1]."""

    row: Row
    worth: float


def frames_of(text: str) -> list[Frame]:
    """The frames of a text, the deepest first: Python prints it last, others first, Java one cause at a time."""
    frames: list[Frame] = []
    for part in reversed(text.split(_CAUSE)):
        own = list(_PLACE.finditer(part))
        if 'File "' in part:
            own.reverse()
        frames += _frames(part, own[:_MOST_PLACES])
    return list(dict.fromkeys(frames))[:_MOST_PLACES]


def _frames(text: str, matches: Sequence[re.Match[str]]) -> Iterator[Frame]:
    for match in matches:
        path = (match["quoted"] or match["path"]).replace("\\", "/")
        if not _FILE.search(path):
            continue
        start = text.rfind("\n", 0, match.start()) + 1
        before = _ADDRESS.sub("", text[max(start, match.start() - _BEFORE_TEXT) : match.start()])
        name = ""
        if behind := _BEHIND.match(text, match.end()):
            name = behind[1]
        elif there := _BEFORE.search(before):
            name = there[1]
            if "/" not in path and name.count(".") > 1:
                # Java names the package, and the file without its folder.
                path = "/".join([*name.split(".")[:-2], path])
        elif start and _BARE.match(before):
            above = text[max(text.rfind("\n", 0, start - 1) + 1, start - _ABOVE_TEXT) : start - 1]
            name = "" if _PLACE.search(above) else _TRAILING.sub("", above)
        last = _LAST_NAME.search(name)
        yield Frame(path, int(match["quoted_line"] or match["line"] or match["bracketed"]), last[0] if last else "")


def places(snapshot: Snapshot, text: str, filters: Filters, *, certain: bool) -> Iterator[NamedDefinition]:
    """The definitions at the frames of a text, the deepest first.

    Args:
        filters: Constrain the definitions.
        certain: Whether a frame must match a file by more than its name, as in a text that is not about one place.
    """
    worth, whole = 1.0, snapshot.whole
    frames = frames_of(text)
    files = _files(snapshot, {frame.path for frame in frames})
    frames = [frame for frame in frames if frame.path in files][:_MOST_FRAMES]
    for frame in frames:
        rows = []
        for file in files[frame.path]:
            row, named = _definition_at(snapshot, file, frame, filters)
            if row is not None and (named or not certain or "/" in frame.path):
                rows.append(row)
        yield from (NamedDefinition(row, worth) for row in rows)
        worth *= _LESS if whole.total(frame, bool(rows)) else 1
    for name in list(dict.fromkeys(match[1] for match in _OFFSET.finditer(text)))[:_MOST_FRAMES]:
        rows = snapshot.symbols.definitions_named(name, filters)
        count = whole.share(("called", name), ([1.0] * len(rows),), _MOST_FILES)
        yield from (NamedDefinition(row, worth) for row in rows[:count])
        worth *= _LESS if whole.total(("called", name), bool(rows)) else 1


def _definition_at(snapshot: Snapshot, file: int, frame: Frame, filters: Filters) -> tuple[Row | None, bool]:
    """The definition for a frame in a file: the innermost definition or block at its line or, if that has another name,
    the nearest definition of the frame's name. And whether it has the frame's name.
    """
    from lci_py.index.shards.symbol_queries import definitions_around, passing
    from lci_py.index.shards.symbols import narrowest

    symbols = snapshot.symbols
    span = definitions_around(symbols, file, [frame.line]).get(frame.line)
    there = None if span is None else symbols.symbol_rows([span.number])[span.number]
    if frame.name and (there is None or there["symbol"].rpartition(".")[2] != frame.name):
        own = [row for row in symbols.definitions_named(frame.name, filters) if row["file_number"] == file]
        if own:
            return min(own, key=lambda row: abs(row["line"] - frame.line)), True
    if there is not None and span is not None:
        return (there if not filters or passing(symbols, [span.number], filters) else None), bool(frame.name)
    unit = None if filters else narrowest(symbols.chunks_of_file(file), frame.line)
    return (None if unit is None else symbols.result_rows([unit])[unit]), False


def _files(snapshot: Snapshot, paths: set[str]) -> Mapping[str, Sequence[int]]:
    """For each path (from any machine) the files that share the longest end with it; none if they are many."""
    if not paths:
        return {}
    wanted: dict[str, list[tuple[str, list[str]]]] = {}
    for path in paths:
        parts = [part for part in path.split("/") if part not in ("", ".", "..")]
        wanted.setdefault(parts[-1], []).append((path, parts))
    best: dict[str, tuple[int, list[int]]] = {}
    for number, own in enumerate(snapshot.files.living_paths()):
        for path, parts in wanted.get(own.rpartition("/")[2], ()):
            same = common_end(own.split("/"), parts)
            if same < min(2, len(parts), own.count("/") + 1):
                continue  # another folder's file of this name
            most, files = best.get(path, (0, []))
            if same >= most:
                best[path] = (same, [*files, number] if same == most else [number])
    mine = {path: (most, len(files)) for path, (most, files) in best.items()}
    nearest = snapshot.whole.nearest("frames", mine)
    snapshot.whole.settle()
    return {
        path: best[path][1] if path in mine and mine[path][0] == most else ()
        for path, (most, count) in nearest.items()
        if count <= _MOST_FILES
    }


def common_end(first: Sequence[str], second: Sequence[str]) -> int:
    """How many segments two paths share at their ends."""
    pairs = zip(reversed(first), reversed(second), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
