"""The names of packages that their manifests say: of the crate of a Cargo.toml, of the module of a go.mod."""

from __future__ import annotations

import posixpath
import re

from lci_py.source.text.patterns import lazily

CARGO, GO = "Cargo.toml", "go.mod"
#: Bytes of a manifest that are read.
_READ = 50_000
_SECTION = lazily(r"\s*\[\s*(?P<section>[\w.-]+)\s*\]")
_MODULE = lazily(r"""^module[ \t]+["`]?([^\s"`()]{1,300})""", re.MULTILINE)
_NAME = lazily(r"""\s*name\s*=\s*(?P<quote>["'])(?P<name>[\w-]{1,200})(?P=quote)""")


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
