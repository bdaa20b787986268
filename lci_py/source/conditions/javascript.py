"""JavaScript and TypeScript: `if`, `switch` and `try` around definitions, and decorators that ask for a flag."""

from __future__ import annotations

from lci_py.source.conditions.blocks import Syntax, if_branches, short_circuit, switch_branches, try_branches

ranges = Syntax(
    conditionals={
        "if_statement": if_branches,
        "try_statement": try_branches,
        "switch_statement": switch_branches,
        "binary_expression": short_circuit,
    },
    blocks=frozenset({"statement_block", "expression_statement"}),
    comment=r"//[^\n]*|/\*.*?\*/",
    entry=r"\brequire\.main\b|\bimport\.meta\.main\b",
    equals="===",
).ranges
