"""Turns answers into pictures: boxes and arrows, from which all picture formats are drawn. Paths start at the root."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.render.outline_tree import trees
from lci_py.render.text.graph import left_out, notes
from lci_py.render.text.style import UNICODE, Layout, Style, plural, visible_line
from lci_py.types.graph import Link

if TYPE_CHECKING:
    from lci_py.types.affected import AffectedAnswer
    from lci_py.types.chains import Hop, PathAnswer
    from lci_py.types.conflicts import ConflictsAnswer
    from lci_py.types.graph import Definition, External, GraphAnswer, Place
    from lci_py.types.outline import Node as OutlineNode, OutlineAnswer
    from lci_py.types.search import DefinitionSite

#: The step of a link from a file or a type to what is in it.
CONTAINS = "contains"
#: The step of a call whose target is outside of the repository, or not known.
EXTERNAL = "external"
#: Colours of reasons: Okabe and Ito's, which differ for everyone, then darker ones.
_COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#44AA99", "#999933", "#661100",
)  # fmt: skip
_PLAIN = Layout(Style(False), UNICODE, None)
#: A source of a disagreement that is a place.
_PLACE = re.compile(r"(?s)(.+):(\d+)")


class Node(NamedTuple):
    """A box of a picture: a definition or a file."""

    id: str
    label: str  # "" for a file
    kind: str
    file: str
    line: int
    end_line: int = 0  # 0 if it is not known
    role: str = ""  # of the question: "asked", "changed", "test"
    note: str = ""


class Picture(NamedTuple):
    """Boxes, and arrows between them; an arrow leads from a caller to what it calls."""

    title: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]  # each pair of nodes once
    note: str = ""  # what is not in the picture
    is_map: bool = False  # of folders, where the files matter more than the definitions

    @property
    def colours(self) -> dict[str, str]:
        """Maps each reason for a call (the resolution step that found it) to a colour."""
        reasons = sorted({link.step for link in self.links})
        return {reason: _COLOURS[index % len(_COLOURS)] for index, reason in enumerate(reasons)}


class _Canvas:
    """Collects the nodes and links of a picture, each only once."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.links: dict[tuple[str, str], Link] = {}

    def place(self, place: Place, role: str = "", note: str = "") -> str:
        """Add a node for a definition or file, unless the node exists; returns the node's id."""
        label = place.qualified_name or place.symbol or ""
        self.nodes.setdefault(place.id, Node(place.id, label, place.kind, place.file, place.line, 0, role, note))
        return place.id

    def link(self, link: Link) -> None:
        """Add a link. Two links between the same nodes are merged: with the more certain reason, and all lines."""
        ends = link.source, link.target
        other = self.links.get(ends)
        if other is not None:
            surer = max(link, other, key=lambda item: item.confidence)
            sites = tuple(sorted({*link.sites, *other.sites}))
            link = surer._replace(sites=sites, ambiguous=link.ambiguous and other.ambiguous)
        self.links[ends] = link

    def picture(self, title: str, note: str = "", *, is_map: bool = False) -> Picture:
        links = tuple(link for ends, link in self.links.items() if all(end in self.nodes for end in ends))
        return Picture(title, tuple(self.nodes.values()), links, note, is_map)


def of_graph(answer: GraphAnswer) -> Picture:
    """The picture of callers, callees or a tree."""
    canvas = _Canvas()
    targets = [canvas.place(place, "asked") for place in answer.targets]
    for item in answer.neighbours:
        id = canvas.place(item.place)
        for target in [target for target in item.targets if target in targets] or targets[:1]:
            ends = (id, target) if answer.command == "callers" else (target, id)
            canvas.link(Link(*ends, item.sites, item.step, item.confidence, item.ambiguous))
    for outside in answer.external:
        _add_external(canvas, outside, targets)
    pending = list(reversed(answer.branches))
    for branch in pending:
        canvas.place(branch.place, "asked")
    while pending:
        branch = pending.pop()
        for child in branch.children:
            ends = (branch.place.id, canvas.place(child.place))
            ends = ends[::-1] if answer.direction == "callers" else ends
            canvas.link(Link(*ends, child.sites, child.step, child.confidence, child.ambiguous))
        pending += reversed(branch.children)
    texts = [left_out(answer)] if answer.places_left_out else []
    texts += notes(answer, _PLAIN, footer=True)
    return canvas.picture(f"{answer.command} {answer.query}", "; ".join(texts))


def _add_external(canvas: _Canvas, outside: External, targets: list[str]) -> None:
    id = f"{EXTERNAL}:{outside.name}"
    canvas.nodes.setdefault(id, Node(id, outside.name, EXTERNAL, outside.file, min(outside.sites, default=1)))
    for source in [target for target in targets if canvas.nodes[target].file == outside.file][:1]:
        canvas.link(Link(source, id, outside.sites, EXTERNAL, 0.0, False))


def of_chains(answer: PathAnswer) -> Picture:
    """The picture of `lci path`."""
    canvas = _Canvas()
    ends = {place.id for place in (*answer.sources, *answer.targets)}
    for chain in answer.results:
        before = ""
        for hop in chain:
            id = _add_hop(canvas, hop, ends, before)
            if before:
                canvas.link(Link(before, id, hop.sites, hop.step or EXTERNAL, hop.confidence, hop.ambiguous))
            before = id
    rest = answer.total - answer.offset - len(answer.results)
    note = f"{plural(rest, 'more chain')}: --limit" if rest > 0 else ""
    return canvas.picture(f"path {answer.request.source} {answer.request.target}", note)


def _add_hop(canvas: _Canvas, hop: Hop, ends: set[str], before: str) -> str:
    if hop.place is not None:
        return canvas.place(hop.place, "asked" if hop.place.id in ends else "")
    id, line = f"{EXTERNAL}:{hop.name}", min(hop.sites, default=1)
    file = canvas.nodes[before].file if before else ""
    canvas.nodes.setdefault(id, Node(id, hop.name, EXTERNAL, file, line, role="asked"))
    return id


def of_affected(answer: AffectedAnswer) -> Picture:
    """The picture of `lci affected`."""
    canvas = _Canvas()
    for definition in answer.changed:
        canvas.place(definition.place, "changed", definition.change)
    for role, reached in (("", answer.callers), ("test", answer.tests)):
        for each in reached:
            canvas.place(each.place, role, f"{plural(each.distance, 'call')} away, by {each.reason}")
    for link in answer.calls:
        canvas.link(link)
    rest = sum(answer.dropped)
    return canvas.picture(f"affected {answer.request.revision}", f"{rest:,} more" if rest else "")


def of_outline(answer: OutlineAnswer) -> Picture:
    """The picture of `lci outline`: files, their definitions, and the calls between the definitions."""
    canvas = _Canvas()

    def add(item: Definition) -> None:
        node = Node(item.id, item.qualified_name, item.kind, item.file, item.line, item.end_line)
        canvas.nodes[item.id] = node._replace(note=item.doc)

    for file in trees(answer):
        top = f"file:{file.path}"
        canvas.nodes[top] = Node(top, "", "file", file.path, 1)
        pending: list[tuple[str, OutlineNode]] = [(top, node) for node in reversed(file.nodes)]
        while pending:
            outer, node = pending.pop()
            add(node.item)
            canvas.link(Link(outer, node.item.id, (), CONTAINS, 1.0, False))
            pending += [(node.item.id, child) for child in reversed(node.children)]
    for link in answer.calls:
        if (link.source, link.target) not in canvas.links:  # a type that calls its own method still contains it
            canvas.link(link)
    rest = answer.total - len(answer.results)
    note = f"the {len(answer.results):,} most central of {answer.total:,} definitions" if rest > 0 else ""
    paths = answer.request.folders or answer.request.files
    title = " ".join(["outline", *(path or "." for path in paths)])
    return canvas.picture(title, note, is_map=answer.request.is_map)


def of_conflicts(answer: ConflictsAnswer) -> Picture:
    """The picture of `lci conflicts`: names with their definitions, and values with the locations that state them."""
    canvas = _Canvas()
    for item in answer.results:
        name = f"name:{item.qualified_name}:{item.definitions[0].file}:{item.definitions[0].line}"
        first = item.definitions[0]
        note = item.witness or ("the same text" if item.same_text else "")
        canvas.nodes[name] = Node(name, item.qualified_name, "name", first.file, first.line, role="asked", note=note)
        for site in item.definitions:
            id = f"{site.branch or ''}:{site.file}:{site.line}"
            canvas.nodes[id] = Node(id, item.qualified_name, item.kind, site.file, site.line, note=_condition(site))
            canvas.link(Link(name, id, (), site.relation or item.relation, 1.0, False))
    for conflict in answer.conflicts:
        _add_disagreement(canvas, conflict)
    rest = answer.total - answer.offset - len(answer.results)
    return canvas.picture("conflicts", f"{plural(rest, 'more conflict')}: --limit" if rest > 0 else "")


def _condition(site: DefinitionSite) -> str:
    return ", ".join(filter(None, (site.build_tag, f"on {site.branch}" if site.branch else "")))


def _add_disagreement(canvas: _Canvas, conflict: dict[str, Any]) -> None:
    sources = [(match[1], int(match[2])) for text in conflict.get("sources", ()) if (match := _PLACE.fullmatch(text))]
    if not sources:
        return
    reasoning, kind = str(conflict.get("reasoning", "")), str(conflict.get("conflict_type", "disagreement"))
    name = f"disagreement:{len(canvas.nodes)}"
    canvas.nodes[name] = Node(name, reasoning, "disagreement", *sources[0], role="asked")
    for file, line in sources:
        id = f":{file}:{line}"
        canvas.nodes.setdefault(id, Node(id, "", "line", file, line))
        canvas.link(Link(name, id, (), kind, 1.0, False))


def by_file(picture: Picture, limit: int) -> Picture:
    """A copy of a picture with a node per file, with only the `limit` pairs of files with most calls between them."""
    canvas, counts = _Canvas(), Counter[tuple[str, str]]()
    file_of = {node.id: f"file:{node.file}" for node in picture.nodes}
    for link in picture.links:
        ends = file_of[link.source], file_of[link.target]
        if ends[0] != ends[1] and link.step != CONTAINS:
            canvas.link(link._replace(source=ends[0], target=ends[1]))
            counts[ends] += 1
    pairs = [ends for ends, _ in counts.most_common(limit)]
    canvas.nodes = {node.id: node for node in picture.nodes if any(node.id in ends for ends in pairs)}
    canvas.links = {ends: canvas.links[ends] for ends in pairs}
    note = f"the {limit:,} pairs of files with most calls, of {len(counts):,}" if len(counts) > limit else ""
    return canvas.picture(picture.title, "; ".join(filter(None, (picture.note, note))), is_map=True)


def texts(node: Node) -> list[str]:
    """The lines of a node's label: its name, and its location."""
    location = visible_line(node.file) if node.kind == "file" else f"{visible_line(node.file)}:{node.line}"
    return [*([visible_line(node.label)] if node.label else []), *([location] if node.kind != EXTERNAL else [])]
