"""Reads git's own files about a work tree: its root, branch, commit, refs and exclude files; or runs git."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.repository.workspace import is_workspace

if TYPE_CHECKING:
    import subprocess

_SHA = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})")
_SMALL = 64 * 1024
_MAX_GIT_INDEX = 512 * 1024 * 1024
_MAX_PACKED = 256 * 1024 * 1024
_MAX_SYMREFS = 5  # git's own limit
_MAX_WORKTREES = 200
_BRANCH = "refs/heads/"
#: Seconds for what reads a whole tree.
_DIFF_SECONDS = 60
#: Modes of regular files.
_FILE_MODES = ("100644", "100755")
#: An entry of git's index, as `ls-files --stage --debug` prints it, and the flag of one that is not checked out.
_STAGED = (
    rb"(?:100644|100755) (?P<sha>[0-9a-f]+) 0\t(?P<path>[^\0]+)\0  ctime: (?P<ctime>\d+):(?P<ctime_ns>\d+)\n"
    rb"  mtime: (?P<mtime>\d+):(?P<mtime_ns>\d+)\n  dev:.*\n  uid:.*\n  size: (?P<size>\d+)"
    rb"\tflags: (?P<flags>[0-9a-f]+)\n"
)
_SKIPPED = 1 << 30
# Variables that point to another repository or its objects. git sets them when it runs a hook.
_ELSEWHERE = frozenset({
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_REPLACE_REF_BASE",
})  # fmt: skip


def git_root(path: Path) -> Path | None:
    """The root of the work tree around `path`: the nearest folder that holds a `.git` folder or file; None outside.

    A workspace belongs to no work tree, even if git tracks the user's home folder.
    """
    try:
        start = path.resolve()
    except (OSError, RuntimeError, ValueError):  # a symlink loop, a NUL in the path
        return None
    if is_workspace(start):
        return None
    for folder in (start, *start.parents):
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
    return None


def common_dir(root: Path) -> Path | None:
    """The folder with the refs and info/exclude of the work tree at `root`; linked worktrees share this folder."""
    dirs = _git_dirs(root)
    return dirs[1] if dirs else None


def is_cut_off(root: Path, commit: str) -> bool:
    """Whether a shallow clone ends at this commit: its parents are missing, so it seems to add all its files."""
    common = common_dir(root)
    return common is not None and commit in (_read(common / "shallow") or "").split()


def other_worktrees(root: Path) -> list[Path]:
    """The other work trees of the repository around `root`, without symlinks. Reads git's files, without running git.

    The main work tree comes first. Files in a clone can name any folder of this machine, so a work tree counts only if
    its own `.git` leads to the same repository, and if that repository lists the work tree at `root`.
    """
    top = git_root(root)
    dirs = _git_dirs(top) if top else None
    if top is None or dirs is None:
        return []
    common = _real(dirs[1])
    paths = [os.path.dirname(common)] if os.path.basename(common) == ".git" else []
    folder = os.path.join(common, "worktrees")
    try:
        names = sorted(os.listdir(folder))[:_MAX_WORKTREES]
    except (OSError, ValueError):
        names = []
    for name in names:
        dot_git = (_read(Path(folder, name, "gitdir")) or "").strip()
        if os.path.basename(dot_git) == ".git":
            paths.append(os.path.dirname(os.path.join(folder, name, dot_git)))
    trees = dict.fromkeys(Path(_real(path)) for path in paths)
    if top not in trees:
        return []
    return [tree for tree in trees if tree != top and (own := _git_dirs(tree)) and _real(own[1]) == common]


def _real(path: str | Path) -> str:
    """Resolve the symlinks of a path; a path that cannot exist (it contains a NUL) is returned unchanged."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return str(path)


def head(root: Path) -> tuple[str | None, str | None]:
    """The checked-out commit and branch.

    Args:
        root: A folder in a work tree.
    Returns:
        (commit, branch). The branch is None on a detached HEAD. The commit is None on a branch without commits. Both
        are None outside a work tree, and if git keeps its refs in a form that is not read here (reftable).
    """
    top = git_root(root)
    dirs = _git_dirs(top) if top else None
    if dirs is None:
        return None, None
    text = _read(dirs[0] / "HEAD")
    if text is None:
        return None, None
    ref = _symref(text)
    if ref is None:
        return _sha(text), None
    if ref == "refs/heads/.invalid":  # git writes this for older readers when the refs are in a reftable
        return None, None
    branch = ref[len(_BRANCH) :] if ref.startswith(_BRANCH) else None
    return _Refs(*dirs).sha(ref), branch


def ref_tips(root: Path, refs: Iterable[str]) -> dict[str, str]:
    """Maps those of `refs` (refs/…) that exist to object ids. Reads the files of git, without running git."""
    top = git_root(root)
    dirs = _git_dirs(top) if top else None
    if dirs is None:
        return {}
    reader = _Refs(*dirs)
    tips = {ref: reader.sha(ref) for ref in refs if _symref(f"ref:{ref}") == ref}
    return {ref: sha for ref, sha in tips.items() if sha is not None}


# --- running git --------------------------------------------------------------------------------------------------
#
# A clone's configuration is hostile: it may name programs (fsmonitor, hooks, an ssh command, an external diff), and a
# partial clone fetches what it lacks. Every call of git in this program goes through `git_command` and
# `git_environment`, which keep git to the objects and files that are there.


def git_command(*arguments: str, hooks: bool = False) -> list[str]:
    """A git command line with options that keep git from running other programs and a pager.

    Args:
        arguments: The command and its arguments; pathspecs are literal.
        hooks: Whether the command asks where the hooks are. The command must not run any hook.
    """
    settings = ["core.fsmonitor=false", "diff.external=", *([] if hooks else [f"core.hooksPath={os.devnull}"])]
    options = [part for setting in settings for part in ("-c", setting)]
    return ["git", "--no-pager", "--literal-pathspecs", *options, *arguments]


def git_environment() -> dict[str, str]:
    """Environment variables for git, so that it never prompts, takes no optional lock and reaches no network."""
    environment = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    return environment | {
        "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none",  # the second for a git that ignores the first
        "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C",
    }  # fmt: skip


def run_git(
    folder: Path, *arguments: str, hooks: bool = False, seconds: float = 5
) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder and wait for it, with its output captured.

    Args:
        hooks: As for `git_command`.
    Raises:
        OSError: git cannot be started.
        subprocess.SubprocessError: git took too long.
    """
    import subprocess

    command = git_command(*arguments, hooks=hooks)
    return subprocess.run(
        command, cwd=folder, env=git_environment(), input=b"", capture_output=True, timeout=seconds, check=False
    )


def git_output(folder: Path, *arguments: str, seconds: float = 5) -> bytes:
    """Run git as `run_git` does, and return its output.

    Raises:
        OSError: git cannot be started, or cannot answer.
        subprocess.SubprocessError: git took too long.
    """
    process = run_git(folder, *arguments, seconds=seconds)
    if process.returncode:
        raise OSError(process.stderr.decode("utf-8", "replace").strip() or "git failed")
    return process.stdout


def git_answer(folder: Path, *arguments: str) -> bytes | None:
    """Run git and return its output; None if git cannot answer, for whatever reason."""
    import subprocess

    try:
        return git_output(folder, *arguments)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


class ChangedFile(NamedTuple):
    """A file of the work tree that differs, or may differ, from a commit."""

    path: str  # relative to the folder that was asked about
    blob: str  # git's id of the content in the commit; "" if it had no such file


def commit_of(folder: Path, revision: str) -> str | None:
    """The id of the commit that a revision names; None if there is no such commit, or no git work tree."""
    if revision.startswith("-") or "\0" in revision:
        return None
    return _object(git_answer(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"))


#: The first git that knows every option that it is given here.
_OLDEST = (2, 24)


def git_problem(folder: Path) -> str:
    """The reason, as a clause, why git does not answer about the work tree around a folder; "" if git answers."""
    import subprocess

    try:
        process, version = run_git(folder, "rev-parse", "--git-dir"), run_git(folder, "version")
    except OSError as error:
        return f"git cannot be started ({(error.strerror or str(error)).lower()})"
    except subprocess.SubprocessError:
        return "git does not answer"
    match = re.search(rb"(\d+)\.(\d+)", version.stdout)
    if match and (int(match[1]), int(match[2])) < _OLDEST:
        return f"git is too old ({match[0].decode()}, {_OLDEST[0]}.{_OLDEST[1]} is needed)"
    if process.returncode:
        said = " ".join(process.stderr.decode("utf-8", "replace").split("\n\n")[0].split())
        return f"git refuses the repository ({said.removeprefix('fatal: ')[:300] or 'it does not say why'})"
    return ""


def merge_base(folder: Path, commit: str) -> str | None:
    """The id of the last commit that HEAD and `commit` have in common; None if there is none in this clone."""
    return _object(git_answer(folder, "merge-base", commit, "HEAD"))


def _object(answer: bytes | None) -> str | None:
    """Take the object id out of git's answer; None if the answer has no id."""
    return None if answer is None else _sha(answer.decode("ascii", "replace"))


def changed_since(folder: Path, commit: str) -> list[ChangedFile]:
    """The files of the work tree that may differ from a commit, including untracked ones that are not ignored.

    A file whose time and size are those in git's index is not read. git itself must not compare files: it would run the
    filters that the configuration names.

    Raises:
        OSError: git cannot be started, or cannot answer.
        subprocess.SubprocessError: git took too long.
    """
    tree, index, new = (
        git_output(folder, *arguments, seconds=_DIFF_SECONDS)
        for arguments in (
            ("ls-tree", "-r", "-z", commit),
            ("ls-files", "--stage", "--debug", "-z"),
            ("ls-files", "--others", "--exclude-standard", "-z"),
        )
    )
    before = {
        os.fsdecode(name): head.split()[2].decode("ascii")
        for head, _, name in (line.partition(b"\t") for line in tree.split(b"\0") if line)
        if head.split()[0].decode("ascii") in _FILE_MODES
    }
    staged = {os.fsdecode(match["path"]): match for match in re.finditer(_STAGED, index)}
    indexed_at = _index_time(folder)
    changes = []
    for path in sorted({*before, *staged}):
        entry, blob = staged.get(path), before.get(path, "")
        there = _stat(folder, path)
        if there is None:
            # What a sparse checkout leaves out has not been removed.
            changed = bool(blob) and not (entry is not None and int(entry["flags"], 16) & _SKIPPED)
        else:
            same = entry is not None and entry["sha"].decode("ascii") == blob
            changed = not (same and entry is not None and _is_clean(entry, there, indexed_at))
        if changed and (blob or there is not None):
            changes.append(ChangedFile(path, blob))
    seen = {change.path for change in changes} | before.keys() | staged.keys()
    others = {os.fsdecode(name) for name in new.split(b"\0") if name}
    return sorted([*changes, *(ChangedFile(path, "") for path in others - seen)])


def _stat(folder: Path, path: str) -> os.stat_result | None:
    try:
        info = os.lstat(os.path.join(folder, path))
    except (OSError, ValueError):
        return None
    return info if stat.S_ISREG(info.st_mode) else None


def _index_time(folder: Path) -> int:
    """The time at which git's index was written, in nanoseconds; 0 if unknown."""
    top = git_root(folder)
    dirs = _git_dirs(top) if top else None
    try:
        return os.lstat(dirs[0] / "index").st_mtime_ns if dirs else 0
    except (OSError, ValueError):
        return 0


def _is_clean(entry: re.Match[bytes], there: os.stat_result, indexed_at: int) -> bool:
    """Whether a file is unchanged since git's index recorded it; False if the file is as young as the index."""
    times = [int(entry[name]) * 1_000_000_000 + int(entry[f"{name}_ns"]) for name in ("ctime", "mtime")]
    return (
        times == [there.st_ctime_ns, there.st_mtime_ns]
        and int(entry["size"]) == there.st_size & 0xFFFFFFFF
        and there.st_mtime_ns < indexed_at
    )


def global_excludes(root: Path) -> str:
    """The path of git's global ignore file for the repository at `root`; the file need not exist."""
    answer = git_answer(root, "config", "--type=path", "--null", "--get", "core.excludesFile")
    if answer is not None:
        return os.path.join(root, os.fsdecode(answer.removesuffix(b"\0")))
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(config, "git", "ignore")  # the default, which counts without git as well


def is_tracked(folder: Path) -> bool:
    """Whether git tracks a file below `folder`. The folder may have been deleted. False if git is not installed.

    Running git is too slow for a refresh, so git's index is searched for the folder's name first.
    """
    top = git_root(folder.parent)
    dirs = _git_dirs(top) if top else None
    if top is None or dirs is None:
        return False
    data = _read_bytes(dirs[0] / "index", _MAX_GIT_INDEX)
    if data is None:
        return False
    try:
        name = os.fsencode(folder.resolve().relative_to(top)) + b"/"
    except (OSError, RuntimeError, ValueError):
        return False
    # From version 4 on, a path is stored as its difference from the one before.
    if data[:4] != b"DIRC" or (data[4:8] in (b"\0\0\0\2", b"\0\0\0\3") and name not in data):
        return False
    return bool(git_answer(top, "ls-files", "-z", "--", os.fsdecode(name)))


def _git_dirs(root: Path) -> tuple[Path, Path] | None:
    """(git folder of this work tree, git folder that all work trees of the repository share); None if there is none."""
    dot_git = root / ".git"
    if os.path.isdir(dot_git):
        git_dir = dot_git
    else:
        text = _read(dot_git)
        if text is None or not text.startswith("gitdir:"):
            return None
        git_dir = root / text[len("gitdir:") :].strip()
    common = _read(git_dir / "commondir")
    return git_dir, git_dir / common.strip() if common and common.strip() else git_dir


class _Refs:
    """Reads the refs of a work tree from git's own files."""

    def __init__(self, git_dir: Path, common: Path) -> None:
        self._git_dir = git_dir
        self._common = common

    def sha(self, ref: str) -> str | None:
        """The id of the object that a ref names; symbolic refs are followed. None if there is no such ref."""
        for _ in range(_MAX_SYMREFS):
            # Refs outside refs/heads (refs/bisect, refs/worktree) may belong to one work tree only.
            text = _read(self._git_dir / ref) or _read(self._common / ref)
            if text is None:
                return self._packed_sha(ref)
            target = _symref(text)
            if target is None:
                return _sha(text)
            ref = target
        return None

    def _packed_sha(self, ref: str) -> str | None:
        end = self._packed_refs.find(b" %b\n" % ref.encode("utf-8", "surrogateescape"))
        start = self._packed_refs.rfind(b"\n", 0, end) + 1
        return _sha(self._packed_refs[start:end].decode("ascii", "replace")) if end > 0 else None

    @cached_property
    def _packed_refs(self) -> bytes:
        data = _read_bytes(self._common / "packed-refs", _MAX_PACKED) or b""
        return data.replace(b"\r\n", b"\n") + b"\n"


def _symref(text: str) -> str | None:
    """The ref that a symbolic ref with this text names; None for any other text, or a name unsafe as a path."""
    if not text.startswith("ref:"):
        return None
    ref = text[len("ref:") :].strip()
    # An untrusted repository must not make us read files outside its git folder.
    return ref if ref.startswith("refs/") and ".." not in ref.split("/") else None


def _sha(text: str) -> str | None:
    text = text.strip()
    return text if _SHA.fullmatch(text) else None


def _read(path: Path) -> str | None:
    data = _read_bytes(path, _SMALL)
    return None if data is None else data.decode("utf-8", "replace")


def _read_bytes(path: Path, limit: int) -> bytes | None:
    """The first `limit` bytes of a regular file; None if it cannot be read, or is a FIFO or device, which may block."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            return file.read(limit) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    except (OSError, ValueError):
        return None
