"""Makes the JSON of `lci search`, and parts of all JSON output. docs/json-output.md describes keys and their order."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from lci_py.errors import LciError
    from lci_py.types.search import Answer, DefinitionSite, GraphContext, GraphLink, Hint, IndexInfo, Result
    from lci_py.types.source import FileEntry, Skip

#: Increases when a key changes its meaning or is removed; a new key does not change it.
SCHEMA_VERSION = 2
_VERSION = {"schema_version": SCHEMA_VERSION}
# Significant digits of a float. Sums in another order differ in the last bits, and answers must not.
_DIGITS = 6

# `json.dumps` leaves these characters as they are. Written as \uXXXX they are the same for a parser, and harmless on a
# terminal: DEL and C1 controls, bidi overrides, line separators, which split a JSON line for some readers, and lone
# surrogates (of a path that is not UTF-8), which cannot be encoded at all.
_RAW = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
#: What the graph of a result lists; the last two only where they are asked for.
_CALLS, _IMPORTS = ("callers", "callees"), ("imports", "imported_by")
#: Keys of a plan that every answer shows, if they have a value; the others need --explain.
_PLAN = ("intent", "rewrites", "phrases", "relaxed")
#: Keys that stay where they have no value: a reader may loop over the results without asking first.
_KEPT = ("results", "pieces", "query")


class Parts(NamedTuple):
    """The JSON of an answer in three parts: the keys before the results (`head`), the results, and the keys after them.

    `tail` returns the keys after the results, and must be called last: some commands count while the results are read.
    """

    head: dict[str, Any]
    results: Iterable[dict[str, Any]]
    tail: Callable[[], dict[str, Any]]
    key: str = "results"  # of the list of them

    def whole(self, fields: Sequence[str] = ()) -> dict[str, Any]:
        """The complete JSON object of an answer; if `fields` are given, each result has only those keys."""
        results = [_chosen(result, fields) for result in self.results]
        result: dict[str, Any] = lean({**_VERSION, **self.head, self.key: results, **self.tail()})
        return result

    def lines(self, fields: Sequence[str] = ()) -> Iterator[str]:
        """Lines of JSON: one for each result, then ``{"summary": …}`` with all other keys."""
        for result in self.results:
            yield dumps(lean(_chosen(result, fields)))
        yield dumps({"summary": lean({**_VERSION, **self.head, **self.tail()})})


def _chosen(result: dict[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    if not fields:
        return result
    whole = {"qualified_name": result.get("symbol"), **result}
    return {key: whole[key] for key in fields if key in whole}


def of_workspace(parts: Parts, root: str, missing: Sequence[dict[str, str]]) -> Parts:
    """Add to an answer about a workspace its root, and the repository of each location.

    Args:
        root: The folder of the workspace; the keys `file` are relative to it.
        missing: The repositories that cannot be read.
    """
    all_parts = of_fleet(parts)
    head = {**all_parts.head, "workspace": root.rpartition("/")[2], "root": root}
    return all_parts._replace(head=head, tail=lambda: {**all_parts.tail(), "missing_repositories": list(missing)})


def of_fleet(parts: Parts) -> Parts:
    """Add the repository of every location to an answer."""
    results = map(_with_repositories, parts.results)
    return parts._replace(
        head=_with_repositories(parts.head), results=results, tail=lambda: _with_repositories(parts.tail())
    )


def _with_repositories(value: Any) -> Any:
    """A copy of a JSON value in which each key `file` is preceded by a key `repository`, the first part of the path."""
    if isinstance(value, dict):
        copy: dict[str, Any] = {}
        for key, item in value.items():
            if key == "file" and isinstance(item, str):
                copy["repository"] = item.partition("/")[0]
            copy[key] = _with_repositories(item)
        return copy
    if isinstance(value, (list, tuple)):
        return [_with_repositories(item) for item in value]
    return value


def lean(value: Any) -> Any:
    """A copy of a JSON value without keys whose value is null or an empty text, list or object (except `_KEPT`)."""
    if isinstance(value, dict):
        pairs = ((key, lean(item)) for key, item in value.items())
        return {key: item for key, item in pairs if (item is not None and item not in _EMPTY) or key in _KEPT}
    if isinstance(value, (list, tuple)):
        return [lean(item) for item in value]
    return value


_EMPTY: tuple[object, ...] = ("", [], {})


def dumps(obj: object) -> str:
    """Compact JSON. The same value always gives the same text, and the text can always be encoded as UTF-8."""
    text = json.dumps(obj, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _RAW.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def round_floats(value: Any) -> Any:
    """A copy of `value` with every float rounded to six significant digits, and infinities and NaN replaced by None."""
    if isinstance(value, float):
        return _score(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): round_floats(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [round_floats(item) for item in value]
    return value


def _score(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}") + 0.0  # + 0.0 turns -0.0 into 0.0


def fields(value: Any, names: str) -> dict[str, Any]:
    """A dict from the names of some of a value's attributes to their JSON values.

    Args:
        names: The names, separated by blanks. A `?` after a name says that false and 0 are left out (null).
            `qualified_name` stands for the name, and also for the qualified name if that differs.
    """
    values: dict[str, Any] = {}
    for name in names.split():
        if name == "qualified_name":
            values |= names_of(value.symbol, value.qualified_name)
        elif name.endswith("?"):
            values[name[:-1]] = getattr(value, name[:-1]) or None
        else:
            values[name] = round_floats(getattr(value, name))
    return values


def index_object(info: IndexInfo) -> dict[str, Any]:
    """The value of the key `index`, which describes the index that answered."""
    hint = f"run `{info.command}`" if info.behind else None
    return {**fields(info, "generation built_at commit branch stale_files unchecked_files?"), "hint": hint}


def counted(total: int, has_more: bool, info: IndexInfo) -> dict[str, Any]:
    """A dict of the keys that every answer has after its results."""
    return {"total": total, "has_more": has_more, "index": index_object(info)}


def names_of(symbol: str | None, qualified_name: str | None) -> dict[str, Any]:
    """A dict with the name of a definition, and with its qualified name if that differs."""
    return {"symbol": symbol} | ({"qualified_name": qualified_name} if qualified_name != symbol else {})


def _named_once(value: Any) -> Any:
    """A copy of `value` that leaves out each qualified name equal to the name next to it."""
    if isinstance(value, Mapping):
        twice = value.get("qualified_name", "") == value.get("symbol")
        return {key: _named_once(item) for key, item in value.items() if not (twice and key == "qualified_name")}
    if isinstance(value, (list, tuple)):
        return [_named_once(item) for item in value]
    return value


def _short(link: GraphLink, file: str) -> str:
    """The text `name file:line` for a neighbour in the graph; the file is left out if it equals `file`."""
    return f"{link.qualified_name or link.symbol or ''} {link.file if link.file != file else ''}:{link.line}".lstrip()


def _graph(graph: GraphContext, file: str, *, linked: bool) -> dict[str, Any]:
    """The JSON of a result's callers and callees: short texts or, if `linked`, objects with ids, and also imports."""
    lists: dict[str, Any] = {}
    for relation in (*_CALLS, *_IMPORTS) if linked else _CALLS:
        links: tuple[GraphLink, ...] = getattr(graph, relation)
        lists[relation] = [
            fields(link, "id qualified_name file line") if linked else _short(link, file) for link in links
        ]
    # The lists hold only the first few; the counts are of all.
    lists["counts"] = {
        relation: count for relation, items in lists.items() if (count := graph.counts.get(relation, 0)) > len(items)
    }
    return lists


def site_object(site: DefinitionSite) -> dict[str, Any]:
    """The JSON of one of the several definitions of a symbol."""
    return fields(site, "file line branch build_tag relation inferred active?")


def _holds(snippet: str, signature: str | None) -> bool:
    return signature is not None and " ".join(signature.rstrip("…").split()) in " ".join(snippet.split())


def result_object(
    result: Result, *, doc: bool = False, linked: bool = False, signature: bool = False
) -> dict[str, Any]:
    """The JSON of a search result.

    Args:
        doc: Include the first line of the definition's doc comment.
        linked: Include imports, and the ids of neighbours in the graph.
        signature: Include the signature even if the snippet contains it.
    """
    matched, via = result.also_matched or (), result.via or ()
    return {
        **fields(result, "id file line end_line qualified_name kind language"),
        "signature": result.signature if signature or not _holds(result.snippet, result.signature) else None,
        "doc": result.doc if doc else None,
        **fields(result, "snippet_line match_line snippet mode_source"),
        "mode_score": _score(result.mode_score),
        **fields(result, "stale? also_in"),
        "also_matched": [{"mode": view, "score": _score(score)} for view, score in matched],
        "graph": None if result.graph is None else _graph(result.graph, result.file, linked=linked),
        "via": [{"id": target, "relation": relation} for target, relation in via],
        "routes": list(result.routes),
        "conflict": result.conflict or None,
        "definitions": [site_object(site) for site in result.definitions] if result.conflict else None,
        "explain": round_floats(result.explain),
    }


def _plan(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a search plan that depends on the query: its intent, its rewrites, and the dropped requirements."""
    result = {key: plan.get(key) for key in _PLAN}
    if plan.get("rung") not in (None, *plan.get("ladder", ())[:1]):
        result["rung"] = plan["rung"]
    if plan.get("command"):
        result["command"] = plan["command"]
    return result


def search(
    answer: Answer, *, doc: bool = False, linked: bool = False, signature: bool = False, explain: bool = False
) -> Parts:
    """The JSON of `lci search` or `lci def`. `explain` adds the whole plan; see `result_object` for other arguments."""
    tail: dict[str, Any] = {
        **counted(answer.total, answer.has_more, answer.index),
        "plan": round_floats(answer.plan if explain or answer.plan is None else _plan(answer.plan)),
        "degraded": [d._asdict() for d in answer.degraded],
        "confidence": None if answer.confidence is None else answer.confidence._asdict(),
        "hints": [_hint(hint) for hint in answer.hints],
        "conflicts": round_floats(answer.conflicts),
        "trace": round_floats(answer.trace),
        "explain_file": round_floats(_named_once(answer.explain_file)),
        "expansion": round_floats(answer.expansion),
        "did_you_mean": list(answer.did_you_mean),
        "truncated": round_floats(answer.truncated),
    }
    head = {"query": answer.query, "mode": answer.mode}
    results = (result_object(result, doc=doc, linked=linked, signature=signature) for result in answer.results)
    return Parts(head, results, lambda: tail)


def _hint(hint: Hint) -> dict[str, Any]:
    location = {"file": hint.file, "line": hint.line} if hint.file else {}
    return {"kind": hint.kind, "command": hint.command, "reason": hint.reason, **location}


def error_object(error: LciError) -> dict[str, Any]:
    """The JSON that is printed instead of an answer after an error."""
    return {"error": lean(round_floats(error.as_json()))}


def dry_run_object(files: list[FileEntry], skipped: list[Skip], rules: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON of `lci index --dry-run`; `rules` maps a skipped path to the ignore rule that excludes it."""
    return {
        "schema_version": SCHEMA_VERSION,
        **lean(
            {
                "files": [entry.path for entry in files],
                "skipped": [
                    {"path": skip.path, "reason": skip.reason}
                    | ({"rule": rule._asdict()} if (rule := rules.get(skip.path)) is not None else {})
                    for skip in skipped
                ],
            }
        ),
    }


def plain_object(report: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON of a command about the index itself: the schema version, then the keys of `report`."""
    return {"schema_version": SCHEMA_VERSION, **lean(round_floats(report))}
