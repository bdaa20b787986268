"""Points-to constraints of one file: how functions and objects flow from variable to variable.

A file's constraints do not depend on other files: imported names stay imports until the constraints of all files are
combined (`callgraph.pointsto`). The nodes of the constraints are variables, parameters, results and intermediate
values, numbered from 1 within the file. Node 0 is an unknown value.

Source:
    Andersen, "Program Analysis and Specialization for the C Programming Language", 1994, chapter 4, for constraints
    without regard to the order of statements. Salis et al., "PyCG: Practical Call Graph Generation in Python", ICSE
    2021, for functions as values.
"""

from __future__ import annotations

import json
import struct
import zlib
from array import array
from typing import TYPE_CHECKING

from lci_py.types.record import NamedTuple, dataclass, field
from lci_py.types.source import Lambda

if TYPE_CHECKING:
    from tree_sitter import Node

#: Constraints are rows of four numbers: one of these kinds, and its operands. A name is an index of the strings.
COPY = 0  # node, from
FUNC = 1  # node, function
CLASS = 2  # node, class
IMPORT = 3  # node, index of the file's imports, 1 if only the head of the dotted module is bound
LOAD = 4  # node, object, name
STORE = 5  # object, name, from
ITEM = 6  # node, container, key (0: any)
PUT = 7  # container, key (0: any), from
NEW = 8  # node, `PLAIN` or 0: a container of its own
CALL = 9  # node for the result, callee, line; the caller is in `callers`, `ARG` rows follow
ARG = 10  # call (an index of the CALL rows), position or ~name, from
SELF = 11  # node, class: an object of it
SUPER = 12  # node, class, the node of the object
EACH = 13  # node, what is iterated, line; its caller in `callers`
FREE = 14  # node, name: a variable that nothing in the file binds
MEMBER = 15  # class, name, from
BASE = 16  # class, from
EXPORT = 17  # name, from: what other files get under a name
STAR = 18  # index of the file's imports: everything that the module exports is bound here
TYPED = 19  # node, type: a declared type, of which the node is an object unless a value reaches it
#: object, name, line: a special method that the language calls; for an attribute that is read, its name with `()`
#: behind it, and with `=` for one that is set. Its caller is in `callers`.
IMPLICIT_CALL = 20
#: The kinds of rows with a line and a caller.
SITE_KINDS = (CALL, EACH, IMPLICIT_CALL)
#: The name of a member of which nothing is written: any member whose name stands in quotes somewhere in the program.
ANY_NAME = "<any>"
#: An object without built-in methods: no list, no map.
PLAIN = 1
#: Positions of arguments that are not single values.
SPREAD, SPREAD_NAMED = 1 << 20, (1 << 20) + 1
#: Flags of functions.
STATIC, CLASSMETHOD, PROPERTY, GENERATOR, ARROW = 1, 2, 4, 8, 16
#: Kinds of parameters.
SINGLE, REST, NAMED_REST, THIS = 0, 1, 2, 3
#: Flags of calls, in the high bits of the line.
DECORATOR, CONSTRUCT = 1 << 28, 1 << 29
LINE = (1 << 28) - 1
_HEADER = struct.Struct("<I")
#: No file has more constraints than this, since its own size is bounded: larger data is damaged.
_MOST_BYTES = 1 << 30


class Parameter(NamedTuple):
    """A parameter: its node, its name (index in `Flow.strings`) and its kind; `THIS` is an implicit receiver."""

    node: int
    name: int
    kind: int


class Function(NamedTuple):
    """A function with a body.

    Attributes:
        symbol: Index of the function among the file's symbols; -2 - i for the anonymous function i.
        owner: Index of the class whose method the function is, or -1.
        flags: `STATIC` and the other flags of functions.
        result: Node of the return value.
        item: Node of the values that the function yields.
    """

    symbol: int
    owner: int
    flags: int
    result: int
    item: int
    parameters: tuple[Parameter, ...]


@dataclass
class Flow:
    """The constraints of a file.

    Attributes:
        strings: Names and keys; the first is "".
        nodes: Number of nodes, including node 0.
        classes: For each class, its index among the file's symbols, or -1.
        rows: The constraints: four numbers each, a kind and three operands.
        callers: For each row of a kind in `SITE_KINDS`, the index of the enclosing function, -1 at the top level.
    """

    strings: list[str]
    nodes: int
    functions: list[Function]
    classes: list[int]
    rows: array[int]
    callers: array[int]

    def encode(self) -> bytes:
        """The constraints as bytes."""
        header = json.dumps(
            [self.strings, self.nodes, self.functions, self.classes, len(self.rows), len(self.callers)],
            separators=(",", ":"),
        ).encode("ascii")
        return zlib.compress(_HEADER.pack(len(header)) + header + self.rows.tobytes() + self.callers.tobytes(), 1)


def decode(data: bytes) -> Flow:
    """The inverse of `encode`.

    Raises:
        ValueError: The bytes are not from `encode`.
    """
    try:
        data = _inflate(data)
        (length,) = _HEADER.unpack_from(data)
        strings, nodes, functions, classes, n_rows, n_callers = json.loads(data[_HEADER.size : _HEADER.size + length])
        body = data[_HEADER.size + length :]
        rows, callers = array("i"), array("i")
        rows.frombytes(body[: 4 * n_rows])
        callers.frombytes(body[4 * n_rows :])
        flow = Flow(
            strings,
            nodes,
            [Function._make((*item[:5], tuple(Parameter(*p) for p in item[5]))) for item in functions],
            classes,
            rows,
            callers,
        )
        good = len(rows) == n_rows and len(callers) == n_callers and n_rows % 4 == 0 and strings[0] == ""
        good = good and all(type(text) is str for text in strings)
        good = good and all(type(number) is int for item in flow.functions for number in item[:5])
        good = good and all(type(number) is int for item in flow.functions for p in item.parameters for number in p)
    except (zlib.error, struct.error, TypeError, KeyError, IndexError, RecursionError) as error:
        raise ValueError(f"not constraints: {error}") from error
    if not good:
        raise ValueError("the constraints are damaged: their parts do not fit together")
    return flow


def _inflate(data: bytes) -> bytes:
    inflate = zlib.decompressobj()
    plain = inflate.decompress(data, _MOST_BYTES)
    if not inflate.eof:
        raise ValueError("the constraints are cut off")
    return plain


#: The subject of a type hint: a local or parameter, a member of the enclosing class, the result of the enclosing
#: function.
LOCAL, MEMBER_OF, RESULT = range(3)
#: Its content: a declared type, an assigned value, or a container whose elements are assigned one after the other.
TYPE_OF, VALUE_OF, EACH_OF = ":", "=", "[]"
#: What a `with` statement binds.
ENTERED = ".__enter__()"


class HintNode(NamedTuple):
    """A type hint that is still a node of the syntax tree: its text is only read if a call depends on the name.

    Attributes:
        around: Symbol index of the innermost enclosing function or class, or -1.
        role: `LOCAL`, `MEMBER_OF` or `RESULT`.
        name: The name whose type is hinted; "" for a result.
        what: `TYPE_OF`, `VALUE_OF`, or the last step of the expression, such as `EACH_OF` or `ENTERED`; "" if the hint
            only says that the scope binds the name.
        node: The type or the value.
    """

    around: int
    role: int
    name: str
    what: str
    node: Node | None


@dataclass
class Scope:
    """A scope of variables: the module, a function or a class."""

    parent: Scope | None
    function: int  # index of the innermost function, -1
    owner: int = -1  # index of the class whose body this is
    hidden: bool = False  # functions inside do not see its variables (a class in Python)
    names: dict[str, int] = field(default_factory=dict)  # name -> node, of all names that are used here
    bound: set[str] = field(default_factory=set)
    outer: dict[str, Scope] = field(default_factory=dict)  # names that belong to another scope (global)


class Implicit(NamedTuple):
    """A call that the language makes implicitly, as `with` calls `__enter__`.

    Attributes:
        name: The name of a method (`__enter__`) or of an attribute that is read; `name=` for an attribute that is set.
        receiver: The expression of the object.
        suffix: The steps that lead from the object to the receiver of the call, such as `.__iter__()`.
    """

    name: str
    receiver: Node
    suffix: str = ""


class FlowBuilder:
    """Collects the constraints of a file, in any language."""

    def __init__(self) -> None:
        self.functions: list[Function] = []
        self.lambdas: list[Lambda] = []
        self.spans: list[tuple[int, int]] = []  # per anonymous function, its bytes
        self.classes: list[int] = []
        self.given: list[HintNode] | None = None  # only in languages whose type hints come from here, not from a query
        self.implicit: list[Implicit] = []
        self.accessors: list[tuple[int, str]] = []  # symbol, and "property" or "setter"
        #: First byte, end, text of an expression, types: what a test says of it in these bytes.
        self.narrowed: list[tuple[int, int, str, str]] = []
        #: In a JavaScript file with getters: their names, and object and name of each property that is read.
        self.getters: set[str] = set()
        self.reads: list[tuple[Node, Node]] = []
        self.module = Scope(None, -1)
        self._scopes = [self.module]
        self._strings: dict[str, int] = {"": 0}
        self._nodes = 1
        self._rows: list[int] = []
        self._callers = array("i")
        self._calls = 0

    # --- nodes ----------------------------------------------------------------------------------------------------

    def string(self, text: str) -> int:
        """The index of a text in `Flow.strings`; a new text is added."""
        return self._strings.setdefault(text[:200], len(self._strings))

    def node(self) -> int:
        """Create a node and return its number."""
        self._nodes += 1
        return self._nodes - 1

    def scope(self, parent: Scope, function: int, owner: int = -1, hidden: bool = False) -> Scope:
        """Create a scope inside another scope."""
        scope = Scope(parent, function, owner, hidden)
        self._scopes.append(scope)
        return scope

    def use(self, scope: Scope, name: str) -> int:
        """The node of a variable that is read in a scope."""
        target = scope.outer.get(name, scope)
        node = target.names.get(name)
        if node is None:
            node = target.names[name] = self.node()
        return node

    def bind(self, scope: Scope, name: str) -> int:
        """The node of a variable that is assigned in a scope, and thereby belongs to that scope."""
        target = scope.outer.get(name, scope)
        target.bound.add(name)
        return self.use(target, name)

    # --- constraints ----------------------------------------------------------------------------------------------

    def row(self, kind: int, a: int = 0, b: int = 0, c: int = 0) -> None:
        """Add a constraint of a kind, with up to three operands."""
        self._rows += (kind, a, b, c)

    def copy(self, node: int, source: int) -> None:
        """Add the constraint that `node` may hold whatever `source` may hold."""
        if node and source and node != source:
            self.row(COPY, node, source)

    def value(self, kind: int, *operands: int) -> int:
        """Create a node that a constraint of this kind defines, and return its number."""
        node = self.node()
        self.row(kind, node, *operands)
        return node

    def load(self, obj: int, name: str) -> int:
        """The node of the member `name` of an object."""
        return self.value(LOAD, obj, self.string(name)) if obj else 0

    def put(self, container: int, key: str, value: int) -> None:
        """Add the constraint that a container holds a value under a key; "" stands for an unknown key."""
        if container and value:
            self.row(PUT, container, self.string(key), value)

    def either(self, *values: int) -> int:
        """A node that may hold any of several values; 0 if all are unknown."""
        nodes = [value for value in values if value]
        if len(nodes) < 2:
            return nodes[0] if nodes else 0
        target = self.node()
        for value in nodes:
            self.copy(target, value)
        return target

    def call(
        self, scope: Scope, callee: int, line: int, arguments: list[tuple[int, int]], flags: int = 0
    ) -> int:  # fmt: skip
        """Add a call and return the node of its result.

        Args:
            callee: Node of the called value.
            arguments: For each, its position (or `~string` of its name, `SPREAD`, `SPREAD_NAMED`) and its node.
            flags: `DECORATOR` or `CONSTRUCT` for such a call.
        """
        node = self.node()
        self.row(CALL, node, callee, min(line, LINE) | flags)
        self._callers.append(scope.function)
        for position, source in arguments:
            if source:
                self.row(ARG, self._calls, position, source)
        self._calls += 1
        return node

    def each(self, scope: Scope, source: int, line: int) -> int:
        """The node of the elements of the value `source`, which code at `line` iterates over."""
        if not source:
            return 0
        node = self.node()
        self.row(EACH, node, source, min(line, LINE))
        self._callers.append(scope.function)
        return node

    def implicit_call(self, scope: Scope, obj: int, name: str, line: int) -> None:
        """Add an implicit call on an object; `name` is a method or an attribute, as described at `IMPLICIT_CALL`."""
        if obj:
            self.row(IMPLICIT_CALL, obj, self.string(name), min(line, LINE))
            self._callers.append(scope.function)

    def function(self, symbol: int, owner: int = -1, flags: int = 0) -> int:
        """Add a function that has no parameters yet, and return its index."""
        self.functions.append(Function(symbol, owner, flags, self.node(), self.node(), ()))
        return len(self.functions) - 1

    def anonymous(self, enclosing: int, line: int, end_line: int, span: tuple[int, int], flags: int = 0) -> int:
        """Add an anonymous function and return its index; `enclosing` is the index of the enclosing symbol, or -1."""
        self.lambdas.append(Lambda(enclosing, line, end_line))
        self.spans.append(span)
        return self.function(-1 - len(self.lambdas), flags=flags)

    def parameter(self, function: int, node: int, name: str, kind: int = SINGLE) -> None:
        """Add a parameter to a function."""
        entry = self.functions[function]
        added = Parameter(node, self.string(name), kind)
        self.functions[function] = entry._replace(parameters=(*entry.parameters, added))

    def flag(self, function: int, flags: int) -> None:
        """Add flags to a function, which keeps its other flags."""
        entry = self.functions[function]
        self.functions[function] = entry._replace(flags=entry.flags | flags)

    def finish(self) -> Flow:
        """The finished constraints; a name that a scope does not bind belongs to the innermost scope that binds it."""
        same = list(range(self._nodes))
        for scope in self._scopes:
            for name, node in scope.names.items():
                if name in scope.bound:
                    continue
                outer = scope.parent
                while outer is not None and (outer.hidden or name not in outer.bound):
                    outer = outer.parent
                if outer is not None:
                    same[node] = outer.names[name]
                else:
                    self.row(FREE, node, self.string(name))
        for name in sorted(self.module.bound):
            self.row(EXPORT, self.string(name), self.module.names[name])
        rows = self._rows
        for at in range(0, len(rows), 4):
            for operand in _NODES[rows[at]]:
                rows[at + operand] = same[rows[at + operand]]
        return Flow(list(self._strings), self._nodes, self.functions, self.classes, array("i", rows), self._callers)


#: Per constraint, which of its operands are nodes.
_NODES = (
    (1, 2), (1,), (1,), (1,), (1, 2), (1, 3), (1, 2), (1, 3), (1,), (1, 2), (3,), (1,), (1, 3), (1, 2), (1,), (3,),
    (2,), (2,), (), (1, 2), (1,),
)  # fmt: skip
