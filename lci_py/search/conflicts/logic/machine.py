"""The computer that decides which of several definitions is active."""

from __future__ import annotations

import os
import re
import sys
from functools import lru_cache
from typing import NamedTuple


class Machine(NamedTuple):
    """The properties of a computer that conditions ask for, as its Python names them.

    Attributes:
        platform: `sys.platform`.
        machine: The processor, as `platform.machine()` has it.
        python: `sys.version_info[:3]`.
        pointer_bits: 64 or 32.
        byteorder: "little" or "big".
        libc: "gnu" or "musl" on Linux, else "".
    """

    platform: str
    machine: str
    python: tuple[int, int, int]
    pointer_bits: int
    byteorder: str
    libc: str = ""

    @classmethod
    def here(cls) -> Machine:
        """The machine that runs this program."""
        major, minor, micro = sys.version_info[:3]
        return cls(
            platform=sys.platform,
            machine=os.uname().machine
            if hasattr(os, "uname")
            else os.environ.get("PROCESSOR_ARCHITECTURE", "").lower(),
            python=(major, minor, micro),
            pointer_bits=64 if sys.maxsize > 2**32 else 32,
            byteorder=sys.byteorder,
            libc=_libc() if sys.platform == "linux" else "",
        )

    @property
    def system(self) -> str:
        """The operating system by the name that most languages share; for a rare one, the platform."""
        shared = {"win32": "windows", "cygwin": "cygwin", "darwin": "macos", "sunos": "solaris"}
        family = self.platform.rstrip("0123456789.") if self.platform != "win32" else "win32"
        return shared.get(family, family)

    @property
    def processor(self) -> str:
        """The architecture by its usual name: x86_64, x86, aarch64, arm; any other as the system calls it."""
        name = self.machine.lower()
        if name in ("amd64", "x64", "x86_64"):
            return "x86_64"
        if re.fullmatch(r"i[3-6]86|x86", name):
            return "x86"
        if name in ("arm64", "aarch64"):
            return "aarch64"
        return "arm" if name.startswith("arm") else name


def _libc() -> str:
    try:
        return "gnu" if os.confstr("CS_GNU_LIBC_VERSION") else "musl"
    except (OSError, ValueError):
        return "musl"


@lru_cache(maxsize=1)
def this_machine() -> Machine:
    """The machine that runs this program, looked up once."""
    return Machine.here()
