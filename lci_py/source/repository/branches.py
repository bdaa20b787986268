"""Reads other branches of a repository from git's objects. It checks nothing out, and runs no program of theirs.

Only refs, trees and blobs are read, never the work tree or git's index: comparing those would run the filters that the
repository's configuration names. Objects that a partial clone lacks are not fetched.
"""

from __future__ import annotations

import os
import re
import selectors
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from lci_py.source.repository.git import changed_since, git_command, git_environment, git_root, ref_tips
from lci_py.types.record import NamedTuple

#: Seconds without output of git after which a file system must be hanging.
STALL_SECONDS = 60.0
#: Maximum number of paths in one tree: a few objects can make a tree of any size, if each folder is the same object.
MOST_PATHS = 2_000_000
_MOST_BYTES = 1 << 30
_BLOCK = 1 << 16
#: Lines that are written to git at once: they and the answers fit into a pipe.
_AT_ONCE = 200
#: Up to so many paths (and bytes of them) are looked up one by one; for more, the whole tree is read.
_FEW_PATHS, _FEW_BYTES = 500, 60_000
_PLACES = ("refs/heads/", "refs/remotes/", "refs/tags/")
# What git-check-ref-format forbids. Other names cannot mean anything but a ref to git.
_NO_REF = re.compile(r"[\0-\x20\x7f~^:?*\[\\\ud800-\udfff]|\.\.|@\{|//|^/|/$|\.$|(?:^|/)\.|\.lock(?:/|$)|^@$")
_LONGEST_NAME = 1000
_COMMIT = "^{commit}"
_A_FOLDER = "040000"
_MODES = {"100644", "100755", "100664"}

_UNREADABLE = "its objects are not all in this clone, or git cannot read them"
UNKNOWN = "no branch or tag has this name"


class GitTrouble(Exception):
    """git cannot be run or does not answer; the message says why."""


class Tip(NamedTuple):
    """A branch or tag under the name that the user gave, and the commit at its tip."""

    name: str
    ref: str  # refs/…, "" if nothing has the name
    tip: str  # the object that the ref names; of an annotated tag, the tag
    commit: str  # "" if there is a problem
    problem: str = ""


def _refs_of(name: str) -> list[str]:
    """The full refs that the name of a branch or tag can mean, in git's order: the first one that exists counts."""
    whole = [name] if name.startswith("refs/") else []
    part = [f"refs/{name}"] if name.startswith(("heads/", "remotes/", "tags/")) else []
    return [*whole, *(prefix + name for prefix in _PLACES), *part]


def is_ref_name(name: str) -> bool:
    """Whether a branch can have this name. A name that is not UTF-8 is refused, since the name could not be shown."""
    return 0 < len(name) <= _LONGEST_NAME and _NO_REF.search(name) is None


# --- which commits ------------------------------------------------------------------------------------------------


def resolve(root: Path, names: Sequence[str]) -> list[Tip]:
    """The tip of each name: of a local branch, else a remote-tracking one, a tag, or a branch of one remote only."""
    try:
        with Repository(root) as repository:
            tips = [repository.tip(name) for name in names]
            return [tip if tip.problem != UNKNOWN else _of_a_remote(repository, tip) for tip in tips]
    except GitTrouble as error:
        return [Tip(name, "", "", "", str(error)) for name in names]


def _of_a_remote(repository: Repository, tip: Tip) -> Tip:
    refs = repository.refs([f"refs/remotes/*/{tip.name}"]) if is_ref_name(tip.name) else []
    return repository.tip(tip.name, refs) if len(refs) == 1 else tip


def near_misses(root: Path, name: str) -> list[str]:
    """Names of branches and tags that are similar to a name that does not exist."""
    from difflib import get_close_matches

    try:
        with Repository(root) as repository:
            refs = repository.refs(_PLACES)
    except GitTrouble:
        return []
    names = dict.fromkeys(ref.split("/", 2)[2] for ref in refs)
    return get_close_matches(name, names, 3)


def same_tips(root: Path, names: Sequence[str], tips: Sequence[Tip]) -> bool:
    """Whether each name still has the tip in `tips`; False if in doubt. Reads git's files, without running git."""
    was = {tip.name: tip for tip in tips}
    refs = {name: [*_refs_of(name), was[name].ref] for name in names if name in was and not was[name].problem}
    now = ref_tips(root, dict.fromkeys(ref for some in refs.values() for ref in some))
    for name in names:
        first = next((ref for ref in refs.get(name, ()) if ref in now), None)
        if first is None or (first, now[first]) != (was[name].ref, was[name].tip):
            return False
    return True


# --- files of a commit -----------------------------------------------------------------------------------------------


class Entry(NamedTuple):
    """A file of a commit: its path, and the id and size of its blob."""

    path: str
    oid: str
    size: int  # bytes


class Repository:
    """Reads the repository around a folder by running git. A context manager, which ends its git processes."""

    def __init__(self, root: Path, *, bare: bool = False) -> None:
        """Prepare to read. `root` is a folder in a work tree or, with `bare`, a bare repository.

        Raises:
            GitTrouble: There is no work tree.
        """
        top = root if bare else git_root(root)
        if top is None:
            raise GitTrouble("not in a git work tree")
        self._top = top
        relative = os.path.relpath(os.path.realpath(root), top).replace(os.sep, "/")
        self._prefix = "" if relative == "." else relative + "/"
        self._checker: _GitPipe | None = None
        self._reader: _GitPipe | None = None

    def __enter__(self) -> Repository:
        return self

    def __exit__(self, *_exc: object) -> None:
        for pipe in (self._checker, self._reader):
            if pipe is not None:
                pipe.close()

    def tip(self, name: str, refs: Sequence[str] = ()) -> Tip:
        """The tip of the first of `refs` that exists. By default, `refs` are all refs that the name can mean."""
        if not is_ref_name(name):
            return Tip(name, "", "", "", UNKNOWN)
        for ref in refs or _refs_of(name):
            (tip, _, _), (commit, kind, _) = self._check([ref, ref + _COMMIT])
            if tip and kind == "commit":
                return Tip(name, ref, tip, commit)
            if tip or ref_tips(self._top, [ref]):
                return Tip(name, ref, tip, "", "its commit is not in this clone")
        return Tip(name, "", "", "", UNKNOWN)

    def refs(self, patterns: Iterable[str]) -> list[str]:
        """The names of the refs that match the patterns."""
        command = ["for-each-ref", "--format=%(refname)", "--end-of-options", *patterns]
        data = b"\n".join(self._records(command, b"\n"))
        return [line for line in data.decode("utf-8", "replace").split("\n") if line.startswith("refs/")]

    def tree(self, commit: str, paths: Sequence[str] | None = None) -> dict[str, str]:
        """The files of a commit below the root, or only `paths` if they are few.

        Returns:
            Maps paths to ids of blobs, "" for anything but a regular file. Names that are not UTF-8 are left out.
        Raises:
            GitTrouble: Objects are missing, the tree is too large, or git does not answer.
        """
        few = paths is not None and len(paths) <= _FEW_PATHS and sum(map(len, paths)) <= _FEW_BYTES
        pathspecs = [self._prefix + path for path in paths] if few and paths is not None else [self._prefix or None]
        if few and not pathspecs:
            return {}
        command = ["ls-tree", "-z", "--full-tree", "--end-of-options", commit, *filter(None, pathspecs)]
        requested = frozenset(pathspecs)  # git also lists neighbours of some of them
        blobs: dict[str, str] = {}
        for record in self._records(command if few else [command[0], "-r", *command[1:]], b"\0"):
            info, _, name = record.partition(b"\t")
            mode, _, oid = info.decode("ascii", "replace").split(" ", 2)
            try:
                path = name.decode("utf-8")
            except UnicodeDecodeError:
                continue
            if path.startswith(self._prefix) and mode != _A_FOLDER and (not few or path in requested):
                blobs[path[len(self._prefix) :]] = oid if mode in _MODES else ""
            if len(blobs) > MOST_PATHS:
                raise GitTrouble(f"more than {MOST_PATHS:,} files")
        return blobs

    def changed(self, old: str, new: str) -> set[str] | None:
        """The paths below the root whose contents differ between two commits; None if git cannot tell."""
        command = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--end-of-options", old, new, "--"]
        try:
            names = [name.decode("utf-8", "surrogateescape") for name in self._records(command, b"\0")]
        except GitTrouble:
            return None
        return {name[len(self._prefix) :] for name in names if name.startswith(self._prefix)}

    def commit(self, revision: str) -> str | None:
        """The id of the commit that a revision names; None if there is no such commit."""
        if not revision or revision.startswith("-") or any(c in revision for c in "\0\n"):
            return None
        ((oid, kind, _),) = self._check([revision + _COMMIT])
        return oid if kind == "commit" else None

    def entries(self, commit: str) -> list[Entry]:
        """The regular files of a commit below the root, by path. Names that are not UTF-8 are left out.

        Raises:
            GitTrouble: Objects are missing, the tree is too large, or git does not answer.
        """
        oids = {path: oid for path, oid in self.tree(commit).items() if oid}
        sizes = self.sizes(sorted({*oids.values()}))
        if not sizes.keys() >= {*oids.values()}:
            raise GitTrouble(_UNREADABLE)
        return [Entry(path, oid, sizes[oid]) for path, oid in sorted(oids.items())]

    def contents(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """Pairs of an entry and its content, for each of `entries`.

        Raises:
            GitTrouble: A blob is missing, or larger than its entry says.
        """
        entries = list(entries)
        if self._reader is None:
            self._reader = _GitPipe(self._top, ["cat-file", "--batch"])
        for start in range(0, len(entries), _AT_ONCE):
            some = entries[start : start + _AT_ONCE]
            self._reader.ask([entry.oid for entry in some])
            for entry in some:
                _, kind, size = self._reader.answer(entry.oid)
                if kind != "blob" or size > entry.size:
                    raise GitTrouble(f"{entry.oid} is not a blob that can be read")
                yield entry, self._reader.take(size + 1)[:-1]

    def sizes(self, oids: Sequence[str]) -> dict[str, int]:
        """Maps the ids of those blobs that exist to their sizes in bytes.

        Raises:
            GitTrouble: git ended, as some of its releases do in a partial clone.
        """
        by_id = {}
        for start in range(0, len(oids), _AT_ONCE):
            some = oids[start : start + _AT_ONCE]
            for oid, (_, kind, size) in zip(some, self._check(some), strict=True):
                if kind == "blob":
                    by_id[oid] = size
        return by_id

    def blob(self, oid: str, limit: int) -> bytes:
        """The content of the blob with the id `oid`.

        Raises:
            GitTrouble: The blob does not exist, or is larger than `limit` bytes.
        """
        [(_, data)] = self.contents([Entry("", oid, limit)])
        return data

    def _check(self, names: Sequence[str]) -> list[tuple[str, str, int]]:
        """(id, type, size in bytes) of each object; ("", "", 0) for an object that does not exist."""
        if self._checker is None:
            self._checker = _GitPipe(self._top, ["cat-file", "--batch-check"])
        self._checker.ask(names)
        return [self._checker.answer(name) for name in names]

    def _records(self, command: Sequence[str], end: bytes) -> Iterator[bytes]:
        """Run a git command, and split its output at `end`."""
        pipe = _GitPipe(self._top, command)
        try:
            pipe.ask(())
            yield from pipe.records(end)
        finally:
            pipe.close()


def contents_at(folder: Path, commit: str, is_relevant: Callable[[str], bool]) -> list[tuple[str, bytes | None]]:
    """(path, content at `commit`) of each file of the work tree that may differ from it; None if `commit` lacks it.

    Args:
        is_relevant: Whether a path, relative to the folder, is of interest; other paths are left out.
    Raises:
        GitTrouble: git cannot be run, or does not answer.
    """
    try:
        changed = [change for change in changed_since(folder, commit) if is_relevant(change.path)]
    except (OSError, subprocess.SubprocessError) as error:
        raise GitTrouble(str(error)) from error
    with Repository(folder) as repository:
        sizes = repository.sizes(sorted({change.blob for change in changed} - {""}))
        there = (Entry("", oid, size) for oid, size in sizes.items())
        contents = {entry.oid: data for entry, data in repository.contents(there)}
    return [(change.path, contents.get(change.blob)) for change in changed]


def blob_id(data: bytes, like: str) -> str:
    """git's id of a blob with this content. `like` is any other id of the repository: it tells the hash function."""
    import hashlib  # here, because it takes 2 ms, and most runs look at no branch

    head = b"blob %d\0" % len(data)
    digest = hashlib.sha256(head) if len(like) == 64 else hashlib.sha1(head, usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


class _GitPipe:
    """A running git process with pipes to and from it. Reading fails after `STALL_SECONDS` without output."""

    def __init__(self, top: Path, command: Sequence[str]) -> None:
        environment = git_environment() | {"GIT_CEILING_DIRECTORIES": str(top.parent)}
        try:
            self._process = subprocess.Popen(
                git_command(*command), cwd=top, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, bufsize=0,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            raise GitTrouble(f"git cannot be run ({getattr(error, 'strerror', None) or error})") from error
        assert self._process.stdin is not None and self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout
        self._buffer = bytearray()
        self._ready = selectors.DefaultSelector()
        self._ready.register(self._from, selectors.EVENT_READ)

    def ask(self, names: Sequence[str]) -> None:
        """Write each name on a line of its own to git's input. Without names, close the input."""
        try:
            if names:
                self._to.write(b"".join(name.encode("utf-8", "surrogateescape") + b"\n" for name in names))
            else:
                self._to.close()
        except OSError as error:
            raise GitTrouble("git ended early") from error

    def answer(self, name: str) -> tuple[str, str, int]:
        """Read one answer of `git cat-file`: (id, type, size) of an object; ("", "", 0) if there is no such object."""
        line = self._until(b"\n").decode("utf-8", "surrogateescape")
        fields = line[:-1].split(" ")
        if line[:-1] == f"{name} missing" or len(fields) != 3 or not fields[2].isdigit():
            return "", "", 0
        return fields[0], fields[1], int(fields[2])

    def take(self, size: int) -> bytes:
        """Read the next `size` bytes of the output."""
        while len(self._buffer) < size:
            self._more()
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def records(self, end: bytes) -> Iterator[bytes]:
        """Read the output up to its end, and split it at `end`.

        Raises:
            GitTrouble: The output is too long, or git failed.
        """
        total = 0
        while block := self._read():
            total += len(block)
            if total > _MOST_BYTES:
                raise GitTrouble("git printed more than expected")
            self._buffer += block
            *whole, rest = bytes(self._buffer).split(end)
            self._buffer = bytearray(rest)
            yield from whole
        if self._buffer:
            yield bytes(self._buffer)
        try:
            failed = self._process.wait(STALL_SECONDS)
        except subprocess.TimeoutExpired:
            failed = 1
        if failed:
            raise GitTrouble(_UNREADABLE)

    def _until(self, end: bytes) -> bytes:
        while (at := self._buffer.find(end)) < 0:
            self._more()
        return self.take(at + 1)

    def _more(self) -> None:
        block = self._read()
        if not block:
            raise GitTrouble(_UNREADABLE)
        self._buffer += block

    def _read(self) -> bytes:
        limit = time.monotonic() + STALL_SECONDS
        if not self._ready.select(max(0.0, limit - time.monotonic())):
            raise GitTrouble(f"git has not answered for {STALL_SECONDS:.0f} seconds")
        return os.read(self._from.fileno(), _BLOCK)

    def close(self) -> None:
        self._ready.close()
        self._process.kill()
        for pipe in (self._to, self._from):
            try:
                pipe.close()
            except OSError:  # git ended before it read everything, which does not matter any more
                continue
        self._process.wait()
