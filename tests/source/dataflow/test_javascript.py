"""JavaScript, TypeScript and JSX as constraints: which functions their calls reach, by the languages' rules."""

from __future__ import annotations

import pytest

from lci_py.source.dataflow.constraints import decode
from lci_py.source.extract.extract import extract
from lci_py.types.edges import CALLS
from tests.support.segments import extracted, full


def calls(files: dict[str, str]) -> set[tuple[str, str]]:
    """(caller, callee) by name; `path` for the top level of a file, `around>line` for an anonymous function."""
    links = full(files)
    names = [symbol.qualified_name for path in sorted(files) for symbol in extracted(path, files[path]).symbols]
    names += sorted(files)
    for symbol, line in zip(links.lambda_symbol.tolist(), links.lambda_line.tolist(), strict=True):
        names.append(f"{names[symbol] if symbol >= 0 else ''}>{line}")
    ends = zip(links.source, links.target, links.kind, strict=True)
    return {(names[source], names[target]) for source, target, kind in ends if kind == CALLS}


def reached(files: dict[str, str], caller: str) -> set[str]:
    return {callee for source, callee in calls(files) if source == caller}


FUNCTIONS = "function f() {}\nfunction g() {}\nfunction h() {}\n"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        pytest.param("const x = c ? f : g; x();", {"f", "g"}, id="one of two"),
        pytest.param("(f || g)(); (0, h)();", {"f", "g", "h"}, id="operators"),
        pytest.param("(f && g)();", {"g"}, id="and gives what is on the right"),
        pytest.param("const { a, b: [y], ...rest } = { a: f, b: [g], z: h }; a(); y(); rest.z();", {"f", "g", "h"},
                     id="object pattern"),
        pytest.param("const [, x, ...rest] = [f, g, h]; x(); rest[0]();", {"f", "g", "h"}, id="holes and the rest"),
        pytest.param("const [, x] = [f, g]; x();", {"g"}, id="a hole"),
        pytest.param("const { a = f } = o; a();", {"f"}, id="a default in a pattern"),
        pytest.param("const o = { k: f, ['l']: g, 1: h }; o['k'](); o.l(); o[1]();", {"f", "g", "h"}, id="constant keys"),
        pytest.param("const KEY = 'k'; const o = { k: f, l: g }; o[KEY]();", {"f"}, id="a constant as a key"),
        pytest.param("const o = { k: f, l: g }; o['a' + c]();", {"f", "g"}, id="an unknown key"),
        pytest.param("const o = { ...{ k: f } }; o.k();", {"f"}, id="spread into an object"),
        pytest.param("const l = [...[f], g]; l[5]();", {"f", "g"}, id="spread into a list"),
        pytest.param("let x = f; x = g; x();", {"g"}, id="the latest value"),
        pytest.param("let x = f; if (c) { x = g; } x();", {"f", "g"}, id="a branch"),
        pytest.param("let x = f; for (;;) { x(); x = g; }", {"f", "g"}, id="a loop"),
        pytest.param("let x = f; x = g; (() => { x = h; })(); x();", {"f", "g", "h", ">4"}, id="written in a closure"),
        pytest.param("let x = f; c && (x = g); x();", {"f", "g"}, id="a branch in an expression"),
        pytest.param("let x = f, y = g; [x, y] = [y, x]; x();", {"g"}, id="swapped"),
        pytest.param("let x, y; [x] = [y] = [f]; x();", {"f"}, id="lists in a chain"),
        pytest.param("let x; x ??= f; x?.();", {"f"}, id="assigned if there is none"),
        pytest.param("{ const f = g; f(); } f();", {"f", "g"}, id="blocks have names of their own"),
        pytest.param("for (const x of [f]) x(); for (const x of [g]) x();", {"f", "g"}, id="loops"),
        pytest.param("const s = new (class { m = f; static n = g })(); s.m(); (class { static n = g }).n();", {"f", "g"},
                     id="class expressions"),
        pytest.param("import('x').then(g);", {"g"}, id="what somebody else calls"),
        pytest.param("(function inner(n) { if (n) inner(n - 1); f(); })(1);", {">4"}, id="called at once"),
    ],
)  # fmt: skip
def test_values_are_followed_through_a_function(body: str, wanted: set[str]) -> None:
    files = {"a.js": f"{FUNCTIONS}function t(c, o) {{ {body} }}\n"}
    found = {name.removeprefix("t") if name.startswith("t>") else name for name in reached(files, "t")}
    assert found == wanted


@pytest.mark.parametrize(
    ("source", "caller", "wanted"),
    [
        pytest.param("function t(a = f) { a(); } t(g);", "t", {"f", "g"}, id="a default"),
        pytest.param("function t(a, ...r) { r[0](); } t(f, g);", "t", {"g"}, id="the rest"),
        pytest.param("function t() { arguments[1](); } t(f, g);", "t", {"g"}, id="arguments"),
        pytest.param("function t(a) { arguments[0](); arguments[1](); } t(f, g);", "t", {"f", "g"}, id="named ones, too"),
        pytest.param("function t(texts, a, b) { b(); } t`${1}${f}`;", "t", {"f"}, id="a tagged template"),
        pytest.param("function t({ a }, [b]) { a(); b(); } t({ a: f }, [g]);", "t", {"f", "g"}, id="patterns"),
        pytest.param("const t = a => a(); t(f);", "t", {"f"}, id="an arrow with one parameter"),
        pytest.param("function m() { return () => f; } function t() { m()()(); }", "t", {"m", "m>4", "f"}, id="returned"),
        pytest.param("function* m() { yield f; } function t() { for (const x of m()) x(); }", "t", {"m", "f"},
                     id="a generator"),
        pytest.param("function* n() { yield f; } function* m() { yield* n(); } function t() { for (const x of m()) x(); }",
                     "t", {"m", "f"}, id="a generator of a generator"),
        pytest.param("async function m() { return f; } async function t() { (await m())(); }", "t", {"m", "f"},
                     id="await"),
        pytest.param("const o = { a() { this.b(); }, b: () => f() }; function t() { o.a(); }", "o.a", {"o.b"},
                     id="this is the object"),
        pytest.param("const o = { a() { this.b(); }, b: f };", "o.a", {"f"}, id="this is the object, called or not"),
        pytest.param("class A { m() { f(); } }\nconst o = { A };\nclass B extends o.A { m() { super.m(); } }\n"
                     "class D { m() {} }", "B.m", {"A.m"}, id="a base that is a value"),
        pytest.param("const o = { get x() { return f; } }; function t() { o.x(); }", "t", {"o.x", "f"},
                     id="a getter of an object"),
        pytest.param("function A() {} A.prototype.m = f; function B() {} B.prototype = Object.create(A.prototype);\n"
                     "class C { m() {} } class D { m() {} } function t() { new B().m(); }", "t", {"B", "f"}, id="Object.create"),
        pytest.param("const m = new Map(); m.set('k', f); function t() { m.get('k')(); }", "t", {"f"}, id="a map"),
        pytest.param("function t() { const l = []; l.push(g); [f, h].slice(1)[0](); }", "t", {"f", "h"}, id="moved items"),
        pytest.param("class A { [Symbol.iterator]() { return { next: () => ({ value: g }) }; } }\n"
                     "function t() { for (const x of new A()) x(); }", "t", {"A", "A.[Symbol.iterator]", "A.[Symbol.iterator].next", "g"},
                     id="what an iterator gives"),
        pytest.param("function t() { setTimeout(f); }", "t", {"f"}, id="the first function of all as a callback"),
        pytest.param("function A(x) { x(); } function t() { new A(f); }", "A", {"f"}, id="a constructor without this"),
        pytest.param("class A { set x(v) {} } const m = (o) => o.x; function t() { m(new A())(); }", "t", {"m", "A"},
                     id="a setter is not what it sets"),
        pytest.param("const o = {}; o.a = function () { this.b(); }; o.b = f; o.a();", "o.a", {"f"},
                     id="this of what is assigned"),
        pytest.param("function A() { this.x = f; } A.prototype.m = function () { this.x(); }; new A().m();", "A.m", {"f"},
                     id="what a constructor function makes"),
        pytest.param("class A { constructor(x) { this.x = x; } m() { const h = () => this.x(); h(); } } new A(f).m();",
                     "A.m.h", {"f"}, id="this in an arrow"),
        pytest.param("class A { static s() { this.u(); } static u() {} u() {} } function t() { A.s(); }", "t", {"A.s"},
                     id="a static method"),
        pytest.param("class A { get x() { return f; } set x(v) { g(); } } function t() { new A().x(); }", "t",
                     {"A", "A.x", "f"}, id="a getter"),
        pytest.param("class A { constructor(x, y) { x(); y(); } } function t() { new A(f, g); }", "A.constructor", {"f", "g"},
                     id="a constructor that does not say this"),
        pytest.param("class A { x = f; #y = g; m() { this.x(); this.#y(); } } new A().m();", "A.m", {"f", "g"},
                     id="fields"),
        pytest.param("class A { [Symbol.iterator]() { return this; } next() { return f; } }\n"
                     "function t() { for (const x of new A()); }", "t", {"A", "A.[Symbol.iterator]", "A.next"},
                     id="what is gone over"),
    ],
)  # fmt: skip
def test_values_are_followed_into_functions_and_objects(source: str, caller: str, wanted: set[str]) -> None:
    assert reached({"a.js": f"{FUNCTIONS}{source}\n"}, caller) == wanted


ONE = "export function f() {}\nexport default function g() {}\nfunction h() {}\nexport { h as i };\n"
COMMON = "function f() {}\nexports.f = f;\nmodule.exports.g = function () { exports.f(); };\n"


@pytest.mark.parametrize(
    ("one", "two", "wanted"),
    [
        (ONE, "import { f } from './one'; function t() { f(); }", {"f"}),
        (ONE, "import g, { i } from './one'; function t() { g(); i(); }", {"g", "h"}),
        (ONE, "import g from './one'; const o = [g]; function t() { o[0](); }", {"g"}),
        (ONE, "import { default as x, f as y } from './one'; function t() { x(); y(); }", {"f", "g"}),
        (ONE, "import * as one from './one'; function t() { one.f(); one.default(); one.i(); }", {"f", "g", "h"}),
        (ONE, "async function t() { const { f, i: x } = await import('./one'); f(); x(); }", {"f", "h"}),
        ("export default () => {};", "import x from './one'; function t() { x(); }", {"default"}),
        ("const o = { a() {} };\nexport default o;", "import x from './one'; function t() { x.a(); }", {"o.a"}),
        (COMMON, "const { f, g: x } = require('./one'); function t() { f(); x(); }", {"f", "g"}),
        (COMMON, "const one = require('./one'); function t() { one.f(); one.g(); }", {"f", "g"}),
        (COMMON, "const x = require('./one').g; function t() { x(); require('./one').f(); }", {"f", "g"}),
        ("module.exports = function f() {};", "const x = require('./one'); function t() { x(); }", {"f"}),
        ("function f() {}\nexports = module.exports = f;\nexports.g = () => {};",
         "const x = require('./one'); function t() { x(); x.g(); }", {"f", "g"}),
        ("module.exports = function f() {};", "import x from './one'; function t() { x(); }", {"f"}),
        ("class A { m() {} }\nmodule.exports = { A };", "const { A } = require('./one'); function t() { new A().m(); }",
         {"A", "A.m"}),
    ],
)  # fmt: skip
def test_modules_give_each_other_what_they_export(one: str, two: str, wanted: set[str]) -> None:
    assert reached({"one.js": one, "two.js": two}, "t") == wanted


@pytest.mark.parametrize(
    "through",
    [
        "export { f } from './one'; export { i as j } from './one'; export { default as k } from './one';",
        "export * from './one'; export { i as j, default as k } from './one';",
        "import g, { f, i } from './one'; export { f, i as j, g as k };",
    ],
)
def test_modules_hand_on_what_others_export(through: str) -> None:
    user = "import { f, j, k } from './through'; function t() { f(); j(); k(); }"
    assert reached({"one.js": ONE, "through.js": through, "user.js": user}, "t") == {"f", "g", "h"}
    all_of_it = "export * as one from './one';"
    user = "import { one } from './through'; function t() { one.f(); one.default(); }"
    assert reached({"one.js": ONE, "through.js": all_of_it, "user.js": user}, "t") == {"f", "g"}


@pytest.mark.parametrize(
    ("source", "caller", "wanted"),
    [
        pytest.param("function t(x?: any) { (f as any)!(); (<any>g)(); (h satisfies any)(); }", "t", {"f", "g", "h"},
                     id="casts"),
        pytest.param("class A { constructor(private readonly x: () => void) {} m() { this.x(); } }\nnew A(f).m();", "A.m",
                     {"f"}, id="a parameter that is a field"),
        pytest.param("namespace N { export const x = f; export function y() { z(); } function z() {} }\n"
                     "function t() { N.x(); N.y(); }", "t", {"f", "N.y"}, id="a namespace"),
        pytest.param("namespace A.B { export function y() {} }\nimport C = A.B;\nfunction t() { A.B.y(); C.y(); }", "t",
                     {"A.B.y"}, id="a namespace in another"),
        pytest.param("class A { static { f(); } }", "A", {"f"}, id="a static block"),
        pytest.param("function d(c: any) { c(); return g; }\nclass A { @d m() {} }", "d", {"A.m"}, id="a decorator"),
        pytest.param("function d(c: any) { return g; }\nclass A { @d m() {} }\nfunction t() { new A().m(); }", "t",
                     {"A", "A.m", "g"}, id="what a decorator gives"),
        pytest.param("function d() { return (m: any) => g(); }\nclass A { @d() m() {} }", "A", {"d", "d>4"},
                     id="a decorator that is made"),
        pytest.param("function m<T>(this: any, x: T): T { return x; }\nfunction t() { m<any>(f)(); }", "t", {"m", "f"},
                     id="a parameter for this"),
        pytest.param("abstract class A { abstract m(): void; t() { this.m(); } }\n"
                     "class B extends A { m() { f(); } }\nnew B().t();", "A.t", {"A.m", "B.m"}, id="an abstract method"),
    ],
)  # fmt: skip
def test_what_typescript_adds(source: str, caller: str, wanted: set[str]) -> None:
    assert reached({"a.ts": f"{FUNCTIONS}{source}\n"}, caller) == wanted


def test_what_is_assigned_to_the_exports_of_typescript() -> None:
    files = {
        "one.ts": "function f() {}\nexport = f;\n",
        "two.ts": "import x = require('./one');\nfunction t() { x(); }\n",
    }
    assert reached(files, "t") == {"f"}


def test_a_component_is_called_with_its_properties() -> None:
    source = """function Row({ onClick, children }) {
  onClick();
  children();
  return <b onClick={onClick}>{children}</b>;
}
const Table = (props) => <Row onClick={save} {...props}>{load}</Row>;
function save() {}
function load() {}
const ui = { Row };
function page() {
  return <ui.Row onClick={() => save()}><br title={load()} /></ui.Row>;
}
const extra = { onClick: spread };
function spread() {}
const spreading = () => <Row {...extra} />;
"""
    for path in ("a.jsx", "a.tsx"):
        found = calls({path: source})
        assert {b for a, b in found if a == "Row"} == {"save", "load", "page>11", "spread"}
        assert {b for a, b in found if a in ("Table", "page")} == {"Row", "load"}
        assert ("page>11", "save") in found


def test_anonymous_functions_have_their_lines_and_what_is_around_them() -> None:
    source = "function f() {\n  return [\n    () => 1,\n    function () {\n    },\n  ];\n}\nconst named = () => 2;\n(() => 3)();\n"
    found = extract("a.js", source.encode(), "javascript")
    assert [tuple(item) for item in found.lambdas] == [(0, 3, 3), (0, 4, 5), (-1, 9, 9)]
    assert len(decode(found.flow).functions) == 5


def test_names_that_start_with_a_letter_outside_ascii_and_broken_syntax_are_read() -> None:
    source = "function é() {}\nconst ü = é;\nfunction t() { ü(); } }}} class { = ( [, ...\nfunction u() { é(); }\n"
    found = calls({"a.js": source})
    assert ("t", "é") in found


@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_a_file_that_is_nested_too_deeply_has_no_constraints(language: str) -> None:
    source = "f(" * 5000 + ")" * 5000
    assert extract("a", source.encode(), language).flow == b""
