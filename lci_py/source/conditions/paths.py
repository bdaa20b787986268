"""Conditions that a file's path states: platform suffixes, source sets."""

from __future__ import annotations

from lci_py.source.text.patterns import lazily

_JVM = frozenset({"java", "kotlin", "scala"})  # whose module is imported when it is needed
_JAVASCRIPT = frozenset({"javascript", "typescript", "tsx"})
# What bundlers and runtimes choose by: React Native and its ports, Electron, and the parts of a program that are built
# for the browser, the server or a runtime each. The last suffix counts: in user.server.controller.js it names a layer.
_SUFFIX = lazily(
    r"(?<=[^/])(?<!\.config)\.(ios|android|native|web|windows|win32|macos|server|client|browser|node|deno|bun|edge|electron)"
    r"(?=(?:\.d)?\.(?:[cm]?[jt]sx?|es6)$)"
)


def path_condition(language: str, path: str) -> str | None:
    """What must hold for a file at `path` to be part of a build, as far as the path says; None if it says nothing."""
    if language in _JAVASCRIPT and (suffix := _SUFFIX.search(path)):
        return suffix[1]
    if language in _JVM:
        from lci_py.source.conditions import jvm

        return jvm.path_condition(language, path)
    return None


def platform_stem(language: str, path: str) -> str:
    """The path without its platform suffix: `src/Button.ios.js` is a variant of `src/Button.js`.

    The path itself if it has no such suffix. Variants may differ in the last suffix, as `.ts` and `.tsx`.
    """
    return _SUFFIX.sub("", path) if language in _JAVASCRIPT else path


def source_root(language: str, path: str) -> str:
    """The folder that holds the source sets which a file's own lies beside; the path itself if it is in none.

    `a/src/jvmMain/kotlin/p/F.kt` and `a/src/jsMain/kotlin/p/F.kt` share `a/src`.
    """
    if language not in _JVM:
        return path
    from lci_py.source.conditions import jvm

    return jvm.source_root(language, path)
