"""The files of a repository, by ignore rules as git and ripgrep read them, and a reason for each one left out."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lci_py.errors import BadPathError
from lci_py.source.git import IgnoreRules, common_dir, git_root, global_excludes, parse_ignore_file
from lci_py.types import FileEntry, Skip

#: Every reason for leaving something out: those of `walk`, then those of `content_reason`, then of the parse.
REASONS = (
    "ignored",  # by an ignore file
    "excluded",  # by `exclude` in the settings
    "hidden",  # a dot name
    "too_large",
    "symlink",  # never followed: the target is walked under its own name, or lies outside the root
    "special",  # FIFO, socket, device
    "unreadable",
    "vanished",  # gone between being listed and being looked at
    "not_utf8_path",  # cannot be shown, nor written to JSON
    "binary",
    "minified",
    "long_lines",
    "generated",
    "parser_crash",  # the grammar ended its process, or the extraction failed
    "parser_timeout",
)

_ALWAYS_SKIPPED = frozenset({".git", ".lci"})
# Strongest first, as in ripgrep: a kind of file beats a weaker kind whatever the depth of the two.
_IGNORE_FILES = (".lciignore", ".ignore", ".gitignore")
_GIT = 2  # the index of .gitignore
_MAX_IGNORE_BYTES = 1 << 20
_BINARY = {
    "7z", "a", "avi", "bin", "bmp", "bz2", "class", "dll", "dylib", "eot", "exe", "gif", "gz", "ico", "icns", "jar",
    "jpeg", "jpg", "lib", "mov", "mp3", "mp4", "npy", "npz", "o", "obj", "ogg", "onnx", "otf", "parquet", "pdf",
    "pickle", "pkl", "png", "pyc", "pyd", "rar", "so", "sqlite", "sqlite3", "tar", "tgz", "tif", "tiff", "ttf",
    "wasm", "wav", "webm", "webp", "whl", "woff", "woff2", "xz", "zip", "zst",
}  # fmt: skip
_WEB = {
    "cjs", "css", "htm", "html", "js", "json", "jsx", "map", "mjs", "ts", "tsx",
}  # fmt: skip
_LOCK_FILES = {
    "bun.lock", "cargo.lock", "composer.lock", "flake.lock", "gemfile.lock", "go.sum", "mix.lock",
    "npm-shrinkwrap.json", "package-lock.json", "packages.lock.json", "pdm.lock", "pipfile.lock", "pnpm-lock.yaml",
    "podfile.lock", "poetry.lock", "pubspec.lock", "uv.lock", "yarn.lock",
}  # fmt: skip
_GENERATED_SUFFIXES = (
    "_pb2.py", "_pb2.pyi", "_pb2_grpc.py", ".pb.go", ".pb.cc", ".pb.h", ".g.dart", ".freezed.dart", ".designer.cs",
)  # fmt: skip
_HEAD = 2048
_LONG_LINE = 20_000
# "#" with a letter after it is C's preprocessor, so code. Prologues may stand before the comment.
_COMMENT = re.compile(rb"\s*(?:(?://|/\*|\(\*|<!--|--|;|%|')[/*!;%<-]*|#(?![a-z])[#!]*)[ \t]*")
_PROLOGUE = re.compile(rb"\s*(?:$|<\?php\b|<\?xml\b|#!|['\"]use strict['\"])")
# Only at the start of a comment's line: a sentence that talks about such markers has them further in.
_MARKER = re.compile(
    rb"@generated\b|<?auto-?generated\b(?! (?:code|files?|names?|values?)\b)|code generated\b.*\bdo not edit\b"
    rb"|(?:automatically |machine[ -])?generated (?:by|from|using|with)\b.*\bdo not (?:edit|modify)\b"
    rb"|do not (?:edit|modify)\b.*\b(?:auto)?generated\b"
    rb"|this file (?:is|was|has been) (?:automatically[ -]|auto-?|machine[ -])?@?generated\b(?! (?:when|if|only)\b)"
)
_CLOSERS = ((b"/*", b"*/"), (b"(*", b"*)"), (b"<!--", b"-->"))


@dataclass(frozen=True, slots=True)
class WalkOptions:
    """What to leave out beyond the ignore files. Globs are gitignore-style, relative to the root."""

    max_file_bytes: int = 2_000_000
    include: tuple[str, ...] = ()  # brings ignored and hidden files back; it does not restrict the walk
    exclude: tuple[str, ...] = ()  # wins over everything
    hidden: bool = False
    use_ignore_files: bool = True


@dataclass(frozen=True, slots=True)
class WalkResult:
    """Both sorted by path; a skipped folder is one Skip whose path ends in "/"."""

    files: tuple[FileEntry, ...]
    skipped: tuple[Skip, ...]


def walk(root: Path, options: WalkOptions = WalkOptions()) -> WalkResult:
    """List the files below `root`, as ripgrep would, and what was left out.

    Ignore files are .lciignore, .ignore and .gitignore (in this order of strength; within one kind a deeper file
    beats a shallower one, a later line an earlier one), also those of the parents up to the git root, .git/info/exclude
    and git's global excludes. Nothing below an ignored folder can be brought back, except by `include`. Unlike in
    ripgrep, .gitignore counts outside a git repository too: an unpacked archive is walked like the clone. As in
    ripgrep, `!.name` in an ignore file brings a hidden file back, and a repository inside the repository obeys its
    own .gitignore only. `.git` and `.lci` are left out without being counted, and symlinks are never followed.

    Args:
        root: An existing folder, or a symlink to one.
        options: Limits and globs. An `include` glob without a folder in it (`*.gen.py`) can match anywhere, so
            ignored folders are searched for it, and what is left out there is counted file by file.
    Raises:
        BadPathError: If `root` is missing, not a folder, or unreadable.
        BadGlobError: If a glob of `options` is malformed.
    """
    try:
        os.scandir(root).close()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        hint = "give a folder, not a file" if os.path.isfile(root) else "give an existing folder that you may read"
        raise BadPathError(f"cannot walk {root}: {why.lower()}", hint=hint) from error
    walker = _Walker(options)
    # A stack, not recursion: a tree deeper than Python's recursion limit is legal.
    pending = [_Folder(os.path.join(root, ""), "", _outer_layers(root) if options.use_ignore_files else ())]
    while pending:
        walker.visit(pending.pop(), pending)
    files = sorted(walker.files, key=lambda file: file.path)
    return WalkResult(tuple(files), tuple(sorted(walker.skipped, key=lambda skip: (skip.path, skip.reason))))


class _Folder(NamedTuple):
    path: str  # on disk, with a trailing separator
    relative: str  # with a trailing "/", "" for the root
    layers: _Layers
    reason: str | None = None  # why it is left out, if it is walked for `include` only
    included: bool = False


class _Walker:
    def __init__(self, options: WalkOptions) -> None:
        self.files: list[FileEntry] = []
        self.skipped: list[Skip] = []
        self._options = options
        self._exclude = IgnoreRules(options.exclude, strict=True)
        self._include = IgnoreRules(options.include, strict=True)
        self._holds_included = _folders_towards(options.include)

    def visit(self, folder: _Folder, pending: list[_Folder]) -> None:
        """Judge every entry of `folder`; folders to visit are added to `pending`."""
        try:
            with os.scandir(folder.path) as listing:
                entries = list(listing)
        except OSError as error:
            self.skipped.append(Skip(folder.relative, _os_reason(error)))
            return
        folder = folder._replace(layers=_with_files_of(folder, {entry.name for entry in entries}))
        flat = tuple(layer for kind in folder.layers for layer in kind)
        for entry in entries:
            if entry.name in _ALWAYS_SKIPPED:
                continue
            is_folder = False
            try:
                is_folder = entry.is_dir(follow_symlinks=False)
                reason = self._judge(entry, is_folder, folder, flat, pending)
            except OSError as error:
                reason = _os_reason(error)
            if reason:
                self.skipped.append(Skip(_printable(folder.relative + entry.name) + "/" * is_folder, reason))

    def _judge(
        self,
        entry: os.DirEntry[str],
        is_folder: bool,
        folder: _Folder,
        flat: tuple[_Layer, ...],
        pending: list[_Folder],
    ) -> str | None:
        """Take the entry, or say why not."""
        name = entry.name
        path = folder.relative + name
        if not name.isascii() and _printable(name) != name:
            return "not_utf8_path"
        if self._exclude and self._exclude.match(name, path, is_folder):
            return "excluded"
        reason = folder.reason or self._rule(name, path, is_folder, flat)
        included = folder.included
        if self._include and (verdict := self._include.match(name, path, is_folder)) is not None:
            included = verdict
        if reason and not included and not (is_folder and self._holds_included.match(name, path, True)):
            return reason
        if is_folder:
            pending.append(_Folder(entry.path + "/", path + "/", folder.layers, reason, included))
            return None
        if entry.is_symlink():
            return "symlink"
        info = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(info.st_mode):
            return "special"
        if info.st_size > self._options.max_file_bytes:
            return "too_large"
        # The usual file is readable for everybody; only another one is worth a system call.
        if info.st_mode & 0o444 != 0o444 and not os.access(entry.path, os.R_OK):
            return "unreadable"
        self.files.append(FileEntry(path, info.st_size, info.st_mtime_ns))
        return None

    def _rule(self, name: str, path: str, is_folder: bool, flat: tuple[_Layer, ...]) -> str | None:
        for layer in flat:
            verdict = layer.rules.match(name, layer.prefix + path[layer.cut :], is_folder)
            if verdict is not None:
                return "ignored" if verdict else None
        return "hidden" if name[0] == "." and not self._options.hidden else None


def _os_reason(error: OSError) -> str:
    return "vanished" if isinstance(error, (FileNotFoundError, NotADirectoryError)) else "unreadable"


def _printable(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


# --- ignore files


class _Layer(NamedTuple):
    """An ignore file in force. A path of the walk is, relative to that file, `prefix + path[cut:]`."""

    rules: IgnoreRules
    prefix: str
    cut: int


# Per kind of ignore file, deepest first; last, git's global excludes. Empty if ignore files are not used.
_Layers = tuple[tuple[_Layer, ...], ...]


def _outer_layers(root: Path) -> _Layers:
    """The rules in force at `root` that do not come from files in or below it."""
    resolved = root.resolve()
    top = git_root(root) or resolved
    found: list[list[_Layer]] = [[], [], []]
    for folder in resolved.parents:
        if folder == top or top in folder.parents:
            prefix = resolved.relative_to(folder).as_posix() + "/"
            for kind, name in enumerate(_IGNORE_FILES):
                found[kind] += _load(os.path.join(folder, name), prefix)
    prefix = "" if top == resolved else resolved.relative_to(top).as_posix() + "/"
    found[_GIT] += _load_excludes(top, prefix)
    return (*map(tuple, found), tuple(_load(global_excludes(root), prefix, follow=True)))


def _with_files_of(folder: _Folder, names: set[str]) -> _Layers:
    layers = folder.layers
    if not layers or names.isdisjoint((*_IGNORE_FILES, ".git")):
        return layers
    cut = len(folder.relative)
    found = [list(kind) for kind in layers]
    if ".git" in names and folder.relative:  # a repository of its own: the outer one's files do not reach into it
        found[_GIT] = _load_excludes(Path(folder.path), "", cut)
    for kind, name in enumerate(_IGNORE_FILES):
        if name in names:
            found[kind][:0] = _load(folder.path + name, "", cut)
    return tuple(map(tuple, found))


def _load(path: str, prefix: str, cut: int = 0, *, follow: bool = False) -> list[_Layer]:
    """The ignore file at `path`, if it says anything. In the tree, a symlink is not read: it may lead anywhere."""
    try:
        if not stat.S_ISREG(os.stat(path, follow_symlinks=follow).st_mode):
            return []
        with open(path, "rb") as file:
            rules = parse_ignore_file(file.read(_MAX_IGNORE_BYTES))
    except (OSError, ValueError):
        return []
    return [_Layer(rules, prefix, cut)] if rules else []


def _load_excludes(top: Path, prefix: str, cut: int = 0) -> list[_Layer]:
    common = common_dir(top)
    return _load(os.path.join(common, "info", "exclude"), prefix, cut, follow=True) if common else []


def _folders_towards(globs: Iterable[str]) -> IgnoreRules:
    """The folders below which one of `globs` can match."""
    lines: list[str] = []
    for glob in globs:
        segments = glob.removesuffix("/").removeprefix("/").split("/")
        if glob.startswith("!"):
            continue
        if "/" not in glob.removesuffix("/") or segments[0] == "**":
            return IgnoreRules(["*"])
        deep = segments.index("**") if "**" in segments else len(segments) - 1
        lines += ["/" + "/".join(segments[:end]) + "/" for end in range(1, deep + 1)]
        lines += ["/" + "/".join(segments[:deep]) + "/**/"] if "**" in segments else []
    return IgnoreRules(lines)


# --- content


def content_reason(path: str, data: bytes) -> str | None:
    """Why a file with this path and content is not worth indexing, None if it is.

    "binary": a known suffix, a NUL in the first 8 KiB, or UTF-16/32. "minified" (for the web) and "long_lines" (for
    other text): a line of more than 20,000 bytes; for the web also *.min.* and a mean over 500. "generated": a lock
    file, a known compiler's suffix, or a marker at the start of a line of the comment that opens the file. A marker
    anywhere else is text about generated code.
    """
    name = path.rpartition("/")[2].lower()
    suffix = name.rpartition(".")[2] if "." in name else ""  # a script called `zip` is no archive
    if suffix in _BINARY or b"\0" in data[:8192] or data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "binary"
    if name in _LOCK_FILES or name.endswith(_GENERATED_SUFFIXES):
        return "generated"
    web = suffix in _WEB
    if web and (".min." in name or (len(data) > 5_000 and len(data) > 500 * (data.count(b"\n") + 1))):
        return "minified"
    if _has_long_line(data):
        return "minified" if web else "long_lines"
    return "generated" if _opens_with_marker(data[:_HEAD].lower()) else None


def _has_long_line(data: bytes) -> bool:
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")  # line ends of an old Mac
    start = 0
    while len(data) - start > _LONG_LINE:
        # From the last line end within reach: a hundred steps for 2 MB, whatever its lines.
        end = data.rfind(b"\n", start, start + _LONG_LINE + 1)
        if end < 0:
            return True
        start = end + 1
    return False


def _opens_with_marker(head: bytes) -> bool:
    if b"generated" not in head:
        return False
    closer = b""
    previous = b""
    for line in head.removeprefix(b"\xef\xbb\xbf").splitlines():
        opening = _COMMENT.match(line)
        if not closer and opening is None:
            if _PROLOGUE.match(line):
                continue
            return False
        text = line[opening.end() :] if opening and not closer else line.lstrip(b" \t*")
        # A sentence may run over two lines: "DO NOT EDIT." / "Generated by ...".
        if _MARKER.match(text) or _MARKER.match(previous + b" " + text):
            return True
        previous = text.strip()
        for opener, end in _CLOSERS:
            if not closer and line.lstrip().startswith(opener):
                closer = end
        if closer and closer in line:
            closer = b""
    return False
