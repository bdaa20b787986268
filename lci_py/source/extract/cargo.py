"""The name of a crate: what a Cargo.toml says of it."""

from __future__ import annotations

import posixpath
import re

MANIFEST = "Cargo.toml"
#: Bytes of a manifest that are read.
_READ = 50_000
_SECTION = re.compile(r"\s*\[\s*(?P<section>[\w.-]+)\s*\]")
_NAME = re.compile(r"""\s*name\s*=\s*(?P<quote>["'])(?P<name>[\w-]{1,200})(?P=quote)""")


def crate_of(path: str, source: bytes) -> str:
    """The name by which code imports the library of a Cargo.toml; "" for other files and without a package."""
    if posixpath.basename(path) != MANIFEST:
        return ""
    names: dict[str, str] = {}
    section = ""
    for line in source[:_READ].decode("utf-8", "replace").splitlines():
        heading = _SECTION.match(line)
        if heading is not None or line.lstrip().startswith("["):
            section = heading["section"] if heading is not None else ""
            continue
        named = _NAME.match(line)
        if named is not None:
            names.setdefault(section, named["name"])
    return (names.get("lib") or names["package"]).replace("-", "_") if "package" in names else ""
