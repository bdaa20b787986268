"""`lci mcp`, asked by the SDK's own client over real pipes."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from lci_py import app
from lci_py.cli.main import main
from lci_py.index.store.lock import writer
from tests.cli.fake import VALIDATOR
from tests.cli.mcp_server.agent import Agent, agent
from tests.conftest import CORPUS
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Path:
    """A repository of its own, whose files may be edited."""
    return Path(shutil.copytree(repo, tmp_path_factory.mktemp("served") / "repo"))


@pytest.fixture(scope="module")
def all_tools(zygote: str | None, tree: Path) -> Iterator[Agent]:
    with agent(zygote, tree, "--tools", "all") as opened:
        yield opened


@pytest.fixture(scope="module")
def texts(zygote: str | None, tree: Path) -> Iterator[Agent]:
    """A client of a server as agents start it."""
    with agent(zygote, tree, "--tools", "all", structured=False) as opened:
        yield opened


def printed(tree: Path, capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    main([*argv, "--root", str(tree), "--json"])
    return json.loads(capsys.readouterr().out)


def test_an_answer_is_that_of_the_command(all_tools: Agent, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = all_tools.call("search", query="store records", mode="multiview", limit=3)
    VALIDATOR.validate(found.structured_content)
    assert not found.is_error
    command = ("search", "store records", "-m", "multiview", "-n", "3", "--max-tokens", "6000")
    assert found.structured_content == printed(tree, capsys, *command)
    first = found.structured_content["results"][0]
    assert {"mode_source", "mode_score"} <= set(first)
    assert any(result.get("also_matched") for result in found.structured_content["results"])
    [text] = found.content
    assert json.loads(text.text) == found.structured_content

    read = all_tools.call("read", targets=[first["id"], "python/store.py:57"])
    assert read.structured_content == printed(
        tree, capsys, "show", first["id"], "python/store.py:57", "--max-tokens", "6000"
    )


def test_the_mode_is_dense_if_none_is_named(all_tools: Agent) -> None:
    assert all_tools.json("search", query="store") == all_tools.json("search", query="store", mode="dense")


ID = re.compile(r"\b[0-9a-f]{16}\b")


@pytest.mark.parametrize("tool", ["explore", "search", "similar"])
def test_a_text_has_ids_that_read_takes(texts: Agent, tool: str) -> None:
    said = texts.text(tool, **{"explore": {"question": "how does the service get records from the store", "max_tokens": 400},
                               "search": {"query": "store records", "limit": 3},
                               "similar": {"target": "python/service.py:18"}}[tool])  # fmt: skip
    ids = ID.findall(said)
    assert ids and texts.text("read", targets=ids[:2]).count("\n") >= 2


def test_what_is_left_out_is_got_with_offset(texts: Agent) -> None:
    for tool, arguments in (
        ("search", {"query": "store", "limit": 2.0}),
        ("explore", {"question": "store records", "max_tokens": 150}),
        ("refs", {"name": "Record", "limit": 2}),
        ("grep", {"pattern": "class", "limit": 2}),
        ("outline", {"paths": ["python/store.py"], "max_tokens": 40}),
    ):
        first = texts.text(tool, **arguments)
        following = re.search(r"offset (\d+) goes on", first)
        assert following, first
        lines = set(texts.text(tool, **arguments, offset=int(following[1])).splitlines())
        shown = {line for line in first.splitlines() if re.match(r" *\S*:?\d+[-: ]", line)}
        assert shown and lines and shown.isdisjoint(lines), (tool, first, lines)


def test_no_text_speaks_of_flags_or_of_commands(texts: Agent) -> None:
    asked: list[tuple[str, dict[str, Any]]] = [
        *EVERY_TOOL,
        ("search", {"query": "who calls Record"}),
        ("search", {"query": "who calls Record", "mode": "multiview", "max_tokens": 60}),
        ("explore", {"question": "store records", "max_tokens": 300}),
        ("read", {"targets": ["python/store.py"], "max_tokens": 60}),
        ("callers", {"name": "get"}),
        ("callees", {"name": "Service.get"}),
        ("affected", {"files": ["python/store.py"], "max_tokens": 30}),
        *((tool, arguments) for tool, arguments, *_ in WRONG),
    ]
    for tool, arguments in asked:
        said = texts.text(tool, **arguments)
        code = re.sub(r"(?m)^.*\d+:.*$", "", said)  # lines of source may say anything
        assert not re.search(r"(?<![\w-])--[a-z]|`lci|lci (show|def|refs|grep|search|callers)", code), (tool, said)


def test_a_question_about_something_else_is_said_first(texts: Agent) -> None:
    said = texts.text("explore", question="how does the kernel schedule interrupts of the network card")
    assert said.splitlines()[0].startswith("⚠ low confidence: nothing here seems to be about 'how does the kernel")


EVERY_TOOL: list[tuple[str, dict[str, Any]]] = [
    ("outline", {"paths": ["python/store.py"]}),
    ("callers", {"name": "Record", "all": True}),
    ("callees", {"name": "Service.get", "all": True}),
    ("path", {"from": "Service.get", "to": "no_such_function"}),
    ("refs", {"name": "Record", "limit": 2}),
    ("grep", {"pattern": "class \\w+", "limit": 2}),
    ("conflicts", {}),
    ("affected", {"files": ["python/store.py"]}),
    ("similar", {"target": "def get(self, key):\n    return self.records[key]\n"}),
    ("status", {}),
]


@pytest.mark.parametrize(("tool", "arguments"), EVERY_TOOL)
def test_every_tool_answers(all_tools: Agent, tool: str, arguments: dict[str, Any]) -> None:
    found = all_tools.call(tool, **arguments)
    VALIDATOR.validate(found.structured_content)
    assert found.content[0].text and ("error" not in found.structured_content or found.is_error)


WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    ("search", {"query": "q", "mode": "fuzzy"}, "unknown_mode", "dense, bm25, symbolic, multiview"),
    ("search", {"query": "q", "mode": ["dense"]}, "unknown_mode", "dense, bm25, symbolic, multiview"),
    ("search", {}, "usage", "nothing to search for"),
    ("search", {"query": {"a": 1}}, "usage", "query must be a string"),
    ("search", {"query": "q", "limit": 10**40}, "usage", "limit has more than 9 digits"),
    ("search", {"query": "q", "modes": "dense"}, "usage", "did you mean 'mode'"),
    ("search", {"query": "q", "root": "/"}, "usage", "unknown argument 'root'"),
    ("search", {"query": "q", "path": "../../etc/**"}, "bad_path", "is outside"),
    ("read", {}, "usage", "targets is missing"),
    ("read", {"targets": ["/etc/passwd"]}, "unknown_target", "/etc/passwd"),
    ("read", {"targets": ["../../../../etc/passwd:1-3"]}, "unknown_target", "passwd"),
    ("read", {"targets": ["a\0b"]}, "unknown_target", "nothing is named"),
    ("outline", {"paths": ["../.."]}, "unknown_target", "there is no file or folder"),
    ("affected", {"rev": "--upload-pack=x"}, "usage", "is not in a git work tree"),
    ("clean", {}, "usage", "unknown tool 'clean'"),
    ("grep", {"pattern": "(" * 50_000}, "bad_pattern", "regular expression"),
    ("search", {"query": "q", "limit": 0}, "usage", "limit must be at least 1"),
    ("search", {"query": "q", "limit": 2.5}, "usage", "limit must be a whole number"),
    ("read", {"targets": ["python"]}, "usage", "python is a folder"),
    ("similar", {"target": "no_such_thing"}, "unknown_target", "nothing is named"),
]


@pytest.mark.parametrize(("tool", "arguments", "code", "says"), WRONG)
def test_what_is_wrong_is_a_structured_error(
    all_tools: Agent, tool: str, arguments: dict[str, Any], code: str, says: str
) -> None:
    found = all_tools.call(tool, **arguments)
    assert found.is_error and found.structured_content["error"]["code"] == code
    assert says in found.content[0].text
    if code == "unknown_mode":
        assert found.structured_content["error"]["valid_modes"] == ["dense", "bm25", "symbolic", "multiview"]


def test_calls_that_are_made_at_once_are_all_answered(all_tools: Agent) -> None:
    async def ask_all() -> list[Any]:
        found: list[Any] = []

        async def ask(number: int) -> None:
            answer = await all_tools.client.call_tool("search", {"query": f"store {number}", "limit": 1})
            found.append((f"store {number}", answer.structured_content["query"]))

        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(ask, number)
        return found

    answered = all_tools.ask(ask_all)
    assert len(answered) == 8 and all(asked == query for asked, query in answered)


def test_the_resource_is_the_status(all_tools: Agent, tree: Path) -> None:
    [listed] = all_tools.ask(all_tools.client.list_resources).resources
    [found] = all_tools.ask(all_tools.client.read_resource, listed.uri).contents
    assert (str(listed.uri), found.mime_type) == ("lci://status", "application/json")
    assert json.loads(found.text)["root"] == str(tree)
    assert all_tools.ask(all_tools.client.list_resource_templates).resource_templates == []
    with pytest.raises(MCPError, match="no such resource"):
        all_tools.ask(all_tools.client.read_resource, "file:///etc/passwd")


def test_an_edited_file_is_seen_by_the_next_call(all_tools: Agent, tree: Path) -> None:
    for name in ("first_edition", "second_edition", "third"):
        (tree / "edited.py").write_text(f"def {name}():\n    return 1\n")
        [found] = all_tools.json("search", query=name, mode="symbolic")["results"]
        assert (found["symbol"], found.get("stale")) == (name, None)
    os.remove(tree / "edited.py")
    assert all_tools.json("search", query="third", mode="symbolic")["results"] == []


def test_an_index_that_another_process_made_is_read(all_tools: Agent, tree: Path) -> None:
    before = all_tools.json("search", query="store")["index"]["generation"]
    shutil.rmtree(tree / "lua")
    assert app.build_index(str(tree), jobs=1).generation > before
    after = all_tools.json("search", query="store")["index"]["generation"]
    assert after > before


# --- folders ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_client_says_which_folder(zygote: str | None, tree: Path, tmp_path: Path, mode: str) -> None:
    (other := tmp_path / "other folder").mkdir()
    (other / "main.py").write_text("def only_here():\n    pass\n")
    folders = [tmp_path / "missing", other]
    with agent(zygote, tmp_path, mode=mode, roots=lambda: folders) as opened:
        assert opened.tools() == ["explore", "search", "read"]
        assert opened.json("search", query="only_here", mode="symbolic")["results"][0]["file"] == "main.py"
        if mode == "auto":
            return  # this protocol has no message for another folder
        folders[:] = [tree]
        opened.ask(opened.client.session.send_notification, types.RootsListChangedNotification())
        assert opened.json("search", query="Record", mode="symbolic", lang="python")["results"]
    assert not (tmp_path / ".lci").exists()


def test_of_several_folders_one_is_searched_and_that_is_said_once(
    zygote: str | None, tree: Path, tmp_path: Path
) -> None:
    (other := tmp_path / "other").mkdir()
    with agent(zygote, tmp_path, roots=lambda: [tree, other], structured=False) as opened:
        said = opened.text("search", query="Record", mode="symbolic")
        assert f"only {tree} is searched, not {other}" in said
        assert "is searched" not in opened.text("search", query="Record", mode="symbolic")


def test_a_folder_inside_a_repository_stands_for_the_repository(zygote: str | None, tree: Path) -> None:
    with agent(zygote, tree.parent, "--tools", "all", roots=lambda: [tree / "python"]) as opened:
        assert opened.json("status")["root"] == str(tree)
        assert opened.json("search", query="Record", mode="symbolic", lang="python")["results"]
    assert not (tree / "python" / ".lci").exists()


def test_a_folder_that_nobody_named_gets_no_index(zygote: str | None, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("def f():\n    pass\n")
    with agent(zygote, tmp_path, mode="auto") as opened:
        found = opened.call("search", query="f")
        assert (found.is_error, found.structured_content["error"]["code"]) == (True, "no_index")
    assert not (tmp_path / ".lci").exists()


def test_a_folder_that_goes_away_is_an_error_until_it_is_back(zygote: str | None, tmp_path: Path) -> None:
    (folder := tmp_path / "folder").mkdir()
    (folder / "main.py").write_text("def f():\n    pass\n")
    with agent(zygote, tmp_path, "--root", str(folder)) as opened:
        assert opened.json("search", query="f", mode="symbolic")["results"]
        folder.rename(tmp_path / "elsewhere")
        assert opened.call("search", query="f", mode="symbolic").is_error
        (tmp_path / "elsewhere").rename(folder)
        assert opened.json("search", query="f", mode="symbolic")["results"]


# --- what is not indexed ------------------------------------------------------------------------------------------


def test_only_indexed_files_are_read_unless_the_user_allows_more(zygote: str | None, tmp_path: Path) -> None:
    root = without_index(tmp_path / "repo")
    (root / ".git" / "config").write_text("[credential]\n\tsecret = hunter2\n")
    (root / ".gitignore").write_text("secret.py\n")
    (root / ".env").write_text("KEY=hunter2\n")
    (root / "secret.py").write_text("def hunter2():\n    pass\n")
    (root / ".lci.toml").write_text("indexed_only = false\nfiles = 'all'\n")
    with agent(zygote, root, "--tools", "all") as opened:
        for target in (
            ".env",
            ".env:1",
            ".env:1-1",
            ".env:9",
            "file:.env",
            ".git/config",
            "secret.py",
            "lambda:secret.py:1",
        ):
            found = opened.call("read", targets=[target], context=3)
            assert found.is_error and "is not an indexed file" in found.content[0].text, target
            assert "hunter2" not in found.model_dump_json(), target
        found = opened.call("outline", paths=["secret.py"])
        assert found.is_error and "hunter2" not in found.model_dump_json()
        (root / "new.py").write_text("def new():\n    pass\n")
        assert "def new" in opened.call("read", targets=["new.py"]).content[0].text
    with agent(zygote, root, "--files", "all") as opened:
        assert "hunter2" in opened.call("read", targets=[".env"]).content[0].text


# --- what ends nothing but its request ----------------------------------------------------------------------------


def without_index(root: Path) -> Path:
    shutil.copytree(CORPUS / "python", root)
    (root / ".git").mkdir()
    return root


def test_the_index_is_made_and_its_progress_is_reported(zygote: str | None, tmp_path: Path) -> None:
    root = without_index(tmp_path / "repo")
    parts: list[float] = []

    async def note(part: float, whole: float | None, stage: str | None) -> None:
        assert whole == 1 and stage
        parts.append(part)

    with agent(zygote, root) as opened:
        found = opened.ask(opened.client.call_tool, "search", {"query": "store"}, progress_callback=note)
        assert found.structured_content["results"]
    assert parts and parts == sorted(set(parts)) and parts[-1] <= 1


def children(process: int) -> list[int]:
    threads = Path(f"/proc/{process}/task").glob("*/children")
    return [int(number) for thread in threads for number in thread.read_text().split()]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_a_cancelled_call_ends_and_the_server_goes_on(tmp_path: Path) -> None:
    root = without_index(tmp_path / "repo")
    before = set(children(os.getpid()))
    with agent(None, root) as opened:
        [server] = set(children(os.getpid())) - before
        [worker] = children(server)
        with writer(root / ".lci"):  # so that the index cannot be made
            scope: list[anyio.CancelScope] = []

            async def call() -> None:
                with anyio.CancelScope() as own:
                    scope.append(own)
                    await opened.client.call_tool("search", {"query": "store"})

            waiting = opened.portal.start_task_soon(call)
            until(lambda: children(worker))  # it has started the build, which waits for the lock
            opened.portal.call(scope[0].cancel)
            waiting.result(PATIENCE)
            until(lambda: children(server) and worker not in children(server))
        assert opened.json("search", query="store")["results"]
        [killed] = children(server)
        os.kill(killed, signal.SIGKILL)  # a crash is the same for a client
        found = opened.call("search", query="store")
        assert not found.is_error or found.structured_content["error"]["code"] == "internal"
        assert opened.json("search", query="store")["results"]
    until(lambda: not Path(f"/proc/{server}").exists())


def test_a_client_that_goes_away_leaves_no_process(tree: Path) -> None:
    before = set(children(os.getpid())) if sys.platform == "linux" else set()
    with agent(None, tree) as opened:
        assert opened.json("search", query="store")["results"]
        found = [*(set(children(os.getpid())) - before)] if sys.platform == "linux" else []
        found += [child for process in found for child in children(process)]
    assert all(not Path(f"/proc/{process}").exists() for process in found)
