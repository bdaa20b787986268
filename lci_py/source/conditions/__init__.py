"""Reads the build conditions of definitions: Go's constraints, `#if`, cfg, `if` and `try` around definitions, paths.

Each family of languages reads nested byte ranges from a file, each with a condition. Once per file, `Tags` cuts them
into a sorted list of segments, so that a look-up costs one bisection. Conditions are normalised until equal conditions
are equal strings; nothing is evaluated or simplified.

Terms (docs/architecture.md#terms): a *branch* is the code under one of several conditions; an *atom* is a condition
without operators; a *note* is what a declaration says about another file.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lci_py.source.conditions.paths import path_condition
from lci_py.source.conditions.text import MAX_DEPTH, File, Range, conjuncts, join, negate

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["File", "Range", "Tags", "conjuncts", "join", "negate", "path_condition"]

#: By the value of `conditions` in a language.toml, the module and function that read a file's conditions. A module is
#: imported with the first file of its family: a search reads no files, and needs only the functions over text.
_FAMILIES = {
    **{name: f"scripts.{name}_ranges" for name in "elixir javascript lua php python ruby shell zig".split()},
    "go": "golang.ranges",
    "preprocessor": "preprocessor.ranges",
    "rust": "rust.ranges",
}


@lru_cache(maxsize=32)
def _function(name: str) -> Callable[..., Any]:
    """The function of this package that is called `name`, written as `module.function`."""
    module, _, function = name.partition(".")
    reader: Callable[..., Any] = getattr(import_module(f"{__name__}.{module}"), function)
    return reader


class Tags:
    """Looks up the build conditions of one file's definitions.

    Args:
        family: The family of languages, from `conditions` in the language's language.toml.
        language: The language; it decides whether the file's path states a condition, too.
    """

    def __init__(self, family: str, language: str, file: File) -> None:
        self._is_rust = family == "rust"
        ranges: list[Range] = _function(_FAMILIES[family])(file) if family in _FAMILIES else []
        if condition := path_condition(language, file.path):
            ranges.append(Range(-1, len(file.source) + 1, condition))  # around all others
        self._starts, self._conditions = _segments([item for item in ranges if item.condition])
        self._notes = sorted(item for item in ranges if item.note)
        self._texts: dict[int, str | None] = {}  # by segment: most hold no definition

    def of(self, byte: int, attributes: str) -> str | None:
        """The condition of the definition whose name starts at `byte`, with these attributes; None if it has none."""
        index = bisect_right(self._starts, byte) - 1
        enclosing = self._conditions[index] if index >= 0 else ()
        if self._is_rust and (own := _function("rust.cfg")(attributes)):
            return join([*enclosing, *own])
        if index not in self._texts:
            self._texts[index] = join(enclosing)
        return self._texts[index]

    def note(self, byte: int) -> str:
        """The note for other files (such as Rust's `external`) on the definition whose name starts at `byte`, or ""."""
        index = bisect_right(self._notes, (byte,)) - 1 if self._notes else -1
        return self._notes[index].note if index >= 0 and byte < self._notes[index].end else ""


def _segments(ranges: list[Range]) -> tuple[list[int], list[tuple[str, ...]]]:
    """Cut nested ranges into segments: (starts, conditions that hold in each segment, outermost first)."""
    starts: list[int] = []
    conditions: list[tuple[str, ...]] = []
    stack: list[Range] = []

    def cut(at: int) -> None:
        starts.append(at)
        deep = ("…",) if len(stack) > MAX_DEPTH else ()  # so that nothing is concluded from what is left
        conditions.append((*deep, *(outer.condition for outer in stack[-MAX_DEPTH:])))

    for item in sorted(ranges, key=lambda r: (r.start, -r.end)):
        while stack and stack[-1].end <= item.start:
            cut(stack.pop().end)
        stack.append(item)
        cut(item.start)
    while stack:
        cut(stack.pop().end)
    return starts, conditions
