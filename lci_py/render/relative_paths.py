"""Paths as the person in a subfolder writes them, as ripgrep and git do: relative to where they are."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from lci_py.types.conflicts import ConflictsAnswer
    from lci_py.types.search import Answer, DefinitionSite, GraphContext, GraphLink

#: How a source that is a place is written; any other is the id of a result.
_SOURCE = re.compile(r"(?s)(.+):(\d+)")


def seen_from(answer: Answer, root: Path, folder: str) -> Answer:
    """The answer with every path relative to `folder` instead of to the root. For people and xargs; JSON stays."""
    if os.path.samefile(root, folder):
        return answer

    def place(path: str) -> str:
        return os.path.relpath(os.path.join(root, path), folder)

    def links(found: tuple[GraphLink, ...]) -> tuple[GraphLink, ...]:
        return tuple(replace(link, file=place(link.file)) for link in found)

    def context(graph: GraphContext | None) -> GraphContext | None:
        if graph is None:
            return None
        return replace(
            graph,
            callers=links(graph.callers),
            callees=links(graph.callees),
            imports=links(graph.imports),
            imported_by=links(graph.imported_by),
        )

    return replace(
        answer,
        results=tuple(
            replace(
                result,
                file=place(result.file),
                graph=context(result.graph),
                definitions=_sites(result.definitions, place),
            )
            for result in answer.results
        ),
        conflicts=_disagreements(answer.conflicts, place),
        explain_file=answer.explain_file and {**answer.explain_file, "file": place(answer.explain_file["file"])},
        shadow=_moves(answer.shadow, place),
    )


def _moves(shadow: dict[str, Any] | None, place: Callable[[str], str]) -> dict[str, Any] | None:
    if shadow is None:
        return None
    return {**shadow, "moves": [{**move, "file": place(move["file"])} for move in shadow["moves"]]}


def conflicts_seen_from(answer: ConflictsAnswer, root: Path, folder: str) -> ConflictsAnswer:
    """The same of `lci conflicts`."""
    if os.path.samefile(root, folder):
        return answer

    def place(path: str) -> str:
        return os.path.relpath(os.path.join(root, path), folder)

    return replace(
        answer,
        results=tuple(
            replace(conflict, definitions=_sites(conflict.definitions, place)) for conflict in answer.results
        ),
        conflicts=_disagreements(answer.conflicts, place),
    )


def _sites(sites: tuple[DefinitionSite, ...], place: Callable[[str], str]) -> tuple[DefinitionSite, ...]:
    return tuple(replace(site, file=place(site.file)) for site in sites)


def _disagreements(conflicts: Sequence[dict[str, Any]], place: Callable[[str], str]) -> tuple[dict[str, Any], ...]:
    """With the places among the sources, which the sentence cites, too."""
    return tuple(_disagreement(conflict, place) for conflict in conflicts)


def _disagreement(conflict: dict[str, Any], place: Callable[[str], str]) -> dict[str, Any]:
    sources = [str(source) for source in conflict.get("sources", ())]
    moved = {
        source: f"{place(parts[1])}:{parts[2]}" if (parts := _SOURCE.fullmatch(source)) else source
        for source in sources
    }
    cited = str(conflict.get("reasoning", ""))
    if moved:
        any_source = "|".join(re.escape(source) for source in sorted(moved, key=len, reverse=True))
        cited = re.sub(rf"(?<![\w./-])(?:{any_source})(?!\d)", lambda match: moved[match.group()], cited)
    return {**conflict, "sources": [moved[source] for source in sources], "reasoning": cited}
