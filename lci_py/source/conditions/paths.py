"""Conditions that a file's path states: platform suffixes, source sets."""

from __future__ import annotations

from lci_py.source.conditions import jvm


def path_condition(language: str, path: str) -> str | None:
    """What must hold for a file at `path` to be part of a build, as far as the path says; None if it says nothing."""
    if language in jvm.LANGUAGES:
        return jvm.path_condition(language, path)
    return None


def source_root(language: str, path: str) -> str:
    """The folder that variants of one file share: around the source sets; where there are none, the file's own.

    `a/src/jvmMain/kotlin/p/F.kt` and `a/src/jsMain/kotlin/p/F.kt` share `a/src`.
    """
    if language in jvm.LANGUAGES:
        return jvm.source_root(language, path)
    return path.rpartition("/")[0] or "."
