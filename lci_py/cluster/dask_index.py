"""Indexing a fleet on Dask distributed: parts are indexed as tasks, and their call graph is linked as tasks.

A repository that is at another commit than the fleet costs one task, and nothing is done for the others. The largest
parts are begun first. Then every worker links a share of all calls, and one of them puts the graph together. A task has
no state: when its worker ends, another one has it.
"""

from __future__ import annotations

import tempfile
from _thread import allocate_lock
from collections import defaultdict
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.callgraph.link import Done
from lci_py.cluster.dask_calls import CACHE_BYTES, STARTING, Failed, cache_folder, workers_of
from lci_py.cluster.fleet import Fleet, Part, former_fleet, write_fleet
from lci_py.cluster.index_part import Asked, end_waiting, indexed
from lci_py.cluster.objects import Cache, Objects
from lci_py.cluster.part import check_name, facts_of, linked
from lci_py.cluster.sources import SPLIT_BYTES, Survey, source_of, survey
from lci_py.errors import IndexWriteError, LciError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from lci_py.callgraph.link import Linker

#: Repositories that one task looks at.
_LOOKED_AT = 16
#: Workers that link, as each reads the facts of all parts; shares for each, as they take different times; and files
#: from which on that saves time.
_MOST_LINKING, _SHARES, _FEWEST_FILES = 8, 4, 200


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


# --- in a worker --------------------------------------------------------------------------------------------------


def survey_some(asked: Sequence[tuple[Repository, str, tuple[str, ...]]], most: int) -> list[Survey | Failed | None]:
    """A task: look at some repositories, each with the commit that is indexed and where its parts start."""
    found: list[Survey | Failed | None] = []
    for (name, source, marker), known, starts in asked:
        try:
            place = source_of(source)
            if marker and place.revision:
                raise UsageError(f"{source} has commits of its own", hint="write PATH@REVISION, and no third word")
            found.append(survey(place, marker, known, starts, most))
        except LciError as error:
            found.append(Failed.of(error)._replace(message=f"{name}: {error.message}"))
    return found


def index_one(asked: Asked) -> tuple[Part | None, list[str]] | Failed:
    """A task: index a part, and put it into the store."""
    try:
        return indexed(asked._replace(records=str(_records_folder())))
    except LciError as error:
        return Failed.of(error)


def _records_folder() -> Path:
    """A folder of all workers of this user on this machine, for what is extracted from files."""
    from distributed import get_worker

    return Path(get_worker().local_directory).parent / "lci-records"


#: What linking needs of a fleet, from the first `link_share` until `link_all`; by the digests of its parts.
_facts: dict[tuple[str, ...], Linker] = {}
_turn = allocate_lock()


def _key(fleet: Fleet) -> tuple[str, ...]:
    return tuple(part.manifest.sha for part in fleet.parts)


def _linker(url: str, fleet: Fleet) -> Linker:
    """The facts of all parts. They stay in the memory of the worker, for its other shares."""
    if _key(fleet) not in _facts:
        _facts.clear()
        with tempfile.TemporaryDirectory(prefix="lci-link-") as work:
            found = facts_of(Cache(Objects(url), cache_folder(url), CACHE_BYTES), fleet, Path(work))
        _facts[_key(fleet)] = found
    return _facts[_key(fleet)]


def link_share(url: str, fleet: Fleet, share: int, of: int) -> list[NDArray[Any]] | Failed:
    """A task: link one of several shares of the calls of all parts; the last one follows functions as values."""
    try:
        with _turn:
            linker = _linker(url, fleet)
            return linker.follow() if share == of else linker.link_share(share, of)
    except LciError as error:
        return Failed.of(error)


def link_all(url: str, fleet: Fleet, shares: Sequence[list[NDArray[Any]] | Failed]) -> Fleet | Failed:
    """A task: put the call graph of all parts together."""
    linker = _facts.pop(_key(fleet), None)
    done = [share for share in shares if not isinstance(share, Failed)]
    try:
        for share in shares:
            if isinstance(share, Failed):
                return share
        with tempfile.TemporaryDirectory(prefix="lci-link-") as work:
            objects = Objects(url)
            cache = Cache(objects, cache_folder(url), CACHE_BYTES)
            return linked(objects, cache, fleet, Path(work), linker, Done(done[:-1], done[-1]) if done else None)
    except LciError as error:
        return Failed.of(error)


# --- the root's side ----------------------------------------------------------------------------------------------


def index_fleet(
    client: Any,
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
        client: Of Dask.
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
    made, warnings = _indexed(client, url, _looked_at(client, repositories, old, split), progress)
    kept = [part for one in repositories if (one.name, one.source) not in made for part in old[one.name, one.source]]
    parts = [*kept, *(part for own in made.values() for part in own)]
    if not parts:
        raise IndexWriteError("none of the repositories has files to index", hint="look at the list of repositories")
    fleet = replace(before, built_at=built_at, program=program).ordered(parts)
    if fleet.parts == before.parts:
        return Indexed(before, [], False, warnings)
    fresh = [name for (name, source), own in made.items()
             if [part.manifest for part in own] != [part.manifest for part in old[name, source]]]  # fmt: skip
    if _key(fleet) != _key(before) or any(part.graph is None for part in fleet.parts):
        progress("graph", 0, 0)
        fleet = _linked(client, url, fleet)
    with suppress(OSError):  # a worker that has ended meanwhile
        client.run(_forgotten, on_error="ignore")
    return Indexed(write_fleet(objects, fleet, before.generation), sorted(fresh), True, warnings)


def _looked_at(
    client: Any, repositories: Sequence[Repository], old: dict[tuple[str, str], list[Part]], split: int
) -> list[tuple[Asked | None, Part | None, int]]:
    """What there is of the repositories that are not as they were: what to index or what stays, and bytes."""
    asked = []
    for one in repositories:
        own = sorted(old[one.name, one.source], key=lambda part: part.start)
        known = own[0].commit if own else ""
        if not (known and known == one.commit):
            asked.append((one, known, tuple(part.start for part in own)))
    some = [asked[at : at + _LOOKED_AT] for at in range(0, len(asked), _LOOKED_AT)]
    tasks = [client.submit(survey_some, few, split, pure=False, retries=2) for few in some]
    found: list[tuple[Asked | None, Part | None, int]] = []
    for (one, _, _), seen in zip(asked, (seen for task in tasks for seen in _result(task)), strict=True):
        if isinstance(seen, Failed):
            raise seen.error()
        if seen is None:
            continue
        formers = {part.start: part for part in old[one.name, one.source]}
        for run in seen.runs:
            former = formers.get(run.start)
            if former is not None and run.state and run.state == former.state:
                found.append((None, replace(former, commit=seen.commit), 0))
            else:
                found.append((Asked("", one.name, one.source, seen.commit, run, former), None, run.bytes))
    return found


def _indexed(
    client: Any,
    url: str,
    looked_at: Sequence[tuple[Asked | None, Part | None, int]],
    progress: Callable[[str, int, int], None],
) -> tuple[dict[tuple[str, str], list[Part]], list[str]]:
    """The parts of the repositories that were looked at, by name and source; and warnings."""
    from distributed import as_completed

    found: dict[tuple[str, str], list[Part]] = {}
    warnings: list[str] = []
    todo = []
    for asked, part, size in looked_at:
        if part is not None:
            found.setdefault((part.name, part.source), []).append(part)
        elif asked is not None:
            found.setdefault((asked.name, asked.source), [])
            todo.append((size, asked._replace(url=url)))
    todo.sort(key=lambda item: -item[0])  # a large one that is begun last is waited for
    tasks = {
        client.submit(index_one, asked, pure=False, retries=2, priority=-place): asked
        for place, (_, asked) in enumerate(todo)
    }
    for done, task in enumerate(as_completed(list(tasks)), 1):
        made = _result(task)
        if isinstance(made, Failed):
            raise made.error()
        task.release()  # else it is made again if its worker ends later
        part, said = made
        name, source = tasks[task].name, tasks[task].source
        found[name, source] += [part] if part is not None else []
        warnings += [f"{name}: {text}" for text in said]
        progress("index", done, len(todo))
    warnings += [f"{name} has no files to index" for (name, _), own in found.items() if not own]
    for own in found.values():
        own.sort(key=lambda part: part.start)
    return found, sorted(set(warnings))


def _result(task: Any) -> Any:
    """What a task has returned.

    Raises:
        IndexWriteError: It has failed, by a fault or because its workers ended again and again.
    """
    try:
        return task.result()
    except Exception as error:
        raise IndexWriteError(
            f"a worker has failed ({type(error).__name__}: {error})", hint="look at the logs of the workers"
        ) from error


def _linked(client: Any, url: str, fleet: Fleet) -> Fleet:
    files = sum(part.counts["files"] for part in fleet.parts)
    workers = min(_MOST_LINKING, len(workers_of(client, STARTING)))
    of = _SHARES * workers if files >= _FEWEST_FILES and workers > 1 else 0
    shares = [client.submit(link_share, url, fleet, share, of, pure=False, retries=2) for share in range(of + 1) if of]
    found: Fleet | Failed = _result(client.submit(link_all, url, fleet, shares, pure=False, retries=2))
    if isinstance(found, Failed):
        raise found.error()
    return found


def _forgotten() -> None:
    """In a worker: what is kept for further tasks of a run."""
    _facts.clear()
    end_waiting()


__all__ = ["Indexed", "Repository", "index_fleet"]
