"""Conditions that are stated by a file's path: platform suffixes and source sets."""

from __future__ import annotations

from lci_py.source.text.patterns import lazily

_JVM = frozenset({"java", "kotlin", "scala"})  # the module `jvm` is imported with the first file of these
_JAVASCRIPT = frozenset({"javascript", "typescript", "tsx"})
# Suffixes that bundlers and runtimes choose files by: React Native and its ports, Electron, and programs with parts for
# the browser, the server or a runtime. Only the last suffix counts: in user.server.controller.js `server` is a layer.
_SUFFIX = lazily(
    r"(?<=[^/])(?<!\.config)\.(ios|android|native|web|windows|win32|macos|server|client|browser|node|deno|bun|edge|electron)"
    r"(?=(?:\.d)?\.(?:[cm]?[jt]sx?|es6)$)"
)


def path_condition(language: str, path: str) -> str | None:
    """The condition that a path states for its file; None if it states none."""
    if language in _JAVASCRIPT and (suffix := _SUFFIX.search(path)):
        return suffix[1]
    if language in _JVM:
        from lci_py.source.conditions import jvm

        return jvm.path_condition(language, path)
    return None


def platform_stem(language: str, path: str) -> str:
    """The path without its platform suffix, if it has one: `src/Button.ios.js` is a variant of `src/Button.js`.

    Variants may also differ in the last suffix, as `.ts` and `.tsx` do.
    """
    return _SUFFIX.sub("", path) if language in _JAVASCRIPT else path


def source_root(language: str, path: str) -> str:
    """The folder that holds the file's source set and those beside it; the path itself if it is in none.

    `a/src/jvmMain/kotlin/p/F.kt` and `a/src/jsMain/kotlin/p/F.kt` share `a/src`.
    """
    if language not in _JVM:
        return path
    from lci_py.source.conditions import jvm

    return jvm.source_root(language, path)
