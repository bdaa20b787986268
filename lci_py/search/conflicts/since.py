"""Finds the conflicts that a change adds, for `lci conflicts --diff`. A conflict is new if one of its definitions, or
the condition of a definition, is new since the commit; a disagreement is new if a file stated another value before.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lci_py.errors import UsageError
from lci_py.search.conflicts import keys, versions
from lci_py.source.file_record import define_data
from lci_py.source.repository.branches import GitTrouble, contents_at
from lci_py.source.repository.content import content_reason
from lci_py.source.repository.git import commit_of, git_problem, git_root, merge_base
from lci_py.source.repository.workspace import of_each_repository
from lci_py.source.stated_values import claims_of
from lci_py.source.syntax.languages import HEAD_BYTES, TEXT, detect

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lci_py.index.shards.stated_values import StatedValue
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.conflicts import Conflict

#: After a revision: compare with the merge base, as `git diff REV...` does.
_PARTED = "..."
#: git's name for a tree without files: what there was before the first commit.
_NOTHING = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
#: Identifies a definition wherever it is: qualified name, kind, condition.
_Definition = tuple[str, str, str | None]
#: Identifies a stated value: name, value, how; for a version: subject, value, file.
_Value = tuple[str, str, str]


class Since(NamedTuple):
    """The files, definitions and values that are new since a commit."""

    branch: str | None  # that is checked out
    commit: str | None  # None in a workspace, where each repository has its own
    files: frozenset[str]  # that differ
    definitions: frozenset[tuple[str, int]]  # file and line of the new ones
    before: frozenset[_Value]  # the values that the files stated
    uncompared: tuple[str, ...] | None = None  # repositories of a workspace without git, or without the revision

    def adds(self, conflict: Conflict) -> bool:
        """Whether a conflict is new: it has several definitions, of which one in this tree is new."""
        # What another branch lacks is new to every branch that adds anything.
        here = [site for site in conflict.definitions if site.branch == self.branch]
        return len(conflict.definitions) > 1 and any((site.file, site.line) in self.definitions for site in here)

    def is_new(self, row: StatedValue) -> bool:
        """Whether a stated value is new."""
        return row.file in self.files and (row.name, row.value, row.how) not in self.before

    def has_version(self, file: str, subject: str, value: str) -> bool:
        """Whether a version statement or a duplicate key is new in its file."""
        return file in self.files and (subject, value, file) not in self.before


def since(snapshot: Snapshot, revision: str) -> Since:
    """Compares the work tree, including untracked files, with a commit.

    In a workspace, each repository is compared with its own commit of the name `revision`; a definition that moved from
    one repository to another is not new.

    Raises:
        UsageError: There is no such revision, or no git work tree; in a workspace, not in any repository.
    """
    before = _Before(set(), Counter(), set())
    commits, uncompared = of_each_repository(snapshot.root, partial(_compare, snapshot, revision, before))
    new = frozenset(_new_definitions(snapshot, sorted(before.files), before.definitions))
    commit = commits[0] if uncompared is None else None
    return Since(snapshot.manifest.branch, commit, frozenset(before.files), new, frozenset(before.values), uncompared)


class _Before(NamedTuple):
    """The files that differ from the commit, and the definitions and values that they had in it."""

    files: set[str]
    definitions: Counter[_Definition]
    values: set[_Value]


def _compare(snapshot: Snapshot, revision: str, before: _Before, root: Path, prefix: str) -> str:
    """Add to `before` the former content of the files that differ in the folder `root`; returns the commit."""
    if git_root(root) is None:
        raise UsageError(f"{root} is not in a git work tree", hint="leave out --diff")
    parted = revision.endswith(_PARTED)
    commit = commit_of(root, revision.removesuffix(_PARTED) or "HEAD")
    commit = merge_base(root, commit) if commit is not None and parted else commit
    if commit is None and (problem := git_problem(root)):
        raise UsageError(problem, hint="--diff needs git; without it all conflicts are listed")
    if commit is None and revision == "HEAD":
        commit = _NOTHING
    if commit is None:
        raise UsageError(
            f"{revision} is not a commit" if not parted else f"{revision} and HEAD have no common commit",
            hint="give a branch, a tag or a commit; in CI, fetch it first (a shallow clone lacks it)",
        )
    try:
        changed = contents_at(root, commit, _tells)
    except GitTrouble as error:
        raise UsageError(f"git cannot compare with {revision}: {error}", hint="leave out --diff") from error
    for path, data in changed:
        if data is not None and data == snapshot.reader.read(prefix + path):
            continue
        before.files.add(prefix + path)
        if data is not None and content_reason(path, data) is None:
            _read(snapshot, prefix + path, data, before.definitions, before.values)
    return commit


def _tells(path: str) -> bool:
    """Whether a file can define something or state a value; git is not asked for the contents of other files."""
    return detect(path) != TEXT or versions.reads(path) or keys.reads(path)


def _read(snapshot: Snapshot, path: str, data: bytes, old: Counter[_Definition], before: set[_Value]) -> None:
    """Add the definitions of a former file to `old`, and the values that it stated to `before`."""
    language = detect(path, data[:HEAD_BYTES])
    flags = tuple(snapshot.manifest.settings.get("feature_flags", ()))
    record = define_data(path, data, language, flags=flags) if language != TEXT else None
    symbols = record.symbols if record is not None else ()
    if record is not None:
        before.update((keys.KEY, claim.name, path) for claim in record.claims)
    for symbol in symbols:
        old[symbol.qualified_name, symbol.kind, symbol.build_tag] += 1
    if versions.reads(path):
        text = data.decode("utf-8", "replace")
        before.update((fact.subject, fact.value, path) for fact in versions.versions_in(path, text))
    if keys.reads(path):
        before.update((keys.KEY, fact.name, path) for fact in keys.twice(path, data.decode("utf-8", "replace")))
    before.update((claim.name, claim.value, claim.how) for claim in claims_of(language, path, data, symbols))


def _new_definitions(snapshot: Snapshot, files: Iterable[str], old: Counter[_Definition]) -> Iterable[tuple[str, int]]:
    """(file, line) of each definition that is not in `old`; a definition that moved to another file is not new."""
    rows = snapshot.symbols.in_files(list(files))
    for row in rows:
        key = (row["qualified_name"], row["kind"], row["build_tag"])
        if old[key] > 0:
            old[key] -= 1
        else:
            yield row["file"], row["line"]
