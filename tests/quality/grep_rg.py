"""`lci grep` against ripgrep: the same lines in the same order, and what both cost.

    python -m tests.quality.grep_rg ROOT [--patterns 200] [--seed 1] [--times]

ROOT must be indexed (`LCI_INDEX_DIR` says where, as always); ripgrep must be installed. Patterns are drawn from the words
of the indexed files: whole words, parts of them, two words with what is between, and expressions made of them, with
random flags. Of ripgrep's lines, those of files that are not indexed are left out; its control characters are spelled
out as lci does. What is known to differ is drawn as little as possible: `\\b` beside letters beyond ASCII, and the lines
after the last one of --max-count. `--times` prints the CPU time and wall time of both for a rare and for a common word.
Each difference is printed; the exit status is 1 if there are any.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lci_py.render.text.style import visible

_LCI = [sys.executable, "-m", "lci_py"]
_RG = ["rg", "--sort", "path", "--line-number", "--no-heading", "--color", "never", "--null"]
_RUNS = 15
#: Files whose words are drawn.
_SAMPLE = 400


def indexed(root: Path) -> list[str]:
    """The files that an index run takes in."""
    out = subprocess.run([*_LCI, "index", "--dry-run", "--json", str(root)], capture_output=True, check=True).stdout
    found: list[str] = json.loads(out)["files"]
    return found


def by_rg(root: Path, args: Sequence[str], known: set[str]) -> list[str]:
    """ripgrep's lines in indexed files, as lci writes them."""
    done = subprocess.run([*_RG, *args], cwd=root, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    lines = []
    for line in done.stdout.split(b"\n"):
        path, null, rest = line.partition(b"\0")
        if null and path.decode("utf-8", "surrogateescape") in known:
            text = visible(rest.removesuffix(b"\r").decode("utf-8", "replace"))
            lines.append(f"{path.decode('utf-8', 'replace')}:{text}")
    return lines


def by_lci(root: Path, args: Sequence[str]) -> list[str]:
    done = subprocess.run(
        [*_LCI, "grep", "--refresh", "never", *args],
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode > 1:
        return [done.stderr.decode("utf-8", "replace")]
    return done.stdout.decode("utf-8", "replace").removesuffix("\n").split("\n") if done.stdout else []


def escaped(text: str) -> str:
    """The text as an expression; `re.escape` escapes more than ripgrep allows."""
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text)


def drawn(root: Path, files: Sequence[str], rng: random.Random, count: int) -> list[list[str]]:
    """Arguments for both programs."""
    texts = []
    for path in rng.sample(files, min(_SAMPLE, len(files))):
        texts += re.findall(r"[A-Za-z_]\w+(?:[^\w\n]{1,3}\w+)?", (root / path).read_text("utf-8", "replace"))
    found = []
    for _ in range(count):
        text, other = rng.choice(texts), rng.choice(texts)
        start = rng.randrange(len(text))
        part = text[start : rng.randint(start + 1, len(text))]
        plain, word = escaped(text), re.match(r"\w+", text)
        name = word.group() if word else "x"
        pattern, fixed = rng.choice(
            [
                (text, True), (name, True), (part, True), (plain, False), (name, False),
                (f"{name[:-2] or 'x'}\\w*", False), (f"({plain}|{escaped(other)})", False), (f"^\\s*{plain}", False),
                (f"{escaped(part)}.*{name[-1]}", False), (f"{name}\\s*\\(", False), (f"[{name[0]}]{name[1:]}?;$", False),
            ]
        )  # fmt: skip
        # Of -i and -S, the last one counts for ripgrep, and -i for lci.
        flags = [
            flag
            for flag in (rng.choice(["-i", "-S"]), "-w", rng.choice("-v -o -c -oc -vc".split()))
            if rng.random() < 0.2
        ]
        found.append([*flags, *(["-F"] if fixed else []), "--", pattern])
    return found


def timed(name: str, command: Sequence[str], root: Path) -> None:
    """Print the median CPU and wall time of a command in ms."""
    cpu, wall = [], []
    for _ in range(_RUNS):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(
            command,
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        wall.append((time.perf_counter() - began) * 1e3)
        cpu.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3)
    middle = [sorted(times)[_RUNS // 2] for times in (cpu, wall)]
    print(f"  {name:<10} cpu {middle[0]:7.0f} ms   wall {middle[1]:7.0f} ms   least {min(cpu):.0f} and {min(wall):.0f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--patterns", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--times", action="store_true")
    options = parser.parse_args()
    if shutil.which("rg") is None:
        parser.error("ripgrep is not installed")
    root, rng = options.root.resolve(), random.Random(options.seed)
    files = indexed(root)
    known, different, hits = set(files), 0, 0
    for args in drawn(root, files, rng, options.patterns):
        theirs, ours = by_rg(root, args, known), by_lci(root, args)
        hits += len(theirs)
        if theirs != ours:
            different += 1
            missing, extra = Counter(theirs) - Counter(ours), Counter(ours) - Counter(theirs)
            print(f"{args}: {len(theirs)} and {len(ours)} lines; missing {list(missing)[:2]}, more {list(extra)[:2]}")
    print(f"{options.patterns} patterns, {hits:,} lines, {different} different")
    if options.times:
        counts = Counter(
            word for path in files for word in set(re.findall(r"\w{6,}", (root / path).read_text("utf-8", "replace")))
        )
        rare = min(word for word, number in counts.items() if 5 <= number <= 10)
        common = counts.most_common(1)[0][0]
        lci = shutil.which("lci", path=str(Path(sys.executable).parent)) or "lci"
        for word in (rare, common):
            print(f"{word}, in {counts[word]:,} files")
            timed("rg", ["rg", "--sort", "path", "-n", word], root)
            timed("lci grep", [lci, "grep", word], root)
        timed("lci alone", [lci, "status", "--root", "/nonexistent"], root)
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
