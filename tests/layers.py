"""Which part of the program may import which: the tables that `test_layers.py` enforces and docs/architecture.md draws.

`python -m tests.layers` writes the picture of docs/architecture.md anew.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
PAGE = PROJECT / "docs" / "architecture.md"
#: Part -> the parts that it may import. All may import those of EVERYWHERE; `errors` imports `types`.
PARTS: dict[str, tuple[str, ...]] = {
    "cli": ("app", "render", "config"),
    "app": ("cluster", "search", "index", "agents", "config", "source"),
    "cluster": ("search", "index", "callgraph", "embed", "config", "source"),
    "render": (),
    "search": ("index", "callgraph", "embed", "source"),
    "training": ("index", "embed", "source"),
    "index": ("callgraph", "embed", "source"),
    "callgraph": ("source",),
    "embed": ("source",),
    "agents": ("source",),
    "config": ("source",),
    "source": (),
    "errors": (),
    "interrupts": (),
    "processes": (),
    "types": (),
}
EVERYWHERE = ("types", "errors", "interrupts", "processes")
#: Folder -> its rooms from the top to the bottom. A room imports what stands below it; those of one line are apart.
INSIDE: dict[str, tuple[str, ...]] = {
    "cli": (
        "main", "mcp_server", "batch", "cluster",
        "object_parser", "search rows index help completion pick", "answering", "output",
        "request",
        "streams", "terminal", "command_line", "options lean_numpy",
    ),
    "render": ("markdown places diagrams", "json picture", "text", "call_tree outline_tree relative_paths", "token_budget"),
    "search": (
        "engine", "explore", "modes", "explain conflicts navigate grep", "ranking answer", "routes",
        "snapshot", "retrievers", "query", "suggest freshness",
    ),
    "index": ("build", "store", "shards"),
    "cluster": (
        "indexing", "root", "workers", "leaf sources", "graph", "fleet", "objects",
    ),
    "callgraph": (
        "relink", "link", "pointsto", "resolve", "changed_lookups", "lookups", "lookup_tables", "file_facts edges",
        "language_rules linearize gc_paused program",
    ),
    "embed": ("encoder", "contextual", "folder"),
    "source": (
        "record_codec", "file_record", "extract", "dataflow frameworks stated_values", "conditions syntax",
        "repository text",
    ),
}  # fmt: skip
#: What a newcomer reads in the picture under the name of a part.
SAYS = {
    "cli": "flags to requests, exit codes",
    "app": "wires it all",
    "render": "answers as text and JSON",
    "search": "questions to answers",
    "training": "makes the model; not in the wheel",
    "index": "files to shards on disk",
    "cluster": "one search over many indexes",
    "callgraph": "call sites to edges",
    "embed": "text to vectors",
    "agents": "lci in the files of coding agents",
    "config": ".lci.toml and the environment",
    "source": "files to symbols, calls, chunks",
}


def modules(package: Path) -> dict[str, Path]:
    """Dotted name -> file, of every module of the program."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements in a module or another statement: a fifth of the time that `ast.walk` takes."""
    for block in ("body", "handlers", "orelse", "finalbody", "cases"):
        for inner in getattr(node, block, ()):
            yield inner
            yield from _statements(inner)


@cache
def imported_names(path: Path) -> set[tuple[str, str]]:
    """What a file imports, in whatever way: the module that it is taken from, "" for `import x`, and its full name."""
    names: set[tuple[str, str]] = set()
    for node in _statements(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {("", alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {(node.module, f"{node.module}.{alias.name}") for alias in node.names}
    return names


@cache
def imports(package: Path) -> dict[str, set[str]]:
    """Module -> the modules of the program that it imports in whatever way: in a function, or for types only, too.

    A module of a package imports the package's `__init__` by being imported; that is not counted.
    """
    known = modules(package)
    found: dict[str, set[str]] = {}
    for module, path in known.items():
        # `from package import module` is of the module.
        names = {name if not origin or name in known else origin for origin, name in imported_names(path)}
        found[module] = {name for name in names & known.keys() if name != module and not module.startswith(f"{name}.")}
    return found


def part(module: str) -> str:
    """The part of the program that a module belongs to; "" for the package itself."""
    name = module.split(".")[1] if "." in module else ""
    return "cli" if name == "__main__" else name


def room(module: str) -> str:
    """The room inside its part; "" for the part's own `__init__`."""
    return module.split(".")[2] if module.count(".") >= 2 else ""


def level(folder: str) -> dict[str, int]:
    """Room -> how far from the top it stands."""
    return {name: depth for depth, line in enumerate(INSIDE[folder]) for name in line.split()}


# --- the picture --------------------------------------------------------------------------------------------------


def picture() -> str:
    """The rooms and arrows, as Mermaid draws them."""
    lines = ["```mermaid", "flowchart TD"]
    for name in PARTS:
        if name in EVERYWHERE:
            continue
        title = f"{name}: {SAYS[name]}"
        if name not in INSIDE:
            lines.append(f'  {name}["{title}"]')
            continue
        lines += [f'  subgraph {name}["{title}"]', "    direction TB"]
        rows = [line.split() for line in INSIDE[name]]
        boxes = [f"{name}_{row[0]}" for row in rows]
        lines += [f'    {box}["{" · ".join(row)}"]' for box, row in zip(boxes, rows, strict=True)]
        lines += [f"    {' --> '.join(boxes)}", "  end"]
    lines += [f"  {name} --> {other}" for name, others in PARTS.items() for other in others]
    return "\n".join([*lines, "```"])


_DRAWN = re.compile(r"```mermaid\n.*?\n```", re.DOTALL)


def drawn(page: str) -> str:
    """The page with the picture as it should be."""
    return _DRAWN.sub(lambda _: picture(), page, count=1)


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text("utf-8")), "utf-8")
