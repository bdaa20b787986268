"""`lci workspace` as text, and the lines of `lci status` about the repositories of a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.text.style import plural, visible_line, width_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lci_py.render.text.style import Layout, Page

_MAX_NAME = 32
_PROBLEMS = {
    "vanished": "is not there",
    "symlink": "has become a link",
    "special": "is not a folder",
    "unreadable": "cannot be read",
}


def render_workspaces(found: Mapping[str, Any], page: Page) -> None:
    """Write the workspaces with their repositories, or what was added or removed."""
    layout = page.layout
    if "workspaces" not in found:
        page.lines(_change_lines(found, layout))
        return
    for one in found["workspaces"]:
        later = f"  (not indexed yet: the first search does that, or `lci index --workspace {one['workspace']}`)"
        note = "" if one["indexed"] else later
        page.lines([f"{layout.style(one['workspace'], 'bold')}{layout.style(note, 'dim')}"])
        page.lines(repository_rows(one["repositories"], layout))
    if not found["workspaces"]:
        page.lines(["no workspaces; `lci workspace add NAME PATH…` makes one"])


def _change_lines(found: Mapping[str, Any], layout: Layout) -> Iterator[str]:
    name, verb = found["workspace"], "added" if "added" in found else "removed"
    touched, left = found[verb], len(found["repositories"])
    many = f"{left} {'repository' if left == 1 else 'repositories'}"
    if verb == "removed" and not left:
        yield f"{layout.style(name, 'bold')}: removed, with its index; the repositories are not touched"
        return
    if not touched:
        yield f"{layout.style(name, 'bold')}: nothing to add, it has {many}"
        return
    yield f"{layout.style(name, 'bold')}: {verb} {len(touched)}, it has {many}"
    yield from repository_rows(touched, layout)
    yield f"  `lci index --workspace {name}` brings its index up to date"


def repository_rows(repositories: Sequence[Mapping[str, Any]], layout: Layout) -> Iterator[str]:
    """One line for each: name, folder, and for a status the counts of its index."""
    wide = min(_MAX_NAME, max((width_of(visible_line(one["repository"])) for one in repositories), default=0))
    for one in repositories:
        name = visible_line(one["repository"])
        parts = []
        if (files := one.get("files")) is not None:
            parts.append(plural(files, "file"))
        if commit := one.get("commit"):
            parts.append(f"{one['branch']} at {commit[:12]}" if one.get("branch") else commit[:12])
        if stale := one.get("stale_files"):
            parts.append(f"{stale:,} changed")
        pad = " " * max(0, wide - width_of(name))
        row = f"  {name}{pad}  {layout.style(visible_line(one['path']), 'path')}"
        if parts:
            row += layout.style("  " + visible_line(", ".join(parts)), "dim")
        if problem := one.get("problem"):
            row += layout.style(f"  {layout.signs.warn} {_PROBLEMS.get(problem, problem)}", "warn")
        yield row
