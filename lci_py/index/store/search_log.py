"""The optional log of searches: a line of JSON per search, in the index folder and nowhere else.

The queries themselves are logged only on request. An error in writing never fails a search. When the file is full, it
replaces the old file, and a new one is started; so the log holds between one and two files of lines.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.source.repository.files import open_regular
from lci_py.types.search import MODES, Filters, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lci_py.types.search import Answer

#: The file that is written to, and the last full one.
SEARCH_LOG, OLD_SEARCH_LOG = "searches.jsonl", "searches.1.jsonl"
#: Size in bytes at which a file is full.
MAX_BYTES = 1_000_000
#: Characters of a query that are logged. A line must be small enough to be written in one piece.
MAX_QUERY = 500
TIME = "%Y-%m-%dT%H:%M:%SZ"
_DEFAULTS = SearchRequest("")
_LIMIT = 1e15  # above every count and every time


class Entry(NamedTuple):
    """A line of the log: one search.

    Attributes:
        time: When the search was answered, as TIME, UTC.
        mode: One of MODES.
        intent: The plan's intent; None outside multiview.
        flags: Names of the flags that were set, without their values.
        results, total: The number of results shown, and the number of all results.
        ms: Maps each stage to its milliseconds; `total` is the whole search, without the start of the program.
        degraded: The views that failed or were late.
        relaxed: Whether parts of the query were dropped to find anything.
        query: The text of the query; None if queries are not logged.
    """

    time: str
    mode: str
    intent: str | None
    flags: tuple[str, ...]
    results: int
    total: int
    ms: dict[str, float]
    degraded: tuple[str, ...]
    relaxed: bool
    query: str | None = None


class SearchLog:
    """Appends to the log of an index folder; several processes may do so at once."""

    def __init__(self, folder: Path, *, text: bool) -> None:
        """`text`: whether the queries themselves are logged. Nothing is logged if `folder` (the index) is a link."""
        self._folder = folder
        self._text = text
        #: Why the last search could not be logged; "" if it was.
        self.problem = ""

    def add(self, request: SearchRequest, answer: Answer) -> None:
        """Log a search; `answer` must contain its trace (the times of its stages)."""
        record = entry(request, answer)
        fields = {
            key: value
            for key, value in record._asdict().items()
            if value is not None and value is not False and value != ()
        }
        if not self._text:
            fields.pop("query", None)
        line = json.dumps(fields, ensure_ascii=True, separators=(",", ":")) + "\n"
        try:
            self._append(line.encode())
            self.problem = ""
        except OSError as error:
            self.problem = f"cannot write {self._folder / SEARCH_LOG}: {error.strerror or error}"

    def _append(self, line: bytes) -> None:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        folder = os.open(self._folder, flags)
        try:
            # A log that came with a clone may be a link to anywhere, or a FIFO, whose opening would block.
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            file = os.open(SEARCH_LOG, flags, 0o600, dir_fd=folder)
            try:
                info = os.fstat(file)
                if not stat.S_ISREG(info.st_mode) or info.st_uid != os.geteuid() or info.st_mode & 0o077:
                    raise OSError("it is not a file that only you can read")
                os.write(file, line)
                if info.st_size + len(line) >= MAX_BYTES:
                    _rotate(folder, file)
            finally:
                os.close(file)
        finally:
            os.close(folder)


def _rotate(folder: int, file: int) -> None:
    """Rename the full log file to the old log file, unless another process has done so."""
    import fcntl

    with contextlib.suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(file), os.stat(SEARCH_LOG, dir_fd=folder, follow_symlinks=False)):
            os.replace(SEARCH_LOG, OLD_SEARCH_LOG, src_dir_fd=folder, dst_dir_fd=folder)


def entry(request: SearchRequest, answer: Answer) -> Entry:
    """Make the log entry of a search."""
    plan = answer.plan or {}
    trace: dict[str, Any] = answer.trace or {}
    return Entry(
        time=time.strftime(TIME, time.gmtime()),
        mode=answer.mode,
        intent=plan.get("intent"),
        flags=_filter_names(request),
        results=len(answer.results),
        total=answer.total,
        ms={name: round(stage["ms"], 3) for name, stage in trace.items() if "ms" in stage},
        degraded=tuple(item.view for item in answer.degraded),
        relaxed=bool(plan.get("relaxed")),
        query=request.query[:MAX_QUERY],
    )


def _filter_names(request: SearchRequest) -> tuple[str, ...]:
    names = [
        name
        for name in SearchRequest.__slots__
        if name not in ("query", "mode", "filters") and getattr(request, name) != getattr(_DEFAULTS, name)
    ]
    names += [name for name in Filters.__slots__ if getattr(request.filters, name)]
    return tuple(sorted(names))


def read_log(folder: Path) -> Iterator[Entry | None]:
    """The entries of the log, oldest first; None for a line that is not an entry."""
    for name in (OLD_SEARCH_LOG, SEARCH_LOG):
        try:
            with open(open_regular(folder / name)[0], "rb") as file:
                data = file.read(2 * MAX_BYTES)  # this program makes no larger file
        except OSError:
            continue
        yield from map(_read, data.splitlines())


def _read(line: bytes) -> Entry | None:
    try:
        raw = json.loads(line)
        return Entry(
            time=time.strftime(TIME, time.strptime(raw["time"], TIME)),
            mode=raw["mode"] if raw["mode"] in MODES else _text(None),
            intent=None if raw.get("intent") is None else _text(raw["intent"]),
            flags=tuple(map(_text, raw.get("flags", ()))),
            results=int(_number(raw["results"])),
            total=int(_number(raw["total"])),
            ms={_text(name): _number(value) for name, value in raw["ms"].items()},
            degraded=tuple(map(_text, raw.get("degraded", ()))),
            relaxed=raw.get("relaxed") is True,
            query=None if raw.get("query") is None else _text(raw["query"]),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_QUERY:
        raise ValueError("not a string that the log holds")
    return value


def _number(value: object) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < _LIMIT:
        raise ValueError("not a number that the log holds")
    return value
