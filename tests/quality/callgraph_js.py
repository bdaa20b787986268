"""The names that truth sets may give to a JavaScript function, by its syntax."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import tree_sitter_javascript
from tree_sitter import Language, Node, Parser

from tests.quality.edges import ANONYMOUS, FILE, Function, Graph

_PARSER = Parser(Language(tree_sitter_javascript.language()))
_ANONYMOUS = frozenset({"arrow_function", "function_expression", "generator_function"})
_FUNCTIONS = _ANONYMOUS | {"function_declaration", "generator_function_declaration", "method_definition"}
_CLASSES = frozenset({"class_declaration", "class"})
#: The field of a node that names the function which is its value.
_BINDERS = {
    "variable_declarator": "name", "assignment_expression": "left", "pair": "key", "field_definition": "property",
    "assignment_pattern": "left",
}  # fmt: skip


@dataclass
class Spelling:
    """One function of a file.

    Attributes:
        last: Its own name and those that it is assigned to, without a scope.
        names: Candidates for a truth set that numbers arrow functions per scope; with the scope, without the module.
    """

    line: int
    end_line: int
    anonymous: bool
    last: list[str]
    names: list[str]
    taken: bool = field(default=False)


def spellings(source: bytes) -> list[Spelling]:
    """Every function of a file, in the order of the text."""
    arrows: Counter[str] = Counter()
    return list(_walk(_PARSER.parse(source).root_node, "", arrows))


def _walk(node: Node, scope: str, arrows: Counter[str]) -> Iterator[Spelling]:
    for child in node.children:
        inner = scope
        if child.type in _CLASSES:
            inner = _join(scope, next(iter(_names(child)), ""))
        elif child.type in _FUNCTIONS and child.is_named:
            last = _names(child)
            names = [_join(scope, name) for name in last]
            if child.type == "arrow_function":
                arrows[scope] += 1
                names.append(_join(scope, f"<arrow{arrows[scope]}>"))
            made = _made_by(child)
            if made and child.type in _ANONYMOUS:
                names.append(_join(scope, made))
            yield Spelling(
                child.start_point[0] + 1, child.end_point[0] + 1, child.type in _ANONYMOUS, last, names
            )  # fmt: skip
            inner = names[0] if names else _join(scope, f"<anonymous:{child.start_point[0] + 1}>")
        yield from _walk(child, inner, arrows)


def _names(node: Node) -> list[str]:
    found = [_text(node.child_by_field_name("name"))]
    parent = node.parent
    if parent is not None and parent.type in _BINDERS:
        found.append(_text(parent.child_by_field_name(_BINDERS[parent.type])))
    return [name for name in dict.fromkeys(name.rpartition(".")[2] for name in found) if name]


def _made_by(node: Node) -> str:
    """The variable for the result of a call that a function is passed to: `const name = decorate(() => 1)`."""
    parent = node.parent
    if parent is None or parent.type != "arguments":
        return ""
    while parent is not None and parent.type in ("arguments", "call_expression"):
        parent = parent.parent
    if parent is None or parent.type != "variable_declarator":
        return ""
    return _text(parent.child_by_field_name("name"))


def _text(node: Node | None) -> str:
    return node.text.decode("utf-8", "replace") if node is not None and node.text is not None else ""


def _join(*names: str) -> str:
    return ".".join(filter(None, names))


class Spelled:
    """Our functions of one case with their spellings."""

    def __init__(self, root: Path, graph: Graph) -> None:
        self._of: dict[int, Spelling] = {}
        for path in graph.files:
            found = spellings((root / path).read_bytes())
            own = [f for f in graph.functions.values() if f.path == path and f.kind != FILE]
            # Symbols first: functions without a symbol are anonymous.
            for function in sorted(own, key=lambda f: (f.kind == ANONYMOUS, f.line, f.node)):
                for spelling in found:
                    if not spelling.taken and _fits(function, spelling):
                        spelling.taken = True
                        self._of[function.node] = spelling
                        break

    def __getitem__(self, function: Function) -> Spelling | None:
        return self._of.get(function.node)


def _fits(function: Function, spelling: Spelling) -> bool:
    if function.end_line != spelling.end_line or not function.line <= spelling.line + 1:
        return False
    if function.kind == ANONYMOUS:
        return spelling.anonymous and function.line == spelling.line
    return function.name.rpartition(".")[2] in spelling.last
