"""Constraints of functions as values: their bytes, and what is refused."""

from __future__ import annotations

import inspect
import sys
from array import array
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lci_py.callgraph.pointsto.constraints import MOST_STORED_VALUES, MOST_VALUES
from lci_py.callgraph.pointsto.propagate import Nodes, followed_edges
from lci_py.callgraph.pointsto.solve import Solver
from lci_py.callgraph.program import check_constraints, check_sizes, of_file
from lci_py.errors import DamagedIndexError
from lci_py.source.dataflow.constraints import Flow, decode
from lci_py.source.extract.extract import extract
from lci_py.types.record import replace
from tests.support.segments import extracted, full

SOURCE = b"""
import a.b as m
class C(m.D):
    def f(self, g, *rest, h=None, **named):
        self.g = g
        for x in rest:
            x(named)
        return [g, {"k": h}]["k"]
def mk(x):
    return lambda y: x(y)
C().f(mk, *[C], h=mk(C))
"""


def _flow() -> Flow:
    return decode(extract("a.py", SOURCE, "python").flow)


def _solved(flow: Flow) -> int:
    found = extract("a.py", SOURCE, "python")
    program = of_file(0, flow, [((), item.name, ()) for item in found.imports], python=True)
    check_sizes(program, 1)
    check_constraints(program)
    nodes = Nodes(np.array([0, len(found.symbols)]), np.array([0, len(found.lambdas)]))
    return followed_edges(program, Solver(program, lambda file, name: ()).solve(), nodes).shape[1]


def test_constraints_are_read_as_they_were_written() -> None:
    flow = _flow()
    assert flow.rows and flow.functions and decode(flow.encode()) == flow
    assert _solved(flow) > 0


@given(st.data())
def test_bytes_that_are_no_constraints_are_refused(data: st.DataObject) -> None:
    good = _flow().encode()
    at = data.draw(st.integers(0, len(good) - 1))
    bad = data.draw(
        st.sampled_from([good[:at], good[:at] + b"x" + good[at + 1 :], good[:at] + good[at + 1 :], b"", b"\0" * 40])
    )
    if bad != good:
        with pytest.raises(ValueError, match="constraints"):
            decode(bad)


@given(st.integers(0, 10**6), st.one_of(st.integers(-3, 200), st.integers(-(2**31), 2**31 - 1)))
def test_numbers_that_mean_nothing_are_refused_or_do_no_harm(place: int, number: int) -> None:
    """An index is data: whatever a constraint's number is made, the answer is another one or "damaged"."""
    flow = _flow()
    rows = array("i", flow.rows)
    rows[place % len(rows)] = number
    try:
        _solved(replace(flow, rows=rows))
    except DamagedIndexError:
        pass


@pytest.mark.parametrize(
    "change",
    [
        lambda flow: replace(flow, nodes=1),
        lambda flow: replace(flow, classes=[99]),
        lambda flow: replace(flow, callers=flow.callers[:-1]),
        lambda flow: replace(flow, callers=array("i", [99] * len(flow.callers))),
        lambda flow: replace(flow, functions=flow.functions[:-1]),
        lambda flow: replace(flow, functions=[f._replace(symbol=99) for f in flow.functions]),
        lambda flow: replace(flow, functions=[f._replace(symbol=-99) for f in flow.functions]),
        lambda flow: replace(flow, functions=[f._replace(result=10**6) for f in flow.functions]),
        lambda flow: replace(flow, strings=flow.strings[:2]),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(change: object) -> None:
    assert callable(change)
    with pytest.raises(DamagedIndexError):
        _solved(change(_flow()))


FUNCTIONS = MOST_STORED_VALUES + 5


def _called(text: str) -> int:
    """How many of many functions `run` may call."""
    text = "".join(f"def f{n}(): pass\n" for n in range(FUNCTIONS)) + text
    caller = [symbol.name for symbol in extracted("a.py", text).symbols].index("run")
    return int((full({"a.py": text}).source == caller).sum())


def test_a_variable_that_may_be_anything_says_nothing_more() -> None:
    """Beyond so many values the first ones are kept, and no more are followed: propagation stays linear."""
    passing = "".join(f"run(f{n})\n" for n in range(FUNCTIONS))
    assert _called(f"{passing}def run(x):\n    x()\n") == MOST_STORED_VALUES


def test_who_passes_a_function_that_gets_lost_counts_as_its_caller() -> None:
    functions = "".join(f"def f{n}(): pass\n" for n in range(FUNCTIONS))
    passing = "".join(f"def pass{n}():\n    run(f{n})\n" for n in range(FUNCTIONS))
    text = f"{functions}def run(x):\n    x()\n{passing}"
    symbols, found = extracted("a.py", text).symbols, full({"a.py": text})
    edges = {
        (symbols[s].name, symbols[t].name) for s, t in zip(found.source.tolist(), found.target.tolist(), strict=True)
    }
    for n in range(FUNCTIONS):
        callers = {source for source, target in edges if target == f"f{n}"}
        assert callers == ({"run"} if n < MOST_STORED_VALUES else {f"pass{n}"}), n


@pytest.mark.parametrize(
    "use",
    [
        "    table[x]()\n",
        "    found = table.get(x)\n    found()\n",
        "    for each in table.values():\n        each()\n",
        "    for _, each in table.items():\n        each()\n",
    ],
)
@pytest.mark.parametrize(
    "table",
    [
        "table = {" + ", ".join(f"'k{n}': f{n}" for n in range(FUNCTIONS)) + "}\n",
        "table = {}\ndef add(name, f):\n    table[name] = f\n"
        + "".join(f"add('k{n}', f{n})\n" for n in range(FUNCTIONS)),
    ],
    ids=["a literal", "a registry"],
)
def test_a_table_of_functions_holds_more(table: str, use: str) -> None:
    assert _called(f"{table}def run(x):\n{use}") == MOST_STORED_VALUES


def test_what_comes_from_a_table_fills_no_other_variable() -> None:
    table = "table = {" + ", ".join(f"'k{n}': f{n}" for n in range(FUNCTIONS)) + "}\n"
    assert _called(f"{table}class A: pass\na = A()\na.one = table[a]\ndef run(x):\n    a.one()\n") == MOST_VALUES


def test_tests_are_not_followed() -> None:
    """A stand-in that a test passes is nothing that the program calls."""
    files = {
        "a.py": "def run(step):\n    step()\n",
        "test_a.py": "from a import run\ndef fake(): pass\ndef test():\n    run(fake)\n",
    }
    links = full(files)
    assert not (links.source == 0).any()
    assert (full({"a.py": files["a.py"], "b.py": files["test_a.py"]}).source == 0).any()


def test_a_program_may_have_more_names_than_variables() -> None:
    keywords = ", ".join(f"name{n}=1" for n in range(200))
    links = full({"a.py": f"def g(): pass\nunknown({keywords})\nclass C: pass\nc = C()\nc.last = g\nc.last()\n"})
    caller = links.n_symbols  # the file itself
    assert (links.target[links.source == caller] == 0).any()


@pytest.mark.parametrize("places", [3, 100])
def test_a_value_reaches_all_places_that_use_it(places: int) -> None:
    """Also those that come to be while calls are followed, such as the results of a function."""
    runs = "".join(f"def run{n}():\n    same(f)()\n" for n in range(places))
    text = f"def f(): pass\ndef same(x):\n    return x\n{runs}"
    links = full({"a.py": text})
    names = [symbol.name for symbol in extracted("a.py", text).symbols]
    callers = {names[source] for source in links.source[links.target == names.index("f")].tolist()}
    assert callers == {f"run{n}" for n in range(places)}


def _chain(size: int) -> dict[str, str]:
    classes = [f"class C{i}(C{i + 1}):\n    def f{i}(self): self.base()\n" for i in range(size)]
    return {"a.py": "".join(classes) + f"class C{size}:\n    def base(self): pass\n"}


def _circle(size: int) -> dict[str, str]:
    classes = [f"class C{i}(C{(i + 1) % size}):\n    def f{i}(self): self.f{(i + 1) % size}()\n" for i in range(size)]
    return {"a.py": "".join(classes)}


def _stars(size: int) -> dict[str, str]:
    modules = {f"m{i}.py": f"from m{i + 1} import *\n" for i in range(size)}
    return modules | {f"m{size}.py": "def f(): pass\n", "run.py": "import m0\ndef run():\n    m0.f()\n"}


def _exports(size: int) -> dict[str, str]:
    modules = {f"m{i}.js": f"module.exports = require('./m{i + 1}');\n" for i in range(size)}
    return modules | {
        f"m{size}.js": "module.exports.f = function f() {};\n",
        "run.js": "const m = require('./m0');\nfunction run() { m.f(); }\n",
    }


@pytest.mark.parametrize("program", [_chain, _circle, _stars, _exports])
def test_chains_of_any_length_take_no_recursion(program: Callable[[int], dict[str, str]]) -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 200)
    try:
        short, long = full(program(3)), full(program(300))
    finally:
        sys.setrecursionlimit(limit)
    assert long.source.size > short.source.size > 0
