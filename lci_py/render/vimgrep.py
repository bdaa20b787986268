"""`--vimgrep`: the places of an answer as `file:line:column: text`, for vim's quickfix, Emacs and problem matchers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.text.style import visible_line, visible_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lci_py.render.json.answer import Parts


def vimgrep(parts: Parts) -> Iterator[str]:
    """One line per place: the matching line of `grep` and `refs`, the calls of `callers`, else definitions."""
    command = parts.head.get("command", "search")
    # What a change affects are callers as much as tests, which alone are the results.
    callers = parts.head["callers"] if command == "affected" else ()
    seen = set()
    for found in (*callers, *parts.results):
        for file, line, column, text in _places(found, command):
            row = f"{visible_path(file)}:{line}:{column}: {visible_line(text)}".rstrip() + "\n"
            if row not in seen:
                seen.add(row)
                yield row


def _places(found: dict[str, Any], command: str) -> Iterator[tuple[str, int, int, str]]:
    if command in ("grep", "refs"):
        yield found["file"], found["line"], found.get("column", 1), found["text"].expandtabs(4).strip()
    elif command == "callers":
        yield from ((found["file"], line, 1, _name(found)) for line in found["sites"])
    elif command == "path":
        before: dict[str, Any] = {}
        for place in found["places"]:
            if before and place.get("sites"):
                called = place.get("external") or _name(place)
                yield before["file"], place["sites"][0], 1, f"{_name(before)} calls {called}"
            before = place
        if "file" in before:
            yield before["file"], before["line"], 1, _name(before)
    elif command == "outline":
        rest = list(reversed(found["definitions"]))
        while rest:  # not by recursion: definitions may be nested as deep as the file likes
            node = rest.pop()
            yield found["file"], node["line"], 1, _name(node)
            rest += reversed(node["children"])
    elif "relation" in found:  # of conflicts
        for site in found["definitions"]:
            condition = f" ({site['build_tag']})" if site.get("build_tag") else ""
            yield site["file"], site["line"], 1, f"{site['relation']}: {_name(found)}{condition}"
    else:
        yield found["file"], found.get("line") or 1, 1, _name(found)


def _name(found: dict[str, Any]) -> str:
    """The kind and the name of a definition, and its signature, which mostly contains the name as well."""
    name = found.get("qualified_name") or found.get("symbol") or ""
    signature = " ".join((found.get("signature") or "").split())
    return "  ".join(filter(None, (f"{found.get('kind', '')} {name}".strip(), signature)))
