"""Hostile repositories: what they contain, and what must never get out of them."""

from __future__ import annotations

import os
from pathlib import Path

#: Text of files outside the root. Words of it in an index or an answer mean that such a file was read.
CANARY = b"zxqcanary7f3e"


def plant_canary(outside: Path) -> None:
    """Make files outside the root, of every kind that a link could lead to."""
    (outside / "deep").mkdir(parents=True)
    code = b"def " + CANARY + b"():\n    return '" + CANARY + b"'\n"
    for name in ("secret.py", "deep/secret.py", ".gitignore"):
        (outside / name).write_bytes(code)
    (outside / "deep" / ".gitignore").write_bytes(CANARY + b"\nkept.py\n")  # `link_out` makes this file
    (outside / "lci.toml").write_bytes(b"limit = 3 # " + CANARY + b"\n")
    (outside / "excludes").write_bytes(CANARY + b"*\n")


def link_out(root: Path, outside: Path) -> None:
    """Make links out of the root in every place where something is read: files, folders, ignore files, loops."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "link.py").symlink_to(outside / "secret.py")
    (root / "folder").symlink_to(outside / "deep")
    (root / "up").symlink_to("..")
    (root / "loop").symlink_to("loop")
    (root / "self").symlink_to(".")
    (root / "inner").mkdir()
    (root / "inner" / ".gitignore").symlink_to(outside / "deep" / ".gitignore")
    (root / "inner" / ".ignore").symlink_to("/dev/zero")
    (root / "inner" / "kept.py").write_text("def kept(): pass\n")
    (root / "dead.py").symlink_to(outside / "nothing.py")
    (root / "zero.py").symlink_to("/dev/zero")
    (root / "random.py").symlink_to("/dev/urandom")


def holds_canary(*places: Path) -> list[Path]:
    """The files below `places` that contain the canary."""
    found = []
    for place in places:
        for path in (place, *place.rglob("*")):
            if path.is_file() and not path.is_symlink() and CANARY in path.read_bytes().lower():
                found.append(path)
    return found


def deep_folder(root: Path, levels: int) -> None:
    """Make a file below `levels` nested folders; with many, its path is longer than the system allows."""
    root.mkdir(parents=True, exist_ok=True)
    handle = os.open(root, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=handle)
        inner = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    with open(os.open("bottom.py", os.O_WRONLY | os.O_CREAT, dir_fd=handle), "w") as file:
        file.write("def bottom(): pass\n")
    os.close(handle)


#: Ignore files for which naively translated regular expressions would take minutes or more.
IGNORES: dict[str, bytes] = {
    "stars": b"*a" * 400_000 + b"b\n",
    "many stars": b"*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b\n" * 10_000,
    "globs": b"".join(b"*.a%d\n" % number for number in range(30_000)),
    "names": b"".join(b"name%d\n" % number for number in range(30_000)),
    "double stars": b"**/a/" * 200_000 + b"b\n",
    "classes": b"[a-z]" * 200_000 + b"\n[z-a]\n[[:alpha:\n[\n[!\n",
    "blanks": b" " * 1_000_000 + b"\n",
    "negations": b"!*.a\n*.a\n" * 50_000,
    "nulls": b"\0" * 100_000 + b"\n\xff\xfe*\n",
}

#: Contents of `.lci.toml` files, and whether they are an error.
SETTINGS: dict[str, tuple[bytes, bool]] = {
    "brackets": (b"a = " + b"[" * 50_000, True),
    "tables": (b"[" + b"a." * 5_000 + b"a]\n", True),
    "huge": (b"# " + b"a" * 100_000 + b"\n", True),
    "large number": (b"max_nesting = " + b"9" * 4000 + b"\n", True),
    "not a number": (b"max_file_seconds = nan\n", True),
    "for ever": (b"max_file_seconds = inf\n", True),
    "no time": (b"max_file_seconds = 0\n", True),
    "true": (b"max_file_symbols = true\n", True),
    "escapes": (b'"\\u001b[31m" = 1\n', False),
    "many keys": (b"".join(b"a%d = 1\n" % number for number in range(4000)), False),
    "not UTF-8": (b"exclude = ['\xff']\n", True),
    "model": (b'model = "../../../etc"\n', True),
}
