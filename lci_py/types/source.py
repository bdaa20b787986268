"""What flows from the walk and the extraction of files. Frozen, and free of behaviour; `types` has the rest.

Lines are 1-based and inclusive; bytes are 0-based and half-open; paths are POSIX, relative to the root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file the walk found and did not skip."""

    path: str
    size: int  # bytes
    mtime_ns: int
    ctime_ns: int = 0  # tells a change that put size and modification time back


@dataclass(frozen=True, slots=True)
class Skip:
    """A file or folder left out, and why: one of `source.repository.walk.REASONS`, or of its `LIMIT_REASONS` if a part
    of the file is kept."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """One definition. `parent` is an index into the same file's symbols, -1 at the top level."""

    name: str
    qualified_name: str
    kind: str
    parent: int
    scope: str  # qualified name of what encloses it, "" at the top level
    signature: str
    doc: str
    exported: bool
    line: int
    end_line: int
    first_line: int  # with the doc comment, attributes and decorators before it
    build_tag: str | None
    arity: int = -1  # how many arguments it takes (source.arity), -1 if that is not known
    traits: str = ""  # what decides whether another definition contradicts it (source.traits), words by blanks
    digest: str = ""  # of its text, without the functions and types in it: 16 hex digits


@dataclass(frozen=True, slots=True)
class Call:
    """A call in the text. `caller` is the innermost enclosing function (or type), -1 at module level; in an anonymous
    function -2 less its place among the file's `lambdas`. What a macro's text calls has the macro as its caller."""

    name: str
    receiver: str  # source text before the name: "self", "os.path"; "" for a bare call
    line: int
    caller: int
    arguments: int = -1  # -1 if that is not known, -2 (`arity.NAMED`) for a name that stands for itself


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name. `name` is "" when the module itself is imported, "*" for everything in it."""

    module: str
    name: str
    alias: str
    line: int


@dataclass(frozen=True, slots=True)
class Base:
    """`symbol` (an index) inherits from, implements or mixes in `name`."""

    symbol: int
    name: str


class Lambda(NamedTuple):
    """An anonymous function: the symbol (an index) around it, -1 at the top level, and its lines."""

    symbol: int
    line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Typed:
    """What is known of the type of a name: its declaration, or a value that it is given.

    Attributes:
        scope: The symbol (an index) whose local, member, parameter or result this is; -1 at the top level.
        name: "" for the result of a function.
        text: A type as written, without blanks; "=" and an expression for a value; "~" and a type for an alias; "" if
            the name is only known to be bound here.
        within: The symbol in which the text stands: the method, where `scope` is the class of `self.x = y`.
    """

    scope: int
    name: str
    text: str
    within: int


class Claim(NamedTuple):
    """What a place says the value of a named setting or constant is.

    Attributes:
        symbol: The constant (an index into the same file's symbols), -1 if it is not a definition: a line of a
            configuration file or of prose, the default of an environment variable.
        name: As written, `timeout` or `Config.timeout`; a flag with its dashes.
        value: A literal in one form per value: `60`, `"text"`, `true`.
        line: 1-based.
        how: What kind of place it is, a word of `source.stated_values.HOW`.
    """

    symbol: int
    name: str
    value: str
    line: int
    how: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of lines to rank. `symbol` is the definition it belongs to (an index), -1 outside definitions."""

    symbol: int
    line: int
    end_line: int
    text: str


@dataclass(frozen=True, slots=True)
class Handed:
    """What of a file only hands on what other files define: its imports and exports.

    Attributes:
        whole: Nearly all of it, and it defines nothing itself.
        chunks: The places of the chunks outside definitions that hold nothing else.
    """

    whole: bool = False
    chunks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Extract:
    """What one file holds."""

    language: str
    package: str  # the package or namespace that the file declares, "" if none
    symbols: tuple[Symbol, ...] = ()
    calls: tuple[Call, ...] = ()
    imports: tuple[Import, ...] = ()
    bases: tuple[Base, ...] = ()
    types: tuple[Typed, ...] = ()
    lambdas: tuple[Lambda, ...] = ()  # of languages whose functions are followed as values
    claims: tuple[Claim, ...] = ()
    flow: bytes = b""  # constraints of the propagation of functions as values (source.flow), "" if there are none
    chunks: tuple[Chunk, ...] = ()
    has_errors: bool = False
    limit: str = ""  # which of `source.repository.walk.LIMIT_REASONS` keeps it from being complete
    handed: Handed = Handed()
    marks: bytes = b""  # where its identifiers are (source.extract.marks), "" if that is not known
