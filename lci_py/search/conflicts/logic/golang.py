"""Go's build constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.search.conflicts.logic.atoms import Dialect, Operand, flag
from lci_py.search.conflicts.logic.solve import FALSE, Formula, Literal, Or, both, opposite
from lci_py.search.conflicts.logic.values import compared, numeric
from lci_py.source.conditions.golang import PORTS
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lci_py.search.conflicts.logic.atoms import Leaf
    from lci_py.search.conflicts.logic.machine import Machine
    from lci_py.search.conflicts.logic.values import Allowed

_OS = {name: 1 << bit for bit, name in enumerate(PORTS)}
_ARCH = {name: 1 << bit for bit, name in enumerate(dict.fromkeys(" ".join(PORTS.values()).split()))}
#: A constraint that holds on several. Source: go/build, `matchTag` and `unixOS` of internal/syslist.
_ALSO = {"linux": ("android",), "darwin": ("ios",), "solaris": ("illumos",)}
_NAMED = {" @os": ("GOOS=", _OS), " @arch": ("GOARCH=", _ARCH), " @compiler": ("compiler ", {"gc": 1, "gccgo": 2})}
_UNIX = "aix android darwin dragonfly freebsd hurd illumos ios linux netbsd openbsd solaris".split()
_COMPILERS = {"gc": 1, "gccgo": 2}
#: The processors of gc; the others are gccgo's.
_USUAL = "386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv64 s390x wasm".split()
_OLDEST = 17  # Go 1.17 was the first to read `//go:build`
#: The systems of compilers and sandboxes of their own, which set these tags. Sources: the targets that TinyGo lists,
#: libgo/configure.ac, cmd/go's description of `faketime`; App Engine's sandbox was a Linux, GopherJS a browser.
_SYSTEMS = {
    "gccgo": "aix hurd linux solaris",
    "tinygo": "darwin js linux wasip1 windows",
    "appengine": "linux",
    "faketime": "linux",
    "gopherjs": "js",
}
_RELEASE = lazily(r"go1\.(\d{1,4})")
_FEATURE = lazily(r"(\w+)\.(v?)(\d+)")  # amd64.v3, arm.7; each level implies those below
_MACHINES = {"x86_64": "amd64", "x86": "386", "aarch64": "arm64", "loongarch64": "loong64", "ppc64le": "ppc64le"}


def _words() -> dict[str, Literal]:
    found = {name: Literal(" @os", bit) for name, bit in _OS.items()}
    for name, others in _ALSO.items():
        found[name] = Literal(" @os", sum(_OS[each] for each in (name, *others)))
    found["unix"] = Literal(" @os", sum(_OS[name] for name in _UNIX))
    found |= {name: Literal(" @arch", bit) for name, bit in _ARCH.items()}
    return found | {name: Literal(" @compiler", bit) for name, bit in _COMPILERS.items()}


def _facts() -> tuple[Formula, ...]:
    found: list[Formula] = [Literal(" @os", sum(_OS.values())), Literal(" @arch", sum(_ARCH.values()))]
    for name, ports in PORTS.items():
        processors = sum(_ARCH[arch] for arch in ports.split())
        found.append(Or((Literal(" @os", ~_OS[name]), Literal(" @arch", processors)), 2))
    return tuple(found)


def _usual() -> tuple[Formula, ...]:
    processors = sum(_ARCH[name] for name in _USUAL)
    found: list[Formula] = [Literal(" @arch", processors), Literal(" @go", numeric(compared(">=", (1, _OLDEST))))]
    for name, systems in _SYSTEMS.items():
        unset = opposite(_WORDS.get(name, flag(name)))
        found.append(Or((unset, Literal(" @os", sum(_OS[system] for system in systems.split()))), 2))
    return tuple(found)


_WORDS = _words()


def _special(leaf: Leaf) -> Formula | None:
    if not isinstance(leaf, Operand):
        return None
    word = leaf.text
    if word in _WORDS:
        return _WORDS[word]
    if word == "ignore":
        return FALSE  # by convention, a program beside a package that is run by hand
    if release := _RELEASE.fullmatch(word):
        return Literal(" @go", numeric(compared(">=", (1, int(release[1])))))
    if (feature := _FEATURE.fullmatch(word)) and feature[1] in _ARCH:
        level = Literal(f" @{feature[1]}", numeric(compared(">=", (int(feature[3]),))))
        return both(_WORDS[feature[1]], level)
    return flag(word)


def _here(machine: Machine) -> Mapping[str, Allowed]:
    system = "darwin" if machine.system == "macos" else machine.system
    processor = _MACHINES.get(machine.processor, machine.processor)
    known = {" @os": _OS.get(system, 0), " @arch": _ARCH.get(processor, 0)}
    return {name: allowed for name, allowed in known.items() if allowed}


def _is_switch(variable: str) -> bool:
    return variable.startswith("  ") and variable != "  cgo"  # which is set wherever there is a C compiler


GO = Dialect(
    special=_special, facts=_facts(), usual=_usual(), named=_NAMED, here=_here, unset=True, is_switch=_is_switch
)
