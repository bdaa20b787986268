"""Lists the locations of an answer, one per line, made from its JSON: `--paths` for xargs and editors, `--vimgrep` for
vim's quickfix, Emacs and problem matchers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.text.style import visible_line, visible_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lci_py.render.json.answer import Parts


def paths(parts: Parts) -> Iterator[str]:
    """Lines `file:line` for each location: the matching line of a search result, the definitions of a conflict in this
    tree, or its disagreeing sources. For `lci affected`, only the files of affected tests, for a test runner.
    """
    return _each_once(f"{visible_path(file)}:{line}" if line else visible_path(file) for file, line in _files(parts))


def _files(parts: Parts) -> Iterator[tuple[str, int | None]]:
    """Yields (file, line) of each location; the line is None for a whole file."""
    command = parts.head.get("command", "search")
    if command == "affected":
        yield from ((file, None) for file in sorted({found["file"] for found in parts.results}))
    elif command == "history":
        yield parts.head["target"]["file"], parts.head["target"]["line"]
    else:
        for found in parts.results:
            if "relation" in found:
                own = (None, parts.tail()["index"]["branch"])
                found = {**found, "definitions": [site for site in found["definitions"] if site["branch"] in own]}
            for file, line, _, _ in _places(found, command):
                yield file, found.get("match_line") or line
        tail = parts.tail()
        for conflict in tail["conflicts"] if "by_relation" in tail else ():
            yield from ((source, None) for source in conflict.get("sources", ()))


def vimgrep(parts: Parts) -> Iterator[str]:
    """Lines `file:line:column: text` for each location: the matching lines of `grep` and `refs`, the calls of
    `callers`, and the definitions of other commands.
    """
    command = parts.head.get("command", "search")
    # What a change affects are callers as much as tests, which alone are the results.
    callers = parts.head["callers"] if command == "affected" else ()
    return _each_once(
        f"{visible_path(file)}:{line or 1}:{column}: {visible_line(text)}".rstrip()
        for found in (*callers, *parts.results)
        for file, line, column, text in _places(found, command)
    )


def _each_once(places: Iterable[str]) -> Iterator[str]:
    seen = set()
    for place in places:
        if place not in seen:
            seen.add(place)
            yield place + "\n"


def _places(found: dict[str, Any], command: str) -> Iterator[tuple[str, int | None, int, str]]:
    """Yields (file, line, column, text) for each location of a result; `found` is the JSON of the result."""
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
        yield found["file"], found.get("line"), 1, _name(found)


def _name(found: dict[str, Any]) -> str:
    """The kind and name of a definition, then its signature."""
    name = found.get("qualified_name") or found.get("symbol") or ""
    signature = " ".join((found.get("signature") or "").split())
    return "  ".join(filter(None, (f"{found.get('kind', '')} {name}".strip(), signature)))
