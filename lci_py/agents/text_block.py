"""The instructions in a file that agents read: a block between two marks, which name the agents it is there for.

Several agents read AGENTS.md. The block is written once, and stays until the last agent that its mark names is
uninstalled.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lci_py.agents.lines import append, cut, end_of_line
from lci_py.agents.understood import NotUnderstoodError

if TYPE_CHECKING:
    from collections.abc import Iterable

_BEGIN, _END = "<!-- lci:start", "<!-- lci:end -->"
_NOTE = "kept by `lci agent`, edits are lost"
_MARKS = re.compile(
    rf"^{_BEGIN}(?P<names>(?: [a-z-]+)*)(?::[^\n]*)? -->[ \t]*\r?\n(?P<body>(?:.*\n)??){_END}(?=[ \t]*\r?$)",
    re.MULTILINE | re.DOTALL,
)
_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(?:.*\n)*?---\s*")
#: Whom a block is for that somebody has copied from the documentation.
PLAIN = "agents-md"


class Block(NamedTuple):
    """Where the block is in its file, whom it is for, and what it says."""

    start: int
    end: int
    names: tuple[str, ...]
    body: str


def written(names: Iterable[str], body: str) -> str:
    """The block as lci writes it, without an end of its last line."""
    return f"{_BEGIN}{''.join(f' {name}' for name in sorted(names))}: {_NOTE} -->\n{body.strip()}\n{_END}"


def find(text: str) -> Block | None:
    """The block of a text, None if there is none. A mark is a line; one within a line is talk about marks.

    Raises:
        NotUnderstoodError: The marks are incomplete, or there are several.
    """
    begins, ends = (len(re.findall(rf"^[ \t]*{mark}", text, re.MULTILINE)) for mark in (_BEGIN, _END))
    if not begins and not ends:
        return None
    marks = _MARKS.search(text)
    if (begins, ends) != (1, 1) or marks is None:
        what = "there are several blocks of lci" if begins > 1 or ends > 1 else "the marks of lci are not a whole pair"
        raise NotUnderstoodError(f"{what}: remove them by hand", ours=True)
    names = tuple(marks["names"].split()) or (PLAIN,)
    return Block(marks.start(), marks.end(), names, marks["body"].replace("\r\n", "\n").strip())


def add(text: str | None, name: str, body: str, head: str = "") -> str:
    """The text with a block for an agent: added at the end, or brought up to date where it is.

    Args:
        text: None if there is no file.
        name: The agent's.
        body: What the block says.
        head: What a file of lci's own begins with; "" for a file that is others', too.
    Raises:
        NotUnderstoodError: The block could not be taken out again without a trace, or the file is not lci's own.
    """
    if text is None:
        return head + append(None, written([name], body))
    block = find(text)
    if block is None:
        if head:
            raise NotUnderstoodError("the file is there, and lci has not written it")
        new = append(text, written([name], body))
        if remove(new, name) != text:
            raise NotUnderstoodError("its last lines end in a way that could not be restored")
        return new
    lines = written({*block.names, name}, body).replace("\n", end_of_line(text))
    return text[: block.start] + lines + text[block.end :]


def remove(text: str, name: str, head: str = "") -> str | None:
    """The text without the block, if it is there for this agent alone, else without the agent's name.

    Returns:
        None if nothing but lci's is in the file.
    """
    block = find(text)
    if block is None or name not in block.names:
        return text
    others = [other for other in block.names if other != name]
    if others:
        lines = written(others, block.body).partition("\n")[0]
        return text[: block.start] + lines + text[text.index("-->", block.start) + 3 :]
    if head and _FRONT_MATTER.fullmatch(text[: block.start]) and not text[block.end :].strip():
        return None
    return cut(text, block.start, block.end)
