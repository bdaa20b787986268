"""Lowers variables, objects and imports of JavaScript to constraints: the base class of the lowering."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.dataflow.constraints import (
    CLASS,
    EXPORT,
    IMPORT,
    ITEM,
    NEW,
    PLAIN,
    REST,
    SELF,
    STORE,
    THIS,
    FlowBuilder,
)
from lci_py.types.record import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tree_sitter import Node

    from lci_py.source.dataflow.constraints import Scope
    from lci_py.types.source import Import

FUNCTIONS = frozenset({"function_expression", "arrow_function", "generator_function"})
CLASSES = frozenset({"class", "class_declaration", "abstract_class_declaration"})
_PATTERNS = frozenset({"array_pattern", "object_pattern"})
_NAME = re.compile(r"[A-Za-z_$#][\w$]*")
_SYMBOL = re.compile(r"Symbol\.\w+")
#: Names that programs give to symbols, which another file makes: `this[kHeaders]`, `child[parentSym]`.
_SYMBOL_NAME = re.compile(r"k[A-Z]\w*|sym[A-Z]\w*|\w+Sym(?:bol)?")


@dataclass(eq=False, slots=True)
class Frame:
    """The owner of `this` and `arguments`: a function that is no arrow function, or the initialisers of a class.

    Attributes:
        function: Index of the function, -1 for the initialisers of a class.
        owner: Index of the class that the function is a member of, or -1.
        static: Whether `this` is the class itself.
        holder: Node of the object that the function is a property of, or 0.
        node: Node of `this`; 0 until it is needed.
        listed: Node of `arguments`; 0 until it is needed.
    """

    function: int
    owner: int
    static: bool
    holder: int
    node: int = 0
    listed: int = 0


class Lowering:
    """Keeps the state of a walk through a syntax tree: scopes, `this`, and what names and patterns mean."""

    def __init__(self, source: bytes, places: Mapping[int, int], imports: Sequence[Import]) -> None:
        """Start a walk; `places` maps the first byte of each definition's name to its symbol index."""
        self.flow = FlowBuilder()
        self._source = source
        self._places = places
        # Module and name alone decide which file an import means.
        self._imports = {(item.module, item.name): index for index, item in enumerate(imports)}
        self._scope: Scope = self.flow.module
        self._variables: Scope = self.flow.module  # where `var` binds
        self._function = -1
        self._symbol = -1
        self._frame: Frame | None = None
        self._exports = 0
        self._written: list[tuple[Scope, str]] = []
        self._constants: dict[tuple[int, str], str] = {}  # (scope, name) -> the string or number it always is
        self._handlers: dict[str, Callable[[Node], int]] = {}
        # If a variable is assigned several times, code in between sees only the latest value.
        self._latest: dict[str, int] = {}  # variable of the function around -> node of its latest value
        self._versions: list[tuple[Scope, str, int]] = []
        self._branches = 0  # how many statements around, in the function, may not run or run again
        self._fixed = False  # what is bound now is never assigned again
        self._has_getters = b"get " in source

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _value(self, node: Node | None) -> int:
        """Walk an expression or statement; returns the node of its value, 0 if it is no function, class or object."""
        if node is None:
            return 0
        handler = self._handlers.get(node.type)
        if handler is not None:
            return handler(node)
        for child in node.named_children:
            self._value(child)
        return 0

    def _first(self, node: Node) -> int:
        """Walk the first child of a node, such as the expression in brackets; returns the node of its value."""
        for child in node.named_children:
            if child.type != "comment":
                return self._value(child)
        return 0

    def _direct(self, node: Node | None, target: Node | None = None, holder: int = 0) -> int:
        """The node of the value of an expression that is directly assigned to a name.

        Args:
            target: The assigned name; a function or class without a name of its own defines it.
            holder: Node of the object of which the value becomes a property.
        """
        if node is not None and node.type in FUNCTIONS:
            return self._make_function(node, target, holder=holder)
        if node is not None and node.type in CLASSES:
            return self._make_class(node, target)
        return self._value(node)

    def _make_function(self, node: Node, target: Node | None, holder: int = 0) -> int:
        raise NotImplementedError

    def _make_class(self, node: Node, target: Node | None, outside: Sequence[Node] = ()) -> int:
        raise NotImplementedError

    def _place(self, *names: Node | None) -> int:
        """The index of the symbol that one of these name nodes defines; -1 if they define no symbol."""
        for name in names:
            if name is not None:
                symbol = self._places.get(name.start_byte + (name.type == "string"), -1)
                if symbol >= 0:
                    return symbol
        return -1

    # --- names ----------------------------------------------------------------------------------------------------

    def _this(self) -> int:
        """The node of `this`: the receiver of the enclosing function; at the top of a CommonJS module, its exports."""
        frame = self._frame
        if frame is None:
            return self._exports
        if not frame.node:
            frame.node = self.flow.node()
            if frame.function >= 0:
                self.flow.parameter(frame.function, frame.node, "this", THIS)
            if frame.owner >= 0:
                self.flow.row(CLASS if frame.static else SELF, frame.node, frame.owner)
            self.flow.copy(frame.node, frame.holder)
        return frame.node

    def _identifier(self, node: Node) -> int:
        text = self._text(node)
        value = self._latest.get(text) if not self._branches and self._scope is self._variables else None
        if value is None:
            value = self._scope.names.get(text)
        if value is not None:
            return value
        if text == "exports" and not self._is_bound(text):
            return self._exports_node()
        if text == "arguments" and self._frame is not None and self._frame.function >= 0:
            return self._arguments(self._frame)
        return self.flow.use(self._scope, text)

    def _is_bound(self, name: str) -> bool:
        """Whether an enclosing scope has bound a name so far: enough to see if a file redefines `require`."""
        scope: Scope | None = self._scope
        while scope is not None and name not in scope.bound:
            scope = scope.parent
        return scope is not None

    def _arguments(self, frame: Frame) -> int:
        """The node of a function's `arguments`, which holds every parameter at its index, and further arguments."""
        if not frame.listed:
            flow = self.flow
            parameters = [p for p in flow.functions[frame.function].parameters if p.kind != THIS]
            frame.listed = flow.value(NEW)
            for number, parameter in enumerate(parameters):
                self.flow.put(frame.listed, "" if parameter.kind == REST else str(number), parameter.node)
            if not parameters or parameters[-1].kind != REST:
                rest = flow.node()
                flow.parameter(frame.function, rest, "arguments", REST)
                if parameters:
                    self.flow.put(frame.listed, "", flow.value(ITEM, rest, 0))
                else:
                    flow.copy(frame.listed, rest)
        return frame.listed

    def _key(self, node: Node | None) -> str:
        """The constant text of a property's name or of an index; "" if it is computed."""
        if node is None:
            return ""
        if node.type in (
            "property_identifier",
            "private_property_identifier",
            "number",
            "shorthand_property_identifier",
        ):
            return self._text(node)
        if node.type == "string" or (node.type == "template_string" and not node.named_child_count):
            return self._text(node)[1:-1]
        if node.type == "template_string":
            parts = node.named_children
            return self._text(parts[0]) if len(parts) == 1 and parts[0].type == "string_fragment" else ""
        if node.type == "computed_property_name":
            return self._key(node.named_children[0]) if node.named_children else ""
        if node.type == "member_expression":
            text = self._text(node)
            return f"[{text}]" if _SYMBOL.fullmatch(text) else ""
        if node.type == "binary_expression":
            left, right = (self._key(node.child_by_field_name(side)) for side in ("left", "right"))
            plus = node.child_by_field_name("operator")
            return left + right if left and right and plus is not None and plus.type == "+" else ""
        if node.type != "identifier":
            return ""
        text = self._text(node)
        return self._constant(text) or (f"[{text}]" if _SYMBOL_NAME.fullmatch(text) else "")

    def _constant(self, name: str) -> str:
        scope: Scope | None = self._scope
        while scope is not None and name not in scope.bound:
            scope = scope.parent
        return self._constants.get((id(scope), name), "") if scope is not None else ""

    # --- objects --------------------------------------------------------------------------------------------------

    def _get(self, obj: int, key: str) -> int:
        """The node of what an object holds under a key: of a member if the key is a name, else of an item."""
        if not obj:
            return 0
        if key[:1] == "[" or _NAME.fullmatch(key):
            return self.flow.load(obj, key)
        return self.flow.value(ITEM, obj, self.flow.string(key))

    def _store(self, obj: int, key: str, value: int) -> None:
        if not obj or not value:
            return
        if key[:1] == "[" or _NAME.fullmatch(key):
            self.flow.row(STORE, obj, self.flow.string(key), value)
        else:
            self.flow.put(obj, key, value)

    # --- imports --------------------------------------------------------------------------------------------------

    def _import_node(self, module: str, name: str = "") -> int:
        """The node of a name imported from a module (the module itself if ""); 0 if the file has no such import."""
        index = self._imports.get((module, name), -1)
        return self.flow.value(IMPORT, index, 0) if index >= 0 else 0

    def _required_module(self, node: Node | None) -> str | None:
        """The module `m` that `require("m")` or `import("m")` loads; None for other expressions."""
        if node is not None and node.type == "await_expression" and node.named_children:
            node = node.named_children[0]
        if node is None or node.type != "call_expression":
            return None
        callee = node.child_by_field_name("function")
        if callee is None or self._source[callee.start_byte : callee.end_byte] not in (b"require", b"import"):
            return None
        argument_list = node.child_by_field_name("arguments")
        if (
            argument_list is None
            or not argument_list.named_children
            or argument_list.named_children[0].type != "string"
        ):
            return None
        return self._text(argument_list.named_children[0]).strip("\"'` ")

    def _exports_node(self) -> int:
        """The node of the object `module.exports`."""
        if not self._exports:
            self._exports = self.flow.value(NEW, PLAIN)
            self.flow.row(EXPORT, self.flow.string("module.exports"), self._exports)
        return self._exports

    def _is_exports(self, node: Node) -> bool:
        return self._source[node.start_byte : node.end_byte] == b"module.exports" and not self._is_bound("module")

    # --- patterns -------------------------------------------------------------------------------------------------

    def _assign(self, left: Node | None, value: int, scope: Scope | None, right: Node | None = None) -> None:
        """Assign a value to a name, a property, or the names in a pattern (`left`).

        Args:
            value: Node of the value.
            scope: The scope in which this assignment declares the names; None if it declares none.
            right: The right side, which may be an import.
        """
        if left is None:
            return
        kind = left.type
        if kind in ("identifier", "shorthand_property_identifier_pattern"):
            self._assign_name(self._text(left), value, scope)
        elif kind in _PATTERNS:
            module = self._required_module(right)
            if module is not None and kind == "object_pattern":
                self._assign_members(left, value, scope, module)
            elif kind == "object_pattern":
                self._assign_members(left, value, scope)
            else:
                self._assign_items(left, value, scope)
        elif kind == "member_expression":
            name = left.child_by_field_name("property")
            if self._is_exports(left):
                self.flow.copy(self._exports_node(), value)
            elif name is not None:
                self._store(self._value(left.child_by_field_name("object")), self._text(name), value)
        elif kind == "subscript_expression":
            index = left.child_by_field_name("index")
            self._value(index)
            self._store(self._value(left.child_by_field_name("object")), self._key(index), value)
        elif kind in ("assignment_pattern", "object_assignment_pattern"):
            target = left.child_by_field_name("left")
            default = self._direct(left.child_by_field_name("right"), target)
            self._assign(target, self.flow.either(value, default), scope)
        elif left.named_children:  # brackets, `x!`, `x as T`
            self._assign(left.named_children[0], value, scope)

    def _assign_name(self, name: str, value: int, scope: Scope | None) -> None:
        if scope is None and name == "exports" and not self._is_bound(name):
            self.flow.copy(self._exports_node(), value)
            return
        if scope is None:
            self._written.append((self._scope, name))
        self.flow.copy(self.flow.use(self._scope, name) if scope is None else self.flow.bind(scope, name), value)
        if self._branches or self._scope is not self._variables or name not in self._scope.bound:
            self._latest.pop(name, None)
        elif not self._fixed:
            version = self._latest[name] = self.flow.node()
            self.flow.copy(version, value)
            self._versions.append((self._scope, name, version))

    def _settle(self) -> None:
        """Bind each assigned variable to its scope, which is only known at the end of the file."""
        shared: set[tuple[int, str]] = set()
        for scope, name in self._written:
            outer = scope
            while outer.parent is not None and name not in outer.bound:
                outer = outer.parent
            if name not in outer.bound:  # without a declaration a variable is a global one
                self.flow.bind(self.flow.module, name)
            if outer.function != scope.function:
                shared.add((id(outer), name))
        for scope, name, version in self._versions:
            if (id(scope), name) in shared:  # another function may assign it at any time
                self.flow.copy(version, scope.names[name])

    def _assign_members(self, left: Node, value: int, scope: Scope | None, module: str = "") -> None:
        for child in left.named_children:
            name = target = child
            if child.type == "pair_pattern":
                name, target = child.child_by_field_name("key") or child, child.child_by_field_name("value") or child
            elif child.type == "object_assignment_pattern":
                name = child.child_by_field_name("left") or child
            elif child.type == "rest_pattern":
                self._assign(child, value, scope)
                continue
            elif child.type == "comment":
                continue
            if name.type == "computed_property_name":
                self._value(name)
            key = self._text(name) if name.type == "shorthand_property_identifier_pattern" else self._key(name)
            import_node = self._import_node(module, key) if module else 0
            self._assign(target, import_node or self._get(value, key), scope)

    def _assign_items(self, left: Node, value: int, scope: Scope | None) -> None:
        position = 0
        for child in left.children:
            if child.type == ",":
                position += 1  # also in holes: `[, x]`
            elif child.type == "rest_pattern" and value:
                rest = self.flow.value(NEW)
                self.flow.put(rest, "", self.flow.value(ITEM, value, 0))
                self._assign(child, rest, scope)
            elif child.is_named and child.type != "comment":
                item = self.flow.value(ITEM, value, self.flow.string(str(position))) if value else 0
                self._assign(child, item, scope)

    def _pairwise(self, left: Node, right: Node, scope: Scope | None) -> bool:
        """Assign `[a, b] = [x, y]` pairwise. Returns False, and adds nothing, if the two sides do not correspond."""
        targets = [child for child in left.children if child.type not in ("[", "]", "comment")]
        sources = [child for child in right.named_children if child.type != "comment"]
        patterns = [child for child in targets if child.is_named]
        if len(targets) != 2 * len(patterns) - 1 or len(patterns) > len(sources) or not patterns:
            return False
        if any(child.type in ("rest_pattern", "spread_element") for child in (*patterns, *sources)):
            return False
        if any(
            child.type == "," and child.next_sibling is not None and child.next_sibling.type == ","
            for child in right.children
        ):
            return False
        # In `[a, b] = [b, a]`, the whole right side is evaluated before the left side changes.
        nested = [t.type == "array_pattern" and s.type == "array" for t, s in zip(patterns, sources, strict=False)]
        values = [0 if inner else self._direct(source) for inner, source in zip(nested, sources, strict=False)]
        for source in sources[len(patterns) :]:
            self._value(source)
        for target, source, inner, value in zip(patterns, sources, nested, values, strict=False):
            if not inner or not self._pairwise(target, source, scope):
                self._assign(target, self._value(source) if inner else value, scope)
        return True
