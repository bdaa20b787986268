"""Extracts the functions that a C or C++ file stores, and where: in fields, in variables, as arguments.

A *slot* can hold a function: a field of a struct type, a variable, or a parameter. Most slots are read from the text,
not from the syntax tree. Of the 10,108 rows of redis and libuv, 331 come from the texts of macros and 176 from code
that does not parse, for which there are no nodes: these rows would need a second reader. Nor are nodes much faster: the
text of both (9.5 MB) is read in 1.1 s, after 3.8 s of the parser; a query for the same text takes 0.8 s before reading.

Source:
    Fields are identified by the struct type and their name, not by the object: Heintze and Tardieu, "Ultra-fast
    aliasing analysis using CLA", PLDI 2001.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lci_py.source.extract.cpp_arguments import methods_with_defaults
from lci_py.source.extract.macro_initialisers import MacroInitialisers, arguments, closing
from lci_py.source.text.patterns import lazily
from lci_py.types.expressions import ATTR, CAST, NAME, PARAMETER, Expr, Step
from lci_py.types.record import NamedTuple
from lci_py.types.search import FUNCTION_KINDS
from lci_py.types.source import (
    APPLIED,
    ARGUMENT,
    DEFAULTS,
    ELEMENT,
    FIELD,
    FIELD_TYPE,
    LOCAL,
    SAME_TYPE,
    VARIABLE,
    VARIABLE_TYPE,
    Call,
    StoredFunction,
)

if TYPE_CHECKING:
    from lci_py.source.syntax.captures import Captures, Entity, Finder

#: Maximum bytes that are read: before an initialiser, of arguments, of a value, of one initialiser.
_BEFORE, _ARGUMENTS, _VALUE, _LIST, _OBJECTS = 300, 2_000, 200, 400_000, 80
#: Values of a local that are followed, members that are read of a struct, and structs in a struct.
_MOST_VALUES, _MOST_MEMBERS, _NESTED = 8, 2_000, 3
#: Arguments of a macro that are read, and words and signs of such an element of an initialiser.
_MOST_PLACES, _MOST_TOKENS = 16, 64

_NAME = lazily(rb"[A-Za-z_]\w*")
_DIRECTIVE = lazily(rb"#[^\n\\]*(?:\\[\s\S][^\n\\]*)*")
_CONSTANT = lazily(rb"[A-Z0-9_]+|PRI[a-zA-Z]\w*")
_QUALIFIERS = frozenset(
    b"""const static struct union enum volatile register extern inline restrict typedef class mutable constexpr typename
    __restrict __restrict__ __extension__ __inline __inline__""".split()
)
#: Types that are neither functions nor structs.
_PLAIN_TYPES = frozenset(
    b"""void char short int long float double bool _Bool signed unsigned auto size_t ssize_t off_t time_t va_list
    wchar_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t ptrdiff_t socklen_t
    u8 u16 u32 u64 s8 s16 s32 s64 __u8 __u16 __u32 __u64 __s8 __s16 __s32 __s64 __be16 __be32 __be64 __le16 __le32
    __le64 gfp_t loff_t pid_t uid_t gid_t mode_t dev_t DWORD BOOL HANDLE WORD BYTE ULONG""".split()
)
#: Names of function types, and of fields that hold a function.
_FUNCTION_TYPE = lazily(
    rb"(?:(?i:(?:_|\b)(?:cb|fn|func|function|callback|handler|hook|dtor|proc))"
    rb"|(?<=[a-z0-9])(?:C[Bb]|Fn|Func|Function|Call[Bb]ack|Handler|Hook|Proc))(?:_[tT])?\Z"
)
_NO_TYPES = frozenset(
    b"return else goto case sizeof typedef delete new throw using namespace if while for switch".split()
)
_NO_FUNCTIONS = frozenset(b"true false nullptr this self sizeof stderr stdout stdin errno".split())
# All blanks are single spaces. A local, with its type before it; a pointer to a function.
_LOCAL = lazily(
    rb"[;{}(] ?((?:(?:const|static|struct|union|enum|volatile|register|unsigned|signed) )*)([A-Za-z_]\w*)\b"
    rb"( ?\*[ *]*(?:const )?| )([A-Za-z_]\w*)\b((?: ?\[[^\]]*\])*) ?(?=[=;,)])"
)
_POINTER = lazily(rb"(?<!\w)([A-Za-z_]\w*)[ *]*\( ?\*[ *]*(?:const )?([A-Za-z_]\w*)(?: ?\[[^\]]*\])* ?\) ?\(")
_MORE = lazily(rb", ?[* ]*([A-Za-z_]\w*)")
_STORE = lazily(rb"(?:->|\.) ?([A-Za-z_]\w*)\b(?: ?\[[^\]]*\])* ?=(?!=) ?"
                    rb"(?:(?:\([\w *]{1,60}\) ?)?&?([A-Za-z_]\w*)((?: ?(?:->|\.) ?[A-Za-z_]\w*)*) ?;|"
                    rb"([^;{}?]{1,120}\?[^;{}]{1,120});)")  # fmt: skip
_ASSIGNED = lazily(rb"([A-Za-z_]\w*|\W)\s*(?:->|\.)\s*([A-Za-z_]\w*)\s*=(?!=)[\s(]*([A-Za-z_]\w*)[\s)\\]*(?:[;,}]|\Z)")
_SET = lazily(rb"= ?(?:& ?)?([A-Za-z_]\w*) ?;")
_SET_NAME = lazily(rb"(?<![\w.>])([A-Za-z_]\w*) ?(?:\[[^\]\[]*\] ?)*\Z")
# Anywhere in a file: what is declared with a type before it, and pointers to functions.
_VARIABLE = lazily(
    rb"[;{}(,] ?((?:(?:const|static|struct|union|enum|volatile|register|unsigned|signed) )*)([A-Za-z_]\w*)\b"
    rb"( ?\*[ *]*(?:const )?| )([A-Za-z_]\w*)\b(?: ?\[[^\]]*\])* ?(?=[=;,)])"
)
_POINTER_ANYWHERE = lazily(rb"\( ?\*[ *]*(?:const )?([A-Za-z_]\w*)(?: ?\[[^\]]*\])* ?\) ?\(")
# What follows a name that is given a value, and a pointer to a function that is.
_GIVEN = lazily(rb"(?: ?\[[^\]]*\])* ?= ?(?!=)([^;,{}=]{1,200})(?=[;,])")
_POINTER_GIVEN = lazily(rb"(?: ?\[[^\]]*\])* ?\) ?\([^;={}]{0,200}\) ?= ?(?!=)([^;,{}=]{1,200})(?=[;,])")
_NO_VARIABLE = lazily(rb"[\w.>]")
_POINTER_BEFORE = lazily(rb"\( ?\*[ *]*(?:const )?\Z")
_PLAIN_VALUE = lazily(rb"(?:\( ?[\w *]{1,80}\) ?)?[&*]? ?([A-Za-z_]\w*)")
_FIELD_VALUE = lazily(rb"\(?[&*]? ?([A-Za-z_]\w*)((?: ?(?:->|\.) ?[A-Za-z_]\w*(?: ?\[[^\]]*\])?){1,6})\)?")
_OBJECT = lazily(
    rb"(?:\A|[^\w.>)\]])([A-Za-z_]\w*)((?:\[[^\]]*\])?(?: ?(?:->|\.) ?[A-Za-z_]\w*(?: ?\[[^\]]*\])?){0,5})\)? ?\Z"
)
_STEP = lazily(rb"(?:->|\.) ?([A-Za-z_]\w*)")
_CHOICE = lazily(
    rb"[^?]+\? ?(?:\( ?[\w *]{1,80}\) ?)?&? ?([A-Za-z_]\w*) ?: ?(?:\( ?[\w *]{1,80}\) ?)?&? ?([A-Za-z_]\w*)\)?"
)
_PASSED = lazily(rb"[(,] ?(?:\([\w *]{1,60}\) ?)?(& ?)?([A-Za-z_]\w*)\b ?(?=[,)])")
_CALLEE = lazily(rb"(?<!\w)(?<![.>])([A-Za-z_]\w*) ?\Z")
_GROUPS = lazily(rb"[(),]")
_SIGNS = lazily(rb"[;{}()]")
_INITIALISER = lazily(rb"= ?\{")
_LITERAL = lazily(rb"\((?:const )?(?:struct |union )?([A-Za-z_]\w*)\) ?\{")
_DECLARATOR = lazily(rb"(?<!\w)([A-Za-z_]\w*)((?:\s*\[[^\]]*\])*)\s*\Z")
_POINTERS = lazily(rb"\(\s*\*[\s*]*(?:const\s+)?([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)\)")
_TOKEN = lazily(rb"\. ?([A-Za-z_]\w*) ?=|\[[^\]]*\] ?=|\b[A-Za-z_]\w*|[^ \w]")
# Outside of functions, at the start of a line.
_GLOBAL = lazily(
    rb"\n((?:(?:extern|static|const|struct|union|volatile|__thread|thread_local)[ \t]+)*)([A-Za-z_]\w*)\b"
    rb"([ \t]*\*[ \t*]*|[ \t]+)([A-Za-z_]\w*)\b((?:\[[^\]\n]*\])*)[ \t]*([;=])"
)
_HOOK = lazily(
    rb"\n[A-Za-z_][\w \t*]*\(\s*\*\s*(?:const\s+)?([A-Za-z_]\w*)\s*\)\s*\([^;={}]{0,300}\)\s*=\s*&?([A-Za-z_]\w*)\s*;"
)
_TYPEDEF = lazily(rb"typedef (?:const )?(?:struct |union )?([A-Za-z_]\w*)[ *]+([A-Za-z_]\w*) ?;")
_CALL = lazily(rb"(?<!\w)([A-Za-z_]\w*)\s*\(")
_CALL_OF_MACRO = lazily(rb"(?<!\w)([A-Z][A-Z0-9_]+)\s*\(([^()]*)\)")
_ACCESS = lazily(rb"\A(?:\s*(?:public|private|protected)\s*:)+")
_AFTER_BODY = lazily(rb"[\s*]*([A-Za-z_]\w*)\s*(?:,[\s*]*([A-Za-z_]\w*)\s*)?;")


class _Name(NamedTuple):
    """A local or parameter. `type` is "" for a pointer to a function; `place` is -1 for a local."""

    type: bytes
    functional: bool  # it may hold a function
    place: int


class _Function(NamedTuple):
    """A function: its symbol, its text, its locals and parameters, and a cache of the values assigned to them."""

    symbol: int
    text: bytes
    names: dict[bytes, _Name]
    given: dict[bytes, list[Expr]]


class _Element(NamedTuple):
    """A braced part of an initialiser. `type` is the struct's type, or a type and the fields that lead to the part
    (`ops.sub`), b"" if unknown; `arrays` is the number of array dimensions.
    """

    type: bytes
    arrays: int
    named: bool  # its elements may be told by name


def stored_functions(captured: Captures, finder: Finder, calls: list[Call]) -> list[StoredFunction]:
    """The functions that a file stores, the fields that it declares, and facts that calls through locals need."""
    return list(dict.fromkeys(_Reader(captured, finder, calls).read()))


class _Reader:
    def __init__(self, captured: Captures, finder: Finder, calls: list[Call]) -> None:
        self._captured = captured
        self._calls = calls
        self._finder = finder
        plain = _plain(captured)
        bodies = [e for e in captured.entities if e.symbol >= 0 and e.kind in FUNCTION_KINDS]
        self._entities = [entity for entity in bodies if entity.role == "definition" and entity.name_node is not None]
        # Half of a source is blanks: what is read often is read without them.
        self._plain, self._starts, self._ends = _squeeze_blanks(plain, self._entities)
        self._outer = _outside(plain, self._entities)
        self._lines = plain
        self._functions: dict[int, _Function] = {}
        # To look at the locals of a function takes long: these say of most names that they are no functions.
        self._pointers = set(_POINTER_ANYWHERE.findall(self._plain))
        self._functional = set(self._pointers)
        self._variables: set[bytes] = set()
        kinds: dict[tuple[bytes, bytes, bytes], set[bytes]] = {}
        for qualifiers, type_, stars, name in _VARIABLE.findall(self._plain):
            names = kinds.get((qualifiers, type_, stars))
            if names is None:
                functional = type_ not in _NO_TYPES and _typed_name(type_, stars, qualifiers.split(), -1).functional
                names = self._functional if functional else self._variables if type_ not in _NO_TYPES else set()
                kinds[qualifiers, type_, stars] = names
            names.add(name)
        self._globals_found = list(_GLOBAL.finditer(self._outer))
        for match in self._globals_found:
            if match.group(2) not in _NO_TYPES and (match.group(3).strip() or match.group(2) in _PLAIN_TYPES):
                self._variables.add(match.group(4))
        # A variable somewhere, and a function: what it is has to be looked up where it is used.
        self._functional |= self._variables & {entity.name.encode("utf-8", "replace") for entity in self._entities}
        self._variables -= self._functional
        self._types: dict[bytes, bytes] = {}  # of the variables outside functions
        self._holders: dict[str, list[str]] = {}  # the structs of the file that declare a field
        self._maybe: dict[bytes, bool] = {}
        self._by_macros = MacroInitialisers(captured)

    def read(self) -> Iterator[StoredFunction]:
        yield from self._declared_fields()
        yield from self._globals()
        yield from self._initialisers()
        yield from self._stores()
        yield from self._called_locals()
        yield from self._macros()
        yield from self._passed_functions()

    # --- functions ------------------------------------------------------------------------------------------------

    def _number(self, byte: int) -> int:
        """The index in `_entities` of the function that encloses a byte; -1 if no function does."""
        number = bisect_right(self._starts, byte) - 1
        return number if number >= 0 and byte < self._ends[number] else -1

    def _function_at(self, byte: int) -> _Function | None:
        """The function that encloses a byte; None if no function does."""
        number = self._number(byte)
        return self._function(number) if number >= 0 else None

    def _may_be_function(self, name: bytes) -> bool:
        answer = self._maybe.get(name)
        if answer is None:
            answer = self._maybe[name] = name not in self._variables and _may_be_function(name)
        return answer

    def _function(self, number: int) -> _Function:
        function = self._functions.get(number)
        if function is None:
            entity = self._entities[number]
            after = entity.name_node.end_byte if entity.name_node is not None else entity.start
            head = len(b" ".join(self._lines[entity.start : after].split()))
            text = self._plain[self._starts[number] + head : self._ends[number]]
            function = self._functions[number] = _Function(entity.symbol, text, _names(text), {})
        return function

    def _values(self, text: bytes, function: _Function | None, *, fields: bool, deep: bool = True) -> Iterator[Expr]:
        """The functions that an expression may mean, as in `StoredFunction.value`.

        Args:
            text: The expression, with each run of blanks as a single space.
            function: The enclosing function.
            fields: Whether values of fields count.
            deep: Whether to replace a local by the values assigned to it.
        """
        if b"=" in text and b"==" not in text:
            text = text.rpartition(b"=")[2]
        text = text.strip()
        plain = _PLAIN_VALUE.fullmatch(text)
        choice = None if plain is not None else _CHOICE.fullmatch(text)
        for name in (plain.group(1),) if plain is not None else choice.groups() if choice is not None else ():
            yield from self._named_values(name, function, deep=deep)
        field = _FIELD_VALUE.fullmatch(text) if fields and plain is None else None
        if field is not None:
            variable = function.names.get(field.group(1)) if function is not None else None
            yield _path(variable.type if variable is not None else b"", *_STEP.findall(field.group(2)))

    def _named_values(self, name: bytes, function: _Function | None, *, deep: bool) -> Iterator[Expr]:
        variable = function.names.get(name) if function is not None else None
        if variable is None:
            if _may_be_function(name):
                yield _name(name)
        elif variable.functional and variable.place >= 0:
            yield _parameter(variable.place)
        elif variable.functional and deep and function is not None:
            yield from self._assigned_values(function, name)

    def _assigned_values(self, function: _Function, name: bytes) -> list[Expr]:
        """The values that are assigned to the local `name` of a function."""
        cached = function.given.get(name)
        if cached is not None:
            return cached
        text = function.text
        plain: list[bytes] = []
        pointers: list[bytes] = []
        at = text.find(name)
        while at >= 0:
            end = at + len(name)
            value = _GIVEN.match(text, end)
            if value is not None and not _NO_VARIABLE.match(text, at - 1):
                plain.append(value.group(1))
            elif text[end : end + 1] in (b")", b" ", b"["):
                value = _POINTER_GIVEN.match(text, end)
                if value is not None and _POINTER_BEFORE.search(text, max(0, at - _OBJECTS), at):
                    pointers.append(value.group(1))
            at = text.find(name, end)
        values: list[Expr] = []
        function.given[name] = values
        for expression in pointers + plain:
            values += self._values(expression, function, fields=True, deep=False)
        del values[_MOST_VALUES:]
        return values

    # --- what a file says -----------------------------------------------------------------------------------------

    def _declared_fields(self) -> Iterator[StoredFunction]:
        """Facts about structs and classes: their fields, other names, and methods with default arguments."""
        for entity in self._captured.entities:
            if entity.role != "definition" or entity.kind not in ("struct", "union", "class") or entity.body is None:
                continue
            start, end = entity.body.start_byte + 1, entity.body.end_byte - 1
            conditional = self._captured.source.find(b"#if", start, end)
            if conditional >= 0:
                conditional = len(b" ".join(self._lines[start:conditional].split()))
            name = entity.name
            text = b" ".join(self._lines[start:end].split())
            for method, required, types in methods_with_defaults(text):
                yield StoredFunction(
                    DEFAULTS, name, method, tuple([Step(CAST, item) for item in types]), place=required
                )
            for field, index, type_ in _members(text, conditional):
                self._holders.setdefault(field, []).append(name)
                yield StoredFunction(FIELD_TYPE, name, field, _name(type_ or name) if type_ != "?" else (), place=index)
            if (
                self._lines[max(0, entity.start - 9) : entity.start].rstrip().endswith(b"typedef")
                or entity.node.type == "type_definition"
            ):
                after = _AFTER_BODY.match(self._lines, entity.body.end_byte)
                for other in after.groups() if after is not None else ():
                    if other is not None and other.decode() != name:
                        yield from _aliases(name, other.decode())
        for match in _TYPEDEF.finditer(self._plain):
            if match.group(1) not in _PLAIN_TYPES and match.group(1) != match.group(2):
                yield from _aliases(match.group(1).decode(), match.group(2).decode())

    def _globals(self) -> Iterator[StoredFunction]:
        """The types of global variables, and the functions that are assigned to them."""
        for match in self._globals_found:
            type_, name = match.group(2), match.group(4)
            if type_ not in _PLAIN_TYPES and type_ not in _NO_TYPES and type_ not in _QUALIFIERS:
                self._types.setdefault(name, type_)
                yield StoredFunction(VARIABLE_TYPE, name.decode(), "", _name(type_))
                if match.group(6) == b"=" and not match.group(3).strip():
                    end = self._outer.find(b";", match.end(), match.end() + _VALUE)
                    for value in self._values(self._outer[match.end() : max(end, 0)], None, fields=False):
                        yield StoredFunction(VARIABLE, name.decode(), "", value)
        for match in _HOOK.finditer(self._outer) if self._pointers else ():
            if _may_be_function(match.group(2)):
                yield StoredFunction(VARIABLE, match.group(1).decode(), "", _name(match.group(2)))

    def _initialisers(self) -> Iterator[StoredFunction]:
        """The functions in braced initialisers."""
        end = 0
        for match in _INITIALISER.finditer(self._plain):
            if match.start() < end:
                continue
            before = self._plain[max(0, match.start() - _BEFORE) : match.start()]
            before = before[max(before.rfind(sign) for sign in (b";", b"{", b"}")) + 1 :]
            pointers = _POINTERS.search(before)
            declarator = pointers or _DECLARATOR.search(before)
            if declarator is None:
                continue
            words = [word for word in _NAME.findall(before[: declarator.start()]) if word not in _QUALIFIERS]
            if not words or before[: declarator.start()].rstrip().endswith((b".", b"->", b"=")):
                continue
            arrays = declarator.group(2).count(b"[")
            function = self._function_at(match.start())
            type_, name = b"" if pointers else words[0], declarator.group(1).decode()
            yield from self._list(match.end() - 1, type_, name, arrays, function)
            end = self._end
            for text in self._by_macros.texts(self._plain[match.end() - 1 : end]):
                yield from self._list(0, type_, name, arrays, function, text)
        for match in _LITERAL.finditer(self._plain):
            before = self._plain[max(0, match.start() - 20) : match.start()].rstrip()
            if before[-1:] in (b"=", b"(", b",", b"&", b"?", b":") or before.endswith(b"return"):
                yield from self._list(match.end() - 1, match.group(1), "", 0, self._function_at(match.start()))

    def _list(
        self, start: int, type_: bytes, name: str, arrays: int, function: _Function | None, text: bytes = b""
    ) -> Iterator[StoredFunction]:
        """The functions in an initialiser, whose `{` is at `start` of `text` (of the file for b""). Sets `_end`."""
        text = text or self._plain
        symbol = function.symbol if function is not None else -1
        variable = LOCAL if symbol >= 0 else VARIABLE
        stack: list[_Element] = []
        positions, field = [0], b""
        tokens: list[bytes] = []
        depth = 0
        self._end = start
        for match in _TOKEN.finditer(text, start, min(len(text), start + _LIST)):
            token = match.group()
            if match.group(1) is not None and not depth:
                field, tokens = match.group(1), []
            elif token == b"{" and not depth:
                if not stack:
                    stack.append(_Element(type_, arrays, True))
                else:
                    top = stack[-1]
                    # The type of a struct in a struct is not known here: it is that of a field.
                    inner = top.type + b"." + field if top.type and field else b""
                    stack.append(_Element(top.type, top.arrays - 1, True) if top.arrays else _Element(inner, 0, True))
                positions.append(0)
                field, tokens = b"", []
            elif token in (b",", b"}") and not depth:
                top = stack[-1]
                if len(tokens) > 3 and tokens[1] == b"(":
                    yield from self._to_macro(tokens, symbol)
                for value in self._element(tokens, function):
                    if top.arrays:
                        yield StoredFunction(variable, name, "", value, symbol)
                    elif field and b"." in top.type:
                        yield StoredFunction(
                            FIELD, "", field.decode(), value, symbol, holder=_path(*top.type.split(b"."))
                        )
                    elif field:
                        yield StoredFunction(FIELD, top.type.decode(), field.decode(), value, symbol)
                    elif top.type and b"." not in top.type:
                        yield StoredFunction(ELEMENT, top.type.decode(), str(positions[-1]), value, symbol)
                    elif name and len(stack) == 1:
                        yield StoredFunction(variable, name, "", value, symbol)
                field, tokens = b"", []
                if token == b",":
                    positions[-1] += 1
                    continue
                stack.pop()
                positions.pop()
                if not stack:
                    self._end = match.end()
                    return
            else:
                depth += (token == b"(") - (token == b")")
                if not token.endswith(b"=") or len(token) == 1:
                    tokens.append(token)
        self._end = start + _LIST

    def _to_macro(self, tokens: list[bytes], symbol: int) -> Iterator[StoredFunction]:
        """The functions that an element of an initialiser passes to a macro, which another file may define."""
        texts = arguments(b" ".join(tokens)) if len(tokens) < _MOST_TOKENS else []
        for index, argument in enumerate(texts[:_MOST_PLACES]):
            name = argument.strip()
            if _NAME.fullmatch(name) and self._may_be_function(name):
                yield StoredFunction(ARGUMENT, tokens[0].decode(), str(index), _name(name), symbol)

    def _element(self, tokens: list[bytes], function: _Function | None) -> Iterator[Expr]:
        """The functions that an element of an initialiser may mean."""
        if len(tokens) == 3 and tokens[0] == b"(":  # as macros write their parameters
            tokens = tokens[1:2]
        if not tokens or len(tokens) > 12 or (len(tokens) > 1 and tokens[1] == b"(" and tokens[0] != b"("):
            return
        if len(tokens) == 1 and not self._may_be_function(tokens[0]) and tokens[0] not in self._functional:
            return
        yield from self._values(b" ".join(tokens).replace(b"( ", b"(").replace(b" )", b")"), function, fields=False)

    def _stores(self) -> Iterator[StoredFunction]:
        """The functions that code inside functions assigns to fields, and to variables other than its locals."""
        for match in _STORE.finditer(self._plain):
            field, plain, path_of, text = match.groups()
            if path_of:
                # Most fields that are copied are no functions.
                if not (_FUNCTION_TYPE.search(field) or _FUNCTION_TYPE.search(path_of)):
                    continue
            elif plain is not None and not self._may_be_function(plain):
                continue
            function = self._function_at(match.start())
            text = plain + path_of if plain is not None else text
            values = list(self._values(text, function, fields=bool(path_of))) if function else []
            if function is not None and values:
                owner, *path = self._owner(function, match.start())
                holder = _path(owner, *path) if path else ()
                for value in values:
                    of = "" if path else owner.decode()
                    yield StoredFunction(FIELD, of, field.decode(), value, function.symbol, holder=holder)
        for match in _SET.finditer(self._plain):
            text = match.group(1)
            if not self._may_be_function(text) or self._plain[match.start() - 1] in b"=!<>+-*/|&^%":
                continue
            variable = _SET_NAME.search(self._plain[max(0, match.start() - _OBJECTS) : match.start()])
            function = self._function_at(match.start())
            name = variable.group(1) if variable is not None else b""
            if not name or function is None or name in self._variables:
                continue
            if name not in function.names and not _CONSTANT.fullmatch(name):
                for value in self._named_values(text, function, deep=True):
                    yield StoredFunction(VARIABLE, name.decode(), "", value, function.symbol)

    def _owner(self, function: _Function, end: int) -> list[bytes]:
        """For the field accessed at a byte: the type of the local or variable, then the fields that lead from it to the
        accessed field. [b""] if unknown.
        """
        match = _OBJECT.search(self._plain[max(0, end - _OBJECTS) : end])
        if match is None:
            return [b""]
        variable = function.names.get(match.group(1))
        type_ = variable.type if variable is not None else self._types.get(match.group(1), b"")
        return [type_, *_STEP.findall(match.group(2))] if type_ else [b""]

    def _called_locals(self) -> Iterator[StoredFunction]:
        """Facts about the locals and parameters that are called, or whose members are called."""
        numbers = {entity.symbol: number for number, entity in enumerate(self._entities)}
        called: dict[int, dict[bytes, None]] = {}  # not sets, whose order differs from run to run
        functional = {name.decode() for name in self._functional}
        for call in self._calls:
            number = numbers.get(call.caller, -1)
            if number < 0 or (not call.receiver and call.name not in functional):
                continue
            root = _NAME.search(call.receiver.encode("utf-8", "replace")) if call.receiver else None
            name = root.group() if root is not None else call.name.encode("utf-8", "replace")
            function = self._function(number)
            variable = function.names.get(name)
            if variable is None:
                continue
            if root is not None and variable.type:
                yield StoredFunction(VARIABLE_TYPE, name.decode(), "", _name(variable.type), function.symbol)
            elif root is None and variable.functional:
                if variable.place >= 0:
                    yield StoredFunction(LOCAL, name.decode(), "", _parameter(variable.place), function.symbol)
                called.setdefault(number, {})[name] = None
        for number, names in called.items():
            function = self._function(number)
            for name in names:
                for value in self._assigned_values(function, name):
                    yield StoredFunction(LOCAL, name.decode(), "", value, function.symbol)

    def _macros(self) -> Iterator[StoredFunction]:
        """The parameters that macros call, pass on or assign to fields, and functions that macros assign to fields."""
        source = self._captured.source
        assigned: dict[str, list[tuple[bytes, str, bytes]]] = {}
        for node, start, end in self._captured.expansions:
            close = source.find(b")", start, end) if source.startswith(b"(", start) else -1
            fields = _ASSIGNED.findall(source, start, end) if source.find(b"=", start, end) >= 0 else []
            if close < 0 and not fields:
                continue
            name = node.child_by_field_name("name")
            if name is None:
                continue
            if close < 0:
                assigned.setdefault((name.text or b"").decode("utf-8", "replace"), []).extend(
                    (of, field.decode(), value) for of, field, value in fields
                )
                continue
            indices = {word.strip(): index for index, word in enumerate(source[start + 1 : close].split(b","))}
            macro, symbol = (name.text or b"").decode("utf-8", "replace"), self._finder.symbol(start - 1)
            if symbol < 0:
                continue
            for of, field, value in fields:
                if value in indices:
                    holders = set(self._holders.get(field.decode(), ()))
                    owner = holders.pop() if len(holders) == 1 else ""
                    yield StoredFunction(FIELD, owner, field.decode(), _parameter(indices[value]), symbol)
                else:
                    assigned.setdefault(macro, []).append((of, field.decode(), value))
            for called in _CALL.findall(source, close, end):
                if called in indices:
                    yield StoredFunction(APPLIED, macro, "", _parameter(indices[called]), symbol)
            for called, value in _CALL_OF_MACRO.findall(source, close, end):
                for index, argument in enumerate(value.split(b",")):
                    if argument.strip() in indices:
                        passed, there = _parameter(indices[argument.strip()]), (*_name(called), *_parameter(index))
                        yield StoredFunction(APPLIED, macro, "", passed, symbol, holder=there)
        yield from self._macro_assignments(assigned)

    def _macro_assignments(self, assigned: dict[str, list[tuple[bytes, str, bytes]]]) -> Iterator[StoredFunction]:
        """The parameters of a function that a macro, which the function uses, assigns to fields by their names.

        Args:
            assigned: Maps each macro to its assignments: (variable, field of the variable, assigned name).
        """
        numbers = {entity.symbol: number for number, entity in enumerate(self._entities)} if assigned else {}
        for call in self._calls if assigned else ():
            for of, field, value in assigned.get(call.name, ()):
                number = numbers.get(call.caller, -1)
                names = self._function(number).names if number >= 0 else {}
                variable = names.get(value)
                if variable is not None and variable.functional and variable.place >= 0:
                    owner = names[of].type.decode() if of in names else ""
                    yield StoredFunction(FIELD, owner, field, _parameter(variable.place), call.caller)

    def _passed_functions(self) -> Iterator[StoredFunction]:
        """The functions that are passed as arguments."""
        seen: set[int] = set()
        answers = self._maybe
        for match in _PASSED.finditer(self._plain):
            name = match.group(2)
            may_be = answers[name] if name in answers else self._may_be_function(name)
            if not may_be or (match.group(1) and name in self._functional):
                continue
            number = self._number(match.start())
            opening, index = self._opening(match.start()) if number >= 0 else (-1, 0)
            if opening < 0:
                continue
            callee = _CALLEE.search(self._plain[max(0, opening - _OBJECTS) : opening])
            if callee is None or (called_name := callee.group(1)) in _NO_TYPES:
                continue
            called = called_name.decode()
            symbol = self._entities[number].symbol
            if not _CONSTANT.fullmatch(called_name):
                if name not in self._functional:
                    yield StoredFunction(ARGUMENT, called, str(index), _name(name), symbol)
                    continue
                function = self._function(number)
                for value in self._values(match.group()[1:], function, fields=False):
                    yield StoredFunction(ARGUMENT, called, str(index), value, symbol)
            elif opening not in seen:  # a macro: it may call a field that is passed beside a function
                seen.add(opening)
                function = self._function(number)
                texts = arguments(self._plain[opening : opening + _ARGUMENTS])
                for at, argument in enumerate(texts[:_MOST_PLACES]):
                    for value in self._values(argument, function, fields=True):
                        yield StoredFunction(ARGUMENT, called, str(at), value, symbol)

    def _opening(self, at: int) -> tuple[int, int]:
        """For a `(` or comma in an argument list: (position of the list's `(`, index of the next argument).

        The position is -1 if the `(` is far away.
        """
        near = self._plain[max(0, at - _OBJECTS) : at + 1]
        opening = near.rfind(b"(")
        if opening >= 0 and near.find(b")", opening) < 0:
            return max(0, at - _OBJECTS) + opening, near.count(b",", opening)
        for reach in (_OBJECTS, _BEFORE):
            depth = index = 0
            for match in reversed(list(_GROUPS.finditer(self._plain, max(0, at - reach), at + 1))):
                sign = match.group()
                if sign == b")":
                    depth += 1
                elif sign == b"(" and not depth:
                    return match.start(), index
                elif sign == b"(":
                    depth -= 1
                elif not depth:
                    index += 1
        return -1, 0


def _plain(captured: Captures) -> bytes:
    """The source with comments, strings and directives replaced by spaces."""
    text = bytearray(captured.parsed)
    for node in captured.texts:
        start, end = node.start_byte, node.end_byte
        text[start:end] = b" " * (end - start)
    return _DIRECTIVE.sub(lambda match: b" " * (match.end() - match.start()), text)


def _squeeze_blanks(plain: bytes, functions: list[Entity]) -> tuple[bytes, list[int], list[int]]:
    """(The text with each run of blanks as a single space, the starts of the functions in it, their ends)."""
    parts: list[bytes] = []
    places: dict[int, int] = {}
    last = length = 0
    for at in sorted({function.start for function in functions} | {function.end for function in functions}):
        part = b" ".join(plain[last:at].split())
        if part:
            parts.append(part)
            length += len(part) + 1
        places[at] = length
        last = at
    parts.append(b" ".join(plain[last:].split()))
    return (
        b" ".join(parts),
        [places[function.start] for function in functions],
        [places[function.end] for function in functions],
    )


def _outside(plain: bytes, functions: list[Entity]) -> bytes:
    """The text outside of functions, with its lines unchanged."""
    parts = [b""]
    last = 0
    for function in functions:
        if function.start > last:
            parts.append(plain[last : function.start])
        last = max(last, function.end)
    parts.append(plain[last:])
    return b"\n".join(parts)


def _may_be_function(name: bytes) -> bool:
    return not _CONSTANT.fullmatch(name) and name not in _NO_FUNCTIONS and name not in _PLAIN_TYPES


def _aliases(name: str, other: str) -> Iterator[StoredFunction]:
    yield StoredFunction(SAME_TYPE, name, "", _name(other))
    yield StoredFunction(SAME_TYPE, other, "", _name(name))


def _name(name: bytes | str) -> Expr:
    """The expression that consists of a single name."""
    return (Step(NAME, name if isinstance(name, str) else name.decode()),)


def _parameter(index: int) -> Expr:
    """The expression for the parameter at index `index` of the enclosing function or macro."""
    return (Step(PARAMETER, str(index)),)


def _path(type_: bytes, *fields: bytes) -> Expr:
    """The expression for a chain of fields, starting from an object of the type `type_`."""
    return (Step(CAST, type_.decode()), *[Step(ATTR, field.decode()) for field in fields])


def _names(text: bytes) -> dict[bytes, _Name]:
    """Maps the names of a function's parameters and locals to what they are; `text` follows the function's name."""
    names: dict[bytes, _Name] = {}
    start = max(text.find(b"("), 0)
    end = closing(text, start, _ARGUMENTS) or start
    for index, parameter in enumerate(arguments(text[:end])):
        pointer = _POINTER.search(b" " + parameter + b"(") if b"(" in parameter else None
        if pointer is not None:
            names[pointer.group(2)] = _Name(b"", True, index)
            continue
        words = _NAME.findall(parameter)
        plain = [word for word in words if word not in _QUALIFIERS]
        if len(plain) > 1:
            names[plain[-1]] = _typed_name(plain[-2], parameter, words, index)
    body = text[end:]
    for match in _LOCAL.finditer(body):
        qualifiers, type_, stars, name, _ = match.groups()
        if type_ in _NO_TYPES or type_ in _QUALIFIERS:
            continue
        names.setdefault(name, _typed_name(type_, stars, qualifiers.split(), -1))
        if body[match.end()] in b",=":
            stop = body.find(b";", match.end())
            rest = body[match.end() : stop] if 0 <= stop < match.end() + _VALUE else b""
            if b"(" not in rest and b"{" not in rest:
                for other in _MORE.findall(rest):
                    names.setdefault(other, _typed_name(type_, stars, qualifiers.split(), -1))
    for match in _POINTER.finditer(body) if b"(*" in body or b"( *" in body else ():
        if match.group(1) not in _NO_TYPES:
            names[match.group(2)] = _Name(b"", True, -1)
    return names


def _typed_name(type_: bytes, stars: bytes, words: Iterable[bytes], index: int) -> _Name:
    plain = type_ in _PLAIN_TYPES
    structured = any(word in (b"struct", b"union", b"enum") for word in words)
    pointed = b"*" in stars and not (stars.count(b"*") == 1 and _FUNCTION_TYPE.search(type_))
    return _Name(b"" if plain else type_, not plain and not structured and not pointed, index)


def _members(text: bytes, conditional: int, nested: int = 0) -> Iterator[tuple[str, int, str]]:
    """The fields of a struct, each as (name, position, type). The position is -1 if unknown. The type is `?` for a
    pointer to a function, and "" in an anonymous struct, whose fields count as fields of the outer struct.
    """
    index = count = 0
    first = 0
    depth = 0
    for match in _SIGNS.finditer(text):
        sign, at = match.group(), match.start()
        depth += (sign in b"{(") - (sign in b"})")
        if sign == b"}" and not depth and b"(" in text[first : min(at, first + _BEFORE)].partition(b"{")[0]:
            first = at + 1  # a method
        if sign != b";" or depth:
            continue
        member = _ACCESS.sub(b"", text[first:at])
        position = index if not 0 <= conditional < at else -1
        first = at + 1
        count += 1
        if count > _MOST_MEMBERS:
            return
        opening, closing = member.find(b"{"), member.rfind(b"}")
        if 0 <= opening < closing:
            if nested < _NESTED:
                for name, _, type_ in _members(member[opening + 1 : closing], -1, nested + 1):
                    yield name, -1, type_
            name_of = _NAME.search(member, closing)
            if name_of is not None:
                yield name_of.group().decode(), position, ""
            index += 1
            continue
        pointers = _POINTERS.findall(member)
        for name, _ in pointers:
            yield name.decode(), position if position < 0 else index, "?"
            index += 1
        if pointers:
            continue
        if b"(" in member:
            continue
        words = [word for word in _NAME.findall(member.partition(b":")[0]) if word not in _QUALIFIERS]
        for declarator in member.split(b","):
            names = _NAME.findall(declarator.partition(b"[")[0].partition(b":")[0])
            if len(words) > 1 and names and words[0] not in _PLAIN_TYPES:
                yield names[-1].decode(), position if position < 0 else index, words[0].decode()
            index += 1
