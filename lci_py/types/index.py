"""The result of a run of `lci index`."""

from __future__ import annotations

from lci_py.types.record import dataclass, field

#: The format of records, the cached results of extraction. An index made with another one is rebuilt.
RECORD_FORMAT = 22
#: Stages for the progress callback beside those of the work: the embedding will take longest; the number of files that
#: the next build need not extract, if this one is interrupted; the extracted bytes and their total, which tell more
#: about the time than the number of files; text can be searched, while the call graph is still to be built.
SLOW_MODEL, KEPT, EXTRACTED, SEARCHABLE = "slow model", "kept", "extracted bytes", "searchable"


@dataclass(frozen=True, slots=True)
class BuildSummary:
    """A summary of what one run of `lci index` did; it fits on one screen."""

    root: str
    generation: int
    changed: bool  # False when the index was fresh and nothing was written
    files: int
    files_by_language: dict[str, int]
    symbols_by_kind: dict[str, int]
    chunks: int
    edges_by_kind: dict[str, int]
    skipped_by_reason: dict[str, int]
    seconds: float
    bytes_read: int
    bytes_on_disk: int
    reused_files: int = 0  # taken over from the index as it was
    parsed_files: int = 0  # new, or read again
    removed_files: int = 0  # in the index before, and no longer
    embedded_chunks: int = 0  # by the model in this run; the others' vectors were there
    warnings: tuple[str, ...] = ()
    limited_by_reason: dict[str, int] = field(default_factory=dict)  # files of which only a part is known
    branches: dict[str, int] = field(default_factory=dict)  # indexed beside the tree: how many files differ in each
    nested_repositories: tuple[str, ...] = ()  # worktrees and submodules in the tree: not in this index; the first 20
    searchable_seconds: float | None = None  # until text could be searched; None if that was not before the end
    started_from: str | None = None  # the work tree of this repository whose index a first run took over
