"""The sources of a fleet's repositories: folders as they are, and commits of git repositories on disk.

A commit is read through git's objects: no filter, hook or other program of the repository runs. The commit's ignore
files and .lci.toml decide which of its files are indexed, as for a folder. All of these files may be hostile.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lci_py import config
from lci_py.errors import LciError, UsageError
from lci_py.source.repository.branches import GitTrouble, Repository
from lci_py.source.repository.files import read_file
from lci_py.source.repository.ignore_layers import IGNORE_FILES
from lci_py.source.repository.ignored import TreeRules
from lci_py.source.repository.walk import GlobRules, WalkOptions, walk
from lci_py.source.text import blake2b
from lci_py.types.record import replace

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A repository with more bytes of files than this is divided, so that several workers index it.
SPLIT_BYTES = 64_000_000
#: Former borders are kept while every part is within this factor of `SPLIT_BYTES`.
_SLACK = 2
#: Bytes of one commit that are written (an object that a tree names a thousand times is there once), and of a file.
_MAX_BYTES, _MAX_FILE_BYTES = 1 << 36, 64_000_000
#: Errors of names that no checkout can have: two entries in one place, a name that is too long.
_NO_FILE = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG)
#: Options to index every file: the rules have been applied already.
EVERYTHING = WalkOptions(max_file_bytes=1 << 62, hidden=True, use_ignore_files=False)


class Source(NamedTuple):
    """A repository on a disk that the workers can read."""

    folder: str
    revision: str = ""  # "" for the files of the folder as they are
    bare: bool = False  # whether the folder is a git repository without a work tree


class Run(NamedTuple):
    """A range of consecutive paths of a repository."""

    start: str = ""  # the first path is not before it
    stop: str | None = None  # and the last one is before it; None for no end
    bytes: int = 0  # of the files, about
    commit: str = ""  # of the files; "" if the source has none
    state: str = ""  # if it is the same, so are the files; "" if nothing tells

    def has(self, path: str) -> bool:
        return path >= self.start and (self.stop is None or path < self.stop)


def source_of(text: str) -> Source:
    """Parse a line of a list of repositories: the path of a folder or bare repository, perhaps with @REVISION.

    Raises:
        UsageError: The path does not exist, or is neither a folder nor a repository.
    """
    path, revision = text, ""
    if "://" in text:
        raise UsageError(f"{text} is not on a disk of this machine", hint="clone it, and give the folder of the clone")
    if not os.path.lexists(path) and "@" in path:
        path, _, revision = path.rpartition("@")
        if not revision:
            raise UsageError(f"{text} names no revision", hint="write PATH@BRANCH, or the path alone")
    if not os.path.isdir(path):
        raise UsageError(f"{path} is not a folder", hint="every worker must see it under that path")
    path = os.path.abspath(path)
    bare = not os.path.lexists(os.path.join(path, ".git")) and _is_bare(path)
    return Source(path, revision or ("HEAD" if bare else ""), bare)


def _is_bare(folder: str) -> bool:
    """Whether a folder looks like a bare repository, by git's own criteria."""
    is_there = (os.path.isfile(os.path.join(folder, "HEAD")), os.path.isdir(os.path.join(folder, "objects")))
    return all(is_there) and os.path.isdir(os.path.join(folder, "refs"))


# --- what there is ------------------------------------------------------------------------------------------------


def survey(source: Source, former: str = "", starts: Sequence[str] = (), limit: int = SPLIT_BYTES) -> list[Run] | None:
    """The files of a source, divided into runs of paths, at borders of folders; None if its commit is still `former`.

    Args:
        former: The commit that is indexed already.
        starts: The first paths of the runs of that commit.
        limit: The maximum number of bytes per run.
    Raises:
        UsageError: git cannot read the commit.
        BadPathError: The folder cannot be read.
    """
    if not source.revision:
        walked = walk(Path(source.folder), options_of(Path(source.folder))[0])
        return _runs([(entry.path, entry.size) for entry in walked.files], starts, limit)
    with _opened(source) as repository:
        commit = repository.commit(source.revision)
        if commit is None:
            raise UsageError(
                f"{source.folder} has no commit {source.revision}", hint="write PATH@BRANCH, or fetch the commit first"
            )
        if commit == former:
            return None
        entries = repository.entries(commit)

    def state(run: Run) -> str:
        digest = blake2b(digest_size=16)
        rules, own = ([item for item in entries if takes(item.path)] for takes in (_is_rule, run.has))
        for entry in (*rules, *own):
            digest.update(f"{entry.oid} {entry.path}\0".encode())
        return digest.hexdigest()

    runs = _runs([(entry.path, entry.size) for entry in entries], starts, limit)
    return [run._replace(commit=commit, state=state(run)) for run in runs]


@contextmanager
def _opened(source: Source) -> Iterator[Repository]:
    """A context manager: the git repository of a source. What git cannot read is a UsageError."""
    try:
        with Repository(Path(source.folder), bare=source.bare) as repository:
            yield repository
    except GitTrouble as error:
        hint = f"see `git -C {source.folder} log`"
        raise UsageError(f"{source.folder} cannot be read with git: {error}", hint=hint) from error


def _is_rule(path: str) -> bool:
    """Whether a file (such as .gitignore) decides which other files are indexed."""
    return path.rpartition("/")[2] in IGNORE_FILES or path == config.CONFIG_FILE


def _runs(sizes: Sequence[tuple[str, int]], starts: Sequence[str], limit: int) -> list[Run]:
    """Divide files into runs, at the former borders where possible, because an unchanged run is not indexed again."""
    runs = _runs_between(sizes, starts) if len(starts) > 1 else []
    if (
        runs
        and max(run.bytes for run in runs) <= _SLACK * limit
        and min(run.bytes for run in runs) * _SLACK * 4 >= limit
    ):
        return runs
    return _runs_between(sizes, borders(sizes, limit))


def _runs_between(sizes: Sequence[tuple[str, int]], starts: Sequence[str]) -> list[Run]:
    runs = [Run(start, stop) for start, stop in zip(starts, (*starts[1:], None), strict=True)]
    return [run._replace(bytes=sum(size for path, size in sizes if run.has(path))) for run in runs]


def borders(sizes: Sequence[tuple[str, int]], limit: int) -> list[str]:
    """Cut sorted paths into runs of at most `limit` bytes, at folders as far up as possible; a file is never cut.

    Args:
        sizes: (path, bytes) of every file, by path.
    Returns:
        The first path of each run; "" for the first run.
    """
    starts, filled = [""], 0
    for start, size in _pieces(sizes, "", limit):
        if filled and filled + size > limit:
            starts.append(start)
            filled = 0
        filled += size
    return starts


def _pieces(sizes: Sequence[tuple[str, int]], folder: str, limit: int) -> Iterator[tuple[str, int]]:
    """Yields (prefix, bytes) of the largest folders of at most `limit` bytes, and of the files beside these folders."""
    total = sum(size for _, size in sizes)
    if total <= limit or len(sizes) == 1:
        yield (folder if len(sizes) > 1 else sizes[0][0] if sizes else folder), total
        return
    at = 0
    while at < len(sizes):
        name, slash, _ = sizes[at][0][len(folder) :].partition("/")
        inner, end = folder + name + slash, at + 1
        while slash and end < len(sizes) and sizes[end][0].startswith(inner):
            end += 1
        yield from _pieces(sizes[at:end], inner, limit)
        at = end


# --- its files ----------------------------------------------------------------------------------------------------


def write_files(source: Source, run: Run, target: Path) -> list[str]:
    """Write those files of a run that are to be indexed into a new folder; returns warnings about settings.

    Raises:
        UsageError: git cannot read the commit.
        BadPathError: The folder cannot be read.
        OSError: The disk is full.
    """
    target.mkdir()
    if source.revision:
        with _opened(source) as repository:
            return _write_commit(repository, run, target)
    options, warnings = options_of(Path(source.folder))
    for entry in walk(Path(source.folder), options).files:
        if run.has(entry.path) and isinstance(data := read_file(source.folder, entry.path), bytes):
            _write(target / entry.path, data)
    return warnings


def _write_commit(repository: Repository, run: Run, target: Path) -> list[str]:
    """Write the files with the rules, and by these rules the others."""
    entries = [entry for entry in repository.entries(run.commit) if _is_harmless(entry.path)]
    (target / ".git").mkdir()  # no ignore file of a folder above counts
    rules = [entry for entry in entries if _is_rule(entry.path) and entry.size <= 1 << 20]
    there = {entry.path for entry, data in repository.contents(rules) if _write(target / entry.path, data)}
    options, warnings = options_of(target)
    takes, max_bytes = TreeRules(target, options).takes, min(options.max_file_bytes, _MAX_FILE_BYTES)
    selection = [entry for entry in entries if run.has(entry.path) and entry.size <= max_bytes and takes(entry.path)]
    if sum(entry.size for entry in selection) > _MAX_BYTES:
        raise GitTrouble("its files are too large")
    for path in there - {entry.path for entry in selection}:
        (target / path).unlink()
    for entry, data in repository.contents(entry for entry in selection if entry.path not in there):
        _write(target / entry.path, data)
    (target / ".git").rmdir()
    return warnings


def _is_harmless(path: str) -> bool:
    """Whether a path in a git tree stays inside the folder. Git writes only such paths, but a tree may be hostile."""
    return all(part not in ("", ".", "..") and part.lower() != ".git" for part in path.split("/")) and "\0" not in path


def _write(path: Path, data: bytes) -> bool:
    """Write a new file. False if the name is impossible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
    except OSError as error:
        if error.errno in _NO_FILE:
            return False
        raise
    return True


def options_of(root: Path) -> tuple[WalkOptions, list[str]]:
    """(the walk options in a repository's .lci.toml, warnings about that file)."""
    try:
        options = config.load(root)[0].walk_options()
        GlobRules(options)
    except LciError as error:  # of one repository, which must not keep the others from being indexed
        return WalkOptions(), [f"it is indexed without its settings: {error.message}"]
    return replace(options, members=None), []
