"""Content hashes: of a file, and of a run of its lines."""

from __future__ import annotations

# Not from `hashlib`, which loads OpenSSL: that takes 2 ms, longer than many queries search.
from _blake2 import blake2b as blake2b


def digest(data: bytes) -> str:
    """The content hash that names a file's version."""
    return blake2b(data, digest_size=16).hexdigest()


def lines_digest(lines: list[bytes], first: int, last: int) -> bytes:
    """Digest of the lines `first` to `last` (1-based), by which a later reader sees whether they have changed."""
    return blake2b(b"\n".join(lines[first - 1 : last]), digest_size=8).digest()
