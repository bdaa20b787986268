"""The JSON of `lci search`, and what all JSON output shares. docs/json-output.md describes the keys and their order."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lci_py.errors import LciError
    from lci_py.types.search import Answer, DefinitionSite, GraphContext, GraphLink, IndexInfo, Result
    from lci_py.types.source import FileEntry, Skip

#: Increases when a key changes its meaning or is removed; a new key does not change it.
SCHEMA_VERSION = 1
# Significant digits of a float. Sums in another order differ in the last bits, and answers must not.
_DIGITS = 6

# `json.dumps` leaves these characters as they are. Written as \uXXXX they are the same for a parser, and harmless on a
# terminal: DEL and C1 controls, bidi overrides, line separators, which split a JSON line for some readers, and lone
# surrogates (of a path that is not UTF-8), which cannot be encoded at all.
_RAW = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_GRAPH = ("callers", "callees", "imports", "imported_by")


def dumps(obj: object) -> str:
    """Compact JSON: the same text for the same value, always encodable as UTF-8."""
    text = json.dumps(obj, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _RAW.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def rounded(value: Any) -> Any:
    """`value` with every float in it at six significant digits, and infinities and NaN as None."""
    if isinstance(value, float):
        return _score(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    return value


def _score(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}") + 0.0  # + 0.0 turns -0.0 into 0.0


def index_object(info: IndexInfo) -> dict[str, Any]:
    """The key `index` of an answer."""
    found: dict[str, Any] = {
        "generation": info.generation,
        "built_at": info.built_at,
        "commit": info.commit,
        "branch": info.branch,
        "stale_files": info.stale_files,
    }
    if info.unchecked_files:
        found["unchecked_files"] = info.unchecked_files
    if info.stale_files:
        found["hint"] = "run `lci index`"
    return found


def _link(link: GraphLink) -> dict[str, Any]:
    return {
        "id": link.id,
        "symbol": link.symbol,
        "qualified_name": link.qualified_name,
        "file": link.file,
        "line": link.line,
    }


def _graph(graph: GraphContext) -> dict[str, Any]:
    lists: dict[str, Any] = {name: [_link(link) for link in getattr(graph, name)] for name in _GRAPH}
    # The lists hold only the first few; the counts are of all.
    lists["counts"] = {name: graph.counts.get(name, len(lists[name])) for name in _GRAPH}
    return lists


def site_object(site: DefinitionSite) -> dict[str, Any]:
    """One of several definitions of a symbol."""
    obj: dict[str, Any] = {
        "file": site.file,
        "line": site.line,
        "branch": site.branch,
        "build_tag": site.build_tag,
        "relation": site.relation,
    }
    if site.active:
        obj["active"] = True
    return obj


def result_object(result: Result, *, doc: bool = False) -> dict[str, Any]:
    """One result; with `doc`, also the first line of its doc comment.

    The keys that do not depend on flags are always there, and null for code outside a definition.
    """
    obj: dict[str, Any] = {
        "id": result.id,
        "file": result.file,
        "line": result.line,
        "end_line": result.end_line,
        "symbol": result.symbol,
        "qualified_name": result.qualified_name,
        "kind": result.kind,
        "language": result.language,
        "signature": result.signature,
    }
    if doc:
        obj["doc"] = result.doc
    if result.snippet_line is not None:
        obj["snippet_line"] = result.snippet_line
    if result.match_line is not None:
        obj["match_line"] = result.match_line
    obj |= {"snippet": result.snippet, "mode_source": result.mode_source, "mode_score": _score(result.mode_score)}
    if result.stale:
        obj["stale"] = True
    if result.also_matched is not None:
        obj["also_matched"] = [{"mode": view, "score": _score(score)} for view, score in result.also_matched]
    if result.graph is not None:
        obj["graph"] = _graph(result.graph)
    if result.via is not None:
        obj["via"] = [{"id": target, "relation": relation} for target, relation in result.via]
    if result.conflict:
        obj["conflict"] = True
        obj["definitions"] = [site_object(site) for site in result.definitions]
    if result.explain is not None:
        obj["explain"] = rounded(result.explain)
    return obj


def _head(answer: Answer) -> dict[str, Any]:
    return {"schema_version": SCHEMA_VERSION, "query": answer.query, "mode": answer.mode}


def _tail(answer: Answer) -> dict[str, Any]:
    obj: dict[str, Any] = {"total": answer.total, "has_more": answer.has_more, "index": index_object(answer.index)}
    if answer.plan is not None:
        obj["plan"] = rounded(answer.plan)
    if answer.degraded:
        obj["degraded"] = [
            {
                "view": d.view,
                "failure_mode": d.failure_mode,
                "fallback_mode": d.fallback_mode,
                "confidence_impact": d.confidence_impact,
                "detail": d.detail,
            }
            for d in answer.degraded
        ]
    if answer.conflicts:
        obj["conflicts"] = rounded(answer.conflicts)
    if answer.trace is not None:
        obj["trace"] = rounded(answer.trace)
    if answer.explain_file is not None:
        obj["explain_file"] = rounded(answer.explain_file)
    if answer.expansion is not None:
        obj["expansion"] = rounded(answer.expansion)
    if answer.shadow is not None:
        obj["shadow"] = rounded(answer.shadow)
    if answer.did_you_mean:
        obj["did_you_mean"] = list(answer.did_you_mean)
    if answer.truncated is not None:
        obj["truncated"] = rounded(answer.truncated)
    return obj


def envelope(answer: Answer, *, doc: bool = False) -> dict[str, Any]:
    """The whole answer; `doc` as in `result_object`."""
    return {**_head(answer), "results": [result_object(r, doc=doc) for r in answer.results], **_tail(answer)}


def summary(answer: Answer) -> dict[str, Any]:
    """The answer without its results."""
    return {**_head(answer), **_tail(answer)}


def jsonl(answer: Answer) -> Iterator[str]:
    """One result per line, then one ``{"summary": …}`` line."""
    for result in answer.results:
        yield dumps(result_object(result))
    yield dumps({"summary": summary(answer)})


def error_object(error: LciError) -> dict[str, Any]:
    """What stands on stdout instead of an answer."""
    return {"error": rounded(error.as_json())}


def dry_run_object(files: list[FileEntry], skipped: list[Skip], rules: Mapping[str, Any]) -> dict[str, Any]:
    """`lci index --dry-run --json`; `rules` has the line of an ignore file, by path, where one decides."""
    return {
        "schema_version": SCHEMA_VERSION,
        "files": [entry.path for entry in files],
        "skipped": [
            {"path": skip.path, "reason": skip.reason}
            | ({"rule": rule._asdict()} if (rule := rules.get(skip.path)) is not None else {})
            for skip in skipped
        ],
    }


def plain_object(found: Mapping[str, Any]) -> dict[str, Any]:
    """JSON of the commands about the index: the fields of `found`, behind the version of the schema."""
    return {"schema_version": SCHEMA_VERSION, **rounded(found)}
