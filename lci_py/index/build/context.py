"""The inputs of a run of `lci index`: its options, the state of the tree, and its working folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lci_py.source.syntax.limits import DEFAULTS, Limits
from lci_py.types.record import dataclass, field

if TYPE_CHECKING:
    from lci_py.embed.contextual import ContextualEncoder
    from lci_py.embed.encoder import Encoder
    from lci_py.embed.folder import ModelFolder
    from lci_py.index.build.tasks import Workplace
    from lci_py.processes import Nursery
    from lci_py.source.repository.walk import WalkOptions, WalkResult

Progress = Callable[[str, int, int], None]

#: From this many bytes of files on, some 400,000 chunks, vectors are stored in half of the space
#: (docs/adr/0030-large-repositories.md). It depends on the tree alone, so that an answer does not depend on how an
#: index came about.
COMPACT_BYTES = 1 << 28


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """The choices that the settings and the flags of `lci index` make."""

    walk: WalkOptions
    jobs: int
    full: bool = False  # reuse nothing of an earlier run
    model: Path | None = None  # None: the model in the package
    files: tuple[str, ...] | None = None  # look at these paths only
    wait: float = 0.0  # seconds to wait for another writer
    defer_dense: bool = False  # leave the embedding to a later run
    segment_chunks: int = 50_000
    limits: Limits = DEFAULTS
    flags: tuple[str, ...] = ()  # predicates that ask for a feature flag
    watched: tuple[str, ...] = ()  # files below the root that these options come from
    only_refresh: bool = False  # raise rather than rebuild
    quick: tuple[int, int] | None = None  # if more files, or bytes, have changed, only note the times of the others
    most: tuple[int, int] | None = None  # files and bytes; raise rather than index more
    branches: tuple[str, ...] | None = None  # to index beside the tree; None: those that the index has
    check_branches: bool = False  # raise if a branch is unknown
    early: Nursery | None = None  # what the workers are made of; the caller closes it
    staged: bool = False  # somebody waits for the first answer: extract what it does not read after it
    graph: bool = True  # False: a part of a fleet, whose call graph is linked over all of them


@dataclass(frozen=True, slots=True)
class Run:
    """The values that every step of a run of `lci index` needs."""

    root: Path
    index_dir: Path
    options: BuildOptions
    model: ModelFolder
    report: Progress
    warnings: list[str] = field(default_factory=list)  # for the summary


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of the repository as this run found them, with the time of the walk."""

    walked: WalkResult
    walked_ns: int  # when the walk began, by the wall clock

    @property
    def compact(self) -> bool:
        """Whether vectors are stored in the compact form (8-bit integers, a quarter of the size)."""
        return sum(entry.size for entry in self.walked.files) >= COMPACT_BYTES

    @property
    def vectors(self) -> str:
        """The name of the form in which vectors are stored, for the manifest."""
        return "int8" if self.compact else "float32"


@dataclass(frozen=True, slots=True)
class BuildContext:
    """The values that are needed to build a generation."""

    run: Run
    tree: Tree
    place: Workplace
    folder: Path  # for staging
    watched: list[tuple[str, int]]  # folders, ignore files and settings with their times, for `write_files`
    encoder: Callable[[], Encoder | ContextualEncoder]
    early: Nursery | None  # what the workers are made of
