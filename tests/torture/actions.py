"""Changes to a working tree, by name, for the stateful test. Two numbers select the file and the kind of change."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.torture.trees import NAMES, WORDS, commit, definition, files, flow, run_git, write

#: A file is "too large" above this, by the settings that the test writes.
LARGE = 20_000
SETTINGS = (
    f"max_file_bytes = {LARGE}\n",
    f'max_file_bytes = {LARGE}\nexclude = ["lib/java/**"]\n',
    f'max_file_bytes = {LARGE}\ninclude = ["build/**"]\nhidden = true\n',
    f"max_file_bytes = {LARGE}\nsnippet = 2\nlimit = 3\n",
)
_IGNORE = ("build/\n*.log\n", "web/\n", "*.go\n!plain.go\n", "lib/python/\n", "", "src/*\n!src/util.py\n")
_FOLDERS = ("src", "web", "lib/go", "new", "new/deep", "build")
_SUFFIXES = (".py", ".go", ".js", ".c", ".java", ".md", ".txt")
BRANCHES = ("main", "other")
#: Files that decide about others: after a change of one, no list of changed files is complete.
DECISIVE = (".gitignore", ".lciignore", ".lci.toml", ".ignore")


class Tree:
    """A working tree, and what has changed in it since `settled` was last called."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.dirty: set[str] = set()
        self.wide = False  # more than `dirty` says: an ignore file, a branch
        self._kept: dict[str, bytes] = {}  # of files that were made binary or too large

    def settled(self) -> None:
        self.dirty.clear()
        self.wide = False

    def _pick(self, number: int, *suffixes: str) -> Path | None:
        found = [name for name in files(self.root) if Path(name).name not in DECISIVE]
        found = [name for name in found if not suffixes or name.endswith(suffixes)]
        found = [name for name in found if os.access(self.root / name, os.R_OK | os.W_OK)]
        return self.root / found[number % len(found)] if found else None

    def _name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def _write(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.dirty.add(self._name(path))

    # --- content --------------------------------------------------------------------------------------------------

    def edit_body(self, where: int, what: int) -> None:
        """Exchange one word of the file for another one."""
        if path := self._pick(where):
            data = path.read_bytes()
            old, new = WORDS[what % len(WORDS)].encode(), WORDS[(what // 7 + 1) % len(WORDS)].encode()
            self._write(path, data.replace(old, new, 1) if old in data else data + b"\n" + new + b"\n")

    def add_definition(self, where: int, what: int) -> None:
        if path := self._pick(where):
            name, other = NAMES[what % len(NAMES)], NAMES[(what // 3) % len(NAMES)]
            words = " ".join(WORDS[(what * k) % len(WORDS)] for k in (1, 5, 7))
            self._write(path, path.read_bytes() + definition(path.suffix, name, other, words).encode())

    def pass_functions(self, where: int, what: int) -> None:
        """Add statements between two lines through which functions go as values."""
        if path := self._pick(where, ".py", ".js"):
            name, other = NAMES[what % len(NAMES)], NAMES[(what // 3) % len(NAMES)]
            lines = path.read_bytes().splitlines(keepends=True)
            tops = [at for at, line in enumerate(lines) if line[:1] not in (b" ", b"\t", b"}", b"\n")] or [0]
            at = len(lines) if what % 2 else tops[what % len(tops)]
            lines[at:at] = [flow(path.suffix, what // 5, name, other).encode()]
            self._write(path, b"".join(lines))

    def shift_lines(self, where: int, what: int) -> None:
        """Add blank lines and comments: nothing means anything else, but it stands elsewhere."""
        if path := self._pick(where, ".py", ".js"):
            lines = path.read_bytes().splitlines(keepends=True)
            at = what % (len(lines) + 1)
            lines[at:at] = [b"\n" * (1 + what % 3)]
            self._write(path, (b"# a remark\n" if path.suffix == ".py" else b"// a remark\n") + b"".join(lines))

    def remove_lines(self, where: int, what: int) -> None:
        if path := self._pick(where):
            lines = path.read_bytes().splitlines(keepends=True)
            start = what % (len(lines) + 1)
            del lines[start : start + 1 + what % 9]
            self._write(path, b"".join(lines))

    def empty_file(self, where: int, _what: int) -> None:
        if path := self._pick(where):
            self._write(path, b"")

    def edit_with_old_size_and_time(self, where: int, _what: int) -> None:
        """Change letters, then restore the modification time: only ctime shows the change."""
        if path := self._pick(where, ".py", ".js", ".md", ".txt"):
            info = path.stat()
            self._write(path, path.read_bytes().translate(bytes.maketrans(b"aeiou", b"eioua")))
            os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))

    def make_binary(self, where: int, _what: int) -> None:
        if path := self._pick(where):
            self._kept.setdefault(self._name(path), path.read_bytes())
            self._write(path, b"\0\1\2" + path.read_bytes())

    def make_too_large(self, where: int, _what: int) -> None:
        if path := self._pick(where):
            self._kept.setdefault(self._name(path), path.read_bytes())
            self._write(path, path.read_bytes() + b"\n# large" * LARGE)

    def give_back(self, where: int, _what: int) -> None:
        """Restore a file that was made binary or too large."""
        if self._kept:
            name = sorted(self._kept)[where % len(self._kept)]
            path, data = self.root / name, self._kept.pop(name)
            if not path.is_dir() and not any(parent.is_file() for parent in path.parents):
                self._write(path, data)

    # --- names ----------------------------------------------------------------------------------------------------

    def add_file(self, where: int, what: int) -> None:
        suffix = _SUFFIXES[what % len(_SUFFIXES)]
        path = self.root / _FOLDERS[where % len(_FOLDERS)] / f"file{what % 5}{suffix}"
        text = definition(suffix, NAMES[where % len(NAMES)], NAMES[what % len(NAMES)], WORDS[what % len(WORDS)])
        self._write(path, text.encode())

    def delete_file(self, where: int, _what: int) -> None:
        if path := self._pick(where):
            path.unlink()
            self.dirty.add(self._name(path))

    def rename_file(self, where: int, what: int) -> None:
        """Give a file another name, which may sort elsewhere, or replace another file."""
        if path := self._pick(where):
            target = path.with_name(f"{'az'[what % 2]}{what % 3}{path.suffix}")
            self.dirty |= {self._name(path), self._name(target)}
            path.replace(target)

    def change_suffix(self, where: int, what: int) -> None:
        """The same content in another language."""
        if path := self._pick(where):
            target = path.with_suffix(_SUFFIXES[what % len(_SUFFIXES)])
            self.dirty |= {self._name(path), self._name(target)}
            path.replace(target)

    def move_folder(self, where: int, what: int) -> None:
        folders = sorted({str(Path(name).parent) for name in files(self.root)} - {"."})
        if not folders:
            return
        source, target = self.root / folders[where % len(folders)], self.root / f"moved{what % 3}"
        inside = [name for name in files(self.root) if name.startswith(f"{self._name(source)}/")]
        if target.exists() or target.is_relative_to(source):
            return
        source.rename(target)
        self.dirty |= set(inside) | {self._name(target) + name[len(self._name(source)) :] for name in inside}

    def swap_files(self, where: int, what: int) -> None:
        one, other = self._pick(where), self._pick(what)
        if one and other and one != other:
            between = one.with_name("between")
            one.rename(between)
            other.rename(one)
            between.rename(other)
            self.dirty |= {self._name(one), self._name(other)}

    def make_link(self, where: int, what: int) -> None:
        """Make a symbolic link, new or in place of a file."""
        if path := self._pick(where):
            link = path if what % 2 else path.with_name(f"link{what % 3}.py")
            target = os.path.relpath(self._pick(what) or path, link.parent)
            link.unlink(missing_ok=True)
            link.symlink_to(target)
            self.dirty.add(self._name(link))

    def file_to_folder(self, where: int, what: int) -> None:
        if path := self._pick(where):
            path.unlink()
            self.dirty.add(self._name(path))
            self._write(path / f"inner{what % 2}.py", definition(".py", "evict", "load_cache", "ring").encode())

    # --- what is no content ---------------------------------------------------------------------------------------

    def chmod(self, where: int, what: int) -> None:
        """Change the mode of a file, also of one that is unreadable, which other changes skip."""
        locked = [name for name in files(self.root) if not os.access(self.root / name, os.R_OK)]
        if path := self.root / locked[0] if locked and where % 2 else self._pick(where):
            path.chmod((0o000, 0o644, 0o755, 0o600)[what % 4])
            self.dirty.add(self._name(path))

    def touch(self, where: int, what: int) -> None:
        """Set another modification time: now, in the past, or in the future."""
        if path := self._pick(where):
            moment = (None, 10**9 * (1 + what), 4 * 10**18)[what % 3]
            os.utime(path) if moment is None else os.utime(path, ns=(moment, moment))
            self.dirty.add(self._name(path))

    def rewrite(self, where: int, _what: int) -> None:
        """The same content in a new file."""
        if path := self._pick(where):
            copy = path.with_name("copy")
            shutil.copyfile(path, copy)
            copy.replace(path)
            self.dirty.add(self._name(path))

    # --- what decides about others --------------------------------------------------------------------------------

    def ignore(self, where: int, what: int) -> None:
        folder = ("", "lib/", "src/")[where % 3]
        path = self.root / f"{folder}{('.gitignore', '.lciignore')[what % 2]}"
        if path.parent.is_dir():
            write(path, _IGNORE[what % len(_IGNORE)])
            self.wide = True

    def configure(self, where: int, _what: int) -> None:
        write(self.root / ".lci.toml", SETTINGS[where % len(SETTINGS)])
        self.wide = True

    # --- git ------------------------------------------------------------------------------------------------------

    def switch_branch(self, where: int, _what: int) -> None:
        """Switch to the other branch and discard what is not committed: git writes many files at once."""
        run_git(self.root, "checkout", "-q", "-f", BRANCHES[where % len(BRANCHES)])
        self.wide = True

    def commit(self, _where: int, _what: int) -> None:
        """Commit: HEAD changes, but no file."""
        commit(self.root)


#: By name, so that a failing example shows what it did.
ACTIONS: dict[str, Callable[[Tree, int, int], None]] = {
    name: getattr(Tree, name)
    for name, value in vars(Tree).items()
    if callable(value) and not name.startswith("_") and name != "settled"
}
