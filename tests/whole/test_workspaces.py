"""Workspaces through the command line: several repositories are searched as one folder with all of them would be."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lci_py.cli.main import main
from lci_py.cli.mcp_server.tools import INSTRUCTIONS, instructions, tools
from lci_py.source.repository.files import read_file
from lci_py.types.search import MODES
from tests.conftest import Ran
from tests.render.json.test_answer import VALIDATOR

Run = Callable[..., Ran]

#: One library and one program of each language, in repositories of their own.
FILES = {
    "shapes/src/acme_shapes/__init__.py": "from acme_shapes.circle import area\n",
    "shapes/src/acme_shapes/circle.py": 'def area(r):\n    """The area of a circle."""\n    return 3 * r * r\n',
    "shapes/.gitignore": "build/\n",
    "shapes/build/out.py": "def built(): pass\n",
    "report/report/main.py": "from acme_shapes import area\n\n\ndef total(items):\n    return sum(map(area, items))\n\n\n"
    "def one(r):\n    return area(r)\n",
    "ui-kit/package.json": '{"name": "@acme/ui-kit", "exports": {".": "./dist/index.js", "./button": "./dist/b.js"}}\n',
    "ui-kit/src/index.ts": "export function theme(name: string) { return name; }\n",
    "ui-kit/src/b.ts": "export function button(label: string) { return `[${label}]`; }\n",
    "shop/src/page.ts": 'import { theme } from "@acme/ui-kit";\nimport { button } from "@acme/ui-kit/button";\n\n'
    'export function page() { return theme("dark") + button("ok"); }\n',
    "golib/go.mod": "module example.org/acme/golib/v2\n",
    "golib/money/money.go": "package money\n\n// Cents of an amount.\nfunc Cents(a int) int { return a * 100 }\n",
    "gosvc/go.mod": "module example.org/acme/gosvc\n",
    "gosvc/main.go": 'package main\n\nimport "example.org/acme/golib/v2/money"\n\n'
    "func Pay() int { return money.Cents(3) }\n",
    "rs-core/Cargo.toml": '[package]\nname = "rs-core"\n',
    "rs-core/src/lib.rs": "pub fn frame(n: u32) -> u32 { n }\n",
    "rs-app/Cargo.toml": '[package]\nname = "rs-app"\n',
    "rs-app/src/main.rs": "use rs_core::frame;\n\nfn start() -> u32 { frame(1) }\n",
    "jlib/src/main/java/org/acme/text/Slug.java": "package org.acme.text;\n\npublic class Slug {\n"
    "    public static String slug(String s) { return s.trim(); }\n}\n",
    "japp/src/main/java/org/acme/app/App.java": "package org.acme.app;\n\nimport org.acme.text.Slug;\n\n"
    "public class App {\n    String title(String s) { return Slug.slug(s); }\n}\n",
}
NAMES = sorted({path.partition("/")[0] for path in FILES})


def write(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The user's data folder."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("data")
        (folder / ".git").mkdir()  # as of a user whose home folder is in git
        (folder / ".git/HEAD").write_text("ref: refs/heads/dotfiles\n")
        patch.setenv("LCI_DATA_DIR", str(folder))
        yield folder


@pytest.fixture
def run(data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """`lci` in this process, in a folder."""

    def go(*argv: str, cwd: Path | None = None) -> Ran:
        monkeypatch.chdir(cwd or data)
        capsys.readouterr()
        code = main([*argv, "-q"] if argv[0] in ("index", "workspace") else list(argv))
        return Ran(code, *capsys.readouterr())

    return go


@pytest.fixture(scope="module")
def tree(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all repositories, which is also the workspace `work`; both are indexed. No test changes it."""
    folder = tmp_path_factory.mktemp("src").resolve()
    write(folder, FILES)
    assert main(["workspace", "add", "work", *(str(folder / name) for name in NAMES), "-q"]) == 0
    for where in (["--workspace", "work"], [str(folder)]):
        assert main(["index", *where, "-q", "-j", "1"]) == 0
    return folder


@pytest.fixture
def few(tmp_path: Path, data: Path, run: Run) -> Iterator[Path]:
    """A folder with the repositories a, b and a copy of a, which are the workspace `few`."""
    folder = tmp_path.resolve()
    write(folder, {"a/pkg/one.py": "def shared():\n    return 1\n", "b/two.py": "def second():\n    return 2\n"})
    shutil.copytree(folder / "a", folder / "fork")
    assert run("workspace", "add", "few", *(str(folder / name) for name in ("a", "b", "fork"))).code == 0
    yield folder
    run("workspace", "remove", "few")


def plain(value: Any) -> Any:
    """An answer without what only one of a workspace has, and without times."""
    if isinstance(value, dict):
        own = ("repository", "workspace", "root", "built_at", "also_in")
        return {key: plain(item) for key, item in value.items() if key not in own}
    return [plain(item) for item in value] if isinstance(value, list) else value


# --- as one folder ----------------------------------------------------------------------------------------------

QUESTIONS = [
    *([("search", "the area of a circle", "-m", mode, "-n", "50") for mode in MODES if mode != "symbolic"]),
    ("search", "-m", "symbolic", "--kind", "function"),
    ("def", "area"),
    ("refs", "area"),
    ("callers", "area", "--all"),
    ("callees", "page"),
    ("tree", "start"),
    ("path", "total", "area"),
    ("outline",),
    ("show", "Slug.slug", "frame"),
    ("grep", "return"),
    ("conflicts",),
]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: "-".join(q[:1] + q[2:4:2]))
def test_answers_are_those_of_one_folder(run: Run, tree: Path, question: tuple[str, ...]) -> None:
    ours = run(*question, "--json", "--workspace", "work")
    one = run(*question, "--json", "--root", str(tree))
    VALIDATOR.validate(ours.json())
    assert (ours.code, plain(ours.json())) == (one.code, plain(one.json()))


@pytest.mark.parametrize(
    ("name", "caller"),
    [("area", "one"), ("theme", "page"), ("button", "page"), ("Cents", "Pay"), ("frame", "start"), ("slug", "title")],
)
def test_calls_cross_repositories_by_the_names_of_packages(run: Run, tree: Path, name: str, caller: str) -> None:
    found = run("callers", name, "--json", "--workspace", "work").json()
    assert caller in [one["symbol"] for one in found["results"]]
    assert found["targets"][0]["repository"] != found["results"][0]["repository"]
    assert "import" in {one["step"] for one in found["results"]}


def test_places_name_their_repository_and_can_be_opened(run: Run, tree: Path) -> None:
    answer = run("def", "area", "--json", "--workspace", "work").json()
    [found] = answer["results"]
    assert (answer["workspace"], found["repository"]) == ("work", "shapes")
    assert Path(answer["root"], found["file"]).read_text() == FILES[found["file"]]
    assert run("def", "area", "--workspace", "work", "--fields", "repository,line").json()["results"] == [
        {"repository": "shapes", "line": 1}
    ]
    # For people: from where they are, and what is printed is read again.
    printed = run("def", "area", "--paths", "--workspace", "work", cwd=tree / "report").out
    assert printed == "../shapes/src/acme_shapes/circle.py:1\n"
    path = printed.partition(":")[0]
    for place in (path, str(tree / "shapes/src"), "shapes/src"):
        again = run("def", "area", "--path", place, "--paths", "--workspace", "work", cwd=tree / "report")
        assert again.out == printed
    shown = run("show", f"{path}:1", "--workspace", "work", cwd=tree / "report")
    assert shown.out.startswith(f"{path}:1")


def test_repositories_can_be_chosen(run: Run, tree: Path) -> None:
    def files(*flags: str) -> set[str]:
        return {
            one["repository"] for one in run("grep", "area", "--json", "--workspace", "work", *flags).json()["results"]
        }

    assert files() == {"shapes", "report"}
    assert files("--repo", "rep*") == files("--repo", "report", "--repo", "ui-kit") == {"report"}
    assert files("--repo", "shapes", "--path", "*.ts") == set()
    unknown = run("search", "x", "--workspace", "work", "--repo", "shape")
    assert (unknown.code, unknown.err) == (2, "lci: unknown repository 'shape': did you mean 'shapes'?\n")
    assert "--repo needs --workspace" in run("search", "x", "--root", str(tree), "--repo", "a").err
    assert "cannot be used together" in run("search", "x", "--root", str(tree), "--workspace", "work").err
    assert "cannot be used together" in run("index", "--branches", "main", "--workspace", "work").err
    assert "did you mean 'work'?" in run("search", "x", "--workspace", "wrok").err


def test_lines_of_a_batch_and_tools_take_repositories(run: Run, tree: Path, tmp_path: Path) -> None:
    lines = [
        {"command": "grep", "pattern": "area", "repo": "report"},
        {"query": "area", "repo": ["shapes"], "path": "shapes/src"},
    ]
    (tmp_path / "batch").write_text("".join(json.dumps(line) + "\n" for line in lines))
    ran = run("search", "--batch", str(tmp_path / "batch"), "--workspace", "work")
    for line, wanted in zip(ran.out.splitlines(), ("report", "shapes"), strict=True):
        assert {one["repository"] for one in json.loads(line)["results"]} == {wanted}
    assert [tool.name for tool in tools("all", workspace=True) if "repo" in tool.arguments] == [
        "explore", "search", "refs", "grep", "conflicts",
    ]  # fmt: skip
    assert "several repositories" in instructions(tools("all", workspace=True))
    assert instructions(tools("all")) == INSTRUCTIONS


# --- copies -----------------------------------------------------------------------------------------------------


def test_copies_are_shown_once(run: Run, few: Path) -> None:
    run("index", "--workspace", "few")
    answer = run("search", "shared", "--json", "--workspace", "few", "-n", "1").json()
    [found] = answer["results"]
    assert (found["file"], found["also_in"]) == ("a/pkg/one.py", ["fork/pkg/one.py"])
    assert (answer["total"], answer["has_more"]) == (2, True)
    whole = run("search", "shared", "--json", "--workspace", "few").json()
    assert [one["file"] for one in whole["results"]] == ["a/pkg/one.py", "b/two.py"]
    assert (whole["total"], whole["has_more"]) == (2, False)
    exact = run("search", "shared", "--json", "--workspace", "few", "-n", "2").json()
    assert (exact["results"], exact["total"], exact["has_more"]) == (whole["results"], 2, False)
    rest = run("search", "shared", "--json", "--workspace", "few", "--offset", "1").json()
    assert (rest["results"], rest["total"]) == (whole["results"][1:], 2)
    named = run("def", "shared", "--workspace", "few", cwd=few)
    assert named.out.count("function shared") == 1 and "also in: fork/pkg/one.py" in named.out
    assert run("def", "shared", "--json", "--workspace", "few", "-n", "9").json()["total"] == 1
    # A copy that has changed since is none.
    (few / "fork/pkg/one.py").write_text("def shared():\n    return 3\n")
    changed = run("def", "shared", "--json", "--workspace", "few", "--refresh", "never").json()
    assert [one["file"] for one in changed["results"]] == ["a/pkg/one.py", "fork/pkg/one.py"]


# --- freshness --------------------------------------------------------------------------------------------------


def test_changes_of_a_repository_are_noticed(run: Run, few: Path) -> None:
    def defined(name: str) -> list[str]:
        return [one["file"] for one in run("def", name, "--json", "--workspace", "few").json().get("results", ())]

    run("index", "--workspace", "few")
    assert defined("second") == ["b/two.py"]
    (few / "b/two.py").write_text("def other():\n    return 22\n")
    (few / "a/new.py").write_text("def third():\n    return 3\n")
    assert (defined("other"), defined("third"), defined("second")) == (["b/two.py"], ["a/new.py"], [])
    write(few, {"c/four.py": "def fourth(): pass\n"})
    run("workspace", "add", "few", str(few / "c"))
    assert defined("fourth") == ["c/four.py"]
    run("workspace", "remove", "few", "c")
    assert defined("fourth") == []


def test_a_repository_that_is_gone_is_said_and_its_return_noticed(run: Run, few: Path) -> None:
    run("index", "--workspace", "few")
    (few / "b").rename(few / "moved")
    answer = run("search", "second", "--json", "--workspace", "few", "--strict")
    found = answer.json()
    VALIDATOR.validate(found)
    assert answer.code == 4
    assert (found["degraded"][0]["view"], found["missing_repositories"][0]["reason"]) == ("repository b", "vanished")
    assert "b/two.py" not in {one["file"] for one in found["results"]}
    assert run("grep", "second", "--json", "--workspace", "few").json()["missing_repositories"]
    built = run("index", "--workspace", "few", "--json").json()
    assert built["warnings"] == [f"b is not indexed: {few}/b: it is not there"]
    status = run("workspace", "status", "few", "--json").json()
    VALIDATOR.validate(status)
    assert [one.get("problem") for one in status["repositories"]] == [None, "vanished", None]
    (few / "moved").rename(few / "b")
    assert run("def", "second", "--json", "--workspace", "few").code == 0


def test_advice_names_the_workspace(run: Run, few: Path) -> None:
    never = run("search", "x", "--workspace", "few", "--refresh", "never", "--json")
    assert (never.code, never.json()["error"]["code"]) == (3, "no_index")
    assert never.json()["error"]["hint"] == "run `lci index --workspace few`"
    for command in (("status", "--workspace", "few"), ("workspace", "status", "few")):
        assert not run(*command, "--json").json()["workspaces"][0]["indexed"]
    before = run("status", "--workspace", "few")
    assert before.code == 0 and "not indexed yet" in before.out and "`lci index --workspace few`" in before.out
    run("index", "--workspace", "few")
    outside = run("search", "x", "--workspace", "few", "--path", "/nowhere/x.py", "--json").json()["error"]
    assert outside["message"] == "no repository of the workspace few has /nowhere/x.py"
    (few / "b/two.py").write_text("def other(): pass\n")
    stale = ("def", "shared", "--workspace", "few", "--refresh", "never")
    command = "`lci index --workspace few`"
    assert run(*stale, "--json").json()["index"]["hint"] == f"run {command}"
    assert run("search", *stale[1:]).out.rstrip().endswith(f"1 file changed since: run {command}")
    assert command in run("status", "--workspace", "few").out
    # Files are named from the current folder.
    assert run("index", "--workspace", "few", "--files", "two.py", "--json", cwd=few / "b").json()["parsed_files"] == 1
    assert "index" in run(*stale, "--json").json() and "hint" not in run(*stale, "--json").json()["index"]


# --- whose rules, and whose links -------------------------------------------------------------------------------


def test_each_repository_is_listed_by_its_own_rules(run: Run, few: Path) -> None:
    write(
        few,
        {"a/.lci.toml": 'exclude = ["gen/"]\n', "a/gen/g.py": "def gen(): pass\n", "b/gen/g.py": "def gen(): pass\n"},
    )
    write(few, {"b/.gitignore": "pkg/\n", "b/pkg/p.py": "def hidden(): pass\n", "fork/.lci.toml": "exclude = 3\n"})
    built = run("index", "--workspace", "few", "--json").json()
    assert [text.partition(":")[0] for text in built["warnings"]] == ["fork is indexed without its settings"]
    listed = run("index", "--workspace", "few", "--dry-run", "--json").json()
    assert [path for path in listed["files"] if path.endswith(".py")] == [
        "a/pkg/one.py", "b/gen/g.py", "b/two.py", "fork/pkg/one.py",
    ]  # fmt: skip
    rule = next(one["rule"] for one in listed["skipped"] if one["path"] == "b/pkg/")
    assert (rule["file"], rule["pattern"]) == ("b/.gitignore", "pkg/")


def test_no_link_of_a_repository_is_followed(run: Run, few: Path, data: Path) -> None:
    write(few, {"secret/key.py": "def secret(): pass\n"})
    (few / "a/out").symlink_to(few / "secret")
    (few / "a/key.py").symlink_to(few / "secret/key.py")
    # A folder of a clone that only looks like a workspace.
    fake = few / "clone/workspaces/few"
    fake.mkdir(parents=True, mode=0o700)
    (fake / "link").symlink_to(few / "secret")
    assert read_file(str(fake), "link/key.py") in ("vanished", "symlink")
    assert run("index", str(fake)).code == 0
    assert run("grep", "secret", "--root", str(fake)).code == 1
    run("index", "--workspace", "few")
    assert run("grep", "secret", "--workspace", "few").code == 1
    # A folder above a repository that becomes a link: what is there was never named by the user.
    write(few, {"deep/in/repo/x.py": "def honest(): pass\n", "evil/repo/x.py": "def secret(): pass\n"})
    run("workspace", "add", "few", str(few / "deep/in/repo"))
    assert run("def", "honest", "--workspace", "few").code == 0
    shutil.rmtree(few / "deep/in")
    (few / "deep/in").symlink_to(few / "evil")
    root = data / "workspaces/few"
    assert read_file(str(root), "repo/x.py") in ("vanished", "symlink")
    assert run("index", "--workspace", "few", "--json").json()["warnings"] == [
        f"repo is not indexed: {few}/deep/in/repo: it has become a link"
    ]
    assert run("def", "secret", "--workspace", "few").code == 1


def test_a_workspace_that_others_can_write_to_is_none(few: Path, run: Run, data: Path) -> None:
    from lci_py.source.repository import workspace

    root = data / "workspaces/few"
    assert workspace.is_workspace(root)
    workspace._found.clear()
    root.chmod(0o777)
    assert not workspace.is_workspace(root)
    assert isinstance(read_file(str(root), "b/two.py"), str)
    root.chmod(0o700)


# --- lci workspace ----------------------------------------------------------------------------------------------


def test_adding_listing_and_removing(run: Run, few: Path, data: Path) -> None:
    write(few, {"x/a/one.py": "def other_a(): pass\n", "odd [1]/z.py": "def odd(): pass\n"})
    listed = run("workspace", "list", "few", "--json").json()
    VALIDATOR.validate(listed)
    [found] = listed["workspaces"]
    assert [one["repository"] for one in found["repositories"]] == ["a", "b", "fork"]
    again = run("workspace", "add", "few", str(few / "a"), "--json").json()
    assert "added" not in again

    def fails(*argv: str) -> str:
        ran = run("workspace", *argv, cwd=few)
        assert ran.code == 2
        return ran.err

    assert f"the name a is taken by {few}/a" in fails("add", "few", "x/a")
    assert "one lies inside the other" in fails("add", "few", "a/pkg")
    assert "does not exist" in fails("add", "few", "nowhere")
    assert "is not a folder" in fails("add", "few", "b/two.py")
    assert "cannot be the name of a repository" in fails("add", "few", "odd [1]")
    assert "cannot be a repository" in fails("add", "few", str(data / "workspaces/few"))
    assert "cannot be the name of a workspace" in fails("add", "../up", "x")
    assert "stands for all" in fails("add", "all", "x")
    assert "unknown repository 'c'" in fails("remove", "few", "c")
    assert "unknown action" in fails("rename", "few")
    added = run("workspace", "add", "few", "x/a", "--named", "other", "--json", cwd=few).json()
    VALIDATOR.validate(added)
    assert added["added"] == [{"repository": "other", "path": f"{few}/x/a"}]
    assert run("workspace", "remove", "few", "x/a", "--json", cwd=few).json()["removed"] == added["added"]
    assert run("workspace", "remove", "few").code == 0
    assert (few / "a/pkg/one.py").exists() and not (data / "workspaces/few").exists()


def test_all_has_the_repositories_of_all_workspaces_once(run: Run, tree: Path, few: Path, data: Path) -> None:
    write(few, {"x/shapes/s.py": "def angular(): pass\n"})
    run("workspace", "add", "few", str(few / "x/shapes"), str(tree / "golib"))
    run("index", "--workspace", "all")
    found = run("def", "*a*r*", "--json", "--workspace", "all", "-n", "99").json()
    assert found["workspace"] == "all"
    names = {one["repository"] for one in found["results"]}
    assert {"a", "shapes", "work.shapes"} <= names | {"shapes"} and len([n for n in names if "shapes" in n]) == 2
    assert [one["file"] for one in run("def", "Cents", "--json", "--workspace", "all").json()["results"]] == [
        "golib/money/money.go"
    ]
    assert "all" not in [one["workspace"] for one in run("workspace", "list", "--json").json()["workspaces"]]
    run("workspace", "remove", "few", "shapes", "golib")
    assert run("def", "angular", "--workspace", "all").code == 1


# --- git, and what was known before -----------------------------------------------------------------------------


def test_each_repository_is_compared_with_its_own_commit(run: Run, few: Path) -> None:
    env = os.environ | {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    write(few, {"b/use.py": "from pkg.one import shared\n\n\ndef user():\n    return shared()\n"})
    shutil.rmtree(few / "fork")
    for line in ("init -q", "add .", "commit -qm x"):
        subprocess.run(["git", "-C", str(few / "a"), *line.split()], env=env, check=True, capture_output=True)
    (few / "a/pkg/one.py").write_text("def shared():\n    return 11\n")
    run("index", "--workspace", "few")
    found = run("affected", "--json", "--workspace", "few").json()
    VALIDATOR.validate(found)
    assert [one["file"] for one in found["changed"]] == ["a/pkg/one.py"]
    assert [one["repository"] for one in found["callers"]] == ["b"]
    assert found["uncompared"] == ["b", "fork"]


def test_new_conflicts_are_those_since_each_repositorys_own_commit(run: Run, few: Path) -> None:
    env = os.environ | {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    old = "def twice():\n    return 1\n\n\ndef twice():\n    return 2\n"
    write(few, {"a/old.py": old, "b/old.py": old})
    for name in ("a", "b"):
        for line in ("init -q", "add .", "commit -qm x"):
            subprocess.run(["git", "-C", str(few / name), *line.split()], env=env, check=True, capture_output=True)
    write(few, {"b/new.py": old.replace("twice", "again")})
    run("index", "--workspace", "few")
    asked = ("conflicts", "--diff", "HEAD", "--workspace", "few")
    found = run(*asked, "--json").json()
    VALIDATOR.validate(found)
    assert [one["symbol"] for one in found["results"]] == ["again"]
    assert found["diff"] == {"revision": "HEAD", "uncompared": ["fork"]}
    assert "fork" in run(*asked).out
    nowhere = run("conflicts", "--diff", "gone", "--workspace", "few")
    assert nowhere.code == 2 and "gone is not a commit" in nowhere.err


def test_extractions_are_taken_from_the_repositories_own_indexes(run: Run, few: Path) -> None:
    (few / "fork/pkg/one.py").write_text("def changed(): pass\n")
    for name in ("a", "b"):
        run("index", str(few / name))
    built = run("index", "--workspace", "few", "--json").json()
    assert (built["parsed_files"], built["reused_files"]) == (1, 2)
