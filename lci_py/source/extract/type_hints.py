"""Shortens the texts of receivers, types and values to the parts from which the call graph infers a name's type."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from lci_py.source.dataflow.constraints import LOCAL, MEMBER_OF, TYPE_OF, VALUE_OF, HintNode
from lci_py.source.extract.expressions import parse, parse_cpp
from lci_py.source.syntax.captures import without_colon
from lci_py.source.text.language_tables import has_rule
from lci_py.source.text.patterns import lazily
from lci_py.types.expressions import ATTR, GIVEN, ITEM, PARAMETER, PARAMETERS, Expr, Step, head_name
from lci_py.types.search import CALLABLE, FUNCTION_KINDS, TYPE_KINDS
from lci_py.types.source import ALIAS, ASSIGNED, BOUND, DECLARED, NESTED, RETURN_TYPE, RETURNED, TypeHint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

    from lci_py.source.dataflow.lower import Anonymous
    from lci_py.source.syntax.captures import Captures, Finder
    from lci_py.types.source import Call, Lambda, StoredFunction, Symbol

_READ = 1000  # bytes
_KEPT = 120  # characters
_OPEN, _CLOSE = "([{", ")]}"
_GROUPS = lazily(r"[(\[{]")
_BEFORE = lazily(r"[\w)\]>!?}$]$")
_FIRST = lazily(r"(?:&|\*|\(|new\b|await\b|mut\b|\s)*\$?([^\W\d][\w$]*)")
#: Words that keep the blank after them when blanks are removed: `new Foo`, `await f()`.
_WORDS = lazily(r"\b(new|await|try|mut|dyn|impl|out|in|typeof|const|struct|enum|throws|try|as\??|is)\s+(?=[\w$(&*\[])")
#: What may have to be removed.
_REMOVED = lazily(r"[\s\0(\[{]")
#: Words of `_WORDS` and `_CASTS` before a blank.
_BEFORE_BLANK = lazily(r"\b(?:new|await|try|mut|dyn|impl|out|in|typeof|const|struct|enum|throws|as[?!]?|is)\s")
#: A chain of names of which some are called, with arguments that have no groups and texts in them; and such arguments.
_CHAIN = lazily(r"(?:[^\s\0()\[\]{}\"']*\w\([^()\[\]{}\"']*\))+[^\s\0()\[\]{}\"']*")
_FILLED = lazily(r"\([^()]+\)")
_PARTS = lazily(r"([(\[{)\]}]|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')")
_CASTS = lazily(r"(?<!\s)\s+(as[?!]?|is)\s+(?=[\w$(])")
_SPACE = lazily(r"\s+")
#: An annotation in a type: `Connection.@Nullable Response`.
_ANNOTATION = lazily(r"@[\w.]+\s+")
#: The beginning of Java's `? extends T`.
_WILDCARD = lazily(r"\?\s*(?:extends|super)\s+")
#: What may stand between the type of a function's result and its name; bytes before a name that may belong to it.
_POINTED_TO = lazily(rb"(?:\s|const\b|[*&])*")
_NEAR = 80
#: In tests of types: what is tested, and the type.
_NAMES = frozenset({"identifier", "member_expression"})
_ASSIGNMENTS = frozenset(
    {"assignment", "operator_assignment", "assignment_expression", "augmented_assignment_expression"}
)
_COMMENTS = frozenset({"line_comment", "block_comment"})
_BLOCKS = frozenset({"block", "indented_block", "body_statement", "do_block"})
#: Nodes around the name of a parameter.
_OPTIONAL = frozenset({"optional_parameter", "keyword_parameter"})
#: The capture of a value that counts only if the name is declared in the same scope.
_REASSIGNED = "typed.assigned"
#: Per role of `HintNode`, the kinds of symbols that a name can belong to.
_SCOPES = (CALLABLE, TYPE_KINDS, FUNCTION_KINDS)
#: A type that C++ takes from the value.
_DEDUCED = lazily(r"(?:auto|decltype)\b")
#: The captures with types and with values, in the order in which they count.
_TYPES, _VALUES = (
    ("typed.type", "typed.return"),
    ("typed.value", "typed.result", "typed.each", "typed.called", _REASSIGNED),
)
#: Captures other than names that may have the types of a match.
_OTHERS = ("typed.alias", "typed.return", "typed.result", "typed.member")


def outline(captured: Captures, node: Node) -> str:
    """The short form of an expression, at most 120 characters, without blanks and arguments: `a.f(x, y).g[1]` becomes
    `a.f().g[]`. At most 1,000 bytes are read: in a chain of calls, each receiver contains all the calls before it.
    """
    start = node.start_byte
    return shorten(captured.source[start : min(node.end_byte, start + _READ)].decode("utf-8", "replace"))


@lru_cache(maxsize=4096)
def shorten(text: str) -> str:
    """The short form of an expression that is given as text, as `outline` returns it."""
    if not _REMOVED.search(text):
        return text[:_KEPT]
    if _CHAIN.fullmatch(text):
        return _FILLED.sub("()", text)[:_KEPT]
    if not _BEFORE_BLANK.search(text):
        text = "".join(text.split())
    else:
        text = _SPACE.sub("", _WORDS.sub(r"\1" "\0", _CASTS.sub("\0" r"\1" "\0", text)))
    text = text.replace("\0", " ")
    if _GROUPS.search(text):
        text = _without_arguments(text)
    return text[:_KEPT]


def _without_arguments(text: str) -> str:
    """Empty the brackets that follow names. Other brackets, as in `(a or b).c`, keep their content."""
    pieces: list[str] = []
    depth = 0
    for part in _PARTS.split(text):
        if not part:
            continue
        if part in _OPEN:
            if depth:
                depth += 1
            else:
                if pieces and _BEFORE.search(pieces[-1]):
                    depth = 1
                pieces.append(part)
        elif part in _CLOSE:
            if depth:
                depth -= 1
            if not depth:
                pieces.append(part)
        elif not depth:
            pieces.append(part)
    return "".join(pieces)


def first_name(text: str) -> str:
    """The name that an expression begins with; "" if it does not begin with a name."""
    match = _FIRST.match(text)
    return match.group(1) if match else ""


class NarrowedTypes:
    """Looks up the types that tests such as `isinstance` give to names, each in a byte range of the file."""

    def __init__(self, tests: Sequence[tuple[int, int, str, str]]) -> None:
        """Group the tests by name. Each of `tests` is (first byte of the range, end, name, types of the name)."""
        self._found: dict[str, list[tuple[int, int, str]]] = {}
        for start, end, name, types in tests:
            self._found.setdefault(name, []).append((start, end, types))

    def __bool__(self) -> bool:
        return bool(self._found)

    def receiver(self, text: str, at: int) -> str:
        """The receiver `text` at a byte, in which the tested part at its start is cast to the type of the test."""
        text = text.lstrip("!")  # Kotlin's grammar takes `!x.f()` for a call on `!x`
        end = len(text)
        while end > 0:
            inside = [(start, types) for start, stop, types in self._found.get(text[:end], ()) if start <= at < stop]
            if inside:
                return f"({text[:end]} as {max(inside)[1]}){text[end:]}"[:_KEPT]
            end = text.rfind(".", 0, end)
        return text


def tests_of(captured: Captures) -> Iterator[tuple[int, int, str, str]]:
    """The type tests that the queries captured, each as (first byte, end, name, types) for `NarrowedTypes`."""
    for match in captured.narrowed:
        for captures in _tests(match) if "narrowed.test" in match else (match,):
            names, types, bodies = (captures.get(f"narrowed.{part}") for part in ("name", "type", "body"))
            if names and types and bodies:
                text = "|".join(str(type_text(captured.text(node))) for node in types)
                yield bodies[0].start_byte, bodies[-1].end_byte, captured.text(names[0]), text


def _tests(captures: dict[str, list[Node]]) -> Iterator[dict[str, list[Node]]]:
    """For each test in a `@narrowed.test`, the captures of its parts and of the range where it holds."""
    test, after = captures["narrowed.test"][0], captures.get("narrowed.after")
    operator = test.child_by_field_name("operator")
    sign = operator.type if operator is not None else ""
    if after is None:
        yield captures | _parts(test)
        if sign == "&&" and captures["narrowed"][0].type == "if_statement":
            yield {"narrowed.body": captures["narrowed.body"]} | _parts(test.child_by_field_name("left"))
        return
    # The `if` leaves: after it, the opposite of the whole test holds.
    denied = test.child_by_field_name("right") if sign == "||" else test
    if denied is not None and denied.type == "unary_expression" and denied.children[0].type == "!":
        argument = denied.child_by_field_name("argument")
        for tested in argument.named_children if argument is not None else ():
            yield {"narrowed.body": after} | _parts(tested)


def _parts(test: Node | None) -> dict[str, list[Node]]:
    """The captures of the name and of the type in a type test; {} if the expression is no type test."""
    left, operator, right = (
        (test.child_by_field_name(field) for field in ("left", "operator", "right"))
        if test is not None
        else (None,) * 3
    )
    if left is None or operator is None or right is None or operator.type != "instanceof":
        return {}
    if left.type not in _NAMES or right.type not in _NAMES:
        return {}
    return {"narrowed.name": [left], "narrowed.type": [right]}


def bound_names(captured: Captures, finder: Finder, symbols: Sequence[Symbol]) -> set[tuple[int, str]]:
    """All bound names (parameters, locals, names in patterns), each as (index of its scope, name)."""
    scope_of = _Around(finder, symbols, CALLABLE)
    return {
        (scope_of(node), without_colon(captured.text(node))) for captures in captured.typed for node in _names(captures)
    }


def types_of(
    language: str, captured: Captures, finder: Finder, symbols: Sequence[Symbol], calls: Sequence[Call],
    flow_hints: Sequence[HintNode] | None = None, stored: Sequence[StoredFunction] = (),
    locals_: AnonymousScopes | None = None,
) -> list[TypeHint]:  # fmt: skip
    """The type hints of names. Hints of locals are left out unless a call depends on them.

    Args:
        flow_hints: The hints that the data flow found; in its languages, no other hints count.
        stored: The functions that the file stores.
        locals_: The file's anonymous functions, if they are scopes.
    """
    needed = {call.name.removesuffix("[]") for call in calls if not call.receiver}
    needed.update(map(first_name, {call.receiver for call in calls if call.receiver}))
    expressions = (expr for item in stored for expr in (item.value, item.holder) if expr)
    needed.update(head_name(expr).lstrip("$") for expr in expressions if expr[-1].kind not in PARAMETERS)
    if flow_hints is not None:
        return _types_given(captured, symbols, needed, flow_hints)
    texts = {call.passed for call in calls if call.passed}
    passed = {argument.rpartition("=")[2] for text in texts for argument in text.split(";")}
    given_on = set(map(first_name, passed))
    hints: dict[tuple[TypeHint, bool], None] = {}
    reader = _Reader(
        captured,
        finder,
        symbols,
        is_cpp=has_rule(language, "templates"),
        is_passed=has_rule(language, "passed_objects"),
        locals_=locals_,
    )
    for captures in captured.typed:
        for item in reader.read(captures):
            hints[item, _REASSIGNED in captures and item.kind == ASSIGNED] = None
    declared = {(item.scope, item.name) for item, reassigned in hints if not reassigned}
    # In reverse, since a value usually comes from a name that was bound before: that name is needed, too.
    relevant = []
    for item, reassigned in reversed(hints):
        local = item.name and item.scope >= 0
        if local and item.scope < len(symbols):
            local = symbols[item.scope].kind in FUNCTION_KINDS
        if local and item.name not in needed and item.name not in given_on:
            continue
        # Assignments to a declared name do not matter for overloads, which depend on the declared type.
        if reassigned and not (local and item.name in needed and (item.scope, item.name) in declared):
            continue  # a field, or a variable of an outer scope
        if not local and item.kind == BOUND:
            continue
        needed.add(head_name(item.expr).lstrip("$"))
        relevant.append(item)
    relevant.reverse()
    return relevant


def _types_given(
    captured: Captures, symbols: Sequence[Symbol], needed: set[str], flow_hints: Sequence[HintNode]
) -> list[TypeHint]:
    hints: list[TypeHint] = []
    for symbol, role, name, what, node in reversed(flow_hints):
        scope = symbol
        kinds = _SCOPES[role]
        while scope >= 0 and symbols[scope].kind not in kinds:
            scope = symbols[scope].parent
        local = name and scope >= 0 and symbols[scope].kind in FUNCTION_KINDS
        if (local and name not in needed) or (scope < 0 and role != LOCAL) or (not local and node is None):
            continue
        hint: str | Expr = ""
        if node is not None and what == TYPE_OF:
            hint = type_text(captured.text(node))
        elif node is not None:
            hint = parse(f"{outline(captured, node)}{'' if what == VALUE_OF else what}")
            needed.add(head_name(hint).lstrip("$"))
        if local or hint != "":
            hints.append(_hint(scope, name, hint, symbol if role == MEMBER_OF else scope))
    return list(dict.fromkeys(reversed(hints)))


def _hint(scope: int, name: str, hint: str | Expr, enclosing: int) -> TypeHint:
    """Make a hint at the type of a name ("" for a result): `hint` is a written type, a value, or "" if unknown."""
    if isinstance(hint, str):
        kind = BOUND if not hint else DECLARED if name else RETURN_TYPE
        return TypeHint(kind, scope, name, hint, (), enclosing)
    return TypeHint(ASSIGNED if name else RETURNED, scope, name, "", hint, enclosing)


@lru_cache(maxsize=512)
def _plan(captures: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """(The captures of a match that are types and values, whether something other than a name may have these types)."""
    return tuple(capture for capture in (*_TYPES, *_VALUES) if capture in captures), any(
        capture in captures for capture in _OTHERS
    )


class _Around:
    """Finds the innermost enclosing symbol that has one of certain kinds; results are cached per entity."""

    def __init__(
        self, finder: Finder, symbols: Sequence[Symbol], kinds: frozenset[str], locals_: AnonymousScopes | None = None
    ) -> None:
        self._finder = finder
        self._symbols = symbols
        self._kinds = kinds
        self._locals = locals_
        self._known: dict[int, int] = {}

    def __call__(self, node: Node) -> int:
        """The index of the symbol around a node, -1 if none; or of an anonymous function, as in `TypeHint.scope`."""
        at = node.start_byte
        index = self._finder.enclosing(at)
        scope = self._known.get(index)
        if scope is None:
            scope = self._finder.symbol(at)
            while scope >= 0 and self._symbols[scope].kind not in self._kinds:
                scope = self._symbols[scope].parent
            self._known[index] = scope
        return scope if self._locals is None else self._locals.innermost(scope, at)


class AnonymousScopes:
    """Numbers anonymous functions as scopes of the names that they bind, as in `TypeHint.scope`."""

    def __init__(self, anonymous: Anonymous, finder: Finder, symbols: Sequence[Symbol]) -> None:
        self._anonymous = anonymous
        self._symbols = symbols
        self._spans = {entity.symbol: (entity.start, entity.end) for entity in finder.entities if entity.symbol >= 0}

    def innermost(self, symbol: int, at: int) -> int:
        """The innermost anonymous function around the byte `at` inside a symbol; the symbol itself if there is none."""
        number, start = self._anonymous.at(at)
        return len(self._symbols) + number if number >= 0 and start > self._start(symbol) else symbol

    def _start(self, symbol: int) -> int:
        return self._spans[symbol][0] if symbol >= 0 else -1

    def nesting(self, types: Sequence[TypeHint], lambdas: Sequence[Lambda]) -> Iterator[TypeHint]:
        """For each symbol or anonymous function inside an anonymous function that binds names, a hint that says so."""
        first = len(self._symbols)
        holding = {item.scope - first for item in types if item.scope >= first}
        inside: dict[int, int] = {}
        for index, (start, end) in self._spans.items():
            number, begin = self._anonymous.at(start)
            symbol = self._symbols[index]
            is_inside = number >= 0 and begin > self._start(symbol.parent) and end <= self._anonymous.end(number)
            if is_inside and symbol.kind in CALLABLE:
                inside[index] = number
                holding.add(number)
        if not holding:
            return
        for index, number in inside.items():
            yield from self._nesting(index, number, holding, lambdas)
        for number in range(len(lambdas)):
            yield from self._nesting(first + number, self._outer(number, lambdas), holding, lambdas)

    def _outer(self, number: int, lambdas: Sequence[Lambda]) -> int:
        """The anonymous function around the one with index `number`, inside the same symbol; -1 if there is none."""
        outer, start = self._anonymous.outer(number)
        return outer if start > self._start(lambdas[number].symbol) else -1

    def _nesting(self, scope: int, number: int, holding: set[int], lambdas: Sequence[Lambda]) -> Iterator[TypeHint]:
        while number >= 0 and number not in holding:
            number = self._outer(number, lambdas)
        if number >= 0:
            yield TypeHint(NESTED, scope, "", "", (), len(self._symbols) + number)


class _Reader:
    """Reads the type hints in the matches of one file."""

    def __init__(
        self, captured: Captures, finder: Finder, symbols: Sequence[Symbol], *, is_cpp: bool, is_passed: bool,
        locals_: AnonymousScopes | None,
    ) -> None:  # fmt: skip
        self._captured = captured
        self._is_passed = is_passed  # whether what calls pass is recorded
        self._is_cpp = is_cpp  # where the stars of pointers stand before the name
        self._parse = parse_cpp if is_cpp else parse
        self._has_at = b"@" in captured.source
        self._callable = _Around(finder, symbols, CALLABLE, locals_)
        self._function = _Around(finder, symbols, FUNCTION_KINDS)
        self._type = _Around(finder, symbols, TYPE_KINDS)
        self._member = _Around(finder, symbols, FUNCTION_KINDS | TYPE_KINDS, locals_)

    def read(self, captures: dict[str, list[Node]]) -> Iterator[TypeHint]:
        captured = self._captured
        roles, others = _plan(tuple(captures))
        hints: list[str | Expr] = []
        names = _names(captures)
        if declared := captures.get("typed.declared"):
            hints = [type_text(text) for text in map(captured.text, declared) if not _DEDUCED.match(text)]
        if hints and declared and self._is_cpp:
            for node in names:
                after = _stars(captured.source, declared[-1].end_byte, node.start_byte, node.end_byte)
                scope, name = self._callable(node), captured.text(node)
                yield from (_hint(scope, name, _with_pointers(hint, after), scope) for hint in hints)
            names = []
        if roles and not hints:
            hints = list(self._hints(captures, roles))
        # In Ruby, `@x` is a member by its name.
        members = [node for node in names if captured.source.startswith(b"@", node.start_byte)] if self._has_at else []
        if others:
            for node in captures.get("typed.alias", ()):
                text = hints[0] if hints and isinstance(hints[0], str) else ""
                yield TypeHint(ALIAS, -1, captured.text(node), text, (), -1)
            for node in (*captures.get("typed.return", ()), *captures.get("typed.result", ())):
                scope = self._function(node)
                after = _stars(captured.source, node.end_byte, -1, -1) if self._is_cpp else ""
                if scope >= 0:
                    yield from (_hint(scope, "", _with_pointers(hint, after), scope) for hint in hints)
        if members or others:
            for node in (*captures.get("typed.member", ()), *members):
                scope, enclosing = self._type(node), self._member(node)
                if scope >= 0:
                    name = captured.text(node).lstrip("@$")
                    yield from (_hint(scope, name, hint, enclosing) for hint in hints)
        for node in names if not members else ():
            scope = self._callable(node)
            name = without_colon(captured.text(node)).lstrip("$")
            for hint in hints or (self._argument(node, name),):
                yield _hint(scope, name, hint, scope)

    def _argument(self, node: Node, name: str) -> str | Expr:
        """The expression for the value that callers pass for a parameter; "" for other names, and in most languages."""
        if not self._is_passed:
            return ""
        parameter = node.parent if node.parent is not None and node.parent.type in _OPTIONAL else node
        group = parameter.parent
        if group is None or group.type != "method_parameters":
            return ""
        return Step(PARAMETER, str(group.named_children.index(parameter))), Step(ATTR, name)

    def _hints(self, captures: dict[str, list[Node]], roles: Sequence[str]) -> Iterator[str | Expr]:
        """The types and values that a match states."""
        places = [
            Step(ATTR, str(whole.named_children.index(name)))
            for whole, name in zip(captures.get("typed.tuple", ()), captures.get("typed.name", ()), strict=False)
        ]
        for role in roles:
            for node in captures[role]:
                if role == "typed.called":
                    yield self._lambda_parameter(node, captures)
                elif role in _TYPES:
                    yield type_text(self._captured.text(node))
                else:
                    value = self._parse(outline(self._captured, _value_node(node)))
                    further = [Step(ITEM, "")] if role == "typed.each" else places
                    yield (*value, *further) if value else value

    def _lambda_parameter(self, called: Node, captures: dict[str, list[Node]]) -> Expr:
        """The expression for the value that a called function passes to a parameter of its lambda argument."""
        of, name = captures.get("typed.of"), captures["typed.name"][0]
        lambdas = [node.id for node in captures["typed.arguments"][0].named_children if node.type not in _COMMENTS]
        group = captures["typed.parameters"][0]
        names = [node.id for node in group.named_children] if group.id != name.id else [name.id]
        expr = parse((f"{outline(self._captured, of[0])}." if of else "") + self._captured.text(called))
        places = lambdas.index(captures["typed.lambda"][0].id), names.index(name.id), len(names)
        return (*expr, Step(GIVEN, ",".join(map(str, places)))) if expr else ()


def _names(captures: dict[str, list[Node]]) -> list[Node]:
    """The nodes of the names that a match binds, including names in patterns."""
    names = captures.get("typed.name", [])
    pending = captures.get("typed.pattern", ())
    if not pending:
        return names
    names, pending = list(names), list(pending)
    while pending:
        node = pending.pop()
        if node.type in ("identifier", "shorthand_property_identifier_pattern"):
            names.append(node)
        elif node.type in ("assignment_pattern", "object_assignment_pattern"):
            pending += node.children_by_field_name("left")
        elif node.type == "pair_pattern":
            pending += node.children_by_field_name("value")
        elif node.type.endswith("_pattern"):
            pending += node.named_children
    return names


def _value_node(node: Node) -> Node:
    """The part of an expression whose value it has: `y` of `x = y`, the last expression of a block."""
    while True:
        inner = None
        if node.type in _ASSIGNMENTS:
            inner = node.child_by_field_name("right")
        elif node.type in _BLOCKS and node.named_child_count:
            inner = node.named_child(node.named_child_count - 1)
        if inner is None:
            return node
        node = inner


def type_text(text: str) -> str | Expr:
    """The text of a written type without most blanks; for `typeof x`, the expression `x`, whose type it is."""
    if _SPACE.search(text):
        text = _ANNOTATION.sub("", text) if "@" in text else text
        text = _WILDCARD.sub("", text) if "?" in text else text
        text = _SPACE.sub("", _WORDS.sub(r"\1" "\0", text))
    text = text.replace("\0", " ").lstrip(":").removeprefix("->")[:_KEPT]
    return parse(text[7:]) if text.startswith("typeof ") else text


def _with_pointers(hint: str | Expr, stars: str) -> str | Expr:
    """Append the pointer stars of a declaration to its type; a value is returned unchanged."""
    return hint + stars if isinstance(hint, str) else hint


def _stars(source: bytes, start: int, name: int, end: int) -> str:
    """The pointer stars of a declaration: the stars between its type and its name, and one for each array dimension.

    Args:
        start: The byte where the type ends.
        name: The byte where the name starts; before `start` without a name, as for a function's result.
        end: The byte where the name ends.
    """
    if name < start:
        match = _POINTED_TO.match(source, start)
        return "*" * min(match.group().count(b"*"), 3) if match is not None else ""
    before = source[max(start, name - _NEAR) : name]
    stars = before.rpartition(b",")[2].count(b"*") if b"*" in before else 0
    arrays = source[end : end + 1] == b"["
    return "*" * min(stars + arrays, 3) if stars or arrays else ""
