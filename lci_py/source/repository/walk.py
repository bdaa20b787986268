"""Lists the files of a repository by ignore rules, as git and ripgrep do, and says why each other file is left out."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from pathlib import Path

from lci_py.errors import BadPathError, TooLargeError
from lci_py.source.repository.files import ALWAYS_SKIPPED, SHORTAGES
from lci_py.source.repository.ignore_layers import (
    IGNORE_FILES,
    Layer,
    Layers,
    folders_towards,
    ignoring,
    layers_inside,
    outer_layers,
)
from lci_py.source.repository.ignore_rules import IgnoreRules, NameFilter
from lci_py.source.repository.workspace import is_workspace, member_problem, members
from lci_py.types.record import NamedTuple, dataclass
from lci_py.types.source import FileEntry, Skip

#: A folder with a `.git` file: a linked worktree or a submodule.
NESTED = "nested_repository"
#: Named by `include`, but an ignore file leaves it out, and the user has not said that it may be read.
NOT_ALLOWED = "not_allowed"
#: Templates of the environment document settings, so they are listed although hidden.
_SHOWN = frozenset(f".env.{word}" for word in ("example", "sample", "template", "dist", "default", "defaults"))
#: Every reason for leaving something out: first those of `walk`, then those of `content_reason`.
REASONS = (
    "ignored",  # by an ignore file
    NOT_ALLOWED,
    "excluded",  # by `exclude` in the settings
    "hidden",  # a dot name
    "too_large",
    "symlink",  # never followed: the target has a name of its own, or is outside the root
    "special",  # FIFO, socket, device
    "unreadable",
    "vanished",  # deleted after it was listed
    "not_utf8_path",  # cannot be shown or written to JSON
    NESTED,
    "binary",
    "minified",
    "long_lines",
    "generated",
)

_OPEN_ROOT = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_OPEN_FOLDER = _OPEN_ROOT | os.O_NOFOLLOW


@dataclass(frozen=True, slots=True)
class WalkOptions:
    """Options of a walk: what it leaves out besides ignored files. Globs are as in .gitignore, relative to the root."""

    max_file_bytes: int = 2_000_000
    include: tuple[str, ...] = ()  # brings hidden files back; it does not restrict the walk
    allow: tuple[str, ...] = ()  # by the user, not by a file of the repository: brings ignored files back, too
    exclude: tuple[str, ...] = ()  # wins over everything
    hidden: bool = False
    use_ignore_files: bool = True
    members: tuple[Member, ...] | None = None  # of a workspace; None for any other root


class Member(NamedTuple):
    """A repository of a workspace. It is walked with options of its own."""

    name: str
    folder: str
    options: WalkOptions


@dataclass(frozen=True, slots=True)
class WalkResult:
    """The files that a walk lists and those it skips, both sorted by path. The path of a skipped folder ends in "/"."""

    files: tuple[FileEntry, ...]
    skipped: tuple[Skip, ...]
    #: Every listed folder: path without a "/" at the end ("" for the root), and st_mtime_ns before the listing.
    #: While these times stay the same, no entry was added, removed or renamed.
    folders: tuple[tuple[str, int], ...] = ()
    #: The same for the ignore files in these folders.
    rules: tuple[tuple[str, int], ...] = ()

    def nested(self) -> list[str]:
        """The paths of nested repositories that the walk left out."""
        return [skip.path for skip in self.skipped if skip.reason == NESTED and skip.path.endswith("/")]


def walk(
    root: Path,
    options: WalkOptions = WalkOptions(),  # noqa: B008  # a frozen value
    limits: tuple[int, int] | None = None,
    report: Callable[[int], None] | None = None,
) -> WalkResult:
    """List the files below `root` as ripgrep would, and everything that was left out.

    Ignore files are .lciignore, .ignore and .gitignore (in this order of strength; within one kind a deeper file beats
    a shallower one, a later line an earlier one), also those of the parents up to the git root, .git/info/exclude and
    git's global excludes. Only `allow` brings back what git ignores, or what is below an ignored folder: all other
    rules may have come with a clone, and must not reveal files that the user keeps private. Unlike in ripgrep,
    .gitignore counts outside a git repository too: an unpacked archive is walked like the clone. As in ripgrep,
    `!.name` in an ignore file brings a hidden file back, and a repository inside the repository obeys its own
    .gitignore only. `.git` and `.lci` are left out without being counted, and symlinks are never followed. A folder
    with a `.git` file (a linked worktree, a submodule) is left out, unless `include` matches it.

    In a workspace, each repository is walked. A repository that cannot be read is left out, like a skipped folder.

    Args:
        root: An existing folder, or a symlink to one.
        options: Limits and globs. An `allow` glob without a folder in it (`*.gen.py`) can match anywhere, so ignored
            folders are searched for it, and each file that is left out there is counted.
        limits: (files, bytes): the numbers at which to give up. The number of files also limits the folders.
        report: Called after each folder, with the number of files so far.
    Raises:
        BadPathError: If `root` is missing, not a folder, or unreadable.
        BadGlobError: If a glob of `options` is malformed.
        TooLargeError: The tree has more than `limits`.
    """
    try:
        os.scandir(root).close()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        hint = "give a folder, not a file" if os.path.isfile(root) else "give an existing folder that you may read"
        raise BadPathError(f"cannot walk {root}: {why.lower()}", hint=hint) from error
    if options.members is not None:
        return _walk_members(root, options.members, limits, report)
    walker = _Walker(os.path.realpath(root), options)
    # A stack, not recursion: a tree deeper than Python's recursion limit is legal.
    pending = [_Folder(os.path.join(root, ""), "", outer_layers(root) if options.use_ignore_files else (), NOTHING)]
    while pending:
        walker.visit(pending.pop(), pending)
        if limits is not None and (max(len(walker.files), len(walker.folders)) > limits[0] or walker.bytes > limits[1]):
            raise TooLargeError(str(root), *limits)
        if report is not None:
            report(len(walker.files))
    return WalkResult(
        tuple(sorted(walker.files, key=attrgetter("path"))),
        tuple(sorted(walker.skipped, key=lambda skip: (skip.path, skip.reason))),
        tuple(sorted(walker.folders)),
        tuple(sorted(walker.rules)),
    )


def _walk_members(
    root: Path, members: tuple[Member, ...], limits: tuple[int, int] | None, report: Callable[[int], None] | None
) -> WalkResult:
    """Walk all repositories of a workspace. Each path in the result begins with the repository's name."""
    files: list[FileEntry] = []
    skipped: list[Skip] = []
    folders, rules = [("", os.stat(root).st_mtime_ns)], []
    size = 0
    for member in members:
        prefix = f"{member.name}/"
        if (problem := member_problem(member.folder)) is not None:
            skipped.append(Skip(prefix, problem))
            folders.append((member.name, -1))  # as of one that does not exist: its return is noticed
            continue
        try:
            remaining = limits and (limits[0] - len(files), limits[1] - size)
            result = walk(Path(member.folder), member.options, remaining, report)
        except TooLargeError:
            raise TooLargeError(str(root), *(limits or (0, 0))) from None
        except BadPathError:  # it has gone or been closed since
            skipped.append(Skip(prefix, "unreadable"))
            continue
        files += (FileEntry(prefix + entry.path, entry.size, entry.mtime_ns, entry.ctime_ns) for entry in result.files)
        skipped += (Skip(prefix + entry.path, entry.reason) for entry in result.skipped)
        folders += ((prefix + path if path else member.name, mtime_ns) for path, mtime_ns in result.folders)
        rules += [(prefix + path, mtime_ns) for path, mtime_ns in result.rules]
        size += sum(entry.size for entry in result.files)
    return WalkResult(
        tuple(sorted(files, key=attrgetter("path"))),
        tuple(sorted(skipped, key=lambda skip: (skip.path, skip.reason))),
        tuple(sorted(folders)),
        tuple(sorted(rules)),
    )


def member_options(root: Path) -> WalkOptions:
    """The default walk options of a root. For a workspace, they name its repositories, each with default options."""
    if not is_workspace(root):
        return WalkOptions()
    return WalkOptions(members=tuple(Member(*item, WalkOptions()) for item in members(root).items()))


class FolderState(NamedTuple):
    """The part of a folder's state that its entries (files and folders) inherit."""

    reason: str | None = None  # why the folder is left out, if it is walked for `include` or `allow` only
    included: bool = False  # whether one of these globs matched it
    allowed: bool = False  # whether a glob of `allow` matched it


NOTHING = FolderState()


class GlobRules:
    """Applies the settings' globs together with the ignore files. Its truth value is False without globs."""

    def __init__(self, options: WalkOptions) -> None:
        """Raises BadGlobError if a glob of `options` is malformed."""
        self._exclude = IgnoreRules(options.exclude, strict=True)
        self._include = IgnoreRules((*options.include, *options.allow), strict=True)
        self._holds_included = folders_towards((*options.include, *options.allow))
        self._allow = IgnoreRules(options.allow, strict=True)
        self._holds_allowed = folders_towards(options.allow)
        anchored = [glob for glob in options.include if "/" in glob.rstrip("/") and not glob.startswith("**/")]
        self._names_folder = folders_towards(anchored)
        self._hidden = options.hidden

    def __bool__(self) -> bool:
        return bool(self._exclude or self._include)

    def inside_nested(self, name: str, path: str, inherited: FolderState) -> FolderState | None:
        """The state that the entries of a nested repository inherit; None if no glob includes anything in it."""
        if inherited.included:  # walked like any folder, unless an ignore file would have kept it out
            return inherited if inherited.reason else NOTHING
        if self._include and self._holds_included.match(name, path, True):
            return FolderState(NESTED)
        return None

    def judge(
        self, name: str, path: str, is_folder: bool, flat: tuple[Layer, ...], outer: FolderState
    ) -> tuple[str | None, FolderState]:
        """(reason why an entry is left out, None if it is listed; state that the entries of a folder inherit)."""
        if self._exclude and self._exclude.match(name, path, is_folder):
            return "excluded", outer
        rule = _rule(name, path, is_folder, flat, self._hidden)
        reason = rule if rule == "ignored" else outer.reason or rule
        included, allowed = outer.included, outer.allowed
        if self._include and (verdict := self._include.match(name, path, is_folder)) is not None:
            included = verdict
        if self._allow and (verdict := self._allow.match(name, path, is_folder)) is not None:
            allowed = verdict
        matched, holds = (allowed, self._holds_allowed) if reason == "ignored" else (included, self._holds_included)
        if reason and not matched and not (is_folder and holds.match(name, path, True)):
            is_named = included or (is_folder and self._names_folder.match(name, path, True))
            return NOT_ALLOWED if is_named and reason == "ignored" else reason, outer
        return None, FolderState(reason, included, allowed)


class _Folder(NamedTuple):
    path: str  # on disk, with a trailing separator
    relative: str  # with a trailing "/", "" for the root
    layers: Layers
    inherited: FolderState
    inode: int = 0  # as its parent listed it; 0 for the root


class _Walker:
    def __init__(self, root: str, options: WalkOptions) -> None:
        self.files: list[FileEntry] = []
        self.skipped: list[Skip] = []
        self.folders: list[tuple[str, int]] = []
        self.rules: list[tuple[str, int]] = []
        self.bytes = 0  # of the files
        self._root = root  # without symlinks
        self._options = options
        self._globs = GlobRules(options)

    def visit(self, folder: _Folder, pending: list[_Folder]) -> None:
        """Check every entry of `folder`: record the files, and append the folders that remain to visit to `pending`."""
        try:
            handle = os.open(folder.path, _OPEN_FOLDER if folder.relative else _OPEN_ROOT)
        except OSError as error:
            self.skipped.append(Skip(folder.relative, _os_reason(error)))
            return
        try:
            info = os.fstat(handle)
            if folder.inode not in (0, info.st_ino) and not self._is_mounted(folder):
                self.skipped.append(Skip(folder.relative, "vanished"))
                return
            with os.scandir(handle) as listing:
                entries = list(listing)
            self.folders.append((folder.relative[:-1], info.st_mtime_ns))
            names = {entry.name for entry in entries}
            if folder.relative and ".git" in names and (nested := nested_since(handle)) is not None:
                self.rules.append((folder.relative + ".git", nested))
                path = folder.relative[:-1]
                inside = self._globs.inside_nested(path.rpartition("/")[2], path, folder.inherited)
                if inside is None:
                    self.folders.pop()  # what comes and goes in there is of no concern
                    self.skipped.append(Skip(folder.relative, NESTED))
                    return
                folder = folder._replace(inherited=inside)
            for name in names.intersection(IGNORE_FILES):
                rule = os.stat(name, dir_fd=handle, follow_symlinks=False)
                self.rules.append((folder.relative + name, rule.st_mtime_ns))
            layers = layers_inside(folder.layers, folder.path, folder.relative, names, handle)
            self._judge_all(entries, folder._replace(layers=layers), handle, pending)
        except OSError as error:
            self.skipped.append(Skip(folder.relative, _os_reason(error)))
        finally:
            os.close(handle)

    def _is_mounted(self, folder: _Folder) -> bool:
        """Whether a folder whose inode differs from its parent's listing is a mount; False if it was replaced.

        The whole path is checked: a folder above may have become a link that leads out of the root.
        """
        return os.path.realpath(folder.path) == os.path.join(self._root, folder.relative.rstrip("/"))

    def _judge_all(self, entries: list[os.DirEntry[str]], folder: _Folder, handle: int, pending: list[_Folder]) -> None:
        flat = tuple(layer for kind in folder.layers for layer in kind)
        relative, hidden = folder.relative, self._options.hidden
        simple = not self._globs and folder.inherited.reason is None
        may_match = _name_filter(flat).may_match
        for entry in entries:
            name = entry.name
            if name in ALWAYS_SKIPPED:
                continue
            path = relative + name
            is_folder, inherited = False, NOTHING
            try:
                is_folder = entry.is_dir(follow_symlinks=False)
                if not name.isascii() and _printable(name) != name:
                    reason: str | None = "not_utf8_path"
                elif not simple:
                    reason, inherited = self._globs.judge(name, path, is_folder, flat, folder.inherited)
                elif flat and (is_folder or may_match(name)):
                    reason = _rule(name, path, is_folder, flat, hidden)
                else:
                    reason = "hidden" if name[0] == "." and not hidden and name not in _SHOWN else None
                if reason is None:
                    if not is_folder:
                        reason = self._take(entry, path, handle)
                    else:
                        inner = _Folder(f"{folder.path}{name}/", path + "/", folder.layers, inherited, entry.inode())
                        pending.append(inner)
            except OSError as error:
                reason = _os_reason(error)
            if reason:
                self.skipped.append(Skip(_printable(path) + "/" * is_folder, reason))

    def _take(self, entry: os.DirEntry[str], path: str, handle: int) -> str | None:
        """Add a file to `files`, and return None; or return the reason why the file is skipped."""
        info = entry.stat(follow_symlinks=False)
        mode = info.st_mode
        if not stat.S_ISREG(mode):
            return "symlink" if stat.S_ISLNK(mode) else "special"
        if info.st_size > self._options.max_file_bytes:
            return "too_large"
        # Most files are readable by everybody; only for the others is a system call needed.
        if mode & 0o444 != 0o444 and not os.access(entry.name, os.R_OK, dir_fd=handle):
            return "unreadable"
        self.bytes += info.st_size
        self.files.append(FileEntry(path, info.st_size, info.st_mtime_ns, info.st_ctime_ns))
        return None


@lru_cache(maxsize=256)
def _name_filter(flat: tuple[Layer, ...]) -> NameFilter:
    return NameFilter(layer.rules for layer in flat)


def _rule(name: str, path: str, is_folder: bool, flat: tuple[Layer, ...], hidden: bool) -> str | None:
    """The reason why an entry is excluded: "ignored" by an ignore file, "hidden" by its name; None if it is not."""
    verdict = ignoring(flat, name, path, is_folder)[0] if flat else None
    if verdict is not None:
        return "ignored" if verdict else None
    return "hidden" if name[0] == "." and not hidden and name not in _SHOWN else None


def nested_since(handle: int) -> int | None:
    """The st_mtime_ns of the `.git` file in an open folder; None if there is no `.git`, or if `.git` is a folder.

    A linked worktree and a submodule have a `.git` file: their files belong to another work tree. A plain repository
    has a `.git` folder; its files belong to the enclosing tree, as for ripgrep: folders of clones are searched as one.
    """
    try:
        info = os.stat(".git", dir_fd=handle, follow_symlinks=False)
    except OSError:
        return None
    return info.st_mtime_ns if stat.S_ISREG(info.st_mode) else None


def _os_reason(error: OSError) -> str:
    if error.errno in SHORTAGES:
        raise BadPathError(f"cannot walk the tree: {str(error.strerror).lower()}", hint="raise the limit (ulimit -n)")
    return "vanished" if isinstance(error, (FileNotFoundError, NotADirectoryError)) else "unreadable"


def _printable(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
