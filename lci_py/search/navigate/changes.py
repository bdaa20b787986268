"""The changes from which `lci affected` starts: definitions that differ from a commit, that a diff touches, that are in
the requested files, or that have the requested name."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lci_py.errors import UsageError, Words
from lci_py.index.shards.symbol_queries import language_and_lambdas
from lci_py.search.navigate.names import meanings
from lci_py.search.navigate.nodes import place_of
from lci_py.search.navigate.present import PresentFiles, definitions_in, file_place
from lci_py.source.repository.branches import GitTrouble, contents_at
from lci_py.source.repository.git import commit_of, git_problem, git_root
from lci_py.source.repository.workspace import of_each_repository
from lci_py.types.affected import Change, ChangedPlace
from lci_py.types.edges import CALLS
from lci_py.types.graph import Definition
from lci_py.types.search import FILE_KIND, FUNCTION_KINDS, TYPE_KINDS, Changed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from lci_py.search.snapshot import Snapshot
    from lci_py.types.affected import AffectedRequest

#: Kinds whose changes affect nobody: prose.
_PROSE = frozenset({"section"})
_FILES = Words("`lci affected --files FILE…` needs no git", "with files instead it needs no git")
_REVISIONS = "give a branch, a tag, a commit or a name, or files"
_NEITHER = "is no commit, no definition and no file of the index"
_SHALLOW = "a shallow clone lacks older commits"


class Changes(NamedTuple):
    """The changed definitions and files, by path and line."""

    places: tuple[ChangedPlace, ...]
    commit: str | None = None  # with which the work tree was compared
    uncompared: tuple[str, ...] = ()  # repositories of a workspace without git, or without the revision


def changes_of(snapshot: Snapshot, request: AffectedRequest) -> Changes:
    """The changes that a request names: whole files, a diff, the differences from a revision or, if no revision has
    the name, a definition, by its name or by a line of it.

    Raises:
        UsageError: The diff or the revision cannot be used, or there is no git work tree.
        UnknownTargetError: Neither a revision nor a definition has the name.
    """
    present = PresentFiles(snapshot)
    if request.files is not None:
        return Changes(tuple(_all_definitions(request.files, present)))
    if request.diff is not None:
        return Changes(_touched_definitions(_lines_of_diff(request.diff, snapshot), present))
    revision = request.revision
    if (match := _LINE.fullmatch(revision)) and (path := _indexed_path(match["path"], snapshot)):
        if int(match["line"]) > (length := len(present.lines(path) or ())):
            raise UsageError(f"{path} has only {length:,} lines")
        return Changes(_touched_definitions({path: {int(match["line"])}}, present))
    try:
        commit, changes, uncompared = _since(snapshot, revision, present)
    except UsageError:
        places = _definitions_of(snapshot, revision)
        if not places:
            raise
        return Changes(places)
    return Changes(tuple(changes), commit, uncompared)


#: `src/pool.py:41`.
_LINE = re.compile(r"(?P<path>.+):(?P<line>[1-9]\d{0,8})")


def changed_places(snapshot: Snapshot, revision: str) -> Changed:
    """The definitions, files and prose that differ from a revision; prose can be searched, though nothing calls it.

    Raises:
        UsageError: There is no such revision, or no git work tree.
    """
    try:
        changes = _since(snapshot, revision, PresentFiles(snapshot), prose=True)[1]
    except UsageError as error:
        message = error.message.replace(_NEITHER, "is no commit")
        hint = "--changed-since takes a branch, a tag or a commit; a shallow clone lacks older ones"
        raise UsageError(message, hint=hint) from error
    present = [change.place for change in changes if change.change != "removed"]
    return Changed(
        frozenset(place.file for place in present),
        frozenset(place.id for place in present if place.kind != FILE_KIND),
        frozenset(place.file for place in present if place.kind == FILE_KIND),
    )


def _definitions_of(snapshot: Snapshot, name: str) -> tuple[ChangedPlace, ...]:
    """The definitions that a name means."""
    rows = [row for meaning in meanings(snapshot.symbols, name, callable_only=False) for row in meaning.rows]
    places = {row["id"]: ChangedPlace(place_of(row), "modified") for row in rows if row["kind"] not in _PROSE}
    return tuple(sorted(places.values(), key=_by_place))


def _indexed_path(path: str, snapshot: Snapshot) -> str | None:
    """The indexed file that git names by a path relative to the root, or to a folder above the root; else None."""
    indexed = frozenset(snapshot.symbols.paths())
    parts = Path(path).as_posix().split("/")
    return next((tail for start in range(len(parts)) if (tail := "/".join(parts[start:])) in indexed), None)


def _touched_definitions(lines: Mapping[str, Collection[int]], present: PresentFiles) -> tuple[ChangedPlace, ...]:
    """The innermost definitions around lines of files; for a line outside of definitions, its file."""
    touched: dict[str, ChangedPlace] = {}
    for path, numbers in lines.items():
        definitions = [item for item in present.definitions(path) if item.kind not in _PROSE]
        reaches = _reaches(present.lines(path) or [], definitions)
        for number in sorted(numbers):
            enclosing = [item for item in definitions if item.first_line <= number <= reaches[item.id]]
            inner = min(enclosing, key=lambda item: (reaches[item.id] - item.first_line, -item.line), default=None)
            place = inner.place if inner else file_place(path, present.language(path))
            touched[place.id] = ChangedPlace(place, "modified")
    return tuple(sorted(touched.values(), key=_by_place))


def _by_place(change: ChangedPlace) -> tuple[str, int, str]:
    return change.place.file, change.place.line, change.place.id


# --- a diff ---------------------------------------------------------------------------------------------------------

_HUNK = re.compile(r"@@ -(?P<old>\d+)(?:,(?P<removed>\d+))? \+(?P<new>\d+)(?:,(?P<added>\d+))? @@")


def _lines_of_diff(diff: str, snapshot: Snapshot) -> dict[str, set[int]]:
    """Maps files to the lines that a unified diff changes, as the current file has them, with the diff applied or not.

    Raises:
        UsageError: The text is no unified diff.
    """
    changed: dict[str, set[int]] = {}
    sides: tuple[str, str] = ("", "")
    hunks = 0
    lines = iter(diff.splitlines())
    for line in lines:
        if line.startswith("--- "):
            sides = (_side(line), "")
        elif line.startswith("+++ "):
            sides = (sides[0], _side(line))
        elif match := _HUNK.match(line):
            hunks += 1
            old, new = _read_hunk(match, lines)
            path = _indexed_path(sides[1], snapshot) or _indexed_path(sides[0], snapshot)
            if path is not None:
                unapplied = old.stands_in(path, snapshot) and not new.stands_in(path, snapshot)
                changed.setdefault(path, set()).update((old if unapplied else new).changed)
    if not hunks:
        raise UsageError("the text on stdin is not a unified diff", hint="git diff main | lci affected -")
    return changed


class _Side(NamedTuple):
    """The old or the new side of a hunk (a block of a unified diff)."""

    first: int
    lines: list[str]
    changed: set[int]  # the numbers of the lines that only this side has, or next to which the other has more

    def stands_in(self, path: str, snapshot: Snapshot) -> bool:
        there = snapshot.reader.some(path, max(self.first, 1), self.first + len(self.lines) - 1)
        return [line.decode("utf-8", "surrogateescape").rstrip("\r") for line in there] == self.lines


def _read_hunk(match: re.Match[str], lines: Iterator[str]) -> tuple[_Side, _Side]:
    """(old, new): the two sides of a hunk, from the match of its header and the lines that follow."""
    old, new = (_Side(int(match[name]), [], set()) for name in ("old", "new"))
    remaining = [int(match[name] or 1) if match[name] is not None else 1 for name in ("removed", "added")]
    run = ""  # the signs of the changed lines since the last one that both sides have
    while any(count > 0 for count in remaining):
        line = next(lines, None)
        if line is None:
            break
        sign, text = line[:1] or " ", line[1:].rstrip("\r")
        if sign not in " +-":
            continue  # "\\ No newline at end of file"
        if sign == " ":
            _mark(old, new, run)
        run = "" if sign == " " else run + sign
        for side_index, (side, own) in enumerate(((old, "-"), (new, "+"))):
            if sign in (own, " "):
                side.lines.append(text)
                remaining[side_index] -= 1
                if sign == own:
                    side.changed.add(side.first + len(side.lines) - 1)
    _mark(old, new, run)
    return old, new


def _mark(old: _Side, new: _Side, run: str) -> None:
    """If only one side has the lines of a run (adjacent changed lines), mark the line before them on the other side."""
    for side, own in ((old, "-"), (new, "+")):
        if run and own not in run:
            side.changed.add(max(side.first + len(side.lines) - 1, 1))


def _side(line: str) -> str:
    path = line[4:].split("\t")[0].strip().strip('"')
    return path[2:] if path[:2] in ("a/", "b/") else path


# --- files and revisions --------------------------------------------------------------------------------------------


def _all_definitions(files: Sequence[str], present: PresentFiles) -> list[ChangedPlace]:
    """All definitions in the files, and the files themselves, as modified."""
    changes = []
    for path in files:
        definitions = present.definitions(path)
        changes += [ChangedPlace(item.place, "modified") for item in definitions if item.kind not in _PROSE]
        language = definitions[0].language if definitions else present.language(path)
        changes.append(ChangedPlace(file_place(path, language), "modified"))
    return changes


def _since(
    snapshot: Snapshot, revision: str, present: PresentFiles, *, prose: bool = False
) -> tuple[str | None, list[ChangedPlace], tuple[str, ...]]:
    """(commit, changes, uncompared): the commit, and the changes since it, by path and line. A definition that only
    moved to another file is unchanged.

    In a workspace, each repository is compared with its own commit of that name, and `commit` is None. `uncompared` has
    the repositories that cannot be compared, unless none can.
    """
    compare = partial(_compare_folder, snapshot, revision, present, prose)
    compared, uncompared = of_each_repository(snapshot.root, compare)
    ordered = sorted(_without_moves([change for _, changes in compared for change in changes]), key=_by_place)
    return compared[0][0] if uncompared is None else None, ordered, uncompared or ()


def _compare_folder(
    snapshot: Snapshot, revision: str, present: PresentFiles, prose: bool, folder: Path, prefix: str
) -> tuple[str, list[tuple[ChangedPlace, str]]]:
    """(commit, changes in a folder since the commit, each with its text's digest); paths in the folder get `prefix`."""
    if git_root(folder) is None:
        raise UsageError(f"{folder} is not in a git work tree", hint=_FILES)
    commit = commit_of(folder, revision)
    if commit is None:
        if problem := git_problem(folder):
            raise UsageError(problem, hint=_FILES)
        raise UsageError(
            f"{revision} {_NEITHER}",
            hint=Words(f"{_REVISIONS} with --files; {_SHALLOW}", f"{_REVISIONS}; {_SHALLOW}"),
        )
    templates = frozenset() if prose else _templates(snapshot)

    def tells(path: str) -> bool:
        return prose or prefix + path in templates or _is_code(prefix + path, snapshot)

    try:
        changed = contents_at(folder, commit, tells)
    except GitTrouble as error:
        raise UsageError(f"git cannot compare with {revision}: {error}", hint=_FILES) from error
    changes: list[tuple[ChangedPlace, str]] = []
    for path, before in changed:
        now = snapshot.reader.read(prefix + path)
        if now == before or (now is not None and before is not None and _same_text(now, before)):
            continue
        own = _differences(prefix + path, before, now, present) if _is_code(prefix + path, snapshot) else []
        if not own and (prose or prefix + path in templates):
            own = [(ChangedPlace(file_place(prefix + path, present.language(prefix + path)), "modified"), "")]
        changes += own
    return commit, changes


def _is_code(path: str, snapshot: Snapshot) -> bool:
    """Whether a file can have definitions. Git is asked for the contents of no other file, as it may be large."""
    from lci_py.source.syntax.languages import TEXT, detect

    indexed = language_and_lambdas(snapshot.symbols, path)
    return (indexed[0] if indexed is not None else detect(path)) != TEXT


def _templates(snapshot: Snapshot) -> frozenset[str]:
    """The template files that functions render."""
    graph, paths = snapshot.graph, snapshot.symbols.paths()
    files = graph.target[graph.kind == CALLS] - graph.n_symbols
    return frozenset(paths[file] for file in set(files[(files >= 0) & (files < graph.n_files)].tolist()))


def _without_moves(changes: Sequence[tuple[ChangedPlace, str]]) -> list[ChangedPlace]:
    """The changes without definitions that only moved to another file; a moved and changed definition is modified."""

    def texts(change: Change) -> dict[tuple[str | None, str], set[str]]:
        digests: dict[tuple[str | None, str], set[str]] = {}
        for item, digest in changes:
            if item.change == change:
                digests.setdefault((item.place.qualified_name, item.place.kind), set()).add(digest)
        return digests

    added, removed = texts("added"), texts("removed")
    unmoved = []
    for item, digest in changes:
        key = (item.place.qualified_name, item.place.kind)
        if item.change == "modified" or key not in added or key not in removed:
            unmoved.append(item)
        elif item.change == "added" and digest not in removed[key]:
            unmoved.append(item._replace(change="modified"))
    return unmoved


def _same_text(data: bytes, other: bytes) -> bool:
    return data.replace(b"\r\n", b"\n") == other.replace(b"\r\n", b"\n")


def _differences(
    path: str, before: bytes | None, now: bytes | None, present: PresentFiles
) -> list[tuple[ChangedPlace, str]]:
    """The definitions that differ between two contents of a file, each with the digest of its text."""
    old = {d.id: d for d in (definitions_in(path, before) if before is not None else ()) if d.kind not in _PROSE}
    new = {d.id: d for d in (present.definitions(path) if now is not None else ()) if d.kind not in _PROSE}
    own_before, own_now = _own_lines(before or b"", old.values()), _own_lines(now or b"", new.values())
    inside = {d.id for d in new.values() if d.id in old and own_before[d.id] != own_now[d.id]}
    # The digest of a type has the comments between its methods, too, each of which is about a method.
    explained = bool(inside) or own_before[_ABOVE] != own_now[_ABOVE]

    def differing(owner: str) -> str:
        return b"\n".join({*own_before.get(owner, ())} ^ {*own_now.get(owner, ())}).decode("utf-8", "replace")

    def place(d: Definition, change: Change) -> tuple[ChangedPlace, str]:
        return ChangedPlace(d.place, change, differing(d.id)), d.digest

    changes = [place(d, "added") for d in new.values() if d.id not in old]
    changes += [
        place(d, "modified")
        for d in new.values()
        if d.id in inside
        or (d.id in old and old[d.id].digest != d.digest and (d.kind not in TYPE_KINDS or not explained))
    ]
    changes += [place(d, "removed") for d in old.values() if d.id not in new]
    if (old or new) and own_before[_OUTSIDE] != own_now[_OUTSIDE]:
        language = next(iter((*new.values(), *old.values()))).language
        changes.append((ChangedPlace(file_place(path, language), "modified", differing(_OUTSIDE)), ""))
    return changes


#: The lines outside of all definitions, and those of comments and decorators above one, in place of an id.
_OUTSIDE, _ABOVE = "", "above"


def _own_lines(data: bytes, definitions: Collection[Definition]) -> dict[str, list[bytes]]:
    """Maps each definition's id to its own lines (of no nested definition), stripped; "" to lines of no definition."""
    lines = data.split(b"\n")
    reaches = _reaches(lines, definitions)
    owners = [_OUTSIDE] * len(lines)
    for item in sorted(definitions, key=lambda item: reaches[item.id] - item.first_line, reverse=True):
        for owner, first, last in ((_ABOVE, item.first_line, item.line - 1), (item.id, item.line, reaches[item.id])):
            span = slice(first - 1, max(first - 1, min(last, len(lines))))
            owners[span] = [owner] * len(owners[span])
    own: dict[str, list[bytes]] = {owner: [] for owner in (_OUTSIDE, _ABOVE, *(item.id for item in definitions))}
    for line, owner in zip(lines, owners, strict=True):
        if text := line.strip():
            own[owner].append(text)
    return own


_COMMENT = re.compile(rb"\s*(?:#|//|--|;)")


def _reaches(lines: Sequence[bytes], definitions: Iterable[Definition]) -> dict[str, int]:
    """Maps each definition's id to its last line, including trailing comments that are indented like its body."""
    reaches = {}
    for definition in definitions:
        last = definition.end_line
        if definition.kind in FUNCTION_KINDS and definition.line <= len(lines):
            indent = _indent(lines[definition.line - 1])
            for index in range(definition.end_line, len(lines)):
                if lines[index].strip() and not (_COMMENT.match(lines[index]) and _indent(lines[index]) > indent):
                    break
                last = index + 1 if lines[index].strip() else last
        reaches[definition.id] = last
    return reaches


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip())
