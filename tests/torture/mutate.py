"""Mutations of source files, as by a failed merge, a bad disk or an attacker."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

Mutation = Callable[[bytes, random.Random], bytes]

_SCRAPS = (
    b"(", b")", b"[", b"]", b"{", b"}", b"<", b">", b'"', b"'", b"`", b'"""', b"/*", b"*/", b"//", b"#", b"#if X\n",
    b"#endif\n", b"\\", b"\0", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\x1b[2J", b"\xe2\x80\xae", b"\r", b"\r\n", b"\t",
    b"\x0c", b"\n\n\n", b"end\n", b"<<A\n", b"${", b"$(", b"=>", b"::", b";;", b"@", b"\xf0\x9f\x92\xa9", b"\xef\xbb\xbf",
)  # fmt: skip


def _span(data: bytes, rng: random.Random, most: int = 400) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.randrange(1, most))


def _delete(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng, 100)
    return data[:end] + data[start:end] * rng.choice((1, 2, 50, 500)) + data[end:]


def _move(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    rest = data[:start] + data[end:]
    at = rng.randrange(len(rest) + 1)
    return rest[:at] + data[start:end] + rest[at:]


def _insert(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(_SCRAPS) * rng.choice((1, 1, 1, 3, 300)) + data[at:]


def _flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 5, 50))):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _join(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng, 2000)
    return data[:start] + data[start:end].replace(b"\n", b" ") + data[end:]


def _line_ends(data: bytes, rng: random.Random) -> bytes:
    return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\r", b"\x0b\n", b"\xe2\x80\xa8")))


def _indent(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    for _ in range(len(lines) // 5):
        at = rng.randrange(len(lines))
        lines[at] = rng.choice((b"", b" ", b"\t", b" " * 40)) + lines[at].lstrip()
    return b"\n".join(lines)


def _wrap(data: bytes, rng: random.Random) -> bytes:
    opening, closing = rng.choice(((b"(", b")"), (b"{", b"}"), (b"[", b"]"), (b'"', b'"'), (b"/*", b"*/")))
    start, end = _span(data, rng, 2000)
    return data[:start] + opening * 50 + data[start:end] + closing * 50 + data[end:]


MUTATIONS: tuple[Mutation, ...] = (
    _delete, _repeat, _move, _insert, _flip, _truncate, _join, _line_ends, _indent, _wrap,
)  # fmt: skip


def mutated(sources: Sequence[bytes], rng: random.Random) -> bytes:
    """One of `sources` with a few mutations, sometimes followed by half of another."""
    data = rng.choice(sources)
    if rng.random() < 0.2:
        other = rng.choice(sources)
        data = data[: len(data) // 2] + other[len(other) // 2 :]
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        data = rng.choice(MUTATIONS)(data, rng)
    return data
