"""The error of a search whose model did not make the index: which one did, and what to run."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from lci_py.errors import ModelMismatchError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lci_py.embed.folder import ModelFolder


def mismatch(folder: ModelFolder, built: Mapping[str, Any], dimension: int | None = None) -> ModelMismatchError:
    """The error.

    Args:
        folder: The model that was asked for.
        built: What the manifest says of the index's model.
        dimension: Of the model that was asked for, if that is what differs.
    """
    found = folder.sha256[:12] if dimension is None else f"{dimension} dimensions"
    asked = "" if folder.builtin else f" --model {shlex.quote(str(folder.path))}"
    message = (
        f"the index was built with model {built.get('name')} ({str(built.get('sha256'))[:12]}, "
        f"{built.get('dimension')} dimensions), this search asks for {folder.name} ({found})"
    )
    place = built.get("folder")
    anew = f"run `lci index{asked}` to index anew"
    if isinstance(place, str) and place and place != str(folder.path):
        hint = f"run `lci search --model {shlex.quote(place)}` to search with the index's model, or {anew}"
    elif place or folder.builtin:
        hint = anew  # the same folder or program, with other content
    else:
        hint = f"{anew}, or search without --model, LCI_MODEL and `model` in .lci.toml"
    return ModelMismatchError(message, hint=hint)
