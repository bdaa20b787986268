"""Paths as the person in a subfolder writes them, as ripgrep and git do: relative to where they are."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from lci_py.types import Answer, GraphContext, GraphLink


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
                definitions=tuple(replace(site, file=place(site.file)) for site in result.definitions),
            )
            for result in answer.results
        ),
    )
