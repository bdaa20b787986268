"""The cache only saves work: whatever file is in its place, there is no error and no wrong result."""

from __future__ import annotations

import os
import sqlite3
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from lci_py.index.store.cache import FILE, Cache
from tests.conftest import PROJECT
from tests.support.waiting import PATIENCE

SECRET = b"s" * 32
ITEMS = {bytes([i]) * 16: bytes([i]) * (100 + i) for i in range(40)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with closing(Cache(tmp_path, SECRET, write=True)) as cache:
        cache.put("records", ITEMS, 1)
        cache.put("vectors", {b"v" * 16: b"vector"}, 1)
    return tmp_path


def read(folder: Path, *, secret: bytes = SECRET, write: bool = False, table: str = "records") -> dict[bytes, bytes]:
    with closing(Cache(folder, secret, write=write)) as cache:
        return cache.get(table, [*ITEMS, b"v" * 16, b"unknown"])


def works(folder: Path) -> bool:
    """Whether a writer can keep something that a reader finds."""
    with closing(Cache(folder, SECRET, write=True)) as cache:
        for table in ("records", "vectors"):
            cache.put(table, {b"new": b"body"}, 2)
    with closing(Cache(folder, SECRET)) as cache:
        return all(cache.get(table, [b"new"]) == {b"new": b"body"} for table in ("records", "vectors"))


def change(folder: Path, *statements: str) -> None:
    with closing(sqlite3.connect(folder / FILE)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def test_what_is_put_is_found(folder: Path) -> None:
    assert read(folder) == ITEMS
    assert read(folder, table="vectors") == {b"v" * 16: b"vector"}


def test_a_reader_makes_no_file(tmp_path: Path) -> None:
    assert read(tmp_path) == {} and not os.listdir(tmp_path)


def test_more_keys_than_one_statement_takes(tmp_path: Path) -> None:
    items = {i.to_bytes(16, "big"): b"%d" % i for i in range(1200)}
    with closing(Cache(tmp_path, SECRET, write=True)) as cache:
        cache.put("records", items, 1)
        assert cache.get("records", [*items]) == items


def test_the_rows_of_another_key_are_not_there(folder: Path) -> None:
    assert read(folder, secret=b"t" * 32) == {}
    assert read(folder) == ITEMS  # nor thrown away


def test_a_row_is_believed_in_its_own_place_only(folder: Path) -> None:
    one, two = list(ITEMS)[:2]
    change(folder, f"UPDATE records SET key = x'{b'w'.hex()}' WHERE key = x'{one.hex()}'")
    change(folder, "INSERT INTO vectors SELECT key, used, tag, body FROM records")
    change(folder, f"UPDATE records SET body = 'text' WHERE key = x'{two.hex()}'")
    with closing(Cache(folder, SECRET)) as cache:
        assert cache.get("records", [b"w", one, two]) == {}
        assert cache.get("vectors", [*ITEMS]) == {}


@pytest.mark.parametrize("seed", range(24))
def test_flipped_bytes_never_make_a_wrong_body(folder: Path, seed: int) -> None:
    import random

    chance = random.Random(seed)
    data = bytearray((folder / FILE).read_bytes())
    for _ in range(chance.choice([1, 3, 200])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    (folder / FILE).write_bytes(data)
    assert read(folder).items() <= ITEMS.items()
    assert read(folder, write=True).items() <= ITEMS.items()
    with closing(Cache(folder, SECRET, write=True)) as cache:
        cache.put("records", ITEMS, 2)
        cache.touch("records", [*ITEMS], 3)
        cache.collect(0, [*ITEMS], 3)
    works(folder)  # whatever it met has been replaced by now
    assert works(folder)


def _nothing_there(path: Path) -> None:
    path.unlink()


def _text(path: Path) -> None:
    path.write_text("no database at all " * 100)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "mine").write_text("kept")


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _version(path: Path) -> None:
    change(path.parent, "PRAGMA user_version = 99")


def _other_tables(path: Path) -> None:
    change(path.parent, "DROP TABLE vectors")


def _trigger(path: Path) -> None:
    endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*), 1, 1, 1 FROM n"
    change(path.parent, f"CREATE TRIGGER t AFTER INSERT ON records BEGIN INSERT OR IGNORE INTO vectors {endless}; END")


def _view(path: Path) -> None:
    endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, i, i, i FROM n"
    change(path.parent, "DROP TABLE records", f"CREATE VIEW records (key, used, tag, body) AS {endless}")


@pytest.mark.parametrize("swap", [_nothing_there, _text, _empty, _cut, _fifo, _version, _other_tables, _trigger, _view])
def test_something_else_in_its_place_is_replaced(folder: Path, swap: Callable[[Path], None]) -> None:
    swap(folder / FILE)
    assert read(folder).items() <= ITEMS.items()
    assert works(folder)


def test_a_folder_in_its_place_is_let_be(folder: Path) -> None:
    _folder(folder / FILE)
    assert read(folder) == {} and not works(folder)
    assert (folder / FILE / "mine").read_text() == "kept"


def test_a_link_is_not_followed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Neither to a file that becomes a database, nor to a database of somebody else's."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (folder / FILE).rename(elsewhere / "database")
    (elsewhere / "empty").write_bytes(b"")
    for target in ("database", "empty", "none"):
        (folder / FILE).unlink(missing_ok=True)
        (folder / FILE).symlink_to(elsewhere / target)
        before = {path.name: path.read_bytes() for path in elsewhere.iterdir()}
        assert read(folder) == {}
        assert works(folder)
        assert {path.name: path.read_bytes() for path in elsewhere.iterdir()} == before


def hot_journal(database: Path, victim: Path) -> bytes:
    """A journal as a power cut can leave it, of a transaction over several databases. After SQLite has rolled back this
    one, it deletes the journal of all of them, whichever file its name leads to."""
    magic = bytes.fromhex("d9d505f920a163d7")
    pages = database.stat().st_size // 4096
    name = os.fsencode(victim)
    head = (magic + struct.pack(">5I", 0, 1, pages, 512, 4096)).ljust(512, b"\0")
    checksum = sum(byte - 256 * (byte > 127) for byte in name) & 0xFFFFFFFF
    return head + struct.pack(">I", 0x40000000 // 4096 + 1) + name + struct.pack(">II", len(name), checksum) + magic


def test_a_journal_that_came_with_a_clone_removes_no_file(folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("precious")
    journal = folder / f"{FILE}-journal"
    journal.write_bytes(hot_journal(folder / FILE, victim))
    assert read(folder).items() <= ITEMS.items()
    assert works(folder)
    assert victim.read_text() == "precious" and not journal.exists()


def test_a_writer_clears_a_journal_that_was_never_written(folder: Path) -> None:
    """A run that is killed between making its journal and writing its head leaves a file that SQLite does not clear."""
    for content in (b"", bytes(512)):
        journal = folder / f"{FILE}-journal"
        journal.write_bytes(content)
        assert read(folder, write=True) == ITEMS
        assert not journal.exists()


def test_a_journal_that_would_make_the_file_grow_is_not_believed(folder: Path) -> None:
    size = (folder / FILE).stat().st_size
    head = bytes.fromhex("d9d505f920a163d7") + struct.pack(">5I", 0, 1, 1_000_000_000, 512, 4096)
    (folder / f"{FILE}-journal").write_bytes(head.ljust(512, b"\0"))
    assert read(folder, write=True).items() <= ITEMS.items()
    assert (folder / FILE).stat().st_size <= size
    assert works(folder)


@pytest.mark.parametrize("what", ["link", "fifo"])
def test_something_else_in_the_place_of_a_journal(folder: Path, tmp_path: Path, what: str) -> None:
    journal = folder / f"{FILE}-journal"
    (tmp_path / "victim.txt").write_text("precious")
    journal.symlink_to(tmp_path / "victim.txt") if what == "link" else os.mkfifo(journal)
    assert works(folder)
    assert (tmp_path / "victim.txt").read_text() == "precious" and not os.path.lexists(journal)


def test_a_writer_that_is_killed_loses_its_last_transaction_only(folder: Path) -> None:
    script = (
        "import os, signal; from pathlib import Path; from lci_py.index.store.cache import Cache\n"
        f"cache = Cache(Path({str(folder)!r}), {SECRET!r}, write=True)\n"
        "cache._db.execute('PRAGMA cache_size = 1')  # pages go to the file before the end of the transaction\n"
        "with cache._transaction() as db:\n"
        "    db.executemany('INSERT OR REPLACE INTO records VALUES (?, 2, ?, ?)',\n"
        "        ((bytes([i]) * 16, b'', os.urandom(5000)) for i in range(40)))\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": str(PROJECT)}, timeout=PATIENCE, check=False
    )
    assert (folder / f"{FILE}-journal").stat().st_size > 0
    assert read(folder, write=True) == ITEMS
    assert not (folder / f"{FILE}-journal").exists()


# --- size ---------------------------------------------------------------------------------------------------------


def fill(folder: Path, generations: int) -> None:
    with closing(Cache(folder, SECRET, write=True)) as cache:
        for generation in range(generations):
            key = b"%016d" % generation
            cache.put("records", {key: os.urandom(20_000)}, generation)
            cache.put("vectors", {key: os.urandom(20_000)}, generation)


def test_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    fill(tmp_path, 40)
    oldest, *_, newest = keys = [b"%016d" % generation for generation in range(40)]
    most = 800_000
    assert (tmp_path / FILE).stat().st_size > most
    with closing(Cache(tmp_path, SECRET, write=True)) as cache:
        cache.collect(most, [oldest], 41)  # the first record is in use still
        records, vectors = cache.get("records", keys), cache.get("vectors", keys)
    assert (tmp_path / FILE).stat().st_size <= most
    assert oldest in records and oldest not in vectors
    assert newest in records and newest in vectors
    kept = [key for key in keys[1:] if key in records]
    assert kept and kept == keys[-len(kept) :]
    assert sum(map(len, [*records.values(), *vectors.values()])) > most // 2


def test_of_what_one_generation_used_the_newest_stay(tmp_path: Path) -> None:
    fill(tmp_path, 40)
    keys = [b"%016d" % generation for generation in range(40)]
    with closing(Cache(tmp_path, SECRET, write=True)) as cache:
        cache.collect(800_000, keys, 41)  # all records are in use
        kept = [key for key in keys if key in cache.get("records", keys)]
    assert 0 < len(kept) < 40 and kept == keys[-len(kept) :]


def test_a_small_one_is_let_be(folder: Path) -> None:
    before = (folder / FILE).stat()
    with closing(Cache(folder, SECRET, write=True)) as cache:
        cache.collect(1_000_000, [], 2)
    assert read(folder) == ITEMS and (folder / FILE).stat().st_mtime_ns == before.st_mtime_ns


# --- others -------------------------------------------------------------------------------------------------------


def test_one_that_another_process_holds_is_not_there(folder: Path) -> None:
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert read(folder) == {}
        with closing(Cache(folder, SECRET, write=True)) as cache:
            cache.put("records", {b"x": b"y"}, 2)
            cache.touch("records", [b"x"], 2)
            cache.collect(0, [], 2)
        other.execute("ROLLBACK")
    assert read(folder) == ITEMS  # a cache that somebody else uses is not thrown away


def test_readers_do_not_keep_a_writer_from_writing(folder: Path) -> None:
    """Workers look up what they need while the records of others are kept: none of these may be lost."""
    done = threading.Event()

    def look_up() -> None:
        while not done.is_set():
            read(folder)

    readers = [threading.Thread(target=look_up) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        with closing(Cache(folder, SECRET, write=True)) as cache:
            for i in range(60):
                cache.put("records", {b"%016d" % i: b"body"}, 2)
    finally:
        done.set()
        for reader in readers:
            reader.join()
    with closing(Cache(folder, SECRET)) as cache:
        assert len(cache.get("records", [b"%016d" % i for i in range(60)])) == 60


def test_a_full_disk_loses_nothing_that_was_kept(folder: Path) -> None:
    script = (
        "import resource, os; from pathlib import Path; from lci_py.index.store.cache import Cache\n"
        f"folder = Path({str(folder)!r})\n"
        "size = (folder / 'cache.sqlite').stat().st_size\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))\n"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"cache = Cache(folder, {SECRET!r}, write=True)\n"
        "cache.put('records', {b'large': os.urandom(500_000)}, 2); cache.put('records', {b'small': b'x'}, 2)\n"
        "cache.touch('records', [b'large'], 2); cache.collect(0, [], 3); cache.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=False,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert read(folder).items() <= ITEMS.items()
    with closing(Cache(folder, SECRET)) as cache:
        assert cache.get("records", [b"large"]) == {}
    assert works(folder)


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    with closing(Cache(tmp_path / "none", SECRET, write=True)) as cache:
        cache.put("records", {b"x": b"y"}, 1)
        cache.touch("records", [b"x"], 1)
        cache.collect(0, [b"x"], 1)
        assert cache.get("records", [b"x"]) == {} and not cache.full(0)
