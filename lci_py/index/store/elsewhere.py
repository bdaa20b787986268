"""The index folder of a repository that cannot be written: in the user's cache folder, else in a temporary folder."""

from __future__ import annotations

import os
from pathlib import Path

from lci_py.errors import IndexError_, IndexWriteError
from lci_py.index.store.manifest import read_manifest
from lci_py.index.store.seal import temporary_folder
from lci_py.source.repository.workspace import user_folder
from lci_py.source.text import blake2b


def index_elsewhere(root: Path, folder: Path, *, trust: bool) -> Path:
    """The index folder of a root in which this user may not write.

    Args:
        folder: The usual index folder in the root.
        trust: Whether an index that another user made may be used.
    Raises:
        IndexWriteError: Neither the cache folder nor a temporary one can be written.
    """
    try:
        read_manifest(folder, trust=trust)
        return folder  # it can be read, and says what it lacks
    except IndexError_:
        pass
    name = f"{root.name or 'root'}-{blake2b(os.fsencode(root), digest_size=8).hexdigest()}"
    try:
        (target := user_folder("cache") / name).mkdir(0o700, parents=True, exist_ok=True)
        if os.access(target, os.W_OK):
            return target
    except OSError:
        pass
    try:
        (target := temporary_folder() / name).mkdir(0o700, exist_ok=True)
        return target
    except OSError as error:
        raise IndexWriteError(
            f"neither {root} nor the cache folder of this user nor a temporary one can be written",
            hint="name a folder in LCI_INDEX_DIR",
        ) from error
