"""Reads the source sets of Kotlin, Java and Scala: the folder of a file says which builds the file belongs to."""

from __future__ import annotations

import re
from functools import lru_cache

from lci_py.source.conditions.text import join
from lci_py.source.text.patterns import lazily
from lci_py.types.record import NamedTuple

# `src/jvmMain/kotlin/…`, `src/main/scala-2.13/…`, `src/debug/java/…`, `src/main/java9/…`
_SOURCES = lazily(r"(?:^|/)src/(?P<set>[\w+.-]+)/(?P<folder>(?:kotlin|java|scala|jdk)(?:[-_]?\d[\w.]*[+-]?)?)/")
# sbt's `core/jvm/src/main/scala/…`, and `jvm/core/src/main/scala/…`
_SBT = lazily(
    r"(?:^|/)\.?(?P<set>(?:shared|jvm|js|native)(?:-(?:jvm|js|native))?)/(?P<module>(?:[\w.-]+/){0,2}?)src/(?:main|test)/"
)
# ktor's and kotlinx' `core/jvm/src/…`. The names are listed: a module of an app may be in a folder of any name.
_FLAT = lazily(
    r"(?:^|/)(?P<set>common(?:[A-Z]\w*)?|concurrent|desktop|posix|web|nix|darwin|windows|jvmAndPosix"
    r"|(?:non)?(?:[Jj]vm|[Jj]s|[Nn]ative|[Ww]asm|[Aa]pple)\w*"
    r"|(?:ios|macos|tvos|watchos|linux|mingw|android)(?:Native|Arm|X|Simulator)?\w{0,12})/(?P<kind>src|test)/(?!main/|test/)"
)
# Mill's `core/src-jvm/…` and `core/src-2.13/…`
_MILL = lazily(r"(?:^|/)src-(?P<set>jvm|js|native|\d[\d.]*[+-]?)/")
_RELEASES = lazily(r"(?:^|/)META-INF/versions/(?P<release>\d{1,3})/")
_VERSION = lazily(r"(?:scala[-_]?)?(\d[\d.]*?)([+-]?)")
#: Sets that are part of every build, and those that test, measure or show the others.
_PLAIN = lazily(
    r"main|common|shared|concurrent|it|jmh|bench\w*|generated|gen|examples?|samples?|docs?|\w*[tT]est\w*|integration\w*"
)


class _SourceSet(NamedTuple):
    root: str  # the folder that the sets of a module are in
    condition: str | None


@lru_cache(maxsize=1024)
def _source_set(path: str, language: str) -> _SourceSet:
    folders: list[str | None] = []
    match = _SBT.search(path) if language == "scala" else _FLAT.search(path) if language == "kotlin" else None
    inner = _SOURCES.search(path)
    if match is not None:
        words = match.groupdict()
        root = f"{path[: match.start()].strip('/')}/{words.get('module') or ''}".strip("/")
        folders.append(_of_set(match["set"]) if words.get("kind") != "test" else None)
    elif inner is not None:
        root = path[: inner.start("set")].rstrip("/")
        folders.append(_of_set(inner["set"]))
    elif language == "scala" and (match := _MILL.search(path)):
        root = path[: match.start()].strip("/")
        folders.append(_of_version("scala", match["set"]) if match["set"][0].isdigit() else match["set"])
    else:
        root = path
    if inner is not None:
        folders.append(_of_folder(inner["folder"]))
    if match := _RELEASES.search(path):
        folders.append(f"java >= {int(match['release'])}")
        root = path[: match.start()] if root == path else root
    return _SourceSet(root or ".", join(filter(None, folders)))


def path_condition(language: str, path: str) -> str | None:
    """The condition of a file's source set, in the words of Gradle and sbt; None if the file is in every build."""
    return _source_set(path, language).condition


def source_root(language: str, path: str) -> str:
    """The folder that holds the file's source set and its siblings; the path itself without a source set."""
    return _source_set(path, language).root


def _of_set(name: str) -> str | None:
    """The condition of a source set: `!jvm` for `nonJvm`, `jvm || posix` for `jvmAndPosix`; None for every build."""
    name = name.removesuffix("Main") if name != "Main" else name
    if not name or _PLAIN.fullmatch(name):
        return None
    if release := re.fullmatch(r"(?:java|jdk)-?(\d{1,3})", name):
        return f"java >= {int(release.group(1))}"
    if re.fullmatch(r"(?:jvm|js|native)-(?:jvm|js|native)", name):  # sbt
        return " || ".join(name.split("-"))
    if parts := re.fullmatch(r"([a-z]\w*?)Non([A-Z]\w*)|non([A-Z]\w*)", name):
        of, without, beside = parts.groups()
        return f"{of} && !{_lower(without)}" if of else f"!{_lower(beside)}"
    return " || ".join(_lower(part) for part in re.split(r"(?<=[a-z0-9])And(?=[A-Z])", name))


def _lower(name: str) -> str:
    return name[:1].lower() + name[1:]


def _of_folder(name: str) -> str | None:
    """The condition of a versioned folder (`scala >= 2.13` for `scala-2.13+`); None if its name states no version."""
    word = name.rstrip("-+.0123456789_")
    if word == "scala":
        return _of_version(word, name)
    release = re.search(r"\d{1,3}", name)
    return f"java >= {int(release.group())}" if release and word in ("java", "jdk") else None


def _of_version(word: str, name: str) -> str | None:
    match = _VERSION.fullmatch(name)
    return f"{word} {({'+': '>= ', '-': '<= '}).get(match.group(2), '')}{match.group(1)}" if match else None
