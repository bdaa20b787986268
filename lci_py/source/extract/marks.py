"""Writes and reads the marks of a file, which the index keeps so that `lci refs` need not parse the file.

Marks say which ranges hold no identifiers, and which identifiers are defined, called or imported. Their bytes are a
zlib stream of unsigned 32-bit numbers, little-endian: the sizes of the lists in `_LISTS`, then the lists. Starts and
positions are ascending and stored as differences; spans are stored as their starts and then their lengths.
"""

from __future__ import annotations

import re
import sys
import zlib
from array import array
from functools import lru_cache
from itertools import chain
from operator import sub
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from tree_sitter import Language, Node

    from lci_py.source.syntax.captures import Captures
    from lci_py.types.graph import Role

_SPANS, _PLACES = ("text", "leaves", "unsure", "imports"), ("defined", "called")
_LISTS = (*_SPANS, *_PLACES)
#: What joins the parts of a leaf that has several, such as an alias of Elixir.
SEGMENTS = lazily(rb"::|[.\\]")
#: Marks are not larger than some times their file, whose size is bounded.
_MAX_BYTES = 1 << 28
#: A name that marks can tell about. One or two letters may be the prefix of a string, and e10 the end of a number.
_PLAIN = lazily(r"(?![eEpP]\d+$)[A-Za-z_]\w{2,}", re.ASCII)


def marks_of(captured: Captures) -> bytes:
    """The marks of a file as bytes. Must be called before entities are joined or dropped.

    Args:
        captured: The query matches of a file in a language with `LanguageSpec.marks_text`.
    """
    callees = (captures["callee"][0].start_byte for captures in captured.calls if captures.get("callee"))
    called = chain(callees, (use.start for use in captured.uses))
    places = {
        "defined": {entity.name_node.start_byte for entity in captured.entities if entity.name_node is not None},
        "called": {byte for byte in called if not captured.is_uncalled(byte)},
    }
    spans = {
        "text": _spans(captured.texts),
        "leaves": _spans(captured.leaves),
        "unsure": _spans(captured.unsure),
        "imports": _spans(captures["import"][0] for captures in captured.imports),
    }
    columns = [*spans.values(), *places.values()]
    parts = [array("I", map(len, columns))]
    for items in spans.values():
        parts += [_differences([start for start, _ in items]), array("I", [end - start for start, end in items])]
    parts += [_differences(sorted(items)) for items in places.values()]
    if sys.byteorder == "big":
        for part in parts:
            part.byteswap()
    return zlib.compress(b"".join(part.tobytes() for part in parts), 6)


def _spans(nodes: Iterable[Node]) -> list[tuple[int, int]]:
    return sorted((node.start_byte, node.end_byte) for node in nodes)


def _differences(ascending: Sequence[int]) -> array[int]:
    return array("I", map(sub, ascending, (0, *ascending[:-1])))


class Marks(NamedTuple):
    """The marks of one file. Spans are (starts, ends); the ends are running maxima, since spans may be nested."""

    text: tuple[NDArray[Any], NDArray[Any]]
    leaves: tuple[NDArray[Any], NDArray[Any]]
    unsure: tuple[NDArray[Any], NDArray[Any]]
    imports: tuple[NDArray[Any], NDArray[Any]]
    defined: NDArray[Any]
    called: NDArray[Any]

    def roles(self, source: bytes, name: bytes, positions: Sequence[int]) -> list[Role | None] | None:
        """The role of the name at each position (None for no identifier); None if the marks do not suffice.

        Args:
            source: The file's bytes.
            positions: The bytes at which the name starts.
        """
        import numpy as np

        at = np.array(positions, np.int64)
        if _in_spans(self.unsure, at).any():
            return None
        no_name = _in_spans(self.text, at)
        starts, ends = self.leaves
        for index in np.flatnonzero(_in_spans(self.leaves, at)).tolist():
            leaf = int(np.searchsorted(starts, at[index], side="right")) - 1
            whole = source[int(starts[leaf]) : int(ends[leaf])]
            no_name[index] = positions[index] + len(name) != ends[leaf] or SEGMENTS.split(whole)[-1] != name
        columns = (no_name, _among(self.defined, at), _among(self.called, at), _in_spans(self.imports, at))
        return [
            None if text else "definition" if defined else "call" if called else "import" if imported else "reference"
            for text, defined, called, imported in zip(*(column.tolist() for column in columns), strict=True)
        ]


def _in_spans(spans: tuple[NDArray[Any], NDArray[Any]], at: NDArray[Any]) -> NDArray[Any]:
    """A mask: for each position in `at`, whether it lies in a span."""
    import numpy as np

    starts, ends = spans
    if not len(starts):
        return np.zeros(len(at), np.bool_)
    before = np.searchsorted(starts, at, side="right") - 1
    mask: NDArray[Any] = (before >= 0) & (at < ends[before])
    return mask


def _among(ascending: NDArray[Any], at: NDArray[Any]) -> NDArray[Any]:
    """A mask: for each position in `at`, whether the ascending list has it. Faster than `isin` for few positions."""
    import numpy as np

    if not len(ascending):
        return np.zeros(len(at), np.bool_)
    mask: NDArray[Any] = ascending[np.searchsorted(ascending[:-1], at)] == at
    return mask


def read_marks(data: bytes) -> Marks:
    """The inverse of `marks_of`.

    Raises:
        ValueError: The bytes are not from `marks_of`.
    """
    import numpy as np

    try:
        inflate = zlib.decompressobj()
        plain = inflate.decompress(data, _MAX_BYTES)
    except zlib.error as error:
        raise ValueError(f"no marks: {error}") from error
    if not inflate.eof or len(plain) % 4:
        raise ValueError("the marks are cut off")
    numbers = np.frombuffer(plain, "<u4").astype(np.int64)
    sizes = numbers[: len(_LISTS)].tolist()
    lengths = [size for size in sizes[: len(_SPANS)] for _ in range(2)] + sizes[len(_SPANS) :]
    if len(sizes) != len(_LISTS) or len(numbers) != len(_LISTS) + sum(lengths):
        raise ValueError("the marks are damaged: their parts do not fit together")
    *columns, _ = np.split(numbers[len(_LISTS) :], np.cumsum(lengths))
    spans = []
    for index in range(len(_SPANS)):
        starts = np.cumsum(columns[2 * index])
        spans.append((starts, np.maximum.accumulate(starts + columns[2 * index + 1])))
    text, leaves, unsure, imports = spans
    defined, called = map(np.cumsum, columns[2 * len(_SPANS) :])
    return Marks(text, leaves, unsure, imports, defined, called)


def are_enough(name: str, language: Language) -> bool:
    """Whether marks suffice for a name: it is a plain word, and no keyword, which may be an identifier elsewhere."""
    return _PLAIN.fullmatch(name) is not None and name not in _keywords(language)


@lru_cache(maxsize=64)
def _keywords(language: Language) -> set[str]:
    kinds = range(language.node_kind_count)
    texts = (language.node_kind_for_id(kind) or "" for kind in kinds if not language.node_kind_is_named(kind))
    return {word for text in texts for word in re.findall(r"\w+", text)}
