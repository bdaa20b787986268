"""Names say the thing: no function binds a bare participle or another word that tells nothing of the value."""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "lci_py"
#: Words that once named hundreds of unlike values; the noun of the thing takes their place (docs/contributing.md).
EMPTY_WORDS = frozenset({"found", "known", "one", "wanted", "asked", "made", "around"})


def bound_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, int]]:
    """(name, line) of the parameters and local variables of a function and of those inside it."""
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno


def test_names_say_the_thing() -> None:
    empty = {
        f"{path.relative_to(PACKAGE)}:{line}: {name}"
        for path in PACKAGE.rglob("*.py")
        if "training" not in path.parts
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for name, line in bound_names(function)
        if name in EMPTY_WORDS
    }
    assert empty == set()
