"""Callers, callees and call trees of a repository whose calls are known."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lci_py import app
from lci_py.errors import UsageError
from lci_py.search.engine import Engine
from lci_py.types.graph import Branch, GraphAnswer, GraphRequest
from lci_py.types.search import Filters
from tests.support.graph_repo import build


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with app.open_engine(str(build(tmp_path_factory.mktemp("graph")))) as opened:
        yield opened


def ask(session: Engine, command: str, name: str, **options: Any) -> GraphAnswer:
    return session.answer(command, GraphRequest(name, **options))


def near(answer: GraphAnswer) -> dict[str, tuple[int, ...]]:
    return {item.place.qualified_name or item.place.file: item.sites for item in answer.neighbours}


# --- names --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["shop/store.py::clean", "store.py::clean", "shop/store.py::Store.save", "Store.save", "save", "Store::save"],
)
def test_one_definition_is_named_by(session: Engine, name: str) -> None:
    (target,) = ask(session, "callers", name).targets
    assert target.file == "shop/store.py" and target.symbol == name.rpartition(":")[2].rpartition(".")[2]


def test_the_likeliest_of_several_definitions_is_meant_and_the_others_can_be_pasted_back(session: Engine) -> None:
    answer = ask(session, "callers", "clean")
    (target,) = answer.targets
    assert (target.file, [other.name for other in answer.others]) == ("shop/store.py", ["other/tools.py::clean"])
    for name in ("shop/store.py::clean", "other/tools.py::clean"):
        (target,) = ask(session, "callers", name).targets
        assert f"{target.file}::{target.qualified_name}" == name
    every = ask(session, "callers", "clean", all_meanings=True)
    assert (len(every.targets), every.others) == (2, ())


def test_sources_are_meant_before_tests_copies_and_examples(tmp_path: Path) -> None:
    called = "def handle():\n    pass\n\n\ndef use():\n    handle()\n"
    plain = "def handle():\n    pass\n"
    sources = {
        "app/core.py": plain,
        "app/idle.py": plain,
        "tests/test_a.py": called,
        "vendor/b.py": called,
        "examples/c.py": called,
    }
    with app.open_engine(
        str(build(tmp_path, sources | {"app/run.py": "from app.core import handle\nhandle()\n"}))
    ) as session:
        answer = ask(session, "callees", "handle")
        assert [target.file for target in answer.targets] == ["app/core.py"]
        places = [other.file for other in answer.others]
        assert places == ["app/idle.py", "examples/c.py", "vendor/b.py", "tests/test_a.py"]


def test_a_function_and_its_declaration_in_typescript_are_one(tmp_path: Path) -> None:
    sources = {
        "lib/open.js": "export function open() { return 1 }\n",
        "types/all.d.ts": "export function open(): number\n",
    }
    with app.open_engine(str(build(tmp_path, sources))) as session:
        answer = ask(session, "callers", "open")
        assert ([target.file for target in answer.targets], answer.others) == (["lib/open.js", "types/all.d.ts"], ())


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("Store.size", {"shop/store.py:24", "shop/store.py:28"}),  # a property and its setter
        ("turn", {"shop/fast.py:1", "shop/fast.pyi:1"}),  # a definition and its stub
        ("shop/fast.py::turn", {"shop/fast.py:1", "shop/fast.pyi:1"}),
    ],
)
def test_what_is_one_thing_needs_no_choice(session: Engine, name: str, places: set[str]) -> None:
    answer = ask(session, "callers", name)
    assert {f"{target.file}:{target.line}" for target in answer.targets} == places


def test_a_name_may_begin_with_a_hash(tmp_path: Path) -> None:
    source = "class Timer {\n  #count() { return 1 }\n  tick() { return this.#count() }\n}\nfunction count() {}\n"
    with app.open_engine(str(build(tmp_path, {"a.js": source}))) as session:
        for name in ("Timer.#count", "#count", "a.js::Timer.#count"):
            (target,) = ask(session, "callers", name).targets
            assert target.line == 2
        (target,) = ask(session, "callers", "Timer#tick").targets
        assert target.line == 3


def test_what_cannot_be_called_is_named_by_its_file(tmp_path: Path) -> None:
    sources = {"a.py": "LIMIT = 1\n", "b.py": "def LIMIT():\n    return 2\n"}
    with app.open_engine(str(build(tmp_path, sources))) as session:
        assert [target.file for target in ask(session, "callees", "LIMIT").targets] == ["b.py"]
        assert [target.file for target in ask(session, "callees", "a.py::LIMIT").targets] == ["a.py"]


def test_a_function_is_meant_before_what_of_its_name_no_call_can_mean(tmp_path: Path) -> None:
    sources = {
        "a.c": "struct stat { int x; };\nint stat(struct stat *s) { return 1; }\n"
        "enum mode { A };\n#define LIMIT 5\n#define NAMED other\n",
        "b.c": "int mode(void) { return 1; }\nint LIMIT(void) { return mode(); }\nint NAMED(void) { return 1; }\n",
        "c.ts": "interface Timer { tick(): void }\n",
        "d.ts": "export class Timer {}\n",
    }
    with app.open_engine(str(build(tmp_path, sources))) as session:
        for name, place in (("stat", "a.c:2"), ("mode", "b.c:1"), ("LIMIT", "b.c:2"), ("Timer", "d.ts:1")):
            (target,) = ask(session, "callers", name).targets
            assert f"{target.file}:{target.line}" == place
        assert near(ask(session, "callers", "mode")) == {"LIMIT": (2,)}
        assert ask(session, "callers", "a.c::mode").targets[0].kind == "enum"
        assert ask(session, "callers", "NAMED").others  # a macro that is another name of a function


def test_a_whole_path_is_no_end_of_another(tmp_path: Path) -> None:
    sources = {"a.py": "def f():\n    return 1\n", "sub/a.py": "def f():\n    return 2\n"}
    with app.open_engine(str(build(tmp_path, sources))) as session:
        for file in sources:
            (target,) = ask(session, "callers", f"{file}::f").targets
            assert target.file == file


@pytest.mark.parametrize(
    ("name", "near"), [("claen", "clean"), ("Clean", "clean"), ("Shop.save", "Store.save"), ("zzzzz", None)]
)
def test_a_name_that_nothing_has_may_be_a_typing_error(session: Engine, name: str, near: str | None) -> None:
    for command in ("callers", "callees", "tree", "refs"):
        answer = ask(session, command, name)
        assert not answer.targets and not answer.shown and not answer.total
        assert answer.did_you_mean[:1] == ((near,) if near else ())
    assert session.definitions(name, Filters(), 5).did_you_mean[:1] == ((near,) if near else ())


# --- one hop ------------------------------------------------------------------------------------------------------


def test_callers_with_the_lines_of_their_calls(session: Engine) -> None:
    answer = ask(session, "callers", "Store.check")
    assert near(answer) == {"Store.save": (16, 17)}
    (item,) = answer.neighbours
    assert (item.place.line, item.place.kind, item.step, item.ambiguous) == (13, "method", "self", False)
    assert item.targets == (answer.targets[0].id,)
    assert 0 < item.confidence <= 1


def test_callers_of_a_type_make_its_objects_also_with_a_bases_constructor(session: Engine) -> None:
    assert near(ask(session, "callers", "Base")) == {"make": (11,)}
    assert near(ask(session, "callers", "Store")) == {"make": (11,)}


def test_a_file_calls_what_it_runs_outside_definitions(session: Engine) -> None:
    (item,) = ask(session, "callers", "main").neighbours
    assert (item.place.kind, item.place.id, item.sites) == ("file", "file:shop/app.py", (22,))


def test_callees_are_followed_by_what_is_external_or_unknown(session: Engine) -> None:
    answer = ask(session, "callees", "Store.save")
    assert near(answer) == {"Store.check": (16, 17)}
    assert [(item.name, item.sites, item.imported) for item in answer.external] == [
        ("json.dumps", (14,), True),
        ("os.path.exists", (15,), True),
    ]
    assert [item.name for item in ask(session, "callees", "store.py::clean").external] == ["data.strip"]


def test_a_call_by_another_name_is_not_external(tmp_path: Path) -> None:
    source = (
        "from lib import clean as tidy, clean\n\n\ndef run():\n    print(tidy(1))\n    print(clean(2))\n"
        "    wipe = clean\n    return wipe(len([3]))\n"
    )
    with app.open_engine(str(build(tmp_path, {"m.py": source, "lib.py": "def clean(x):\n    return x\n"}))) as session:
        answer = ask(session, "callees", "run")
    assert near(answer) == {"clean": (5, 6, 8)}
    assert [(item.name, item.sites) for item in answer.external] == [("print", (5, 6)), ("len", (8,))]


def test_every_call_of_a_definition_is_a_callee_or_external(session: Engine) -> None:
    from lci_py.index.shards.symbol_queries import calls_in

    rows = session.snapshot.symbols.symbol_rows(range(session.snapshot.graph.n_symbols))
    for number, row in rows.items():
        if row["language"] != "python" or row["kind"] not in ("function", "method"):
            continue
        first = int(session.snapshot.graph.first_symbol[row["file_number"]])
        lines = {
            call.line
            for call in calls_in(session.snapshot.symbols, row["file_number"])
            if call.caller == number - first
        }
        if row["symbol"] == "size":
            continue  # two of one name, which are taken together
        answer = ask(session, "callees", f"{row['file']}::{row['qualified_name']}")
        assert {line for item in (*answer.neighbours, *answer.external) for line in item.sites} == lines


def test_filters_and_limit(session: Engine) -> None:
    whole = ask(session, "callers", "clean", all_meanings=True)
    only = ask(session, "callers", "clean", all_meanings=True, filters=Filters(exclude=("other/",)))
    assert set(near(only)) == {name for name in near(whole) if name != "use"}
    methods = ask(session, "callers", "clean", all_meanings=True, filters=Filters(kind=("method",)))
    assert set(near(methods)) == {"Store.check", "Store.size"}
    head = ask(session, "callers", "clean", all_meanings=True, limit=1)
    assert head.neighbours == whole.neighbours[:1] and head.total == whole.total


ANONYMOUS = {
    "m.py": "def each(f):\n    return f()\n\n\ndef run():\n    return each(lambda: work())\n\n\n"
    "def sort(rows):\n    return sorted(rows, key=lambda row: work())\n\n\ndef work():\n    return 1\n\n\n"
    "top = lambda: work()\n"
}


def test_anonymous_functions_have_the_name_of_what_is_around_them(tmp_path: Path) -> None:
    with app.open_engine(str(build(tmp_path, ANONYMOUS))) as session:
        callers = ask(session, "callers", "work").neighbours
        assert [(item.place.qualified_name, item.place.kind, item.place.line, item.sites) for item in callers] == [
            ("run.<lambda>", "lambda", 6, (6,)),
            ("sort.<lambda>", "lambda", 10, (10,)),
            ("<lambda>", "lambda", 17, (17,)),
        ]
        # What stands in it is called by what is around it, too.
        assert set(near(ask(session, "callees", "sort"))) == {"sort.<lambda>", "work"}
        assert [item.name for item in ask(session, "callees", "sort").external] == ["sorted"]
        up = ask(session, "tree", "work", direction="callers").branches[0]
        assert drawn(up) == [
            "work", "  run.<lambda>", "    each", "      run", "  sort.<lambda>", "    sort", "  <lambda>", "    m.py",
        ]  # fmt: skip
        down = ask(session, "tree", "run", depth=4).branches[0]
        assert drawn(down) == ["run", "  each", "    run.<lambda>", "      work"]


# --- trees --------------------------------------------------------------------------------------------------------


def drawn(branch: Branch, depth: int = 0) -> list[str]:
    marks = "".join([" cycle" * branch.cycle, " repeated" * branch.repeated, f" +{branch.more}" if branch.more else ""])
    lines = ["  " * depth + (branch.place.qualified_name or branch.place.file) + marks]
    for child in branch.children:
        lines += drawn(child, depth + 1)
    return lines


def test_a_tree_shows_each_subtree_once_and_marks_cycles(session: Engine) -> None:
    answer = ask(session, "tree", "main", depth=4)
    assert drawn(answer.branches[0]) == [
        "main",
        "  make",
        "    Base.__init__",
        "  clean",
        "  ping",
        "    pong",
        "      ping cycle",
        "      clean",
    ]
    assert answer.total == 7


def test_what_comes_twice_is_shown_where_it_comes_first_level_by_level(tmp_path: Path) -> None:
    source = "def a():\n    b()\n    c()\n\n\ndef b():\n    c()\n\n\ndef c():\n    d()\n\n\ndef d():\n    return 1\n"
    with app.open_engine(str(build(tmp_path, {"m.py": source}))) as session:
        (root,) = ask(session, "tree", "a").branches
    assert drawn(root) == ["a", "  b", "    c repeated", "  c", "    d"]


def test_of_two_on_one_level_the_first_shows_what_is_below(tmp_path: Path) -> None:
    source = "def a():\n    b()\n    c()\n\n\ndef b():\n    d()\n\n\ndef c():\n    d()\n\n\ndef d():\n    e()\n\n\ndef e():\n    return 1\n"
    with app.open_engine(str(build(tmp_path, {"m.py": source}))) as session:
        (root,) = ask(session, "tree", "a").branches
    assert drawn(root) == ["a", "  b", "    d", "      e", "  c", "    d repeated"]


def test_the_last_level_says_how_much_is_below(session: Engine) -> None:
    assert drawn(ask(session, "tree", "main", depth=1).branches[0]) == ["main", "  make +1", "  clean", "  ping +1"]


def test_a_tree_of_callers(session: Engine) -> None:
    answer = ask(session, "tree", "pong", direction="callers", depth=5)
    assert drawn(answer.branches[0]) == ["pong", "  ping", "    main", "      shop/app.py", "    pong cycle"]


@pytest.mark.parametrize("depth", [0, -1, 101])
def test_a_depth_out_of_range_is_refused(session: Engine, depth: int) -> None:
    with pytest.raises(UsageError):
        ask(session, "tree", "main", depth=depth)


def test_a_tree_of_filtered_callers(session: Engine) -> None:
    answer = ask(session, "tree", "clean", all_meanings=True, direction="callers", filters=Filters(path=("other/",)))
    assert [line for branch in answer.branches for line in drawn(branch)] == ["clean", "  use", "clean"]
