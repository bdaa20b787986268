"""Zig: what is known at compile time about the target."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.search.conflicts.logic.atoms import Dialect, Operand
from lci_py.search.conflicts.logic.solve import Formula, Literal
from lci_py.search.conflicts.logic.values import words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lci_py.search.conflicts.logic.atoms import Leaf
    from lci_py.search.conflicts.logic.machine import Machine
    from lci_py.search.conflicts.logic.values import Allowed

_TARGET = re.compile(
    r'(?:comptime )?(?:(?:@import\("builtin"\)|builtin|target|\w+\.target)\.)*'
    r"(?:(?P<os>(?:target\.)?os\.tag|native_os)|(?:target\.)?cpu\.arch|native_arch)"
)
_ASKED = re.compile(r"(.*)\.(is[A-Z]\w*)\(\)")
_DARWIN = ".macos .ios .tvos .watchos .visionos .driverkit .maccatalyst"
#: Source: std.Target, `Os.Tag` and `Cpu.Arch`.
_SETS = {
    "isDarwin": _DARWIN,
    "isBSD": f"{_DARWIN} .freebsd .openbsd .netbsd .dragonfly .kfreebsd",
    "isSolarish": ".solaris .illumos",
    "isX86": ".x86 .x86_64",
    "isARM": ".arm .armeb",
    "isArm": ".arm .armeb",
    "isThumb": ".thumb .thumbeb",
    "isAARCH64": ".aarch64 .aarch64_be",
    "isWasm": ".wasm32 .wasm64",
    "isRISCV": ".riscv32 .riscv64",
    "isMIPS": ".mips .mipsel .mips64 .mips64el",
    "isPPC64": ".powerpc64 .powerpc64le",
}


def _name(text: str) -> str:
    match = _TARGET.fullmatch(text)
    return text.removeprefix("comptime ") if match is None else " @os" if match["os"] else " @arch"


def _special(leaf: Leaf) -> Formula | None:
    if isinstance(leaf, Operand):
        match = _ASKED.fullmatch(leaf.text)
        name = _name(match[1]) if match else ""
        if match and name[:1] == " " and match[2] in _SETS:
            return Literal(name, words(*_SETS[match[2]].split()))
        return None
    left, right = (leaf.right, leaf.left) if leaf.left[:1] == "." else (leaf.left, leaf.right)
    if leaf.operator == "==" and re.fullmatch(r"\.\w+", right):
        return Literal(_name(left), words(right))
    return None


def _here(machine: Machine) -> Mapping[str, Allowed]:
    return {" @os": words(f".{machine.system}"), " @arch": words(f".{machine.processor}")}


ZIG = Dialect(special=_special, here=_here)
