"""Build conditions of definitions: Go build constraints, `#if`, Rust's cfg, and Python's if and try around definitions.

Every family reduces to nested byte ranges with a condition each. They become a sorted list of segments once per file,
so that a definition costs one bisection however many conditions the file has. The text is normalised so that equal
conditions are equal strings, and no more: nothing is evaluated or simplified.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

_ATOM = re.compile(r"[\w.]+(?:\([^()]*\))?")
_LOOSE = re.compile(r"\|\||\?|\b(?:or|if|lambda)\b|:=")
# Sources are untrusted: a chain of thousands of #elif, or #if nested as deep, must not make conditions of its length.
MAX_CONDITION = 200  # characters of one condition
MAX_DEPTH = 16  # conditions around one definition; the innermost are kept
MAX_CHAIN = 8  # negated branches in the condition of an `else`; the nearest are kept


class Range(NamedTuple):
    start: int
    end: int
    condition: str


class Tags:
    """The build conditions of one file's definitions.

    Args:
        family: `conditions` in the language's language.toml; an unknown one has no conditions.
        path: Relative to the root; Go has constraints in file names.
        source: The file's bytes.
        nodes: The @condition captures, in any order. Go and `preprocessor` read the text instead: where an `#if`
            cuts a statement in half, the tree's nodes for it are wrong.
    """

    def __init__(self, family: str, path: str, source: bytes, nodes: list[Node]) -> None:
        self._is_rust = family == "rust"
        ranges: list[Range] = []
        if family == "go":
            ranges = [Range(0, len(source), condition) for condition in _go(path, source)]
        elif family == "preprocessor" and b"#" in source:
            ranges = _preprocessor(path, source)
        elif family == "rust":
            ranges = _rust(source, nodes)
        elif family == "python":
            ranges = _python(nodes)
        self._starts, self._conditions = _segments(ranges)
        self._texts: dict[int, str | None] = {}  # by segment: most hold no definition

    def of(self, byte: int, attributes: str) -> str | None:
        """The condition of the definition whose name starts at `byte` and that has these attributes; None if none."""
        index = bisect_right(self._starts, byte) - 1
        around = self._conditions[index] if index >= 0 else ()
        if self._is_rust and (own := _cfg(attributes)):
            return join([*around, *own])
        if index not in self._texts:
            self._texts[index] = join(around)
        return self._texts[index]


def _segments(ranges: list[Range]) -> tuple[list[int], list[tuple[str, ...]]]:
    """Cut nested ranges at their ends: where each segment starts, and the conditions in it, outermost first."""
    starts: list[int] = []
    conditions: list[tuple[str, ...]] = []
    stack: list[Range] = []

    def cut(at: int) -> None:
        starts.append(at)
        conditions.append(tuple(around.condition for around in stack[-MAX_DEPTH:]))

    for item in sorted(ranges, key=lambda r: (r.start, -r.end)):
        while stack and stack[-1].end <= item.start:
            cut(stack.pop().end)
        stack.append(item)
        cut(item.start)
    while stack:
        cut(stack.pop().end)
    return starts, conditions


# --- conditions as text -----------------------------------------------------------------------------------------


def conjuncts(condition: str) -> list[str]:
    """What must all hold for `condition` to hold."""
    if "&&" not in condition or "||" in _outside(condition):
        return [condition]
    parts, depth = [""], 0
    for token in re.split(r"(&&|[()])", condition):
        depth += (token == "(") - (token == ")")
        if token == "&&" and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return [part.strip() for part in parts]


def join(conditions: Iterable[str]) -> str | None:
    """All of `conditions`, each part once; None if there are none."""
    parts = list(dict.fromkeys(part for condition in conditions for part in conjuncts(condition) if part))
    if len(parts) > 1:
        parts = [f"({part})" if _binds_loosely(part) else part for part in parts]
    return " && ".join(parts) if parts else None


def negate(condition: str) -> str:
    """The opposite of a condition; "" is the one that always holds, "0" the one that never does."""
    if condition in ("0", ""):
        return "0" if not condition else ""
    if condition.startswith("!") and _ATOM.fullmatch(condition, 1):
        return condition[1:]
    if condition.startswith("!(") and _enclosed(condition[1:]):
        return condition[2:-1]
    return f"!{condition}" if _ATOM.fullmatch(condition) or _enclosed(condition) else f"!({condition})"


def _outside(text: str) -> str:
    """What stands outside all brackets."""
    while (rest := re.sub(r"\([^()]*\)", "", text)) != text:
        text = rest
    return text


def _binds_loosely(text: str) -> bool:
    """Whether `text && x` would mean something else than `(text) && x`."""
    return bool(_LOOSE.search(text) and _LOOSE.search(_outside(text)))


def _enclosed(text: str) -> bool:
    """Whether one pair of brackets holds it all: `(a && b)`, but not `(a) && (b)`."""
    return text.startswith("(") and not _outside(text)


def _any(options: list[str]) -> str:
    """A disjunction in which every `&&` stands in brackets, as gofmt writes it."""
    several = len(options) > 1
    return " || ".join(f"({option})" if several and len(conjuncts(option)) > 1 else option for option in options)


def _clip(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_CONDITION else text[: MAX_CONDITION - 1] + "…"


def _chain(earlier: list[str], own: str) -> str:
    """The condition of a later branch: none of the earlier ones, and its own."""
    return join([*map(negate, earlier[-MAX_CHAIN:]), own]) or ""


# --- Go ---------------------------------------------------------------------------------------------------------

# internal/syslist of Go 1.23; a name stays listed when its port is removed, and so do file names in old code.
_GOOS = frozenset((
    "aix", "android", "darwin", "dragonfly", "freebsd", "hurd", "illumos", "ios", "js", "linux", "nacl", "netbsd",
    "openbsd", "plan9", "solaris", "wasip1", "windows", "zos",
))  # fmt: skip
_GOARCH = frozenset((
    "386", "amd64", "amd64p32", "arm", "armbe", "arm64", "arm64be", "loong64", "mips", "mipsle", "mips64", "mips64le",
    "mips64p32", "mips64p32le", "ppc", "ppc64", "ppc64le", "riscv", "riscv64", "s390", "s390x", "sparc", "sparc64",
    "wasm",
))  # fmt: skip
_GO_HEADER = re.compile(rb"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_GO_BUILD = re.compile(r"^//go:build[ \t]+(.+)$", re.MULTILINE)
_GO_PLUS = re.compile(r"^//[ \t]*\+build[ \t]+(.+)$", re.MULTILINE)
_GO_TOKEN = re.compile(r"&&|\|\||[!()]|[\w.]+")


def _go(path: str, source: bytes) -> list[str]:
    """The file's constraints: the one in its name, then the one above its package clause."""
    name = path.rsplit("/", 1)[-1].partition(".")[0]
    words = name.split("_")[1:]  # what is before the first _ is no constraint: linux.go is built everywhere
    if words and words[-1] == "test":
        words.pop()
    if len(words) >= 2 and words[-2] in _GOOS and words[-1] in _GOARCH:
        found = words[-2:]
    else:
        found = [word for word in words[-1:] if word in _GOOS or word in _GOARCH]
    header = _GO_HEADER.match(source)
    text = re.sub(r"(?s:/\*.*?\*/)|\r", "", header.group().decode("utf-8", "replace") if header else "")
    if build := _GO_BUILD.search(text):
        found.append(_go_expression(build.group(1)))
    else:
        # Only above a blank line: one right above the package clause is its doc. `a,b c` is `(a && b) || c`.
        for line in _GO_PLUS.findall(text[: text.rfind("\n\n") + 1]):
            found.append(_clip(_any([option.replace(",", " && ") for option in line.split()])))
    return found


def _go_expression(text: str) -> str:
    spaced = " ".join(_GO_TOKEN.findall(text.partition("//")[0]))
    return _clip(spaced.replace("! ", "!").replace("( ", "(").replace(" )", ")"))


# --- #if --------------------------------------------------------------------------------------------------------

# Comments and literals are matched so that a `#` in them is passed over. Each alternative starts with a fixed
# character, which lets the scanner skip text quickly: hence a directive is matched from the line break before it.
_DIRECTIVE = (
    rb'|\n[ \t]*#[ \t]*(\w+)((?:[^\n/"\\]+|//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|\\\r?\n|[^\n])*)'
    rb"|/\*.*?(?:\*/|\Z)|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n]){1,10}'"
)
_SCAN_C = re.compile(rb'R"([^\s()\\]{0,16})\(.*?(?:\)\1"|\Z)' + _DIRECTIVE, re.DOTALL)
_SCAN_CSHARP = re.compile(rb'(""").*?(?:"""|\Z)|@"(?:[^"]|"")*"' + _DIRECTIVE, re.DOTALL)
_COMMENTS = re.compile(rb"/\*.*?(?:\*/|\Z)|//[^\n]*|\xef\xbb\xbf|(?m:^[ \t]*#[ \t]*pragma\b[^\n]*)", re.DOTALL)
_DEFINED = re.compile(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))")


class _Open:
    """An `#if` whose `#endif` is not reached yet."""

    def __init__(self, begin: int, condition: str) -> None:
        self.begin = begin  # of the current branch
        self.condition = condition  # of the current branch
        self.written = [condition]  # what stands after each directive, without the negation of earlier branches
        self.guards = ""  # the name that it may be an include guard for
        self.is_guard = False


def _preprocessor(path: str, source: bytes) -> list[Range]:
    ranges: list[Range] = []
    stack: list[_Open] = []
    # One line break is put before the source, so `start` is that of the directive's line.
    for match in (_SCAN_CSHARP if path.endswith(".cs") else _SCAN_C).finditer(b"\n" + source):
        start, end = match.start(), match.end() - 1
        word, rest = (match.group(2) or b"").decode("utf-8", "replace"), match.group(3) or b""
        if word == "define" and len(stack) == 1 and stack[0].guards:
            first = rest.split()[:1] == [stack[0].guards.encode()]
            stack[0].is_guard = first and _blank(source[stack[0].begin : start])
            stack[0].guards = ""
        elif word in ("if", "ifdef", "ifndef"):
            opened = _Open(end, _expression(word, rest))
            if not stack and not ranges and opened.condition.startswith("!defined(") and _blank(source[:start]):
                opened.guards = opened.condition[9:-1]
            stack.append(opened)
        elif stack and word.startswith(("el", "endif")):
            opened = stack[-1]
            if not (opened.is_guard and word == "endif" and _blank(source[end:])):
                ranges.append(Range(opened.begin, start, opened.condition))
            if word == "endif":
                stack.pop()
            else:
                own = "" if word == "else" else _expression(word[2:], rest)
                opened.begin, opened.condition = end, _chain(opened.written, own)
                opened.written.append(own)
    ranges.extend(Range(opened.begin, len(source), opened.condition) for opened in stack if not opened.is_guard)
    return [item for item in ranges if item.condition]


def _blank(source: bytes) -> bool:
    return not _COMMENTS.sub(b"", source).strip()


def _expression(word: str, rest: bytes) -> str:
    """The condition after `#if`, `#ifdef` or `#ifndef`; "" if it always holds."""
    text = _COMMENTS.sub(b" ", rest.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")).decode("utf-8", "replace")
    if word in ("ifdef", "ifndef"):
        name = text.split()
        return f"{'!' if word == 'ifndef' else ''}defined({name[0]})" if name else ""
    text = _DEFINED.sub(lambda m: f"defined({m.group(1) or m.group(2)})", _clip(text))
    text = re.sub(r"!\s+", "!", text)
    while _enclosed(text):
        text = text[1:-1].strip()
    return {"1": "", "true": "", "false": "0"}.get(text, text)


# --- Rust -------------------------------------------------------------------------------------------------------

# Bounded on both sides: a file of blank lines, or of `#[cfg(` without an end, must not take quadratic time.
_CFG = re.compile(r"^[^\S\n]*#!?\[\s*cfg\s*\((.{0,2000}?)\)\s*\]", re.MULTILINE | re.DOTALL)
_RUST_HEADER = re.compile(
    rb"(?:\s+|//[^\n]*|/\*.*?\*/|#!\[(?:[^\]\"]|\"(?:\\.|[^\"\\])*\")*\]|#![^\[\n][^\n]*)*", re.DOTALL
)
_RUST_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[\w:.]+|[(),=]')
_RUST_BETWEEN = frozenset({"attribute_item", "line_comment", "block_comment"})


def _rust(source: bytes, nodes: list[Node]) -> list[Range]:
    header = _RUST_HEADER.match(source)
    inner = _COMMENTS.sub(b"", header.group()).decode("utf-8", "replace") if header else ""
    ranges = [Range(0, len(source), condition) for condition in _cfg(inner)]
    # From the last to the first: what an attribute covers, those before it cover as well.
    items: dict[int, Node | None] = {}
    for node in sorted(nodes, key=lambda node: node.start_byte, reverse=True):
        following = node.next_named_sibling if node.type == "attribute_item" else None
        while following is not None and following.type in _RUST_BETWEEN and following.id not in items:
            following = following.next_named_sibling
        items[node.id] = items.get(following.id, following) if following is not None else None
    for node in nodes:
        covered = node.parent if node.type == "inner_attribute_item" else items[node.id]
        if covered is not None:
            ranges.extend(Range(covered.start_byte, covered.end_byte, condition) for condition in _cfg(_text(node)))
    return ranges


def _cfg(attributes: str) -> list[str]:
    """The conditions of the `cfg` among some attributes. `cfg_attr` attaches an attribute, it removes nothing."""
    if "cfg" not in attributes:
        return []
    return [_clip(_predicate(text)) for text in _CFG.findall(attributes)]


def _predicate(text: str) -> str:
    """`all(a, not(b))` is `a && !b`. What does not parse stays as it is written."""
    stack: list[tuple[str, list[str]]] = [("all", [])]  # no recursion: the file decides how deep its brackets go
    before = ""
    for token in _RUST_TOKEN.findall(text):
        operands = stack[-1][1]
        if token == "(" and operands and operands[-1] == before:
            stack.append((operands.pop(), []))
        elif token == "(" or (token == ")" and len(stack) == 1) or len(stack) > MAX_DEPTH:
            return text
        elif token == ")":
            operator, inner = stack.pop()
            stack[-1][1].append(_combine(operator, inner))
        elif operands and (token == "=" or before == "="):
            operands[-1] += f" {token}"
        elif token != ",":
            operands.append(token)
        before = token
    return _combine(*stack[0]) if len(stack) == 1 else text


def _combine(operator: str, operands: list[str]) -> str:
    if operator == "not" and len(operands) == 1:
        return negate(operands[0])
    if operator == "all":
        return " && ".join(operands)
    if operator == "any" and operands:
        return f"({_any(operands)})" if len(operands) > 1 else operands[0]
    return f"{operator}({', '.join(operands)})"


# --- Python -----------------------------------------------------------------------------------------------------

_PYTHON_BLOCKS = frozenset({"if_statement", "try_statement"})


def _text(node: Node | None) -> str:
    return ((node.text if node is not None else None) or b"").decode("utf-8", "replace")


def _python(nodes: list[Node]) -> list[Range]:
    # What stands in a function decides at run time, not what a build gets. An inner block is reached from its outer.
    pending = [node for node in nodes if node.type in _PYTHON_BLOCKS and _at_definition_level(node)]
    ranges = []
    while pending:
        node = pending.pop()
        branches = _if_branches(node) if node.type == "if_statement" else _try_branches(node)
        for block, condition in branches:
            if condition:
                ranges.append(Range(block.start_byte, block.end_byte, condition))
            pending.extend(child for child in block.children if child.type in _PYTHON_BLOCKS)
    return ranges


def _at_definition_level(node: Node) -> bool:
    around = node.parent
    if around is not None and around.type == "block":
        around = around.parent
    return around is not None and around.type in ("module", "class_definition")


def _if_branches(node: Node) -> list[tuple[Node, str]]:
    branches: list[tuple[Node, str]] = []
    earlier: list[str] = []
    for part in [node, *node.children_by_field_name("alternative")]:
        block = part.child_by_field_name("consequence" if part.type != "else_clause" else "body")
        if part.type == "else_clause":
            condition = join(f"not ({text})" for text in earlier[-MAX_CHAIN:]) or ""
        else:
            condition = _clip(_text(part.child_by_field_name("condition")))
            earlier.append(condition)
        if block is not None:
            branches.append((block, condition))
    # A script's entry point is in every build, and what it decides, it decides at run time.
    return [] if "__name__" in earlier[0] else branches


def _try_branches(node: Node) -> list[tuple[Node, str]]:
    branches: list[tuple[Node, str]] = []
    for part in node.children:
        block = next((child for child in reversed(part.children) if child.type == "block"), None)
        if part.type == "block":
            branches.append((part, "try"))
        elif block is not None and part.type.startswith("except"):
            caught = next((child for child in part.named_children if child.type != "comment"), block)
            if caught.type == "as_pattern":
                caught = caught.named_children[0]
            branches.append((block, _clip(f"except {_text(caught) if caught != block else ''}")))
        elif block is not None:
            branches.append((block, "try else" if part.type == "else_clause" else ""))
    return branches
