"""`lci callers`, `callees`, `tree`, `refs` and `def` as their users run them: output, schema, errors, exit codes."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from lci_py import app
from lci_py.render.text.graph import render
from lci_py.render.text.style import Page
from lci_py.types.graph import GraphRequest
from tests.conftest import PROJECT, Ran
from tests.support.graph_repo import build
from tests.support.heavy_modules import loaded

Lci = Callable[..., Ran]
SCHEMA = Draft202012Validator(json.loads((PROJECT / "docs" / "json-output.schema.json").read_text()))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("cli") / "repo")


@pytest.mark.parametrize(
    ("args", "out"),
    [
        (
            ("callers", "Store.check"),
            "shop/store.py\n16 method Store.save  self  and 17\n"
            "1 caller, 2 calls · method Store.check shop/store.py:19\n",
        ),
        (
            ("callees", "Store.save"),
            "shop/store.py\n19 method Store.check  self  at 16, 17\n"
            "outside the repository, or not known:\n"
            "  json.dumps at 14\n"
            "  os.path.exists at 15\n"
            "1 callee, 2 external or unknown · method Store.save shop/store.py:13\n",
        ),
        (
            ("tree", "main", "-d", "2"),
            "main  shop/app.py:4\n"
            "├── make  shop/app.py:10\n"
            "│   └── Base.__init__  shop/store.py:6\n"
            "├── clean  shop/store.py:32\n"
            "└── ping  shop/app.py:14\n"
            "    └── pong  shop/app.py:18  (+2)\n"
            "5 places below, to depth 2\n",
        ),
        (
            ("refs", "ping"),
            "shop/app.py\n"
            "7:5 call  in main  ping(3)\n"
            "14:5 definition  def ping(n):\n"
            "19:12 call  in pong  return ping(n - 1) if n else clean(n)\n"
            "3 references · function ping shop/app.py:14\n",
        ),
        (("callers", "Store.check", "--paths"), "shop/store.py:16\nshop/store.py:17\n"),
        (("callers", "shop/store.py:20", "--paths"), "shop/store.py:16\nshop/store.py:17\n"),
        (("callees", "Store.save", "--paths"), "shop/store.py:19\n"),
        (("refs", "Store", "--paths", "--role", "call", "--role", "import"), "shop/app.py:1\nshop/app.py:11\n"),
        (
            ("tree", "pong", "--direction", "callers", "-d", "1", "--format", "dot"),
            'digraph lci {\n  rankdir=LR;\n  node [shape=box, fontname="monospace"];\n'
            '  edge [fontname="monospace", fontsize=10];\n'
            '  n0 [label="pong\\nshop/app.py:18", penwidth=3];\n  n1 [label="ping\\nshop/app.py:14"];\n'
            '  n1 -> n0 [color="#0072B2", tooltip="scope 0.99", label="scope"];\n}\n',
        ),
        (
            ("tree", "pong", "-d", "1", "-f", "mermaid"),
            'flowchart LR\n  n0["pong<br/>shop/app.py:18"]\n  n1["ping<br/>shop/app.py:14"]\n'
            '  n2["clean<br/>shop/store.py:32"]\n  n0 -->|scope| n1\n  n0 -->|import| n2\n'
            "  linkStyle 1 stroke:#0072B2\n  linkStyle 0 stroke:#D55E00\n  style n0 stroke-width:3px\n",
        ),
    ],
)
def test_output(lci: Lci, root: Path, args: tuple[str, ...], out: str) -> None:
    ran = lci(*args, "--root", str(root), PYTHONIOENCODING="utf-8")
    assert (ran.code, ran.out, ran.err) == (0, out, "")


@pytest.mark.parametrize(
    "args",
    [
        ("callers", "Store.check"),
        ("callers", "clean", "--all", "-n", "2"),
        ("callers", "Store.save"),
        ("callees", "Store.save"),
        ("callees", "main"),
        ("tree", "main"),
        ("tree", "clean", "--all", "--direction", "callers"),
        ("refs", "clean"),
        ("refs", "shop/store.py::clean"),
        *((command, "claen") for command in ("callers", "callees", "tree", "refs", "def")),
    ],
)
def test_json_is_what_the_schema_says(lci: Lci, root: Path, args: tuple[str, ...]) -> None:
    ran = lci(*args, "--json", "--root", str(root))
    assert ran.err == ""
    found = ran.json()
    SCHEMA.validate(found)
    assert ran.code == (0 if found["results"] or found.get("external") else 1)
    assert found["has_more"] == ("-n" in args)
    if args[0] not in ("tree", "def"):
        lines = [json.loads(line) for line in lci(*args, "--jsonl", "--root", str(root)).out.splitlines()]
        for line in lines:
            SCHEMA.validate(line)
        assert lines[:-1] == found.pop("results")
        assert lines[-1]["summary"] == found
    elif args[0] == "tree":
        assert lci(*args, "--format", "json", "--root", str(root)).out == ran.out


def test_an_ambiguous_name_is_answered_and_names_what_can_be_pasted_back(lci: Lci, root: Path) -> None:
    plain = lci("callers", "clean", "--root", str(root), PYTHONIOENCODING="utf-8")
    assert (plain.code, plain.err) == (0, "")
    assert "⚠ also has this name, left out: other/tools.py::clean; --all takes all\n" in plain.out
    for command in ("callers", "callees", "tree"):
        ran = lci(command, "clean", "--json", "--root", str(root))
        SCHEMA.validate(ran.json())
        (other,) = ran.json()["other_meanings"]
        assert lci(command, other["name"], "--json", "--root", str(root)).json()["targets"][0]["file"] == other["file"]
        assert "other_meanings" not in lci(command, "clean", "--all", "--json", "--root", str(root)).json()


def test_a_small_budget_leaves_one_place_and_few_targets(lci: Lci, tmp_path: Path) -> None:
    files = {f"m{number}.py": "def parse():\n    pass\n" for number in range(30)}
    root = str(build(tmp_path, files | {"use.py": "import m0\nm0.parse()\n"}))
    for args in (("refs", "parse"), ("callers", "parse", "--all")):
        found = lci(*args, "--json", "--max-tokens", "200", "--root", root).json()
        SCHEMA.validate(found)
        assert (0 < len(found["results"]) < 32, len(found["targets"])) == (True, 3)
        whole = lci(*args, "--json", "--root", root).json()
        assert len(whole["targets"]) == 30
    assert lci("refs", "parse", "--max-tokens", "5", "--root", root).out.startswith("m0.py\n1:5 definition")


def test_a_name_of_nothing_exits_1_with_a_hint(lci: Lci, root: Path) -> None:
    for command in ("callers", "callees", "tree", "refs", "def"):
        ran = lci(command, "claen", "--root", str(root))
        assert (ran.code, ran.err) == (1, "lci: nothing is named 'claen'; did you mean clean?\n"), command
        quiet = lci(command, "claen", "-q", "--root", str(root))
        assert (quiet.code, quiet.out, quiet.err) == (1, "", "")


@pytest.mark.parametrize(
    "args",
    [
        ("callers", ""),
        ("callers", "main", "-n", "0"),
        ("tree", "main", "--depth", "0"),
        ("tree", "main", "--direction", "up"),
        ("tree", "main", "--format", "png"),
        ("tree", "main", "--format", "dot", "--json"),
        ("refs", "main", "--role", "use"),
        ("callees", "main", "--json", "--paths"),
        ("callers", "main", "--kind", "klass"),
        ("callers", "main", "--path", "[z-a]"),
    ],
)
def test_usage_errors_exit_2(lci: Lci, root: Path, args: tuple[str, ...]) -> None:
    ran = lci(*args, "--root", str(root))
    assert ran.code == 2
    assert ran.err or ran.json()["error"]["message"]


def test_expand_is_for_multiview(lci: Lci, root: Path) -> None:
    assert lci("search", "clean", "--expand", "1", "--root", str(root)).code == 2
    assert lci("search", "clean", "-m", "multiview", "--expand", "99", "--root", str(root)).code == 2
    ran = lci("search", "clean", "-m", "multiview", "--expand", "1", "-n", "1", "--json", "--root", str(root))
    SCHEMA.validate(ran.json())
    assert ran.json()["expansion"]["shown"] == len(ran.json()["results"]) - 1 > 0
    text = lci("search", "clean", "-m", "multiview", "--expand", "1", "-n", "1", "--root", str(root)).out
    assert "via call" in text and " around them" in text


def test_in_a_subfolder_names_and_places_start_there(lci: Lci, root: Path) -> None:
    ran = lci("callers", "store.py::clean", "--paths", cwd=root / "shop")
    assert ran.out.splitlines() == ["app.py:6", "app.py:19", "store.py:21", "store.py:25", "store.py:29"]
    assert lci("callers", "../other/tools.py::clean", "--paths", cwd=root / "shop").out == "../other/tools.py:6\n"


def test_a_terminal_shows_the_place_whole(root: Path) -> None:
    with app.open_engine(str(root)) as session:
        answers = [
            session.answer(c, GraphRequest("shop/store.py::clean")) for c in ("callers", "callees", "tree", "refs")
        ]
    for answer in answers:
        for width in (40, 80):
            out = io.StringIO()
            render(answer, Page(out, width=width), footer=False)
            for line in out.getvalue().splitlines():
                assert len(line) <= width or line.startswith("⚠")
        colored = io.StringIO()
        render(answer, Page(colored, color=True))
        assert "\x1b[" in colored.getvalue()


def test_a_command_imports_only_what_it_needs(root: Path) -> None:
    for command in ("callers", "callees", "tree"):
        assert loaded(command, "main", "--root", str(root)) <= {"numpy"}
    assert loaded("refs", "main", "--root", str(root)) <= {"numpy", "tree_sitter"}
    assert not loaded("def", "claen", "--root", str(root))


def test_what_a_repository_writes_is_shown_harmless(tmp_path: Path) -> None:
    name = 'a"\\<b>\x1b[31m.py'
    root = build(tmp_path, {name: "def run():\n    return stop()\n\n\ndef stop():\n    return 1\n"})
    with app.open_engine(str(root)) as session:
        tree = session.answer("tree", GraphRequest("run"))
        refs = session.answer("refs", GraphRequest("run"))
    for found in (tree, refs):
        out = io.StringIO()
        render(found, Page(out))
        assert "\x1b" not in out.getvalue()


# --- calls without a known target -------------------------------------------------------------------------------------

UNKNOWN = {
    "shapes.py": (
        "class Page:\n    def truncate(self):\n        return 1\n\n\n"
        "class Wheel:\n    def truncate(self):\n        return 2\n\n\n"
        "def known():\n    return Wheel().truncate()\n"
    ),
    "use.py": "def first(x, y):\n    x.truncate()\n    y.truncate(), y.truncate()\n\n\ndef second(z):\n    print(z)\n",
    "more/use.py": "def third(x):\n    return x.truncate()\n",
}


@pytest.fixture(scope="module")
def unknown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("unknown") / "repo", UNKNOWN)


@pytest.mark.parametrize("args", [("callers",), ("tree", "--direction", "callers")])
def test_no_callers_is_never_said_of_a_name_that_is_called(lci: Lci, unknown: Path, args: tuple[str, ...]) -> None:
    ran = lci(*args, "Page.truncate", "--root", str(unknown), PYTHONIOENCODING="utf-8")
    # A call that means another definition of that name has a known target: that of `known` does not count.
    note = "⚠ 4 calls of truncate without a known target: `lci refs truncate --role call` lists all calls"
    assert note in ran.out.splitlines()
    assert lci(*args, "Page.truncate", "--json", "--root", str(unknown)).json()["unresolved_uses"] == 4
    listed = lci("refs", "truncate", "--role", "call", "--json", "--root", str(unknown)).json()["results"]
    assert len(listed) == 5


def test_calls_without_a_known_target_pass_the_filters(lci: Lci, unknown: Path) -> None:
    for flag, value, uses in (("--path", "more/**", 1), ("--exclude", "more/**", 3), ("--lang", "go", 0)):
        ran = lci("callers", "Page.truncate", flag, value, "--json", "--root", str(unknown))
        assert ran.json()["unresolved_uses"] == uses


def test_a_call_on_another_type_is_none_of_a_method_of_that_name(lci: Lci, tmp_path: Path) -> None:
    source = (
        "struct Pool;\n\nimpl Pool {\n    pub fn fresh() -> Pool { Pool }\n}\n\n"
        "pub fn run(make: impl Maker) {\n    Vec::<u8>::fresh();\n    make.fresh();\n}\n"
    )
    root = build(tmp_path / "repo", {"src/lib.rs": source})
    assert json.loads(lci("callers", "Pool.fresh", "--json", cwd=root).out)["unresolved_uses"] == 1


def test_what_is_called_and_not_defined_is_counted_as_well(lci: Lci, unknown: Path) -> None:
    ran = lci("callers", "print", "--root", str(unknown), PYTHONIOENCODING="utf-8")
    assert ran.code == 1
    assert "⚠ 1 call of print without a known target: `lci refs print --role call` lists all calls" in ran.out


def test_callees_count_the_calls_that_they_list_as_unknown(lci: Lci, unknown: Path) -> None:
    found = lci("callees", "first", "--json", "--root", str(unknown)).json()
    assert (found["unresolved_uses"], [item["sites"] for item in found["external"]]) == (2, [[2], [3]])
    ran = lci("tree", "first", "--root", str(unknown))
    assert ran.out.splitlines()[-1].endswith("2 calls external or unknown: `lci callees` lists them")


# --- the terminal -----------------------------------------------------------------------------------------------------

LONG = "a/rather/long/path/of/a/module/that/calls.py"
WIDE = {
    LONG: (
        "from b import turn\n\n\nclass Config:\n    def apply_everything_that_is_configured(self):\n"
        "        return turn(1, 'and some more text here')\n"
    ),
    "b.py": "def turn(number, text):\n    return number\n",
}


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_a_terminal_shows_names_whole_and_the_code(tmp_path: Path, width: int) -> None:
    with app.open_engine(str(build(tmp_path, WIDE))) as engine:
        shown = io.StringIO()
        render(engine.answer("callers", GraphRequest("turn")), Page(shown, width=width))
        text = shown.getvalue()
        assert "method Config.apply_everything_that_is_configured" in text and LONG in text
        shown = io.StringIO()
        render(engine.answer("refs", GraphRequest("turn")), Page(shown, width=width))
        text = shown.getvalue()
        assert "return turn(1, 'and some" in text and LONG in text
    assert max(map(len, text.splitlines())) <= width


MANY = {
    "a.c": (
        "int leaf(int a) { return a; }\nint mid(int a) { return leaf(a) + leaf(a); }\n"
        + "".join(f"int top{n}(int a) {{ return mid(a); }}\n" for n in range(300))
        + "int all(int a) { return "
        + " + ".join(f"top{n}(a)" for n in range(300))
        + "; }\n"
    ),
    "unix.c": "int tick(void) { return 1; }\n",
    "win.c": "int tick(void) { return 2; }\n",
    "t.c": "int tick(void);\nint run(void) { return tick(); }\n",
}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("many") / "repo", MANY)


def test_a_large_tree_is_cut_and_says_so(lci: Lci, many: Path) -> None:
    root = ("--root", str(many))
    lines = lci("tree", "all", *root, PYTHONIOENCODING="utf-8").out.splitlines()
    assert len(lines) == 1 + 200 + 1
    assert lines[0].endswith("(+100)")
    assert lines[-1] == "200 of 601 places below, to depth 3 · 401 left out: --max-nodes 0 shows all"
    lines = lci("tree", "all", "--max-nodes", "0", *root).out.splitlines()
    assert len(lines) == 1 + 601 + 1
    assert lci("tree", "all", "-q", "--max-nodes", "2", *root).out.splitlines()[-1].endswith("shows all")
    found = lci("tree", "all", "--json", *root).json()
    assert (found["has_more"], "left_out" in found, len(found["results"][0]["children"])) == (False, False, 300)
    found = lci("tree", "all", "--json", "--max-nodes", "2", *root).json()
    SCHEMA.validate(found)
    assert (found["has_more"], found["left_out"], found["total"]) == (True, {"places": 599}, 601)
    assert (len(found["results"][0]["children"]), found["results"][0]["more"]) == (2, 298)
    for shape, said in (("dot", '  label="599 left out'), ("mermaid", '  note0["599 left out')):
        assert said in lci("tree", "all", "--max-nodes", "2", "-f", shape, *root).out
    assert lci("tree", "all", "--max-nodes", "-1", *root).code == 2


@pytest.mark.parametrize("shape", ["text", "dot", "mermaid", "json"])
def test_a_tree_keeps_to_its_token_budget(lci: Lci, many: Path, shape: str) -> None:
    out = lci("tree", "all", "-f", shape, "--max-tokens", "600", "--root", str(many)).out
    assert 400 * 4 < len(out) <= 600 * 4
    assert ('"left_out":{"places":' if shape == "json" else "left out: a larger --max-tokens shows more") in out


def test_definitions_that_a_call_may_mean_are_one_line_of_a_tree(lci: Lci, many: Path) -> None:
    ran = lci("tree", "run", "--root", str(many), PYTHONIOENCODING="utf-8")
    assert ran.out.splitlines() == [
        "run  t.c:2",
        "└── tick  unix.c:1  (×2)  (ambiguous)",
        "1 place below, to depth 3",
    ]
    assert len(lci("tree", "run", "--json", "--root", str(many)).json()["results"][0]["children"]) == 2


def test_files_of_text_that_refs_leaves_out_come_with_the_command_that_shows_them(lci: Lci, root: Path) -> None:
    out = lci("refs", "shop/store.py::clean", "--root", str(root)).out
    note = "⚠ 2 files of prose with this word left out: `lci grep -w clean`"
    assert note in out.splitlines()
    assert lci("grep", "-w", "clean", "--root", str(root), "--lang", "text", "--lang", "markdown").out
