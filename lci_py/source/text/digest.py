"""Content hashes: of a file, and of a run of its lines."""

from __future__ import annotations

import hashlib


def digest(data: bytes) -> str:
    """The content hash that names a file's version."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def lines_digest(lines: list[bytes], first: int, last: int) -> bytes:
    """Digest of the lines `first` to `last` (1-based), by which a later reader sees whether they have changed."""
    return hashlib.blake2b(b"\n".join(lines[first - 1 : last]), digest_size=8).digest()
