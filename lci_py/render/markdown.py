"""An answer of any command as Markdown, for a pull request or a prompt. It is made of the JSON: one heading per result
or one point per place, code in fences, and below it what was left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.text.style import visible, visible_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CODE = ("snippet", "text")
_LISTS = ("children", "definitions", "places")


def markdown(answer: Mapping[str, Any]) -> Iterator[str]:
    """The lines of an answer.

    Args:
        answer: The envelope of any command.
    """
    for result in answer["results"]:
        if any("\n" in result.get(key, "") or key == "snippet" for key in _CODE if key in result):
            yield from _section(result)
        else:
            yield from _point(result, "")
    for name in answer.get("external", ()):
        yield f"- {_code(name['name'])}, not in the repository"
    for test in answer.get("test_files", ()):
        yield f"- tests: {_code(test)}"
    if "truncated" in answer:
        left = [
            f"{count} {key.removesuffix('_dropped')}"
            for key, count in answer["truncated"].items()
            if key != "max_tokens"
        ]
        yield f"\n_cut to {answer['truncated']['max_tokens']:,} tokens: {', '.join(left)} left out_"
    elif answer.get("has_more"):
        yield f"\n_{len(answer['results'])} of {answer['total']:,}_" if "total" in answer else "\n_there are more_"
    for item in answer.get("degraded", ()):
        yield f"\n_degraded: {visible_line(item['view'])}, {visible_line(item.get('detail', ''))}_"


def _section(result: Mapping[str, Any]) -> Iterator[str]:
    yield f"### {_title(result)}"
    signature = result.get("signature", "")
    body = next((result[key] for key in _CODE if key in result), "")
    if signature and " ".join(signature.split()) not in " ".join(body.split()):
        yield f"\n{_code(signature)}"
    if body:
        lines = visible(body).rstrip("\n").split("\n")
        longest = max((len(line) - len(line.lstrip("`")) for line in (line.strip() for line in lines)), default=0)
        fence = "`" * max(3, longest + 1)
        yield from ("", f"{fence}{result.get('language', '')}", *lines, fence, "")
    for relation, links in result.get("graph", {}).items():
        if relation != "counts":
            named = (
                link if isinstance(link, str) else f"{link.get('symbol', '')} {link['file']}:{link['line']}"
                for link in links
            )
            yield f"- {relation.replace('_', ' ')}: {', '.join(map(_code, named))}"
    for site in result.get("definitions", ()):
        yield f"- {site['relation']}: {_place(site)}{_tag(site)}"


def _point(result: Mapping[str, Any], indent: str) -> Iterator[str]:
    text = result.get("text") or result.get("signature") or result.get("doc") or ""
    said = f": {_code(text)}" if text else ""
    sites = f", lines {', '.join(map(str, result['sites']))}" if "sites" in result else ""
    yield f"{indent}- {_title(result)}{sites}{said}"
    for key in _LISTS:
        for item in result.get(key, ()):
            yield from _point(item, indent + "  ")


def _title(result: Mapping[str, Any]) -> str:
    name = result.get("qualified_name") or result.get("symbol") or result.get("external") or ""
    words = [_code(name)] if name else []
    if kind := result.get("kind") or result.get("role") or result.get("relation"):
        words.append(kind)
    if "file" in result or "line" in result:
        words.append(_place(result))
    if result.get("ambiguous"):
        words.append("(ambiguous)")
    if tag := _tag(result):
        words.append(tag.strip())
    return " ".join(words) or f"{result.get('calls', 0)} calls"


def _tag(site: Mapping[str, Any]) -> str:
    return f" {_code(site['build_tag'])}" if site.get("build_tag") else ""


def _place(result: Mapping[str, Any]) -> str:
    """A place as a link: relative, as forges and editors resolve it."""
    if "file" not in result:
        return f"line {result['line']}"
    path, line = visible_line(result["file"]), result.get("line")
    shown = f"{path}:{line}" if line else path
    target = path.replace("%", "%25").replace(" ", "%20").replace("(", "%28").replace(")", "%29")
    return (
        f"[{shown.replace('[', chr(92) + '[').replace(']', chr(92) + ']')}](<{target}#L{line}>)"
        if line
        else f"[{shown}](<{target}>)"
    )


def _code(text: str) -> str:
    """Text as code in a line, whatever backquotes it has."""
    text = visible_line(" ".join(text.split()))
    if "`" not in text:
        return f"`{text}`"
    run = "`"
    while run in text:
        run += "`"
    return f"{run} {text} {run}"
