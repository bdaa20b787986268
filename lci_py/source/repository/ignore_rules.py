"""The patterns of ignore files, and which names and paths they match."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from lci_py.errors import BadGlobError

# Bounds on lines with wildcards, each of which takes some 50 µs to compile. Real ignore files have at most a tenth.
_MAX_LINE = 1000  # characters of one
_MAX_GLOBS = 32_000  # characters of all
_POSIX_CLASSES = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "xdigit": "0-9a-fA-F",
    "space": " \t\n\r\f\v",
}  # fmt: skip
# pathspec translates "*" to "[^/]*". Between two of these in a segment are sets, escapes and plain characters.
_STARS = re.compile(r"(?:\[\^/\]\*)+")
_STAR_THEN_STAR = re.compile(r"\[\^/\]\*((?:(?!\[\^/\]\*)(?:\[\^?\]?[^\]]*\]|\\.|[^/\[(\\]))+)(?=\[\^/\]\*)", re.DOTALL)
# "**/" at the beginning of a translation, and "/**/" between two segments.
_FIRST_FOLDERS, _FOLDERS = "(?:.+/)?", "(?:/.+)?/"
_star_numbers = itertools.count()  # makes names of groups unique


class _Pattern(NamedTuple):
    negated: bool
    folders_only: bool
    by_path: bool  # matches the path, not the name
    text: str  # a regular expression if `is_glob`, what names end in if `is_suffix`, else the whole text
    is_glob: bool
    is_suffix: bool = False


class _Table:
    """Patterns over one kind of text: names or paths."""

    __slots__ = ("_literals", "_regex", "_sources", "_suffixes")

    def __init__(self, patterns: Sequence[tuple[int, _Pattern]]) -> None:
        self._literals: dict[str, int] = {}
        self._suffixes: dict[int, dict[str, int]] = {}  # by length: looking them up is faster than many alternatives
        for index, pattern in patterns:
            if pattern.is_suffix:
                self._suffixes.setdefault(len(pattern.text), {})[pattern.text] = index
            elif not pattern.is_glob:
                self._literals[pattern.text] = index
        # Last pattern first: the leftmost alternative that matches is then the last pattern that does.
        globs = [(index, pattern.text) for index, pattern in reversed(patterns) if pattern.is_glob]
        self._sources = "|".join(f"(?P<p{index}>{text})" for index, text in globs)
        self._regex: re.Pattern[str] | None = None

    def find(self, text: str) -> int:
        """The index of the last pattern that matches, -1 if none does."""
        found = self._literals.get(text, -1)
        for size, suffixes in self._suffixes.items():
            if (index := suffixes.get(text[-size:], -1)) > found:
                found = index
        if self._sources:
            # Compiled on first use: many ignore files are never applied to a file, or to a folder.
            self._regex = self._regex or _compile(self._sources)
            match = self._regex.fullmatch(text)
            if match is not None and match.lastgroup is not None:  # the group closed last, so the outermost
                return max(found, int(match.lastgroup[1:]))
        return found


class IgnoreRules:
    """The lines of one ignore file, applied to one entry at a time; the folders above it have been checked before.

    pathspec's GitIgnoreSpec matches a path together with its parents, so that `a/**` prunes `a` and a later `!a/b` is
    lost: only pathspec's translation of a single glob is used.
    """

    __slots__ = ("_lines", "_negated", "_tables")

    def __init__(self, lines: Iterable[str], *, strict: bool = False) -> None:
        patterns: list[tuple[int, _Pattern]] = []
        self._lines: list[tuple[int, str]] = []
        for number, line in enumerate(lines, 1):
            try:
                pattern = _parse_line(line)
            except ValueError as error:
                if strict:
                    raise BadGlobError(f"bad glob {line!r}", hint="globs are written as in .gitignore") from error
                continue  # git drops a malformed line, too
            if pattern is not None:
                patterns.append((len(patterns), pattern))
                self._lines.append((number, line))
        self._negated = [pattern.negated for _, pattern in patterns]
        self._tables = [  # names of files, names of folders, paths of files, paths of folders
            _Table([item for item in patterns if item[1].by_path == by_path and (folders or not item[1].folders_only)])
            for by_path in (False, True)
            for folders in (False, True)
        ]

    def __bool__(self) -> bool:
        return bool(self._negated)

    def match(self, name: str, path: str, is_folder: bool) -> bool | None:
        """Whether the last matching line is a plain one (True) or a negation (False); None if none matches."""
        found = self._find(name, path, is_folder)
        return None if found < 0 else not self._negated[found]

    def line(self, name: str, path: str, is_folder: bool) -> tuple[int, str]:
        """Number, from 1 on, and text of the line that decides; one must match."""
        return self._lines[self._find(name, path, is_folder)]

    def _find(self, name: str, path: str, is_folder: bool) -> int:
        return max(self._tables[is_folder].find(name), self._tables[2 + is_folder].find(path))


@lru_cache(maxsize=256)
def parse_ignore_file(data: bytes) -> IgnoreRules:
    """The rules of an ignore file. Cached, since many folders of a repository have the same few lines."""
    # Not splitlines(): git ends a line at "\n" only. Surrogates stand for the same bytes as in names on disk.
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n")
    room, kept = _MAX_GLOBS, []
    for line in lines:
        if any(char in "*?[\\" for char in line):
            room -= len(line)
            if room < 0 or len(line) > _MAX_LINE:
                line = ""  # compiling such a file would take minutes
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
    if core[0] == "*" and not by_path and len(core) > 1 and not any(char in "*?[\\" for char in core[1:]):
        return _Pattern(negated, folders_only, by_path, core[1:], False, True)  # `*.o`, as most are
    is_glob = any(char in "*?[\\" for char in core)
    return _Pattern(negated, folders_only, by_path, _glob_regex(core) if is_glob else core, is_glob)


def _glob_regex(core: str) -> str:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # 35 ms; many repositories need no glob

    if "/" not in core and "\\" not in core:
        core = re.sub(r"\*\*+", "*", core)  # "**" means more than "*" only between slashes
    elif core.endswith("/**"):
        core += "/*"  # everything in the folder, but not the folder itself
    for name, members in _POSIX_CLASSES.items():
        core = core.replace(f"[:{name}:]", members)
    regex, _ = GitIgnoreSpecPattern.pattern_to_regex("/" + core)
    if regex is None:
        raise ValueError(core)
    if regex == ".":  # pathspec's translation of "**/*", which it searches for; here the whole text must match
        return ".+"
    # Collapse stars, and make all but the last of a segment atomic: otherwise "*a*a*a*a*b" takes seconds per name.
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
    """As `_atomic`, for "**" and the segments up to the next one: "**/a/**/a/**/a/**/b" would take exponential time."""
    first, *parts = regex.split(_FOLDERS)
    if not parts:
        return regex
    if first.startswith(f"^{_FIRST_FOLDERS}"):
        first = "^" + _atomic(f"(?:.+?/)??{first[len(_FIRST_FOLDERS) + 1 :]}(?=/)")
    return first + "".join(_atomic(f"(?:/.+?)??/{part}(?=/)") for part in parts[:-1]) + _FOLDERS + parts[-1]


def _atomic(regex: str) -> str:
    """`regex` without backtracking into it; Python has `(?>…)` only from 3.11 on."""
    name = f"s{next(_star_numbers)}"
    return f"(?=(?P<{name}>{regex}))(?P={name})"


def _compile(regex: str) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # "[[" is legal in a glob
        return re.compile(regex, re.DOTALL)
