"""Indexes a fleet: repositories are surveyed, parts are indexed, and the call graph is linked over all of them.

A repository at another commit than in the fleet costs one job, and nothing is done for the others. The largest parts
are begun first. A job has no state.
"""

from __future__ import annotations

import resource
import tempfile
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lci_py.cluster.fleet import Fleet, Part, former_fleet, write_fleet
from lci_py.cluster.graph import link
from lci_py.cluster.leaf import PartSnapshot
from lci_py.cluster.objects import Cache, Objects
from lci_py.cluster.part import PartJob, check_name, store_part
from lci_py.cluster.sources import SPLIT_BYTES, Survey, source_of, survey
from lci_py.errors import IndexWriteError, LciError, UsageError
from lci_py.types.record import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lci_py.cluster.workers import Workers

#: Bytes of objects that linking keeps: it reads the symbols of all parts.
_EVERYTHING = 1 << 62


class Repository(NamedTuple):
    """A repository of a fleet."""

    name: str
    source: str  # as `source_of` reads it
    commit: str = ""  # of a folder: whatever tells its states apart, "" if nothing does


class IndexedFleet(NamedTuple):
    """The fleet that a run of `index_fleet` has built."""

    fleet: Fleet
    fresh: list[str]  # the repositories whose files have changed
    published: bool  # whether the fleet is a new one
    warnings: list[str]


# --- jobs ---------------------------------------------------------------------------------------------------------


@contextmanager
def _about(name: str) -> Iterator[None]:
    """Adds the name of a repository to errors."""
    try:
        yield
    except LciError as error:
        error.message = f"{name}: {error.message}"
        raise
    except OSError as error:
        raise IndexWriteError(f"{name}: {error.strerror}", hint="free some space") from error


def survey_repository(
    _folder: Path, _processes: int, repository: Repository, known: str, starts: tuple[str, ...], most: int
) -> Survey | None:
    """Survey a repository of which a commit is indexed, and its parts start at some paths; see `survey`."""
    name, text, marker = repository
    with _about(name):
        source = source_of(text)
        if marker and source.revision:
            why = f"{text} names a revision, and the line another"
            raise UsageError(why, hint="write PATH@REVISION, and no third word")
        return survey(source, marker, known, starts, most)


def index_part(
    folder: Path, processes: int, url: str, wanted: PartJob, former: Part | None
) -> tuple[Part | None, list[str]]:
    """Index a part and store it, as `store_part`."""
    with _about(wanted.name), tempfile.TemporaryDirectory(dir=folder) as work:
        return store_part(Objects(url), wanted, Path(work), former=former, processes=processes)


def link_parts(folder: Path, _processes: int, url: str, fleet: Fleet) -> Fleet:
    """The fleet, whose parts are in order, with its call graph linked over all of them.

    Raises:
        IndexError_: A part cannot be read.
        IndexWriteError: The store cannot be written.
    """
    with suppress(OSError, ValueError):  # it opens the symbols of all parts
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with tempfile.TemporaryDirectory(dir=folder) as work, ExitStack() as stack:
        objects = Objects(url)
        (made := Path(work, "graphs")).mkdir()
        cache = Cache(objects, Path(work, "objects"), _EVERYTHING)
        graphs = link([stack.enter_context(closing(PartSnapshot(cache, part))) for part in fleet.parts], made)
        stored = [objects.put("partgraph", path, ".arrays") for path in graphs]
    parts = (replace(part, graph=graph) for part, graph in zip(fleet.parts, stored, strict=True))
    return replace(fleet, parts=tuple(parts))


# --- the run ------------------------------------------------------------------------------------------------------


def index_fleet(
    workers: Workers,
    url: str,
    repositories: Sequence[Repository],
    built_at: str,
    program: str,
    progress: Callable[[str, int, int], None] | None = None,
    *,
    split: int = SPLIT_BYTES,
) -> IndexedFleet:
    """Build a fleet of exactly these repositories. Unchanged ones in the store are not indexed again.

    Args:
        repositories: With different names.
        built_at: The time.
        program: Its name and version; parts made by another program are built again.
        split: Bytes from which on a repository is divided into parts.
    Returns:
        The fleet. If nothing has changed, nothing is written.
    Raises:
        IndexError_, UsageError: A repository cannot be indexed, or the store not be written. The fleet is unchanged.
    """
    objects = Objects(url)
    names = {one.name for one in repositories}
    if len(names) != len(repositories) or not names:
        raise UsageError(
            "the repositories of a fleet need different names, and there must be one",
            hint="look at the list of repositories",
        )
    for name in names:
        check_name(name)
    before = former_fleet(objects) or Fleet(0, built_at, program, ())
    old = before.parts if before.program == program else ()
    parts, todo = _looked_at(workers, repositories, old, split)
    todo.sort(key=lambda one: -one[0].run.bytes)  # a large one that is begun last is waited for
    warnings: set[str] = set()
    for done, (place, (part, said)) in enumerate(workers.each(index_part, [(url, *one) for one in todo]), 1):
        parts += [part] if part is not None else []
        warnings |= {f"{todo[place][0].name}: {text}" for text in said}
        if progress is not None:
            progress("index", done, len(todo))
    warnings |= {f"{name} has no files to index" for name in names - {part.name for part in parts}}
    if not parts:
        raise IndexWriteError("none of the repositories has files to index", hint="look at the list of repositories")
    fleet = replace(before, built_at=built_at, program=program).ordered(parts)
    if fleet.parts == before.parts:
        return IndexedFleet(before, [], False, sorted(warnings))
    changed = {(part.name, part.manifest) for part in old} ^ {(part.name, part.manifest) for part in parts}
    digests, were = ([part.manifest.sha for part in one.parts] for one in (fleet, before))
    if digests != were or any(part.graph is None for part in parts):
        if progress is not None:
            progress("graph", 0, 0)
        [(_, fleet)] = workers.each(link_parts, [(url, fleet)])
    fleet = write_fleet(objects, fleet, before.generation)
    return IndexedFleet(fleet, sorted({name for name, _ in changed} & names), True, sorted(warnings))


def _looked_at(
    workers: Workers, repositories: Sequence[Repository], old: Sequence[Part], split: int
) -> tuple[list[Part], list[tuple[PartJob, Part | None]]]:
    """The unchanged parts, and the parts to index, each with its former version."""
    parts: list[Part] = []
    asked, formers = [], []
    for one in repositories:
        own = {part.start: part for part in old if (part.name, part.source) == (one.name, one.source)}
        known = own[min(own)].commit if own else ""
        if known and known == one.commit:
            parts += own.values()
        else:
            asked.append((one, known, tuple(sorted(own)), split))
            formers.append(own)
    surveys = dict(workers.each(survey_repository, asked))
    todo: list[tuple[PartJob, Part | None]] = []
    for number, ((one, *_), own) in enumerate(zip(asked, formers, strict=True)):
        found = surveys[number]
        if found is None:  # it is at the same commit
            parts += own.values()
            continue
        for run in found.runs:
            former = own.get(run.start)
            if former is not None and run.state and run.state == former.state:
                parts.append(replace(former, commit=found.commit))
            else:
                todo.append((PartJob(one.name, one.source, found.commit, run), former))
    return parts, todo
