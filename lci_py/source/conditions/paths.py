"""Reads conditions that a file's path states (platform suffixes, source sets) or suggests (`src/win`, `_linux.py`)."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from lci_py.source.text.language_tables import pairs, shared_table, table_of
from lci_py.source.text.patterns import lazily

# Suffixes that bundlers and runtimes choose files by: React Native and its ports, Electron, and programs with parts for
# the browser, the server or a runtime. Only the last suffix counts: in user.server.controller.js `server` is a layer.
_SUFFIX = lazily(
    r"(?<=[^/])(?<!\.config)\.(ios|android|native|web|windows|win32|macos|server|client|browser|node|deno|bun|edge|electron)"
    r"(?=(?:\.d)?\.(?:[cm]?[jt]sx?|es6)$)"
)

#: What words in paths and conditions stand for, as `search/conflicts/logic/platforms.py` knows it.
_SYSTEMS, _PROCESSORS = (
    {word: meaning for words, meaning in pairs(shared_table("conditions")["paths"][kind]) for word in words.split()}
    for kind in ("systems", "processors")
)
_WORD = lazily(r"x86_64|os[34][09]0|s390x?|[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+(?:32|64)?|\d+|[a-z]\w*")
#: Words that name a platform also at the end of another word: `_pslinux.py`.
_ENDINGS = tuple("linux windows darwin macos freebsd openbsd netbsd sunos solaris win32 posix bsd osx aix".split())


@cache
def _says(language: str, key: str, value: object = True) -> bool:
    return bool(table_of(language).get("conflicts", {}).get(key) == value)


def path_condition(language: str, path: str) -> str | None:
    """The condition that a path states for its file; None if the path states none."""
    if _says(language, "platform_suffixes") and (suffix := _SUFFIX.search(path)):
        return suffix[1]
    if _says(language, "scope", "source_set"):
        from lci_py.source.conditions import jvm

        return jvm.path_condition(language, path)
    return None


def platform_stem(language: str, path: str) -> str:
    """The path without a platform suffix: `src/Button.js` for its variant `src/Button.ios.js`.

    Variants may also differ in the last suffix, as `.ts` and `.tsx` do.
    """
    return _SUFFIX.sub("", path) if _says(language, "platform_suffixes") else path


def shared_path(language: str, path: str) -> str:
    """The path that platform variants share, with `*` for the platform: `src/*/pipe.c` for `src/win/pipe.c`."""
    return _read(platform_stem(language, path))[1] if _says(language, "platform_paths") else path


def inferred_condition(language: str, path: str) -> str | None:
    """The platform that a path suggests by its words: `windows` for `src/win/pipe.c`. None without such words.

    It is only a hint, used to tell two files apart. The innermost word counts, separately for operating system and
    processor.
    """
    return _read(path)[0] if _says(language, "platform_paths") else None


def platform_word(word: str) -> str | None:
    """The operating system or processor that a lower-case word means; None if it means neither."""
    return _SYSTEMS.get(word) or _PROCESSORS.get(word)


@lru_cache(maxsize=8_192)
def _read(path: str) -> tuple[str | None, str]:
    """(The platform that a path suggests or None, the path with `*` in place of each word that names a platform)."""
    platforms: dict[bool, str] = {}

    def star(match: re.Match[str]) -> str:
        word, before = match[0].lower(), ""
        if word not in _SYSTEMS and word not in _PROCESSORS and word.endswith(_ENDINGS):
            ending = next(ending for ending in _ENDINGS if word.endswith(ending))
            word, before = ending, match[0][: -len(ending)]
        meaning = platform_word(word)
        if meaning is None:
            return match[0]
        platforms[word in _PROCESSORS] = meaning
        return f"{before}*"

    starred = _WORD.sub(star, path)
    return " && ".join(platforms[which] for which in sorted(platforms)) or None, starred


def source_root(language: str, path: str) -> str:
    """The folder that holds the file's source set and its siblings; the path itself without a source set.

    `a/src/jvmMain/kotlin/p/F.kt` and `a/src/jsMain/kotlin/p/F.kt` share `a/src`.
    """
    if not _says(language, "scope", "source_set"):
        return path
    from lci_py.source.conditions import jvm

    return jvm.source_root(language, path)
