"""The values that the walk (which lists files) and the extraction (which parses them) produce.

Lines are 1-based and inclusive; bytes are 0-based and half-open; paths are POSIX, relative to the root.
"""

from __future__ import annotations

from lci_py.types.expressions import Expr, pack, unpack
from lci_py.types.record import NamedTuple, dataclass

#: What a `TypeHint` says. Of a name: its type, a value that it is given, the type for which it is another name, or only
#: that it is bound. Of a function: the type of its result, or a value that it returns. Of a symbol: the parameters that
#: a function takes (`source.extract.arguments`), the names of the parameters of a type, a base with type arguments,
#: that a method is a `property`, its `setter` or a `CLASS_METHOD`, and which anonymous function, `within`, is around.
(DECLARED, ASSIGNED, ALIAS, BOUND, RETURN_TYPE, RETURNED, TAKES, TYPE_PARAMETERS, BASE_ARGUMENTS, ACCESSOR,
 NESTED) = range(11)  # fmt: skip
#: The `ACCESSOR` of a method that is called on the class itself.
CLASS_METHOD = "static"


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file that the walk lists."""

    path: str
    size: int  # bytes
    mtime_ns: int
    ctime_ns: int = 0  # shows a change even if size and modification time were set back


@dataclass(frozen=True, slots=True)
class Skip:
    """A file or folder that the walk leaves out, and why: one of `source.repository.walk.REASONS`. Or a file that is
    kept in part, with one of `source.syntax.limits.LIMIT_REASONS`.
    """

    path: str
    reason: str


class Symbol(NamedTuple):
    """A definition. `parent` is the index of the enclosing definition in the file's symbols, -1 at the top level."""

    name: str
    qualified_name: str
    kind: str
    parent: int
    scope: str  # qualified name of the enclosing definition, "" at the top level
    signature: str
    doc: str
    exported: bool
    line: int
    end_line: int
    first_line: int  # with the doc comment, attributes and decorators before it
    build_tag: str | None
    arity: int = -1  # encoded number of arguments (`source.syntax.arity`); -1 if unknown
    traits: str = ""  # words of `source.extract.traits`, which decide whether definitions are in conflict
    digest: str = ""  # of its text without inner functions and types: 16 hex digits


class Call(NamedTuple):
    """A call in the text.

    `caller` is the index of the innermost enclosing function or type; -1 at module level; -2 - n in the anonymous
    function number n of the file's `lambdas`. The caller of a call inside a macro's text is the macro.
    """

    name: str
    receiver: str  # source text before the name: "self", "os.path"; "" for a bare call
    line: int
    caller: int
    arguments: int = -1  # their number; -1 if unknown, -2 for a bare name, -3 if it is not written (`arity`)
    passed: str = ""  # the arguments, as in `source.extract.arguments`, or the symbol that is registered; "" if unknown


class Import(NamedTuple):
    """One imported name. `name` is "" for the module itself, "*" for all names of the module."""

    module: str
    name: str
    alias: str
    line: int


class Base(NamedTuple):
    """A base of a type: `symbol` (an index) inherits from the type `name`, implements it or mixes it in."""

    symbol: int
    name: str


class Lambda(NamedTuple):
    """An anonymous function: its lines, and the symbol that encloses it (an index; -1 at the top level)."""

    symbol: int
    line: int
    end_line: int


class TypeHint(NamedTuple):
    """A hint at the type of a name, or another declaration about a symbol.

    Attributes:
        kind: The kind of hint: `DECLARED` or another of these constants.
        scope: The symbol (an index) that binds the name as a local, member or parameter, or that the hint is about; -1
            at the top level; the number of symbols plus n for the anonymous function number n of the file's `lambdas`.
        name: The name; "" if the hint is about a symbol.
        text: A type as written, without blanks, or another text; "" for a value.
        expr: The value as a chain of steps; empty if the value is another kind of expression.
        within: The scope that encloses the text, numbered like `scope`: the method, if `scope` is the class in `self.x
            = y`.
    """

    kind: int
    scope: int
    name: str
    text: str
    expr: Expr
    within: int

    @property
    def subject(self) -> str | int:
        """The key to look the hint up in its scope: the name; or the kind, if the hint is about the scope itself."""
        return self.name if self.kind < TAKES else self.kind

    @property
    def is_type(self) -> bool:
        """Whether the hint declares a type; a declared type takes precedence over a value."""
        return self.kind in (DECLARED, RETURN_TYPE)

    @property
    def is_value(self) -> bool:
        """Whether the hint has a value. A value that is no chain of steps has an empty `expr`."""
        return self.kind in (ASSIGNED, RETURNED)

    @property
    def extended(self) -> str:
        """The type of the receiver of an extension method, if the hint declares its parameters; else ""."""
        if self.kind != TAKES or "this " not in self.text:
            return ""
        modifier, _, type_ = self.text.partition(";")[0].rpartition(":")[2].rpartition(" ")
        return type_ if modifier == "this" else ""

    @property
    def packed(self) -> str:
        """The text of the type; for a value, the expression as `expressions.pack` makes it a text."""
        return self.text or pack(self.expr)

    def row(self) -> tuple[int | str, ...]:
        """The hint as the tuple that is stored; `within` is left out if it equals the scope."""
        row = self.kind, self.scope, self.name, self.packed
        return row if self.within == self.scope else (*row, self.within)


def typed_of(kind: int, scope: int, name: str, packed: str, within: int | None = None) -> TypeHint:
    """Make a hint of the fields that `TypeHint.row` stores."""
    within = scope if within is None else within
    if kind in (ASSIGNED, RETURNED):
        return TypeHint(kind, scope, name, "", unpack(packed), within)
    return TypeHint(kind, scope, name, packed, (), within)


#: What a `StoredFunction` says. Where it is stored: in a field, in an element of an initialiser without names, in a
#: variable, in a local, in a parameter by a call. That a macro calls a parameter, or passes it on to another macro. In
#: C also: of which type a field or a variable is, another name of a type, and the defaults of a method. In Ruby, an
#: object that a call passes.
(FIELD, ELEMENT, VARIABLE, LOCAL, ARGUMENT, APPLIED, FIELD_TYPE, VARIABLE_TYPE, SAME_TYPE, DEFAULTS,
 PASSED) = range(11)  # fmt: skip
#: The name of an argument that stands behind the parentheses of a call: it is for the last parameter.
LAST_ARGUMENT = "last"


class StoredFunction(NamedTuple):
    """A function stored in a slot (a field, variable or parameter), where calls may find it; or a fact about a slot.

    Attributes:
        kind: The kind of fact: `FIELD` or another of these constants.
        owner: The struct type, class, function or macro that has the slot, or the variable or type itself; "" for an
            unknown type.
        name: The name of the field or method; the number of the element or parameter, or the parameter's name.
        value: The stored function; or a parameter of `within`; in C, a field of a type. If the fact is about types, a
            name; if about defaults, the types of all parameters, a step each; none for a pointer to a function.
        within: The enclosing function (an index), -1 if there is none.
        place: The index of a field in its struct, -1 if unknown; for defaults, how many parameters have no default.
        holder: The expression that `owner` abbreviates, if any: the object with the field, or the callee. For a
            parameter that is passed on to another macro, that macro and the index of its parameter.
    """

    kind: int
    owner: str
    name: str
    value: Expr
    within: int = -1
    place: int = -1
    holder: Expr = ()

    def row(self) -> tuple[int | str, ...]:
        """The fact as the tuple that is stored; trailing default values are left out."""
        row = *self[:3], pack(self.value), self.within, self.place, pack(self.holder)
        return row if self.holder else row[:6] if self.place >= 0 else row[:5] if self.within >= 0 else row[:4]


def stored_of(
    kind: int, owner: str, name: str, value: str, within: int = -1, place: int = -1, holder: str = ""
) -> StoredFunction:
    """Make a `StoredFunction` of the fields that `StoredFunction.row` stores."""
    return StoredFunction(kind, owner, name, unpack(value), within, place, unpack(holder))


class Claim(NamedTuple):
    """A value that a comment or code states, or a key that occurs twice.

    Attributes:
        symbol: The definition that has the value (an index into the symbols of the file); -1 for none, as for a flag.
        name: The name as written, `timeout` or `Config.timeout`; a flag with its dashes.
        value: A normalized literal: `60`, `"text"`, `true`; for a repeated key, how many lines above it first occurs.
        line: The line of the statement, 1-based.
        how: The kind of statement, a word of `source.stated_values.HOW`.
    """

    symbol: int
    name: str
    value: str
    line: int
    how: str


#: What is registered with a framework: a function for a route, for an event, to be injected, for a command, for tests
#: that name it, or as the work of a queue's task; a template that a function shows. What routes are registered on: a
#: router that is put below another one, the same in place of its own prefix, one that is made below another one, one at
#: the root, and one with a prefix.
REGISTRATIONS = (
    "route",
    "event",
    "inject",
    "command",
    "fixture",
    "task",
    "template",
    "mount",
    "override",
    "router",
    "root",
    "base",
)


class Registration(NamedTuple):
    """A registration of a route, event, command or the like with a framework.

    Attributes:
        kind: One of `REGISTRATIONS`.
        name: `GET /path`, or `/path` for any method; the name of an event or command; a router's prefix.
        router: The variable that a route or router is registered on; "" for the enclosing function or file.
        target: The function as a name or `receiver.name`, or the router; "" if the function has no name.
        scope: The enclosing symbol (an index), numbered like `Call.caller`.
        symbol: The function (an index) if the registration stands before it, as a decorator does; else -1.
        line: The line of the registration, 1-based.
    """

    kind: str
    name: str
    router: str
    target: str
    scope: int
    symbol: int
    line: int


class Chunk(NamedTuple):
    """A range of lines that is ranked as one unit. `symbol` is its definition (an index), -1 outside definitions."""

    symbol: int
    line: int
    end_line: int
    text: str


@dataclass(frozen=True, slots=True)
class Extract:
    """Everything that is extracted from a file."""

    language: str
    package: str  # the package or namespace that the file declares, or ""
    symbols: tuple[Symbol, ...] = ()
    calls: tuple[Call, ...] = ()
    imports: tuple[Import, ...] = ()
    bases: tuple[Base, ...] = ()
    types: tuple[TypeHint, ...] = ()
    stored: tuple[StoredFunction, ...] = ()  # only in languages of `source.extract.stored_functions`
    lambdas: tuple[Lambda, ...] = ()  # only in languages whose functions are followed as values
    claims: tuple[Claim, ...] = ()
    registered: tuple[Registration, ...] = ()
    flow: bytes = b""  # encoded constraints of functions as values (`source.dataflow`); empty if none
    chunks: tuple[Chunk, ...] = ()
    has_errors: bool = False
    lost_lines: int = 0  # lines that do not parse
    limit: str = ""  # the one of `LIMIT_REASONS` that cut the extraction short
    marks: bytes = b""  # where its identifiers are (source.extract.marks), b"" if that is not known


@dataclass(frozen=True, slots=True)
class FileRecord:
    """The data that the index keeps of one file: its extract, and the words of each chunk with counts (its "bag").

    `words` holds the file's distinct words. The bags of all chunks, one after another, are two int32 arrays: positions
    in `words`, and counts; `bag_sizes` says how many entries each chunk has.
    """

    path: str
    size: int
    mtime_ns: int
    sha: str  # hex digest of the content
    lines: int
    extract: Extract  # its chunks' texts are empty, unless `process_stages` was told to keep them
    words: tuple[str, ...]
    bag_sizes: tuple[int, ...]
    bag_words: bytes
    bag_counts: bytes
    digests: bytes  # 8 bytes per chunk, of its own lines
    generated: bool = False  # its first lines say that a program wrote it

    @property
    def limit(self) -> str:
        """The reason, one of `LIMIT_REASONS`, why the record is not complete; "" if it is complete."""
        return self.extract.limit
