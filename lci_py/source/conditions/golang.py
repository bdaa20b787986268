"""Go: what `go/build` looks at: the file's name, the constraint above its package clause, and `import "C"`."""

from __future__ import annotations

import re

from lci_py.source.conditions.normal_form import normal_form
from lci_py.source.conditions.text import File, Range
from lci_py.source.text.patterns import lazily

# What go/build calls known in file names: Go 1.23's list. Names stay in it when their port is removed.
_GOOS = frozenset((
    "aix", "android", "darwin", "dragonfly", "freebsd", "hurd", "illumos", "ios", "js", "linux", "nacl", "netbsd",
    "openbsd", "plan9", "solaris", "wasip1", "windows", "zos",
))  # fmt: skip
_GOARCH = frozenset((
    "386", "amd64", "amd64p32", "arm", "armbe", "arm64", "arm64be", "loong64", "mips", "mipsle", "mips64", "mips64le",
    "mips64p32", "mips64p32le", "ppc", "ppc64", "ppc64le", "riscv", "riscv64", "s390", "s390x", "sparc", "sparc64",
    "wasm",
))  # fmt: skip
_BUILD, _PLUS, _BOM = b"//go:build", b"+build", b"\xef\xbb\xbf"
_NOT_BLANK = lazily(rb"[^ \t\r\n\f\v]")
_TAG = lazily(r"[\w.]+")
_TOKEN = lazily(rb"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"|`[^`]*`|[^\W\d]\w*|[^\s;]", re.DOTALL)


def ranges(file: File) -> list[Range]:
    """The file's conditions, each for all of it: from its name, from its constraint, and cgo.

    A file whose name the go command ignores is never built.
    """
    found = [*_name_tags(file.path), *_constraint(file.source)]
    if (b'"C"' in file.source or b"`C`" in file.source) and _imports_c(file.source):
        found.append("cgo")  # once, if the constraint says it as well
    return [Range(0, len(file.source), condition) for condition in found]


def _name_tags(path: str) -> list[str]:
    base = path.rsplit("/", 1)[-1]
    if base.startswith(("_", ".")):
        return ["0"]
    words = base.partition(".")[0].split("_")[1:]  # linux.go is built everywhere
    if words and words[-1] == "test":
        words.pop()
    if len(words) >= 2 and words[-2] in _GOOS and words[-1] in _GOARCH:
        return words[-2:]
    return [word for word in words[-1:] if word in _GOOS or word in _GOARCH]


def _constraint(source: bytes) -> list[str]:
    """The `//go:build` line, or the `// +build` lines if there is none."""
    if _BUILD not in source and _PLUS not in source:
        return []
    build, end = _header(source)
    if build:
        return [normal_form(build.decode("utf-8", "replace").partition("//")[0], constants=False)]
    lines = (line.strip() for line in source[:end].removeprefix(_BOM).split(b"\n"))
    found = []
    for line in lines:
        text = line[2:].strip() if line.startswith(b"//") else b""
        if text.startswith(_PLUS) and text[len(_PLUS) :][:1].strip() == b"":
            found.append(_plus_build(text[len(_PLUS) :].decode("utf-8", "replace")))
    return found


def _header(source: bytes) -> tuple[bytes, int]:
    """The expression of the `//go:build` line, b"" if there is none, and where the lines end that may hold `// +build`.

    The former may stand on any line of its own before the package clause, the latter only above a blank line, and
    above any comment that is no `//`.
    """
    build, end, at = b"", 0, len(_BOM) if source.startswith(_BOM) else 0
    only_lines, in_comment = True, False
    while at < len(source):
        stop = source.find(b"\n", at) + 1 or len(source)
        first = _NOT_BLANK.search(source, at, stop)
        if first is None:
            end = stop if only_lines else end
        elif not in_comment and source.startswith(_BUILD, first.start()):
            rest = source[first.start() + len(_BUILD) : stop]
            if not build and not rest[:1].strip():
                build = rest.strip()
        if first is not None and not source.startswith(b"//", first.start()):
            only_lines = False
            in_comment, is_code = _after_comments(source, first.start(), stop, in_comment)
            if is_code:
                break
        at = stop
    return build, end


def _after_comments(source: bytes, at: int, stop: int, in_comment: bool) -> tuple[bool, bool]:
    """Whether a line ends in a `/*` comment, and whether there is anything but comments on it."""
    while True:
        if in_comment:
            close = source.find(b"*/", at, stop)
            if close < 0:
                return True, False
            at, in_comment = close + 2, False
        found = _NOT_BLANK.search(source, at, stop)
        if found is None or source.startswith(b"//", found.start()):
            return False, False
        if not source.startswith(b"/*", found.start()):
            return False, True
        at, in_comment = found.start() + 2, True


def _plus_build(text: str) -> str:
    """`a,!b c` means `(a && !b) || c`. As in go/build, what is no tag counts as `ignore`."""
    options = []
    for option in text.split():
        parts = []
        for word in option.split(","):
            tag = word.removeprefix("!")
            sign = "!" if word != tag and tag[:1] not in ("", "!") else ""
            parts.append(sign + (tag if _TAG.fullmatch(tag) else "ignore"))
        options.append(f"({' && '.join(parts)})")
    return normal_form(" || ".join(options) or "ignore", constants=False)


def _imports_c(source: bytes) -> bool:
    """Whether `import "C"` is among a file's imports: such a file is built with cgo only."""
    tokens = (m.group() for m in _TOKEN.finditer(source, len(_BOM) if source.startswith(_BOM) else 0))
    code = (token for token in tokens if not token.startswith((b"//", b"/*")))
    if next(code, b"") != b"package":
        return False
    next(code, b"")
    grouped = False
    for token in code:
        if token in (b'"C"', b"`C`"):
            return True
        if token in (b"func", b"type", b"var", b"const") and not grouped:
            return False
        grouped = grouped if token not in (b"(", b")") else token == b"("
    return False
