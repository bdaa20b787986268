"""The use cases of the commands: find the root, build its index, open it for searching. Only this part of the program
connects configuration, index and search.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py import config
from lci_py.errors import (
    BadPathError,
    DiskFullError,
    IndexError_,
    IndexWriteError,
    LciError,
    NoIndexError,
    ShardVersionError,
    UntrustedIndexError,
)
from lci_py.source.repository.workspace import is_workspace
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from lci_py.config import Settings
    from lci_py.index.build.context import BuildOptions
    from lci_py.processes import Nursery
    from lci_py.search.engine import Engine as Engine
    from lci_py.search.snapshot import Snapshot
    from lci_py.source.repository.ignored import IgnoreRule
    from lci_py.source.repository.walk import Member, WalkOptions, WalkResult
    from lci_py.types.index import BuildSummary
    from lci_py.types.search import Mode
    from lci_py.types.source import FileEntry, Skip

    Report = Callable[[str, int, int], None]
    Progress = Callable[[], AbstractContextManager[Report | None]]

#: Seconds that a search with --refresh always waits for another writer.
_ALWAYS_WAIT = 10.0
#: Seconds that a git hook in the background waits for other writers.
HOOK_WAIT = 600.0
#: Seconds that a command which asks the call graph waits for the process that builds it.
_GRAPH_WAIT = 600.0
#: Files, and bytes of them, that a search indexes by itself: some 20 seconds.
_AUTO_LIMITS = (20_000, 300_000_000)


def find_root(root: str | None) -> Path:
    """The folder of a command: `root`, else the nearest parent with an index, the git root, or the current folder."""
    if root is None:
        return config.find_root(None)
    # os.path rather than Path: it answers False, not PermissionError, below a folder that may not be searched.
    if not os.path.isdir(root):
        what = "is not a folder" if os.path.exists(root) else "does not exist"
        raise BadPathError(f"{root} {what}", hint="give a folder")
    return Path(root).resolve()


def is_of_workspace(root: str | None) -> bool:
    """Whether the root that a command names is a workspace."""
    return root is not None and is_workspace(root)


def path_in_repository(root: str, full: str) -> str | None:
    """An absolute path, made relative to the root of a workspace; None if no repository of it contains the path."""
    from lci_py.source.repository.workspace import inside

    return inside(root, full) if is_workspace(root) else None


def default_mode(root: str | None) -> Mode:
    """The mode of a search around `root` without an explicit mode.

    Raises:
        BadPathError, ConfigError: see errors.py.
    """
    return config.load(find_root(root))[0].mode


def settings_warnings(root: str | None) -> list[str]:
    """Warnings about the settings around `root`; none if they cannot be read, which is an error later."""
    try:
        return config.load(find_root(root))[1]
    except LciError:
        return []


def language_words() -> list[str]:
    """The values that `--lang` takes: names of languages and their aliases."""
    from lci_py.source.syntax.languages import language_aliases, language_names

    return sorted({*language_names(), *language_aliases()})


def names_from(root: str | None, start: str) -> list[str]:
    """Names of definitions that begin with a text.

    Raises:
        NoIndexError, IndexError_: There is no index, or it cannot be read.
    """
    from lci_py.search.suggest import names_from as find

    where = find_root(root)
    with closing(_snapshot(where, config.load(where)[0])) as snapshot:
        return find(snapshot.symbols, start)


def index_dir_of(root: Path, settings: Settings) -> Path:
    """The index folder of a root: from the setting, else .lci, else in the user's folder if the root is read-only."""
    if settings.index_dir is not None:
        return settings.index_dir
    folder = root / config.INDEX_FOLDER
    if os.access(folder, os.W_OK) or (os.path.lexists(folder) and os.path.islink(folder)):
        return folder
    if not os.path.lexists(folder) and os.access(root, os.W_OK):
        return folder
    from lci_py.index.store.elsewhere import index_elsewhere

    return index_elsewhere(root, folder, trust=settings.trust)


def own_index_dir(root: Path, settings: Settings) -> Path:
    """The index folder of a root, if it may be written.

    Raises:
        IndexWriteError: The folder is a link that no setting names: it may have come with a clone, and lead anywhere.
    """
    index_dir = index_dir_of(root, settings)
    if settings.index_dir is None and index_dir.is_symlink():
        raise IndexWriteError(f"{index_dir} is a symbolic link", hint="remove it, or name its target in LCI_INDEX_DIR")
    return index_dir


def build_index(
    path: str | None,
    *,
    full: bool = False,
    jobs: int | None = None,
    model: str | None = None,
    files: Sequence[str] | None = None,
    wait: float = 10.0,
    defer_dense: bool = False,
    trust: bool | None = None,
    branches: Sequence[str] | None = None,
    ignore_files: bool | None = None,
    allow: Sequence[str] | None = None,
    limits: tuple[int, int] | None = None,
    index_dir: Path | None = None,
    staged: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> BuildSummary:
    """Build or refresh the index of a folder.

    Args:
        path: The folder; None for the one around the current folder.
        full: Rebuild everything.
        jobs, model, index_dir: Number of workers, folder of the model, index folder; None for the setting.
        files: Refresh only these files, relative to the current folder; None for all. They may have been deleted.
        wait: Seconds to wait for another writer.
        defer_dense: Leave the embedding of new chunks to a later run.
        trust: Adopt an undamaged index that somebody else made; None for the setting.
        branches: Other branches to index; () for none, None for the setting, else those that the index has.
        ignore_files: Whether ignore files count; None for the index's own setting, else they do.
        allow: Globs of ignored files to index; None for those that the index was made with.
        limits: Bounds on the number of files, and of their bytes.
        staged: Whether the caller only waits until text can be searched.
        progress: Called with stage, done and total.
    Raises:
        BadPathError, BadModelError, ConfigError, IndexWriteError, TooLargeError, TrustKeyError: see errors.py.
        UsageError: One of `branches` is unknown.
    """
    root = find_root(path)
    overrides = {"jobs": jobs, "model": model, "trust": trust, "branches": branches, "index_dir": index_dir}
    settings, warnings = config.load(root, overrides)
    index_dir = own_index_dir(root, settings)
    # While they import what parses, this process imports what builds, and looks for files.
    early = _early_workers(settings) if full or not os.path.lexists(index_dir / "manifest.json") else nullcontext()
    with early as nursery:
        from lci_py.index.build.left_out import why_left_out
        from lci_py.index.build.run import build
        from lci_py.index.store.background_run import note_failure
        from lci_py.index.store.seal import ensure_key
        from lci_py.index.store.status_report import exposures
        from lci_py.source.repository.files import relative_to_root
        from lci_py.types.record import replace

        ensure_key()
        walk_options = _walk_options(root, index_dir, settings, ignore_files, allow, warnings)
        options = replace(
            _build_options(settings, walk_options),
            full=full,
            files=None if files is None else relative_to_root(root, files),
            wait=wait,
            defer_dense=defer_dense,
            check_branches=branches is not None,
            most=limits,
            early=nursery,
            staged=staged,
        )
        warnings += _foreign(index_dir, wait, adopt=settings.trust)
        if settings.index_dir is None and index_dir.parent != root:
            warnings.append(
                f"{root} cannot be written: the index is in {index_dir}; LCI_INDEX_DIR names another folder"
            )
        summary = build(root, index_dir, options, progress)
    note_failure(index_dir, None)  # of a run in the background, which this one has made good
    _, exposed = exposures(index_dir)
    why = why_left_out(root, options.walk, summary)
    return replace(summary, warnings=(*warnings, *summary.warnings, *why, *exposed))


def _early_workers(settings: Settings) -> AbstractContextManager[Nursery | None]:
    from lci_py.index.build.worker_pool import default_jobs, early_workers

    return early_workers(settings.jobs or default_jobs()) or nullcontext()


def _walk_options(
    root: Path,
    index_dir: Path,
    settings: Settings,
    ignore_files: bool | None = None,
    allow: Sequence[str] | None = None,
    warnings: list[str] | None = None,
) -> WalkOptions:
    """The settings for walking the files, with an earlier run's flags about ignore files from the sealed manifest.

    Each repository of a workspace is walked by its own settings; problems with these settings are added to `warnings`.
    """
    from lci_py.index.store.manifest import read_manifest
    from lci_py.types.record import replace

    stored: dict[str, Any] = {}
    if ignore_files is None or allow is None:
        with suppress(IndexError_):  # there is none that counts
            stored = read_manifest(index_dir, trust=settings.trust).settings
    if ignore_files is None:
        ignore_files = stored.get("use_ignore_files") is not False
    if allow is None:
        allow = stored.get("allow") or ()
    options = replace(settings.walk_options(), use_ignore_files=ignore_files, allow=tuple(allow))
    return replace(options, members=_members(root, options, warnings)) if is_workspace(root) else options


def _members(root: Path, options: WalkOptions, warnings: list[str] | None) -> tuple[Member, ...]:
    """The repositories of a workspace, each with the walk settings in its .lci.toml."""
    from lci_py.source.repository.walk import GlobRules, Member
    from lci_py.source.repository.workspace import members
    from lci_py.types.record import replace

    entries = []
    for name, folder in members(root).items():
        own = options
        try:
            own = config.load(Path(folder))[0].walk_options()
            GlobRules(own)
        except LciError as error:  # of one repository, which must not keep the others from being indexed
            own = options
            if warnings is not None:
                warnings.append(f"{name} is indexed without its settings: {error.message}")
        allow = tuple(_of_member(options.allow, name))
        entries.append(Member(name, folder, replace(own, use_ignore_files=options.use_ignore_files, allow=allow)))
    return tuple(entries)


def _of_member(globs: Sequence[str], name: str) -> Iterator[str]:
    """The globs of a workspace that apply to one repository, relative to that repository."""
    for glob in globs:
        first, _, rest = glob.removeprefix("/").partition("/")
        if not rest or first == "**":
            yield glob
        elif first == name:
            yield f"/{rest}"


def _build_options(settings: Settings, walk_options: WalkOptions) -> BuildOptions:
    from lci_py.index.build.context import BuildOptions
    from lci_py.index.build.worker_pool import default_jobs

    members = walk_options.members or ()
    return BuildOptions(
        walk=walk_options,
        jobs=settings.jobs or default_jobs(),
        model=settings.model,
        segment_chunks=settings.segment_chunks,
        limits=settings.limits(),
        flags=settings.feature_flags,
        branches=settings.branches,
        watched=(config.CONFIG_FILE, *(f"{member.name}/{config.CONFIG_FILE}" for member in members)),
    )


def _foreign(index_dir: Path, wait: float, *, adopt: bool) -> list[str]:
    """Warnings about an index that somebody else made; with `adopt`, the index is sealed (signed) for this user."""
    from lci_py.index.store.manifest import read_manifest

    try:
        read_manifest(index_dir)
    except ShardVersionError as error:
        return [f"{error.message}; rebuilt from nothing"]
    except UntrustedIndexError as error:
        if not adopt:
            return [f"{error.message}; rebuilt from nothing"]
        from lci_py.index.store import commit

        if not commit.adopt(index_dir, wait):
            return [f"{error.message}, and it is damaged; rebuilt from nothing"]
        return ["took over an index that was not made by you on this machine"]
    except IndexError_:
        pass  # there is none, or it is replaced anyway
    return []


def is_unasked(path: str | None) -> bool:
    """Whether a folder is probably no project: it is in no git work tree, and has no index."""
    root = find_root(path)
    if is_workspace(root) or config.in_work_tree(root):
        return False
    return not os.path.lexists(index_dir_of(root, config.load(root)[0]) / "manifest.json")


def count_files(path: str | None, limits: tuple[int, int] | None, progress: Report | None) -> tuple[int, int]:
    """The number and the total bytes of the files that an index run would read; `limits` as in `build_index`.

    Raises:
        TooLargeError: There are more files or bytes than `limits`.
    """
    from lci_py.source.repository.walk import walk

    root = find_root(path)
    settings, _ = config.load(root)
    files = walk(root, _walk_options(root, index_dir_of(root, settings), settings), limits, _listing(progress)).files
    return len(files), sum(entry.size for entry in files)


def _listing(progress: Report | None) -> Callable[[int], None] | None:
    return None if progress is None else lambda files: progress("walk", files, 0)


def dry_run(
    path: str | None,
    *,
    ignore_files: bool | None = None,
    allow: Sequence[str] | None = None,
    progress: Report | None = None,
) -> tuple[list[FileEntry], list[Skip], dict[str, IgnoreRule]]:
    """(files, skips, rules): the files that would be indexed; the skipped paths, with reasons; and a dict from the
    paths that ignore files exclude to the rules.

    Arguments as in `build_index`.
    """
    from lci_py.source.repository.content import content_reason
    from lci_py.source.repository.files import read_file
    from lci_py.source.repository.ignored import TreeRules
    from lci_py.source.repository.walk import NOT_ALLOWED, walk
    from lci_py.types.source import Skip

    root = find_root(path)
    settings, _ = config.load(root)
    options = _walk_options(root, index_dir_of(root, settings), settings, ignore_files, allow)
    walked = walk(root, options, report=_listing(progress))
    files, skipped = [], list(walked.skipped)
    for done, entry in enumerate(walked.files):
        if progress is not None:
            progress("read", done, len(walked.files))
        data = read_file(str(root), entry.path)
        reason = data if isinstance(data, str) else content_reason(entry.path, data, settings.max_line_bytes)
        if reason:
            skipped.append(Skip(entry.path, reason))
        else:
            files.append(entry)
    rules = TreeRules(root, options)
    ignored = [skip.path for skip in skipped if skip.reason in ("ignored", NOT_ALLOWED)]
    rule_of = {path: rule for path in ignored if (rule := rules.rule(path)) is not None}
    return files, sorted(skipped, key=lambda skip: (skip.path, skip.reason)), rule_of


def open_engine(
    root: str | None,
    model: str | None = None,
    *,
    refresh: str | None = None,
    trust: bool | None = None,
    snippet: int = 2,
    whole: bool = False,
    progress: Progress = nullcontext,
    say: Callable[[str], None] = lambda _: None,
    previous: Engine | None = None,
) -> Engine:
    """Open the index around `root` for searching; if there is none, build it first, unless a setting forbids it.

    Args:
        root: A folder; None for the current one.
        model: Folder of the embedding model; None for the setting.
        refresh: One of types.REFRESH; None for the setting.
        trust: Read an index that somebody else made; None for the setting.
        snippet: Default number of code lines per result.
        whole: Wait for the call graph, too, if it is still being built.
        progress: A context manager around long operations, which gives a callback as for `build_index`, or None.
        say: Tells the user that an index was built.
        previous: The result of an earlier call with these arguments: returned again if it is current, else closed.
    Raises:
        NoIndexError, TooLargeError, ShardVersionError, DamagedIndexError, UntrustedIndexError: see errors.py.
    """
    began = time.perf_counter()
    where = find_root(root)
    settings, _ = config.load(where, {"model": model, "refresh": refresh, "trust": trust})
    if settings.snippet is None:
        from lci_py.types.record import replace

        settings = replace(settings, snippet=snippet)
    old = None if previous is None else previous.snapshot
    snapshot = _refresh_snapshot(where, settings, model, _Opening(root is not None, whole, progress, say, old))
    if previous is not None and snapshot is old:
        return previous
    opening = (time.perf_counter() - began) * 1e3
    from lci_py.search.engine import Engine

    if settings.log == "off":
        return Engine(snapshot, opening)
    from lci_py.index.store.search_log import SearchLog

    # A link that nobody named may have come with a clone, and leads anywhere: nothing is written there.
    folder = snapshot.index_dir.resolve() if settings.index_dir else snapshot.index_dir
    return Engine(snapshot, opening, SearchLog(folder, text=settings.log == "queries"))


class _Opening(NamedTuple):
    """The requirements of a command on the index that it opens."""

    root_named: bool  # by --root
    whole: bool
    progress: Progress
    say: Callable[[str], None]  # what was done that nobody asked for
    snapshot: Snapshot | None = None  # what an earlier call has opened


def _refresh_snapshot(where: Path, settings: Settings, model: str | None, opening: _Opening) -> Snapshot:
    try:
        snapshot = _still_held(opening.snapshot, settings) or _snapshot(where, settings)
    except (NoIndexError, ShardVersionError) as error:
        if isinstance(error, ShardVersionError) and not (
            error.outgrown or (settings.refresh == "always" and not error.newer)
        ):
            raise
        # In a folder that was not named and is no git work tree, a search builds no index.
        may_index = settings.auto_index and settings.refresh != "never"
        may_index = may_index and (opening.root_named or os.path.exists(where / ".git"))
        if settings.refresh != "always" and not may_index:
            raise
        try:
            _index_first(where, settings, model, opening)
        except LciError as failed:  # of another process, so of no class of its own
            if failed.code == NoIndexError.code and isinstance(error, ShardVersionError):
                raise error from failed  # too large to index by the way; this error says that it has been
            if failed.code != DiskFullError.code or settings.index_dir is not None:
                raise
            settings = _on_another_disk(where, settings)
            _index_first(where, settings, model, opening)
        index_dir = index_dir_of(where, settings)
        folder = os.path.relpath(index_dir, where) if index_dir.is_relative_to(where) else str(index_dir)
        clean = f"lci clean --workspace {where.name}" if is_workspace(where) else "lci clean"
        opening.say(f"made an index of {where} in {folder}: `{clean}` removes it, `auto_index = false` makes none")
        snapshot = _snapshot(where, settings)
    if opening.whole and not snapshot.manifest.is_complete and settings.refresh != "never":
        snapshot.close()
        gc.enable()  # the entry point turned it off for short runs
        with opening.progress() as report:
            build_index(str(where), model=model, wait=_GRAPH_WAIT, index_dir=settings.index_dir, progress=report)
        return _snapshot(where, settings)
    if settings.refresh == "never":
        return snapshot
    try:
        is_due = _wants_refresh(snapshot, settings)
    except BaseException:
        snapshot.close()
        raise
    if not is_due:
        return snapshot
    snapshot.close()  # a writer leaves the shards that somebody holds
    _refresh(where, settings, slow=bool(snapshot.manifest.model.get("reads_text")))
    return _snapshot(where, settings)


def _on_another_disk(root: Path, settings: Settings) -> Settings:
    """The settings with another index folder, for a root whose disk is full: a search still needs an index."""
    from lci_py.index.store.elsewhere import index_elsewhere
    from lci_py.types.record import replace

    folder = root / config.INDEX_FOLDER
    return replace(settings, index_dir=index_elsewhere(root, folder, trust=settings.trust))


def _still_held(snapshot: Snapshot | None, settings: Settings) -> Snapshot | None:
    """The snapshot of an earlier call if it is still the newest; otherwise it is closed, and the result is None."""
    if snapshot is None:
        return None
    same = (snapshot.snippet, snapshot.limit, snapshot.model) == (settings.snippet, settings.limit, settings.model)
    if same and snapshot.is_newest():
        snapshot.forget()
        snapshot.freshness.look_again()
        return snapshot
    snapshot.close()
    return None


def _index_first(where: Path, settings: Settings, model: str | None, opening: _Opening) -> None:
    """Build the index, or only what a search needs of it: then a background process builds the remaining parts."""
    from lci_py.index.build.detached import CAN_DETACH, until_searchable

    limits = None if settings.refresh == "always" else _AUTO_LIMITS
    whole = opening.whole or settings.refresh == "always" or not CAN_DETACH

    def work(report: Callable[[str, int, int], None] | None) -> None:
        own = settings.index_dir
        build_index(
            str(where), model=model, limits=limits, wait=HOOK_WAIT, index_dir=own, staged=not whole, progress=report
        )

    with opening.progress() as report:
        if whole:
            gc.enable()  # the entry point turned it off for short runs
            work(report)
        else:
            silent = report or (lambda _stage, _done, _total: None)
            until_searchable(own_index_dir(where, settings), work, silent, preload)


def preload() -> None:
    """Import and load in advance what nearly every search needs (`search.engine.preload`)."""
    from lci_py.search.engine import preload

    preload()


def _snapshot(root: Path, settings: Settings) -> Snapshot:
    from lci_py.search.snapshot import Snapshot

    index_dir = index_dir_of(root, settings)

    def listed() -> WalkResult:
        from lci_py.index.build.run import walk_around

        return walk_around(index_dir, root, _walk_options(root, index_dir, settings))

    try:
        return Snapshot(
            root,
            index_dir,
            snippet=settings.snippet or 0,  # `open_engine` has put a number there
            limit=settings.limit,
            model=settings.model,
            trust=settings.trust,
            walk=listed,
        )
    except NoIndexError:
        # Whoever is in the home folder, or above it, has not come to a project yet.
        lost = Path(os.path.expanduser("~")).is_relative_to(root) and not config.in_work_tree(root)
        enclosing = config.index_around(root)
        if enclosing is None and not lost:
            raise
        raise NoIndexError(str(root), str(enclosing or ""), lost=lost) from None


def _wants_refresh(snapshot: Snapshot, settings: Settings) -> bool:
    """Whether to refresh the index before a search: because the setting says so, or because it is quick."""
    if settings.refresh == "always":
        return bool(snapshot.freshness.sweep(whole=True).stale)
    if settings.trust:
        return False
    swept = snapshot.freshness.sweep()
    if swept.worth_noting and os.access(snapshot.index_dir, os.W_OK):
        return True
    return bool(swept.stale) and swept.few and not snapshot.manifest.model.get("reads_text")


def _refresh(root: Path, settings: Settings, *, slow: bool) -> None:
    from lci_py.index.build.run import build
    from lci_py.types.record import replace

    always = settings.refresh == "always"
    options = _build_options(settings, _walk_options(root, index_dir_of(root, settings), settings))
    if not always:
        from lci_py.search.freshness import QUICK_BYTES, QUICK_FILES

        # Embedding with a model that reads text is not quick.
        options = replace(options, only_refresh=True, quick=(0, 0) if slow else (QUICK_FILES, QUICK_BYTES))
    else:
        options = replace(options, wait=_ALWAYS_WAIT)
    try:
        build(root, own_index_dir(root, settings), options)
    except LciError:
        if always:
            raise
        # Another writer is running, or the disk is read-only: the answer says how stale it is.


def status(root: str | None, *, check: bool = False, trust: bool | None = None) -> dict[str, Any]:
    """The report of `lci status` as a JSON object.

    Args:
        check: Read every shard, and list damage under `problems`.
        trust: As in `open_engine`.
    """
    from lci_py.index.store.status_report import lost_lines, skipped_paths, status_report
    from lci_py.source.syntax.languages import TEXT, absent_grammars

    with open_engine(root, refresh="never", trust=trust) as engine:
        snapshot = engine.snapshot
        problems = snapshot.problems(thoroughly=check)
        stale: tuple[str, ...] = ()
        skipped: dict[str, list[str]] = {}
        try:
            stale = snapshot.freshness.sweep(whole=True).stale
            skipped = skipped_paths(snapshot.files, snapshot.manifest.counts["skipped_by_reason"])
        except IndexError_:
            if not check:  # else the shard that holds both is among the problems
                raise
        report = status_report(
            snapshot.root, snapshot.index_dir, snapshot.manifest, stale, skipped, damaged=bool(problems)
        )
        if is_workspace(snapshot.root):
            report |= _repositories(snapshot, stale)
        if report["errors_by_language"] and not problems:
            report["lost_lines"] = lost_lines(snapshot.symbols.per_file("path, errors, lines"))
        if TEXT in report["files_by_language"] and not problems:
            files = snapshot.symbols.per_file("path, language")
            report["absent_grammars"] = absent_grammars(path for path, language in files if language == TEXT)
    return {**report, "problems": problems} if check else report


def _repositories(snapshot: Snapshot, stale: tuple[str, ...]) -> dict[str, Any]:
    """The entries of `lci status` about the repositories of a workspace."""
    from collections import Counter

    from lci_py.source.repository.git import head
    from lci_py.source.repository.workspace import member_problem, members

    files = Counter(path.partition("/")[0] for path in snapshot.files.living_paths())
    changed = Counter(path.partition("/")[0] for path in stale)
    rows = []
    for name, path in members(snapshot.root).items():
        commit, branch = head(Path(path))
        rows.append(
            {
                "repository": name,
                "path": path,
                "problem": member_problem(path),
                "commit": commit,
                "branch": branch,
                "files": files[name],
                "stale_files": changed[name],
            }
        )
    return {"workspace": snapshot.root.name, "repositories": rows}
