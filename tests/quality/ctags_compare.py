"""Recall of our symbols against Universal Ctags, per ctags kind, on one folder.

    python -m tests.quality.ctags_compare FOLDER --lang go [--misses 20]

A tag counts as found if we have a symbol of the same name on the same line (the name's last component, so that
`A::b` and `b` agree). Kinds of ctags that name no definition (imports, parameters, local variables) are left out.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

from lci_py.source.extract.extract import extract
from lci_py.source.syntax.languages import detect

NOT_DEFINITIONS = {
    "import", "parameter", "local", "label", "externvar", "prototype", "header", "package", "using", "unknown",
    "namespaceAlias", "packageName", "heredoc", "script", "alias", "anonMember", "requiredModule", "library", "tparam",
    "macroparam", "name",
}  # fmt: skip
#: ctags takes these files for another language's by their suffix. It gives the line on which a head ends.
FORCED = {"objc": ["--language-force=ObjectiveC"]}


def last(name: str) -> str:
    return re.split(r"::|[.\\:#]", name.replace(" ", "").rstrip(":"))[-1]  # `setSize:of:` of Objective-C


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("folder", type=Path)
    ap.add_argument("--lang", required=True, help="our language name")
    ap.add_argument("--misses", type=int, default=10, help="misses shown per kind")
    ap.add_argument(
        "--extra", action="store_true", help="also count our functions, methods and classes unknown to ctags"
    )
    args = ap.parse_args()
    files = [
        p for p in sorted(args.folder.rglob("*")) if p.is_file() and detect(p.name, p.read_bytes()[:8192]) == args.lang
    ]
    listing = "\n".join(map(str, files))
    tags = subprocess.run(
        ["ctags", *FORCED.get(args.lang, ()), "--output-format=json", "--fields=+nKzS", "--kinds-all=*", "-L", "-", "-f", "-"],
        input=listing, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    ours: dict[str, set[tuple[str, int]]] = {}
    for path in files:
        found = extract(path.name, path.read_bytes(), args.lang)
        ours[str(path)] = {
            (last(s.name), line)
            for s in found.symbols
            for line in (range(s.line, s.end_line + 1) if args.lang in FORCED else (s.line,))
        }
    total: Counter[str] = Counter()
    hit: Counter[str] = Counter()
    misses = defaultdict(list)
    theirs = defaultdict(set)
    for row in map(json.loads, tags.splitlines()):
        kind = row.get("kind", "unknown")
        if row.get("_type") != "tag" or kind in NOT_DEFINITIONS or row["name"].startswith("__anon"):
            continue
        key = (last(row["name"]), row["line"])
        theirs[row["path"]].add(key)
        total[kind] += 1
        if key in ours.get(row["path"], ()):
            hit[kind] += 1
        else:
            misses[kind].append(f"{row['path']}:{row['line']} {row['name']}")
    for kind, count in total.most_common():
        print(f"{kind:16s} {hit[kind]:6d} of {count:6d} = {hit[kind] / count:.4f}")
        for line in misses[kind][: args.misses]:
            print("     miss", line)
    print(
        f"all              {sum(hit.values()):6d} of {sum(total.values()):6d} = {sum(hit.values()) / max(1, sum(total.values())):.4f}"
    )
    if args.extra:
        for path, names in ours.items():
            for name, line in sorted(names - theirs[path], key=lambda key: key[1])[: args.misses]:
                print("    extra", f"{path}:{line} {name}")


if __name__ == "__main__":
    main()
