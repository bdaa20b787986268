"""Kotlin, Java and Scala: the words of source sets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.search.conflicts.logic.atoms import Comparison, Dialect, flag
from lci_py.search.conflicts.logic.solve import Formula, Literal, both
from lci_py.search.conflicts.logic.values import compared, numeric, prefixed, version

if TYPE_CHECKING:
    from lci_py.search.conflicts.logic.atoms import Leaf

#: The targets of a multiplatform build by the source set that they share. Source: kotlinlang.org, "Hierarchical
#: project structure", the default template; `posix`, `nix` and `desktop` are ktor's.
_GROUPS = {
    "jvm": "jvm",
    "android": "android",
    "js": "js",
    "wasmJs": "wasmJs",
    "wasmWasi": "wasmWasi",
    "wasm": "wasmJs wasmWasi",
    "web": "js wasmJs",
    "ios": "iosArm64 iosX64 iosSimulatorArm64",
    "macos": "macosX64 macosArm64",
    "tvos": "tvosArm64 tvosX64 tvosSimulatorArm64",
    "watchos": "watchosArm32 watchosArm64 watchosX64 watchosSimulatorArm64 watchosDeviceArm64",
    "linux": "linuxX64 linuxArm64 linuxArm32Hfp",
    "mingw": "mingwX64 mingwX86",
    "androidNative": "androidNativeArm32 androidNativeArm64 androidNativeX86 androidNativeX64",
}
_APPLE = ("ios", "macos", "tvos", "watchos")
_NATIVE = (*_APPLE, "linux", "mingw", "androidNative")
_SETS = {
    "apple": _APPLE,
    "darwin": _APPLE,
    "native": _NATIVE,
    "posix": _NATIVE,
    "nix": (*_APPLE, "linux", "androidNative"),
    "windows": ("mingw",),
    "desktop": ("jvm", "macos", "linux", "mingw"),
}
_BUILDS = {"debug": 1, "release": 2}
_PREFIX = re.compile(r"(jvm|js|wasm|native|apple|ios|macos|tvos|watchos|linux|mingw|androidNative|android)(?=[A-Z])\w*")
_SCALA = re.compile(r"scala (\d[\d.]*)")


def _words() -> dict[str, Literal]:
    targets = {name: 1 << bit for bit, name in enumerate(" ".join(_GROUPS.values()).split())}
    bits = dict(targets)
    bits |= {name: sum(targets[target] for target in set(group.split())) for name, group in _GROUPS.items()}
    bits |= {name: sum(bits[part] for part in parts) for name, parts in _SETS.items()}
    found = {name: Literal(" @target", value) for name, value in bits.items()}
    # kotlinx' `commonKotlin`, of which only the build says who shares it.
    found["commonKotlin"] = Literal(" @target", 1 << len(targets))
    return found | {name: Literal(" @build", bit) for name, bit in _BUILDS.items()}


_WORDS = _words()


def _special(leaf: Leaf) -> Formula | None:
    if isinstance(leaf, Comparison):
        value = version(leaf.right) if leaf.left == "scala" else None
        if value is None or leaf.operator not in ("<", "<=", ">", ">="):
            return None
        # `<= 2.12` includes 2.12.1.
        cuts = (((), 0), prefixed(value)[1]) if leaf.operator == "<=" else compared(leaf.operator, value)
        return Literal("scala", numeric(cuts))
    word = leaf.text
    if word[:6] == "common" and word[6:7].isupper():
        return _WORDS.get(word[6:7].lower() + word[7:], _WORDS["commonKotlin"])
    if word in _WORDS:
        return _WORDS[word]
    if match := _SCALA.fullmatch(word):
        value = version(match[1])
        return Literal("scala", numeric(prefixed(value))) if value else None
    if match := _PREFIX.fullmatch(word):
        return both(_WORDS[match[1]], flag(word))
    return flag(word) if word.isidentifier() else None


JVM = Dialect(special=_special)
