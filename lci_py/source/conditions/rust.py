"""Rust: `#[cfg]` and `#![cfg]`, macros such as `cfg_if!` around items, and notes about other files.

The condition of a module's file stands where the module is declared, and the condition that a macro puts before items
where the macro is defined; both may be in other files. So declarations of modules and definitions of macros get notes,
which `search/conflicts/rust_modules.py` reads.

Of a macro's arguments, the syntax tree has only tokens. `cfg_if!` and `cfg_select!` are built in; any other macro is
read from its definition: if all it does is to put `#[cfg]` before the items it is given, as tokio's `cfg_net!` does,
that is the condition of the items in its calls.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.conditions.preprocessor import COMMENTS
from lci_py.source.conditions.rust_cfg import UNKNOWN, cfg, handed, paths, predicate, quote
from lci_py.source.conditions.text import File, Range, chain, join, node_text
from lci_py.source.text.patterns import lazily
from lci_py.types.record import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node

__all__ = ["cfg", "ranges"]

_HEADER = lazily(rb"(?:\s+|//[^\n]*|/\*.*?\*/|#!\[(?:[^\]\"]|\"(?:\\.|[^\"\\])*\")*\]|#![^\[\n][^\n]*)*", re.DOTALL)
_BETWEEN = frozenset({"attribute_item", "line_comment", "block_comment"})


def ranges(file: File) -> list[Range]:
    """The items that `#[cfg]`, `#![cfg]` and macros put under a condition, and the notes."""
    source = file.source
    nodes: dict[str, list[Node]] = {}
    for node in file.nodes:
        nodes.setdefault(node.type, []).append(node)
    header = _HEADER.match(source)
    inner = COMMENTS.sub(b"", header.group()).decode("utf-8", "replace") if header else ""
    found = [Range(0, len(source), condition) for condition in cfg(inner)]
    covered = [(node, node.parent) for node in nodes.get("inner_attribute_item", ())]
    of_items = _covered(nodes.get("attribute_item", []))
    of_modules: dict[int, list[str]] = {}
    for attribute, item in [*covered, *of_items]:
        if item is not None:
            text = node_text(attribute)
            found.extend(Range(item.start_byte, item.end_byte, condition) for condition in cfg(text))
            of_modules.setdefault(item.id, []).append(text)
    for module in nodes.get("mod_item", ()):
        note = module_note(of_modules.get(module.id, []))
        found.append(Range(module.start_byte, module.end_byte, "", note))
    known = _macros(nodes.get("macro_definition", []), found)
    for call in nodes.get("macro_invocation", ()):
        found += _call(source, call, known)
    return found


def _covered(attributes: list[Node]) -> list[tuple[Node, Node | None]]:
    """Each attribute with the item that it belongs to, in the order of the text."""
    # From the last to the first: an attribute belongs to the same item as the one that follows it.
    items: dict[int, Node | None] = {}
    for node in sorted(attributes, key=lambda node: node.start_byte, reverse=True):
        following = node.next_named_sibling
        while following is not None and following.type in _BETWEEN and following.id not in items:
            following = following.next_named_sibling
        items[node.id] = items.get(following.id, following) if following is not None else None
    return [(node, items[node.id]) for node in sorted(attributes, key=lambda node: node.start_byte)]


def _macros(definitions: list[Node], found: list[Range]) -> dict[str, str]:
    """The conditions that macros of this file put before items; notes on these go to `found`."""
    known: dict[str, str] = {}
    for node in definitions:
        name = node.child_by_field_name("name")
        text = node_text(node) if name is not None else ""
        condition = wrapped(text)
        if name is not None and condition is not None:
            found.append(Range(node.start_byte, name.end_byte, "", macro_note(text)))
            # Which of two definitions counts depends on the conditions that they stand under.
            known[node_text(name)] = UNKNOWN.format(node_text(name)) if node_text(name) in known else condition
    return known


def _call(source: bytes, call: Node, known: dict[str, str]) -> list[Range]:
    name, arguments = call.child_by_field_name("macro"), call.children[-1]
    if name is None or arguments.type != "token_tree":
        return []
    return scan(source, arguments.start_byte, arguments.end_byte, node_text(name).rpartition(":")[2].strip(), known)


# --- macros -------------------------------------------------------------------------------------------------------

_NAMED_AS_WRAPPER = lazily(r"(?:cfg|if)_|\w*_cfg(?:_|$)")
_TOKEN = lazily(
    rb"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\])*(?:\"|\Z)|'(?:\\[^\n]{1,10}?|[^'\\\n\x80-\xff]|[\x80-\xff]{1,4})'"
    rb"|\br(?P<hashes>#{0,16})\".*?(?:\"(?P=hashes)|\Z)"
    rb"|(?P<attribute>#!?\s?\[)|(?P<open>[({\[])|(?P<close>[)}\]])|(?P<end>[;,])|(?P<arrow>=>)"
    rb"|\b(?P<macro>\w{1,100})\s?!(?=\s{0,99}(?:[({\[]|\w))"
    rb"|\b(?P<word>fn|mod|impl|trait|struct|enum|union|use)\b",
    re.DOTALL,
)
_ITEMS, _FIELDS, _CFG_IF, _CFG_SELECT, _ATTRIBUTE, _OTHER = range(6)
_BRANCHES = {"cfg_if": _CFG_IF, "cfg_select": _CFG_SELECT}
_HOLDS = {"struct": _FIELDS, "enum": _FIELDS, "union": _FIELDS, "fn": _OTHER, "macro_rules": _OTHER}
_MAX_WRAPPER = 6_000  # characters of a macro's definition
_COMMENT = lazily(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_WRAPPER = lazily(
    r"macro_rules!\s*\w+\s*\{\s*\(\s*\$\(\s*\$(\w+)\s*:\s*item\s*\)\s*[*+]\s*\)\s*=>\s*\{(.*)\}\s*;?\s*\}\s*\Z",
    re.DOTALL,
)
_MODULE = lazily(r"\bmod\s+\w+\s*;\Z")
_ATTRIBUTE_TEXT = lazily(r"#\[(?:[^\[\]\"]|\"(?:\\.|[^\"\\])*\"|\[[^\[\]]*\])*\]")


@dataclass(slots=True)
class _Frame:
    """Brackets that are open.

    Attributes:
        kind: What stands in them.
        start: Where they open.
        macro: Inside of the arguments of this macro.
        condition: Of what stands in them.
        item: Where the current item begins; in `cfg_select!`, the predicate of the current branch.
        attributes: Of the current item, each from its `#[` to its `]`; in a `cfg_if!`, of the next branch.
        word: The first keyword of the current item.
        calls: The macro that the current item is a call of.
        earlier: The conditions of the branches so far.
    """

    kind: int
    start: int
    macro: str = ""
    condition: str = ""
    item: int = -1
    attributes: list[str] = field(default_factory=list)
    word: str = ""
    calls: str = ""
    earlier: list[str] = field(default_factory=list)


def scan(source: bytes, start: int, end: int, macro: str, known: Mapping[str, str]) -> list[Range]:
    """The conditions of items in the arguments of a macro, and notes on the modules among them.

    Args:
        source: The file's bytes.
        start: Of the macro's arguments, at their bracket.
        end: After it.
        macro: Its name.
        known: By name, the conditions that the file's own macros put before their items, as `wrapped` gives them.
    """
    scanner = _Scanner(source, macro, known)
    for token in _TOKEN.finditer(source, start, end):
        scanner.take(token)
    while len(scanner.stack) > 1:  # brackets that the file does not close
        scanner.close(end)
    return [*scanner.found, *scanner.modules()]


class _Scanner:
    def __init__(self, source: bytes, macro: str, known: Mapping[str, str]) -> None:
        self.source, self.known = source, known
        self.stack: list[_Frame] = [_Frame(_ITEMS, 0, calls=macro)]
        self.found: list[Range] = []
        self._modules: list[tuple[int, int, list[str]]] = []  # start, end, attributes

    def modules(self) -> Iterator[Range]:
        """Notes on the modules that have files of their own."""
        for start, end, attributes in self._modules:
            yield Range(start, end, "", module_note(attributes))

    def take(self, token: re.Match[bytes]) -> None:
        role, top = token.lastgroup, self.stack[-1]
        if role == "close":
            if len(self.stack) > 1:
                self.close(token.end())
        elif role == "open":
            self.stack.append(self._opened(top, token.start(), token.group() == b"{"))
        elif top.kind in (_OTHER, _ATTRIBUTE):
            if role == "attribute":
                self.stack.append(_Frame(_OTHER, token.start()))
        elif role == "attribute":
            self._begin(top, token.start())
            self.stack.append(_Frame(_ATTRIBUTE, token.start()))
        elif role == "end":
            if top.kind == _CFG_SELECT:
                top.item, top.attributes = token.end(), []
            elif token.group() == (b"," if top.kind == _FIELDS else b";"):
                self._finish(top, token.end())
        elif role == "arrow" and top.kind == _CFG_SELECT:
            top.attributes = [self._text(top.item, token.start()).strip()]
        elif role == "macro" and not top.word:
            self._begin(top, token.start())
            top.calls = token.group("macro").decode("utf-8", "replace")
        elif role == "word" and not top.word:
            self._begin(top, token.start())
            top.word = token.group().decode()

    def _opened(self, top: _Frame, start: int, is_block: bool) -> _Frame:
        if top.kind == _ITEMS and top.calls:
            kind = _HOLDS.get(top.calls, _BRANCHES.get(top.calls, _ITEMS))
            frame = _Frame(kind, start, macro=top.calls, condition=self._of_macro(top.calls) if kind == _ITEMS else "")
            frame.item = start + 1 if kind == _CFG_SELECT else -1
            return frame
        if top.kind == _ITEMS and is_block:
            return _Frame(_HOLDS.get(top.word, _ITEMS), start)
        if top.kind == _CFG_IF and is_block:
            return self._branch(top, start, _conditions(top.attributes))
        if top.kind == _CFG_SELECT and is_block and top.attributes:
            written = top.attributes[0]
            return self._branch(top, start, "" if written == "_" else predicate(written))
        return _Frame(_OTHER, start)

    def _branch(self, top: _Frame, start: int, own: str) -> _Frame:
        if not own and not top.earlier:
            return _Frame(_ITEMS, start)  # without a condition it is no branch
        frame = _Frame(_ITEMS, start, condition=chain(top.earlier, own))
        top.earlier.append(own)
        return frame

    def _of_macro(self, name: str) -> str:
        return self.known.get(name, UNKNOWN.format(name) if _NAMED_AS_WRAPPER.match(name) else "")

    def close(self, end: int) -> None:
        frame = self.stack.pop()
        if frame.kind in (_ITEMS, _FIELDS):
            self._finish(frame, end - 1)
        if frame.condition:
            self.found.append(Range(frame.start, end, frame.condition))
        top, is_block = self.stack[-1], self.source[end - 1 : end] == b"}"
        if frame.kind == _ATTRIBUTE:
            text = self._text(frame.start, end)
            if not text.startswith("#!"):
                top.attributes.append(text)
            elif condition := (handed(text) if top.macro else _conditions([text])):
                # The predicate that a macro is handed takes the place of what its definition says.
                top.condition = condition if top.macro else join([top.condition, condition]) or ""
        elif top.kind in (_CFG_IF, _CFG_SELECT) and is_block:
            top.attributes, top.item = [], end
        elif top.kind == _ITEMS and is_block and top.word != "use":
            self._finish(top, end)

    def _begin(self, frame: _Frame, start: int) -> None:
        if frame.item < 0:
            frame.item = start

    def _finish(self, frame: _Frame, end: int) -> None:
        """An item ends."""
        if condition := _conditions(frame.attributes):
            self.found.append(Range(frame.item, end, condition))
        if frame.word == "mod" and _MODULE.search(self._text(frame.item, end)):
            self._modules.append((frame.item, end, frame.attributes))
        frame.item, frame.attributes, frame.word, frame.calls = -1, [], "", ""

    def _text(self, start: int, end: int) -> str:
        return self.source[start:end].decode("utf-8", "replace")


def _conditions(attributes: list[str]) -> str:
    return join(condition for text in attributes for condition in cfg(text)) or ""


def module_note(attributes: list[str]) -> str:
    """The note on a module in a file of its own: `external`, and a `path=` for each place that the file may be in.

    Args:
        attributes: Those of the `mod`, each from its `#[` to its `]`.
    """
    places = (f"path={quote(path)}?{quote(condition)}" for path, condition in paths(attributes))
    return " ".join(("external", *places))


def macro_note(text: str) -> str:
    """The note on a macro, from the text of its definition: `when=` and the condition that it puts before the items it
    is given; "" if it does something else with them."""
    condition = wrapped(text)
    return "" if condition is None else f"when={quote(condition)}"


def wrapped(text: str) -> str | None:
    """The condition that a macro puts before the items it is given; None if it does something else."""
    if len(text) > _MAX_WRAPPER or not (head := _WRAPPER.match(_COMMENT.sub("", text))):
        return None
    attributes = _ATTRIBUTE_TEXT.findall(head.group(2))
    rest = "".join(_ATTRIBUTE_TEXT.sub("", head.group(2)).split())
    if not rest and not attributes:
        return "0"  # it drops the items; another definition of the macro, under the opposite condition, keeps them
    given = rf"\$\(\${head.group(1)}\)[*+]"
    match = re.fullmatch(rf"{given}|(\w+)!\{{{given}\}};?", rest)  # they may go on to another macro
    if match is None or "$" in "".join(attributes):
        return None
    return join([_conditions(attributes), UNKNOWN.format(match.group(1)) if match.group(1) else ""]) or ""
