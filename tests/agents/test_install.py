"""`lci agent`: what is written where, what is left alone, and that nothing of it stays behind."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lci_py.agents import safe_files
from lci_py.agents.entry import read_json
from lci_py.agents.table import AGENTS, BY_NAME, HEADS, NAMES, TASKS, TEXT
from lci_py.source.text import parse_toml
from tests.agents.conftest import Agent, states, tree

COMMAND = {"command": "lci", "args": ["mcp"]}
STDIO = {"type": "stdio", **COMMAND}
OPENCODE = {"type": "local", "command": ["lci", "mcp"], "enabled": True}
COPILOT = {"type": "local", **COMMAND, "tools": ["*"]}
#: Agent -> its file of MCP servers, and what is in it if lci makes it; its other files.
PROJECT: dict[str, tuple[str, Any, list[str]]] = {
    "claude-code": (".mcp.json", {"mcpServers": {"lci": STDIO}}, ["CLAUDE.md", ".claude/skills/lci/SKILL.md"]),
    "codex": (".codex/config.toml", {"mcp_servers": {"lci": COMMAND}}, ["AGENTS.md"]),
    "cursor": (".cursor/mcp.json", {"mcpServers": {"lci": COMMAND}}, [".cursor/rules/lci.mdc"]),
    "vscode": (".vscode/mcp.json", {"servers": {"lci": STDIO}}, ["AGENTS.md"]),
    "copilot-cli": (".github/mcp.json", {"mcpServers": {"lci": COPILOT}}, ["AGENTS.md"]),
    "gemini-cli": (".gemini/settings.json", {"mcpServers": {"lci": COMMAND}}, ["GEMINI.md"]),
    "opencode": ("opencode.json", {"mcp": {"lci": OPENCODE}}, ["AGENTS.md"]),
    "zed": (".zed/settings.json", {"context_servers": {"lci": COMMAND}}, ["AGENTS.md"]),
    "windsurf": ("", None, ["AGENTS.md"]),
    "cline": ("", None, ["AGENTS.md"]),
    "kiro": (".kiro/settings/mcp.json", {"mcpServers": {"lci": COMMAND}}, ["AGENTS.md"]),
    "agents-md": ("", None, ["AGENTS.md"]),
}
CODE = "Library/Application Support/Code" if sys.platform == "darwin" else ".config/Code"
USER: dict[str, tuple[str, Any, list[str]]] = {
    "claude-code": (".claude.json", PROJECT["claude-code"][1], [".claude/CLAUDE.md", ".claude/skills/lci/SKILL.md"]),
    "codex": (".codex/config.toml", PROJECT["codex"][1], [".codex/AGENTS.md"]),
    "cursor": (".cursor/mcp.json", PROJECT["cursor"][1], []),
    "vscode": (f"{CODE}/User/mcp.json", PROJECT["vscode"][1], []),
    "copilot-cli": (".copilot/mcp-config.json", PROJECT["copilot-cli"][1], [".copilot/copilot-instructions.md"]),
    "gemini-cli": (".gemini/settings.json", PROJECT["gemini-cli"][1], [".gemini/GEMINI.md"]),
    "opencode": (".config/opencode/opencode.json", PROJECT["opencode"][1], [".config/opencode/AGENTS.md"]),
    "zed": (".config/zed/settings.json", PROJECT["zed"][1], []),
    "windsurf": (
        ".codeium/windsurf/mcp_config.json",
        {"mcpServers": {"lci": COMMAND}},
        [".codeium/windsurf/memories/global_rules.md"],
    ),
    "cline": (
        ".cline/data/settings/cline_mcp_settings.json",
        {"mcpServers": {"lci": COMMAND}},
        [".cline/rules/lci.md"],
    ),
    "kiro": (".kiro/settings/mcp.json", PROJECT["kiro"][1], [".kiro/steering/lci.md"]),
}


def block(*names: str) -> str:
    mark = f"<!-- lci:start {' '.join(sorted(names))}: kept by `lci agent`, edits are lost -->"
    return f"{mark}\n{TEXT}<!-- lci:end -->"


def check(folder: Path, name: str, files: tuple[str, Any, list[str]]) -> None:
    config, wanted, others = files
    if config:
        text = (folder / config).read_text("utf-8")
        assert (parse_toml(text) if config.endswith(".toml") else json.loads(text)) == wanted
    for path in others:
        text = (folder / path).read_text("utf-8")
        if path.endswith("SKILL.md"):
            assert text == f"{HEADS['skill']}{block(name).replace(TEXT, TASKS)}\n"
        elif path.endswith(".mdc"):
            assert text == f"{HEADS['cursor']}{block(name)}\n"
        elif "steering" in path:
            assert text == f"{HEADS['kiro']}{block(name)}\n"
        else:
            assert text == f"{block(name)}\n"


def test_all_agents_are_in_the_tables() -> None:
    assert tuple(PROJECT) == NAMES
    assert tuple(USER) == NAMES[:-1]


@pytest.mark.parametrize("name", PROJECT)
def test_a_project_and_back(agent: Agent, root: Path, name: str) -> None:
    before = tree(root)
    assert agent("install", name).code == 0
    check(root, name, PROJECT[name])
    written = tree(root)
    assert {path for path in written.keys() - before.keys() if (root / path).is_file()} == {
        path for path in (PROJECT[name][0], *PROJECT[name][2]) if path
    }
    again = agent("install", name)
    assert (again.code, again.out.endswith("nothing to do\n")) == (0, True)
    assert tree(root) == written
    assert agent("uninstall", name).code == 0
    assert tree(root) == before


@pytest.mark.parametrize("name", USER)
def test_the_users_own_files_and_back(agent: Agent, root: Path, home: Path, name: str) -> None:
    (home / ".config").mkdir()  # is there on every machine
    (home / ".config" / "other").touch()
    before, project = tree(home), tree(root)
    assert agent("install", name, "--user").code == 0
    check(home, name, USER[name])
    assert agent("install", "--user", name).out.endswith("nothing to do\n")
    ran = agent("uninstall", "--user", "--json")
    assert (ran.code, [found["name"] for found in ran.json["agents"]]) == (0, [name])
    assert tree(home) == before
    assert tree(root) == project


def test_folders_that_variables_name(agent: Agent, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    assert agent("install", "--user", *USER).code == 0
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    wanted = {
        "CLAUDE_CONFIG_DIR/.claude.json", "CLAUDE_CONFIG_DIR/CLAUDE.md", "CLAUDE_CONFIG_DIR/skills/lci/SKILL.md",
        "CODEX_HOME/AGENTS.md", "CODEX_HOME/config.toml", "COPILOT_HOME/mcp-config.json", "GEMINI_CLI_HOME/.gemini/GEMINI.md",
        "GEMINI_CLI_HOME/.gemini/settings.json", "XDG_CONFIG_HOME/opencode/AGENTS.md",
        "XDG_CONFIG_HOME/opencode/opencode.json", "XDG_CONFIG_HOME/zed/settings.json", "home/.cursor/mcp.json",
    }  # fmt: skip
    if sys.platform != "darwin":
        wanted.add("XDG_CONFIG_HOME/Code/User/mcp.json")
    assert wanted <= found
    assert agent("uninstall", "--user").code == 0
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


EXISTING = {
    ".mcp.json": '{\r\n\t"mcpServers": {\r\n\t\t"x": {"command": "y"}\r\n\t}\r\n}',
    "CLAUDE.md": "# Rules\n\nBe kind.",
    ".codex/config.toml": 'model = "m" # mine\n\n[mcp_servers.x]\ncommand = "y"\n',
    "AGENTS.md": "# All\n",
    ".cursor/mcp.json": '{"mcpServers": {"x": 1}}',
    ".vscode/mcp.json": '\ufeff{\n  // servers\n  "servers": {\n    // none\n  },\n  "inputs": [],\n}\n',
    ".github/mcp.json": '{"mcpServers": {"x": 1,},}',
    ".kiro/settings/mcp.json": '{"mcpServers": { /* none */\n}}',
    ".gemini/settings.json": '{ "theme": "dark" }',
    "GEMINI.md": "text \r\n\r\n",
    "opencode.jsonc": '{\n  "$schema": "https://opencode.ai/config.json"\n}\n',
    ".zed/settings.json": '// Zed\n{\n  "a": [1, 2,],\n  // "context_servers": {}\n}\n',
}


def test_what_was_there_is_there_again_to_the_byte(agent: Agent, root: Path) -> None:
    for name, text in EXISTING.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())
        (root / name).chmod(0o640)
    before = tree(root)
    ran = agent("install", "--json")
    assert ran.code == 0
    assert [found["name"] for found in ran.json["agents"]] == [
        name for name in NAMES if name not in ("windsurf", "cline")
    ]
    assert set(states(ran).values()) == {"installed"}
    written = tree(root)
    assert all(written[name] != before[name] and written[name][0] == "-rw-r-----" for name in EXISTING)
    assert agent("install", "--json").json["agents"][0]["files"][0]["change"] == "none"
    assert tree(root) == written
    # One after the other, and each leaves what the others need.
    for name in NAMES:
        assert agent("uninstall", name).code == 0
        assert (f" {name}" in (root / "AGENTS.md").read_text("utf-8")) is False
    assert tree(root) == before


def test_agents_that_read_one_file_share_a_block(agent: Agent, root: Path) -> None:
    agent("install", "codex", "opencode")
    agent("install", "vscode")
    assert (root / "AGENTS.md").read_text("utf-8") == block("codex", "opencode", "vscode") + "\n"
    agent("uninstall", "codex")
    assert (root / "AGENTS.md").read_text("utf-8") == block("opencode", "vscode") + "\n"
    assert states(agent("list", "codex", "--json")) == {".codex/config.toml": "absent", "AGENTS.md": "absent"}
    agent("uninstall", "opencode", "vscode")
    assert not (root / "AGENTS.md").exists()


def test_an_older_block_is_brought_up_to_date(agent: Agent, root: Path) -> None:
    old = "# A\n\n<!-- lci:start codex -->\nUse lci 0.0.\n<!-- lci:end -->\n\n# B\n"
    (root / "AGENTS.md").write_text(old)
    assert states(agent("list", "codex", "--json"))["AGENTS.md"] == "outdated"
    assert agent("install", "codex").code == 0
    assert (root / "AGENTS.md").read_text("utf-8") == f"# A\n\n{block('codex')}\n\n# B\n"
    agent("uninstall", "codex")
    assert (root / "AGENTS.md").read_text("utf-8") == "# A\n\n# B\n"


def test_only_a_part(agent: Agent, root: Path) -> None:
    agent("install", "claude-code", "--only", "mcp")
    assert set(tree(root)) == {".git", ".mcp.json"}
    agent("install", "claude-code", "--only", "instructions")
    agent("uninstall", "--only", "mcp")
    assert set(tree(root)) == {
        ".git",
        "CLAUDE.md",
        ".claude",
        ".claude/skills",
        ".claude/skills/lci",
        ".claude/skills/lci/SKILL.md",
    }


# --- which agents, and which of their files -----------------------------------------------------------------------


def detected(ran: Any) -> dict[str, list[str]]:
    return {found["name"]: found.get("detected", []) for found in ran.json["agents"]}


def test_agents_in_use_are_found_by_their_files_and_folders(agent: Agent, root: Path, home: Path) -> None:
    (root / "GEMINI.md").write_text("x\n")
    (root / ".cursorrules").symlink_to("/nowhere")
    (home / ".codex").mkdir()
    (home / ".cursor").mkdir()
    ran = agent("install", "--json")
    assert detected(ran) == {
        "codex": ["~/.codex"],
        "cursor": [".cursorrules", "~/.cursor"],
        "gemini-cli": ["GEMINI.md"],
    }
    written = tree(root)
    assert "AGENTS.md" in written
    again = agent("install")  # the AGENTS.md that lci has made is no sign of anybody
    assert again.out.endswith("nothing to do\n") and "agents-md" not in again.out
    assert tree(root) == written
    assert list(detected(agent("install", "--user", "--json"))) == ["codex", "cursor"]


def test_without_any_agent_agents_md_is_written_and_said_so(agent: Agent, root: Path, home: Path) -> None:
    before = tree(root)
    ran = agent("install")
    assert ran.code == 0 and "no agent was found here: AGENTS.md is used" in ran.out
    assert (root / "AGENTS.md").read_text("utf-8") == block("agents-md") + "\n"
    assert agent("install", "--json").json["agents"][0]["files"][0]["change"] == "none"
    agent("uninstall")
    assert tree(root) == before
    assert agent("uninstall").out.endswith("nothing is installed\n")
    ran = agent("install", "--user")
    assert ran.code == 2 and "no agent was found in the home folder" in ran.err
    assert tree(home) == {}


def test_claude_md_that_imports_agents_md_or_is_a_link_to_it(agent: Agent, root: Path) -> None:
    (root / "AGENTS.md").write_text("# All\n")
    (root / "CLAUDE.md").write_text("See\n@AGENTS.md\n")
    before = tree(root)
    agent("install", "claude-code", "codex")
    assert (root / "AGENTS.md").read_text("utf-8") == f"# All\n\n{block('claude-code', 'codex')}\n"
    assert (root / "CLAUDE.md").read_text("utf-8") == "See\n@AGENTS.md\n"
    agent("uninstall")
    assert tree(root) == before
    (root / "CLAUDE.md").unlink()
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    before = tree(root)
    agent("install", "claude-code", "codex")
    assert (root / "AGENTS.md").read_text("utf-8") == f"# All\n\n{block('claude-code', 'codex')}\n"
    assert (root / "CLAUDE.md").is_symlink()
    agent("uninstall")
    assert tree(root) == before


@pytest.mark.parametrize(
    ("path", "text", "imported"),
    [
        ("CLAUDE.md", "See @./AGENTS.md.\n", True),
        ("CLAUDE.md", "- all rules: @AGENTS.md, please\n", True),
        (".claude/CLAUDE.md", "@../AGENTS.md\n", True),
        ("CLAUDE.md", "Write `@AGENTS.md` there\n", False),
        ("CLAUDE.md", "me@AGENTS.md, @AGENTS.mdx, @docs/AGENTS.md\n", False),
    ],
)
def test_what_is_an_import_of_agents_md(agent: Agent, root: Path, path: str, text: str, imported: bool) -> None:
    (root / "AGENTS.md").write_text("# All\n")
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_text(text)
    agent("install", "claude-code", "--only", "instructions")
    assert ("lci:start" in (root / "AGENTS.md").read_text("utf-8")) is imported
    assert ("lci:start" in (root / path).read_text("utf-8")) is not imported


def test_a_folder_that_is_a_link_inside_the_project(agent: Agent, root: Path) -> None:
    (root / "shared").mkdir()
    (root / ".cursor").symlink_to("shared")
    before = tree(root)
    assert agent("install", "cursor").code == 0
    assert (root / "shared" / "mcp.json").is_file()
    assert agent("uninstall").code == 0
    assert tree(root) == before


def test_gemini_that_reads_agents_md(agent: Agent, root: Path) -> None:
    (root / ".gemini").mkdir()
    (root / ".gemini" / "settings.json").write_text('{"context": {"fileName": ["AGENTS.md", "GEMINI.md"]}}')
    before = tree(root)
    agent("install", "gemini-cli")
    assert (root / "AGENTS.md").exists() and not (root / "GEMINI.md").exists()
    agent("uninstall", "gemini-cli")
    assert tree(root) == before


@pytest.mark.parametrize("name", [".rules", ".github/copilot-instructions.md", "CLAUDE.md"])
def test_zed_reads_the_first_of_many_files(agent: Agent, root: Path, name: str) -> None:
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text("mine\n")
    (root / "GEMINI.md").write_text("mine\n")
    before = tree(root)
    agent("install", "zed")
    assert (root / name).read_text("utf-8") == f"mine\n\n{block('zed')}\n"
    assert not (root / "AGENTS.md").exists()
    (root / "AGENTS.md").write_text("new\n")  # what Zed reads from now on; the block is not written twice
    assert agent("install", "zed").out.endswith("nothing to do\n")
    agent("uninstall", "zed")
    (root / "AGENTS.md").unlink()
    assert tree(root) == before


def test_the_configuration_that_an_agent_has(agent: Agent, root: Path) -> None:
    (root / "opencode.jsonc").write_text("{\n  // mine\n}\n")
    (root / "AGENTS.override.md").write_text("mine\n")
    (root / ".github").mkdir()
    (root / ".github" / "copilot-instructions.md").write_text("mine\n")
    agent("install", "opencode", "codex", "vscode", "--only", "mcp")
    assert "lci" in (root / "opencode.jsonc").read_text("utf-8") and not (root / "opencode.json").exists()
    ran = agent("install", "codex", "vscode", "--json")
    assert {".github/copilot-instructions.md", "AGENTS.override.md"} <= set(states(ran))
    assert not (root / "AGENTS.md").exists()


# --- what is left alone -------------------------------------------------------------------------------------------


def link_out(path: Path, outside: Path) -> None:
    (outside / "target").write_text("{}")
    path.symlink_to(outside / "target")


def folder_link_out(path: Path, outside: Path) -> None:
    path.parent.rmdir()
    path.parent.symlink_to(outside)


BROKEN: dict[str, tuple[Any, str]] = {
    "not JSON": (lambda path, _: path.write_text('{\n"a": 1,\n"b" 2}'), "is not valid JSON (line 3: Expecting ':' delimiter)"),
    "a list": (lambda path, _: path.write_text("[]"), "is no JSON object"),
    "of another shape": (lambda path, _: path.write_text('{"mcpServers": "x"}'), "mcpServers is not an object"),
    "another lci": (lambda path, _: path.write_text('{"mcpServers": {"lci": {"url": "x"}}}'), "lci in mcpServers does not start lci"),
    "empty": (lambda path, _: path.touch(), "is empty"),
    "latin-1": (lambda path, _: path.write_bytes(b'{"a": "\xe9"}'), "is not UTF-8"),
    "binary": (lambda path, _: path.write_bytes(b"{}\0"), "is not text"),
    "a folder": (lambda path, _: path.mkdir(), "is not a regular file"),
    "a pipe": (lambda path, _: os.mkfifo(path), "is not a regular file"),
    "read-only": (lambda path, _: (path.write_text("{}"), path.chmod(0o444)), "is read-only"),
    "a link out": (link_out, "leads out of "),
    "a link to nowhere outside": (lambda path, outside: path.symlink_to(outside / "new"), "leads out of "),
    "a folder that is a link out": (folder_link_out, "leads out of "),
    "a folder that is a file": (lambda path, _: (path.parent.rmdir(), path.parent.touch()), ".cursor is not a folder"),
    "a link to itself": (lambda path, _: path.symlink_to(path), "is a symbolic link that leads nowhere"),
    "a link into .git": (lambda path, _: path.symlink_to("../.git/config"), "leads to .git/config by a symbolic link"),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_not_understood_is_left_alone_and_the_others_go_on(
    agent: Agent, root: Path, tmp_path: Path, what: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    path = root / ".cursor" / "mcp.json"
    path.parent.mkdir()
    make, reason = BROKEN[what]
    make(path, outside)
    before, elsewhere = tree(root), tree(outside)
    ran = agent("install", "cursor", "gemini-cli", "--json")
    assert ran.code == 2
    file = ran.json["agents"][0]["files"][0]
    assert (file["path"], file["state"], file["change"]) == (".cursor/mcp.json", "left_alone", "none")
    assert file["detail"].startswith(reason)
    assert json.loads(file["by_hand"]) == {"mcpServers": {"lci": COMMAND}}
    assert states(ran)[".gemini/settings.json"] == "installed"
    said = agent("install", "cursor").out
    assert ".cursor/mcp.json" in said and file["by_hand"] in said
    assert agent("list").code == 0
    assert agent("print", "cursor").code == 2
    agent("uninstall", "gemini-cli")
    agent("uninstall", "cursor")
    assert tree(root) == before
    assert tree(outside) == elsewhere


@pytest.mark.parametrize("name", [name for name in NAMES if name != "agents-md"])
def test_no_file_is_written_through_a_link_out_of_the_project(
    agent: Agent, root: Path, tmp_path: Path, name: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for path in (PROJECT[name][0], *PROJECT[name][2]):
        first = path.partition("/")[0]
        if not os.path.lexists(root / first):
            (root / first).symlink_to(outside if "/" in path else outside / first)
    ran = agent("install", name, "--json")
    assert ran.code == 2 and set(states(ran).values()) == {"left_alone"}
    assert agent("uninstall", name).code == 2
    assert tree(outside) == {}


def test_torn_marks_are_left_alone_even_without_a_name(agent: Agent, root: Path) -> None:
    (root / "AGENTS.md").write_text("<!-- lci:start codex -->\n")
    for action in ("install", "uninstall"):
        ran = agent(action)
        assert ran.code == 2 and "the begin and end markers of lci do not pair up: remove them by hand" in ran.out
    assert (root / "AGENTS.md").read_text("utf-8") == "<!-- lci:start codex -->\n"


def test_an_entry_that_was_changed_is_kept(agent: Agent, root: Path) -> None:
    agent("install", "gemini-cli")
    path = root / ".gemini" / "settings.json"
    path.write_text(path.read_text().replace('"mcp"\n', '"mcp", "--tools", "all"\n'))
    before = tree(root)
    ran = agent("install", "gemini-cli", "--json")
    assert (ran.code, states(ran)[".gemini/settings.json"]) == (0, "custom")
    assert "  customised     .gemini/settings.json\n" in agent("list", "gemini-cli").out
    assert tree(root) == before
    ran = agent("uninstall", "--json")
    assert ran.code == 2 and "remove it by hand" in ran.out
    assert tree(root).keys() == {".git", ".gemini", ".gemini/settings.json"}
    assert path.read_bytes() == before[".gemini/settings.json"][1]


def test_a_write_that_fails_leaves_everything_as_it_was(
    agent: Agent, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "CLAUDE.md").write_text("mine\n")
    before = tree(root)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(safe_files.os, "replace", full)
    ran = agent("install", "claude-code", "codex", "--json")
    assert ran.code == 2
    assert set(states(ran).values()) == {"left_alone"}
    assert "cannot be written (No space left on device)" in ran.out
    assert tree(root) == before


def test_a_file_that_another_program_changes_meanwhile_is_left_alone(
    agent: Agent, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / ".mcp.json").write_text("{}")
    write = safe_files.SafeFile.write

    def meanwhile(file: safe_files.SafeFile, *texts: str | None) -> None:
        if file.path == ".mcp.json":
            (root / ".mcp.json").write_text('{"new": 1}')
        write(file, *texts)

    monkeypatch.setattr(safe_files.SafeFile, "write", meanwhile)
    ran = agent("install", "claude-code", "--json")
    assert ran.code == 2 and "another program has just changed it" in ran.out
    assert (root / ".mcp.json").read_text() == '{"new": 1}'
    assert (root / "CLAUDE.md").exists()


# --- print, list, and wrong command lines -------------------------------------------------------------------------


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_print_is_a_patch_that_does_what_install_does(agent: Agent, root: Path) -> None:
    shutil.rmtree(root / ".git")
    subprocess.run(["git", "init", "-q", root], check=True)
    for name in ("CLAUDE.md", ".zed/settings.json", "AGENTS.md", ".codex/config.toml"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(EXISTING[name])
    before = tree(root)
    ran = agent("print")
    assert ran.code == 0 and tree(root) == before
    subprocess.run(["git", "apply", "-"], input=ran.out.encode(), cwd=root, check=True)
    patched = tree(root)
    assert patched != before
    assert agent("install").out.endswith("nothing to do\n")
    assert tree(root) == patched
    assert "diffs" not in agent("print", "--json").json
    agent("uninstall")
    assert tree(root) == before


def test_what_a_person_sees(agent: Agent, root: Path, home: Path) -> None:
    (root / ".cursor").mkdir()
    (root / ".cursor" / "mcp.json").write_text('{"a" 1}')
    (home / ".codex").mkdir()
    (root / "AGENTS.md").write_text("mine\n")
    assert (
        agent("list", "codex", "cursor", "zed").out
        == f"""\
files in {root}
codex   found: ~/.codex
  not installed  .codex/config.toml
  not installed  AGENTS.md
cursor  found: .cursor
  left alone     .cursor/mcp.json:
                 is not valid JSON (line 1: Expecting ':' delimiter)
  not installed  .cursor/rules/lci.mdc
zed     not found
  not installed  .zed/settings.json
  not installed  AGENTS.md
"""
    )
    assert (
        agent("install", "codex", "cursor").out
        == f"""\
files in {root}
codex   found: ~/.codex
  created        .codex/config.toml
  changed        AGENTS.md
cursor  found: .cursor
  left alone     .cursor/mcp.json:
                 is not valid JSON (line 1: Expecting ':' delimiter)
                 to do it by hand, write:
                   {{"mcpServers": {{"lci": {{"command": "lci", "args": ["mcp"]}}}}}}
  created        .cursor/rules/lci.mdc
"""
    )
    assert (
        agent("list", "codex").out
        == f"""\
files in {root}
codex  found: .codex, ~/.codex
  installed      .codex/config.toml
  installed      AGENTS.md
"""
    )
    assert (
        agent("print", "codex", "vscode", "--only", "mcp").out
        == f"""\
# files in {root}
# codex, found: .codex, ~/.codex
#   unchanged: .codex/config.toml
# vscode
--- /dev/null
+++ b/.vscode/mcp.json
@@ -0,0 +1,11 @@
+{{
+  "servers": {{
+    "lci": {{
+      "type": "stdio",
+      "command": "lci",
+      "args": [
+        "mcp"
+      ]
+    }}
+  }}
+}}
"""
    )
    assert (
        agent("uninstall").out
        == f"""\
files in {root}
codex   found: .codex, ~/.codex
  removed        .codex/config.toml
  changed        AGENTS.md
cursor  found: .cursor
  left alone     .cursor/mcp.json:
                 is not valid JSON (line 1: Expecting ':' delimiter)
  removed        .cursor/rules/lci.mdc
"""
    )


def test_a_terminal_of_80_columns(root: Path, home: Path, on_a_terminal: Callable[..., str]) -> None:

    (root / ".cursor").mkdir()
    (root / ".cursor" / "mcp.json").write_text('{"a": 1 \x1b[2J}')
    shown = on_a_terminal(root, "agent", "install", HOME=str(home), NO_COLOR="1")
    assert all(len(line) <= 80 for line in shown.splitlines() if not line.startswith("files in "))
    assert ".cursor/rules/lci.mdc" in shown and "\x1b" not in shown


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["instal"], "unknown action 'instal': did you mean 'install'?"),
        (["install", "claude"], "unknown agent 'claude': did you mean 'claude-code'?"),
        (["install", "--only", "skill"], "unknown part 'skill': use one of: mcp, instructions"),
        (["install", "agents-md", "--user"], "agents-md has no file of the user's"),
        (["install", "agents-md", "--only", "mcp"], "agents-md has no mcp file in a project"),
        (["list", "--user", "--root", "."], "--user and --root cannot be used together"),
        (["list", "--root", "/no/such/folder"], "/no/such/folder does not exist"),
    ],
)
def test_usage_errors(agent: Agent, root: Path, argv: list[str], said: str) -> None:
    before = tree(root)
    ran = agent(*argv)
    assert ran.code == 2 and said in ran.err and not ran.out
    assert agent(*argv, "--json").json["error"]["message"] in ran.err
    assert tree(root) == before


def test_the_home_folder_is_no_project(agent: Agent, home: Path) -> None:
    ran = agent("install", "--root", str(home))
    assert ran.code == 2 and "give --user" in ran.err
    assert tree(home) == {}


def test_quiet(agent: Agent) -> None:
    assert agent("install", "cursor", "-q").out == ""


def test_what_keeps_the_server_from_starting_is_said(agent: Agent, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(root.parent / "home"))
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    assert agent("install", "cursor", "--json").json["warnings"] == [
        "`lci` is not on the PATH, and agents start it by that name"
    ]
    assert "warnings" not in agent("install", "agents-md", "--json").json


def test_without_the_extra_no_entry_is_written(agent: Agent, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lci_py.agents.install._lacks_extra", lambda: True)
    ran = agent("install", "cursor", "--json")
    (server, rules) = ran.json["agents"][0]["files"]
    assert (ran.code, server["state"], rules["state"]) == (0, "absent", "installed")
    assert "pip install 'lci-py[mcp]'" in server["detail"] and not (root / ".cursor" / "mcp.json").exists()
    assert "pip install 'lci-py[mcp]'" in agent("install", "cursor").out
    ran = agent("install", "cursor", "--only", "mcp")
    assert ran.code == 2 and "needs" not in ran.out and "pip install 'lci-py[mcp]'" in ran.err
    assert agent("uninstall").code == 0


def test_the_tables_of_the_command_line_are_those_of_the_program() -> None:
    from lci_py.agents import install
    from lci_py.cli.options import manage as options

    assert (options.AGENT_NAMES, options.AGENT_PARTS) == (NAMES, install.ONLY)
    assert (*install.ACTIONS, "hook") == options.AGENT_ACTIONS
    assert list(BY_NAME.values()) == list(AGENTS)


# --- hooks ----------------------------------------------------------------------------------------------------------

HOOK = {"type": "command", "command": "lci agent hook 2>/dev/null || true", "timeout": 5}
OTHERS = (
    '{\n  // mine\n  "hooks": {\n    "PostToolUse": [\n      {"matcher": "Edit", "hooks": [{"type": "command", "command": "fmt"}]}\n'
    '    ],\n    "Stop": [],\n  },\n}\n'
)


@pytest.mark.parametrize("before", [None, OTHERS, "{}", '{"hooks": {"SessionStart": []}}'])
def test_hooks_come_when_asked_for_and_go_with_the_rest(agent: Agent, root: Path, before: str | None) -> None:
    path = root / ".claude" / "settings.json"
    path.parent.mkdir()
    if before is not None:
        path.write_text(before)
    there = tree(root)
    agent("install", "claude-code")
    assert path.exists() is (before is not None), "not without --hooks"
    assert ".claude/agents" not in tree(root)
    assert agent("install", "claude-code", "--hooks").code == 0
    hooks = read_json(path.read_text("utf-8"))["hooks"]
    assert hooks["PostToolUse"][0] == {"matcher": "Grep|Bash", "hooks": [HOOK]}
    assert hooks["SessionStart"] == [{"hooks": [HOOK]}]
    assert (root / ".claude" / "agents" / "lci-search.md").read_text("utf-8").startswith(HEADS["subagent"])
    written = tree(root)
    assert agent("install", "claude-code", "--hooks").out.endswith("nothing to do\n") and tree(root) == written
    assert agent("install", "claude-code").code == 0 and tree(root) == written
    assert agent("uninstall", "--only", "hooks", "--json").code == 0
    assert agent("uninstall").code == 0
    left = tree(root)
    if before == OTHERS:
        assert left == there
    else:  # empty objects go
        assert ".claude/settings.json" not in left and ".claude/agents" not in left


def test_a_hook_that_somebody_has_changed_is_kept(agent: Agent, root: Path) -> None:
    agent("install", "claude-code", "--hooks")
    path = root / ".claude" / "settings.json"
    path.write_text(path.read_text().replace('"timeout": 5', '"timeout": 9'))
    before = path.read_text()
    assert agent("install", "claude-code", "--hooks").code == 0 and path.read_text() == before
    assert agent("uninstall").code == 2 and path.read_text() == before


@pytest.mark.parametrize(
    ("name", "path", "after"),
    [("codex", ".codex/hooks.json", "PostToolUse"), ("gemini-cli", ".gemini/settings.json", "AfterTool")],
)
def test_hooks_of_other_agents(agent: Agent, root: Path, name: str, path: str, after: str) -> None:
    before = tree(root)
    assert agent("install", name, "--hooks").code == 0
    assert set(read_json((root / path).read_text("utf-8"))["hooks"]) == {after, "SessionStart"}
    assert agent("install", name, "--hooks").out.endswith("nothing to do\n")
    assert agent("uninstall").code == 0 and tree(root) == before
