"""`lci show`: the current text of a definition, by its name, by the id of a result or by its location."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.errors import UnknownTargetError
from lci_py.index.shards.symbols import narrowest
from lci_py.search.answer.results import index_info
from lci_py.search.navigate.names import meanings
from lci_py.search.navigate.present import NOT_INDEXED, PresentFiles, in_changed_files, innermost
from lci_py.search.suggest import near_misses, similar_paths
from lci_py.source.repository.files import is_aside
from lci_py.source.text import lines_digest
from lci_py.types.graph import Definition
from lci_py.types.search import BLOCK_KIND, FILE_KIND, LAMBDA_KIND, VALUED_KINDS, Filters
from lci_py.types.show import Calls, ShowAnswer, ShownCode, ShowRequest, Target, Unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.index.shards.symbols import Row
    from lci_py.search.navigate.dispatch import Dispatch
    from lci_py.search.navigate.nodes import Nodes
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.graph import Direction

_ID = re.compile(r"[0-9a-f]{16}")
_NODE = re.compile(r"file:(.+)|lambda:(.+):(\d+)", re.DOTALL)
#: Lines before and after one that is outside of all definitions.
_AROUND = 20
#: Kinds that name a part of a file; of several definitions of a name they come last.
_PARTS = frozenset({"module", "namespace", "section"})
#: A value of at most so many lines is shown with its surroundings instead, since a search shows as much.
_SHORT = 2
#: Callers or callees of one definition that are listed.
_CALLS = 20
_DOCSTRING = re.compile(r"(\"\"\"|''')(.*?)\1", re.DOTALL)


def show(snapshot: Snapshot, request: ShowRequest) -> ShowAnswer:
    """The definitions that the targets name, in the order of the targets; each is shown once.

    Raises:
        BadGlobError: A path filter is no glob.
    """
    work = _Work(snapshot, request)
    results: dict[object, ShownCode] = {}
    totals, unknown = [], []
    for target in dict.fromkeys(request.targets):
        try:
            items, total = work.find(target)
        except UnknownTargetError as missing:
            unknown.append(Unknown(target.spelled, missing.message, tuple(missing.details["near"])))
            continue
        totals.append((target.spelled, total))
        for item in items:
            results.setdefault((item.id, item.file, item.start, len(item.lines)), item)
    shown_codes = tuple(work.with_calls(item) for item in results.values())
    return ShowAnswer(request, shown_codes, tuple(totals), index_info(snapshot), tuple(unknown))


class _Work:
    def __init__(self, snapshot: Snapshot, request: ShowRequest) -> None:
        self._snapshot = snapshot
        self._request = request
        self._present = PresentFiles(snapshot)
        self._nodes: Nodes | None = None
        self._dispatch: Dispatch | None = None
        self._numbers: dict[str, Row] = {}  # rows of definitions, by id, for the graph

    def find(self, target: Target) -> tuple[list[ShownCode], int]:
        """(shown, total): the definitions that a target names, within the limit, and their total number.

        Raises:
            UnknownTargetError: The target names nothing.
        """
        if target.path is not None and target.lines is not None:
            return [self._show_lines(target, target.path, *target.lines)], 1
        if (item := self._by_id(target)) is not None:
            return [item], 1
        shown, total = self._show_named(target)
        if shown:
            return shown, total
        if target.path is not None:
            return [self._lines(target, target.path, 1, None, FILE_KIND)], 1
        raise self._missing(target)

    # --- by id --------------------------------------------------------------------------------------------------

    def _by_id(self, target: Target) -> ShownCode | None:
        name = target.name
        if node := _NODE.fullmatch(name):
            path, of_lambda, line = node.groups()
            return self._lines(target, path, 1, None, FILE_KIND) if path else self._lambda(target, of_lambda, line)
        row = self._snapshot.symbols.with_id(name) if _ID.fullmatch(name) else None
        if row is None:
            return None
        return self._definition(target, row) if row["symbol_number"] is not None else self._block(target, row)

    def _lambda(self, target: Target, path: str, line: str) -> ShownCode:
        from lci_py.index.shards.symbol_queries import language_and_lambdas

        _, spans = language_and_lambdas(self._snapshot.symbols, path) or ("", [])
        for first, last in spans:
            if first == int(line) and not self._present.stale(path):
                return self._lines(target, path, first, last, LAMBDA_KIND)._replace(id=target.name)
        return self._show_lines(target, path, int(line), None)

    def _block(self, target: Target, row: Row) -> ShownCode:
        """The lines of a block (code outside of definitions), located by their text if the file has changed."""
        path, first, last = row["file"], row["line"], row["end_line"]
        lines = self._snapshot.reader.lines(path)
        if lines is None:
            raise UnknownTargetError(f"{path} is no longer there")
        if self._present.stale(path):
            digest = self._snapshot.symbols.chunk_digests(row["unit"])[0][2]
            size = last - first
            starts = sorted(range(1, len(lines) - size + 1), key=lambda start: abs(start - first))
            position = next((start for start in starts if lines_digest(lines, start, start + size) == digest), None)
            if position is None:
                raise UnknownTargetError(
                    f"{target.spelled}: {path} has changed, and these lines are no longer in it", ()
                )
            first, last = position, position + size
        return self._lines(target, path, first, last, BLOCK_KIND)._replace(id=row["id"])

    # --- by name ------------------------------------------------------------------------------------------------

    def _show_named(self, target: Target) -> tuple[list[ShownCode], int]:
        name, filters = target.name, self._request.filters
        symbols, there = self._snapshot.symbols, self._snapshot.freshness.there()
        rows = [row for meaning in meanings(symbols, name, callable_only=False) for row in meaning.rows]
        file, _, rest = name.partition("::")
        if rest and (inside := [row for row in rows if f"/{row['file']}".endswith(f"/{file}")]):
            rows = inside
        if filters or there is not None:
            passing = {row["symbol_number"] for row in symbols.definitions(name, filters, there)}
            if rows and not passing and not in_changed_files(self._present, name, filters)[0]:
                raise UnknownTargetError(
                    f"no definition of {name} passes the filters" if filters else f"{name} is gone", ()
                )
            rows = [row for row in rows if row["symbol_number"] in passing]
        ids = {row["id"] for row in rows}
        if any(char in name for char in "*?["):
            rows = _outermost(rows)
        rows += [row for row in in_changed_files(self._present, name, filters)[0] if row["id"] not in ids]
        rows.sort(key=lambda row: (row["test"], is_aside(row["file"]), row["kind"] in _PARTS))
        shown: list[ShownCode] = []
        gone: list[UnknownTargetError] = []
        for row in rows:
            if len(shown) == self._request.limit:
                break  # the others are only counted
            try:
                shown.append(self._definition(target, row))
            except UnknownTargetError as missing:
                gone.append(missing)
        if gone and not shown:
            raise gone[0]
        return shown, len(rows) - len(gone)

    def _definition(self, target: Target, row: Row) -> ShownCode:
        definition = self._present.find(row["file"], row["id"])
        if definition is None:
            raise UnknownTargetError(f"{row['qualified_name']} is no longer in {row['file']}")
        if row["symbol_number"] is not None:
            self._numbers[definition.id] = row
        return self._body(target, definition)

    def _missing(self, target: Target) -> UnknownTargetError:
        name = target.name
        file, colon, lines = name.rpartition(":")
        if (colon and lines.replace("-", "").isdigit()) or "/" in name.partition("::")[0]:
            path = file if colon and not file.endswith(":") else name
            path = path.partition("::")[0]
            paths = self._snapshot.symbols.paths()
            if path not in paths:
                return UnknownTargetError(f"there is no file {path}", similar_paths(path, paths))
        return UnknownTargetError(f"nothing is named {name!r}", near_misses(self._snapshot.symbols, name))

    # --- by place -----------------------------------------------------------------------------------------------

    def _show_lines(self, target: Target, path: str, first: int, last: int | None) -> ShownCode:
        """The lines from `first` to `last`; without `last`, the definition or block that encloses `first`."""
        lines = self._text(path)
        if not 1 <= first <= max(1, len(lines)) or (last is not None and last < first):
            raise UnknownTargetError(f"{path} has {len(lines):,} lines, not {target.spelled.rpartition(':')[2]}")
        if last is not None:
            return self._lines(target, path, first, last, "lines")
        definitions = self._present.definitions(path)
        definition = innermost(definitions, first)
        while (
            definition is not None
            and definition.parent >= 0
            and definition.kind in VALUED_KINDS
            and definition.end_line - definition.line < _SHORT
        ):
            definition = definitions[definition.parent]
        if definition is not None:
            return self._body(target, definition)
        if (block := self._block_around(path, first)) is not None:
            return self._block(target, block)
        before = max((d.end_line for d in definitions if d.end_line < first), default=0)
        after = min((d.first_line for d in definitions if d.first_line > first), default=len(lines) + 1)
        top, bottom = max(before + 1, first - _AROUND), min(after - 1, first + _AROUND)
        while top < first and not lines[top - 1].strip():
            top += 1
        while bottom > first and not lines[bottom - 1].strip():
            bottom -= 1
        return self._lines(target, path, top, bottom, BLOCK_KIND)

    def _block_around(self, path: str, line: int) -> Row | None:
        """The block that a search would return for a line outside of definitions; None if there is none."""
        symbols = self._snapshot.symbols
        if self._present.stale(path) or path not in (paths := symbols.paths()):
            return None
        unit = narrowest(symbols.chunks_of_file(paths.index(path)), line)
        row = symbols.result_rows([unit])[unit] if unit is not None else None
        return row if row is not None and row["symbol_number"] is None else None

    def _lines(self, target: Target, path: str, first: int, last: int | None, kind: str) -> ShownCode:
        from lci_py.index.shards.symbol_queries import language_and_lambdas

        lines = self._text(path)
        last = len(lines) if last is None else min(last, len(lines))
        indexed = language_and_lambdas(self._snapshot.symbols, path)
        language = indexed[0] if indexed is not None else self._present.language(path)
        id = f"file:{path}" if kind == FILE_KIND else None
        stale = indexed is None or self._present.stale(path)
        context = self._request.context if kind != FILE_KIND else 0
        start, text = _cut_out(lines, first, last, context)
        return ShownCode(
            target.spelled,
            id,
            None,
            None,
            kind,
            path,
            first,
            max(first, last),
            language,
            None,
            None,
            start,
            text,
            stale,
        )

    def _text(self, path: str) -> list[bytes]:
        """The lines of a file that the request may read.

        Raises:
            UnknownTargetError: There is no such file.
        """
        if self._request.indexed_only and not self._snapshot.freshness.indexable(path):
            raise UnknownTargetError(NOT_INDEXED.format(path))
        lines = self._present.lines(path)
        if lines is None:
            raise UnknownTargetError(f"{path} does not exist, or is not text")
        return lines

    def _body(self, target: Target, item: Definition) -> ShownCode:
        request = self._request
        lines = self._text(item.file)
        parts = request.signature or request.doc
        start, text = _cut_out(lines, item.first_line, item.end_line, request.context) if not parts else (0, ())
        return ShownCode(
            target.spelled, item.id, item.symbol, item.qualified_name, item.kind, item.file, item.line,
            item.end_line, item.language, item.signature or None, _whole_doc(lines, item) if request.doc else None,
            start or item.line, text, self._present.stale(item.file),
        )  # fmt: skip

    # --- calls --------------------------------------------------------------------------------------------------

    def with_calls(self, item: ShownCode) -> ShownCode:
        """The shown code with its callers and callees, as far as they are requested."""
        request = self._request
        if item.symbol is None or not (request.callers or request.callees):
            return item
        row = self._numbers.get(item.id or "") or self._snapshot.symbols.with_id(item.id or "")
        if row is None:
            return item  # a definition that is not indexed yet
        from lci_py.search.navigate.calls import neighbours_of
        from lci_py.search.navigate.dispatch import Dispatch
        from lci_py.search.navigate.nodes import Nodes

        nodes = self._nodes = self._nodes or Nodes(self._snapshot)
        dispatch = self._dispatch = self._dispatch or Dispatch(nodes)

        def calls(way: Direction) -> Calls:
            edges, through = neighbours_of(nodes, dispatch, [row], way, Filters())
            return Calls(tuple(edges[:_CALLS]), len(edges), tuple(call for call in through if not call.listed))

        callers = calls("callers") if request.callers else None
        callees = calls("callees") if request.callees else None
        return item._replace(callers=callers, callees=callees)


def _outermost(rows: Sequence[Row]) -> list[Row]:
    """The definitions that are not nested in other definitions of the list."""
    spans = {row["symbol_number"]: (row["line"], row["end_line"]) for row in rows}
    return [
        row
        for row in rows
        # A method may belong to a type that it does not lie in (Rust, Go).
        if not ((span := spans.get(row["parent"])) and span[0] <= row["line"] <= span[1])
    ]


def _cut_out(lines: Sequence[bytes], first: int, last: int, context: int) -> tuple[int, tuple[str, ...]]:
    """(number, lines): a range of lines, with `context` lines on either side, as text; and the first line's number."""
    start = max(1, first - context)
    some = lines[start - 1 : last + context]
    return start, tuple(line.removesuffix(b"\r").decode("utf-8", "replace") for line in some)


def _whole_doc(lines: Sequence[bytes], definition: Definition) -> str:
    """The complete doc comment of a definition, recognised by its beginning: the index has no more of it."""
    doc = definition.doc
    if not doc.endswith("…"):
        return doc
    from lci_py.source.extract.describe import clean_doc

    _, above = _cut_out(lines, definition.first_line, definition.line - 1, 0)
    _, body = _cut_out(lines, definition.first_line, definition.end_line, 0)
    texts = [clean_doc("\n".join(above), False, limit=None)]
    texts += [clean_doc(match[0], True, limit=None) for match in _DOCSTRING.finditer("\n".join(body))]
    start = doc[:40].rstrip("…")
    return next((text[text.find(start) :] for text in texts if start in text), doc)
