"""Conditions compared as logic, against all assignments of a few atoms; and texts that nobody would write."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lci_py.search.conflicts.logic import Machine, holds, implies, never, together
from lci_py.source.conditions import negate
from lci_py.source.conditions.normal_form import normal_form
from lci_py.source.text.language_tables import pairs, shared_table
from tests.support.properties import examples

World = dict[str, Any]
Condition = tuple[str, Callable[[World], bool]]


def formulas(atoms: list[Condition], words: bool = False) -> st.SearchStrategy[Condition]:
    """Texts over `atoms`, each with what it says of a world."""
    conjunction, disjunction, negation = (" and ", " or ", "not ") if words else (" && ", " || ", "!")

    def combine(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
        pairs = st.tuples(inner, inner)
        return st.one_of(
            inner.map(lambda a: (f"{negation}({a[0]})", lambda world: not a[1](world))),
            pairs.map(lambda p: (f"({p[0][0]}){conjunction}({p[1][0]})", lambda w: p[0][1](w) and p[1][1](w))),
            pairs.map(lambda p: (f"({p[0][0]}){disjunction}({p[1][0]})", lambda w: p[0][1](w) or p[1][1](w))),
        )

    return st.recursive(st.sampled_from(atoms), combine, max_leaves=8)


def check(language: str, one: Condition, other: Condition, worlds: list[World]) -> None:
    here, there = [one[1](world) for world in worlds], [other[1](world) for world in worlds]
    assert together(one[0], other[0], language) is any(a and b for a, b in zip(here, there, strict=True))
    assert implies(one[0], other[0], language) is all(b or not a for a, b in zip(here, there, strict=True))
    assert never(one[0], language) is not any(here)
    assert implies(None, one[0], language) is all(here)
    assert together(one[0], negate(one[0]), language) is False


# Plain names
NAMES: list[Condition] = [(name, lambda w, name=name: w[name]) for name in "abcd"]  # type: ignore[misc]
NAME_WORLDS = [dict(zip("abcd", values, strict=True)) for values in itertools.product((True, False), repeat=4)]


@examples(150)
@given(formulas(NAMES), formulas(NAMES), st.sampled_from(["go", "swift", "csharp", "rust", "javascript"]))
def test_names(one: Condition, other: Condition, language: str) -> None:
    check(language, one, other, NAME_WORLDS)


@examples(150)
@given(formulas(NAMES))
def test_the_normal_form_means_the_same(one: Condition) -> None:
    normal = normal_form(one[0], constants=False)
    check("go", (normal, one[1]), (normal, one[1]), NAME_WORLDS)


TEXTS: list[Condition] = [(text, bool) for text in ("A", "B == 1", "F(G(1), (2))", "defined(C)", "A ? B : C")]


@examples(150)
@given(formulas(TEXTS), st.booleans())
def test_a_condition_has_one_normal_form(one: Condition, constants: bool) -> None:
    text = one[0]
    normal = normal_form(text, constants=constants)
    assert normal_form(normal, constants=constants) == normal
    assert normal_form(f"!({text})", constants=constants) == negate(normal)
    assert negate(negate(normal)) == normal
    for again in (f"({text}) || ({text})", f"(({text}) || ({text})) || ({text})", f"({text}) && (({text}))"):
        assert normal_form(again, constants=constants) == normal


# C: a macro is not defined (0 where a number is asked for), or a number
def macro_atoms() -> Iterator[Condition]:
    for name in "AB":
        yield f"defined({name})", lambda w, name=name: w[name] is not None
        yield name, lambda w, name=name: (w[name] or 0) != 0
        for number in (0, 1, 3):
            yield f"{name} == {number}", lambda w, name=name, number=number: (w[name] or 0) == number
            yield f"{name} > {number}", lambda w, name=name, number=number: (w[name] or 0) > number
            yield f"{number} >= {name}", lambda w, name=name, number=number: number >= (w[name] or 0)
            yield f"{name} < {number}", lambda w, name=name, number=number: (w[name] or 0) < number


MACRO_WORLDS = [{"A": a, "B": b} for a, b in itertools.product((None, -1, 0, 1, 2, 3, 4), repeat=2)]


@examples(150)
@given(formulas(list(macro_atoms())), formulas(list(macro_atoms())))
def test_macros(one: Condition, other: Condition) -> None:
    check("c", one, other, MACRO_WORLDS)


# Python: versions as Python compares them, and platforms
def python_atoms() -> Iterator[Condition]:
    compare: dict[str, Callable[[Any, Any], bool]] = {
        "<": lambda a, b: a < b,
        "<=": lambda a, b: a <= b,
        ">": lambda a, b: a > b,
        ">=": lambda a, b: a >= b,
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
    }
    for operator, version in itertools.product(compare, [(3,), (3, 8), (3, 8, 1), (2, 7)]):
        test = compare[operator]
        text = f"sys.version_info {operator} ({', '.join(map(str, version))},)"
        yield text, lambda w, test=test, version=version: test(w["version"], version)
        text = f"sys.version_info[:2] {operator} {version}"
        yield text, lambda w, test=test, version=version: test(w["version"][:2], version)
        text = f"sys.version_info[0] {operator} {version[0]}"
        yield text, lambda w, test=test, version=version: test(w["version"][0], version[0])
    for platform in ("win32", "linux", "linux2", "darwin"):
        yield f'sys.platform == "{platform}"', lambda w, platform=platform: w["platform"] == platform
    yield 'sys.platform.startswith("linux")', lambda w: w["platform"].startswith("linux")
    yield '"win" in sys.platform', lambda w: "win" in w["platform"]
    yield 'os.name == "nt"', lambda w: w["platform"] == "win32"
    yield 'os.name == "posix"', lambda w: w["platform"] not in ("win32", "java")


# A final level below the smallest that is asked for and one between any two, so that the enumeration is complete.
VERSIONS = [(1, 5, 2, "final", 0), (2, 6, 0, "final", 0), (2, 7, 0, "final", 0), (2, 8, 1, "final", 0)]
VERSIONS += [(3, minor, micro, "final", 0) for minor in (0, 7, 8, 9) for micro in (0, 1, 2)] + [(4, 0, 0, "final", 0)]
VERSIONS += [(2, 7, 1, "final", 0), (2, 7, 2, "final", 0)]
PLATFORMS = ["win32", "linux", "linux2", "darwin", "cygwin", "freebsd13", "java", "linux3", "aix"]
PYTHON_WORLDS: list[World] = [{"version": v, "platform": p} for v, p in itertools.product(VERSIONS, PLATFORMS)]


@examples(150)
@given(formulas(list(python_atoms()), words=True), formulas(list(python_atoms()), words=True))
def test_python(one: Condition, other: Condition) -> None:
    check("python", one, other, PYTHON_WORLDS)


# Go: every port of every release
_ALSO = {"linux": "android", "darwin": "ios", "solaris": "illumos"}
_UNIX = set("aix android darwin dragonfly freebsd hurd illumos ios linux netbsd openbsd solaris".split())
_TOKEN = re.compile(r"&&|\|\||[!()]|[\w.]+")


def go_holds(text: str, tags: set[str]) -> bool:
    """What Go's own evaluation says, for a constraint and the tags that are set."""
    python = {"&&": "and", "||": "or", "!": "not", "(": "(", ")": ")"}
    tokens = [python.get(token, repr(token in tags)) for token in _TOKEN.findall(text)]
    assert not set(tokens) - set(python.values()) - {"True", "False"}
    return bool(eval(" ".join(tokens)))  # of nothing but operators and booleans


def go_worlds(ports: Iterable[tuple[str, str]], free: list[str]) -> Iterator[set[str]]:
    for (system, processor), values in itertools.product(ports, itertools.product((True, False), repeat=len(free))):
        tags = {system, processor} | {name for name, value in zip(free, values, strict=True) if value}
        tags |= {word for word, also in _ALSO.items() if also == system}
        yield tags | ({"unix"} if system in _UNIX else set())


# The ports that the facts know; whether these are Go's is for the test below to say.
GO_PORTS = [
    (system.removeprefix("os "), processor)
    for system, processors in pairs(shared_table("conditions")["build_constraints"]["facts"], " > ")
    for processor in processors.split()[1:]
    if system
]
GO_WORLDS: list[World] = [dict.fromkeys(world, True) for world in go_worlds(GO_PORTS, ["cgo", "netgo"])]
GO_NAMES = ["linux", "android", "darwin", "windows", "unix", "amd64", "arm64", "cgo", "netgo"]
GO_ATOMS: list[Condition] = [(name, lambda w, name=name: name in w) for name in GO_NAMES]  # type: ignore[misc]


@examples(150)
@given(formulas(GO_ATOMS), formulas(GO_ATOMS))
def test_go(one: Condition, other: Condition) -> None:
    check("go", one, other, GO_WORLDS)


def goroot() -> Path | None:
    if not shutil.which("go"):
        return None
    found = subprocess.run(["go", "env", "GOROOT"], capture_output=True, text=True, check=False)
    return Path(found.stdout.strip()) / "src" if found.returncode == 0 else None


@pytest.mark.skipif(goroot() is None, reason="needs Go's sources")
def test_all_constraints_of_the_go_library() -> None:
    root = goroot()
    assert root is not None
    listed = subprocess.run(["go", "tool", "dist", "list"], capture_output=True, text=True, check=True).stdout.split()
    ports = [(system, processor) for system, _, processor in (port.partition("/") for port in listed)]
    syslist = next(
        path for path in (root / "internal/syslist/syslist.go", root / "go/build/syslist.go") if path.exists()
    )
    known = set(re.findall(r"\w+", syslist.read_text("utf-8"))) | {"unix"}  # also of ports that are none any more
    known |= {"alpha", "ia64", "m68k", "nios2", "sh", "shbe"}  # of gccgo
    # `linux` holds on android, too.
    exact = [[*port, *(f"!{also}" for word, also in _ALSO.items() if word == port[0])] for port in ports]
    constraints = set()
    for path in root.rglob("*.go"):
        if "testdata" not in path.parts:
            text = path.read_text("utf-8", "replace")[:4000]
            constraints |= {match[1].strip() for match in re.finditer(r"(?m)^//go:build ([\w.!&|() ]+)$", text)}
    pairs = list(itertools.combinations(sorted(constraints), 2))
    wrong = []
    for one, other in Random(1).sample(pairs, min(400, len(pairs))):
        free = sorted(set(re.findall(r"[\w.]+", f"{one} {other}")) - known - {"ignore"})
        if any(word.startswith("go1.") or word in ("gc", "gccgo", "compiler_bootstrap") for word in free):
            continue  # these are no free tags
        expected = any(go_holds(one, tags) and go_holds(other, tags) for tags in go_worlds(ports, free[:6]))
        # Said explicitly: logic also knows ports that Go has given up, and those of gccgo.
        listed_ports = " || ".join(" && ".join(words) for words in exact)
        if together(f"({one}) && ({listed_ports})", other, "go") is not expected:
            wrong.append((one, other, expected))
        if expected and together(one, other, "go") is not True:
            wrong.append((one, other, expected))
    assert not wrong


# Texts that nobody would write
LANGUAGES = ["go", "c", "csharp", "haskell", "swift", "rust", "python", "javascript", "ruby", "php", "lua", "elixir"]
LANGUAGES += ["bash", "kotlin", "scala", "zig", "markdown"]
PIECES = [
    "&&",
    "||",
    "!",
    "(",
    ")",
    "[",
    "]",
    "not ",
    " and ",
    " or ",
    "a",
    "b1",
    '"x"',
    "'",
    '"',
    "==",
    "!=",
    "<",
    ">=",
]
PIECES += [
    " in ",
    " is ",
    "if ",
    "else ",
    "try",
    "except ",
    "…",
    "defined(",
    "3",
    "(3,8)",
    ",",
    "?",
    ":",
    "/",
    "=~",
    "=",
]
PIECES += [
    "sys.version_info",
    "X",
    "_MSC_VER",
    "linux",
    'target_os = "linux"',
    "go1.1",
    "0x1F",
    "1e9",
    "version_compare(",
]
PIECES += ["===", "__linux__", "__GNUC__"]
PIECES += ["RUBY_PLATFORM =~ /", "KERNEL_VERSION(4)", "MIN_VERSION_x(1,2)", "scala 2", "\n", "\\", "\x00", "é", "0"]
junk = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(PIECES), max_size=15).map("".join))


@examples(400)
@given(junk, junk, st.sampled_from(LANGUAGES))
def test_any_text_has_an_answer_that_does_not_depend_on_the_order(one: str, other: str, language: str) -> None:
    both = together(one, other, language)
    assert both in (True, False, None)
    assert together(other, one, language) is both
    assert implies(one, one, language) in (True, None)
    if implies(one, other, language) and not never(one, language):
        assert both is not False
    if never(one, language):
        assert both is False
    if holds(one, language, Machine.here()) and holds(other, language, Machine.here()):
        assert both is not False


def hostile() -> Iterator[str]:
    yield "(" * 4000
    yield "(" * 2000 + "a" + ")" * 2000
    yield "!" * 4000 + "a"
    yield "not " * 1000 + "a"
    yield "!(" * 1500 + "a" + ")" * 1500
    yield " && ".join(f"(a{i} || b{i} || !a{i + 1})" for i in range(100))
    yield " && ".join(f"(a{i % 9} || !b{i % 7}) && (c{i % 5} || !a{i % 8} || b{i % 3})" for i in range(60))
    # No assignment: nine pigeons in eight holes.
    holes = [" || ".join(f"p{pigeon}{hole}" for hole in range(8)) for pigeon in range(9)]
    clashes = [f"(!p{a}{h} || !p{b}{h})" for h in range(8) for a, b in itertools.combinations(range(9), 2)]
    yield " && ".join([f"({hole})" for hole in holes] + clashes)
    yield " < ".join(["a"] * 1500)
    yield "'" * 4001
    yield '\\"' * 3000
    yield "=/[" * 2000
    yield "a " * 3000
    yield "x" * 9000
    yield " || ".join(f"X == {i}" for i in range(700))
    yield " && ".join(f"X != {i}" for i in range(700))


@pytest.mark.parametrize("tag", list(hostile()), ids=lambda tag: tag[:20])
@pytest.mark.parametrize("language", ["python", "c", "go", "bash"])
def test_hostile_texts_have_an_answer(tag: str, language: str) -> None:
    for other in (negate(tag[:200]), "a0 && X == 3"):
        assert together(tag, other, language) in (True, False, None)
    assert holds(tag, language, Machine.here()) in (True, False, None)


def test_what_would_take_long_is_not_decided() -> None:
    pigeons = next(tag for tag in hostile() if tag.startswith("(p00"))
    assert together(pigeons, None, "c") is None
    assert implies(pigeons, "0", "c") is None
    assert not never(pigeons, "c")
