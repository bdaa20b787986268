"""JavaScript and TypeScript: environment variables, `typeof`, and what bundlers choose files by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.search.conflicts.logic.atoms import EMPTY, NO, NULL, UNDEFINED, Dialect, Operand, scalar
from lci_py.search.conflicts.logic.solve import Formula, Literal, Or, opposite
from lci_py.search.conflicts.logic.values import Values, compared, words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lci_py.search.conflicts.logic.atoms import Leaf
    from lci_py.search.conflicts.logic.machine import Machine
    from lci_py.search.conflicts.logic.values import Allowed

#: Where a React Native program runs, and the suffixes that choose its files. `native` is anywhere but on the web.
#: Source: reactnative.dev, "Platform-specific code"; the ports for Windows and macOS.
_PLATFORMS = {"ios": 1, "android": 2, "windows": 4, "win32": 8, "macos": 16, "web": 32}
_NATIVE = 31
_RUNTIMES = {"node": 1, "browser": 2, "deno": 4, "bun": 8, "edge": 16, "electron": 32}
_SIDES = {"server": 1, "client": 2}
_MODE = "process.env.NODE_ENV"
_PRODUCTION = Literal(_MODE, words('"production'))
_WORDS: dict[str, Formula] = {
    **{name: Literal(" @platform", bit) for name, bit in _PLATFORMS.items()},
    "native": Literal(" @platform", _NATIVE),
    **{name: Literal(" @runtime", bit) for name, bit in _RUNTIMES.items()},
    **{name: Literal(" @side", bit) for name, bit in _SIDES.items()},
    # Source: nuxt.com, "Import meta".
    **{f"import.meta.{name}": Literal(" @side", bit) for name, bit in _SIDES.items()},
    **{f"process.{name}": Literal(" @side", bit) for name, bit in _SIDES.items()},
    # Sources: vite.dev, "Env variables and modes"; Metro and React Native set both from one option.
    "import.meta.env.PROD": _PRODUCTION,
    "import.meta.env.DEV": opposite(_PRODUCTION),
    "__DEV__": opposite(_PRODUCTION),
}
_FACTS: tuple[Formula, ...] = (Or((Literal(" @side", ~1), Literal(" @runtime", ~2)), 2),)
#: Objects whose members are the globals.
_GLOBALS = ("globalThis.", "global.", "window.", "self.")


def _name(text: str) -> str:
    text = text.replace("?.", ".")
    for prefix in _GLOBALS:
        if text.startswith(prefix):
            return text[len(prefix) :]
    return text


def _special(leaf: Leaf) -> Formula | None:
    if isinstance(leaf, Operand):
        name = _name(leaf.text)
        return _WORDS.get(name) or (None if scalar(name) is not None else Literal(name, ~JAVASCRIPT.falsy))
    left, operator, right = leaf
    if operator == "==" and scalar(right) in (NULL, UNDEFINED):
        return Literal(_name(left), words(NULL, UNDEFINED))
    return None


def _here(machine: Machine) -> Mapping[str, Allowed]:
    return {"process.platform": words(f'"{machine.platform}')}


JAVASCRIPT = Dialect(
    falsy=Values(frozenset({NULL, UNDEFINED, NO, EMPTY}), numbers=compared("==", (0,))),
    special=_special,
    facts=_FACTS,
    here=_here,
)
