"""Whether the same files and questions give the same answers: on one core and on two, under several Pythons with their
versions of the libraries, and when everything is repeated.

    python -m tests.quality.determinism WORK ROOT QUERIES [ROOT QUERIES ...] [--python PATH] [--other-machine]

Each ROOT is indexed anew for each Python, with one worker on one core and with two on two, and searched on as many
cores; nothing is written into it. QUERIES has one question per line, or is JSON with keys `query` or `question`. Each
index answers all questions in every mode (-n 50, `--explain`; multiview also with `--expand 1` and `--near` a file).
Answers must be identical bytes, apart from what `settled` removes. `--other-machine` also searches with the numeric
libraries limited to the instructions of a much older processor, which changes the order of their additions.

WORK keeps the indexes and answers. Differences are printed with the first result that differs; the exit status is 1 if
there are any.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

MODES = ("dense", "bm25", "symbolic", "multiview")
SHOWN = 50
_HERE = Path(__file__).resolve().parents[2]
#: Settings for the instructions of a processor of 2008: no AVX, so no fused multiply-add and other widths of sums.
_OLD = {
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 X86_V3 AVX512_SKX AVX512F AVX2 FMA3 AVX F16C",
}


class Setup(NamedTuple):
    """One way to run a command."""

    python: str
    cores: int
    env: Mapping[str, str] = {}

    def run(self, arguments: Sequence[str], home: Path) -> bytes:
        """The output of `lci` with these arguments.

        Args:
            arguments: The command line.
            home: Folder of indexes and settings.
        Raises:
            SystemExit: It failed.
        """
        env = {
            **os.environ, "PYTHONPATH": str(_HERE), "PYTHONDONTWRITEBYTECODE": "1", **self.env,
            "LCI_INDEX_DIR": str(home / "index"), "LCI_CONFIG_DIR": str(home / "config"),
        }  # fmt: skip
        allowed = sorted(os.sched_getaffinity(0))[: self.cores]
        done = subprocess.run(
            [self.python, "-m", "lci_py", *arguments], env=env, capture_output=True,
            preexec_fn=lambda: os.sched_setaffinity(0, allowed),
        )  # fmt: skip
        if done.returncode not in (0, 1):
            raise SystemExit(f"{self}: lci {' '.join(arguments)}\n{done.stderr.decode()}")
        return done.stdout

    def __str__(self) -> str:
        return f"{self.python} on {self.cores} core{'s' * (self.cores > 1)}" + (" (other machine)" if self.env else "")


class Asked(NamedTuple):
    """A batch of questions in one mode."""

    name: str
    arguments: tuple[str, ...]
    queries: Path


def asked(work: Path, root: Path, queries: Sequence[str]) -> list[Asked]:
    """The batches for an index; their questions are kept in `work`."""
    words, names = work / "queries.txt", work / "names.txt"
    words.write_text("".join(f"{query}\n" for query in queries))
    # Symbolic mode searches names, so it gets one word of each question.
    longest = sorted({max(query.split(), key=len) for query in queries})
    names.write_text("".join(f"*{word.strip('?,.').lower()[:5]}*\n" for word in longest))
    near = next(path.relative_to(root).as_posix() for path in _sources(root))
    found = [Asked(mode, ("--mode", mode), names if mode == "symbolic" else words) for mode in MODES]
    return [
        *found,
        Asked("multiview expanded", ("--mode", "multiview", "--expand", "1", "--conflicts"), words),
        Asked(f"multiview near {near}", ("--mode", "multiview", "--near", near), words),
        Asked("dense filtered", ("--mode", "dense", "--exclude", "*test*", "--kind", "function"), words),
    ]


def _sources(root: Path) -> Iterator[Path]:
    code = (".py", ".go", ".rs", ".ts", ".js", ".c", ".java")
    return (path for path in sorted(root.rglob("*")) if path.suffix in code and not path.name.startswith("."))


def read_queries(path: Path) -> list[str]:
    """The questions of a file, in its order.

    Raises:
        SystemExit: There are none.
    """
    text = path.read_text()
    found = list(_strings(json.loads(text))) if path.suffix == ".json" else [line for line in text.splitlines() if line]
    if not found:
        raise SystemExit(f"no questions in {path}")
    return found


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (value[name] for name in ("query", "question") if isinstance(value.get(name), str))
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def settled(line: bytes) -> bytes:
    """An answer without what differs between two indexes of the same files: the time of the build, and how many files
    there was no time to check."""
    answer = json.loads(line)
    answer["index"]["built_at"] = answer["index"]["generation"] = None
    answer["index"].pop("unchecked_files", None)
    return json.dumps(answer, ensure_ascii=False).encode()


def first_difference(left: Any, right: Any, at: str = "") -> str:
    """The place where two answers begin to differ, with the text there."""
    if isinstance(left, dict) and isinstance(right, dict) and list(left) == list(right):
        return next((found for k in left if (found := first_difference(left[k], right[k], f"{at}.{k}"))), "")
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        pairs = enumerate(zip(left, right, strict=True))
        return next((found for k, (a, b) in pairs if (found := first_difference(a, b, f"{at}[{k}]"))), "")
    return "" if left == right else f"{at.lstrip('.')}: {str(left)[:120]} | {str(right)[:120]}"


def shards(home: Path) -> dict[str, str]:
    """Digests of the shards of the only index in a folder, by kind. Without `files`: that shard depends on the versions
    of the libraries."""
    (manifest,) = (home / "index").rglob("manifest.json")
    found = {}
    for path in sorted(manifest.parent.iterdir()):
        kind, _, rest = path.name.partition("-")
        if rest and kind != "files" and path.is_file():
            found[kind] = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    return found


class Comparison:
    """Answers to the same questions; the first answer to each counts as right."""

    def __init__(self) -> None:
        self.answers = 0
        self.differences: list[str] = []
        self._first: dict[str, tuple[str, list[bytes]]] = {}

    def add(self, name: str, made: str, lines: Sequence[bytes]) -> None:
        """Compare the answers of one setup with those of the first."""
        self.answers += len(lines)
        who, before = self._first.setdefault(name, (made, list(lines)))
        if len(before) != len(lines):
            self.differences.append(f"{name}: {len(before)} answers, {len(lines)}\n  {who}\n  {made}")
        for left, right in zip(before, lines):  # noqa: B905 (told above)
            if left != right:
                a, b = json.loads(left), json.loads(right)
                where = first_difference(a, b) or "the same values, in another order"
                self.differences.append(f"{name}: {a.get('query')!r}\n  {where}\n  {who}\n  {made}")


def compare(work: Path, root: Path, queries: Sequence[str], pythons: Sequence[str], old: bool) -> Comparison:
    """Index and search in every setup, and compare each with the first.

    Args:
        work: An empty folder.
        root: What is indexed.
        queries: Questions.
        pythons: Interpreters that have the libraries.
        old: Whether to search as another machine would, too.
    """
    found = Comparison()
    batches = asked(work, root, queries)
    digests: dict[str, tuple[str, str]] = {}
    for number, python in enumerate(pythons):
        for jobs in (1, 2):
            home = work / f"{number}-{jobs}"
            Setup(python, jobs).run(["index", str(root), "--jobs", str(jobs), "--quiet"], home)
            made = f"index of {python} with {jobs} job{'s' * (jobs > 1)}"
            for kind, digest in shards(home).items():
                if digests.setdefault(kind, (digest, made))[0] != digest:
                    print(f"  (other bytes, which may mean the same: {kind}; {made})")
            for setup in (Setup(python, jobs), *([Setup(python, 1, _OLD)] if old and jobs == 1 else [])):
                for batch in batches:
                    command = [
                        "search", "--root", str(root), "--batch", str(batch.queries), *batch.arguments,
                        "-n", str(SHOWN), "--explain", "--refresh", "never",
                    ]  # fmt: skip
                    lines = [settled(line) for line in setup.run(command, home).splitlines()]
                    found.add(batch.name, f"{setup}, {made}", lines)
    return found


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("work", type=Path, help="a folder for indexes; what is in it is removed")
    ap.add_argument("pairs", type=Path, nargs="+", metavar="ROOT QUERIES")
    ap.add_argument("--python", action="append", default=[], help="an interpreter; repeatable. This one if left out")
    ap.add_argument("--other-machine", action="store_true", help="search with older processors' instructions, too")
    args = ap.parse_args()
    if len(args.pairs) % 2:
        ap.error("a root without a file of queries")
    status = 0
    for root, path in zip(args.pairs[::2], args.pairs[1::2], strict=True):
        work = args.work.resolve() / root.resolve().name
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        pythons = args.python or [sys.executable]
        found = compare(work, root.resolve(), read_queries(path), pythons, args.other_machine)
        print(f"{root.name}: {found.answers} answers, {len(found.differences)} differ", flush=True)
        for told in found.differences[:10]:
            print(f"  {told}")
        status |= bool(found.differences)
    return status


if __name__ == "__main__":
    sys.exit(main())
