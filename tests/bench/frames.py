"""How much of the program one search runs: modules, functions, and how deep its calls go.

    python -m tests.bench.frames ROOT [QUERY] [--mode multiview] [--stack]

ROOT must be indexed. Counted are the modules of `lci_py` that are loaded, its functions that run at least once (beside
them all blocks: also comprehensions and bodies of classes), the deepest stack, and the hops: the frames between `main`
and the function of the mode that searches. `--stack` prints the deepest stack and the hops.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import io
import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

PACKAGE = str(Path(__file__).parents[2] / "lci_py")
#: The function of each mode that begins to search.
SEARCHES = {"multiview": "multiview", "dense": "single", "bm25": "single", "symbolic": "structural"}


def stack_of(frame: FrameType | None) -> list[str]:
    """The functions of the package in a stack, the outermost first."""
    found = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(PACKAGE) and code.co_name != "<module>":
            found.append(f"{code.co_filename[len(PACKAGE) + 1 :]}:{code.co_name}")
        frame = frame.f_back
    return found[::-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root")
    parser.add_argument("query", nargs="?", default="how is a route matched")
    parser.add_argument("--mode", default="multiview", choices=SEARCHES)
    parser.add_argument("--stack", action="store_true")
    args = parser.parse_args()
    ran: set[CodeType] = set()
    deepest: list[str] = []
    hops: list[str] = []

    def profile(frame: FrameType, event: str, _: Any) -> None:
        nonlocal deepest, hops
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE) or code.co_name == "<module>":
            return
        ran.add(code)
        stack = stack_of(frame)
        if len(stack) > len(deepest):
            deepest = stack
        if not hops and code.co_name == SEARCHES[args.mode] and "/modes/" in code.co_filename:
            hops = stack[:-1]

    sys.setprofile(profile)
    from lci_py.cli.main import main as lci

    with contextlib.redirect_stdout(io.StringIO()):
        code = lci(["search", args.query, "--mode", args.mode, "--root", args.root, "--refresh", "never"])
    sys.setprofile(None)
    modules = [name for name in sys.modules if name.split(".")[0] == "lci_py"]
    functions = [one for one in ran if one.co_flags & inspect.CO_OPTIMIZED and not one.co_name.startswith("<")]
    print(
        f"exit {code}: {len(modules)} modules, {len(functions)} functions ({len(ran)} blocks), {len(deepest)} deep, "
        f"{len(hops)} hops"
    )
    if args.stack:
        print("deepest:", *deepest, "hops:", *hops, sep="\n  ")


if __name__ == "__main__":
    main()
