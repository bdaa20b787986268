"""Turns the JSON of any command into Markdown, for a pull request or a prompt. Results with code have a heading and a
fenced block, other results are list items, and notes on omissions come last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.text.style import dropped_note, plural, visible, visible_line
from lci_py.types.search import IndexInfo

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_CODE = ("snippet", "text")
#: Keys of a result that has lines of code, and not only one that tells where it is.
_LINES = ("snippet", "text_line", "before", "after")
_LISTS = ("children", "definitions", "places")
#: The lists of `lci affected`, whose results are its tests.
_GROUPS = {"changed": "Changed", "results": "Tests", "callers": "Callers"}


def markdown(answer: Mapping[str, Any]) -> Iterator[str]:
    """The Markdown lines of an answer, given its complete JSON object."""
    for number, block in enumerate((*_result_blocks(answer), *_notes(answer))):
        yield from ("", *block) if number else block


def _result_blocks(answer: Mapping[str, Any]) -> Iterator[list[str]]:
    """Blocks of lines that show the results; blank lines will separate the blocks."""
    if answer.get("command") == "affected":
        for key, title in _GROUPS.items():
            if answer.get(key):
                yield [f"### {title}"]
                yield [line for place in answer[key] for line in _point(place, "")]
        return
    if "pieces" in answer:
        yield from map(_piece, answer["pieces"])
        return
    points: list[str] = []
    for result in answer["results"]:
        if any(key in result for key in _LINES):
            if points:
                yield points
                points = []
            yield from _section(result)
        else:
            points += _point(result, "")
    points += [f"- {_code(name['name'])}, not in the repository" for name in answer.get("external", ())]
    if points:
        yield points


def _piece(piece: Mapping[str, Any]) -> list[str]:
    """The Markdown of a piece of `lci explore`: a list item, with the code in a fenced block."""
    head = f"- {_title(piece)}: {piece['reason']}"
    if "lines" not in piece:
        return [head]
    lines = [visible(f"{number}: {text}") for number, text in piece["lines"]]
    fence = _fence(lines)
    return [head, f"{fence}{piece.get('language', '')}", *lines, fence]


def _fence(lines: Sequence[str]) -> str:
    """A fence of backquotes that is longer than any run of backquotes at the start of a line."""
    longest = max(len(line) - len(line.lstrip("`")) for line in (line.strip() for line in lines))
    return "`" * max(3, longest + 1)


def _notes(answer: Mapping[str, Any]) -> Iterator[list[str]]:
    """Blocks of lines that say what the answer leaves out or could not complete."""
    if "frontier" in answer:
        frontier = answer["frontier"]
        yield [f"No chain: {plural(frontier['reached'], 'place')} reached, {plural(frontier['depth'], 'call')} deep."]
        lost = [f"- {_code(place['call'])} is not known, {_title(place)}" for place in frontier.get("places", ())]
        if lost:
            yield lost
    for conflict in answer.get("conflicts", ()):
        sources = ", ".join(_code(source) for source in conflict.get("sources", ()))
        text = f"- {conflict['conflict_type']}: {_code(conflict['reasoning'])}"
        yield [f"{text} {sources}, {conflict['recommended_resolution']}" if sources else text]
    for item in answer.get("degraded", ()):
        yield [f"_degraded: {visible_line(item['view'])}_ {_code(item.get('detail', ''))}"]
    for given_up in answer.get("plan", {}).get("relaxed", ()):
        yield [f"_relaxed_: {_code(given_up)}"]
    for hint in answer.get("hints", ()):
        location = f" at {_code(hint['file'] + ':' + str(hint['line']))}" if "file" in hint else ""
        yield [f"{_code(hint['command'])} {hint['reason']}{location}"]
    count = sum("via" not in result for result in answer.get("results", ()))
    if "truncated" in answer:
        yield [f"_cut to {answer['truncated']['max_tokens']:,} tokens: {dropped_note(answer['truncated'])} left out_"]
    elif places := answer.get("left_out", {}).get("places"):
        yield [f"_{plural(places, 'place')} left out_"]
    elif pieces := answer.get("left_out", {}).get("pieces"):
        yield [f"_{plural(pieces, 'definition')} left out: `lci show {' '.join(answer['left_out']['targets'])}`_"]
    elif answer.get("has_more"):
        yield [f"_{count:,} of {answer['total']:,}_"]
    counts = (answer.get("index", {}).get(key, 0) for key in ("stale_files", "unchecked_files"))
    if text := IndexInfo(0, "", None, None, *counts).behind:
        yield [f"_{text}: {answer['index']['hint']}_"]


def _section(result: Mapping[str, Any]) -> Iterator[list[str]]:
    yield [f"### {_title(result)}"]
    signature = result.get("signature", "")
    body = next((result[key] for key in _CODE if key in result), "")
    if signature and " ".join(signature.split()) not in " ".join(body.split()):
        yield [_code(signature)]
    lines = visible("\n".join((*result.get("before", ()), body, *result.get("after", ())))).rstrip("\n").split("\n")
    fence = _fence(lines)
    yield [f"{fence}{result.get('language', '')}", *lines, fence]
    relations = [*_neighbour_lists(result)]
    relations += [f"- {site['relation']}: {_place_link(site)}{_tag(site)}" for site in result.get("definitions", ())]
    if relations:
        yield relations


def _neighbour_lists(result: Mapping[str, Any]) -> Iterator[str]:
    """A list item for each kind of neighbour of a result, such as its callers."""
    graph = result.get("graph", {})
    lists = {relation: (links, graph.get("counts", {}).get(relation, 0)) for relation, links in graph.items()}
    lists |= {key: (result[key]["results"], result[key]["total"]) for key in ("callers", "callees") if key in result}
    for relation, (links, total) in lists.items():
        if relation == "counts" or not links:
            continue
        names = ", ".join(_code(link if isinstance(link, str) else _link(link)) for link in links)
        more = f" (+{total - len(links):,})" if total > len(links) else ""
        yield f"- {relation.replace('_', ' ')}: {names}{more}"


def _link(link: Mapping[str, Any]) -> str:
    return f"{link.get('qualified_name') or link.get('symbol', '')} {link['file']}:{link['line']}".lstrip()


def _point(result: Mapping[str, Any], indent: str) -> Iterator[str]:
    text = result.get("text") or result.get("signature") or result.get("doc") or ""
    tail = f": {_code(text)}" if text else ""
    sites = result.get("sites", ())
    at = f", {'line' if len(sites) == 1 else 'lines'} {', '.join(map(str, sites))}" if sites else ""
    yield f"{indent}- {_title(result)}{at}{tail}"
    for key in _LISTS:
        for item in result.get(key, ()):
            yield from _point(item, indent + "  ")


def _title(result: Mapping[str, Any]) -> str:
    if "calls" in result:
        return plural(result["calls"], "call") + (" (ambiguous)" if result.get("ambiguous") else "")
    name = result.get("qualified_name") or result.get("symbol") or result.get("external") or ""
    words = [_code(name)] if name else []
    words += [result[key] for key in ("kind", "role", "relation") if key in result][:1]
    if "file" in result or "line" in result:
        words.append(_place_link(result))
    words += [f"({mark})" for mark in ("ambiguous", "stale", "cycle", "repeated") if result.get(mark)]
    return " ".join(words) + _tag(result)


def _tag(site: Mapping[str, Any]) -> str:
    tag = f" {_code(site['build_tag'])}" if site.get("build_tag") else ""
    return f"{tag} (inferred: {site['inferred']})" if site.get("inferred") else tag


def _place_link(result: Mapping[str, Any]) -> str:
    """A Markdown link to a location. The path is relative, so that forges and editors can resolve it."""
    if "file" not in result:
        return f"line {result['line']}"
    path, line = visible_line(result["file"]), result.get("line")
    target = path
    for sign in "%<>\\ ":  # what would end the link, or mean something else in it
        target = target.replace(sign, f"%{ord(sign):02X}")
    return f"[{_code(f'{path}:{line}')}](<{target}#L{line}>)" if line else f"[{_code(path)}](<{target}>)"


def _code(text: str) -> str:
    """Text as inline code, even if the text contains backquotes."""
    text = visible_line(" ".join(text.split()))
    if "`" not in text:
        return f"`{text}`"
    run = "`"
    while run in text:
        run += "`"
    return f"{run} {text} {run}"
