"""Reads the conditions of scripting languages, which are evaluated when a program starts."""

from __future__ import annotations

import re
from string import digits
from typing import TYPE_CHECKING

from lci_py.search.conflicts.logic import platforms
from lci_py.search.conflicts.logic.atoms import (
    EMPTY,
    NO,
    NULL,
    UNDEFINED,
    Comparison,
    Dialect,
    Operand,
    flag,
    items,
    scalar,
)
from lci_py.search.conflicts.logic.solve import Formula, Literal, either, opposite
from lci_py.search.conflicts.logic.tables import table
from lci_py.search.conflicts.logic.values import (
    Number,
    Values,
    number,
    numbers_where,
    numeric,
    versions_with_prefix,
    words,
)
from lci_py.source.conditions.formula import COMPARISONS, Grammar
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lci_py.search.conflicts.logic.atoms import Leaf
    from lci_py.search.conflicts.logic.platforms import Machine
    from lci_py.search.conflicts.logic.values import Allowed

# Ruby
RUBY = Dialect(grammar=Grammar(loose=frozenset({"not"})))

# PHP
PHP = Dialect(falsy=Values(frozenset({NULL, NO, EMPTY, '"0'}), numbers=numbers_where("==", (0,))))

# Elixir
# `Mix.env()` and `Mix.env` are the same call.
ELIXIR = Dialect(spell=lambda tag: tag.replace("()", ""))

# Shells
_UNAME = frozenset({"$(uname)", "$(uname-s)", "`uname`", "`uname-s`", "$OSTYPE", "${OSTYPE}", "${OSTYPE:-}"})
_TESTS = lazily(r" -(eq|ne|lt|le|gt|ge) ")
_TEST_OPERATORS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def _shell_text(tag: str) -> str:
    return _TESTS.sub(lambda match: f" {_TEST_OPERATORS[match[1]]} ", tag)


def _shell(leaf: Leaf) -> Formula | None:
    if isinstance(leaf, Operand):
        # `-n $x` asks whether a variable has any text, `-z $x` whether it has none.
        text = leaf.text.replace('"', "")
        if text[:2] not in ("-n", "-z"):
            return None
        return Literal(text[2:], words(EMPTY) if text[1] == "z" else ~words(EMPTY))
    left, operator, right = leaf
    if operator not in ("==", "==="):
        return None
    if "$" not in left and "`" not in left:
        left, right = right, left
    # `"$x"` is the value of x; in other languages a quoted text is a constant.
    name, value = left.replace('"', ""), right.strip('"')
    if "$" in value or "`" in value or ("$" not in name and "`" not in name):
        return flag(f"{name} == {value}")
    if name in _UNAME and (system := platforms.system_of(value.strip("*").rstrip("-_"))):
        return system
    if re.search(r"[*?\[]", value):
        return flag(f"{name} == {value}")
    plain = number(value)
    return Literal(name, words(f'"{value}') if plain is None else numeric(numbers_where("==", plain)))


SHELL = Dialect(
    # Words and most signs are arguments of commands, not operators.
    grammar=Grammar(
        words=False,
        opaque=frozenset({";"}),
        comparisons={sign: COMPARISONS[sign] for sign in ("==", "===", "!=", "!==", "=~", "<", "<=", ">", ">=")},
    ),
    falsy=words(EMPTY),
    spell=_shell_text,
    special=_shell,
    facts=platforms.FACTS,
)

# JavaScript and TypeScript: environment variables, `typeof`, and the suffixes that bundlers choose files by
_JS_MODE = "process.env.NODE_ENV"
_PRODUCTION = Literal(_JS_MODE, words('"production'))
# Sources: vite.dev, "Env variables and modes"; Metro and React Native set both from one option.
_JS_WORDS = {
    **table("suffixes").words,
    "import.meta.env.PROD": _PRODUCTION,
    **dict.fromkeys(("import.meta.env.DEV", "__DEV__"), opposite(_PRODUCTION)),
}
#: Objects whose members are the globals.
_GLOBALS = ("globalThis.", "global.", "window.", "self.")


def _js_name(text: str) -> str:
    text = text.replace("?.", ".")
    for prefix in _GLOBALS:
        if text.startswith(prefix):
            return text[len(prefix) :]
    return text


def _javascript(leaf: Leaf) -> Formula | None:
    if isinstance(leaf, Operand):
        name = _js_name(leaf.text)
        return _JS_WORDS.get(name) or (None if scalar(name) is not None else Literal(name, ~JAVASCRIPT.falsy))
    left, operator, right = leaf
    if operator == "==" and scalar(right) in (NULL, UNDEFINED):
        return Literal(_js_name(left), words(NULL, UNDEFINED))
    return None


def _js_here(machine: Machine) -> Mapping[str, Allowed]:
    return {"process.platform": words(f'"{machine.platform}')}


JAVASCRIPT = Dialect(
    falsy=Values(frozenset({NULL, UNDEFINED, NO, EMPTY}), numbers=numbers_where("==", (0,))),
    special=_javascript,
    facts=table("suffixes").facts,
    here=_js_here,
)

# Python
#: The values of `sys.platform`, some of which may have a number at their end. Sources: its documentation, and the
#: release notes of Pythons that dropped a platform.
_PLATFORMS = (
    "win32 cygwin darwin emscripten wasi ios android os2 riscos java qnx vxworks linux freebsd openbsd netbsd "
    "dragonfly sunos aix gnu hp-ux irix haiku"
).split()
_CALLED = {"darwin": "macos", "gnu": "hurd"}  # others are called as everywhere
#: Platforms by their `os.name`. On all others, also on new ones, it is "posix".
_OS_NAMES = {"nt": "windows", "java": "java", "os2": "os2", "riscos": "riscos"}
#: Names of variables in which projects keep the answer, in any case and with underscores or `is_` around them.
_NO_SYSTEMS = frozenset({"epoll", "inotify", "iocp", "kqueue", "nt", "java"})
_OWN = lazily(r"(?:\w+\.)*_*((?:(?:IS|ON|is|on)_)?)([A-Za-z][A-Za-z\d_]*?)_*")
_PLATFORM = frozenset({"sys.platform", "platform", "_sys.platform", "sys.platform.lower()"})
_SYSTEM = frozenset({"platform.system()", "system()", "_platform.system()"})
_METHOD = lazily(r"([\w.]+)\.(startswith|endswith)(\(.*\))", re.DOTALL)
_VERSION = lazily(r"(?:_?sys\.)?version_info(?:\.(major|minor|micro)|\[(.{1,6})\])?")
_MAJOR = lazily(r"(?:\w+\.)*_*(?:IS_|is_)?PY(?:THON)?_?([23])_*", re.IGNORECASE)
_PARTS = {"major": 0, "minor": 1, "micro": 2, "0": 0, "1": 1, "2": 2}


def _python(leaf: Leaf) -> Formula | None:
    if isinstance(leaf, Comparison):
        return _platform_comparison(leaf) or _version_comparison(leaf)
    text = leaf.text
    if match := _METHOD.fullmatch(text):
        return _affix(match[1], match[2] == "startswith", match[3])
    if text.endswith("TYPE_CHECKING"):
        return flag("TYPE_CHECKING")
    if match := _MAJOR.fullmatch(text):
        return Literal(" @python", numeric(versions_with_prefix((int(match[1]),))))
    own = _OWN.fullmatch(text)
    # A plain word in small letters may mean anything.
    if own and (own[1] or own[2].isupper() or own[2] == "mswindows") and own[2].lower() not in _NO_SYSTEMS:
        return _system_of(own[2])
    return None


def _system_of(name: str) -> Formula | None:
    return platforms.system_of(_CALLED.get(name.lower(), name))


def _systems(fits: Callable[[str], bool]) -> Formula | None:
    """The formula that `sys.platform` is a system for which `fits` is true; None if it is true for no system."""
    systems = [system for name in _PLATFORMS if fits(name) and (system := _system_of(name))]
    return either(*systems) if systems else None


def _starts(name: str, text: str) -> bool:
    return name.startswith(text) or name == text.rstrip(digits)


def _affix(name: str, at_start: bool, arguments: str) -> Formula | None:
    """The formula of `sys.platform.startswith("linux")` or `endswith`, whose argument may be a tuple."""
    prefixes = [inner for item in items(arguments) or () for inner in (items(item) or [item])]
    texts = [value[1:] for item in prefixes if isinstance(value := scalar(item), str) and value[:1] == '"']
    if name not in _PLATFORM or len(texts) != len(prefixes):
        return None
    return _systems(lambda key: any(_starts(key, text) if at_start else key.endswith(text) for text in texts))


def _platform_comparison(leaf: Comparison) -> Formula | None:
    left, operator, right = leaf
    if left[:1] == '"' and operator == "==":
        left, right = right, left
    if operator == "in" and left[:1] == '"':  # `"linux" in sys.platform`
        return _systems(lambda name: left[1:-1] in name) if right in _PLATFORM else None
    if operator == "in":
        options = [_platform_comparison(Comparison(left, "==", item)) for item in items(right) or ()]
        known_options = [option for option in options if option is not None]
        return either(*known_options) if known_options and len(known_options) == len(options) else None
    if operator != "==" or right[:1] != '"':
        return None
    value = right[1:-1]
    if left in _PLATFORM:
        return _systems(lambda name: name in (value, value.rstrip(digits)))
    if left in ("os.name", "_os.name"):
        if value == "posix":
            return opposite(platforms.system(" ".join(_OS_NAMES.values())))
        return platforms.system(_OS_NAMES[value]) if value in _OS_NAMES else None
    return _system_of(value) if left in _SYSTEM else None


def _version_comparison(leaf: Comparison) -> Formula | None:
    left, operator, right = leaf
    if not _VERSION.fullmatch(left) and _VERSION.fullmatch(right):
        left, right = right, left
        operator = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(operator, operator)
    value = scalar(right)
    if isinstance(value, str) or value is None or operator not in ("==", "<", "<=", ">", ">="):
        return None
    match = _VERSION.fullmatch(left)
    return _version(match, operator, value) if match else None


def _version(match: re.Match[str], operator: str, value: Number) -> Formula | None:
    index, length = match[1] or match[2], 5
    if index and index[:1] == ":":
        if not index[1:].isdigit():
            return None
        length = int(index[1:])
    elif index:
        part = _PARTS.get(index)
        if part is None or len(value) != 1:
            return None
        name = " @python" if part == 0 else f" @python.{part}"
        return Literal(name, numeric(_prefix_versions(operator, value, 1)))
    return Literal(" @python", numeric(_prefix_versions(operator, value, length)))


def _prefix_versions(operator: str, value: Number, length: int) -> tuple[tuple[Number, int], ...]:
    """The versions whose first `length` parts compare with `value` as the operator says, as ranges.

    A version is padded to five parts, so that it is greater than each of its proper prefixes.
    """
    if len(value) < length:
        if operator == "==":
            return ()
        return numbers_where("<" if operator in ("<", "<=") else ">=", value)
    if len(value) > length:  # `version_info[:2] >= (3, 8, 1)`: what begins with (3, 8) is less
        value, operator = value[:length], {">=": ">", "<": "<="}.get(operator, operator)
        if operator == "==":
            return ()
    if operator == "==":
        return versions_with_prefix(value)
    after = (*value[:-1], value[-1] + 1)
    return numbers_where("<" if operator in ("<", "<=") else ">=", value if operator in ("<", ">=") else after)


def _python_here(machine: Machine) -> Mapping[str, Allowed]:
    return platforms.here(machine) | {
        " @python": numeric(versions_with_prefix(tuple(machine.python))),
        "sys.byteorder": words(f'"{machine.byteorder}'),
        flag("TYPE_CHECKING").variable: ~1,
    }


PYTHON = Dialect(
    grammar=Grammar(loose=frozenset({"not"})),
    falsy=Values(frozenset({NULL, NO, EMPTY}), numbers=numbers_where("==", (0,))),
    special=_python,
    here=_python_here,
)
