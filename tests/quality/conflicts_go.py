"""Conflicts and build conditions of Go against go/parser and go/build.

    python -m tests.quality.conflicts_go [FOLDER] [--skip FOLDER …] [--min 0.98] [-v]

Needs `go`; the default of FOLDER is $(go env GOROOT)/src. Its files are copied, without tests and files that the go
command ignores, and indexed, including generated files.

In the truth, a conflict is a package-level name (of a function, type, variable or constant, or of a method with its
receiver) that one folder defines more than once, in files that a platform of `go tool dist list` builds without cgo.
`init` and `_` are left out. The conflict is a `variant` if no platform builds two of the files, else an `overlap`. The
real condition of a file is what build.Context.MatchFile decides over all platforms, with and without cgo (which a file
that imports "C" needs), and over all other tags in it; its text is that of go/build/constraint, after the conditions in
the file's name.

Our conflicts are judged in the same files: one counts if two of its definitions are package-level ones in them. Fields
and methods of interfaces are not in the truth; a note counts those that are flagged.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from lci_py.types.conflicts import Conflict
from tests.quality.conflicts_read import Definition, read_conflicts

Place = tuple[str, int, str]  # path, line, name
Key = tuple[str, str, str]  # folder, receiver's type, name

_PROGRAM = Path(__file__).with_name("conflicts_truth.go")
_SKIPPED = ("syscall", "cmd/vendor")  # generated tables of constants, which would be most of the count


@dataclass
class Truth:
    """The truth of go/build and go/parser.

    Attributes:
        built: The platforms that build a file, by path.
        places: Package-level definition to its symbol.
        conflicts: Symbol that is defined more than once to its definitions.
    """

    built: dict[str, frozenset[str]] = field(default_factory=dict)
    places: dict[Place, Key] = field(default_factory=dict)
    conflicts: dict[Key, list[Place]] = field(default_factory=dict)

    def relation(self, places: list[Place]) -> str:
        """`variant` if no platform builds two of them, else `overlap`."""
        seen: set[str] = set()
        for path in sorted({place[0] for place in places}):
            if seen & self.built[path]:
                return "overlap"
            seen |= self.built[path]
        return "variant" if len({place[0] for place in places}) == len(places) else "overlap"


def read_truth(root: Path) -> Truth:
    """The truth of a folder."""
    truth = Truth()
    found: dict[Key, list[Place]] = defaultdict(list)
    for row in _go("list", root).splitlines():
        what, path, *rest = row.split("\t")
        if what == "file":
            truth.built[path] = frozenset(rest[1].split(","))
        else:
            line, _kind, name, owner = rest
            place, key = (path, int(line), name), (path.rpartition("/")[0], owner, name)
            truth.places[place] = key
            found[key].append(place)
    truth.conflicts = {key: places for key, places in found.items() if len(places) > 1}
    return truth


def _go(command: str, root: Path, given: str = "") -> str:
    platforms = ",".join(
        subprocess.run(["go", "tool", "dist", "list"], capture_output=True, text=True, check=True).stdout.split()
    )
    run = ["go", "run", str(_PROGRAM), command, str(root), platforms]
    return subprocess.run(run, input=given, stdout=subprocess.PIPE, text=True, check=True).stdout


class Table:
    """Figures with a minimum, and the disagreements behind them."""

    def __init__(self, bar: float, *, verbose: bool) -> None:
        self.bar = bar
        self.passed = True
        self._verbose = verbose

    def add(self, name: str, right: int, total: int, wrong: list[str], *, judged: bool = True) -> None:
        """One line, and with -v what is wrong."""
        share = right / total if total else 1.0
        self.passed = self.passed and (share >= self.bar or not judged)
        print(f"{name:34s} {right:6d} of {total:6d}   {share:.4f}{'' if judged else '   (no bar)'}")
        for line in wrong if self._verbose else ():
            print(f"    {line}")


def compare(root: Path, table: Table) -> None:
    """Index a folder of Go files and print how it compares."""
    truth = read_truth(root)
    definitions, conflicts = read_conflicts(root)
    total = sum(map(len, truth.conflicts.values()))
    print(f"{len(truth.built)} files built somewhere, {len(truth.conflicts)} symbols with {total} definitions")
    _symbols(truth, conflicts, table)
    _conditions(root, truth, definitions, table)


def _symbols(truth: Truth, conflicts: tuple[Conflict, ...], table: Table) -> None:
    flagged: dict[Key, Conflict] = {}
    wrong: list[str] = []
    ours = unjudged = 0
    for conflict in conflicts:
        places = [(site.file, site.line, conflict.symbol) for site in conflict.definitions]
        keys = [truth.places[place] for place in places if place in truth.places]
        if len(keys) < 2:
            unjudged += 1
            continue
        ours += 1
        if keys[0] in truth.conflicts and len(set(keys)) == 1:
            flagged[keys[0]] = conflict
        else:
            wrong.append(f"extra {conflict.qualified_name} {conflict.relation}: {_sites(conflict)}")
    missed = [f"miss {key}: {places}" for key, places in sorted(truth.conflicts.items()) if key not in flagged]
    table.add("recall of symbols", len(truth.conflicts) - len(missed), len(truth.conflicts), missed)
    table.add("precision of symbols", ours - len(wrong), ours, wrong)
    lost, relations = [], []
    for key, conflict in sorted(flagged.items()):
        listed = {(site.file, site.line, conflict.symbol) for site in conflict.definitions}
        lost += [f"not listed {place}" for place in truth.conflicts[key] if place not in listed]
        if conflict.relation != (relation := truth.relation(truth.conflicts[key])):
            relations.append(f"{conflict.relation}, not {relation}: {conflict.qualified_name} {_sites(conflict)}")
    total = sum(len(truth.conflicts[key]) for key in flagged)
    table.add("definitions of those", total - len(lost), total, lost)
    table.add("relation of those", len(flagged) - len(relations), len(flagged), relations)
    print(f"not judged: {unjudged} conflicts of fields, of methods of interfaces, and in files that need cgo")


def _sites(conflict: Conflict) -> str:
    return "; ".join(f"{site.file}:{site.line} [{site.build_tag}]" for site in conflict.definitions)


def _conditions(root: Path, truth: Truth, definitions: list[Definition], table: Table) -> None:
    tags: dict[str, str | None] = {}
    for one in definitions:
        tags.setdefault(one.path, one.build_tag)
    asked = {path: tag or "" for path, tag in tags.items() if tag or path in truth.built}
    answers = _go("check", root, "".join(f"{path}\t{tag}\n" for path, tag in sorted(asked.items())))
    tagged = right = same = 0
    meant, written = [], []
    for row in answers.splitlines():
        path, equal, real = row.split("\t")
        if not asked[path] and not real:
            continue
        tagged += 1
        right += equal == "true"
        same += asked[path] == real
        if equal != "true":
            meant.append(f"{path}: {asked[path]!r} is not {real!r}")
        elif asked[path] != real:
            written.append(f"{path}: {asked[path]!r} for {real!r}")
    table.add("files' conditions, as formulas", right, tagged, meant)
    table.add("the same, as text", same, tagged, written)


def _copy(folder: Path, to: Path, skipped: tuple[str, ...]) -> None:
    """The Go files that the go command could build, without tests."""
    for path in sorted(folder.rglob("*.go")):
        short = path.relative_to(folder)
        passed_over = any(part == "testdata" or part.startswith(("_", ".")) for part in short.parts)
        skip = any(short.as_posix().startswith(f"{one}/") for one in skipped)
        if not (passed_over or skip or path.name.endswith("_test.go")):
            (to / short).parent.mkdir(parents=True, exist_ok=True)
            # Generated files would not be indexed, but tables of platforms among them count here.
            (to / short).write_bytes(path.read_bytes().replace(b"Code generated ", b"Code made ", 1))


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("folder", type=Path, nargs="?")
    ap.add_argument("--skip", nargs="*", default=_SKIPPED, help="folders left out")
    ap.add_argument("--min", type=float, default=0.98, help="the bar for each figure")
    ap.add_argument("-v", "--verbose", action="store_true", help="print every disagreement")
    args = ap.parse_args()
    folder = args.folder
    if folder is None:
        goroot = subprocess.run(["go", "env", "GOROOT"], capture_output=True, text=True, check=True).stdout.strip()
        folder = Path(goroot, "src")
    table = Table(args.min, verbose=args.verbose)
    with tempfile.TemporaryDirectory(prefix="lci-conflicts-") as scratch:
        _copy(folder.resolve(), Path(scratch), tuple(args.skip))
        compare(Path(scratch).resolve(), table)
    print("pass" if table.passed else "FAIL")
    return 0 if table.passed else 1


if __name__ == "__main__":
    sys.exit(main())
