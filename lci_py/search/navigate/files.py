"""`lci files`: finds indexed files by parts of their paths."""

from __future__ import annotations

import os.path
import re
from typing import TYPE_CHECKING, NamedTuple

from lci_py.errors import IndexError_
from lci_py.index.shards.filters import languages, path_test
from lci_py.search.answer.results import index_info
from lci_py.search.suggest import similar_paths
from lci_py.source.repository.files import is_aside
from lci_py.source.repository.workspace import FOLDER
from lci_py.source.syntax.languages import is_test
from lci_py.types.files import FilesAnswer, FilesRequest, IndexedFile
from lci_py.types.record import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lci_py.search.snapshot import Snapshot

#: How a part of the pattern can match a path, best first. In the last rank only its letters occur, in order.
_NAME, _NAME_START, _NAME_WORD, _NAME_PART, _FOLDER, _FOLDER_WORD, _PATH_PART, _LETTERS = range(8)
_GLOB = re.compile(r"[*?\[]")


class _Fit(NamedTuple):
    """The quality of a match of a pattern with a path."""

    rank: int  # the sum of those of its parts
    spread: int  # of letters that do not stand together: how many columns they take, first to last; else 0
    matches: tuple[tuple[int, int], ...]


def files(snapshot: Snapshot, request: FilesRequest) -> FilesAnswer:
    """The indexed files that match a pattern and pass the filters.

    Every part of the pattern must occur in the path, in any order; case matters if a part has a capital letter. If no
    path has all parts, their letters need only occur in order, as in fzf. Better matches come first, then sources
    before tests and examples, then files that are used more.

    Raises:
        BadGlobError: A path filter, or the pattern, is no glob.
    """
    glob = _GLOB.search(request.pattern) is not None
    filters = request.filters
    if glob:
        filters = replace(filters, path=(*filters.path, request.pattern))
    on_path, langs = path_test(filters), languages(filters)
    rows = snapshot.symbols.per_file("path, language")
    paths = [path for path, _ in rows]
    fits: dict[int, _Fit] = {}
    fit = _fitting("" if glob else request.pattern)
    for number, (path, language) in enumerate(rows):
        if (not langs or language in langs) and (on_path is None or on_path(path)) and (match := fit(path)):
            fits[number] = match
    if any(not match.spread for match in fits.values()):
        fits = {number: match for number, match in fits.items() if not match.spread}
    gone = snapshot.freshness.sweep().gone
    numbers = [number for number in fits if paths[number] not in gone]
    uses = _uses(snapshot) if numbers else None

    def order(number: int) -> tuple[object, ...]:
        path, match = paths[number], fits[number]
        aside = is_test(path) or is_aside(path)
        return match.rank, match.spread, aside, -(uses[number] if uses else 0), len(path) if match.matches else 0, path

    numbers.sort(key=order)
    end = None if request.limit is None else request.offset + request.limit
    results = tuple(
        IndexedFile(path, language, uses[number] if uses else None, fits[number].matches)
        for number in numbers[request.offset : end]
        for path, language in rows[number : number + 1]
    )
    near = () if numbers or glob or not request.pattern else tuple(similar_paths(request.pattern, paths))
    return FilesAnswer(request, results, len(numbers), index_info(snapshot), near)


def _fitting(pattern: str) -> Callable[[str], _Fit | None]:
    """A function that rates how well a path matches the pattern; it returns None if the path does not match."""
    parts = [_part(text) for text in pattern.split()]

    def fit(path: str) -> _Fit | None:
        ranks, spreads = 0, 0
        matches: list[tuple[int, int]] = []
        folded, name = path.lower(), path.rfind("/") + 1
        for part in parts:
            rating = part(path, folded, name)
            if rating is None:
                return None
            ranks, spreads = ranks + rating.rank, spreads + rating.spread
            matches += rating.matches
        return _Fit(ranks, spreads, tuple(sorted(matches)))

    return fit


def _part(text: str) -> Callable[[str, str, int], _Fit | None]:
    """A function that rates a match of one part: from the path, its lower case, and the start of the file name."""
    exact = text != text.lower()
    letters = re.compile(".*?".join(f"({re.escape(char)})" for char in text), 0 if exact else re.IGNORECASE)

    def fit(path: str, folded: str, name: int) -> _Fit | None:
        where = path if exact or len(folded) != len(path) else folded
        best: tuple[int, int] | None = None
        start = where.find(text)
        while start >= 0:
            best = min(best or (_LETTERS, 0), (_rank(path, start, start + len(text), name), start))
            start = where.find(text, start + 1)
        if best is not None:
            return _Fit(best[0], 0, ((best[1], best[1] + len(text)),))
        # The folder counts only if the file's name does not match: people remember names.
        match = letters.search(path, name) or letters.search(path)
        if match is None:
            return None
        starts = tuple((match.start(group), match.end(group)) for group in range(1, len(text) + 1))
        return _Fit(_LETTERS, match.end() - match.start(), starts)

    return fit


def _rank(path: str, start: int, end: int, name: int) -> int:
    is_start = start == 0 or not path[start - 1].isalnum() or (path[start].isupper() and path[start - 1].islower())
    if start < name:
        if end > name:
            return _NAME_START if is_start else _NAME_PART  # of a folder and a name: src/ma
        whole = is_start and path[end : end + 1] in ("/", "")
        return _FOLDER if whole else _FOLDER_WORD if is_start else _PATH_PART
    if start == name:
        stem = os.path.splitext(path[name:])[0]
        return _NAME if end - start in (len(stem), len(path) - name) else _NAME_START
    return _NAME_WORD if is_start else _NAME_PART


def _uses(snapshot: Snapshot) -> Sequence[int] | None:
    """For each file, the number of calls and imports from other files; None while there is no graph."""
    if snapshot.root.parent.name == FOLDER:
        return None  # of a workspace, a large repository would stand before the others
    import numpy as np

    try:
        graph = snapshot.graph
    except IndexError_:
        return None  # the order is by name, and `uses` is absent
    symbols = np.repeat(np.arange(graph.n_files), np.diff(graph.first_symbol))
    file_of = np.concatenate([symbols, np.arange(graph.n_files), graph.lambda_file])
    source, target = file_of[graph.source], file_of[graph.target]
    counted: list[int] = np.bincount(target[source != target], minlength=graph.n_files).tolist()
    return counted
