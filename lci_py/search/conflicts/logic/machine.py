"""The computer that decides which of several definitions is active."""

from __future__ import annotations

import os
import re
import sys
from functools import lru_cache
from typing import NamedTuple

_SYSTEMS = {"win32": "windows", "darwin": "macos", "sunos": "solaris"}


class Machine(NamedTuple):
    """The properties of a computer that conditions ask for, as its Python names them."""

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
        """The operating system by the name that most languages share; for a rare one, the platform."""
        family = self.platform if self.platform == "win32" else self.platform.rstrip("0123456789.")
        return _SYSTEMS.get(family, family)

    @property
    def processor(self) -> str:
        """The architecture by its usual name: x86_64, x86, aarch64, arm; any other as the system calls it."""
        name = self.machine.lower()
        if name in ("amd64", "x64", "x86_64"):
            return "x86_64"
        if re.fullmatch(r"i[3-6]86|x86", name):
            return "x86"
        return "aarch64" if name == "arm64" else "arm" if name.startswith("arm") else name


@lru_cache(maxsize=1)
def this_machine() -> Machine:
    """The machine that runs this program, looked up once."""
    return Machine.here()
