"""Git hooks: the lines that lci adds, the hooks that it leaves alone, and an index that follows git."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lci_py import app
from lci_py.app import upkeep
from lci_py.errors import HookError
from lci_py.index.store import background_run
from lci_py.index.store.lock import writer
from lci_py.source.repository import hooks as module
from lci_py.source.repository.hooks import HOOKS, hooks
from lci_py.types.search import SearchRequest
from tests.cli.fake import VALIDATOR
from tests.conftest import PROJECT, Ran
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")


def git(root: Path, *args: str, **env: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *who, *args], cwd=root, capture_output=True, text=True, check=True, timeout=PATIENCE,
        env={**os.environ, "PYTHONPATH": str(PROJECT), **env},
    )  # fmt: skip
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def no_settings_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "repo").mkdir()
    git(tmp_path / "repo", "init", "-q", "-b", "main")
    return tmp_path / "repo"


def states(found: dict[str, Any]) -> dict[str, str]:
    return {hook.name: hook.state for hook in found["hooks"]}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def shell(text: str, folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    script = folder / "script"
    script.write_text(text)
    return subprocess.run(["sh", str(script), *args], capture_output=True, text=True, check=False, timeout=PATIENCE)


# --- what is written ----------------------------------------------------------------------------------------------


def test_install_and_uninstall(root: Path) -> None:
    folder = root / ".git" / "hooks"
    before = contents(folder)
    found = hooks(root, "install", program=["/bin/lci"])
    assert (found["folder"], found["shared"], found["changed"]) == (str(folder), False, list(HOOKS))
    assert set(states(found).values()) == {"installed"}
    for name in HOOKS:
        assert os.access(folder / name, os.X_OK)
        assert (folder / name).read_text().startswith("#!/bin/sh\n# >>> lci")
    after = contents(folder)
    again = hooks(root, "install", program=["/bin/lci"])
    assert (again["changed"], contents(folder)) == ([], after)
    assert states(hooks(root, "status", program=["/bin/lci"])) == dict.fromkeys(HOOKS, "installed")
    assert states(hooks(root, "status", program=["/usr/bin/lci"])) == dict.fromkeys(HOOKS, "outdated")
    moved = hooks(root, "install", program=["/usr/bin/lci"])
    assert moved["changed"] == list(HOOKS)
    assert all(
        text.count(b">>> lci") == 1 and b"/bin/lci" in text for n, text in contents(folder).items() if n in HOOKS
    )
    found = hooks(root, "uninstall")
    assert (set(states(found).values()), found["changed"]) == ({"absent"}, list(HOOKS))
    assert contents(folder) == before
    assert hooks(root, "uninstall")["changed"] == []


OTHERS = {
    "sh": b"#!/bin/sh\necho mine\n",
    "bash that ends early": b"#!/usr/bin/env bash\nset -eu\nexec true\n",
    "no shebang": b"echo mine\n",
    "options": b"#!/usr/bin/env -S bash -e\nexit 0",
    "no last line end": b"#! /bin/dash\nfalse",
    "bytes": b"#!/bin/sh\necho \xff\xfe\r\n",
    "empty": b"",
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=list(OTHERS))
def test_a_hook_that_was_there_is_kept(root: Path, text: bytes) -> None:
    path = root / ".git" / "hooks" / "post-commit"
    path.write_bytes(text)
    path.chmod(0o750)
    assert states(hooks(root, "install"))["post-commit"] == "installed"
    head, _, rest = text.partition(b"\n") if text.startswith(b"#!") else (b"" if text else b"#!/bin/sh", b"", text)
    block = module._block(module._program()).encode()
    assert path.read_bytes() == (head + b"\n" if head else b"") + block + rest  # before what may exit
    assert text == b"" or path.stat().st_mode & 0o777 == 0o750
    hooks(root, "uninstall")
    if text:
        assert path.read_bytes() == text
    else:
        assert not path.exists()


@pytest.mark.parametrize(
    "text",
    [b"#!/usr/bin/env python3\nprint()\n", b"#!/usr/bin/perl -w\n", b"\x7fELF\0\0", b"#!/usr/bin/env -S node --x\n", b"#!\n"],
)  # fmt: skip
def test_a_hook_in_another_language_is_let_be(root: Path, text: bytes) -> None:
    path = root / ".git" / "hooks" / "post-merge"
    path.write_bytes(text)
    path.chmod(0o755)
    found = hooks(root, "install")
    assert states(found) == {**dict.fromkeys(HOOKS, "installed"), "post-merge": "skipped"}
    assert [hook.detail for hook in found["hooks"] if hook.name == "post-merge"] != [""]
    hooks(root, "uninstall")
    assert path.read_bytes() == text


def test_a_hook_that_is_switched_off_is_not_switched_on(root: Path) -> None:
    path = root / ".git" / "hooks" / "post-merge"
    path.write_text("#!/bin/sh\nrm -rf build\n")
    path.chmod(0o644)
    assert states(hooks(root, "install"))["post-merge"] == "skipped"
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("#!/bin/sh\nrm -rf build\n", 0o644)
    hooks(root, "install")
    ours = root / ".git" / "hooks" / "post-commit"
    ours.chmod(0o644)
    assert states(hooks(root, "status"))["post-commit"] == "outdated"
    assert states(hooks(root, "install"))["post-commit"] == "installed"


def test_links_and_odd_things_are_not_written_through(root: Path, tmp_path: Path) -> None:
    folder = root / ".git" / "hooks"
    (tmp_path / "precious").write_text("#!/bin/sh\n")
    (folder / "post-commit").symlink_to(tmp_path / "precious")
    (folder / "post-merge").mkdir()
    os.mkfifo(folder / "post-rewrite")
    found = hooks(root, "install")
    assert states(found) == {name: "installed" if name == "post-checkout" else "skipped" for name in HOOKS}
    assert (tmp_path / "precious").read_text() == "#!/bin/sh\n"


def test_lines_that_were_edited_by_hand_are_let_be(root: Path) -> None:
    hooks(root, "install")
    path = root / ".git" / "hooks" / "post-commit"
    broken = path.read_text().replace("# <<< lci <<<", "")
    path.write_text(broken)
    for action in ("install", "uninstall"):
        assert states(hooks(root, action))["post-commit"] == "outdated"
        assert path.read_text() == broken


# --- where they are -----------------------------------------------------------------------------------------------


def test_hooks_path(root: Path, tmp_path: Path) -> None:
    git(root, "config", "core.hooksPath", "tools/hooks")
    assert hooks(root, "install")["folder"] == str(root / "tools" / "hooks")
    assert (root / "tools" / "hooks" / "post-commit").exists()
    git(root, "config", "core.hooksPath", str(tmp_path / "everybody"))
    for action in ("install", "uninstall"):
        with pytest.raises(HookError, match="core.hooksPath") as caught:
            hooks(root, action)
        assert "--force" in caught.value.hint
    assert not (tmp_path / "everybody").exists()
    assert hooks(root, "status")["shared"]
    assert set(states(hooks(root, "install", force=True)).values()) == {"installed"}
    assert set(contents(tmp_path / "everybody")) == set(HOOKS)


def test_a_hooks_folder_that_is_a_link_out_of_the_repository_is_shared(root: Path, tmp_path: Path) -> None:
    shutil.rmtree(root / ".git" / "hooks")
    (tmp_path / "everybody").mkdir()
    (root / ".git" / "hooks").symlink_to(tmp_path / "everybody")
    with pytest.raises(HookError):
        hooks(root, "install")
    assert not contents(tmp_path / "everybody")


def test_worktrees_and_submodules_share_or_have_their_hooks(root: Path, tmp_path: Path) -> None:
    git(root, "commit", "-q", "--allow-empty", "-m", "one")
    git(root, "worktree", "add", "-q", str(tmp_path / "tree"))
    assert hooks(tmp_path / "tree", "install")["folder"] == str(root / ".git" / "hooks")
    assert set(states(hooks(root, "status")).values()) == {"installed"}
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(root), "part")
    assert hooks(other / "part", "install")["folder"] == str(other / ".git" / "modules" / "part" / "hooks")


@pytest.mark.parametrize("where", ["plain", "bare", "no git"])
def test_no_work_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lci: Callable[..., Ran], where: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    if where == "bare":
        git(folder, "init", "-q", "--bare")
    env = {"PATH": str(folder)} if where == "no git" else {}
    ran = lci("hook", "install", "--json", cwd=folder, **env)
    assert (ran.code, ran.json()["error"]["code"], ran.err) == (2, "hook", "")
    assert ran.json()["error"]["hint"]


# --- what the lines do --------------------------------------------------------------------------------------------


@pytest.fixture
def fake(tmp_path: Path) -> list[str]:
    """A program that waits for a signal to go on, and then writes down its arguments."""
    path = tmp_path / "it's lci"
    path.write_text(
        f"#!/bin/sh\ncd {shlex.quote(str(tmp_path))}\nwhile [ ! -e go ]; do sleep 0.05; done\n"
        "echo loud\nprintf '%s ' \"$@\" > called\n"
    )
    path.chmod(0o755)
    return [str(path)]


def called(tmp_path: Path) -> str:
    path = tmp_path / "called"
    return until(lambda: path.exists() and path.read_text(), "the call of lci") or ""


@pytest.mark.parametrize(
    ("text", "code"),
    [("set -eu\necho \"mine $1\"\nexit 3\n", 3), ("wait\necho \"mine $1\"\n", 0), ("set -e\necho \"mine $1\"\nfalse\n", 1)],
)  # fmt: skip
def test_the_hook_around_them_notices_nothing(tmp_path: Path, fake: list[str], text: str, code: int) -> None:
    done = shell(f"#!/bin/sh\n{module._block(fake)}{text}", tmp_path, "argument")
    assert (done.returncode, done.stdout, done.stderr) == (code, "mine argument\n", "")
    assert not (tmp_path / "called").exists()  # git has not waited for it
    (tmp_path / "go").touch()
    assert called(tmp_path) == "hook run "


def test_a_program_that_is_gone_is_looked_for_or_missed_in_silence(
    tmp_path: Path, fake: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = shell(module._block(["/no/such/lci"]), tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (tmp_path / "go").touch()
    (tmp_path / "bin").mkdir()
    shutil.copy(fake[0], tmp_path / "bin" / "lci")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    shell(module._block(["/no/such/lci"]), tmp_path)
    assert called(tmp_path) == "hook run "
    assert module._program() == [sys.executable, "-I", "-m", "lci_py"]


def names(root: Path) -> set[str | None]:
    with app.open_engine(str(root)) as session:
        return {result.symbol for result in session.search(SearchRequest("kind:function", "symbolic", 50)).results}


def eventually(root: Path, expected: set[str]) -> None:
    until(lambda: names(root) == expected, f"an index of {expected}")


def test_the_index_follows_git(root: Path, lci: Callable[..., Ran]) -> None:
    ran = lci("hook", "install", "--json", cwd=root)
    VALIDATOR.validate(ran.json())
    assert ran.code == 0 and "no index yet" in ran.json()["warnings"][0]
    (root / "a.py").write_text("def one(): pass\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    git(root, "checkout", "-qb", "topic")
    assert not (root / ".lci").exists()  # the hooks refresh an index and make none
    assert lci("index", cwd=root).code == 0
    (root / "a.py").write_text("def two(): pass\n")
    git(root, "commit", "-qam", "two")
    eventually(root, {"two"})
    git(root, "checkout", "-q", "main")
    eventually(root, {"one"})
    git(root, "merge", "-q", "topic")
    eventually(root, {"two"})
    (root / "b.py").write_text("def three(): pass\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "--amend", "-m", "three")
    eventually(root, {"two", "three"})
    assert lci("hook", "status", cwd=root).code == 0
    assert lci("hook", "uninstall", cwd=root).code == 0
    assert lci("hook", "status", cwd=root).code == 1


def test_a_hook_imports_nothing_from_the_branch_that_is_checked_out(root: Path, tmp_path: Path) -> None:
    """Also where hooks were installed by `python -m`, which puts the work tree first on Python's path."""
    lci = [sys.executable, "-m", "lci_py"]
    (root / "a.py").write_text("def one(): pass\n")
    for command in (["index"], ["hook", "install"]):
        subprocess.run([*lci, *command], cwd=root, check=True, timeout=PATIENCE, capture_output=True)
    git(root, "checkout", "-q", "-b", "hostile")
    (root / "lci_py").mkdir()
    for name in ("functools", "runpy", "sitecustomize", "lci_py/__init__", "lci_py/__main__"):
        (root / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\ndef two(): pass\n")
    hook = (root / ".git" / "hooks" / "post-checkout").read_text()
    (tmp_path / "hook").write_text(hook.replace("hook run &", "hook run"))
    subprocess.run(["sh", tmp_path / "hook"], cwd=root, check=True, timeout=PATIENCE)
    assert not (tmp_path / "ran").exists()
    assert names(root) == {"one", "two"}


def test_hooks_that_could_not_start_are_not_installed(root: Path, tmp_path: Path) -> None:
    """`python -I` does not look into PYTHONPATH: a hook with it would fail in silence."""
    python = [tmp_path / "bare" / "bin" / "python", "-m", "lci_py"]
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True, timeout=PATIENCE)
    path = os.pathsep.join([str(PROJECT), *filter(os.path.isdir, sys.path)])
    done = subprocess.run(
        [*python, "hook", "install", "--json"], cwd=root, env={**os.environ, "PYTHONPATH": path}, timeout=PATIENCE,
        capture_output=True, check=False,
    )  # fmt: skip
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["code"]) == (2, "hook") and "lci hook install" in error["hint"]
    assert not set(HOOKS) & set(contents(root / ".git" / "hooks"))


def test_git_that_hangs_is_told_in_plain_words(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired(["git", "-c", "core.fsmonitor=false"], 10)

    monkeypatch.setattr(module, "run_git", hang)
    with pytest.raises(HookError) as caught:
        hooks(root, "install")
    assert caught.value.message == "git has not answered for 10 seconds"


def test_a_change_during_a_run_is_seen(root: Path, lci: Callable[..., Ran], tmp_path: Path) -> None:
    """If a commit comes during a run, its own run waits; runs of later commits end at once, for the waiting one is enough."""
    (root / "a.py").write_text("def one(): pass\n")
    app.build_index(str(root), jobs=1)
    with ThreadPoolExecutor(4) as threads, writer(root / ".lci"):
        (root / "a.py").write_text("def two_(): pass\n")
        runs = [threads.submit(lci, "hook", "run", cwd=root) for _ in range(4)]
        until(lambda: sum(run.done() for run in runs) == 2, "the end of all but the running and the waiting one")
        (root / "b.py").write_text("def three(): pass\n")
        assert lci("hook", "run", cwd=root).code == 0
        assert sum(run.done() for run in runs) == 2
    assert [run.result().code for run in runs] == [0, 0, 0, 0]
    assert names(root) == {"two_", "three"}


def test_a_run_that_fails_is_told_of_later(root: Path, lci: Callable[..., Ran]) -> None:
    (root / "a.py").write_text("def one(): pass\n")
    app.build_index(str(root), jobs=1)
    (root / ".lci.toml").write_text("jobs = 0\n")
    assert lci("hook", "run", cwd=root).code == 2
    (root / ".lci.toml").unlink()
    with pytest.raises(HookError):
        background_run.hook_run(root / ".lci", lambda: (_ for _ in ()).throw(HookError("it \x1b went wrong")))
    found = upkeep.hooks(str(root), "status")
    assert "went wrong" in found["warnings"][0]
    assert "\x1b" not in lci("hook", "status", cwd=root).out
    assert lci("hook", "run", cwd=root).code == 0
    assert upkeep.hooks(str(root), "status")["warnings"] == []


# --- pre-commit ---------------------------------------------------------------------------------------------------


class PreCommit:
    """pre-commit with the current environment, instead of one that it would build from a package index."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self.root = root
        self.env = {"PRE_COMMIT_HOME": str(scratch / "home"), "PATH": f"{scratch / 'bin'}:{os.environ['PATH']}"}
        (scratch / "bin").mkdir()
        program = scratch / "bin" / "lci"
        program.write_text(
            f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(PROJECT))} exec {shlex.quote(sys.executable)} -m lci_py "$@"\n'
        )
        program.chmod(0o755)

    def __call__(self, *args: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "pre_commit", *args], cwd=self.root, capture_output=True, text=True, timeout=PATIENCE,
            check=False, env={**os.environ, **self.env},
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def use(self, name: str) -> None:
        """Put one hook of ours into the repository's configuration."""
        import yaml

        manifest = PROJECT / ".pre-commit-hooks.yaml"
        self("validate-manifest", str(manifest))
        [hook] = [hook for hook in yaml.safe_load(manifest.read_text()) if hook["id"] == name]
        local = {**hook, "language": "system"}
        (self.root / ".pre-commit-config.yaml").write_text(json.dumps({"repos": [{"repo": "local", "hooks": [local]}]}))


@pytest.fixture
def pre_commit(root: Path, tmp_path: Path) -> PreCommit:
    pytest.importorskip("pre_commit")
    return PreCommit(root, tmp_path)


def test_the_hook_for_pre_commit(root: Path, pre_commit: PreCommit) -> None:
    pre_commit.use("lci-index")
    types = ["pre-commit", "post-commit", "post-checkout", "post-merge", "post-rewrite"]
    pre_commit("install", *(word for name in types for word in ("-t", name)))
    (root / "a.py").write_text("def one(): pass\n")
    (root / "b.py").write_text("def gone(): pass\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one", **pre_commit.env)
    assert names(root) == {"one", "gone"}
    git(root, "rm", "-q", "b.py")
    git(root, "commit", "-qm", "two", **pre_commit.env)  # pre-commit names no file here
    assert names(root) == {"one"}
    assert app.status(str(root))["commit"] == git(root, "rev-parse", "HEAD")
    git(root, "checkout", "-q", "HEAD~1", **pre_commit.env)
    assert names(root) == {"one", "gone"}
    assert "Passed" in pre_commit("run", "lci-index", "--all-files")


def test_the_hook_that_finds_conflicts(root: Path, pre_commit: PreCommit) -> None:
    """The hook makes the index if there is none, indexes staged files, and stops a commit that adds a conflict."""
    pre_commit.use("lci-conflicts")
    pre_commit("install")
    (root / "a.py").write_text(
        "import sys\n\nif sys.platform == 'win32':\n    def f(): pass\nelse:\n    def f(): pass\n"
    )
    git(root, "add", "-A")
    git(root, "commit", "-qm", "variants are fine", **pre_commit.env)
    (root / "b.py").write_text("def one(): pass\n\n\ndef one(): return 1\n")
    git(root, "add", "-A")
    said = pre_commit("run", "lci-conflicts", code=1)
    assert "Failed" in said and "duplicate" in said and "b.py:1, 4" in said
    assert "a.py" not in said
    (root / "b.py").write_text("def one(): pass\n\n\ndef two(): return 1\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "and no clash", **pre_commit.env)
