"""Precision and recall of our Go symbols against go/ast, at package level and for the members of types.

    python -m tests.quality.go_compare FOLDER [--misses 20] [--min 0.99]

Needs `go`. A symbol agrees with go/ast if file, line, name and kind are the same, and for a method also the type.
Structs, interfaces and other types count as types. Symbols inside functions are left out on both sides. The exit status
is 1 if the precision or the recall of a kind is below --min.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from lci_py.source.extract.extract import extract
from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS
from lci_py.types.source import Symbol

Key = tuple[str, int, str, str]  # path, line, name, owner
KINDS = ("function", "method", "type", "constant", "variable", "field", "imethod")


def truth(folder: Path) -> tuple[set[str], dict[str, set[Key]]]:
    """The files that go/ast parsed, and their definitions by kind."""
    program = Path(__file__).with_name("go_truth.go")
    output = subprocess.run(["go", "run", str(program), str(folder)], stdout=subprocess.PIPE, text=True, check=True)
    files: set[str] = set()
    found: dict[str, set[Key]] = defaultdict(set)
    for row in output.stdout.splitlines():
        path, line, kind, name, owner = row.split("\t")
        if kind == "file":
            files.add(path)
        else:
            found[kind].add((path, int(line), name, owner))
    return files, found


def ours(files: set[str]) -> dict[str, set[Key]]:
    """Our symbols of the same files, by the same kinds."""
    found: dict[str, set[Key]] = defaultdict(set)
    for path in sorted(files):
        extracted = extract(path, Path(path).read_bytes(), "go")
        for symbol in extracted.symbols:
            outer = _type_around(extracted.symbols, symbol)
            if outer is None:
                continue
            kind, owner = symbol.kind, ""
            if kind in TYPE_KINDS:
                kind = "type"
            elif kind == "method" and outer:
                kind, owner = "imethod", outer
            elif kind == "method":
                owner = symbol.scope.rpartition(".")[2]
            elif kind == "field":
                owner = outer
            found[kind].add((path, symbol.line, symbol.name, owner))
    return found


def _type_around(symbols: tuple[Symbol, ...], symbol: Symbol) -> str | None:
    """The outermost type around a symbol, "" at package level; None inside a function or a variable."""
    outer = ""
    parent = symbol.parent
    while parent >= 0:
        around = symbols[parent]
        if not (around.line <= symbol.line <= around.end_line):
            break  # the parent of a method is its receiver's type, which is not around it
        if around.kind in FUNCTION_KINDS or around.kind in ("variable", "constant"):
            return None
        if around.kind in TYPE_KINDS or around.kind == "type":
            outer = around.name
        parent = around.parent
    return outer


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("folder", type=Path)
    ap.add_argument("--misses", type=int, default=10, help="disagreements shown per kind")
    ap.add_argument("--min", type=float, default=0.99, help="the bar for each precision and recall")
    args = ap.parse_args()
    files, expected = truth(args.folder)
    found = ours(files)
    passed = bool(files)
    print(f"{len(files)} files")
    for kind in sorted(expected.keys() | found.keys(), key=lambda k: (KINDS.index(k) if k in KINDS else 99, k)):
        both = len(expected[kind] & found[kind])
        precision, recall = both / max(1, len(found[kind])), both / max(1, len(expected[kind]))
        if not expected[kind] and not found[kind]:
            continue
        passed = passed and precision >= args.min and recall >= args.min
        print(f"{kind:9s} {len(expected[kind]):6d} in go/ast, {len(found[kind]):6d} ours", end="")
        print(f"   precision {precision:.4f}   recall {recall:.4f}")
        for label, keys in (("miss", expected[kind] - found[kind]), ("extra", found[kind] - expected[kind])):
            for path, line, name, owner in sorted(keys)[: args.misses]:
                print(f"    {label} {path}:{line} {owner + '.' if owner else ''}{name}")
    print("pass" if passed else "FAIL")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
