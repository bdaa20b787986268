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
    match = _MODULE.search(text)
    return match[1].strip("/") if match is not None else ""


def _crate(text: str) -> str:
    names: dict[str, str] = {}
    section = ""
    for line in text.splitlines():
        heading = _SECTION.match(line)
        if heading is not None or line.lstrip().startswith("["):
            section = heading["section"] if heading is not None else ""
            continue
        match = _NAME.match(line)
        if match is not None:
            names.setdefault(section, match["name"])
    return (names.get("lib") or names["package"]).replace("-", "_") if "package" in names else ""


def npm_package_of(path: str, source: bytes) -> tuple[str, tuple[Import, ...]]:
    """For a package.json (package name, its entry points as imports); ("", ()) for other files.

    An entry point is stored as an import of a file of the package. Its alias is the subpath: ".", "./sub", "./sub/*" or
    "#internal"; or "main" for a second file of ".".
    """
    if posixpath.basename(path) != NPM or len(source) > _READ_NPM:
        return "", ()
    try:
        manifest = json.loads(source)
    except (ValueError, RecursionError):
        return "", ()
    name = manifest.get("name") if isinstance(manifest, dict) else None
    if not isinstance(name, str) or not name or len(name) > 200:
        return "", ()
    entries: dict[str, str] = {}
    mains = list(_mains(manifest))
    subpaths = (
        *_exports(manifest.get("exports")),
        *_exports(manifest.get("imports")),
        *((".", main) for main in mains),
    )
    # What `exports` names may be made by a build that has not run: then `main` says which source it is.
    for key, target in (*subpaths, *(("main", main) for main in mains if main != dict(reversed(subpaths)).get("."))):
        if len(entries) < _MOST_ENTRIES and len(key) + len(target) <= 400:
            entries.setdefault(key, target)
    return name, tuple(Import(target, "", key, _line(source, target)) for key, target in entries.items())


def _exports(exports: object) -> Iterator[tuple[str, str]]:
    """The subpaths in `exports` or `imports` of a package.json, each as (subpath, file)."""
    if isinstance(exports, dict) and any(isinstance(key, str) and key[:1] in (".", "#") for key in exports):
        for key, value in exports.items():
            target = _chosen(value, _NESTED)
            if target and key[:1] in (".", "#"):
                yield key, target
    elif target := _chosen(exports, _NESTED):
        yield ".", target


def _chosen(entry: object, depth: int) -> str:
    """The file of an entry point, chosen among its conditions; "" if it has no file inside the package."""
    if isinstance(entry, str):
        return entry if entry.startswith("./") else ""
    if isinstance(entry, list):
        entry = dict(enumerate(entry))
    if not isinstance(entry, dict) or depth <= 0:
        return ""
    order = [*(key for key in _CONDITIONS if key in entry), *(key for key in entry if key not in _CONDITIONS)]
    return next((target for key in order if (target := _chosen(entry[key], depth - 1))), "")


def _mains(manifest: dict[str, object]) -> Iterator[str]:
    for key in ("source", "module", "main", "types"):
        target = manifest.get(key)
        if isinstance(target, str) and target:
            yield target if target.startswith("./") else f"./{target}"


def _line(source: bytes, target: str) -> int:
    return source.count(b"\n", 0, max(0, source.find(target.encode("utf-8", "replace")))) + 1
