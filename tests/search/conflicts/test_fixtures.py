"""The small programs in fixtures/conflicts: one per language, with what `lci conflicts` says of it.

A folder holds one program; beside it stands LANGUAGE.txt, written by hand, with every conflict and no other: a line
`relation kind qualified name`, and below it a line `file:line  condition` per definition, in which a `*` marks the
active one where that does not depend on the machine. LCI_UPDATE_GOLDEN=1 writes the files anew, and the worked examples
of docs/conflicts.md; read the diff before committing.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lci_py import app
from lci_py.search.conflicts.logic.platforms import Machine, this_machine
from lci_py.types.conflicts import Conflict, ConflictsRequest

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "fixtures" / "conflicts"
PAGE = ROOT / "docs" / "conflicts.md"
PROGRAMS = sorted(path for path in FIXTURES.iterdir() if path.is_dir())
UPDATE = os.environ.get("LCI_UPDATE_GOLDEN") == "1"
#: A machine for all: what is active must not depend on where the tests run.
LINUX = Machine("linux", "x86_64", (3, 12, 0), 64, "little")
#: The languages whose programs the documentation shows.
_TITLES = {"c": "C", "go": "Go", "kotlin": "Kotlin", "python": "Python", "rust": "Rust"}


def listing(conflicts: tuple[Conflict, ...]) -> str:
    """The conflicts as the files beside the programs have them."""
    lines = []
    for one in conflicts:
        lines.append(f"{one.relation} {one.kind} {one.qualified_name}")
        for site in one.definitions:
            mark = "*" if site.active else " "
            relation = f"  ({site.relation})" if site.relation != one.relation else ""
            lines.append(f"{mark} {site.file}:{site.line}  {site.build_tag or 'no condition'}{relation}")
    return "\n".join(lines) + "\n"


def found(program: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("LCI_INDEX_DIR", str(folder))
    monkeypatch.setattr("lci_py.search.conflicts.logic.Machine.here", lambda: LINUX)
    this_machine.cache_clear()
    app.build_index(str(program), jobs=1)
    with app.open_engine(str(program), refresh="never") as session:
        conflicts = session.answer("conflicts", ConflictsRequest(all=True)).results
    this_machine.cache_clear()
    return listing(conflicts)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: str(path.name))
def test_golden_conflicts_of_a_language(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    actual = found(program, tmp_path / "index", monkeypatch)
    expected = program.with_suffix(".txt")
    if UPDATE:
        expected.write_text(actual)
    assert actual == expected.read_text()


def example(program: Path) -> str:
    """The worked example of a language: its sources, and what is said of them."""
    parts = [f"### {_TITLES[program.name]}\n"]
    for path in sorted(path for path in program.rglob("*") if path.is_file()):
        parts.append(
            f"`{path.relative_to(program).as_posix()}`\n\n```{program.name}\n{path.read_text().rstrip()}\n```\n"
        )
    parts.append(f"```text\n{program.with_suffix('.txt').read_text().rstrip()}\n```\n")
    return "\n".join(parts)


def test_golden_examples_of_the_documentation() -> None:
    text = PAGE.read_text()
    start, end = "<!-- examples -->\n", "<!-- end of examples -->\n"
    head, _, rest = text.partition(start)
    _, _, tail = rest.partition(end)
    wanted = (
        f"{head}{start}\n" + "\n".join(example(path) for path in PROGRAMS if path.name in _TITLES) + f"\n{end}{tail}"
    )
    if UPDATE:
        PAGE.write_text(wanted)
    assert PAGE.read_text() == wanted, "LCI_UPDATE_GOLDEN=1 python -m pytest -k golden"
    assert set(_TITLES) <= {path.name for path in PROGRAMS}
