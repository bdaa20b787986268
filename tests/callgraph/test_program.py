"""The constraints of all files as arrays: taken apart, put together, and refused when they are damaged."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lci_py.callgraph.edges import Links
from lci_py.callgraph.program import (
    STORED_PROGRAM,
    Program,
    Solution,
    check_constraints,
    check_sizes,
    is_same_but_for_lines,
    join_programs,
    nothing,
)
from lci_py.errors import DamagedIndexError
from lci_py.index.shards.graph import read_links
from lci_py.types.record import replace
from tests.support.properties import examples
from tests.support.segments import Segmented, assert_same, full

FILES = {
    "a.py": "from b import apply, B\nimport c.d\n\n\ndef f(x, *rest, y=None):\n    return x(rest)\n\n\ntable = [f, B]\n",
    "b.py": "class B:\n    def run(self, step):\n        self.step = step\n        return self.step()\n\n\n"
    "def apply(call, x):\n    for each in x:\n        call(each, B().run(call))\n",
    "c/d.py": "from a import *\n\napply(f, 'größer')\n",
    "e.js": "import { g } from './f';\nexport const h = (x) => x(g);\nh((y) => y);\n",
    "f.js": "export function g(x) { return x; }\n",
    "z.md": "# Text\n",
}
#: An edit after which nothing is solved, and one after which everything is.
EDITS = {**FILES, "f.js": "// g\n" + FILES["f.js"]}, {**FILES, "f.js": FILES["f.js"] + "g(g);\n"}


@given(st.lists(st.booleans(), min_size=5, max_size=5))
def test_the_files_of_a_program_can_be_taken_apart_and_put_together(chosen: list[bool]) -> None:
    program = full(FILES).program
    assert program.n_files == len(chosen)
    mask = np.array(chosen)
    parts = [program.only(mask), program.only(~mask)]
    assert [part.n_files for part in parts] == [sum(chosen), 5 - sum(chosen)]
    for whole in (join_programs(parts), join_programs(parts[::-1])):
        assert all(np.array_equal(getattr(whole, name), getattr(program, name)) for name in STORED_PROGRAM)
    for part in parts:
        check_sizes(part, len(FILES))
        check_constraints(part)
        assert all(getattr(part, name).dtype.str[1:] == kind for name, kind in STORED_PROGRAM.items())


def test_no_files_are_a_program_too() -> None:
    check_sizes(nothing(), 0)
    check_constraints(nothing())
    assert join_programs([nothing(), nothing()]).strings() == []


#: Arrays that say where things stand, which may differ: not in their number.
PLACES = ("lines", "classes")


@pytest.mark.parametrize("name", [name for name in STORED_PROGRAM if name not in PLACES])
def test_programs_that_differ_in_more_than_lines_are_told_apart(name: str) -> None:
    program = full(FILES).program
    values = getattr(program, name).copy()
    values[len(values) // 2 + 1] += 1  # of a function: not its symbol
    assert not is_same_but_for_lines(program, replace(program, **{name: values}))


def test_lines_and_places_of_symbols_make_no_difference_but_a_class_without_one_does() -> None:
    program = full(FILES).program
    functions = program.functions.copy()
    functions[::6] += 1
    moved = replace(program, lines=program.lines + 1, classes=program.classes + 1, functions=functions)
    assert is_same_but_for_lines(program, moved)
    assert not is_same_but_for_lines(program, replace(program, classes=np.full_like(program.classes, -1)))


def arrays(links: Links) -> dict[str, np.ndarray]:
    return {**{name: getattr(links.program, name) for name in STORED_PROGRAM}, **links.solution._asdict()}


@examples(60)
@given(st.data(), st.sampled_from(EDITS))
def test_damaged_constraints_are_refused_or_do_no_harm(data: st.DataObject, edit: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        index = Segmented(Path(folder), FILES)
        found = {name: values.copy() for name, values in arrays(index.links).items()}
        name = data.draw(st.sampled_from(sorted(found)))
        values = found[name]
        match data.draw(st.sampled_from(("number", "number", "number", "less", "more"))):
            case "number":
                info = np.iinfo(values.dtype)
                number = st.one_of(st.integers(-3, 60), st.integers(-(2**31), 2**31 - 1))
                at = data.draw(st.integers(0, len(values) - 1))
                values[at] = min(max(data.draw(number), int(info.min)), int(info.max))
            case "less":
                found[name] = values[:-1]
            case "more":
                found[name] = np.append(values, values[-1:])
        program = Program(**{name: found[name] for name in STORED_PROGRAM})
        solution = Solution(*(found[name] for name in Solution._fields))
        try:
            index._stored(replace(index.links, program=program, solution=solution))
            index.links = read_links(index._last)
            index.refresh(edit)
        except DamagedIndexError:
            pass


def test_a_refresh_of_sound_constraints_is_right(tmp_path: Path) -> None:
    index = Segmented(tmp_path, FILES)
    for edit in EDITS:
        assert_same(index.refresh(edit), full(edit))
