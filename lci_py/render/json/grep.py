"""The JSON of `lci grep`. docs/json-output.md describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import Parts, index_object, names_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lci_py.types.grep import FileLines, GrepAnswer, Line


def parts(answer: GrepAnswer) -> Parts:
    """The answer as JSON; its files are searched while its results are read."""
    head = {"command": "grep", "query": answer.request.pattern}
    return Parts(head, _results(answer), lambda: _tail(answer))


def _tail(answer: GrepAnswer) -> dict[str, Any]:
    tally = answer.tally
    return {
        "total": tally.lines,
        "files": tally.files,
        "has_more": tally.lines > tally.shown,
        "index": index_object(answer.info),
    }


def _results(answer: GrepAnswer) -> Iterator[dict[str, Any]]:
    before, after = answer.request.context
    for file in answer.files:
        texts = {line.number: line.text for line in file.lines} if before or after else {}
        for line in file.lines:
            if line.matches:
                found = _line(file, line)
                numbers = range(line.number - before, line.number), range(line.number + 1, line.number + after + 1)
                above, below = ([texts[number] for number in some if number in texts] for some in numbers)
                yield {**found, "before": above, "after": below}


def _line(file: FileLines, line: Line) -> dict[str, Any]:
    first, *more = line.spans or ((0, 0),)
    match = {"column": first[0] + 1, "match": line.text[first[0] : first[1]]} if line.spans else {}
    enclosing: dict[str, Any] = {}
    if around := line.around:
        place = {"kind": around.kind, "line": around.line, "end_line": around.end_line}
        enclosing = {"id": around.id, **names_of(around.symbol, around.qualified_name), **place}
    return {
        "file": file.path, "line": line.number, **match, "text": line.text, "language": file.language,
        "enclosing": enclosing,
        "more_matches": [{"column": a + 1, "match": line.text[a:b]} for a, b in more],
        "stale": file.stale or None,
    }  # fmt: skip
