"""`lci files` and `lci history`, as a person uses them to find a file and to learn how code came about."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lci_py import app
from tests.cli.fake import VALIDATOR
from tests.conftest import Ran
from tests.support.branch_repo import commit, git, init

POOL = "def open_pool(size):\n    return size\n\n\ndef close_pool(pool):\n    return pool\n"
MOVED = "LIMIT = 3\n\n\n" + POOL.replace("    return pool\n", "    pool.stop()\n    return None\n")
NAMES = {
    "net/pool.py": POOL,
    "net/http/session.py": "from net.pool import open_pool\n\n\ndef start():\n    return open_pool(1)\n",
    "net/http/spool_writer.py": "from net.pool import open_pool\n\n\ndef write():\n    return open_pool(2)\n",
    "tests/test_pool.py": "from net.pool import close_pool\n\n\ndef test_close():\n    close_pool(1)\n",
    "docs/Pool.md": "# Pools\n",
    "pools/readme.txt": "text\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose `close_pool` was changed in a second commit, with a test, after its file was renamed."""
    root = init(tmp_path_factory.mktemp("files") / "repo", {**NAMES, ".gitignore": ".lci/\n"})
    git(root, "mv", "net/pool.py", "net/pools.py")
    commit(root, {})
    commit(root, {"net/pools.py": MOVED, "tests/test_pool.py": "def test_close():\n    assert True\n"})
    git(root, "mv", "net/pools.py", "net/pool.py")
    commit(root, {})
    commit(root, {f"many/f{i}.py": f"X = {i}\n" for i in range(40)} | {"net/pool.py": MOVED + "\n\nEND = 1\n"})
    app.build_index(str(root), jobs=1)
    return root


@pytest.fixture
def run(lci: Callable[..., Ran], root: Path) -> Callable[..., Ran]:
    return lambda *argv, **options: lci(*argv, **{"cwd": root, **options})


def answer(ran: Ran) -> dict:
    assert ran.code in (0, 1), ran.err
    found = json.loads(ran.out)
    VALIDATOR.validate(found)
    return found


def paths(ran: Ran) -> list[str]:
    assert ran.code == 0, ran.err
    return ran.out.splitlines()


def test_the_name_itself_comes_first_and_tests_after_sources(run: Callable[..., Ran]) -> None:
    assert paths(run("files", "pool")) == [
        "net/pool.py", "docs/Pool.md", "tests/test_pool.py", "net/http/spool_writer.py", "pools/readme.txt",
    ]  # fmt: skip


def test_capitals_count_if_there_are_any(run: Callable[..., Ran]) -> None:
    assert paths(run("files", "Pool")) == ["docs/Pool.md"]


def test_parts_stand_anywhere_and_the_line_is_kept(run: Callable[..., Ran]) -> None:
    assert paths(run("files", "sess", "http:12")) == ["net/http/session.py:12"]
    assert paths(run("files", "./net/http/sess")) == ["net/http/session.py"]


def test_letters_in_order_count_only_where_nothing_has_the_parts(run: Callable[..., Ran]) -> None:
    assert paths(run("files", "sssn")) == ["net/http/session.py"]
    assert "net/http/session.py" not in paths(run("files", "pool"))


def test_a_glob_and_filters(run: Callable[..., Ran]) -> None:
    assert paths(run("files", "*.md")) == ["docs/Pool.md"]
    assert paths(run("files", "pool", "--lang", "python", "--exclude", "tests", "-n", "1")) == ["net/pool.py"]


def test_what_is_used_most_comes_first(run: Callable[..., Ran]) -> None:
    found = answer(run("files", "--json"))["results"]
    uses = [one["uses"] for one in found if not one["file"].startswith("tests/")]
    assert uses == sorted(uses, reverse=True) and uses[0] > 0
    assert found[0]["file"] == "net/pool.py"


def test_a_pattern_that_nothing_has(run: Callable[..., Ran]) -> None:
    ran = run("files", "net/pooq.py", "--json")
    assert ran.code == 1
    assert answer(ran)["did_you_mean"] == ["net/pool.py"]


def test_a_part_that_looks_like_an_expression(run: Callable[..., Ran]) -> None:
    assert run("files", "(((").code == 1
    ran = run("files", "a[")
    assert ran.code == 2 and "bad glob" in ran.err


# --- history ----------------------------------------------------------------------------------------------------


def test_the_commits_of_a_definition_through_renames(run: Callable[..., Ran], root: Path) -> None:
    found = answer(run("history", "close_pool", "--json"))
    ids = git(root, "log", "--format=%H").split()
    assert [one["commit"] for one in found["results"]] == [ids[2], ids[4]]
    assert [one["file"] for one in found["results"]] == ["net/pools.py", "net/pool.py"]
    assert (found["results"][0]["added"], found["results"][0]["removed"]) == (2, 1)
    assert found["first"]["commit"] == ids[4]
    assert found["target"]["symbol"] == "close_pool"


def test_what_changed_together_leaves_sweeping_commits_out(run: Callable[..., Ran]) -> None:
    together = answer(run("history", "net/pool.py", "--json"))["changed_together"]
    assert together == [{"file": "tests/test_pool.py", "support": 2, "confidence": together[0]["confidence"]}]


def test_a_place_means_the_definition_around_it(run: Callable[..., Ran]) -> None:
    assert answer(run("history", "net/pool.py:9", "--json"))["target"]["symbol"] == "close_pool"
    outside = run("history", "net/pool.py:2", "--json")
    assert outside.code == 2 and "no definition" in outside.out


def test_the_patch_is_of_the_definition_alone(run: Callable[..., Ran]) -> None:
    ran = run("history", "close_pool", "--patch", "-n", "1")
    assert "    +    pool.stop()\n" in ran.out and "LIMIT" not in ran.out
    assert "first:" in ran.out and "1 of 2 commits" in ran.out


def test_lines_are_those_of_the_commit_wherever_the_definition_stands_now(
    lci: Callable[..., Ran], tmp_path: Path
) -> None:
    root = init(tmp_path / "repo", {"a.py": POOL, ".gitignore": ".lci/\n"})
    commit(root, {"a.py": POOL.replace("return size", "return size + 1")})
    (root / "a.py").write_text("import os\n\nX = 1\n\n\n" + POOL + "\n\ndef fresh():\n    pass\n")
    app.build_index(str(root), jobs=1)
    found = answer(lci("history", "close_pool", "--json", cwd=root))
    assert found["total"] == 1 and "uncommitted" not in found
    assert answer(lci("history", "open_pool", "--json", cwd=root))["uncommitted"] is True
    new = lci("history", "fresh", cwd=root)
    assert new.code == 1 and "no commit has it yet" in new.out


def test_what_a_clone_configures_is_not_run(lci: Callable[..., Ran], tmp_path: Path) -> None:
    root = init(tmp_path / "repo", {"a.py": POOL, ".gitattributes": "*.py diff=evil\n", ".gitignore": ".lci/\n"})
    ran = tmp_path / "ran"
    script = tmp_path / "evil.sh"
    script.write_text(f'#!/bin/sh\ntouch {ran}\ncat "$1" 2>/dev/null\n')
    script.chmod(0o755)
    for key in ("diff.evil.textconv", "diff.evil.command", "diff.external", "gpg.program", "core.fsmonitor"):
        git(root, "config", key, str(script))
    git(root, "config", "log.showSignature", "true")
    app.build_index(str(root), jobs=1)
    for target in ("close_pool", "a.py"):
        assert lci("history", target, "--patch", cwd=root).code == 0
    assert not ran.exists()


def test_without_git(lci: Callable[..., Ran], tmp_path: Path) -> None:
    if git_above(tmp_path):
        pytest.skip("the temporary folder lies in a git work tree")
    (tmp_path / "a.py").write_text(POOL)
    app.build_index(str(tmp_path), jobs=1)
    ran = lci("history", "close_pool", "--root", str(tmp_path), cwd=tmp_path)
    assert ran.code == 2 and "not in a git work tree" in ran.err


def git_above(folder: Path) -> bool:
    return any(os.path.exists(parent / ".git") for parent in (folder, *folder.parents))


def test_escapes_in_a_commit_do_not_reach_the_terminal(lci: Callable[..., Ran], tmp_path: Path) -> None:
    root = init(tmp_path / "repo", {"a.py": POOL, ".gitignore": ".lci/\n"})
    (root / "a.py").write_text(POOL.replace("size)", "size, other)"))
    git(root, "-c", "user.name=\x1b[31mred", "commit", "-qam", "\x1b[2Jgone \x1f\x1e fields")
    app.build_index(str(root), jobs=1)
    ran = lci("history", "open_pool", cwd=root)
    assert ran.code == 0 and "\x1b" not in ran.out and "2 commits" in ran.out


def test_a_shallow_clone_says_that_it_ends_there(lci: Callable[..., Ran], root: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{root}", "clone")
    app.build_index(str(tmp_path / "clone"), jobs=1)
    found = answer(lci("history", "open_pool", "--json", cwd=tmp_path / "clone"))
    assert found["incomplete"] is True and "first" not in found
    assert "the clone is shallow" in lci("history", "open_pool", cwd=tmp_path / "clone").out
