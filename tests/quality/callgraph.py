"""How far our call graph agrees with public truth sets.

    python -m tests.quality.callgraph SET FOLDER [-v] [--truth FILE]

SET is one of the modules `callgraph_SET.py` beside this one, which say what FOLDER is, what counts as agreement and
why. Nothing of the truth sets is part of this repository. `-v` prints every disagreement.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

#: The set to its module and what it compares.
SETS = {
    "pycg": ("callgraph_pycg", "compare"),
    "swarm_js": ("callgraph_swarm", "compare"),
    "jcg_java": ("callgraph_java", "compare"),
    "jcg_js": ("callgraph_jcgjs", "compare"),
    "scip": ("callgraph_scip", "compare"),
    "go": ("callgraph_go", "compare"),
    "clang": ("callgraph_clang", "compare"),
}


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("set", choices=sorted(SETS))
    ap.add_argument("folder", type=Path)
    ap.add_argument("-v", "--verbose", action="store_true", help="every disagreement")
    ap.add_argument("--truth", type=Path, help="what the set's own tool printed, where it is not run anew")
    args = ap.parse_args()
    if not args.folder.is_dir():
        ap.error(f"{args.folder} is not a folder")
    module, function = SETS[args.set]
    compare = getattr(importlib.import_module(f"tests.quality.{module}"), function)
    scores = compare(args.folder, args.truth) if args.set in ("scip", "go", "clang") else compare(args.folder)
    shown: set[str] = set()
    for score in scores:
        score.lines = [line for line in score.lines if line not in shown]  # tables of one set share most of them
        shown.update(score.lines)
        score.show(verbose=args.verbose)
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
