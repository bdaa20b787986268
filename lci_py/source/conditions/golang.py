"""Go: build constraints in the file's name and above its package clause."""

from __future__ import annotations

import re

from lci_py.source.conditions.text import File, Range, any_of, clip

# internal/syslist of Go 1.23; a name stays listed when its port is removed, and so do file names in old code.
_GOOS = frozenset((
    "aix", "android", "darwin", "dragonfly", "freebsd", "hurd", "illumos", "ios", "js", "linux", "nacl", "netbsd",
    "openbsd", "plan9", "solaris", "wasip1", "windows", "zos",
))  # fmt: skip
_GOARCH = frozenset((
    "386", "amd64", "amd64p32", "arm", "armbe", "arm64", "arm64be", "loong64", "mips", "mipsle", "mips64", "mips64le",
    "mips64p32", "mips64p32le", "ppc", "ppc64", "ppc64le", "riscv", "riscv64", "s390", "s390x", "sparc", "sparc64",
    "wasm",
))  # fmt: skip
_GO_HEADER = re.compile(rb"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_GO_BUILD = re.compile(r"^//go:build[ \t]+(.+)$", re.MULTILINE)
_GO_PLUS = re.compile(r"^//[ \t]*\+build[ \t]+(.+)$", re.MULTILINE)
_GO_TOKEN = re.compile(r"&&|\|\||[!()]|[\w.]+")


def ranges(file: File) -> list[Range]:
    """The file's constraints: the one in its name, then the one above its package clause."""
    return [Range(0, len(file.source), condition) for condition in _constraints(file.path, file.source)]


def _constraints(path: str, source: bytes) -> list[str]:
    name = path.rsplit("/", 1)[-1].partition(".")[0]
    words = name.split("_")[1:]  # what is before the first _ is no constraint: linux.go is built everywhere
    if words and words[-1] == "test":
        words.pop()
    if len(words) >= 2 and words[-2] in _GOOS and words[-1] in _GOARCH:
        found = words[-2:]
    else:
        found = [word for word in words[-1:] if word in _GOOS or word in _GOARCH]
    header = _GO_HEADER.match(source)
    text = re.sub(r"(?s:/\*.*?\*/)|\r", "", header.group().decode("utf-8", "replace") if header else "")
    if build := _GO_BUILD.search(text):
        found.append(_go_expression(build.group(1)))
    else:
        # Only above a blank line: one right above the package clause is its doc. `a,b c` is `(a && b) || c`.
        for line in _GO_PLUS.findall(text[: text.rfind("\n\n") + 1]):
            found.append(clip(any_of([option.replace(",", " && ") for option in line.split()])))
    return found


def _go_expression(text: str) -> str:
    spaced = " ".join(_GO_TOKEN.findall(text.partition("//")[0]))
    return clip(spaced.replace("! ", "!").replace("( ", "(").replace(" )", ")"))
