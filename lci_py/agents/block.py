"""A block of lci's lines, between two marks, in a text file that other people edit as well. The marks name its agents.

Several agents read AGENTS.md. The block is written once, and stays until the last agent in its mark is uninstalled.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lci_py.agents.safe_files import LeftAloneError

if TYPE_CHECKING:
    from collections.abc import Iterable

_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(?:.*\n)*?---\s*")
#: The agent name in a block that was copied from the documentation.
PLAIN = "agents-md"
#: What a mark begins and ends with: a comment of the file's format.
MARKDOWN, TOML = ("<!-- ", " -->"), ("# ", "")


class Location(NamedTuple):
    """The location of lci's block in a file, the agents that it is for, and its text."""

    start: int
    end: int
    names: tuple[str, ...]
    body: str


def find(text: str, comment: tuple[str, str] = MARKDOWN) -> Location | None:
    """Find the block in a text; None if there is none. A mark must be a line of its own.

    Raises:
        LeftAloneError: The marks are incomplete, or there are several blocks.
    """
    opening, closing = map(re.escape, comment)
    marks = re.findall(rf"^[ \t]*{opening}lci:(start|end)(?![\w-])", text, re.MULTILINE)
    match = re.search(
        rf"^{opening}lci:start(?P<names>(?: [a-z-]+)*)(?::[^\n]*)?{closing}[ \t]*\r?\n(?P<body>(?:.*\n)??)"
        rf"{opening}lci:end{closing}(?=[ \t]*\r?$)",
        text,
        re.MULTILINE | re.DOTALL,
    )
    if marks and (marks != ["start", "end"] or match is None):
        several = max(map(marks.count, marks)) > 1
        what = "it has several blocks of lci" if several else "the begin and end markers of lci do not pair up"
        raise LeftAloneError(f"{what}: remove them by hand", ours=True)
    if match is None:
        return None
    names = tuple(match["names"].split()) or (PLAIN,)
    return Location(match.start(), match.end(), names, match["body"].replace("\r\n", "\n").strip())


class Block(NamedTuple):
    """The block, as seen by one agent."""

    agent: str
    body: str
    head: str = ""  # what a file of lci's own begins with; "" for a file that is others', too
    comment: tuple[str, str] = MARKDOWN

    def text(self, names: Iterable[str] = ()) -> str:
        """The block for `names` (none: for this agent), without final line end."""
        opening, closing = self.comment
        start = f"lci:start {' '.join(sorted({*names} or {self.agent}))}: kept by `lci agent`, edits are lost"
        return f"{opening}{start}{closing}\n{self.body.strip()}\n{opening}lci:end{closing}"

    def state(self, text: str) -> str:
        """The state of the block: absent, installed, or outdated (from another version). Errors as in `find`."""
        block = find(text, self.comment)
        if block is None or self.agent not in block.names:
            return "absent"
        return "installed" if block.body == self.body.strip() else "outdated"

    def add(self, text: str | None) -> str:
        """The text with the block: appended, or updated where it is.

        Raises:
            LeftAloneError: The file is not lci's own; or for the reasons of `find`.
        """
        if not text:
            return self.by_hand() + "\n"
        eol = "\r\n" if re.match(r"[^\n]*\r\n", text) else "\n"
        if block := find(text, self.comment):
            lines = self.text((*block.names, self.agent)).replace("\n", eol)
            return text[: block.start] + lines + text[block.end :]
        if self.head:
            raise LeftAloneError("the file exists, and lci did not write it")
        lines = self.text().replace("\n", eol)
        return f"{text}{eol}{lines}{eol}" if text.endswith("\n") else f"{text}{eol}{eol}{lines}"

    def remove(self, text: str) -> str | None:
        """The text without the block, or without this agent's name if other agents need it; None if nothing is left."""
        block = find(text, self.comment)
        if block is None or self.agent not in block.names:
            return text
        if others := [name for name in block.names if name != self.agent]:
            mark = self.text(others).partition("\n")[0]
            return text[: block.start] + mark + text[re.compile(r"[ \t\r]*$", re.M).search(text, block.start).start() :]  # type: ignore[union-attr]
        before, after = text[: block.start], text[block.end :]
        if ended := re.match(r"[ \t]*\r?\n", after):
            after = after[ended.end() :]
            before = re.sub(r"(\n|\A)\r?\n\Z", r"\1", before)
        else:
            before = re.sub(r"(\r?\n){2}\Z", "", before)
        rest = before + after
        return rest if rest.strip() and not (self.head and _FRONT_MATTER.fullmatch(rest)) else None

    def by_hand(self) -> str:
        """The text that a person would add to the file."""
        return self.head + self.text()
