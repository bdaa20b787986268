"""Find copies: of the benchmark's repositories, and of the development and test packages, in the training text.

A file's fingerprint is the set of hashes of every three consecutive lines of substance, blanks aside: a copy is found
under another name, after reformatting of its indentation, and when it is only part of a file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_SPACE = re.compile(rb"\s+")
_LEAST = 12  # bytes of a line of substance, without blanks
_WINDOW = 3
#: A file is a copy when so many of its fingerprints, and this share of them, are known.
COPY_COUNT, COPY_SHARE = 4, 0.1
_COMMENT = (b"//", b"#", b"*", b"/*", b"--", b";", b"%", b'"""', b"<!--")


def fingerprints(data: bytes) -> NDArray[np.uint64]:
    """Sorted hashes of a file's runs of lines; comments do not count, since licences are the same everywhere."""
    lines = []
    for line in data.split(b"\n"):
        line = _SPACE.sub(b"", line)
        if len(line) >= _LEAST and not line.startswith(_COMMENT):
            lines.append(line)
    found = {
        int.from_bytes(hashlib.blake2b(b"\n".join(lines[i : i + _WINDOW]), digest_size=8).digest(), "little")
        for i in range(len(lines) - _WINDOW + 1)
    }
    return np.array(sorted(found), np.uint64)


def hits(own: NDArray[np.uint64], known: NDArray[np.uint64]) -> int:
    """How many of a file's fingerprints are among the known ones; `known` is sorted."""
    if not len(known) or not len(own):
        return 0
    place = np.searchsorted(known, own)
    place[place == len(known)] = 0
    return int((known[place] == own).sum())


def is_copy(own: NDArray[np.uint64], known: NDArray[np.uint64]) -> bool:
    count = hits(own, known)
    return count >= COPY_COUNT and count >= COPY_SHARE * len(own)


def known_prints(folders: Iterable[Path]) -> NDArray[np.uint64]:
    """Fingerprints of every file below the folders, unless more than four folders share one: that is boilerplate."""
    from lci_py.source.syntax.languages import HEAD_BYTES, TEXT, detect
    from lci_py.training.texts import left_out

    found = []
    for folder in folders:
        own = []
        for path in sorted(folder.rglob("*")):
            if not path.is_file() or path.is_symlink() or path.stat().st_size > 2_000_000:
                continue
            if left_out(path.relative_to(folder).as_posix()):  # its own copies of others' code
                continue
            data = path.read_bytes()
            if detect(path.name, data[:HEAD_BYTES]) not in (TEXT, "markdown"):
                own.append(fingerprints(data))
        if own:
            found.append(np.unique(np.concatenate(own)))
    if not found:
        return np.zeros(0, np.uint64)
    values, counts = np.unique(np.concatenate(found), return_counts=True)
    return values[counts <= 4]
