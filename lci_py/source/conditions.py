"""Build conditions of definitions (first form; filled in next)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


class Tags:
    def __init__(self, family: str, path: str, source: bytes, nodes: list[Node]) -> None:
        pass

    def of(self, byte: int, attributes: str) -> str | None:
        return None
