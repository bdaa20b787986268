"""The name and the entry points of a package of npm: what a package.json says of it."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator

from lci_py.types.source import Import

MANIFEST = "package.json"
#: A manifest larger than this is none that a person wrote.
_READ = 500_000
_MOST_ENTRIES = 500
#: Of several conditions, the one that most likely names a source is taken.
_CONDITIONS = ("source", "import", "module", "node", "default", "require", "browser", "types")
_NESTED = 6


def npm_package_of(path: str, source: bytes) -> tuple[str, tuple[Import, ...]]:
    """The name of the package of a package.json, and its entry points as imports; nothing of other files.

    An entry point is the import of a file of the package under the name by which that is imported: ".", "./sub",
    "./sub/*", or "#internal"; and "main", a second file for ".".
    """
    if posixpath.basename(path) != MANIFEST or len(source) > _READ:
        return "", ()
    try:
        found = json.loads(source)
    except (ValueError, RecursionError):
        return "", ()
    name = found.get("name") if isinstance(found, dict) else None
    if not isinstance(name, str) or not name or len(name) > 200:
        return "", ()
    entries: dict[str, str] = {}
    mains = list(_mains(found))
    given = (*_exports(found.get("exports")), *_exports(found.get("imports")), *((".", one) for one in mains))
    # What `exports` names may be made by a build that has not run: then `main` says which source it is.
    for key, target in (*given, *(("main", one) for one in mains if one != dict(reversed(given)).get("."))):
        if len(entries) < _MOST_ENTRIES and len(key) + len(target) <= 400:
            entries.setdefault(key, target)
    return name, tuple(Import(target, "", key, _line(source, target)) for key, target in entries.items())


def _exports(given: object) -> Iterator[tuple[str, str]]:
    """What `exports` or `imports` says: subpaths with their files."""
    if isinstance(given, dict) and any(isinstance(key, str) and key[:1] in (".", "#") for key in given):
        for key, value in given.items():
            target = _chosen(value, _NESTED)
            if target and key[:1] in (".", "#"):
                yield key, target
    elif target := _chosen(given, _NESTED):
        yield ".", target


def _chosen(given: object, depth: int) -> str:
    """The file of an entry point, "" if none is in the package."""
    if isinstance(given, str):
        return given if given.startswith("./") else ""
    if isinstance(given, list):
        given = dict(enumerate(given))
    if not isinstance(given, dict) or depth <= 0:
        return ""
    order = [*(key for key in _CONDITIONS if key in given), *(key for key in given if key not in _CONDITIONS)]
    return next((target for key in order if (target := _chosen(given[key], depth - 1))), "")


def _mains(found: dict[str, object]) -> Iterator[str]:
    for key in ("source", "module", "main", "types"):
        target = found.get(key)
        if isinstance(target, str) and target:
            yield target if target.startswith("./") else f"./{target}"


def _line(source: bytes, target: str) -> int:
    return source.count(b"\n", 0, max(0, source.find(target.encode("utf-8", "replace")))) + 1
