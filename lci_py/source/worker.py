"""One file in, everything the shards need out. Runs in worker processes; imports neither numpy nor an encoder."""

from __future__ import annotations

import os
import signal
from array import array
from collections import Counter
from dataclasses import dataclass, replace

from lci_py.source.digest import digest, lines_digest
from lci_py.source.extract import extract
from lci_py.source.languages import HEAD_BYTES, detect
from lci_py.source.walk import content_reason
from lci_py.source.words import WORD
from lci_py.types import Extract, FileEntry


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
    skip: str  # reason when the content rules the file out, else ""
    extract: Extract  # its chunks' texts are empty
    words: tuple[str, ...]
    bags: tuple[tuple[bytes, bytes], ...]
    digests: tuple[bytes, ...]  # of each chunk's own lines, 8 bytes


def _digests(data: bytes, found: Extract) -> tuple[bytes, ...]:
    lines = data.split(b"\n")
    return tuple(lines_digest(lines, chunk.line, chunk.end_line) for chunk in found.chunks)


def process_file(root: str, entry: FileEntry) -> FileRecord:
    """Read, classify, parse, chunk and count one file. A file that cannot be read comes back with `skip` set."""
    try:
        # A file swapped for a link since the walk must not lead out of the root.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with open(os.open(os.path.join(root, entry.path), flags), "rb") as handle:
            data = handle.read()
    except FileNotFoundError:
        return _skipped(entry, "vanished")
    except OSError:
        return _skipped(entry, "unreadable")
    reason = content_reason(entry.path, data)
    if reason:
        return _skipped(entry, reason, data)
    found = extract(entry.path, data, detect(entry.path, data[:HEAD_BYTES]))
    positions: dict[str, int] = {}
    bags = []
    for chunk in found.chunks:
        counts = Counter(WORD.findall(chunk.text))
        ids = array("i", [positions.setdefault(word, len(positions)) for word in counts])
        bags.append((ids.tobytes(), array("i", counts.values()).tobytes()))
    return FileRecord(
        path=entry.path,
        size=entry.size,
        mtime_ns=entry.mtime_ns,
        sha=digest(data),
        lines=data.count(b"\n") + 1,
        skip="",
        extract=replace(found, chunks=tuple(replace(chunk, text="") for chunk in found.chunks)),
        words=tuple(positions),
        bags=tuple(bags),
        digests=_digests(data, found),
    )


def _skipped(entry: FileEntry, reason: str, data: bytes = b"") -> FileRecord:
    return FileRecord(
        entry.path, entry.size, entry.mtime_ns, digest(data), 0, reason, Extract("text", ""), (), (), ()
    )  # fmt: skip


def process_batch(root: str, entries: list[FileEntry]) -> list[FileRecord]:
    return [process_file(root, entry) for entry in entries]


def start_worker() -> None:
    """Leave Ctrl-C to the parent process, which ends the pool."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def crashed(entry: FileEntry) -> FileRecord:
    """The record of a file whose parse ended the process."""
    return _skipped(entry, "parser_crash")
