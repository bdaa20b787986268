"""`lci affected`: the definitions that differ from a commit, their callers, and the tests that reach them by calls."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from lci_py.callgraph.file_facts import family
from lci_py.index.shards.symbol_queries import tests_among
from lci_py.search.answer.results import index_info
from lci_py.search.navigate import dispatch
from lci_py.search.navigate.changes import changes_of
from lci_py.search.navigate.dispatch import MOST_LISTED, Dispatch
from lci_py.search.navigate.external import unexplained_uses
from lci_py.search.navigate.nodes import Nodes, place_of
from lci_py.search.navigate.present import file_place, place_filter
from lci_py.search.ranking.near import steps_between
from lci_py.source.text.words import WORD, parts, stem
from lci_py.types.affected import DEPTH, AffectedAnswer, AffectedDefinition, AffectedRequest, ChangedPlace
from lci_py.types.edges import CALLS, IMPORTS
from lci_py.types.graph import GraphRequest
from lci_py.types.search import CALLABLE, FILE_KIND, FUNCTION_KINDS, LAMBDA_KIND, TYPE_KINDS, Filters

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from lci_py.index.shards.symbols import Row
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.affected import Reason
    from lci_py.types.graph import Link, Place, Through

#: Maximum number of namesakes for which a call without a known target still counts as a use.
_SAME_NAME = 5
#: Maximum number of calls of a name without a known target that count as uses.
_USES = 50
#: Maximum number of calls from a test to a definition that it tests.
_TEST_DEPTH = 3
#: Minimum length of a name that test files are named after, or that tests mention.
_NAME = 4
#: Minimum length of a distinct one-word name.
_LONG = 9
#: Maximum number of functions whose mentions are searched, and of names that are searched in tests.
_MENTIONED, _LOOKED_FOR = 10, 40
#: Number of test files that share most words with a change, and how often a word counts at most.
_ALIKE, _OFTEN = 5, 3
#: Maximum number of files with the words of such a name.
_FILES = 20
#: Maximum number of methods per distance for which dynamic dispatch is looked up.
_DISPATCHED = 200
#: Maximum extra folder distance of a test file, compared with the nearest one of the same name.
_FURTHER = 1
#: Reasons from the surest on; a chain is as sure as its weakest link.
_BY_SURENESS: tuple[Reason, ...] = (
    "changed",
    "calls",
    "dispatch",
    "type",
    "mentions",
    "file_name",
    "words",
    "name",
    "imports",
)


def affected(snapshot: Snapshot, request: AffectedRequest) -> AffectedAnswer:
    """The callers and tests that a change can affect.

    Raises:
        UsageError: There is no such revision, or no git work tree; the diff cannot be read.
        BadGlobError: A path filter is no glob.
    """
    changes, commit, uncompared = changes_of(snapshot, request)
    reach = _Reach(snapshot, request)
    callers, tests = reach.run(changes)
    sure = tests if request.all else tuple(test for test in tests if test.sure)
    if changes and request.depth is None:
        sure = (*sure, *_alike_tests(snapshot, request, changes, {test.place.file for test in sure}))
    less = {test.place.file for test in tests} - {test.place.file for test in sure}
    return AffectedAnswer(
        request, commit, changes, callers, sure, index_info(snapshot), uncompared=uncompared,
        by_name=tuple(sorted(less)), through=reach.folded(), calls=reach.calls() if request.calls else (),
    )  # fmt: skip


def tests_of(snapshot: Snapshot, rows: Sequence[Row]) -> list[Place]:
    """The tests of definitions, the most certain first: tests that call them, in few steps before many; then tests that
    are named after the definitions' files, or only use the definitions' names."""
    reach = _Reach(snapshot, AffectedRequest(depth=_TEST_DEPTH))
    return [test.place for test in reach.run([ChangedPlace(place_of(row), "modified") for row in rows])[1]]


def _alike_tests(
    snapshot: Snapshot, request: AffectedRequest, changes: Sequence[ChangedPlace], others: Collection[str]
) -> list[AffectedDefinition]:
    """Test files outside `others` that share the most words with the changes, best first. An integration test reaches
    code through a server, a process or an interface, which calls do not show, but it uses the same words.

    Source:
        BM25 of the changed text, over whole files: Peng, Shi and Zhang, ISSTA 2020.
    """
    from lci_py.source.syntax.languages import TEXT

    texts = [f"{change.text} {change.place.qualified_name or ''} {change.place.file}" for change in changes]
    words = WORD.findall(" ".join((*texts, request.diff or "")))
    counts = Counter(stem(part) for word in words for part in parts(word) if not part.isdigit())
    families = {family(change.place.language) for change in changes}
    files = [
        (number, file_place(path, language))
        for number, (path, language, test) in enumerate(snapshot.symbols.per_file("path, language, test"))
        if test and (family(language) in families or (TEXT in families and language != TEXT))
    ]
    lexical, numbers = snapshot.lexical, {number for number, _ in files}
    terms = []
    for text, count in sorted(counts.items()):
        term = lexical.term(text)
        # What most tests say tells none from another.
        if term is not None and 2 * len(numbers.intersection(lexical.rows("files", term).tolist())) <= len(numbers):
            terms.append((term, float(min(count, _OFTEN))))
    scores = lexical.scores("files", terms) + lexical.scores("paths", terms)
    passes = place_filter(request.filters, snapshot.freshness.there())
    best = sorted((-float(scores[number]), place.file, place) for number, place in files if scores[number] > 0)
    alike = [AffectedDefinition(place, 1, "words") for _, path, place in best if path not in others and passes(place)]
    return alike[:_ALIKE]


def _path_words(path: str) -> tuple[set[str], set[str]]:
    """(name, all): the words of a file's name without marks of a test; the words of that name and of the folders."""
    name, whole = (
        {word for word in re.split(r"[\W_]+", text) if word not in ("", "test", "tests", "spec", "src")}
        for text in (_tested_name(path), f"{path.rpartition('/')[0]}/{_tested_name(path)}".lower())
    )
    return name, whole


_TEST_WORDS = re.compile(r"(?i:^test[_-]|[_.-](?:tests?|spec|tst)$)|(?<=[a-z0-9])(?:Tests?|Spec)$")
#: Names of files that are named after their folder.
_INDEXES = frozenset({"mod", "lib", "index", "init", "main"})


def _tested_name(path: str) -> str:
    """The name of a file, without suffix and words such as `test`: the name of what a test file tests."""
    return _TEST_WORDS.sub("", path.rpartition("/")[2].rpartition(".")[0]).lower()


def _folder(path: str) -> str:
    """The name of the folder of a file, "" at the root."""
    return path.lower().rpartition("/")[0].rpartition("/")[2]


def _names_of(path: str) -> list[str]:
    """The names that a test of a file may have, apart from words such as `test`: `simplex`, `io_simplex`."""
    *folders, name = path.rpartition(".")[0].split("/")
    name = name.removesuffix(".d").strip("_")
    if name in _INDEXES and folders:
        name = folders.pop()
    names = [name.lower()]
    for folder in folders[:-4:-1]:
        names.append(f"{folder.lower()}_{names[-1]}")
    return names


# --- what that affects ------------------------------------------------------------------------------------------


class _Reach:
    """Walks the call graph from changes to their callers and tests."""

    def __init__(self, snapshot: Snapshot, request: AffectedRequest) -> None:
        self._snapshot = snapshot
        self._request = request
        self._nodes = Nodes(snapshot)
        self._dispatch = Dispatch(self._nodes, most_callers=0)
        self._used: set[int] = set()  # types whose users are reached
        self._by_id: dict[str, int] = {}  # the nodes of changed definitions
        self._ids: dict[int, str] = {}  # the nodes found, and the ids of their places

    def run(
        self, changes: Sequence[ChangedPlace]
    ) -> tuple[tuple[AffectedDefinition, ...], tuple[AffectedDefinition, ...]]:
        """(callers, tests) of the changes, both by distance, path and line; the most certain tests first."""
        paths = {path: number for number, path in enumerate(self._snapshot.symbols.paths())}
        numbers = self._numbers(changes, paths)
        reached: dict[int, tuple[int, Reason]] = dict.fromkeys(numbers, (0, "changed"))
        level: dict[int, Reason] = {}
        files = [
            paths[edit.place.file] for edit in changes if edit.place.kind == FILE_KIND and edit.place.file in paths
        ]
        for file in files:
            level |= dict.fromkeys(self._importers(file), "imports")
        level |= dict.fromkeys([*self._users(changes), *self._mentions(changes)], "name")
        level |= dict.fromkeys(self._tests_named_after(changes), "file_name")
        mentioned, mentioning = self._tests_mentioning(changes, paths)
        level |= dict.fromkeys(mentioning, "mentions")
        templates = [self._nodes.first_file + file for file in files]  # what shows a template calls its file
        level |= self._reaching(dict.fromkeys([*numbers, *templates], "calls"), frozenset(mentioned))
        distance = 1
        while level and (
            distance <= (self._request.depth or DEPTH) or not (self._request.depth or self._has_test(reached))
        ):
            fresh = {node: reason for node, reason in level.items() if node not in reached}
            reached |= {node: (distance, reason) for node, reason in fresh.items()}
            # Nobody is affected through importers and files by their names: it is not known that they use the change.
            walked = {node: reason for node, reason in fresh.items() if reason in ("calls", "dispatch", "type", "name")}
            level = self._reaching(walked)
            distance += 1
        return self._sort_tests(reached, changes)

    def _reaching(self, nodes: Mapping[int, Reason], mentioned: frozenset[int] = frozenset()) -> dict[int, Reason]:
        """Maps the callers of nodes to their most certain relation to them. A node without callers counts as called
        where its type is used (as operators and library callbacks are), unless tests mention it, which is more certain.
        """
        reason_of: dict[int, Reason] = {}
        for reason in sorted(set(nodes.values()), key=_BY_SURENESS.index):
            own = [node for node, by in nodes.items() if by == reason]
            symbols = [node for node in own if node < self._nodes.first_file]
            through = self._through(symbols[:_DISPATCHED])
            called = {node for node in symbols if len(self._nodes.graph.into(node, CALLS))} | {
                node for node, sites in through.items() if sites
            }
            uncalled = [node for node in symbols if node not in called and node not in mentioned]
            links: tuple[tuple[Reason, Iterable[int]], ...] = (
                ("calls", [*self._callers(own), *self._returning(uncalled)]),
                ("dispatch", {node for sites in through.values() for node in sites}),
                ("type", self._users_of_types(uncalled)),
            )
            for by, some in links:
                weakest = max(reason, by, key=_BY_SURENESS.index)
                for node in some:
                    reason_of[node] = min(reason_of.get(node, weakest), weakest, key=_BY_SURENESS.index)
        return reason_of

    def _returning(self, symbols: Sequence[int]) -> list[int]:
        """The functions around functions that are never called by name: a decorator returns its inner function."""
        table = self._snapshot.symbols
        parents = {row["parent"] for row in table.symbol_rows(symbols).values() if row["parent"] is not None}
        rows = table.symbol_rows(sorted(parents)) if parents else {}
        return [number for number, row in rows.items() if row["kind"] in FUNCTION_KINDS]

    def _through(self, symbols: Sequence[int]) -> dict[int, list[int]]:
        """Maps each definition to the callers that reach it by dynamic dispatch, if the call has few other targets."""
        rows = self._snapshot.symbols.symbol_rows(sorted(symbols)) if symbols else {}
        return {
            number: [call.node for call in self._dispatch.calls([row], (), "callers")[0]]
            for number, row in rows.items()
        }

    def calls(self) -> tuple[Link, ...]:
        """The calls among the definitions that `run` has returned."""
        nodes, ids = self._nodes, dict(self._ids)
        for node in [node for node in ids if node >= nodes.first_lambda]:  # an answer has what is around it
            file, _, enclosing = nodes.graph.lambda_at(node)
            ids[node] = ids.get(enclosing if enclosing >= 0 else nodes.first_file + file, ids[node])
        for constructor, owner in nodes.constructors(list(self._by_id.values())).items():
            if ids.get(constructor) not in self._by_id:
                ids[constructor] = ids[owner]
        return nodes.links(ids)

    def folded(self) -> tuple[Through, ...]:
        """The base or interface methods that changed methods implement, with too many implementations to follow."""
        rows = self._snapshot.symbols.symbol_rows(sorted(self._by_id.values())[:_DISPATCHED])
        through: dict[int, dispatch.Through] = {}
        for row in rows.values():
            through |= {item.declared: item for item in self._dispatch.callers([row]) if item.types > MOST_LISTED}
        return tuple(self._dispatch.places(list(through.values())))

    def _users_of_types(self, symbols: Sequence[int]) -> list[int]:
        """The callers of the constructors of the definitions' types; if a type has none, the users of its name."""
        from lci_py.search.navigate.references import files_with_words, references

        types = {node: self._dispatch.type_around(node) for node in symbols[:_DISPATCHED]}
        rows = self._snapshot.symbols.symbol_rows(sorted({*types.values(), *types} - {-1}))
        own = {
            owner: rows[owner]
            for node in types
            for owner in (types[node], node)
            if owner in rows and rows[owner]["kind"] in TYPE_KINDS
        }
        users_of: list[int] = []
        for number, row in own.items():
            if number in self._used:
                continue
            self._used.add(number)
            users = self._callers([node for node in self._nodes.asked([row]) if node not in types])
            if (
                not users
                and len(self._used) <= _MENTIONED
                and len(files_with_words(self._snapshot, row["symbol"], self._nodes.graph.n_files)) <= _FILES
            ):
                answer = references(
                    self._snapshot, GraphRequest(f"{row['file']}::{row['qualified_name']}", roles=("reference", "call"))
                )
                users = self._numbers_of(
                    reference.enclosing.id for reference in answer.references[:_USES] if reference.enclosing is not None
                )
                users = [user for user in users if self._dispatch.type_around(user) != number and user != number]
            users_of += users
        return users_of

    def _numbers_of(self, ids: Iterable[str]) -> list[int]:
        rows = (self._snapshot.symbols.with_id(id) for id in sorted(set(ids)))
        return [int(row["symbol_number"]) for row in rows if row is not None]

    def _has_test(self, reached: Mapping[int, tuple[int, Reason]]) -> bool:
        """Whether calls lead to a test file. Tests in a source file (Rust) do not count: they cover only that file."""
        return any(
            self._in_tests[self._nodes.file_of(node)]
            for node, (distance, reason) in reached.items()
            if distance and reason in ("calls", "dispatch", "type")
        )

    @cached_property
    def _in_tests(self) -> list[bool]:
        return [bool(test) for (test,) in self._snapshot.symbols.per_file("test")]

    def _numbers(self, changes: Sequence[ChangedPlace], paths: Mapping[str, int]) -> list[int]:
        """The graph nodes of the changed definitions; for a type, also the nodes of its constructors."""
        files = sorted({change.place.file for change in changes if change.place.file in paths})
        rows = {row["id"]: row for row in self._snapshot.symbols.in_files(files)}
        indexed = [rows[change.place.id] for change in changes if change.place.id in rows]
        self._by_id = {row["id"]: int(row["symbol_number"]) for row in indexed}
        return self._nodes.asked(indexed)

    def _callers(self, nodes: Sequence[int]) -> list[int]:
        """The nodes that call the nodes; for a caller that is an anonymous function, also its enclosing definition."""
        graph = self._nodes.graph
        if not nodes:
            return []
        callers = dict.fromkeys(graph.edges(list(nodes), CALLS, incoming=True).node.tolist())
        for node in [node for node in callers if node >= self._nodes.first_lambda]:
            file, _, enclosing = graph.lambda_at(node)
            callers[enclosing if enclosing >= 0 else self._nodes.first_file + file] = None
        return list(callers)

    def _importers(self, file: int) -> list[int]:
        graph = self._nodes.graph
        return [int(node) for node in graph.into(self._nodes.first_file + file, IMPORTS)]

    def _users(self, changes: Sequence[ChangedPlace]) -> list[int]:
        """The nodes that call a changed name where the target of the call is unknown."""
        names = {change.place.symbol for change in changes if change.place.kind in CALLABLE and change.place.symbol}
        nodes: list[int] = []
        for name in sorted(filter(_tells, names)):
            if len(self._snapshot.symbols.definitions_named(name, Filters())) > _SAME_NAME:
                continue
            uses = sorted({node for node, _ in unexplained_uses(self._nodes, name)})
            nodes += [node for node in uses if self._speaks(node, changes)] if len(uses) <= _USES else []
        return nodes

    def _speaks(self, node: int, changes: Sequence[ChangedPlace]) -> bool:
        """Whether a node is in the language of a change: in another language, the same name means something else."""
        language = self._languages[self._nodes.file_of(node)]
        return family(language) in {family(change.place.language) for change in changes}

    @cached_property
    def _languages(self) -> list[str]:
        return [language for (language,) in self._snapshot.symbols.per_file("language")]

    def _mentions(self, changes: Sequence[ChangedPlace]) -> list[int]:
        """The definitions that pass on a changed function as a value; only for functions without known callers."""
        from lci_py.search.navigate.references import files_with_words, references

        symbols = self._snapshot.symbols
        mentions: list[int] = []
        uncalled = [
            item.place
            for item in changes
            if item.place.kind in FUNCTION_KINDS
            and (node := self._by_id.get(item.place.id)) is not None
            and not self._callers([node])
        ]
        n_files = len(symbols.paths())
        for place in uncalled[:_MENTIONED]:
            if len(files_with_words(self._snapshot, place.symbol or "", n_files)) > _FILES:
                continue  # so common a name says little, and reading all these files takes seconds
            answer = references(
                self._snapshot, GraphRequest(f"{place.file}::{place.qualified_name}", roles=("reference",))
            )
            numbers = self._numbers_of(
                item.enclosing.id for item in answer.references[:_USES] if item.enclosing is not None
            )
            mentions += [number for number in numbers if self._speaks(number, changes)]
        return mentions

    def _tests_mentioning(
        self, changes: Sequence[ChangedPlace], paths: Mapping[str, int]
    ) -> tuple[list[int], list[int]]:
        """(definitions, files): changed definitions with nearly unique names that tests mention; these tests' files."""
        from lci_py.search.navigate.references import files_with_words

        symbols = self._snapshot.symbols
        changed = {change.place.id for change in changes}
        families = {family(change.place.language) for change in changes}
        tests = {
            paths[path]: path
            for path, language, test in symbols.per_file("path, language, test")
            if test and family(language) in families
        }
        by_name: dict[str, list[str]] = {}
        for change in changes:
            if change.place.symbol and _tells(change.place.symbol) and _is_distinct(change.place.symbol):
                by_name.setdefault(change.place.symbol, []).append(change.place.id)
        definitions: list[int] = []
        files: list[int] = []
        for name in list(by_name)[:_LOOKED_FOR]:
            rows = symbols.definitions_named(name, Filters())
            if sum(row["id"] not in changed and not row["test"] for row in rows) > len(by_name[name]):
                continue
            having = files_with_words(self._snapshot, name, len(paths))
            word = re.compile(rb"(?<![\w$])" + re.escape(name.encode("utf-8", "surrogatepass")) + rb"(?![\w$])")
            own = [
                file
                for file in (having if len(having) <= _FILES else ())
                if file in tests and word.search(self._snapshot.reader.read(tests[file]) or b"")
            ]
            files += [self._nodes.first_file + file for file in own]
            definitions += [self._by_id[id] for id in by_name[name] if own and id in self._by_id]
        return definitions, files

    def _tests_named_after(self, changes: Sequence[ChangedPlace]) -> list[int]:
        """The test files named after a changed file or method, only in the nearest folders: `tests/io_simplex.rs` or
        `tests/simplex/read.rs` for `src/io/simplex.rs`, `back.test.js` for a method `back`.
        """
        files = self._snapshot.symbols.per_file("path, test, chunks")
        tests = {path for path, test, _ in files if test}
        keys_of: dict[str, set[str]] = {}  # a changed file -> what a test may be named after
        for change in changes:
            if change.place.file not in tests:
                keys = keys_of.setdefault(change.place.file, set(_names_of(change.place.file)))
                if _tells(change.place.symbol):
                    keys |= {str(change.place.symbol).lower(), str(change.place.qualified_name).lower()}
        matching: dict[int, None] = {}
        for changed, keys in keys_of.items():
            folder = _names_of(changed)[0]
            fitting = [
                (steps_between(*(name.rpartition("/")[0] for name in (changed, path))), number)
                for number, (path, test, chunks) in enumerate(files)
                if test and chunks and (_tested_name(path) in keys or _folder(path) == folder)
            ]
            nearest = min(fitting, default=(0, 0))[0] + _FURTHER
            matching |= dict.fromkeys(self._nodes.first_file + number for steps, number in fitting if steps <= nearest)
        return list(matching)

    def _sort_tests(
        self, reached: Mapping[int, tuple[int, Reason]], changes: Sequence[ChangedPlace]
    ) -> tuple[tuple[AffectedDefinition, ...], tuple[AffectedDefinition, ...]]:
        nodes, first = self._nodes, self._nodes.first_file
        there = self._snapshot.freshness.there()
        passes = place_filter(self._request.filters, there)
        tests = tests_among(self._snapshot.symbols, [node for node in reached if node < first])
        test_files = {path for path, test in self._snapshot.symbols.per_file("path, test") if test}
        places = nodes.places(reached)
        self._ids = {node: place.id for node, place in places.items()}
        both: tuple[list[AffectedDefinition], list[AffectedDefinition]] = ([], [])
        for node, place in places.items():
            distance, reason = reached[node]
            if not passes(place) or place.kind == LAMBDA_KIND:
                continue
            test = node in tests or place.file in test_files
            if test or distance:
                both[test].append(AffectedDefinition(place, distance, reason))
        return tuple(sorted(both[0], key=_by_distance)), tuple(_surest_first(both[1], changes))


def _surest_first(tests: Sequence[AffectedDefinition], changes: Sequence[ChangedPlace]) -> list[AffectedDefinition]:
    """Sort tests by certainty, distance and similarity of paths; drop a file if a test inside it is as certain."""
    inside: dict[str, bool] = {}
    for t in tests:
        if t.place.kind != FILE_KIND:
            inside[t.place.file] = inside.get(t.place.file, False) or t.sure
    words = [_path_words(t.place.file)[1] | {str(t.place.symbol).lower()} for t in changes]
    alike = {
        path: max((len(_path_words(path)[1] & own) for own in words), default=0)
        for path in {t.place.file for t in tests}
    }
    surest = [
        t
        for t in tests
        if t.place.kind != FILE_KIND or inside.get(t.place.file, False) < t.sure or t.place.file not in inside
    ]
    return sorted(
        surest,
        key=lambda t: (
            not t.sure,
            t.reason == "file_name",
            t.distance,
            -alike[t.place.file],
            *_by_distance(t),
        ),
    )


def _by_distance(definition: AffectedDefinition) -> tuple[int, str, int, str]:
    return definition.distance, definition.place.file, definition.place.line, definition.place.id


def _is_distinct(name: str) -> bool:
    """Whether a name is unlikely to have two meanings: it has several words, or is long."""
    return len(name) >= _LONG or len(parts(name)) > 1


def _tells(name: str | None) -> bool:
    """Whether a name is specific enough to identify a definition: `main` and `__init__` are not."""
    return name is not None and len(name) >= _NAME and name.strip("_") not in _INDEXES and not name.startswith("__")
