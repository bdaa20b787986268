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


def render_agents(report: Mapping[str, Any], page: Page) -> None:
    """Write what was changed, what would be changed (for `print`, as a diff), or the current state (for `list`)."""
    layout = page.layout
    where = f"{'your own files' if report['scope'] == 'user' else 'files'} in {visible_line(report['root'])}"
    page.lines([layout.style(f"# {where}" if report["action"] == "print" else where, "dim")])
    if report["action"] == "print":
        page.file.writelines(_preview(report, layout))
    else:
        agents = report["agents"]
        width = max((len(agent["name"]) for agent in agents), default=0)
        for agent in agents:
            page.file.write(_heading(agent, width, report, layout))
            for entry in agent["files"]:
                page.file.writelines(_file(entry, str(report["action"]), layout))
        page.file.writelines(_end(report, layout))
    start = "# " if report["action"] == "print" else ""
    for text in report["warnings"]:
        page.sentence(f"{start}{layout.signs.warn} {text}", hanging=f"{start}  ")


def _heading(agent: Mapping[str, Any], width: int, report: Mapping[str, Any], layout: Layout) -> str:
    signs = ", ".join(map(visible_line, agent["detected"]))
    why = f"found: {signs}" if signs else "not found" if report["action"] == "list" else ""
    name = layout.style(agent["name"], "bold")
    return f"{name}{' ' * (width - len(agent['name']))}  {layout.style(why, 'dim')}".rstrip() + "\n"


def _file(entry: Mapping[str, Any], action: str, layout: Layout) -> Iterator[str]:
    word = _SAID[entry["state"]] if action == "list" else entry["change"]
    if action != "list" and word == "none":
        word = _SAID[entry["state"]] if entry["state"] in ("absent", "left_alone") else "unchanged"
    style = ("warn",) if entry["state"] == "left_alone" else ("dim",) if word in ("not installed", "unchanged") else ()
    path = layout.style(visible_line(entry["path"]), "path")
    if not entry["detail"]:
        yield f"  {layout.style(word, *style)}{' ' * (_WORDS - len(word))}{path}\n"
        return
    yield f"  {layout.style(word, *style)}{' ' * (_WORDS - len(word))}{path}:\n"
    for line in sentence(entry["detail"], layout, " " * (_WORDS + 2), _WORDS + 2):
        yield f"{line if line.startswith(' ') else ' ' * (_WORDS + 2) + line}\n"
    yield from _by_hand(entry, " " * (_WORDS + 2))


def _by_hand(entry: Mapping[str, Any], indent: str) -> Iterator[str]:
    if entry["by_hand"]:
        yield f"{indent}to do it by hand, write:\n"
        for line in visible(entry["by_hand"]).split("\n"):
            yield f"{indent}  {line}".rstrip() + "\n"
    if entry["command"]:
        yield f"{indent}or run: {entry['command']}\n"


def _preview(report: Mapping[str, Any], layout: Layout) -> Iterator[str]:
    """Lines of comments and diffs that `patch` and `git apply` can read."""
    for agent in report["agents"]:
        signs = ", ".join(map(visible_line, agent["detected"]))
        yield layout.style(f"# {agent['name']}" + (f", found: {signs}" if signs else ""), "dim") + "\n"
        for entry in agent["files"]:
            if entry["state"] == "left_alone":
                yield f"#   left alone: {visible_line(entry['path'])}: {visible_line(entry['detail'])}\n"
                yield from _by_hand(entry, "#   ")
            elif entry["change"] == "none":
                yield layout.style(f"#   unchanged: {visible_line(entry['path'])}", "dim") + "\n"
    for entry in report["diffs"]:
        for line in visible(entry["diff"]).splitlines(keepends=True):
            style = {"+": "line", "-": "match", "@": "kind"}.get(line[0], "")
            bold = line.startswith(("+++", "---"))
            yield (layout.style(line[:-1], "bold" if bold else style) + "\n") if bold or style else line


def _end(report: Mapping[str, Any], layout: Layout) -> Iterator[str]:
    if report["action"] == "uninstall" and not report["agents"]:
        yield "nothing is installed\n"
    elif report["action"] in ("install", "uninstall") and all(
        entry["change"] == "none" and entry["state"] != "left_alone"
        for agent in report["agents"]
        for entry in agent["files"]
    ):
        yield layout.style("nothing to do", "dim") + "\n"
