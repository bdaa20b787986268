"""Collects the query matches of one file by role. docs/languages.md lists the captures; only this module reads them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import partial
from itertools import accumulate, repeat
from operator import add
from typing import TYPE_CHECKING

from lci_py.source.syntax.macro_calls import MacroCall, templates, text_of, uses
from lci_py.source.syntax.macro_uses import in_program
from lci_py.source.syntax.selectors import body as body_of, selector
from lci_py.types.record import dataclass
from lci_py.types.search import CALLABLE, FUNCTION_KINDS, TYPE_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tree_sitter import Node

    from lci_py.source.syntax.languages import Matches
    from lci_py.source.syntax.macro_text import Use
    from lci_py.types.source import Symbol

#: After the name of a table an element of which is called.
ELEMENT = "[]"
SPACE = re.compile(r"\s+")
COLON = re.compile(r"^:(?=[\w\"'\[])|(?<=\w):$")  # Ruby's and Elixir's `:name` and `name:`
_NO_PARAMETERS = re.compile(r"\s*\(\s*\)[^()]*\Z")  # after C++'s `operator bool`
HASHES = re.compile(r"\s+#+$")


def without_colon(text: str) -> str:
    """Remove the colon at the start or the end of a name."""
    return COLON.sub("", text) if ":" in text else text


_BLANKS = frozenset(b" \t\r\n\f")
#: Keywords of C that stand before a parenthesis.
_STATEMENTS = frozenset({"if", "for", "while", "switch", "return", "sizeof"})
_ROLES = (
    "scope", "local", "static", "import", "base", "docstring", "condition", "package", "uncalled", "typed", "expansion",
    "text", "leaf", "unsure", "narrowed", "stored", "keys", "function",
)  # fmt: skip


@dataclass(slots=True)
class Entity:
    """A node with other nodes in it: a definition, a naming scope (`impl T`) or a local scope (a lambda)."""

    start: int
    end: int
    role: str  # definition | scope | local
    kind: str
    name: str
    node: Node
    name_node: Node | None = None
    body: Node | None = None
    owner: str = ""  # the @parent text: a Go receiver, the `A` of `A::b`
    outer: int = -1  # index of the entity that it belongs to
    around: int = -1  # index of the entity whose text contains it: not the same for one that `passes`
    symbol: int = -1  # index among the symbols, -1 if dropped
    apart: bool = False  # inside a type, but not its member

    def passes(self, enclosing: Entity) -> bool:
        """Whether this entity belongs to what is around the entity `enclosing`: a field declared in a constructor."""
        if self.kind in ("field", "property") and enclosing.kind == "constructor":
            return True  # a parameter of a constructor that is a member of the class
        return self.apart and enclosing.role == "definition" and enclosing.kind in TYPE_KINDS


class Captures:
    """The query matches of one file, sorted by role.

    Made without the matches of `QueryPart.USES`, the object has only definitions; `complete` adds calls and other uses.
    """

    def __init__(
        self, matches: Matches, source: bytes, parsed: bytes | None = None, uses: Sequence[Use] = (),
        rest: Callable[[], Matches] | None = None,
    ) -> None:  # fmt: skip
        """`parsed` is the text that was parsed, with the same offsets, if it differs from `source`. `rest` is a
        function that runs the query part whose matches `complete` adds.
        """
        self.source = source
        self._plain = source.decode("ascii") if source.isascii() else None  # of which each byte is a character
        self.parsed = source if parsed is None else parsed  # what the tree was made of; the same offsets
        self.uses = uses
        self.entities: list[Entity] = []
        self.calls: list[dict[str, list[Node]]] = []
        self.imports: list[dict[str, list[Node]]] = []
        self.bases: list[Node] = []
        self.docstrings: list[Node] = []
        # last row of a comment or attribute -> (first row, node, the node of a comment's text)
        self.prefixes: dict[int, tuple[int, Node, Node | None]] = {}
        self.uncalled: list[tuple[int, int]] = []  # ranges in which nothing is called, such as type signatures
        self.statics: list[tuple[int, int]] = []  # ranges whose members are the class's, not its objects'
        self.conditions: list[Node] = []
        self.functions: list[Node] = []  # that may have no name, where definitions inside are local
        self.expansions: list[tuple[Node, int, int]] = []  # a macro, and where its text starts and ends
        self.typed: list[dict[str, list[Node]]] = []
        self.narrowed: list[dict[str, list[Node]]] = []  # tests of types: a name, a type, and where it holds
        self.stored: list[dict[str, list[Node]]] = []
        self.keys: list[
            dict[str, list[Node]]
        ] = []  # of a literal, a `switch`, an enum: the node around it, and the key
        self.texts: list[Node] = []  # nodes without identifiers: comments, strings
        self.leaves: list[Node] = []  # nodes of words that are a name at most as a whole
        self.unsure: list[Node] = []  # nodes of which that is not known
        self.package = ""
        starts = list(accumulate(map(add, map(len, source.split(b"\n")), repeat(1))))  # of the lines, but the first
        #: The row of a byte, from 0. It takes a tenth of the time of a node's `start_point`.
        self.row: Callable[[int], int] = partial(bisect_right, starts)
        self._rest = rest
        self._best: dict[int, tuple[int, Entity]] = {}
        self._sort(matches)
        self.imports = in_program(self.imports, self.conditions)
        self.entities.extend(entity for _, entity in self._best.values())
        self.generated = self._macro_functions()
        self.entities.extend(entity for entity, _ in self.generated)
        self._trim()
        self.entities.sort(key=lambda e: (e.start, -e.end, e.role != "definition"))

    def complete(self) -> None:
        """Add the matches of the other query part, on the first call only."""
        rest, self._rest = self._rest, None
        if rest is not None:
            self._sort(rest())

    def _sort(self, matches: Matches) -> None:
        take: dict[tuple[str, ...], Callable[[dict[str, list[Node]]], object]] = {}
        lists = {"call": self.calls, "import": self.imports, "typed": self.typed, "narrowed": self.narrowed,
                "stored": self.stored, "keys": self.keys}  # fmt: skip
        entities: dict[tuple[str, ...], tuple[str, str, str]] = {}
        for pattern, captures in matches:
            names = tuple(captures)
            if (taken := take.get(names)) is not None:
                taken(captures)
            elif names in entities:
                self._entity(pattern, *entities[names], captures)
            else:
                role, capture, kind = _shape(names)
                if role in ("definition", "scope", "local"):
                    entities[names] = role, capture, kind
                    self._entity(pattern, role, capture, kind, captures)
                    continue
                other = self._prefixes if role == "prefix" else partial(self._other, role)
                take[names] = lists[role].append if role in lists else other
                take[names](captures)
        self.uncalled.sort()

    def _macro_functions(self) -> list[tuple[Entity, list[MacroCall]]]:
        """(function, calls in it) for each function that a use of a macro of the file defines."""
        if not (defining := templates(self.source, self.expansions)):
            return []
        self.complete()
        return [
            (Entity(use.start_byte, use.end_byte, "definition", "function", name, use, callee), called)
            for use, callee, name, called in uses(defining, self.calls)
        ]

    def _trim(self) -> None:
        """Remove blanks and comments at the ends of entities, as an indented block reaches to the next statement."""
        source, row, prefixes = self.source, self.row, self.prefixes
        for entity in self.entities:
            if entity.kind == "section":
                continue  # blank lines between two sections belong to the first
            end = entity.end
            while end > entity.start:
                if source[end - 1] in _BLANKS:
                    end -= 1
                elif (
                    (last := prefixes.get(row(end - 1))) is not None
                    and last[2] is not None
                    and (start := last[1].start_byte) > entity.start
                    and start + len(source[start : last[1].end_byte].rstrip()) == end  # some grammars leave a \r
                ):
                    end = start
                else:
                    entity.end = end
                    break
            else:
                entity.end = end

    def is_uncalled(self, byte: int) -> bool:
        index = bisect_right(self.uncalled, (byte, len(self.source))) - 1
        return index >= 0 and byte < self.uncalled[index][1]

    def text(self, node: Node) -> str:
        if self._plain is not None:
            return self._plain[node.start_byte : node.end_byte]
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def called(self, captures: dict[str, list[Node]]) -> str:
        """The name of a call: that of the function, or the selector of a message; `name[]` for an element of a table,
        `name=` for an assignment that calls a setter.
        """
        if "selector" in captures:
            return selector(captures["selector"][0])
        if "element" in captures:
            return f"{self.text(captures['callee'][0])}{ELEMENT}"
        name = without_colon(self.text(captures["callee"][0]))
        name = ELEMENT if name == "[" else name
        return f"{name}=" if "setter" in captures else name

    def _entity(self, pattern: int, role: str, capture: str, kind: str, captures: dict[str, list[Node]]) -> None:
        node = captures[capture][0]
        names = captures.get("name")
        if role == "local":
            self.entities.append(Entity(node.start_byte, node.end_byte, role, "", "", node))
            return
        if not names:
            return
        name = self.text(names[0]).strip()
        if names[0].type == "operator_cast":
            name = _NO_PARAMETERS.sub("", name)
        if not name.isidentifier():
            # Prose keeps its colons; a heading of Markdown may end like it starts.
            cut = HASHES if capture == "definition.section" else COLON
            name = cut.sub("", SPACE.sub(" ", name))  # one space, or `cut` takes quadratic time
        if not name or (capture == "definition.function" and _is_statement(node, names[0], name)):
            return  # the parser's error recovery inserts nodes without text
        owner = captures.get("parent")
        body = captures.get("body")
        if "selector" in captures:
            name = selector(node)
            body = [block] if (block := body_of(node)) is not None else None
        # A definition may have several parts, such as the clauses of a Haskell function: they are one range.
        parts = captures[capture]
        end = node.end_byte if len(parts) == 1 else max(part.end_byte for part in parts)
        # Two patterns may match one name. By convention the more specific one comes first in the query files.
        key = names[0].start_byte if role == "definition" else ~names[0].start_byte
        best = self._best.get(key)
        if best is None or pattern < best[0]:
            entity = Entity(
                node.start_byte, end, role, kind, name[:200], node, names[0], body[0] if body else None,
                SPACE.sub("", "::".join(map(self.text, owner))) if owner else "", apart="apart" in captures,
            )  # fmt: skip
            self._best[key] = (pattern, entity)

    def _other(self, role: str, captures: dict[str, list[Node]]) -> None:
        if role == "text":
            self.texts += captures["text"]
        elif role == "base":
            self.bases.extend(captures["base"])
        elif role == "docstring":
            self.docstrings.extend(captures["docstring"])
        elif role == "static":
            self.statics.extend((node.start_byte, node.end_byte) for node in captures["static"])
        elif role == "uncalled":
            self.uncalled.extend((node.start_byte, node.end_byte) for node in captures["uncalled"])
        elif role == "expansion":
            for node in captures["expansion"]:
                self.expansions.append((node, *(span := text_of(self.source, node))))
                self.uncalled.append(span)  # after a comment, the grammar takes the rest of the text for code
        elif role == "function":
            self.functions += captures["function"]
        elif role == "condition":
            self.conditions.extend(captures["condition"])
        elif role == "leaf":
            self.leaves += captures["leaf"]
        elif role == "unsure":
            self.unsure += [node for node in captures["unsure"] if not node.child_count or node.type != "ERROR"]
        elif role == "package" and not self.package:
            path = ".".join(map(self.text, captures["package"]))  # Scala: `package a`, then `package b`
            self.package = re.sub(r"\\|::|/", ".", path).strip(".")

    def _prefixes(self, captures: dict[str, list[Node]]) -> None:
        self.texts += captures.get("text", ())
        comments, texts = captures.get("comment", ()), captures.get("docstring", ())
        for node in (*comments, *captures.get("attribute", ())):
            start = node.start_byte
            first = self.row(start)
            last = max(first, self.row(node.end_byte - 1))  # some grammars put the line break into the comment
            # Of two that end on one row, the one that starts first counts: `@overload  # type: ignore` is a decorator.
            # A node that is both (Elixir's @doc) is a comment.
            entry = self.prefixes.get(last)
            if entry is None or start < entry[1].start_byte or (comments and start == entry[1].start_byte):
                self.prefixes[last] = (first, node, (texts[0] if texts else node) if comments else None)


def _is_statement(node: Node, name: Node, text: str) -> bool:
    """Whether what parses as a C function is a statement: a keyword after an error, or a block after `guard(lock)`."""
    parent = name.parent
    if parent is None or not parent.type.endswith("_declarator"):
        return False
    if text in _STATEMENTS:
        return True
    kind = node.child_by_field_name("type") if parent.type == "parenthesized_declarator" else None
    return kind is not None and kind.type == "type_identifier" and node.start_point[1] > 0


def _shape(names: tuple[str, ...]) -> tuple[str, str, str]:
    """(role of a match, name of the capture of the whole node, kind of definition) by the match's capture names."""
    for name in names:
        if name.startswith("definition."):
            return "definition", name, name.partition(".")[2]
    if "comment" in names or "attribute" in names:
        return "prefix", "", ""
    for role in _ROLES:
        if role in names:
            return role, role, ""
    return "call", "call", ""


def finish(entities: list[Entity], source: bytes) -> None:
    """Extend each function whose body does not parse (an #if may cut it in half) to the next brace at the start of a
    line: the tree has only pieces of such a body.
    """
    unfinished = [item for item in entities if item.role == "definition" and item.node.type == "function_declarator"]
    braces = [match.end() for match in re.finditer(rb"\n}", source)] if unfinished else []
    for entity in unfinished:
        index = bisect_left(braces, entity.end)
        entity.end = braces[index] if index < len(braces) else entity.end


class Finder:
    """Finds the innermost entity (a definition or a scope) that encloses a byte."""

    def __init__(self, entities: list[Entity]) -> None:
        self.entities = entities
        self.starts = [entity.start for entity in entities]

    def enclosing(self, byte: int) -> int:
        index = bisect_right(self.starts, byte) - 1
        while index >= 0 and self.entities[index].end <= byte:
            index = self.entities[index].around
        return index

    def symbol(self, byte: int) -> int:
        """The index of the innermost symbol that encloses a byte; -1 if none does."""
        index = self.enclosing(byte)
        while index >= 0 and self.entities[index].symbol < 0:
            index = self.entities[index].outer
        return self.entities[index].symbol if index >= 0 else -1

    def user(self, byte: int) -> int:
        """The innermost function (an index) around a use of a macro; -1 if none, or if the use defines the function."""
        index = self.enclosing(byte)
        while index >= 0:
            entity = self.entities[index]
            if entity.symbol >= 0 and entity.kind in FUNCTION_KINDS and entity.name_node is not None:
                return entity.symbol if entity.name_node.start_byte < byte else -1
            index = entity.outer
        return -1

    def caller(self, byte: int, symbols: list[Symbol], *, of_variables: bool) -> int:
        """The innermost function (an index) that encloses a byte; if none does, the symbol that makes the call.

        This is the innermost symbol if `of_variables`. Otherwise it is the innermost type or module: a call that
        initialises a variable is made by the scope of the variable.
        """
        holder = index = self.symbol(byte)
        if not of_variables:
            holder = -1
        while index >= 0 and symbols[index].kind not in FUNCTION_KINDS:
            if holder < 0 and symbols[index].kind in CALLABLE:
                holder = index
            index = symbols[index].parent
        return index if index >= 0 else holder
