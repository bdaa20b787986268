"""Damaged index files: the right answer or exit 3 with a typed error, never a crash, a hang or a wrong answer.

python -m tests.torture.damage_run --mutations 2000 --seed 1
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from lci_py.index.store.manifest import SHARD_NAME
from tests.torture.answers import Asked, ask, comparable
from tests.torture.damage import Damage, clear_up, inflict
from tests.torture.program import MEMORY, Program, Ran, frozen
from tests.torture.report import Report, arguments, in_parallel
from tests.torture.trees import Flip, rng

LIMIT_S = 20.0
#: One command per mode, one of them with a quoted phrase that is read from the tree, and `def`.
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("search", "where are expired sessions removed", "--mode", "dense", "-n", "50"),
    ("search", 'flush "connection refused"', "--mode", "bm25", "-n", "50"),
    ("search", "name:*e*", "--mode", "symbolic", "-n", "50", "--conflicts"),
    ("search", "who calls load_cache", "--mode", "multiview", "-n", "50", "--explain"),
    ("def", "load_cache"),
)
#: Damage that leaves a shard's size as it was, as a dying disk does.
ON_THE_DISK = frozenset({"flip_bits", "make_numbers_huge", "zero_block", "scramble_block"})
#: Shards whose pages have no checksums (docs/reliability.md).
UNPROTECTED = ("symbols-", "branches-")
#: Makes the manifest expect the times that the shards have now, with the key of the program's home.
HIDE = """
import sys
from lci_py.types.record import replace
from pathlib import Path
from lci_py.index.store.manifest import MANIFEST, read_manifest, shard_state
folder = Path(sys.argv[1])
def now(shards):
    states = {role: shard_state(folder / shard.name) for role, shard in shards.items()}
    return {role: replace(shard, mtime_ns=states[role][1], ctime_ns=states[role][2]) for role, shard in shards.items()}
found = read_manifest(folder)
segments = tuple(replace(segment, shards=now(segment.shards)) for segment in found.segments)
(folder / MANIFEST).write_text(replace(found, segments=segments, shards=now(found.shards)).dumps())
"""


class Patient:
    """A repository whose index is damaged and repaired again and again.

    The tree alternates between two states, so that every damage hits an index that has just been refreshed.
    """

    def __init__(self, program: Program, scratch: Path) -> None:
        self.program = program
        self.flip = Flip(scratch / "tree")
        self.root = self.flip.root
        self.index = self.root / ".lci"
        self.refreshing = False  # whether a search may refresh the index
        self.whole: dict[int, Asked] = {}
        self.single: dict[int, list[Any]] = {}
        for state in (1, 0):
            self.flip.to(state)
            assert self.refresh("--full").code == 0
            self.whole[state] = ask(program, self.root)
            self.single[state] = [comparable(self.command(argv).json()) for argv in COMMANDS]
            assert all(answer["results"] for answer in self.single[state])

    def command(self, argv: tuple[str, ...]) -> Ran:
        flags = ("--json", "--root", str(self.root), *(() if self.refreshing else frozen(argv[0])))
        return self.program.run(*argv, *flags, cwd=self.root, limit_s=LIMIT_S, memory=MEMORY)

    def refresh(self, *flags: str) -> Ran:
        argv = ("index", str(self.root), "--jobs", "1", "--json", *flags)
        return self.program.run(*argv, limit_s=60, memory=MEMORY)

    def hide(self) -> None:
        """Make the index look as if no shard had been written since it was made."""
        argv = [sys.executable, "-c", HIDE, str(self.index)]
        subprocess.run(argv, env=self.program.environment(), check=True, capture_output=True)

    def folders(self) -> list[Path]:
        """Folders to damage: mostly the index, and a cache if there is one."""
        cache = self.program.home / "cache"
        has_files = cache.exists() and any(path.is_file() for path in cache.rglob("*"))
        return [self.index] * 5 + [cache] * has_files


def judge_reading(ran: Ran, truth: Any) -> tuple[str, str]:
    """The verdict (right, refused, degraded, wrong or crash), and its explanation."""
    if wrong := ran.misbehaved():
        return "crash", f"{wrong}: {ran.told()}"
    if ran.code == 3:
        return "refused", ran.error or ""
    try:
        answer = comparable(ran.json())
    except ValueError:
        return "crash", f"no JSON: {ran.told()}"
    if answer == truth:
        return "right", ""
    if answer.get("degraded") and answer["mode"] == "multiview":
        return "degraded", ""  # the answer says which view is missing, and why
    return "wrong", ran.told()


def one(patient: Patient, report: Report, random_: Any, number: int, seen: Counter[str]) -> None:
    """One mutation: refresh, damage, search, repair."""
    patient.flip.to(1 - patient.flip.state)
    ran = patient.refresh()
    if ran.code != 0:
        report.violation(f"mutation {number}: the refresh before it: {ran.told()}")
        patient.refresh("--full")
        return
    damage = inflict(patient.folders(), random_)
    if damage is None:
        report.count("mutations that changed nothing")
        return
    report.count("mutations")
    report.count("of them silent (size and mtime as before)", damage.time_restored and damage.same_size)
    is_shard = SHARD_NAME.fullmatch(damage.path) is not None
    hidden = is_shard and damage.same_size and damage.kind in ON_THE_DISK and random_.random() < 0.5
    if hidden:
        patient.hide()
        report.count("of them behind the times of a shard")
    verdicts = set()
    patient.refreshing = random_.random() < 0.25
    for argv, truth in zip(COMMANDS, patient.single[patient.flip.state], strict=True):
        ran = patient.command(argv)
        report.most("most memory of a reader, MB", ran.peak / 1e6)
        verdict, told = judge_reading(ran, truth)
        verdicts.add(verdict)
        if verdict == "wrong" and hidden and damage.path.startswith(UNPROTECTED):
            report.count("wrong answers from pages of SQLite, which have no checksums")
        elif verdict in ("crash", "wrong"):
            report.violation(f"mutation {number}, {damage}: {verdict}: {told}")
            break
    for verdict in ("wrong", "crash", "refused", "degraded", "right"):
        if verdict in verdicts:
            report.count(f"outcome: {verdict}")
            break
    _check_status(patient, report, damage, number)
    # A run that finds nothing to do reads no shard whose times are as expected.
    _repair(patient, report, damage, number, *(("--full",) if hidden else ()))
    report.count("huge files left", clear_up(patient.folders()))
    seen[damage.kind] += 1


def _check_status(patient: Patient, report: Report, damage: Damage, number: int) -> None:
    ran = patient.command(("status", "--check"))
    in_its_own_object = ran.code == 3 and ran.out.startswith("{") and '"health"' in ran.out
    if (wrong := ran.misbehaved()) and not in_its_own_object:
        report.violation(f"mutation {number}, {damage}: status: {wrong}: {ran.told()}")
        return
    report.count("found by status --check", ran.code == 3)


def _repair(patient: Patient, report: Report, damage: Damage, number: int, *flags: str) -> None:
    """`lci index` must repair the index. If it does not, `--full` does, so that the next mutation starts afresh."""
    ran = patient.refresh(*flags)
    what = ran.misbehaved() or (ran.told() if ran.code != 0 else None)
    if what is None:
        found = ask(patient.program, patient.root, limit_s=LIMIT_S, memory=MEMORY)
        what = found.wrong or found.refused or found.differs(patient.whole[patient.flip.state])
    if what is None:
        return
    report.violation(f"mutation {number}, {damage}: `lci index` did not repair it: {what}")
    ran = patient.refresh("--full")
    if ran.code != 0:
        report.violation(f"mutation {number}, {damage}: nor did --full: {ran.told()}")
        shutil.rmtree(patient.index, ignore_errors=True)


def mutations(patient: Patient, report: Report, count: int, worker: int = 0) -> Counter[str]:
    """Run `count` mutations; the number of each kind of damage."""
    random_ = rng(report.seed, "mutate", worker)
    seen: Counter[str] = Counter()
    for number in range(count):
        one(patient, report, random_, number, seen)
        report.progress(number + 1, count)
    return seen


def main() -> int:
    given = arguments(__doc__, mutations=2000, workers=2)
    report = Report("damaged index files", given.seed)
    kinds: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="lci-torture-") as name:

        def work(worker: int) -> None:
            scratch = Path(name, str(worker))
            with Program(scratch) as program:
                share = len(range(worker, given.mutations, given.workers))
                kinds.update(mutations(Patient(program, scratch), report, share, worker))

        in_parallel(work, given.workers)
    for kind, count in kinds.items():
        report.count(f"kind: {kind}", count)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
