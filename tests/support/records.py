"""The record of a file, made as an index run makes it."""

from __future__ import annotations

from pathlib import Path

from lci_py.index.build.tasks import Task, Workplace
from lci_py.index.build.worker import process_tasks
from lci_py.source.file_record import FileRecord
from lci_py.source.record_codec import FileStat, decode
from lci_py.source.syntax.limits import DEFAULTS, Limits
from lci_py.types.source import FileEntry


def process_file(root: Path, entry: FileEntry, *, texts: bool = False, limits: Limits = DEFAULTS) -> FileRecord | str:
    """The record of a file below `root`, or the reason why it is skipped."""
    place = Workplace(str(root), Path(), b"", texts, use_cache=False, limits=limits)
    (done,) = process_tasks(place, [Task(entry)])
    return done.skip or decode(done.body, FileStat(entry.path, entry.size, entry.mtime_ns, done.sha))
