"""Conditions that a file's path states: platform suffixes, source sets."""

from __future__ import annotations


def path_condition(language: str, path: str) -> str | None:
    """What must hold for a file at `path` to be part of a build, as far as the path says; None if it says nothing."""
    return None
