"""Call edges of the small programs in fixtures/callgraph, against what the rules of their languages say.

A folder holds one program and `edges.txt`, written by hand. A line of it is one of

    caller -> callee    this edge must be there, and be certain
    caller ?> callee    this edge must be there, and be marked as one that may be: one of several, or of a method that a
                        derived type puts in the place of the one that is called
    caller !> callee    a trap: this edge must not be there
    # MISS: LINE # why  what LINE demands is not done yet; the test fails as soon as it is

and everything after ` #` or in a line that starts with `#` is a comment. An end is `path::Qualified.name`, or `path`
for code outside all definitions. `path::name@LINE` tells definitions of one name apart by their lines; without it they
count as one, and the edges to them as certain. A call in an anonymous function is one of the definition around it. The
list is complete: an edge between definitions that no line asks for is an error, too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from lci_py.types.edges import AMBIGUOUS, CALLS, OVERRIDE
from tests.support.segments import extracted, full

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "callgraph"
PROGRAMS = sorted(path.parent for path in FIXTURES.glob("*/edges.txt"))
CERTAIN, POSSIBLE, NONE = "->", "?>", "!>"
_LINE = re.compile(r"(?P<miss># MISS:\s*)?(?P<source>[^\s#]\S*)\s+(?P<sign>->|\?>|!>)\s+(?P<target>\S+)(?:\s+#.*)?$")


class Wanted(NamedTuple):
    """One line of edges.txt."""

    source: str
    target: str
    sign: str
    missed: bool

    def __str__(self) -> str:
        return f"{self.source} {self.sign} {self.target}"


def read_edges(text: str) -> list[Wanted]:
    """The lines of an edges.txt.

    Raises:
        ValueError: A line is neither an edge nor a comment, or an edge is listed twice.
    """
    found: dict[tuple[str, str], Wanted] = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        match = _LINE.match(line)
        if match is None:
            if line and (not line.startswith("#") or line.startswith("# MISS")):
                raise ValueError(f"line {number} is no edge: {line}")
            continue
        wanted = Wanted(match["source"], match["target"], match["sign"], match["miss"] is not None)
        if (wanted.source, wanted.target) in found:
            raise ValueError(f"line {number} is there twice: {line}")
        found[wanted.source, wanted.target] = wanted
    return list(found.values())


class Program:
    """The call edges of a folder of sources, by the names of their ends.

    Args:
        folder: Its files, without edges.txt, are the program.
        lined: Names (`path::name`) of definitions that are told apart by their lines.
    """

    def __init__(self, folder: Path, lined: set[str]) -> None:
        files = {
            path.relative_to(folder).as_posix(): path.read_text("utf-8")
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path != folder / "edges.txt"
        }
        self._paths = sorted(files)
        self._links = full(files)
        self._labels: list[str] = []
        self.count: dict[str, int] = defaultdict(int)
        for path in self._paths:
            self.count[path] += 1
            for symbol in extracted(path, files[path]).symbols:
                label = f"{path}::{symbol.qualified_name}"
                if label in lined:
                    label = f"{label}@{symbol.line}"
                self._labels.append(label)
                self.count[label] += 1

    def edges(self) -> dict[tuple[str, str], set[bool]]:
        """(caller, callee) to whether its edges are certain; both answers if there are edges of both kinds."""
        found: dict[tuple[str, str], set[bool]] = defaultdict(set)
        for source, target, step in self._calls():
            if self._is_named(target):
                found[self._label(source), self._label(target)].add(not step & AMBIGUOUS and step != OVERRIDE)
        return dict(found)

    def _calls(self) -> Iterator[tuple[int, int, int]]:
        links = self._links
        for source, target, kind, step in zip(links.source, links.target, links.kind, links.step, strict=True):
            if kind == CALLS:
                yield int(source), int(target), int(step)

    def _is_named(self, node: int) -> bool:
        return node < len(self._labels) + len(self._paths)

    def _label(self, node: int) -> str:
        symbols, files = len(self._labels), len(self._paths)
        if not self._is_named(node):  # an anonymous function: what is around it
            number = node - symbols - files
            around = int(self._links.lambda_symbol[number])
            node = around if around >= 0 else symbols + bisect_right(self._links.first_lambda.tolist(), number) - 1
        return self._labels[node] if node < symbols else self._paths[node - symbols]


def differences(folder: Path) -> list[str]:
    """What is wrong with the edges of a program, a line each."""
    wanted = read_edges((folder / "edges.txt").read_text("utf-8"))
    ends = {end for edge in wanted for end in (edge.source, edge.target)}
    program = Program(folder, {end.rpartition("@")[0] for end in ends if re.search(r"@\d+$", end)})
    wrong = [f"no definition: {end}" for end in sorted(ends - program.count.keys())]
    edges = program.edges()
    for edge in wanted:
        certainties = edges.pop((edge.source, edge.target), set())
        if edge.sign == NONE:
            holds = not certainties
        elif edge.sign == POSSIBLE:
            holds = certainties == {False}
        else:
            holds = True in certainties or (bool(certainties) and program.count[edge.target] > 1)
        if holds == edge.missed:
            seen = {frozenset(): "no edge", frozenset({False}): "an ambiguous one"}.get(
                frozenset(certainties), "an edge"
            )
            wrong.append(f"{'no longer missed' if holds else 'wrong'}: {edge} (found: {seen})")
    wrong += [f"unasked for: {source} -> {target}" for source, target in sorted(edges)]
    return wrong


@pytest.mark.parametrize("folder", PROGRAMS, ids=[folder.name for folder in PROGRAMS])
def test_the_calls_of_a_program_are_those_of_its_language(folder: Path) -> None:
    wrong = differences(folder)
    assert not wrong, "\n".join(wrong)


#: One call in an anonymous function in a function, one in an anonymous function outside.
SOURCE = "k = lambda: g()\ndef f(x):\n    g()\n    list(map(lambda y: h(), x))\n\n\ndef g():\n    pass\n\n\ndef h():\n    pass\n"


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ("a.py -> a.py::g\na.py::f -> a.py::g\na.py::f -> a.py::h # in the lambda", ""),
        ("a.py -> a.py::g\na.py::f -> a.py::g", "unasked for: a.py::f -> a.py::h"),
        ("a.py -> a.py::g\na.py::f -> a.py::g\na.py::f !> a.py::h", "wrong: a.py::f !> a.py::h"),
        (
            "a.py -> a.py::g\na.py::f -> a.py::g\na.py::f -> a.py::h\na.py::h -> a.py::g",
            "wrong: a.py::h -> a.py::g (found: no edge)",
        ),
        ("a.py -> a.py::g\na.py::f -> a.py::g\na.py::f -> a.py::h\n# MISS: a.py::h -> a.py::g # a word", ""),
        ("a.py -> a.py::g\na.py::f -> a.py::g\n# MISS: a.py::f !> a.py::h # a word", ""),
        (
            "a.py -> a.py::g\na.py::f -> a.py::g\n# MISS: a.py::f -> a.py::h # why",
            "no longer missed: a.py::f -> a.py::h",
        ),
        ("a.py -> a.py::g\na.py::f ?> a.py::g\na.py::f -> a.py::h", "wrong: a.py::f ?> a.py::g"),
        ("a.py -> a.py::g@7\na.py::f@2 -> a.py::g@7\na.py::f@2 -> a.py::h", ""),
        ("a.py -> a.py::g\na.py::f -> a.py::g\na.py::f -> a.py::h\na.py !> a.py::n", "no definition: a.py::n"),
    ],
)
def test_a_list_of_edges_is_compared_in_full(tmp_path: Path, lines: str, complaint: str) -> None:
    (tmp_path / "a.py").write_text(SOURCE)
    (tmp_path / "edges.txt").write_text(f"# a comment\n{lines}\n")
    wrong = differences(tmp_path)
    assert len(wrong) == bool(complaint), wrong
    assert all(line.startswith(complaint) for line in wrong)


@pytest.mark.parametrize("line", ["a -> b c", "a > b", "# MISS: nothing", "a -> b\na !> b"])
def test_a_line_that_says_nothing_is_an_error(line: str) -> None:
    with pytest.raises(ValueError, match="line"):
        read_edges(line)
