"""`lci outline` as text: below the path of each file, its definitions (lines and signature), indented by nesting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.render.outline_tree import trees
from lci_py.render.text.style import goes_on, plural, shorten, visible_line, width_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lci_py.render.text.style import Layout, Page
    from lci_py.types.outline import FileOutline, Node, OutlineAnswer


#: Characters of a signature and its comment that a line in a pipe has.
_SIGNATURE = 120


def render(answer: OutlineAnswer, page: Page, *, footer: bool = True) -> None:
    """Write an answer as text; `footer` adds the number of definitions (in a pipe, only if some are left out)."""
    layout = page.layout
    docs = not answer.request.is_map
    for index, file in enumerate(trees(answer)):
        if index and layout.width is not None:
            page.lines([""])
        page.lines(_file(file, layout, docs))
    rest = answer.total - len(answer.results)
    if rest:
        budget = f" within {answer.max_tokens:,} tokens" if answer.max_tokens is not None else ""
        offset = answer.offset
        span = f"{offset + 1:,} to {offset + len(answer.results):,}" if offset else f"{len(answer.results):,}"
        note = f"{span} of {plural(answer.total, 'definition')}{budget}"
        more = goes_on(layout, len(answer.results), answer.total, offset)
        if not (layout.tools or offset):
            more = ["a larger --max-tokens shows more"]
        page.warning(": ".join([note, *more]))
    if footer and (layout.width is not None or answer.info.behind):
        parts = [] if rest else [plural(answer.total, "definition")]
        if parts or answer.info.behind:
            page.end(parts, answer.info)


def _file(file: FileOutline, layout: Layout, docs: bool) -> Iterator[str]:
    stale = f"  {layout.style(f'{layout.signs.warn} stale', 'warn')}" if file.stale else ""
    yield layout.style(visible_line(file.path), "path") + stale
    width = max((len(_span(node)) for node in _all_nodes(file.nodes)), default=0)
    yield from _nodes(file.nodes, 1, width, layout, docs)


def _all_nodes(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        yield from _all_nodes(node.children)


def _span(node: Node) -> str:
    return f"{node.item.line}-{node.item.end_line}" if node.item.end_line > node.item.line else str(node.item.line)


def _nodes(nodes: Sequence[Node], depth: int, span_width: int, layout: Layout, docs: bool) -> Iterator[str]:
    style, signs, width, _ = layout
    for node in nodes:
        item = node.item
        # In a pipe nothing lines up: blanks cost tokens.
        span = f"{_span(node):<{span_width}}" if width is not None else _span(node)
        head = f"  {span}{'  ' * depth if width is not None else ' ' * (2 * depth - 1)}"
        # Without the blanks that replaced line ends.
        signature = item.signature.replace("( ", "(").replace(", )", ")").replace(" )", ")")
        line = visible_line(signature or f"{item.kind} {item.qualified_name}")
        room = max(8, width - len(head)) if width is not None else _SIGNATURE
        text = shorten(line, room, signs.ellipsis)
        doc = f"  {signs.dot} {visible_line(item.doc)}" if docs and item.doc else ""
        if doc:
            space = room - width_of(text)
            doc = shorten(doc, space, signs.ellipsis) if space > 12 else ""
        yield f"{style(head, 'line')}{text}{style(doc, 'dim')}"
        # What the line says is not said again.
        further = [
            child
            for child in node.children
            if child.item.line > item.line or child.item.signature not in item.signature
        ]
        yield from _nodes(further, depth + 1, span_width, layout, docs)
