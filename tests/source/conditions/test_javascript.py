"""Conditions of JavaScript's and TypeScript's definitions: in the text, and in the file's name."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given, strategies as st

from lci_py.config import FEATURE_FLAGS
from lci_py.source.conditions.paths import path_condition, platform_stem
from lci_py.source.extract.extract import extract
from tests.support.properties import examples


def tags(source: str, language: str = "javascript", path: str = "a.js") -> list[str | None]:
    symbols = extract(path, textwrap.dedent(source).encode(), language, flags=FEATURE_FLAGS).symbols
    return [symbol.build_tag for symbol in sorted(symbols, key=lambda symbol: symbol.line)]


JAVASCRIPT = [
    ("if (process.env.NODE_ENV === 'production') {\n exports.f = function () {} \n} else {\n exports.f = () => 1\n}\n",
     ['process.env.NODE_ENV === "production"', '!(process.env.NODE_ENV === "production")']),
    ("if (A) {\n function f() {} \n} else if (B || C) {\n function f() {} \n} else {\n function f() {} \n}\n",
     ["A", "!A && (B || C)", "!A && !(B || C)"]),
    ("if (typeof window!=='undefined') {\n class A {}\n} else {\n class A {}\n}\n",
     ['typeof window !== "undefined"', 'typeof window === "undefined"']),
    ("if (__DEV__ && a) { if (!b) { function f() {} } }\n", ["__DEV__ && a && !b"]),
    ("if (! A) function f() {}\n", ["!A"]),
    ("if (!Array.prototype.at) { Array.prototype.at = function () {} }\n", ["!Array.prototype.at"]),
    ("if (import.meta.env.X) { function f() {} }\n", ["import.meta.env.X"]),
    ("if (flags.isEnabled('new-ui', user)) { class A {} }\n", ['flag("new-ui")']),
    ("if (A /* why */ &&\n  // and\n  '// no') { class B {} }\n", ['A && "// no"']),
    ("try { exports.f = function () {} }\ncatch (e) { exports.f = function () {} }\nfinally { function g() {} }\n",
     ["try", "catch", None]),
    ("switch (process.platform) {\n case 'win32': case 'cygwin': function f() {} break\n"
     " case 'linux': { function f() {}; break }\n default: function f() {}\n}\n",
     ["…", "…", "…"]),
    ("A && (exports.f = function () {})\nB || (exports.g = function () {})\n", ["A", "!B"]),
    ("class A {\n static { if (B) { A.f = function () {} } }\n}\n", [None, "B"]),
    ("if (require.main === module) { function f() {} }\n", [None]),
    # in a function, an `if` decides at run time
    ("function f() {\n if (A) { function g() {} }\n}\nconst h = () => {\n if (A) { function i() {} }\n}\n",
     [None, None, None, None]),
    ("if (A) { function f() {\n if (B) { function g() {} } } }\n", ["A", "A"]),
    ("while (A) { function f() {} }\n", [None]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), JAVASCRIPT, ids=range(len(JAVASCRIPT)))
def test_javascript(source: str, expected: list[str | None]) -> None:
    assert tags(source) == expected


TYPESCRIPT = [
    ("namespace N {\n if (A) { function f() {} }\n}\n", [None, "A"]),
    ("if (process.env.X as boolean) { class A {} } else { class A {} }\n",
     ["process.env.X as boolean", "!(process.env.X as boolean)"]),
]  # fmt: skip


@pytest.mark.parametrize("language", ["typescript", "tsx"])
@pytest.mark.parametrize(("source", "expected"), TYPESCRIPT, ids=range(len(TYPESCRIPT)))
def test_typescript(source: str, expected: list[str | None], language: str) -> None:
    assert tags(source, language) == expected


@pytest.mark.parametrize(
    ("path", "condition", "stem"),
    [
        ("src/Button.ios.js", "ios", "src/Button.js"),
        ("Button.native.d.ts", "native", "Button.d.ts"),
        ("app/entry.server.tsx", "server", "app/entry.tsx"),
        ("http.node.mjs", "node", "http.mjs"),
        ("Button.js", None, "Button.js"),
        ("Button.test.js", None, "Button.test.js"),
        ("user.server.controller.js", None, "user.server.controller.js"),  # a layer of the program
        ("jest.config.node.js", None, "jest.config.node.js"),
        ("types.d.ts", None, "types.d.ts"),
        ("src/.web.js", None, "src/.web.js"),
        ("ios.js", None, "ios.js"),
        ("lib.ios/a.js", None, "lib.ios/a.js"),
    ],
)
def test_platform_suffixes(path: str, condition: str | None, stem: str) -> None:
    assert path_condition("typescript", path) == condition
    assert platform_stem("javascript", path) == stem


def test_other_languages_have_no_platform_suffixes() -> None:
    assert path_condition("python", "a.ios.js") is None
    assert platform_stem("python", "a.ios.js") == "a.ios.js"


def test_the_platform_of_a_file_is_around_all_its_conditions() -> None:
    source = "function f() {}\nif (A) { function g() {} }\n"
    assert tags(source, path="a.web.js") == ["web", "web && A"]


@pytest.mark.parametrize(
    "source",
    [
        "if (A) { var x = 1 }" + " else if (B) { var x = 1 }" * 2000,
        "if (A) " * 2000 + "function f() {}",
        "switch (a) {" + "case 1:" * 2500 + "function f() {} }",
        "switch (a) {" + "case 1: var y = 1;" * 1500 + "}",
        "a && " * 1500 + "(exports.f = 1)",
        "if (" + "(" * 1500 + "a" + ")" * 1500 + ") { function f() {} } else { function f() {} }",
        "class A {" + "@a " * 2500 + "m() {} }",
    ],
    ids=range(7),
)
def test_conditions_of_hostile_files_are_bounded(source: str) -> None:
    for tag in tags(source):
        assert tag is None or len(tag) < 4000


@examples(60)
@given(
    st.sampled_from(["javascript", "typescript", "tsx"]),
    st.lists(
        st.sampled_from(["if (A) {", "}", "else ", "if (", ")", "try {", "catch (e) {", "finally {", "switch (a) {",
                         "case 1:", "default:", "break;", "class C {", "static {", "m() {}", "function f() {}",
                         "exports.g = () => 1;", "a && ", "|| b;", "@isEnabled('x') ", "namespace N {", "'", "\xe9"]),
        max_size=40,
    ),
)  # fmt: skip
def test_nothing_raises(language: str, parts: list[str]) -> None:
    assert all(tag is None or tag for tag in tags("\n".join(parts), language))
