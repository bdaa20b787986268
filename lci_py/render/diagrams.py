"""Writes a picture as Graphviz's dot, Mermaid, SVG (drawn by Graphviz) or a page of HTML."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
from importlib import resources
from typing import TYPE_CHECKING

from lci_py.errors import LciError
from lci_py.render.picture import CONTAINS, by_file, texts
from lci_py.render.text.style import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lci_py.render.picture import Node, Picture

_DOT = str.maketrans({"\\": "\\\\", '"': '\\"'})
# Mermaid writes a character as # and its code, without the & of HTML.
_MERMAID = str.maketrans({char: f"#{ord(char)};" for char in '#"<>&`;|'})
#: Links up to which each is labelled with its reason: more labels hide the picture.
_LABELLED = 40
#: Pairs of files that a diagram of folders has.
_PAIRS = 60
#: Links that Mermaid draws, unless its settings say otherwise, and characters of a label.
_MAX_ARROWS, _LABEL = 500, 90
_DOT_SECONDS = 60
#: Lines and columns of code that a page shows of a definition.
_SHOWN, _WIDEST = 20, 200
_MARK = "{{data}}"


class DrawingError(LciError):
    """Graphviz cannot draw the picture."""

    code = "drawing"


def write(
    picture: Picture, shape: str, code: Callable[[str, int, int], list[str]], link: Callable[[str, int], str]
) -> str:
    """Returns a picture as text of the format `shape`.

    Args:
        shape: dot, mermaid, svg or html.
        code: Returns lines of a file, given its path and the first and last line.
        link: Returns the link that opens a file at a line in an editor, "" for none.
    Raises:
        DrawingError: Graphviz is needed and missing, or cannot draw.
    """
    if shape == "html":
        return _page(picture, code, link)
    if picture.is_map:
        picture = by_file(picture, _PAIRS)
    if shape == "mermaid":
        return _lines(_mermaid(picture))
    return _svg(_lines(_dot(picture))) if shape == "svg" else _lines(_dot(picture))


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _labels(picture: Picture) -> bool:
    return len(picture.links) <= _LABELLED


def _dot(picture: Picture) -> list[str]:
    names, colours, labels = _names(picture), picture.colours, _labels(picture)
    lines = ["digraph lci {", "  rankdir=LR;"]
    if picture.note:
        lines.append(f'  label="{picture.note.translate(_DOT)}";')
    lines += ['  node [shape=box, fontname="monospace"];', '  edge [fontname="monospace", fontsize=10];']
    for node in picture.nodes:
        text = "\\n".join(part[:_LABEL].translate(_DOT) for part in texts(node))
        lines.append(f'  {names[node.id]} [label="{text}"{", penwidth=3" if node.role else ""}];')
    for link in picture.links:
        tooltip = f"{link.step} {link.confidence:.2g}" if link.confidence < 1 else link.step
        style = [f'color="{colours[link.step]}"', f'tooltip="{tooltip}"']
        style += [f'label="{link.step}"'] if labels else []
        style += ["style=dashed"] if link.ambiguous else []
        lines.append(f"  {names[link.source]} -> {names[link.target]} [{', '.join(style)}];")
    return [*lines, "}"]


def _mermaid(picture: Picture) -> list[str]:
    names, colours, labels = _names(picture), picture.colours, _labels(picture)
    lines, notes = ["flowchart LR"], [picture.note] if picture.note else []
    if len(picture.links) > _MAX_ARROWS:
        notes.append(f"Mermaid draws {_MAX_ARROWS} arrows at most, here are {len(picture.links):,}")
    lines += [f'  note{index}["{note.translate(_MERMAID)}"]' for index, note in enumerate(notes)]
    for node in picture.nodes:
        text = "<br/>".join(part[:_LABEL].translate(_MERMAID) for part in texts(node))
        lines.append(f'  {names[node.id]}["{text}"]')
    for link in picture.links:
        label = f"|{link.step}|" if labels else ""
        arrow = "-.->" if link.ambiguous else "-->"
        lines.append(f"  {names[link.source]} {arrow}{label} {names[link.target]}")
    for reason, colour in colours.items():
        own = ",".join(str(index) for index, link in enumerate(picture.links) if link.step == reason)
        lines.append(f"  linkStyle {own} stroke:{colour}")
    targets = ",".join(names[node.id] for node in picture.nodes if node.role)
    return [*lines, *([f"  style {targets} stroke-width:3px"] if targets else [])]


def _names(picture: Picture) -> dict[str, str]:
    return {node.id: f"n{index}" for index, node in enumerate(picture.nodes)}


def _svg(dot: str) -> str:
    program = shutil.which("dot")
    if program is None:
        raise DrawingError(
            "svg is drawn by Graphviz, whose program `dot` is not on the PATH",
            hint="install graphviz, or take --format html, which needs nothing and saves an SVG",
        )
    try:
        ran = subprocess.run([program, "-Tsvg"], input=dot.encode(), capture_output=True, timeout=_DOT_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        late = isinstance(error, subprocess.TimeoutExpired)
        why = f"Graphviz needs more than {_DOT_SECONDS} seconds" if late else f"Graphviz cannot draw this: {error}"
        raise DrawingError(why, hint="ask for less, or take --format html") from error
    if ran.returncode:
        errors = ran.stderr.decode("utf-8", "replace").strip().splitlines()
        raise DrawingError(
            f"Graphviz cannot draw this: {errors[-1] if errors else f'exit code {ran.returncode}'}",
            hint="ask for less, or take --format html",
        )
    return ran.stdout.decode("utf-8", "replace")


# --- the page -----------------------------------------------------------------------------------------------------


def _page(picture: Picture, code: Callable[[str, int, int], list[str]], link: Callable[[str, int], str]) -> str:
    """A page of HTML that loads nothing from elsewhere. The browser runs no text from a repository: the page allows
    only its own script and style, by their digests.
    """
    from lci_py.render.json.answer import dumps

    ids = {node.id: index for index, node in enumerate(picture.nodes)}
    data = {
        "title": picture.title,
        "note": picture.note,
        "map": any(edge.step == CONTAINS for edge in picture.links),
        "colours": picture.colours,
        "nodes": [
            {**node._asdict(), "code": _snippet(node, code), "open": link(node.file, node.line)}
            for node in picture.nodes
        ],
        "links": [{**edge._asdict(), "source": ids[edge.source], "target": ids[edge.target]} for edge in picture.links],
    }
    page = resources.files("lci_py.render").joinpath("picture.html").read_text("utf-8")
    for kind in ("script", "style"):
        own = re.search(f"(?s)<{kind}>(.*?)</{kind}>", page)
        assert own is not None
        digest = base64.b64encode(hashlib.sha256(own[1].encode()).digest()).decode()
        page = page.replace("{{%s}}" % kind, digest, 1)  # noqa: UP031  # braces of its own
    # `<` is what ends an element; JSON may spell it.
    return page.replace(_MARK, dumps(data).replace("<", "\\u003c"), 1)


def _snippet(node: Node, code: Callable[[str, int, int], list[str]]) -> list[str]:
    """The first lines of a node's definition, up to the definition's end if that is known."""
    if not node.label or not node.file:
        return []
    last = node.line + _SHOWN - 1
    lines = code(node.file, node.line, min(last, node.end_line) if node.end_line else last)
    return [visible(line[:_WIDEST]) for line in lines]
