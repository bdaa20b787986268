"""What other files say about a definition: modules, macros, and the scope that variants share; in real indexes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from lci_py import app
from lci_py.search.conflicts.rust_modules import Modules, all_of, one_of
from lci_py.search.conflicts.sites import _rust_modules
from lci_py.search.engine import Engine
from tests.support.graph_repo import build

WRAPPER = "macro_rules! {name} {{\n    ($($item:item)*) => {{\n        $( #[cfg({condition})] $item )*\n    }}\n}}\n"
SOURCES = {
    "src/lib.rs": (
        "#[macro_use]\nmod macros;\nmod sys;\npub mod net;\n"
        '#[cfg(feature = "extra")]\npub mod extra;\n'
        "#[cfg(test)]\nmod tests;\nmod inline {\n    #[cfg(inside)]\n    mod deep;\n}\n"
    ),
    "src/macros.rs": (
        WRAPPER.format(name="cfg_net", condition='feature = "net"')
        + WRAPPER.format(name="cfg_loop", condition="x")
        + "macro_rules! cfg_net_unix {\n    ($($item:item)*) => {\n"
        + "        #[cfg(unix)]\n        cfg_net! { $($item)* }\n    }\n}\n"
        + "macro_rules! cfg_odd {\n    ($($t:tt)*) => { other!($($t)*); }\n}\n"
        + "#[cfg(a)]\nmacro_rules! cfg_pair {\n    ($($item:item)*) => { $( $item )* }\n}\n"
        + "#[cfg(not(a))]\nmacro_rules! cfg_pair {\n    ($($item:item)*) => {}\n}\n"
    ),
    "src/net.rs": "cfg_net! {\n    pub fn connect() {}\n    pub mod tcp;\n}\ncfg_pair! {\n    fn paired() {}\n}\n",
    "src/net/tcp.rs": "pub fn open() {}\n#[cfg(unix)]\npub fn raw() {}\n",
    "src/extra.rs": "#![cfg(nightly)]\nmod more;\n",
    "src/extra/more.rs": "pub fn f() {}\n",
    "src/tests.rs": "fn t() {}\n",
    "src/inline/deep.rs": "fn d() {}\n",
    "src/sys/mod.rs": (
        "cfg_if! {\n    if #[cfg(unix)] {\n        mod unix;\n        pub use self::unix::*;\n    } else if #[cfg(windows)] {\n"
        "        mod windows;\n        pub use self::windows::Handle;\n    }\n}\n"
        '#[cfg_attr(a, path = "imp/one.rs")]\n#[cfg_attr(b, path = "imp/two.rs")]\nmod imp;\n'
        "#[cfg(fast)]\nmod quick;\n#[cfg(fast)]\nuse quick as speed;\n#[cfg(not(fast))]\nmod slow;\n#[cfg(not(fast))]\nuse slow as speed;\n"
    ),
    "src/sys/unix.rs": "pub struct Handle;\nimpl Handle {\n    pub fn close(&self) {}\n}\nfn private() {}\npub mod fs;\n",
    "src/sys/unix/fs.rs": "pub fn sync() {}\n",
    "src/sys/windows.rs": "pub struct Handle;\nimpl Handle {\n    pub fn close(&self) {}\n}\nfn private() {}\n",
    "src/sys/imp/one.rs": "pub fn run() {}\nmod beside;\n",
    "src/sys/imp/two.rs": "pub fn run() {}\n",
    "src/sys/imp/beside.rs": "fn b() {}\n",
    "src/sys/imp.rs": "pub fn run() {}\n",
    "src/sys/quick.rs": "pub fn go() {}\n",
    "src/sys/slow.rs": "pub fn go() {}\n",
    "src/stray.rs": "fn s() {}\n",
    # a file that two crates take in, and files that lead to each other
    "tests/common/mod.rs": "pub fn help() {}\n",
    "tests/one.rs": "#[cfg(unix)]\nmod common;\n",
    "tests/two.rs": "#[cfg(all(windows, slow))]\nmod common;\n",
    "circle/a.rs": '#[path = "b.rs"]\n#[cfg(x)]\nmod b;\n',
    "circle/b.rs": '#[path = "a.rs"]\n#[cfg(y)]\nmod a;\n',
    # a crate that begins with a file of another name
    "tool/start.rs": '#[cfg(feature = "ui")]\nmod ui;\n',
    "tool/ui.rs": "fn draw() {}\n",
    # one name of a crate, from modules at several levels
    "deep/src/lib.rs": (
        "mod new;\npub use new::*;\ncfg_if! {\n    if #[cfg(windows)] {\n        mod windows;\n"
        "        pub use crate::windows::*;\n    } else {\n        mod unix;\n        pub use crate::unix::*;\n    }\n}\n"
    ),
    "deep/src/windows.rs": 'pub const LIMIT: u8 = 1;\nextern "C" {\n    pub fn beep();\n}\n',
    "deep/src/unix/mod.rs": '#[cfg(target_os = "linux")]\nmod linux;\nuse self::linux::*;\n',
    "deep/src/unix/linux.rs": 'pub const LIMIT: u8 = 2;\nextern "C" {\n    pub fn beep();\n}\npub trait Beeps {\n    fn beep();\n}\n',
    "deep/src/new/mod.rs": (
        '#[cfg(target_os = "fuchsia")]\nmod api;\npub(crate) use api::*;\npub use inner::limits::*;\nmod hidden {\n    mod sub;\n}\n'
    ),
    "deep/src/new/api/mod.rs": "pub(crate) mod inner;\n",
    "deep/src/new/api/inner/mod.rs": "pub(crate) mod limits;\n",
    "deep/src/new/api/inner/limits.rs": "pub const LIMIT: u8 = 3;\nconst OWN: u8 = 4;\n",
    "deep/src/new/hidden/sub.rs": "pub const LIMIT: u8 = 5;\n",
    "app/src/jvmMain/kotlin/p/F.kt": "package p\n\nactual fun f() = 1\n",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = build(tmp_path_factory.mktemp("crates"), SOURCES)
    with app.open_engine(str(root)) as opened:
        yield opened


@pytest.fixture
def modules(session: Engine) -> Modules:
    return Modules(session.snapshot.symbols)


FILES = [
    ("src/lib.rs", None),
    ("src/macros.rs", None),
    ("src/net.rs", None),
    ("src/net/tcp.rs", 'feature = "net"'),
    ("src/extra.rs", 'feature = "extra"'),
    ("src/extra/more.rs", 'feature = "extra" && nightly'),
    ("src/tests.rs", "test"),
    ("src/inline/deep.rs", "inside"),
    ("src/sys/mod.rs", None),
    ("src/sys/unix.rs", "unix"),
    ("src/sys/unix/fs.rs", "unix"),
    ("src/sys/windows.rs", "!unix && windows"),
    ("src/sys/imp/one.rs", "a"),
    ("src/sys/imp/beside.rs", "a"),
    ("src/sys/imp/two.rs", "b"),
    ("src/sys/imp.rs", "!a && !b"),
    ("src/sys/quick.rs", "fast"),
    ("src/stray.rs", None),
    ("tests/common/mod.rs", "unix || (windows && slow)"),
    ("tool/ui.rs", 'feature = "ui"'),
    ("no/such/file.rs", None),
]


@pytest.mark.parametrize(("path", "expected"), FILES, ids=[path for path, _ in FILES])
def test_condition_of_a_file(modules: Modules, path: str, expected: str | None) -> None:
    assert modules.condition(path) == expected
    assert modules.condition(path) == expected  # the answer that is kept


def test_files_that_declare_each_other_end(modules: Modules) -> None:
    assert modules.condition("circle/a.rs") in (None, "y", "y && x", "x && y")
    assert modules.scope("circle/a.rs")


TAGS = [
    ("src/net.rs", "macro(cfg_net)", 'feature = "net"'),
    ("src/net.rs", "macro(cfg_net_unix) && x", 'unix && feature = "net" && x'),
    ("src/net.rs", "macro(cfg_pair)", "a"),
    ("src/net.rs", "macro(cfg_odd)", "macro(cfg_odd)"),  # does something else with its items
    ("src/net.rs", "macro(cfg_missing) && y", "macro(cfg_missing) && y"),
    ("src/net.rs", None, None),
    ("src/net/tcp.rs", "unix", 'feature = "net" && unix'),
    ("src/sys/unix.rs", "!unix", "unix && !unix"),
    ("src/sys/windows.rs", "windows", "!unix && windows"),
]


@pytest.mark.parametrize(("path", "tag", "expected"), TAGS, ids=range(len(TAGS)))
def test_tag_of_a_definition(modules: Modules, path: str, tag: str | None, expected: str | None) -> None:
    assert modules.tag(path, tag) == expected


def test_the_index_has_what_the_macros_of_other_files_are_asked_for(session: Engine) -> None:
    (connect,) = session.snapshot.symbols.same_name("connect", "rust", 9)
    assert connect["build_tag"] == "macro(cfg_net)"
    assert _rust_modules(session.snapshot.symbols).tag(connect["file"], connect["build_tag"]) == 'feature = "net"'


SCOPES = [
    # what a module hands on is its parent's
    ("src/sys/unix.rs", "Handle", "src/lib.rs::sys.Handle"),
    ("src/sys/windows.rs", "Handle", "src/lib.rs::sys.Handle"),
    ("src/sys/unix.rs", "Handle.close", "src/lib.rs::sys.Handle.close"),
    ("src/sys/unix.rs", "private", "src/lib.rs::sys.unix.private"),
    ("src/sys/windows.rs", "private", "src/lib.rs::sys.windows.private"),
    ("src/sys/unix/fs.rs", "sync", "src/lib.rs::sys.fs.sync"),
    # the files of one module, and modules of one other name
    ("src/sys/imp/one.rs", "run", "src/lib.rs::sys.imp.run"),
    ("src/sys/imp/two.rs", "run", "src/lib.rs::sys.imp.run"),
    ("src/sys/imp.rs", "run", "src/lib.rs::sys.imp.run"),
    ("src/sys/quick.rs", "go", "src/lib.rs::sys.speed.go"),
    ("src/sys/slow.rs", "go", "src/lib.rs::sys.speed.go"),
    ("src/inline/deep.rs", "d", "src/lib.rs::inline.deep.d"),
    ("src/stray.rs", "s", "src/stray.rs::s"),
    # the shortest path that a crate hands an item on by
    ("deep/src/windows.rs", "LIMIT", "deep/src/lib.rs::LIMIT"),
    ("deep/src/unix/linux.rs", "LIMIT", "deep/src/lib.rs::LIMIT"),
    ("deep/src/new/api/inner/limits.rs", "LIMIT", "deep/src/lib.rs::LIMIT"),
    ("deep/src/new/api/inner/limits.rs", "OWN", "deep/src/lib.rs::inner.limits.OWN"),
    ("deep/src/new/hidden/sub.rs", "LIMIT", "deep/src/lib.rs::new.hidden.sub.LIMIT"),
    ("tests/one.rs", "main", "tests/one.rs::main"),
]


@pytest.mark.parametrize(("path", "name", "expected"), SCOPES, ids=[f"{path}-{name}" for path, name, _ in SCOPES])
def test_scope(modules: Modules, path: str, name: str, expected: str) -> None:
    assert modules.scope(path, name) == expected


def test_scope_of_a_file(modules: Modules) -> None:
    assert modules.scope("src/sys/unix/fs.rs") == "src/lib.rs::sys.fs"  # `pub mod fs` is handed on
    assert modules.scope("src/lib.rs") == "src/lib.rs::"


def test_variants_in_files_of_one_module_are_one_symbol(session: Engine) -> None:
    from lci_py.types.conflicts import ConflictsRequest

    found = {one.qualified_name: one for one in session.answer("conflicts", ConflictsRequest(all=True)).results}
    places = {name: [(site.file, site.build_tag) for site in one.definitions] for name, one in found.items()}
    handle = [("src/sys/unix.rs", "unix"), ("src/sys/windows.rs", "!unix && windows")]
    assert places["Handle"] == places["Handle.close"] == handle
    assert places["go"] == [("src/sys/quick.rs", "fast"), ("src/sys/slow.rs", "!fast")]
    assert {one.relation for one in found.values()} == {"variant"}
    assert "private" not in found


def test_variants_lie_at_any_level_of_a_crate(session: Engine) -> None:
    from lci_py.types.conflicts import ConflictsRequest

    found = {one.qualified_name: one for one in session.answer("conflicts", ConflictsRequest(all=True)).results}
    files = {name: [(site.file, site.relation) for site in found[name].definitions] for name in ("LIMIT", "beep")}
    platforms = [("deep/src/unix/linux.rs", "variant"), ("deep/src/windows.rs", "variant")]
    assert files == {"LIMIT": [("deep/src/new/api/inner/limits.rs", "variant"), *platforms], "beep": platforms}


def test_a_refreshed_index_says_the_same(tmp_path: Path) -> None:
    root = build(tmp_path, SOURCES)
    (root / "src/lib.rs").write_text(SOURCES["src/lib.rs"].replace('feature = "extra"', "unix"))
    app.build_index(str(root), jobs=1)
    with app.open_engine(str(root)) as session:
        assert _rust_modules(session.snapshot.symbols).condition("src/extra/more.rs") == "unix && nightly"
        assert _rust_modules(session.snapshot.symbols).condition("src/net/tcp.rs") == 'feature = "net"'


def test_a_long_chain_of_files_ends(tmp_path: Path) -> None:
    sources = {f"src/m{i}.rs": f'#[path = "m{i + 1}.rs"]\n#[cfg(c{i})]\nmod m;\n' for i in range(1_100)}
    root = build(tmp_path, {**sources, "src/m1100.rs": "fn f() {}\n"})
    with app.open_engine(str(root)) as session:
        assert len(_rust_modules(session.snapshot.symbols).condition("src/m1100.rs") or "") < 5_000
        assert len(_rust_modules(session.snapshot.symbols).scope("src/m1100.rs", "f")) < 5_000


# --- conditions of several places as one ----------------------------------------------------------------------------

ALL = [
    ([None, "a", "b && a"], "a && b"),
    ([None, None], None),
    (["a || b", "c"], "(a || b) && c"),
    (["a", "a || b"], "a && (a || b)"),
    (["a && !…"], "a && !…"),
    (["a", "0"], "0"),
]
ONE = [
    (["a", "a && b"], "a || (a && b)"),
    (["a", ""], ""),
    (["a", "a"], "a"),
    (["0"], "0"),
    (["a", "0"], "a"),
    ([], "0"),
]


@pytest.mark.parametrize(("conditions", "expected"), ALL, ids=range(len(ALL)))
def test_all_of(conditions: list[str | None], expected: str | None) -> None:
    assert all_of(conditions) == expected


@pytest.mark.parametrize(("conditions", "expected"), ONE, ids=range(len(ONE)))
def test_one_of(conditions: list[str], expected: str) -> None:
    assert one_of(conditions) == expected


formulas = st.recursive(
    st.sampled_from(["a", "b", "c", "!a", "!b"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]} || {pair[1]})"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]} && {pair[1]})"),
        inner.map(lambda one: f"!({one})"),
    ),
    max_leaves=5,
)


def _value(condition: str | None, assignment: dict[str, bool]) -> bool:
    text = re.sub(r"[abc0]", lambda name: "T" if assignment.get(name.group()) else "F", condition or "!0")

    def flat(match: re.Match[str]) -> str:
        options = match.group(1).replace("!T", "F").replace("!F", "T").split("||")
        return "T" if any("F" not in option for option in options) else "F"

    text = f"({text.replace(' ', '')})"
    while "(" in text:
        text = re.sub(r"\(([^()]*)\)", flat, text)
    return text == "T"


@given(st.lists(formulas, max_size=4))
def test_what_is_joined_means_the_same(conditions: list[str]) -> None:
    both, either = all_of(conditions), one_of(conditions)
    for bits in range(8):
        assignment = {name: bool(bits >> i & 1) for i, name in enumerate("abc")}
        values = [_value(condition, assignment) for condition in conditions]
        assert _value(both, assignment) == all(values)
        assert _value(either, assignment) == any(values)


@given(st.lists(st.text(alphabet="ab!&|() \"'=,", max_size=25), max_size=4))
def test_nothing_raises(conditions: list[str]) -> None:
    all_of(conditions)
    one_of(conditions)
