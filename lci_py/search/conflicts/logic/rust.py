"""Rust's `cfg` predicates, after `all`, `any` and `not` have become operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.search.conflicts.logic.atoms import Comparison, Dialect, flag
from lci_py.search.conflicts.logic.solve import FALSE, TRUE, Formula, Literal, Or
from lci_py.search.conflicts.logic.values import Values, words
from lci_py.source.conditions.formula import OPAQUE, Grammar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lci_py.search.conflicts.logic.atoms import Leaf
    from lci_py.search.conflicts.logic.machine import Machine
    from lci_py.search.conflicts.logic.values import Allowed

#: Bare names that the compiler sets itself. Source: the Rust Reference, "Conditional compilation".
_COMPILERS = frozenset("test debug_assertions proc_macro overflow_checks ub_checks doctest miri".split())
#: Operating systems without the family `unix`; any other one, also a new one, counts as a Unix. Source: `families` in
#: rustc's target specifications (compiler/rustc_target).
_NO_UNIX = (
    "windows none unknown wasi uefi cuda hermit xous solid_asp3 psp psx zkvm amdhsa teeos trusty tvm vexos mbed"
).split()
#: Names with one value per target. `feature`, `target_feature`, `target_has_atomic` and a build's own names can have
#: several at once.
_SINGLE = frozenset((
    "target_os", "target_arch", "target_env", "target_pointer_width", "target_endian", "target_vendor", "target_abi",
    "panic", "relocation_model",
))  # fmt: skip
_NARROW = "x86 arm riscv32 mips mips32r6 powerpc sparc wasm32 hexagon m68k csky xtensa".split()
_WIDE = "riscv64 powerpc64 s390x sparc64 mips64 mips64r6 loongarch64 nvptx64 bpf wasm64 amdgpu".split()
_LITTLE = "x86 x86_64 riscv32 riscv64 wasm32 wasm64 loongarch64 nvptx64 hexagon xtensa avr msp430".split()
_APPLE = "macos ios tvos watchos visionos".split()
#: The operating systems of C libraries that only a few have. Source: `rustc --print target-list` and `--print cfg`.
_ENVIRONMENTS = {
    "msvc": "windows uefi",
    "gnu": "linux windows hurd vxworks l4re",
    "musl": "linux l4re",
    "uclibc": "linux l4re",
    "ohos": "linux",
    "newlib": "espidf horizon rtems vita",
    "relibc": "redox",
    "nto70 nto71 nto71_iosock nto80": "nto",
    "p1 p2 p3": "wasi",
    "macabi sim": " ".join(_APPLE),
}
#: The processors of systems and of C libraries that run on few. Source: as above, of rustc 1.95.
_PORTS = {
    "aix": "powerpc64",
    "android": "aarch64 arm riscv64 x86 x86_64",
    "cygwin dragonfly": "x86_64",
    "emscripten wasi": "wasm32",
    "freebsd": "aarch64 arm powerpc powerpc64 riscv64 x86 x86_64",
    "fuchsia hermit": "aarch64 riscv64 x86_64",
    "haiku hurd": "x86 x86_64",
    "illumos": "aarch64 x86_64",
    "ios": "aarch64 arm x86 x86_64",
    "macos nto": "aarch64 x86 x86_64",
    "netbsd": "aarch64 arm mips powerpc riscv64 sparc64 x86 x86_64",
    "openbsd": "aarch64 powerpc powerpc64 riscv64 sparc64 x86 x86_64",
    "redox": "aarch64 riscv64 x86 x86_64",
    "solaris": "sparc64 x86_64",
    "tvos": "aarch64 x86_64",
    "visionos": "aarch64",
    "vita rtems": "arm",
    "watchos": "aarch64 arm x86_64",
    "windows": "aarch64 arm arm64ec x86 x86_64",
}
_PORTED = {"uclibc": "arm mips x86_64", "ohos": "aarch64 arm loongarch64 x86_64", "sgx": "x86_64"}
_PROCESSORS = {"ppc64": "powerpc64", "ppc64le": "powerpc64", "i686": "x86"}


def _is(name: str, *values: str) -> Literal:
    return Literal(name, words(*values))


def _unless(names: list[str], then: Literal) -> Formula:
    """On these processors, `then` holds."""
    return Or((Literal("target_arch", ~words(*names)), then), 2)


_WORDS: dict[str, Formula] = {
    "windows": _is("target_os", "windows"),
    "unix": Literal("target_os", Values(frozenset(_NO_UNIX), others=True)),
    "true": TRUE,
    "false": FALSE,
    "all()": TRUE,
    "any()": FALSE,
    # These hold only while documentation is made, which shows side by side what no build has.
    "doc": FALSE,
    "docsrs": FALSE,
}
_FACTS: tuple[Formula, ...] = (
    _unless(_NARROW, _is("target_pointer_width", "32")),
    _unless(_WIDE, _is("target_pointer_width", "64")),
    _unless(["avr", "msp430"], _is("target_pointer_width", "16")),
    _unless(_LITTLE, _is("target_endian", "little")),
    *(
        Or((Literal("target_env", ~words(*environments.split())), _is("target_os", *systems.split())), 2)
        for environments, systems in _ENVIRONMENTS.items()
    ),
    Or((_is("target_os", *_APPLE), Literal("target_vendor", ~words("apple"))), 2),
    Or((Literal("target_os", ~words(*_APPLE)), _is("target_vendor", "apple")), 2),
)
_USUAL: tuple[Formula, ...] = (
    *(
        Or((Literal(name, ~words(*values.split())), _is("target_arch", *processors.split())), 2)
        for name, table in (("target_os", _PORTS), ("target_env", _PORTED))
        for values, processors in table.items()
    ),
    _unless(["x86_64", "aarch64"], _is("target_pointer_width", "64")),  # but for x32 and ILP32
)


def _special(leaf: Leaf) -> Formula | None:
    if not isinstance(leaf, Comparison):
        return _WORDS.get(leaf.text) or flag(leaf.text)
    name, value = leaf.left, leaf.right[1:-1]
    if leaf.operator != "==" or leaf.right[:1] != '"':
        return None
    if name == "target_family":
        return _WORDS[value] if value in ("windows", "unix") else _family(value)
    if name in _SINGLE or name.endswith("backend"):
        return _is(name, value)
    return flag(f"{name} = {leaf.right}")


def _family(value: str) -> Formula:
    return _is("target_arch", "wasm32", "wasm64") if value == "wasm" else flag(f"target_family = {value}")


def _here(machine: Machine) -> Mapping[str, Allowed]:
    processor = _PROCESSORS.get(machine.processor, machine.processor)
    apple = machine.system == "macos"
    environment = {"target_env": words(machine.libc)} if machine.libc else {}
    return environment | {
        "target_os": words(machine.system),
        "target_arch": words(processor),
        "target_pointer_width": words(str(machine.pointer_bits)),
        "target_endian": words(machine.byteorder),
        "target_vendor": words("apple") if apple else ~words("apple"),
    }


#: `feature = "x"` is a comparison, and `!feature = "x"` its negation.
_GRAMMAR = Grammar(opaque=OPAQUE - {"="}, loose=frozenset({"!"}))


def _is_switch(variable: str) -> bool:
    # Features add up: Cargo sets all that any crate of a build asks for.
    return variable.startswith("  ") and not variable.startswith("  feature = ")


def _is_set_by_script(variable: str) -> bool:
    # A bare name is a build script's, which finds out what the target has (`linux_kernel`), but for the compiler's own.
    return variable.startswith("  ") and " = " not in variable and variable.strip() not in _COMPILERS


RUST = Dialect(
    grammar=_GRAMMAR, special=_special, facts=_FACTS, usual=_USUAL, here=_here, is_switch=_is_switch,
    found_out=_is_set_by_script,
)  # fmt: skip
