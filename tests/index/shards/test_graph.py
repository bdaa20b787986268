"""Edges of small repositories: the right ones exist, and the wrong ones do not: no edge is better than a wrong one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lci_py import app
from lci_py.errors import DamagedIndexError
from lci_py.index.shards.arrays import Arrays, write_arrays
from lci_py.index.shards.graph import GraphIndex, read_links, stored_arrays, write_graph
from lci_py.index.store.manifest import read_manifest
from lci_py.types.edges import CALLS, IMPORTS, INHERITS
from lci_py.types.record import replace
from tests.support.segments import assert_same, full

CASES: dict[str, tuple[dict[str, str], set[str], set[str]]] = {
    # files, edges that must be there, edges that must not
    "python scopes, imports, self and bases": (
        {
            "shop/__init__.py": "",
            "shop/base.py": "class Base:\n    def save(self):\n        self.check()\n    def check(self): pass\n",
            "shop/order.py": (
                "from shop.base import Base\nfrom . import tools as t\n\n"
                "class Order(Base):\n    def total(self):\n        self.save()\n        helper()\n        return t.add(1)\n"
                "\n\ndef helper():\n    return Order().total()\n"
            ),
            "shop/tools.py": "import subprocess\n\ndef add(x):\n    return x\n",
            "shop/subprocess.py": "def run(): pass\n",
        },
        {
            "shop.order.Order.total calls Base.save",
            "Base.save calls Base.check",
            "Order.total calls helper",
            "Order.total calls add",
            "helper calls Order",
            "Order inherits Base",
            "order.py imports base.py",
            "order.py imports tools.py",
        },
        {"tools.py imports subprocess.py", "Order.total calls Base.check"},
    ),
    "go packages and receivers": (
        {
            "go.mod": "module example.org/m\n",
            "main.go": 'package main\n\nimport (\n\t"net/http"\n\n\t"example.org/m/store"\n)\n\n'
            "func main() {\n\ts := store.Open()\n\ts.Get()\n\thttp.Get()\n}\n",
            "store/store.go": "package store\n\ntype Store struct{}\n\nfunc Open() *Store { return helper() }\n\n"
            "func (s *Store) Get() { s.load() }\n",
            "store/load.go": "package store\n\nfunc (s *Store) load() {}\n\nfunc helper() *Store { return nil }\n",
            "http/http.go": "package http\n\nfunc Serve() {}\n",
        },
        {"main calls Open", "Open calls helper", "Get calls load", "main.go imports store.go"},
        {"main.go imports http.go"},
    ),
    "javascript modules": (
        {
            "lib/index.js": "const view = require('./view')\nconst debug = require('debug')\n"
            "function render() { return view.draw() }\nmodule.exports = render\n",
            "lib/view.js": "exports.draw = function draw() { return paint() }\nfunction paint() {}\n",
            "lib/debug.js": "exports.log = function log() {}\n",
        },
        {"render calls draw", "draw calls paint", "index.js imports view.js"},
        {"index.js imports debug.js"},
    ),
    "rust modules": (
        {
            "src/lib.rs": "pub mod pool;\npub fn open() -> pool::Pool { pool::Pool::new() }\n",
            "src/pool.rs": "use crate::util::clamp;\npub struct Pool;\nimpl Pool {\n    pub fn new() -> Pool "
            "{ clamp(1); Pool }\n}\n",
            "src/util.rs": "pub fn clamp(n: u32) -> u32 { n }\n",
        },
        {"open calls new", "new calls clamp", "pool.rs imports util.rs"},
        set(),
    ),
    "c includes": (
        {
            "src/a.c": '#include "b.h"\nint twice(int x) { return add(x, x); }\n',
            "src/b.h": "int add(int a, int b);\n",
            "src/b.c": '#include "b.h"\nint add(int a, int b) { return a + b; }\n',
        },
        {"twice calls add", "a.c imports b.h", "b.c imports b.h"},
        {"a.c imports b.c"},
    ),
    "java classes": (
        {
            "com/x/Cart.java": "package com.x;\n\nimport com.x.util.Money;\nimport java.util.List;\n\n"
            "public class Cart extends Base {\n  int sum() { return Money.add(1) + size(); }\n  int size() { return 0; }\n}\n",
            "com/x/Base.java": "package com.x;\n\npublic class Base {}\n",
            "com/x/util/Money.java": "package com.x.util;\n\npublic class Money {\n  public static int add(int x) "
            "{ return x; }\n}\n",
            "com/x/List.java": "package com.x;\n\nclass List {}\n",
        },
        {"sum calls add", "sum calls size", "Cart inherits Base", "Cart.java imports Money.java"},
        {"Cart.java imports List.java"},
    ),
}


def edges(root: Path) -> set[str]:
    """`caller calls callee`, by name and by qualified name."""
    found = set()
    with app.open_engine(str(root)) as session:
        graph = session.snapshot.graph
        rows = session.snapshot.symbols.symbol_rows(range(graph.n_symbols))
        files = [path.rsplit("/", 1)[-1] for path in session.snapshot.symbols.paths()]
        symbols = [rows[number] for number in range(graph.n_symbols)]
        names = [{row["symbol"], row["qualified_name"]} for row in symbols] + [{name} for name in files]
        for node in range(len(names)):
            for kind, verb in ((CALLS, "calls"), (IMPORTS, "imports"), (INHERITS, "inherits")):
                for target in graph.edges([node], kind).node.tolist():
                    assert node in graph.into(target, kind).tolist()
                    found |= {f"{a} {verb} {b}" for a in names[node] for b in names[target]}
    return found


@pytest.mark.parametrize("case", CASES)
def test_edges(case: str, tmp_path: Path) -> None:
    files, wanted, unwanted = CASES[case]
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    app.build_index(str(tmp_path), jobs=1)
    found = edges(tmp_path)
    assert {edge.removeprefix("shop.order.") for edge in wanted} <= found
    assert not unwanted & found


def write(root: Path, files: dict[str, str | None]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.unlink()
        else:
            path.write_text(text)


def test_refreshes_end_in_the_same_shard_as_a_full_build(tmp_path: Path) -> None:
    """By the shard's name, which holds its digest; the program decides what to hand to the relinking."""
    root = tmp_path / "repo"
    files: dict[str, str | None] = {}
    for case, (sources, _, _) in enumerate(CASES.values()):
        files |= {f"case{case}/{name}": text for name, text in sources.items()}
    write(root, files)
    first = app.build_index(str(root), jobs=1)
    for change in (
        {"case0/shop/tools.py": "# moved down\n" + str(files["case0/shop/tools.py"])},
        {"case0/shop/order.py": "\n\n" + str(files["case0/shop/order.py"]).replace("self.save()", "self.check()")},
        {"case4/src/c.c": "int add(int a, int b) { return 0; }\n"},
        {"case0/shop/base.py": None, "case0/base.py": files["case0/shop/base.py"]},
        {"case3/src/util.rs": None, "case5/com/x/Cart.java": None, "a.py": "import case0.shop.order\n"},
    ):
        write(root, change)
        built = app.build_index(str(root), jobs=1)
        assert built.changed and not built.warnings
        refreshed = read_manifest(root / ".lci").shards["graph"]
        app.build_index(str(root), jobs=1, full=True)
        rebuilt = read_manifest(root / ".lci").shards["graph"]
        assert (refreshed.name, refreshed.sha) == (rebuilt.name, rebuilt.sha)
    assert first.edges_by_kind != built.edges_by_kind


# --- damage -------------------------------------------------------------------------------------------------------


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """Two functions that call each other, and one file that imports the other."""
    files = {"a.py": "import b\ndef f():\n    b.g()\n    x.y()\n", "b.py": "import a\ndef g():\n    a.f()\n"}
    path = tmp_path / "graph.arrays"
    write_graph(path, full(files))
    assert_same(read_links(path), full(files))
    return path


def rewrite(path: Path, **changes: object) -> None:
    """Store the shard again, some of its arrays changed by a function."""
    kinds = {name: values.dtype.str[1:] for name, values in stored_arrays(read_links(path)).items()}
    arrays = {name: Arrays(path).array(name, kind).copy() for name, kind in kinds.items()}
    path.unlink()
    write_arrays(path, arrays | {name: change(arrays[name]) for name, change in changes.items()})


def filled(value: int) -> object:
    return lambda array: np.full_like(array, value)


DAMAGE = {
    "no file": {"first_symbol": lambda a: a[:0]},
    "symbols from 1": {"first_symbol": lambda a: a + 1},
    "symbols that descend": {"first_symbol": lambda a: a[::-1]},
    "a file without keys": {"key_start": lambda a: a[:-1]},
    "keys of a file more": {"key_start": lambda a: np.append(a, a[-1:])},
    "a key more": {"keys": lambda a: np.append(a, a[:1])},
    "keys that descend": {"key_start": lambda a: np.array([0, a[-1] + 1, a[-1]], np.int32)},
    "an edge without a target": {"target": lambda a: a[:-1]},
    "an edge without a line": {"line": lambda a: a[:-1]},
    "an edge without a kind": {"kind": lambda a: a[:-1]},
    "a target beyond the end": {"target": filled(4)},
    "edges of nodes that there are not": {"out_ptr": lambda a: np.append(a, a[-1:])},
    "incoming edges of nodes that there are not": {"in_ptr": lambda a: np.append(a, a[-1:])},
    "an incoming edge less": {"incoming": lambda a: a[:-1]},
    "an incoming edge beyond the end": {"incoming": filled(4)},
    "edges that descend": {"out_ptr": lambda a: np.array([0, a[-1] + 1, *a[2:]], np.int32)},
    "a kind that there is not": {"kind": filled(3)},
    "a count more": {"site_count": lambda a: np.append(a, a)},
    "a name twice": {"site_key": lambda a: np.repeat(a, 2), "site_count": lambda a: np.repeat(a, 2)},
    "a count of 0": {"site_count": filled(0)},
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_refresh_believes_no_damaged_graph(stored: Path, damage: str) -> None:
    rewrite(stored, **DAMAGE[damage])
    with pytest.raises(DamagedIndexError):
        read_links(stored)


QUERY_DAMAGE = {
    "no file": {"first_symbol": lambda a: a[:0]},
    "a symbol more": {"first_symbol": lambda a: a + 1},
    "symbols below 0": {"first_symbol": filled(-1)},
    "an edge without a kind": {"kind": lambda a: a[:-1]},
    "an order of more edges": {"incoming": lambda a: np.append(a, a)},
    "an order of other edges": {"incoming": filled(99)},
    "an order of edges below 0": {"incoming": filled(-1)},
    "a target beyond the end": {"target": filled(99)},
    "a node's edges beyond the end": {"out_ptr": filled(99)},
    "a node's edges that descend": {"in_ptr": lambda a: a[::-1]},
}


@pytest.mark.parametrize("damage", QUERY_DAMAGE)
def test_a_query_believes_no_damaged_graph(stored: Path, damage: str) -> None:
    rewrite(stored, **QUERY_DAMAGE[damage])
    with pytest.raises(DamagedIndexError):
        graph = GraphIndex(stored)
        for node in range(graph.n_symbols + graph.n_files):
            for kind in (CALLS, IMPORTS, INHERITS):
                graph.edges([node], kind)
                graph.into(node, kind)


@pytest.mark.parametrize("node", [-1, 4])
def test_a_node_that_there_is_not_is_damage(stored: Path, node: int) -> None:
    with pytest.raises(DamagedIndexError):
        GraphIndex(stored).edges([node], CALLS)


def test_the_arrays_of_a_graph_are_what_the_reader_says(stored: Path) -> None:
    links, graph = read_links(stored), GraphIndex(stored)
    for node in range(links.n_symbols + links.n_files):
        for kind in (CALLS, IMPORTS, INHERITS):
            of_kind = links.kind == kind
            assert graph.edges([node], kind).node.tolist() == links.target[of_kind & (links.source == node)].tolist()
            assert graph.into(node, kind).tolist() == links.source[of_kind & (links.target == node)].tolist()
    assert links.edges_by_kind() == {"calls": 2, "imports": 2}
    assert replace(links, kind=links.kind[:0]).edges_by_kind() == {}
