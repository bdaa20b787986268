"""Parses the patterns of ignore files, and matches names and paths against them."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Iterable, Sequence
from functools import lru_cache

from lci_py.errors import BadGlobError
from lci_py.types.record import NamedTuple

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
    text: str  # a regular expression if `is_glob`, what names end or begin with if `is_end` or `is_start`, else a name
    is_glob: bool = False
    is_end: bool = False
    is_start: bool = False
    last: str = ""  # the last segment of what `is_glob` and `by_path`


class _Table:
    """Patterns that are matched against one kind of text: either names or paths."""

    __slots__ = ("_ends_by_size", "_regex", "_starts_by_size", "ends", "lasts", "literals", "sources", "starts")

    def __init__(self, patterns: Sequence[tuple[int, _Pattern]]) -> None:
        self.literals: dict[str, int] = {}
        self._ends_by_size: dict[int, dict[str, int]] = {}
        self._starts_by_size: dict[int, dict[str, int]] = {}
        for index, pattern in patterns:
            if pattern.is_end or pattern.is_start:
                by_size = self._ends_by_size if pattern.is_end else self._starts_by_size
                by_size.setdefault(len(pattern.text), {})[pattern.text] = index
            elif not pattern.is_glob:
                self.literals[pattern.text] = index
        # Nearly every text has none of these, which is found out at once.
        self.ends = tuple(text for texts in self._ends_by_size.values() for text in texts)
        self.starts = tuple(text for texts in self._starts_by_size.values() for text in texts)
        # Last pattern first: the leftmost alternative that matches is then the last pattern that does.
        globs = [(index, pattern.text) for index, pattern in reversed(patterns) if pattern.is_glob]
        self.sources = "|".join(f"(?P<p{index}>{text})" for index, text in globs)
        self.lasts = {pattern.last for _, pattern in patterns} - {""}
        self._regex: re.Pattern[str] | None = None

    @property
    def regex(self) -> re.Pattern[str]:
        """The globs as one regular expression, compiled on first use: many ignore files are never applied to a text."""
        self._regex = self._regex or _compile(self.sources)
        return self._regex

    def find(self, text: str) -> int:
        """The index of the last pattern that matches a text; -1 if none does."""
        index = self.literals.get(text, -1)
        if text.endswith(self.ends):
            index = max(index, *(by_text.get(text[-size:], -1) for size, by_text in self._ends_by_size.items()))
        if text.startswith(self.starts):
            index = max(index, *(by_text.get(text[:size], -1) for size, by_text in self._starts_by_size.items()))
        if self.sources:
            match = self.regex.fullmatch(text)
            if match is not None and match.lastgroup is not None:  # the group closed last, so the outermost
                return max(index, int(match.lastgroup[1:]))
        return index


class IgnoreRules:
    """The rules of one ignore file. They decide about one entry (file or folder), after the folders above it.

    pathspec's GitIgnoreSpec matches a path together with its parents, so that `a/**` prunes `a` and a later `!a/b` is
    lost: only pathspec's translation of a single glob is used.
    """

    __slots__ = ("_lines", "_negated", "_tables")

    def __init__(self, lines: Iterable[str], *, strict: bool = False) -> None:
        patterns: list[tuple[int, _Pattern]] = []
        self._lines: list[tuple[int, str]] = []
        self._negated: list[bool] = []
        for number, line in enumerate(lines, 1):
            try:
                parsed = _parse_line(line)
            except ValueError as error:
                if strict:
                    raise BadGlobError(f"bad glob {line!r}", hint="globs are written as in .gitignore") from error
                continue  # git drops a malformed line, too
            if parsed:
                patterns += ((len(self._lines), pattern) for pattern in parsed)
                self._lines.append((number, line))
                self._negated.append(parsed[0].negated)
        self._tables = [  # names of files, names of folders, paths of files, paths of folders
            _Table(own) if own else None
            for by_path in (False, True)
            for folders in (False, True)
            for own in [[item for item in patterns if item[1].by_path == by_path and folders >= item[1].folders_only]]
        ]

    def __bool__(self) -> bool:
        return bool(self._negated)

    def match(self, name: str, path: str, is_folder: bool) -> bool | None:
        """True if the last matching line ignores the entry, False if it begins with `!`; None if no line matches."""
        index = self._find(name, path, is_folder)
        return None if index < 0 else not self._negated[index]

    def line(self, name: str, path: str, is_folder: bool) -> tuple[int, str]:
        """(number from 1, text) of the line that decides about an entry. At least one line must match the entry."""
        return self._lines[self._find(name, path, is_folder)]

    def file_tables(self) -> list[_Table | None]:
        """[patterns for names of files, patterns for paths of files]; None for no patterns."""
        return self._tables[::2]

    def _find(self, name: str, path: str, is_folder: bool) -> int:
        names, paths = self._tables[is_folder], self._tables[2 + is_folder]
        index = names.find(name) if names is not None else -1
        return max(index, paths.find(path)) if paths is not None else index


class NameFilter:
    """Says quickly, by a file's name, if any of several ignore files may match it: asking all takes tenfold time."""

    def __init__(self, all_rules: Iterable[IgnoreRules]) -> None:
        tables = [table for rules in all_rules for table in rules.file_tables() if table is not None]
        # Of a pattern for paths, the last segment is compared.
        self._literals = {text.rpartition("/")[2] for table in tables for text in (*table.literals, *table.lasts)}
        self._ends, self._starts = (
            tuple({text for table in tables for text in getattr(table, name)}) for name in ("ends", "starts")
        )
        self._globs = [table for table in tables if table.sources and not table.lasts]
        self._all = any(_is_glob(text) for table in tables for text in table.lasts)

    def may_match(self, name: str) -> bool:
        """Whether a rule of the ignore files may match a file with this name."""
        if name in self._literals or name.endswith(self._ends) or name.startswith(self._starts):
            return True
        for table in self._globs:
            if table.regex.fullmatch(name) is not None:
                return True
        return self._all


@lru_cache(maxsize=256)
def parse_ignore_file(data: bytes) -> IgnoreRules:
    """Parse an ignore file. The result is cached, since many folders of a repository have the same few lines."""
    # Not splitlines(): git ends a line at "\n" only. Surrogates stand for the same bytes as in names on disk.
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n")
    room, usable = _MAX_GLOBS, []
    for line in lines:
        if any(char in "*?[\\" for char in line):
            room -= len(line)
            if room < 0 or len(line) > _MAX_LINE:
                line = ""  # compiling such a file would take minutes
        usable.append(line)
    return IgnoreRules(usable)


def _parse_line(line: str) -> list[_Pattern]:
    """The patterns that a line stands for: any one of them may match. [] for an empty line or a comment."""
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
        return []
    kind = (negated, folders_only, by_path)
    if not by_path and len(core) > 1 and "\\" not in core:  # `*.o` and `tmp-*`, as most globs are
        if core[0] == "*" and (ends := _without_set(core[1:])):
            return [_Pattern(*kind, end, is_end=True) for end in ends]
        if core[-1] == "*" and not _is_glob(core[:-1]):
            return [_Pattern(*kind, core[:-1], is_start=True)]
    return [
        _Pattern(*kind, _glob_regex(core), is_glob=True, last=core.rpartition("/")[2] if by_path else "")
        if _is_glob(core)
        else _Pattern(*kind, core)
    ]


def _is_glob(text: str) -> bool:
    return any(char in "*?[\\" for char in text)


def _without_set(text: str) -> list[str]:
    """Expand one short set of letters and digits: `.tab.[ch]` is [".tab.c", ".tab.h"]. [] for any other glob."""
    if (match := re.fullmatch(r"([^*?\[]*)\[([A-Za-z0-9]{1,8})\]([^*?\[]*)", text)) is not None:
        return [match[1] + char + match[3] for char in match[2]]
    return [] if _is_glob(text) else [text]


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
    """Make each "**" and the segments after it atomic: otherwise "**/a/**/a/**/a/**/b" takes exponential time."""
    first, *parts = regex.split(_FOLDERS)
    if not parts:
        return regex
    if first.startswith(f"^{_FIRST_FOLDERS}"):
        first = "^" + _atomic(f"(?:.+?/)??{first[len(_FIRST_FOLDERS) + 1 :]}(?=/)")
    return first + "".join(_atomic(f"(?:/.+?)??/{part}(?=/)") for part in parts[:-1]) + _FOLDERS + parts[-1]


def _atomic(regex: str) -> str:
    """Make `regex` atomic (without backtracking into it); Python has `(?>…)` for this only from 3.11 on."""
    name = f"s{next(_star_numbers)}"
    return f"(?=(?P<{name}>{regex}))(?P={name})"


def _compile(regex: str) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # "[[" is legal in a glob
        return re.compile(regex, re.DOTALL)
