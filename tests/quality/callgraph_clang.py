"""Our call graph of a C project against what clang compiles.

    python -m tests.quality.callgraph clang FOLDER --truth FILE

FOLDER is a checkout, FILE the compile_commands.json of a build with clang (for CMake:
`-DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_C_COMPILER=clang`). Each file is compiled again, without optimisation and
with debug information, to LLVM's text form, which names the function and the line of every direct call.

Conventions, and why:

- An edge is a pair of functions, each with the file of its definition, since names of static functions repeat.
- The truth has only functions that are defined below FOLDER and compiled. Our edges count if both ends are in the
  truth; a missing edge counts as wrong only if the line of the call is compiled, too, because code for other platforms
  cannot be judged. Of several edges to one name in files of several platforms, those to uncompiled files are not
  judged.
- Several programs may be linked from one folder, with functions of one name. An entry of FILE may have the key
  `programs`, a list of names; a call then means the function of each program that its file is linked into.
- The truth has no calls through pointers and no functions passed as values. Our edges of the steps `flow`, `field` and
  `callback` that it lacks are not judged; a note counts them.
- Calls that come from the expansion of a macro form a category of their own, because their line does not name the
  callee. In our graph the caller of such a call is the macro; edges to macros are not judged. The first category is the
  figure to look at.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.quality.callgraph_score import Edge, Score
from tests.quality.edges import CallEdge, Function, read_graph

_DEFINE = re.compile(r"^define (.*?)@([\w.$]+)\(.*!dbg !(\d+) \{$")
_CALL = re.compile(r"\bcall\b.*?([@%])([\w.$]+)\(.*?!dbg !(\d+)")
_SUBPROGRAM = re.compile(r"^!(\d+) = distinct !DISubprogram\(.*?file: !(\d+),.*?line: (\d+)")
_FILE = re.compile(r'^!(\d+) = !DIFile\(filename: "([^"]*)", directory: "([^"]*)"')
_LINE = re.compile(r"^!(\d+) = !DILocation\(line: (\d+)")
_DEBUG = re.compile(r"!dbg !(\d+)")
_DYNAMIC = frozenset({"flow", "field", "callback", "override"})


@dataclass
class Compiled:
    """One function of one translation unit."""

    key: str  # path below the folder, and name
    static: bool
    calls: list[tuple[str, int]] = field(default_factory=list)  # callee's name, line
    lines: set[int] = field(default_factory=set)


def compare(folder: Path, truth: Path | None) -> list[Score]:
    """One table, in which calls from macros are a category of their own."""
    commands = truth or folder / "compile_commands.json"
    if not commands.is_file():
        raise SystemExit(f"{commands} is missing: build {folder.name} with CMAKE_EXPORT_COMPILE_COMMANDS=ON")
    found = list(_commands(commands))
    units = [_unit(command, folder.resolve()) for *command, _ in found]
    programs = [set(linked) for *_, linked in found]
    public: dict[str, list[tuple[set[str], str]]] = defaultdict(list)
    for unit, linked in zip(units, programs, strict=True):
        for name, f in unit.items():
            if not f.static:
                public[name].append((linked, f.key))
    expected: dict[Edge, bool] = {}
    lines: dict[str, set[int]] = defaultdict(set)
    for unit, linked in zip(units, programs, strict=True):
        for function in unit.values():
            lines[function.key] |= function.lines
            for name, line in function.calls:
                callees = {key for others, key in public.get(name, ()) if not linked or linked & others}
                for callee in {unit[name].key} if name in unit else callees:
                    written = _is_written(folder / function.key.rpartition(":")[0], line, name)
                    expected[function.key, callee] = expected.get((function.key, callee), False) or written
    ours, left = _ours(folder, expected, lines)
    score = Score(f"clang: {folder.name}, direct calls of {len(units)} compiled files")
    for category, kind in (("written at the call", True), ("made by a macro", False)):
        wanted = {edge for edge, written in expected.items() if written is kind}
        found = {edge: how for edge, how in ours.items() if edge in wanted or (kind and edge not in expected)}
        score.add(category, folder.name, wanted, found)
    score.notes += [f"  not judged: {count} of our edges, {reason}" for reason, count in sorted(left.items())]
    return [score]


def _ours(folder: Path, expected: dict[Edge, bool], lines: dict[str, set[int]]) -> tuple[dict[Edge, str], Counter[str]]:
    ours: dict[Edge, str] = {}
    left: Counter[str] = Counter()
    for edge in read_graph(folder).edges:
        caller, callee = _key(edge.caller), _key(edge.callee)
        if caller not in lines or edge.callee.kind == "macro":
            continue
        pair = (caller, callee)
        if pair not in expected and (reason := _not_judged(edge, callee, lines, caller)):
            left[reason] += 1
        else:
            ours.setdefault(pair, edge.how)
    return ours, left


def _not_judged(edge: CallEdge, callee: str, lines: dict[str, set[int]], caller: str) -> str:
    if callee not in lines:
        return "whose callee is not compiled"
    if edge.step in _DYNAMIC:
        return f"step {edge.step}"
    return "" if edge.line in lines[caller] else "at a line that is not compiled"


def _key(function: Function) -> str:
    return f"{function.path}:{function.name}"


def _is_written(file: Path, line: int, name: str) -> bool:
    text = _text(file)
    return 0 < line <= len(text) and re.search(rf"\b{re.escape(name)}\s*\(", text[line - 1]) is not None


@cache
def _text(file: Path) -> list[str]:
    return file.read_text("utf-8", "replace").split("\n")


# --- the compiler -----------------------------------------------------------------------------------------------------


def _commands(database: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Folder, command and programs of each file, once."""
    seen = set()
    for entry in json.loads(database.read_text("utf-8")):
        if entry["file"] not in seen and entry["file"].endswith(".c"):
            seen.add(entry["file"])
            command = entry.get("arguments") or shlex.split(entry["command"])
            output = command.index("-o")
            yield entry["directory"], [*command[:output], *command[output + 2 :]], entry.get("programs", [])


def _unit(command: list[Any], folder: Path) -> dict[str, Compiled]:
    """The functions of a translation unit that are defined below the folder, by name."""
    directory, arguments = command
    with tempfile.NamedTemporaryFile(suffix=".ll") as output:
        flags = ["-S", "-emit-llvm", "-O0", "-g", "-w", "-o", output.name]
        subprocess.run([a for a in arguments if a != "-c"] + flags, cwd=directory, check=True)
        text = Path(output.name).read_text("utf-8", "replace").split("\n")
    files, programs, places = {}, {}, {}
    for line in text:
        if match := _FILE.match(line):
            files[match[1]] = Path(match[3], match[2]).resolve()
        elif match := _SUBPROGRAM.match(line):
            programs[match[1]] = match[2]
        elif match := _LINE.match(line):
            places[match[1]] = int(match[2])
    functions: dict[str, Compiled] = {}
    current: Compiled | None = None
    for line in text:
        if match := _DEFINE.match(line):
            file = files[programs[match[3]]]
            current = None
            if file.is_relative_to(folder):
                key = f"{file.relative_to(folder).as_posix()}:{match[2]}"
                current = functions[match[2]] = Compiled(key, "internal" in match[1])
        elif line == "}":
            current = None
        elif current is not None:
            if (match := _DEBUG.search(line)) and match[1] in places:
                current.lines.add(places[match[1]])
            if (match := _CALL.search(line)) and match[1] == "@" and not match[2].startswith("llvm."):
                current.calls.append((match[2], places.get(match[3], 0)))
    return functions
