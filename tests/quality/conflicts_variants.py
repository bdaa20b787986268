"""Whether lists of variants are complete, against counts that share no code with lci.

    python -m tests.quality.conflicts_variants crate LIBC        # names of a Rust crate, and what is active, by rustc
    python -m tests.quality.conflicts_variants macros ABSEIL     # macros that two branches of one file define
    python -m tests.quality.conflicts_variants folders REPOSITORY src/unix src/win
    python -m tests.quality.conflicts_variants files PSUTIL 'psutil/arch/*/*.c' 'psutil/_ps[!p]*.py'  # one per platform

`crate` takes the definitions at the top of the files below `src` from the index: a name is complete if one conflict lists
all of them. A definition counts as active if it is the only one whose condition holds under `rustc --print cfg`, whatever
features and other names are set. `macros` finds `#define`s and the branches around them line by line. `folders` takes the
functions of C that both folders define from Universal Ctags; a name is found if a conflict lists one of each folder.
`files` takes the functions that several of the files with one glob define, without those that only their file sees; a
name is complete if one conflict lists all of these files.
"""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from lci_py.types.conflicts import Conflict
from tests.quality.conflicts_read import read_conflicts

_GROUPS = {
    **dict.fromkeys(("constant", "variable"), "value"), "function": "function",
    **dict.fromkeys(("struct", "union", "enum", "type", "trait"), "type"),
}  # fmt: skip
_TOKEN = re.compile(r'\w+ = "[^"]*"|\w+|&&|\|\||!|[()]')
_TARGET = re.compile(r"target_(?:os|arch|env|pointer_width|endian|vendor|family|abi)\b|(?:unix|windows)\Z")
_MAX_UNKNOWN = 8


def crate(root: Path) -> None:
    """Print how many names have complete lists, and how often the active definition is right."""
    definitions, conflicts = read_conflicts(root)
    names: dict[tuple[str, str], set[tuple[str, int]]] = defaultdict(set)
    for one in definitions:
        top = "." not in one.qualified_name and one.path.startswith("src/") and one.path.endswith(".rs")
        if top and one.kind in _GROUPS and "local" not in one.traits.split() and not one.name.startswith("_"):
            names[one.name, _GROUPS[one.kind]].add((one.path, one.line))
    listed: dict[str, list[set[tuple[str, int]]]] = defaultdict(list)
    for conflict in conflicts:
        listed[conflict.qualified_name].append({(site.file, site.line) for site in conflict.definitions})
    several = {key: places for key, places in names.items() if len(places) > 1}
    complete = sum(any(places <= found for found in listed[name]) for (name, _), places in several.items())
    print(f"complete lists: {complete} of {len(several)} names")
    answers = [_active(one) for one in conflicts if one.language == "rust"]
    for what in ("right", "wrong", "missing", "too many", "none, rightly", "not judged"):
        print(f"active, {what}: {answers.count(what)}")


@lru_cache(maxsize=1)
def _cfg() -> frozenset[str]:
    done = subprocess.run(["rustc", "--print", "cfg"], capture_output=True, text=True, check=True)
    return frozenset(done.stdout.split("\n"))


def _active(conflict: Conflict) -> str:
    have = _cfg()
    unknown: dict[str, int] = {}
    tags = [_expression(site.build_tag or "", have, unknown) for site in conflict.definitions]
    if len(unknown) > _MAX_UNKNOWN or any("…" in (site.build_tag or "") for site in conflict.definitions):
        return "not judged"
    rows = set()
    for values in itertools.product([False, True], repeat=len(unknown)):
        rows.add(tuple(bool(eval(tag, {"U": values})) for tag in tags))  # noqa: S307  # made of and, or, not, U[i] above
    sure = next(iter(rows)) if len(rows) == 1 and sum(next(iter(rows))) == 1 else None
    marked = tuple(site.active for site in conflict.definitions)
    if sure is None:
        return "too many" if any(marked) else "none, rightly"
    return "right" if marked == sure else "wrong" if any(marked) else "missing"


def _expression(tag: str, have: frozenset[str], unknown: dict[str, int]) -> str:
    words = []
    for token in _TOKEN.findall(tag):
        name = token.replace(" = ", "=")
        if token in ("&&", "||", "!", "(", ")"):
            words.append({"&&": "and", "||": "or", "!": "not"}.get(token, token))
        else:
            known = _TARGET.match(name) or token == "0"
            words.append(str(name in have) if known else f"U[{unknown.setdefault(name, len(unknown))}]")
    return " ".join(words) or "True"


def macros(root: Path) -> None:
    """Print how many macros with definitions in several branches of one file are listed with all of them."""
    listed: dict[tuple[str, str], set[int]] = defaultdict(set)
    for conflict in read_conflicts(root)[1]:
        for site in conflict.definitions if conflict.kind == "macro" else ():
            listed[site.file, conflict.symbol].add(site.line)
    wanted = complete = 0
    for path in sorted(root.rglob("*")):
        if path.suffix in (".h", ".cc", ".c", ".cpp", ".hpp", ".inc") and path.is_file():
            for name, lines in _defined(path.read_text(errors="replace")).items():
                wanted += 1
                complete += lines <= listed[path.relative_to(root).as_posix(), name]
    print(f"complete lists: {complete} of {wanted} macros")


def _defined(text: str) -> dict[str, set[int]]:
    text = re.sub(r"/\*.*?\*/", lambda match: re.sub(r"[^\n]", "", match[0]), text, flags=re.DOTALL)
    found: dict[str, dict[int, dict[int, int]]] = defaultdict(dict)
    stack: list[tuple[int, int]] = []  # the line of each open #if, and the number of its branch
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r"\s*#\s*(\w+)\s*(\w*)", line)
        word, name = match.groups() if match else ("", "")
        if word in ("if", "ifdef", "ifndef"):
            stack.append((number, 0))
        elif word in ("elif", "else") and stack:
            stack[-1] = (stack[-1][0], stack[-1][1] + 1)
        elif word == "endif":
            stack[-1:] = []
        elif word == "define":
            found[name][number] = dict(stack)
    return {
        name: set(places)
        for name, places in found.items()
        if any(a.get(at, b) != b for a in places.values() for other in places.values() for at, b in other.items())
    }


def folders(root: Path, one: str, other: str) -> None:
    """Print how many functions that both folders define are listed with definitions of both."""
    listed: dict[str, set[str]] = defaultdict(set)
    for conflict in read_conflicts(root)[1]:
        listed[conflict.symbol].update(site.file for site in conflict.definitions)
    mine, theirs = _functions(root, one), _functions(root, other)
    both = sorted(mine.keys() & theirs.keys())
    missing = [name for name in both if not (mine[name] & listed[name] and theirs[name] & listed[name])]
    print(f"found: {len(both) - len(missing)} of {len(both)} names; missing: {', '.join(missing[:20])}")


def files(root: Path, *globs: str) -> None:
    """Print how many functions that several files of a glob define have complete lists."""
    conflicts = read_conflicts(root)[1]
    for glob in globs:
        listed: dict[str, list[set[str]]] = defaultdict(list)
        for conflict in conflicts:
            listed[conflict.symbol].append({site.file for site in conflict.definitions})
        several = {name: files for name, files in _tagged(root, sorted(root.glob(glob))).items() if len(files) > 1}
        missing = [name for name, files in several.items() if not any(files <= found for found in listed[name])]
        complete = len(several) - len(missing)
        print(f"{glob}: complete lists: {complete} of {len(several)} names; missing: {', '.join(missing[:20])}")


def _functions(root: Path, folder: str) -> dict[str, set[str]]:
    return _tagged(root, sorted((root / folder).rglob("*.c")), "--extras=+F")


def _tagged(root: Path, paths: list[Path], *options: str) -> dict[str, set[str]]:
    """By name the files that define a function of it; without options, those that other files see."""
    command = ["ctags", "--output-format=json", "--kinds-C=f", "--kinds-Python=f", "--fields=+f", *options, "-f", "-"]
    found: dict[str, set[str]] = defaultdict(set)
    for line in subprocess.run([*command, *paths], capture_output=True, text=True, check=True).stdout.splitlines():
        tag = json.loads(line)
        if options or not tag.get("file"):
            found[tag["name"]].add(Path(tag["path"]).relative_to(root).as_posix())
    return found


MODES: dict[str, Callable[..., None]] = {"crate": crate, "macros": macros, "folders": folders, "files": files}

if __name__ == "__main__":
    what, where, *rest = sys.argv[1:]
    MODES[what](Path(where).resolve(), *rest)
