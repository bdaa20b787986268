"""`--near FILE[:LINE]` as it is typed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lci_py.errors import UsageError, near_needs_words

if TYPE_CHECKING:
    from lci_py.types.search import Mode


def from_here_or_root(near: str) -> str:
    """A place as it is typed in the current folder, absolute. What is not there may be from an answer, whose paths
    start at the root."""
    here = os.path.abspath(near) if "\0" not in near else near
    folder, _, name = here.rpartition("/")
    return here if os.path.lexists(here) or os.path.lexists(f"{folder}/{name.partition(':')[0]}") else near


def near(value: object, mode: Mode, query: str) -> str:
    """The place that a flag or a batch line names; whether there is one, the index knows.

    Raises:
        UsageError: It is no text, or means nothing for such a search.
    """
    if not isinstance(value, str):
        raise UsageError("--near must be a text")
    if not value:
        raise UsageError("--near is empty", hint="give FILE or FILE:LINE, or leave it out")
    if mode != "multiview":
        raise UsageError("--near needs --mode multiview", hint="the other modes read no graph")
    if not query.strip():
        raise near_needs_words()
    return value
