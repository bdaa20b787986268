"""Additional keys of answers about a workspace: the root of its paths, and the repository of each place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import Parts

if TYPE_CHECKING:
    from collections.abc import Sequence


def of_workspace(parts: Parts, root: str, missing: Sequence[dict[str, str]]) -> Parts:
    """An answer with these keys.

    Args:
        root: The root of the workspace; `root/file` is the file.
        missing: The repositories that cannot be read.
    """
    all_parts = of_fleet(parts)
    head = {**all_parts.head, "workspace": root.rpartition("/")[2], "root": root}
    return all_parts._replace(head=head, tail=lambda: {**all_parts.tail(), "missing_repositories": list(missing)})


def of_fleet(parts: Parts) -> Parts:
    """An answer with the repository of every place."""
    results = map(_with_repositories, parts.results)
    return parts._replace(
        head=_with_repositories(parts.head), results=results, tail=lambda: _with_repositories(parts.tail())
    )


def _with_repositories(value: Any) -> Any:
    """`value` with the repository in front of the file of every place."""
    if isinstance(value, dict):
        found: dict[str, Any] = {}
        for key, item in value.items():
            if key == "file" and isinstance(item, str):
                found["repository"] = item.partition("/")[0]
            found[key] = _with_repositories(item)
        return found
    if isinstance(value, (list, tuple)):
        return [_with_repositories(item) for item in value]
    return value
