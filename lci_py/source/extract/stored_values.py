"""Extracts the functions that a file stores in fields, variables and tables, and passes as arguments.

It reads languages whose queries capture such values (`@stored`). A table is a single slot, whatever its keys. An
anonymous function that only calls one function counts as that function: `x -> f(x)` as `f`.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from lci_py.source.extract.expressions import parse
from lci_py.source.extract.type_hints import outline
from lci_py.source.text.language_tables import has_rule, table_of, words_of
from lci_py.source.text.patterns import lazily
from lci_py.types.expressions import ATTR, CAST, ITEM, LAST, NAME, PARAMETER, PARAMETERS, Expr, Step
from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS
from lci_py.types.source import ARGUMENT, FIELD, LAST_ARGUMENT, LOCAL, PASSED, VARIABLE, StoredFunction

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

    from lci_py.source.syntax.captures import Captures, Finder
    from lci_py.types.source import Call, Symbol

#: Of a table, so many nodes are read, and so deep.
_MOST_NODES, _DEEPEST = 2_000, 6
#: Bytes of a function in which its parameters stand.
_HEAD = 300

_LAST = lazily(r"(\w+)(?:[\[<{].*)?\Z")
_PARTS = lazily(r"(.*?)(?:\?\.|!!\.|\.|->|::|:)?([@$]*\w+)\Z")
_ITEMS = lazily(r"(?:\[\]|!!|!|\?)+\Z")
_NAME = lazily(r"[@$]*[^\W\d]\w*")
_CHAIN = lazily(r"(?:::|&)?[@$]*[^\W\d]\w*(?:(?:\.|::|->|:|\(\)|\[\]|\?)+[^\W\d]\w*)*")
# A name alone as an argument, and one that a variable or field is given.
_ARGUMENT = lazily(rb"[(,:]\s*([A-Za-z_](?:[\w.:]*\w)?)\s*(?=[,)])")
_ASSIGNED = lazily(rb"=\s*([A-Za-z_](?:[\w.]*\w)?)\s*(?=[;,}])")
_GIVEN = lazily(rb"\s*\+?=\s*([A-Za-z_]\w*)\s*(?=[;,}])")
_METHOD = lazily(r":(\w+[?!=]?)")

_LAMBDAS = frozenset({
    "lambda_expression", "lambda_literal", "anonymous_function", "anonymous_method_expression", "func_literal",
    "closure_expression", "arrow_function", "function_definition", "lambda",
})  # fmt: skip
_NAMES = frozenset({
    "identifier", "simple_identifier", "selector_expression", "scoped_identifier", "member_access_expression",
    "dot_index_expression", "method_reference", "callable_reference", "navigation_expression",
})  # fmt: skip
_CALLS = frozenset({
    "call_expression", "method_invocation", "invocation_expression", "call", "function_call", "member_call_expression",
    "function_call_expression", "scoped_call_expression", "object_creation_expression",
    "implicit_object_creation_expression", "infix_expression",
})  # fmt: skip
#: Nodes whose parts are looked at: containers, what stands in them, and what stands around a value.
_CONTAINERS = frozenset({
    "array_initializer", "initializer_expression", "collection_expression", "expression_element", "literal_value",
    "literal_element", "composite_literal", "array_expression", "tuple_expression", "reference_expression",
    "array_creation_expression", "array", "hash", "table_constructor", "parenthesized_expression", "collection_literal",
    "argument", "value_argument", "conditional_expression", "ternary_expression", "argument_list", "value_arguments",
    "arguments", "array_element_initializer", "annotated_lambda", "unary_expression", "expression_list",
    "implicit_array_creation_expression",
})  # fmt: skip
#: Those of which the last part is the value.
_PAIRS = frozenset({"keyed_element", "pair", "field", "assignment_expression", "block_argument", "element_initializer"})
#: What wraps a value that is its first part.
_WRAPPERS = frozenset({"type_cast_expression", "as_expression", "await_expression"})
#: Calls that make a container of their arguments, or that hand on the one they take.
_MAKERS = frozenset(
    """of ofEntries entry asList singletonList unmodifiableMap unmodifiableList mapOf listOf setOf mutableMapOf
    mutableListOf arrayOf hashMapOf linkedMapOf arrayListOf to new from Some Arc Rc Box freeze tap""".split()
)
_BLOCKS = frozenset({
    "block", "statement_block", "compound_statement", "body_statement", "block_body", "do_block", "statement_list",
    "expression_statement", "return_statement", "expression_list", "statements", "function_body",
    "parenthesized_expression",
})  # fmt: skip
_OWN = frozenset({"this", "self", "$this"})
_PARAMETERS = (
    "formal_parameters", "function_value_parameters", "class_parameters", "parameter_list", "parameters",
    "method_parameters", "primary_constructor",
)  # fmt: skip


def stored_values(
    language: str, captured: Captures, finder: Finder, symbols: list[Symbol], nodes: Sequence[Node],
    calls: Sequence[Call], root: Node,
) -> list[StoredFunction]:  # fmt: skip
    """The functions that a file stores.

    Values are expressions (which may turn out to be no functions), or parameters of the enclosing function.

    Args:
        nodes: The node of each symbol.
        root: The root of the syntax tree.
    """
    if not captured.stored and not has_rule(language, "captured_stores"):
        return []
    return list(dict.fromkeys(_Reader(language, captured, finder, symbols, nodes, calls).read(root)))


class _Reader:
    def __init__(
        self, language: str, captured: Captures, finder: Finder, symbols: list[Symbol], nodes: Sequence[Node],
        calls: Sequence[Call],
    ) -> None:  # fmt: skip
        self._language = language
        self._calling = words_of(language, "calling")
        self._captured = captured
        self._finder = finder
        self._symbols = symbols
        self._nodes = nodes
        self._calls = calls
        self._places: dict[int, dict[str, Expr]] = {}  # of functions: name of a parameter to that as a value
        self._fields: dict[str, list[str]] = {}  # of structs

    def _rule(self, name: str) -> bool:
        return has_rule(self._language, name)

    def read(self, root: Node) -> Iterator[StoredFunction]:
        called = {call.name.removesuffix("[]") for call in self._calls}
        if self._rule("callable_texts"):
            called = {name.lstrip("$") for name in called}
        called.update(_last_part(call.receiver) for call in self._calls if call.name in self._calling)
        for captures in self._captured.stored:
            if "stored.into" in captures:
                yield from self._into(captures, called)
            elif "stored.arguments" in captures:
                yield from self._passed_functions(captures)
            elif "stored.record" in captures:
                yield from self._by_place(captures)
            elif "stored.promoted" in captures:
                yield from self._promoted_parameters(captures["stored.promoted"][0], called)
            else:
                yield from self._captured_value(captures)
        if self._rule("function_names"):
            yield from self._named_arguments(root)
        if self._rule("delegates"):
            yield from self._assignments(root, called)
        yield from self._parameters()

    def _named_arguments(self, root: Node) -> Iterator[StoredFunction]:
        """The arguments that are names of functions of the file. Found by text, since few arguments are."""
        functions, source = self._of_file, self._captured.source
        names = set(_ARGUMENT.findall(source)) if functions else set()
        own_names = {name for name in names if name.rpartition(b".")[2].rpartition(b":")[2] in functions}
        for match in _ARGUMENT.finditer(source) if own_names else ():
            if match.group(1) not in own_names:
                continue
            node = root.named_descendant_for_byte_range(*match.span(1))
            group = node.parent if node is not None and node.type in _NAMES else None
            while group is not None and group.type == "argument":
                group = group.parent
            call = group.parent if group is not None and group.type in ("argument_list", "arguments") else None
            callee = call.child_by_field_name("function") if call is not None else None
            if call is not None and callee is None:
                callee = call.child_by_field_name("name") or call.child_by_field_name("type")
            if node is not None and group is not None and callee is not None:
                yield from self._as_argument(node, group, outline(self._captured, callee))

    def _assignments(self, root: Node, called: set[str]) -> Iterator[StoredFunction]:
        """What C# code assigns: functions of the file, and any values of fields or variables that are called."""
        functions, source = self._of_file, self._captured.source
        spans: list[tuple[int, int]] = []
        names = set(_ASSIGNED.findall(source)) if functions else set()
        own_names = {name for name in names if name.rpartition(b".")[2] in functions}
        if own_names:
            spans += [match.span(1) for match in _ASSIGNED.finditer(source) if match.group(1) in own_names]
        holders = {call.name.removesuffix("[]") for call in self._calls if not call.receiver}
        holders |= {_last_part(call.receiver) for call in self._calls if call.receiver and call.name in self._calling}
        for name in sorted(holders - {""}):
            encoded = name.encode()
            at = source.find(encoded) if encoded not in functions else -1
            while at >= 0:
                match = _GIVEN.match(source, at + len(encoded))
                if match is not None:
                    spans.append(match.span(1))
                at = source.find(encoded, at + len(encoded))
        for span in spans:
            node = root.named_descendant_for_byte_range(*span)
            parent = node.parent if node is not None and node.type in _NAMES else None
            into = parent.child_by_field_name("left") if parent is not None else None
            declared = parent is not None and parent.type in ("variable_declarator", "property_declaration")
            if parent is not None and declared:
                into = parent.child_by_field_name("name")
            if node is not None and into is not None:
                yield from self._given_values(into, node, called, declared=declared)

    def _enclosing_function(self, node: Node) -> int:
        return self._finder.caller(node.start_byte, self._symbols, of_variables=False)

    # --- slots ----------------------------------------------------------------------------------------------------

    def _captured_value(self, captures: dict[str, list[Node]]) -> Iterator[StoredFunction]:
        """The values of a match in which the query also captures the slot."""
        captured = self._captured
        field, owner, of = captures.get("stored.field"), captures.get("stored.owner"), captures.get("stored.object")
        method = captures.get("stored.method")
        for node in captures.get("stored.value") or method or ():
            scope = self._enclosing_function(node)
            values = [value for _, value in self._values(node, scope)]
            if method:  # the name of a method, of an object or of one's own
                of_method = parse("self" if node is method[0] else outline(captured, node))
                values = [(*of_method, Step(ATTR, captured.text(method[0]).lstrip(":")))] if of_method else []
            for value in values:
                if field and "stored.variable" in captures:  # an entry of a table
                    name = captured.text(captures["stored.variable"][0])
                    yield StoredFunction(VARIABLE, f"{name}.{captured.text(field[0])}", "", value, scope)
                elif field and owner:
                    type_ = outline(captured, owner[0])
                    last = _LAST.search(type_)
                    if last is not None:
                        type_of = (Step(CAST, type_),)
                        yield StoredFunction(
                            FIELD, last.group(1), captured.text(field[0]), value, scope, holder=type_of
                        )
                elif field:
                    own = outline(captured, of[0]) if of else "this"
                    yield self._of_object(own, captured.text(field[0]), value, scope)
                else:
                    name = captured.text(captures["stored.variable"][0])
                    whole = captures["stored"][0].type
                    yield from self._of_variable(name, value, scope, assigned="assignment" in whole)

    def _by_place(self, captures: dict[str, list[Node]]) -> Iterator[StoredFunction]:
        """The values in a struct literal without field names, if the file declares the struct."""
        record = self._captured.text(captures["stored.record"][0])
        index = next((i for i, item in enumerate(self._symbols) if item.name == record and item.kind == "struct"), -1)
        if index < 0:
            return
        if record not in self._fields:
            fields: list[str] = []
            for node in _nodes_inside(self._nodes[index], "field_declaration"):
                fields += [self._captured.text(name) for name in node.children_by_field_name("name")] or [""]
            self._fields[record] = fields
        for values in captures["stored.places"]:
            scope = self._enclosing_function(values)
            elements = [child for child in values.named_children if child.type == "literal_element"]
            for name, element in zip(self._fields[record], elements, strict=False):
                for _, value in self._values(element, scope) if name else ():
                    yield StoredFunction(FIELD, record, name, value, scope, holder=(Step(CAST, record),))

    def _promoted_parameters(self, node: Node, called: set[str]) -> Iterator[StoredFunction]:
        """The constructor parameter at `node`, which is also a field, if the field is called."""
        name = self._captured.text(node).lstrip("$")
        scope = self._enclosing_function(node)
        value = self._parameter(name, scope) if name in called else ()
        if value:
            yield self._of_object("this", name, value, scope)

    def _into(self, captures: dict[str, list[Node]], called: set[str]) -> Iterator[StoredFunction]:
        """The values that are assigned to an expression, such as a field."""
        target, tree = captures["stored.into"][0], captures["stored.tree"][0]
        yield from self._given_values(target, tree, called, declared="stored.declared" in captures)

    def _given_values(self, target: Node, tree: Node, called: set[str], *, declared: bool) -> Iterator[StoredFunction]:
        scope = self._enclosing_function(target)
        text = _ITEMS.sub("", outline(self._captured, target))
        parts = _PARTS.fullmatch(text)
        if parts is None:
            return
        before, name = parts.groups()
        for field, value in self._values(tree, scope):
            if name.lstrip("@$") not in called and (
                value[-1].kind in PARAMETERS or (self._rule("delegates") and not self._is_local(value))
            ):
                continue
            if before:
                if self._rule("function_tables"):
                    yield StoredFunction(VARIABLE, f"{text}{field and '.'}{field}", "", value, scope)
                    if field:
                        yield StoredFunction(VARIABLE, text, "", value, scope)
                    continue
                yield self._of_object(before, name, value, scope)
                continue
            if self._rule("function_tables") and field:
                yield StoredFunction(VARIABLE, f"{name}.{field}", "", value, scope)
            kind = self._symbols[scope].kind if scope >= 0 else ""
            if name[:1] == "@" or (declared and kind in TYPE_KINDS):
                yield self._of_object("this", name, value, scope)
                continue
            yield from self._of_variable(name.lstrip("$"), value, scope, assigned=not declared)
            if not declared and self._rule("bare_fields"):
                yield self._of_object("this", name, value, scope)

    @cached_property
    def _of_file(self) -> set[bytes]:
        """The names of the functions of the file."""
        return {symbol.name.encode() for symbol in self._symbols if symbol.kind in ("function", "method")}

    def _is_local(self, value: Expr) -> bool:
        """Whether an expression may name a function of the file."""
        plain = [step for step in value if step.kind != ITEM]
        return plain[-1].kind in (NAME, ATTR) and plain[-1].name.lstrip("@$:").encode() in self._of_file

    def _of_object(self, of: str, name: str, value: Expr, scope: int) -> StoredFunction:
        """A value in a field of the object `of`. A field of `self` gets the enclosing class as its owner."""
        owner = ""
        if of in _OWN or (self._rule("named_receivers") and of == self._receiver(scope)):
            index = scope
            while index >= 0 and self._symbols[index].kind not in TYPE_KINDS:
                if self._symbols[index].kind in ("method", "constructor") and self._symbols[index].parent < 0:
                    owner = self._symbols[index].scope.rpartition(".")[2]
                index = self._symbols[index].parent
            owner = self._symbols[index].name if index >= 0 else owner
            of = "self" if self._rule("blocks") else of
        return StoredFunction(FIELD, owner, name, value, scope, holder=parse(of))

    def _receiver(self, scope: int) -> str:
        """The name of the receiver of a Go method; "" for other functions."""
        node = self._nodes[scope].child_by_field_name("receiver") if scope >= 0 else None
        first = node.named_children[0].child_by_field_name("name") if node is not None and node.named_children else None
        return self._captured.text(first) if first is not None else ""

    def _of_variable(self, name: str, value: Expr, scope: int, *, assigned: bool) -> Iterator[StoredFunction]:
        if scope >= 0 and self._symbols[scope].kind in FUNCTION_KINDS:
            yield StoredFunction(LOCAL, name, "", value, scope)
        elif scope >= 0 and self._symbols[scope].kind in TYPE_KINDS:
            yield self._of_object("this", name, value, scope)
            return
        if scope < 0 or assigned or self._symbols[scope].kind not in FUNCTION_KINDS:
            yield StoredFunction(VARIABLE, name, "", value, scope)

    # --- values ---------------------------------------------------------------------------------------------------

    def _values(self, tree: Node, scope: int) -> Iterator[tuple[str, Expr]]:
        """The functions in an expression, each as (its key in a table or "", the function)."""
        pending: list[tuple[Node, int, str]] = [(tree, 0, "")]
        for count, (node, depth, key) in enumerate(pending):
            kind = node.type
            if count > _MOST_NODES or depth > _DEEPEST:
                return
            value: Expr = ()
            if kind in _LAMBDAS:
                value = parse(self._called_in(node))
            elif kind == "variable_name":
                value = self._parameter(self._captured.text(node).lstrip("$"), scope)
            elif kind in _NAMES:
                value = self._named_value(node, scope)
            elif kind in _CALLS:
                value = parse(self._reference(node))
            elif kind == "array_creation_expression":
                value = parse(self._php_method(node))
            if value:
                yield key, value
            elif kind in _CALLS:
                pending += ((child, depth + 1, key) for child in self._made_of(node))
            elif kind in _PAIRS:
                children = node.named_children
                if kind == "field" and len(children) == 2:
                    key = self._captured.text(children[0]).strip("\"'[]")
                if children:
                    pending.append((children[-1], depth + 1, key))
            elif kind in _WRAPPERS:
                if node.named_children:
                    pending.append((node.named_children[0], depth + 1, key))
            elif kind in _CONTAINERS:
                pending += ((child, depth + 1, key) for child in node.named_children if _may_hold(child))

    def _named_value(self, node: Node, scope: int) -> Expr:
        """The value that a name, or a reference to a function, stands for; () for other expressions."""
        text = outline(self._captured, node)
        reference = "::" in text if not self._rule("crates") else True
        if not _CHAIN.fullmatch(text):
            return ()
        if self._rule("bound_references") and text.startswith("::"):
            return parse(text[2:])
        if _NAME.fullmatch(text):
            parameter = self._parameter(text.lstrip("$"), scope)
            if parameter:
                return parameter
        return parse(text) if reference or self._rule("function_names") else ()

    def _php_method(self, node: Node) -> str:
        """The method in PHP's `[$this, 'm']`, as `$this.m`; "" for other arrays."""
        children = [child.named_children[-1] for child in node.named_children if child.named_child_count == 1]
        if len(children) != 2 or children[0].type not in ("variable_name", "class_constant_access_expression"):
            return ""
        if children[1].type != "string" or not children[1].named_child_count:
            return ""
        of = self._captured.text(children[0]).removesuffix("::class")
        return f"{of}.{self._captured.text(children[1].named_children[0])}"

    def _reference(self, node: Node) -> str:
        """The function that a call returns: `method(:m)`, `$this->m(...)`, `lambda { }`; "" for other calls."""
        if self._rule("blocks"):
            name = node.child_by_field_name("method")
            text = self._captured.text(name) if name is not None else ""
            if text in ("lambda", "proc"):
                block = node.child_by_field_name("block")
                return self._called_in(block) if block is not None else ""
            arguments = node.child_by_field_name("arguments")
            of = node.child_by_field_name("receiver")
            if text == "method" and arguments is not None:
                method = _METHOD.match(self._captured.text(arguments).strip("()"))
                if method is not None:
                    return f"{outline(self._captured, of)}.{method.group(1)}" if of is not None else method.group(1)
        elif self._rule("callable_texts"):
            arguments = node.child_by_field_name("arguments")
            if arguments is not None and self._captured.text(arguments) == "(...)":
                return outline(self._captured, node).removesuffix("()")
        return ""

    def _made_of(self, node: Node) -> list[Node]:
        """The arguments of a call that constructs a container; [] for other calls."""
        kind = node.type
        if kind == "infix_expression":
            children = node.named_children
            return children[-1:] if len(children) == 3 and self._captured.text(children[1]) == "to" else []
        if kind in ("object_creation_expression", "implicit_object_creation_expression"):
            return node.named_children
        name = node.child_by_field_name("method") or node.child_by_field_name("name")
        name = name or node.child_by_field_name("function") or (node.named_children[0] if node.named_children else None)
        if name is None or _last_part(self._captured.text(name)) not in _MAKERS:
            return []
        receiver = node.child_by_field_name("receiver") or node.child_by_field_name("object")
        rest = [child for child in node.named_children if child.id != name.id]
        return rest if self._rule("blocks") else [item for item in rest if receiver is None or item.id != receiver.id]

    def _called_in(self, node: Node) -> str:
        """The only function that an anonymous function calls; "" if the anonymous function does anything else."""
        body: Node | None = node.child_by_field_name("body")
        if body is None:
            parts = [child for child in node.named_children if "parameter" not in child.type]
            body = parts[0] if len(parts) == 1 else None
        for _ in range(_DEEPEST):
            if body is None or body.type not in _BLOCKS:
                break
            inside = [child for child in body.named_children if "comment" not in child.type]
            body = inside[0] if len(inside) == 1 else None
        if body is None or body.type not in _CALLS or body.type.endswith(("creation_expression", "infix_expression")):
            return ""
        text = outline(self._captured, body)
        if not text.endswith("()"):
            return ""
        text = text[:-2]
        return text if _CHAIN.fullmatch(text) and "()" not in text else ""

    # --- parameters -----------------------------------------------------------------------------------------------

    def _parameter(self, name: str, scope: int) -> Expr:
        """The value for a parameter of a function, or of a class whose head lists parameters; () for other names."""
        if scope < 0:
            return ()
        values = self._places.get(scope)
        if values is None:
            values = self._places[scope] = self._parameter_values(scope)
        return values.get(name, ())

    def _parameter_values(self, scope: int) -> dict[str, Expr]:
        symbol, node = self._symbols[scope], self._nodes[scope]
        if symbol.kind not in FUNCTION_KINDS and symbol.kind not in TYPE_KINDS:
            return {}
        group = node.child_by_field_name("parameters")
        if group is None:
            group = next((child for child in node.named_children if child.type in _PARAMETERS), None)
        if group is not None and group.type == "primary_constructor":
            group = next((child for child in group.named_children if child.type in _PARAMETERS), None)
        names: list[str] = []
        for child in group.named_children if group is not None else ():
            kind = child.type
            if "comment" in kind or kind in ("self_parameter", "block_parameter", "modifiers"):
                continue
            if kind == "parameter_modifiers":
                continue
            name_nodes = child.children_by_field_name("name") or child.children_by_field_name("pattern")
            if not name_nodes and kind == "identifier":
                name_nodes = [child]
            if not name_nodes:
                name_nodes = [part for part in child.named_children if part.type == "identifier"][:1]
            names += (self._captured.text(name_node).lstrip("$") for name_node in name_nodes) if name_nodes else ("",)
        kinds = [PARAMETER] * (len(names) - 1) + [LAST]
        return {name: (Step(NAME, name), Step(kinds[at], str(at))) for at, name in enumerate(names)}

    def _parameters(self) -> Iterator[StoredFunction]:
        """Facts about the parameters that are called: their positions."""
        only_receivers, source = self._rule("receivers_only"), self._captured.source
        pairs = {
            (call.receiver or call.name.removesuffix("[]"), call.caller) for call in self._calls
            if call.caller >= 0 and (call.name in self._calling if call.receiver else not only_receivers)
        }  # fmt: skip
        for text, caller in sorted(pairs):
            name = text.lstrip("$")
            node = self._nodes[caller]
            body = node.child_by_field_name("body")
            end = body.start_byte if body is not None else node.start_byte + _HEAD
            if source.find(name.encode(), node.start_byte, end) >= 0 and name.isidentifier():
                parameter = self._parameter(name, caller)
                if parameter:
                    yield StoredFunction(LOCAL, name, "", parameter, caller)

    def _passed_functions(self, captures: dict[str, list[Node]]) -> Iterator[StoredFunction]:
        """The function that a match captures as an argument of a call."""
        of, name = captures.get("stored.object"), self._captured.text(captures["stored.callee"][0])
        callee = f"{outline(self._captured, of[0])}.{name}" if of else name
        return self._as_argument(captures["stored.passed"][0], captures["stored.arguments"][0], callee)

    def _as_argument(self, node: Node, group: Node, callee: str) -> Iterator[StoredFunction]:
        scope, kind = self._enclosing_function(node), ARGUMENT
        name = _last_part(callee)
        target = callee.removesuffix(f".{name}") if name == table_of(self._language).get("maker") else callee
        values = [value for _, value in self._values(node, scope)]
        if not values and self._rule("passed_objects"):
            values, kind = [parse(outline(self._captured, node))], PASSED
        for value in values:
            if not self._rule("function_names") or value[-1].kind in PARAMETERS or self._is_local(value):
                yield StoredFunction(
                    kind, _last_part(target), self._argument_position(node, group), value, scope, holder=parse(target)
                )

    def _argument_position(self, node: Node, group: Node) -> str:
        """The position of an argument in the argument list `group`; the name of a named argument."""
        if node.start_byte >= group.end_byte or (group.end_byte == node.end_byte and group.type == "annotated_lambda"):
            return LAST_ARGUMENT
        index = 0
        for child in group.named_children:
            if "comment" in child.type:
                continue
            if child.start_byte <= node.start_byte < child.end_byte:
                break
            index += 1
        if child.type == "pair":
            return self._captured.text(child.named_children[0]).rstrip(":").lstrip(":")
        first = child.named_children[0] if child.named_child_count > 1 else None
        if first is not None and any(part.type in ("=", ":") for part in child.children):
            return self._captured.text(first)
        return str(index)


def _nodes_inside(node: Node, kind: str) -> Iterator[Node]:
    """The nodes of a kind at most four levels below a node."""
    pending = [(node, 0)]
    for current, depth in pending:
        if current.type == kind:
            yield current
        elif depth < 4:
            pending += ((child, depth + 1) for child in current.named_children)


def _may_hold(node: Node) -> bool:
    return (
        "literal" not in node.type
        or node.type in _LAMBDAS
        or node.type in _CONTAINERS
        or node.type == "composite_literal"
    )


def _last_part(text: str) -> str:
    match = _PARTS.fullmatch(_ITEMS.sub("", text.strip()))
    return match.group(2).lstrip("@$") if match is not None else ""
