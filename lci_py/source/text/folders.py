"""Folders beside the sources: examples, benchmarks, documentation, third-party code. They rank after the sources."""

from __future__ import annotations

_FOLDERS = frozenset(
    "example examples sample samples demo demos bench benches benchmark benchmarks benchmarking".split()
)
#: At the root only, since elsewhere a package may be called so.
_AT_ROOT = frozenset(("doc", "docs", "documentation"))
_VENDORED = frozenset(
    "vendor vendored _vendor third_party third-party thirdparty 3rdparty node_modules bower_components".split()
)


def is_aside(path: str) -> bool:
    """Whether a file is in a folder of examples, benchmarks or documentation."""
    folders = path.lower().split("/")[:-1]
    return not _FOLDERS.isdisjoint(folders) or (bool(folders) and folders[0] in _AT_ROOT)


def is_vendored(path: str) -> bool:
    """Whether a file is in a folder for copies of other projects."""
    return not _VENDORED.isdisjoint(path.lower().split("/")[:-1])
