"""`lci conflicts` over a stand-in for the application: flags, outputs, errors and exit codes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lci_py.app import build_index
from lci_py.cli.options.find import CONFLICTS
from lci_py.types.conflicts import ConflictsRequest
from lci_py.types.record import replace
from lci_py.types.search import FAIL_ON, GRAVE, RELATIONS, Filters
from tests.cli.fake import VALIDATOR, Ran, app_fixture, run_fixture  # noqa: F401  # fixtures
from tests.cli.fake_app import CONFLICT, DISAGREEMENT, HIT, SITES, FakeApp
from tests.conftest import PROJECT, Ran as Done
from tests.support.envelopes import full_name

Run = Callable[..., Ran]
DUPLICATE = replace(CONFLICT, relation="duplicate", qualified_name="a.g")
VARIANT = replace(CONFLICT, relation="variant", qualified_name="a.h")


def test_for_a_person(run: Run, app: FakeApp) -> None:
    ran = run("conflicts", "--root", "/r")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "⚠ overlap: both can hold at once\n"
        "  function a.f  python\n"
        '    src/a.py:4  [sys.platform == "win32"]\n'
        "    src/a.py:9  [FAST]                     ← active here\n"
        "\n"
        "1 conflict: 1 overlap\n"
    )
    assert app.calls == ["/r", ConflictsRequest()]
    assert (app.opened, app.closed) == (1, 1)
    assert run("conflicts", "-q").out == ran.out.replace("1 conflict: 1 overlap\n", "")


def test_who_asks_for_a_name_gets_all_of_it(run: Run, app: FakeApp) -> None:
    app.found = (replace(CONFLICT, definitions=tuple(replace(SITES[0], file=f"{i}.py") for i in range(1, 21))),)
    assert run("conflicts").out.count(".py:") == 8
    assert "… and 12 more: lci conflicts a.f\n" in run("conflicts").out
    assert run("conflicts", "a.f").out.count(".py:") == 20


def test_every_flag_reaches_the_request(run: Run, app: FakeApp) -> None:
    flags = "-r overlap,variant --relation duplicate -n 3 -l go -k class -p src/** --exclude *_test.go --name A*"
    run("conflicts", " Box.open ", *flags.split(), "--refresh", "never", "--trust-index")
    filters = Filters(lang=("go",), kind=("class",), path=("src/**",), exclude=("*_test.go",), name=("A*",))
    assert app.calls[-1] == ConflictsRequest(filters, ("overlap", "duplicate", "variant"), 3, "Box.open")
    assert (app.options["refresh"], app.options["trust"]) == ("never", True)


def test_json_is_what_the_schema_says(run: Run, app: FakeApp) -> None:
    gone = replace(CONFLICT, definitions=SITES[:1], relation="branch", missing_on=("main",))
    app.found, app.disagreements = (CONFLICT, gone), (DISAGREEMENT,)
    ran = run("conflicts", "--json", "-n", "1")
    VALIDATOR.validate(ran.json)
    assert ran.out.count("\n") == 1
    assert list(ran.json) == ["schema_version", "results", "conflicts", "total", "has_more", "by_relation", "index"]
    [found] = ran.json["results"]
    assert list(found) == ["symbol", "qualified_name", "kind", "language", "relation", "conflict", "definitions"]
    keys = ["file", "line", "branch", "build_tag", "relation"]
    assert [list(site) for site in found["definitions"]] == [keys, [*keys, "active"]]
    assert (ran.json["total"], ran.json["has_more"]) == (2, True)
    assert ran.json["by_relation"] == {"overlap": 1, "branch": 1}
    whole = run("conflicts", "--json").json
    VALIDATOR.validate(whole)
    assert "conflict" not in whole["results"][1] and whole["results"][1]["missing_on"] == ["main"]
    lines = run("conflicts", "--jsonl").lines
    for line in lines:
        VALIDATOR.validate(line)
    assert lines[:-1] == whole.pop("results")
    assert lines[-1]["summary"] == whole
    app.disagreements = ()
    assert "conflicts" not in run("conflicts", "--json").json


def test_paths(run: Run, app: FakeApp) -> None:
    assert run("conflicts", "--paths").out == "src/a.py:4\nsrc/a.py:9\n"


@pytest.mark.parametrize(
    ("fail_on", "code"),
    [
        (None, 0),
        ("overlap", 1),
        ("duplicate", 0),
        ("overlap,duplicate", 1),
        ("variant, fallback", 0),
        ("disagreement", 0),
        ("any", 1),
    ],
)
@pytest.mark.parametrize("output", ["", "--json", "--jsonl", "--paths", "-q"])
def test_what_fails_is_listed_all_the_same(run: Run, fail_on: str | None, code: int, output: str) -> None:
    words = [word for word in (output, fail_on and f"--fail-on={fail_on}") if word]
    ran = run("conflicts", *words)
    assert ran.code == code
    assert "src/a.py" in ran.out


@pytest.mark.parametrize("word", FAIL_ON)
def test_each_word_fails_on_what_it_names(run: Run, app: FakeApp, word: str) -> None:
    for relation in RELATIONS:
        app.found = (replace(CONFLICT, relation=relation),)
        assert run("conflicts", "--fail-on", word).code == (word == relation or (word == "any" and relation in GRAVE))
        assert app.calls[-1].also == ((word,) if word in RELATIONS else ())
    app.found, app.disagreements = (), (DISAGREEMENT,)
    assert run("conflicts", "--fail-on", word).code == (word in ("disagreement", "any"))
    app.disagreements = ()
    assert run("conflicts", "--fail-on", word).code == 0


def test_a_limit_hides_nothing_from_a_check(run: Run, app: FakeApp) -> None:
    app.found = (VARIANT, DUPLICATE)
    ran = run("conflicts", "-n", "1", "--fail-on", "duplicate")
    assert ran.code == 1
    assert ran.out.endswith("1 of 2 conflicts: 1 duplicate, 1 variant\n")


def test_without_a_check_none_is_no_results(run: Run, app: FakeApp) -> None:
    app.found = ()
    ran = run("conflicts")
    assert (ran.code, ran.out, ran.err) == (1, "no conflicts\n", "")
    assert run("conflicts", "--json").code == run("conflicts", "--paths").code == run("conflicts", "-q").code == 1
    VALIDATOR.validate(run("conflicts", "--json").json)
    app.disagreements = (DISAGREEMENT,)
    assert run("conflicts").code == 0


def test_a_name_without_conflicts_is_told_from_one_that_nothing_has(run: Run, app: FakeApp) -> None:
    app.found = ()
    assert run("conflicts", "f") == Ran(1, "no conflicts\n", "")
    app.hits = ()
    assert run("conflicts", "f") == Ran(1, "no conflicts\n", "lci: nothing is named 'f'\n")
    assert run("conflicts", "f", "-q").err == run("conflicts", "f", "--json").err == ""


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["-r", "variants"], "overlap, duplicate, fallback, variant, branch"),
        (["-r", ""], "overlap, duplicate, fallback, variant, branch"),
        (["-r", "overlap,"], "overlap, duplicate, fallback, variant, branch"),
        (["--fail-on", "errors"], "branch, disagreement, any"),
        (["-r", "variant", "--fail-on", "overlap"], "add it to --relation variant"),
        (["-r", "variant", "--fail-on", "disagreement"], "leave out --relation"),
        (["-n", "0"], "--limit must be at least 1"),
        (["-n", "x"], "whole number"),
        ([" "], "name is empty"),
        (["--lang", ""], "--lang is empty"),
        (["--paths", "--jsonl"], "choose one output"),
        (["--refresh", "later"], "auto, never, always"),
        (["--snippet", "1"], "--snippet"),
        (["a", "b"], "is one too many"),
    ],
)
def test_usage_errors(run: Run, app: FakeApp, argv: list[str], said: str) -> None:
    ran = run("conflicts", *argv)
    assert ran.code == 2
    shown = ran.err or ran.json["error"]["message"] + ran.json["error"]["hint"]
    assert said in shown
    assert not any(isinstance(call, ConflictsRequest) for call in app.calls)


def test_the_words_are_completed() -> None:
    choices = {flag.name: flag.choices for flag in CONFLICTS.flags}
    assert choices["relation"] == RELATIONS
    assert choices["fail_on"] == (*RELATIONS, "disagreement", "any")


def test_below_the_root_places_start_there(
    run: Run, app: FakeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "src").mkdir()
    app.root = tmp_path
    monkeypatch.chdir(tmp_path / "src")
    assert run("conflicts", "--paths").out == "a.py:4\na.py:9\n"
    assert run("conflicts", "--paths", "--root", str(tmp_path)).out == "src/a.py:4\nsrc/a.py:9\n"
    assert run("conflicts", "--json").json["results"][0]["definitions"][0]["file"] == "src/a.py"


# --- over an index ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """fixtures/disagreeing, indexed."""
    root = tmp_path_factory.mktemp("conflicts") / "repo"
    shutil.copytree(PROJECT / "fixtures" / "disagreeing", root)
    build_index(str(root), jobs=1)
    return root


def test_a_repository(lci: Callable[..., Done], root: Path) -> None:
    done = lci("conflicts", "--all", "--json", "--root", str(root))
    assert done.code == 0
    VALIDATOR.validate(done.json())
    assert {full_name(found): found["relation"] for found in done.json()["results"]} == {
        "Session.close": "duplicate",
        "wait_readable": "overlap",
        "store.lockFile": "variant",
    }
    by_name = {full_name(found): found for found in done.json()["results"]}
    assert list(by_name) == ["wait_readable", "Session.close", "store.lockFile"]  # gravest first
    assert [site["line"] for site in by_name["Session.close"]["definitions"] if site.get("active")] == [19]
    short = lci("conflicts", "--json", "--root", str(root)).json()
    VALIDATOR.validate(short)
    assert ([full_name(found) for found in short["results"]], short["left_out"]) == (list(by_name)[:2], {"variant": 1})


@pytest.mark.parametrize(
    ("args", "names"),
    [
        (["Session.close"], ["Session.close"]),
        (["close"], ["Session.close"]),
        (["client.py::close"], ["Session.close"]),
        (["clos*"], ["Session.close"]),
        (["lockFile", "--lang", "c"], []),
        (["--lang", "c"], ["wait_readable"]),
        (["--kind", "method"], ["Session.close"]),
        (["--path", "store/"], ["store.lockFile"]),
        (["--path", "*_windows.go"], ["store.lockFile"]),
        (["--exclude", "*.py", "--exclude", "*.c"], ["store.lockFile"]),
        (["--name", "wait_*", "--name", "close"], ["wait_readable", "Session.close"]),
        (["-r", "variant", "-r", "duplicate"], ["Session.close", "store.lockFile"]),
    ],
)
def test_filters(lci: Callable[..., Done], root: Path, args: list[str], names: list[str]) -> None:
    done = lci("conflicts", "--all", *args, "--json", "--root", str(root))
    assert [full_name(found) for found in done.json()["results"]] == names
    assert done.code == (0 if names else 1)


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ([], True),
        (["REQUEST_TIMEOUT"], True),
        (["REQUEST_*"], True),
        (["client.py::REQUEST_TIMEOUT"], True),
        (["lient.py::REQUEST_TIMEOUT"], False),
        (["Session.close"], False),
        (["--path", "client.py"], True),
        (["--lang", "go"], False),
        (["-r", "duplicate"], False),
    ],
)
def test_disagreements(lci: Callable[..., Done], root: Path, args: list[str], found: bool) -> None:
    done = lci("conflicts", *args, "--json", "--root", str(root))
    VALIDATOR.validate(done.json())
    assert [entry["sources"] for entry in done.json().get("conflicts", ())] == [["client.py:9", "client.py:8"]] * found
    if args[:1] != ["-r"]:
        assert lci("conflicts", *args, "--fail-on", "disagreement", "--root", str(root)).code == found


def test_the_list_is_what_a_search_says(lci: Callable[..., Done], root: Path) -> None:
    listed = lci("conflicts", "--all", "--json", "--root", str(root)).json()["results"]
    for found in listed:
        searched = lci("search", found["symbol"], "-m", "symbolic", "--conflicts", "--json", "--root", str(root)).json()
        VALIDATOR.validate(searched)
        sites = {(r["file"], r["line"]): r["definitions"] for r in searched["results"] if r.get("conflict")}
        assert sites == {(site["file"], site["line"]): found["definitions"] for site in found["definitions"]}


def test_without_an_index(lci: Callable[..., Done], tmp_path: Path) -> None:
    done = lci("conflicts", "--json", "--refresh", "never", "--root", str(tmp_path))
    assert (done.code, done.json()["error"]["code"]) == (3, "no_index")
    (tmp_path / "a.py").write_text("def f(): pass\n\n\ndef f(): pass\n")
    assert lci("conflicts", "--refresh", "always", "--fail-on", "any", "--root", str(tmp_path)).code == 1


# --- lci search --conflicts -------------------------------------------------------------------------------------------


def test_a_batch_with_conflicts(run: Run, app: FakeApp) -> None:
    app.hits = (replace(HIT, conflict=True, definitions=SITES),)
    ran = run("search", "--batch", "-", "--conflicts", stdin=b'one\n{"query": "two", "conflicts": false}\n')
    assert [request.conflicts for request in app.requests] == [True, False]
    for line in ran.lines:
        VALIDATOR.validate(line)
        assert [site.get("active") for site in line["results"][0]["definitions"]] == [None, True]


def test_a_budget_cuts_definitions_and_says_so(run: Run, app: FakeApp) -> None:
    many = tuple(replace(SITES[0], line=i) for i in range(1, 101))
    app.hits = (replace(HIT, conflict=True, definitions=many),)
    ran = run("search", "q", "--conflicts", "--max-tokens", "300", "--json")
    VALIDATOR.validate(ran.json)
    assert len(ran.json["results"][0]["definitions"]) == 3
    assert ran.json["truncated"]["definitions_dropped"] == 97
    assert "cut to" not in run("search", "q", "--conflicts", "--max-tokens", "300").out  # text shows eight of them
    text = run("search", "q", "--conflicts", "--max-tokens", "110").out
    assert "cut to 110 tokens: 1 snippet and 97 definitions dropped\n" in text and len(text.encode()) <= 440
