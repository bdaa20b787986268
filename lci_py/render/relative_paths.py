"""Paths relative to the current folder instead of to the root, as ripgrep and git print them in a subfolder.

They are for people and xargs; JSON keeps the paths from the root.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from lci_py.types.affected import AffectedAnswer, Reached
    from lci_py.types.chains import PathAnswer
    from lci_py.types.conflicts import ConflictsAnswer
    from lci_py.types.graph import Branch, GraphAnswer, Place
    from lci_py.types.grep import GrepAnswer
    from lci_py.types.outline import OutlineAnswer
    from lci_py.types.search import Answer, DefinitionSite, GraphContext, GraphLink
    from lci_py.types.show import Calls, ShowAnswer, Shown

    #: A path from the root to the same path from the current folder.
    _Move = Callable[[str], str]

#: A source of a disagreement that is a place; any other source is the id of a result.
_SOURCE = re.compile(r"(?s)(.+):(\d+)")


def _move(root: Path, folder: str) -> _Move | None:
    """How to rewrite a path; None if `folder` is the root."""
    if os.path.samefile(root, folder):
        return None
    if root.parent.name == "workspaces":
        return _out_of_workspace(root, folder)
    return lambda path: os.path.relpath(os.path.join(root, path), folder)


def _out_of_workspace(root: Path, folder: str) -> _Move:
    """How to rewrite a path of a workspace, whose top folders are links: relative or absolute, whichever is shorter."""
    links: dict[str, str] = {}

    def move(path: str) -> str:
        name, slash, rest = path.partition("/")
        if name not in links:
            links[name] = os.path.realpath(os.path.join(root, name))
        full = links[name] + slash + rest
        return min(os.path.relpath(full, folder), full, key=len)

    return move


def seen_from(answer: Answer, root: Path, folder: str) -> Answer:
    """The answer of a search or of `lci def`, with every path relative to `folder`."""
    if (move := _move(root, folder)) is None:
        return answer
    file, shadow = answer.explain_file, answer.shadow
    return replace(
        answer,
        results=tuple(
            replace(
                result,
                file=move(result.file),
                also_in=tuple(map(move, result.also_in)),
                graph=_context(result.graph, move),
                definitions=_sites(result.definitions, move),
            )
            for result in answer.results
        ),
        conflicts=_disagreements(answer.conflicts, move),
        explain_file=file and {**file, "file": move(file["file"])},
        shadow=shadow and {**shadow, "moves": [{**row, "file": move(row["file"])} for row in shadow["moves"]]},
    )


def conflicts_seen_from(answer: ConflictsAnswer, root: Path, folder: str) -> ConflictsAnswer:
    """The answer of `lci conflicts`, with every path relative to `folder`."""
    if (move := _move(root, folder)) is None:
        return answer
    results = (replace(conflict, definitions=_sites(conflict.definitions, move)) for conflict in answer.results)
    return replace(answer, results=tuple(results), conflicts=_disagreements(answer.conflicts, move))


def graph_seen_from(answer: GraphAnswer, root: Path, folder: str) -> GraphAnswer:
    """The answer of callers, callees, tree or refs, with every path relative to `folder`."""
    if (move := _move(root, folder)) is None:
        return answer

    def place(found: Place) -> Place:
        return found._replace(file=move(found.file))

    def branch(found: Branch) -> Branch:
        return found._replace(place=place(found.place), children=tuple(map(branch, found.children)))

    return replace(
        answer,
        targets=tuple(map(place, answer.targets)),
        neighbours=tuple(item._replace(place=place(item.place)) for item in answer.neighbours),
        external=tuple(item._replace(file=move(item.file)) for item in answer.external),
        branches=tuple(map(branch, answer.branches)),
        references=tuple(item._replace(file=move(item.file)) for item in answer.references),
        unsearched=tuple(map(move, answer.unsearched)),
    )


def grep_seen_from(answer: GrepAnswer, root: Path, folder: str) -> GrepAnswer:
    """The answer of `lci grep`, with every path relative to `folder`."""
    if (move := _move(root, folder)) is None:
        return answer
    return answer._replace(files=(found._replace(path=move(found.path)) for found in answer.files))


def show_seen_from(answer: ShowAnswer, root: Path, folder: str) -> ShowAnswer:
    """The answer of `lci show`, with every path relative to `folder`."""
    if (move := _move(root, folder)) is None:
        return answer

    def calls(found: Calls | None) -> Calls | None:
        if found is None:
            return None
        return found._replace(
            shown=tuple(item._replace(place=item.place._replace(file=move(item.place.file))) for item in found.shown)
        )

    def moved(item: Shown) -> Shown:
        return item._replace(file=move(item.file), callers=calls(item.callers), callees=calls(item.callees))

    return answer._replace(results=tuple(map(moved, answer.results)))


def outline_seen_from(answer: OutlineAnswer, root: Path, folder: str) -> OutlineAnswer:
    """The answer of `lci outline`, with every path relative to `folder`."""
    if (move := _move(root, folder)) is None:
        return answer
    return answer._replace(
        items=tuple(item._replace(file=move(item.file)) for item in answer.items),
        around={id: item._replace(file=move(item.file)) for id, item in answer.around.items()},
        files=tuple((move(path), *rest) for path, *rest in answer.files),  # type: ignore[misc]  # mypy loses the rest
    )


def chains_seen_from(answer: PathAnswer, root: Path, folder: str) -> PathAnswer:
    """The answer of `lci path`, with every path relative to `folder`."""
    if (move := _move(root, folder)) is None:
        return answer

    def place(found: Place) -> Place:
        return found._replace(file=move(found.file))

    frontier = answer.frontier
    if frontier is not None:
        frontier = frontier._replace(places=tuple(lost._replace(place=place(lost.place)) for lost in frontier.places))
    chains = (
        tuple(hop._replace(place=place(hop.place)) if hop.place is not None else hop for hop in chain)
        for chain in answer.chains
    )
    return answer._replace(chains=tuple(chains), frontier=frontier)


def affected_seen_from(answer: AffectedAnswer, root: Path, folder: str) -> AffectedAnswer:
    """The answer of `lci affected`, with every path relative to `folder`."""
    if (move := _move(root, folder)) is None:
        return answer

    def moved(found: Sequence[Reached]) -> tuple[Reached, ...]:
        return tuple(one._replace(place=one.place._replace(file=move(one.place.file))) for one in found)

    changed = (one._replace(place=one.place._replace(file=move(one.place.file))) for one in answer.changed)
    return answer._replace(changed=tuple(changed), callers=moved(answer.callers), tests=moved(answer.tests))


def _context(graph: GraphContext | None, move: _Move) -> GraphContext | None:
    if graph is None:
        return None

    def links(found: tuple[GraphLink, ...]) -> tuple[GraphLink, ...]:
        return tuple(link._replace(file=move(link.file)) for link in found)

    return replace(
        graph,
        callers=links(graph.callers),
        callees=links(graph.callees),
        imports=links(graph.imports),
        imported_by=links(graph.imported_by),
    )


def _sites(sites: tuple[DefinitionSite, ...], move: _Move) -> tuple[DefinitionSite, ...]:
    return tuple(replace(site, file=move(site.file)) for site in sites)


def _disagreements(conflicts: Sequence[dict[str, Any]], move: _Move) -> tuple[dict[str, Any], ...]:
    return tuple(_disagreement(conflict, move) for conflict in conflicts)


def _disagreement(conflict: dict[str, Any], move: _Move) -> dict[str, Any]:
    """With moved sources, also where the sentence of the reasoning cites them."""
    sources = [str(source) for source in conflict.get("sources", ())]
    moved = {
        source: f"{move(parts[1])}:{parts[2]}" if (parts := _SOURCE.fullmatch(source)) else source for source in sources
    }
    cited = str(conflict.get("reasoning", ""))
    if moved:
        any_source = "|".join(re.escape(source) for source in sorted(moved, key=len, reverse=True))
        cited = re.sub(rf"(?<![\w./-])(?:{any_source})(?!\d)", lambda match: moved[match.group()], cited)
    return {**conflict, "sources": [moved[source] for source in sources], "reasoning": cited}
