"""Makes the JSON of each command but `search` and `def`, in functions named as the commands (docs/json-output.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import Parts, counted, fields, index_object, names_of, round_floats, site_object
from lci_py.types.search import RELATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lci_py.types.affected import AffectedAnswer, AffectedDefinition
    from lci_py.types.chains import Frontier, Hop, PathAnswer
    from lci_py.types.conflicts import Conflict, ConflictsAnswer
    from lci_py.types.explore import ExploreAnswer, Piece
    from lci_py.types.files import FilesAnswer
    from lci_py.types.graph import Branch, GraphAnswer, Neighbour, OtherMeaning, Place, Reference, Through
    from lci_py.types.grep import FileLines, GrepAnswer, Line
    from lci_py.types.history import Commit, HistoryAnswer
    from lci_py.types.outline import FileOutline, Node, OutlineAnswer
    from lci_py.types.show import Calls, ShowAnswer, ShownCode, ShowRequest
    from lci_py.types.similar import Likeness, SimilarAnswer
    from lci_py.types.unused import Unused, UnusedAnswer

_NAMES = ("symbol", "qualified_name", "kind")
_PLACE = ("id", *_NAMES, "repository", "file", "line")
_DEFINED = ("id", "repository", "file", "line", "end_line", *_NAMES, "language", "signature")
_FOUND = (
    "snippet_line", "match_line", "snippet", "mode_source", "mode_score", "stale", "also_in", "also_matched", "graph",
    "via", "routes", "conflict", "definitions", "explain",
)  # fmt: skip
_CALLED = (*_PLACE, "sites", "step", "confidence", "ambiguous", "targets")
#: The keys of each command's results, from which `--fields` chooses. docs/json-output.schema.json has the same.
FIELDS: dict[str, tuple[str, ...]] = {
    "explore": (
        "id", "repository", "file", "line", "end_line", *_NAMES, "language", "role", "reason", "mode", "edge", "via",
        "worth", "tokens", "whole", "lines", "ambiguous", "stale",
    ),
    "search": (*_DEFINED, *_FOUND),
    "def": (*_DEFINED, "doc", *_FOUND),
    "show": (
        "target", *_DEFINED, "doc", "text_line", "text", "left_out", "left_above", "stale", "callers", "callees",
    ),
    "outline": ("repository", "file", "language", "definitions", "stale"),
    "grep": (
        "repository", "file", "line", "column", "match", "text", "language", "enclosing", "before", "after",
        "more_matches", "stale",
    ),
    "similar": (*_DEFINED, "score", "meaning", "words", "same", "shape", "twin", "stale"),
    "files": ("repository", "file", "language", "line", "uses"),
    "history": ("repository", "commit", "date", "author", "subject", "added", "removed", "file", "patch"),
    "refs": ("repository", "file", "line", "column", "role", "text", "language", "enclosing", "stale"),
    "callers": _CALLED,
    "callees": _CALLED,
    "path": ("calls", "places", "ambiguous"),
    "affected": (*_PLACE, "distance", "reason"),
    "unused": (*_PLACE, "signature", "certainty", "reason", "mention"),
    "conflicts": (
        *_NAMES, "language", "relation", "conflict", "definitions", "missing_on", "same_text", "witness",
    ),
}  # fmt: skip


def explore(answer: ExploreAnswer) -> Parts:
    """The JSON of `lci explore`."""
    request, count = answer.request, len(answer.left_out)
    head = {
        "command": "explore",
        "query": request.question,
        "revision": request.revision,
        "confidence": None if answer.confidence is None else answer.confidence._asdict(),
        "chains": [
            [{"name": link.name} | ({"ambiguous": True} if link.ambiguous else {}) for link in chain]
            for chain in answer.chains
        ],
    }
    targets = [f"{piece.file}:{piece.line}" for piece in answer.left_out[:3]]
    tail = {
        "total": answer.total,
        "has_more": bool(count),
        "left_out": {"pieces": count, "targets": targets} if count else None,
        "max_tokens": request.max_tokens,
        "index": index_object(answer.info),
        "degraded": [item._asdict() for item in answer.degraded],
    }
    return Parts(head, map(_piece, answer.pieces), lambda: tail, "pieces")


def _piece(piece: Piece) -> dict[str, Any]:
    symbol = piece.qualified_name.rpartition(".")[2]
    return {
        **fields(piece, "id file line end_line"),
        **names_of(symbol, piece.qualified_name),
        **fields(piece, "kind language role"),
        "reason": reason(piece),
        **fields(piece, "mode edge via worth tokens whole lines ambiguous? stale?"),
    }


def reason(piece: Piece) -> str:
    """A phrase that says why a piece of code is in the answer of `lci explore`."""
    if piece.via:
        link = {"callee": "called by", "caller": "calls", "base": "above", "derived": "below"}
        return f"{link.get(piece.role, piece.role)} {piece.via}"
    texts = {"named": "named in the question", "changed": "changed"}
    return texts.get(piece.role) or (f"matches by {piece.mode}" if piece.mode else piece.role)


def show(answer: ShowAnswer) -> Parts:
    """The JSON of `lci show`."""
    head = {"command": "show", "targets": [{"target": target, "total": total} for target, total in answer.totals]}
    end = answer.offset + len(answer.results) + len(answer.dropped)
    budget = {
        "max_tokens": answer.max_tokens,
        "results_dropped": len(answer.dropped),
        "lines_dropped": sum(item.left_out + item.left_above for item in answer.results),
    }
    tail = {
        **counted(answer.total, bool(answer.dropped) or answer.total > end, answer.info),
        "unknown": [
            {"target": miss.target, "message": miss.message, "near": list(miss.near)} for miss in answer.unknown
        ],
        "truncated": None if answer.max_tokens is None else budget,
    }
    return Parts(head, (_shown_code(item, answer.request) for item in answer.results), lambda: tail)


def _shown_code(item: ShownCode, request: ShowRequest) -> dict[str, Any]:
    result = fields(item, "target id file line end_line qualified_name kind language signature doc")
    if item.symbol is None or not (request.signature or request.doc):
        result |= {"text_line": item.start, "text": "\n".join(item.lines)}
    if item.left_out:
        rest = item.start + len(item.lines)
        result["left_out"] = {"lines": item.left_out, "target": f"{item.file}:{rest}-{rest + item.left_out - 1}"}
    if item.left_above:
        target = f"{item.file}:{item.start - item.left_above}-{item.start - 1}"
        result["left_above"] = {"lines": item.left_above, "target": target}
    if item.stale:
        result["stale"] = True
    for key, calls in (("callers", item.callers), ("callees", item.callees)):
        if calls is not None:
            result[key] = _calls(calls)
    return result


def _calls(calls: Calls) -> dict[str, Any]:
    results = []
    for item in calls.shown:
        results.append({**place_object(item.place), **fields(item, "sites ambiguous?")})
    return {"results": results, "total": calls.total, "dispatch": [through_object(item) for item in calls.through]}


def outline(answer: OutlineAnswer) -> Parts:
    """The JSON of `lci outline`."""
    from lci_py.render.outline_tree import trees  # which the other commands do without

    # A key `query` stays where it is empty, as that of a search does.
    query = {"query": answer.request.query} if answer.request.query else {}
    head = {"command": "outline", "map": answer.request.is_map, **query}
    rest = answer.total - answer.offset - len(answer.results)
    cut = None if answer.max_tokens is None else {"max_tokens": answer.max_tokens, "definitions_dropped": rest}
    tail = {**counted(answer.total, rest > 0, answer.info), "truncated": cut}
    return Parts(head, map(_outlined_file, trees(answer)), lambda: tail)


def _outlined_file(file: FileOutline) -> dict[str, Any]:
    return {
        "file": file.path,
        "language": file.language,
        "definitions": [_node(node) for node in file.nodes],
        "stale": file.stale or None,
    }


def _node(node: Node) -> dict[str, Any]:
    own = fields(node.item, "id qualified_name kind line end_line signature doc exported")
    return {**own, "children": [_node(child) for child in node.children]}


def grep(answer: GrepAnswer) -> Parts:
    """The JSON of `lci grep`; the files are searched only while the results are read."""
    head = {"command": "grep", "query": answer.request.pattern}
    return Parts(head, _matching_lines(answer), lambda: _grep_tail(answer))


def _grep_tail(answer: GrepAnswer) -> dict[str, Any]:
    tally = answer.tally
    return {
        "total": tally.lines,
        "files": tally.files,
        "has_more": tally.lines > tally.shown,
        "index": index_object(answer.info),
    }


def _matching_lines(answer: GrepAnswer) -> Iterator[dict[str, Any]]:
    before, after = answer.request.context
    for file in answer.files:
        texts = {line.number: line.text for line in file.lines} if before or after else {}
        for line in file.lines:
            if line.matches:
                match = _line(file, line)
                if texts:
                    numbers = range(line.number - before, line.number), range(line.number + 1, line.number + after + 1)
                    above, below = ([texts[number] for number in some if number in texts] for some in numbers)
                    match |= {"before": above, "after": below}
                yield match


def _line(file: FileLines, line: Line) -> dict[str, Any]:
    first, *more = line.spans or ((0, 0),)
    match = {"column": first[0] + 1, "match": line.text[first[0] : first[1]]} if line.spans else {}
    enclosing: dict[str, Any] = {}
    if outer := line.enclosing:
        span = {"kind": outer.kind, "line": outer.line, "end_line": outer.end_line}
        enclosing = {"id": outer.id, **names_of(outer.symbol, outer.qualified_name), **span}
    return {
        "file": file.path, "line": line.number, **match, "text": line.text, "language": file.language,
        "enclosing": enclosing,
        "more_matches": [{"column": a + 1, "match": line.text[a:b]} for a, b in more],
        "stale": file.stale or None,
    }  # fmt: skip


def files(answer: FilesAnswer) -> Parts:
    """The JSON of `lci files`."""
    request = answer.request
    results = (
        {"file": file.file, "language": file.language, "line": request.line, "uses": file.uses}
        for file in answer.results
    )
    tail = {
        **counted(answer.total, answer.total > request.offset + len(answer.results), answer.info),
        "did_you_mean": list(answer.near),
    }
    return Parts({"command": "files", "pattern": request.pattern}, results, lambda: tail)


def similar(answer: SimilarAnswer) -> Parts:
    """The JSON of `lci similar`."""
    request = answer.request
    location = ":".join(map(str, request.place)) if request.place else None
    head = {"command": "similar", "query": request.name or location or ""}
    more = answer.total > request.offset + len(answer.results)
    tail = counted(answer.total, more, answer.info)
    return Parts(head, map(_likeness, answer.results), lambda: tail)


def _likeness(likeness: Likeness) -> dict[str, Any]:
    symbol = likeness.qualified_name.rpartition(".")[2]
    result: dict[str, Any] = {**likeness._asdict(), **names_of(symbol, likeness.qualified_name)}
    if likeness.qualified_name == symbol:
        del result["qualified_name"]
    return {key: round_floats(value) for key, value in result.items() if value is not False}


def history(answer: HistoryAnswer) -> Parts:
    """The JSON of `lci history`."""
    head = {"command": "history", "target": place_object(answer.place)}
    tail = {
        **counted(answer.total, answer.total > answer.request.offset + len(answer.results), answer.info),
        "first": None if answer.first is None else _commit(answer.first._replace(patch="")),
        "changed_together": [round_floats(companion._asdict()) for companion in answer.companions],
        "other_definitions": [place_object(place) for place in answer.others],
        "uncommitted": answer.uncommitted or None,
        "incomplete": True if answer.incomplete else None,
    }
    return Parts(head, map(_commit, answer.results), lambda: tail)


def _commit(commit: Commit) -> dict[str, Any]:
    return {"commit": commit.id, **fields(commit, "date author subject added removed file patch")}


#: Other meanings of a name that are listed.
_OTHERS = 5


def graph(answer: GraphAnswer) -> Parts:
    """The JSON of `lci callers`, `lci callees`, `lci tree` and `lci refs`."""
    head = {
        "command": answer.command,
        "query": answer.query,
        "targets": [place_object(place) for place in answer.targets],
        "direction": answer.direction,
        "depth": None if answer.direction is None else answer.depth,
    }
    end, places = answer.offset + len(answer.references) + len(answer.neighbours), answer.places_left_out
    budget = {"places_dropped": places, "max_tokens": answer.max_tokens}
    tail = {
        "external": [fields(item, "name file sites imported?") for item in answer.external]
        if answer.command == "callees"
        else None,
        **counted(answer.total, places > 0 if answer.command == "tree" else answer.total > end, answer.index),
        "unresolved_uses": answer.unresolved_uses if answer.command != "refs" else None,
        "dispatch": [through_object(item) for item in answer.through],
        "mentions": [f"{file}:{line}" for file, line in answer.mentions],
        "calls_of_unknown_name": [f"{file}:{line}" for file, line in answer.calls_of_unknown_name],
        "left_out": dict(answer.left_out) or ({"places": places} if places else None),
        "truncated": None if answer.max_tokens is None else budget,
        "unsearched": list(answer.unsearched),
        **other_meanings(answer.others),
        "did_you_mean": list(answer.did_you_mean),
    }
    return Parts(head, _graph_results(answer), lambda: tail)


def _graph_results(answer: GraphAnswer) -> list[dict[str, Any]]:
    if answer.command == "refs":
        return [_reference(item) for item in answer.references]
    if answer.command == "tree":
        return [_branch(branch) for branch in answer.branches]
    several = len(answer.targets) > 1
    return [_neighbour(item, several=several) for item in answer.neighbours]


def other_meanings(others: Sequence[OtherMeaning]) -> dict[str, Any]:
    """Keys for other meanings of an ambiguous name: the first meanings, and their total number if there are more."""
    if not others:
        return {}
    result: dict[str, Any] = {"other_meanings": [other._asdict() for other in others[:_OTHERS]]}
    return result | ({"other_meanings_total": len(others)} if len(others) > _OTHERS else {})


def place_object(place: Place) -> dict[str, Any]:
    """The JSON of a place: a definition, an anonymous function or a file."""
    return fields(place, "id qualified_name kind file line")


def _edge(item: Neighbour | Branch) -> dict[str, Any]:
    return fields(item, "sites step confidence ambiguous?")


def _neighbour(item: Neighbour, *, several: bool) -> dict[str, Any]:
    """The JSON of a caller or callee. If `several` definitions were asked for, `targets` says which it belongs to."""
    return {**place_object(item.place), **_edge(item), "targets": list(item.targets) if several else []}


def through_object(item: Through) -> dict[str, Any]:
    """The JSON of a declared method that has implementations."""
    return {**place_object(item.place), **fields(item, "types calls listed")}


def _branch(branch: Branch) -> dict[str, Any]:
    # The root of a tree has no step: no call leads to it.
    return {
        **place_object(branch.place),
        **(_edge(branch) if branch.step else {}),
        **fields(branch, "cycle? repeated? more?"),
        "children": [_branch(child) for child in branch.children],
    }


def _reference(item: Reference) -> dict[str, Any]:
    enclosing = place_object(item.enclosing) if item.enclosing is not None else None
    result = fields(item, "file line column role text language")
    return {**result, "enclosing": enclosing, "stale": item.stale or None}


def chains(answer: PathAnswer) -> Parts:
    """The JSON of `lci path`."""
    head = {
        "command": "path",
        "from": answer.request.source,
        "to": answer.request.target,
        "sources": [place_object(place) for place in answer.sources],
        "targets": [place_object(place) for place in answer.targets],
        "depth": answer.request.depth,
    }
    tail = {
        **counted(answer.total, answer.total > answer.offset + len(answer.results), answer.info),
        **other_meanings(answer.others),
        "frontier": None if answer.frontier is None else _frontier(answer.frontier),
    }
    return Parts(head, map(_chain, answer.results), lambda: tail)


def _chain(chain: Sequence[Hop]) -> dict[str, Any]:
    ambiguous = any(hop.ambiguous for hop in chain)
    return {"calls": len(chain) - 1, "places": [_hop(hop) for hop in chain], "ambiguous": ambiguous or None}


def _hop(hop: Hop) -> dict[str, Any]:
    return {
        **(place_object(hop.place) if hop.place is not None else {"external": hop.name}),
        **fields(hop, "sites text step"),
        "confidence": round_floats(hop.confidence) if hop.step else None,
        **fields(hop, "ambiguous? passed_elsewhere?"),
    }


def _frontier(frontier: Frontier) -> dict[str, Any]:
    return {
        **fields(frontier, "reached depth ended"),
        "places": [{**place_object(lost.place), "call": lost.name, "call_line": lost.line} for lost in frontier.places],
    }


def affected(answer: AffectedAnswer) -> Parts:
    """The JSON of `lci affected`."""
    request = answer.request
    since: dict[str, Any] = {"revision": request.revision, "commit": answer.commit} if request.diff is None else {}
    head = {
        "command": "affected",
        **(since if request.files is None else {"files": list(request.files)}),
        "changed": [{**place_object(item.place), "change": item.change} for item in answer.changed],
        "callers": [_reached_object(item) for item in answer.callers],
    }
    changes, tests, callers = answer.dropped
    dropped = {"changed_dropped": changes, "results_dropped": tests, "callers_dropped": callers}
    tail = {
        "test_files": sorted({item.place.file for item in answer.tests}),
        "by_name_files": list(answer.by_name),
        "nearest_tests": []
        if any(item.reached for item in answer.tests)
        else [item.place.file for item in answer.tests],
        "total": len(answer.tests) + tests,
        "has_more": tests > 0,
        "dispatch": [through_object(item) for item in answer.through],
        "uncompared": list(answer.uncompared),
        "index": index_object(answer.info),
        "truncated": None if answer.max_tokens is None else {"max_tokens": answer.max_tokens, **dropped},
    }
    return Parts(head, map(_reached_object, answer.tests), lambda: tail)


def _reached_object(definition: AffectedDefinition) -> dict[str, Any]:
    return {**place_object(definition.place), **fields(definition, "distance reason")}


def unused(answer: UnusedAnswer) -> Parts:
    """The JSON of `lci unused`."""
    more = answer.total > answer.request.offset + len(answer.results)
    tail = {"counts": answer.counts, **counted(answer.total, more, answer.info)}
    return Parts({"command": "unused"}, map(_unused, answer.results), lambda: tail)


def _unused(definition: Unused) -> dict[str, Any]:
    mention = {"mention": definition.mention._asdict()} if definition.mention is not None else {}
    return {**place_object(definition.place), **fields(definition, "signature certainty reason"), **mention}


def conflicts(answer: ConflictsAnswer) -> Parts:
    """The JSON of `lci conflicts`."""
    tail = {
        "conflicts": round_floats(answer.conflicts),
        "total": answer.total,
        "has_more": answer.total > answer.offset + len(answer.results),
        "by_relation": {name: answer.by_relation[name] for name in RELATIONS if answer.by_relation.get(name)},
        "diff": _diff(*answer.since, answer.uncompared) if answer.since else None,
        "left_out": answer.left_out,
        "index": index_object(answer.index),
    }
    return Parts({}, map(_conflict, answer.results), lambda: tail)


def _conflict(conflict: Conflict) -> dict[str, Any]:
    return {
        **fields(conflict, "qualified_name kind language relation"),
        # A symbol that exists on one branch only may have a single definition, which contradicts nothing.
        "conflict": len(conflict.definitions) > 1 or None,
        "definitions": [site_object(site) for site in conflict.definitions],
        **fields(conflict, "same_text? witness missing_on"),
    }


def _diff(revision: str, commit: str | None, uncompared: Sequence[str] | None) -> dict[str, Any]:
    """Keys that name the commit with which the work tree was compared; a workspace has a commit per repository."""
    return {"revision": revision, "commit": commit, "uncompared": list(uncompared or ())}
