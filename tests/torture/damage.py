"""Ways to damage the files of an index, repeatable by the seed of a random generator."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import socket
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_HUGE = (0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 40, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF)
_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1 << 31, 1 << 63, 1 << 200, -(1 << 63), 1.5, 1e308, "", "x", "../../etc/passwd", "/dev/zero",
    "\0", "\ud800", "a" * 100_000, [], {}, [[]], ["x"], {"x": 1}, [None] * 1000,
)  # fmt: skip


@dataclass(frozen=True)
class Damage:
    """A damage that was done to an index."""

    kind: str
    path: str  # relative to the index folder
    told: str
    time_restored: bool  # the file has its old modification time
    same_size: bool  # the file has its old size

    def __str__(self) -> str:
        kept = " with its old time" if self.time_restored else ""
        return f"{self.kind} of {self.path}{kept} ({self.told})"


def _patch(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def _place(path: Path, random_: random.Random, width: int) -> int:
    """An offset for `width` bytes: anywhere, or near either end, where headers and tables are."""
    last = max(0, path.stat().st_size - width)
    near = random_.choice((last, min(last, 256)))
    return last - random_.randint(0, near) if random_.random() < 0.2 else random_.randint(0, near)


def flip_bits(path: Path, random_: random.Random) -> str:
    told = []
    for _ in range(random_.choice((1, 1, 1, 4, 32))):
        offset = _place(path, random_, 1)
        with path.open("rb") as file:
            file.seek(offset)
            old = file.read(1) or b"\0"
        bit = random_.randrange(8)
        _patch(path, offset, bytes([old[0] ^ 1 << bit]))
        told.append(f"{offset}.{bit}")
    return "bits " + " ".join(told[:4])


def truncate(path: Path, random_: random.Random) -> str:
    size = path.stat().st_size
    keep = random_.choice((0, 1, size // 2, max(0, size - 1), random_.randint(0, size)))
    os.truncate(path, keep)
    return f"{keep} of {size} bytes left"


def extend(path: Path, random_: random.Random) -> str:
    count = random_.choice((1, 7, 8, 4096, 100_000))
    more = random_.choice((b"\0" * count, random_.randbytes(count), path.read_bytes()[:count]))
    with path.open("ab") as file:
        file.write(more)
    return f"{len(more)} bytes more"


def grow(path: Path, random_: random.Random) -> str:
    size = random_.choice((1 << 31, 1 << 33, 1 << 38))
    os.truncate(path, size)  # sparse: takes no disk space
    return f"{size:,} bytes"


def zero_block(path: Path, random_: random.Random) -> str:
    size = path.stat().st_size
    count = min(size, random_.choice((8, 64, 512, 4096, size)))
    offset = _place(path, random_, count)
    _patch(path, offset, bytes(count))
    return f"{count} bytes at {offset}"


def scramble_block(path: Path, random_: random.Random) -> str:
    size = path.stat().st_size
    count = min(size, random_.choice((8, 64, 512, 4096)))
    offset = _place(path, random_, count)
    _patch(path, offset, random_.randbytes(count))
    return f"{count} bytes at {offset}"


def make_numbers_huge(path: Path, random_: random.Random) -> str:
    told = []
    for _ in range(random_.choice((1, 1, 3, 40))):
        width, value = random_.choice((1, 2, 4, 8)), random_.choice(_HUGE)
        order = random_.choice(("little", "big"))  # SQLite's numbers are big-endian
        offset = _place(path, random_, width) // width * width
        _patch(path, offset, (value & (1 << 8 * width) - 1).to_bytes(width, order))  # type: ignore[arg-type]
        told.append(f"{value:#x} at {offset}")
    return ", ".join(told[:3])


def remove(path: Path, _random: random.Random) -> str:
    _delete(path)
    return "gone"


def replace_by_folder(path: Path, random_: random.Random) -> str:
    _delete(path)
    path.mkdir()
    if random_.random() < 0.5:
        (path / "a").write_text("x")
    return "a folder"


def replace_by_link(path: Path, random_: random.Random) -> str:
    copy = path.with_name(path.name + "~")
    target: str
    if random_.random() < 0.4:
        os.replace(path, copy)
        target = copy.name
    else:
        target = random_.choice(("/etc/passwd", "/dev/zero", "nowhere", path.name, ".", "/"))
        _delete(path)
    path.symlink_to(target)
    return f"link to {target}"


def replace_by_fifo(path: Path, _random: random.Random) -> str:
    _delete(path)
    os.mkfifo(path)
    return "a FIFO"


def replace_by_socket(path: Path, _random: random.Random) -> str:
    _delete(path)
    here = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(f"/proc/self/fd/{here}/{path.name}")  # the full path may be too long for a socket address
    finally:
        os.close(here)
    return "a socket"


def replace_by_file(path: Path, random_: random.Random) -> str:
    _delete(path)
    path.write_bytes(random_.randbytes(random_.choice((0, 8, 4096))))
    return "a file"


def edit_json(path: Path, random_: random.Random) -> str:
    """Set, remove or add a value anywhere in a JSON file; sometimes the file's digest is made to fit."""
    try:
        data = json.loads(path.read_bytes())
    except ValueError:  # damaged before, and not repaired
        return flip_bits(path, random_)
    sealed = _sealed(data)
    places = list(_places(data))
    if not places:
        path.write_text(json.dumps(random_.choice(_VALUES)))
        return "another value"
    holder, key = random_.choice(places)
    how = random_.choice(("set", "set", "number", "remove", "add"))
    value = random_.choice(_VALUES)
    if how == "number" and type(holder[key]) is int:
        value = holder[key] + random_.choice((-1, 1, 10, 1 << 20, 1 << 40))
    if how == "remove":
        del holder[key]
    elif how == "add" and isinstance(holder, dict):
        holder["unexpected"] = value
    else:
        holder[key] = value
    reseal = sealed and key != "digest" and random_.random() < 0.5
    if reseal:
        data["digest"] = _digest(data)
    path.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", "utf-8")
    return f"{how} {key} {str(value)[:40]!r}" + ", digest made to fit" * reseal


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield value, key
        yield from _places(inner)


def _digest(data: dict[str, Any]) -> str:
    text = json.dumps({k: v for k, v in data.items() if k != "digest"}, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode("ascii", "replace"), digest_size=16).hexdigest()


def _sealed(data: Any) -> bool:
    """Whether a JSON file has a digest of itself that we can compute."""
    return isinstance(data, dict) and data.get("digest") == _digest(data)


def nest_json(path: Path, random_: random.Random) -> str:
    path.write_text(random_.choice(("[", '{"a":')) * 200_000)
    return "very deep"


_ON_FILES: dict[Callable[[Path, random.Random], str], int] = {
    flip_bits: 6, make_numbers_huge: 5, truncate: 3, zero_block: 3, scramble_block: 2, extend: 2, remove: 2, grow: 1,
    replace_by_folder: 1, replace_by_link: 2, replace_by_fifo: 1, replace_by_socket: 1,
}  # fmt: skip
_ON_JSON: dict[Callable[[Path, random.Random], str], int] = {edit_json: 40, nest_json: 1, **_ON_FILES}
_ON_FOLDERS = (remove, replace_by_file, replace_by_link, replace_by_fifo)
#: Shares of the damage that exchanges two files, and that hits whole folders.
_SWAPS, _FOLDERS = 0.06, 0.06


def inflict(folders: list[Path], random_: random.Random) -> Damage | None:
    """Damage one thing below one of the folders; None if nothing changed."""
    folder = random_.choice(folders)
    everything = sorted(folder.rglob("*"))
    regular = [path for path in everything if stat.S_ISREG(path.lstat().st_mode)]
    inner = [path for path in everything if path.is_dir()]
    draw = random_.random()
    if draw < _FOLDERS and inner:
        path, how = random_.choice(inner), random_.choice(_ON_FOLDERS)
        told = how(path, random_)
        return Damage(how.__name__, path.relative_to(folder).as_posix(), told, False, False)
    if draw < _FOLDERS + _SWAPS and len(regular) > 1:
        return _swap(folder, random_, regular)
    # Choose the manifest once in five times, since there are many other files.
    top = [path for path in regular if path.suffix == ".json" and path.parent == folder]
    path = random_.choice(top if top and random_.random() < 0.2 else regular)
    table = _ON_JSON if path in top else _ON_FILES
    how = random_.choices(list(table), list(table.values()))[0]
    return _with_times(folder, path, random_, how)


def _with_times(folder: Path, path: Path, random_: random.Random, how: Callable[..., str]) -> Damage | None:
    before, content = path.stat(), path.read_bytes()
    told = how(path, random_)
    now = path.lstat() if os.path.lexists(path) else None
    same_size = now is not None and stat.S_ISREG(now.st_mode) and now.st_size == before.st_size
    if same_size and path.read_bytes() == content:
        return None
    restored = now is not None and random_.random() < 0.5
    if restored:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns), follow_symlinks=False)
    return Damage(how.__name__, path.relative_to(folder).as_posix(), told, restored, same_size)


def _swap(folder: Path, random_: random.Random, regular: list[Path]) -> Damage | None:
    one, other = random_.sample(regular, 2)
    contents, infos = (one.read_bytes(), other.read_bytes()), (one.stat(), other.stat())
    if contents[0] == contents[1]:
        return None
    both = random_.random() < 0.5
    one.write_bytes(contents[1])
    if both:
        other.write_bytes(contents[0])
    restored = random_.random() < 0.5
    if restored:
        for path, info in zip((one, other), infos, strict=True):
            os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    name = other.relative_to(folder).as_posix()
    told = f"{'exchanged with' if both else 'overwritten by'} {name}"
    return Damage("swap", one.relative_to(folder).as_posix(), told, restored, len(contents[0]) == len(contents[1]))


def clear_up(folders: list[Path]) -> int:
    """Remove traces of damage that are no part of an index: copies, and huge sparse files.

    Returns:
        The number of huge files. A run may leave those that it does not read.
    """
    long = 0
    for path in (path for folder in set(folders) for path in folder.rglob("*")):
        oversized = not path.is_symlink() and path.is_file() and path.stat().st_size > 1 << 30
        long += oversized
        if oversized or path.name.endswith("~"):
            path.unlink()
    return long


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
