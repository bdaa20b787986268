"""Finds versions that differ between files of one project: its own version, or the oldest supported language version.

Manifests, modules, changelogs, documents and CI files are read on demand, since they are few and small.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.source.stated_values import is_elsewhere
from lci_py.source.text.language_tables import pairs, shared_table
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lci_py.search.snapshot import Snapshot

Version = tuple[int, ...]

#: Files that are read at most, and the bytes and lines of each.
_MAX_FILES, _MAX_BYTES, _MAX_LINES = 2_000, 100_000, 3_000
_N = r"v?(\d+(?:\.\d+){0,2})"
_V = r"v?(\d+(?:\.\d+){1,3})(?:[-.+]?(?:dev|a|b|rc|alpha|beta|pre|post|SNAPSHOT|next|canary)[\w.+-]*)?"
_MSRV = rf"\bMSRV\b[^.\n\d]{{0,12}}{_N}(?![\w.]*\w)"
_MANIFEST = lazily(r"(?:pyproject\.toml|setup\.cfg|setup\.py|Cargo\.toml|\.json|CMakeLists\.txt|MODULE\.bazel)$")
_CHANGELOG = lazily(r"(?i)(?:change(?:s|log)|history|news|release[-_]?notes)(?:\.(?:md|rst|txt))?$")
_LISTED = lazily(r"(?<![\w.])\d+(?:\.\d+)*(?![\w.]*\w)")
_README = lazily(r"(?i)(?:readme|install(?:ation|ing)?|getting[-_]started)\.(?:md|rst|txt|adoc)$|readme$")
_DOCUMENTS = lazily(r"(?:^|/)docs?/.*$")
_RELEASE = lazily(
    rf"(?m)^(?:#{{1,3}}\s*|={{2,3}}\s*)?\[?(?:[Vv]ersion\s+|[Rr]elease\s+|[\w-]+\s+)?{_V}\]?(?=[\s:(\]–-]|$)[^\n]{{0,60}}"
)
_HEADED = lazily(r"#|=|.*\d{4}|.*\n[=\-~^]{3}")
#: Of a document: headings and footnotes, which may be about a feature, and blocks of code.
_ASIDE = lazily(r"(?ms)^(?:#{1,6} |[¹²³⁴⁵†‡]|\\\*|\[\^)[^\n]*$|^ *(```+|~~~+).*?^ *\1")
_LINK = lazily(r"\[([^\]\n]*)\]\([^)\n]*\)")
_UNRELEASED = lazily(r"(?i)unreleased|in development|not released|tbd|xx|upcoming|\bdev\b|\?\?")


class Statement(NamedTuple):
    """A version of something, as stated by a file."""

    subject: str  # `version`, or a language
    how: str  # own, release, oldest, said, listed
    file: str
    line: int
    value: str

    @property
    def number(self) -> Version:
        """The version as numbers, without trailing zeros, so that 1.2 equals 1.2.0."""
        parts = [int(part) for part in self.value.split(".")]
        while len(parts) > 1 and not parts[-1]:
            parts.pop()
        return tuple(parts)

    @property
    def cited(self) -> str:
        return f"{self.file}:{self.line}"


class _Rule(NamedTuple):
    how: str
    subject: str
    file: str  # pattern of a name
    pattern: str


@cache
def _rules() -> tuple[_Rule, ...]:
    rules = []
    for head, text in pairs(shared_table("versions")["stated"], " :: "):
        how, subject, file = head.split(" ", 2)
        rules.append(_Rule(how, subject, file, text.replace("{V}", _V).replace("{N}", _N)))
    return tuple(rules)


@cache
def _languages() -> dict[str, tuple[str, ...]]:
    """Maps a language to patterns of sentences that state the oldest supported version of the language."""
    table = shared_table("versions")
    said = table["said"].strip().replace("{N}", _N)
    return {
        language: (*said.replace("{L}", names).split("\n"), *([_MSRV] if "MSRV" in names else ()))
        for language, names in pairs(table["languages"])
    }


#: A disagreement: its type, whether one place is newer, the places, and what they say.
_Found = tuple[str, bool, tuple[Statement, ...], str]


def reads(path: str) -> bool:
    """Whether a file may state a version."""
    base = path.rpartition("/")[2]
    if base.endswith((".yml", ".yaml")):
        stating = ".github/workflows/" in path or base == ".travis.yml"
    else:
        stating = any(re.fullmatch(rule.file, base) for rule in _rules())
    return (stating or bool(_CHANGELOG.match(base) or _README.match(base))) and not is_elsewhere(path)


def versions_in(path: str, text: str) -> Iterator[Statement]:
    """The versions that a file states."""
    base = path.rpartition("/")[2]
    if _CHANGELOG.match(base):
        yield from _releases(path, text)
    elif _README.match(base):
        text = _ASIDE.sub(lambda aside: re.sub(r"[^\n]", " ", aside[0]), _LINK.sub(r"\1", text))
        for language, patterns in _languages().items():
            for pattern in patterns:
                yield from _matches(pattern, language, "said", path, text)
    else:
        for how, subject, file, pattern in _rules():
            if re.fullmatch(file, base) and (base != "conf.py" or _DOCUMENTS.search(path)):
                statements = list(_matches(pattern, subject, how, path, text))
                yield from statements if how == "listed" else statements[:1]


def _matches(pattern: str, subject: str, how: str, path: str, text: str) -> Iterator[Statement]:
    for match in re.finditer(pattern, text):
        values = _LISTED.findall(match[1]) if how == "listed" else [match[1]]
        yield from (Statement(subject, how, path, text.count("\n", 0, match.start(1)) + 1, value) for value in values)


def _releases(path: str, text: str) -> Iterator[Statement]:
    """The newest release in a changelog; none if its entries are not ordered from newest to oldest."""
    matches = [m for m in _RELEASE.finditer(text) if _HEADED.match(text, m.start())]
    released = [m for m in matches if not _UNRELEASED.search(m[0])]
    statements = [
        Statement("version", "release", path, text.count("\n", 0, m.start(1)) + 1, m[1]) for m in released[:8]
    ]
    if len(statements) > 1 and statements[0].number == max(m.number for m in statements):
        yield statements[0]


def disagreements(snapshot: Snapshot) -> list[tuple[tuple[Statement, ...], dict[str, Any]]]:
    """The contradicting versions of a repository, each as (statements, entry of the envelope's `conflicts`)."""
    texts: dict[str, str] = {}
    paths = [*snapshot.symbols.paths(), *workflows(snapshot.root)]
    for path in [path for path in dict.fromkeys(paths) if reads(path)][:_MAX_FILES]:
        lines = b"\n".join(snapshot.reader.some(path, 1, _MAX_LINES))[:_MAX_BYTES]
        texts[path] = lines.decode("utf-8", "replace")
    return compare(texts)


def workflows(root: Path) -> list[str]:
    """The paths of GitHub's workflow files, which are not in the index because their folder is hidden."""
    folder = root / ".github" / "workflows"
    if folder.is_symlink() or folder.parent.is_symlink() or not folder.is_dir():
        return []
    return sorted(
        f".github/workflows/{entry.name}" for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False)
    )


def compare(texts: dict[str, str]) -> list[tuple[tuple[Statement, ...], dict[str, Any]]]:
    """The contradicting versions, as from `disagreements`; `texts` maps the paths of files to their contents."""
    package_names = {path: name for path, text in texts.items() if _MANIFEST.search(path) and (name := _name(text))}
    names = {path: _plain(name) for path, name in package_names.items()}
    labels = {_plain(name): name for name in package_names.values()}
    projects: dict[tuple[str, str], list[Statement]] = defaultdict(list)
    folders: dict[str, list[Statement]] = defaultdict(list)
    members: dict[str, set[str]] = defaultdict(set)  # by folder, the names of projects in it
    for path, name in names.items():
        members[path.rpartition("/")[0]].add(name)
    for path, text in texts.items():
        folder = path.rpartition("/")[0]
        found_here = list(versions_in(path, text))
        # What has no version of its own, only sets tools up.
        is_published = not any(statement.how == "own" and statement.value.startswith("0.0") for statement in found_here)
        for statement in found_here:
            if statement.subject == "version" and statement.how == "own" and is_published:
                for project_folder, name in _projects_of(path, names.get(path, ""), members):
                    projects[project_folder, name].append(statement)
            elif statement.how == "listed" and statement.file.endswith((".yml", ".yaml")):
                folders[path.partition(".github")[0].rstrip("/") if ".github" in path else folder].append(statement)
            elif statement.how == "said" and _DOCUMENTS.search(path):
                folders[_DOCUMENTS.sub("", f"{folder}/x").strip("/")].append(statement)
            elif statement.how != "own" and is_published:
                folders[folder].append(statement)
    contradictions: list[_Found] = []
    for (folder, name), rows in sorted(projects.items()):
        newest = (
            [item for item in folders.get(folder, ()) if item.how == "release"] if len(members[folder]) == 1 else []
        )
        contradictions += _project_version(labels[name], rows, newest)
    for folder, rows in sorted(folders.items()):
        contradictions += _supported_versions([*rows, *(() if folder else _of_all_parts(folders))])
    return [
        (
            places,
            {
                "conflict_type": kind,
                "sources": list(dict.fromkeys(row.cited for row in places)),
                "recommended_resolution": "prefer-recent" if is_recent else "escalate-to-user",
                "reasoning": text,
            },
        )
        for kind, is_recent, places, text in contradictions
    ]


def _of_all_parts(folders: dict[str, list[Statement]]) -> Iterator[Statement]:
    """The oldest version of each language on which all manifests agree; none if the root has a manifest."""
    for language in _languages():
        oldest = [row for rows in folders.values() for row in rows if (row.subject, row.how) == (language, "oldest")]
        if len({row.number for row in oldest}) == 1 and all("/" in row.file for row in oldest):
            yield oldest[0]


def _projects_of(path: str, name: str, members: dict[str, set[str]]) -> Iterator[tuple[str, str]]:
    """(folder, name) of each project whose version is stated in a file."""
    folder, _, base = path.rpartition("/")
    if name:
        yield folder, name
    elif base == "conf.py":
        parent = _DOCUMENTS.sub("", path).strip("/")
        yield from ((parent, project) for project in members.get(parent, ()) if len(members[parent]) == 1)
    elif base.endswith(".py") and base != "setup.py":
        outer, _, package = folder.rpartition("/")
        for parent in (outer, outer.removesuffix("src").rstrip("/")):
            if _plain(package) in members.get(parent, ()):
                yield parent, _plain(package)
                return


def _project_version(name: str, rows: list[Statement], newest: list[Statement]) -> Iterator[_Found]:
    numbers = sorted({row.number for row in rows}, reverse=True)
    if len(numbers) > 1:
        first, second = ([row for row in rows if row.number == number] for number in numbers[:2])
        recent = [row for row in newest if row.number == numbers[0]]
        why = f"; {recent[0].cited} has {recent[0].value} as its newest release" if recent else ""
        text = f"{first[0].value} in {first[0].cited} but {second[0].value} in {second[0].cited}{why}."
        yield "temporal-mismatch", bool(recent), (*first, *second, *recent), f"the version of {name} is {text}"
    elif rows and newest and newest[0].number > numbers[0]:
        text = f"{rows[0].value} in {rows[0].cited} but {newest[0].cited} already has a release {newest[0].value}."
        yield "temporal-mismatch", True, (*rows, newest[0]), f"the version of {name} is {text}"


def _supported_versions(rows: list[Statement]) -> Iterator[_Found]:
    for language in _languages():
        oldest, said, listed = (
            sorted((row for row in rows if (row.subject, row.how) == (language, how)), key=lambda row: row.number)
            for how in ("oldest", "said", "listed")
        )
        if not oldest:
            continue
        low, high = oldest[0], max(oldest, key=lambda row: row.number)
        asks = f"{language} has to be {high.value} or later in {high.cited} but"
        if low.number != high.number:
            yield "temporal-mismatch", False, (high, low), f"{asks} {low.value} in {low.cited}."
            continue
        # A document that also has the right number tells of both, as of a release before.
        right = {row.file for row in said if _agree(row.number, low.number)}
        others = {row.file: row for row in sorted(said, key=lambda row: -row.line) if row.file not in right}
        for row in others.values():
            yield "temporal-mismatch", row.number < low.number, (high, row), f"{asks} {row.cited} says {row.value}."
        if listed and _is_below(listed[0].number, low.number):
            text = f"is listed in {listed[0].cited} but {low.cited} asks for {low.value} or later."
            yield "scope-mismatch", False, (low, listed[0]), f"{language} {listed[0].value} {text}"


def _agree(version: Version, other: Version) -> bool:
    length = min(len(version), len(other), 2)
    return version[:length] == other[:length]


def _is_below(version: Version, other: Version) -> bool:
    return len(version) > 0 and version[:2] < other[: len(version[:2])]


def _name(text: str) -> str:
    for pattern in shared_table("versions")["named"].strip().split("\n"):
        if match := re.search(pattern, text):
            return match[1]
    return ""


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "", name.lower())


def all_of(
    snapshot: Snapshot, passes: Callable[[str], bool], is_new: Callable[[str, str, str], bool] | None
) -> tuple[dict[str, Any], ...]:
    """All disagreements on versions in a repository, as entries of the envelope.

    Args:
        passes: A filter on paths, which at least one statement of a disagreement must pass.
        is_new: Whether a statement is new, by path, subject and value; None to list all.
    """
    return tuple(
        entry
        for rows, entry in disagreements(snapshot)
        if any(passes(row.file) for row in rows)
        and (is_new is None or any(is_new(row.file, row.subject, row.value) for row in rows))
    )
