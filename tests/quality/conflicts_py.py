"""Conflicts in Python code against Python's own `ast`.

    python -m tests.quality.conflicts_py [LIB] [--tests] [-v]

LIB is a folder of Python code, by default the interpreter's standard library; its tests are left out unless --tests is
given. The truth are functions and classes that a module or class body, including its `if`, `try`, `with` and `match`
statements, defines more than once. Definitions that decorators join (accessors of a property, overloads, registered
implementations) must not be flagged. Definitions under different conditions must be flagged with these conditions. All
others are duplicates. The index is temporary.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import sysconfig
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lci_py import app
from lci_py.source.conditions import conjuncts
from lci_py.types.conflicts import Conflict, ConflictsRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

LEFT_OUT = {"site-packages", "__pycache__", "lib-dynload"}
TESTS = {"test", "tests", "idle_test"}
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
#: Decorators that make a second definition a part of the first, by the last part of their name.
MADE = {"setter", "getter", "deleter", "overload", "register", "singledispatch", "singledispatchmethod"}


@dataclass(frozen=True)
class Defined:
    """One definition of `ast`."""

    line: int
    conditions: frozenset[str]
    is_made: bool  # a decorator of `MADE`, or an attribute of the same name (`@x.setter`), joins it to the first one
    is_decorated: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("library", type=Path, nargs="?", default=Path(sysconfig.get_paths()["stdlib"]))
    parser.add_argument("--tests", action="store_true", help="with the tests")
    parser.add_argument("-v", action="store_true", help="print every disagreement")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "lib"
        left_out = LEFT_OUT | (set() if arguments.tests else TESTS)
        shutil.copytree(arguments.library, copy, ignore=lambda _, names: left_out.intersection(names))
        os.environ["LCI_INDEX_DIR"] = str(Path(folder) / "index")
        app.build_index(str(copy))
        with app.open_engine(str(copy)) as session:
            found = session.answer("conflicts", ConflictsRequest(all=True)).results
        report(truth(copy), found, verbose=arguments.v)


def truth(library: Path) -> dict[tuple[str, str], list[Defined]]:
    """The definitions of every name that one scope defines more than once, by file and qualified name."""
    repeated = {}
    for path in sorted(library.rglob("*.py")):
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        names: dict[str, list[Defined]] = defaultdict(list)
        for scope, node, conditions in _definitions(tree.body):
            names[f"{scope}{node.name}"].append(_defined(node, conditions))
        file = path.relative_to(library).as_posix()
        repeated.update({(file, name): sites for name, sites in names.items() if len(sites) > 1})
    return repeated


def _defined(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, conditions: frozenset[str]) -> Defined:
    decorators = [ast.unparse(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list]
    made = any(one.rpartition(".")[2] in MADE or one.partition(".")[0] == node.name for one in decorators)
    return Defined(node.lineno, conditions, made, bool(decorators))


def _definitions(
    body: list[ast.stmt], scope: str = "", around: tuple[str, ...] = ()
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, frozenset[str]]]:
    for node in body:
        if isinstance(node, DEFINITIONS):
            yield scope, node, frozenset(around)
            if isinstance(node, ast.ClassDef):
                yield from _definitions(node.body, f"{scope}{node.name}.", around)
        for branch, conditions in _branches(node):
            yield from _definitions(branch, scope, (*around, *conditions))


def _branches(node: ast.stmt) -> Iterator[tuple[list[ast.stmt], tuple[str, ...]]]:
    if isinstance(node, ast.If):
        if "__name__" in ast.unparse(node.test):
            return
        yield node.body, (canonical(node.test),)
        yield node.orelse, (canonical(ast.UnaryOp(ast.Not(), node.test)),)
    elif isinstance(node, ast.Try):
        yield node.body, ("try",)
        for handler in node.handlers:
            yield handler.body, (f"except {ast.unparse(handler.type)}" if handler.type else "except",)
        yield node.orelse, ("try else",)
        yield node.finalbody, ()
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        yield node.body, ()


def canonical(node: ast.expr) -> str:
    """A condition as text, without double negations."""
    opposites = {ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = node.operand
        if isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
            return canonical(inner.operand)
        if isinstance(inner, ast.Compare) and len(inner.ops) == 1 and type(inner.ops[0]) in opposites:
            return ast.unparse(ast.Compare(inner.left, [opposites[type(inner.ops[0])]()], inner.comparators))
    return ast.unparse(node)


def _parts(tag: str | None) -> frozenset[str]:
    """The conditions of a build tag, in the form that `truth` has."""
    found = []
    for part in conjuncts(tag) if tag is not None else ():
        try:
            found.append(canonical(ast.parse(part, mode="eval").body))
        except SyntaxError:  # try, except E
            found.append(" ".join(part.split()))
    return frozenset(found)


def report(expected: dict[tuple[str, str], list[Defined]], found: tuple[Conflict, ...], *, verbose: bool) -> None:
    """Print the counts of both sides, and with `verbose` every disagreement."""
    flagged: dict[tuple[str, str], list[Conflict]] = defaultdict(list)
    for one in found:
        flagged[one.definitions[0].file, one.qualified_name].append(one)
    counts: Counter[str] = Counter()
    for key, sites in sorted(expected.items()):
        kind, relations = _kind(sites)
        conflicts = flagged.pop(key, [])
        said = sorted({one.relation for one in conflicts})
        right = bool(said) == bool(relations) and set(said) <= relations
        counts[f"{kind}: {'right' if right else 'wrong'}"] += 1
        if not right and verbose:
            print(
                f"{kind}, but {said or 'not flagged'}  {':'.join(key)}  {[(s.line, sorted(s.conditions)) for s in sites]}"
            )
        lines = {site.line: site for site in sites}
        for site in (site for one in conflicts for site in one.definitions):
            # `ast` has the line of the `def`, as the index has it.
            same = site.line in lines and _parts(site.build_tag) == lines[site.line].conditions
            counts[f"condition: {'right' if same else 'wrong'}"] += 1
            if not same and verbose:
                wanted = sorted(lines[site.line].conditions) if site.line in lines else "no definition here"
                print(f"condition {site.build_tag!r}, but {wanted}  {site.file}:{site.line}")
    for key, conflicts in sorted(flagged.items()):
        for one in conflicts:
            counts[f"not redefined for ast: {one.kind}"] += 1
            if verbose:
                places = [(site.line, site.build_tag) for site in one.definitions]
                print(f"{one.relation}, but no redefinition of a function or class  {':'.join(key)}  {places}")
    print(f"{len(expected)} names are defined more than once in a scope")
    for what, count in sorted(counts.items()):
        print(f"{count:6,}  {what}")


def _kind(sites: list[Defined]) -> tuple[str, set[str]]:
    """The case of a name with several definitions, and the relations that are right for it."""
    if sum(not site.is_made for site in sites) < 2:
        return "made by decorators", set()
    if any(site.conditions for site in sites):
        return "under conditions", {"variant", "fallback", "overlap"}
    if any(site.is_decorated for site in sites):
        return "decorated otherwise", set()
    return "plain", {"duplicate"}


if __name__ == "__main__":
    main()
