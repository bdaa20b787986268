"""Defines a `Syntax` for each scripting language and Zig, which reads the conditions around definitions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.conditions.blocks import Branch, Syntax, if_branches, short_circuit, try_branches, unread_branches
from lci_py.source.conditions.text import MAX_CHAIN, MAX_DEPTH, clip
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from tree_sitter import Node

    from lci_py.source.conditions.blocks import Reader

# JavaScript and TypeScript, PHP
_SWITCHING = {
    "if_statement": if_branches,
    "try_statement": try_branches,
    "switch_statement": unread_branches,
    "binary_expression": short_circuit,
}
_GLOBAL = lazily(r"(?<![\w\\])\\(?=\w+(?![\w\\]))")

javascript_ranges = Syntax(
    conditionals=_SWITCHING,
    blocks=frozenset({"statement_block", "expression_statement"}),
    comment=r"//[^\n]*|/\*.*?\*/",
    entry=r"\brequire\.main\b|\bimport\.meta\.main\b",
    equals="===",
).ranges
php_ranges = Syntax(
    conditionals=_SWITCHING,
    blocks=frozenset({"compound_statement", "colon_block", "expression_statement"}),
    comment=r"//[^\n]*|#[^\n]*|/\*.*?\*/",
    tidy=lambda code: _GLOBAL.sub("", code),
).ranges

# Python
python_ranges = Syntax(
    conditionals={"if_statement": if_branches, "try_statement": try_branches, "match_statement": unread_branches},
    blocks=frozenset({"block", "with_statement"}),
    comment=r"#[^\n]*",
    entry=r"\b__name__\b",
    words=True,
).ranges

# Ruby
_RESCUE = frozenset({"rescue", "else", "ensure"})
_DEFINED = lazily(r"\bdefined\? *([\w.:@$]+)")


def _unless_branches(node: Node, reader: Reader) -> list[Branch]:
    condition = reader.condition(node.child_by_field_name("condition"))
    opposite = reader.negate(condition)
    fields = (("consequence", opposite), ("body", opposite), ("alternative", condition))
    return [Branch([block], own) for name, own in fields if (block := node.child_by_field_name(name))]


def _begin_branches(node: Node, reader: Reader) -> list[Branch]:
    clauses = [child for child in node.named_children if child.type in _RESCUE]
    tried = [child for child in node.named_children if child.type not in _RESCUE]
    is_tried = any(clause.type == "rescue" for clause in clauses)
    branches = [Branch(tried, "begin" if is_tried else "")]
    for clause in clauses:
        caught = clause.child_by_field_name("exceptions")
        condition = {"ensure": "", "else": "begin else"}.get(clause.type, clip(f"rescue {reader.raw(caught)}".rstrip()))
        branches.append(Branch(clause.named_children, condition))
    return [branch for branch in branches if branch.nodes]


def _when_branches(node: Node, reader: Reader) -> list[Branch]:
    subject = reader.condition(node.child_by_field_name("value"))
    options: list[Branch] = []
    for part in node.named_children:
        if part.type == "when":
            values = [reader.raw(value) for value in part.children_by_field_name("pattern")[:MAX_CHAIN]]
            own = reader.one_of(subject, values) if subject else " || ".join(map(reader.spell, values))
            options.append(Branch(part.named_children, own))
        elif part.type == "else":
            options.append(Branch(part.named_children, ""))
    return reader.choice(options)


ruby_ranges = Syntax(
    conditionals={
        **dict.fromkeys(("if", "elsif", "if_modifier"), if_branches),
        **dict.fromkeys(("unless", "unless_modifier"), _unless_branches),
        "begin": _begin_branches,
        "case": _when_branches,
    },
    blocks=frozenset({"then", "else"}),
    comment=r"#[^\n]*",
    tidy=lambda code: _DEFINED.sub(r"defined?(\1)", code),
    entry=r"\b__FILE__ ?==|== ?__FILE__\b|\$PROGRAM_NAME\b",
).ranges


# Lua
def _or_branches(node: Node, reader: Reader) -> list[Branch]:
    """The branch of Lua's `M.f = M.f or function …`, which defines the function only if it does not exist yet."""
    assigned = re.match(r"([\w.:]+) ?= ?(.*)", reader.raw(node))
    is_kept = assigned is not None and assigned[2].startswith(f"{assigned[1]} or ")
    return [Branch(node.children, reader.negate(assigned[1]))] if assigned is not None and is_kept else []


lua_ranges = Syntax(
    conditionals={"if_statement": if_branches, "assignment_statement": _or_branches},
    blocks=frozenset({"block", "do_statement"}),
    comment=r"--[^\n]*",
    words=True,
).ranges


# Elixir: all conditionals are calls with a block.
def _call_branches(node: Node, reader: Reader) -> list[Branch]:
    name = reader.raw(node.child_by_field_name("target"))
    block = next((child for child in node.named_children if child.type == "do_block"), None)
    arguments = [child for part in node.named_children if part.type == "arguments" for child in part.named_children]
    condition = reader.condition(arguments[0]) if arguments else ""
    if name in ("case", "cond"):
        return unread_branches(node, reader)
    if name not in ("if", "unless") or not arguments:
        return []
    opposite = reader.negate(condition)
    if name == "unless":
        condition, opposite = opposite, condition
    if block is None:  # `if x, do: …, else: …`
        pairs = arguments[-1].named_children if arguments[-1].type == "keywords" else []
        values = {reader.raw(item.child_by_field_name("key")): item.child_by_field_name("value") for item in pairs}
        both = ((values.get("do:"), condition), (values.get("else:"), opposite))
        return [Branch([value], own) for value, own in both if value is not None]
    body = [child for child in block.named_children if child.type != "else_block"]
    others = [child for child in block.named_children if child.type == "else_block"]
    branches = [Branch(body, condition), *(Branch(item.named_children, opposite) for item in others)]
    return [branch for branch in branches if branch.nodes]


elixir_ranges = Syntax(
    conditionals={"call": _call_branches},
    blocks=frozenset(),
    comment=r"#[^\n]*",
    single=False,  # 'x' is a list of characters
).ranges

# Shells
_CLAUSES = frozenset({"elif_clause", "else_clause"})
_REDIRECTION = lazily(r" ?(?:\d?|&)>{1,2}&? ?(?:/dev/null|\d)\b| 2>&1")
_TEST = lazily(r"(!? ?)(?:\[\[? (?P<in>(?:(?!\]\]?(?: |$)).)*) \]\]?|test (?P<words>[^&|]*[^&| ]))")
_EXPANSION = lazily(r'"(\$(?:\w+|\{[^{}"]*\}|\([^()"]*\)))"')
_COMPARED = lazily(r"( == | != )([\w./*?-]+)(?= |$)")


def _plain_test(code: str, reader: Reader) -> str:
    """The normal form of a shell condition: `[ "$(uname)" = Darwin ]` and the like become `$(uname) == "Darwin"`."""

    def plain(match: re.Match[str]) -> str:
        inner = re.sub(r" ==? ", " == ", _EXPANSION.sub(r"\1", match["in"] or match["words"] or ""))
        inner = _COMPARED.sub(r'\1"\2"', inner)
        if inner.startswith("! "):
            inner = f"!({inner[2:]})"
        return f"!({inner})" if match[1].strip() else inner

    if not code.startswith(("((", "! ((")):  # where `> 3` compares
        code = _REDIRECTION.sub("", code)
    code = _TEST.sub(plain, code).strip()
    if code.startswith("! ") and "&&" not in code and "||" not in code:
        return reader.negate(reader.spell(code[2:]))
    return reader.spell(code)


def _then_branches(node: Node, reader: Reader) -> list[Branch]:
    options: list[Branch] = []
    for part in (node, *(child for child in node.named_children if child.type in _CLAUSES)):
        words = [child.type for child in part.children]
        own, first = "", 1
        if part.type != "else_clause":
            if "then" not in words:
                continue
            first = words.index("then") + 1
            test = [child for child in part.children[1 : first - 1] if child.type not in (";", "\n", "comment")]
            if any(child.has_error for child in test):
                break
            own = _plain_test("; ".join(map(reader.raw, test)), reader)
            if part is node and "BASH_SOURCE" in own:
                return []  # a script's entry point
        body = [child for child in part.children[first:] if child.is_named and child.type not in _CLAUSES]
        options.append(Branch(body, own))
    return reader.choice(options)


def _pattern_branches(node: Node, reader: Reader) -> list[Branch]:
    subject = _EXPANSION.sub(r"\1", reader.raw(node.child_by_field_name("value")))
    options: list[Branch] = []
    for item in node.named_children:
        if item.type == "case_item":
            patterns = item.children_by_field_name("value")
            body = [child for child in item.named_children if child not in patterns and child.type != "comment"]
            spellings = [reader.raw(pattern).strip("\"'") for pattern in patterns[:MAX_CHAIN]]
            own = "" if "*" in spellings else reader.one_of(subject, [f'"{pattern}"' for pattern in spellings])
            options.append(Branch(body, own))
    return reader.choice(options)


def _list_branches(node: Node, reader: Reader) -> list[Branch]:
    """The branches of `a && b || c`: b if a holds, else c. In a longer list, the last part depends on all others."""
    branches = []
    for _ in range(MAX_DEPTH):
        if len(node.children) != 3:
            break
        left, operator, right = node.children
        test = left
        if operator.type == "||" and left.type == "list" and left.children[1].type == "&&":
            test = left.children[0]
        condition = _plain_test(reader.raw(test), reader)
        branches.append(Branch([right], reader.negate(condition) if operator.type == "||" else condition))
        if left.type != "list":
            break
        node = left
    return branches


shell_ranges = Syntax(
    conditionals={"if_statement": _then_branches, "case_statement": _pattern_branches, "list": _list_branches},
    blocks=frozenset({"compound_statement"}),
    comment=r"(?<= )#[^\n]*",
    shell=True,
).ranges

# Zig: `if` and `switch` between types. Of some 30,000 definitions in four repositories one has such a condition.
zig_ranges = Syntax(
    conditionals=dict.fromkeys(("if_expression", "switch_expression"), unread_branches),
    blocks=frozenset({"variable_declaration", "using_namespace_declaration", "parenthesized_expression"}),
).ranges
