"""Ruby, PHP, Lua, Elixir, shells, JavaScript and TypeScript."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.search.conflicts.logic import platforms
from lci_py.search.conflicts.logic.atoms import EMPTY, NO, NULL, UNDEFINED, Dialect, Operand, flag, scalar
from lci_py.search.conflicts.logic.solve import Formula, Literal, opposite
from lci_py.search.conflicts.logic.tables import table
from lci_py.search.conflicts.logic.values import Values, compared, number, numeric, words
from lci_py.source.conditions.formula import COMPARISONS, Grammar
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lci_py.search.conflicts.logic.atoms import Leaf
    from lci_py.search.conflicts.logic.machine import Machine
    from lci_py.search.conflicts.logic.values import Allowed

# Ruby
RUBY = Dialect(grammar=Grammar(loose=frozenset({"not"})), falsy=words(NULL, NO))

# PHP
PHP = Dialect(
    falsy=Values(frozenset({NULL, NO, EMPTY, '"0'}), numbers=compared("==", (0,))),
)

# Lua
LUA = Dialect(falsy=words(NULL, NO))

# Elixir
# `Mix.env()` and `Mix.env` are the same call.
ELIXIR = Dialect(falsy=words(NULL, NO), spell=lambda tag: tag.replace("()", ""))

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
    if name in _UNAME and (found := platforms.named(value.strip("*").rstrip("-_"))):
        return found
    if re.search(r"[*?\[]", value):
        return flag(f"{name} == {value}")
    plain = number(value)
    return Literal(name, words(f'"{value}') if plain is None else numeric(compared("==", plain)))


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
    falsy=Values(frozenset({NULL, UNDEFINED, NO, EMPTY}), numbers=compared("==", (0,))),
    special=_javascript,
    facts=table("suffixes").facts,
    here=_js_here,
)
