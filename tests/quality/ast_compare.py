"""Precision and recall of our Python functions, methods and classes against Python's `ast`.

    python -m tests.quality.ast_compare FOLDER [--misses 20] [--min 0.995]

Every .py file that `ast` can parse counts. A definition agrees if file, name, line of the name and kind are the same. A
function in a class body (also inside `if`, `try` and the like there) is a method; one inside a function is a function.
Of the definitions that agree, end line, qualified name and first line of the docstring are compared as well. The exit
status is 1 if the precision or the recall of a kind is below --min.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import unicodedata
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from lci_py.source.extract.extract import extract

KINDS = ("function", "method", "class")
Key = tuple[str, int, str]  # kind, line of the name, name

_HEAD = re.compile(rb"(?:async(?:\s|\\\r?\n)+)?(?:def|class)(?:\s|\\\r?\n)+")


@dataclass(frozen=True)
class Found:
    """The compared properties of a definition, besides its key."""

    end_line: int
    qualified_name: str
    doc: str  # first line of the docstring, "" if there is none


def first_line(doc: str | None) -> str:
    return doc.strip().split("\n", 1)[0].strip() if doc else ""


def truth(source: bytes) -> dict[Key, Found] | None:
    """The definitions of a file by `ast`; None if it cannot parse the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in old code
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    source = source.removeprefix(b"\xef\xbb\xbf")  # ast's columns are without it
    starts = [0, *(match.end() for match in re.finditer(rb"\r\n|\n|\r", source))]
    found: dict[Key, Found] = {}
    stack: list[tuple[ast.AST, str, bool]] = [(tree, "", False)]  # node, the scope around it, whether that is a class
    while stack:
        node, scope, in_class = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            is_class = isinstance(node, ast.ClassDef)
            kind = "class" if is_class else "method" if in_class else "function"
            head = _HEAD.match(source, starts[node.lineno - 1] + node.col_offset)
            line = node.lineno + (len(re.findall(rb"\r\n|\n|\r", head.group())) if head else 0)
            name = f"{scope}.{node.name}" if scope else node.name
            doc = first_line(ast.get_docstring(node, clean=False))
            found[kind, line, node.name] = Found(node.end_lineno or 0, name, doc)
            # Decorators, defaults and bases are outside of the scope, but contain no definitions.
            scope, in_class = name, is_class
        stack.extend((child, scope, in_class) for child in ast.iter_child_nodes(node))
    return found


def ours(source: bytes) -> dict[Key, Found]:
    """The same for our symbols. Identifiers are normalised to NFKC, as Python does."""
    found: dict[Key, Found] = {}
    for symbol in extract("a.py", source, "python").symbols:
        if symbol.kind in KINDS:
            name, qualified = (unicodedata.normalize("NFKC", n) for n in (symbol.name, symbol.qualified_name))
            found[symbol.kind, symbol.line, name] = Found(symbol.end_line, qualified, first_line(symbol.doc))
    return found


def figures(theirs: Found, mine: Found) -> list[tuple[str, object, object]]:
    """The other properties of one definition: name, theirs, ours."""
    rows: list[tuple[str, object, object]] = [
        ("end line", theirs.end_line, mine.end_line),
        ("qualified name", theirs.qualified_name, mine.qualified_name),
    ]
    if theirs.doc:  # otherwise ours is the comment above
        rows.append(("docstring", theirs.doc, mine.doc))
    return rows


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("folder", type=Path)
    ap.add_argument("--misses", type=int, default=10, help="disagreements shown per kind")
    ap.add_argument("--min", type=float, default=0.995, help="the bar for each precision and recall")
    args = ap.parse_args()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    shown: dict[str, list[str]] = defaultdict(list)
    files = unparsed = 0
    for path in sorted(p for p in args.folder.rglob("*.py") if p.is_file()):
        source = path.read_bytes()
        expected = truth(source)
        if expected is None:
            unparsed += 1
            continue
        files += 1
        found = ours(source)
        for label, keys, other in (("miss", expected, found), ("extra", found, expected)):
            for key in keys:
                counts["truth" if label == "miss" else "ours"][key[0]] += 1
                if key in other:
                    counts["both"][key[0]] += label == "miss"
                else:
                    shown[key[0]].append(f"{label} {path}:{key[1]} {key[2]}")
        for key in expected.keys() & found.keys():
            for figure, want, got in figures(expected[key], found[key]):
                counts[figure]["all"] += 1
                if got == want:
                    counts[figure]["same"] += 1
                else:
                    shown[figure].append(f"{path}:{key[1]} {key[2]}: {want!r}, ours {got!r}")
    passed = files > 0
    print(f"{files} files, and {unparsed} that ast cannot parse")
    for kind in KINDS:
        both, theirs, mine = (counts[column][kind] for column in ("both", "truth", "ours"))
        precision, recall = both / max(1, mine), both / max(1, theirs)
        passed = passed and precision >= args.min and recall >= args.min
        print(f"{kind:9s} {theirs:6d} in ast, {mine:6d} ours   precision {precision:.5f}   recall {recall:.5f}")
        print("".join(f"    {line}\n" for line in shown[kind][: args.misses]), end="")
    for figure in ("end line", "qualified name", "docstring"):
        same, of = counts[figure]["same"], counts[figure]["all"]
        print(f"{figure:14s} {same} of {of} = {same / max(1, of):.5f}")
        print("".join(f"    {line}\n" for line in shown[figure][: args.misses]), end="")
    print("pass" if passed else "FAIL")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
