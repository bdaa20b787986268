"""Builds the shard of other branches: the files of each branch that differ from the tree, and their definitions.

Whether a path differs depends only on the file in the tree and on the branch's blob. So a refresh compares only paths
where the file or the blob has changed, and copies all other results from the previous generation.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from heapq import merge
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.errors import UsageError
from lci_py.index.build.changes import walk_settings
from lci_py.index.build.tasks import Task
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
from lci_py.source.repository.files import read_file
from lci_py.source.repository.git import head
from lci_py.source.repository.ignore_layers import IGNORE_FILES
from lci_py.source.repository.ignored import TreeRules
from lci_py.source.syntax.languages import is_test
from lci_py.source.syntax.limits import LIMIT_REASONS
from lci_py.types.record import NamedTuple, dataclass, field, replace
from lci_py.types.source import FileEntry

if TYPE_CHECKING:
    from lci_py.index.build.changes import PreviousGeneration
    from lci_py.index.build.context import BuildContext
    from lci_py.index.build.generation import Generation
    from lci_py.index.shards.files import FileTable
    from lci_py.index.store.manifest import Manifest, Shard
    from lci_py.source.repository.walk import WalkOptions, WalkResult

State = tuple[str, "str | None"]  # how a path differs, and its blob in the branch


# --- which branches -----------------------------------------------------------------------------------------------


def names_of(chosen: Sequence[str] | None, previous: Manifest | None) -> tuple[str, ...]:
    """The branches to index besides the tree: `chosen` (by flag or setting), else the branches of `previous`."""
    if chosen is not None:
        return tuple(dict.fromkeys(chosen))
    return tuple(previous.settings.get("branches", ())) if previous is not None else ()


def check_names(root: Path, names: Sequence[str]) -> None:
    """Check the names of branches.

    Raises:
        UsageError: git works here, and one of the names is neither a branch nor a tag.
    """
    for tip in resolve(root, names):
        if tip.problem == UNKNOWN:
            near = near_misses(root, tip.name)
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "see `git branch --all`"
            raise UsageError(f"unknown branch {tip.name!r}", hint=hint, branch=tip.name, near=near)


def stored_tips(manifest: Manifest) -> list[Tip]:
    """The branches that a generation has indexed, including branches that could not be read."""
    return [Tip(*(item[name] for name in Tip._fields)) for item in manifest.settings.get("branch_tips", ())]


def up_to_date(root: Path, names: Sequence[str], manifest: Manifest, table: FileTable, walked: WalkedFiles) -> bool:
    """Whether a generation has the current state of the branches.

    Args:
        names: The branches to index.
        walked: The result of the walk; the generation must have the same files.
    """
    if list(names) != manifest.settings.get("branches", []):
        return False
    if not names:
        return True
    if _other_settings(manifest, walked.options) or _other_rules(table, walked.result):
        return False  # the tree may be the same, but a branch can have files that now count, or no longer count
    old_tips = stored_tips(manifest)
    others = _other_branches(root, names, old_tips)
    if [tip.name for tip in old_tips] == others and same_tips(root, others, old_tips):
        return True
    return [tip for tip in resolve(root, names) if not _is_here(root, tip)] == old_tips


class WalkedFiles(NamedTuple):
    """The files that the walk found, and the settings it used."""

    result: WalkResult
    options: WalkOptions


def _other_settings(manifest: Manifest, options: WalkOptions) -> bool:
    """Whether the settings that decide which files are indexed have changed."""
    return any(manifest.settings.get(name) != value for name, value in walk_settings(options).items())


def _other_rules(table: FileTable, walked: WalkResult) -> bool:
    """Whether an ignore file (such as .gitignore) has changed since the index was built."""
    old_rules = {name: mtime_ns for name, mtime_ns in table.folders() if name.rpartition("/")[2] in IGNORE_FILES}
    return old_rules != dict(walked.rules)


def _other_branches(root: Path, names: Sequence[str], old_tips: Sequence[Tip]) -> list[str]:
    """The branch names without the checked-out branch; stored tips tell whether a name stands for that branch."""
    here = {tip.name for tip in old_tips if _is_here(root, tip)}
    _, branch = head(root)
    return [name for name in names if name not in here and name != branch]


def _is_here(root: Path, tip: Tip) -> bool:
    _, branch = head(root)
    return branch is not None and tip.ref == f"refs/heads/{branch}"


# --- what is in them ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class BuiltBranches:
    """The shard of other branches, and the data about the branches that go into the manifest."""

    shard: Path | Shard | None = None  # None: no branch can be read, or none is wanted
    tips: list[Tip] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)  # per branch: how many files differ

    def settings(self, names: Sequence[str]) -> dict[str, Any]:
        """The entries `branches` and `branch_tips` of the manifest's settings; {} without branches."""
        if not names:
            return {}
        tips = [{**tip._asdict(), "files": self.files.get(tip.name, 0)} for tip in self.tips]
        return {"branches": list(names), "branch_tips": tips}


def build_branches(
    context: BuildContext, names: Sequence[str], generation: Generation, previous: PreviousGeneration | None
) -> BuiltBranches:
    """Write the shard into the staging folder, unless the previous generation's shard is still up to date.

    Args:
        names: The branches to index.
        generation: The new generation, without its global shards (those that are not part of a segment).
        previous: The generation that the new one started from, if any.
    """
    root = Path(context.place.root)
    tips = [tip for tip in resolve(root, names) if not _is_here(root, tip)] if names else []
    result = BuiltBranches(tips=tips)
    if any(not tip.problem for tip in tips):
        try:
            with _BranchBuilder(context, generation, previous) as builder:
                builder.build(result)
        except GitTrouble as error:  # somebody removed the repository since
            result.tips = [tip._replace(commit="", problem=str(error)) for tip in result.tips]
    return result


class _BranchBuilder:
    """Compares the branches with the working tree. Use it once, as a context manager."""

    def __init__(self, context: BuildContext, generation: Generation, previous: PreviousGeneration | None) -> None:
        self._context = context
        self._root = context.place.root
        self._walk = walk = context.run.options.walk
        self._repository = Repository(Path(self._root))
        self._rules = TreeRules(Path(self._root), walk)
        partly = {item.path for item in generation.known if item.slot >= 0 and item.reason in LIMIT_REASONS}
        self._here = {item.path for item in generation.known if item.slot >= 0} - partly
        # Files of the tree that are not indexed, or only in part. They exist, so a copy on a branch is no addition.
        self._unknown = partly | {item.path for item in generation.known if item.slot < 0}
        self._unknown |= {item.path for item in context.tree.walked.skipped}
        self._ids: dict[str, tuple[str, ...]] = {}
        self._old: BranchIndex | None = None
        self._shard: Shard | None = None
        self._old_states: dict[str, tuple[str, Mapping[str, State]]] = {}  # branch -> commit, its paths
        self._again: set[str] | None = None  # paths that have changed in the tree; None: compare all
        shard = previous.manifest.shards.get("branches") if previous is not None else None
        if previous is not None and shard is not None and not _other_settings(previous.manifest, walk):
            self._old = BranchIndex(context.place.index_dir / shard.name)
            self._shard = shard
            self._old_states = dict(self._states_before(self._old))
            self._again = self._changed_here(previous, generation)

    def __enter__(self) -> _BranchBuilder:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._repository.__exit__()
        if self._old is not None:
            self._old.close()

    @staticmethod
    def _states_before(old: BranchIndex) -> Iterator[tuple[str, tuple[str, Mapping[str, State]]]]:
        for tip, states in zip(old.tips, old.differing(), strict=True):
            yield tip.name, (tip.commit, states)

    def _changed_here(self, previous: PreviousGeneration, generation: Generation) -> set[str] | None:
        """The paths that have changed in the tree since the previous generation; None if an ignore file has changed."""
        if _other_rules(previous.table, self._context.tree.walked):
            return None
        change = previous.change
        changed = {item.path for item in (*change.gone, *change.replaced)} | {item.path for item in change.dirty}
        skipped = {item.path for item in previous.table.skipped()}
        return changed | generation.fresh | (skipped ^ {item.path for item in self._context.tree.walked.skipped})

    def build(self, result: BuiltBranches) -> None:
        self._context.run.report("branches", 0, 0)
        states: dict[str, Mapping[str, State]] = {}
        for i, tip in enumerate(result.tips):
            if not tip.problem:
                try:
                    states[tip.name] = self._states(tip)
                except GitTrouble as error:
                    result.tips[i] = tip._replace(commit="", problem=str(error))
        numbers = self._old.versions() if self._old is not None else {}
        try:
            sizes = self._sizes(result, states, numbers)
            self._write(result, states, numbers, sizes)
        except GitTrouble as error:
            self._give_up(result, states, lambda version: version not in numbers, str(error))
            self._write(result, states, numbers, {})

    def _write(
        self,
        result: BuiltBranches,
        states: Mapping[str, Mapping[str, State]],
        numbers: Mapping[Version, int],
        sizes: Mapping[str, int],
    ) -> None:
        tips = [tip for tip in result.tips if not tip.problem]
        if not tips:
            return
        differing: Sequence[Mapping[str, State]] = [states[tip.name] for tip in tips]
        versions = sorted({version for paths in differing for version in _versions(paths)})
        fresh = [version for version in versions if version not in numbers]
        if fresh or self._is_other(tips, differing):
            path = self._context.folder / "branches.sqlite"
            path.unlink(missing_ok=True)
            with closing(self._extract_contents(fresh, sizes)) as extracted:
                contents = merge(self._stored_contents(versions, numbers), extracted, key=itemgetter(0))
                differing = write_branches(path, tips, differing, contents)
            if self._is_other(tips, differing):
                result.shard = path
        result.shard = result.shard or self._shard
        result.files = {tip.name: len(paths) for tip, paths in zip(tips, differing, strict=True)}

    def _is_other(self, tips: Sequence[Tip], differing: Sequence[Mapping[str, State]]) -> bool:
        """Whether the shard of the previous generation is out of date."""
        return self._old is None or tips != self._old.tips or differing != self._old.differing()

    # --- paths ---------------------------------------------------------------------------------------------------

    def _states(self, tip: Tip) -> dict[str, State]:
        """Maps each differing path of a branch to its state (how it differs from the tree, blob or None)."""
        again = self._again_on(tip)
        if again is None:
            there = self._repository.tree(tip.commit)
            judged = {path: self._state(path, there.get(path)) for path in sorted(self._here.union(there))}
        else:
            paths = sorted(again)
            there = self._repository.tree(tip.commit, paths) if paths else {}
            judged = dict(self._old_states[tip.name][1])
            judged |= {path: self._state(path, there.get(path)) for path in paths}
        return {path: state for path, state in judged.items() if state is not None}

    def _again_on(self, tip: Tip) -> set[str] | None:
        """The paths of a branch that must be compared with the tree again; None for all paths."""
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
        """Whether a file in the tree has the content of the blob `oid`; line ends that git converts are ignored."""
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
        self, result: BuiltBranches, states: Mapping[str, Mapping[str, State]], numbers: Mapping[Version, int]
    ) -> dict[str, int]:
        """Maps each blob that must be read to its size; leaves out branches of which a blob is missing in the clone."""
        versions = {version for paths in states.values() for version in _versions(paths) if version not in numbers}
        sizes = self._repository.sizes(sorted({version.oid for version in versions})) if versions else {}
        lost = {version for version in versions if version.oid not in sizes}
        self._give_up(result, states, lost.__contains__, "its files are not all in this clone")
        return sizes

    @staticmethod
    def _give_up(
        result: BuiltBranches,
        states: Mapping[str, Mapping[str, State]],
        is_lost: Callable[[Version], bool],
        why: str,
    ) -> None:
        """Leave out each branch with an unreadable file, as the file's definitions would seem to be missing on it."""
        for i, tip in enumerate(result.tips):
            if any(map(is_lost, _versions(states.get(tip.name, {})))):
                result.tips[i] = tip._replace(commit="", problem=why)

    def _stored_contents(
        self, versions: Sequence[Version], numbers: Mapping[Version, int]
    ) -> Iterator[tuple[Version, Content]]:
        if self._old is not None:
            for version in versions:
                if version in numbers:
                    yield version, self._old.content(numbers[version])

    def _extract_contents(
        self, fresh: Sequence[Version], sizes: Mapping[str, int]
    ) -> Generator[tuple[Version, Content], None, None]:
        tasks = [
            Task(FileEntry(version.path, size, 0), oid=version.oid)
            for version in fresh
            if (size := sizes.get(version.oid, self._walk.max_file_bytes + 1)) <= self._walk.max_file_bytes
        ]
        done = 0
        workplace, jobs = self._context.place, self._context.run.options.jobs
        with closing(process(workplace, tasks, jobs, self._load)) as batches:
            for batch in batches:
                for item in batch:
                    if not item.skip and not item.limit:  # a file that is known in part cannot be compared
                        content = Content(item.language, is_test(item.entry.path), item.defined)
                        yield Version(item.entry.path, item.oid), content
                done += len(batch)
                self._context.run.report("branches", done, len(tasks))

    def _load(self, task: Task) -> Task:
        return replace(task, data=self._repository.blob(task.oid, self._walk.max_file_bytes))


def _versions(paths: Mapping[str, State]) -> Iterator[Version]:
    return (Version(path, oid) for path, (_, oid) in paths.items() if oid is not None)
