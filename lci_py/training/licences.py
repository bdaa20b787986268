"""The licences that training text may have, and how to read them from the metadata and files of a package.

A file with an unclear licence is left out.
"""

from __future__ import annotations

import re
from fnmatch import translate

#: SPDX names of the licences that training text may have.
PERMISSIVE = frozenset(
    {"MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC", "PSF-2.0", "Unlicense", "Zlib", "0BSD"}
)
_NAMES = {
    "mit": "MIT", "expat": "MIT", "mitlicense": "MIT", "themitlicense": "MIT", "mit/x11": "MIT", "x11": "MIT",
    "mitx11": "MIT", "mitno-attribution": "MIT", "xorg": "MIT", "mit/x": "MIT", "mit-1": "MIT", "mit-x11": "MIT",
    "bsd-2-clause": "BSD-2-Clause", "bsd-2": "BSD-2-Clause", "bsd2": "BSD-2-Clause", "bsd-2clause": "BSD-2-Clause",
    "bsd-2-clauses": "BSD-2-Clause", "freebsd": "BSD-2-Clause", "bsd-2-clause-freebsd": "BSD-2-Clause",
    "simplifiedbsd": "BSD-2-Clause",
    "bsd-3-clause": "BSD-3-Clause", "bsd-3": "BSD-3-Clause", "bsd3": "BSD-3-Clause", "bsd-3clause": "BSD-3-Clause",
    "bsd-3-clauses": "BSD-3-Clause", "newbsd": "BSD-3-Clause", "bsd": "BSD-3-Clause", "bsdlicense": "BSD-3-Clause",
    "3-clausebsd": "BSD-3-Clause", "bsd3clause": "BSD-3-Clause", "modifiedbsd": "BSD-3-Clause",
    "newbsdlicense": "BSD-3-Clause", "3-clausebsdlicense": "BSD-3-Clause", "bsd-3-clause-google": "BSD-3-Clause",
    "go": "BSD-3-Clause", "bsd-3-clause~google": "BSD-3-Clause", "bsd-3-google": "BSD-3-Clause",
    "bsd-c3": "BSD-3-Clause", "apache-2-llvm-exceptions": "Apache-2.0",
    "bsd-style": "BSD-3-Clause", "bsd-like": "BSD-3-Clause", "bsd-3-clauselicense": "BSD-3-Clause",
    "apache-2.0": "Apache-2.0", "apache2": "Apache-2.0", "apache-2": "Apache-2.0", "apache2.0": "Apache-2.0",
    "apache": "Apache-2.0", "apache-2.0withllvm-exception": "Apache-2.0", "apachelicense2.0": "Apache-2.0",
    "apachelicense,version2.0": "Apache-2.0", "apachelicenseversion2.0": "Apache-2.0", "apl-2.0": "Apache-2.0",
    "apachesoftwarelicense": "Apache-2.0", "apachelicense": "Apache-2.0", "asl-2.0": "Apache-2.0",
    "apache2.0license": "Apache-2.0", "apachev2": "Apache-2.0", "apache-2.0-llvm": "Apache-2.0", "asl2.0": "Apache-2.0",
    "apachesoftwarelicense2.0": "Apache-2.0", "apachelicensev2.0": "Apache-2.0", "apachelicense2": "Apache-2.0",
    "apachesoftwarelicenseversion2.0": "Apache-2.0", "apache-2.0withllvmexceptions": "Apache-2.0",
    "apachelicense-2.0": "Apache-2.0", "apachepubliclicense2.0": "Apache-2.0", "llvm-exception": "Apache-2.0",
    "isc": "ISC", "isclicense": "ISC",
    "psf-2.0": "PSF-2.0", "psf": "PSF-2.0", "psfl": "PSF-2.0", "psf-2": "PSF-2.0", "python-2.0": "PSF-2.0",
    "pythonsoftwarefoundationlicense": "PSF-2.0",
    "unlicense": "Unlicense", "theunlicense": "Unlicense", "zlib": "Zlib", "zlib/libpng": "Zlib", "0bsd": "0BSD",
}  # fmt: skip
_BETWEEN = re.compile(r"\s+(?:or|and|and/or)\s+|\s*[|/;]\s*(?=[A-Z])", re.I)

# A file that names one of these in its first lines is left out, whatever the licence of its package.
_FOREIGN = re.compile(
    rb"general public licen[sc]e|\b[LA]?GPL|mozilla public|\bMPL[- ]?v?[12]|eclipse public|\bEPL[- ]|"
    rb"creative commons|\bCC[- ]BY|\bCDDL\b|common development and distribution|artistic licen[sc]e|"
    rb"boost software licen[sc]e|microsoft public licen[sc]e|SSPL|business source licen[sc]e|commons clause|"
    rb"public domain|proprietary|confidential|elastic licen[sc]e|code project open|stack ?overflow\.com/(?:a|q)",
    re.I,
)
Rules = list[tuple[re.Pattern[str], str]]
HEAD = 4_000  # bytes of a file that are searched for a licence note


def spdx(text: str) -> str:
    """The SPDX name of a licence in package metadata; "" if it is not a known permissive one.

    Of licences joined by `or`, the first permissive one; joined by `and`, all must be permissive. With both words,
    brackets would decide, and the result is "".
    """
    text = text.strip().strip("()")
    found = []
    for item in _BETWEEN.split(text):
        key = re.sub(r"\s+|licen[sc]ed under ", "", item.lower().strip("() ,.\"'"))
        key = re.sub(r"^the", "", key)
        found.append(_NAMES.get(key) or _NAMES.get(key.replace("license", "").strip("-, ")) or "")
    every, some = (re.search(rf"\b{word}\b", text, re.I) is not None for word in ("and", "or"))
    if every and (some or not all(found)):
        return ""
    return next((name for name in found if name), "")


def foreign(head: bytes) -> bool:
    """Whether the top of a file names a licence that training text may not have."""
    return _FOREIGN.search(head[:HEAD]) is not None


def debian_rules(copyright_text: str) -> Rules | None:
    """(pattern over paths, SPDX name or "") of each `Files` stanza of a machine-readable debian/copyright, in order.

    The last pattern that matches a path is the one that counts. None if the file is not machine-readable.
    Source: Debian's copyright format 1.0.
    """
    if "copyright-format" not in copyright_text[:400]:
        return None
    rules = []
    for stanza in re.split(r"\n\s*\n", copyright_text):
        files = re.search(r"^Files:((?:.*\n?)(?:[ \t].*\n?)*)", stanza, re.M)
        licence = re.search(r"^License:[ \t]*(.*)$", stanza, re.M)
        if files and licence:
            for glob in files.group(1).replace(",", " ").split():
                rules.append((re.compile(translate(glob)), spdx(licence.group(1))))
    return rules or None


def debian_licence(rules: Rules, path: str) -> str:
    """The SPDX name for a path; "" if there is none, or it is not permissive."""
    return next((name for pattern, name in reversed(rules) if pattern.match(path)), "")


def licence_of_text(text: str) -> str:
    """The SPDX name of a licence text; "" unless it is clearly a single permissive licence."""
    if _FOREIGN.search(text.encode("utf-8", "replace")):
        return ""
    flat = re.sub(r"\s+", " ", text)
    found = []
    if "Apache License" in flat:
        found.append("Apache-2.0")
    if "Permission is hereby granted, free of charge, to any person" in flat:
        found.append("MIT")
    if "Redistribution and use in source and binary forms" in flat:
        third = re.search(r"(?:may|be) ?be used to endorse|used to endorse or promote", flat)
        found.append("BSD-3-Clause" if third else "BSD-2-Clause")
    if "Permission to use, copy, modify, and/or distribute this software" in flat:
        found.append("ISC")
    return found[0] if len(set(found)) == 1 else ""
