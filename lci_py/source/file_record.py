"""One file in, everything the shards need out. Runs in worker processes; imports neither numpy nor an encoder."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from lci_py.source.extract.extract import definitions, extract, extract_text
from lci_py.source.extract.roles import has_mark
from lci_py.source.syntax.languages import prepare
from lci_py.source.syntax.limits import DEFAULTS, WORKER_BYTES, Limits, OutOfTime, last_resort, time_limit
from lci_py.source.text.digest import digest, lines_digest
from lci_py.source.text.words import WORD
from lci_py.types.source import Extract, FileEntry

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One file's extraction with its chunks as bags of words.

    `words` holds the file's distinct words; a chunk's bag is two int32 arrays: positions in `words`, and counts.
    """

    path: str
    size: int
    mtime_ns: int
    sha: str  # hex digest of the content
    lines: int
    extract: Extract  # its chunks' texts are empty, unless they were asked for
    words: tuple[str, ...]
    bags: tuple[tuple[bytes, bytes], ...]
    digests: tuple[bytes, ...]  # of each chunk's own lines, 8 bytes
    generated: bool = False  # its first lines say that a program wrote it

    @property
    def limit(self) -> str:
        """Which of `LIMIT_REASONS` keeps the record from being complete, "" if none."""
        return self.extract.limit


def _digests(data: bytes, found: Extract) -> tuple[bytes, ...]:
    lines = data.split(b"\n")
    return tuple(lines_digest(lines, chunk.line, chunk.end_line) for chunk in found.chunks)


def process_data(
    entry: FileEntry,
    data: bytes,
    language: str,
    *,
    texts: bool = False,
    limits: Limits = DEFAULTS,
    flags: tuple[str, ...] = (),
    unparsable: str = "",
) -> FileRecord:
    """Parse, chunk and count a file's content. Arguments as in `process_file` and `extract`."""
    if not unparsable:

        def whole() -> FileRecord:
            return _record(entry, data, extract(entry.path, data, language, limits, flags), texts)

        found = _bounded(language, limits, whole)
        if not isinstance(found, str):
            return found
        unparsable = found
    return _record(entry, data, extract_text(data, language, limits, unparsable), texts)


def define_data(
    path: str,
    data: bytes,
    language: str,
    *,
    limits: Limits = DEFAULTS,
    flags: tuple[str, ...] = (),
    unparsable: str = "",
) -> Extract:
    """The definitions alone of a file's content. Arguments as in `process_data`."""
    if unparsable:
        return Extract(language, "", limit=unparsable)
    found = _bounded(language, limits, lambda: definitions(path, data, language, limits, flags))
    return Extract(language, "", limit=found) if isinstance(found, str) else found


def _bounded(language: str, limits: Limits, work: Callable[[], _T]) -> _T | str:
    """What `work` makes of a file, or why it was given up."""
    try:
        prepare(language)  # loading a grammar is no fault of the file's
        seconds = limits.max_file_seconds
        with last_resort(seconds, WORKER_BYTES), time_limit(seconds):
            return work()
    except OutOfTime:
        return "parser_timeout"
    except Exception:  # one file that a grammar or this program trips over must not cost the others their index
        return "parser_crash"


def _record(entry: FileEntry, data: bytes, found: Extract, texts: bool) -> FileRecord:
    words, bags = count_words(chunk.text for chunk in found.chunks)
    return FileRecord(
        path=entry.path,
        size=entry.size,
        mtime_ns=entry.mtime_ns,
        sha=digest(data),
        lines=data.count(b"\n") + 1,
        extract=found if texts else replace(found, chunks=tuple(replace(chunk, text="") for chunk in found.chunks)),
        words=words,
        bags=bags,
        digests=_digests(data, found),
        generated=has_mark(data),
    )


def count_words(texts: Iterable[str]) -> tuple[tuple[str, ...], tuple[tuple[bytes, bytes], ...]]:
    """The distinct words of some texts, and each text's bag as `FileRecord` holds it."""
    positions: dict[str, int] = {}
    bags = []
    for text in texts:
        counts = Counter(WORD.findall(text))
        ids = array("i", [positions.setdefault(word, len(positions)) for word in counts])
        bags.append((ids.tobytes(), array("i", counts.values()).tobytes()))
    return tuple(positions), tuple(bags)
