"""`lci conflicts --sarif`: SARIF 2.1.0, the OASIS standard that code scanning services read."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lci_py import __version__
from lci_py.render.json.answer import dumps
from lci_py.render.text.conflicts import elsewhere
from lci_py.render.text.style import plural, visible_line

if TYPE_CHECKING:
    from lci_py.types.conflicts import Conflict, ConflictsAnswer
    from lci_py.types.search import DefinitionSite

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
#: Stands for the root of the repository: whoever reads the file has the checkout elsewhere.
_BASE = "SRCROOT"
#: Name of the fingerprint. A new version makes services open every alert again: use one when the hashed key changes.
_FINGERPRINT = "lciConflict/v1"
#: Rule: level, its title, and what to do about it.
_RULES = {
    "overlap": (
        "warning",
        "Two definitions of one symbol can hold at once",
        "Their conditions do not exclude each other, so one build can have both. Narrow one of the conditions, or "
        "remove a definition.",
    ),
    "duplicate": (
        "warning",
        "A symbol is defined again in the same scope",
        "Nothing tells the definitions apart: a compiler rejects the second, or the first is lost. Remove one.",
    ),
    "fallback": (
        "note",
        "A definition stands in where another cannot be had",
        "Which one counts is decided when the program is loaded or linked. Whoever changes one should look at both.",
    ),
    "variant": (
        "note",
        "A symbol is defined once per condition",
        "The conditions exclude each other, so every build has one. Whoever changes one should look at all.",
    ),
    "branch": (
        "note",
        "Branches define a symbol differently",
        "Another branch has another definition of it, or one of the branches has none. Look at it before a merge.",
    ),
    "direct-contradiction": (
        "warning",
        "Sources state contradicting values",
        "Two places state different values for one name. Correct the one that is wrong.",
    ),
    "numeric-mismatch": (
        "warning",
        "Sources state different numbers",
        "Two places state different numbers for one name. Correct the one that is wrong.",
    ),
    "temporal-mismatch": (
        "warning",
        "Sources state values of different times",
        "Two places state different dates or versions for one name. The older one is likely to be out of date.",
    ),
    "scope-mismatch": (
        "warning",
        "Sources state values for different scopes",
        "Two places state different values for one name, each for a scope of its own. Say which holds where.",
    ),
}
#: GitHub shows the 5,000 gravest results of a run, rejects more than 25,000, and shows 100 places of a result.
MAX_RESULTS, _MAX_RELATED = 5_000, 99
_PLACES = {rule: place for place, rule in enumerate(_RULES)}
_SOURCE = re.compile(r"(?s)(.+):([1-9]\d{0,8})")


def sarif(answer: ConflictsAnswer) -> str:
    """The answer as one SARIF log, without line breaks.

    Paths are relative to the root, percent-encoded, with `SRCROOT` as their base. A fingerprint hashes names, files,
    conditions and relations, but no line numbers, so an alert survives edits above it. At most `MAX_RESULTS` results,
    the gravest; the log says how many it leaves out.
    """
    branch = answer.index.branch
    stated = [_disagreement(conflict) for conflict in answer.conflicts[: MAX_RESULTS // 5]]
    results = [_conflict(conflict, branch) for conflict in answer.results[: MAX_RESULTS - len(stated)]]
    left_out = answer.total + len(answer.conflicts) - len(results) - len(stated)
    results += stated
    _number_fingerprints(results)
    driver = {
        "name": "lci-py",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(name) for name in _RULES],
    }
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": "lci-conflicts/"},
        "originalUriBaseIds": {_BASE: {"description": {"text": "The root of the repository."}}},
        "invocations": [{"executionSuccessful": True, **_notes(left_out)}],
        "results": results,
    }
    return dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _notes(left_out: int) -> dict[str, Any]:
    """The note in the log that it is incomplete."""
    if not left_out:
        return {}
    text = f"{plural(left_out, 'conflict')} of less weight left out of this log."
    return {"toolExecutionNotifications": [{"level": "note", "message": {"text": text}}]}


def _rule(name: str) -> dict[str, Any]:
    level, short, long = _RULES[name]
    return {
        "id": name,
        "name": "".join(word.capitalize() for word in name.split("-")),
        "shortDescription": {"text": f"{short}."},
        "fullDescription": {"text": f"{short}. {long}"},
        "help": {"text": long, "markdown": long},
        "defaultConfiguration": {"level": level},
        "properties": {"tags": ["maintainability"]},
    }


def _result(rule: str, text: str, locations: list[dict[str, Any]], key: object) -> dict[str, Any]:
    """A result of SARIF.

    Args:
        rule: A key of `_RULES`.
        locations: The first is where a service shows the result, the others are related to it.
        key: The input of the fingerprint's hash.
    """
    found: dict[str, Any] = {
        "ruleId": rule,
        "ruleIndex": _PLACES[rule],
        "level": _RULES[rule][0],
        "message": _message(text),
        "locations": [{key: value for key, value in place.items() if key != "message"} for place in locations[:1]],
    }
    if locations[1:]:
        found["relatedLocations"] = [
            {"id": number, **place} for number, place in enumerate(locations[1:][:_MAX_RELATED], 1)
        ]
    return found | {"partialFingerprints": {_FINGERPRINT: hashlib.sha256(dumps(key).encode()).hexdigest()[:32]}}


def _conflict(conflict: Conflict, branch: str | None) -> dict[str, Any]:
    here = [site for site in conflict.definitions if not elsewhere(site, branch)]
    first = next((site for site in here if site.active), next(iter(here or conflict.definitions), None))
    sites = sorted(conflict.definitions, key=lambda site: site is not first)
    count = plural(len(sites), "definition")
    text = f"{conflict.kind} {conflict.qualified_name or conflict.symbol} has {count}: {conflict.relation}"
    if len(sites) > 1:
        text += f". {_RULES[conflict.relation][1]}"
    if conflict.missing_on:
        text += f". None on {', '.join(conflict.missing_on)}"
    found = [_location(site.file, site.line, _site_message(site, branch)) for site in sites]
    stays = sorted([site.file, site.branch or "", site.build_tag or "", site.relation] for site in sites)
    key = [conflict.language, conflict.qualified_name, conflict.kind, conflict.relation, stays]
    return _result(conflict.relation, f"{text}.", found, key)


def _site_message(site: DefinitionSite, branch: str | None) -> str:
    condition = f"when {site.build_tag}" if site.build_tag else "without a condition"
    if site.inferred:
        condition += f" in a file for {site.inferred}, as its path or the build suggests"
    where = f" on {site.branch}" if elsewhere(site, branch) else ""
    return f"{site.relation}: defined{where} {condition}" + (", active here" if site.active else "")


def _disagreement(conflict: Mapping[str, Any]) -> dict[str, Any]:
    rule = str(conflict["conflict_type"])
    sources = [str(source) for source in conflict.get("sources", ())]
    places = [match for source in sources if (match := _SOURCE.fullmatch(source))]
    reasoning = str(conflict.get("reasoning", ""))
    text = f"{reasoning} Recommended: {conflict.get('recommended_resolution', '')}."
    found = [_location(place[1], int(place[2]), "another source") for place in places]
    files = [_SOURCE.sub(r"\1", source) for source in sources]
    stays = reasoning
    for source, file in zip(sources, files, strict=True):
        stays = stays.replace(source, file)
    return _result(rule, text, found, [rule, files, stays])


def _location(file: str, line: int, text: str) -> dict[str, Any]:
    try:
        data = file.encode("utf-8", "surrogateescape")  # the bytes of the real path
    except UnicodeEncodeError:
        data = file.encode("utf-8", "replace")
    uri = quote(data, safe="/")
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": uri, "uriBaseId": _BASE},
            "region": {"startLine": line},
        },
        "message": _message(text),
    }


def _message(text: str) -> dict[str, str]:
    # SARIF reads `[text](target)` as a link, and the repository's code must not make one.
    return {"text": visible_line(text).replace("](", "] (")}


def _number_fingerprints(results: list[dict[str, Any]]) -> None:
    """Number the results that share a fingerprint: a service would take them for one."""
    seen: Counter[str] = Counter()
    for result in results:
        prints = result["partialFingerprints"]
        seen[prints[_FINGERPRINT]] += 1
        prints[_FINGERPRINT] += f":{seen[prints[_FINGERPRINT]]}"
