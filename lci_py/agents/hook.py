"""The texts by which `lci agent hook` answers a coding agent, after the agent's own searches and when a session starts.

Claude Code, Codex and Gemini CLI pass an event to a hook as JSON on stdin; `hookSpecificOutput.additionalContext` of
the hook's output is added to the model's context (docs/agents.md has the addresses of their documentation).
"""

from __future__ import annotations

import json
import os
import re
import shlex
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What a session that starts in an indexed project is told.
REMINDER = (
    "This project has an lci index. Before rg, grep or reading files: `lci explore 'QUESTION'`; "
    "`lci def|refs|callers NAME`; `lci affected` for the tests of a change.\n"
)
_SEARCHES = ("rg", "grep", "egrep", "fgrep")
#: The tools that search: those that take a pattern; of the others, a command line is read.
_GREPS = ("Grep", "grep_search", "search_file_content")
#: The events after a tool, by agent.
_AFTER_TOOL = ("PostToolUse", "AfterTool")
#: Their flags with a value in the next word, and those whose value is the pattern.
_VALUED = re.compile(
    r"-(?:[ABCgtTmfdDjEMr]|-(?:glob|type|type-not|include|exclude|exclude-dir|max-count|context|file))"
)
_PATTERN = ("-e", "--regexp")
#: A name, also as a whole word, behind the keyword of a definition, or as a call.
_NAME = re.compile(
    r"(?:\\b|\\<|\^)?"
    r"(?:(?:async |export |pub |public )*(?:def|class|fn|func|function|struct|interface|type|const)(?: |\\s[+*]))?"
    r"([A-Za-z_$][\w$]{2,80})(?:\\b|\\>|\\?\()?"
)
#: Characters of what is told of a name: 150 tokens.
_MAX_LENGTH = 600


class Event(NamedTuple):
    """An event that an agent reports to its hook."""

    name: str  # SessionStart, or one of `_AFTER_TOOL`
    folder: str  # that the agent works in; "" if unknown
    symbol: str  # the name that a tool has looked for; "" for anything else


def read_event(text: str) -> Event | None:
    """Parse the event on a hook's standard input; None if it is irrelevant to lci."""
    try:
        event = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(event, dict):
        return None
    name, folder, args = event.get("hook_event_name"), event.get("cwd"), event.get("tool_input")
    folder = folder if isinstance(folder, str) and os.path.isabs(folder) else ""
    if name == "SessionStart":
        return Event(name, folder, "")
    if name not in _AFTER_TOOL or not isinstance(args, dict):
        return None
    symbol = _name_in(args.get("pattern")) if event.get("tool_name") in _GREPS else _name_of_search(args.get("command"))
    return Event(name, folder, symbol) if symbol else None


def hook_output(event: Event, text: str) -> str:
    """The JSON that makes the agent add a text to the model's context."""
    return json.dumps({"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": text}}) + "\n"


def definitions_text(name: str, definitions: Sequence[tuple[str, int, str]], total: int) -> str:
    """The text about a name: a line for each definition (path, line, signature), as many as there is room for."""
    lines = [
        f"{' '.join(path.split())}:{line}  {' '.join(signature.split())[:160]}\n"
        for path, line, signature in definitions
    ]
    head = f"lci: definitions of {name}, also `lci show {name}`, `lci refs {name}`\n"
    count = sum(size <= _MAX_LENGTH - len(head) - 10 for size in accumulate(map(len, lines)))
    return "".join((head, *lines[:count])) + (f"+{total - count}\n" if total > count else "")


def _name_in(pattern: Any) -> str:
    """The name in a pattern that is nothing but a single name; "" for any other pattern."""
    match = _NAME.fullmatch(pattern) if isinstance(pattern, str) else None
    return match[1] if match else ""


def _name_of_search(command: Any) -> str:
    """The only name that a command line searches for, in its first command other than `cd`; "" if there is none."""
    if not isinstance(command, str) or len(command) > 4000:
        return ""
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return ""
    while words[:1] == ["cd"] and "&&" in words:
        words = words[words.index("&&") + 1 :]
    words = words[1:] if tuple(words[:2]) == ("git", "grep") else words
    if not words or os.path.basename(words[0]) not in _SEARCHES:
        return ""
    rest = iter(words[1:])
    for word in rest:
        if word in _PATTERN or word == "--":
            return _name_in(next(rest, ""))
        if not word.startswith("-"):
            return _name_in(word)
        if _VALUED.fullmatch(word):
            next(rest, None)
    return ""
