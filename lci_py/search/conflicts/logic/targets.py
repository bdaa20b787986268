"""Reads conditions on the compiler's target: Go's build constraints, Rust's `cfg`, JVM source sets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.search.conflicts.logic.atoms import Comparison, Dialect, Operand, flag
from lci_py.search.conflicts.logic.solve import FALSE, TRUE, Formula, Literal, both
from lci_py.search.conflicts.logic.tables import table
from lci_py.search.conflicts.logic.values import numbers_where, numeric, version, versions_with_prefix, words
from lci_py.source.conditions.formula import OPAQUE, Grammar
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lci_py.search.conflicts.logic.atoms import Leaf
    from lci_py.search.conflicts.logic.platforms import Machine
    from lci_py.search.conflicts.logic.values import Allowed

# Go
_GO = table("build_constraints")
_OLDEST = 17  # Go 1.17 was the first to read `//go:build`
_RELEASE = lazily(r"go1\.(\d{1,4})")
_FEATURE = lazily(r"(\w+)\.(v?)(\d+)")  # amd64.v3, arm.7; each level implies those below
_MACHINES = {"x86_64": "amd64", "x86": "386", "aarch64": "arm64", "loongarch64": "loong64"}


def _go(leaf: Leaf) -> Formula | None:
    if not isinstance(leaf, Operand):
        return None
    word = leaf.text
    if word in _GO.words:
        return _GO.words[word]
    if word == "ignore":
        return FALSE  # by convention, a program beside a package that is run by hand
    if release := _RELEASE.fullmatch(word):
        return Literal(" @go", numeric(numbers_where(">=", (1, int(release[1])))))
    if (feature := _FEATURE.fullmatch(word)) and feature[1] in _GO.kinds[" @arch"]:
        level = Literal(f" @{feature[1]}", numeric(numbers_where(">=", (int(feature[3]),))))
        return both(_GO.words[feature[1]], level)
    return flag(word)


def _go_here(machine: Machine) -> Mapping[str, Allowed]:
    names = {
        " @os": "darwin" if machine.system == "macos" else machine.system,
        " @arch": _MACHINES.get(machine.processor, machine.processor),
    }
    return {kind: _GO.kinds[kind][value] for kind, value in names.items() if value in _GO.kinds[kind]}


GO = Dialect(
    special=_go,
    facts=_GO.facts,
    usual=(*_GO.usual, Literal(" @go", numeric(numbers_where(">=", (1, _OLDEST))))),
    named={f" @{kind}": (before, _GO.kinds[f" @{kind}"]) for kind, before in (
        ("os", "GOOS="), ("arch", "GOARCH="), ("compiler", "compiler "),
    )},
    here=_go_here,
    unset=True,
    is_switch=lambda name: name.startswith("  ") and name != "  cgo",  # which is set wherever there is a C compiler
)  # fmt: skip

# Rust
_RUST = table("cfg")
#: Bare names that the compiler sets itself. Source: the Rust Reference, "Conditional compilation".
_COMPILERS = frozenset("test debug_assertions proc_macro overflow_checks ub_checks doctest miri".split())
#: Names with one value per target. `feature`, `target_feature`, `target_has_atomic` and a build's own names can have
#: several at once.
_SINGLE = frozenset({
    "target_os", "target_arch", "target_env", "target_pointer_width", "target_endian", "target_vendor", "target_abi",
    "panic", "relocation_model",
})  # fmt: skip
_RUST_PROCESSORS = {"ppc64": "powerpc64", "ppc64le": "powerpc64", "i686": "x86"}
#: `doc` and `docsrs` hold only while documentation is made, which shows side by side what no build has.
_RUST_WORDS: dict[str, Formula] = {
    **{name: _RUST.words[name] for name in ("windows", "unix")},
    **dict.fromkeys(("true", "all()"), TRUE),
    **dict.fromkeys(("false", "any()", "doc", "docsrs"), FALSE),
}


def _rust(leaf: Leaf) -> Formula | None:
    if not isinstance(leaf, Comparison):
        return _RUST_WORDS.get(leaf.text) or flag(leaf.text)
    name, value = leaf.left, leaf.right[1:-1]
    if leaf.operator != "==" or leaf.right[:1] != '"':
        return None
    if name == "target_family":
        return _RUST.words.get(value) or flag(f"target_family = {value}")
    if name in _SINGLE or name.endswith("backend"):
        return Literal(name, words(value))
    return flag(f"{name} = {leaf.right}")


def _rust_here(machine: Machine) -> Mapping[str, Allowed]:
    is_apple = machine.system == "macos"
    return {
        **({"target_env": words(machine.libc)} if machine.libc else {}),
        "target_os": words(machine.system),
        "target_arch": words(_RUST_PROCESSORS.get(machine.processor, machine.processor)),
        "target_pointer_width": words(str(machine.pointer_bits)),
        "target_endian": words(machine.byteorder),
        "target_vendor": words("apple") if is_apple else ~words("apple"),
    }


RUST = Dialect(
    # `feature = "x"` is a comparison, and `!feature = "x"` its negation.
    grammar=Grammar(opaque=OPAQUE - {"="}, loose=frozenset({"!"})),
    special=_rust,
    facts=_RUST.facts,
    usual=_RUST.usual,
    here=_rust_here,
    # Features add up: Cargo sets all that any crate of a build asks for.
    is_switch=lambda name: name.startswith("  ") and not name.startswith("  feature = "),
    # A bare name is a build script's, which finds out what the target has (`linux_kernel`).
    found_out=lambda name: name.startswith("  ") and " = " not in name and name.strip() not in _COMPILERS,
)

# Kotlin, Java and Scala
_JVM = table("jvm")
_PREFIX = re.compile(r"(jvm|js|wasm|native|apple|ios|macos|tvos|watchos|linux|mingw|androidNative|android)(?=[A-Z])\w*")
_SCALA = re.compile(r"scala (\d[\d.]*)")


def _jvm(leaf: Leaf) -> Formula | None:
    if isinstance(leaf, Comparison):
        value = version(leaf.right) if leaf.left == "scala" else None
        if value is None or leaf.operator not in ("<", "<=", ">", ">="):
            return None
        # `<= 2.12` includes 2.12.1.
        cuts = (
            (((), 0), versions_with_prefix(value)[1]) if leaf.operator == "<=" else numbers_where(leaf.operator, value)
        )
        return Literal("scala", numeric(cuts))
    word = leaf.text
    if word[:6] == "common" and word[6:7].isupper():
        return _JVM.words.get(word[6:7].lower() + word[7:], _JVM.words["commonKotlin"])
    if word in _JVM.words:
        return _JVM.words[word]
    if match := _SCALA.fullmatch(word):
        value = version(match[1])
        return Literal("scala", numeric(versions_with_prefix(value))) if value else None
    if match := _PREFIX.fullmatch(word):
        return both(_JVM.words[match[1]], flag(word))
    return flag(word) if word.isidentifier() else None


JVM = Dialect(special=_jvm)
