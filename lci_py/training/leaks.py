"""Find copies of the benchmark's repositories, and of the development and test packages, in the training text.

The fingerprints of a file are hashes of every three consecutive lines that are long enough, without blanks. So a copy
is found under another name, with other indentation, and inside a larger file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_SPACE = re.compile(rb"\s+")
_LEAST = 12  # bytes of a line that counts, without blanks
_WINDOW = 3
#: A file is a copy if at least this many of its fingerprints, and this share of them, are known.
COPY_COUNT, COPY_SHARE = 4, 0.1
_COMMENT = (b"//", b"#", b"*", b"/*", b"--", b";", b"%", b'"""', b"<!--")


def fingerprints(data: bytes) -> NDArray[np.uint64]:
    """Sorted fingerprints of a file, without its comments, since licences are the same everywhere."""
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
    """The number of a file's fingerprints that are known; `known` is sorted."""
    if not len(known) or not len(own):
        return 0
    place = np.searchsorted(known, own)
    place[place == len(known)] = 0
    return int((known[place] == own).sum())


def is_copy(own: NDArray[np.uint64], known: NDArray[np.uint64]) -> bool:
    count = hits(own, known)
    return count >= COPY_COUNT and count >= COPY_SHARE * len(own)


def known_prints(folders: Iterable[Path]) -> NDArray[np.uint64]:
    """Fingerprints of the files below the folders, without boilerplate: what more than four folders share."""
    from lci_py.source.syntax.languages import HEAD_BYTES, TEXT, detect
    from lci_py.training.texts import left_out

    found = []
    for folder in folders:
        own = []
        for path in sorted(folder.rglob("*")):
            if not path.is_file() or path.is_symlink() or path.stat().st_size > 2_000_000:
                continue
            if left_out(path.relative_to(folder).as_posix()):  # the folder's copies of other packages
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
