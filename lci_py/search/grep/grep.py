"""Finds the lines that match a pattern, each with its enclosing definition, in the order of `rg --sort path`.

The index selects the files to read: files that have the words that the pattern requires, files that have changed since
they were indexed, and files whose words are only partly indexed. Matches come from the current files.
"""

from __future__ import annotations

import os
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from lci_py.search.answer.results import index_info
from lci_py.search.grep.matcher import Pattern, compile_pattern, lines, other_lines
from lci_py.types.grep import EnclosingDefinition, FileLines, GrepAnswer, GrepRequest, Line, Tally
from lci_py.types.record import NamedTuple
from lci_py.types.search import BLOCK_KIND, Filters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lci_py.index.shards.symbol_queries import Span
    from lci_py.search.snapshot import Snapshot

_BOM = b"\xef\xbb\xbf"
#: Bytes that ripgrep reads at a time: it leaves a file at the first block that has a NUL.
_BLOCK = 1 << 16


def grep(snapshot: Snapshot, request: GrepRequest) -> GrepAnswer:
    """Prepare a search; the files are read while the caller iterates over the answer.

    Raises:
        BadPatternError: The pattern is no regular expression.
        BadGlobError: A path filter is not a glob.
    """
    pattern = compile_pattern(request)
    if request.invert:
        pattern = pattern._replace(clauses=())  # any file may have a line that does not match
    search = _Search(snapshot, request, pattern)
    return GrepAnswer(request, search.run(search.candidates()), search.tally)


class _File(NamedTuple):
    path: str
    number: int  # -1 if it is not indexed
    stale: bool


class _Search:
    def __init__(self, snapshot: Snapshot, request: GrepRequest, pattern: Pattern) -> None:
        self._snapshot = snapshot
        self._request = request
        self._pattern = pattern
        self.tally = Tally(index_info(snapshot))

    def run(self, files: Sequence[_File]) -> Iterator[FileLines]:
        """The matches of each file that has any, up to the request's limit."""
        request, tally = self._request, self.tally
        for file in files:
            room = None if request.limit is None else max(0, request.limit - tally.shown)
            hits = self._in_file(file, room)
            if hits is None:
                continue
            tally.files += 1
            tally.lines += hits.matching
            if room != 0:
                count = hits.matching if request.lines == "text" else 1
                tally.shown += count if room is None else min(count, room)
                yield hits
        tally.info = index_info(self._snapshot)

    # --- which files --------------------------------------------------------------------------------------------

    def candidates(self) -> list[_File]:
        """The files that may contain a match and pass the filters, by path."""
        from lci_py.index.shards.filters import languages, path_test
        from lci_py.index.shards.word_files import words_in

        snapshot, filters, pattern = self._snapshot, self._request.filters, self._pattern
        paths, swept = snapshot.files.living_paths(), snapshot.freshness.sweep()
        texts = [[words_in(text, whole=pattern.whole_words) for text in clause] for clause in pattern.clauses]
        numbers = snapshot.word_files.having(texts, folds=pattern.folds)
        stale = set(swept.stale)
        partly = set(snapshot.files.limited_paths()) if numbers is not None else set()
        pool = [
            _File(path, number, path in stale)
            for number, path in enumerate(paths)
            if (numbers is None or number in numbers or path in stale or path in partly) and path not in swept.gone
        ]
        if new := stale.difference(paths):
            pool += [_File(path, -1, True) for path in sorted(new) if self._worth_reading(path)]
        if (passes := path_test(filters)) is not None:
            pool = [file for file in pool if passes(file.path)]
        if allowed_languages := languages(filters):
            pool = [file for file in pool if self._language(file) in allowed_languages]
        # Names are compared folder by folder: what is in `a` comes before `a.txt`.
        pool.sort(key=lambda file: os.fsencode(file.path).split(b"/"))
        return pool

    def _worth_reading(self, path: str) -> bool:
        """Whether the next index run would include a new file, so that it is searched as well."""
        from lci_py.source.repository.content import content_reason

        data = self._snapshot.reader.read(path)
        return data is not None and content_reason(path, data) is None

    def _language(self, file: _File) -> str:
        if file.number >= 0:
            return self._languages[file.number]
        from lci_py.source.syntax.languages import HEAD_BYTES, detect

        return detect(file.path, (self._snapshot.reader.read(file.path) or b"")[:HEAD_BYTES])

    @cached_property
    def _languages(self) -> list[str]:
        return [language for (language,) in self._snapshot.symbols.per_file("language")]

    # --- one file -----------------------------------------------------------------------------------------------

    def _in_file(self, file: _File, room: int | None) -> FileLines | None:
        """The matches in a file, with the text of at most `room` lines (None: of all); None if there are no matches."""
        data = self._snapshot.reader.read(file.path)
        if data is None:
            return None
        data = data.removeprefix(_BOM)
        if (nul := data.find(b"\0")) >= 0:  # it is not text, from the block with the NUL on
            data = data[: data.rfind(b"\n", 0, nul - nul % _BLOCK) + 1]
        request = self._request
        hits = lines(self._pattern.matcher, data)
        if request.invert:
            hits = other_lines(data, hits)
        if self._narrow:
            hits = iter(self._lines_that_pass(file, data, list(hits)))
        if request.max_count is not None:
            hits = islice(hits, request.max_count)
        if request.lines == "none":
            return FileLines(file.path, "", file.stale, 1, ()) if next(hits, None) is not None else None
        if request.lines == "count":
            spans = self._pattern.matcher.spans
            count = sum(len(spans(data, hit)) if request.only else 1 for hit in hits)
            return FileLines(file.path, "", file.stale, count, ()) if count else None
        byte_ranges = list(hits)
        if not byte_ranges:
            return None
        language = self._language(file) if request.enclosing else ""
        texts = tuple(self._lines(file, data, byte_ranges[:room])) if room != 0 else ()
        return FileLines(file.path, language, file.stale, len(byte_ranges), texts)

    def _lines(self, file: _File, data: bytes, hits: Sequence[tuple[int, int]]) -> Iterator[Line]:
        numbers = _numbers(data, hits)
        enclosing = self._enclosing_spans(file, numbers) if self._request.enclosing else {}
        before, after = self._request.context
        only = self._request.only
        spans = self._pattern.matcher.spans if (self._request.marks or only) and not self._request.invert else None
        rows = data.split(b"\n") if before or after else []
        if rows and not rows[-1]:
            rows.pop()
        last = 0
        for at, (number, hit) in enumerate(zip(numbers, hits, strict=True)):
            for other in range(max(last + 1, number - before), number) if rows else ():
                yield Line(other, _text(rows[other - 1]), (), False, None)
            span = enclosing.get(number)
            inside = None if span is None else EnclosingDefinition(*span[1:])
            text = _text(data[hit[0] : hit[1]])
            marks = _in_text(text, data, hit[0], spans(data, hit)) if spans else ()
            if only:
                yield from (Line(number, text[a:b], ((0, b - a),), True, inside) for a, b in marks)
            else:
                yield Line(number, text, marks, True, inside)
            following = numbers[at + 1] if at + 1 < len(numbers) else len(rows) + 1
            last = number
            for other in range(number + 1, min(number + after + 1, following)) if rows else ():
                yield Line(other, _text(rows[other - 1]), (), False, None)
                last = other

    # --- definitions --------------------------------------------------------------------------------------------

    @property
    def _narrow(self) -> bool:
        filters = self._request.filters
        return bool(filters.kind or filters.name or filters.no_tests)

    def _enclosing_spans(self, file: _File, numbers: Sequence[int]) -> dict[int, Span]:
        if file.number < 0 or self._snapshot.freshness.changed(file.path):
            return {}  # the lines of a changed file are not those of the index
        from lci_py.index.shards.symbol_queries import definitions_around

        return definitions_around(self._snapshot.symbols, file.number, numbers)

    def _lines_that_pass(self, file: _File, data: bytes, hits: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """The byte ranges in `hits` (lines) whose enclosing definition passes the filters."""
        from lci_py.index.shards.symbol_queries import passing

        if not hits:
            return []
        filters = self._request.filters
        numbers = _numbers(data, hits)
        enclosing = self._enclosing_spans(file, numbers)
        own = Filters(kind=filters.kind, name=filters.name, no_tests=filters.no_tests)
        good = passing(self._snapshot.symbols, sorted({span.number for span in enclosing.values()}), own)
        blocks = BLOCK_KIND in (kind.lower() for kind in filters.kind)
        loose = not filters.name and ((blocks and file.number >= 0) or not filters.kind)
        return [
            hit
            for number, hit in zip(numbers, hits, strict=True)
            if (enclosing[number].number in good if number in enclosing else loose)
        ]


def _numbers(data: bytes, hits: Sequence[tuple[int, int]]) -> list[int]:
    """The line numbers of the byte ranges in `hits`, ascending."""
    numbers, number, at = [], 1, 0
    for start, _ in hits:
        number += data.count(b"\n", at, start)
        at = start
        numbers.append(number)
    return numbers


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode("utf-8", "replace")


def _in_text(text: str, data: bytes, start: int, spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Converts byte spans of the data into character spans of the line `text`, which begins at the byte `start`."""
    if not text.isascii():
        spans = [(start + _characters(data[start:a]), start + _characters(data[start:b])) for a, b in spans]
    return tuple((min(a - start, len(text)), min(b - start, len(text))) for a, b in spans) or ((0, 0),)


def _characters(before: bytes) -> int:
    return len(before.decode("utf-8", "replace"))
