"""Functions that differ between two branches: our answer against Universal Ctags on two checkouts.

    python -m tests.quality.conflicts_branches REPOSITORY BRANCH [--show N]

REPOSITORY is a clean work tree with an index by `lci index --branches BRANCH`. The functions in C files that both sides
index are compared: in a path that both branches have, by name and text; a function that only one of the paths has is
searched for in all other paths.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from lci_py import app
from lci_py.search.conflicts.branches import differing

LANGUAGES = ("c",)
KINDS = ("function",)
Key = tuple[str, str]  # path, name


def functions(root: Path, commit: str, paths: set[str]) -> dict[Key, list[str]]:
    """The texts of all functions of a commit, by path and name, in the order of their texts."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", commit], cwd=root, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        listed = "\n".join(sorted(path for path in paths if (Path(folder) / path).is_file()))
        flags = ["--languages=C", "--langmap=C:+.h", "--kinds-C=f", "--fields=+ne", "--output-format=json"]
        command = ["ctags", *flags, "-L", "-", "-f", "-"]
        done = subprocess.run(command, cwd=folder, input=listed, capture_output=True, text=True, check=True)
        found: dict[Key, list[str]] = defaultdict(list)
        for tag in map(json.loads, done.stdout.splitlines()):
            if "end" in tag:
                lines = (Path(folder) / tag["path"]).read_bytes().split(b"\n")
                text = b"\n".join(lines[tag["line"] - 1 : tag["end"]])
                found[tag["path"], tag["name"]].append(text.decode("utf-8", "replace"))
    return {key: sorted(texts) for key, texts in found.items()}


def truth(here: dict[Key, list[str]], there: dict[Key, list[str]]) -> set[Key]:
    """Functions whose texts differ in one path, or that only one side has, unless another path has the same text."""
    sides = (here, there)
    loose: list[Counter[tuple[str, str]]] = [Counter(), Counter()]
    for side, other in ((0, 1), (1, 0)):
        for key, texts in sides[side].items():
            if key not in sides[other]:
                loose[side].update((key[1], text) for text in texts)
    found = set()
    for key in here.keys() | there.keys():
        if key in here and key in there:
            if here[key] != there[key]:
                found.add(key)
        else:
            side = 0 if key in here else 1
            if any(not loose[1 - side][key[1], text] for text in sides[side][key]):
                found.add(key)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("repository", type=Path)
    parser.add_argument("branch")
    parser.add_argument("--show", type=int, default=20)
    options = parser.parse_args()
    with app.open_engine(str(options.repository), refresh="never") as session:
        index = session.snapshot.branches
        assert index is not None
        (tip,) = [tip for tip in index.tips if tip.name == options.branch]
        paths = {
            path for path, language in session.snapshot.symbols.per_file("path, language") if language in LANGUAGES
        }
        paths |= {row["file"] for row in index.rows(tip.name) if row["language"] in LANGUAGES}
        found: set[Key] = set()
        moved: set[Key] = set()  # to another path, with another text
        for item in differing(index, session.snapshot.symbols):
            rows = [row for row in (item.here, item.there) if row is not None]
            if item.branch == tip.name and rows[0]["language"] in LANGUAGES and any(r["kind"] in KINDS for r in rows):
                keys = {(row["file"], row["symbol"]) for row in rows if "declaration" not in row["traits"].split()}
                found |= keys
                moved |= keys if len(keys) > 1 else set()
        head = session.snapshot.manifest.commit
        assert head is not None
    here, there = (functions(options.repository, commit, paths) for commit in (head, tip.commit))
    wanted = truth(here, there)
    missed, extra = sorted(wanted - found), sorted(found - wanted)
    print(f"{len(here)} functions here, {len(there)} on {tip.name}; {len(wanted)} differ by ctags, {len(found)} by lci")
    print(f"recall {1 - len(missed) / max(1, len(wanted)):.4f}, precision {1 - len(extra) / max(1, len(found)):.4f}")
    for name, keys in (("missed", missed), ("extra", extra)):
        print(f"{name}: {len(keys)}")
        for key in keys[: options.show]:
            state = [len(side.get(key, ())) for side in (here, there)]
            print(f"  {key[0]}  {key[1]}  by ctags {state[0]} here, {state[1]} there{' moved' * (key in moved)}")


if __name__ == "__main__":
    main()
