"""Whether `lci conflicts` finds the disagreements between sources that are planted in small projects.

Each folder of `data/planted` is a project; its `planted.json` names the two places of every disagreement. What is
listed and was not planted is printed, to be read.

    python -m tests.quality.conflicts_stated
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PLANTED = Path(__file__).parent / "data" / "planted"


def line_of(project: Path, file: str, text: str) -> str:
    lines = (project / file).read_text().split("\n")
    return f"{file}:{next(number for number, line in enumerate(lines, 1) if text in line)}"


def listed(project: Path) -> list[dict[str, object]]:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / project.name
        shutil.copytree(project, copy, ignore=shutil.ignore_patterns("planted.json"))
        environment = {**os.environ, "LCI_INDEX_DIR": f"{folder}/index"}
        lci = [sys.executable, "-m", "lci_py"]
        subprocess.run([*lci, "index", "-q", "--root", str(copy)], check=True, env=environment)
        run = subprocess.run(
            [*lci, "conflicts", "--json", "--root", str(copy)], capture_output=True, text=True, env=environment
        )
        return json.loads(run.stdout).get("conflicts", [])


def main() -> None:
    found_all = planted_all = false_all = 0
    for project in sorted(path.parent for path in PLANTED.glob("*/planted.json")):
        planted = json.loads((project / "planted.json").read_text())
        wanted = {(line_of(project, *one["says"]), one["code"][0]): one for one in planted}
        found = set()
        for entry in listed(project):
            places = [str(place) for place in entry["sources"]]
            hits = set()
            for says, file in wanted:
                others = {place.rpartition(":")[0] for place in places if place != says} or {file}
                if says in places and others == {file}:
                    hits.add((says, file))
            found |= hits
            if not hits:
                false_all += 1
                print(f"  not planted: {project.name}: {entry['reasoning']}")
        for says, file in wanted.keys() - found:
            print(f"  missed: {project.name}: {says} {file}: {wanted[says, file]['says'][1]}")
        found_all, planted_all = found_all + len(found), planted_all + len(wanted)
        print(f"{project.name}: {len(found)} of {len(wanted)}")
    print(f"found {found_all} of {planted_all}, {false_all} not planted")


if __name__ == "__main__":
    main()
