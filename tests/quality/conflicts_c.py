"""The conditions of C definitions against clang, for a sample of symbols of some repositories.

    python -m tests.quality.conflicts_c LIBUV CURL REDIS [--symbols 60] [--seed 6] [--min 0.95] [--list] [-v]

Needs `clang`. The sample is drawn by a fixed rule, with an equal share of each folder and at most two names of a file:
names that one file outside of tests, examples and bundled projects defines at file level, half of them several times,
half once and under a condition.

A symbol is right if, under every setting, clang sees exactly those of its definitions whose build_tag holds. A setting
defines or undefines each macro in the tags (-D, -U), in all combinations, with the numbers around each number that the
macro is compared with; at most 24 combinations, drawn with the seed. Clang's preprocessor decides whether a build_tag
holds: in a copy of the file, `#if TAG` with a mark is inserted before the outermost #if around the definition, so that
macros have the same values as for that #if. Names are not sampled if the file itself defines one of the macros after
that place. Functions, types and variables are found in the AST (-ast-dump=json). A second mark right above the
definition shows whether the preprocessor keeps it. For macros, that mark alone decides, and also where a compile error
loses a definition that the preprocessor keeps; a note counts such settings.

Missing headers (windows.h under -D_WIN32) are replaced by empty files in a separate folder; clang recovers from missing
types. Headers are compiled on their own.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lci_py.source.syntax.languages import is_test
from lci_py.types.conflicts import Conflict
from tests.quality.conflicts_read import Definition, read_conflicts

_KINDS = frozenset({"function", "struct", "union", "enum", "type", "variable", "constant", "macro"})
_PASSED_OVER = re.compile(r"(?:^|/)(?:tests?|docs|examples?|deps|modules|packages|utils|unittests?)/")
_NAME = re.compile(r"[A-Za-z_]\w*")
_COMPARED = re.compile(r"\b([A-Za-z_]\w*) (?:[<>]=?|[=!]=) (0[xX][0-9a-fA-F]+|\d+)")
_NO_MACROS = frozenset({"defined", "__has_include", "__has_attribute", "__has_feature", "__has_builtin"})
_MISSING = re.compile(r"fatal error: '([^']+)' file not found")
_IF = re.compile(r"\s*#\s*(if|ifdef|ifndef|endif)\b(.*)")
_MAX_SETTINGS = 24
_MOST_OF_A_FILE = 2  # otherwise tables of constants would fill the sample
_MAX_MISSING = 40  # headers of one file

Setting = tuple[str, ...]  # flags


@dataclass(frozen=True)
class Sampled:
    """A name that is checked: all its definitions at file level in one file."""

    root: Path
    path: str
    name: str
    definitions: tuple[Definition, ...]

    def __str__(self) -> str:
        tags = " | ".join(f"{one.line} {one.kind} [{one.build_tag}]" for one in self.definitions)
        return f"{self.root.name}/{self.path} {self.name}: {tags}"


def sample(root: Path, definitions: list[Definition], count: int, seed: int) -> list[Sampled]:
    """`count` names of one folder, in the order of their files."""
    found: dict[tuple[str, str], list[Definition]] = defaultdict(list)
    for one in definitions:
        passed_over = is_test(one.path) or _PASSED_OVER.search(one.path) or "local" in one.traits.split()
        if one.path.endswith((".c", ".h")) and not passed_over and one.kind in _KINDS and "." not in one.qualified_name:
            found[one.path, one.name].append(one)
    chosen: dict[tuple[str, str], list[Definition]] = {}
    for path, ones in itertools.groupby(sorted(found), key=lambda key: key[0]):
        lines = _lines(root / path)
        for key in ones:
            outermost = _outermost(lines, _names(found[key]))
            is_tagged = len(found[key]) > 1 or found[key][0].build_tag is not None
            if is_tagged and not any(_redefined(lines, outermost, one) for one in found[key]):
                chosen[key] = found[key]
    keys = random.Random(seed).sample(sorted(chosen), len(chosen))
    keys.sort(key=lambda key: len(chosen[key]) == 1)  # several definitions first; the order is kept otherwise
    several = sum(len(chosen[key]) > 1 for key in keys)
    drawn: list[tuple[str, str]] = []
    for part, most in ((keys[:several], count - count // 2), (keys[several:], count)):
        for key in part:
            if len(drawn) < most and sum(path == key[0] for path, _ in drawn) < _MOST_OF_A_FILE:
                drawn.append(key)
    return [Sampled(root, *key, tuple(chosen[key])) for key in sorted(drawn)]


def settings(symbol: Sampled, seed: int) -> list[Setting]:
    """The settings under which a symbol is checked; the one without flags is always among them."""
    tags = [one.build_tag or "" for one in symbol.definitions]
    values: dict[str, set[str]] = {}
    for tag in tags:
        for name in _NAME.findall(re.sub(r'"[^"]*"|<[^>]*>|\b\d\w*', " ", tag)):
            if name not in _NO_MACROS:
                values.setdefault(name, {"1"})
        for name, number in _COMPARED.findall(tag):
            around = int(number, 0)
            values.setdefault(name, {"1"}).update(str(max(0, around + step)) for step in (-1, 0, 1))
    choices = [[f"-U{name}", *(f"-D{name}={value}" for value in sorted(of))] for name, of in sorted(values.items())]
    draw = random.Random(f"{seed} {symbol.path} {symbol.name}")
    combined = list(itertools.islice(itertools.product(*choices), 5000))
    if len(combined) > _MAX_SETTINGS:
        # First each value on its own with nothing else defined, then any combination.
        ground = tuple(choice[0] for choice in choices)
        single = [(*ground[:i], flag, *ground[i + 1 :]) for i, choice in enumerate(choices) for flag in choice[1:]]
        some = [tuple(draw.choice(choice) for choice in choices) for _ in range(_MAX_SETTINGS)]
        combined = list(dict.fromkeys([ground, *single[: _MAX_SETTINGS // 2], *some]))[:_MAX_SETTINGS]
    return [(), *combined] if choices else [()]


def instrumented(symbol: Sampled) -> tuple[str, dict[int, int]]:
    """The file with marks, and the lines of the definitions in it."""
    lines = _lines(symbol.root / symbol.path)
    outermost = _outermost(lines, _names(symbol.definitions))
    added: dict[int, list[str]] = defaultdict(list)  # by the line (from 0) that it is inserted before
    for number, one in enumerate(symbol.definitions):
        added[_joined(lines, one.line - 1)].append(f"#define lci_kept_{number}_{symbol.name} 1")
        if one.build_tag is not None:
            mark = f"#define lci_holds_{number}_{symbol.name} 1"
            added[outermost.get(one.line - 1, one.line - 1)] += [f"#if {one.build_tag}", mark, "#endif"]
    text: list[str] = []
    moved: dict[int, int] = {}
    for place, line in enumerate(lines):
        text += added.get(place, [])
        text.append(line)
        moved[place + 1] = len(text)
    return "\n".join(text), {one.line: moved[one.line] for one in symbol.definitions}


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8", "replace").split("\n")


def _joined(lines: list[str], place: int) -> int:
    """Where the lines begin that a \\ joins to this one."""
    while place > 0 and lines[place - 1].endswith("\\"):
        place -= 1
    return place


def _redefined(lines: list[str], outermost: dict[int, int], one: Definition) -> bool:
    """Whether a macro of the tag is defined between the outermost #if around a definition and the definition."""
    between = "\n".join(lines[outermost.get(one.line - 1, one.line - 1) : one.line - 1])
    names = set(_NAME.findall(one.build_tag or ""))
    return any(name in names for name in re.findall(r"#\s*(?:define|undef)\s+(\w+)", between))


def _names(definitions: Iterable[Definition]) -> set[str]:
    return {name for one in definitions for name in _NAME.findall(one.build_tag or "")}


def _outermost(lines: list[str], names: set[str]) -> dict[int, int]:
    """Line to the line of the outermost #if around it, from 0. Include guards do not count: a first #ifndef of a macro
    that is not in the tags, with its #define right after it."""
    found: dict[int, int] = {}
    stack: list[int] = []
    is_first = True
    for place, line in enumerate(lines):
        directive = _IF.match(line)
        if directive is not None and directive[1] != "endif":
            following = " ".join(lines[place + 1 : place + 4])
            guarded = _NAME.findall(directive[2].replace("defined", ""))
            defined = guarded and re.match(rf"\s*#\s*define\s+{guarded[0]}\b", following)
            stack.append(-1 if is_first and defined and guarded[0] not in names else place)
            is_first = False
        elif directive is not None and stack:
            stack.pop()
        around = [place for place in stack if place >= 0]
        if around:
            found[place] = around[0]
    return found


class Clang:
    """Runs clang on texts, and creates missing headers as empty files."""

    def __init__(self, scratch: Path) -> None:
        self._file = scratch / "unit.c"
        self._stubs = scratch / "stubs"
        self._stubs.mkdir()
        self.lost = 0  # definitions that only the preprocessor shows

    def judge(self, symbol: Sampled, setting: Setting, text: str, lines: dict[int, int]) -> list[str]:
        """The differences under a setting."""
        self._file.write_text(text, "utf-8")
        marks = set(re.findall(r"#define (lci_\w+)", self._run(symbol, [*setting, "-E", "-dM"]).stdout))
        seen: set[int] = set()
        has_errors = False
        if any(one.kind != "macro" for one in symbol.definitions):
            dump = ["-fsyntax-only", "-Xclang", "-ast-dump=json", "-Xclang", f"-ast-dump-filter={symbol.name}"]
            ran = self._run(symbol, [*setting, *dump])
            has_errors = " error: " in ran.stderr
            seen = set(self._declared(ran.stdout, symbol.name))
        wrong = []
        for number, one in enumerate(symbol.definitions):
            holds = one.build_tag is None or f"lci_holds_{number}_{symbol.name}" in marks
            kept = f"lci_kept_{number}_{symbol.name}" in marks
            is_seen = kept if one.kind == "macro" else lines[one.line] in seen
            if is_seen != kept and kept and has_errors:
                self.lost += 1
                is_seen = kept
            if holds != is_seen:
                wrong.append(f"line {one.line} is {'' if is_seen else 'not '}seen: {' '.join(setting)}")
        return wrong

    def _run(self, symbol: Sampled, flags: list[str]) -> subprocess.CompletedProcess[str]:
        root = symbol.root
        folders = [(root / symbol.path).parent, root, *(root / name for name in ("include", "src", "lib"))]
        folders += sorted((root / "deps").glob("*/")) + sorted((root / "deps").glob("*/src/"))
        include = [f"-I{folder}" for folder in folders if folder.is_dir()]
        command = ["clang", "-x", "c", "-w", "-ferror-limit=0", *include, "-idirafter", str(self._stubs), *flags]
        for _ in range(_MAX_MISSING):
            ran = subprocess.run([*command, str(self._file)], capture_output=True, text=True, errors="replace")
            missing = [name for name in _MISSING.findall(ran.stderr) if ".." not in name and not name.startswith("/")]
            if not missing:
                break
            for name in missing:
                (self._stubs / name).parent.mkdir(parents=True, exist_ok=True)
                (self._stubs / name).touch()
        return ran

    def _declared(self, output: str, name: str) -> Iterator[int]:
        """The lines of the definitions of a name."""
        text = self._file.read_bytes()
        for node in _nodes(output):
            if node.get("name") == name and _is_definition(node):
                place = node["loc"].get("expansionLoc", node["loc"])
                if "offset" in place and "includedFrom" not in place:
                    yield text.count(b"\n", 0, place["offset"]) + 1


def _nodes(output: str) -> Iterator[dict[str, Any]]:
    """The nodes of an AST dump with a filter: one after each line `Dumping NAME:`, with others inside it."""
    decoder = json.JSONDecoder()
    at = output.find("{")
    pending = []
    while at >= 0:
        node, end = decoder.raw_decode(output, at)
        pending.append(node)
        at = output.find("{", end)
    while pending:
        node = pending.pop()
        pending += node.get("inner", [])
        if "loc" in node:
            yield node


def _is_definition(node: dict[str, Any]) -> bool:
    kind = node.get("kind")
    if kind == "FunctionDecl":
        return any(child.get("kind") == "CompoundStmt" for child in node.get("inner", []))
    if kind == "RecordDecl":
        return bool(node.get("completeDefinition"))
    if kind == "EnumDecl":
        return bool(node.get("inner"))
    return kind == "TypedefDecl" or (kind == "VarDecl" and (node.get("storageClass") != "extern" or "init" in node))


def check(symbols: list[Sampled], seed: int, *, verbose: bool) -> int:
    """Counts of symbols that are right."""
    right = 0
    for symbol in symbols:
        text, lines = instrumented(symbol)
        asked = settings(symbol, seed)
        with tempfile.TemporaryDirectory(prefix="lci-conflicts-") as scratch:
            clang = Clang(Path(scratch))
            wrong = [problem for setting in asked for problem in clang.judge(symbol, setting, text, lines)]
        right += not wrong
        if wrong or verbose:
            note = f", {clang.lost} times by the preprocessor alone" if clang.lost else ""
            print(f"  {'WRONG' if wrong else 'right'} {len(asked):2d} settings{note}  {symbol}")
        for problem in wrong[:6]:
            print(f"      {problem}")
    return right


def list_conflicts(root: Path, conflicts: tuple[Conflict, ...]) -> None:
    """The flagged names, to be read by a person."""
    counts = Counter(f"{conflict.relation} {conflict.kind}" for conflict in conflicts)
    print(f"{root.name}: {len(conflicts)} conflicts: {', '.join(f'{n} {what}' for what, n in counts.most_common())}")
    for conflict in conflicts:
        places = "; ".join(f"{site.file}:{site.line} [{site.build_tag}]" for site in conflict.definitions)
        print(f"  {conflict.relation} {conflict.kind} {conflict.qualified_name}: {places}")


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("folders", type=Path, nargs="+")
    ap.add_argument("--symbols", type=int, default=60, help="of all folders together")
    ap.add_argument("--seed", type=int, default=6)
    ap.add_argument("--min", type=float, default=0.95, help="the bar for the share of right symbols")
    ap.add_argument("--list", action="store_true", help="list all conflicts instead of checking a sample")
    ap.add_argument("-v", "--verbose", action="store_true", help="print the whole sample")
    args = ap.parse_args()
    right = total = 0
    for folder in args.folders:
        root = folder.resolve()
        definitions, conflicts = read_conflicts(root)
        if args.list:
            list_conflicts(root, conflicts)
            continue
        symbols = sample(root, definitions, args.symbols // len(args.folders), args.seed)
        ours = check(symbols, args.seed, verbose=args.verbose)
        print(f"{root.name}: {ours} of {len(symbols)} right")
        right, total = right + ours, total + len(symbols)
    if args.list:
        return 0
    share = right / total if total else 0.0
    print(f"{right} of {total} right, {share:.3f}: {'pass' if share >= args.min else 'FAIL'}")
    return 0 if share >= args.min else 1


if __name__ == "__main__":
    sys.exit(main())
