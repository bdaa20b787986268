"""The next generation's shard of other branches: what of each differs from here, and the definitions in that.

A path's state depends on the file here and on the blob there, and on nothing else. So a refresh looks again at the
paths where either has changed, and takes all others over.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from heapq import merge
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.errors import UsageError
from lci_py.index.build.worker import Task
from lci_py.index.build.worker_pool import process
from lci_py.index.shards.branches import DIFFERS, ONLY_HERE, ONLY_THERE, BranchIndex, Content, Version, write_branches
from lci_py.source.repository.branches import (
    UNKNOWN,
    GitTrouble,
    Repository,
    Tip,
    blob_id,
    near_misses,
    resolve,
    same_tips,
)
from lci_py.source.repository.content import content_reason
from lci_py.source.repository.git import head
from lci_py.source.repository.ignore_layers import IGNORE_FILES
from lci_py.source.repository.ignored import TreeRules
from lci_py.source.repository.read import read_file
from lci_py.source.syntax.languages import is_test
from lci_py.source.syntax.limits import LIMIT_REASONS
from lci_py.types.source import FileEntry

if TYPE_CHECKING:
    from lci_py.index.build.changes import Change
    from lci_py.index.build.generation import Made, Setting
    from lci_py.index.shards.files import FileTable
    from lci_py.index.store.manifest import Manifest, Shard
    from lci_py.source.repository.walk import WalkOptions, WalkResult

State = tuple[str, "str | None"]  # how a path differs, and the blob there


# --- which branches -----------------------------------------------------------------------------------------------


def names_of(chosen: Sequence[str] | None, previous: Manifest | None) -> tuple[str, ...]:
    """The branches to index beside the tree: those of the flag or the settings, else those that the index has."""
    if chosen is not None:
        return tuple(dict.fromkeys(chosen))
    return tuple(previous.settings.get("branches", ())) if previous is not None else ()


def check_names(root: Path, names: Sequence[str]) -> None:
    """
    Raises:
        UsageError: git can be asked, and one of the names is none of its branches or tags.
    """
    for tip in resolve(root, names):
        if tip.problem == UNKNOWN:
            near = near_misses(root, tip.name)
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "see `git branch --all`"
            raise UsageError(f"unknown branch {tip.name!r}", hint=hint, branch=tip.name, near=near)


def stored_tips(manifest: Manifest) -> list[Tip]:
    """The branches of a generation, with those that could not be read."""
    return [Tip(*(item[name] for name in Tip._fields)) for item in manifest.settings.get("branch_tips", ())]


def up_to_date(root: Path, names: Sequence[str], manifest: Manifest, table: FileTable, walked: Walked) -> bool:
    """Whether a generation has these branches as they are now.

    Args:
        root: The repository.
        names: The branches.
        manifest: The generation.
        table: Its files.
        walked: What the walk found, which is in the generation, and the settings that it went by.
    """
    if list(names) != manifest.settings.get("branches", []):
        return False
    if not names:
        return True
    if _other_settings(manifest, walked.options) or _other_rules(table, walked.result):
        return False  # what is here may be the same: a branch can have files that are not
    known = stored_tips(manifest)
    wanted = _others(root, names, known)
    if [tip.name for tip in known] == wanted and same_tips(root, wanted, known):
        return True
    return [tip for tip in resolve(root, names) if not _is_here(root, tip)] == known


class Walked(NamedTuple):
    """What the walk found, and the settings that it went by."""

    result: WalkResult
    options: WalkOptions


def _other_settings(manifest: Manifest, options: WalkOptions) -> bool:
    """Whether the settings that decide which files there are have changed."""
    now = {"max_file_bytes": options.max_file_bytes, "include": list(options.include),
           "exclude": list(options.exclude), "hidden": options.hidden}  # fmt: skip
    return any(manifest.settings.get(name) != value for name, value in now.items())


def _other_rules(table: FileTable, walked: WalkResult) -> bool:
    """Whether an ignore file has."""
    known = {name: mtime_ns for name, mtime_ns in table.folders() if name.rpartition("/")[2] in IGNORE_FILES}
    return known != dict(walked.rules)


def _others(root: Path, names: Sequence[str], known: Sequence[Tip]) -> list[str]:
    """The names without that of the branch that is checked out, as far as the known refs tell."""
    here = {tip.name for tip in known if _is_here(root, tip)}
    _, branch = head(root)
    return [name for name in names if name not in here and name != branch]


def _is_here(root: Path, tip: Tip) -> bool:
    _, branch = head(root)
    return branch is not None and tip.ref == f"refs/heads/{branch}"


# --- what is in them ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Before:
    """The generation before."""

    manifest: Manifest
    table: FileTable
    change: Change


@dataclass(slots=True)
class BranchesMade:
    """The shard, and what the manifest says of it."""

    shard: Path | Shard | None = None  # None: no branch can be read, or none is asked for
    tips: list[Tip] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)  # per branch: how many files differ

    def settings(self, names: Sequence[str]) -> dict[str, Any]:
        """What the manifest keeps among the settings."""
        if not names:
            return {}
        tips = [{**tip._asdict(), "files": self.files.get(tip.name, 0)} for tip in self.tips]
        return {"branches": list(names), "branch_tips": tips}


def make_branches(
    setting: Setting,
    walk: WalkOptions,
    names: Sequence[str],
    made: Made,
    before: Before | None,
) -> BranchesMade:
    """Write the shard into the staging folder, unless that of the generation before is still right.

    Args:
        setting: What the generation is made with.
        walk: The settings that decide which files there are.
        names: The branches.
        made: The generation, but for the shards of all segments together.
        before: The one before, if this one was made of it.
    """
    root = Path(setting.place.root)
    tips = [tip for tip in resolve(root, names) if not _is_here(root, tip)] if names else []
    found = BranchesMade(tips=tips)
    if any(not tip.problem for tip in tips):
        try:
            with _Maker(setting, walk, made, before) as maker:
                maker.make(found)
        except GitTrouble as error:  # the repository is gone since
            found.tips = [tip._replace(commit="", problem=str(error)) for tip in found.tips]
    return found


class _Maker:
    """One run. Use it as a context manager."""

    def __init__(self, setting: Setting, walk: WalkOptions, made: Made, before: Before | None) -> None:
        self._setting = setting
        self._root = setting.place.root
        self._walk = walk
        self._repository = Repository(Path(self._root))
        self._rules = TreeRules(Path(self._root), walk)
        partly = {item.path for item in made.known if item.slot >= 0 and item.reason in LIMIT_REASONS}
        self._here = {item.path for item in made.known if item.slot >= 0} - partly
        # What is here and not known whole says nothing about what a branch has more.
        self._unknown = partly | {item.path for item in made.known if item.slot < 0}
        self._unknown |= {item.path for item in setting.walked.skipped}
        self._ids: dict[str, tuple[str, ...]] = {}
        self._old: BranchIndex | None = None
        self._shard: Shard | None = None
        self._old_states: dict[str, tuple[str, Mapping[str, State]]] = {}  # branch -> commit, its paths
        self._again: set[str] | None = None  # paths that have changed here; None: all
        shard = before.manifest.shards.get("branches") if before is not None else None
        if before is not None and shard is not None and not _other_settings(before.manifest, walk):
            self._old = BranchIndex(setting.place.index_dir / shard.name)
            self._shard = shard
            self._old_states = dict(self._states_before(self._old))
            self._again = self._changed_here(before, made)

    def __enter__(self) -> _Maker:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._repository.__exit__()
        if self._old is not None:
            self._old.close()

    @staticmethod
    def _states_before(old: BranchIndex) -> Iterator[tuple[str, tuple[str, Mapping[str, State]]]]:
        for tip, states in zip(old.tips, old.differing(), strict=True):
            yield tip.name, (tip.commit, states)

    def _changed_here(self, before: Before, made: Made) -> set[str] | None:
        """Paths whose state here is not that of the generation before; None if the rules are other ones."""
        if _other_rules(before.table, self._setting.walked):
            return None
        change = before.change
        found = {item.path for item in (*change.gone, *change.replaced)} | {item.path for item in change.dirty}
        skipped = {item.path for item in before.table.skipped()}
        return found | made.fresh | (skipped ^ {item.path for item in self._setting.walked.skipped})

    def make(self, found: BranchesMade) -> None:
        self._setting.report("branches", 0, 0)
        states: dict[str, Mapping[str, State]] = {}
        for i, tip in enumerate(found.tips):
            if not tip.problem:
                try:
                    states[tip.name] = self._states(tip)
                except GitTrouble as error:
                    found.tips[i] = tip._replace(commit="", problem=str(error))
        known = self._old.versions() if self._old is not None else {}
        try:
            sizes = self._sizes(found, states, known)
            self._write(found, states, known, sizes)
        except GitTrouble as error:
            self._give_up(found, states, lambda version: version not in known, str(error))
            self._write(found, states, known, {})

    def _write(
        self,
        found: BranchesMade,
        states: Mapping[str, Mapping[str, State]],
        known: Mapping[Version, int],
        sizes: Mapping[str, int],
    ) -> None:
        tips = [tip for tip in found.tips if not tip.problem]
        if not tips:
            return
        differing: Sequence[Mapping[str, State]] = [states[tip.name] for tip in tips]
        wanted = sorted({version for paths in differing for version in _versions(paths)})
        fresh = [version for version in wanted if version not in known]
        if fresh or self._is_other(tips, differing):
            path = self._setting.folder / "branches.sqlite"
            path.unlink(missing_ok=True)
            with closing(self._extracted(fresh, sizes)) as extracted:
                contents = merge(self._stored(wanted, known), extracted, key=itemgetter(0))
                differing = write_branches(path, tips, differing, contents)
            if self._is_other(tips, differing):
                found.shard = path
        found.shard = found.shard or self._shard
        found.files = {tip.name: len(paths) for tip, paths in zip(tips, differing, strict=True)}

    def _is_other(self, tips: Sequence[Tip], differing: Sequence[Mapping[str, State]]) -> bool:
        """Whether the shard before does not say this."""
        return self._old is None or tips != self._old.tips or differing != self._old.differing()

    # --- paths ---------------------------------------------------------------------------------------------------

    def _states(self, tip: Tip) -> dict[str, State]:
        """How each path that is not the same on a branch differs."""
        again = self._again_on(tip)
        if again is None:
            there = self._repository.tree(tip.commit)
            judged = {path: self._state(path, there.get(path)) for path in sorted(self._here.union(there))}
        else:
            listed = sorted(again)
            there = self._repository.tree(tip.commit, listed) if listed else {}
            judged = dict(self._old_states[tip.name][1])
            judged |= {path: self._state(path, there.get(path)) for path in listed}
        return {path: state for path, state in judged.items() if state is not None}

    def _again_on(self, tip: Tip) -> set[str] | None:
        """The paths to look at again; None for all."""
        if self._again is None or tip.name not in self._old_states:
            return None
        commit = self._old_states[tip.name][0]
        moved = self._repository.changed(commit, tip.commit) if commit != tip.commit else set()
        return None if moved is None else self._again | moved

    def _state(self, path: str, oid: str | None) -> State | None:
        here = path in self._here
        if oid is None:
            return (ONLY_HERE, None) if here else None
        if not oid:  # a link, or a repository of its own
            return None
        if here:
            return None if self._is(path, oid) else (DIFFERS, oid)
        if path in self._unknown or content_reason(path, b"") or not self._rules.takes(path):
            return None
        return ONLY_THERE, oid

    def _is(self, path: str, oid: str) -> bool:
        """Whether the file here has the content of a blob, also if git has given its lines other ends."""
        if path not in self._ids:
            data = read_file(self._root, path)
            if isinstance(data, str):
                self._ids[path] = ()
            else:
                texts = [data, data.replace(b"\r\n", b"\n")] if b"\r\n" in data else [data]
                self._ids[path] = tuple(blob_id(text, oid) for text in texts)
        return oid in self._ids[path]

    # --- contents ------------------------------------------------------------------------------------------------

    def _sizes(
        self, found: BranchesMade, states: Mapping[str, Mapping[str, State]], known: Mapping[Version, int]
    ) -> dict[str, int]:
        """The sizes of the blobs that are to be read. A branch whose blobs are not all there is given up."""
        wanted = {version for paths in states.values() for version in _versions(paths) if version not in known}
        sizes = self._repository.sizes(sorted({version.oid for version in wanted})) if wanted else {}
        lost = {version for version in wanted if version.oid not in sizes}
        self._give_up(found, states, lost.__contains__, "its files are not all in this clone")
        return sizes

    @staticmethod
    def _give_up(
        found: BranchesMade,
        states: Mapping[str, Mapping[str, State]],
        is_lost: Callable[[Version], bool],
        why: str,
    ) -> None:
        """Leave out each branch with a file that cannot be had: it would seem to lack what is in it."""
        for i, tip in enumerate(found.tips):
            if any(map(is_lost, _versions(states.get(tip.name, {})))):
                found.tips[i] = tip._replace(commit="", problem=why)

    def _stored(self, wanted: Sequence[Version], known: Mapping[Version, int]) -> Iterator[tuple[Version, Content]]:
        if self._old is not None:
            for version in wanted:
                if version in known:
                    yield version, self._old.content(known[version])

    def _extracted(
        self, fresh: Sequence[Version], sizes: Mapping[str, int]
    ) -> Generator[tuple[Version, Content], None, None]:
        tasks = [
            Task(FileEntry(version.path, size, 0), oid=version.oid)
            for version in fresh
            if (size := sizes.get(version.oid, self._walk.max_file_bytes + 1)) <= self._walk.max_file_bytes
        ]
        done = 0
        place, jobs = self._setting.place, self._setting.jobs
        with closing(process(place, tasks, jobs, self._setting.warm_up, self._load)) as batches:
            for batch in batches:
                for item in batch:
                    if not item.skip and not item.limit:  # of the rest, a part at most is known
                        content = Content(item.language, is_test(item.entry.path), item.defined)
                        yield Version(item.entry.path, item.oid), content
                done += len(batch)
                self._setting.report("branches", done, len(tasks))

    def _load(self, task: Task) -> Task:
        return replace(task, data=self._repository.blob(task.oid, self._walk.max_file_bytes))


def _versions(paths: Mapping[str, State]) -> Iterator[Version]:
    return (Version(path, oid) for path, (_, oid) in paths.items() if oid is not None)
