"""Conditions that a file's path states: platform suffixes, source sets."""

from __future__ import annotations


def path_condition(language: str, path: str) -> str | None:
    """What must hold for a file at `path` to be part of a build, as far as the path says; None if it says nothing."""
    return None


def platform_stem(language: str, path: str) -> str:
    """The path without its platform suffix: what the files share of which a build takes one."""
    return path


def source_root(language: str, path: str) -> str:
    """The folder that holds the source sets which a file's own lies beside; the path itself if it is in none."""
    return path
