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
        yield from ((file, None) for file in sorted({result["file"] for result in parts.results}))
    elif command == "history":
        yield parts.head["target"]["file"], parts.head["target"]["line"]
    else:
        for result in parts.results:
            if "relation" in result:
                own = (None, parts.tail()["index"]["branch"])
                result = {**result, "definitions": [site for site in result["definitions"] if site["branch"] in own]}
            for file, line, _, _ in _places(result, command):
                yield file, result.get("match_line") or line
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
        for result in (*callers, *parts.results)
        for file, line, column, text in _places(result, command)
    )


def _each_once(places: Iterable[str]) -> Iterator[str]:
    seen = set()
    for location in places:
        if location not in seen:
            seen.add(location)
            yield location + "\n"


def _places(result: dict[str, Any], command: str) -> Iterator[tuple[str, int | None, int, str]]:
    """Yields (file, line, column, text) for each location of a result; `result` is the JSON of the result."""
    if command in ("grep", "refs"):
        yield result["file"], result["line"], result.get("column", 1), result["text"].expandtabs(4).strip()
    elif command == "callers":
        yield from ((result["file"], line, 1, _name(result)) for line in result["sites"])
    elif command == "path":
        before: dict[str, Any] = {}
        for hop in result["places"]:
            if before and hop.get("sites"):
                called = hop.get("external") or _name(hop)
                yield before["file"], hop["sites"][0], 1, f"{_name(before)} calls {called}"
            before = hop
        if "file" in before:
            yield before["file"], before["line"], 1, _name(before)
    elif command == "outline":
        rest = list(reversed(result["definitions"]))
        while rest:  # not by recursion: definitions may be nested as deep as the file likes
            node = rest.pop()
            yield result["file"], node["line"], 1, _name(node)
            rest += reversed(node["children"])
    elif "relation" in result:  # of conflicts
        for site in result["definitions"]:
            condition = f" ({site['build_tag']})" if site.get("build_tag") else ""
            yield site["file"], site["line"], 1, f"{site['relation']}: {_name(result)}{condition}"
    else:
        yield result["file"], result.get("line"), 1, _name(result)


def _name(result: dict[str, Any]) -> str:
    """The kind and name of a definition, then its signature."""
    name = result.get("qualified_name") or result.get("symbol") or ""
    signature = " ".join((result.get("signature") or "").split())
    return "  ".join(filter(None, (f"{result.get('kind', '')} {name}".strip(), signature)))
