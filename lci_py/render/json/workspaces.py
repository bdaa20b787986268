"""What every answer about a workspace has besides: the root of its paths, and the repository of each place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import Parts

if TYPE_CHECKING:
    from collections.abc import Sequence


def placed(parts: Parts, root: str, missing: Sequence[dict[str, str]]) -> Parts:
    """An answer with these keys.

    Args:
        parts: The answer.
        root: The root of the workspace; `root/file` is the file.
        missing: The repositories that cannot be read.
    """

    name = root.rpartition("/")[2]

    def tail() -> dict[str, Any]:
        found = _named(parts.tail())
        if "hint" in found.get("index", {}):
            found["index"]["hint"] = f"run `lci index --workspace {name}`"
        return {**found, "missing_repositories": list(missing)}

    head = {**_named(parts.head), "workspace": name, "root": root}
    return Parts(head, map(_named, parts.results), tail)


def named(parts: Parts) -> Parts:
    """An answer with the repository of every place."""
    return Parts(_named(parts.head), map(_named, parts.results), lambda: _named(parts.tail()))


def _named(value: Any) -> Any:
    """`value` with the repository in front of the file of every place."""
    if isinstance(value, dict):
        found: dict[str, Any] = {}
        for key, item in value.items():
            if key == "file" and isinstance(item, str):
                found["repository"] = item.partition("/")[0]
            found[key] = _named(item)
        return found
    if isinstance(value, (list, tuple)):
        return [_named(item) for item in value]
    return value
