"""`lci affected`: the definitions that differ from a commit, who calls them, and the tests from which calls lead to
them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from lci_py.errors import UsageError
from lci_py.index.shards.graph import CALLS, IMPORTS
from lci_py.index.shards.symbol_queries import language_and_lambdas, tests_among
from lci_py.search.answer.results import index_info
from lci_py.search.navigate import dispatch
from lci_py.search.navigate.calls import place_filter
from lci_py.search.navigate.dispatch import MOST_LISTED, Dispatch
from lci_py.search.navigate.external import unexplained_uses
from lci_py.search.navigate.nodes import Nodes, place_of
from lci_py.search.navigate.present import Definition, PresentFiles, parsed
from lci_py.source.repository.git import blobs, changed_since, commit_of, git_problem, git_root
from lci_py.source.repository.workspace import is_workspace, members
from lci_py.types.affected import AffectedAnswer, AffectedRequest, Change, ChangedPlace, Reached
from lci_py.types.graph import GraphRequest, Place
from lci_py.types.search import CALLABLE, FILE_KIND, FUNCTION_KINDS, LAMBDA_KIND, Filters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lci_py.index.shards.symbols import Row
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.affected import Reason
    from lci_py.types.graph import Through

#: Kinds whose changes affect nobody: prose.
_PROSE = frozenset({"section"})
#: Definitions of one name, of which a call without a known target may mean any; of more it says too little.
_SAME_NAME = 5
#: Calls of a name without a known target, of which each may mean the change.
_USES = 50
#: Calls from a test to a definition, at most, for the test to be one of it.
_TEST_DEPTH = 3
#: Characters of a definition's name that a file of tests is named after, at least.
_NAME = 4
#: Functions that are looked for where they are mentioned.
_MENTIONED = 10
#: Methods of a level, those reached first, whose calls through a declared method are looked for.
_DISPATCHED = 200
#: Files of tests that are named where no test is reached.
_NEAREST = 3
#: Files that have the words of such a name, at most.
_FILES = 20


def affected(snapshot: Snapshot, request: AffectedRequest) -> AffectedAnswer:
    """What a change can affect.

    Raises:
        UsageError: There is no such revision, or no git work tree.
        BadGlobError: A path filter is no glob.
    """
    present = PresentFiles(snapshot)
    if request.files is None:
        commit, changes, uncompared = _since(snapshot, request.revision, present)
    else:
        commit, changes, uncompared = None, _whole(request.files, present), ()
    reach = _Reach(snapshot, request)
    callers, tests = reach.run(changes)
    nearest = _nearest_tests(snapshot, request, changes) if changes and not tests else ()
    info = index_info(snapshot)
    return AffectedAnswer(
        request, commit, tuple(changes), callers, tests, info, uncompared=uncompared, nearest_tests=nearest,
        through=reach.folded(),
    )  # fmt: skip


def tests_of(snapshot: Snapshot, rows: Sequence[Row]) -> list[Place]:
    """The tests from which calls lead to some definitions, the nearest first; files of tests that are named after
    their files, if there are no others."""
    reach = _Reach(snapshot, AffectedRequest(depth=_TEST_DEPTH))
    return [one.place for one in reach.run([ChangedPlace(place_of(row), "modified") for row in rows])[1]]


# --- what has changed -------------------------------------------------------------------------------------------


def _whole(files: Sequence[str], present: PresentFiles) -> list[ChangedPlace]:
    """Everything in some files."""
    found = []
    for path in files:
        definitions = present.definitions(path)
        found += [_changed(one, "modified") for one in definitions if one.kind not in _PROSE]
        language = definitions[0].language if definitions else present.language(path)
        found.append(ChangedPlace(_file(path, language), "modified"))
    return found


def _since(
    snapshot: Snapshot, revision: str, present: PresentFiles
) -> tuple[str | None, list[ChangedPlace], tuple[str, ...]]:
    """The commit, and what differs from it, by path and line; what was only moved to another file does not.

    In a workspace, each repository is compared with its own commit of that name, and the commit is None. Also the
    repositories that cannot be compared, unless that is all of them.
    """
    root = snapshot.root
    if not is_workspace(root):
        commit, found = _compared(snapshot, root, "", revision, present)
        return commit, _sorted(found), ()
    found, uncompared = [], {}
    repositories = members(root)
    for name, folder in repositories.items():
        try:
            found += _compared(snapshot, Path(folder), f"{name}/", revision, present)[1]
        except UsageError as error:
            uncompared[name] = error
    if len(uncompared) == len(repositories):
        raise next(iter(uncompared.values()), UsageError("the workspace has no repositories"))
    return None, _sorted(found), tuple(uncompared)


def _sorted(found: Sequence[tuple[ChangedPlace, str]]) -> list[ChangedPlace]:
    return sorted(_unmoved(found), key=lambda one: (one.place.file, one.place.line, one.place.id))


def _compared(
    snapshot: Snapshot, folder: Path, prefix: str, revision: str, present: PresentFiles
) -> tuple[str, list[tuple[ChangedPlace, str]]]:
    """The commit, and what differs from it in a folder, whose paths from the root begin with `prefix`."""
    if git_root(folder) is None:
        raise UsageError(f"{folder} is not in a git work tree", hint="`lci affected --files FILE…` needs none")
    commit = commit_of(folder, revision)
    if commit is None:
        if problem := git_problem(folder):
            raise UsageError(problem, hint="`lci affected --files FILE…` needs no git")
        raise UsageError(f"{revision} is no commit", hint="give a branch, a tag or a commit, or files with --files")
    try:
        changed = [one for one in changed_since(folder, commit) if _is_code(prefix + one.path, snapshot)]
        contents = blobs(folder, [one.blob for one in changed])
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(f"git cannot compare with {revision}: {error}", hint="give files with --files") from error
    found: list[tuple[ChangedPlace, str]] = []
    for path, blob in changed:
        now = snapshot.reader.read(prefix + path)
        before = contents.get(blob)
        if now == before or (now is not None and before is not None and _same_text(now, before)):
            continue
        found += _differences(prefix + path, before, now, present)
    return commit, found


def _is_code(path: str, snapshot: Snapshot) -> bool:
    """Whether a file can have definitions; of the others, which may be large, git need not give the contents."""
    from lci_py.source.syntax.languages import TEXT, detect

    known = language_and_lambdas(snapshot.symbols, path)
    return (known[0] if known is not None else detect(path)) != TEXT


def _unmoved(found: Sequence[tuple[ChangedPlace, str]]) -> list[ChangedPlace]:
    """Without what is now in another file, if it is the same there; if it is not, it is modified."""

    def texts(change: Change) -> dict[tuple[str | None, str], set[str]]:
        made: dict[tuple[str | None, str], set[str]] = {}
        for one, digest in found:
            if one.change == change:
                made.setdefault((one.place.qualified_name, one.place.kind), set()).add(digest)
        return made

    added, removed = texts("added"), texts("removed")
    kept = []
    for one, digest in found:
        key = (one.place.qualified_name, one.place.kind)
        if one.change == "modified" or key not in added or key not in removed:
            kept.append(one)
        elif one.change == "added" and digest not in removed[key]:
            kept.append(one._replace(change="modified"))
    return kept


def _same_text(one: bytes, other: bytes) -> bool:
    return one.replace(b"\r\n", b"\n") == other.replace(b"\r\n", b"\n")


def _differences(
    path: str, before: bytes | None, now: bytes | None, present: PresentFiles
) -> list[tuple[ChangedPlace, str]]:
    """What differs between two contents of a file, each with the digest of its text."""
    old = {one.id: one for one in (parsed(path, before) if before is not None else ())}
    new = {one.id: one for one in (present.definitions(path) if now is not None else ())}
    found = [
        (_changed(one, "added" if one.id not in old else "modified"), one.digest)
        for one in new.values()
        if one.kind not in _PROSE and (one.id not in old or old[one.id].digest != one.digest)
    ]
    found += [
        (_changed(one, "removed"), one.digest) for one in old.values() if one.id not in new and one.kind not in _PROSE
    ]
    if (old or new) and _outside(before or b"", old.values()) != _outside(now or b"", new.values()):
        language = next(iter((*new.values(), *old.values()))).language
        found.append((ChangedPlace(_file(path, language), "modified"), ""))
    return found


def _outside(data: bytes, definitions: Iterable[Definition]) -> list[bytes]:
    """The lines outside of all definitions, without blank ones and the blanks around them."""
    lines: list[bytes | None] = [line.strip() for line in data.split(b"\n")]
    for one in definitions:
        for place in range(one.first_line - 1, min(one.end_line, len(lines))):
            lines[place] = None
    return [line for line in lines if line]


def _changed(one: Definition, change: Change) -> ChangedPlace:
    place = Place(one.id, one.symbol, one.qualified_name, one.kind, one.file, one.line, one.language)
    return ChangedPlace(place, change)


def _file(path: str, language: str) -> Place:
    return Place(f"file:{path}", None, None, FILE_KIND, path, 1, language)


def _nearest_tests(snapshot: Snapshot, request: AffectedRequest, changes: Sequence[ChangedPlace]) -> tuple[str, ...]:
    """The files of tests whose folders and names have most in common with those of the changes, best first."""
    passes = place_filter(request.filters, snapshot.freshness.there())
    changed = {one.place.file for one in changes}
    words = [_path_words(path) for path in changed]
    found = []
    for path, language, test in snapshot.symbols.per_file("path, language, test"):
        if not test or not passes(_file(path, language)):
            continue
        name, whole = _path_words(path)
        shared = max(((len(name & own), len(whole & other)) for own, other in words), default=(0, 0))
        if any(shared):
            found.append((*shared, path))
    found.sort(key=lambda one: (-one[0], -one[1], one[2]))
    return tuple(path for *_, path in found[:_NEAREST])


def _path_words(path: str) -> tuple[set[str], set[str]]:
    """The words of what a file tests or is, and with those of its folders."""
    name, whole = (
        {word for word in re.split(r"[\W_]+", text) if word not in ("", "test", "tests", "spec", "src")}
        for text in (_tested(path), f"{path.rpartition('/')[0]}/{_tested(path)}".lower())
    )
    return name, whole


_TEST_WORDS = re.compile(r"(?i:^test[_-]|[_.-](?:tests?|spec)$)|(?<=[a-z0-9])(?:Tests?|Spec)$")
#: Names of files that are named after their folder.
_INDEXES = frozenset({"mod", "lib", "index", "init", "__init__", "main"})


def _tested(path: str) -> str:
    """What the name of a test file says that it tests."""
    return _TEST_WORDS.sub("", path.rpartition("/")[2].rpartition(".")[0]).lower()


def _folder(path: str) -> str:
    """The name of the folder of a file, "" at the root."""
    return path.lower().rpartition("/")[0].rpartition("/")[2]


def _names_of(path: str) -> list[str]:
    """What a test of a file may be named after: `simplex`, `io_simplex`."""
    *folders, name = path.rpartition(".")[0].split("/")
    if name in _INDEXES and folders:
        name = folders.pop()
    names = [name.lower()]
    for folder in folders[:-4:-1]:
        names.append(f"{folder.lower()}_{names[-1]}")
    return names


# --- what that affects ------------------------------------------------------------------------------------------


class _Reach:
    """Walks from changes to their callers."""

    def __init__(self, snapshot: Snapshot, request: AffectedRequest) -> None:
        self._snapshot = snapshot
        self._request = request
        self._nodes = Nodes(snapshot)
        self._dispatch = Dispatch(self._nodes)
        self._by_id: dict[str, int] = {}  # the nodes of changed definitions

    def run(self, changes: Sequence[ChangedPlace]) -> tuple[tuple[Reached, ...], tuple[Reached, ...]]:
        """The callers and the tests, both by distance, path and line."""
        paths = {path: number for number, path in enumerate(self._snapshot.symbols.paths())}
        numbers = self._numbers(changes, paths)
        found: dict[int, tuple[int, Reason]] = dict.fromkeys(numbers, (0, "changed"))
        level: dict[int, Reason] = {}
        for file in (
            paths[one.place.file] for one in changes if one.place.kind == FILE_KIND and one.place.file in paths
        ):
            level |= dict.fromkeys(self._importers(file), "imports")
        level |= dict.fromkeys(self._tests_named_after(changes), "file_name")
        level |= dict.fromkeys([*self._users(changes), *self._mentions(changes)], "name")
        level |= dict.fromkeys(self._dispatching(numbers), "dispatch")
        level |= dict.fromkeys(self._callers(numbers), "calls")
        distance = 1
        while level and (self._request.depth is None or distance <= self._request.depth):
            fresh = {node: reason for node, reason in level.items() if node not in found}
            found |= {node: (distance, reason) for node, reason in fresh.items()}
            # Nobody is affected through importers and files by their names: it is not known that they use the change.
            level = {}
            for reason in ("name", "dispatch", "calls"):
                reached = [node for node in fresh if fresh[node] == reason]
                if reason == "calls":
                    level |= dict.fromkeys(self._dispatching(reached), "dispatch")
                level |= dict.fromkeys(self._callers(reached), reason)
            distance += 1
        return self._sorted(found)

    def _numbers(self, changes: Sequence[ChangedPlace], paths: Mapping[str, int]) -> list[int]:
        """The nodes of changes, those of a type's constructors included."""
        files = sorted({one.place.file for one in changes if one.place.file in paths})
        rows = {row["id"]: row for row in self._snapshot.symbols.in_files(files)}
        known = [rows[one.place.id] for one in changes if one.place.id in rows]
        self._by_id = {row["id"]: int(row["symbol_number"]) for row in known}
        return self._nodes.asked(known)

    def _callers(self, nodes: Sequence[int]) -> list[int]:
        """Who calls some nodes. An anonymous function that is reached counts as what is around it, too."""
        graph = self._nodes.graph
        if not nodes:
            return []
        found = dict.fromkeys(graph.edges(list(nodes), CALLS, incoming=True).node.tolist())
        for node in [node for node in found if node >= self._nodes.first_lambda]:
            file, _, around = graph.lambda_at(node)
            found[around if around >= 0 else self._nodes.first_file + file] = None
        return list(found)

    def _dispatching(self, nodes: Sequence[int]) -> list[int]:
        """Who calls some nodes without naming them, where few others may be meant as well."""
        first = self._nodes.first_file
        rows = self._snapshot.symbols.symbol_rows([node for node in nodes if node < first][:_DISPATCHED])
        found: dict[int, None] = {}
        for row in rows.values():
            calls, _ = self._dispatch.calls([row], (), "callers")
            found |= dict.fromkeys(call.node for call in calls)
        return list(found)

    def folded(self) -> tuple[Through, ...]:
        """The declared methods that changed ones implement, of which calls are not followed: too many others do."""
        rows = self._snapshot.symbols.symbol_rows(sorted(self._by_id.values())[:_DISPATCHED])
        found: dict[int, dispatch.Through] = {}
        for row in rows.values():
            found |= {one.declared: one for one in self._dispatch.callers([row]) if one.types > MOST_LISTED}
        return tuple(self._dispatch.places(list(found.values())))

    def _importers(self, file: int) -> list[int]:
        graph = self._nodes.graph
        return [int(node) for node in graph.into(self._nodes.first_file + file, IMPORTS)]

    def _users(self, changes: Sequence[ChangedPlace]) -> list[int]:
        """The callers of a changed name where it is not known what the call means."""
        names = {one.place.symbol for one in changes if one.place.symbol and one.place.kind in CALLABLE}
        found: list[int] = []
        for name in sorted(names):
            if len(self._snapshot.symbols.called(name, Filters())) > _SAME_NAME:
                continue
            uses = sorted({node for node, _ in unexplained_uses(self._nodes, name)})
            found += uses if len(uses) <= _USES else []
        return found

    def _mentions(self, changes: Sequence[ChangedPlace]) -> list[int]:
        """The definitions that mention a changed function which nobody is known to call: it is handed on as a value."""
        from lci_py.search.navigate.references import files_with_words, references

        symbols = self._snapshot.symbols
        found: list[int] = []
        uncalled = [
            one.place
            for one in changes
            if one.place.kind in FUNCTION_KINDS
            and (node := self._by_id.get(one.place.id)) is not None
            and not self._callers([node])
        ]
        n_files = len(symbols.paths())
        for place in uncalled[:_MENTIONED]:
            if len(files_with_words(self._snapshot, place.symbol or "", n_files)) > _FILES:
                continue  # so common a name says little, and reading all these files takes seconds
            answer = references(
                self._snapshot, GraphRequest(f"{place.file}::{place.qualified_name}", roles=("reference",))
            )
            ids = {one.enclosing.id for one in answer.references[:_USES] if one.enclosing is not None}
            found += [int(row["symbol_number"]) for id in sorted(ids) if (row := symbols.with_id(id)) is not None]
        return found

    def _tests_named_after(self, changes: Sequence[ChangedPlace]) -> list[int]:
        """The files of tests named after what has changed: `tests/io_simplex.rs` or `tests/simplex/read.rs` for
        `src/io/simplex.rs`, `back.test.js` for a method `back`."""
        files = [(path, bool(test)) for path, test in self._snapshot.symbols.per_file("path, test")]
        tests = {path for path, test in files if test}
        changed = {one.place.file for one in changes} - tests
        keys = {key for path in changed for key in _names_of(path)}
        folders = {_names_of(path)[0] for path in changed}
        keys |= {
            one.place.symbol.lower()
            for one in changes
            if one.place.symbol and len(one.place.symbol) >= _NAME and one.place.file in changed
        }
        return [
            self._nodes.first_file + place
            for place, (path, test) in enumerate(files)
            if test and (_tested(path) in keys or _folder(path) in folders)
        ]

    def _sorted(self, found: Mapping[int, tuple[int, Reason]]) -> tuple[tuple[Reached, ...], tuple[Reached, ...]]:
        nodes, first = self._nodes, self._nodes.first_file
        there = self._snapshot.freshness.there()
        passes = place_filter(self._request.filters, there)
        tests = tests_among(self._snapshot.symbols, [node for node in found if node < first])
        test_files = {path for path, test in self._snapshot.symbols.per_file("path, test") if test}
        places = nodes.places(found)
        both: tuple[list[Reached], list[Reached]] = ([], [])
        for node, place in places.items():
            distance, reason = found[node]
            if not passes(place) or place.kind == LAMBDA_KIND:
                continue
            test = node in tests or place.file in test_files
            if test or distance:
                both[test].append(Reached(place, distance, reason))
        # The file of a test says nothing more than the test does.
        within = {one.place.file for one in both[1] if one.place.kind != FILE_KIND}
        both[1][:] = [one for one in both[1] if one.place.kind != FILE_KIND or one.place.file not in within]
        callers, of_tests = (
            tuple(sorted(some, key=lambda one: (one.distance, one.place.file, one.place.line, one.place.id)))
            for some in both
        )
        return callers, of_tests
