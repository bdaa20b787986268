"""Which files and names imports mean, over programs too large or too odd for fixtures/callgraph."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.callgraph.test_fixtures import Program

FILES = 40


def edges(folder: Path, files: dict[str, str]) -> set[tuple[str, str]]:
    """Caller and callee of each call."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return set(Program(folder, set()).edges())


def test_every_file_of_a_go_package_is_looked_through(tmp_path: Path) -> None:
    files = {f"store/f{n:02}.go": f"package store\n\nfunc F{n}() {{}}\n" for n in range(FILES)}
    files["store/z.go"] = "package store\n\ntype T struct{}\n\nfunc (t *T) Run() {}\n\nvar Default *T\n"
    files["store/a.go"] = "package store\n\nfunc Use() { Default.Run() }\n"
    files["store/z_test.go"] = "package store\n\nfunc Only() {}\n"
    calls = "".join(f"\tstore.F{n}()\n" for n in range(FILES))
    files["main.go"] = (
        'package main\n\nimport "example.org/shop/store"\n\nfunc main() {\n'
        f"{calls}\tstore.Default.Run()\n\tstore.Only()\n}}\n"
    )
    wanted = {("main.go::main.main", f"store/f{n:02}.go::store.F{n}") for n in range(FILES)}
    assert edges(tmp_path, files) == wanted | {
        ("main.go::main.main", "store/z.go::store.T.Run"),
        ("store/a.go::store.Use", "store/z.go::store.T.Run"),
    }


def test_a_go_function_of_the_name_of_its_package_does_not_hide_the_package(tmp_path: Path) -> None:
    files = {
        "errors/a.go": "package errors\n\nfunc errors() {}\n\nfunc New() {}\n",
        "main.go": 'package main\n\nimport "example.org/shop/errors"\n\nfunc main() { errors.New() }\n',
    }
    assert edges(tmp_path, files) == {("main.go::main.main", "errors/a.go::errors.New")}


@pytest.mark.parametrize(
    ("suffix", "declared", "user"),
    [
        (
            "cs",
            "namespace N {{ public class C{n} {{ public static void F() {{}} }} }}\n",
            "using N;\nnamespace U {{ class User {{ void Go() {{ {calls} }} }} }}\n",
        ),
        (
            "java",
            "package n;\n\npublic class C{n} {{\n  public static void F() {{}}\n}}\n",
            "package u;\n\nimport n.*;\n\nclass User {{\n  void Go() {{ {calls} }}\n}}\n",
        ),
    ],
)
def test_every_file_of_a_package_is_looked_through(tmp_path: Path, suffix: str, declared: str, user: str) -> None:
    files = {f"n/C{n:02}.{suffix}": declared.format(n=n) for n in range(FILES)}
    # A second type of each name: only the import says which one is meant.
    files |= {
        f"m/C{n:02}.{suffix}": declared.replace("N ", "M ").replace(" n;", " m;").format(n=n) for n in range(FILES)
    }
    files[f"u/User.{suffix}"] = user.format(calls=" ".join(f"C{n}.F();" for n in range(FILES)))
    found = {(source.rpartition(".")[2], target.partition("::")[0]) for source, target in edges(tmp_path, files)}
    assert found == {("Go", f"n/C{n:02}.{suffix}") for n in range(FILES)}


MAIN = 'if __name__ == "__main__":\n    go()\n'


def test_of_copies_of_a_type_the_nearest_counts(tmp_path: Path) -> None:
    """As of a fork beside its original."""
    one = "package org.acme;\n\npublic class Slug {\n    public static int slug() { return 1; }\n}\n"
    user = "package org.app;\n\nimport org.acme.Slug;\n\nclass App { int run() { return Slug.slug(); } }\n"
    files = {f"{name}/org/acme/Slug.java": one for name in ("a", "b")}
    files |= {f"{name}/org/app/App.java": user for name in ("a", "b")}
    assert edges(tmp_path, files) == {
        (f"{name}/org/app/App.java::org.app.App.run", f"{name}/org/acme/Slug.java::org.acme.Slug.slug")
        for name in ("a", "b")
    }


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("import helper\n\n\ndef go():\n    helper.assist()\n", {"pkg/helper.py::assist"}),
        ("from helper import assist\n\n\ndef go():\n    assist()\n", {"pkg/helper.py::assist"}),
        ("from sub.deep import dig\n\n\ndef go():\n    dig()\n", {"pkg/sub/deep.py::dig"}),
        # It names its package, so that it is not run from its folder.
        ("import helper\nfrom . import other\n\n\ndef go():\n    helper.assist()\n", set()),
        ("import helper\nfrom pkg import other\n\n\ndef go():\n    helper.assist()\n", set()),
        ("import logging\n\n\ndef go():\n    logging.info()\n", set()),  # the standard library's
    ],
)
def test_a_script_in_a_package_finds_what_is_beside_it(tmp_path: Path, script: str, found: set[str]) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/helper.py": "def assist():\n    pass\n",
        "pkg/sub/__init__.py": "",
        "pkg/sub/deep.py": "def dig():\n    pass\n",
        "pkg/logging.py": "def info():\n    pass\n",
        "pkg/other.py": "",
        "pkg/tool.py": f"{script}\n\n{MAIN}",
    }
    called = {target for source, target in edges(tmp_path, files) if source == "pkg/tool.py::go"}
    assert called == found


@pytest.mark.parametrize(
    ("init", "found"),
    [
        ("", {"pkg/m.py::m", "pkg/m.py::other"}),
        (None, {"pkg/m.py::m", "pkg/m.py::other"}),  # a package without `__init__.py`
        ("from . import m\n", {"pkg/m.py::m", "pkg/m.py::other"}),
        ("from .m import m\n", {"pkg/m.py::m"}),
        ("from .n import m\n", {"pkg/n.py::m"}),
        ("from .n import *\n", {"pkg/n.py::m"}),
        ("def m():\n    pass\n", {"pkg/__init__.py::m"}),
    ],
)
@pytest.mark.parametrize("passed", [False, True], ids=["called", "passed"])
def test_a_submodule_counts_unless_its_package_binds_the_name(
    tmp_path: Path, init: str | None, found: set[str], passed: bool
) -> None:
    call = "run(m)\n    run(m.m)\n    run(m.other)" if passed else "m()\n    m.m()\n    m.other()"
    files = {
        "pkg/m.py": "def m():\n    pass\n\n\ndef other():\n    pass\n",
        "pkg/n.py": "def m():\n    pass\n",
        "use.py": f"from pkg import m\n\n\ndef run(f):\n    f()\n\n\ndef go():\n    {call}\n",
    }
    if init is not None:
        files["pkg/__init__.py"] = init
    source = "use.py::run" if passed else "use.py::go"
    assert {target for caller, target in edges(tmp_path, files) if caller == source} - {"use.py::run"} == found


def test_a_submodule_is_found_though_the_package_imports_by_star_what_imports_it(tmp_path: Path) -> None:
    files = {  # as in asyncio
        "pkg/__init__.py": "from .base import *\n",
        "pkg/base.py": (
            "import concurrent.tasks\nfrom . import tasks\n\n\nclass Loop:\n    def __init__(self):\n"
            "        self.task = tasks.Task()\n\n    def run(self):\n        self.task.step()\n"
        ),
        "pkg/tasks.py": "class Task:\n    def step(self):\n        pass\n",
        "pkg/use.py": "from . import tasks\n\n\ndef go(make):\n    make().step()\n\n\ngo(tasks.Task)\n",
    }
    assert edges(tmp_path, files) == {
        ("pkg/base.py::Loop.__init__", "pkg/tasks.py::Task"),
        ("pkg/base.py::Loop.run", "pkg/tasks.py::Task.step"),
        ("pkg/use.py", "pkg/use.py::go"),
        ("pkg/use.py::go", "pkg/tasks.py::Task"),
        ("pkg/use.py::go", "pkg/tasks.py::Task.step"),
    }


def test_a_dotted_import_binds_its_first_part(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/inner.py": "def f():\n    pass\n\n\ndef g():\n    pass\n",
        "use.py": "import pkg.inner\n\n\ndef go(inner):\n    pkg.inner.f()\n    inner.g()\n",
        "own.py": "import pkg.inner\n\n\ndef go():\n    inner.g()\n",
    }
    assert edges(tmp_path, files) == {("use.py::go", "pkg/inner.py::f")}


LIB = "export function send() {}\n"
USE = 'import {{ send }} from "{0}";\n\nexport function go() {{ send(); }}\n'


@pytest.mark.parametrize(
    ("manifest", "asked", "path"),
    [
        ("", "@shop/mail", "src/index.ts"),
        ('"main": "./lib/start.js"', "@shop/mail", "lib/start.js"),
        ('"main": "dist/start.js"', "@shop/mail", "src/start.ts"),  # what a build will write
        ('"module": "./esm/start.mjs", "main": "./old.js"', "@shop/mail", "src/start.ts"),
        ('"exports": "./main.js"', "@shop/mail", "main.js"),
        ('"exports": {"types": "./x.d.ts", "import": "./dist/a.mjs"}', "@shop/mail", "src/a.ts"),
        ('"exports": {".": "./a.js", "./deep": {"default": "./b.js"}}', "@shop/mail/deep", "b.js"),
        ('"exports": {"./parts/*": "./dist/parts/*.js"}', "@shop/mail/parts/one/two", "src/parts/one/two.ts"),
        ('"exports": {"./parts/*.js": "./src/parts/*.ts"}', "@shop/mail/parts/one.js", "src/parts/one.ts"),
        ("", "@shop/mail/src/deep", "src/deep.ts"),
    ],
)
def test_a_package_of_the_repository_is_imported_by_its_name(
    tmp_path: Path, manifest: str, asked: str, path: str
) -> None:
    files = {
        "packages/mail/package.json": f'{{"name": "@shop/mail"{", " if manifest else ""}{manifest}}}\n',
        f"packages/mail/{path}": LIB,
        "packages/mail/other.css": "",
        "packages/web/src/go.ts": USE.format(asked),
        "elsewhere/send.ts": LIB,
    }
    assert edges(tmp_path, files) == {("packages/web/src/go.ts::go", f"packages/mail/{path}::send")}


def test_a_package_imports_its_own_files_by_names(tmp_path: Path) -> None:
    files = {
        "p/package.json": '{"name": "p", "imports": {"#mail": "./lib/mail.js", "#parts/*": "./lib/parts/*.js"}}\n',
        "p/lib/mail.js": LIB,
        "p/lib/parts/one.js": "export function one() {}\n",
        "p/src/a/go.js": 'import { one } from "#parts/one";\n' + USE.format("#mail") + "one();\n",
        "q/go.js": USE.format("#mail"),  # another package's
    }
    wanted = {("p/src/a/go.js::go", "p/lib/mail.js::send"), ("p/src/a/go.js", "p/lib/parts/one.js::one")}
    assert edges(tmp_path, files) == wanted


@pytest.mark.parametrize(
    "manifest",
    [
        '{"name": "mail"',
        "[1, 2]",
        '{"name": 3}',
        '{"name": "mail", "exports": {".": 3, "./a": ["./x.js", null]}, "main": {"a": 1}}',
        '{"name": "mail", "exports": ' + '{".": ' * 5000 + "1" + "}" * 5000 + "}",
        '{"name": "mail", "main": "../../../../etc/go.js"}',
        '{"name": "other", "main": "./go.js"}',
        '{"name": "mail", "exports": {"./sub": "./go.js"}}',
    ],
)
def test_a_manifest_that_does_not_say_what_a_name_means_is_none(tmp_path: Path, manifest: str) -> None:
    files = {"mail/package.json": manifest, "mail/go.js": LIB, "web/go.js": USE.format("mail")}
    assert edges(tmp_path, files) == set()


def test_a_package_among_tests_is_for_tests(tmp_path: Path) -> None:
    files = {
        "tests/mail/package.json": '{"name": "mail", "main": "./start.js"}',
        "tests/mail/start.js": LIB,
        "src/go.js": USE.format("mail"),
        "tests/go.js": USE.format("mail"),
    }
    assert edges(tmp_path, files) == {("tests/go.js::go", "tests/mail/start.js::send")}


def test_the_nearest_of_two_packages_counts(tmp_path: Path) -> None:
    files = {f"{side}/mail/package.json": '{"name": "mail", "main": "a.js"}' for side in ("a", "b")}
    files |= {f"{side}/mail/a.js": LIB for side in ("a", "b")}
    files |= {f"{side}/web/go.js": USE.format("mail") for side in ("a", "b")}
    assert edges(tmp_path, files) == {(f"{side}/web/go.js::go", f"{side}/mail/a.js::send") for side in ("a", "b")}


def test_a_relative_import_means_a_file_of_its_language_first(tmp_path: Path) -> None:
    files = {"button.css": "a {}\n", "button.js": LIB, "go.js": USE.format("./button")}
    assert edges(tmp_path, files) == {("go.js::go", "button.js::send")}
