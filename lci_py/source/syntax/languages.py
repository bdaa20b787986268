"""Reads the languages in the folder grammars/: which files each one has, its parser and its queries.

A language is a folder with a `language.toml` and `*.scm` files; docs/languages.md describes both. All queries of one
language are compiled into a single tree-sitter query, which runs in C, once per file; or into two (`QueryPart`).
"""

from __future__ import annotations

import re
import sys
import time
import warnings
from bisect import bisect_right
from enum import Enum
from functools import cached_property, lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.source.syntax.limits import Limits, OutOfTime
from lci_py.source.syntax.macro_text import VISIBLE, Use, apply_edits, entries, macro_text
from lci_py.source.syntax.recover import Recovery, shortest_lines
from lci_py.source.syntax.regions import Regions
from lci_py.source.syntax.repair import cost, errors, mark_edits, repairs, without_directives
from lci_py.source.text.language_tables import grammars_dir as grammars_dir, table_of
from lci_py.source.text.patterns import lazily
from lci_py.types.record import NamedTuple, dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tree_sitter import Language as TreeSitterLanguage, Node, Parser, QueryCursor, Tree

    Matches = list[tuple[int, dict[str, list[Node]]]]

#: The fallback for every file that no grammar claims.
TEXT = "text"
_VISIBLE = re.compile(rb"[^\n]")
#: How far the text after what is blanked counts.
_LOOK_AHEAD = 200
#: Bytes of a file that `detect` reads, for languages that its name does not tell apart.
HEAD_BYTES = 32_768
#: A query gets this many times the bound: its timeout is in wall-clock time, and it cannot go on afterwards.
_BUSY = 2
#: Parts of a file that are parsed alone; what is beyond that number is parsed together.
_MOST_APART = 500
#: Further attempts at a file with errors parse it up to this many times: if the first took more than this part of the
#: bound, there are none.
_MOST_ATTEMPTS = 20
#: Bytes in errors, such as two heads of one function leave, for which the directives of C stay.
_FEW = 10
#: The share of its nodes that a tree keeps without what does not parse, or too much was left out.
_KEPT = 0.7
_SHEBANG = lazily(rb"#!\s*(?:\S*/)?(?:env\s+(?:-S\s+)?)?([A-Za-z_]+)[\d.]*")


def decodable(source: bytes) -> bytes:
    """Replace each byte that is not UTF-8 by `_`, since a query's predicates decode names. Offsets stay the same."""
    try:
        source.decode()
    except UnicodeDecodeError:
        return re.sub("[\udc80-\udcff]", "_", source.decode("utf-8", "surrogateescape")).encode()
    return source


def _overwritten(match: re.Match[bytes]) -> bytes:
    """Replace a match by spaces, but each group in it by the group's name; a group named `kept…` stays as it is."""
    text = _VISIBLE.sub(b" ", match.group())
    for name, number in match.re.groupindex.items() if match.lastindex else ():
        at = match.start(number) - match.start()
        word = match.group(number) if name.startswith("kept") else name.encode()
        if at >= 0 and len(word) <= len(match.group(number)):
            text = text[:at] + word + text[at + len(word) :]
    return text


class Aside(NamedTuple):
    """Byte ranges of a file that are parsed as a separate text, and the syntax tree of that text."""

    tree: Tree
    ranges: Sequence[tuple[int, int]]

    def has(self, start: int, end: int) -> bool:
        """Whether the bytes from `start` to `end` are in one of the ranges."""
        index = bisect_right(self.ranges, (start, sys.maxsize)) - 1
        return index >= 0 and end <= self.ranges[index][1]


class ParsedFile(NamedTuple):
    """A syntax tree, the text that was parsed, and the uses of macros that were replaced in that text.

    `lost` has the byte ranges that were blanked (replaced by spaces) because they broke the parse of other code.
    `apart` has separate trees for these ranges, and for the branches and macros of C that were blanked.
    """

    tree: Tree
    text: bytes
    uses: list[Use]
    apart: Sequence[Aside] = ()
    lost: Sequence[tuple[int, int]] = ()

    @property
    def has_errors(self) -> bool:
        """Whether the grammar cannot parse the whole file."""
        return bool(self.apart) or self.tree.root_node.has_error

    @property
    def lost_lines(self) -> int:
        """The number of lines that do not parse."""
        lines: set[int] = set()
        trees = (self.tree, *(aside.tree for aside in self.apart if aside.ranges is not self.lost))
        for start, end in (*self.lost, *(span for tree in trees for span in errors(tree.root_node))):
            first = self.text.count(b"\n", 0, start)
            lines.update(range(first, first + self.text.count(b"\n", start, max(start, end - 1)) + 1))
        return len(lines)

    def root_at(self, byte: int) -> Node:
        """The root node of the tree that covers a byte."""
        return next((aside.tree for aside in self.apart if aside.has(byte, byte + 1)), self.tree).root_node


#: The query files that the definitions of a file need.
_OF_DEFINITIONS = frozenset({"conditions", "definitions", "imports", "keys"})


class QueryPart(Enum):
    """The part of a language's query to run. Two parts take longer than the whole, but the first is done earlier."""

    WHOLE = "whole"
    DEFINITIONS = "definitions"  # and imports, conditions, repeated keys
    USES = "uses"

    def holds(self, stem: str) -> bool:
        """Whether a query file belongs to this part. `stem` is the file's name without suffix."""
        return self is QueryPart.WHOLE or (stem in _OF_DEFINITIONS) == (self is QueryPart.DEFINITIONS)


@dataclass(frozen=True)
class LanguageSpec:
    """A language: one folder of grammars/. See docs/languages.md for the meaning of each field."""

    name: str
    folder: Path
    aliases: tuple[str, ...]
    suffixes: tuple[str, ...]
    filenames: tuple[str, ...]
    interpreters: tuple[str, ...]
    module: str
    function: str
    test_files: tuple[str, ...]
    constant: re.Pattern[str] | None
    visibility_default: bool
    public: re.Pattern[str] | None
    private: re.Pattern[str] | None
    private_name: re.Pattern[str] | None
    conditions: str
    comment_marks: re.Pattern[str] | None
    clauses: bool
    flat: bool
    tables: bool
    queries_of: str
    shared_queries: tuple[str, ...]
    blank: re.Pattern[bytes] | None
    shared_suffixes: tuple[str, ...]
    prefer_if: re.Pattern[bytes] | None
    text_if: re.Pattern[bytes] | None
    macros: tuple[str, ...]
    divided: re.Pattern[bytes] | None
    unknown: re.Pattern[bytes] | None
    misread: re.Pattern[bytes] | None
    regions: tuple[Regions, ...]
    parents: dict[str, str]
    extra: str

    @cached_property
    def is_installed(self) -> bool:
        """Whether the grammar's package is installed. Without it, the language's files are indexed as text."""
        return not self.extra or find_spec(self.module) is not None

    @cached_property
    def language(self) -> TreeSitterLanguage:
        from tree_sitter import Language

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Perl's wheel returns an address, not a capsule
            return Language(getattr(import_module(self.module), self.function)())

    @cached_property
    def parser(self) -> Parser:
        from tree_sitter import Parser

        return Parser(self.language)

    def regions_in(self, path: str) -> Regions | None:
        """The description of where code is in a file of mixed content (component, notebook); None for other files."""
        return next((item for item in self.regions if path.lower().endswith(item.suffixes)), None)

    def blanked(self, source: bytes) -> bytes:
        """Replace text that the grammar cannot parse (macros, directives) by spaces. Offsets stay the same."""
        return source if self.blank is None else self.blank.sub(_overwritten, source)

    def is_blanked(self, source: bytes, line: int, byte: int) -> bool:
        """Whether `blanked` may overwrite a byte.

        Args:
            line: The offset at which the byte's line starts. Each text that `blanked` overwrites is on one line.
        """
        if self.blank is None:
            return False
        # A look ahead that ends too early finds too much rather than too little.
        end = source.find(b"\n", byte)
        end = len(source) if end < 0 else end + _LOOK_AHEAD
        return any(match.start() <= byte < match.end() for match in self.blank.finditer(source, line, end))

    @property
    def query_files(self) -> list[Path]:
        """The query files, in order: those of the language that this one extends, shared files, then its own files."""
        grammars = self.folder.parent
        extended = sorted((grammars / self.queries_of).glob("*.scm")) if self.queries_of else []
        return [*extended, *(grammars / name for name in self.shared_queries), *sorted(self.folder.glob("*.scm"))]

    @cached_property
    def marks_text(self) -> bool:
        """Whether the queries capture nodes that contain no identifier, such as literals."""
        return any(path.name == "text.scm" for path in self.query_files)

    def query_source(self, part: QueryPart = QueryPart.WHOLE) -> str:
        return "\n".join(path.read_text("utf-8") for path in self.query_files if part.holds(path.stem))

    @cached_property
    def cursors(self) -> dict[QueryPart, QueryCursor]:
        """The compiled queries by part. `cursor` adds a query when it is first needed."""
        return {}

    def cursor(self, part: QueryPart = QueryPart.WHOLE) -> QueryCursor:
        """The compiled query of the query files that belong to `part`."""
        if part not in self.cursors:
            from tree_sitter import Query, QueryCursor

            self.cursors[part] = QueryCursor(Query(self.language, self.query_source(part)))
            self.__dict__.pop("_applied", None)  # the limits do not hold for it yet
        return self.cursors[part]

    def parse(self, source: bytes, limits: Limits) -> ParsedFile:
        """Parse a file, and repair its text where the grammar fails.

        Raises:
            OutOfTime: Parsing took longer than `limits` allow.
        """
        began = time.thread_time()
        text = self.blanked(source)
        uses: list[Use] = []
        self._apply(limits)
        if self.macros:
            text, uses = macro_text((*self.macros, *limits.macros)).rewritten(text)
        tree = self._tree(text, limits)
        if self.misread and (edits := list(self._misread(text, tree.root_node))):
            text = apply_edits(text, edits)
            tree = self._tree(text, limits)
        if not tree.root_node.has_error or not (ranges := errors(tree.root_node)):
            return ParsedFile(tree, text, uses)
        first = ParsedFile(tree, text, uses)
        if time.thread_time() - began > limits.max_file_seconds / _MOST_ATTEMPTS:
            return first
        better = self._better(first, ranges, limits) if self.macros or self.divided or self.unknown else first
        return self._recover(better, limits)

    def _misread(self, text: bytes, root: Node) -> Iterator[tuple[int, bytes]]:
        """Edits that blank (replace by spaces) text that makes the grammar take a keyword for a name."""
        assert self.misread is not None
        for match in self.misread.finditer(text):
            if root.descendant_for_byte_range(*match.span("keyword")).type == "identifier":  # type: ignore[union-attr]
                yield match.start("cause"), VISIBLE.sub(b" ", match["cause"])

    def _better(self, parsed: ParsedFile, ranges: list[tuple[int, int]], limits: Limits) -> ParsedFile:
        """Repair a parsed text in several ways, and return the version with the fewest bytes in errors.

        If repairs of C leave errors, all directives are blanked. The branches blanked with them are parsed separately.
        """
        text = parsed.text
        if self.divided:
            edits = [(match.end() - 1, b";") for match in self.divided.finditer(text)]
        elif self.unknown:
            edits = [(match.start(), _overwritten(match)) for match in self.unknown.finditer(text)]
        else:
            edits = repairs(text, ranges)
        best = self._edited(parsed, edits, limits)
        if not self.macros:
            return best
        others = (
            [[(start, start + len(blank))] for start, blank in edits if b"\n" in blank] if best is not parsed else []
        )
        if (remaining := cost(errors(best.tree.root_node))) > _FEW:
            edits, branches = without_directives(text)
            flat = self._edited(parsed, edits, limits)
            if flat is not parsed:
                flat = self._edited(flat, repairs(flat.text, errors(flat.tree.root_node)), limits)
            if cost(errors(flat.tree.root_node)) < remaining:
                best, others = flat, branches
        return best._replace(apart=self._asides(text, others, limits))

    def _asides(self, text: bytes, groups: Sequence[Sequence[tuple[int, int]]], limits: Limits) -> list[Aside]:
        """Parse each group of byte ranges as a separate text."""
        from tree_sitter import Point, Range

        breaks = [match.end() for match in re.finditer(b"\n", text)]

        def point(byte: int) -> Point:
            row = bisect_right(breaks, byte)
            return Point(row, byte - (breaks[row - 1] if row else 0))

        together: list[tuple[int, int]] = []
        for start, end in sorted(span for ranges in groups[_MOST_APART:] for span in ranges):
            if not together or together[-1][1] <= start:
                together.append((start, end))
        asides = []
        try:
            for ranges in (*groups[:_MOST_APART], *([together] if together else [])):
                self.parser.included_ranges = [Range(point(start), point(end), start, end) for start, end in ranges]
                asides.append(Aside(self._tree(text, limits), ranges))
        finally:
            self.parser.included_ranges = []
        return asides

    def _edited(self, parsed: ParsedFile, edits: list[tuple[int, bytes]], limits: Limits) -> ParsedFile:
        """Apply `edits` and parse again; returns `parsed` unless the edited text has fewer bytes in errors."""
        if not edits:
            return parsed
        text = apply_edits(parsed.text, edits)
        tree = self._tree(text, limits, mark_edits(parsed.tree.copy(), parsed.text, edits))
        fewer = cost(errors(tree.root_node)) < cost(errors(parsed.tree.root_node))
        return parsed._replace(tree=tree, text=text) if fewer else parsed

    def _recover(self, parsed: ParsedFile, limits: Limits) -> ParsedFile:
        """Blank the parts that do not parse; returns `parsed` unless fewer bytes are lost than were in errors."""
        ranges = errors(parsed.tree.root_node)
        before = cost(ranges)
        if before <= shortest_lines(parsed.text, ranges):
            return parsed

        def errors_in(text: bytes) -> int:
            root = self._tree(text, limits).root_node
            return cost(errors(root)) if root.has_error else 0

        recovery = Recovery(parsed.text, errors_in, before)
        text = recovery.text()
        if recovery.size >= before:
            return parsed
        tree = self._tree(text, limits)
        min_nodes = _KEPT * parsed.tree.root_node.descendant_count
        if cost(errors(tree.root_node)) + recovery.size >= before or tree.root_node.descendant_count < min_nodes:
            return parsed
        lost = recovery.ranges
        return parsed._replace(
            tree=tree, text=text, apart=[*parsed.apart, *self._asides(parsed.text, [lost], limits)], lost=lost
        )

    def _tree(self, text: bytes, limits: Limits, before: Tree | None = None) -> Tree:
        """Parse a text. `before`, the tree of a text that differs little, makes this faster."""
        computed = time.thread_time()
        try:
            while True:
                began = time.monotonic()
                try:
                    return self.parser.parse(text) if before is None else self.parser.parse(text, before)
                except ValueError:
                    if time.monotonic() - began < limits.max_file_seconds:
                        raise
                if time.thread_time() - computed >= limits.max_file_seconds:
                    raise OutOfTime
                # The machine was busy with something else: the parser goes on where it stopped.
        except BaseException:
            self.parser.reset()  # or it would go on with this source when it is given the next file
            raise

    def matches_of(self, parsed: ParsedFile, limits: Limits, part: QueryPart = QueryPart.WHOLE) -> Matches:
        """The query's matches in the tree of a file, and in the separate trees of its blanked parts."""
        all_matches = self.matches(parsed.tree.root_node, limits, part)
        if parsed.apart:
            for aside in parsed.apart:
                matches = self.matches(aside.tree.root_node, limits, part)
                all_matches += [match for match in matches if aside.has(*_span(match[1]))]
            all_matches.sort(key=lambda match: _span(match[1])[0])
        return all_matches

    def matches(self, root: Node, limits: Limits, part: QueryPart = QueryPart.WHOLE) -> Matches:
        """The matches of a query below a node, down to a depth of `max_nesting`.

        Raises:
            OutOfTime: The query took longer than `limits` allow.
        """
        cursor = self.cursor(part)
        self._apply(limits)
        began, computed = time.monotonic(), time.thread_time()
        result: Matches = cursor.matches(root)
        late = time.monotonic() - began >= _BUSY * limits.max_file_seconds
        if late or time.thread_time() - computed >= limits.max_file_seconds:
            raise OutOfTime  # after its timeout the cursor returns an incomplete result without saying so
        return result

    def _apply(self, limits: Limits) -> None:
        settings = (limits.max_nesting, limits.max_file_seconds)
        if self.__dict__.get("_applied") == settings:
            return
        # Patterns for nodes that nest take quadratic time in the depth. `is_deep` reports trees that go deeper.
        for cursor in self.cursors.values():
            cursor.set_max_start_depth(limits.max_nesting + _stride(limits.max_nesting))
        with warnings.catch_warnings():
            # Deprecated in favour of a progress callback, which crashes the process in tree-sitter 0.25.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.parser.timeout_micros = max(1, int(limits.max_file_seconds * 1e6))  # type: ignore[misc]
            for cursor in self.cursors.values():
                cursor.timeout_micros = max(1, int(_BUSY * limits.max_file_seconds * 1e6))  # type: ignore[misc]
        self.__dict__["_applied"] = settings


def is_deep(tree: Tree, depth: int) -> bool:
    """Whether a tree is deeper than `depth`. The answer may be False if the tree exceeds `depth` by less than a fifth.

    A branch that exceeds `depth` by a fifth has that many nodes in a row below `depth`, so a sample of nodes finds it.
    """
    count = tree.root_node.descendant_count
    if count <= depth:
        return False
    cursor = tree.walk()
    for index in range(0, count, _stride(depth)):
        cursor.goto_descendant(index)
        if cursor.depth > depth:
            return True
    return False


def _span(captures: dict[str, list[Node]]) -> tuple[int, int]:
    nodes = [node for some in captures.values() for node in some]
    return min(node.start_byte for node in nodes), max(node.end_byte for node in nodes)


def _stride(depth: int) -> int:
    return max(1, depth // 5)


#: How a key of a language.toml is read, by the type of the field of the same name.
_READERS: dict[str, Callable[[Any], Any]] = {
    "tuple[str, ...]": lambda value: tuple(value or ()),
    "re.Pattern[str] | None": lambda value: lazily(value) if value else None,
    "re.Pattern[bytes] | None": lambda value: lazily(value.encode()) if value else None,
    "bool": bool,
    "str": lambda value: value or "",
    "dict[str, str]": lambda value: value or {},
}


def _spec(folder: Path) -> LanguageSpec:
    data = table_of(folder.name)
    flat = {**data, **data.get("visibility", {}), **data.get("grammar", {})}
    kinds = LanguageSpec.__annotations__
    values = {name: _READERS[kind](flat.get(name)) for name, kind in kinds.items() if kind in _READERS}
    return LanguageSpec(**values | {
        "name": folder.name,
        "folder": folder,
        "function": flat.get("function", "language"),
        "visibility_default": flat.get("default", True),
        "conditions": flat.get("conditions", "none"),
        "macros": entries(data.get("macros", {})),
        "regions": tuple(map(Regions.of, data.get("regions", ()))),
    })  # fmt: skip


def language_names() -> list[str]:
    """The names of all languages, without reading their folders."""
    return sorted([path.parent.name for path in grammars_dir().glob("*/language.toml")] + [TEXT])


@lru_cache(maxsize=1)
def load_languages() -> dict[str, LanguageSpec]:
    """A dict from names to languages, of every language in grammars/."""
    folders = sorted(path.parent for path in grammars_dir().glob("*/language.toml"))
    return {folder.name: _spec(folder) for folder in folders}


def language_of(word: str) -> str:
    """The language whose name, alias or file suffix (`py`) is `word`; `word` in lower case if there is none."""
    lowered = word.lower()
    return lowered if lowered in language_names() else language_aliases().get(lowered, lowered)


@lru_cache(maxsize=1)
def language_aliases() -> dict[str, str]:
    """Maps other names of languages (aliases and suffixes) to their names."""
    names = language_names()
    aliases = {alias: name for name, spec in load_languages().items() for alias in spec.aliases}
    for name, spec in load_languages().items():
        for suffix in spec.suffixes:
            aliases.setdefault(suffix[1:].lower(), name)
    return {alias: name for alias, name in aliases.items() if alias not in names}


def prepare(language: str, part: QueryPart = QueryPart.WHOLE) -> None:
    """Load the grammar of a language and compile its query, unless that has been done."""
    if language != TEXT:
        spec = load_languages()[language]
        assert spec.parser and spec.cursor(part)


@lru_cache(maxsize=2)
def _by_key(*, installed: bool = True) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    suffixes: dict[str, str] = {}
    filenames: dict[str, str] = {}
    interpreters: dict[str, str] = {}
    for name, spec in load_languages().items():
        if spec.is_installed is not installed:
            continue
        suffixes.update(dict.fromkeys(spec.suffixes, name))
        for regions in spec.regions:
            suffixes.update(dict.fromkeys(regions.suffixes, name))
        filenames.update(dict.fromkeys(spec.filenames, name))
        interpreters.update(dict.fromkeys(spec.interpreters, name))
    return suffixes, filenames, interpreters


@lru_cache(maxsize=1)
def _shared_patterns() -> dict[str, list[tuple[str, re.Pattern[bytes]]]]:
    shared: dict[str, list[tuple[str, re.Pattern[bytes]]]] = {}
    # A C++ header has no marks of Objective-C, but an Objective-C header may have those of C++: last name first.
    for name, spec in sorted(load_languages().items(), reverse=True):
        if spec.prefer_if is not None:
            for suffix in spec.shared_suffixes:
                shared.setdefault(suffix, []).append((name, spec.prefer_if))
    return shared


def detect(path: str, head: bytes = b"") -> str:
    """The language of a file by its name, `head` (for shared suffixes) or `#!` line; `text` if no language fits."""
    suffixes, filenames, interpreters = _by_key()
    base = path.rsplit("/", 1)[-1]
    if base in filenames:
        return filenames[base]
    dot = base.rfind(".")
    if dot >= 0:
        suffix = base[dot:]
        preferred = (name for name, prefer in _shared_patterns().get(suffix, ()) if prefer.search(head[:HEAD_BYTES]))
        language = next(preferred, None) or suffixes.get(suffix) or suffixes.get(suffix.lower())
        if language:
            foreign = load_languages()[language].text_if
            return TEXT if foreign is not None and foreign.search(head[:HEAD_BYTES]) else language
    if head.startswith(b"#!"):
        shebang = _SHEBANG.match(head[:200])
        if shebang:
            return interpreters.get(shebang.group(1).decode(), TEXT)
    return TEXT


def absent_grammars(paths: Iterable[str]) -> dict[str, dict[str, object]]:
    """Maps the languages in `paths` whose grammar is not installed to {"files": how many, "extra": what to install}."""
    suffixes, filenames, _ = _by_key(installed=False)
    absent: dict[str, dict[str, object]] = {}
    for path in paths if suffixes else ():
        base = path.rsplit("/", 1)[-1]
        name = filenames.get(base) or suffixes.get(base[base.rfind(".") :] if "." in base else "")
        if name is not None:
            counted = absent.setdefault(name, {"files": 0, "extra": load_languages()[name].extra})
            counted["files"] += 1  # type: ignore[operator]
    return absent


@lru_cache(maxsize=1)
def _test_names() -> tuple[tuple[str, ...], re.Pattern[str]]:
    """(Ends of the names of test files; a pattern of the names that not only their end tells)."""
    import fnmatch

    globs = sorted({glob for spec in load_languages().values() for glob in spec.test_files})
    ends = tuple(glob[1:] for glob in globs if re.fullmatch(r"\*[^*?[]+", glob))
    parts = [fnmatch.translate(glob) for glob in globs if glob[1:] not in ends]
    return ends, re.compile("|".join(parts) or r"(?!)")


#: `t` at the root is that of Perl, and of git. `kitty_tests` holds tests, but `tokio-test` is a library for them.
_TEST_FOLDER = re.compile(r"^t/|(?:^|/)(?:tests?|specs?|__tests__|testing|testdata|test-.*|[^/]*[_-]tests)/")


def is_test(path: str) -> bool:
    """Whether the path looks like a test, by folder name or by a language's test-file patterns."""
    name, (ends, others) = path.rsplit("/", 1)[-1], _test_names()
    return bool(name.endswith(ends) or _TEST_FOLDER.search(path) or others.match(name))
