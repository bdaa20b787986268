"""Operating systems, processors and compilers as variables that the conditions of most languages share. Go, Rust and
Zig have tables of their own: of their ports, and of the words of their compilers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.search.conflicts.logic.solve import Formula, Literal
from lci_py.search.conflicts.logic.tables import table
from lci_py.source.conditions.paths import platform_word

if TYPE_CHECKING:
    from lci_py.search.conflicts.logic.machine import Machine
    from lci_py.search.conflicts.logic.values import Allowed

_TABLE = table("platforms")
FACTS = _TABLE.facts
#: As `Dialect.named`.
NAMED = {kind: ("", bits) for kind, bits in _TABLE.kinds.items()}


def system(names: str) -> Literal:
    """The operating system is one of these, separated by blanks."""
    return _TABLE.literal("system", names)


def suggested(word: str) -> Formula:
    """What a word of `source.conditions.paths.inferred_condition` stands for."""
    return _TABLE.words[word]


def named(name: str) -> Formula | None:
    """The system that programs call so, in any case and maybe with its release: `Darwin`, `SunOS`, `freebsd14.1`. None
    if it is not known."""
    for word in (name.lower(), name.lower().rstrip("0123456789.")):
        found = _TABLE.words.get(word) or _TABLE.words.get(platform_word(word) or "")
        if found is not None and found[0] == " @system":
            return found
    return None


def here(machine: Machine) -> dict[str, Allowed]:
    """What is known of a machine, by variable."""
    asked = {" @bytes": machine.byteorder, " @system": machine.system, " @processor": machine.processor}
    found = {kind: _TABLE.kinds[kind].get(value) for kind, value in asked.items()}
    return {kind: bit for kind, bit in found.items() if bit is not None}
