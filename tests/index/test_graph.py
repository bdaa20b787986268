"""Edges of small repositories: the right ones are there, and no edge beats a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from lci_py import app
from lci_py.index.graph import CALLS, IMPORTS, INHERITS

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
    with app.open_session(str(root)) as session:
        graph = session.graph
        rows = session.symbols.symbol_rows(range(graph.n_symbols))
        files = [path.rsplit("/", 1)[-1] for path in session.symbols.paths()]
        symbols = [rows[number] for number in range(graph.n_symbols)]
        names = [{row["symbol"], row["qualified_name"]} for row in symbols] + [{name} for name in files]
        for node in range(len(names)):
            for kind, verb in ((CALLS, "calls"), (IMPORTS, "imports"), (INHERITS, "inherits")):
                for target in graph.out(node, kind).tolist():
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
