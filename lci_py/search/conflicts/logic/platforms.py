"""Defines operating systems, processors and compilers as variables that the conditions of most languages share, and the
machine that decides which definition is active. Go and Rust have their own tables, with their own names.
"""

from __future__ import annotations

import os
import re
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from lci_py.search.conflicts.logic.solve import Formula, Literal
from lci_py.search.conflicts.logic.tables import table
from lci_py.source.conditions.paths import platform_word

if TYPE_CHECKING:
    from lci_py.search.conflicts.logic.values import Allowed

TABLE = table("platforms")
FACTS = TABLE.facts
#: As `Dialect.named`.
NAMED = {kind: ("", bits) for kind, bits in TABLE.kinds.items()}


def system(names: str) -> Literal:
    """The literal that the operating system is one of `names`, which are separated by blanks."""
    return TABLE.literal("system", names)


def system_of(name: str) -> Formula | None:
    """The formula for a system by its run-time name, such as `Darwin` or `freebsd14.1`; None if the name is unknown."""
    for word in (name.lower(), name.lower().rstrip("0123456789.")):
        formula = TABLE.words.get(word) or TABLE.words.get(platform_word(word) or "")
        if formula is not None and formula[0] == " @system":
            return formula
    return None


_CALLED = {"win32": "windows", "darwin": "macos", "sunos": "solaris"}


class Machine(NamedTuple):
    """The properties of a computer that conditions test, under the names of Python."""

    platform: str  # `sys.platform`
    machine: str  # the processor, as `platform.machine()` has it
    python: tuple[int, int, int]
    pointer_bits: int  # 64 or 32
    byteorder: str  # "little" or "big"
    libc: str = ""  # "gnu" or "musl" on Linux, else ""

    @classmethod
    def here(cls) -> Machine:
        """The machine that runs this program."""
        libc = ""
        if sys.platform == "linux":
            try:
                libc = "gnu" if os.confstr("CS_GNU_LIBC_VERSION") else "musl"
            except (OSError, ValueError):
                libc = "musl"
        bits = 64 if sys.maxsize > 2**32 else 32
        return cls(sys.platform, os.uname().machine, sys.version_info[:3], bits, sys.byteorder, libc)

    @property
    def system(self) -> str:
        """The operating system, by the name that most languages share; for a rare system, the name of the platform."""
        family = self.platform if self.platform == "win32" else self.platform.rstrip("0123456789.")
        return _CALLED.get(family, family)

    @property
    def processor(self) -> str:
        """The architecture by its usual name (x86_64, x86, aarch64, arm); any other as the system names it."""
        name = self.machine.lower()
        if name in ("amd64", "x64", "x86_64"):
            return "x86_64"
        if re.fullmatch(r"i[3-6]86|x86", name):
            return "x86"
        return "aarch64" if name == "arm64" else "arm" if name.startswith("arm") else name


@lru_cache(maxsize=1)
def this_machine() -> Machine:
    """The machine that runs this program, determined only once."""
    return Machine.here()


def here(machine: Machine) -> dict[str, Allowed]:
    """Maps each known variable (byte order, system, processor) to its value on a machine."""
    names = {" @bytes": machine.byteorder, " @system": machine.system, " @processor": machine.processor}
    bits = {kind: TABLE.kinds[kind].get(value) for kind, value in names.items()}
    return {kind: bit for kind, bit in bits.items() if bit is not None}
