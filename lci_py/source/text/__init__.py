"""Splits text into words, finds their stems, parses TOML, and computes digests."""

from __future__ import annotations

import sys

# Not from `hashlib`, which loads OpenSSL: that takes 2 ms, longer than many queries search.
from _blake2 import blake2b as blake2b
from typing import Any


def digest(data: bytes) -> str:
    """The hash of a file's content, which identifies a version of the file."""
    return blake2b(data, digest_size=16).hexdigest()


def lines_digest(lines: list[bytes], first: int, last: int) -> bytes:
    """A digest of the lines `first` to `last` (1-based), by which a later reader sees whether they have changed."""
    return blake2b(b"\n".join(lines[first - 1 : last]), digest_size=8).digest()


def parse_toml(text: str) -> dict[str, Any]:
    """The content of a TOML file. Raises ValueError if it is not valid, RecursionError if it is nested too deeply."""
    # Imported here, because most queries parse none.
    if sys.version_info >= (3, 11):
        import tomllib
    else:  # pragma: no cover - 3.10 only
        import tomli as tomllib
    content: dict[str, Any] = tomllib.loads(text)
    return content
