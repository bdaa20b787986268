"""What a git work tree says about itself, and the language of ignore files.

Nothing about the work tree raises: what cannot be read is absent.
"""

from __future__ import annotations

import itertools
import os
import re
import stat
import warnings
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from lci_py.errors import BadGlobError

_SHA = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})")
_SMALL = 64 * 1024
_MAX_GIT_INDEX = 512 * 1024 * 1024
_MAX_PACKED = 256 * 1024 * 1024
_MAX_SYMREFS = 5  # git's own limit
# Of an ignore file's lines with wildcards, each of which costs some 50 µs to compile. The largest in use have a tenth.
_MAX_LINE = 1000  # characters of one
_MAX_GLOBS = 32_000  # characters of all
_BRANCH = "refs/heads/"
_POSIX_CLASSES = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "xdigit": "0-9a-fA-F",
    "space": " \t\n\r\f\v",
}  # fmt: skip
# In pathspec's translation, "*" is "[^/]*"; between two of one segment stand sets, escapes and plain characters.
_STARS = re.compile(r"(?:\[\^/\]\*)+")
_STAR_THEN_STAR = re.compile(r"\[\^/\]\*((?:(?!\[\^/\]\*)(?:\[\^?\]?[^\]]*\]|\\.|[^/\[(\\]))+)(?=\[\^/\]\*)", re.DOTALL)
# "**/" at the beginning, and "/**/" between two segments.
_FIRST_FOLDERS, _FOLDERS = "(?:.+/)?", "(?:/.+)?/"
_star_numbers = itertools.count()  # a group's name may occur once per expression


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


# --- ignore patterns


class _Pattern(NamedTuple):
    negated: bool
    folders_only: bool
    by_path: bool  # matches the path, not the name
    text: str  # a regular expression if `is_glob`
    is_glob: bool


class _Table:
    """Patterns over one kind of text (a name or a path)."""

    __slots__ = ("_literals", "_regex", "_sources")

    def __init__(self, patterns: Sequence[tuple[int, _Pattern]]) -> None:
        self._literals = {pattern.text: index for index, pattern in patterns if not pattern.is_glob}
        # Last pattern first: the leftmost alternative that matches is then the one that decides.
        globs = [(index, pattern.text) for index, pattern in reversed(patterns) if pattern.is_glob]
        self._sources = "|".join(f"(?P<p{index}>{text})" for index, text in globs)
        self._regex: re.Pattern[str] | None = None

    def find(self, text: str) -> int:
        """The index of the last pattern that matches, -1 if none does."""
        found = self._literals.get(text, -1)
        if self._sources:
            # Compiled on first use: many ignore files never meet a file, or never meet a folder.
            self._regex = self._regex or _compile(self._sources)
            match = self._regex.fullmatch(text)
            if match is not None and match.lastgroup is not None:  # the group closed last, so the outermost
                return max(found, int(match.lastgroup[1:]))
        return found


class IgnoreRules:
    """The lines of one ignore file, applied to one entry at a time (the folders above it have been judged).

    pathspec's GitIgnoreSpec matches a path together with its parents, so that `a/**` prunes `a` and a later `!a/b`
    is lost: only pathspec's translation of a single glob is used.
    """

    __slots__ = ("_negated", "_tables")

    def __init__(self, lines: Iterable[str], *, strict: bool = False) -> None:
        patterns: list[tuple[int, _Pattern]] = []
        for line in lines:
            try:
                pattern = _parse_line(line)
            except ValueError as error:
                if strict:
                    raise BadGlobError(f"bad glob {line!r}", hint="globs are written as in .gitignore") from error
                continue  # git drops a malformed line, too
            if pattern is not None:
                patterns.append((len(patterns), pattern))
        self._negated = [pattern.negated for _, pattern in patterns]
        self._tables = [  # names of files, names of folders, paths of files, paths of folders
            _Table([item for item in patterns if item[1].by_path == by_path and (folders or not item[1].folders_only)])
            for by_path in (False, True)
            for folders in (False, True)
        ]

    def __bool__(self) -> bool:
        return bool(self._negated)

    def match(self, name: str, path: str, is_folder: bool) -> bool | None:
        """Whether the last line that matches is a plain one (True) or a negation (False); None if none matches."""
        found = max(self._tables[is_folder].find(name), self._tables[2 + is_folder].find(path))
        return None if found < 0 else not self._negated[found]


@lru_cache(maxsize=256)
def parse_ignore_file(data: bytes) -> IgnoreRules:
    """Cached, since many folders of a repository hold the same few lines."""
    # Not splitlines(): git ends a line at "\n" only. Surrogates stand for the same bytes as in names on disk.
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n")
    room, kept = _MAX_GLOBS, []
    for line in lines:
        if any(char in "*?[\\" for char in line):
            room -= len(line)
            if room < 0 or len(line) > _MAX_LINE:
                continue  # nobody's ignore file: it would take minutes
        kept.append(line)
    return IgnoreRules(kept)


def _parse_line(line: str) -> _Pattern | None:
    line = line.removesuffix("\r")
    bare = line.rstrip(" ")
    line = bare + " " if bare != line and bare.endswith("\\") else bare
    negated = line.startswith("!")
    core = line[1:] if negated else line
    folders_only = core.endswith("/")
    core = core[:-1] if folders_only else core
    by_path = "/" in core
    core = core.removeprefix("/")
    if by_path and core == "**":
        core = "**/*"  # everything below, at any depth
    if not core or line.startswith("#"):
        return None
    is_glob = any(char in "*?[\\" for char in core)
    return _Pattern(negated, folders_only, by_path, _glob_regex(core) if is_glob else core, is_glob)


def _glob_regex(core: str) -> str:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # 35 ms; many repositories need no glob

    if "/" not in core and "\\" not in core:
        core = re.sub(r"\*\*+", "*", core)  # "**" means more than "*" only between slashes
    elif core.endswith("/**"):
        core += "/*"  # everything below the folder, but not the folder
    for name, members in _POSIX_CLASSES.items():
        core = core.replace(f"[:{name}:]", members)
    regex, _ = GitIgnoreSpecPattern.pattern_to_regex("/" + core)
    if regex is None:
        raise ValueError(core)
    if regex == ".":  # pathspec searches, and so writes "everything" for "**/*"; here the whole text must match
        return ".+"
    # Collapsed, and then atomic but for the last of a segment: "*a*a*a*a*b" would take seconds per name otherwise.
    regex = _STAR_THEN_STAR.sub(_atomic_star, _STARS.sub("[^/]*", regex))
    regex = _atomic_folders(regex)
    # Its one group is named, and a name may occur once per expression. A negated set must not match "/".
    regex = re.sub(r"\[\^(?!/\])", "(?!/)[^", regex.replace("(?P<ps_d>", "(?:"))
    try:
        _compile(regex)
    except re.error as error:  # such as the range [z-a]
        raise ValueError(core) from error
    return regex


def _atomic_star(match: re.Match[str]) -> str:
    # The earliest match of what follows a star is as good as any when another star comes after it (cf. fnmatch).
    return _atomic(f"[^/]*?{match[1]}")


def _atomic_folders(regex: str) -> str:
    """The same for "**" and the segments up to the next one: "**/a/**/a/**/a/**/b" would take as long."""
    first, *parts = regex.split(_FOLDERS)
    if not parts:
        return regex
    if first.startswith(f"^{_FIRST_FOLDERS}"):
        first = "^" + _atomic(f"(?:.+?/)??{first[len(_FIRST_FOLDERS) + 1 :]}(?=/)")
    return first + "".join(_atomic(f"(?:/.+?)??/{part}(?=/)") for part in parts[:-1]) + _FOLDERS + parts[-1]


def _atomic(regex: str) -> str:
    """`regex` without the way back to its other matches; Python has `(?>…)` from 3.11 on only."""
    name = f"s{next(_star_numbers)}"
    return f"(?=(?P<{name}>{regex}))(?P={name})"


def _compile(regex: str) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # "[[" is legal in a glob
        return re.compile(regex, re.DOTALL)
