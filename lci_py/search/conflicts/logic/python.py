"""Python's `if` and `try` around definitions."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from lci_py.search.conflicts.logic import platforms
from lci_py.search.conflicts.logic.atoms import EMPTY, NO, NULL, Dialect, flag, scalar
from lci_py.search.conflicts.logic.comparisons import Comparison, items
from lci_py.search.conflicts.logic.solve import Formula, Literal, either
from lci_py.search.conflicts.logic.values import Number, Values, compared, numeric, prefixed, words
from lci_py.source.conditions.formula import Grammar
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lci_py.search.conflicts.logic.comparisons import Leaf
    from lci_py.search.conflicts.logic.machine import Machine
    from lci_py.search.conflicts.logic.values import Allowed

#: Beginnings of `sys.platform`. Sources: its documentation, and the release notes of Pythons that dropped a platform.
_FAMILIES = "linux freebsd openbsd netbsd dragonfly sunos aix gnukfreebsd gnu hp-ux irix unixware haiku".split()
_PLATFORMS = [
    "win32", "cygwin", "msys", "darwin", "emscripten", "wasi", "ios", "android", "os2", "riscos", "atheos", "cli",
    "java", "hurd", "qnx", "vxworks", *(f"{name}{digit}" for name in _FAMILIES for digit in ("", *range(21))),
]  # fmt: skip
_BITS = {name: 1 << bit for bit, name in enumerate(_PLATFORMS)}
#: Platforms by their `os.name`. On all others, also on new ones, it is "posix".
_OS_NAMES = {"nt": ("win32",), "java": ("java",), "os2": ("os2",), "riscos": ("riscos",)}
_SYSTEMS = {
    "Windows": "win32", "Linux": "linux", "Darwin": "darwin", "Java": "java", "FreeBSD": "freebsd", "AIX": "aix",
    "OpenBSD": "openbsd", "NetBSD": "netbsd", "SunOS": "sunos", "Emscripten": "emscripten", "Android": "android",
    "iOS": "ios",
}  # fmt: skip
#: Names of variables in which projects keep the answer, in any case and with underscores or `is_` around them.
_OWN_NAMES = {
    "windows": "win32", "win32": "win32", "win": "win32", "mswindows": "win32", "linux": "linux", "macos": "darwin",
    "darwin": "darwin", "osx": "darwin", "mac": "darwin", "cygwin": "cygwin", "freebsd": "freebsd",
    "ms_windows": "win32", "aix": "aix", "android": "android", "wasi": "wasi", "emscripten": "emscripten",
}  # fmt: skip
_OWN = lazily(r"(?:\w+\.)*_*((?:(?:IS|ON|is|on)_)?)([A-Za-z][A-Za-z\d_]*?)_*")
_PLATFORM = frozenset({"sys.platform", "platform", "_sys.platform", "sys.platform.lower()"})
_SLICE = lazily(r"(.*)\[:(\d{1,2})\]")
_SYSTEM = frozenset({"platform.system()", "system()", "_platform.system()"})
_METHOD = lazily(r"([\w.]+)\.(startswith|endswith)(\(.*\))", re.DOTALL)
_VERSION = lazily(r"(?:_?sys\.)?version_info(?:\.(major|minor|micro)|\[(.{1,6})\])?")
_MAJOR = lazily(r"(?:\w+\.)*_*(?:IS_|is_)?PY(?:THON)?_?([23])_*", re.IGNORECASE)
_PARTS = {"major": 0, "minor": 1, "micro": 2, "0": 0, "1": 1, "2": 2}


def _special(leaf: Leaf) -> Formula | None:
    if isinstance(leaf, Comparison):
        return _platform_comparison(leaf) or _version_comparison(leaf)
    text = leaf.text
    if match := _METHOD.fullmatch(text):
        return _affix(match[1], match[2], match[3])
    if text.endswith("TYPE_CHECKING"):
        return flag("TYPE_CHECKING")
    if match := _MAJOR.fullmatch(text):
        return Literal(" @python", numeric(prefixed((int(match[1]),))))
    own = _OWN.fullmatch(text)
    # A plain word in small letters may mean anything.
    if own and (own[1] or own[2].isupper() or own[2] == "mswindows") and own[2].lower() in _OWN_NAMES:
        return _starting(_OWN_NAMES[own[2].lower()])
    return None


def _starting(prefix: str) -> Formula | None:
    allowed = _beginning(prefix)
    return Literal(" @platform", allowed) if allowed else None


@lru_cache(maxsize=256)
def _beginning(prefix: str) -> int:
    return sum(bit for name, bit in _BITS.items() if name.startswith(prefix))


def _affix(name: str, method: str, arguments: str) -> Formula | None:
    """`sys.platform.startswith("linux")`, or a tuple of them."""
    given = items(arguments) or []
    given = [inner for item in given for inner in (items(item) or [item])]
    texts = [value[1:] for item in given if isinstance(value := scalar(item), str) and value[:1] == '"']
    if name not in _PLATFORM or len(texts) != len(given) or not texts:
        return None
    allowed = 0
    for text in texts:
        test = str.startswith if method == "startswith" else str.endswith
        allowed |= sum(bit for platform, bit in _BITS.items() if test(platform, text))
    return Literal(" @platform", allowed) if allowed else None


def _platform_comparison(leaf: Comparison) -> Formula | None:
    left, operator, right = leaf
    if left[:1] == '"' and operator == "==":
        left, right = right, left
    if operator == "in" and left[:1] == '"':
        return _inside(left[1:-1], right)
    if operator == "in":
        options = [_platform_comparison(Comparison(left, "==", item)) for item in items(right) or ()]
        found = [option for option in options if option is not None]
        return either(*found) if found and len(found) == len(options) else None
    if operator != "==" or right[:1] != '"':
        return None
    value = right[1:-1]
    if left in _PLATFORM and value in _BITS:
        return Literal(" @platform", _BITS[value])
    if (part := _SLICE.fullmatch(left)) and part[1] in _PLATFORM and len(value) == int(part[2]):
        return _starting(value)
    if left in ("os.name", "_os.name"):
        return _os_name(value)
    if left in _SYSTEM and value in _SYSTEMS:
        return _starting(_SYSTEMS[value])
    return None


def _os_name(value: str) -> Formula | None:
    if value == "posix":
        return Literal(" @platform", ~sum(_BITS[name] for names in _OS_NAMES.values() for name in names))
    return Literal(" @platform", _BITS[_OS_NAMES[value][0]]) if value in _OS_NAMES else None


def _inside(text: str, container: str) -> Formula | None:
    """`"linux" in sys.platform`."""
    allowed = sum(bit for name, bit in _BITS.items() if text in name) if container in _PLATFORM else 0
    return Literal(" @platform", allowed) if allowed else None


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
        place = _PARTS.get(index)
        if place is None or len(value) != 1:
            return None
        name = " @python" if place == 0 else f" @python.{place}"
        return Literal(name, numeric(_sliced(operator, value, 1)))
    return Literal(" @python", numeric(_sliced(operator, value, length)))


def _sliced(operator: str, value: Number, length: int) -> tuple[tuple[Number, int], ...]:
    """The versions whose first `length` parts compare with `value` as the operator says.

    A version has five parts, so that it is greater than a shorter tuple that it begins with.
    """
    if len(value) < length:
        if operator == "==":
            return ()
        return compared("<" if operator in ("<", "<=") else ">=", value)
    if len(value) > length:  # `version_info[:2] >= (3, 8, 1)`: what begins with (3, 8) is less
        value, operator = value[:length], {">=": ">", "<": "<="}.get(operator, operator)
        if operator == "==":
            return ()
    if operator == "==":
        return prefixed(value)
    after = (*value[:-1], value[-1] + 1)
    return compared("<" if operator in ("<", "<=") else ">=", value if operator in ("<", ">=") else after)


#: The platforms that words in paths stand for, where they are not the beginning of a `sys.platform`.
_SUGGESTED = {
    "windows": ("win32",), "macos": ("darwin",), "apple": ("darwin", "ios"), "solaris": ("sunos",), "hpux": ("hp-ux",),
    "bsd": ("freebsd", "openbsd", "netbsd", "dragonfly"), "hurd": ("gnu", "hurd"),
    "kqueue": ("darwin", "ios", "freebsd", "openbsd", "netbsd", "dragonfly"),
}  # fmt: skip


def _suggested(word: str) -> Formula:
    if word == "unix":
        return _os_name("posix") or flag("unix")
    allowed = sum(_beginning(name) for name in _SUGGESTED.get(word, (word,)))
    return Literal(" @platform", allowed) if allowed else platforms.suggested(word)


def _here(machine: Machine) -> Mapping[str, Allowed]:
    known: dict[str, Allowed] = {
        " @python": numeric(prefixed(tuple(machine.python))),
        "sys.byteorder": words(f'"{machine.byteorder}'),
        flag("TYPE_CHECKING").variable: ~1,
    }
    if machine.platform in _BITS:
        known[" @platform"] = _BITS[machine.platform]
    return known


PYTHON = Dialect(
    grammar=Grammar(loose=frozenset({"not"})),
    chains=True,
    falsy=Values(frozenset({NULL, NO, EMPTY}), numbers=compared("==", (0,))),
    special=_special,
    suggested=_suggested,
    here=_here,
)
