"""What build files say in the open of the platforms of C and C++ files: `if(WIN32)` around a list of sources.

CMake, Meson, Makefiles (automake's, too), `setup.py` and `build.rs` are read as far as a line goes: which branches are
around the name of a file, and which operating systems and processors those ask for. What else they ask is left out, so
that a condition may be wider than it is, never narrower.
"""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.conditions.formula import Atom, Grammar, Not, Some, parse
from lci_py.source.conditions.paths import platform_word
from lci_py.source.conditions.text import any_of, join, negate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lci_py.search.snapshot import Snapshot
    from lci_py.source.conditions.formula import Condition

_FILE = r"(?P<file>[\w./*${}-]{1,200}\.(?:cc|cpp|cxx|c|mm|m))\b(?![.(])"
_CMAKE = re.compile(
    rf"#[^\n]*|^[ \t]*(?P<word>if|elseif|else|endif)[ \t]*\((?P<rest>[^\n]{{0,400}})|{_FILE}", re.M | re.I
)
_MAKE = re.compile(rf"#[^\n]*|^[ \t]*(?P<word>if\w*|elif|else|endif)\b(?P<rest>[^\n]{{0,400}})|{_FILE}", re.M)
_PYTHON = re.compile(rf"#[^\n]*|^(?P<indent>[ \t]*)(?P<word>if|elif|else)\b(?P<rest>[^\n]{{0,400}}):|{_FILE}", re.M)
_RUST = re.compile(
    rf"//[^\n]*|\b(?P<word>if|else)\b(?P<rest>[^{{}};\n]{{0,400}})\{{|(?P<open>\{{)|(?P<close>\}})|{_FILE}", re.M
)
#: By name of the file; of several that name a source, the first in this order counts.
_READ = {
    "CMakeLists.txt": _CMAKE, "meson.build": _MAKE, "setup.py": _PYTHON, "build.rs": _RUST, "Makefile.am": _MAKE,
    "Makefile": _MAKE, "GNUmakefile": _MAKE, "Makefile.inc": _MAKE,
}  # fmt: skip
_MAX_FILES, _MAX_LINES, _MAX_TEXT = 40, 5_000, 400_000
_MAX_OPEN = 32  # branches in branches, and branches of one condition whose opposites are kept
_WORD = re.compile(r"!=|!|[a-z_][\w.]*")
_GRAMMAR = Grammar(opaque=frozenset(), comparisons={})
#: Parts of what only leads to the platform: names of variables, functions and operators.
_NOISE = frozenset(
    "cmake_system_name cmake_host_system_name cmake_system_processor strequal matches equal host_machine target_machine"
    " build_machine system sys platform startswith os name target_os cargo_cfg_target_os cfg env var unwrap as_str"
    " contains target in uname_s host_os defined cpu_family cpu is_ok is ifeq if".split()
)
_FAMILIES = frozenset({"unix", "bsd", "apple", "kqueue"})  # of several systems


class _Branch(NamedTuple):
    """A branch that is open: its condition, the opposite of those before it, and where it began."""

    condition: str
    before: tuple[str, ...]
    indent: int


def platform_of(snapshot: Snapshot, path: str) -> str | None:
    """The platforms that build files name a file for, in words of `inferred_condition`: `windows`, `linux || android`.

    None if no build file names it, or for any platform.
    """
    return _platforms(snapshot).get(path)


@lru_cache(maxsize=1)
def _platforms(snapshot: Snapshot) -> dict[str, str]:
    paths = snapshot.symbols.paths()
    order = {name: place for place, name in enumerate(_READ)}
    builds = [path for path in paths if posixpath.basename(path) in order]
    builds.sort(key=lambda path: (order[posixpath.basename(path)], path.count("/"), path))
    known = set(paths)
    found: dict[str, str] = {}
    for build in builds[:_MAX_FILES]:
        lines = snapshot.reader.some(build, 1, _MAX_LINES)
        text = b"\n".join(lines).decode("utf-8", "replace")[:_MAX_TEXT]
        named: dict[str, list[str]] = {}
        for mention, condition in _mentions(text, _READ[posixpath.basename(build)]):
            for path in _meant(posixpath.dirname(build), mention, known, paths):
                named.setdefault(path, []).append(condition)
        for path, conditions in named.items():
            if all(conditions):
                found.setdefault(path, any_of(list(dict.fromkeys(conditions))))
    return found


def _meant(folder: str, mention: str, known: set[str], paths: list[str]) -> list[str]:
    """The files that a build file means by a name, which may have a `*`."""
    name = re.sub(r"^\$[({]\w+[)}]/", "", mention)
    path = posixpath.normpath(posixpath.join(folder, name))
    if "*" not in path:
        return [path] if path in known else []
    start, _, end = path.partition("*")
    return [] if "*" in end else [
        one for one in paths if one.startswith(start) and one.endswith(end) and "/" not in one[len(start) : -len(end)]
    ]  # fmt: skip


def _mentions(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Each source that a build file names, with the platforms that the branches around it ask for; "" for any."""
    stack: list[_Branch] = []
    for match in pattern.finditer(text):
        groups = match.groupdict()
        word, rest = (groups["word"] or "").lower(), groups["rest"] or ""
        indent = -1
        if pattern is _PYTHON:  # its branches end where the text goes back
            at = match.start()
            begin = text.rfind("\n", max(0, at - 200), at) + 1
            line = text[begin : begin + 200]
            indent = len(line) - len(line.lstrip(" \t"))
            while stack and stack[-1].indent >= indent + (word in ("elif", "else")):
                stack.pop()
        if groups["file"]:
            yield groups["file"], join([branch.condition for branch in stack if branch.condition]) or ""
        elif groups.get("open"):
            stack.append(_Branch("", (), -1))
        elif groups.get("close"):
            if stack and not re.match(r"\s*else\b", text[match.end() : match.end() + 40]):
                stack.pop()
        elif word == "endif":
            stack[-1:] = []
        elif word.startswith("el"):
            if stack:
                more = re.sub(r"^\s*if\w*", "", rest) if word == "else" else rest
                asks = word != "else" or more.strip() != rest.strip()
                stack[-1] = _opened(stack[-1].before, more if asks else "", word=rest.strip()[:5], indent=indent)
        elif word and len(stack) < _MAX_OPEN:
            stack.append(_opened((), rest, word=word, indent=indent))


def _opened(before: tuple[str, ...], rest: str, *, word: str, indent: int) -> _Branch:
    own, is_exact = _asked(rest)
    if word in ("ifneq", "ifnde"):
        own = negate(own) if own and is_exact else ""
    opposite = (*before, negate(own))[:_MAX_OPEN] if own and is_exact else before
    # One system is none of the others.
    is_one = own.isidentifier() and own not in _FAMILIES
    return _Branch(own if is_one else join([*before, own]) or "", opposite, indent)


def _asked(text: str) -> tuple[str, bool]:
    """The platforms that a condition asks for, "" if none, and whether it asks nothing else."""
    text = text.lower().replace("cfg!", "cfg").rstrip()
    if text.count(")") > text.count("("):
        text = text.removesuffix(")")  # CMake's, of the `if (`
    return _platforms_of(parse(text, _GRAMMAR))


def _platforms_of(condition: Condition) -> tuple[str, bool]:
    if isinstance(condition, Atom):
        return _named(condition.source) if condition.is_whole else ("", False)
    if isinstance(condition, Not):
        text, is_exact = _platforms_of(condition.part)
        return (negate(text), True) if text and is_exact else ("", False)
    parts = [_platforms_of(part) for part in condition.parts]
    texts, is_exact = [text for text, _ in parts if text], all(exact for _, exact in parts)
    if isinstance(condition, Some):
        return (any_of(texts), is_exact) if len(texts) == len(parts) else ("", False)
    return join(texts) or "", is_exact


def _named(text: str) -> tuple[str, bool]:
    """As `_asked`, of a condition without operators: a name, a call or a comparison."""
    tokens = [token.strip("_.") for token in _WORD.findall(text)]
    denied = sum(token in ("not", "!", "!=") for token in tokens) % 2 == 1
    named = [one for one in tokens if one[:1].isalpha() and one != "not" and not _NOISE.issuperset(one.split("."))]
    words = [platform_word(re.sub(r"^(?:is|on|have|target|host|build)_|_nt$", "", name)) for name in named]
    if not words or not all(words):
        return "", not named
    either = any_of(list(dict.fromkeys(word for word in words if word)))
    return negate(either) if denied else either, True
