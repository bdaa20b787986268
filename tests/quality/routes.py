"""Compare the routes of applications with lists that were written by hand: `data/routes.tsv`.

    python -m tests.quality.routes FOLDER          # of checkouts, named OWNER+NAME, each with an index
    python -m tests.quality.routes FOLDER --list   # what lci says instead

A line of the list is an application, a method (`-` for any), a path and the qualified name of the handler, or the place
(PATH:LINE) of the call that registers one without a name. For each
handler that is listed, all of its routes are. A route is found if lci gives its handler that path; one that begins with
`…` counts if it is the end of the path, and is counted apart. A route that lci gives to a handler, and the list does
not, is wrong.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from lci_py.app import open_engine
from lci_py.index.shards.symbol_queries import names
from lci_py.search.routes import Routes
from lci_py.source.frameworks.texts import UNKNOWN

TRUTH = Path(__file__).parent / "data" / "routes.tsv"


class Line(NamedTuple):
    """A route of one handler; `method` is "" for any."""

    method: str
    path: str
    handler: str


def reported(root: Path) -> set[Line]:
    """What lci says of an application."""
    found = set()
    with open_engine(str(root)) as engine:
        snapshot = engine.snapshot
        routes = Routes(snapshot)
        for item in routes.items:
            if item.row.kind != "route" or routes.is_of_test(item):
                continue
            nodes = [node for node in routes.handlers(item) if node < snapshot.graph.n_symbols]
            nameless = "" if item.row.target or item.row.symbol >= 0 else f"{routes.path(item.file)}:{item.row.line}"
            for name in routes.full_names(item):
                method, _, path = name.rpartition(" ")
                handlers = [one.qualified_name for one in names(snapshot.symbols, nodes).values()] or [nameless]
                found |= {Line(method, path, handler) for handler in handlers}
    return found


def same(path: str) -> str:
    """A path whose parameters have no types, without a slash at its end."""
    path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", path)
    path = re.sub(r":(\w+)", r"{\1}", path)
    return re.sub(r"\{(\w+)[:?*][^{}]*\}", r"{\1}", path).rstrip("/") or "/"


def fits(truth: Line, line: Line) -> bool:
    """Whether a route that lci names is one of the list."""
    own, listed = same(line.path), same(truth.path)
    if own.startswith(UNKNOWN):
        return truth.method in ("", line.method) and listed.endswith(own.removeprefix(UNKNOWN).rstrip("/"))
    return (not truth.method or not line.method or truth.method == line.method) and own == listed


def main(folder: Path, *, listing: bool) -> None:
    """Print the figures of each application, and what differs."""
    truths: dict[str, list[Line]] = defaultdict(list)
    for text in TRUTH.read_text("utf-8").splitlines():
        if text and not text.startswith("#"):
            app, method, path, handler = text.split("\t")
            truths[app].append(Line(method.strip("-"), path, handler))
    total = [0, 0, 0, 0, 0]
    for app, listed in truths.items():
        root = folder / app.replace("/", "+")
        if not root.is_dir():
            continue
        by_handler: dict[str, set[Line]] = defaultdict(set)
        for line in reported(root):
            by_handler[line.handler].add(line)
        of_list = defaultdict(list)
        for truth in listed:
            of_list[truth.handler].append(truth)
        found = partly = wrong = said = 0
        for handler, own in of_list.items():
            lines = {
                line
                for name, some in by_handler.items()
                if name == handler or name.endswith(f".{handler}")
                for line in some
            }
            said += len(lines)
            for truth in own:
                fitting = [line for line in lines if fits(truth, line)]
                found += bool(fitting)
                partly += bool(fitting) and all(line.path.startswith(UNKNOWN) for line in fitting)
                if listing and not fitting:
                    print(f"  missing  {app}  {truth}")
            for line in lines:
                if not any(fits(truth, line) for truth in own):
                    wrong += 1
                    print(f"  wrong    {app}  {line}")
        figures = [len(listed), found, partly, said, wrong]
        total = [one + other for one, other in zip(total, figures, strict=True)]
        print(f"{app:50} listed {figures[0]}  found {found}  of these with … {partly}  said {said}  wrong {wrong}")
    print(
        f"all: listed {total[0]}, found {total[1] / max(total[0], 1):.3f}, with … {total[2]}, wrong {total[4]} of {total[3]}"
    )


if __name__ == "__main__":
    if "--all" in sys.argv:
        for line in sorted(reported(Path(sys.argv[1]))):
            print("\t".join(line))
    else:
        main(Path(sys.argv[1]), listing="--list" in sys.argv)
