"""What the files of a git work tree say: its root, branch, commit and refs, and where its exclude files are.

Nothing here raises because of the work tree: a file that cannot be read counts as absent.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path

_SHA = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})")
_SMALL = 64 * 1024
_MAX_GIT_INDEX = 512 * 1024 * 1024
_MAX_PACKED = 256 * 1024 * 1024
_MAX_SYMREFS = 5  # git's own limit
_BRANCH = "refs/heads/"


def git_root(path: Path) -> Path | None:
    """The nearest of `path` and its parents that holds a `.git` folder or file, None outside a work tree."""
    try:
        start = path.resolve()
    except (OSError, RuntimeError, ValueError):  # a symlink loop, a NUL in the path
        return None
    for folder in (start, *start.parents):
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
    return None


def common_dir(root: Path) -> Path | None:
    """The folder with the refs and info/exclude of the work tree at `root`; its worktrees share it."""
    dirs = _git_dirs(root)
    return dirs[1] if dirs else None


def head(root: Path) -> tuple[str | None, str | None]:
    """The checked-out commit and branch.

    Args:
        root: A folder in a work tree.
    Returns:
        (commit, branch). The branch is None on a detached HEAD, the commit is None on a branch without commits,
        both are None outside a work tree and where git keeps its refs in a form not read here (reftable).
    """
    top = git_root(root)
    dirs = _git_dirs(top) if top else None
    if dirs is None:
        return None, None
    git_dir, common = dirs
    text = _read(git_dir / "HEAD")
    if text is None:
        return None, None
    ref = _symref(text)
    if ref is None:
        return _sha(text), None
    if ref == "refs/heads/.invalid":  # what git writes for older readers when the refs are in a reftable
        return None, None
    branch = ref[len(_BRANCH) :] if ref.startswith(_BRANCH) else None
    return _resolve(ref, git_dir, common), branch


def ref_tips(root: Path, refs: Iterable[str]) -> dict[str, str]:
    """The objects that refs (refs/…) of the work tree around `root` name, by git's files alone; others are left out."""
    top = git_root(root)
    dirs = _git_dirs(top) if top else None
    found: dict[str, str] = {}
    packed: bytes | None = None
    for ref in refs:
        if dirs is None or _symref(f"ref:{ref}") != ref:
            continue
        text = _read(dirs[0] / ref) or _read(dirs[1] / ref)
        if text is not None:
            target = _symref(text)
            sha = _sha(text) if target is None else _resolve(target, *dirs)
        else:
            packed = _whole(dirs[1] / "packed-refs") if packed is None else packed
            end = packed.find(b" %b\n" % ref.encode("utf-8", "surrogateescape"))
            sha = _sha(packed[packed.rfind(b"\n", 0, end) + 1 : end].decode("ascii", "replace")) if end > 0 else None
        if sha is not None:
            found[ref] = sha
    return found


def global_excludes(root: Path) -> str:
    """The path of git's global ignore file as seen from `root`; nothing need be there."""
    import subprocess

    command = ["git", "config", "--type=path", "--null", "--get", "core.excludesFile"]
    try:
        done = subprocess.run(command, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, timeout=5, check=False)
        if done.returncode == 0:
            return os.path.join(root, os.fsdecode(done.stdout.removesuffix(b"\0")))
    except (OSError, subprocess.SubprocessError):
        pass  # without git, its default place still counts
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(config, "git", "ignore")


def is_tracked(folder: Path) -> bool:
    """Whether git tracks a file below `folder`, which may be gone. False where git is not installed.

    Asking git takes longer than a refresh may, so git's own index is searched for the folder's name first.
    """
    top = git_root(folder.parent)
    dirs = _git_dirs(top) if top else None
    if top is None or dirs is None:
        return False
    try:
        with open(dirs[0] / "index", "rb") as file:
            data = file.read(_MAX_GIT_INDEX)
        name = os.fsencode(folder.resolve().relative_to(top)) + b"/"
    except (OSError, RuntimeError, ValueError):
        return False
    # From version 4 on, a path is stored as its difference from the one before.
    if data[:4] != b"DIRC" or (data[4:8] in (b"\0\0\0\2", b"\0\0\0\3") and name not in data):
        return False
    import subprocess

    # A repository's own fsmonitor would be a program of somebody else's.
    command = ["git", "-c", "core.fsmonitor=false", "--literal-pathspecs", "ls-files", "-z", "--", os.fsdecode(name)]
    try:
        done = subprocess.run(command, cwd=top, stdin=subprocess.DEVNULL, capture_output=True, timeout=5, check=False)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0 and bool(done.stdout)


def _git_dirs(root: Path) -> tuple[Path, Path] | None:
    """The git folder of this work tree, and the one it shares with the repository's other work trees."""
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


def _resolve(ref: str, git_dir: Path, common: Path) -> str | None:
    for _ in range(_MAX_SYMREFS):
        # Refs outside refs/heads (refs/bisect, refs/worktree) may belong to one work tree only.
        text = _read(git_dir / ref) or _read(common / ref)
        if text is None:
            return _packed(common / "packed-refs", ref)
        target = _symref(text)
        if target is None:
            return _sha(text)
        ref = target
    return None


def _packed(path: Path, ref: str) -> str | None:
    wanted = ref.encode("utf-8", "surrogateescape")
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        with open(path, "rb") as lines:
            for line in lines:
                sha, _, name = line.rstrip(b"\r\n").partition(b" ")
                if name == wanted:
                    return _sha(sha.decode("ascii", "replace"))
    except (OSError, ValueError):
        pass
    return None


def _whole(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return b""
        with open(path, "rb") as file:
            return file.read(_MAX_PACKED)
    except (OSError, ValueError):
        return b""


def _symref(text: str) -> str | None:
    """The ref that `text` points to, None if it points to none that is safe to use as a path."""
    if not text.startswith("ref:"):
        return None
    ref = text[len("ref:") :].strip()
    # A repository from elsewhere must not make us read files outside its git folder.
    return ref if ref.startswith("refs/") and ".." not in ref.split("/") else None


def _sha(text: str) -> str | None:
    text = text.strip()
    return text if _SHA.fullmatch(text) else None


def _read(path: Path) -> str | None:
    """The text of a small regular file; a FIFO would block, so it counts as absent."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        with open(path, "rb") as file:
            return file.read(_SMALL).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None
