"""The command line over a stand-in for the application: flags, outputs, errors and exit codes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

import pytest

import lci_py
from lci_py.cli.command_line import parse
from lci_py.cli.options import COMMANDS
from lci_py.cli.request import FILTER_KEYS
from lci_py.errors import EXIT_INTERRUPTED, NoIndexError
from lci_py.types.search import SearchRequest
from tests.cli.fake import VALIDATOR, Ran, app_fixture, raising, run_fixture  # noqa: F401  # fixtures
from tests.cli.fake_app import DEGRADED, HIT, FakeApp

# --- search -----------------------------------------------------------------------------------------------------


def test_search_for_a_person(run: Callable[..., Ran], app: FakeApp) -> None:
    ran = run("search", "find f")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("src/a.py\n4-5 function a.f  dense\n")
    assert ran.out.endswith("1 result · dense\n")
    assert app.requests == [SearchRequest("find f")]
    assert (app.opened, app.closed) == (1, 1)


def test_every_flag_reaches_the_request(run: Callable[..., Ran], app: FakeApp) -> None:
    flags = "-m bm25 -n 3 -l go -l rust -k class -p src/** --exclude *_test.go --name A* --snippet 0 --max-tokens 9000"
    ran = run(
        "search",
        "q",
        *flags.split(),
        "--conflicts",
        "--explain",
        "--trace",
        "--strict",
        "--root",
        "/r",
        "--model",
        "m",
        "--json",
    )
    assert ran.code == 0
    [request] = app.requests
    assert (request.mode, request.limit, request.snippet, request.max_tokens) == ("bm25", 3, 0, 9000)
    filters = request.filters
    assert (filters.lang, filters.kind, filters.path) == (("go", "rust"), ("class",), ("src/**",))
    assert (filters.exclude, filters.name) == (("*_test.go",), ("A*",))
    assert request.conflicts and request.explain and request.trace and request.strict
    assert (app.calls, app.model) == (["/r"], "m")


def test_no_mode_is_dense(run: Callable[..., Ran], app: FakeApp) -> None:
    run("search", "q")
    run("search", "q", "--mode", "dense")
    assert app.requests[0] == app.requests[1]
    assert app.requests[0].mode == "dense"


def test_json_is_one_valid_object(run: Callable[..., Ran]) -> None:
    ran = run("search", "q", "--json")
    VALIDATOR.validate(ran.json)
    assert ran.out.count("\n") == 1


def test_jsonl(run: Callable[..., Ran]) -> None:
    lines = run("search", "q", "--jsonl").lines
    assert lines[0]["file"] == "src/a.py"
    assert lines[1]["summary"]["total"] == 1


def test_paths(run: Callable[..., Ran]) -> None:
    assert run("search", "q", "--paths").out == "src/a.py:4\n"


def test_filters_alone_are_a_search(run: Callable[..., Ran], app: FakeApp) -> None:
    assert run("search", "--kind", "class").code == 0
    assert app.requests[0].query == ""


def test_quiet_leaves_the_results_only(run: Callable[..., Ran]) -> None:
    assert "result" not in run("search", "q", "-q").out


def test_max_tokens_cuts_and_says_so(run: Callable[..., Ran], app: FakeApp) -> None:
    app.hits = (HIT,) * 50
    ran = run("search", "q", "--json", "--max-tokens", "300")
    assert len(ran.out) <= 300 * 4 + 1
    assert ran.json["truncated"]["max_tokens"] == 300
    assert run("search", "q", "--max-tokens", "1", "--json").code == 0  # found, though nothing fits


# --- exit codes and errors --------------------------------------------------------------------------------------


def test_exit_codes(run: Callable[..., Ran], app: FakeApp) -> None:
    assert run("search", "nothing").code == 1
    assert run("search", "nothing", "--json").json["results"] == []
    app.degraded = DEGRADED
    assert run("search", "q").code == 0
    assert run("search", "q", "--strict", "--json").code == 4
    assert run("search", "nothing", "--strict").code == 4


USAGE_ERRORS = [
    ["search"],
    ["search", ""],
    ["search", "  "],
    ["search", "a", "b"],
    ["search", "a", "--root", ".", "--root", "."],
    ["search", "q", "--nope"],
    ["search", "q", "-n"],
    ["search", "q", "-n", "x"],
    ["search", "q", "-n", "0"],
    ["search", "q", "-n", "-3"],
    ["search", "q", "--snippet", "-1"],
    ["search", "q", "--max-tokens", "0"],
    ["search", "q", "--budget-ms", "0"],
    ["search", "q", "--budget-ms", "soon"],
    ["search", "q", "--lang", ""],
    ["search", "q", "--batch", "-"],
    ["search", "--batch", "-", "-n", "0"],
    ["search", "--batch", "/no/such/file"],
    ["def"],
    ["def", " "],
    ["def", "x", "-n", "0"],
    ["index", ".", "--root", "."],
    ["index", "-j", "0"],
    ["index", "a", "b"],
    ["index", "--wait", "-1"],
    ["index", "--wait", "soon"],
    ["index", "--files", "a", "--full"],
    ["index", "--files", "--dry-run"],
    ["search", "q", "--refresh", "sometimes"],
    ["def", "q", "--refresh", ""],
    ["clean", "x"],
    ["hook"],
    ["hook", "inst"],
    ["agent"],
    ["agent", "list", "--user", "--root", "."],
    ["status", "extra"],
    ["nope"],
]


@pytest.mark.parametrize(
    ("argv", "hint"),
    [
        (["search", "->x"], "write -- before it: lci search -- '->x'"),
        (["refs", "-x y"], "write -- before it: lci refs -- '-x y'"),
        (["search", "--jason"], "did you mean --json? to look for --jason itself: lci search -- --jason"),
        (["status", "-x"], "see `lci status --help`"),
    ],
)
def test_what_begins_with_a_dash(run: Callable[..., Ran], argv: list[str], hint: str) -> None:
    ran = run(*argv)
    assert ran.code == 2 and ran.err.endswith(f"{hint}\n")


@pytest.mark.parametrize("argv", USAGE_ERRORS, ids=" ".join)
def test_usage_errors(run: Callable[..., Ran], app: FakeApp, argv: list[str]) -> None:
    ran = run(*argv)
    assert ran.code == 2
    if "--batch" not in argv:  # a batch always prints JSON
        assert ran.out == ""
        assert ran.err.startswith("lci: ")
        assert ran.err.count("\n") == 1
    ran = run(*argv, "--json")
    assert (ran.code, ran.err) == (2, "")
    VALIDATOR.validate(ran.json)
    assert ran.json["error"]["code"] in ("usage", "bad_path")
    assert (app.requests, app.opened) == ([], app.closed)


FILTER_FLAGS = [
    (name, f"--{flag.name}")
    for name, command in COMMANDS.items()
    for flag in command.flags
    if flag.name in FILTER_KEYS and command.argument
]


@pytest.mark.parametrize(("command", "flag"), FILTER_FLAGS)
def test_an_empty_filter_is_refused_by_every_command(
    run: Callable[..., Ran], app: FakeApp, command: str, flag: str
) -> None:
    ran = run(command, "f", flag, "", "--json")
    assert (ran.code, app.opened) == (2, 0)
    assert ran.json["error"]["message"] == f"{flag} is empty"


@pytest.mark.parametrize("pair", [["--json", "--jsonl"], ["--json", "--paths"], ["--jsonl", "--paths"]])
def test_one_output_at_a_time(run: Callable[..., Ran], pair: list[str]) -> None:
    ran = run("search", "q", *pair)
    assert ran.code == 2
    assert " and ".join(pair) in ran.out + ran.err


@pytest.mark.parametrize("flag", ["--jsonl", "--paths"])
def test_a_batch_has_its_own_output(run: Callable[..., Ran], flag: str) -> None:
    assert run("search", "--batch", "-", flag).code == 2


def test_unknown_mode(run: Callable[..., Ran], app: FakeApp) -> None:
    ran = run("search", "q", "--mode", "x")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "lci: unknown mode 'x': use one of: dense, bm25, symbolic, multiview\n"
    ran = run("search", "q", "--jsonl", "--mode", "x")
    assert (ran.code, ran.err) == (2, "")
    assert ran.json["error"]["valid_modes"] == ["dense", "bm25", "symbolic", "multiview"]
    assert run("search", "q", "--mode", "").code == 2
    assert app.requests == []


def test_after_two_dashes_json_is_a_query(run: Callable[..., Ran], app: FakeApp) -> None:
    assert run("search", "--", "--json").out.startswith("src/a.py\n4-5 ")
    assert app.requests[0].query == "--json"
    assert run("search", "-n0", "--", "--json").out == ""


def test_index_errors(run: Callable[..., Ran], app: FakeApp) -> None:
    app.hook = raising(NoIndexError("/r\x1b"))
    ran = run("search", "q")
    assert (ran.code, ran.out, ran.err) == (3, "", "lci: no index at /r\\x1b: run `lci index /r\\x1b`\n")
    ran = run("search", "q", "--json")
    assert (ran.code, ran.err, ran.json["error"]["code"]) == (3, "", "no_index")


def test_a_bug_is_one_line(run: Callable[..., Ran], app: FakeApp) -> None:
    app.hook = raising(ZeroDivisionError("by zero\nand more"))
    ran = run("search", "q")
    assert (ran.code, ran.out) == (70, "")
    assert ran.err == "lci: internal error: ZeroDivisionError: by zero and more: run with -v for the traceback\n"
    assert "Traceback" in run("search", "q", "-v").err
    ran = run("search", "q", "--json")
    assert (ran.code, ran.err, ran.json["error"]["code"]) == (70, "", "internal")


@pytest.mark.parametrize("error", [EOFError(), SystemError(), RecursionError(), OSError(32, "no pipe of ours")])
def test_a_crash_is_never_no_results(run: Callable[..., Ran], app: FakeApp, error: Exception) -> None:
    app.hook = raising(error)
    assert run("search", "q").code == (0 if isinstance(error, BrokenPipeError) else 70)


def test_interrupt(run: Callable[..., Ran], app: FakeApp) -> None:
    app.hook = raising(KeyboardInterrupt())
    assert run("search", "q") == Ran(EXIT_INTERRUPTED, "", "")
    assert run("search", "--batch", "-", stdin=b"q\n").code == EXIT_INTERRUPTED


# --- def, index, status -----------------------------------------------------------------------------------------


def test_def(run: Callable[..., Ran], app: FakeApp) -> None:
    ran = run("def", "f", "-l", "python", "--exclude", "t/**")
    assert ran == Ran(0, "src/a.py:4  function a.f\n    def f()\n    Does f.\n1 definition\n", "")
    name, filters, limit = app.calls[1]
    assert (name, filters.lang, filters.exclude, limit) == ("f", ("python",), ("t/**",), 50)
    ran = run("def", "f", "--json")
    VALIDATOR.validate(ran.json)
    assert ran.json["results"][0]["doc"] == "Does f."
    assert run("def", "f", "--paths").out == "src/a.py:4\n"
    app.hits = ()
    assert run("def", "f").code == 1


def test_index(run: Callable[..., Ran], app: FakeApp) -> None:
    ran = run("index", "x", "--full", "-j", "3", "--model", "m")
    assert ran.out.startswith("indexed 1 file in 0.5 s (generation 2)\n")
    path, options = app.calls[0]
    assert (path, options["full"], options["jobs"], options["model"]) == ("x", True, 3, "m")
    assert (options["files"], options["wait"], options["defer_dense"], options["trust"]) == (None, 10, False, None)
    run("index", "--root", "y")
    assert app.calls[1][0] == "y"
    assert run("index", "-q") == Ran(0, "", "")
    VALIDATOR.validate(run("index", "--json").json)


def test_index_of_some_files(run: Callable[..., Ran], app: FakeApp) -> None:
    assert run("index", "--files", "a.py", "-q", "b/c.py", "--wait", "0", "--defer-dense", "--trust-index").code == 0
    assert run("index", "--root", "r", "--files").code == 0  # `xargs lci index --files` without input
    (path, options), (root, nothing) = app.calls
    assert (path, options["files"], options["wait"]) == (None, ("a.py", "b/c.py"), 0)
    assert options["defer_dense"] and options["trust"]
    assert (root, nothing["files"]) == ("r", ())


@pytest.mark.parametrize("command", ["search", "def"])
def test_refresh_and_trust_reach_the_session(run: Callable[..., Ran], app: FakeApp, command: str) -> None:
    assert run(command, "q").code == 0
    assert app.options.pop("progress") and app.options.pop("say") and app.options == {
        "refresh": None, "trust": None, "snippet": 2, "whole": False
    }  # fmt: skip
    assert run(command, "q", "--refresh", "always", "--trust-index").code == 0
    assert (app.options["refresh"], app.options["trust"]) == ("always", True)
    ran = run(command, "q", "--refresh", "alway", "--json")
    assert (ran.code, ran.json["error"]["hint"]) == (2, "use one of: auto, never, always")


def test_ignore_files(run: Callable[..., Ran], app: FakeApp) -> None:
    for flags, found in ((), None), (("--no-ignore",), False), (("--ignore",), True):
        assert run("index", "--dry-run", *flags).code == 0
        assert app.options == {"ignore_files": found, "allow": None, "progress": None}
    for flags, globs in (("--include", "a*", "--include", "b/"), ("a*", "b/")), (("--include", ""), ()):
        assert run("index", "--dry-run", *flags).code == 0
        assert app.options["allow"] == globs
    assert run("index", "--ignore", "--no-ignore").code == 2


def test_dry_run(run: Callable[..., Ran]) -> None:
    assert run("index", "--dry-run") == Ran(0, "a.py\n", "")
    assert run("index", "--dry-run", "-v") == Ran(0, "a.py\n", "skipped b.bin: binary\n")
    ran = run("index", "--dry-run", "--json")
    VALIDATOR.validate(ran.json)
    assert ran.json["skipped"] == [{"path": "b.bin", "reason": "binary"}]


def test_status(run: Callable[..., Ran], app: FakeApp) -> None:
    ran = run("status")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "/r: ok")
    assert run("status", "--json").json["schema_version"] == 2
    assert run("status", "-q") == Ran(0, "", "")
    assert app.options == {"check": False, "trust": None}
    run("status", "--check", "--trust-index")
    assert app.options == {"check": True, "trust": True}
    app.state = {"root": "/r", "health": "damaged"}
    assert run("status").code == 3


def test_clean(run: Callable[..., Ran], app: FakeApp) -> None:
    assert run("clean", "--cache") == Ran(0, "/r/.lci: 12.3 kB freed\n  kept mine.txt\n", "")
    VALIDATOR.validate(run("clean", "--root", "x", "--json").json)
    assert app.calls == [(None, {"cache_only": True}), ("x", {"cache_only": False})]
    assert run("clean", "-q").out == ""


def test_hook(run: Callable[..., Ran], app: FakeApp) -> None:
    ran = run("hook", "install", "--force")
    assert ran == Ran(0, "hooks in /r/.git/hooks\n  post-commit   installed\n⚠ no index\n", "")
    VALIDATOR.validate(run("hook", "status", "--json", "--root", "x").json)
    assert run("hook", "run", "--root", "y") == Ran(0, "", "")
    assert app.calls == [(None, "install", {"force": True}), ("x", "status", {"force": False}), ("y", "run")]
    assert run("hook", "uninstall").code == 1  # the hook is still installed
    app.hook_state = "skipped"
    assert (run("hook", "install").code, run("hook", "status").code, run("hook", "uninstall").code) == (1, 1, 0)


# --- help, version, completion ----------------------------------------------------------------------------------


def test_help_has_every_flag_and_worked_examples(run: Callable[..., Ran]) -> None:
    for command in COMMANDS.values():
        whole, short = run(command.name, "--help", "--all"), run(command.name, "--help")
        assert (whole.code, short.code, run("help", command.name)) == (0, 0, short)
        words = whole.out.replace(",", " ").split()
        for flag in command.flags:
            assert set(flag.spellings) <= set(words), flag
            assert flag.spellings[0] in short.out
        assert "Examples:" in whole.out and all(line in whole.out for line, _ in command.examples)
        assert command.examples[0][0] in short.out
        assert short.out.count("\n") <= 30, command.name
        assert all(len(line) <= 80 for ran in (whole, short) for line in ran.out.partition("Examples:")[0].splitlines())


def test_help_of_all_commands(run: Callable[..., Ran]) -> None:
    ran = run("help")
    assert ran == run("--help") == run("-h") and ran.code == 0
    assert all(f"\n  {name} " in ran.out for name in COMMANDS)
    assert run("help", "serch").err.startswith("lci: unknown command 'serch': did you mean 'search'?")
    page = run("help", "--man").out
    assert page.startswith(".TH LCI 1 ") and page.isascii()
    assert all(f".SS lci {name}" in page for name in COMMANDS)


def test_the_examples_of_the_help_parse() -> None:

    for command in COMMANDS.values():
        for line, _ in command.examples:
            own = next(part for part in re.split(r" [|>] ", line) if part.startswith("lci "))
            assert parse(shlex.split(own)[1:]) is not None, line


def test_version_and_no_arguments(run: Callable[..., Ran]) -> None:
    assert run("--version") == run("-V") == Ran(0, f"lci {lci_py.__version__}\n", "")
    ran = run()
    assert (ran.code, ran.out) == (2, "")
    assert len(ran.err.splitlines()) == 8 and max(map(len, ran.err.splitlines())) <= 80
