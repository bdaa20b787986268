"""Build conditions of Rust: attributes, macros around items, and the notes on what other files depend on."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given, strategies as st

from lci_py.source.conditions import File, Tags
from lci_py.source.conditions.rust import condition_of_macro, ranges
from lci_py.source.conditions.rust_cfg import predicate, quote, unquote
from lci_py.source.extract.extract import extract
from lci_py.source.syntax.languages import load_languages


def tags(path: str, language: str, source: str) -> list[tuple[str, str | None]]:
    symbols = extract(path, textwrap.dedent(source).encode(), language).symbols
    return [(symbol.name, symbol.build_tag) for symbol in sorted(symbols, key=lambda symbol: symbol.line)]


def notes(source: str) -> dict[str, str]:
    """The traits that are notes, by name."""
    symbols = extract("a.rs", textwrap.dedent(source).encode(), "rust").symbols
    kept = ("external", "path=", "when=")
    return {symbol.name: " ".join(w for w in symbol.traits.split() if w.startswith(kept)) for symbol in symbols}


RUST = [
    ('#[cfg(feature = "net")]\nfn f() {}', 'feature = "net"'),
    ("#[cfg(not(windows))]\nfn f() {}", "!windows"),
    ('#[cfg(not(feature = "a"))]\nfn f() {}', '!(feature = "a")'),
    ("#[cfg(not(not(unix)))]\nfn f() {}", "unix"),
    ("#[cfg(all(a, b))]\nfn f() {}", "a && b"),
    ("#[cfg(any(a, all(b, c)))]\nfn f() {}", "(a || (b && c))"),
    ("#[cfg(not(any(a, b)))]\nfn f() {}", "!(a || b)"),
    ("#[cfg(all(not(all(a, b)), any(c)))]\nfn f() {}", "!(a && b) && c"),
    ("#[cfg(any(\n    a,\n    b,\n))]\n/// Docs.\n#[inline]\n#[cfg(c)]\nfn f() {}", "(a || b) && c"),
    ("#[cfg(a)] fn f() {}", "a"),
    ("#[cfg_attr(a, inline)]\nfn f() {}", None),
    ('#[cfg(feature = "a),(b")]\nfn f() {}', 'feature = "a),(b"'),
    ("#![cfg(unix)]\n#[cfg(a)]\nfn f() {}", "unix && a"),
    ("//! Docs.\n#![allow(dead_code)]\n\n#![cfg(unix)]\nuse x;\nfn f() {}", "unix"),
    ("/*\n#![cfg(unix)]\n*/\nfn f() {}", None),
    ("#[cfg(a]\nfn f() {}", None),
]


@pytest.mark.parametrize(("source", "expected"), RUST, ids=range(len(RUST)))
def test_rust(source: str, expected: str | None) -> None:
    assert tags("a.rs", "rust", source) == [("f", expected)]


def test_rust_conditions_reach_what_is_inside() -> None:
    source = """
        #[cfg(a)]
        mod m {
            #[cfg(b)]
            impl T {
                #[cfg(c)]
                fn f() {}
            }
            fn g() {}
        }
        fn h() {}
    """
    assert tags("a.rs", "rust", source) == [("m", "a"), ("f", "a && b && c"), ("g", "a"), ("h", None)]


def test_rust_inner_attributes_cover_what_is_around_them() -> None:
    source = "fn g() {}\nmod m {\n    #![cfg(a)]\n    fn f() {}\n}\n"
    assert tags("a.rs", "rust", source) == [("g", None), ("m", None), ("f", "a")]


def test_rust_without_captures_keeps_its_own_and_the_files_attributes() -> None:
    source = b"#![cfg(unix)]\nfn f() {}"
    assert Tags("rust", "", File("a.rs", source, [])).of(17, "#[cfg(a)]\n#[inline]\n#[cfg(b)]") == "unix && a && b"


PREDICATES = [
    ("any()", "0"),
    ("all()", ""),
    ("any(a, false)", "a"),
    ("all(a, true)", "a"),
    ("all(a, false)", "0"),
    ("any(a, true)", ""),
    ("not(any())", ""),
    ("any(a, // why: (b)\n c)", "(a || c)"),
    ('all(not(a), any(target_os = "x", /* , */ b))', '!a && (target_os = "x" || b)'),
    ("all(a", "all(a"),
    ("a)", "a)"),
    ("not(a, b)", "not(a, b)"),
    ('version("1.70")', 'version("1.70")'),
]


@pytest.mark.parametrize(("text", "expected"), PREDICATES, ids=range(len(PREDICATES)))
def test_predicate(text: str, expected: str) -> None:
    assert predicate(text) == expected


def test_a_long_list_of_targets_is_kept_whole() -> None:
    names = [f'target_os = "system{i}"' for i in range(30)]
    ((_, tag),) = tags("a.rs", "rust", f"#[cfg(any({', '.join(names)}))]\nfn f() {{}}\n")
    assert tag == f"({' || '.join(names)})"


MACROS = [
    ("cfg_if! { if #[cfg(a)] { fn f() {} } else if #[cfg(b)] { fn f() {} } else { fn f() {} } }",
     ["a", "!a && b", "!a && !b"]),
    ("cfg_if::cfg_if! {\n if #[cfg(any(a, b))] {\n #[cfg(c)] mod m { fn f() {} }\n } }", ["(a || b) && c"] * 2),
    ("cfg_if! { if #[cfg(a)] { fn g() { if x {} else {} } fn h() {} } else { fn i() {} } }", ["a", "a", "!a"]),
    ("cfg_if! { if #[cfg(a)] { cfg_if! { if #[cfg(b)] { fn f() {} } else { fn g() {} } } } }", ["a && b", "a && !b"]),
    ("cfg_select! { unix => { fn f() {} } any(windows, x) => { fn f() {} } _ => { fn f() {} } }",
     ["unix", "!unix && (windows || x)", "!unix && !(windows || x)"]),
    ("#[cfg(a)]\ncfg_net! {\n #[cfg(b)]\n fn f() {}\n fn g() {}\n}", ["a && macro(cfg_net) && b", "a && macro(cfg_net)"]),
    ("cfg_a! { cfg_b! { fn f() {} } fn g() {} }", ["macro(cfg_a) && macro(cfg_b)", "macro(cfg_a)"]),
    ("feature! { #![all(unix, b)] fn f() {} }", ["unix && b"]),
    ("feature! { #![allow(dead_code)] fn f() {} }", [None]),
    ("lazy_static! { fn f() {} }", [None]),
    ("impl T { cfg_a! { fn f(&self) {} } fn g(&self) {} }", ["macro(cfg_a)", None]),
    ("mod m { cfg_a!( fn f() {} ); }", [None, "macro(cfg_a)"]),
    ("cfg_a! { #[cfg(b)] impl T { fn f() {} #[cfg(c)] fn g() {} } fn h() {} }",
     ["macro(cfg_a) && b", "macro(cfg_a) && b && c", "macro(cfg_a)"]),
    ('cfg_a! { #[cfg(b)] const C: &str = "}"; fn f() {} }', ["macro(cfg_a) && b", "macro(cfg_a)"]),
    ("cfg_a! { #[cfg(b)] fn f(c: char) { if c == '}' {} } fn g<'a>(x: &'a u8) {} }", ["macro(cfg_a) && b", "macro(cfg_a)"]),
    ('cfg_a! { #[cfg(b)] const C: u8 = r#"}"#; // }\n /* } */ fn f() {} }', ["macro(cfg_a) && b", "macro(cfg_a)"]),
    # not what the macro takes
    ("cfg_if! { #[inline] fn f() {} impl T { fn g() {} } }", [None, None]),
    # what a function does with a macro decides nothing about definitions
    ("fn f() { cfg_if! { if #[cfg(a)] { g() } else { h() } } if cfg!(b) {} }", [None]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), MACROS, ids=range(len(MACROS)))
def test_macros(source: str, expected: list[str | None]) -> None:
    assert [tag for _, tag in tags("a.rs", "rust", source)] == expected


WRAPPERS = [
    ("($($item:item)*) => { $( #[cfg(a)] $item )* }", "a"),
    ("($($i:item)*) => { $( #[cfg(a)] #[cfg_attr(docsrs, doc(cfg(a)))] #[cfg(not(b))] $i )* }", "a && !b"),
    ("($($item:item)*) => { $( $item )* };", ""),
    ("($($item:item)*) => {}", "0"),
    ("($($item:item)*) => { #[cfg(a)] cfg_b! { $($item)* } }", "a && macro(cfg_b)"),
    ("($($item:item)*) => { // why\n $( #[cfg(any(a, // why\n b))] $item )* }", "(a || b)"),
    ("($($item:item)*) => { $( #[cfg(a)] $item )* fn more() {} }", None),
    ("($($item:item)*) => { $( #[cfg(a)] $item )* }; (x) => {}", None),
    ("($($t:tt)*) => { #[cfg(a)] $($t)* }", None),  # of the first item only
    ("(#![$m:meta] $($item:item)*) => { $( #[cfg($m)] $item )* }", None),
    ("($x:expr) => { $x }", None),
]


@pytest.mark.parametrize(("arms", "expected"), WRAPPERS, ids=range(len(WRAPPERS)))
def test_macros_that_put_a_condition_before_items(arms: str, expected: str | None) -> None:
    assert condition_of_macro(f"macro_rules! cfg_x {{\n    {arms}\n}}") == expected


def test_a_macro_of_the_file_is_known_in_it() -> None:
    source = """
        macro_rules! only_net { ($($item:item)*) => { $( #[cfg(feature = "net")] $item )* } }
        only_net! { fn f() {} }
        only_net! { mod m; }
    """
    found = dict(tags("a.rs", "rust", source))
    assert found["f"] == found["m"] == 'feature = "net"'
    assert notes(source) == {"only_net": 'when=feature%20=%20"net"', "f": "", "m": "external"}


def test_of_two_macros_of_one_name_each_counts_under_its_own_condition() -> None:
    source = """
        #[cfg(a)]
        macro_rules! cfg_x { ($($item:item)*) => { $( $item )* } }
        #[cfg(not(a))]
        macro_rules! cfg_x { ($($item:item)*) => {} }
        cfg_x! { fn f() {} }
    """
    assert dict(tags("a.rs", "rust", source))["f"] == "macro(cfg_x)"


NOTES = [
    ("mod m;", "external"),
    ("mod m {}", ""),
    ('#[path = "x y.rs"] mod m;', "external path=x%20y.rs?"),
    ('#[path = "x.rs"] #[cfg(a)]\npub(crate) mod m;', "external path=x.rs?"),
    ('#[cfg_attr(unix, path = "u.rs")]\n#[cfg_attr(windows, allow(x), path = "w.rs")]\nmod m;',
     "external path=u.rs?unix path=w.rs?windows path=?!unix%20&&%20!windows"),
    ('#[cfg_attr(unix, path = "u.rs")]\n#[path = "o.rs"]\nmod m;', "external path=u.rs?unix path=o.rs?!unix"),
    ('cfg_if! { if #[cfg(a)] { #[path = "u.rs"] mod m; } }', "external path=u.rs?"),
    ("cfg_if! { if #[cfg(a)] { mod m; use self::m::A as B; use other::*; use m::a::b; } }", "external"),
    ('#[doc = "path = \\"x.rs\\""] mod m;', "external"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), NOTES, ids=range(len(NOTES)))
def test_notes_on_modules(source: str, expected: str) -> None:
    assert notes(source)["m"] == expected


@given(st.text(max_size=30))
def test_a_quoted_text_is_one_word(text: str) -> None:
    assert unquote(quote(text)) == text
    assert len(quote(text).split()) == (1 if text else 0)


PARTS = ["cfg_if! { ", "if #[cfg(a)] {", "} else {", "}", "{", "(", ")", "[", "]", "#[", "#![", "cfg(", '"', "'", "'a", ";",
         ",", "=>", "cfg_net! {", "cfg_select! {", "_", "mod m;", "use m::*;", "fn f() {", "struct S {", "impl T", "/*", "*/",
         "//", "\n", 'r#"', "path = ", "not", "=", "\xe9", "macro_rules! m {"]  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=60))
def test_nothing_raises(parts: list[str]) -> None:
    text = "".join(parts)
    source = text.encode("latin-1")
    condition_of_macro(text)
    found = Tags("rust", "", File("a.rs", source, []))
    for byte in range(len(source) + 1):
        tag = found.of(byte, text)
        assert tag is None or tag
    for symbol in extract("a.rs", b"cfg_if! { if #[cfg(a)] { " + source, "rust").symbols:
        assert symbol.build_tag is None or symbol.build_tag


@pytest.mark.parametrize(
    "source",
    [
        b"cfg_a! { " * 10_000,
        b"cfg_if! { if #[cfg(a)] { " * 5_000,
        b"cfg_if! {" + b" if #[cfg(a)] { fn f() {} } else" * 5_000 + b" {} }",
        b"cfg_a! { " + b"#[cfg(a)]" * 10_000 + b" fn f() {} }",
        b"cfg_a! { " + b'"' * 60_001,
        b"cfg_a! { " + b"#[" * 30_000,
        b"macro_rules! m { ($($i:item)*) => { " + b"#[cfg(a)]" * 10_000,
        b'#[cfg_attr(a, path = "b")]\n' * 5_000 + b"mod m;",
    ],
    ids=range(8),
)
def test_many_of_a_kind_stay_cheap(source: bytes) -> None:
    # Quadratic work on any of these would take minutes.
    root = load_languages()["rust"].parser.parse(source).root_node
    calls = [node for node in (root, *root.children) if node.type == "macro_invocation"]
    for item in ranges(File("a.rs", source, calls)):
        assert len(item.condition) + len(item.note) < 20_000
    condition_of_macro(source.decode())
