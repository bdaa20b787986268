"""`lci agent` as text: for each agent the signs that it is in use, and what was done to each of its files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.text.style import sentence, visible, visible_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lci_py.render.text.style import Layout, Page

_SAID = {
    "installed": "installed",
    "outdated": "outdated",
    "custom": "customised",
    "absent": "not installed",
    "left_alone": "left alone",
}
#: Columns of what is said about a file.
_WORDS = 15


def render_agents(found: Mapping[str, Any], page: Page) -> None:
    """Write what was changed, what would be changed (for `print`, as a diff), or the current state (for `list`)."""
    layout = page.layout
    where = f"{'your own files' if found['scope'] == 'user' else 'files'} in {visible_line(found['root'])}"
    page.lines([layout.style(f"# {where}" if found["action"] == "print" else where, "dim")])
    if found["action"] == "print":
        page.file.writelines(_preview(found, layout))
    else:
        agents = found["agents"]
        wide = max((len(agent["name"]) for agent in agents), default=0)
        for agent in agents:
            page.file.write(_heading(agent, wide, found, layout))
            for one in agent["files"]:
                page.file.writelines(_file(one, str(found["action"]), layout))
        page.file.writelines(_end(found, layout))
    start = "# " if found["action"] == "print" else ""
    for text in found["warnings"]:
        page.sentence(f"{start}{layout.signs.warn} {text}", hanging=f"{start}  ")


def _heading(agent: Mapping[str, Any], wide: int, found: Mapping[str, Any], layout: Layout) -> str:
    signs = ", ".join(map(visible_line, agent["detected"]))
    why = f"found: {signs}" if signs else "not found" if found["action"] == "list" else ""
    name = layout.style(agent["name"], "bold")
    return f"{name}{' ' * (wide - len(agent['name']))}  {layout.style(why, 'dim')}".rstrip() + "\n"


def _file(one: Mapping[str, Any], action: str, layout: Layout) -> Iterator[str]:
    said = _SAID[one["state"]] if action == "list" else one["change"]
    if action != "list" and said == "none":
        said = _SAID[one["state"]] if one["state"] in ("absent", "left_alone") else "unchanged"
    style = ("warn",) if one["state"] == "left_alone" else ("dim",) if said in ("not installed", "unchanged") else ()
    path = layout.style(visible_line(one["path"]), "path")
    if not one["detail"]:
        yield f"  {layout.style(said, *style)}{' ' * (_WORDS - len(said))}{path}\n"
        return
    yield f"  {layout.style(said, *style)}{' ' * (_WORDS - len(said))}{path}:\n"
    for line in sentence(one["detail"], layout, " " * (_WORDS + 2), _WORDS + 2):
        yield f"{line if line.startswith(' ') else ' ' * (_WORDS + 2) + line}\n"
    yield from _by_hand(one, " " * (_WORDS + 2))


def _by_hand(one: Mapping[str, Any], indent: str) -> Iterator[str]:
    if one["by_hand"]:
        yield f"{indent}to do it by hand, write:\n"
        for line in visible(one["by_hand"]).split("\n"):
            yield f"{indent}  {line}".rstrip() + "\n"
    if one["command"]:
        yield f"{indent}or run: {one['command']}\n"


def _preview(found: Mapping[str, Any], layout: Layout) -> Iterator[str]:
    """Lines of comments and diffs that `patch` and `git apply` can read."""
    for agent in found["agents"]:
        signs = ", ".join(map(visible_line, agent["detected"]))
        yield layout.style(f"# {agent['name']}" + (f", found: {signs}" if signs else ""), "dim") + "\n"
        for one in agent["files"]:
            if one["state"] == "left_alone":
                yield f"#   left alone: {visible_line(one['path'])}: {visible_line(one['detail'])}\n"
                yield from _by_hand(one, "#   ")
            elif one["change"] == "none":
                yield layout.style(f"#   unchanged: {visible_line(one['path'])}", "dim") + "\n"
    for one in found["diffs"]:
        for line in visible(one["diff"]).splitlines(keepends=True):
            style = {"+": "line", "-": "match", "@": "kind"}.get(line[0], "")
            bold = line.startswith(("+++", "---"))
            yield (layout.style(line[:-1], "bold" if bold else style) + "\n") if bold or style else line


def _end(found: Mapping[str, Any], layout: Layout) -> Iterator[str]:
    if found["action"] == "uninstall" and not found["agents"]:
        yield "nothing is installed\n"
    elif found["action"] in ("install", "uninstall") and all(
        one["change"] == "none" and one["state"] != "left_alone" for agent in found["agents"] for one in agent["files"]
    ):
        yield layout.style("nothing to do", "dim") + "\n"
