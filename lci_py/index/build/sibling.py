"""Reuses the indexes of the same repository's other work trees: to start a first index, and to save extractions.

Two work trees have most files in common; differences are found by content, as after a checkout. Git's own files name
the other work trees. Nothing in them is trusted or changed: the index must have this user's seal, each copied shard
the digest that the sealed manifest states, and each row of the cache the right keyed hash.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

from lci_py.errors import IndexError_
from lci_py.index.build.changes import PreviousGeneration
from lci_py.index.store.cache import FILE
from lci_py.index.store.commit import copy_shards
from lci_py.index.store.manifest import Manifest, OpenIndex, read_manifest, root_setting
from lci_py.source.repository.git import git_root, head, other_worktrees
from lci_py.source.repository.workspace import is_workspace, members

#: The global shards that a refresh reads. Other branches are indexed for the work tree that asks for them.
_ROLES = ("files", "graph")
#: At most so many caches are asked for a file; the main work tree's comes first.
_MOST_CACHES = 8


def taken_over(
    root: Path,
    index_dir: Path,
    folder: Path,
    fits: Callable[[Manifest], bool],
    compared: Callable[[Manifest], PreviousGeneration | None],
) -> tuple[str | None, PreviousGeneration | None]:
    """Copy the most suitable index of another work tree.

    Args:
        root: The root that has no index yet.
        index_dir: The index folder of `root`.
        folder: The staging folder.
        fits: Whether a generation was made with this program, model and settings.
        compared: Compares a generation whose shards are in `index_dir` with the files of the tree.
    Returns:
        The root of the other work tree, and the generation to start from; (None, None) if there is none.
    """
    for other, other_dir, manifest in _candidates(root, index_dir):
        if not fits(manifest):
            continue
        try:
            with closing(OpenIndex(other_dir)) as source:
                if not fits(source.manifest):  # published since
                    continue
                copy = copy_shards(source, _ROLES, index_dir, folder)
            previous = compared(copy)
        except (IndexError_, KeyError):
            continue
        if previous is not None and _mostly_same(previous):
            return str(other), previous
    return None, None


def shared_caches(root: Path, index_dir: Path) -> tuple[Path, ...]:
    """The index folders of other work trees that have a cache of extractions; in a workspace, for each repository."""
    if is_workspace(root):
        folders = {name: Path(folder, index_dir.name) for name, folder in members(root).items()}
        own = {name: cache_dir for name, cache_dir in folders.items() if os.path.realpath(cache_dir) == str(cache_dir)}
        return tuple(root / name / cache_dir.name for name, cache_dir in own.items() if (cache_dir / FILE).is_file())
    if root_setting(root, index_dir):
        return ()
    caches = (cache_dir for _, cache_dir in _other_indexes(root, index_dir) if (cache_dir / FILE).is_file())
    return tuple(islice(caches, _MOST_CACHES))


def _candidates(root: Path, index_dir: Path) -> list[tuple[Path, Path, Manifest]]:
    """(root, index folder, manifest) of each index of another work tree: the same commit first, then by age."""
    if root_setting(root, index_dir):
        return []  # nobody knows where the indexes of the other work trees are
    commit, _ = head(root)
    candidates = [
        (other, other_dir, manifest)
        for other, other_dir in _other_indexes(root, index_dir)
        if (manifest := _manifest(other_dir))
    ]
    candidates.sort(key=lambda item: item[2].built_at, reverse=True)
    return sorted(candidates, key=lambda item: item[2].commit != commit)


def _other_indexes(root: Path, index_dir: Path) -> Iterator[tuple[Path, Path]]:
    """(the folder that corresponds to `root`, its index folder) for every other work tree."""
    top, resolved = git_root(root), root.resolve()
    if top is None:
        return
    for tree in other_worktrees(root):
        other = tree / resolved.relative_to(top)
        other_dir = other / index_dir.name
        try:
            inside = os.path.realpath(other_dir) == str(other_dir)  # no link leads out of the work tree
        except (OSError, ValueError):
            continue
        if inside and os.path.isdir(other_dir):
            yield other, other_dir


def _manifest(index_dir: Path) -> Manifest | None:
    try:
        return read_manifest(index_dir)
    except IndexError_:
        return None


def _mostly_same(previous: PreviousGeneration) -> bool:
    """Whether at least half of the indexed files are in this tree as well; else a new build is better."""
    change = previous.change
    same_files = sum(item.slot >= 0 for item in (*change.same, *change.touched))
    files: int = previous.manifest.counts["files"]
    return 0 < files <= 2 * same_files
