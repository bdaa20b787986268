"""Results for a person: a layered listing in the order that ripgrep users read, `path:line` first.

One header line per result, then its code, then what each layer adds. Nothing here depends on the clock, and
without a `width` (a pipe) nothing is cut or wrapped.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from lci_py.render.text.style import (
    Layout,
    Signs,
    Style,
    plural,
    shorten,
    signs_for,
    visible,
    visible_line,
    visible_path,
    width_of,
    wrapped,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lci_py.types.search import Answer, DefinitionSite, GraphContext, GraphLink, Result

#: Lines of code per result when --snippet is not given: ten results are then about one screen.
DEFAULT_SNIPPET_LINES = 4
_INDENT = "    "
_LINKS_SHOWN = 3
#: What --max-tokens can have dropped, as `truncated` counts it.
_DROPPED = ("result", "snippet", "explanation", "definition", "conflict")
_TAB = 4
# Wider columns than these are not padded to: one long path should not push every other row to the right.
_MAX_PLACE, _MAX_WHAT = 48, 44


class _Listing:
    """The settings of one rendering, and the lines of each part."""

    def __init__(self, answer: Answer, style: Style, signs: Signs, width: int | None, snippet_lines: int) -> None:
        self.answer = answer
        self.style = style
        self.signs = signs
        self.width = width
        self.snippet_lines = snippet_lines
        self.listed: dict[tuple[DefinitionSite, ...], str] = {}  # definitions, and the row that has them below it
        self.layout = Layout(style, signs, width)
        self.aside_width = None if width is None else width - len(_INDENT)
        self.places = {r.id: f"{name(r)} ({r.file}:{r.line})" if name(r) else r.file for r in answer.results}
        places = [width_of(place(r)) for r in answer.results]
        whats = [width_of(_what(r)) for r in answer.results]
        self.place_width = max((w for w in places if w <= _MAX_PLACE), default=0)
        self.what_width = max((w for w in whats if w <= _MAX_WHAT), default=0)

    def aside(self, text: str, *, dim: bool = True) -> str:
        """One indented line of `text`, cut to the terminal."""
        cut = shorten(visible_line(text), self.aside_width, self.signs.ellipsis)
        return _INDENT + (self.style(cut, "dim") if dim else cut)

    def header(self, r: Result, tail: str) -> str:
        """`path:line  kind name  tail`; the tail is aligned to the right of a terminal, when there is room."""
        style, signs = self.style, self.signs
        words = [word for word, holds in (("stale", r.stale), ("conflict", r.conflict)) if holds]
        flags = "".join(f"  {signs.warn} {word}" for word in words)
        # In a list without code the columns line up; between snippets the padding would only scatter the words.
        listed = self.snippet_lines == 0
        gap = " " * max(2, (self.place_width if listed else 0) - width_of(place(r)) + 2)
        left = width_of(place(r)) + len(gap) + width_of(flags)
        # The place stays whole, or a click on it would go nowhere; the name gives way first.
        what = shorten(_what(r), None if self.width is None else max(12, self.width - left), self.signs.ellipsis)
        used = left + width_of(what)
        if listed:
            pad = max(2, self.what_width - (used - left) - width_of(flags) + 2)
        else:
            pad = 2 if self.width is None else max(2, self.width - used - width_of(tail))
        kind, _, rest = what.partition(" ")
        shown = f"{style(kind, 'kind')} {style(rest, 'bold')}" if rest else style(kind, "kind")
        head = f"{style(visible_line(r.file), 'path')}:{style(str(r.line), 'line')}{gap}{shown}{style(flags, 'warn')}"
        if not tail:
            return head
        if self.width is not None and used + pad + width_of(tail) > self.width:
            room = self.width - used - 2
            return head if room < 8 else f"{head}  {style(shorten(tail, room, self.signs.ellipsis), 'dim')}"
        return f"{head}{' ' * pad}{style(tail, 'dim')}"

    def snippet(self, r: Result) -> Iterator[str]:
        lines = visible(r.snippet).split("\n")[: self.snippet_lines] if r.snippet else []
        while lines and not lines[-1].strip():
            lines.pop()
        start = r.snippet_line or r.line
        digits = len(str(start + len(lines)))
        for number, line in enumerate(lines, start):
            gutter = f"{_INDENT}{number:>{digits}} {self.signs.bar} "
            if self.width is not None:
                shown = shorten(line.expandtabs(_TAB), self.width - len(gutter), self.signs.ellipsis)
            else:
                shown = line
            yield f"{self.style(gutter, 'dim')}{shown}".rstrip()

    def graph(self, graph: GraphContext) -> Iterator[str]:
        for label in ("callers", "callees", "imports", "imported_by"):
            links: tuple[GraphLink, ...] = getattr(graph, label)
            if not links:
                continue
            shown = [link.qualified_name or link.symbol or link.file for link in links[:_LINKS_SHOWN]]
            if len(set(shown)) < len(shown):  # `main, main, main` says nothing
                shown = [
                    f"{named} ({link.file}:{link.line})" if shown.count(named) > 1 and named != link.file else named
                    for named, link in zip(shown, links, strict=False)
                ]
            more = max(graph.counts.get(label, 0), len(links)) - len(shown)
            text = f"{label.replace('_', ' ')}: {', '.join(shown)}" + (f" (+{more})" if more else "")
            yield self.aside(text)

    def via(self, links: tuple[tuple[str, str], ...]) -> Iterator[str]:
        for target, relation in links[:_LINKS_SHOWN]:
            yield self.aside(f"via {relation.replace('_', ' ')} {self.places.get(target, target)}")
        if len(links) > _LINKS_SHOWN:
            yield self.aside(f"via (+{len(links) - _LINKS_SHOWN})")

    def conflict(self, r: Result) -> Iterator[str]:
        from lci_py.render.text.conflicts import headline, listing_of, site_lines

        text = headline(r.definitions)
        above = self.listed.setdefault(r.definitions, place(r))
        if above != place(r):
            # Several results may be definitions of one symbol: a list each would hide the other results.
            text = f"{text.partition(':')[0]}: listed above, at {above}"
        text = shorten(text, self.aside_width, self.signs.ellipsis)
        yield _INDENT + self.style(text, "warn")
        if above != place(r):
            return
        yield from site_lines(
            r.definitions,
            self.layout,
            branch=self.answer.index.branch,
            indent=_INDENT + "  ",
            own=(r.file, r.line),
            more=listing_of(name(r)),
        )

    def result(self, r: Result) -> Iterator[str]:
        yield self.header(r, found_by(r))
        if r.signature and _flat(r.signature) not in _flat(r.snippet) and self.snippet_lines:
            yield self.aside(_flat(r.signature))
        yield from self.snippet(r)
        if r.conflict:
            yield from self.conflict(r)
        yield from self.via(r.via or ())
        if r.graph is not None and r.via is None:  # what is around a neighbour is for who asks about it
            yield from self.graph(r.graph)
        if r.explain is not None:
            from lci_py.render.text.explain import explanation

            yield from explanation(r.explain, r.mode_score, self.layout)

    def shadow(self, shadow: dict[str, Any]) -> Iterator[str]:
        """What another ranking would move: the live rank, the other one, and what it is."""
        moves, arrow = shadow["moves"], self.signs.arrow
        yield visible_line(f"shadow {shadow['ranking']}: {plural(len(moves), 'move')}, {shadow['same']:,} the same")
        digits = max((len(str(move[side] or "-")) for move in moves for side in ("live", "shadow")), default=0)
        for move in moves:
            ranks = f"{move['live'] or '-':>{digits}} {arrow} {move['shadow'] or '-':<{digits}}"
            named = move["qualified_name"] or move["symbol"] or ""
            yield self.aside(f"{ranks}  {visible_line(move['file'])}:{move['line']}  {named}".rstrip())

    def warning(self, text: str) -> Iterator[str]:
        """A sentence on as many lines as it needs: the end says what to do."""
        for line in wrapped(text.split(" "), "", self.layout, _INDENT):
            yield self.style(line, "warn")

    def notes(self) -> Iterator[str]:
        """What the answer says about itself, never to be missed: below the last result, where a terminal stops."""
        warn = self.signs.warn
        for d in self.answer.degraded:
            others = "no view answered" if d.fallback_mode == "none" else f"answered by {d.fallback_mode}"
            text = f"{warn} degraded: {d.view} ({d.failure_mode}), {others}; impact {d.confidence_impact}: {d.detail}"
            yield from self.warning(text)
        for given_up in (self.answer.plan or {}).get("relaxed", ()):
            yield from self.warning(f"{warn} relaxed: {given_up}")
        if self.answer.conflicts:
            from lci_py.render.text.conflicts import disagreement_lines

            for conflict in self.answer.conflicts:
                yield from disagreement_lines(conflict, self.layout, lambda source: self.places.get(source, source))
        if self.answer.shadow is not None:
            yield from self.shadow(self.answer.shadow)
        if self.answer.truncated is not None:
            cut = self.answer.truncated
            parts = [plural(cut[f"{noun}s_dropped"], noun) for noun in _DROPPED if cut.get(f"{noun}s_dropped")]
            dropped = " and ".join([*([", ".join(parts[:-1])] if len(parts) > 1 else []), *parts[-1:]]) or "nothing"
            yield self.style(f"{warn} cut to {cut['max_tokens']:,} tokens: {dropped} dropped", "warn")

    def fate(self) -> Iterator[str]:
        """What `--explain-file` adds below the results."""
        if self.answer.explain_file is not None:
            from lci_py.render.text.explain import file_lines

            yield from file_lines(self.answer.explain_file, self.layout)

    def insight(self, *, explain: bool) -> Iterator[str]:
        """What `--explain` and `--trace` add below that."""
        if explain and self.answer.plan is not None:
            from lci_py.render.text.explain import plan_lines

            yield from plan_lines(self.answer.plan, self.layout)
        if self.answer.trace is not None:
            from lci_py.render.text.explain import trace_lines

            yield from trace_lines(self.answer.trace, self.layout)


def place(r: Result) -> str:
    return f"{visible_line(r.file)}:{r.line}"


def name(r: Result) -> str:
    return r.qualified_name or r.symbol or ""


def _what(r: Result) -> str:
    return visible_line(f"{r.kind} {name(r)}".rstrip())


def _flat(text: str) -> str:
    return " ".join(text.split())


def found_by(r: Result) -> str:
    """`0.83 dense +bm25 +symbolic`: the score, the view it comes from most, the others. A structural match has no
    degree: its score is always 1."""
    if r.via is not None and not r.mode_score:
        return ""  # no view found it: the graph did
    also = "".join(f" +{view}" for view, _ in r.also_matched or ())
    score = "" if r.mode_source == "symbolic" and r.mode_score == 1 else f"{r.mode_score:.2f} "
    return f"{score}{r.mode_source}{also}"


def _footer(answer: Answer, signs: Signs) -> str:
    added = sum(result.via is not None for result in answer.results)
    shown, noun = len(answer.results) - added, "result" if answer.total == 1 else "results"
    head = f"{shown:,} of {answer.total:,} {noun}" if answer.total != shown else f"{shown:,} {noun}"
    intent = visible_line(str((answer.plan or {}).get("intent", "")))
    parts = [head, f"{answer.mode} ({intent})" if intent else answer.mode]
    if answer.expansion is not None:
        left_out = answer.expansion["left_out"]
        parts.append(f"{added:,} around them" + (f" ({left_out:,} left out)" if left_out else ""))
    if answer.index.stale_files:
        parts.append(f"{plural(answer.index.stale_files, 'file')} changed since: run `lci index`")
    return f" {signs.dot} ".join(parts)


def _listing(answer: Answer, file: IO[str], color: bool, width: int | None, snippet_lines: int) -> _Listing:
    return _Listing(answer, Style(color), signs_for(getattr(file, "encoding", None)), width, snippet_lines)


def render(
    answer: Answer,
    *,
    file: IO[str],
    color: bool = False,
    width: int | None = None,
    snippet_lines: int | None = None,
    footer: bool = True,
    explain: bool = False,
) -> None:
    """Write `answer` to `file`.

    Args:
        answer: What to show.
        file: Where; its encoding decides between Unicode and ASCII signs.
        color: Whether to write ANSI colours.
        width: Columns of the terminal; None for a pipe, where nothing is cut.
        snippet_lines: Lines of code per result at most; 0 lists one line per result; None is the default.
        footer: Whether to end with `10 of 37 results · multiview (balanced_hybrid)`.
        explain: Whether to show the whole plan, which the footer only names.
    """
    lines_of_code = DEFAULT_SNIPPET_LINES if snippet_lines is None else snippet_lines
    listing = _listing(answer, file, color, width, lines_of_code)
    for i, result in enumerate(answer.results):
        if i and lines_of_code:
            file.write("\n")
        file.writelines(line + "\n" for line in listing.result(result))
    notes, fate = list(listing.notes()), list(listing.fate())
    rest = list(listing.insight(explain=explain))
    if footer:
        rest.append(listing.style(_footer(answer, listing.signs), "dim"))
    if answer.results and lines_of_code and (notes or fate or rest):
        file.write("\n")
    # What became of a file begins as a result does, and must not look like one.
    before = [""] if fate and (notes or (answer.results and not lines_of_code)) else []
    after = [""] if fate and rest else []
    file.writelines(line + "\n" for line in (*notes, *before, *fate, *after, *rest))


def render_definitions(
    answer: Answer, *, file: IO[str], color: bool = False, width: int | None = None, footer: bool = True
) -> None:
    """`lci def`: where it is, what it is, its signature and the first line of its doc comment."""
    # No score: every definition of the name is one. A snippet would repeat the signature.
    listing = _listing(answer, file, color, width, 1)
    for result in answer.results:
        lines = [listing.header(result, "")]
        lines += [listing.aside(_flat(result.signature), dim=False)] if result.signature else []
        lines += [listing.aside(_flat(result.doc))] if result.doc else []
        lines += list(listing.conflict(result)) if result.conflict else []
        file.writelines(line + "\n" for line in lines)
    file.writelines(line + "\n" for line in listing.notes())
    if footer:
        noun = "definition" if answer.total == 1 else "definitions"
        shown = len(answer.results)
        count = f"{shown:,} of {answer.total:,}" if answer.total != shown else f"{shown:,}"
        file.write(listing.style(f"{count} {noun}", "dim") + "\n")


def render_paths(answer: Answer, *, file: IO[str]) -> None:
    """`--paths`: file:line per line, for xargs and editors."""
    file.writelines(f"{visible_path(result.file)}:{result.line}\n" for result in answer.results)
