"""Does `lci affected` list the tests that developers changed with the code?

For each repository the newest commits that change both source and tests are taken. The work tree is the parent with the
commit's changes outside of tests, and the index is that of the parent, refreshed: what an editor has before the commit. Asked
is `lci affected`; right are the files of tests that the commit changes and the parent has.

    python -m tests.quality.affected FOLDER [--commits 10] [--depth N] [-v]

FOLDER holds git repositories with their history, work trees or bare ones. They are cloned into a temporary folder, and left
as they are. Printed per repository: the share of changed test files that are listed, of commits of which all are listed, and how
many of all test files are listed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from lci_py import app
from lci_py.source.syntax.languages import TEXT, detect, is_test

#: Files of a commit that is taken: a larger one is a release or a rewrite.
MOST_FILES = 20
PROSE = (TEXT, "markdown")


class Asked(NamedTuple):
    """One commit."""

    commit: str
    changed: list[str]  # test files that it changes
    listed: list[str]  # test files that `affected` names
    tests: int  # all test files


def git(repository: Path, *arguments: str) -> str:
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, errors="surrogateescape").stdout


def is_code(path: str) -> bool:
    return detect(path) not in PROSE


def candidates(repository: Path, wanted: int) -> list[tuple[str, list[str], list[str]]]:
    """(commit, test files, other files) of the newest commits that change both, of code."""
    found = []
    for commit in git(repository, "rev-list", "--no-merges", "--max-count=3000", "HEAD").split():
        lines = git(
            repository, "diff-tree", "-r", "--no-commit-id", "--name-status", "--no-renames", commit
        ).splitlines()
        changes = [line.split("\t", 1) for line in lines]
        tests = [path for status, path in changes if status == "M" and is_test(path) and is_code(path)]
        others = [path for _, path in changes if not is_test(path)]
        source = [path for status, path in changes if status == "M" and not is_test(path) and is_code(path)]
        if tests and source and len(changes) <= MOST_FILES:
            found.append((commit, tests, others))
            if len(found) == wanted:
                break
    return found


def ask(repository: Path, commit: str, tests: list[str], others: list[str], depth: int | None) -> Asked:
    git(repository, "checkout", "--quiet", "--force", f"{commit}^")
    app.build_index(str(repository))
    for path in others:
        there = subprocess.run(
            ["git", "-C", str(repository), "cat-file", "-e", f"{commit}:{path}"], check=False, capture_output=True
        )
        if there.returncode == 0:
            git(repository, "checkout", "--quiet", commit, "--", path)
        else:
            (repository / path).unlink(missing_ok=True)
    limit = ("--depth", str(depth)) if depth else ()
    done = subprocess.run(
        [sys.executable, "-m", "lci_py", "affected", "--json", "--root", str(repository), *limit],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    answer = json.loads(done.stdout)
    if "error" in answer:
        raise SystemExit(answer["error"]["message"])
    every = [path for path in git(repository, "ls-files").splitlines() if is_test(path) and is_code(path)]
    git(repository, "reset", "--quiet", "--hard")
    return Asked(commit, tests, [path for path in answer.get("test_files", ()) if is_test(path)], len(every))


def report(name: str, asked: list[Asked]) -> None:
    changed = sum(len(one.changed) for one in asked)
    listed = sum(path in one.listed for one in asked for path in one.changed)
    every = sum(set(one.changed) <= set(one.listed) for one in asked)
    some = sum(bool(set(one.changed) & set(one.listed)) for one in asked)
    size = statistics.mean(len(one.listed) / max(one.tests, 1) for one in asked)
    print(
        f"{name}: {len(asked)} commits; of {changed} changed test files {listed} listed ({listed / changed:.2f}); "
        f"all of a commit in {every / len(asked):.2f}, one in {some / len(asked):.2f}; listed {size:.2f} of the test files"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--commits", type=int, default=10)
    parser.add_argument("--depth", type=int)
    parser.add_argument("-v", "--verbose", action="store_true")
    given = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="affected-"))
    os.environ["LCI_INDEX_DIR"] = str(work / "index")
    total: list[Asked] = []
    try:
        for source in sorted(path for path in given.folder.iterdir() if path.is_dir()):
            clone = work / source.name
            subprocess.run(["git", "clone", "--quiet", "--shared", str(source), str(clone)], check=True)
            shutil.rmtree(work / "index", ignore_errors=True)
            asked = [ask(clone, *one, given.depth) for one in candidates(clone, given.commits)]
            if not asked:
                continue
            report(source.name, asked)
            for one in asked if given.verbose else ():
                missing = sorted(set(one.changed) - set(one.listed))
                print(f"  {one.commit[:10]} {len(one.changed)} changed, {len(one.listed)} listed; missing {missing}")
            total += asked
        report("all", total)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
