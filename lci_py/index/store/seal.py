"""The seal of an index: a keyed hash that only this user can make on this machine.

Digests find damage, but whoever writes an index can write its digests too. A seal needs the key, 32 random bytes in the
user's configuration folder. No repository has that key, so an index that came with a clone has no valid seal.
"""

from __future__ import annotations

import errno
import os
import stat
from _operator import _compare_digest as compare_digest  # as `hmac` has it, which loads OpenSSL
from pathlib import Path

from lci_py.errors import TrustKeyError
from lci_py.source.repository.workspace import user_folder
from lci_py.source.text import blake2b

#: Environment variable that names another folder for the key.
CONFIG_VARIABLE = "LCI_CONFIG_DIR"
KEY_FILE = "index.key"
#: The key of fleets: whoever writes or reads one has the same file, copied by hand.
FLEET_KEY_FILE = "fleet.key"
_FILES = {False: KEY_FILE, True: FLEET_KEY_FILE}  # by whether it is that of fleets
_KEY_BYTES = 32
_SEAL_BYTES = 32
# Errors of file systems without hard links.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_ELSEWHERE = f"or name a folder of your own in {CONFIG_VARIABLE}"


def seal(text: bytes, *, of_fleet: bool = False) -> str:
    """The seal of a text, in hex. Creates the key if there is none.

    Raises:
        TrustKeyError: The key cannot be created or used.
    """
    return _keyed_digest(text, ensure_key(of_fleet=of_fleet), of_fleet)


def is_sealed(text: bytes, seal: object, *, of_fleet: bool = False) -> bool:
    """Whether `seal`, read from the disk, is the seal of a text; False if there is no key. No key is created.

    Raises:
        TrustKeyError: There is a key, but it cannot be used.
    """
    key = _key(_FILES[of_fleet], create=False)
    if key is None or not isinstance(seal, str) or not seal.isascii():
        return False
    return compare_digest(_keyed_digest(text, key, of_fleet), seal)


def ensure_key(*, of_fleet: bool = False) -> bytes:
    """The key; created if there is none. A writer calls this before it starts: without a key, it could not publish.

    Raises:
        TrustKeyError: The key cannot be created or used.
    """
    key = _key(_FILES[of_fleet], create=True)
    if key is None:
        path = config_folder() / _FILES[of_fleet]
        raise _unusable(path, "was removed while it was made", f"try again, {_ELSEWHERE}")
    return key


def cache_secret() -> bytes:
    """The key of the hashes in the cache's rows.

    Raises:
        TrustKeyError: The key of the seal, from which it is made, cannot be created or used.
    """
    return blake2b(b"", key=ensure_key(), digest_size=32, person=b"lci-cache").digest()


def config_folder() -> Path:
    """The folder of the key: LCI_CONFIG_DIR, else the user's configuration folder for lci, else a temporary folder."""
    if value := os.environ.get(CONFIG_VARIABLE):
        path = os.path.expanduser(value)
        if not os.path.isabs(path):
            raise _unusable(
                Path(value), f"comes from {CONFIG_VARIABLE}, and is a relative path", "give an absolute path"
            )
        return Path(path)
    folder = user_folder("config")
    if os.path.lexists(folder / KEY_FILE) or _can_be_made(folder):
        return folder
    try:
        return temporary_folder()
    except OSError:
        return folder  # the error names the folder that the user knows


def _can_be_made(folder: Path) -> bool:
    """Whether this user can create files in a folder, which need not exist yet."""
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    return os.path.isdir(folder) and os.access(folder, os.W_OK)


def temporary_folder() -> Path:
    """A private folder that lasts until the machine clears its temporary files; created if there is none.

    Raises:
        OSError: The folder cannot be created, or another user could write there.
    """
    import tempfile
    from contextlib import suppress

    folder = Path(tempfile.gettempdir(), f"lci-{os.geteuid()}")
    with suppress(FileExistsError):
        folder.mkdir(0o700)
    info = os.lstat(folder)
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.geteuid() or info.st_mode & 0o077:
        raise PermissionError(errno.EACCES, "belongs to another user, or is open to others", str(folder))
    return folder


def _keyed_digest(text: bytes, key: bytes, of_fleet: bool) -> str:
    return blake2b(
        text, key=key, digest_size=_SEAL_BYTES, person=b"lci-fleet" if of_fleet else b"lci-index"
    ).hexdigest()


def _key(name: str, *, create: bool) -> bytes | None:
    folder = config_folder()
    path = folder / name
    try:
        if create:
            os.makedirs(folder, 0o700, exist_ok=True)
        # Files of the folder are opened through this descriptor, so nobody can replace the folder in between.
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError as error:
        if not create:
            return None
        raise _cannot_make(path, error) from error
    except OSError as error:
        raise _cannot_make(path, error) from error
    try:
        _check_folder(folder, handle)
        key = _read(path, handle)
        if key is None and create:
            try:
                _make(handle, name)
            except OSError as error:
                raise _cannot_make(path, error) from error
            key = _read(path, handle)
        return key
    finally:
        os.close(handle)


def _check_folder(folder: Path, handle: int) -> None:
    """Refuse a folder in which another user could put a key."""
    info = os.fstat(handle)
    if info.st_uid != os.geteuid():
        raise _unusable(folder, f"belongs to another user ({info.st_uid})", f"use a folder of your own, {_ELSEWHERE}")
    if info.st_mode & 0o022:
        what = f"can be written by others (mode {stat.S_IMODE(info.st_mode):o})"
        raise _unusable(folder, what, f"run `chmod 700 {folder}`, {_ELSEWHERE}")


def _read(path: Path, folder: int) -> bytes | None:
    """Read the key file in a folder, which is given as a descriptor; None if there is no key."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open(path.name, flags, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _unusable(path, "is a symbolic link", "remove it; a new key is made") from error
        raise _unusable(path, f"cannot be read ({error.strerror})", "make it readable for you, or remove it") from error
    try:
        info = os.fstat(handle)
        again = "remove it; a new key is made, and indexes have to be rebuilt"
        if not stat.S_ISREG(info.st_mode):
            raise _unusable(path, "is not a regular file", again)
        if info.st_uid != os.geteuid():
            raise _unusable(path, f"belongs to another user ({info.st_uid})", again)
        if info.st_mode & 0o077:
            what = f"is open to others (mode {stat.S_IMODE(info.st_mode):o})"
            raise _unusable(path, what, f"run `chmod 600 {path}`, or {again} if somebody can have read it")
        key = os.read(handle, _KEY_BYTES + 1)
        if len(key) != _KEY_BYTES:
            raise _unusable(path, f"is not a key of {_KEY_BYTES} bytes", again)
        return key
    finally:
        os.close(handle)


def _make(folder: int, key: str) -> None:
    """Write a new key into the folder, atomically. If another process writes a key first, that key stays."""
    name = f".{key}.{os.getpid()}.{os.urandom(4).hex()}"
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        try:
            os.write(handle, os.urandom(_KEY_BYTES))
            os.fsync(handle)
        finally:
            os.close(handle)
        try:
            os.link(name, key, src_dir_fd=folder, dst_dir_fd=folder)
        except FileExistsError:
            pass
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            _rename_if_first(folder, name, key)
    finally:
        try:
            os.unlink(name, dir_fd=folder)
        except FileNotFoundError:  # it was renamed
            pass


def _rename_if_first(folder: int, name: str, key: str) -> None:
    """Rename the new key into place unless there is a key; under a lock, so that no other process's key is replaced."""
    import fcntl

    fcntl.flock(folder, fcntl.LOCK_EX)  # held until the descriptor is closed
    try:
        os.stat(key, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        os.rename(name, key, src_dir_fd=folder, dst_dir_fd=folder)


def _unusable(path: Path, problem: str, hint: str) -> TrustKeyError:
    return TrustKeyError(f"{path}, which tells your own indexes from others, {problem}", hint=hint)


def _cannot_make(path: Path, error: OSError) -> TrustKeyError:
    return TrustKeyError(
        f"cannot make the key of your indexes, {path}: {error.strerror or error}",
        hint=f"make the folder writable, or name another in {CONFIG_VARIABLE}",
    )
