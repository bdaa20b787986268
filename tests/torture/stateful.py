"""A repository changes in every way, and its index must answer like a fresh one (hypothesis).

python -m tests.torture.stateful --examples 60 --steps 40 --seed 1
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import ClassVar

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from lci_py.search.freshness import QUICK_FILES
from tests.torture import trees
from tests.torture.actions import ACTIONS, SETTINGS, Tree
from tests.torture.answers import QUERIES, ask, bound, comparable, difference, listing, truth, usage
from tests.torture.program import NO_REFRESH, Program, Ran
from tests.torture.report import Report, arguments

_PICK = st.integers(0, 999)


_CHANGES = st.lists(st.tuples(st.sampled_from(sorted(ACTIONS)), _PICK, _PICK), min_size=1, max_size=4)


class Repository(RuleBasedStateMachine):
    """After each refresh the answers are those of a fresh full index of the same tree."""

    program: ClassVar[Program]
    report: ClassVar[Report]
    scratch: ClassVar[Path]

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=self.scratch))
        self.root = self.folder / "tree"
        self.index_dir = self.root / ".lci"
        self.tree = Tree(self.root)

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    @initialize()
    def make(self) -> None:
        trees.make(self.root, git=True)
        trees.write(self.root / ".lci.toml", SETTINGS[0])
        trees.commit(self.root)
        trees.run_git(self.root, "checkout", "-q", "-b", "other")
        for name, where, what in (("add_definition", 3, 1), ("delete_file", 5, 0), ("add_file", 3, 0)):
            ACTIONS[name](self.tree, where, what)
        trees.commit(self.root)
        trees.run_git(self.root, "checkout", "-q", "main")
        self.index()
        self.compare()

    def change(self, data: st.DataObject) -> None:
        for name, where, what in data.draw(_CHANGES, "changes"):
            ACTIONS[name](self.tree, where, what)

    def index(self, *flags: str, **options: float) -> Ran:
        return self.program.run("index", str(self.root), "--jobs", "1", "--json", *flags, **options)

    # Each rule both changes and refreshes: hypothesis leaves out rules, and runs without changes test nothing.

    @rule(data=st.data(), flags=st.sampled_from(((), (), (), ("--jobs", "2"), ("--full",))))
    def refresh(self, data: st.DataObject, flags: tuple[str, ...]) -> None:
        self.change(data)
        self.indexed(*flags)

    def indexed(self, *flags: str) -> None:
        """After `lci index` the answers are right, and a second run finds nothing to do."""
        ran = self.index(*flags)
        assert ran.code == 0, ran.told()
        assert not any("rebuilt" in warning for warning in ran.json().get("warnings", ())), ran.told()
        self.compare()
        before = listing(self.index_dir)
        again = self.index()
        assert again.code == 0 and not again.json()["changed"], again.told()
        assert listing(self.index_dir) == before, "nothing had changed, but the index was written"

    @rule(data=st.data(), whole=st.booleans(), picks=st.lists(_PICK, max_size=3))
    def refresh_files(self, data: st.DataObject, whole: bool, picks: list[int]) -> None:
        """Refresh only named files. If no others have changed, the answers are those of a full refresh."""
        self.change(data)
        known = trees.files(self.root)
        named = set(self.tree.dirty) if whole else {known[pick % len(known)] for pick in picks if known}
        if not named:
            return
        # With --files, a PATH is one more of them.
        where = ("--root", str(self.root), "--jobs", "1", "--json")
        ran = self.program.run("index", *where, "--files", *sorted(named), cwd=self.root)
        assert ran.code == 0, ran.told()
        if whole and not self.tree.wide:
            self.compare()

    @rule(data=st.data(), number=st.integers(0, len(QUERIES) - 1))
    def search_that_refreshes(self, data: st.DataObject, number: int) -> None:
        """A search that may refresh the index answers like a fresh index."""
        self.change(data)
        query = dict(QUERIES[number])
        argv = ["search", "--mode", query["mode"], "--json", "--root", str(self.root)]
        flags = _as_flags(query)  # the query comes last, after "--"
        fresh = self.folder / "truth"
        truth(self.program, self.root, fresh)
        wanted = self.program.run(*argv, *NO_REFRESH, *flags, index_dir=fresh)
        found = self.program.run(*argv, *flags)
        if found.json()["index"]["stale_files"] > QUICK_FILES:
            return  # too many changes for a search to take in, and the answer says so
        assert found.code == wanted.code, found.told()
        told = difference(comparable(found.json()), comparable(wanted.json()))
        assert comparable(found.json()) == comparable(wanted.json()), told

    @rule(data=st.data(), milliseconds=st.integers(0, 250), full=st.booleans())
    def kill_an_index_run(self, data: st.DataObject, milliseconds: int, full: bool) -> None:
        self.change(data)
        self.index(*(("--full",) if full else ()), kill_after=milliseconds / 1000)
        found = ask(self.program, self.root)
        assert found.answers, f"after a kill: {found.wrong or found.refused}"
        self.indexed()

    # --- what must be so ------------------------------------------------------------------------------------------

    def compare(self) -> None:
        """The index answers like a fresh one, has no debris, and its status is sound."""
        self.tree.settled()
        self.report.count("refreshes compared with a fresh index")
        fresh = self.folder / "truth"
        wanted, found = truth(self.program, self.root, fresh), ask(self.program, self.root)
        assert found.answers, found.wrong or found.refused
        told = found.differs(wanted)
        assert told is None, told
        graphs = [graph_of(folder) for folder in (self.index_dir, fresh)]
        assert graphs[0] == graphs[1], "the graph is not that of a fresh index, byte for byte"
        assert usage(self.index_dir) <= bound(usage(fresh)), "the index grows without bound"
        status = self.program.run("status", "--root", str(self.root), "--json", "--check")
        assert status.code == 0 and status.json()["health"] == "ok", status.told()


def graph_of(index_dir: Path) -> str:
    """The name of the graph shard, which has a digest of its bytes."""
    return str(json.loads((index_dir / "manifest.json").read_text("utf-8"))["shards"]["graph"]["name"])


def _as_flags(query: dict[str, object]) -> list[str]:
    """The keys of a batch line as flags of the command line."""
    flags: list[str] = []
    for key, value in query.items():
        name = "--" + key.replace("_", "-")
        if isinstance(value, bool):
            flags += [name] * value
        elif isinstance(value, list):
            flags += [part for item in value for part in (name, str(item))]
        elif key not in ("query", "mode"):
            flags += [name, str(value)]
    return [*flags, "--", str(query["query"])] if query["query"] else flags


def run(
    machine: type[Repository], *, examples: int, steps: int, shrink: bool = False, repeatable: bool = False
) -> None:
    """Run a machine; raise the exception of the first failing example."""
    chosen = settings(
        max_examples=examples, stateful_step_count=steps, deadline=None, database=None, derandomize=repeatable,
        suppress_health_check=list(HealthCheck), report_multiple_bugs=False, verbosity=Verbosity.normal,
        phases=[Phase.generate, *([Phase.shrink] * shrink)],
    )  # fmt: skip
    run_state_machine_as_test(machine, settings=chosen)


def main() -> int:
    given = arguments(__doc__, examples=60, steps=40, shrink=0)
    report = Report("changes of a tree", given.seed)
    with tempfile.TemporaryDirectory(prefix="lci-torture-") as name, Program(Path(name)) as program:
        members = {"program": program, "report": report, "scratch": Path(name)}
        machine = hypothesis.seed(given.seed)(type("Machine", (Repository,), members))
        report.count("examples", given.examples)
        try:
            run(machine, examples=given.examples, steps=given.steps, shrink=bool(given.shrink))
        except Exception as error:
            notes = "\n".join(getattr(error, "__notes__", ()))
            # What failed once and not again is a group of the errors of that once.
            inner = "".join(f"\n  {type(one).__name__}: {one}" for one in getattr(error, "exceptions", ()))
            report.violation(f"{type(error).__name__}: {error}{inner}\n{notes}")
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
