"""Tasks of an agent, done with lci and with `rg` and `sed`: calls, tokens (four bytes each) and right answers.

    python -m tests.quality.agent_tasks CHECKOUTS [--held] [--only ID] [--show]
    python -m tests.quality.agent_tasks CHECKOUTS --agent 'CMD {prompt}' [--seconds N] [--only ID]

`tasks.toml` beside this file has the tasks, with the answers, which were written first. CHECKOUTS has a folder per
repository, at the commit that the file names. Without --agent no model is asked: two fixed plans are replayed, of
somebody who knows `rg` and of somebody who knows lci, each written with a view of what its own commands print. A plan
ends when the whole answer has been on screen; an item of the answer is a place whose text, name or line number was
printed together with its path, or by a command about that file. --held plays the tasks that nothing was developed on.

With --agent, CMD runs once per task and side in a copy of the checkout, with {prompt} in its place: with lci, which
has an index and has written its instructions into AGENTS.md, and without, where `lci` fails. An item is right if the
answer has its `path:line` (or one at most 5 lines off), or for a name the path and the name. If CMD prints JSON with
`result`, `usage` and `num_turns`, these are taken, else calls are unknown and tokens are those of its output. The
figures end with two-sided exact sign tests of the pairs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lci_py.render.token_budget import tokens
from lci_py.source.text import parse_toml

SIDES = ("rg", "lci")
TASKS: list[dict[str, Any]] = parse_toml(Path(__file__).with_name("tasks.toml").read_text("utf-8"))["tasks"]
_FORM = "Answer with one line `path:line name` for each place, and nothing else."


class Paid(NamedTuple):
    calls: int
    tokens: int
    right: float  # share of the answer


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("checkouts", type=Path)
    ap.add_argument("--held", action="store_true", help="the tasks that were held back, instead of the others")
    ap.add_argument("--only", action="append", default=[], metavar="ID")
    ap.add_argument("--show", action="store_true", help="print what the commands print, and what is still missing")
    ap.add_argument("--lci", type=Path, default=Path(sys.executable).parent, help="folder of another lci to compare")
    ap.add_argument("--agent", metavar="CMD")
    ap.add_argument("--seconds", type=int, default=600)
    args = ap.parse_args()
    chosen = [
        task for task in TASKS if (task["id"] in args.only if args.only else task.get("held", False) == args.held)
    ]
    pairs = {}
    print(f"{'':22s}{'rg: calls':>10s}{'tokens':>8s}{'right':>7s}{'lci: calls':>12s}{'tokens':>8s}{'right':>7s}")
    for task in chosen:
        root = args.checkouts / task["id"].partition("-")[0]
        if args.agent:
            pairs[task["id"]] = [_asked(args.agent, task, root, side, args.seconds) for side in SIDES]
        else:
            pairs[task["id"]] = [_played(task, root, side, args.lci, show=args.show) for side in SIDES]
        _print_row(task["id"], pairs[task["id"]])
    _print_totals(list(pairs.values()), exact=bool(args.agent))
    return 0


def _print_row(name: str, pair: Sequence[Paid]) -> None:
    cells = (f"{paid.calls:10d}{paid.tokens:8,d}{paid.right:7.2f}" for paid in pair)
    print(f"{name:22s}{'  '.join(cells)}", flush=True)


def _print_totals(pairs: list[list[Paid]], *, exact: bool) -> None:
    sums = [Paid(*(sum(column) for column in zip(*side, strict=True))) for side in zip(*pairs, strict=True)]
    _print_row("all", sums)
    for column, measure in ((0, "calls"), (1, "tokens"), (2, "right")):
        values = [(rg[column], lci[column]) for rg, lci in pairs]
        ratio = sums[1][column] / sums[0][column] if sums[0][column] else math.nan
        test = f", p {sign_test(values):.3f}" if exact else ""
        print(f"{measure}: lci / rg {ratio:.2f}{test}")


def sign_test(pairs: Sequence[tuple[float, float]]) -> float:
    """The two-sided exact p-value that the first and the second of a pair are as likely to be the larger one."""
    less = sum(first < second for first, second in pairs)
    more = sum(first > second for first, second in pairs)
    tail = sum(math.comb(less + more, k) for k in range(min(less, more) + 1))
    return min(1.0, 2 * tail / 2 ** (less + more))


# --- plans --------------------------------------------------------------------------------------------------------


def _played(task: dict[str, Any], root: Path, side: str, lci: Path, *, show: bool) -> Paid:
    """Run the commands of a plan until nothing is missing."""
    missing, paid, calls = list(task["truth"]), 0, 0
    for command in task[side]:
        env = {**os.environ, "PATH": f"{lci}{os.pathsep}{os.environ['PATH']}"}
        run = subprocess.run(["bash", "-c", command], cwd=root, env=env, capture_output=True, stdin=subprocess.DEVNULL)
        text = (run.stdout + run.stderr).decode("utf-8", "replace")
        paid, calls = paid + tokens(text), calls + 1
        missing = [item for item in missing if not is_shown(item, command, text)]
        if show:
            print(f"$ {command}   # {tokens(text):,} tokens\n{text}")
        if not missing:
            break
    if show:
        print("".join(f"missing: {item}\n" for item in missing), end="")
    return Paid(calls, paid, 1 - len(missing) / len(task["truth"]))


def is_shown(item: str, command: str, text: str) -> bool:
    """Whether an item of an answer can be read in what a command has printed."""
    path, _, what = item.partition(": ")
    if path not in text and path not in command:
        return False
    if what.isdigit():
        return _has_line(path, what, command, text)
    if re.fullmatch(r"\w*", what):
        return re.search(rf"\b{what}\b", text) is not None
    return " ".join(what.split()) in " ".join(text.split())


def _has_line(path: str, number: str, command: str, text: str) -> bool:
    """Whether `path:number` is there, or a row with the number below a heading with the path."""
    if re.search(rf"{re.escape(path)}:(\d+, ?)*{number}\b", text):
        return True
    inside = path in command
    for row in text.splitlines():
        if path in row:
            inside = True
        elif re.match(r"\S+\.\w+\b", row):
            inside = False
        if inside and re.search(rf"(^|[ :,]){number}(?![\w.])", row):
            return True
    return False


# --- an agent -----------------------------------------------------------------------------------------------------


def _asked(agent: str, task: dict[str, Any], root: Path, side: str, seconds: int) -> Paid:
    prompt = f"{task['question']}\n{_FORM}"
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / root.name
        shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns(".lci"))
        path = _with_lci(copy) if side == "lci" else _without_lci(Path(folder) / "bin")
        command = agent.replace("{prompt}", shlex.quote(prompt))
        env = {**os.environ, "PATH": f"{path}{os.pathsep}{os.environ['PATH']}"}
        try:
            run = subprocess.run(
                ["bash", "-c", command], cwd=copy, env=env, timeout=seconds, capture_output=True, text=True
            )
            answer = run.stdout
        except subprocess.TimeoutExpired:
            answer = ""
    calls, paid = 0, tokens(answer)
    try:
        said = json.loads(answer)
        answer, calls = str(said["result"]), int(said["num_turns"])
        paid = sum(value for key, value in said["usage"].items() if key.endswith("_tokens") and isinstance(value, int))
    except (ValueError, TypeError, KeyError):
        pass
    right = sum(is_answered(item, answer, root) for item in task["truth"])
    return Paid(calls, paid, right / len(task["truth"]))


def _with_lci(copy: Path) -> Path:
    programs = Path(sys.executable).parent
    for words in (["index", "-q"], ["agent", "install", "agents-md", "-q"]):
        subprocess.run([programs / "lci", *words], cwd=copy, check=True, stdout=subprocess.DEVNULL)
    return programs


def _without_lci(folder: Path) -> Path:
    folder.mkdir()
    (folder / "lci").write_text("#!/bin/sh\nexit 127\n")
    (folder / "lci").chmod(0o755)
    return folder


def is_answered(item: str, answer: str, root: Path) -> bool:
    """Whether an agent's answer names an item: the path and the name, or a line near it."""
    path, _, what = item.partition(": ")
    if re.fullmatch(r"\w*", what) and not what.isdigit():
        return any(path in row and re.search(rf"\b{what}\b", row) is not None for row in answer.splitlines())
    lines = [" ".join(row.split()) for row in (root / path).read_text("utf-8").splitlines()]
    known = {int(what)} if what.isdigit() else {n for n, row in enumerate(lines, 1) if " ".join(what.split()) in row}
    near = 0 if what.isdigit() else 5
    named = (int(found) for found in re.findall(rf"{re.escape(path)}:(\d+)", answer))
    return any(abs(line - one) <= near for line in named for one in known)


if __name__ == "__main__":
    sys.exit(main())
