"""Search results and definitions as text. On a terminal `path:line` comes first, as ripgrep users expect. In a pipe,
where the reader is often a program that pays for each word, results are grouped by file.

A result has a header line, then its code, then what flags and modes add. No text depends on the clock. Without a
`width` (in a pipe) no line is cut or wrapped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.errors import GraphPendingError
from lci_py.render.text.style import (
    cut_lines,
    footer_line,
    goes_on,
    plural,
    sentence,
    shorten,
    shown_of,
    visible,
    visible_line,
    width_of,
)
from lci_py.types.search import BLOCK_KIND

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lci_py.render.text.style import Layout, Page
    from lci_py.types.search import Answer, DefinitionSite, GraphContext, GraphLink, Hint, Result

_INDENT = "    "
#: What stands before a part of a qualified name; and before its last two.
_PART = re.compile(r"(?:\.|::)(?=\w)")
_TWO_PARTS = re.compile(r"^[\w.:]*(?:\.|::)(?=\w+(?:\.|::)[^\s.:]+(?: |$))")
_LINKS_SHOWN = 3
_TAB = 4
# Wider columns than these are not padded to: one long path should not push every other row to the right.
_MAX_PLACE, _MAX_WHAT = 48, 44


class _Listing:
    """An answer, and settings for its text; each method returns the lines of one part of the text."""

    def __init__(self, answer: Answer, layout: Layout, snippet_lines: int | None, *, imports: bool = False) -> None:
        self.answer = answer
        self.layout = layout
        self.style, self.signs, self.width, _ = layout
        self.snippet_lines = snippet_lines
        self.relations = ("callers", "callees", *(("imports", "imported_by") if imports else ()))
        self.listed: dict[
            tuple[DefinitionSite, ...], str
        ] = {}  # definitions to the place of the result that lists them
        self.aside_width = None if self.width is None else self.width - len(_INDENT)
        self.places = {r.id: f"{_name(r)} ({r.file}:{r.line})" if _name(r) else r.file for r in answer.results}
        places = [width_of(_location(r)) for r in answer.results]
        whats = [width_of(_kind_and_name(r)) for r in answer.results]
        self.place_width = max((w for w in places if w <= _MAX_PLACE), default=0)
        self.what_width = max((w for w in whats if w <= _MAX_WHAT), default=0)

    def aside(self, text: str, *, dim: bool = True) -> str:
        """The indented line `text`, cut to the width of the terminal."""
        cut = shorten(visible_line(text), self.aside_width, self.signs.ellipsis)
        return _INDENT + (self.style(cut, "dim") if dim else cut)

    def header(self, r: Result, tail: str) -> Iterator[str]:
        """The line `path:line  kind name  tail`; on a terminal the tail is aligned to the right if there is room.

        The name gets a line of its own if the path leaves too little room for the last two parts of the name.
        """
        style, signs = self.style, self.signs
        flags = self.flags(r)
        # Columns line up in a list without code. Between snippets they would be too far apart to compare.
        aligned = self.snippet_lines == 0
        gap = " " * max(2, (self.place_width if aligned else 0) - width_of(_location(r)) + 2)
        indent = width_of(_location(r)) + len(gap) + width_of(flags)
        shown_place = f"{style(visible_line(r.file), 'path')}:{style(str(r.line), 'line')}"
        # The place must stay whole so that a click on it works: the name is cut first, and keeps its end.
        what = _kind_and_name(r)
        if self.width is not None and indent + width_of(what) > self.width:
            short = _end_of(r, self.width - indent, signs.ellipsis)
            if not short:
                yield shown_place
                aligned = False
                shown_place, gap, indent = "", _INDENT, len(_INDENT) + width_of(flags)
                room = self.width - indent
                short = what if width_of(what) <= room else _end_of(r, room, signs.ellipsis)
            what = short or shorten(what, max(1, self.width - indent), signs.ellipsis)
        end = indent + width_of(what)
        if aligned:
            pad = max(2, self.what_width - (end - indent) - width_of(flags) + 2)
        else:
            pad = 2 if self.width is None else max(2, self.width - end - width_of(tail))
        kind, _, rest = what.partition(" ")
        name = f"{style(kind, 'kind')} {style(rest, 'bold')}" if rest else style(kind, "kind")
        head = f"{shown_place}{gap}{name}{style(flags, 'warn')}"
        if not tail:
            yield head
        elif self.width is not None and end + pad + width_of(tail) > self.width:
            room = self.width - end - 2
            while tail and width_of(tail) > room:
                tail = tail.rpartition(" ")[0]
            yield f"{head}  {style(tail, 'dim')}" if tail else head
        else:
            yield f"{head}{' ' * pad}{style(tail, 'dim')}"

    def flags(self, r: Result) -> str:
        words = [word for word, holds in (("stale", r.stale), ("conflict", r.conflict)) if holds]
        return "".join(f"  {self.signs.warn} {word}" for word in words)

    def code(self, r: Result) -> tuple[int, list[str], list[str]]:
        """Returns (number of the first line, lines to show, lines as in the file or [] without coloured matches)."""
        lines = visible(r.snippet).split("\n")[: self.snippet_lines] if r.snippet else []
        return r.snippet_line or r.line, lines, r.snippet.split("\n") if self.style.color and r.marks else []

    def piped_snippet(self, r: Result) -> Iterator[str]:
        """The code of a result for a pipe: with line numbers, without its common indentation."""
        start, lines, raw = self.code(r)
        told = [line for line in lines if line.strip()]
        margin = min((len(line) - len(line.lstrip()) for line in told), default=0)
        for index, line in enumerate(lines):
            if line.strip():
                spans: list[tuple[int, ...]] = [mark[1:] for mark in r.marks if mark[0] == index]
                text = self.marked(line, raw[index], spans) if raw else line  # the margin has no match in it
                yield f"{_INDENT}{start + index}: {text[margin:]}".rstrip()

    def snippet(self, r: Result) -> Iterator[str]:
        start, lines, raw = self.code(r)
        while lines and not lines[-1].strip():
            lines.pop()
        digits = len(str(start + len(lines)))
        for index, line in enumerate(lines):
            gutter = f"{_INDENT}{start + index:>{digits}} {self.signs.bar} "
            if self.width is not None:
                text = shorten(line.expandtabs(_TAB), self.width - len(gutter), self.signs.ellipsis)
            else:
                text = line
            if raw:
                text = self.marked(text, raw[index], [mark[1:] for mark in r.marks if mark[0] == index])
            yield f"{self.style(gutter, 'dim')}{text}".rstrip()

    def marked(self, text: str, line: str, spans: list[tuple[int, ...]]) -> str:
        """A line of code with the matched words in colour.

        Args:
            text: The line as it is shown, escaped and perhaps cut.
            line: The line as in the file.
            spans: The (start, end) of each matched word, in characters of `line`.
        """

        def column(at: int) -> int:
            before = visible(line[:at])
            return len(before if self.width is None else before.expandtabs(_TAB))

        end = len(text)
        if self.width is not None and end and text.endswith(self.signs.ellipsis) and end < column(len(line)):
            end -= len(self.signs.ellipsis)
        pieces, position = [], 0
        for start, stop in ((min(column(a), end), min(column(b), end)) for a, b in spans):
            pieces += [text[position:start], self.style(text[start:stop], "match")]
            position = stop
        return "".join((*pieces, text[position:]))

    def graph(self, r: Result, graph: GraphContext) -> Iterator[str]:
        for label in self.relations:
            links: tuple[GraphLink, ...] = getattr(graph, label)
            if not links:
                continue
            names = [link.qualified_name or link.symbol or link.file for link in links[:_LINKS_SHOWN]]
            if self.width is None:
                names = [_short_link(link, r) for link in links[:_LINKS_SHOWN]]
            elif len(set(names)) < len(names):  # places tell several definitions of one name apart
                names = [
                    f"{name} ({link.file}:{link.line})" if names.count(name) > 1 and name != link.file else name
                    for name, link in zip(names, links, strict=False)
                ]
            total = max(graph.counts.get(label, 0), len(links))
            yield self.aside(self.fitting(label.replace("_", " "), names, total))

    def fitting(self, label: str, names: list[str], total: int) -> str:
        """Text such as `callers: A.b, C.d (+3)` that fits on a line. Names are shortened before any is left out."""
        text = ""
        ends = [_TWO_PARTS.sub("", name, count=1) for name in names]
        for some in (names, *(ends[:count] for count in range(len(ends), 0, -1))):
            more = f" (+{total - len(some)})" if total > len(some) else ""
            text = f"{label}: {', '.join(some)}{more}"
            if self.aside_width is None or width_of(visible_line(text)) <= self.aside_width:
                break
        return text

    def via(self, links: tuple[tuple[str, str], ...]) -> Iterator[str]:
        for target, relation in links[:_LINKS_SHOWN]:
            yield self.aside(f"via {relation.replace('_', ' ')} {self.places.get(target, target)}")
        if len(links) > _LINKS_SHOWN:
            yield self.aside(f"via (+{len(links) - _LINKS_SHOWN})")

    def also_in(self, r: Result) -> Iterator[str]:
        if r.also_in:
            yield self.aside(self.fitting("also in", list(r.also_in[:_LINKS_SHOWN]), len(r.also_in)))

    def conflict(self, r: Result) -> Iterator[str]:
        from lci_py.render.text.conflicts import Context, headline, listing_of, site_lines

        text = headline(r.definitions)
        above = self.listed.setdefault(r.definitions, _location(r))
        if above != _location(r):
            # Several results may define one symbol; repeating the list below each would hide the other results.
            text = f"{text.partition(':')[0]}: listed above, at {above}"
        text = shorten(text, self.aside_width, self.signs.ellipsis)
        yield _INDENT + self.style(text, "warn")
        if above != _location(r):
            return
        yield from site_lines(
            r.definitions,
            self.layout,
            Context(self.answer.index.branch, own=(r.file, r.line)),
            indent=_INDENT + "  ",
            more=listing_of(_name(r), self.layout),
        )

    def result(self, r: Result) -> Iterator[str]:
        if self.width is None:
            views = (
                [] if r.via is not None and not r.mode_score else [r.mode_source, *(v for v, _ in r.also_matched or ())]
            )
            lines = f"{r.line}-{r.end_line}" if r.end_line > r.line else f"{r.line}"
            title = _kind_and_name(r) if _name(r) else r.kind
            kind, _, name = title.partition(" ")
            head = f"{self.style(lines, 'line')} {self.style(kind, 'kind')}"
            head += f" {self.style(name, 'bold')}" if name else ""
            head += f"  {self.style('+'.join(views), 'dim')}" if views else ""
            yield f"{head}{self.layout.id(r.id)}{self.style(self.flags(r), 'warn')}"
        else:
            yield from self.header(r, _found_by(r))
        if r.signature and _flat(r.signature.rstrip("…")) not in _flat(r.snippet) and self.snippet_lines != 0:
            yield self.aside(_flat(r.signature))
        yield from self.piped_snippet(r) if self.width is None else self.snippet(r)
        yield from self.also_in(r)
        if r.conflict:
            yield from self.conflict(r)
        yield from (self.aside(f"route {route}") for route in r.routes)
        yield from self.via(r.via or ())
        if r.graph is not None and r.via is None:  # a neighbour is shown without its own neighbours
            yield from self.graph(r, r.graph)
        if r.explain is not None:
            from lci_py.render.text.explain import explanation

            yield from explanation(r.explain, r.mode_score, self.layout)

    def warning(self, text: str) -> Iterator[str]:
        """A sentence as a warning. It is wrapped and never cut, since its end says what to do."""
        for line in sentence(text, self.layout, _INDENT):
            yield self.style(line, "warn")

    def notes(self) -> Iterator[str]:
        """Warnings and hints about the answer; they follow the last result, where a reader of a terminal looks."""
        warn = self.signs.warn
        if self.answer.confidence is not None and self.answer.confidence.level == "low":
            yield from self.warning(f"{warn} low confidence: {self.answer.confidence.reason}")
        for d in self.answer.degraded:
            if d.detail.startswith(GraphPendingError().message):  # nothing is wrong, it only takes a moment longer
                yield self.style(f"{_INDENT}callers and callees follow: the call graph is still being built", "dim")
                continue
            others = "no view answered" if d.fallback_mode == "none" else f"answered by {d.fallback_mode}"
            text = f"{warn} degraded: {d.view} ({d.failure_mode}), {others}; impact {d.confidence_impact}: {d.detail}"
            yield from self.warning(text)
        for given_up in (self.answer.plan or {}).get("relaxed", ()):
            yield from self.warning(f"{warn} relaxed: {given_up}")
        if (command := (self.answer.plan or {}).get("command")) and not self.layout.tools:
            yield from sentence(f"`{visible_line(command)}` lists all that the question asks for", self.layout, _INDENT)
        for hint in self.answer.hints:
            yield from sentence(_hint(hint, self.layout), self.layout, _INDENT)
        if self.answer.conflicts:
            from lci_py.render.text.conflicts import disagreement_lines

            for conflict in self.answer.conflicts:
                yield from disagreement_lines(conflict, self.layout, lambda source: self.places.get(source, source))
        if self.answer.truncated is not None:
            yield from cut_lines(self.answer.truncated, self.layout)

    def explained_file(self) -> Iterator[str]:
        """The lines of `--explain-file`, which follow the notes."""
        if self.answer.explain_file is not None:
            from lci_py.render.text.explain import file_lines

            yield from file_lines(self.answer.explain_file, self.layout)

    def insight(self, *, explain: bool) -> Iterator[str]:
        """The lines of `--explain` (the plan) and `--trace`, which come last."""
        if explain and self.answer.plan is not None:
            from lci_py.render.text.explain import plan_lines

            yield from plan_lines(self.answer.plan, self.layout)
        if self.answer.trace is not None:
            from lci_py.render.text.explain import trace_lines

            yield from trace_lines(self.answer.trace, self.layout)


def _hint(hint: Hint, layout: Layout) -> str:
    """A hint as text, such as "`lci grep -F 'text'` has it at src/a.c:12" or "6 of 10 are tests (--no-tests)"."""
    if hint.kind == "tests":
        return f"{hint.reason} ({layout.words('--no-tests', hint.tool)})"
    location = f" at {visible_line(hint.file)}:{hint.line}" if hint.file else ""
    return f"{visible_line(layout.words(f'`{hint.command}`', hint.tool))} {hint.reason}{location}"


def _by_file(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Maps each file to its results; files and results keep the order of the ranking."""
    files: dict[str, list[Result]] = {}
    for result in results:
        files.setdefault(result.file, []).append(result)
    return files


def _short_link(link: GraphLink, r: Result) -> str:
    """The text `name:line` for a neighbour in the file of `r`, `name file:line` (base name) for one elsewhere."""
    name = link.qualified_name or link.symbol
    if not name:
        return f"{link.file}"
    return f"{name}:{link.line}" if link.file == r.file else f"{name} {link.file.rpartition('/')[2]}:{link.line}"


def _location(r: Result) -> str:
    return f"{visible_line(r.file)}:{r.line}"


def _name(r: Result) -> str:
    return r.qualified_name or r.symbol or ""


def _kind_and_name(r: Result) -> str:
    if r.kind == BLOCK_KIND and not _name(r):
        return f"lines {r.line}-{r.end_line}" if r.end_line > r.line else f"line {r.line}"
    return visible_line(f"{r.kind} {_name(r)}".rstrip())


def _end_of(r: Result, room: int, ellipsis: str) -> str:
    """A name cut as in `method …Relation.find_by`: as many last parts as fit; "" if not even two parts fit."""
    kind, _, name = _kind_and_name(r).partition(" ")
    for part in list(_PART.finditer(name))[:-1]:
        short = f"{kind} {ellipsis}{name[part.end() :]}"
        if width_of(short) <= room:
            return short
    return ""


def _flat(text: str) -> str:
    return " ".join(text.split())


def _found_by(r: Result) -> str:
    """Text such as `dense +bm25 +symbolic`: the view that contributes most to the score, then the other views.

    With `--explain`, the score precedes it: without its summands the score says nothing. A structural match scores 1.
    """
    if r.via is not None and not r.mode_score:
        return ""  # only the graph found it, no view
    also = "".join(f" +{view}" for view, _ in r.also_matched or ())
    score = "" if r.explain is None or (r.mode_source, r.mode_score) == ("symbolic", 1) else f"{r.mode_score:.2f} "
    return f"{score}{r.mode_source}{also}"


def _summary(answer: Answer, layout: Layout) -> list[str]:
    """The parts of the footer: the number of results, the search mode, and what --expand added."""
    added = sum(result.via is not None for result in answer.results)
    count = len(answer.results) - added
    head = plural(count, "result")
    if answer.offset:
        head = f"results {answer.offset + 1:,} to {answer.offset + count:,} of {answer.total:,}" if count else head
    elif answer.total != count and answer.mode == "symbolic":
        head = f"{count:,} of {plural(answer.total, 'result')}"
    elif answer.total != count:  # the rest is all that can be ranked, however little it fits
        head = f"the best {head if count != 1 else 'result'}" + layout.words(", more with -n", "")
    parts = [head, answer.mode]
    if answer.expansion is not None:
        left_out = answer.expansion["left_out"]
        parts.append(f"{added:,} around them" + (f" ({left_out:,} left out)" if left_out else ""))
    return parts


def render(
    answer: Answer,
    page: Page,
    *,
    snippet_lines: int | None = None,
    footer: bool = True,
    explain: bool = False,
    imports: bool = False,
) -> None:
    """Write an answer as text.

    Args:
        snippet_lines: Code lines per result at most; 0 lists one line per result; None shows the whole snippet.
        footer: Whether to end with a line such as `the best 10 results, more with -n · multiview`.
        explain: Whether to show the plan.
        imports: Whether to show the imports and importers of the results' files.
    """
    lines_of_code = snippet_lines != 0
    listing = _Listing(answer, page.layout, snippet_lines, imports=imports)
    width = page.layout.width
    if width is None:
        for path, results in _by_file(answer.results).items():
            page.lines([listing.style(visible_line(path), "path")])
            page.lines(line for result in results for line in listing.result(result))
    else:
        for i, result in enumerate(answer.results):
            if i and lines_of_code:
                page.lines([""])
            page.lines(listing.result(result))
    notes, explained = list(listing.notes()), list(listing.explained_file())
    rest = list(listing.insight(explain=explain))
    if footer:
        count = sum(result.via is None for result in answer.results)
        more = goes_on(listing.layout, count, answer.total, answer.offset)
        rest.append(footer_line([*_summary(answer, listing.layout), *more], answer.index, listing.layout))
    if answer.results and lines_of_code and width is not None and (notes or explained or rest):
        page.lines([""])
    # The explained file begins with its path, as a result does; blank lines keep it from looking like one.
    before = [""] if explained and (notes or (answer.results and (width is None or not lines_of_code))) else []
    after = [""] if explained and rest else []
    page.lines((*notes, *before, *explained, *after, *rest))


def render_definitions(answer: Answer, page: Page, *, footer: bool = True) -> None:
    """Write the answer of `lci def`: location, kind and name, signature, and first line of the doc comment."""
    # There is no score, since every definition of the name counts, and no snippet, which would repeat the signature.
    listing = _Listing(answer, page.layout, 1)
    for result in answer.results:
        lines = list(listing.header(result, ""))
        lines += [listing.aside(_flat(result.signature), dim=False)] if result.signature else []
        lines += [listing.aside(_flat(result.doc))] if result.doc else []
        lines += list(listing.also_in(result))
        lines += list(listing.conflict(result)) if result.conflict else []
        page.lines(lines)
    page.lines(listing.notes())
    if footer:
        page.end([shown_of(len(answer.results), answer.total, "definition")], answer.index)
