"""Turns one file's content into the record that the index needs. Runs in worker processes: no numpy, no encoder."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import TypeVar

from lci_py.source.extract.extract import definitions, extract_stages, extract_text
from lci_py.source.extract.roles import has_mark
from lci_py.source.syntax.languages import QueryPart, prepare
from lci_py.source.syntax.limits import DEFAULTS, WORKER_BYTES, Limits, OutOfTime, last_resort, time_limit
from lci_py.source.text import digest, lines_digest
from lci_py.source.text.words import WORD
from lci_py.types.record import replace
from lci_py.types.source import Chunk, Extract, FileEntry, FileRecord as FileRecord

_T = TypeVar("_T")


def _digests(data: bytes, extract: Extract) -> bytes:
    lines = data.split(b"\n")
    return b"".join([lines_digest(lines, chunk.line, chunk.end_line) for chunk in extract.chunks])


def process_stages(
    entry: FileEntry,
    data: bytes,
    language: str,
    *,
    texts: bool = False,
    limits: Limits = DEFAULTS,
    flags: tuple[str, ...] = (),
    unparsable: str = "",
    part: QueryPart = QueryPart.WHOLE,
) -> Iterator[FileRecord]:
    """Make the records of one file: parse its content, divide it into chunks, and count the words of each chunk.

    The last record is complete. With the `part` `DEFINITIONS`, the record of the first stage of `extract_stages` comes
    before it, and the limits hold for each stage. A file that exceeds them in its first stage is kept as text; if it
    exceeds them in the second, the last record is that of the first stage with `limit` set.

    Args:
        entry: The file, as the walk found it.
        language: A name from grammars/, or `text`.
        texts: Keep the chunks' texts, for a model that reads them; together they are as large as the repository.
        limits: Limits on the cost of one file.
        flags: Names of predicates that test a feature flag.
        unparsable: Why the file must not be parsed ("parser_crash", "parser_timeout"): it is kept as text.
        part: As for `extract_stages`.
    """
    if not unparsable:
        records = _records(entry, data, extract_stages(entry.path, data, language, limits, flags, part=part), texts)
        stages: list[FileRecord] = []

        def advance() -> None:
            for record in records:
                stages.append(record)
                if part is QueryPart.DEFINITIONS and len(stages) == 1:
                    return

        limit = _run_bounded(language, limits, part, advance)
        if stages and part is QueryPart.DEFINITIONS:
            yield stages[0]
            limit = _run_bounded(language, limits, QueryPart.USES, advance)
        if stages:
            yield replace(stages[0], extract=replace(stages[0].extract, limit=limit)) if limit else stages[-1]
            return
        unparsable = limit or ""
    yield _record(entry, data, extract_text(data, language, limits, unparsable), texts)


def define_data(
    path: str,
    data: bytes,
    language: str,
    *,
    limits: Limits = DEFAULTS,
    flags: tuple[str, ...] = (),
    unparsable: str = "",
) -> Extract:
    """Extract only the definitions of a file. The arguments are those of `process_stages`."""
    if unparsable:
        return Extract(language, "", limit=unparsable)
    part = QueryPart.DEFINITIONS
    result = _run_bounded(language, limits, part, lambda: definitions(path, data, language, limits, flags))
    return Extract(language, "", limit=result) if isinstance(result, str) else result


def _records(entry: FileEntry, data: bytes, stages: Iterator[Extract], texts: bool) -> Iterator[FileRecord]:
    first = _record(entry, data, next(stages), texts)
    yield first
    for whole in stages:
        yield replace(first, extract=replace(whole, chunks=first.extract.chunks))


def _run_bounded(language: str, limits: Limits, part: QueryPart, work: Callable[[], _T]) -> _T | str:
    """The result of `work`; or "parser_timeout" if it takes too long, "parser_crash" if it raises an exception."""
    try:
        prepare(language, part)  # loading a grammar does not count as the file's time
        seconds = limits.max_file_seconds
        with last_resort(seconds, WORKER_BYTES), time_limit(seconds):
            return work()
    except OutOfTime:
        return "parser_timeout"
    except Exception:  # an error in one file must not keep the other files from being indexed
        return "parser_crash"


def _record(entry: FileEntry, data: bytes, extract: Extract, texts: bool) -> FileRecord:
    words, sizes, places, counts = count_words([chunk.text for chunk in extract.chunks])
    return FileRecord(
        path=entry.path,
        size=entry.size,
        mtime_ns=entry.mtime_ns,
        sha=digest(data),
        lines=data.count(b"\n") + 1,
        extract=extract if texts else replace(extract, chunks=tuple([Chunk(*c[:3], "") for c in extract.chunks])),
        words=words,
        bag_sizes=sizes,
        bag_words=places,
        bag_counts=counts,
        digests=_digests(data, extract),
        generated=has_mark(data),
    )


#: Makes blanks of all ASCII characters but those of words.
_BLANKED = bytes(byte if byte < 128 and WORD.match(chr(byte)) else 32 for byte in range(256))


def count_words(texts: Iterable[str]) -> tuple[tuple[str, ...], tuple[int, ...], bytes, bytes]:
    """(distinct words, sizes of the texts' bags, positions in the words, counts), as `FileRecord` has them."""
    number_of: defaultdict[bytes, int] = defaultdict(count().__next__)  # a new word has the next number
    sizes, places, numbers = [], array("i"), array("i")
    for text in texts:
        # As `WORD` finds them, and several times faster.
        plain = text.isascii()
        tokens = text.encode().translate(_BLANKED).split() if plain else [word.encode() for word in WORD.findall(text)]
        counts = Counter(tokens)
        sizes.append(len(counts))
        places.fromlist(list(map(number_of.__getitem__, counts)))
        numbers.fromlist(list(counts.values()))
    words = tuple([word.decode() for word in number_of])
    return words, tuple(sizes), places.tobytes(), numbers.tobytes()
