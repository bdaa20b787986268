"""Chooses the lowering (the translation to constraints) for a file, in languages that the points-to analysis covers."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from lci_py.source.syntax.languages import is_test
from lci_py.source.text.language_tables import has_rule
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tree_sitter import Node

    from lci_py.source.dataflow.constraints import FlowBuilder
    from lci_py.source.syntax.captures import Captures
    from lci_py.types.source import Import

_QUOTED = lazily(rb"""(?<=["'])[A-Za-z_]\w+(?=["'])""")


def is_followed(path: str, language: str) -> bool:
    """Whether the points-to analysis covers a file. It leaves out tests: the program never calls their test doubles."""
    return has_rule(language, "lowered") and not is_test(path)


def lower(
    language: str, root: Node, captured: Captures, imports: Sequence[Import], *, followed: bool
) -> FlowBuilder | None:  # fmt: skip
    """The constraints of a file; None if its language has no lowering, or if its syntax tree is too deep.

    Args:
        captured: The query matches of the file, with the symbol indices of its definitions.
        followed: Whether the points-to analysis covers the file (`is_followed`); else only its type hints are needed.
    """
    if not has_rule(language, "lowered"):
        return None
    places = {e.name_node.start_byte: e.symbol for e in captured.entities if e.name_node is not None and e.symbol >= 0}
    try:
        if has_rule(language, "python_modules"):
            from lci_py.source.dataflow.python import PythonFlow

            flow = PythonFlow(captured.source, places, imports, followed=followed).run(root)
            for name in _QUOTED.findall(captured.source):  # for `ANY_NAME`
                flow.string(f'"{name.decode()}"')
            return flow
        from lci_py.source.dataflow.javascript.statements import JavaScriptFlow

        return JavaScriptFlow(captured.source, places, imports).run(root)
    except RecursionError:
        return None


class Anonymous:
    """Finds the innermost anonymous function that encloses a byte."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        """Sort the anonymous functions, given as spans (first byte, end); their indices are those in `spans`."""
        self._spans = spans
        self._order = sorted(range(len(spans)), key=lambda index: (spans[index][0], -spans[index][1]))
        self._starts = [spans[index][0] for index in self._order]
        self._ends = [spans[index][1] for index in self._order]
        self._outer: list[int] = []
        stack: list[int] = []
        for at in range(len(self._ends)):
            while stack and self._ends[stack[-1]] <= self._starts[at]:
                stack.pop()
            self._outer.append(stack[-1] if stack else -1)
            stack.append(at)
        self._ranks = {index: at for at, index in enumerate(self._order)}

    def at(self, byte: int) -> tuple[int, int]:
        """(Index, first byte) of the innermost anonymous function that contains a byte; (-1, -1) if none does."""
        at = bisect_right(self._starts, byte) - 1
        while at >= 0 and self._ends[at] <= byte:
            at = self._outer[at]
        return (self._order[at], self._starts[at]) if at >= 0 else (-1, -1)

    def caller(self, byte: int, symbol: int, starts: Mapping[int, int]) -> int:
        """The caller of a call that starts at a byte, numbered as `Call.caller`.

        Args:
            symbol: The index of the innermost enclosing definition.
            starts: Maps each definition's index to its first byte.
        """
        index, start = self.at(byte)
        return -2 - index if index >= 0 and start > starts.get(symbol, -1) else symbol

    def end(self, index: int) -> int:
        """The end byte of an anonymous function."""
        return self._spans[index][1]

    def outer(self, index: int) -> tuple[int, int]:
        """(Index, first byte) of the anonymous function around the one with index `index`; (-1, -1) without any."""
        at = self._outer[self._ranks[index]]
        return (self._order[at], self._starts[at]) if at >= 0 else (-1, -1)
