"""The tasks and results of worker processes. This module imports nothing that only a worker needs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lci_py.source.syntax.languages import detect
from lci_py.source.syntax.limits import DEFAULTS, Limits
from lci_py.types.record import dataclass
from lci_py.types.source import FileEntry

if TYPE_CHECKING:
    from lci_py.index.shards.branches import BranchDefinition

#: The nice value of processes that nobody waits for any more.
LOW_PRIORITY = 10


@dataclass(frozen=True, slots=True)
class Task:
    """A file to extract."""

    entry: FileEntry
    known: tuple[str, ...] = ()  # digests of contents that need no extraction
    sha: str = ""  # digest of the indexed content, for a file that only moves to another segment
    key: bytes = b""  # of that content's record in the cache
    oid: str = ""  # git's id of the content, for a file of another branch
    data: bytes | None = None  # the content, for a file of another branch


@dataclass(frozen=True, slots=True)
class Done:
    """What a worker returns for a task: the record extracted from the file, or why there is none."""

    entry: FileEntry
    sha: str
    skip: str = ""  # the reason to leave the file out, if its content gives one
    body: bytes = b""  # the record as `source.record_codec` encodes it; empty if skipped or known
    key: bytes = b""  # of the body in the cache
    cached: bool = False  # the body comes from a cache
    shared: bool = False  # and not from the one of this index
    limit: str = ""  # the one of `LIMIT_REASONS` that cut the record short
    staged: bool = False  # the body is that of the first stage
    # For a file of another branch:
    oid: str = ""
    language: str = ""
    defined: tuple[BranchDefinition, ...] = ()


@dataclass(frozen=True, slots=True)
class Workplace:
    """The folders, limits and options of extraction, which all workers need."""

    root: str
    index_dir: Path
    secret: bytes
    texts: bool  # keep the texts of chunks, for a model that reads text
    use_cache: bool
    limits: Limits = DEFAULTS
    flags: tuple[str, ...] = ()  # predicates that ask for a feature flag
    shared: tuple[Path, ...] = ()  # index folders whose caches are read, too
    staged: bool = False  # first send what `process_stages` yields first, and keep the rest


def languages_of(tasks: Sequence[Task]) -> list[str]:
    """The languages of the tasks' files, by their names: a worker needs the grammars of these languages."""
    return sorted({detect(task.entry.path) for task in tasks if not task.key})
