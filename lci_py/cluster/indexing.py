"""Indexing a fleet: repositories are looked at, parts are indexed, and the call graph is linked over all of them.

A repository that is at another commit than the fleet costs one job, and nothing is done for the others. The largest
parts are begun first. A job has no state.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lci_py.cluster.fleet import Fleet, Part, former_fleet, write_fleet
from lci_py.cluster.objects import Cache, Objects
from lci_py.cluster.part import Wanted, check_name, linked, store_part
from lci_py.cluster.sources import SPLIT_BYTES, Survey, source_of, survey
from lci_py.errors import IndexWriteError, LciError, UsageError
from lci_py.types.record import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lci_py.cluster.workers import Workers

#: Repositories that one job looks at.
_LOOKED_AT = 16
#: Bytes of objects that linking keeps: it reads the symbols of all parts.
_EVERYTHING = 1 << 62


class Repository(NamedTuple):
    """A repository of a fleet."""

    name: str
    source: str  # as `source_of` reads it
    commit: str = ""  # of a folder: whatever tells its states apart, "" if nothing does


class Indexed(NamedTuple):
    """What a run has made."""

    fleet: Fleet
    fresh: list[str]  # the repositories whose files have changed
    published: bool  # whether the fleet is a new one
    warnings: list[str]


# --- jobs ---------------------------------------------------------------------------------------------------------


def survey_some(
    _folder: Path, _processes: int, asked: Sequence[tuple[Repository, str, tuple[str, ...]]], most: int
) -> list[Survey | None]:
    """Look at some repositories, each with the commit that is indexed and where its parts start."""
    found = []
    for (name, source, marker), known, starts in asked:
        try:
            place = source_of(source)
            if marker and place.revision:
                raise UsageError(f"{source} has commits of its own", hint="write PATH@REVISION, and no third word")
            found.append(survey(place, marker, known, starts, most))
        except LciError as error:
            error.message = f"{name}: {error.message}"
            raise
    return found


def index_part(
    folder: Path, processes: int, url: str, wanted: Wanted, former: Part | None
) -> tuple[Part | None, list[str]]:
    """Index a part, and put it into the store: as `store_part`."""
    with tempfile.TemporaryDirectory(dir=folder) as work:
        try:
            return store_part(Objects(url), wanted, Path(work), former=former, processes=processes)
        except LciError as error:
            error.message = f"{wanted.name}: {error.message}"
            raise
        except OSError as error:
            raise IndexWriteError(f"{wanted.name}: {error.strerror}", hint="free some space") from error


def link_parts(folder: Path, _processes: int, url: str, fleet: Fleet) -> Fleet:
    """Link the call graph of all parts."""
    with tempfile.TemporaryDirectory(dir=folder) as work:
        objects = Objects(url)
        (made := Path(work, "graphs")).mkdir()
        return linked(objects, Cache(objects, Path(work, "objects"), _EVERYTHING), fleet, made)


# --- the run ------------------------------------------------------------------------------------------------------


def index_fleet(
    workers: Workers,
    url: str,
    repositories: Sequence[Repository],
    built_at: str,
    program: str,
    progress: Callable[[str, int, int], None] = lambda _stage, _done, _total: None,
    *,
    split: int = SPLIT_BYTES,
) -> Indexed:
    """Make a fleet of exactly these repositories. What the store has of them already is not indexed again.

    Args:
        workers: Who does the work.
        url: Of the store.
        repositories: With different names.
        built_at: The time.
        program: Its name and version; what another program has made is made anew.
        progress: Told of what is done.
        split: Bytes from which on a repository is divided into parts.
    Returns:
        The fleet. If nothing has changed, nothing is written.
    Raises:
        IndexError_, UsageError: A repository cannot be indexed, or the store not be written. It is as it was.
    """
    objects = Objects(url)
    if len({one.name for one in repositories}) != len(repositories) or not repositories:
        raise UsageError("a fleet has repositories with different names", hint="look at the list of repositories")
    for one in repositories:
        check_name(one.name)
    before = former_fleet(objects) or Fleet(0, built_at, program, ())
    old: dict[tuple[str, str], list[Part]] = defaultdict(list)
    for part in before.parts if before.program == program else ():
        old[part.name, part.source].append(part)
    made, warnings = _indexed(workers, url, _looked_at(workers, repositories, old, split), progress)
    kept = [part for one in repositories if (one.name, one.source) not in made for part in old[one.name, one.source]]
    parts = [*kept, *(part for own in made.values() for part in own)]
    if not parts:
        raise IndexWriteError("none of the repositories has files to index", hint="look at the list of repositories")
    fleet = replace(before, built_at=built_at, program=program).ordered(parts)
    if fleet.parts == before.parts:
        return Indexed(before, [], False, warnings)
    fresh = [name for (name, source), own in made.items()
             if [part.manifest for part in own] != [part.manifest for part in old[name, source]]]  # fmt: skip
    if _digests(fleet) != _digests(before) or any(part.graph is None for part in fleet.parts):
        progress("graph", 0, 0)
        [(_, fleet)] = workers.each(link_parts, [(url, fleet)])
    return Indexed(write_fleet(objects, fleet, before.generation), sorted(fresh), True, warnings)


def _digests(fleet: Fleet) -> list[str]:
    return [part.manifest.sha for part in fleet.parts]


class _Piece(NamedTuple):
    """What there is of a repository that is not as it was: a part that stays, or what is to be indexed."""

    wanted: Wanted
    former: Part | None
    stays: bool


def _looked_at(
    workers: Workers, repositories: Sequence[Repository], old: dict[tuple[str, str], list[Part]], split: int
) -> list[_Piece]:
    """What there is of the repositories that are not as they were."""
    asked = []
    for one in repositories:
        own = sorted(old[one.name, one.source], key=lambda part: part.start)
        known = own[0].commit if own else ""
        if not (known and known == one.commit):
            asked.append((one, known, tuple(part.start for part in own)))
    some = [asked[at : at + _LOOKED_AT] for at in range(0, len(asked), _LOOKED_AT)]
    seen = dict(workers.each(survey_some, [(few, split) for few in some]))
    found = []
    for (one, _, _), surveyed in zip(asked, (one for few in range(len(some)) for one in seen[few]), strict=True):
        formers = {part.start: part for part in old[one.name, one.source]}
        for run in surveyed.runs if surveyed is not None else ():
            former = formers.get(run.start)
            stays = former is not None and bool(run.state) and run.state == former.state
            found.append(_Piece(Wanted(one.name, one.source, surveyed.commit, run), former, stays))
    return found


def _indexed(
    workers: Workers, url: str, pieces: Sequence[_Piece], progress: Callable[[str, int, int], None]
) -> tuple[dict[tuple[str, str], list[Part]], list[str]]:
    """The parts of the repositories that were looked at, by name and source; and warnings."""
    found: dict[tuple[str, str], list[Part]] = {}
    warnings: list[str] = []
    todo = []
    for piece in pieces:
        wanted, former, stays = piece
        own = found.setdefault((wanted.name, wanted.source), [])
        if stays and former is not None:
            own.append(replace(former, commit=wanted.commit))
        else:
            todo.append(piece)
    todo.sort(key=lambda piece: -piece.wanted.run.bytes)  # a large one that is begun last is waited for
    calls = [(url, piece.wanted, piece.former) for piece in todo]
    for done, (place, (part, said)) in enumerate(workers.each(index_part, calls), 1):
        wanted = todo[place].wanted
        found[wanted.name, wanted.source] += [part] if part is not None else []
        warnings += [f"{wanted.name}: {text}" for text in said]
        progress("index", done, len(todo))
    warnings += [f"{name} has no files to index" for (name, _), own in found.items() if not own]
    for own in found.values():
        own.sort(key=lambda part: part.start)
    return found, sorted(set(warnings))


__all__ = ["Indexed", "Repository", "index_fleet"]
