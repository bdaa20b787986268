"""Reads package names from manifests: Cargo.toml, go.mod, and package.json with its entry points."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator

from lci_py.source.text.patterns import lazily
from lci_py.types.source import Import

CARGO, GO = "Cargo.toml", "go.mod"
#: Bytes of them that are read.
_READ = 50_000
_SECTION = lazily(r"\s*\[\s*(?P<section>[\w.-]+)\s*\]")
_MODULE = lazily(r"""^module[ \t]+["`]?([^\s"`()]{1,300})""", re.MULTILINE)
_NAME = lazily(r"""\s*name\s*=\s*(?P<quote>["'])(?P<name>[\w-]{1,200})(?P=quote)""")
NPM = "package.json"
MANIFESTS = frozenset({CARGO, GO, NPM})
#: A manifest larger than this is none that a person wrote.
_READ_NPM = 500_000
_MOST_ENTRIES = 500
#: Of several conditions, the one that most likely names a source is taken.
_CONDITIONS = ("source", "import", "module", "node", "default", "require", "browser", "types")
_NESTED = 6


def package_of(path: str, source: bytes) -> str:
    """The name by which code imports the library of a Cargo.toml or the module of a go.mod; "" for other files."""
    name = posixpath.basename(path)
    if name not in (CARGO, GO):
        return ""
    text = source[:_READ].decode("utf-8", "replace")
    if name == CARGO:
        return _crate(text)
    found = _MODULE.search(text)
    return found[1].strip("/") if found is not None else ""


def _crate(text: str) -> str:
    names: dict[str, str] = {}
    section = ""
    for line in text.splitlines():
        heading = _SECTION.match(line)
        if heading is not None or line.lstrip().startswith("["):
            section = heading["section"] if heading is not None else ""
            continue
        named = _NAME.match(line)
        if named is not None:
            names.setdefault(section, named["name"])
    return (names.get("lib") or names["package"]).replace("-", "_") if "package" in names else ""


def npm_package_of(path: str, source: bytes) -> tuple[str, tuple[Import, ...]]:
    """For a package.json (package name, its entry points as imports); ("", ()) for other files.

    An entry point is stored as an import of a file of the package. Its alias is the subpath: ".", "./sub", "./sub/*" or
    "#internal"; or "main" for a second file of ".".
    """
    if posixpath.basename(path) != NPM or len(source) > _READ_NPM:
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
    """The subpaths in `exports` or `imports` of a package.json, each as (subpath, file)."""
    if isinstance(given, dict) and any(isinstance(key, str) and key[:1] in (".", "#") for key in given):
        for key, value in given.items():
            target = _chosen(value, _NESTED)
            if target and key[:1] in (".", "#"):
                yield key, target
    elif target := _chosen(given, _NESTED):
        yield ".", target


def _chosen(given: object, depth: int) -> str:
    """The file of an entry point, chosen among its conditions; "" if it has no file inside the package."""
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
