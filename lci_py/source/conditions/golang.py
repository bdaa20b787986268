"""Go: what `go/build` looks at: the file's name, the constraint above its package clause, and `import "C"`."""

from __future__ import annotations

import re

from lci_py.source.conditions.normal_form import normal_form
from lci_py.source.conditions.text import File, Range
from lci_py.source.text.patterns import lazily

#: The processors of each operating system, in any release of gc or gccgo. Sources: `go tool dist list`, the release
#: notes of the ports that were removed (go.dev/doc/devel/release), gccgo's libgo/configure.ac.
PORTS = {
    "aix": "ppc64",
    "android": "386 amd64 arm arm64 riscv64",
    "darwin": "386 amd64 arm arm64",
    "dragonfly": "386 amd64",
    "freebsd": "386 amd64 arm arm64 riscv64",
    "hurd": "386 amd64",
    "illumos": "amd64",
    "ios": "386 amd64 arm arm64",
    "js": "wasm",
    "linux": "386 alpha amd64 amd64p32 arm armbe arm64 arm64be ia64 loong64 m68k mips mipsle mips64 mips64le mips64p32 "
    "mips64p32le nios2 ppc ppc64 ppc64le riscv riscv64 s390 s390x sh shbe sparc sparc64",
    "nacl": "386 amd64p32 arm",
    "netbsd": "386 amd64 arm arm64",
    "openbsd": "386 amd64 arm arm64 mips64 ppc64 riscv64",
    "plan9": "386 amd64 arm",
    "solaris": "386 amd64 sparc sparc64",
    "rumprun": "amd64",  # a fork's, which sets GOOS to it
    "wasip1": "wasm",
    "windows": "386 amd64 arm arm64",
    "zos": "s390x",
}
# What go/build calls known in file names: Go 1.23's list. Names stay in it when their port is removed.
_GOOS = frozenset(PORTS) - {"rumprun"}
_GOARCH = frozenset(" ".join(PORTS.values()).split()) - {"alpha", "ia64", "m68k", "nios2", "sh", "shbe"}
_BUILD, _PLUS, _BOM = b"//go:build", b"+build", b"\xef\xbb\xbf"
_COMMENT = lazily(rb"([ \t\r\n\f\v]*)(?:(?P<line>//[^\n]*)|/\*.*?(?:\*/|\Z)|)", re.DOTALL)
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
    """The `//go:build` line, or the `// +build` lines if there is none.

    The former may stand on any line of its own before the package clause, the latter only above a blank line, and
    above any comment that is no `//`.
    """
    if _BUILD not in source and _PLUS not in source:
        return []
    found: list[str] = []
    waiting: list[str] = []  # those that no blank line has followed yet
    start = at = len(_BOM) if source.startswith(_BOM) else 0
    only_lines = True
    while (comment := _COMMENT.match(source, at)) and comment.end() > comment.end(1):
        lines, line = comment[1].count(b"\n"), comment["line"]
        if lines > 1:
            found, waiting = found + waiting, []
        if line is None:
            only_lines, waiting = False, []
        elif line.startswith(_BUILD) and not line[len(_BUILD) :][:1].strip() and (lines or at == start):
            return [normal_form(line[len(_BUILD) :].decode("utf-8", "replace").partition("//")[0], constants=False)]
        elif only_lines and (text := line[2:].strip()).startswith(_PLUS) and not text[len(_PLUS) :][:1].strip():
            waiting.append(_plus_build(text[len(_PLUS) :].decode("utf-8", "replace")))
        at = comment.end()
    return found + waiting if comment and comment[1].count(b"\n") > 1 else found


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
