"""Reads the conditions of scripting languages: `if`, `try`, `switch` and the like around definitions.

A language describes its conditionals in a `Syntax`. The walk starts at the outermost conditionals, which the query
captures at module and class level, and descends into their blocks. It does not enter functions: conditions in functions
are decided at run time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from lci_py.source.conditions import flags, text
from lci_py.source.conditions.text import MAX_CONDITION, File, Range, bare, clip, is_bracketed
from lci_py.source.text.patterns import lazily
from lci_py.types.record import NamedTuple, dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tree_sitter import Node

_STRING = r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\''
_SPELLING = lazily(
    rf"({_STRING})|\s*(===|!==|==|!=(?!~)|=~|!~|~=|(?<!<)[<>]=(?!>)|&&|\|\|)\s*|,\s*(?=[^\s)\]}}])|(!)\s+|([(\[])\s+|\s+(?=[)\]])"
)
_PLAIN = lazily(r"""'([^"'\\$#]*)'""")
_UNEQUAL = lazily(
    rf"((?:typeof )?[\w.$@:\\]+[?!]?(?:\([^()]*\)|\[[^\[\]]*\])*) (!==?|~=|!~) ({_STRING}|[\w.$:]+|/[^/]*/\w*)"
)
_NEITHER = lazily(r"((?:(?! (?:and|or|if|not|is|in) ).)+) (is not|not in) ((?:(?! (?:and|or|if|else|not|is|in) ).)+)")
_EQUAL = {"is not": "is", "not in": "in", "!==": "===", "!=": "==", "~=": "==", "!~": "=~"}


class Branch(NamedTuple):
    """One branch of a conditional.

    Attributes:
        nodes: The branch's nodes in the order of the text; they may contain further conditionals.
        condition: The condition of the branch; "" if the branch always runs.
    """

    nodes: Sequence[Node]
    condition: str


@dataclass(frozen=True)
class Syntax:
    """Describes how a language writes its conditions.

    Attributes:
        conditionals: Maps each node type of a conditional to the function that returns the branches of such a node.
        blocks: Types of nodes that only hold statements.
        comment: Pattern of a comment in a condition.
        entry: Pattern of the condition around a script's entry point. It is decided at run time and does not count.
        tidy: Function that normalises spellings which only this language has.
        equals: The equality operator.
        words: Whether the language writes `not (x)` rather than `!x`.
        single: Whether 'x' and "x" are the same string.
        shell: Whether a call's arguments are words after its name.
    """

    conditionals: Mapping[str, Callable[[Node, Reader], list[Branch]]]
    blocks: frozenset[str]
    comment: str = r"(?!)"
    entry: str = r"(?!)"
    tidy: Callable[[str], str] = str
    equals: str = "=="
    words: bool = False
    single: bool = True
    shell: bool = False

    def ranges(self, file: File) -> list[Range]:
        """The branches that have a condition, from a file's captured conditionals and those nested in their blocks."""
        reader = Reader(self, file)
        spans: list[Range] = []
        pending = list(file.nodes)
        while pending:
            node = pending.pop()
            read = self.conditionals.get(node.type)
            if read is not None:
                for nodes, condition in read(node, reader):
                    if condition:
                        spans.append(Range(nodes[0].start_byte, nodes[-1].end_byte, condition))
                    pending.extend(nodes)
            elif node.type in self.blocks:
                pending.extend(node.named_children)
        return spans


class Reader:
    """Reads conditions from nodes, in normal form."""

    def __init__(self, syntax: Syntax, file: File) -> None:
        self.syntax = syntax
        self._source = file.source
        self._flags = file.flags

    def raw(self, node: Node | None) -> str:
        """The source of a node on one line, without comments; "" without a node."""
        if node is None:
            return ""
        # No more is kept in the end, and a hostile file may be one condition.
        source = self._source[node.start_byte : min(node.end_byte, node.start_byte + 4 * MAX_CONDITION)]
        code = source.decode("utf-8", "replace")
        if "\n" in code:
            code = code.replace("\\\n", " ")
            code = _compile(rf"({_STRING})|{self.syntax.comment}").sub(lambda m: m[1] or " ", code)
        return " ".join(code.split())

    def condition(self, node: Node | None) -> str:
        """The condition in `node`, in normal form; "" if it always holds, "0" if it never does."""
        return self.spell(self.raw(node))

    def spell(self, code: str) -> str:
        """The normal form of a condition, given as one line."""
        code = self.tidied(code)
        if re.match(r"not\b", code) and not re.search(r"\b(?:and|or|if)\b|&&|\|\|", code):
            rest = code[3:].strip()
            code = self.negate(bare(rest))
        code = flags.readable(code, self._flags, words=self.syntax.shell)
        return {"True": "", "true": "", "1": "", "False": "0", "false": "0"}.get(code, code)

    def tidied(self, code: str) -> str:
        """An expression with uniform quotes and blanks, without brackets around the whole."""
        return bare(clip(self.syntax.tidy(_SPELLING.sub(self._token, code))))

    def negate(self, condition: str) -> str:
        """Negate a condition; the negation of `not x` is `x`."""
        if condition in ("", "0"):
            return text.negate(condition)
        if unequal := _UNEQUAL.fullmatch(condition) or (self.syntax.words and _NEITHER.fullmatch(condition)):
            return f"{unequal[1]} {_EQUAL[unequal[2]]} {unequal[3]}"
        if self.syntax.words:
            inner = condition[4:] if condition.startswith("not (") else ""
            return inner[1:-1] if inner and is_bracketed(inner) else f"not ({condition})"
        return text.negate(condition)

    def choice(self, options: Iterable[Branch]) -> list[Branch]:
        """Make alternative branches exclusive: each also requires that the conditions of all earlier branches fail."""
        branches: list[Branch] = []
        earlier: list[str] = []
        for nodes, own in options:
            if nodes:
                branches.append(Branch(nodes, text.chain(earlier, own, self.negate) if earlier else own))
            earlier.append(own)
        return branches

    def one_of(self, subject: str, values: Iterable[str]) -> str:
        """The condition that a subject equals one of several values; a value `/…/` is a pattern to match."""
        either = " or " if self.syntax.words else " || "
        spelled = ((value, "=~" if value.startswith("/") else self.syntax.equals) for value in map(self.tidied, values))
        return clip(either.join(f"{subject} {equals} {value}" for value, equals in spelled))

    def is_entry(self, node: Node | None) -> bool:
        """Whether a condition tests if the file is run as a program: `__name__ == "__main__"` and the like."""
        return bool(_compile(self.syntax.entry).search(self.raw(node)))

    def _token(self, match: re.Match[str]) -> str:
        string, operator, negation, bracket = match.groups()
        if string:
            plain = _PLAIN.fullmatch(string) if self.syntax.single else None
            return f'"{plain[1]}"' if plain else string
        if operator:
            return f" {operator} "
        if match[0].startswith(","):
            return ", "
        return negation or bracket or ""


def if_branches(node: Node, reader: Reader) -> list[Branch]:
    """The branches of an `if` whose parts are fields: `condition`, `consequence` or `body`, and `alternative`."""
    condition = node.child_by_field_name("condition")
    if condition is None or condition.has_error or reader.is_entry(condition):
        return []
    options: list[Branch] = []
    for part in (node, *node.children_by_field_name("alternative")):
        # An `else` has no condition. Ruby's elsif has one, but is a conditional of its own that the walk comes to.
        asks = part is node or part.type not in reader.syntax.conditionals
        condition = part.child_by_field_name("condition") if asks else None
        if part is not node and condition is None:
            options.append(Branch(part.named_children if asks else [part], ""))
        else:
            block = part.child_by_field_name("consequence") or part.child_by_field_name("body")
            options.append(Branch([block] if block is not None else (), reader.condition(condition)))
    return [*reader.choice(options), *_passed_over(node, options[0], reader)]


def _passed_over(node: Node, first: Branch, reader: Reader) -> list[Branch]:
    """The code after an `if` whose block ends in `return`: it runs only if the block does not (PHP, Lua)."""
    parent, after = node.parent, node.next_named_sibling
    last = [child.type for block in first.nodes for child in block.named_children[-1:]]
    if parent is None or parent.type not in ("program", "chunk") or after is None or last != ["return_statement"]:
        return []
    return [Branch([after, parent.named_children[-1]], reader.negate(first.condition))]


def try_branches(node: Node, reader: Reader) -> list[Branch]:
    """The branches of a `try`: its block, and its clauses (`catch`, `except`, `else`, `finally`)."""
    branches = []
    for part in node.named_children:
        if part.type in reader.syntax.blocks:
            branches.append(Branch([part], "try"))
        elif part.type.endswith("clause") and part.named_children:
            kind = part.type.partition("_")[0]
            condition = {"finally": "", "else": "try else"}.get(kind, clip(f"{kind} {_caught(part, reader)}".rstrip()))
            branches.append(Branch(part.named_children, condition))
    return branches


def _caught(clause: Node, reader: Reader) -> str:
    types = clause.child_by_field_name("type")
    if types is None and clause.type.startswith("except"):
        types = next((child for child in clause.named_children if child.type not in ("comment", "block")), None)
        types = types.named_children[0] if types is not None and types.type == "as_pattern" else types
    return reader.raw(types)


def unread_branches(node: Node, reader: Reader) -> list[Branch]:
    """The code in a `match` or `switch`, as one branch whose condition is unknown: `match` is too rare to be parsed."""
    return [Branch(node.named_children, "…")]


def short_circuit(node: Node, reader: Reader) -> list[Branch]:
    """The branch `b` of `a && b` or `a || b` as a statement: `b` runs if `a` holds, or if `a` does not hold."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = reader.raw(node.child_by_field_name("operator"))
    if left is None or right is None or operator not in ("&&", "||", "and", "or"):
        return []
    condition = reader.condition(left)
    return [Branch([right], reader.negate(condition) if operator in ("||", "or") else condition)]


@lru_cache(maxsize=32)
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)
